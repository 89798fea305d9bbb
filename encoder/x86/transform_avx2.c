/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transform, alone and fused with fetch and quantization, for AVX2. dct.h is the definition; transform_avx512.c has the
 * same idea in wider vectors.
 *
 * A group is 16 blocks that follow each other in slice order, 64 columns of 16 rows. It is two halves of four sources,
 * each of them two blocks of 8 columns in the two 128-bit lanes, block column c in the lower, c + 4 in the upper one,
 * chosen so that after the row pass the 32-bit sums of the two halves are the even and the odd blocks in slice order.
 * One shift and one blend then drop the fractions and give a row of the output.
 */
#include <immintrin.h>
#include <string.h>

#include "ahead.h"
#include "factors.h"
#include "forward.h"
#include "x86.h"

enum { GROUP_BLOCKS = 16, GROUP_COLUMNS = 64, N_HALVES = 2, N_SOURCES = 4 };

/** What the 16 row pointers of a group point to; constant at each call of transform_group(). */
typedef enum Kind {
    SAMPLES, /**< What fetch wrote. */
    VIDEO_8, /**< uint8_t of a plane. */
    VIDEO_16 /**< uint16_t of a plane, depth 10 or 12. */
} Kind;

/** Where a group comes from, GROUP_COLUMNS in each row; 4 for each block that is there of a partial one. */
typedef struct Source {
    const uint8_t *row[16];
    ptrdiff_t ahead; /**< Bytes to what the next slice will read. */
    int depth;
    int is_luma;
} Source;

/** Where it goes. */
typedef struct Output {
    int16_t *coef;          /**< First block of the group in the row of scan position 0. */
    ptrdiff_t stride;       /**< Blocks of the unit. */
    const uint8_t *scan_of; /**< Scan position of each raster position. */
    const PnvQuant *quant;  /**< NULL: coefficients are kept. */
    int n_blocks;           /**< That are there: 16, or 8, 4 or 2 of a partial group, a unit of its own. */
} Output;

PNV_INLINE __m256i factor(const uint32_t *table, int i)
{
    return _mm256_set1_epi32((int)table[i]);
}

/** Sum of products of pairs, and a sum of them. */
#define MUL(x, table, i) _mm256_madd_epi16(x, factor(table, i))
#define ADD(a, b) _mm256_add_epi32(a, b)

/** Columns at .. at + 7 and, in the upper lane, those 32 further on, where a partial group has none, at fetch's scale. */
PNV_INLINE __m256i load_row(const uint8_t *at, Kind kind, int depth, int partial)
{
    __m256i s;

    if (kind == VIDEO_8) {
        __m128i low = _mm_loadl_epi64((const __m128i *)at);
        if (!partial)
            low = _mm_unpacklo_epi64(low, _mm_loadl_epi64((const __m128i *)(at + 32)));
        s = _mm256_cvtepu8_epi16(low);
        return _mm256_sub_epi16(_mm256_slli_epi16(s, 6), _mm256_set1_epi16(8192));
    }
    s = _mm256_zextsi128_si256(_mm_loadu_si128((const __m128i *)at));
    if (!partial)
        s = _mm256_inserti128_si256(s, _mm_loadu_si128((const __m128i *)(at + 64)), 1);
    if (kind == SAMPLES)
        return s;
    s = _mm256_and_si256(s, _mm256_set1_epi16((short)((1 << depth) - 1)));
    return _mm256_sub_epi16(_mm256_sll_epi16(s, _mm_cvtsi32_si128(14 - depth)), _mm256_set1_epi16(8192));
}

/** Results are the high halves of 32 bits: of even to the low halves, of odd where they are. */
PNV_INLINE __m256i high_halves(__m256i low, __m256i high)
{
    return _mm256_blend_epi16(_mm256_srli_epi32(low, 16), high, 0xaa);
}

