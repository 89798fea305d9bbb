/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quantization for AVX2. quant.c is the definition; all its numbers fit unsigned 16-bit lanes.
 *
 * Coefficients are taken 16 at a time in coding order, which is half a row of a unit of 32 blocks, one row of 16 or two
 * of 8, whose constants then lie side by side. Narrower units hold little and stay with the definition.
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

/** Rows 0..end - 1 to nearest; end * n_blocks is a multiple of LANES, or the last vector is half. */
PNV_INLINE void nearest_rows(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant, int end)
{
    const int two_rows = n_blocks == 8;

    for (int i = 0; i < end * n_blocks; i += LANES) {
        const PnvQuantTwice *s = &quant->twice[i / n_blocks];
        const int is_half = end * n_blocks - i < LANES;
        const __m256i c = is_half ? _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(coef + i)))
                                  : _mm256_loadu_si256((const __m256i *)(coef + i));
        const __m256i m = divide(_mm256_abs_epi16(c), of_rows(&s->bias, two_rows), s, two_rows);
        const __m256i l = _mm256_sign_epi16(m, c);
        if (is_half)
            _mm_storeu_si128((__m128i *)(level + i), _mm256_castsi256_si128(l));
        else
            _mm256_storeu_si256((__m256i *)(level + i), l);
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
    else
        pnv_quant_c(level, coef, n_blocks, quant);
}

/** Whether AC coefficients are small, 0xff or 0; that of coefficient 0 is at 2. Behind them is room for a vector. */
typedef struct SmallBytes {
    uint8_t byte[2 + 63 * PNV_MAX_BLOCKS + 2 + LANES];
} SmallBytes;

/** 16 coefficients from i on; zeros where the unit ends in the middle, which units of 8 blocks do. */
PNV_INLINE __m256i load_16(const int16_t *coef, int i, int n)
{
    return n - i < LANES ? _mm256_zextsi128_si256(_mm_loadu_si128((const __m128i *)(coef + i)))
                         : _mm256_loadu_si256((const __m256i *)(coef + i));
}

PNV_INLINE void dead_zone_rows(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    const int n = 63 * n_blocks, two_rows = n_blocks == 8;
    SmallBytes small;

    memset(small.byte, 0, 2);
    for (int i = 0; i < n; i += LANES) {
        const __m256i edge = of_rows(&quant->twice[1 + i / n_blocks].small, two_rows);
        const __m256i magnitude = _mm256_abs_epi16(load_16(coef, i, n));
        /* Unsigned: the larger one is not the magnitude, or both are equal. */
        const __m256i is_large = _mm256_cmpeq_epi16(_mm256_max_epu16(magnitude, edge), magnitude);
        const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(is_large), _mm256_extracti128_si256(is_large, 1));
        _mm_storeu_si128((__m128i *)(small.byte + 2 + i), _mm_xor_si128(bytes, _mm_set1_epi8(-1)));
    }
    memset(small.byte + 2 + n, 0xff, 2 + LANES); /* 2 count; the others are read with them where 8 blocks end */
    for (int i = 0; i < n; i += LANES) {
        const PnvQuantTwice *s = &quant->twice[1 + i / n_blocks];
        const PnvQuantStep *step = &quant->step[1 + i / n_blocks];
        const uint8_t *at = small.byte + 2 + i;
        const __m128i before = _mm_add_epi8(_mm_loadu_si128((const __m128i *)(at - 2)),
                                            _mm_loadu_si128((const __m128i *)(at - 1)));
        const __m128i behind = _mm_add_epi8(_mm_loadu_si128((const __m128i *)(at + 1)),
                                            _mm_loadu_si128((const __m128i *)(at + 2)));
        const __m256i count = _mm256_cvtepi8_epi16(_mm_add_epi8(before, behind)); /* negative */
        /* Threshold number count of the row: its two bytes. */
        const __m256i index = _mm256_sub_epi16(_mm256_set1_epi16(0x100),
                                               _mm256_mullo_epi16(count, _mm256_set1_epi16(0x202)));
        const __m128i t0 = _mm_loadu_si128((const __m128i *)step[0].threshold);
        const __m128i t1 = two_rows ? _mm_loadu_si128((const __m128i *)step[1].threshold) : t0;
        const __m256i least = _mm256_shuffle_epi8(_mm256_set_m128i(t1, t0), index);
        const __m256i c = load_16(coef, i, n), magnitude = _mm256_abs_epi16(c);
        const __m256i keep = _mm256_cmpeq_epi16(_mm256_max_epu16(magnitude, least), magnitude);
        const __m256i m = divide(magnitude, of_rows(&s->zone_bias, two_rows), s, two_rows);
        const __m256i l = _mm256_sign_epi16(_mm256_and_si256(m, keep), c);
        if (n - i < LANES)
            _mm_storeu_si128((__m128i *)(level + i), _mm256_castsi256_si128(l));
        else
            _mm256_storeu_si256((__m256i *)(level + i), l);
    }
}

void pnv_quant_dead_zone_avx2(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    if (n_blocks != 32 && n_blocks != 16 && n_blocks != 8) {
        pnv_quant_dead_zone_c(level, coef, n_blocks, quant);
        return;
    }
    nearest_rows(level, coef, n_blocks, quant, 1);
    if (n_blocks == 32)
        dead_zone_rows(level + 32, coef + 32, 32, quant);
    else if (n_blocks == 16)
        dead_zone_rows(level + 16, coef + 16, 16, quant);
    else
        dead_zone_rows(level + 8, coef + 8, 8, quant);
}
