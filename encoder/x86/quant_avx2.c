/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quantization for AVX2. quant.c is the definition; all its numbers fit unsigned 16-bit lanes.
 *
 * Coefficients are taken 16 at a time in coding order, which is half a row of a unit of 32 blocks, one row of 16 or two
 * of 8, whose constants then lie side by side. Of narrower units two rows are taken as well, each in the beginning of
 * its half.
 */
#include <immintrin.h>
#include <string.h>

#include "slice.h"
#include "x86.h"

enum { LANES = 16 };

/** A number of a row's step, or of those of two rows in the two lanes. two_rows is a constant. */
PNV_INLINE __m256i of_rows(const uint32_t *number, int two_rows)
{
    enum { NEXT = sizeof(PnvQuantTwice) / sizeof(uint32_t) };

    if (!two_rows)
        return _mm256_set1_epi32((int)number[0]);
    return _mm256_set_m128i(_mm_set1_epi32((int)number[NEXT]), _mm_set1_epi32((int)number[0]));
}

/** divide() of quant.c with a bias of PnvQuantTwice. */
PNV_INLINE __m256i divide(__m256i magnitude, __m256i bias, const PnvQuantTwice *s, int two_rows)
{
    const __m256i m = _mm256_mulhi_epu16(_mm256_avg_epu16(magnitude, bias), of_rows(&s->recip, two_rows));
    const __m256i first = _mm256_srl_epi16(m, _mm_cvtsi32_si128((int)(s[0].shift & 0xffff)));

    if (!two_rows)
        return first;
    return _mm256_blend_epi32(first, _mm256_srl_epi16(m, _mm_cvtsi32_si128((int)(s[1].shift & 0xffff))), 0xf0);
}

/** Coefficients that a vector has. n_blocks is a constant. */
PNV_INLINE int per_vector(int n_blocks)
{
    return n_blocks < 8 ? 2 * n_blocks : LANES;
}

PNV_INLINE __m128i load_row(const int16_t *at, int n_blocks)
{
    int two;

    if (n_blocks == 8)
        return _mm_loadu_si128((const __m128i *)at);
    if (n_blocks == 4)
        return _mm_loadl_epi64((const __m128i *)at);
    memcpy(&two, at, sizeof two);
    return _mm_cvtsi32_si128(two);
}

PNV_INLINE void store_row(int16_t *at, __m128i v, int n_blocks)
{
    const int two = _mm_cvtsi128_si32(v);

    if (n_blocks == 8)
        _mm_storeu_si128((__m128i *)at, v);
    else if (n_blocks == 4)
        _mm_storel_epi64((__m128i *)at, v);
    else
        memcpy(at, &two, sizeof two);
}

/** A vector of coefficients. left: how many there are from at on; it may end after one of two rows. */
PNV_INLINE __m256i load_vector(const int16_t *at, int n_blocks, int left)
{
    if (n_blocks > 8)
        return _mm256_loadu_si256((const __m256i *)at);
    const __m128i first = load_row(at, n_blocks);
    return left > n_blocks ? _mm256_set_m128i(load_row(at + n_blocks, n_blocks), first) : _mm256_zextsi128_si256(first);
}

PNV_INLINE void store_vector(int16_t *at, __m256i v, int n_blocks, int left)
{
    if (n_blocks > 8) {
        _mm256_storeu_si256((__m256i *)at, v);
        return;
    }
    store_row(at, _mm256_castsi256_si128(v), n_blocks);
    if (left > n_blocks)
        store_row(at + n_blocks, _mm256_extracti128_si256(v, 1), n_blocks);
}

/** Rows 0..end - 1 to nearest; the last vector may have one row of two. */
PNV_INLINE void nearest_rows(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant, int end)
{
    const int two_rows = n_blocks <= 8, n = end * n_blocks;

    for (int i = 0; i < n; i += per_vector(n_blocks)) {
        const PnvQuantTwice *s = &quant->twice[i / n_blocks];
        const __m256i c = load_vector(coef + i, n_blocks, n - i);
        const __m256i m = divide(_mm256_abs_epi16(c), of_rows(&s->bias, two_rows), s, two_rows);
        store_vector(level + i, _mm256_sign_epi16(m, c), n_blocks, n - i);
    }
}

void pnv_quant_avx2(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    if (n_blocks == 32)
        nearest_rows(level, coef, 32, quant, 64);
    else if (n_blocks == 16)
        nearest_rows(level, coef, 16, quant, 64);
    else if (n_blocks == 8)
        nearest_rows(level, coef, 8, quant, 64);
    else if (n_blocks == 4)
        nearest_rows(level, coef, 4, quant, 64);
    else if (n_blocks == 2)
        nearest_rows(level, coef, 2, quant, 64);
    else
        pnv_quant_c(level, coef, n_blocks, quant);
}

