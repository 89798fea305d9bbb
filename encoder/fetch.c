/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fetch.h"

#include <assert.h>
#include <string.h>

/** Sample x of a row, bits above the depth dropped. Little-endian on any machine. */
static inline int load(const uint8_t *row, int step, int depth, int x)
{
    const uint8_t *at = row + (ptrdiff_t)x * step;

    return depth == 8 ? at[0] : (at[0] | at[1] << 8) & ((1 << depth) - 1);
}

static inline int16_t scale_video(int s, int depth)
{
    if (depth <= 14)
        return (int16_t)((s << (14 - depth)) - 8192);
    const int v = (s + (1 << (depth - 15))) >> (depth - 14);
    return (int16_t)((v < 16383 ? v : 16383) - 8192);
}

/*
 * round(span * n / max), n of the size of a sample. per_code is span / max in 2^-40, off by less than one, which with
 * |n| < 2^16 is too little to cross the nearest rounding border, 1 / (2 * max) away: max is odd, there are no halves.
 */
static inline int scale_full(int n, int64_t per_code)
{
    return (int)((n * per_code + ((int64_t)1 << 39)) >> 40);
}

static int64_t full_range_gain(int span, int depth)
{
    const int64_t max = ((int64_t)1 << depth) - 1;
    return (((int64_t)span << 40) + max / 2) / max;
}

static void fetch_row_video(int16_t *dst, const uint8_t *row, const PnvPlane *p, int n)
{
    const int depth = p->depth, step = p->step;

    if (depth == 8) {
        for (int x = 0; x < n; x++)
            dst[x] = scale_video(load(row, step, 8, x), 8);
    } else {
        for (int x = 0; x < n; x++)
            dst[x] = scale_video(load(row, step, depth, x), depth);
    }
}

/* Black is 16 of 8 bits, 1024 of 14; spans are 219 and 224 of 8 bits. */
static void fetch_row_full(int16_t *dst, const uint8_t *row, const PnvPlane *p, int n)
{
    const int is_luma = p->range == PNV_SAMPLES_FULL_LUMA;
    const int span = (is_luma ? 219 : 224) << 6, zero = is_luma ? 0 : 1 << (p->depth - 1);
    const int offset = is_luma ? 1024 - 8192 : 0;
    const int64_t k = full_range_gain(span, p->depth);

    for (int x = 0; x < n; x++)
        dst[x] = (int16_t)(scale_full(load(row, p->step, p->depth, x) - zero, k) + offset);
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
