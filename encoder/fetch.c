/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fetch.h"

#include <assert.h>
#include <string.h>

#include "sample.h"

void pnv_fetch_scale_c(int16_t *dst, const uint16_t *sample, int n, int depth, PnvSampleRange range)
{
    const int is_luma = range == PNV_SAMPLES_FULL_LUMA;

    if (range == PNV_SAMPLES_VIDEO) {
        for (int x = 0; x < n; x++)
            dst[x] = pnv_sample_video(sample[x], depth);
        return;
    }
    const int64_t gain = pnv_sample_full_gain(depth, is_luma);
    for (int x = 0; x < n; x++)
        dst[x] = pnv_sample_full(sample[x], depth, is_luma, gain);
}

void pnv_fetch_c(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width)
{
    assert(x0 < plane->width && y0 < plane->height && width <= PNV_FETCH_STRIDE);
    const int n_rows = plane->height - y0 < 16 ? plane->height - y0 : 16;
    uint16_t sample[PNV_FETCH_STRIDE];

    for (int y = 0; y < n_rows; y++, dst += PNV_FETCH_STRIDE) {
        pnv_load_c(sample, PNV_FETCH_STRIDE, plane, x0, y0 + y, width, 1, 0);
        pnv_fetch_scale_c(dst, sample, width, plane->depth, plane->range);
    }
    for (int y = n_rows; y < 16; y++, dst += PNV_FETCH_STRIDE)
        memcpy(dst, dst - PNV_FETCH_STRIDE, (size_t)width * sizeof *dst);
}
