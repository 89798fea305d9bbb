/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way from a picture to coefficients or levels in one call, for variants that gain by not storing in between. */
#ifndef PNV_FORWARD_H
#define PNV_FORWARD_H

#include "fetch.h"
#include "quant.h"
#include "transform.h"

/**
 * pnv_fetch_c(), pnv_transform_c() and, unless quant is NULL, pnv_quant_c() of one unit. Nothing outside of the plane
 * is read; memory of the next slice may be prefetched.
 *
 * @param level 64 rows of n_blocks, as pnv_transform_c() has it: levels, or coefficients without quant.
 */
void pnv_forward_c(int16_t *level, const PnvPlane *plane, int x0, int y0, PnvBlockOrder order, int n_mb,
                   const uint8_t scan[64], const PnvQuant *quant);

#endif
