/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where AVX2's transform has its rows from, and how eight columns of them become samples at fetch's scale: straight
 * from a plane of most packings, where that is video range of up to 14 bits.
 */
#ifndef PNV_X86_SOURCE_H
#define PNV_X86_SOURCE_H

#include "ahead.h"
#include "groups.h"
#include "vectors.h"

/** What rows are; constant in each loop. */
typedef enum PnvSourceKind {
    PNV_SOURCE_SAMPLES, /**< What fetch wrote. */
    PNV_SOURCE_BYTES,   /**< uint8_t, side by side. */
    PNV_SOURCE_WORDS,   /**< Words of 16 bits, side by side, whose lowest are the sample, */
    PNV_SOURCE_HIGH,    /**< or whose highest are. */
    PNV_SOURCE_SECOND,  /**< Every second word. */
    PNV_SOURCE_FOURTH,  /**< Every fourth word. */
    PNV_SOURCE_LUMA,    /**< Of groups. */
    PNV_SOURCE_CHROMA,
    PNV_SOURCE_KINDS
} PnvSourceKind;

/** Sixteen rows. */
typedef struct PnvSource {
    const uint8_t *row[16]; /**< Where column x begins; of groups column 0. */
    ptrdiff_t ahead;        /**< Bytes to what the next slice will read. */
    int x;                  /**< Column that comes first, for groups. */
    int mask;               /**< The sample in its word, */
    int up;                 /**< and bits to where fetch has it; of every second or fourth word to the top. */
    const PnvGroups *groups;
} PnvSource;

/** Eight columns and, for the upper lane, eight others. */
typedef struct PnvSourceEight {
    ptrdiff_t at, further; /**< Bytes of the row up to the first, and from there to the upper. */
    __m256i pick[3];       /**< Of groups the bytes of each 16, */
    __m256i factor;        /**< and what makes the highest bits of them samples. */
} PnvSourceEight;

PNV_INLINE int pnv_source_is_groups(PnvSourceKind kind)
{
    return kind == PNV_SOURCE_LUMA || kind == PNV_SOURCE_CHROMA;
}

/** Bytes that are read of a row for eight columns; where it is not groups, that is eight steps. */
PNV_INLINE int pnv_source_bytes(PnvSourceKind kind)
{
    static const uint8_t bytes[PNV_SOURCE_KINDS] = {
        [PNV_SOURCE_SAMPLES] = 16, [PNV_SOURCE_BYTES] = 8,   [PNV_SOURCE_WORDS] = 16, [PNV_SOURCE_HIGH] = 16,
        [PNV_SOURCE_SECOND] = 32,  [PNV_SOURCE_FOURTH] = 64, [PNV_SOURCE_LUMA] = 32,  [PNV_SOURCE_CHROMA] = 48,
    };

    return bytes[kind];
}

/** Byte that the eight columns from x on are read from: of groups where the two pixels begin, or all six for luma. */
PNV_INLINE ptrdiff_t pnv_source_at(const PnvSource *s, int x, PnvSourceKind kind)
{
    if (kind == PNV_SOURCE_LUMA)
        return (ptrdiff_t)(x / 6) * s->groups->bytes;
    if (kind == PNV_SOURCE_CHROMA)
        return (ptrdiff_t)(x / 3) * s->groups->bytes + x % 3 * 5;
    return (ptrdiff_t)x * pnv_source_bytes(kind) / 8;
}

/** First column as pnv_source_at() counts: rows that are not groups begin with it. */
PNV_INLINE int pnv_source_first(const PnvSource *s, PnvSourceKind kind)
{
    return pnv_source_is_groups(kind) ? s->x : 0;
}

