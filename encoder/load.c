/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "load.h"

/** Samples x .. x + n - 1, all of them there. What nearly all frames are has loops that a compiler makes vectors of. */
static void load_samples(uint16_t *dst, const PnvPlane *plane, const uint8_t *row, int x, int n, int up)
{
    const int mask = (1 << plane->depth) - 1;

    if (!pnv_plane_is_plain(plane)) {
        for (int i = 0; i < n; i++)
            dst[i] = (uint16_t)(pnv_plane_load(plane, row, x + i) << up);
    } else if (plane->depth == 8) {
        for (int i = 0; i < n; i++)
            dst[i] = (uint16_t)(row[x + i] << up);
    } else {
        row += 2 * (ptrdiff_t)x;
        for (int i = 0; i < n; i++)
            dst[i] = (uint16_t)(((row[2 * i] | row[2 * i + 1] << 8) & mask) << up);
    }
}

static void load_row(uint16_t *dst, const PnvPlane *plane, int x, int y, int n, int up)
{
    const uint8_t *row = plane->data + (ptrdiff_t)pnv_plane_inside(y, plane->height) * plane->stride;
    const PnvColumns there = pnv_plane_columns(plane, x, n);

    load_samples(dst + there.left, plane, row, there.first, there.n, up);
    pnv_columns_repeat(dst, &there);
}

void pnv_load_c(uint16_t *dst, ptrdiff_t stride, const PnvPlane *plane, int x, int y, int n, int n_rows,
                int up)
{
    for (int i = 0; i < n_rows; i++)
        load_row(dst + i * stride, plane, x, y + i, n, up);
}
