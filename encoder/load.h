/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any packing -> the samples of a part of a row, as they are. */
#ifndef PNV_LOAD_H
#define PNV_LOAD_H

#include "plane.h"

/**
 * Read samples x .. x + n - 1 of row y: dst[i] is pnv_plane_at(plane, x + i, y), for any x and y; n of 1 or more. No byte
 * behind pnv_plane_row_bytes() is read.
 */
void pnv_load_c(uint16_t *dst, const PnvPlane *plane, int x, int y, int n);

#endif
