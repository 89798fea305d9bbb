/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What opening an encoder decides once: checked parameters, and all that follows from them alone. */
#ifndef PNV_PLAN_H
#define PNV_PLAN_H

#include "layout.h"
#include "pnv.h"
#include "profile.h"
#include "quant.h"
#include "slice.h"

typedef struct PnvPlan {
    PnvParams params; /**< Defaults resolved, but for frames_in_flight and backend, which the backend's choice sets. */
    const PnvProfileInfo *profile;
    PnvGrid grid;     /**< Of a picture, which is the frame. */
    PnvFrameHeader header;
    const uint8_t *scan;
    PnvQuant quant[2];   /**< Luma, chroma. */
    size_t packet_bound; /**< At most UINT32_MAX, what frame_size can say. */
} PnvPlan;

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
