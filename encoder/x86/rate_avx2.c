/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The histogram of rate control for AVX2: 32 coefficients a vector of bytes, and for each bin how many are at or above
 * its edge. Most bins are above all of them. rate.c is the definition.
 */
#include <immintrin.h>

#include "slice.h"
#include "vectors.h"
#include "x86.h"

enum { LANES = 16, ROWS = 16 /* every fourth one */, MAX_SIZES = ROWS * PNV_MAX_BLOCKS, EDGES = 4 };

/** Sizes as bytes less 128: what is above 255 as that, and what is left of them without their lowest 7 bits. */
typedef struct Bytes {
    _Alignas(32) int8_t low[MAX_SIZES], high[MAX_SIZES];
} Bytes;

PNV_INLINE __m128i size_128(__m128i c, uint16_t reciprocal)
{
    return _mm_mulhi_epu16(_mm_abs_epi16(c), _mm_set1_epi16((short)reciprocal));
}

/** Sizes of the coefficients of the rows that count. */
PNV_INLINE void find_sizes(uint16_t *size, const int16_t *coef, int n_blocks, const uint16_t reciprocal[64])
{
    for (int i = 1; i < 64; i += 4, size += n_blocks) {
        const int16_t *row = coef + i * n_blocks;
        if (n_blocks < 8) { /* what is stored behind a row is replaced by the next one */
            _mm_storeu_si128((__m128i *)size, size_128(_mm_loadl_epi64((const __m128i *)row), reciprocal[i]));
            continue;
        }
        for (int b = 0; b < n_blocks; b += 8)
            _mm_storeu_si128((__m128i *)(size + b), size_128(_mm_loadu_si128((const __m128i *)(row + b)), reciprocal[i]));
    }
}

PNV_INLINE __m256i pack(__m256i a, __m256i b)
{
    const __m256i middle = _mm256_set1_epi16(128);

    return _mm256_packs_epi16(_mm256_sub_epi16(a, middle), _mm256_sub_epi16(b, middle));
}

/** Their order does not matter. Returns the largest ones by lanes. */
PNV_INLINE __m256i pack_sizes(Bytes *bytes, const uint16_t *size, int n)
{
    __m256i most = _mm256_setzero_si256();

    for (int i = 0; i < n; i += 2 * LANES) {
        const __m256i a = _mm256_load_si256((const __m256i *)(size + i));
        const __m256i b = _mm256_load_si256((const __m256i *)(size + i + LANES));
        most = _mm256_max_epu16(most, _mm256_max_epu16(a, b));
        _mm256_store_si256((__m256i *)(bytes->low + i), pack(a, b));
        _mm256_store_si256((__m256i *)(bytes->high + i), pack(_mm256_srli_epi16(a, 7), _mm256_srli_epi16(b, 7)));
    }
    return most;
}

/** The largest of 16. */
PNV_INLINE unsigned largest(__m256i v)
{
    const __m128i eight = _mm_max_epu16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

    /* what minpos finds is the smallest */
    return 0xffff & ~(unsigned)_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_xor_si128(eight, _mm_set1_epi16(-1))));
}

/** How many of n bytes are at or above each of EDGES edges. */
PNV_INLINE void count_from(uint32_t count[EDGES], const int8_t *byte, int n, const uint8_t edge[EDGES])
{
    __m256i below[EDGES], in_lane[EDGES]; /* at most MAX_SIZES / 32 in each lane */

    for (int k = 0; k < EDGES; k++) {
        below[k] = _mm256_set1_epi8((char)(edge[k] - 1 - 128));
        in_lane[k] = _mm256_setzero_si256();
    }
    for (int i = 0; i < n; i += 2 * LANES) {
        const __m256i v = _mm256_load_si256((const __m256i *)(byte + i));
        for (int k = 0; k < EDGES; k++)
            in_lane[k] = _mm256_sub_epi8(in_lane[k], _mm256_cmpgt_epi8(v, below[k]));
    }
    for (int k = 0; k < EDGES; k++)
        count[k] = (uint32_t)pnv_sum_of_4(_mm256_sad_epu8(in_lane[k], _mm256_setzero_si256()));
}

void pnv_rate_histogram_avx2(PnvRateHistogram *h, const int16_t *coef, int n_blocks, const uint16_t reciprocal[64])
{
    /* Where bins 1 to 16 begin, and 17 to 30 in 128ths: pnv_rate_bin_of() turned round. Bin 2 is always empty; nothing
     * is as large as bin 31, nor, as bytes less 128 go, as an edge of 0. */
    static const uint8_t low_edge[16] = {1, 2, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192};
    static const uint8_t high_edge[16] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 0, 0};
    _Alignas(32) uint16_t size[MAX_SIZES + LANES];
    Bytes bytes;
    uint32_t from[PNV_RATE_BINS + EDGES] = {0}; /* how many are at or above the edge of a bin */
    const int n = ROWS * n_blocks;

    if (n_blocks == 32)
        find_sizes(size, coef, 32, reciprocal);
    else if (n_blocks == 16)
        find_sizes(size, coef, 16, reciprocal);
    else
        find_sizes(size, coef, n_blocks, reciprocal);
    const unsigned most = largest(pack_sizes(&bytes, size, n));
    from[0] = (uint32_t)n;
    for (int k = 0; k < 16 && most >= low_edge[k]; k += EDGES)
        count_from(from + 1 + k, bytes.low, n, low_edge + k);
    for (int k = 0; k < 16 && most >> 7 >= high_edge[k]; k += EDGES)
        count_from(from + 17 + k, bytes.high, n, high_edge + k);
    for (int b = 0; b < PNV_RATE_BINS; b++)
        h->n[b] += from[b] - from[b + 1];
}
