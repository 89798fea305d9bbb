/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any packing -> the samples of a part of a row, as they are. */
#ifndef PNV_LOAD_H
#define PNV_LOAD_H

#include "plane.h"

#define PNV_LOAD_ROOM 16 /**< Samples behind the last one that load may write anything to. */

/**
 * Read samples x .. x + n - 1 of rows y .. y + n_rows - 1: dst[i * stride + k] is pnv_plane_at(plane, x + k, y + i) <<
 * up, for any x and y; n and n_rows of 1 or more. Nothing but the pnv_plane_row_bytes() of the rows is read; what the next slice
 * reads may be prefetched.
 *
 * @param dst    rows of n samples, each with PNV_LOAD_ROOM behind that are left with anything; the next row may begin
 *               there.
 * @param stride samples from a row to the next, at least n.
 * @param up     0 .. 16 - plane->depth
 */
void pnv_load_c(uint16_t *dst, ptrdiff_t stride, const PnvPlane *plane, int x, int y, int n, int n_rows,
                int up);

#endif