/** Whether AC coefficients are small, 0xff or 0; that of coefficient 0 is at 2. Behind them is room for a vector. */
typedef struct SmallBytes {
    uint8_t byte[2 + 63 * PNV_MAX_BLOCKS + 2 + LANES];
} SmallBytes;

/** Bytes of the coefficients of a vector. */
PNV_INLINE __m128i load_bytes(const uint8_t *at, int n_blocks)
{
    if (n_blocks >= 8)
        return _mm_loadu_si128((const __m128i *)at);
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)at), _mm_loadl_epi64((const __m128i *)(at + n_blocks)));
}

PNV_INLINE void dead_zone_rows(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    const int n = 63 * n_blocks, two_rows = n_blocks <= 8;
    SmallBytes small;

    memset(small.byte, 0, 2);
    for (int i = 0; i < n; i += per_vector(n_blocks)) {
        const __m256i edge = of_rows(&quant->twice[1 + i / n_blocks].small, two_rows);
        const __m256i magnitude = _mm256_abs_epi16(load_vector(coef + i, n_blocks, n - i));
        /* Unsigned: the larger one is not the magnitude, or both are equal. */
        const __m256i is_large = _mm256_cmpeq_epi16(_mm256_max_epu16(magnitude, edge), magnitude);
        const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(is_large), _mm256_extracti128_si256(is_large, 1));
        const __m128i is_small = _mm_xor_si128(bytes, _mm_set1_epi8(-1));
        _mm_storeu_si128((__m128i *)(small.byte + 2 + i), is_small);
        if (n_blocks < 8) /* what lies behind a row is stored later */
            _mm_storel_epi64((__m128i *)(small.byte + 2 + i + n_blocks), _mm_unpackhi_epi64(is_small, is_small));
    }
    memset(small.byte + 2 + n, 0xff, 2 + LANES); /* 2 count; the others are read with them where a unit ends */
    for (int i = 0; i < n; i += per_vector(n_blocks)) {
        const PnvQuantTwice *s = &quant->twice[1 + i / n_blocks];
        const PnvQuantStep *step = &quant->step[1 + i / n_blocks];
        const uint8_t *at = small.byte + 2 + i;
        const __m128i before = _mm_add_epi8(load_bytes(at - 2, n_blocks), load_bytes(at - 1, n_blocks));
        const __m128i behind = _mm_add_epi8(load_bytes(at + 1, n_blocks), load_bytes(at + 2, n_blocks));
        const __m256i count = _mm256_cvtepi8_epi16(_mm_add_epi8(before, behind)); /* negative */
        /* Threshold number count of the row: its two bytes. */
        const __m256i index = _mm256_sub_epi16(_mm256_set1_epi16(0x100),
                                               _mm256_mullo_epi16(count, _mm256_set1_epi16(0x202)));
        const __m128i t0 = _mm_loadu_si128((const __m128i *)step[0].threshold);
        const __m128i t1 = two_rows ? _mm_loadu_si128((const __m128i *)step[1].threshold) : t0;
        const __m256i least = _mm256_shuffle_epi8(_mm256_set_m128i(t1, t0), index);
        const __m256i c = load_vector(coef + i, n_blocks, n - i), magnitude = _mm256_abs_epi16(c);
        const __m256i keep = _mm256_cmpeq_epi16(_mm256_max_epu16(magnitude, least), magnitude);
        const __m256i m = divide(magnitude, of_rows(&s->zone_bias, two_rows), s, two_rows);
        store_vector(level + i, _mm256_sign_epi16(_mm256_and_si256(m, keep), c), n_blocks, n - i);
    }
}

void pnv_quant_dead_zone_avx2(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    if (n_blocks == 32) {
        nearest_rows(level, coef, 32, quant, 1);
        dead_zone_rows(level + 32, coef + 32, 32, quant);
    } else if (n_blocks == 16) {
        nearest_rows(level, coef, 16, quant, 1);
        dead_zone_rows(level + 16, coef + 16, 16, quant);
    } else if (n_blocks == 8) {
        nearest_rows(level, coef, 8, quant, 1);
        dead_zone_rows(level + 8, coef + 8, 8, quant);
    } else if (n_blocks == 4) {
        nearest_rows(level, coef, 4, quant, 1);
        dead_zone_rows(level + 4, coef + 4, 4, quant);
    } else if (n_blocks == 2) {
        nearest_rows(level, coef, 2, quant, 1);
        dead_zone_rows(level + 2, coef + 2, 2, quant);
    } else {
        pnv_quant_dead_zone_c(level, coef, n_blocks, quant);
    }
}