/** Column pass of 16 columns: 8 rows to 8 frequencies; each output lane has columns j (low) and j + 4 (high). */
PNV_INLINE void column_pass(__m256i *out, ptrdiff_t out_stride, const __m256i r[8])
{
    const __m256i half = _mm256_set1_epi32(1 << 15);
    const __m256i e0 = _mm256_add_epi16(r[0], r[7]), o0 = _mm256_sub_epi16(r[0], r[7]);
    const __m256i e1 = _mm256_add_epi16(r[1], r[6]), o1 = _mm256_sub_epi16(r[1], r[6]);
    const __m256i e2 = _mm256_add_epi16(r[2], r[5]), o2 = _mm256_sub_epi16(r[2], r[5]);
    const __m256i e3 = _mm256_add_epi16(r[3], r[4]), o3 = _mm256_sub_epi16(r[3], r[4]);
    /* At most 4 * 8192: fits 16 bits, -32768 included. */
    const __m256i g0 = _mm256_add_epi16(e0, e3), f0 = _mm256_sub_epi16(e0, e3);
    const __m256i g1 = _mm256_add_epi16(e1, e2), f1 = _mm256_sub_epi16(e1, e2);
    const __m256i g[2] = {_mm256_unpacklo_epi16(g0, g1), _mm256_unpackhi_epi16(g0, g1)};
    const __m256i f[2] = {_mm256_unpacklo_epi16(f0, f1), _mm256_unpackhi_epi16(f0, f1)};
    const __m256i a[2] = {_mm256_unpacklo_epi16(o0, o1), _mm256_unpackhi_epi16(o0, o1)};
    const __m256i b[2] = {_mm256_unpacklo_epi16(o2, o3), _mm256_unpackhi_epi16(o2, o3)};
    const uint32_t *k = column_factors;

#define EVEN(v, x, i)                                                                                                  \
    out[(v) * out_stride] = high_halves(ADD(half, MUL(x[0], k, i)), ADD(half, MUL(x[1], k, i)))
#define ODD(v, i)                                                                                                      \
    out[(v) * out_stride] = high_halves(ADD(ADD(half, MUL(a[0], k, i)), MUL(b[0], k, (i) + 1)),                        \
                                        ADD(ADD(half, MUL(a[1], k, i)), MUL(b[1], k, (i) + 1)))
    EVEN(0, g, 0);
    EVEN(4, g, 1);
    EVEN(2, f, 2);
    EVEN(6, f, 3);
    ODD(1, 4);
    ODD(3, 6);
    ODD(5, 8);
    ODD(7, 10);
#undef EVEN
#undef ODD
}

/** One vertical frequency of four sources -> vector j has columns j and j + 4 of 8 blocks. */
PNV_INLINE void transpose(__m256i p[4], const __m256i in[4])
{
    const __m256i t0 = _mm256_unpacklo_epi32(in[0], in[1]), t1 = _mm256_unpackhi_epi32(in[0], in[1]);
    const __m256i t2 = _mm256_unpacklo_epi32(in[2], in[3]), t3 = _mm256_unpackhi_epi32(in[2], in[3]);

    p[0] = _mm256_unpacklo_epi64(t0, t2);
    p[1] = _mm256_unpackhi_epi64(t0, t2);
    p[2] = _mm256_unpacklo_epi64(t1, t3);
    p[3] = _mm256_unpackhi_epi64(t1, t3);
}

/** Row pass: one horizontal frequency of 8 blocks, 32 bits each, the result in the high half. */
PNV_INLINE __m256i row_sum(const __m256i p[4], const uint32_t *k)
{
    const __m256i half = _mm256_set1_epi32(1 << 15);

    return ADD(ADD(ADD(half, MUL(p[0], k, 0)), MUL(p[1], k, 1)), ADD(MUL(p[2], k, 2), MUL(p[3], k, 3)));
}

/** As quantize() of quant.c, 16 blocks of one scan position. */
PNV_INLINE __m256i quantize(__m256i c, const PnvQuantTwice *s)
{
    __m256i m = _mm256_avg_epu16(_mm256_abs_epi16(c), _mm256_set1_epi32((int)s->bias));

    m = _mm256_mulhi_epu16(m, _mm256_set1_epi32((int)s->recip));
    m = _mm256_srl_epi16(m, _mm_cvtsi32_si128((int)(s->shift & 0xffff)));
    return _mm256_sign_epi16(m, c);
}

/** Store what the row pass gave for one raster position. */
PNV_INLINE void put_row(const Output *o, int raster, __m256i even, __m256i odd, int partial, int quantizing)
{
    const int scan = o->scan_of[raster];
    int16_t *to = o->coef + scan * o->stride;
    __m256i c = high_halves(even, odd);

    if (quantizing)
        c = quantize(c, &o->quant->twice[scan]);
    if (partial && o->n_blocks == 8)
        _mm_storeu_si128((__m128i *)to, _mm256_castsi256_si128(c));
    else if (partial && o->n_blocks == 4)
        memcpy(to, &c, 4 * sizeof *to);
    else if (partial)
        memcpy(to, &c, 2 * sizeof *to);
    else
        _mm256_storeu_si256((__m256i *)to, c);
}