/** Those from column on, and those so many columns further on: a multiple of 8, 0 where only the lower lane counts. */
PNV_INLINE PnvSourceEight pnv_source_eight(const PnvSource *s, int column, int further, PnvSourceKind kind)
{
    const int low = pnv_source_first(s, kind) + column, high = low + further, n = kind == PNV_SOURCE_LUMA ? 6 : 3;
    PnvSourceEight e = {.at = pnv_source_at(s, low, kind)};

    e.further = pnv_source_is_groups(kind) ? pnv_source_at(s, high, kind) - e.at
                                           : (ptrdiff_t)further * pnv_source_bytes(kind) / 8;
    if (!pnv_source_is_groups(kind))
        return e;
    const PnvGroups *g = s->groups;
    __m256i bytes = pnv_load_halves(g->pair + 2 * (low % n), g->pair + 2 * (high % n));
    if (kind == PNV_SOURCE_CHROMA)
        bytes = _mm256_sub_epi8(bytes, _mm256_set_m128i(_mm_set1_epi8((char)(high % n * 5)),
                                                        _mm_set1_epi8((char)(low % n * 5))));
    for (int i = 0; i < pnv_source_bytes(kind) / 16; i++)
        e.pick[i] = pnv_groups_pick(bytes, i);
    e.factor = pnv_load_halves(g->factor + low % n, g->factor + high % n);
    return e;
}

/** What a mask of up to 16 bits leaves of words of 32, eight in each lane. */
PNV_INLINE __m256i pnv_masked_halves(__m256i a, __m256i b, int mask)
{
    const __m256i m = _mm256_set1_epi32(mask);

    return _mm256_packus_epi32(_mm256_and_si256(a, m), _mm256_and_si256(b, m));
}

/** Eight words of 16 bits in each lane, and nothing but the samples in them. */
PNV_INLINE __m256i pnv_source_words(const uint8_t *at, const PnvSourceEight *e, int mask, PnvSourceKind kind)
{
    const int n = pnv_source_bytes(kind) / 16;
    __m256i v[4];

    for (int i = 0; i < n; i++) {
        v[i] = pnv_load_halves(at + 16 * i, at + e->further + 16 * i);
        if (pnv_source_is_groups(kind))
            v[i] = _mm256_shuffle_epi8(v[i], e->pick[i]);
    }
    if (kind == PNV_SOURCE_SECOND)
        return pnv_masked_halves(v[0], v[1], mask);
    if (kind == PNV_SOURCE_FOURTH)
        return pnv_masked_halves(pnv_masked_halves(v[0], v[1], mask), pnv_masked_halves(v[2], v[3], mask), mask);
    for (int i = 1; i < n; i++)
        v[0] = _mm256_or_si256(v[0], v[i]);
    if (pnv_source_is_groups(kind))
        v[0] = _mm256_mullo_epi16(v[0], e->factor);
    return kind == PNV_SOURCE_SAMPLES ? v[0] : _mm256_and_si256(v[0], _mm256_set1_epi16((short)mask));
}

/** Eight columns of a row at fetch's scale, and the others in the upper lane. */
PNV_INLINE __m256i pnv_source_load(const uint8_t *row, const PnvSourceEight *e, const PnvSource *s, PnvSourceKind kind)
{
    const __m256i middle = _mm256_set1_epi16(8192);
    const uint8_t *at = row + e->at;

    if (kind == PNV_SOURCE_BYTES) {
        const __m128i both = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)at),
                                                _mm_loadl_epi64((const __m128i *)(at + e->further)));
        return _mm256_sub_epi16(_mm256_slli_epi16(_mm256_cvtepu8_epi16(both), 6), middle);
    }
    __m256i v = pnv_source_words(at, e, s->mask, kind);
    if (kind == PNV_SOURCE_SAMPLES)
        return v;
    if (kind == PNV_SOURCE_WORDS || kind == PNV_SOURCE_SECOND || kind == PNV_SOURCE_FOURTH)
        v = _mm256_sll_epi16(v, _mm_cvtsi32_si128(s->up));
    if (kind != PNV_SOURCE_WORDS)
        v = _mm256_srli_epi16(v, 2);
    return _mm256_sub_epi16(v, middle);
}

