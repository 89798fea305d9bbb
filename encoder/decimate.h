/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chroma of 4:4:4 -> chroma of 4:2:2, at the scale of fetch.h. */
#ifndef PNV_DECIMATE_H
#define PNV_DECIMATE_H

#include <stdint.h>

#include "shared.h"

/**
 * One sample from s[-3] .. s[3] around the one that it takes the place of: 4:2:2 is co-sited with every second luma
 * sample. A half-band filter, (-1 0 9 16 9 0 -1) / 32, the cubic through the neighbours for the half of it that is not
 * the sample itself.
 */
PNV_SHARED int16_t pnv_decimate_sample(const int16_t *s)
{
    const int v = (16 * s[0] + 9 * (s[-1] + s[1]) - (s[-3] + s[3]) + 16) >> 5;

    return (int16_t)(v < -8192 ? -8192 : v > 8191 ? 8191 : v);
}

/**
 * dst[i] from src[2 * i - 3] .. src[2 * i + 3], for i below n. Nothing else is read: src[-3] .. src[2 * n + 1] is there,
 * with the picture's edge repeated where it ends. Any alignment of samples will do.
 *
 * @param dst does not overlap src
 * @param n   1 or more
 */
void pnv_decimate_row_c(int16_t *dst, const int16_t *src, int n);

#endif
