/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file reader.h
 * Strict reader of one ProRes frame (`icpf`, SMPTE RDD 36) in memory: checks every header field and every code to the
 * last bit of padding, and decodes to levels and to exact samples.
 *
 * Written for proofs: it shares nothing with the encoder but the constant tables, and never reads past what it is
 * given. What is wrong with a frame comes as findings (finding.h); the reader goes on as far as sense can be made of
 * the rest.
 *
 * @code
 *     PnvReader *reader = pnv_reader_new();
 *     const PnvReaderOptions options = {.flags = PNV_READER_PIXELS, .depth = 10, .report = print_finding};
 *
 *     if (pnv_reader_read(reader, data, size, &options) == PNV_READER_OK) {
 *         const PnvReaderFrame *frame = pnv_reader_frame(reader);
 *         const double *row = pnv_reader_row(reader, 0, y); // frame->plane[0].width samples
 *     }
 *     pnv_reader_free(&reader);
 * @endcode
 *
 * A reader belongs to one thread at a time; different readers are independent of each other.
 */
#ifndef PNV_READER_H
#define PNV_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "finding.h"

typedef enum PnvReaderStatus {
    PNV_READER_OK = 0,      /**< Read, with or without findings: frame->n_violations says whether it conforms. */
    PNV_READER_ENOMEM = -1, /**< Memory ran out. */
    PNV_READER_EBIG = -2    /**< Levels or samples were asked for, and there are more than max_samples. */
} PnvReaderStatus;

enum {
    PNV_READER_LEVELS = 1, /**< Keep the levels of all slices for pnv_reader_levels(). */
    PNV_READER_PIXELS = 2  /**< Rebuild the samples for pnv_reader_row() and pnv_reader_alpha_row(). */
};

typedef struct PnvReaderOptions {
    int flags;                  /**< PNV_READER_ flags; default 0: check only. */
    int depth;                  /**< Bits of the samples' unit, 8..16. Default 0: 10 for 4:2:2, 12 for 4:4:4. */
    uint64_t max_samples;       /**< Most luma samples to keep levels or samples for. Default 0: 2^27. */
    PnvFindingFunction report; /**< Called for every finding, in the order of the bytes. Default NULL: count only. */
    void *opaque;               /**< Handed to report. */
} PnvReaderOptions;

/** The frame header (RDD 36 5.1.1, 6.1.1), as it is in the stream. */
typedef struct PnvReaderHeader {
    uint32_t frame_size;
    int header_size, version;
    char encoder_id[5]; /**< The four bytes as they are, then NUL. */
    int width, height;
    int chroma_format;  /**< 2: 4:2:2, 3: 4:4:4 */
    int interlace_mode; /**< 0 progressive, 1 top field first, 2 bottom field first. */
    int aspect_ratio, frame_rate_code;
    int color_primaries, transfer_characteristic, matrix_coefficients;
    int alpha_type;               /**< 0 none, 1: 8 bits, 2: 16 bits. */
    bool luma_sent, chroma_sent;  /**< Which matrices the frame carries. */
    uint8_t luma[64], chroma[64]; /**< The weights in force, raster order 8 * v + u. */
} PnvReaderHeader;

typedef struct PnvReaderPicture {
    uint32_t offset, bytes;    /**< Of the picture in the frame, by picture_size; 0, 0 if it was not found. */
    int first_row, row_step;   /**< Row y of the picture is row first_row + y * row_step of the frame. */
    int height;                /**< Rows of the picture. */
    int width_mb, height_mb;   /**< Macroblocks. */
    int log2_slice_mb;         /**< Desired slice width. */
    int slices_per_row;        /**< Equal in all rows. */
    uint32_t first_slice;      /**< Index of its first slice in frame->slices. */
    uint32_t n_slices;         /**< Slices found; fewer than slices_per_row * height_mb if the picture is damaged. */
} PnvReaderPicture;

/** One slice. Plane 0 is Y, 1 Cb, 2 Cr, 3 alpha. */
typedef struct PnvReaderSlice {
    uint32_t offset;       /**< Of its header, from the start of the frame. */
    uint32_t unit_bits[4]; /**< Bits of the codes of each plane, without padding; 0 where nothing was read. */
    uint32_t first_level;  /**< For pnv_reader_levels(). */
    uint16_t bytes;        /**< By the slice table, header included. */
    uint16_t unit_bytes[4];
    uint16_t mb_x, mb_y; /**< First macroblock, in the picture. */
    uint8_t n_mbs;
    uint8_t picture;
    uint8_t header_bytes;
    uint8_t quantizer; /**< quantization_index as it is in the stream; 0 also where there was none to read. */
    bool decoded;      /**< All its levels and alpha values are known. */
} PnvReaderSlice;

