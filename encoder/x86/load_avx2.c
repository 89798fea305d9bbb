/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of any packing for AVX2, which the AVX-512 level takes too. load.c is the definition; a step between samples
 * that no format has stays with it.
 */
#include <assert.h>
#include <immintrin.h>
#include <string.h>

#include "ahead.h"
#include "groups.h"
#include "load.h"
#include "vectors.h"
#include "x86.h"

/** How samples lie; constant in each loop. */
typedef enum Kind {
    BYTES_1, /**< A byte each, so many apart. */
    BYTES_2,
    BYTES_3,
    BYTES_4,
    WORDS_2, /**< 16 bits each. */
    WORDS_4,
    WORDS_8,
    PACKED, /**< In words of 32 bits. */
    PACKED_BE,
    GROUPS, /**< v210 and UYVP. */
    OTHER
} Kind;

enum { LANES = 16 };

_Static_assert(PNV_LOAD_ROOM >= LANES, "the last vector");

/** Parts of rows that follow each other. */
typedef struct Part {
    uint16_t *dst;
    ptrdiff_t dst_stride;
    const uint8_t *data;
    ptrdiff_t stride;
    int y, last_y, n_rows;
    PnvColumns there;         /**< Samples that are, and what lies beside them. */
    ptrdiff_t begin, end;     /**< Bytes from the beginning of a row: of the first sample, of what may be read. */
    int skipped;              /**< Samples of the first group. */
    int bytes;                /**< Of a row, from begin on. */
    ptrdiff_t ahead, least;   /**< Where the next slice reads, and from how many bytes. */
    int shift, mask;          /**< Of a word. */
    int up, offset;           /**< What is stored is (sample << up) - offset. */
} Part;

PNV_INLINE __m256i load(const void *at)
{
    return _mm256_loadu_si256((const __m256i *)at);
}

PNV_INLINE __m256i both_lanes(__m128i v)
{
    return _mm256_broadcastsi128_si256(v);
}

/** 32 bits to 16. */
PNV_INLINE __m256i pack(__m256i a, __m256i b)
{
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8);
}

/** Every third byte of 46. */
PNV_INLINE __m256i thirds(const uint8_t *at)
{
    const __m256i first = both_lanes(_mm_setr_epi8(0, -1, 3, -1, 6, -1, 9, -1, 12, -1, -1, -1, -1, -1, -1, -1));
    const __m256i rest = both_lanes(_mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 9, -1, 12, -1, 15, -1));

    return _mm256_or_si256(_mm256_shuffle_epi8(pnv_load_halves(at, at + 24), first),
                           _mm256_shuffle_epi8(pnv_load_halves(at + 6, at + 30), rest));
}

/** The lowest 16 bits of 16 words of 64. */
PNV_INLINE __m256i quarters(const uint8_t *at)
{
    const __m256i low = _mm256_set1_epi64x(0xffff), order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i v[4];

    for (int i = 0; i < 4; i++)
        v[i] = _mm256_and_si256(load(at + 32 * i), low);
    return _mm256_permutevar8x32_epi32(
        _mm256_packus_epi32(_mm256_packus_epi32(v[0], v[1]), _mm256_packus_epi32(v[2], v[3])), order);
}

/** Eight samples of words of 32 bits. */
PNV_INLINE __m256i unpack_words(const uint8_t *at, const Part *p, Kind kind)
{
    __m256i v = load(at);

    if (kind == PACKED_BE)
        v = _mm256_shuffle_epi8(v, both_lanes(_mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)));
    return _mm256_and_si256(_mm256_srl_epi32(v, _mm_cvtsi32_si128(p->shift)), _mm256_set1_epi32(p->mask));
}

PNV_INLINE __m256i masked(__m256i v, const Part *p)
{
    return _mm256_and_si256(_mm256_srl_epi16(v, _mm_cvtsi32_si128(p->shift)), _mm256_set1_epi16((short)p->mask));
}

PNV_INLINE __m256i sixteen(const uint8_t *at, const Part *p, Kind kind)
{
    const __m256i low_byte = _mm256_set1_epi32(0xff), low_half = _mm256_set1_epi32(0xffff);

    switch (kind) {
    case BYTES_1:
        return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)at));
    case BYTES_2:
        return _mm256_and_si256(load(at), _mm256_set1_epi16(0xff));
    case BYTES_3:
        return thirds(at);
    case BYTES_4:
        return pack(_mm256_and_si256(load(at), low_byte), _mm256_and_si256(load(at + 32), low_byte));
    case WORDS_2:
        return masked(load(at), p);
    case WORDS_4:
        return masked(pack(_mm256_and_si256(load(at), low_half), _mm256_and_si256(load(at + 32), low_half)), p);
    case WORDS_8:
        return masked(quarters(at), p);
    default:
        return pack(unpack_words(at, p, kind), unpack_words(at + 32, p, kind));
    }
}

PNV_INLINE __m256i scaled(__m256i v, const Part *p)
{
    return _mm256_sub_epi16(_mm256_sll_epi16(v, _mm_cvtsi32_si128(p->up)), _mm256_set1_epi16((short)p->offset));
}

