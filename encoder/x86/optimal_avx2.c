/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Optimal quantization for AVX2. quant.c is the definition, optimal.h its sequential part.
 *
 * A decision depends on those before it, but not for long: whatever was in force where one begins, after some symbols
 * the decisions are the same. So the list of levels is cut into 16 parts, one for each lane, and all go through theirs
 * at once, first as if nothing in front of a part had changed. Then each begins again with what the part before has
 * left, up to the symbol where no lane differs from the last time; and again, until every part began with what the one
 * before leaves. That is the sequence.
 *
 * Numbers are small: a code length, and what one down saves, is the low byte of a lane, whatever is in the high one.
 */
#include <immintrin.h>

#include "compact.h"
#include "optimal.h"
#include "slice.h"

enum {
    LANES = 16,
    MAX_AC = 63 * PNV_MAX_BLOCKS,
    HISTORY = 2, /* Symbols in front of a part that its beginning depends on, and behind it. */
    MAX_ROWS = MAX_AC / LANES + 2 * HISTORY + LANES,
    MAX_LEVEL = 4000, /* Logarithms are of 12 bits. */
    PLACE_BITS = 11, FIRST = 8, /* The first AC coefficient is at 8: what is before it needs numbers too. */
    NEVER = 31, /* More than the symbols behind the last one can save. */
};

/** Nonzero nearest levels in coding order, behind them symbols that never go down and that nothing depends on. */
typedef struct List {
    int n, largest;
    /* Behind LANES others, of which the last two are what the format begins with. */
    int16_t level[LANES + MAX_AC + 4 * LANES];
    /** Places, and from bit PLACE_BITS on the bits that one down has to save: floor(25 * (excess + d) / (3 * d)) + 1,
     * which is 1..17. */
    uint16_t place[LANES + MAX_AC + 4 * LANES];
} List;

/** What is in force in front of symbols. */
typedef struct State {
    __m256i place; /**< Of the symbol before. */
    __m256i level; /**< Its magnitude, up to 9, below 0xff00. */
    __m256i run;   /**< Its run - 1, up to 14. */
} State;

/** Symbol i of each part is in row i + HISTORY. */
typedef struct Parts {
    _Alignas(32) int16_t level[MAX_ROWS][LANES]; /* its sign, and the magnitude */
    uint16_t place[MAX_ROWS][LANES];
    int16_t lack[MAX_ROWS][LANES];     /**< From prepare(): bits that are lacking before those that decisions change. */
    int16_t after_one[MAX_ROWS][LANES]; /**< To be added where the magnitude before is 1. */
    int16_t down[MAX_ROWS][LANES];      /**< -1 where one goes down. */
    State state[MAX_ROWS];              /**< Behind symbol i. */
} Parts;

/*
 * Tables of 16 bytes, once for each 128-bit lane, and constants, all read where they are.
 *
 * The length of a code is 2 * floor(log2 x) + length, x = n + at, with -1 and -2 for the logarithms of 0 and -1, which
 * makes it right for the small codes of (2,0,1) and (1,0,1). Those of (1,1,2) and (2,0,2) need corrections.
 */
#define TWICE(...) {__VA_ARGS__, __VA_ARGS__}
#define ALL(x) {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}

typedef struct Tables {
    /* By a run - 1, none for -1, of another one - 1: (2,0,1) x2, (1,0,1) x2, EG(0), (1,1,2) x4, EG(1) x6, EG(2).
     * Lengths are 3 less. */
    _Alignas(32) int8_t run_at[32], run_length[32], run_112[32];
    /* By a magnitude, of another one - 2: (2,0,2), (1,0,1), (2,0,1), EG(0), EG(1) x4, EG(2). */
    int8_t level_at[32], level_length[32], level_202[32];
    int8_t log_low[32], log_middle[32], log_high[32];
    int16_t nibble[16], one[16], two[16], four[16], nine[16], max_run[16], no_index[16], after_one[16], places[16];
} Tables;

