/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Planar video-range samples of 8 to 14 bits for NEON; all other input stays with fetch.c, the definition. */
#include <arm_neon.h>

#include "arm.h"

/* Columns that fill no vector are taken one by one: nothing behind the plane may be read. */
static inline int16_t scale_one(const uint8_t *row, int bytes, int depth, int x)
{
    const int s = bytes == 1 ? row[x] : (row[2 * x] | row[2 * x + 1] << 8) & ((1 << depth) - 1);

    return (int16_t)((s << (14 - depth)) - 8192);
}

static inline int16x8_t scale_8(const uint8_t *at, int bytes, int depth)
{
    const uint16x8_t s = bytes == 1 ? vmovl_u8(vld1_u8(at)) : vreinterpretq_u16_u8(vld1q_u8(at));
    const uint16x8_t kept = vandq_u16(s, vdupq_n_u16((uint16_t)((1 << depth) - 1)));

    return vsubq_s16(vreinterpretq_s16_u16(vshlq_u16(kept, vdupq_n_s16((int16_t)(14 - depth)))), vdupq_n_s16(8192));
}

void pnv_fetch_neon(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width)
{
    const int depth = plane->depth, bytes = depth == 8 ? 1 : 2, last_row = plane->height - 1;
    const int n_cols = plane->width - x0 < width ? plane->width - x0 : width;

    if (!pnv_fetch_is_plain(plane)) {
        pnv_fetch_c(dst, plane, x0, y0, width);
        return;
    }
    for (int y = 0; y < 16; y++, dst += PNV_FETCH_STRIDE) {
        const int row_y = y0 + y < last_row ? y0 + y : last_row;
        const uint8_t *row = plane->data + row_y * plane->stride + (ptrdiff_t)x0 * bytes;
        int x = 0;
        for (; x + 8 <= n_cols; x += 8)
            vst1q_s16(dst + x, scale_8(row + x * bytes, bytes, depth));
        for (; x < n_cols; x++)
            dst[x] = scale_one(row, bytes, depth, x);
        for (; x < width; x++)
            dst[x] = dst[n_cols - 1];
    }
}
