/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The histogram of rate control for AVX2: bins by vectors, counted one by one. rate.c is the definition. */
#include <immintrin.h>
#include <string.h>

#include "x86.h"

/*
 * bin_of() of rate.c for 8 numbers of 16 bits: a float has the octave in its exponent, from bit 23 on, and in bit 22
 * whether it is the upper half. So bin = 1 + (float >> 22) - 2 * 127, and 0 for 0.
 */
static inline __m256i bins(__m256i y)
{
    const __m256i f = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(y)), 22);

    return _mm256_max_epi32(_mm256_sub_epi32(f, _mm256_set1_epi32(2 * 127 - 1)), _mm256_setzero_si256());
}

void pnv_rate_histogram_avx2(PnvRateHistogram *h, const int16_t *coef, int n_blocks, const uint16_t reciprocal[64])
{
    /* Neighbours are often equal: four tables, so that a count does not wait for the one before. */
    uint32_t n[4][PNV_RATE_BINS];

    if (n_blocks % 8) {
        pnv_rate_histogram_c(h, coef, n_blocks, reciprocal);
        return;
    }
    memset(n, 0, sizeof n);
    for (int i = 1; i < 64; i += 4) {
        for (int b = 0; b < n_blocks; b += 8) {
            const __m128i c = _mm_abs_epi16(_mm_loadu_si128((const __m128i *)(coef + i * n_blocks + b)));
            const __m128i y = _mm_mulhi_epu16(c, _mm_set1_epi16((short)reciprocal[i]));
            _Alignas(32) uint32_t bin[8];
            _mm256_store_si256((__m256i *)bin, bins(_mm256_cvtepu16_epi32(y)));
            for (int k = 0; k < 8; k++)
                n[k % 4][bin[k]]++;
        }
    }
    for (int b = 0; b < PNV_RATE_BINS; b++)
        h->n[b] += n[0][b] + n[1][b] + n[2][b] + n[3][b];
}
