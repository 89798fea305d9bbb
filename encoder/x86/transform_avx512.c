/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transform, alone and fused with fetch and quantization, for AVX-512. dct.h is the definition.
 *
 * Work comes in groups of 16 blocks that follow each other in slice order: 64 columns of 16 rows (a group at the end
 * of a narrow slice has fewer). Four sources of 32 columns x 8 rows make a group:
 *
 *     source 0: top, columns 0..31; 1: top, columns 32..63; 2 and 3: the bottom rows of the same
 *
 * Column pass: lanes are columns, 16-bit sums feed multiply-adds into 32 bits. Its output packs column j and j + 4 of
 * a block into one 32-bit lane, which costs a shift and a blend and is what the row pass wants: after a 4x4 transpose
 * of 32-bit lanes, vector j has (x[j], x[j+4]) of all 16 blocks, and the row pass is multiply-adds by constants.
 * The results' high halves go through one permutation that drops the fraction and puts blocks in slice order: a row of
 * the output, nothing to transpose or gather any more.
 *
 * Row sums do not fit 16 bits (46342), so the row pass multiplies before it adds; only frequencies 0 and 4 share.
 */
#include <assert.h>
#include <immintrin.h>
#include <string.h>

#include "ahead.h"
#include "factors.h"
#include "forward.h"
#include "tables.h"
#include "x86.h"

enum { GROUP_BLOCKS = 16, GROUP_COLUMNS = 64 };

/** What the 16 row pointers of a group point to; constant at each call of transform_group(). */
typedef enum Kind {
    SAMPLES, /**< What fetch wrote. */
    VIDEO_8, /**< uint8_t of a plane. */
    VIDEO_16 /**< uint16_t of a plane, depth 10 or 12. */
} Kind;

/** Where a group comes from. */
typedef struct Source {
    const uint8_t *row[16]; /**< First column of the group in each row. */
    ptrdiff_t ahead;        /**< Bytes to what the next slice will read. */
    int n_columns;          /**< That are there, 1..; the last one repeats. */
    int depth;
} Source;

/** Where it goes. */
typedef struct Output {
    int16_t *coef;          /**< First block of the group in the row of scan position 0. */
    ptrdiff_t stride;       /**< Blocks of the unit. */
    const uint8_t *scan_of; /**< Scan position of each raster position. */
    const PnvQuant *quant;  /**< NULL: coefficients are kept. */
    __m512i order;          /**< Index of the word that each block of the group comes from. */
    __mmask16 blocks;       /**< That are there. */
} Output;

/* Words of dword lane 4 * l + s are block l of source s; the high one is the result. */
#define AT(column, bottom) (2 * (4 * ((column) % 4) + (column) / 4 + 2 * (bottom)) + 1)
#define LUMA_MB(c) AT(c, 0), AT((c) + 1, 0), AT(c, 1), AT((c) + 1, 1)
#define CHROMA_MB(c) AT(c, 0), AT(c, 1), AT((c) + 1, 0), AT((c) + 1, 1) /* two macroblocks in 4:2:2 */
static const _Alignas(64) uint16_t luma_order[32] = {LUMA_MB(0), LUMA_MB(2), LUMA_MB(4), LUMA_MB(6)};
static const _Alignas(64) uint16_t chroma_order[32] = {CHROMA_MB(0), CHROMA_MB(2), CHROMA_MB(4), CHROMA_MB(6)};

/** Hides from the compiler that a table is constant. */
PNV_INLINE const uint32_t *in_memory(const uint32_t *table)
{
    __asm__("" : "+r"(table));
    return table;
}

PNV_INLINE __m512i factor(const uint32_t *table, int i)
{
    return _mm512_set1_epi32((int)table[i]);
}

/** 32 columns of one row at fetch's scale. n: columns that are there, when edge. */
PNV_INLINE __m512i load_row(const uint8_t *at, Kind kind, int edge, int n, int depth)
{
    __m512i s;

    if (kind == VIDEO_8) {
        if (edge) {
            const __mmask32 there = n >= 32 ? 0xffffffffu : n > 0 ? (1u << n) - 1 : 0;
            const __m256i last = _mm256_set1_epi8((char)at[n - 1]);
            s = _mm512_cvtepu8_epi16(_mm256_mask_loadu_epi8(last, there, at));
        } else {
            s = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)at));
        }
        return _mm512_sub_epi16(_mm512_slli_epi16(s, 6), _mm512_set1_epi16(8192));
    }
    if (edge) {
        const __mmask32 there = n >= 32 ? 0xffffffffu : n > 0 ? (1u << n) - 1 : 0;
        int16_t last;
        memcpy(&last, at + 2 * (n - 1), sizeof last);
        s = _mm512_mask_loadu_epi16(_mm512_set1_epi16(last), there, at);
    } else {
        s = _mm512_loadu_si512(at);
    }
    if (kind == SAMPLES)
        return s;
    s = _mm512_and_si512(s, _mm512_set1_epi16((short)((1 << depth) - 1)));
    return _mm512_sub_epi16(_mm512_sll_epi16(s, _mm_cvtsi32_si128(14 - depth)), _mm512_set1_epi16(8192));
}