/** Samples side by side or a step apart. sixteen() reads so many bytes. */
PNV_INLINE void load_samples(uint16_t *dst, const uint8_t *row, const Part *p, Kind kind, int step, int reads)
{
    const uint8_t *at = row + p->begin, *end = row + p->end;
    int x = 0;

    for (; x < p->there.n && end - at >= reads; x += LANES, at += LANES * step)
        _mm256_storeu_si256((__m256i *)(dst + x), scaled(sixteen(at, p, kind), p));
    if (x < p->there.n) { /* at the end of the row, which is less than a step further */
        uint8_t copy[8 * LANES] = {0};
        memcpy(copy, at, (size_t)(end - at));
        _mm256_storeu_si256((__m256i *)(dst + x), scaled(sixteen(copy, p, kind), p));
    }
}

enum { GROUP_SAMPLES = 6 }; /* in a lane */

/** Six samples in each lane, which are lane_bytes apart: of a group of luma, of two of chroma. */
PNV_INLINE __m256i two_lanes(const uint8_t *at, const PnvGroups *g, int lane_bytes, int is_chroma)
{
    const __m256i bytes = both_lanes(_mm_loadu_si128((const __m128i *)g->pair));
    const __m256i factor = both_lanes(_mm_loadu_si128((const __m128i *)g->factor));
    __m256i pairs = _mm256_shuffle_epi8(pnv_load_halves(at, at + lane_bytes), pnv_groups_pick(bytes, 0));

    if (is_chroma)
        pairs = _mm256_or_si256(pairs, _mm256_shuffle_epi8(pnv_load_halves(at + 16, at + lane_bytes + 16),
                                                           pnv_groups_pick(bytes, 1)));
    return _mm256_srli_epi16(_mm256_mullo_epi16(pairs, factor), 6);
}

PNV_INLINE void store_lanes(uint16_t *dst, __m256i v)
{
    _mm_storeu_si128((__m128i *)dst, _mm256_castsi256_si128(v));
    _mm_storeu_si128((__m128i *)(dst + GROUP_SAMPLES), _mm256_extracti128_si256(v, 1));
}

/** Whole groups, the first one from p->skipped on. */
PNV_INLINE void load_groups(uint16_t *dst, const uint8_t *row, const Part *p, const PnvGroups *g, int group_bytes,
                            int is_chroma)
{
    const int lane_bytes = is_chroma ? 2 * group_bytes : group_bytes;
    const int step = 2 * lane_bytes, reads = lane_bytes + (is_chroma ? 32 : 16);
    const uint8_t *at = row + p->begin, *end = row + p->end;
    int x = 0;

    if (p->skipped) {
        uint8_t copy[64] = {0};
        uint16_t made[2 * LANES] = {0};
        const int is_short = end - at < reads;
        if (is_short)
            memcpy(copy, at, (size_t)(end - at));
        store_lanes(made, scaled(two_lanes(is_short ? copy : at, g, lane_bytes, is_chroma), p));
        _mm256_storeu_si256((__m256i *)dst, _mm256_loadu_si256((const __m256i *)(made + p->skipped)));
        x = 2 * GROUP_SAMPLES - p->skipped;
        at += step;
    }
    for (; x < p->there.n && end - at >= reads; x += 2 * GROUP_SAMPLES, at += step)
        store_lanes(dst + x, scaled(two_lanes(at, g, lane_bytes, is_chroma), p));
    if (x < p->there.n) {
        uint8_t copy[64] = {0};
        memcpy(copy, at, (size_t)(end - at));
        store_lanes(dst + x, scaled(two_lanes(copy, g, lane_bytes, is_chroma), p));
    }
}

/** What lies beside the plane; and what the next slice reads is asked for. */
PNV_INLINE void end_row(uint16_t *dst, const uint8_t *row, const Part *p)
{
    pnv_ask_for_row(row + p->begin, p->bytes, p->ahead, p->least);
    pnv_columns_repeat(dst, &p->there);
}

/** All that is constant of a kind is so where this is called. */
PNV_INLINE void each_row(const Part *part, Kind kind, int step, int reads, const PnvGroups *g, int is_chroma)
{
    const Part local = *part, *const p = &local; /* which no store can change */
    uint16_t *dst = p->dst;

    for (int i = 0; i < p->n_rows; i++, dst += p->dst_stride) {
        const int y = p->y + i < 0 ? 0 : p->y + i < p->last_y ? p->y + i : p->last_y;
        const uint8_t *row = p->data + y * p->stride;
        if (kind == GROUPS)
            load_groups(dst + p->there.left, row, p, g, step, is_chroma);
        else
            load_samples(dst + p->there.left, row, p, kind, step, reads);
        end_row(dst, row, p);
    }
}

