/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tells the six profiles apart. */
#ifndef PNV_PROFILE_H
#define PNV_PROFILE_H

#include "pnv.h"

typedef struct PnvProfileInfo {
    const char *name;   /**< As GStreamer caps spell the variant. */
    char fourcc[5];     /**< Sample entry type of QuickTime. */
    const char *title;  /**< For people. */
    PnvChroma chroma;   /**< The only sampling that may go under this fourcc. */
    const uint8_t *luma_matrix, *chroma_matrix; /**< 64 weights each, raster order. */
} PnvProfileInfo;

/** Facts of a profile other than auto; NULL for auto and for numbers that are none. */
const PnvProfileInfo *pnv_profile_info(PnvProfile profile);

#endif