/** Column pass of 32 columns: 8 rows to 8 frequencies; each output lane has columns j (low) and j + 4 (high). */
PNV_INLINE void column_pass(__m512i *out, ptrdiff_t out_stride, const __m512i r[8], const uint32_t *k)
{
    const __m512i half = _mm512_set1_epi32(1 << 15);
    const __m512i e0 = _mm512_add_epi16(r[0], r[7]), o0 = _mm512_sub_epi16(r[0], r[7]);
    const __m512i e1 = _mm512_add_epi16(r[1], r[6]), o1 = _mm512_sub_epi16(r[1], r[6]);
    const __m512i e2 = _mm512_add_epi16(r[2], r[5]), o2 = _mm512_sub_epi16(r[2], r[5]);
    const __m512i e3 = _mm512_add_epi16(r[3], r[4]), o3 = _mm512_sub_epi16(r[3], r[4]);
    /* At most 4 * 8192: fits 16 bits, -32768 included. */
    const __m512i g0 = _mm512_add_epi16(e0, e3), f0 = _mm512_sub_epi16(e0, e3);
    const __m512i g1 = _mm512_add_epi16(e1, e2), f1 = _mm512_sub_epi16(e1, e2);
    const __m512i g[2] = {_mm512_unpacklo_epi16(g0, g1), _mm512_unpackhi_epi16(g0, g1)};
    const __m512i f[2] = {_mm512_unpacklo_epi16(f0, f1), _mm512_unpackhi_epi16(f0, f1)};
    const __m512i a[2] = {_mm512_unpacklo_epi16(o0, o1), _mm512_unpackhi_epi16(o0, o1)};
    const __m512i b[2] = {_mm512_unpacklo_epi16(o2, o3), _mm512_unpackhi_epi16(o2, o3)};

#define PACK(low, high) _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(low, 16), high)
#define EVEN(v, x, i)                                                                                                  \
    out[(v) * out_stride] = PACK(_mm512_dpwssd_epi32(half, x[0], factor(k, i)),                                        \
                                 _mm512_dpwssd_epi32(half, x[1], factor(k, i)))
#define ODD_HALF(h, i)                                                                                                 \
    _mm512_dpwssd_epi32(_mm512_dpwssd_epi32(half, a[h], factor(k, i)), b[h], factor(k, (i) + 1))
#define ODD(v, i) out[(v) * out_stride] = PACK(ODD_HALF(0, i), ODD_HALF(1, i))
    EVEN(0, g, 0);
    EVEN(4, g, 1);
    EVEN(2, f, 2);
    EVEN(6, f, 3);
    ODD(1, 4);
    ODD(3, 6);
    ODD(5, 8);
    ODD(7, 10);
#undef PACK
#undef EVEN
#undef ODD_HALF
#undef ODD
}

/** One vertical frequency of the four sources -> vector j has columns j and j + 4 of 16 blocks. */
PNV_INLINE void transpose(__m512i p[4], const __m512i in[4])
{
    const __m512i t0 = _mm512_unpacklo_epi32(in[0], in[1]), t1 = _mm512_unpackhi_epi32(in[0], in[1]);
    const __m512i t2 = _mm512_unpacklo_epi32(in[2], in[3]), t3 = _mm512_unpackhi_epi32(in[2], in[3]);

    p[0] = _mm512_unpacklo_epi64(t0, t2);
    p[1] = _mm512_unpackhi_epi64(t0, t2);
    p[2] = _mm512_unpacklo_epi64(t1, t3);
    p[3] = _mm512_unpackhi_epi64(t1, t3);
}

