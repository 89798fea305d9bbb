/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sixteen samples at a time, a loop for each kind of place; interpolate.h names the values. Up to 13 bits the half
 * samples b and h stay in 16-bit lanes: with A, B, C the sums of the taps 1, -5 and 20,
 *
 *    (A - 5 B + 20 C) >> 4  =  ((((A - B) >> 2) - B + C) >> 2) + C
 *
 * exactly, as each step adds whole numbers to what it rounds down, and nothing in it passes 2.7 max.
 */
#include <immintrin.h>
#include <string.h>

#include "interpolate.h"
#include "x86.h"

/** What sums of six taps fit. */
typedef enum Depth {
    UP_TO_13_BITS, /**< Sixteenths of the sums of samples do. */
    UP_TO_16_BITS  /**< Products of pairs do, once 2^15 is taken from each sample. */
} Depth;

typedef enum Column { COLUMN_FULL, COLUMN_QUARTER, COLUMN_HALF } Column;

enum { CHUNK = 128, MARGIN = 5 }; /* a whole row of the widest unit */

/** A row to make: what is known of its place only when it runs. */
typedef struct Row {
    const uint16_t *const *row; /**< As pnv_interpolate_c() takes them. */
    const uint16_t *near;       /**< The nearer row of samples. */
    ptrdiff_t near_column;      /**< The nearer column of samples: 0 or 1. */
    int n, max;
} Row;

/** A part of it. */
typedef struct Chunk {
    const uint16_t *row[6];
    const uint16_t *near, *near_at; /**< The nearer row, and in it the nearer column. */
    ptrdiff_t near_column;
    __m256i max;
    int32_t sum[CHUNK + MARGIN]; /**< Of columns -2 on: six taps of samples less 2^15. */
} Chunk;

PNV_INLINE __m256i load(const void *at)
{
    return _mm256_loadu_si256((const __m256i *)at);
}

PNV_INLINE __m256i pair(int a, int b)
{
    return _mm256_set1_epi32((int)((unsigned)a & 0xffff) | (int)((unsigned)b << 16));
}

/* v[0..5]: the six samples of each lane's filter. */
PNV_INLINE __m256i half_narrow(const __m256i v[6], __m256i max)
{
    const __m256i a = _mm256_add_epi16(v[0], v[5]), b = _mm256_add_epi16(v[1], v[4]), c = _mm256_add_epi16(v[2], v[3]);
    __m256i t = _mm256_srai_epi16(_mm256_sub_epi16(a, b), 2);

    t = _mm256_srai_epi16(_mm256_add_epi16(_mm256_sub_epi16(t, b), c), 2);
    t = _mm256_max_epi16(_mm256_add_epi16(t, c), _mm256_setzero_si256());
    return _mm256_min_epi16(_mm256_avg_epu16(t, _mm256_setzero_si256()), max); /* (t + 1) >> 1 */
}

/* v[0..2]: pairs of neighbours under each lane's filter. */
PNV_INLINE __m256i pair_sum(const __m256i v[3])
{
    return _mm256_add_epi32(_mm256_add_epi32(_mm256_madd_epi16(v[0], pair(1, -5)), _mm256_madd_epi16(v[1], pair(20, 20))),
                            _mm256_madd_epi16(v[2], pair(-5, 1)));
}

PNV_INLINE __m256i less_middle(__m256i v)
{
    return _mm256_xor_si256(v, _mm256_set1_epi16(INT16_MIN));
}

/* Filters of samples less 2^15, whose taps add up to 32. */
PNV_INLINE __m256i half_wide(__m256i sum)
{
    return _mm256_srai_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(16 + (32 << 15))), 5);
}

PNV_INLINE __m256i half_in_row(const uint16_t *at, __m256i max, Depth depth)
{
    __m256i v[6];

    for (int i = 0; i < 6; i++)
        v[i] = load(at + i - 2);
    if (depth != UP_TO_16_BITS)
        return half_narrow(v, max);
    for (int i = 0; i < 6; i++)
        v[i] = less_middle(v[i]);
    const __m256i even = half_wide(pair_sum((const __m256i[3]){v[0], v[2], v[4]}));
    const __m256i odd = half_wide(pair_sum((const __m256i[3]){v[1], v[3], v[5]}));
    const __m256i zip = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    return _mm256_min_epu16(_mm256_shuffle_epi8(_mm256_packus_epi32(even, odd), zip), max);
}