static void load_sample_rows(const Part *p, Kind kind)
{
#define SAMPLES(k, step, reads)                                                                                        \
    case k:                                                                                                            \
        each_row(p, (k), (step), (reads), NULL, 0);                                                                    \
        break
    switch (kind) {
        SAMPLES(BYTES_1, 1, 16);
        SAMPLES(BYTES_2, 2, 32);
        SAMPLES(BYTES_3, 3, 46);
        SAMPLES(BYTES_4, 4, 64);
        SAMPLES(WORDS_2, 2, 32);
        SAMPLES(WORDS_4, 4, 64);
        SAMPLES(WORDS_8, 8, 128);
        SAMPLES(PACKED, 4, 64);
        SAMPLES(PACKED_BE, 4, 64);
    default:
        break;
    }
#undef SAMPLES
}

static void load_group_rows(const Part *p, const PnvGroups *g, int is_chroma)
{
    if (g->bytes == 16 && !is_chroma)
        each_row(p, GROUPS, 16, 0, g, 0);
    else if (g->bytes == 16)
        each_row(p, GROUPS, 16, 0, g, 1);
    else if (!is_chroma)
        each_row(p, GROUPS, 15, 0, g, 0);
    else
        each_row(p, GROUPS, 15, 0, g, 1);
}

static Kind find_kind(const PnvPlane *p)
{
    switch (p->packing) {
    case PNV_PACKING_SAMPLES:
        if (p->depth == 8)
            return p->step >= 1 && p->step <= 4 ? (Kind)(BYTES_1 + p->step - 1) : OTHER;
        return p->step == 2 ? WORDS_2 : p->step == 4 ? WORDS_4 : p->step == 8 ? WORDS_8 : OTHER;
    case PNV_PACKING_WORDS:
        return p->step == 4 ? PACKED : OTHER;
    case PNV_PACKING_WORDS_BE:
        return p->step == 4 ? PACKED_BE : OTHER;
    default:
        return GROUPS;
    }
}

static void ask_ahead(Part *p)
{
    p->ahead = pnv_ahead(p->begin, p->begin + p->bytes, p->end, p->stride);
    p->least = PNV_FETCH_STRIDE * p->bytes / p->there.n;
}

/** Returns -1 where that is left to C. */
static int load_rows(uint16_t *dst, ptrdiff_t dst_stride, const PnvPlane *plane, int x, int y, int n, int n_rows,
                     int up, int offset)
{
    const Kind kind = find_kind(plane);
    const PnvColumns there = pnv_plane_columns(plane, x, n);
    Part p = {.dst = dst, .dst_stride = dst_stride, .data = plane->data, .stride = plane->stride, .y = y,
              .last_y = plane->height - 1, .n_rows = n_rows, .there = there,
              .begin = (ptrdiff_t)there.first * plane->step, .end = pnv_plane_row_bytes(plane), .shift = plane->shift,
              .mask = (1 << plane->depth) - 1, .up = up, .offset = offset};

    p.bytes = there.n * plane->step;
    if (kind == OTHER)
        return -1;
    if (kind == GROUPS) {
        const PnvGroups *g = pnv_groups(plane);
        const int lane_bytes = (plane->component == 0 ? 1 : 2) * g->bytes;
        p.begin = (ptrdiff_t)(there.first / GROUP_SAMPLES) * lane_bytes;
        p.skipped = there.first % GROUP_SAMPLES;
        p.bytes = (there.n + p.skipped) * lane_bytes / GROUP_SAMPLES;
        ask_ahead(&p);
        load_group_rows(&p, g, plane->component > 0);
    } else {
        ask_ahead(&p);
        load_sample_rows(&p, kind);
    }
    return 0;
}

void pnv_load_avx2(uint16_t *dst, ptrdiff_t stride, const PnvPlane *plane, int x, int y, int n, int n_rows,
                   int up)
{
    if (load_rows(dst, stride, plane, x, y, n, n_rows, up, 0))
        pnv_load_c(dst, stride, plane, x, y, n, n_rows, up);
}

void pnv_fetch_loaded_avx2(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width)
{
    assert(x0 < plane->width && y0 < plane->height && width <= PNV_FETCH_STRIDE);
    const int n_rows = plane->height - y0 < 16 ? plane->height - y0 : 16, depth = plane->depth;
    const int is_simple = plane->range == PNV_SAMPLES_VIDEO && depth <= 14;
    uint16_t *sample = (uint16_t *)dst;

    if (!is_simple || load_rows(sample, PNV_FETCH_STRIDE, plane, x0, y0, width, n_rows, 14 - depth, 8192)) {
        pnv_load_avx2(sample, PNV_FETCH_STRIDE, plane, x0, y0, width, n_rows, 0);
        for (int y = 0; y < n_rows; y++)
            pnv_fetch_scale_avx2(dst + y * PNV_FETCH_STRIDE, sample + y * PNV_FETCH_STRIDE, width, depth,
                                 plane->range);
    }
    for (int y = n_rows; y < 16; y++)
        memcpy(dst + y * PNV_FETCH_STRIDE, dst + (n_rows - 1) * PNV_FETCH_STRIDE, (size_t)width * sizeof *dst);
}
