/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entropy coding for AVX-512. entropy.c is the definition, codeword.h has the codes.
 *
 * 1. The nonzero AC levels of a unit and their positions are compacted into two lists of bytes. Which codebook a symbol
 *    takes depends on the symbol before it, which is now a neighbour in the list.
 * 2. 64 symbols at a time, in bytes: runs are differences of positions; codebooks are table look-ups by the run and the
 *    level before; a code is a number x and a length,
 *
 *        x = n + 2^exp - escape,  length = last + 2 - exp + 2 * floor(log2 x)
 *
 *    which holds for every n of an exponential Golomb code and, in the other codebooks, for all but the three smallest.
 * 3. The codes of run, level and sign merge into one, then four symbols into one 64-bit word, and the words go to the
 *    bit writer.
 *
 * Numbers that are too large for bytes take the same way in 16-bit lanes, 32 symbols at a time, and so do symbols of
 * more than 16 bits and four of more than 57: there two symbols make a word, or one.
 */
#include <immintrin.h>
#include <string.h>

#include "codeword.h"
#include "entropy.h"
#include "slice.h"
#include "words.h"

enum {
    OR_AND = 0xf8, /**< _mm512_ternarylogic_epi32: a | b & c. */
    LANES = 32,   /**< Of 16 bits. */
    SYMBOLS = 64, /**< Lanes of bytes. */
    MAX_AC = 63 * PNV_MAX_BLOCKS,
    MAX_NUMBER = 123, /**< That bytes code: x of code_bytes() has 7 bits. */
};

/* ---- codes ---- */

/**
 * A set of codebooks by the state that selects one. The number to code comes as m = n + bias of its set, and
 * x = m + add; length counts from 2 * 15, of which twice the leading zeros of the 16-bit x are taken away. The smallest
 * numbers, m < small, are taken from the table of small codes at m + first.
 */
typedef struct Books {
    _Alignas(64) int16_t add[LANES], length[LANES], small[LANES], first[LANES];
} Books;

/* Small codes: of (2,0,1), (2,0,2) and (1,0,1) from 0, of (1,1,2) from 3, of (1,2,3) from 5. */
static const _Alignas(64) int16_t small_bits[LANES] = {1, 1, 1, 2, 3, 4, 5, 6, 7};
static const _Alignas(64) int16_t small_length[LANES] = {1, 2, 3, 2, 2, 3, 3, 3, 3};

/* PNV_CODEBOOKS_RUN by the run before + 1, of a run + 1: (2,0,1) x2, (1,0,1) x2, EG(0), (1,1,2) x4, EG(1) x6, EG(2). */
static const Books run_books = {
    .add = {0, -2, -2, -1, -1, 0, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 3},
    .length = {0, 33, 33, 32, 32, 31, 31, 31, 31, 31, 30, 30, 30, 30, 30, 30, 29},
    .small = {0, 3, 3, 2, 2, 0, 3, 3, 3, 3},
    .first = {0, -1, -1, -1, -1, 0, 2, 2, 2, 2},
};
/* PNV_CODEBOOKS_LEVEL by the magnitude before, of a magnitude: (2,0,2), (1,0,1), (2,0,1), EG(0), EG(1) x4, EG(2). */
static const Books level_books = {
    .add = {0, 0, -1, -2, 0, 1, 1, 1, 1, 3},
    .length = {0, 32, 32, 33, 31, 30, 30, 30, 30, 29},
    .small = {0, 4, 2, 3},
    .first = {0, -1, -1, -1},
};
/* PNV_CODEBOOKS_DC by the difference before, then the one of the first: EG(0), EG(1), (1,2,3), EG(3); EG(5). */
enum { DC_FIRST = 4 };
static const Books dc_books = {
    .add = {1, 2, 0, 8, 32},
    .length = {31, 30, 30, 28, 26},
    .small = {0, 0, 4},
    .first = {0, 0, 5},
};

/** One code in each lane: the low length bits of bits. */
typedef struct Codes {
    __m512i bits, length;
} Codes;

/** Leading zeros of 16-bit lanes, none of which is 0. */
PNV_INLINE __m512i leading_zeros(__m512i x)
{
    const __m512i high = _mm512_lzcnt_epi32(x), low = _mm512_lzcnt_epi32(_mm512_slli_epi32(x, 16));

    return _mm512_mask_blend_epi16(0xaaaaaaaa, low, _mm512_slli_epi32(high, 16));
}

