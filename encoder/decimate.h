/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chroma of 4:4:4 -> chroma of 4:2:2, at the scale of fetch.h. */
#ifndef PNV_DECIMATE_H
#define PNV_DECIMATE_H

#include <stdint.h>

#include "shared.h"

/**
 * One sample from s[-3] .. s[3] around the one that it takes the place of: 4:2:2 is co-sited with every second luma
 * sample. A half-band filter, (-1 0 9 16 9 0 -1) / 32: half the sample itself, half the cubic through its neighbours.
 * It keeps cubics, and the highest frequency, which would come back as a false constant, vanishes.
 *
 * Why not (1 2 1) / 4, which also is 0 there and a half where 4:2:2 ends: it blurs what 4:2:2 can hold. After H.264's
 * six taps have brought the samples between back, a zone plate up to 0.7 of what 4:2:2 holds has 34.1 dB, not 28.7, up
 * to 0.5 of it 46.3, not 35.5 (unit_decimate), chroma of photographs 53.8, not 53.5, and 51.1 without a filter.
 */
PNV_SHARED int16_t pnv_decimate_sample(const int16_t *s)
{
    const int v = (16 * s[0] + 9 * (s[-1] + s[1]) - (s[-3] + s[3]) + 16) >> 5;

    return (int16_t)(v < -8192 ? -8192 : v > 8191 ? 8191 : v);
}

/**
 * dst[i] from src[2 * i - 3] .. src[2 * i + 3], for i below n. src[-3] .. src[2 * n + 1] is there and nothing else is
 * read; where the picture ends its edge is repeated there. Any alignment of samples will do.
 *
 * @param dst does not overlap src
 * @param n   1 or more
 */
void pnv_decimate_row_c(int16_t *dst, const int16_t *src, int n);

#endif