/* Sums of columns 0..3 and 8..11, and of the others, of samples less 2^15. */
PNV_INLINE void column_sums_wide(__m256i sum[2], const Chunk *p, ptrdiff_t x)
{
    __m256i low[3], high[3];

    for (int i = 0; i < 3; i++) {
        const __m256i upper = less_middle(load(p->row[2 * i] + x)), lower = less_middle(load(p->row[2 * i + 1] + x));
        low[i] = _mm256_unpacklo_epi16(upper, lower);
        high[i] = _mm256_unpackhi_epi16(upper, lower);
    }
    sum[0] = pair_sum(low);
    sum[1] = pair_sum(high);
}

PNV_INLINE __m256i half_in_column(const Chunk *p, ptrdiff_t x, Depth depth)
{
    __m256i v[6];

    if (depth == UP_TO_16_BITS) {
        column_sums_wide(v, p, x);
        return _mm256_min_epu16(_mm256_packus_epi32(half_wide(v[0]), half_wide(v[1])), p->max);
    }
    for (int i = 0; i < 6; i++)
        v[i] = load(p->row[i] + x);
    return half_narrow(v, p->max);
}

/* ---- the centre: sums of columns, not rounded, then along the row ---- */

PNV_INLINE void store_sums(Chunk *p, ptrdiff_t x)
{
    int32_t *to = p->sum + (x + 2);
    __m256i sum[2];

    column_sums_wide(sum, p, x);
    _mm256_storeu_si256((__m256i *)to, _mm256_permute2x128_si256(sum[0], sum[1], 0x20));
    _mm256_storeu_si256((__m256i *)(to + 8), _mm256_permute2x128_si256(sum[0], sum[1], 0x31));
}

/* As half_narrow() in lanes of 32 bits. */
PNV_INLINE __m256i centre_8(const int32_t *sum)
{
    const __m256i a = _mm256_add_epi32(load(sum), load(sum + 5)), b = _mm256_add_epi32(load(sum + 1), load(sum + 4));
    const __m256i c = _mm256_add_epi32(load(sum + 2), load(sum + 3));
    __m256i t = _mm256_srai_epi32(_mm256_sub_epi32(a, b), 2);

    t = _mm256_srai_epi32(_mm256_add_epi32(_mm256_sub_epi32(t, b), c), 2);
    return _mm256_srai_epi32(_mm256_add_epi32(_mm256_add_epi32(t, c), _mm256_set1_epi32(32 + (1 << 21))), 6);
}

PNV_INLINE __m256i centre(const Chunk *p, ptrdiff_t x)
{
    const __m256i j = _mm256_packus_epi32(centre_8(p->sum + x), centre_8(p->sum + x + 8));
    return _mm256_min_epu16(_mm256_permute4x64_epi64(j, 0xd8), p->max);
}

/* ---- places ---- */

PNV_INLINE int needs_centre(Column column, int quarters)
{
    return column == COLUMN_HALF ? quarters > 0 : column == COLUMN_QUARTER && quarters > 0 && quarters != 2;
}

/* So many quarters of the way from the nearer row of samples to the half row. */
PNV_INLINE __m256i between(__m256i full, __m256i half, int quarters)
{
    if (quarters % 4 == 0)
        return quarters ? half : full;
    if (quarters == 2)
        return _mm256_avg_epu16(full, half);
    const __m256i odd = _mm256_and_si256(_mm256_xor_si256(full, half), _mm256_set1_epi16(1));
    const __m256i middle = _mm256_sub_epi16(_mm256_avg_epu16(full, half), odd); /* rounded down */
    return _mm256_avg_epu16(quarters == 1 ? full : half, middle);
}

PNV_INLINE __m256i at_full_column(const Chunk *p, ptrdiff_t x, int quarters, Depth depth)
{
    if (quarters == 0)
        return load(p->near_at + x);
    const __m256i half = half_in_column(p, x + p->near_column, depth);
    return between(load(p->near_at + x), half, quarters);
}