/**
 * What the next slice has in place of this group's row. Asked for in the row pass: the column pass loads what may still
 * be on its way itself, and a prefetch there takes one of the few places for lines that are, for which loads then wait.
 */
PNV_INLINE void ask_for(const uint8_t *row, const Source *s, int bytes, int n_blocks)
{
    if (n_blocks == GROUP_BLOCKS)
        pnv_ask_for_lines(row, GROUP_COLUMNS * bytes, s->ahead);
    else
        pnv_ask_for_row(row, 4 * n_blocks * bytes, s->ahead, PNV_FETCH_STRIDE * bytes);
}

/** One group. kind, partial (blocks are missing) and quantizing are constants. */
PNV_INLINE void transform_group(const Output *output, const Source *source, Kind kind, int partial, int quantizing)
{
    const Output local = *output, *const o = &local; /* whose members no store can change */
    const Source s = *source;
    const int bytes = kind == VIDEO_8 ? 1 : 2;
    __m256i columns[8][N_HALVES * N_SOURCES]; /* by frequency */

    for (int i = 0; i < N_HALVES * N_SOURCES; i++) {
        /* Luma: bottom is the lowest bit of the source, then the macroblock; the half is the column in that. Chroma:
         * the half is top or bottom, the source the column. */
        const int half = i / N_SOURCES, j = i % N_SOURCES;
        const int bottom = s.is_luma ? j & 1 : half, column = s.is_luma ? (j & 2) + half : j;
        __m256i r[8];
        if (partial && 2 * column >= o->n_blocks) {
            for (int v = 0; v < 8; v++)
                columns[v][i] = _mm256_setzero_si256();
            continue;
        }
        for (int y = 0; y < 8; y++)
            r[y] = load_row(s.row[8 * bottom + y] + 8 * column * bytes, kind, s.depth, partial);
        column_pass(&columns[0][i], N_HALVES * N_SOURCES, r);
    }
    for (int v = 0; v < 8; v++) {
        const uint32_t *k = row_factors;
        const __m256i half = _mm256_set1_epi32(1 << 15);
        __m256i p[N_HALVES][4], zero[N_HALVES], four[N_HALVES];
        for (int i = 2 * v; kind != SAMPLES && i < 2 * v + 2; i++)
            ask_for(s.row[i], &s, bytes, partial ? o->n_blocks : GROUP_BLOCKS);
        for (int h = 0; h < N_HALVES; h++) {
            transpose(p[h], columns[v] + N_SOURCES * h);
            const __m256i outer = ADD(half, ADD(MUL(p[h][0], k, 0), MUL(p[h][3], k, 0)));
            const __m256i inner = ADD(MUL(p[h][1], k, 0), MUL(p[h][2], k, 0));
            zero[h] = ADD(outer, inner);
            four[h] = _mm256_sub_epi32(outer, inner);
        }
        put_row(o, 8 * v, zero[0], zero[1], partial, quantizing);
        put_row(o, 8 * v + 4, four[0], four[1], partial, quantizing);
        static const uint8_t frequency[6] = {2, 6, 1, 3, 5, 7}; /* as row_factors has them */
        for (int n = 0; n < 6; n++)
            put_row(o, 8 * v + frequency[n], row_sum(p[0], k + 1 + 4 * n), row_sum(p[1], k + 1 + 4 * n), partial,
                    quantizing);
    }
}

#define GROUP_FUNCTION(name, kind, partial, quantizing)                                                                \
    static __attribute__((noinline)) void name(const Output *o, const Source *s)                                       \
    {                                                                                                                  \
        transform_group(o, s, kind, partial, quantizing);                                                              \
    }
