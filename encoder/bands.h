/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame in bands, slices that follow each other, and what a thread does with one: for the CPU backend, which says
 * when. Bands share nothing, so that their jobs need no lock.
 */
#ifndef PNV_BANDS_H
#define PNV_BANDS_H

#include "encode.h"
#include "packet.h"
#include "threadpool.h"

/** An error of frames. */
#define PNV_FRAME_NO_MEMORY "no memory to code a frame in"

/** Something coded in its band's memory. */
typedef struct PnvPiece {
    uint32_t offset;
    uint16_t bytes;
    uint8_t quantizer; /**< 0: nothing */
} PnvPiece;

typedef struct PnvCodedSlice {
    PnvPiece coded[2]; /**< At the last two quantizers: the border of rate.h may move to and fro. */
    PnvPiece alpha;
} PnvCodedSlice;

typedef struct PnvBand {
    uint8_t *data; /**< Coded slices and alpha units, one after the other. */
    size_t size, capacity;
    size_t alpha_bytes;
    size_t place, table; /**< Of its slices and their sizes, bytes into the frame. */
    uint32_t n_coded;    /**< Slices, over all rounds. */
    PnvRateHistogram all, sampled, part;
    size_t wanted_bytes; /**< Of the slices that the search asked for, alpha aside. */
    int failed;          /**< For want of memory. */
} PnvBand;

/** What all frames of an encoder have in common. */
typedef struct PnvFrameCommon {
    PnvPlan *plan;
    PnvDsp dsp;
    PnvPacketPool *packets;
    PnvScratch *scratch; /**< One a thread. */
    PnvSpan *spans;      /**< Of the slices of any row. */
    size_t room; /**< What a frame coded in its packet begins with: what the last one took, and a slice. */
} PnvFrameCommon;

/** A frame on its way. */
typedef struct PnvFrame {
    PnvFrameCommon *common;
    PnvPicture pic;
    PnvCodedSlice *slices; /**< Of all its pictures, in coding order. */
    PnvBand *bands;        /**< Picture by picture. */
    int16_t *coef;         /**< Of all slices, in coding order; NULL at a plain constant quantizer. */
    PnvRate rate;
    int is_searched; /**< Rather than coded at the constant quantizer. */
    PnvBatch batch;
    PnvPacket packet;
    uint8_t *data;     /**< The packet's bytes. */
    const char *error; /**< What it is lost for, or NULL. */
} PnvFrame;

static inline const PnvFraming *pnv_frame_framing(const PnvFrame *frame)
{
    return &frame->common->plan->framing[frame->pic.interlace];
}

/** Bands of each picture of a frame. */
int pnv_bands_per_picture(const PnvPlan *plan, const PnvFraming *f);

/** Bands of the frame. */
int pnv_frame_bands(const PnvFrame *frame);

/** The slices of a band: how many, and which one of the frame is first. */
int pnv_band_slices(const PnvFrame *frame, int band, int *first);

/** Bytes of those of them that the frame takes. */
size_t pnv_band_bytes(const PnvFrame *frame, int band);

/** Make room behind what a band has. 0, or -1 without memory. */
int pnv_band_reserve(PnvBand *band, size_t more);

/** Frame headers, once the packet's size is known. */
void pnv_frame_start(PnvFrame *frame);

/*
 * Jobs of a batch, whose arg is the frame. Without memory a band has failed.
 */

/** A plain constant quantizer: everything at once. */
void pnv_band_code(void *frame, int band, int worker);

/** First job of a search: coefficients, their histogram, and alpha, which does not depend on what is found. */
void pnv_band_analyse(void *frame, int band, int worker);

/** Code what the search asks for and is not coded yet. */
void pnv_band_search(void *frame, int band, int worker);

/** Slices and their sizes to where they go. What lies together in the band's memory is copied as one. */
void pnv_band_place(void *frame, int band, int worker);

/**
 * All bands of a frame at a plain constant quantizer, on the only thread: it knows at each slice where it goes, and
 * codes it there. Without memory it leaves no packet but an error.
 */
void pnv_frame_code(void *frame, int job, int worker);

#endif
