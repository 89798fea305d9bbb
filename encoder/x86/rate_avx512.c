/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The histogram of rate control for AVX-512: 32 coefficients a vector, and for each bin how many are at or above its
 * edge. Most bins are above all of them. rate.c is the definition.
 */
#include <immintrin.h>

#include "slice.h"
#include "x86.h"

enum { LANES = 32, ROWS = 16 /* every fourth one */ };

/**
 * Sizes of the coefficients of the rows that count, and zeros up to the end of a second vector. Returns the largest
 * ones by lanes, or larger.
 */
PNV_INLINE __m512i sizes_of(uint16_t *size, const int16_t *coef, int n_blocks, const uint16_t reciprocal[64])
{
    __m512i most = _mm512_setzero_si512();

    for (int i = 1; i < 64; i += 4, size += n_blocks) {
        const int16_t *row = coef + i * n_blocks, r = (int16_t)reciprocal[i];
        __m512i v;
        if (n_blocks == 32) {
            v = _mm512_mulhi_epu16(_mm512_abs_epi16(_mm512_loadu_si512(row)), _mm512_set1_epi16(r));
            _mm512_storeu_si512(size, v);
        } else if (n_blocks == 16) {
            const __m256i c = _mm256_abs_epi16(_mm256_loadu_si256((const __m256i *)row));
            const __m256i y = _mm256_mulhi_epu16(c, _mm256_set1_epi16(r));
            _mm256_storeu_si256((__m256i *)size, y);
            v = _mm512_zextsi256_si512(y);
        } else { /* what is stored behind a row is replaced by the next one */
            const __m128i c = _mm_abs_epi16(n_blocks == 8 ? _mm_loadu_si128((const __m128i *)row)
                                                          : _mm_loadl_epi64((const __m128i *)row));
            const __m128i y = _mm_mulhi_epu16(c, _mm_set1_epi16(r));
            _mm_storeu_si128((__m128i *)size, y);
            v = _mm512_zextsi128_si512(y);
        }
        most = _mm512_max_epu16(most, v);
    }
    if (n_blocks == 2)
        _mm512_storeu_si512(size, _mm512_setzero_si512());
    return most;
}

void pnv_rate_histogram_avx512(PnvRateHistogram *h, const int16_t *coef, int n_blocks, const uint16_t reciprocal[64])
{
    /* Where each bin begins: pnv_rate_bin_of() turned round; bin 2 is always empty. */
    static const uint16_t edge[PNV_RATE_BINS] = {
        0,   1,   2,   2,   3,    4,    6,    8,    12,   16,   24,   32,    48,    64,    96,    128,
        192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
    };
    _Alignas(64) uint16_t size[ROWS * PNV_MAX_BLOCKS];
    const int n = ROWS * n_blocks;
    const __m512i most = sizes_of(size, coef, n_blocks, reciprocal);
    uint32_t above = (uint32_t)n;

    for (int b = 0; b < PNV_RATE_BINS; b++) {
        uint32_t next = 0;
        if (b + 1 < PNV_RATE_BINS) {
            const __m512i next_edge = _mm512_set1_epi16((short)edge[b + 1]);
            if (_mm512_cmpge_epu16_mask(most, next_edge)) {
                for (int i = 0; i < n; i += 2 * LANES) {
                    const uint64_t low = _mm512_cmpge_epu16_mask(_mm512_load_si512(size + i), next_edge);
                    const uint64_t high = _mm512_cmpge_epu16_mask(_mm512_load_si512(size + i + LANES), next_edge);
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
