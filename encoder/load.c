/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "load.h"

static void load_row(uint16_t *dst, const PnvPlane *plane, int x, int y, int n, int up)
{
    const uint8_t *row = plane->data + (ptrdiff_t)pnv_plane_inside(y, plane->height) * plane->stride;
    const int first = pnv_plane_inside(x, plane->width), last = pnv_plane_inside(x + n - 1, plane->width);
    const int left = first - x < n ? first - x : n - 1; /* columns in front of the plane; all may lie there */
    uint16_t *to = dst + (left > 0 ? left : 0);

    for (int i = first; i <= last; i++)
        *to++ = (uint16_t)(pnv_plane_load(plane, row, i) << up);
    while (to < dst + n) {
        *to = to[-1];
        to++;
    }
    for (int i = 0; i < left; i++)
        dst[i] = dst[left];
}

void pnv_load_c(uint16_t *dst, ptrdiff_t stride, const PnvPlane *plane, int x, int y, int n, int n_rows,
                int up)
{
    for (int i = 0; i < n_rows; i++)
        load_row(dst + i * stride, plane, x, y + i, n, up);
}