PNV_INLINE Codes code(const Books *books, __m512i state, __m512i m)
{
    const __m512i x = _mm512_add_epi16(m, _mm512_permutexvar_epi16(state, _mm512_load_si512(books->add)));
    const __m512i length = _mm512_permutexvar_epi16(state, _mm512_load_si512(books->length));
    const __m512i small = _mm512_permutexvar_epi16(state, _mm512_load_si512(books->small));
    const __m512i first = _mm512_permutexvar_epi16(state, _mm512_load_si512(books->first));
    const __mmask32 is_small = _mm512_cmplt_epu16_mask(m, small);
    const __m512i at = _mm512_add_epi16(m, first);

    return (Codes){
        .bits = _mm512_mask_permutexvar_epi16(x, is_small, at, _mm512_load_si512(small_bits)),
        .length = _mm512_mask_permutexvar_epi16(
            _mm512_sub_epi16(length, _mm512_slli_epi16(leading_zeros(x), 1)), is_small, at,
            _mm512_load_si512(small_length)),
    };
}

/*
 * The same in bytes, of numbers m up to MAX_NUMBER: length counts from twice the logarithm of x, which goes down to -1.
 * The small codes of (2,0,1) and (1,0,1) are all "1" with zeros before it and have a logarithm for x below 1; those of
 * (1,1,2) and (2,0,2) are below special.
 */
typedef struct ByteBooks {
    _Alignas(64) int8_t add[SYMBOLS], length[SYMBOLS], special[SYMBOLS];
} ByteBooks;

/*
 * Tables and constants are read where they are: the compiler would make them anew in every turn of the loop, out of
 * more instructions than the codes take.
 */
typedef struct Tables {
    ByteBooks run, level;
    int8_t twice_log[2 * SYMBOLS]; /**< Twice the logarithm of x; -1 is at 127. */
    int8_t run_states[SYMBOLS], level_states[SYMBOLS], max_number[SYMBOLS], max_length[SYMBOLS];
    int8_t one[SYMBOLS], two[SYMBOLS];
    int16_t one_16[LANES], low_8[LANES];
    int32_t low_16[LANES / 2], max_word[LANES / 2];
} Tables;

#define TIMES_4(x) x, x, x, x
#define TIMES_16(x) TIMES_4(x), TIMES_4(x), TIMES_4(x), TIMES_4(x)
#define TIMES_32(x) TIMES_16(x), TIMES_16(x)
#define TIMES_64(x) TIMES_32(x), TIMES_32(x)
static const Tables constant_tables = {
    .run = {
        .add = {0, -2, -2, -1, -1, 0, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 3},
        .length = {0, 3, 3, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, -1},
        .special = {0, 0, 0, 0, 0, 0, 3, 3, 3, 3},
    },
    .level = { /* lengths with the sign */
        .add = {0, 0, -1, -2, 0, 1, 1, 1, 1, 3},
        .length = {0, 3, 3, 4, 2, 1, 1, 1, 1, 0},
        .special = {0, 4},
    },
    .twice_log = {
        -1, 0, 2, 2, TIMES_4(4), TIMES_4(6), TIMES_4(6), TIMES_16(8), TIMES_16(10), TIMES_16(10),
        TIMES_16(12), TIMES_16(12), TIMES_16(12), TIMES_4(12), TIMES_4(12), TIMES_4(12), 12, 12, 12, -2,
    },
    .run_states = {TIMES_64(PNV_RUN_STATES)},
    .level_states = {TIMES_64(PNV_LEVEL_STATES)},
    .max_number = {TIMES_64(MAX_NUMBER)},
    .max_length = {TIMES_64(16)},
    .one = {TIMES_64(1)},
    .two = {TIMES_64(2)},
    .one_16 = {TIMES_32(1)},
    .low_8 = {TIMES_32(0xff)},
    .low_16 = {TIMES_16(0xffff)},
    .max_word = {TIMES_16(57)},
};

/** Hides from the compiler that they are constant. */
PNV_INLINE const Tables *in_memory(void)
{
    const Tables *t = &constant_tables;

    __asm__("" : "+r"(t));
    return t;
}

PNV_INLINE __m512i load(const void *table)
{
    return _mm512_load_si512(table);
}

