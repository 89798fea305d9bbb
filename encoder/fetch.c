/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fetch.h"

#include <assert.h>
#include <string.h>

static void fetch_row_8(int16_t *dst, const uint8_t *src, int n)
{
    for (int x = 0; x < n; x++)
        dst[x] = (int16_t)((src[x] << 6) - 8192);
}

static void fetch_row_16(int16_t *dst, const uint8_t *src, int n, int depth)
{
    const int shift = 14 - depth, mask = (1 << depth) - 1;

    for (int x = 0; x < n; x++) {
        const int s = src[2 * x] | src[2 * x + 1] << 8; /* little-endian on any machine */
        dst[x] = (int16_t)(((s & mask) << shift) - 8192);
    }
}

void pnv_fetch_c(int16_t *dst, const PnvPlane *plane, int depth, int x0, int y0, int width)
{
    assert(x0 < plane->width && y0 < plane->height && width <= PNV_FETCH_STRIDE);
    const int n_cols = plane->width - x0 < width ? plane->width - x0 : width;
    const int n_rows = plane->height - y0 < 16 ? plane->height - y0 : 16;

    for (int y = 0; y < n_rows; y++, dst += PNV_FETCH_STRIDE) {
        const uint8_t *row = plane->data + (ptrdiff_t)(y0 + y) * plane->stride;
        if (depth == 8)
            fetch_row_8(dst, row + x0, n_cols);
        else
            fetch_row_16(dst, row + 2 * (ptrdiff_t)x0, n_cols, depth);
        for (int x = n_cols; x < width; x++)
            dst[x] = dst[n_cols - 1];
    }
    for (int y = n_rows; y < 16; y++, dst += PNV_FETCH_STRIDE)
        memcpy(dst, dst - PNV_FETCH_STRIDE, (size_t)width * sizeof *dst);
}
