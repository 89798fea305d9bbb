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

/** The magnitude of pnv_quant_level(), with a bias of PnvQuantTwice. */
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

/** A vector of coefficients. */
PNV_INLINE __m256i load_vector(const int16_t *at, int n_blocks)
{
    if (n_blocks > 8)
        return _mm256_loadu_si256((const __m256i *)at);
    return _mm256_set_m128i(load_row(at + n_blocks, n_blocks), load_row(at, n_blocks));
}

PNV_INLINE void store_vector(int16_t *at, __m256i v, int n_blocks)
{
    if (n_blocks > 8) {
        _mm256_storeu_si256((__m256i *)at, v);
        return;
    }
    store_row(at, _mm256_castsi256_si128(v), n_blocks);
    store_row(at + n_blocks, _mm256_extracti128_si256(v, 1), n_blocks);
}

/** Rows of two vectors, and from the first row of one to that of the other. n_blocks is a constant. */
PNV_INLINE int rows_of_two(int n_blocks)
{
    return 2 * per_vector(n_blocks) / n_blocks;
}

PNV_INLINE int rows_between(int n_blocks)
{
    return per_vector(n_blocks) / n_blocks;
}

PNV_INLINE void nearest_rows(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    const int two_rows = n_blocks <= 8;

    for (int row = 0; row < 64; row += rows_of_two(n_blocks)) {
        for (int k = 0; k < 2; k++) {
            const int i = row * n_blocks + k * per_vector(n_blocks);
            const PnvQuantTwice *s = &quant->twice[row + k * rows_between(n_blocks)];
            const __m256i c = load_vector(coef + i, n_blocks);
            const __m256i m = divide(_mm256_abs_epi16(c), of_rows(&s->bias, two_rows), s, two_rows);
            store_vector(level + i, _mm256_sign_epi16(m, c), n_blocks);
        }
    }
}

void pnv_quant_avx2(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    if (n_blocks == 32)
        nearest_rows(level, coef, 32, quant);
    else if (n_blocks == 16)
        nearest_rows(level, coef, 16, quant);
    else if (n_blocks == 8)
        nearest_rows(level, coef, 8, quant);
    else if (n_blocks == 4)
        nearest_rows(level, coef, 4, quant);
    else if (n_blocks == 2)
        nearest_rows(level, coef, 2, quant);
    else
        pnv_quant_c(level, coef, n_blocks, quant);
}

/**
 * Whether coefficients are small, 1 or 0, in coding order; that of coefficient 0 is at 2. Behind them is room for a
 * vector, which is read at the end of a unit.
 */
typedef struct SmallBytes {
    uint8_t byte[2 + 64 * PNV_MAX_BLOCKS + 2 + 2 * LANES];
} SmallBytes;

/** Bytes of the coefficients of two vectors. */
PNV_INLINE __m256i load_bytes(const uint8_t *at, int n_blocks)
{
    if (n_blocks >= 8)
        return _mm256_loadu_si256((const __m256i *)at);
    __m128i rows[4];
    for (int r = 0; r < 4; r++)
        rows[r] = _mm_loadl_epi64((const __m128i *)(at + r * n_blocks));
    return _mm256_set_m128i(_mm_unpacklo_epi64(rows[2], rows[3]), _mm_unpacklo_epi64(rows[0], rows[1]));
}

/** What is stored behind a narrow row is replaced by the next one. */
PNV_INLINE void store_bytes(uint8_t *at, __m256i v, int n_blocks)
{
    const __m128i half[2] = {_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)};

    if (n_blocks >= 8) {
        _mm256_storeu_si256((__m256i *)at, v);
        return;
    }
    for (int r = 0; r < 4; r += 2) {
        _mm_storel_epi64((__m128i *)(at + r * n_blocks), half[r / 2]);
        _mm_storel_epi64((__m128i *)(at + (r + 1) * n_blocks), _mm_unpackhi_epi64(half[r / 2], half[r / 2]));
    }
}