/** Row pass: one horizontal frequency of 16 blocks, 32 bits each, the result in the high half. */
PNV_INLINE __m512i row_sum(const __m512i p[4], const uint32_t *k)
{
    __m512i sum = _mm512_dpwssd_epi32(_mm512_set1_epi32(1 << 15), p[0], factor(k, 0));

    sum = _mm512_dpwssd_epi32(sum, p[1], factor(k, 1));
    sum = _mm512_dpwssd_epi32(sum, p[2], factor(k, 2));
    return _mm512_dpwssd_epi32(sum, p[3], factor(k, 3));
}

/** As pnv_quant_level(), 16 blocks of one scan position. */
PNV_INLINE __m256i quantize(__m256i c, const PnvQuantTwice *s)
{
    __m256i m = _mm256_avg_epu16(_mm256_abs_epi16(c), _mm256_set1_epi32((int)s->bias));

    m = _mm256_mulhi_epu16(m, _mm256_set1_epi32((int)s->recip));
    m = _mm256_srlv_epi16(m, _mm256_set1_epi32((int)s->shift));
    return _mm256_sign_epi16(m, c);
}

/** Store what the row pass gave for one raster position. */
PNV_INLINE void put_row(const Output *o, int raster, __m512i sums, int edge, int quantizing)
{
    const int scan = o->scan_of[raster];
    __m256i c = _mm512_castsi512_si256(_mm512_permutexvar_epi16(o->order, sums));

    if (quantizing)
        c = quantize(c, &o->quant->twice[scan]);
    if (edge)
        _mm256_mask_storeu_epi16(o->coef + scan * o->stride, o->blocks, c);
    else
        _mm256_storeu_si256((__m256i *)(o->coef + scan * o->stride), c);
}

/** One group. kind, edge (columns are missing) and quantizing are constants. */
PNV_INLINE void transform_group(const Output *output, const Source *s, Kind kind, int edge, int quantizing)
{
    const Output local = *output, *const o = &local; /* whose members no store can change */
    const int column_bytes = kind == VIDEO_8 ? 1 : 2;
    const uint32_t *const column_k = in_memory(column_factors), *const row_k = in_memory(row_factors);
    __m512i columns[8 * 4]; /* by frequency, then source */

    for (int i = 0; i < 4; i++) {
        const int x = i % 2 * 32, bytes = x * column_bytes;
        __m512i r[8];
        for (int y = 0; y < 8; y++) {
            const uint8_t *at = s->row[i / 2 * 8 + y] + bytes;
            r[y] = load_row(at, kind, edge, s->n_columns - x, s->depth);
        }
        column_pass(columns + i, 4, r, column_k);
    }
    /* Two at a time, for which each factor is loaded once. */
    for (int v = 0; v < 8; v += 2) {
        const __m512i k4 = factor(row_k, 0), half = _mm512_set1_epi32(1 << 15), zero = _mm512_setzero_si512();
        __m512i p[2][4];
        for (int i = 0; i < 2; i++) {
            for (int k = 0; kind != SAMPLES && k < 2; k++) /* not among the loads, whose places they would take */
                pnv_ask_for_lines(s->row[2 * (v + i) + k], GROUP_COLUMNS * column_bytes, s->ahead);
            transpose(p[i], columns + 4 * (v + i));
            const __m512i outer = _mm512_dpwssd_epi32(_mm512_dpwssd_epi32(half, p[i][0], k4), p[i][3], k4);
            const __m512i inner = _mm512_dpwssd_epi32(_mm512_dpwssd_epi32(zero, p[i][1], k4), p[i][2], k4);
            put_row(o, 8 * (v + i), _mm512_add_epi32(outer, inner), edge, quantizing);
            put_row(o, 8 * (v + i) + 4, _mm512_sub_epi32(outer, inner), edge, quantizing);
        }
        static const uint8_t frequency[6] = {2, 6, 1, 3, 5, 7}; /* as row_factors has them */
        for (int n = 0; n < 6; n++) {
            for (int i = 0; i < 2; i++)
                put_row(o, 8 * (v + i) + frequency[n], row_sum(p[i], row_k + 1 + 4 * n), edge, quantizing);
        }
    }
}

#define GROUP_FUNCTION(name, kind, edge, quantizing)                                                                   \
    static __attribute__((noinline)) void name(const Output *o, const Source *s)                                       \
    {                                                                                                                  \
        transform_group(o, s, kind, edge, quantizing);                                                                 \
    }