PNV_INLINE __m256i at_half_column(const Chunk *p, ptrdiff_t x, int quarters, Depth depth)
{
    if (quarters == 0)
        return half_in_row(p->near + x, p->max, depth);
    const __m256i half = centre(p, x);
    return quarters == 4 ? half : between(half_in_row(p->near + x, p->max, depth), half, quarters);
}

PNV_INLINE __m256i at_quarter_column(const Chunk *p, ptrdiff_t x, int quarters, Depth depth)
{
    if (quarters == 2) /* e, g, p, r */
        return _mm256_avg_epu16(half_in_row(p->near + x, p->max, depth), half_in_column(p, x + p->near_column, depth));
    return _mm256_avg_epu16(at_full_column(p, x, quarters, depth), at_half_column(p, x, quarters, depth));
}

/* n of 16 and more; where they are not whole vectors, the last overlaps the one before. */
PNV_INLINE void make_chunk(uint16_t *dst, Chunk *p, ptrdiff_t n, Column column, int quarters, Depth depth)
{
    if (needs_centre(column, quarters)) {
        for (ptrdiff_t x = 0; x < n + MARGIN - 16; x += 16)
            store_sums(p, x - 2);
        store_sums(p, n + MARGIN - 16 - 2);
    }
    for (ptrdiff_t x = 0; x < n; x = x == n ? n : n - 16) {
        for (; x <= n - 16; x += 16) {
            const __m256i v = column == COLUMN_FULL      ? at_full_column(p, x, quarters, depth)
                              : column == COLUMN_QUARTER ? at_quarter_column(p, x, quarters, depth)
                                                         : at_half_column(p, x, quarters, depth);
            _mm256_storeu_si256((__m256i *)(dst + x), v);
        }
    }
}

PNV_INLINE void make_place(uint16_t *dst, const Row *r, Column column, int quarters, Depth depth)
{
    const ptrdiff_t n = r->n, longest = needs_centre(column, quarters) ? CHUNK : n;
    Chunk p; /* not the sums: most places have none */

    p.max = _mm256_set1_epi16((short)r->max);
    p.near_column = r->near_column;
    for (ptrdiff_t x = 0; x < n; x += longest) {
        x = n - x < 16 ? n - 16 : x;
        for (int i = 0; quarters && i < 6; i++)
            p.row[i] = r->row[i] + x;
        p.near = r->near + x;
        p.near_at = p.near + p.near_column;
        make_chunk(dst + x, &p, n - x < longest ? n - x : longest, column, quarters, depth);
    }
}

/* The loops of what is common, each with the constants of its place. */
static void make_narrow(uint16_t *dst, const Row *r, Column column, int quarters)
{
#define AT(c, q)                                                                                                       \
    case 8 * (c) + (q):                                                                                                \
        make_place(dst, r, (c), (q), UP_TO_13_BITS);                                                                   \
        break
    switch (8 * column + quarters) {
        AT(COLUMN_FULL, 1);
        AT(COLUMN_FULL, 2);
        AT(COLUMN_FULL, 3);
        AT(COLUMN_FULL, 4);
        AT(COLUMN_QUARTER, 0);
        AT(COLUMN_QUARTER, 1);
        AT(COLUMN_QUARTER, 2);
        AT(COLUMN_QUARTER, 3);
        AT(COLUMN_QUARTER, 4);
        AT(COLUMN_HALF, 0);
        AT(COLUMN_HALF, 1);
        AT(COLUMN_HALF, 2);
        AT(COLUMN_HALF, 3);
        AT(COLUMN_HALF, 4);
    }
#undef AT
}

/* Full range and 16 bits are rare: a loop for each kind of column, which keeps the file small. */
static void make_wide(uint16_t *dst, const Row *r, Column column, int quarters)
{
    if (column == COLUMN_FULL)
        make_place(dst, r, COLUMN_FULL, quarters, UP_TO_16_BITS);
    else if (column == COLUMN_QUARTER)
        make_place(dst, r, COLUMN_QUARTER, quarters, UP_TO_16_BITS);
    else
        make_place(dst, r, COLUMN_HALF, quarters, UP_TO_16_BITS);
}

