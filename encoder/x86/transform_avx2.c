/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transform, alone and fused with fetch and quantization, for AVX2. dct.h is the definition; transform_avx512.c has the
 * same idea in wider vectors.
 *
 * A group is 16 blocks that follow each other in slice order, 64 columns of 16 rows. It is two halves of four sources,
 * each of them two blocks of 8 columns in the two 128-bit lanes, block column c in the lower, c + 4 in the upper one,
 * chosen so that after the row pass the 32-bit sums of the two halves are the even and the odd blocks in slice order.
 * One shift and one blend then drop the fractions and give a row of the output. A unit of 8 blocks or less is a half
 * of its own, whose sources are in slice order, block columns 0 and 1 in the lower lane, 2 and 3 in the upper one.
 */
#include <immintrin.h>
#include <string.h>

#include "factors.h"
#include "forward.h"
#include "source.h"
#include "x86.h"

enum { GROUP_BLOCKS = 16, GROUP_COLUMNS = 64, N_HALVES = 2, N_SOURCES = 4 };

/** Where a group goes. */
typedef struct Output {
    int16_t *coef;          /**< First block of the group in the row of scan position 0. */
    ptrdiff_t stride;       /**< Blocks of the unit. */
    const uint8_t *scan_of; /**< Scan position of each raster position. */
    const PnvQuant *quant;  /**< NULL: coefficients are kept. */
    int is_luma;
    int n_blocks;           /**< That are there: 16, or 8, 4 or 2 of a partial group, a unit of its own. */
} Output;

PNV_INLINE __m256i factor(const uint32_t *table, int i)
{
    return _mm256_set1_epi32((int)table[i]);
}

/** Sum of products of pairs, and a sum of them. */
#define MUL(x, table, i) _mm256_madd_epi16(x, factor(table, i))
#define ADD(a, b) _mm256_add_epi32(a, b)

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

/** As pnv_quant_level(), 16 blocks of one scan position. */
PNV_INLINE __m256i quantize(__m256i c, const PnvQuantTwice *s)
{
    __m256i m = _mm256_avg_epu16(_mm256_abs_epi16(c), _mm256_set1_epi32((int)s->bias));

    m = _mm256_mulhi_epu16(m, _mm256_set1_epi32((int)s->recip));
    m = _mm256_srl_epi16(m, _mm_cvtsi32_si128((int)(s->shift & 0xffff)));
    return _mm256_sign_epi16(m, c);
}

/** The results of a half alone, in the lower lane. */
PNV_INLINE __m256i high_halves_of_8(__m256i sums)
{
    const __m256i c = _mm256_srai_epi32(sums, 16);

    return _mm256_zextsi128_si256(_mm_packs_epi32(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1)));
}