GROUP_FUNCTION(group_samples, SAMPLES, 0, 0)
GROUP_FUNCTION(group_samples_edge, SAMPLES, 1, 0)
GROUP_FUNCTION(group_8, VIDEO_8, 0, 0)
GROUP_FUNCTION(group_8_edge, VIDEO_8, 1, 0)
GROUP_FUNCTION(group_8_quant, VIDEO_8, 0, 1)
GROUP_FUNCTION(group_8_quant_edge, VIDEO_8, 1, 1)
GROUP_FUNCTION(group_16, VIDEO_16, 0, 0)
GROUP_FUNCTION(group_16_edge, VIDEO_16, 1, 0)
GROUP_FUNCTION(group_16_quant, VIDEO_16, 0, 1)
GROUP_FUNCTION(group_16_quant_edge, VIDEO_16, 1, 1)
#undef GROUP_FUNCTION

static void (*const groups[3][2][2])(const Output *, const Source *) = {
    [SAMPLES] = {{group_samples, group_samples_edge}, {NULL, NULL}},
    [VIDEO_8] = {{group_8, group_8_edge}, {group_8_quant, group_8_quant_edge}},
    [VIDEO_16] = {{group_16, group_16_edge}, {group_16_quant, group_16_quant_edge}},
};

/** All groups of a unit. n_columns: that are there, from the first of the unit. Advances s->row. */
static void transform_unit(Output *o, Source *s, Kind kind, int n_columns, PnvBlockOrder order, int n_mb)
{
    const int n_blocks = n_mb * pnv_order_blocks_per_mb(order);
    const int column_bytes = kind == VIDEO_8 ? 1 : 2;

    o->order = _mm512_load_si512(order == PNV_BLOCKS_LUMA ? luma_order : chroma_order);
    o->stride = n_blocks;
    for (int first = 0; first < n_blocks; first += GROUP_BLOCKS) {
        const int n = n_blocks - first, is_whole = n >= GROUP_BLOCKS && n_columns >= GROUP_COLUMNS;
        s->n_columns = n_columns;
        o->blocks = (__mmask16)(n >= GROUP_BLOCKS ? 0xffff : (1 << n) - 1);
        groups[kind][o->quant != NULL][!is_whole](o, s);
        o->coef += GROUP_BLOCKS;
        /* Where the second half of a slice lies outside of the picture, it begins with the last column that is there. */
        const int step = n_columns > GROUP_COLUMNS ? GROUP_COLUMNS : n_columns - 1;
        n_columns -= step;
        for (int y = 0; y < 16; y++)
            s->row[y] += step * column_bytes;
    }
}

void pnv_transform_avx512(int16_t *coef, const int16_t *samples, ptrdiff_t stride, PnvBlockOrder order, int n_mb,
                          const uint8_t scan[64])
{
    uint8_t any[64];
    Output o = {.coef = coef, .scan_of = pnv_scan_inverse(any, scan)};
    Source s = {0};

    for (int y = 0; y < 16; y++)
        s.row[y] = (const uint8_t *)(samples + y * stride);
    transform_unit(&o, &s, SAMPLES, n_mb * (order == PNV_BLOCKS_CHROMA_422 ? 8 : 16), order, n_mb);
}

void pnv_forward_avx512(int16_t *level, const PnvPlane *plane, int x0, int y0, PnvBlockOrder order, int n_mb,
                        const uint8_t scan[64], const PnvQuant *quant)
{
    const int bytes = plane->depth == 8 ? 1 : 2, width = n_mb * (order == PNV_BLOCKS_CHROMA_422 ? 8 : 16);
    const int n_columns = plane->width - x0 < width ? plane->width - x0 : width, last_row = plane->height - 1;

    if (!pnv_fetch_is_plain(plane)) {
        _Alignas(64) int16_t samples[16 * PNV_FETCH_STRIDE + PNV_LOAD_ROOM];
        pnv_fetch_loaded_avx2(samples, plane, x0, y0, width);
        pnv_transform_avx512(level, samples, PNV_FETCH_STRIDE, order, n_mb, scan);
        if (quant)
            pnv_quant_avx512(level, level, n_mb * pnv_order_blocks_per_mb(order), quant);
        return;
    }
    uint8_t any[64];
    Output o = {.coef = level, .scan_of = pnv_scan_inverse(any, scan), .quant = quant};
    Source s = {.ahead = pnv_ahead_of_columns(plane, x0, n_columns), .depth = plane->depth};
    for (int y = 0; y < 16; y++) {
        const int row = y0 + y < last_row ? y0 + y : last_row;
        s.row[y] = plane->data + row * plane->stride + (ptrdiff_t)x0 * bytes;
    }
    transform_unit(&o, &s, bytes == 1 ? VIDEO_8 : VIDEO_16, n_columns, order, n_mb);
}