static const Tables constant_tables = {
    .run_at = TWICE(0, 1, 1, 2, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 5, 0),
    .run_length = TWICE(0, -1, -1, -2, -2, -2, -2, -2, -3, -3, -3, -3, -3, -3, -4, 0),
    .run_112 = TWICE(0, 0, 0, 0, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0), /* less n, added to the length */
    .level_at = TWICE(0, 2, 1, 0, 2, 3, 3, 3, 3, 5, 0, 0, 0, 0, 0, 0),
    .level_length = TWICE(0, 2, 2, 3, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0),
    .level_202 = TWICE(0, -1, -2, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), /* by the magnitude that is coded */
    .log_low = TWICE(-1, 0, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6, 6, 6, 6, 6),
    .log_middle = TWICE(-128, 8, 10, 10, 12, 12, 12, 12, 14, 14, 14, 14, 14, 14, 14, 14),
    .log_high = TWICE(-128, 16, 18, 18, 20, 20, 20, 20, 22, 22, 22, 22, 22, 22, 22, 22),
    .nibble = ALL(15),
    .one = ALL(1),
    .two = ALL(2),
    .four = ALL(4),
    .nine = ALL(9),
    .max_run = ALL(PNV_RUN_STATES - 2),
    .no_index = ALL((int16_t)0xff00),
    .after_one = ALL((int16_t)0xff01),
    .places = ALL((1 << PLACE_BITS) - 1),
};

/** Hides from the compiler that they are constant. */
PNV_INLINE const Tables *in_memory(void)
{
    const Tables *t = &constant_tables;

    __asm__("" : "+r"(t));
    return t;
}

PNV_INLINE __m256i load(const void *at)
{
    return _mm256_load_si256(at);
}

PNV_INLINE void store(void *at, __m256i v)
{
    _mm256_store_si256(at, v);
}

PNV_INLINE __m256i look_up(const int8_t table[32], __m256i index)
{
    return _mm256_shuffle_epi8(load(table), index);
}

/* ---- list ---- */

/** 16 coefficients from i on, 8 where the unit ends behind them, as 63 rows of 8 do. */
PNV_INLINE __m256i load_16(const int16_t *at, int i, int n)
{
    return n - i < LANES ? _mm256_zextsi128_si256(_mm_loadu_si128((const __m128i *)(at + i)))
                         : _mm256_loadu_si256((const __m256i *)(at + i));
}

/** floor(25 * e / (3 * d)) + 1. third: 1 / (3 * d), and what is not whole is that far off: floats are nearer. */
PNV_INLINE __m256i need_8(__m128i e, float third)
{
    const __m256 dividend = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(e)), _mm256_set1_ps(25));
    const __m256 quotient = _mm256_mul_ps(_mm256_add_ps(dividend, _mm256_set1_ps(0.5f)), _mm256_set1_ps(third));

    return _mm256_add_epi32(_mm256_cvttps_epi32(quotient), _mm256_set1_epi32(1));
}

/** The numbers of 8 lanes whose bits are set, to the end of the list. Returns where it goes on. */
PNV_INLINE int list_8(List *list, int n_listed, __m128i level, __m128i place, unsigned set)
{
    const __m128i places = pnv_places_8(set);

    _mm_storeu_si128((__m128i *)(list->level + n_listed), pnv_compact_8(level, places));
    _mm_storeu_si128((__m128i *)(list->place + n_listed), pnv_compact_8(place, places));
    return n_listed + __builtin_popcount(set);
}

