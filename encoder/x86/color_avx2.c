/* SPDX-License-Identifier: GPL-2.0-or-later */
/* R'G'B' -> Y'CbCr for AVX2. color.c is the definition. */
#include <immintrin.h>

#include "x86.h"

/*
 * 16 pixels of a component, from (R, G) and (B, 0) side by side, each less zero. bias is a multiple of zero, which is
 * 2^(shift-2), so it can be the weight of the 0. Two bits of the result's fraction stay until packing, which then clips
 * where it should.
 */
PNV_INLINE __m256i component(const __m256i rg[2], const __m256i b0[2], __m256i w_rg, __m256i w_b0, __m128i shift)
{
    const __m256i low = _mm256_add_epi32(_mm256_madd_epi16(rg[0], w_rg), _mm256_madd_epi16(b0[0], w_b0));
    const __m256i high = _mm256_add_epi32(_mm256_madd_epi16(rg[1], w_rg), _mm256_madd_epi16(b0[1], w_b0));

    return _mm256_srai_epi16(_mm256_packs_epi32(_mm256_sra_epi32(low, shift), _mm256_sra_epi32(high, shift)), 2);
}

PNV_INLINE __m256i two_weights(int first, int second)
{
    return _mm256_set1_epi32((int)((uint32_t)(uint16_t)first | (uint32_t)(uint16_t)second << 16));
}

PNV_INLINE __m256i load(const uint16_t *src, __m256i zero)
{
    return _mm256_sub_epi16(_mm256_loadu_si256((const __m256i *)src), zero);
}

void pnv_color_row_avx2(int16_t *y, int16_t *cb, int16_t *cr, const uint16_t *r, const uint16_t *g, const uint16_t *b,
                        const PnvColor *color, int n)
{
    int16_t *const dst[3] = {y, cb, cr};
    const __m256i zero = _mm256_set1_epi16((short)color->zero);
    const __m256i minus_zero = _mm256_sub_epi16(_mm256_setzero_si256(), zero);
    const __m128i shift = _mm_cvtsi32_si128(color->shift - 2);
    __m256i w_rg[3], w_b0[3];

    if (n < 16) {
        pnv_color_row_c(y, cb, cr, r, g, b, color, n);
        return;
    }
    for (int k = 0; k < 3; k++) {
        w_rg[k] = two_weights(color->weight[k][0], color->weight[k][1]);
        w_b0[k] = two_weights(color->weight[k][2], -(color->bias[k] >> (color->shift - 2)));
    }
    for (int x = 0; x < n; x += 16) {
        x = x < n - 16 ? x : n - 16; /* the last 16 again where they fill no vector */
        const __m256i red = load(r + x, zero), green = load(g + x, zero), blue = load(b + x, zero);
        const __m256i rg[2] = {_mm256_unpacklo_epi16(red, green), _mm256_unpackhi_epi16(red, green)};
        const __m256i b0[2] = {_mm256_unpacklo_epi16(blue, minus_zero), _mm256_unpackhi_epi16(blue, minus_zero)};
        for (int k = 0; k < 3; k++)
            _mm256_storeu_si256((__m256i *)(dst[k] + x), component(rg, b0, w_rg[k], w_b0[k], shift));
    }
}
