/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any packing -> the samples of a part of a row, as they are. */
#ifndef PNV_LOAD_H
#define PNV_LOAD_H

#include "plane.h"

#define PNV_LOAD_ROOM 16 /**< Samples behind the last one that load may write anything to. */

/**
 * Read samples x .. x + n - 1 of row y: dst[i] is pnv_plane_at(plane, x + i, y), for any x and y; n of 1 or more. Nothing
 * but the pnv_plane_row_bytes() of the row is read; memory of rows further down may be prefetched.
 *
 * @param dst n + PNV_LOAD_ROOM samples, the last of which are left with anything.
 */
void pnv_load_c(uint16_t *dst, const PnvPlane *plane, int x, int y, int n);

#endif
