/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sample as plane.h reads it -> the number that is coded. fetch.h and alpha.h say what is wanted. */
#ifndef PNV_SAMPLE_H
#define PNV_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "shared.h"

/** Video range: to 14 bits around 0. */
PNV_SHARED int16_t pnv_sample_video(int s, int depth)
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
PNV_SHARED int pnv_sample_scale(int n, int64_t per_code)
{
    return (int)((n * per_code + ((int64_t)1 << 39)) >> 40);
}

/** Full range to video range at the same scale: black is 16 of 8 bits, 1024 of 14; grey of chroma stays. */
PNV_SHARED int16_t pnv_sample_full(int s, int depth, int is_luma, int64_t per_code)
{
    const int zero = is_luma ? 0 : 1 << (depth - 1), offset = is_luma ? 1024 - 8192 : 0;
    return (int16_t)(pnv_sample_scale(s - zero, per_code) + offset);
}

/** per_code of a depth: spans are 219 and 224 of 8 bits. */
PNV_SHARED int64_t pnv_sample_full_gain(int depth, int is_luma)
{
    const int64_t max = ((int64_t)1 << depth) - 1, span = (is_luma ? 219 : 224) << 6;
    return ((span << 40) + max / 2) / max;
}

/** Alpha of a depth in 8 or 16 bits. */
PNV_SHARED uint16_t pnv_sample_alpha(int a, int depth, int bits)
{
    if (depth == bits)
        return (uint16_t)a;
    if (depth == 2)
        return (uint16_t)(a * ((1 << bits) - 1) / 3);
    if (depth < bits)
        return (uint16_t)(a << (bits - depth) | a >> (2 * depth - bits));
    const int max = (1 << depth) - 1; /* odd: no halves */
    return (uint16_t)((2 * a * 255 + max) / (2 * max));
}

#endif