PNV_INLINE __m512i look_up(const int8_t table[SYMBOLS], __m512i at)
{
    return _mm512_permutexvar_epi8(at, load(table));
}

/** x below 1 stands for 1. Where codes are special, neither is right yet. */
typedef struct ByteCode {
    __m512i x, length;
    __mmask64 is_special; /**< Of the lanes there. */
} ByteCode;

PNV_INLINE ByteCode code_bytes(const Tables *t, const ByteBooks *books, __mmask64 there, __m512i state, __m512i m)
{
    const __m512i x = _mm512_add_epi8(m, look_up(books->add, state));
    const __m512i log = _mm512_permutex2var_epi8(load(t->twice_log), x, load(t->twice_log + SYMBOLS));

    return (ByteCode){
        .x = x,
        .length = _mm512_add_epi8(log, look_up(books->length, state)),
        .is_special = _mm512_mask_cmplt_epu8_mask(there, m, look_up(books->special, state)),
    };
}

/* ---- symbols ---- */

/** A vector of symbols in 16-bit lanes, each the code a before the code b; together at most 48 bits. */
typedef struct Symbols {
    Codes a, b;
    __m512i length; /**< Of both; 0 in lanes without a symbol. */
} Symbols;

/** Nonzero AC levels of a unit in coding order. Neighbours before the first one are what the format starts with. */
typedef struct List {
    int n;
    int has_bytes;                                /**< Whether all runs fit bytes. */
    int has_wide;                                 /**< Whether the wide list has been made. */
    int8_t level[SYMBOLS + MAX_AC + SYMBOLS];     /**< As near as bytes come; zeros behind the last one. */
    uint8_t position[SYMBOLS + MAX_AC + SYMBOLS]; /**< Modulo 256. */
    uint64_t set[MAX_AC / SYMBOLS + 1];           /**< A bit for each level that is not zero. */
    int16_t wide_level[LANES + MAX_AC + LANES];
    uint16_t wide_position[LANES + MAX_AC + LANES];
} List;

PNV_INLINE __mmask32 first_lanes(int n)
{
    return n >= LANES ? 0xffffffffu : n > 0 ? (1u << n) - 1 : 0;
}

PNV_INLINE __mmask64 first_bytes(int n)
{
    return _bzhi_u64(~(uint64_t)0, n < SYMBOLS ? (unsigned)n : SYMBOLS);
}

PNV_INLINE __m512i load_levels(const int16_t *level, int n)
{
    return n >= LANES ? _mm512_loadu_si512(level) : _mm512_maskz_loadu_epi16(first_lanes(n), level);
}

static void list_levels(List *list, const int16_t *level, int n)
{
    static const _Alignas(64) uint8_t first_positions[SYMBOLS] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    };
    const __m512i in_order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    __m512i position = _mm512_load_si512(first_positions);
    int n_listed = SYMBOLS;
    uint64_t empty = 0; /* A bit for each vector, the last one lowest. */

    list->level[SYMBOLS - 1] = PNV_INITIAL_LEVEL + 1;
    list->position[SYMBOLS - 1] = (uint8_t)-1;
    list->position[SYMBOLS - 2] = (uint8_t)(-1 - (PNV_INITIAL_RUN + 1));
    for (int i = 0; i < n; i += SYMBOLS) {
        const __m512i a = load_levels(level + i, n - i), b = load_levels(level + i + LANES, n - i - LANES);
        const __m512i v = _mm512_permutexvar_epi64(in_order, _mm512_packs_epi16(a, b));
        const __mmask64 set = _mm512_test_epi8_mask(v, v);
        _mm512_storeu_si512(list->level + n_listed, _mm512_maskz_compress_epi8(set, v));
        _mm512_storeu_si512(list->position + n_listed, _mm512_maskz_compress_epi8(set, position));
        list->set[i / SYMBOLS] = set;
        empty = empty << 1 | !set;
        n_listed += __builtin_popcountll(set);
        position = _mm512_add_epi8(position, _mm512_set1_epi8(SYMBOLS));
    }
    _mm512_storeu_si512(list->level + n_listed, _mm512_setzero_si512()); /* no signs behind the last one */
    list->n = n_listed - SYMBOLS;
    list->has_wide = 0;
    /* A difference of positions of more than a byte has three vectors without a level in it. */
    empty >>= __builtin_ctzll(~empty);
    list->has_bytes = !(empty & empty >> 1 & empty >> 2);
}

