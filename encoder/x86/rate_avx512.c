/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The histogram of rate control for AVX-512. rate.c is the definition. */
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

/**
 * Units of 32 and of 16 blocks: 32 coefficients a vector, and for each bin how many are at or above its edge. Most bins
 * are above all of them.
 */
static void count_above(PnvRateHistogram *h, const int16_t *coef, int n_blocks, const uint16_t reciprocal[64])
{
    /* Where each bin begins: bin_of() of rate.c turned round; bin 2 is always empty. */
    static const uint16_t edge[PNV_RATE_BINS] = {
        0,   1,   2,   2,   3,    4,    6,    8,    12,   16,   24,   32,    48,    64,    96,    128,
        192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
    };
    const int rows_per_vector = 32 / n_blocks, n_vectors = 16 / rows_per_vector;
    __m512i y[16], most = _mm512_setzero_si512();
    uint32_t above = 32 * (uint32_t)n_vectors;

    for (int i = 0; i < n_vectors; i++) {
        const int row = 1 + 4 * rows_per_vector * i;
        __m512i c = _mm512_setzero_si512(), r = _mm512_set1_epi16((short)reciprocal[row]);
        if (rows_per_vector == 1) {
            c = _mm512_loadu_si512(coef + row * 32);
        } else {
            const __m256i low = _mm256_loadu_si256((const __m256i *)(coef + row * 16));
            const __m256i high = _mm256_loadu_si256((const __m256i *)(coef + (row + 4) * 16));
            c = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
            r = _mm512_inserti64x4(r, _mm256_set1_epi16((short)reciprocal[row + 4]), 1);
        }
        y[i] = _mm512_mulhi_epu16(_mm512_abs_epi16(c), r);
        most = _mm512_max_epu16(most, y[i]);
    }
    for (int b = 0; b < PNV_RATE_BINS; b++) {
        uint32_t next = 0;
        if (b + 1 < PNV_RATE_BINS) {
            const __m512i next_edge = _mm512_set1_epi16((short)edge[b + 1]);
            if (_mm512_cmpge_epu16_mask(most, next_edge)) {
                for (int i = 0; i < n_vectors; i += 2) {
                    const uint64_t low = _mm512_cmpge_epu16_mask(y[i], next_edge);
                    const uint64_t high = _mm512_cmpge_epu16_mask(y[i + 1], next_edge);
                    next += (uint32_t)__builtin_popcountll(high << 32 | low);
                }
            }
        }
        h->n[b] += above - next;
        above = next;
        if (!next)
            return;
    }
}

void pnv_rate_histogram_avx512(PnvRateHistogram *h, const int16_t *coef, int n_blocks, const uint16_t reciprocal[64])
{
    /* Neighbours are often equal: four tables, so that a count does not wait for the one before. */
    uint32_t n[4][PNV_RATE_BINS];
    const __mmask32 there = n_blocks >= 32 ? 0xffffffffu : (1u << n_blocks) - 1;

    if (n_blocks == 32 || n_blocks == 16) {
        count_above(h, coef, n_blocks, reciprocal);
        return;
    }
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
