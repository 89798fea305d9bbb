/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of one span on another, rounded exactly, for AVX2: round(span * n / max) of samples of b bits, max = 2^b - 1,
 *
 *     ((n << (16 - b)) * factor + 2^31) >> 32, factor = round(span * 2^(b + 16) / max)
 *
 * The product is off by at most max * 2^(16-b) halves of 2^-32, which is less than 2^-17, and no span * n / max is
 * nearer than 1 / (2 max), more than 2^-17, to where rounding turns, as max is odd.
 */
#ifndef PNV_X86_SCALE_H
#define PNV_X86_SCALE_H

#include <immintrin.h>
#include <stdint.h>

#include "x86.h"

typedef struct PnvScaler {
    __m128i up;           /**< 16 - b */
    __m256i factor, bias; /**< 64 bits each. */
} PnvScaler;

/** Samples 0..max to a span; zero, as its highest 16 bits say it, becomes offset. */
PNV_INLINE PnvScaler pnv_scaler(int depth, int span, int zero, int offset)
{
    const int64_t max = ((int64_t)1 << depth) - 1, factor = (((int64_t)span << (depth + 16)) + max / 2) / max;
    const int64_t bias = ((int64_t)1 << 31) + (int64_t)offset * ((int64_t)1 << 32) - zero * factor;

    return (PnvScaler){_mm_cvtsi32_si128(16 - depth), _mm256_set1_epi64x(factor), _mm256_set1_epi64x(bias)};
}

PNV_INLINE __m256i pnv_scale(__m256i sample, const PnvScaler *s)
{
    const __m256i a = _mm256_sll_epi16(sample, s->up);
    const __m256i even = _mm256_and_si256(a, _mm256_set1_epi32(0xffff)), odd = _mm256_srli_epi32(a, 16);
    const __m256i in[4] = {even, odd, _mm256_srli_epi64(even, 32), _mm256_srli_epi64(odd, 32)};
    __m256i v[4];

    for (int i = 0; i < 4; i++)
        v[i] = _mm256_add_epi64(_mm256_mul_epu32(in[i], s->factor), s->bias);
    const __m256i low = _mm256_blend_epi32(_mm256_srli_epi64(v[0], 32), v[2], 0xaa);
    const __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(v[1], 32), v[3], 0xaa);
    return _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa);
}

#endif
