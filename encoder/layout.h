/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Headers of frames, pictures and slices. RDD 36 5.1 to 5.3; docs/format.md has the bytes at a glance. */
#ifndef PNV_LAYOUT_H
#define PNV_LAYOUT_H

#include "slice.h"

enum {
    PNV_FRAME_PREFIX_BYTES = 8,   /**< frame_size, "icpf" */
    PNV_FRAME_HEADER_BYTES = 148, /**< with both matrices, always: a decoder needs no default */
    PNV_FRAME_START_BYTES = PNV_FRAME_PREFIX_BYTES + PNV_FRAME_HEADER_BYTES /**< where the first picture begins */
};

/** The fields of frame_header() that are not constant. */
typedef struct PnvFrameHeader {
    int width, height; /**< Of the frame, also when it is coded as two fields. */
    PnvChroma chroma;
    PnvInterlace interlace;
    int alpha_bits; /**< 0, 8 or 16 */
    int aspect_code, frame_rate_code;
    int color_primaries, transfer_characteristic, matrix_coefficients;
    char encoder_id[4];
    const uint8_t *luma_matrix, *chroma_matrix; /**< 64 weights, raster order */
} PnvFrameHeader;

/** Write frame_size, frame_identifier and frame_header(): PNV_FRAME_START_BYTES. */
void pnv_layout_frame_start(uint8_t *dst, const PnvFrameHeader *header, uint32_t frame_size);

/** Write picture_header(): PNV_PICTURE_HEADER_BYTES. picture_size counts it, the slice table and the slices. */
void pnv_layout_picture_header(uint8_t *dst, const PnvGrid *grid, uint32_t picture_size);

/**
 * Write slice_header(): pnv_slice_header_bytes(). The size of the last unit, Cr or alpha, follows from the slice table.
 *
 * @param unit_bytes of Y, Cb and, with alpha, Cr.
 */
void pnv_layout_slice_header(uint8_t *dst, int quantizer, const size_t unit_bytes[3], int has_alpha);

/** Write one entry of the slice table, 2 bytes. */
void pnv_layout_slice_size(uint8_t *dst, size_t slice_bytes);

/** frame_rate_code of a rate: 1..11, or 0 where the table has none within 1e-5 (29.97 for 30000/1001 is found). */
int pnv_layout_frame_rate_code(int n, int d);

/**
 * aspect_ratio_information: 1 square pixels, 2 a 4:3 image, 3 a 16:9 image, 0 anything else or unknown. Within 3 %,
 * since the pixel aspects of SD are defined for the 704 columns of the clean aperture.
 */
int pnv_layout_aspect_code(int width, int height, int par_n, int par_d);

#endif
