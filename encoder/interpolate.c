/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpolate.h"

#include <assert.h>

void pnv_interpolate_c(uint16_t *dst, const uint16_t *const row[6], int fx, int fy, int n, int max)
{
    assert(fx >= 0 && fx < 8 && fx % 2 == 0 && fy >= 0 && fy < 8 && n > 0 && max >= 255 && max <= 65535);
    const int left = fx ? 0 : 2, right = fx ? 6 : 3, top = fy ? 0 : 2, bottom = fy ? 6 : 3;
    int s[6][6] = {{0}};

    for (int x = 0; x < n; x++) {
        for (int i = top; i < bottom; i++) {
            for (int k = left; k < right; k++)
                s[i][k] = row[i][x + k - 2];
        }
        dst[x] = (uint16_t)pnv_interpolate_sample(s, fx, fy, max);
    }
}