/** Low or high bytes of the tables of two vectors, of each lane those of its row or of its two rows. */
PNV_INLINE __m256i zones(const uint8_t *zone, int n_blocks)
{
    long long row[4];

    for (int r = 0; r < rows_of_two(n_blocks); r++)
        memcpy(&row[r], zone + (size_t)r * sizeof(PnvQuantZone), sizeof row[r]);
    if (n_blocks == 32)
        return _mm256_set1_epi64x(row[0]);
    return n_blocks == 16 ? _mm256_setr_epi64x(row[0], row[0], row[1], row[1])
                          : _mm256_setr_epi64x(row[0], row[1], row[2], row[3]);
}

PNV_INLINE void find_small(SmallBytes *small, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    const int two_rows = n_blocks <= 8, step = per_vector(n_blocks);

    memset(small->byte, 0, 2);
    for (int row = 0; row < 64; row += rows_of_two(n_blocks)) {
        const int i = row * n_blocks;
        __m256i v[2];
        for (int k = 0; k < 2; k++) { /* what the edge is above of, not zero */
            const __m256i edge = of_rows(&quant->twice[row + k * rows_between(n_blocks)].small, two_rows);
            v[k] = _mm256_subs_epu16(edge, _mm256_abs_epi16(load_vector(coef + i + k * step, n_blocks)));
        }
        const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(v[0], v[1]), 0xd8);
        store_bytes(small->byte + 2 + i, _mm256_min_epu8(bytes, _mm256_set1_epi8(1)), n_blocks);
    }
    memset(small->byte + 2 + 64 * n_blocks, 1, 2);
}

PNV_INLINE void dead_zone_rows(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    const int two_rows = n_blocks <= 8, step = per_vector(n_blocks);
    const __m256i second_row = _mm256_broadcastsi128_si256(_mm_set_epi64x(two_rows ? 0x0808080808080808 : 0, 0));
    SmallBytes small;

    find_small(&small, coef, n_blocks, quant);
    for (int row = 0; row < 64; row += rows_of_two(n_blocks)) {
        const int i = row * n_blocks;
        const uint8_t *at = small.byte + 2 + i;
        const __m256i before = _mm256_add_epi8(load_bytes(at - 2, n_blocks), load_bytes(at - 1, n_blocks));
        const __m256i behind = _mm256_add_epi8(load_bytes(at + 1, n_blocks), load_bytes(at + 2, n_blocks));
        const __m256i index = _mm256_or_si256(_mm256_add_epi8(before, behind), second_row);
        const __m256i low = _mm256_shuffle_epi8(zones(quant->zone[row].low, n_blocks), index);
        const __m256i high = _mm256_shuffle_epi8(zones(quant->zone[row].high, n_blocks), index);
        const __m256i mixed[2] = {_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high)};
        const __m256i least[2] = {_mm256_permute2x128_si256(mixed[0], mixed[1], 0x20),
                                  _mm256_permute2x128_si256(mixed[0], mixed[1], 0x31)};
        for (int k = 0; k < 2; k++) {
            const PnvQuantTwice *s = &quant->twice[row + k * rows_between(n_blocks)];
            const __m256i c = load_vector(coef + i + k * step, n_blocks), magnitude = _mm256_abs_epi16(c);
            /* Unsigned: the larger one is the magnitude, or both are equal. */
            const __m256i keep = _mm256_cmpeq_epi16(_mm256_max_epu16(magnitude, least[k]), magnitude);
            const __m256i m = divide(magnitude, of_rows(&s->zone_bias, two_rows), s, two_rows);
            store_vector(level + i + k * step, _mm256_sign_epi16(_mm256_and_si256(m, keep), c), n_blocks);
        }
    }
}

void pnv_quant_dead_zone_avx2(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    if (n_blocks == 32)
        dead_zone_rows(level, coef, 32, quant);
    else if (n_blocks == 16)
        dead_zone_rows(level, coef, 16, quant);
    else if (n_blocks == 8)
        dead_zone_rows(level, coef, 8, quant);
    else if (n_blocks == 4)
        dead_zone_rows(level, coef, 4, quant);
    else if (n_blocks == 2)
        dead_zone_rows(level, coef, 2, quant);
    else
        pnv_quant_dead_zone_c(level, coef, n_blocks, quant);
}
