/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The histogram of rate control for AVX-512. rate.c is the definition. Bins are found in vectors and counted one by one. */
#include <immintrin.h>
#include <string.h>

#include "x86.h"

/** bin_of() of rate.c: twice the octave, and one more in its upper half; 0 for 0. */
static inline __m512i bins(__m512i y)
{
    const __m512i high = _mm512_lzcnt_epi32(y), low = _mm512_lzcnt_epi32(_mm512_slli_epi32(y, 16));
    const __m512i zeros = _mm512_mask_blend_epi16(0xaaaaaaaa, low, _mm512_slli_epi32(high, 16));
    const __m512i half = _mm512_and_si512(_mm512_srli_epi16(_mm512_sllv_epi16(y, zeros), 14), _mm512_set1_epi16(1));
    const __m512i bin = _mm512_sub_epi16(_mm512_add_epi16(half, _mm512_set1_epi16(31)), _mm512_slli_epi16(zeros, 1));

    return _mm512_maskz_mov_epi16(_mm512_test_epi16_mask(y, y), bin);
}

void pnv_rate_histogram_avx512(PnvRateHistogram *h, const int16_t *coef, int n_blocks, const uint16_t reciprocal[64])
{
    /* Neighbours are often equal: four tables, so that a count does not wait for the one before. */
    uint32_t n[4][PNV_RATE_BINS];
    const __mmask32 there = n_blocks >= 32 ? 0xffffffffu : (1u << n_blocks) - 1;

    memset(n, 0, sizeof n);
    for (int i = 1; i < 64; i += 4) {
        const __m512i c = _mm512_abs_epi16(_mm512_maskz_loadu_epi16(there, coef + i * n_blocks));
        const __m512i y = _mm512_mulhi_epu16(c, _mm512_set1_epi16((short)reciprocal[i]));
        _Alignas(32) uint8_t bin[32];
        _mm256_store_si256((__m256i *)bin, _mm512_cvtepi16_epi8(bins(y)));
        for (int b = 0; b < n_blocks; b++)
            n[b % 4][bin[b]]++;
    }
    for (int b = 0; b < PNV_RATE_BINS; b++)
        h->n[b] += n[0][b] + n[1][b] + n[2][b] + n[3][b];
}
