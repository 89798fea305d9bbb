/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpolate.h"

#include <assert.h>

/* With fx or fy a constant 0, a compiler leaves out what is not needed and keeps the rest in registers. */
static inline void interpolate_row(uint16_t *dst, const uint16_t *const row[6], int fx, int fy, int n, int max)
{
    const int left = fx ? 0 : 2, right = fx ? 6 : 3;
    int s[6][6] = {{0}};

    for (int x = 0; x < n; x++) {
        for (int i = 0; i < 6; i++) {
            for (int k = left; k < right && (fy || i == 2); k++)
                s[i][k] = row[i][x + k - 2];
        }
        dst[x] = (uint16_t)pnv_interpolate_sample(s, fx, fy, max);
    }
}

void pnv_interpolate_c(uint16_t *dst, const uint16_t *const row[6], int fx, int fy, int n, int max)
{
    assert(fx >= 0 && fx < 8 && fx % 2 == 0 && fy >= 0 && fy < 8 && n > 0 && max >= 255 && max <= 65535);
    if (fx == 0 && fy == 0)
        interpolate_row(dst, row, 0, 0, n, max);
    else if (fx == 0)
        interpolate_row(dst, row, 0, fy, n, max);
    else if (fy == 0)
        interpolate_row(dst, row, fx, 0, n, max);
    else
        interpolate_row(dst, row, fx, fy, n, max);
}

void pnv_interpolate_rows_c(int16_t *dst, const uint16_t *src, ptrdiff_t stride, int fy, int n, int n_rows, int depth)
{
    uint16_t made[PNV_FETCH_STRIDE];
    const uint16_t *row[6];

    assert(n <= PNV_FETCH_STRIDE - PNV_LOAD_ROOM && depth <= PNV_INTERPOLATE_ROWS_DEPTH);
    for (int y = 0; y < n_rows; y++, fy += 4, dst += PNV_FETCH_STRIDE) {
        for (int i = 0; i < 6; i++)
            row[i] = src + ((fy >> 3) + i - 2) * stride;
        pnv_interpolate_c(made, row, 0, fy & 7, n, (1 << depth) - 1);
        for (int x = 0; x < n; x++)
            dst[x] = pnv_sample_video(made[x], depth);
    }
}