/** The list once more in 16 bits. */
static __attribute__((noinline)) void list_wide(List *list, const int16_t *level, int n)
{
    const __m512i lane = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                                          12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    int n_listed = LANES;

    list->wide_level[LANES - 1] = PNV_INITIAL_LEVEL + 1;
    list->wide_position[LANES - 1] = (uint16_t)-1;
    list->wide_position[LANES - 2] = (uint16_t)(-1 - (PNV_INITIAL_RUN + 1));
    for (int i = 0; i < n; i += LANES) {
        const __mmask32 set = (__mmask32)(list->set[i / SYMBOLS] >> i % SYMBOLS);
        if (!set)
            continue;
        const __m512i v = load_levels(level + i, n - i);
        const __m512i position = _mm512_add_epi16(lane, _mm512_set1_epi16((short)i));
        _mm512_storeu_si512(list->wide_level + n_listed, _mm512_maskz_compress_epi16(set, v));
        _mm512_storeu_si512(list->wide_position + n_listed, _mm512_maskz_compress_epi16(set, position));
        n_listed += __builtin_popcount(set);
    }
    list->has_wide = 1;
}

/** Symbols i .. i + 31 of the wide list: the run before a level; its magnitude with the sign behind it. */
PNV_INLINE Symbols wide_symbols(const List *list, int i)
{
    const int16_t *l = list->wide_level + LANES + i;
    const uint16_t *p = list->wide_position + LANES + i;
    const __m512i level = _mm512_loadu_si512(l), p1 = _mm512_loadu_si512(p - 1);
    const __m512i run = _mm512_sub_epi16(_mm512_loadu_si512(p), p1); /* run + 1 */
    const __m512i run_before = _mm512_sub_epi16(p1, _mm512_loadu_si512(p - 2));
    const __m512i level_before = _mm512_abs_epi16(_mm512_loadu_si512(l - 1));
    const __m512i run_state = _mm512_min_epu16(run_before, _mm512_set1_epi16(PNV_RUN_STATES));
    const __m512i level_state = _mm512_min_epu16(level_before, _mm512_set1_epi16(PNV_LEVEL_STATES));
    Symbols s = {.a = code(&run_books, run_state, run), .b = code(&level_books, level_state, _mm512_abs_epi16(level))};

    s.b.length = _mm512_add_epi16(s.b.length, _mm512_set1_epi16(1));
    s.b.bits = _mm512_shldi_epi16(s.b.bits, level, 1);
    s.length = _mm512_maskz_add_epi16(first_lanes(list->n - i), s.a.length, s.b.length);
    return s;
}

/** A vector of symbols in bytes: the code a, then b of b_length bits. Without a symbol all but b_length is 0. */
typedef struct ByteSymbols {
    __m512i a, b, b_length, length;
} ByteSymbols;

/** Symbols i .. i + 63 of the list. 0 if one is too large for this. */
PNV_INLINE int ac_symbols(ByteSymbols *s, const Tables *t, const List *list, int i)
{
    const int8_t *l = list->level + SYMBOLS + i;
    const uint8_t *p = list->position + SYMBOLS + i;
    const __m512i level = _mm512_loadu_si512(l), p1 = _mm512_loadu_si512(p - 1), one = load(t->one);
    const __m512i run = _mm512_sub_epi8(_mm512_loadu_si512(p), p1), magnitude = _mm512_abs_epi8(level);
    const __m512i run_before = _mm512_sub_epi8(p1, _mm512_loadu_si512(p - 2));
    const __m512i level_before = _mm512_abs_epi8(_mm512_loadu_si512(l - 1));
    const __mmask64 there = first_bytes(list->n - i);

    if (_mm512_mask_cmpgt_epu8_mask(there, _mm512_max_epu8(run, magnitude), load(t->max_number)))
        return 0;
    const ByteCode a = code_bytes(t, &t->run, there, _mm512_min_epu8(run_before, load(t->run_states)), run);
    const ByteCode b = code_bytes(t, &t->level, there, _mm512_min_epu8(level_before, load(t->level_states)),
                                  magnitude);
    /* Special: of (1,1,2), m = 1 and 2 are "10" and "11"; of (2,0,2), m up to 3 is "1" behind m - 1 zeros. */
    const __m512i two = load(t->two);
    const __m512i a_length = _mm512_mask_mov_epi8(a.length, a.is_special, two);
    const __m512i b_bits = _mm512_mask_mov_epi8(_mm512_maskz_max_epi8(there, b.x, one), b.is_special, one);
    s->a = _mm512_mask_add_epi8(_mm512_maskz_max_epi8(there, a.x, one), a.is_special, a.x, two);
    s->b_length = _mm512_mask_add_epi8(b.length, b.is_special, magnitude, one);
    s->b = _mm512_ternarylogic_epi32(_mm512_add_epi8(b_bits, b_bits), _mm512_srli_epi16(level, 7), one, OR_AND);
    s->length = _mm512_maskz_add_epi8(there, a_length, s->b_length);
    return 1;
}

