/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of any packing for AVX2, which the AVX-512 level takes too. load.c is the definition; a step between samples that
 * no format has stays with it.
 */
#include <immintrin.h>
#include <string.h>

#include "load.h"
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

/** A part of a row. */
typedef struct Part {
    const uint8_t *at, *end; /**< Its first sample; what may be read ends there. */
    int n, shift, mask;
} Part;

PNV_INLINE __m256i load(const void *at)
{
    return _mm256_loadu_si256((const __m256i *)at);
}

PNV_INLINE __m256i load_halves(const void *low, const void *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
                                   _mm_loadu_si128((const __m128i *)high), 1);
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

    return _mm256_or_si256(_mm256_shuffle_epi8(load_halves(at, at + 24), first),
                           _mm256_shuffle_epi8(load_halves(at + 6, at + 30), rest));
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

/** Samples side by side or a step apart. sixteen() reads so many bytes. */
PNV_INLINE void load_samples(uint16_t *dst, const Part *part, Kind kind, int step, int reads)
{
    const Part local = *part, *const p = &local; /* which no store can change */
    const uint8_t *at = p->at;
    int x = 0;

    for (; x < p->n && p->end - at >= reads; x += LANES, at += LANES * step)
        _mm256_storeu_si256((__m256i *)(dst + x), sixteen(at, p, kind));
    if (x < p->n) { /* at the end of the row, which is less than a step further */
        uint8_t copy[8 * LANES] = {0};
        memcpy(copy, at, (size_t)(p->end - at));
        _mm256_storeu_si256((__m256i *)(dst + x), sixteen(copy, p, kind));
    }
}

/** Where 6 luma samples of a group, or 3 of a chroma component, are: pairs of bytes, times 2^6 after the product. */
typedef struct Group {
    int8_t bytes[16];
    uint16_t factor[8];
} Group;

static const Group v210_groups[3] = {
    {{1, 2, 4, 5, 6, 7, 9, 10, 12, 13, 14, 15, -1, -1, -1, -1}, {16, 64, 4, 16, 64, 4}},
    {{0, 1, 5, 6, 10, 11, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, {64, 16, 4}},
    {{2, 3, 8, 9, 13, 14, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, {4, 64, 16}},
};
static const Group uyvp_groups[3] = {
    {{2, 1, 4, 3, 7, 6, 9, 8, 12, 11, 14, 13, -1, -1, -1, -1}, {4, 64, 4, 64, 4, 64}},
    {{1, 0, 6, 5, 11, 10, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, {1, 1, 1}},
    {{3, 2, 8, 7, 13, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}, {16, 16, 16}},
};

/** Two groups, the second group_bytes behind the first. */
PNV_INLINE __m256i two_groups(const uint8_t *at, int group_bytes, __m256i bytes, __m256i factor)
{
    const __m256i pairs = _mm256_shuffle_epi8(load_halves(at, at + group_bytes), bytes);

    return _mm256_srli_epi16(_mm256_mullo_epi16(pairs, factor), 6);
}

/* Six pixels in 16 bytes (v210) or 15 (UYVP); samples of one component in a group: 6 or 3. p->at: of the group. */
PNV_INLINE void load_groups(uint16_t *dst, const Part *p, const Group *group, int group_bytes, int samples, int skipped)
{
    const __m256i bytes = both_lanes(_mm_loadu_si128((const __m128i *)group->bytes));
    const __m256i factor = both_lanes(_mm_loadu_si128((const __m128i *)group->factor));
    const int reads = group_bytes + 16;
    const uint8_t *at = p->at;

    for (int x = -skipped; x < p->n; x += 2 * samples, at += 2 * group_bytes) {
        uint8_t copy[32] = {0};
        uint16_t made[LANES + 8];
        const int is_end = p->end - at < reads;
        if (is_end)
            memcpy(copy, at, (size_t)(p->end - at));
        const __m256i two = two_groups(is_end ? copy : at, group_bytes, bytes, factor);
        uint16_t *to = x < 0 ? made : dst + x;
        _mm_storeu_si128((__m128i *)to, _mm256_castsi256_si128(two));
        _mm_storeu_si128((__m128i *)(to + samples), _mm256_extracti128_si256(two, 1));
        if (x < 0)
            memcpy(dst, made + skipped, (size_t)(2 * samples) * sizeof *dst); /* of which the first count */
    }
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

static void load_part(uint16_t *dst, Part *p, Kind kind)
{
#define SAMPLES(k, step, reads)                                                                                        \
    case k:                                                                                                            \
        load_samples(dst, p, (k), (step), (reads));                                                                    \
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

static void load_groups_part(uint16_t *dst, Part *p, const PnvPlane *plane, int x)
{
    const int c = plane->component, is_v210 = plane->packing == PNV_PACKING_V210, skipped = x % (c ? 3 : 6);

    p->at += (ptrdiff_t)(x / (c ? 3 : 6)) * (is_v210 ? 16 : 15);
    if (is_v210)
        c ? load_groups(dst, p, &v210_groups[c], 16, 3, skipped) : load_groups(dst, p, &v210_groups[0], 16, 6, skipped);
    else
        c ? load_groups(dst, p, &uyvp_groups[c], 15, 3, skipped) : load_groups(dst, p, &uyvp_groups[0], 15, 6, skipped);
}

void pnv_load_avx2(uint16_t *dst, const PnvPlane *plane, int x, int y, int n)
{
    const Kind kind = find_kind(plane);
    const uint8_t *row = plane->data + (ptrdiff_t)pnv_plane_inside(y, plane->height) * plane->stride;
    const int first = pnv_plane_inside(x, plane->width), last = pnv_plane_inside(x + n - 1, plane->width);
    const int left = first - x < n ? first - x : n - 1; /* columns in front of the plane; all may lie there */
    uint16_t *to = dst + (left > 0 ? left : 0);
    Part p = {row, row + pnv_plane_row_bytes(plane), last - first + 1, plane->shift, (1 << plane->depth) - 1};

    if (kind == OTHER) {
        pnv_load_c(dst, plane, x, y, n);
        return;
    }
    if (kind == GROUPS) {
        load_groups_part(to, &p, plane, first);
    } else {
        p.at += (ptrdiff_t)first * plane->step;
        load_part(to, &p, kind);
    }
    /* Of the row 16 further down, which the next MB row reads; may lie outside of the plane, which a prefetch ignores. */
    const ptrdiff_t bytes = kind == GROUPS ? (ptrdiff_t)p.n * 8 / 3 : (ptrdiff_t)p.n * plane->step;
    for (ptrdiff_t at = 0; at < bytes; at += 64)
        _mm_prefetch((const char *)((uintptr_t)(p.at + at) + (uintptr_t)(16 * plane->stride)), _MM_HINT_T1);
    for (to += p.n; to < dst + n; to++)
        *to = to[-1];
    for (int i = 0; i < left; i++)
        dst[i] = dst[left];
}
