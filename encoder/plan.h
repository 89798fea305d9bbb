/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What opening an encoder decides once: checked parameters, and all that follows from them alone. */
#ifndef PNV_PLAN_H
#define PNV_PLAN_H

#include "convert.h"
#include "fetch.h"
#include "layout.h"
#include "pnv.h"
#include "profile.h"
#include "quant.h"
#include "slice.h"

/** One picture() of a frame: the frame itself, or a field of it. */
typedef struct PnvPictureShape {
    int first_row, row_step; /**< Row y of the picture is row first_row + y * row_step of the frame. */
    int height;              /**< Rows. */
    PnvGrid grid;
    PnvChromaGrid chroma;    /**< Between the input's chroma samples. */
} PnvPictureShape;

/** How a frame is coded, by its PnvInterlace. */
typedef struct PnvFraming {
    int n_pictures;
    PnvPictureShape picture[2]; /**< In the order they are coded: fields in temporal order. */
    int n_slices;               /**< Of all pictures. */
    const uint8_t *scan;
    uint16_t reciprocal[2][64]; /**< Of the luma and chroma matrix, for the histogram. */
    const PnvQuant *quant;      /**< Of the plan's tables: those of this scan. */
    int rank_multiplier;        /**< pnv_rate_multiplier() */
} PnvFraming;

typedef struct PnvPlan {
    PnvParams params; /**< Defaults resolved, but for frames_in_flight and backend, which the backend's choice sets. */
    const PnvProfileInfo *profile;
    PnvChroma chroma;       /**< Of the stream. */
    PnvConversion conversion;
    PnvFrameHeader header;  /**< But for interlace, which is each frame's own. */
    PnvFraming framing[3];  /**< By PnvInterlace; with no pictures where the height is too small for fields. */
    int n_components;       /**< 3, or 4 with alpha. */
    size_t packet_bound;    /**< Of any framing; at most UINT32_MAX, what frame_size can say. */
    int64_t target_bytes;   /**< Of a frame, alpha aside; 0 without a target. */
    int first_quantizer, n_quantizers; /**< Those that a frame can be coded with. */
    PnvQuant *quant_tables; /**< [scan][quantizer - first_quantizer][luma, chroma] */
} PnvPlan;

/** Fill in the quantizers' tables. PNV_OK or PNV_ENOMEM. */
PnvStatus pnv_plan_open(PnvPlan *plan);

void pnv_plan_close(PnvPlan *plan);

/** The steps of component c at a quantizer of the plan. */
static inline const PnvQuant *pnv_plan_quant(const PnvPlan *plan, const PnvFraming *framing, int c, int quantizer)
{
    return &framing->quant[2 * (quantizer - plan->first_quantizer) + (c > 0)];
}

/** Component c of one picture of a frame, as it lies in memory: 0 Y, 1 Cb, 2 Cr (or R, G, B), 3 alpha. */
PnvPlane pnv_plan_plane(const PnvPlan *plan, const PnvPicture *pic, const PnvPictureShape *shape, int c);

/** Rows of component c in plane[c], or, where fields are apart, in the memory of field 0 or 1. */
int pnv_plan_rows(const PnvPlan *plan, const PnvPicture *pic, int c, int field);

/** How a frame came about, for its packet. */
typedef struct PnvRateReport {
    int n_slices;
    uint32_t n_coded, alpha_bytes;
    int is_searched;  /**< What follows is valid: the frame was searched for. */
    int64_t position; /**< Of rate.h */
    int n_rounds;
} PnvRateReport;

/** Fill in all of a packet but its data, size, tag, error and owner. packet->size is set. */
void pnv_plan_report(const PnvPlan *plan, const PnvRateReport *report, PnvPacket *packet);

/**
 * Check params and fill the plan. Allocates nothing.
 *
 * @param error PNV_ERROR_BYTES for the field that is refused, its value and what would be right.
 * @return PNV_OK or PNV_EINVAL.
 */
PnvStatus pnv_plan(PnvPlan *plan, const PnvParams *params, char *error);

/** Check a picture against the plan, likewise. */
PnvStatus pnv_plan_check_picture(const PnvPlan *plan, const PnvPicture *pic, char *error);

#endif