/** The DC of up to 32 blocks. */
PNV_INLINE Symbols dc_symbols(const int16_t *dc, int n_blocks)
{
    const __mmask32 there = first_lanes(n_blocks);
    const __m512i lane_before = _mm512_set_epi16(30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                                                 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0);
    const __m512i v = _mm512_maskz_loadu_epi16(there, dc);
    const __m512i diff = _mm512_sub_epi16(v, _mm512_maskz_permutexvar_epi16(~1u, lane_before, v));
    const __m512i initial = _mm512_set1_epi16(PNV_INITIAL_DC_DIFF);
    const __m512i before = _mm512_mask_permutexvar_epi16(initial, ~3u, lane_before, diff);
    const __m512i turned = _mm512_mask_sub_epi16(diff, _mm512_movepi16_mask(before), _mm512_setzero_si512(), diff);
    const __m512i folded = _mm512_xor_si512(_mm512_slli_epi16(turned, 1), _mm512_srai_epi16(turned, 15));
    const __m512i state = _mm512_mask_mov_epi16(
        _mm512_min_epu16(_mm512_abs_epi16(before), _mm512_set1_epi16(PNV_DC_STATES - 1)), 1,
        _mm512_set1_epi16(DC_FIRST));
    Symbols s = {.a = {_mm512_setzero_si512(), _mm512_setzero_si512()}};

    s.b = code(&dc_books, state, folded);
    s.length = _mm512_maskz_mov_epi16(there, s.b.length);
    return s;
}

/* ---- symbols to words ---- */

/** One symbol a word. For what hardly ever happens. */
static __attribute__((noinline)) void add_singly(PnvWords *words, const Symbols *s)
{
    uint16_t a[LANES], b[LANES], b_length[LANES], length[LANES];

    _mm512_storeu_si512(a, s->a.bits);
    _mm512_storeu_si512(b, s->b.bits);
    _mm512_storeu_si512(b_length, s->b.length);
    _mm512_storeu_si512(length, s->length);
    for (int i = 0; i < LANES && length[i]; i++) {
        words->bits[words->n] = (uint64_t)a[i] << b_length[i] | b[i];
        words->length[words->n++] = (uint8_t)length[i];
    }
    for (; words->n % 4; words->n++)
        words->length[words->n] = 0, words->bits[words->n] = 0;
}

/** Two symbols a word: each has at most 28 bits. */
static __attribute__((noinline)) void add_pairs(PnvWords *words, const Symbols *s)
{
    const __m512i low = _mm512_set1_epi32(0xffff);
    /* 32-bit lanes: the first symbol of each pair is in the low half of a lane, the second in the high one. */
    const __mmask32 there = _mm512_test_epi16_mask(s->length, s->length);
    const __m512i a = _mm512_maskz_mov_epi16(there, s->a.bits), b = _mm512_maskz_mov_epi16(there, s->b.bits);
    const __m512i first = _mm512_or_si512(
        _mm512_sllv_epi32(_mm512_and_si512(a, low), _mm512_and_si512(s->b.length, low)), _mm512_and_si512(b, low));
    const __m512i second = _mm512_or_si512(
        _mm512_sllv_epi32(_mm512_srli_epi32(a, 16), _mm512_srli_epi32(s->b.length, 16)), _mm512_srli_epi32(b, 16));
    const __m512i second_length = _mm512_srli_epi32(s->length, 16);
    const __m512i length = _mm512_add_epi32(_mm512_and_si512(s->length, low), second_length);
    /* 64-bit lanes: the first eight pairs, then the others. */
    for (int half = 0; half < 2; half++) {
        const __m512i f = _mm512_cvtepu32_epi64(half ? _mm512_extracti64x4_epi64(first, 1)
                                                     : _mm512_castsi512_si256(first));
        const __m512i g = _mm512_cvtepu32_epi64(half ? _mm512_extracti64x4_epi64(second, 1)
                                                     : _mm512_castsi512_si256(second));
        const __m512i l = _mm512_cvtepu32_epi64(half ? _mm512_extracti64x4_epi64(second_length, 1)
                                                     : _mm512_castsi512_si256(second_length));
        _mm512_storeu_si512(words->bits + words->n + 8 * half, _mm512_or_si512(_mm512_sllv_epi64(f, l), g));
    }
    _mm_storeu_si128((__m128i *)(words->length + words->n), _mm512_cvtepi32_epi8(length));
    words->n += LANES / 2;
}