typedef struct PnvReaderPlane {
    int width, height; /**< Samples of the frame; 0 if there is no such plane. */
} PnvReaderPlane;

typedef struct PnvReaderFrame {
    PnvReaderHeader header;
    bool header_valid; /**< Sizes, chroma format, interlace mode and alpha type make sense: what follows was read. */
    bool complete;     /**< Every slice was decoded: levels and samples are all there. */
    bool opaque;       /**< There is alpha, all of it was decoded, and every value is the largest. */
    int depth;         /**< Of the samples' unit: options.depth, or what its default stands for. */

    int n_pictures; /**< 1 or 2, by interlace_mode. */
    PnvReaderPicture pictures[2];
    PnvReaderSlice *slices; /**< Both pictures'. */
    uint32_t n_slices;

    PnvReaderPlane plane[4];

    uint64_t n_violations, n_notes;
    uint32_t n_found[PNV_N_FINDING_CODES]; /**< By code. */

    uint32_t header_bytes;   /**< Frame, picture and slice headers and slice tables. */
    uint32_t unit_bytes[4];  /**< Of all slices. */
    uint32_t stuffing_bytes; /**< Behind the last picture. */
} PnvReaderFrame;

typedef struct PnvReader PnvReader;

/** NULL when memory runs out. */
PnvReader *pnv_reader_new(void);

/** Free the reader and all it handed out, and set *reader to NULL. NULL is ignored. */
void pnv_reader_free(PnvReader **reader);

/**
 * Read one frame.
 *
 * @param data    the frame, from its size field on. Borrowed during the call.
 * @param size    bytes at data: the size of the container's sample.
 * @param options NULL: check only.
 */
PnvReaderStatus pnv_reader_read(PnvReader *reader, const uint8_t *data, size_t size, const PnvReaderOptions *options);

/** What was read last; valid until the next pnv_reader_read() or pnv_reader_free(). */
const PnvReaderFrame *pnv_reader_frame(const PnvReader *reader);

/**
 * One row of decoded samples, PNV_READER_PIXELS given: RDD 36 7.3 and 7.4 in double precision, without rounding and
 * without clamping, in units of frame->depth bits: mid grey is 2^(depth - 1). Samples of slices that could not be
 * decoded are mid grey.
 *
 * @param plane 0 Y, 1 Cb, 2 Cr.
 * @param y     row of the frame, fields woven, 0..height - 1; behind them up to whole macroblocks by field, coded but
 *              not shown, only through pnv_reader_picture_row().
 * @return plane[].width samples, then those up to whole macroblocks.
 */
const double *pnv_reader_row(const PnvReader *reader, int plane, int y);

/** The same for row y of one picture, 0..16 * height_mb - 1. */
const double *pnv_reader_picture_row(const PnvReader *reader, int picture, int plane, int y);

/** One row of alpha as it is coded, 0..255 for alpha_type 1 and 0..65535 for 2; exact. NULL if there is none. */
const uint16_t *pnv_reader_alpha_row(const PnvReader *reader, int y);

/** What a decoder with that many bits of output shows for a sample: rounded half up, clamped to 0..2^depth - 1. */
int pnv_reader_round(double sample, int depth);

/** Alpha value of alpha_type at an output depth (RDD 36 7.5.2): round((2^depth - 1) * value / largest). */
int pnv_reader_alpha_at_depth(int value, int alpha_type, int depth);

/**
 * Levels of one unit, PNV_READER_LEVELS given, in coded order: [scan index * blocks + block].
 *
 * @param plane 0 Y, 1 Cb, 2 Cr.
 */
const int16_t *pnv_reader_levels(const PnvReader *reader, const PnvReaderSlice *slice, int plane);

/** Blocks of one unit: 4 or 2 per macroblock. */
int pnv_reader_n_blocks(const PnvReader *reader, const PnvReaderSlice *slice, int plane);

/**
 * Where a block of a unit lies: column and row of its top left sample in the plane of its picture, padding counted
 * (RDD 36 7.5).
 */
void pnv_reader_block_place(const PnvReader *reader, const PnvReaderSlice *slice, int plane, int block, int *x, int *y);

/** Raster position 8 * v + u of a scan index in this frame. */
int pnv_reader_scan(const PnvReader *reader, int index);

#endif
