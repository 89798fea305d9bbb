/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quantization for AVX-512. quant.c is the definition; all its numbers fit unsigned 16-bit lanes.
 *
 * Coefficients are taken 32 at a time in coding order: one row of a unit of 32 blocks, two of 16, four of 8. The
 * constants of the rows are loaded side by side. Narrower units do not fill such vectors: they take AVX2's way.
 */
#include <immintrin.h>
#include <string.h>

#include "slice.h"
#include "x86.h"

enum { LANES = 32 };

/**
 * A number of the steps of n_rows rows that follow each other. n_rows, a constant: 1, 2 or 4.
 */
PNV_INLINE __m512i of_rows(const uint32_t *number, int n_rows)
{
    enum { NEXT = sizeof(PnvQuantTwice) / sizeof(uint32_t) };
    __m512i v = _mm512_set1_epi32((int)number[0]);

    if (n_rows == 2)
        return _mm512_mask_set1_epi32(v, 0xff00, (int)number[NEXT]);
    if (n_rows == 4) {
        v = _mm512_mask_set1_epi32(v, 0x00f0, (int)number[NEXT]);
        v = _mm512_mask_set1_epi32(v, 0x0f00, (int)number[2 * NEXT]);
        v = _mm512_mask_set1_epi32(v, 0xf000, (int)number[3 * NEXT]);
    }
    return v;
}

/** The magnitude of pnv_quant_level(), with a bias of PnvQuantTwice; 0 in lanes that are not kept. */
PNV_INLINE __m512i divide(__mmask32 keep, __m512i magnitude, __m512i bias, __m512i recip, __m512i shift)
{
    const __m512i m = _mm512_avg_epu16(magnitude, bias);

    return _mm512_srlv_epi16(_mm512_maskz_mulhi_epu16(keep, m, recip), shift);
}

PNV_INLINE __m512i with_sign_of(__m512i c, __m512i magnitude)
{
    return _mm512_mask_sub_epi16(magnitude, _mm512_movepi16_mask(c), _mm512_setzero_si512(), magnitude);
}

PNV_INLINE void nearest_rows(int16_t *level, const int16_t *coef, const PnvQuant *quant, int n_rows)
{
    for (int i = 0; i < 64; i += n_rows, level += LANES, coef += LANES) {
        const PnvQuantTwice *s = &quant->twice[i];
        const __m512i c = _mm512_loadu_si512(coef);
        const __m512i m = divide(0xffffffff, _mm512_abs_epi16(c), of_rows(&s->bias, n_rows), of_rows(&s->recip, n_rows),
                                 of_rows(&s->shift, n_rows));
        _mm512_storeu_si512(level, with_sign_of(c, m));
    }
}

void pnv_quant_avx512(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    if (n_blocks == 32)
        nearest_rows(level, coef, quant, 1);
    else if (n_blocks == 16)
        nearest_rows(level, coef, quant, 2);
    else if (n_blocks == 8)
        nearest_rows(level, coef, quant, 4);
    else
        pnv_quant_avx2(level, coef, n_blocks, quant);
}

/**
 * Whether coefficients are small, a bit each; that of coefficient 0 is bit 8. Bits 6 and 7 are those before it, 0.
 * Room behind for two that are small and for reading 64 bits at any of them.
 */
typedef struct SmallBits {
    uint8_t byte[1 + 64 * PNV_MAX_BLOCKS / 8 + 16];
} SmallBits;

PNV_INLINE void find_small(SmallBits *bits, const int16_t *coef, int n_blocks, const PnvQuant *quant, int n_rows)
{
    const int n = 64 * n_blocks;

    memset(bits->byte, 0, 1);
    for (int i = 0; i < n; i += LANES) {
        const uint32_t small = _mm512_cmplt_epu16_mask(_mm512_abs_epi16(_mm512_loadu_si512(coef + i)),
                                                       of_rows(&quant->twice[i / n_blocks].small, n_rows));
        memcpy(bits->byte + 1 + i / 8, &small, sizeof small);
    }
    memset(bits->byte + 1 + n / 8, 0xff, 1); /* n is a multiple of 8 */
}

/** The thresholds of n_rows rows, one after the other in 128-bit lanes. */
PNV_INLINE __m512i thresholds(const PnvQuantStep *step, int n_rows)
{
    __m512i v = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)step[0].threshold));

    for (int r = 1; r < n_rows; r++)
        v = _mm512_mask_broadcast_i32x4(v, (__mmask16)(0xf << 4 * r),
                                        _mm_loadu_si128((const __m128i *)step[r].threshold));
    return v;
}

PNV_INLINE void dead_zone_rows(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant, int n_rows)
{
    /* How many of bits 0, 1, 3 and 4 are set: the neighbours of bit 2. */
    static const _Alignas(64) uint16_t neighbours[LANES] = {
        0, 1, 1, 2, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 2, 3, 3, 4,
    };
    static const _Alignas(64) uint8_t window[LANES] = {
        6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37,
    };
    /* Word at which the thresholds of a lane's row begin. */
    const __m512i row_of_lane =
        n_rows == 1   ? _mm512_setzero_si512()
        : n_rows == 2 ? _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi16(8), 1)
                      : _mm512_set_epi64(0x18001800180018, 0x18001800180018, 0x10001000100010, 0x10001000100010,
                                         0x08000800080008, 0x08000800080008, 0, 0);
    const int n = 64 * n_blocks;
    SmallBits bits;

    find_small(&bits, coef, n_blocks, quant, n_rows);
    for (int i = 0; i < n; i += LANES) {
        const PnvQuantTwice *s = &quant->twice[i / n_blocks];
        uint64_t around;
        memcpy(&around, bits.byte + i / 8, sizeof around);
        const __m256i own = _mm256_multishift_epi64_epi8(_mm256_load_si256((const __m256i *)window),
                                                         _mm256_set1_epi64x((long long)around));
        /* The permute takes the lowest five bits of an index. */
        const __m512i count = _mm512_permutexvar_epi16(_mm512_cvtepu8_epi16(own), _mm512_load_si512(neighbours));
        const __m512i least = _mm512_permutexvar_epi16(_mm512_add_epi16(count, row_of_lane),
                                                       thresholds(&quant->step[i / n_blocks], n_rows));
        const __m512i c = _mm512_loadu_si512(coef + i), magnitude = _mm512_abs_epi16(c);
        const __mmask32 keep = _mm512_cmpge_epu16_mask(magnitude, least);
        const __m512i m = divide(keep, magnitude, of_rows(&s->zone_bias, n_rows), of_rows(&s->recip, n_rows),
                                 of_rows(&s->shift, n_rows));
        _mm512_storeu_si512(level + i, with_sign_of(c, m));
    }
}

void pnv_quant_dead_zone_avx512(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    if (n_blocks == 32)
        dead_zone_rows(level, coef, 32, quant, 1);
    else if (n_blocks == 16)
        dead_zone_rows(level, coef, 16, quant, 2);
    else if (n_blocks == 8)
        dead_zone_rows(level, coef, 8, quant, 4);
    else
        pnv_quant_dead_zone_avx2(level, coef, n_blocks, quant);
}