/** level, coef: AC, n_blocks 8, 16 or 32. */
PNV_INLINE void list_rows(List *list, const int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    const int n = 63 * n_blocks, two_rows = n_blocks == 8;
    __m256i largest = _mm256_setzero_si256();
    _Alignas(32) uint16_t magnitude[LANES];
    float third[64];
    int n_listed = LANES;

    for (int i = 0; i < 64; i++)
        third[i] = 1.0f / (float)(3 * quant->step[i].bias);
    for (int i = 0; i < n; i += LANES) {
        const __m256i l = load_16(level, i, n), m = _mm256_abs_epi16(l);
        const __m256i is_zero = _mm256_cmpeq_epi16(m, _mm256_setzero_si256());
        const unsigned set = 0xffff & ~(unsigned)_mm_movemask_epi8(
            _mm_packs_epi16(_mm256_castsi256_si128(is_zero), _mm256_extracti128_si256(is_zero, 1)));
        if (!set)
            continue;
        const int row = 1 + i / n_blocks, second = row + two_rows;
        const __m128i d0 = _mm_set1_epi16((short)quant->step[row].bias);
        const __m128i d1 = two_rows ? _mm_set1_epi16((short)(row < 63 ? quant->step[second].bias : 0)) : d0;
        const __m256i d = _mm256_set_m128i(d1, d0);
        /* |c| + d - 2 * d * m, which has 16 bits. */
        const __m256i e = _mm256_sub_epi16(_mm256_add_epi16(_mm256_abs_epi16(load_16(coef, i, n)), d),
                                           _mm256_slli_epi16(_mm256_mullo_epi16(d, m), 1));
        const __m256i need = _mm256_permute4x64_epi64(
            _mm256_packus_epi32(need_8(_mm256_castsi256_si128(e), third[row]),
                                need_8(_mm256_extracti128_si256(e, 1), third[row < 63 ? second : row])),
            0xd8);
        const __m256i at = _mm256_add_epi16(
            _mm256_set1_epi16((short)(FIRST + i)),
            _mm256_set_epi16(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
        const __m256i place = _mm256_or_si256(_mm256_slli_epi16(need, PLACE_BITS), at);
        largest = _mm256_max_epu16(largest, m);
        n_listed = list_8(list, n_listed, _mm256_castsi256_si128(l), _mm256_castsi256_si128(place), set & 0xff);
        n_listed = list_8(list, n_listed, _mm256_extracti128_si256(l, 1), _mm256_extracti128_si256(place, 1), set >> 8);
    }
    list->n = n_listed - LANES;
    store(magnitude, largest);
    list->largest = 0;
    for (int i = 0; i < LANES; i++)
        list->largest = magnitude[i] > list->largest ? magnitude[i] : list->largest;
}

/** The same for any number of blocks. */
static void list_singly(List *list, const int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    int n_listed = LANES;

    list->largest = 0;
    for (int i = 0; i < 63 * n_blocks; i++) {
        if (!level[i])
            continue;
        const int d = quant->step[1 + i / n_blocks].bias, m = level[i] < 0 ? -level[i] : level[i];
        const int e = (coef[i] < 0 ? -coef[i] : coef[i]) - 2 * d * m + d;
        list->level[n_listed] = level[i];
        list->place[n_listed++] = (uint16_t)((25 * e / (3 * d) + 1) << PLACE_BITS | (FIRST + i));
        list->largest = m > list->largest ? m : list->largest;
    }
    list->n = n_listed - LANES;
}

static void close_list(List *list)
{
    int16_t *level = list->level + LANES;
    uint16_t *place = list->place + LANES;
    const int n = list->n;

    level[-1] = PNV_INITIAL_LEVEL + 1;
    level[-2] = 1;
    place[-1] = FIRST - 1;
    place[-2] = FIRST - 1 - (PNV_INITIAL_RUN + 1);
    for (int i = n; i < n + 3 * LANES; i += LANES) {
        _mm256_storeu_si256((__m256i *)(level + i), _mm256_setzero_si256());
        _mm256_storeu_si256((__m256i *)(place + i), _mm256_set1_epi16((short)(NEVER << PLACE_BITS)));
    }
}

/* ---- parts ---- */

/** 16 x 16 numbers, rows in memory stride numbers apart -> columns. */
PNV_INLINE void transpose(void *to, const void *from, ptrdiff_t stride)
{
    const uint16_t *f = from;
    __m256i a[16], b[16];

    for (int i = 0; i < 16; i++)
        a[i] = _mm256_loadu_si256((const __m256i *)(f + i * stride));
    for (int i = 0; i < 8; i++) {
        b[2 * i] = _mm256_unpacklo_epi16(a[2 * i], a[2 * i + 1]);
        b[2 * i + 1] = _mm256_unpackhi_epi16(a[2 * i], a[2 * i + 1]);
    }
    for (int i = 0; i < 16; i += 4) { /* columns 2 * k, 2 * k + 1 of 4 rows are in a[i + k] */
        a[i] = _mm256_unpacklo_epi32(b[i], b[i + 2]);
        a[i + 1] = _mm256_unpackhi_epi32(b[i], b[i + 2]);
        a[i + 2] = _mm256_unpacklo_epi32(b[i + 1], b[i + 3]);
        a[i + 3] = _mm256_unpackhi_epi32(b[i + 1], b[i + 3]);
    }
    for (int k = 0; k < 4; k++) {
        b[2 * k] = _mm256_unpacklo_epi64(a[k], a[4 + k]);
        b[2 * k + 1] = _mm256_unpackhi_epi64(a[k], a[4 + k]);
        b[8 + 2 * k] = _mm256_unpacklo_epi64(a[8 + k], a[12 + k]);
        b[8 + 2 * k + 1] = _mm256_unpackhi_epi64(a[8 + k], a[12 + k]);
    }
    for (int k = 0; k < 8; k++) {
        store((uint16_t *)to + 16 * k, _mm256_permute2x128_si256(b[k], b[8 + k], 0x20));
        store((uint16_t *)to + 16 * (8 + k), _mm256_permute2x128_si256(b[k], b[8 + k], 0x31));
    }
}

/** 2 * floor(log2 x) of x up to 4095, -1 for 0. */
PNV_INLINE __m256i logs(const Tables *t, __m256i x)
{
    const __m256i low = look_up(t->log_low, _mm256_and_si256(x, load(t->nibble)));
    const __m256i middle = look_up(t->log_middle, _mm256_and_si256(_mm256_srli_epi16(x, 4), load(t->nibble)));
    const __m256i high = look_up(t->log_high, _mm256_srli_epi16(x, 8));

    return _mm256_max_epi8(low, _mm256_max_epi8(middle, high));
}

/** The same of x from -1 on. */
PNV_INLINE __m256i logs_from_minus_1(const Tables *t, __m256i x)
{
    return _mm256_add_epi8(logs(t, _mm256_max_epi16(x, _mm256_setzero_si256())), _mm256_srai_epi16(x, 15));
}

/** Of a codebook of runs by its index, less its part of the length. */
PNV_INLINE __m256i run_part(const Tables *t, __m256i index, __m256i run)
{
    const __m256i x = _mm256_add_epi16(run, look_up(t->run_at, index));

    return _mm256_add_epi8(logs_from_minus_1(t, x), _mm256_subs_epu16(look_up(t->run_112, index), x));
}

/** Length - 3 of a run's code. Runs are less 1 here, also that before, which is index up to 14. */
PNV_INLINE __m256i run_bits(const Tables *t, __m256i index, __m256i run)
{
    return _mm256_add_epi8(run_part(t, index, run), look_up(t->run_length, index));
}

/** Of a magnitude, less 2, at in its codebook. */
PNV_INLINE __m256i level_part(const Tables *t, __m256i at, __m256i less_2)
{
    return logs_from_minus_1(t, _mm256_add_epi16(less_2, at));
}

PNV_INLINE __m256i level_index(const Tables *t, __m256i magnitude)
{
    return _mm256_or_si256(_mm256_min_epu16(magnitude, load(t->nine)), load(t->no_index));
}

PNV_INLINE __m256i level_bits(const Tables *t, __m256i index, __m256i less_2)
{
    return _mm256_add_epi8(level_part(t, look_up(t->level_at, index), less_2), look_up(t->level_length, index));
}

/** What level_bits() is off for a magnitude behind 1. */
PNV_INLINE __m256i off_behind_1(const Tables *t, __m256i magnitude)
{
    return look_up(t->level_202, _mm256_min_epu16(magnitude, load(t->nibble)));
}

/** What does not depend on decisions, of symbol i of each part: of bits and corrections. */
PNV_INLINE void prepare(Parts *parts, const Tables *t, int i)
{
    const __m256i one = load(t->one), two = load(t->two), r0 = load(parts->place[i + HISTORY]);
    const __m256i p0 = _mm256_and_si256(r0, load(t->places));
    const __m256i p1 = _mm256_and_si256(load(parts->place[i + HISTORY + 1]), load(t->places));
    const __m256i p2 = _mm256_and_si256(load(parts->place[i + HISTORY + 2]), load(t->places));
    const __m256i m = _mm256_abs_epi16(load(parts->level[i + HISTORY]));
    const __m256i next = _mm256_abs_epi16(load(parts->level[i + HISTORY + 1])), next_2 = _mm256_sub_epi16(next, two);
    const __m256i next_run = _mm256_sub_epi16(_mm256_sub_epi16(p1, p0), two);
    const __m256i after_run = _mm256_sub_epi16(_mm256_sub_epi16(p2, p1), two);
    const __m256i is_one = _mm256_cmpeq_epi16(m, one), below = _mm256_sub_epi16(m, one);
    const __m256i off = off_behind_1(t, next);
    const __m256i instead = _mm256_blendv_epi8(below, next, is_one);

    const __m256i behind = _mm256_add_epi8(level_bits(t, level_index(t, m), next_2), _mm256_and_si256(off, is_one));
    const __m256i behind_down = _mm256_add_epi8(level_bits(t, level_index(t, below), next_2),
                                                _mm256_and_si256(off, _mm256_cmpeq_epi16(m, two)));
    const __m256i run = _mm256_add_epi8(run_bits(t, _mm256_min_epi16(next_run, load(t->max_run)), after_run),
                                        load(t->four)); /* with the sign of the one that goes */
    const __m256i fixed = _mm256_blendv_epi8(_mm256_sub_epi8(behind, behind_down), _mm256_add_epi8(behind, run),
                                             is_one);
    store(parts->lack[i], _mm256_sub_epi8(_mm256_srli_epi16(r0, PLACE_BITS), fixed));
    store(parts->after_one[i], _mm256_sub_epi8(off_behind_1(t, m), off_behind_1(t, instead)));
}

/** Decide symbol i of each part. Levels are not changed: -1 where one goes down. */
PNV_INLINE __m256i weigh(State *s, const Parts *parts, const Tables *t, int i)
{
    const __m256i one = load(t->one), two = load(t->two);
    const __m256i p0 = _mm256_and_si256(load(parts->place[i + HISTORY]), load(t->places));
    const __m256i p1 = _mm256_and_si256(load(parts->place[i + HISTORY + 1]), load(t->places));
    const __m256i p2 = _mm256_and_si256(load(parts->place[i + HISTORY + 2]), load(t->places));
    const __m256i m = _mm256_abs_epi16(load(parts->level[i + HISTORY]));
    const __m256i next = _mm256_abs_epi16(load(parts->level[i + HISTORY + 1]));
    const __m256i is_one = _mm256_cmpeq_epi16(m, one);
    const __m256i instead = _mm256_blendv_epi8(_mm256_sub_epi16(m, one), next, is_one);
    /* Runs less 1. */
    const __m256i start = _mm256_add_epi16(s->place, two);
    const __m256i run = _mm256_sub_epi16(p0, start), merged = _mm256_sub_epi16(p1, start);
    const __m256i next_run = _mm256_sub_epi16(_mm256_sub_epi16(p1, p0), two);
    const __m256i after_run = _mm256_sub_epi16(_mm256_sub_epi16(p2, p1), two);
    const __m256i run_index = _mm256_min_epi16(run, load(t->max_run));
    const __m256i merged_index = _mm256_min_epi16(merged, load(t->max_run));

    const __m256i at = look_up(t->level_at, s->level);
    const __m256i level = _mm256_add_epi8(
        _mm256_sub_epi8(level_part(t, at, _mm256_sub_epi16(m, two)),
                        level_part(t, at, _mm256_sub_epi16(instead, two))),
        _mm256_and_si256(load(parts->after_one[i]), _mm256_cmpeq_epi16(s->level, load(t->after_one))));
    const __m256i runs = _mm256_add_epi8(
        _mm256_sub_epi8(run_part(t, s->run, run), run_part(t, s->run, merged)),
        _mm256_sub_epi8(run_bits(t, run_index, next_run), run_bits(t, merged_index, after_run)));
    const __m256i saved = _mm256_add_epi8(level, _mm256_and_si256(runs, is_one));
    const __m256i lack = _mm256_cmpgt_epi8(load(parts->lack[i]), saved);
    const __m256i stays = _mm256_srai_epi16(_mm256_slli_epi16(lack, 8), 15);
    const __m256i down = _mm256_xor_si256(stays, _mm256_set1_epi16(-1)), gone = _mm256_and_si256(down, is_one);

    s->place = _mm256_blendv_epi8(p0, s->place, gone);
    s->level = _mm256_blendv_epi8(level_index(t, _mm256_add_epi16(m, down)), s->level, gone);
    s->run = _mm256_blendv_epi8(run_index, s->run, gone);
    return down;
}

/** Lanes one further, the first one is that of first. */
PNV_INLINE __m256i next_lanes(__m256i v, __m256i first)
{
    const __m256i below = _mm256_permute2x128_si256(v, v, 0x08); /* 0, then the lower half */
    const __m256i next = _mm256_alignr_epi8(v, below, 14);

    return _mm256_blend_epi16(next, _mm256_blend_epi32(next, first, 0x01), 0x01);
}

PNV_INLINE int is_same(__m256i a, __m256i b)
{
    return _mm256_movemask_epi8(_mm256_cmpeq_epi16(a, b)) == -1;
}

PNV_INLINE int is_same_state(const State *a, const State *b)
{
    return is_same(a->place, b->place) && is_same(a->level, b->level) && is_same(a->run, b->run);
}

/** All symbols of the list but the last two, n_steps in each part. */
static void weigh_parts(Parts *parts, const List *list, int n_steps)
{
    const Tables *const t = in_memory();
    State first, s;

    for (int i = 0; i < n_steps + 2 * HISTORY; i += 16) {
        transpose(parts->level[i], list->level + LANES - HISTORY + i, n_steps);
        transpose(parts->place[i], list->place + LANES - HISTORY + i, n_steps);
    }
    first.place = _mm256_and_si256(load(parts->place[1]), load(t->places));
    first.level = level_index(t, _mm256_abs_epi16(load(parts->level[1])));
    first.run = _mm256_min_epi16(
        _mm256_sub_epi16(_mm256_sub_epi16(first.place, _mm256_and_si256(load(parts->place[0]), load(t->places))),
                         load(t->two)),
        load(t->max_run));
    s = first;
    for (int i = 0; i < n_steps; i++) {
        prepare(parts, t, i);
        store(parts->down[i], weigh(&s, parts, t, i));
        parts->state[i] = s;
    }
    for (;;) {
        const State last = first;
        first.place = next_lanes(s.place, first.place);
        first.level = next_lanes(s.level, first.level);
        first.run = next_lanes(s.run, first.run);
        if (is_same_state(&first, &last))
            break;
        s = first;
        for (int i = 0; i < n_steps; i++) {
            store(parts->down[i], weigh(&s, parts, t, i));
            if (is_same_state(&s, &parts->state[i]))
                break;
            parts->state[i] = s;
        }
        s = parts->state[n_steps - 1];
    }
}

/** Put those of the first n levels that went down in their places. list: room for them, whatever is there. */
static void put_parts(int16_t *level, List *list, const Parts *parts, int n, int n_steps)
{
    const __m256i begin = _mm256_mullo_epi16(
        _mm256_set1_epi16((short)n_steps),
        _mm256_set_epi16(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    int n_listed = 0;

    for (int i = 0; i < n_steps; i++) {
        const __m256i there = _mm256_cmpgt_epi16(_mm256_set1_epi16((short)(n - i)), begin);
        const __m256i l = load(parts->level[i + HISTORY]), down = _mm256_and_si256(load(parts->down[i]), there);
        const __m256i value = _mm256_sign_epi16(_mm256_add_epi16(_mm256_abs_epi16(l), down), l);
        const __m256i place = load(parts->place[i + HISTORY]);
        const unsigned set = (unsigned)_mm_movemask_epi8(
            _mm_packs_epi16(_mm256_castsi256_si128(down), _mm256_extracti128_si256(down, 1)));
        n_listed = list_8(list, n_listed, _mm256_castsi256_si128(value), _mm256_castsi256_si128(place), set & 0xff);
        n_listed = list_8(list, n_listed, _mm256_extracti128_si256(value, 1), _mm256_extracti128_si256(place, 1),
                          set >> 8);
    }
    for (int i = 0; i < n_listed; i++)
        level[(list->place[i] & ((1 << PLACE_BITS) - 1)) - FIRST] = list->level[i];
}

/* ---- what is left ---- */

static PnvOptimalSymbol symbol(const List *list, int i)
{
    const int l = list->level[LANES + i];

    return (PnvOptimalSymbol){list->place[LANES + i] & ((1 << PLACE_BITS) - 1), l < 0 ? -l : l};
}

/** Symbols from i on, one by one, as pnv_optimal_weigh(). */
static void weigh_singly(int16_t *level, const List *list, int i, PnvOptimalSymbol before, int run_before)
{
    static const PnvCodebook run_books[PNV_RUN_STATES] = PNV_CODEBOOKS_RUN;
    static const PnvCodebook level_books[PNV_LEVEL_STATES] = PNV_CODEBOOKS_LEVEL;
    const PnvOptimalBooks books = {run_books, level_books};

    for (; i < list->n; i++) {
        PnvOptimalSymbol it = symbol(list, i);
        const int need = list->place[LANES + i] >> PLACE_BITS;
        if (pnv_optimal_saved_bits(&books, before, run_before, it, symbol(list, i + 1), symbol(list, i + 2)) >= need) {
            it.magnitude--;
            level[it.position - FIRST] = (int16_t)(list->level[LANES + i] < 0 ? -it.magnitude : it.magnitude);
        }
        if (it.magnitude) {
            run_before = it.position - before.position - 1;
            before = it;
        }
    }
}

void pnv_quant_optimal_avx2(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    PnvOptimalSymbol before = {FIRST - 1, PNV_INITIAL_LEVEL + 1};
    int run_before = PNV_INITIAL_RUN;
    List list;
    Parts parts;

    pnv_quant_avx2(level, coef, n_blocks, quant);
    level += n_blocks;
    coef += n_blocks;
    if (n_blocks == 32)
        list_rows(&list, level, coef, 32, quant);
    else if (n_blocks == 16)
        list_rows(&list, level, coef, 16, quant);
    else if (n_blocks == 8)
        list_rows(&list, level, coef, 8, quant);
    else
        list_singly(&list, level, coef, n_blocks, quant);
    close_list(&list);
    if (list.n < 2 * LANES || list.largest > MAX_LEVEL) {
        weigh_singly(level, &list, 0, before, run_before);
        return;
    }
    const int n = list.n - 2; /* the last two have less behind them */
    const int n_steps = (n + LANES - 1) / LANES, lane = (n - 1) / n_steps;
    weigh_parts(&parts, &list, n_steps);
    const State *s = &parts.state[(n - 1) % n_steps];
    uint16_t place[LANES], magnitude[LANES], run[LANES];
    _mm256_storeu_si256((__m256i *)place, s->place);
    _mm256_storeu_si256((__m256i *)magnitude, s->level);
    _mm256_storeu_si256((__m256i *)run, s->run);
    before = (PnvOptimalSymbol){place[lane], magnitude[lane] & 0xff};
    run_before = (int16_t)run[lane] + 1;
    weigh_singly(level, &list, n, before, run_before);
    put_parts(level, &list, &parts, n, n_steps);
}