/** Four symbols a word where they fit. */
static __attribute__((noinline)) void add_wide(PnvWords *words, const Symbols *s)
{
    /* Two neighbours into 32-bit lanes, then two of those into 64-bit lanes; the first one is the lower. */
    const __m512i word = _mm512_or_si512(_mm512_sllv_epi16(s->a.bits, s->b.length), s->b.bits);
    const __m512i bits16 = _mm512_maskz_mov_epi16(_mm512_test_epi16_mask(s->length, s->length), word);
    const __m512i bits32 = _mm512_or_si512(
        _mm512_sllv_epi32(_mm512_and_si512(bits16, _mm512_set1_epi32(0xffff)), _mm512_srli_epi32(s->length, 16)),
        _mm512_srli_epi32(bits16, 16));
    const __m512i length32 = _mm512_madd_epi16(s->length, _mm512_set1_epi16(1));
    const __m512i bits64 = _mm512_or_si512(
        _mm512_sllv_epi64(_mm512_and_si512(bits32, _mm512_set1_epi64(0xffffffff)), _mm512_srli_epi64(length32, 32)),
        _mm512_srli_epi64(bits32, 32));
    const __m512i length64 = _mm512_add_epi64(_mm512_and_si512(length32, _mm512_set1_epi64(0xffffffff)),
                                              _mm512_srli_epi64(length32, 32));

    if (_mm512_cmpgt_epu16_mask(s->length, _mm512_set1_epi16(16)) |
        _mm512_cmpgt_epu64_mask(length64, _mm512_set1_epi64(57))) {
        if (_mm512_cmpgt_epu16_mask(s->length, _mm512_set1_epi16(28)))
            add_singly(words, s);
        else
            add_pairs(words, s);
        return;
    }
    _mm512_storeu_si512(words->bits + words->n, bits64);
    _mm_storel_epi64((__m128i *)(words->length + words->n), _mm512_cvtepi64_epi8(length64));
    words->n += LANES / 4;
}

/** As add_wide() of 64 symbols. 0 where they do not fit. */
PNV_INLINE int add_symbols(PnvWords *words, const Tables *t, const ByteSymbols *s)
{
    const __m512i pair_length = _mm512_maddubs_epi16(s->length, load(t->one));
    const __m512i length = _mm512_madd_epi16(pair_length, load(t->one_16));

    if (_mm512_cmpgt_epu8_mask(s->length, load(t->max_length)) |
        _mm512_cmpgt_epu32_mask(length, load(t->max_word)))
        return 0;
    /* The first of two neighbours is the lower one. Each step takes the even lanes, then the odd ones, to lanes of
     * twice their width. */
    const __mmask64 even = 0x5555555555555555;
    const __m512i low_8 = load(t->low_8), low_16 = load(t->low_16);
    const __m512i even_16 = _mm512_ternarylogic_epi32(
        _mm512_sllv_epi16(_mm512_and_si512(s->a, low_8), _mm512_and_si512(s->b_length, low_8)), s->b, low_8, OR_AND);
    const __m512i odd_16 = _mm512_or_si512(
        _mm512_sllv_epi16(_mm512_srli_epi16(s->a, 8), _mm512_srli_epi16(s->b_length, 8)), _mm512_srli_epi16(s->b, 8));
    const __m512i even_32 = _mm512_ternarylogic_epi32(
        _mm512_sllv_epi32(_mm512_and_si512(even_16, low_16), _mm512_maskz_srli_epi16((__mmask32)even, s->length, 8)),
        odd_16, low_16, OR_AND);
    const __m512i odd_32 = _mm512_or_si512(
        _mm512_sllv_epi32(_mm512_srli_epi32(even_16, 16), _mm512_srli_epi32(s->length, 24)),
        _mm512_srli_epi32(odd_16, 16));
    const __m512i even_64 = _mm512_sllv_epi64(_mm512_maskz_mov_epi32((__mmask16)even, even_32),
                                              _mm512_maskz_srli_epi32((__mmask16)even, pair_length, 16));
    const __m512i bits[2] = {
        _mm512_mask_or_epi32(even_64, (__mmask16)even, even_64, odd_32),
        _mm512_or_si512(_mm512_sllv_epi64(_mm512_srli_epi64(even_32, 32), _mm512_srli_epi64(pair_length, 48)),
                        _mm512_srli_epi64(odd_32, 32)),
    };
    _mm512_storeu_si512(words->bits + words->n,
                        _mm512_permutex2var_epi64(bits[0], _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), bits[1]));
    _mm512_storeu_si512(words->bits + words->n + 8,
                        _mm512_permutex2var_epi64(bits[0], _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4), bits[1]));
    _mm_storeu_si128((__m128i *)(words->length + words->n), _mm512_cvtepi32_epi8(length));
    words->n += SYMBOLS / 4;
    return 1;
}