PNV_INLINE void pnv_source_advance(PnvSource *s, int n, PnvSourceKind kind)
{
    s->x += n;
    for (int y = 0; y < 16 && !pnv_source_is_groups(kind); y++)
        s->row[y] += pnv_source_at(s, n, kind);
}

/** What the next slice has in place of n columns of a row: of 64, or of less, which are a unit. */
PNV_INLINE void pnv_source_ask(const PnvSource *s, const uint8_t *row, int n, PnvSourceKind kind)
{
    const int x = pnv_source_first(s, kind);
    const ptrdiff_t at = pnv_source_at(s, x, kind), bytes = pnv_source_at(s, x + n, kind) - at;

    if (n == 64 && !pnv_source_is_groups(kind))
        pnv_ask_for_lines(row + at, 8 * pnv_source_bytes(kind), s->ahead);
    else
        pnv_ask_for_row(row + at, bytes, s->ahead, n == 64 ? 0 : pnv_source_at(s, PNV_FETCH_STRIDE, kind));
}

static inline PnvSourceKind pnv_source_kind(const PnvPlane *p)
{
    if (p->range != PNV_SAMPLES_VIDEO || p->depth > 14)
        return PNV_SOURCE_SAMPLES;
    if (p->packing == PNV_PACKING_V210 || p->packing == PNV_PACKING_UYVP)
        return p->component == 0 ? PNV_SOURCE_LUMA : PNV_SOURCE_CHROMA;
    if (p->packing != PNV_PACKING_SAMPLES)
        return PNV_SOURCE_SAMPLES;
    switch (p->step) {
    case 1:
        return PNV_SOURCE_BYTES;
    case 2:
        return !p->shift ? PNV_SOURCE_WORDS : p->shift + p->depth == 16 ? PNV_SOURCE_HIGH : PNV_SOURCE_SAMPLES;
    case 4:
        return PNV_SOURCE_SECOND;
    case 8:
        return PNV_SOURCE_FOURTH;
    default:
        return PNV_SOURCE_SAMPLES;
    }
}

/**
 * Columns x0 .. x0 + width - 1, a multiple of 8, of rows y0 .. y0 + 15, the last one repeated.
 *
 * @return PNV_SOURCE_SAMPLES  fetch has to write them first: the format is another, or not all of them are there, or
 *                             what would be read is more than a row has.
 */
static inline PnvSourceKind pnv_source_init(PnvSource *s, const PnvPlane *p, int x0, int y0, int width)
{
    const PnvSourceKind kind = pnv_source_kind(p);
    const int last_row = p->height - 1;
    const ptrdiff_t row_bytes = pnv_plane_row_bytes(p);
    ptrdiff_t begin = (ptrdiff_t)x0 * p->step, end = begin + (ptrdiff_t)width * p->step, last = end;
    const uint8_t *data = p->data + begin;

    if (kind == PNV_SOURCE_SAMPLES || p->width - x0 < width)
        return PNV_SOURCE_SAMPLES;
    s->x = x0;
    s->mask = ((1 << p->depth) - 1) << p->shift;
    s->up = (kind == PNV_SOURCE_WORDS ? 14 : 16) - p->depth - p->shift;
    if (pnv_source_is_groups(kind)) {
        data = p->data;
        s->mask = PNV_GROUPS_MASK;
        s->groups = pnv_groups(p);
        begin = pnv_source_at(s, x0, kind);
        end = pnv_source_at(s, x0 + width, kind);
        last = pnv_source_at(s, x0 + width - 8, kind) + pnv_source_bytes(kind);
    }
    if (last > row_bytes)
        return PNV_SOURCE_SAMPLES;
    s->ahead = pnv_ahead(begin, end, row_bytes, p->stride);
    for (int y = 0; y < 16; y++)
        s->row[y] = data + (y0 + y < last_row ? y0 + y : last_row) * p->stride;
    return kind;
}

#endif