GROUP_FUNCTION(group_samples, SAMPLES, 0, 0)
GROUP_FUNCTION(group_samples_partial, SAMPLES, 1, 0)
GROUP_FUNCTION(group_samples_quant, SAMPLES, 0, 1)
GROUP_FUNCTION(group_samples_quant_partial, SAMPLES, 1, 1)
GROUP_FUNCTION(group_8, VIDEO_8, 0, 0)
GROUP_FUNCTION(group_8_partial, VIDEO_8, 1, 0)
GROUP_FUNCTION(group_8_quant, VIDEO_8, 0, 1)
GROUP_FUNCTION(group_8_quant_partial, VIDEO_8, 1, 1)
GROUP_FUNCTION(group_16, VIDEO_16, 0, 0)
GROUP_FUNCTION(group_16_partial, VIDEO_16, 1, 0)
GROUP_FUNCTION(group_16_quant, VIDEO_16, 0, 1)
GROUP_FUNCTION(group_16_quant_partial, VIDEO_16, 1, 1)
#undef GROUP_FUNCTION

static void (*const groups[3][2][2])(const Output *, const Source *) = {
    [SAMPLES] = {{group_samples, group_samples_partial}, {group_samples_quant, group_samples_quant_partial}},
    [VIDEO_8] = {{group_8, group_8_partial}, {group_8_quant, group_8_quant_partial}},
    [VIDEO_16] = {{group_16, group_16_partial}, {group_16_quant, group_16_quant_partial}},
};

/** All groups of a unit. s: its first one. */
static void transform_unit(int16_t *coef, Source *s, Kind kind, int n_blocks, const uint8_t scan[64],
                           const PnvQuant *quant)
{
    const int column_bytes = kind == VIDEO_8 ? 1 : 2;
    uint8_t any[64];
    Output o = {.stride = n_blocks, .scan_of = pnv_scan_inverse(any, scan), .quant = quant};

    o.n_blocks = n_blocks < GROUP_BLOCKS ? n_blocks : GROUP_BLOCKS;
    for (int first = 0; first < n_blocks; first += GROUP_BLOCKS) {
        o.coef = coef + first;
        groups[kind][quant != NULL][n_blocks < GROUP_BLOCKS](&o, s);
        for (int y = 0; y < 16; y++)
            s->row[y] += GROUP_COLUMNS * column_bytes;
    }
}

static void samples_unit(int16_t *coef, const int16_t *samples, ptrdiff_t stride, PnvBlockOrder order, int n_mb,
                         const uint8_t scan[64], const PnvQuant *quant)
{
    Source s = {.is_luma = order == PNV_BLOCKS_LUMA};

    for (int y = 0; y < 16; y++)
        s.row[y] = (const uint8_t *)(samples + y * stride);
    transform_unit(coef, &s, SAMPLES, n_mb * pnv_order_blocks_per_mb(order), scan, quant);
}

void pnv_transform_avx2(int16_t *coef, const int16_t *samples, ptrdiff_t stride, PnvBlockOrder order, int n_mb,
                        const uint8_t scan[64])
{
    samples_unit(coef, samples, stride, order, n_mb, scan, NULL);
}

void pnv_forward_avx2(int16_t *level, const PnvPlane *plane, int x0, int y0, PnvBlockOrder order, int n_mb,
                      const uint8_t scan[64], const PnvQuant *quant)
{
    const int bytes = plane->depth == 8 ? 1 : 2, width = n_mb * (order == PNV_BLOCKS_CHROMA_422 ? 8 : 16);
    const int last_row = plane->height - 1;

    /* Anything but whole blocks of ordinary samples goes through memory. */
    if (!pnv_fetch_is_plain(plane) || plane->width - x0 < width) {
        _Alignas(32) int16_t samples[16 * PNV_FETCH_STRIDE + PNV_LOAD_ROOM];
        if (pnv_fetch_is_plain(plane))
            pnv_fetch_avx2(samples, plane, x0, y0, width);
        else
            pnv_fetch_loaded_avx2(samples, plane, x0, y0, width);
        samples_unit(level, samples, PNV_FETCH_STRIDE, order, n_mb, scan, quant);
        return;
    }
    Source s = {.ahead = pnv_ahead_of_columns(plane, x0, width), .depth = plane->depth,
                .is_luma = order == PNV_BLOCKS_LUMA};
    for (int y = 0; y < 16; y++) {
        const int row = y0 + y < last_row ? y0 + y : last_row;
        s.row[y] = plane->data + row * plane->stride + (ptrdiff_t)x0 * bytes;
    }
    transform_unit(level, &s, bytes == 1 ? VIDEO_8 : VIDEO_16, n_mb * pnv_order_blocks_per_mb(order), scan, quant);
}