/** Symbols i .. i + 63 from the wide list, which is made when it is first needed. level: all AC of the unit. */
static __attribute__((noinline)) void add_from_wide(PnvWords *words, List *list, int i, const int16_t *level, int n)
{
    const int end = i + SYMBOLS < list->n ? i + SYMBOLS : list->n;

    if (!list->has_wide)
        list_wide(list, level, n);
    for (; i < end; i += LANES) {
        const Symbols s = wide_symbols(list, i);
        add_wide(words, &s);
    }
}

size_t pnv_entropy_write_avx512(uint8_t *dst, size_t capacity, const int16_t *level, int n_blocks)
{
    const int16_t *const ac = level + n_blocks;
    const int n_ac = 63 * n_blocks;
    const Tables *const t = in_memory();
    PnvWordWriter w = {.at = dst, .end = dst + capacity};
    uint8_t room[PNV_WORD_ROOM];
    List list;
    PnvWords words;

    list_levels(&list, ac, n_ac);
    const Symbols dc = dc_symbols(level, n_blocks);
    words.n = 0;
    add_wide(&words, &dc);
    for (int i = 0; i < list.n; i += SYMBOLS) {
        ByteSymbols s;
        if (words.n > PNV_MAX_WORDS - SYMBOLS) {
            pnv_put_words(&w, &words, room);
            words.n = 0;
        }
        if (!list.has_bytes || !ac_symbols(&s, t, &list, i) || !add_symbols(&words, t, &s))
            add_from_wide(&words, &list, i, ac, n_ac);
    }
    pnv_put_words(&w, &words, room);
    return pnv_put_end(&w, room, dst, capacity);
}

/** Bits of symbols i .. i + 63. */
static __attribute__((noinline)) size_t bits_from_wide(List *list, int i, const int16_t *level, int n)
{
    const __m512i one = _mm512_set1_epi16(1);

    if (!list->has_wide)
        list_wide(list, level, n);
    const __m512i length = _mm512_add_epi16(wide_symbols(list, i).length, wide_symbols(list, i + LANES).length);
    return (size_t)_mm512_reduce_add_epi32(_mm512_madd_epi16(length, one));
}

size_t pnv_entropy_bits_avx512(const int16_t *level, int n_blocks)
{
    const int16_t *const ac = level + n_blocks;
    const int n_ac = 63 * n_blocks;
    const Tables *const t = in_memory();
    List list;

    list_levels(&list, ac, n_ac);
    __m512i sum = _mm512_sad_epu8(dc_symbols(level, n_blocks).length, _mm512_setzero_si512());
    size_t bits = 0;
    for (int i = 0; i < list.n; i += SYMBOLS) {
        ByteSymbols s;
        if (list.has_bytes && ac_symbols(&s, t, &list, i))
            sum = _mm512_add_epi64(sum, _mm512_sad_epu8(s.length, _mm512_setzero_si512()));
        else
            bits += bits_from_wide(&list, i, ac, n_ac);
    }
    return bits + (size_t)_mm512_reduce_add_epi64(sum);
}