/** Store what the row pass gave for one raster position. partial: all is in even. */
PNV_INLINE void put_row(const Output *o, int raster, __m256i even, __m256i odd, int partial, int quantizing)
{
    const int scan = o->scan_of[raster];
    int16_t *to = o->coef + scan * o->stride;
    __m256i c = partial ? high_halves_of_8(even) : high_halves(even, odd);

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
 * One group. kind, partial (8 blocks or less) and quantizing are constants.
 *
 * What the next slice reads is asked for in the row pass: the column pass loads what may still be on its way itself, and
 * a prefetch there takes one of the few places for lines that are, for which loads then wait.
 */
PNV_INLINE void transform_group(const Output *output, const PnvSource *s, PnvSourceKind kind, int partial,
                                int quantizing)
{
    const Output local = *output, *const o = &local; /* whose members no store can change */
    const int n_halves = partial ? 1 : N_HALVES;
    __m256i columns[8][N_HALVES * N_SOURCES]; /* by frequency */

    for (int i = 0; i < n_halves * N_SOURCES; i++) {
        /* Luma: bottom is the lowest bit of the source, then the macroblock; the half is the column in that. Chroma:
         * the half is top or bottom, the source the column. Partial: see above. */
        const int half = i / N_SOURCES, j = i % N_SOURCES, high = j >> 1, low = j & 1;
        const int bottom = partial ? (o->is_luma ? high : low) : o->is_luma ? low : half;
        const int column = partial ? (o->is_luma ? low : high) : o->is_luma ? 2 * high + half : j;
        const int further = !partial ? 32 : o->n_blocks == 8 ? 16 : 0;
        __m256i r[8];
        if (partial && 2 * column >= o->n_blocks) {
            for (int v = 0; v < 8; v++)
                columns[v][i] = _mm256_setzero_si256();
            continue;
        }
        const PnvSourceEight e = pnv_source_eight(s, 8 * column, further, kind);
        for (int y = 0; y < 8; y++)
            r[y] = pnv_source_load(s->row[8 * bottom + y], &e, s, kind);
        column_pass(&columns[0][i], N_HALVES * N_SOURCES, r);
    }
    for (int v = 0; v < 8; v++) {
        const uint32_t *k = row_factors;
        const __m256i half = _mm256_set1_epi32(1 << 15);
        __m256i p[N_HALVES][4], zero[N_HALVES] = {0}, four[N_HALVES] = {0};
        for (int i = 2 * v; kind != PNV_SOURCE_SAMPLES && i < 2 * v + 2; i++)
            pnv_source_ask(s, s->row[i], partial ? 4 * o->n_blocks : GROUP_COLUMNS, kind);
        for (int h = 0; h < n_halves; h++) {
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
            put_row(o, 8 * v + frequency[n], row_sum(p[0], k + 1 + 4 * n),
                    partial ? p[0][0] : row_sum(p[1], k + 1 + 4 * n), partial, quantizing);
    }
}

#define GROUP_FUNCTION(name, kind, partial, quantizing)                                                                \
    static __attribute__((noinline)) void name(const Output *o, const PnvSource *s)                                    \
    {                                                                                                                  \
        transform_group(o, s, kind, partial, quantizing);                                                              \
    }
#define GROUP_FUNCTIONS(name, kind)                                                                                    \
    GROUP_FUNCTION(name, kind, 0, 0)                                                                                   \
    GROUP_FUNCTION(name##_partial, kind, 1, 0)                                                                         \
    GROUP_FUNCTION(name##_quant, kind, 0, 1)                                                                           \
    GROUP_FUNCTION(name##_quant_partial, kind, 1, 1)
GROUP_FUNCTIONS(group_samples, PNV_SOURCE_SAMPLES)
GROUP_FUNCTIONS(group_bytes, PNV_SOURCE_BYTES)
GROUP_FUNCTIONS(group_words, PNV_SOURCE_WORDS)
GROUP_FUNCTIONS(group_high, PNV_SOURCE_HIGH)
GROUP_FUNCTIONS(group_second, PNV_SOURCE_SECOND)
GROUP_FUNCTIONS(group_fourth, PNV_SOURCE_FOURTH)
GROUP_FUNCTIONS(group_luma, PNV_SOURCE_LUMA)
GROUP_FUNCTIONS(group_chroma, PNV_SOURCE_CHROMA)
#undef GROUP_FUNCTIONS
#undef GROUP_FUNCTION

static void (*const groups[PNV_SOURCE_KINDS][2][2])(const Output *, const PnvSource *) = {
#define GROUPS(name) {{name, name##_partial}, {name##_quant, name##_quant_partial}}
    [PNV_SOURCE_SAMPLES] = GROUPS(group_samples), [PNV_SOURCE_BYTES] = GROUPS(group_bytes),
    [PNV_SOURCE_WORDS] = GROUPS(group_words),     [PNV_SOURCE_HIGH] = GROUPS(group_high),
    [PNV_SOURCE_SECOND] = GROUPS(group_second),   [PNV_SOURCE_FOURTH] = GROUPS(group_fourth),
    [PNV_SOURCE_LUMA] = GROUPS(group_luma),       [PNV_SOURCE_CHROMA] = GROUPS(group_chroma),
#undef GROUPS
};

/** All groups of a unit. s: its first one. */
static void transform_unit(int16_t *coef, PnvSource *s, PnvSourceKind kind, PnvBlockOrder order, int n_mb,
                           const uint8_t scan[64], const PnvQuant *quant)
{
    const int n_blocks = n_mb * pnv_order_blocks_per_mb(order);
    uint8_t any[64];
    Output o = {.stride = n_blocks, .scan_of = pnv_scan_inverse(any, scan), .quant = quant,
                .is_luma = order == PNV_BLOCKS_LUMA};

    o.n_blocks = n_blocks < GROUP_BLOCKS ? n_blocks : GROUP_BLOCKS;
    for (int first = 0; first < n_blocks; first += GROUP_BLOCKS) {
        o.coef = coef + first;
        groups[kind][quant != NULL][n_blocks < GROUP_BLOCKS](&o, s);
        pnv_source_advance(s, GROUP_COLUMNS, kind);
    }
}

static void samples_unit(int16_t *coef, const int16_t *samples, ptrdiff_t stride, PnvBlockOrder order, int n_mb,
                         const uint8_t scan[64], const PnvQuant *quant)
{
    PnvSource s = {0};

    for (int y = 0; y < 16; y++)
        s.row[y] = (const uint8_t *)(samples + y * stride);
    transform_unit(coef, &s, PNV_SOURCE_SAMPLES, order, n_mb, scan, quant);
}

void pnv_transform_avx2(int16_t *coef, const int16_t *samples, ptrdiff_t stride, PnvBlockOrder order, int n_mb,
                        const uint8_t scan[64])
{
    samples_unit(coef, samples, stride, order, n_mb, scan, NULL);
}

void pnv_forward_avx2(int16_t *level, const PnvPlane *plane, int x0, int y0, PnvBlockOrder order, int n_mb,
                      const uint8_t scan[64], const PnvQuant *quant)
{
    const int width = n_mb * (order == PNV_BLOCKS_CHROMA_422 ? 8 : 16);
    PnvSource s;
    const PnvSourceKind kind = pnv_source_init(&s, plane, x0, y0, width);

    if (kind != PNV_SOURCE_SAMPLES) {
        transform_unit(level, &s, kind, order, n_mb, scan, quant);
        return;
    }
    _Alignas(32) int16_t samples[16 * PNV_FETCH_STRIDE + PNV_LOAD_ROOM];
    if (pnv_fetch_is_plain(plane))
        pnv_fetch_avx2(samples, plane, x0, y0, width);
    else
        pnv_fetch_loaded_avx2(samples, plane, x0, y0, width);
    samples_unit(level, samples, PNV_FETCH_STRIDE, order, n_mb, scan, quant);
}