/* Eight samples and more of a row, by eights, the last of which overlaps the one before. */
PNV_INLINE void copy_row(uint16_t *dst, const uint16_t *src, int n)
{
    for (int x = 0; x < n - 8; x += 8)
        _mm_storeu_si128((__m128i *)(dst + x), _mm_loadu_si128((const __m128i *)(src + x)));
    _mm_storeu_si128((__m128i *)(dst + n - 8), _mm_loadu_si128((const __m128i *)(src + n - 8)));
}

static void make_row(uint16_t *dst, const uint16_t *const row[6], int fx, int fy, int n, int max)
{
    const Row r = {.row = row, .near = row[fy < 5 ? 2 : 3], .near_column = fx == 6, .n = n, .max = max};
    const Column column = fx == 0 ? COLUMN_FULL : fx == 4 ? COLUMN_HALF : COLUMN_QUARTER;
    const int quarters = fy < 5 ? fy : 8 - fy;

    (max < 1 << 13 ? make_narrow : make_wide)(dst, &r, column, quarters);
}

/* Less than a vector goes through memory that a whole one can be read from. */
static void make_short_row(uint16_t *dst, const uint16_t *const row[6], int fx, int fy, int n, int max)
{
    uint16_t copy[6][16 + 8] = {{0}}, made[16];
    const uint16_t *copied[6];
    const int left = fx ? 2 : 0, width = fx ? n + MARGIN : n;

    for (int i = 0; i < 6; i++) {
        if (fy || i == 2)
            copy_row(copy[i], row[i] - left, width);
        copied[i] = copy[i] + left;
    }
    make_row(made, copied, fx, fy, 16, max);
    copy_row(dst, made, n);
}

void pnv_interpolate_avx2(uint16_t *dst, const uint16_t *const row[6], int fx, int fy, int n, int max)
{
    if (fx == 0 && fy == 0)
        memcpy(dst, row[2], (size_t)n * sizeof *dst);
    else if (n < 8)
        pnv_interpolate_c(dst, row, fx, fy, n, max);
    else if (n < 16)
        make_short_row(dst, row, fx, fy, n, max);
    else
        make_row(dst, row, fx, fy, n, max);
}

/**
 * Rows y, y + 2 .. of dst, from -1 or 0 on, and the row below each, which share a half row: so many quarters of the way
 * to it from row 0 of src and its next ones, and as many back from it to the rows below.
 */
PNV_INLINE void make_pairs(int16_t *dst, const uint16_t *src, ptrdiff_t stride, int y, int quarters, int n, int n_rows,
                           int depth)
{
    const __m128i up = _mm_cvtsi32_si128(14 - depth);
    const __m256i middle = _mm256_set1_epi16(8192), max = _mm256_set1_epi16((short)((1 << depth) - 1));

    for (; y < n_rows; y += 2, src += stride) {
        for (int x = 0; x < n; x += 16) {
            __m256i v[6];
            for (int i = 0; i < 6; i++)
                v[i] = load(src + (i - 2) * stride + x);
            const __m256i half = half_narrow(v, max);
            for (int i = 0; i < 2; i++) {
                const __m256i made = between(v[2 + i], half, i ? 4 - quarters : quarters);
                if (y + i >= 0 && y + i < n_rows)
                    _mm256_storeu_si256((__m256i *)(dst + (y + i) * PNV_FETCH_STRIDE + x),
                                        _mm256_sub_epi16(_mm256_sll_epi16(made, up), middle));
            }
        }
    }
}

void pnv_interpolate_rows_avx2(int16_t *dst, const uint16_t *src, ptrdiff_t stride, int fy, int n, int n_rows,
                               int depth)
{
    const int y = fy < 4 ? 0 : -1;

    switch (fy % 4) {
    case 0:
        make_pairs(dst, src, stride, y, 0, n, n_rows, depth);
        break;
    case 1:
        make_pairs(dst, src, stride, y, 1, n, n_rows, depth);
        break;
    case 2:
        make_pairs(dst, src, stride, y, 2, n, n_rows, depth);
        break;
    default:
        make_pairs(dst, src, stride, y, 3, n, n_rows, depth);
    }
}
