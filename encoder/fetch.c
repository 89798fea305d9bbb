/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fetch.h"

#include <assert.h>
#include <string.h>

#include "sample.h"

static void fetch_row_video(int16_t *dst, const uint8_t *row, const PnvPlane *p, int n)
{
    const int depth = p->depth, step = p->step;

    if (depth == 8) {
        for (int x = 0; x < n; x++)
            dst[x] = pnv_sample_video(pnv_sample_load(row, step, 8, x), 8);
    } else {
        for (int x = 0; x < n; x++)
            dst[x] = pnv_sample_video(pnv_sample_load(row, step, depth, x), depth);
    }
}

static void fetch_row_full(int16_t *dst, const uint8_t *row, const PnvPlane *p, int n)
{
    const int is_luma = p->range == PNV_SAMPLES_FULL_LUMA;
    const int64_t gain = pnv_sample_full_gain(p->depth, is_luma);

    for (int x = 0; x < n; x++)
        dst[x] = pnv_sample_full(pnv_sample_load(row, p->step, p->depth, x), p->depth, is_luma, gain);
}

void pnv_fetch_c(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width)
{
    assert(x0 < plane->width && y0 < plane->height && width <= PNV_FETCH_STRIDE);
    const int n_cols = plane->width - x0 < width ? plane->width - x0 : width;
    const int n_rows = plane->height - y0 < 16 ? plane->height - y0 : 16;

    for (int y = 0; y < n_rows; y++, dst += PNV_FETCH_STRIDE) {
        const uint8_t *row = plane->data + (ptrdiff_t)(y0 + y) * plane->stride + (ptrdiff_t)x0 * plane->step;
        if (plane->range == PNV_SAMPLES_VIDEO)
            fetch_row_video(dst, row, plane, n_cols);
        else
            fetch_row_full(dst, row, plane, n_cols);
        for (int x = n_cols; x < width; x++)
            dst[x] = dst[n_cols - 1];
    }
    for (int y = n_rows; y < 16; y++, dst += PNV_FETCH_STRIDE)
        memcpy(dst, dst - PNV_FETCH_STRIDE, (size_t)width * sizeof *dst);
}
