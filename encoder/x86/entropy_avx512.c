/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entropy coding for AVX-512. entropy.c is the definition, codeword.h has the codes.
 *
 * 1. The nonzero AC levels of a unit and their positions are compacted into two lists. Which codebook a symbol takes
 *    depends on the symbol before it, which is now a neighbour in the list.
 * 2. 32 symbols at a time, in 16-bit lanes: runs are differences of positions; codebooks are table permutes on the
 *    previous run and level; a code is a number x and a length,
 *
 *        x = n + 2^exp - escape,  length = last + 2 - exp + 2 * floor(log2 x)
 *
 *    which holds for every n of an exponential Golomb code and, in the other codebooks, for all but the three smallest,
 *    which a second table gives. Where no run or level of a vector passes 32, which is the rule, one table of 128 bytes
 *    has all codes and another their lengths.
 * 3. The codes of run, level and sign merge into one, then four symbols into one 64-bit word, and the words go to the
 *    bit writer. Where a symbol has more than 16 bits or four have more than 57, two symbols make a word, or one.
 */
#include <immintrin.h>
#include <string.h>

#include "codeword.h"
#include "entropy.h"
#include "slice.h"
#include "words.h"

enum {
    LANES = 32,
    MAX_AC = 63 * PNV_MAX_BLOCKS,
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
 * All codes of numbers m up to 32. A set of codebooks says by its state where in the tables m = 0 would be, and what to
 * add to the length that is found there. The tables have three parts: numbers x as they are, from -1 on, of which those
 * below 1 stand for the small codes of (2,0,1) and (1,0,1), all "1" with zeros before it; (1,1,2); and (2,0,2).
 */
enum { MAX_SHORT = 32, PLAIN = 1, PART_112 = 41, PART_202 = 80 };
typedef struct ShortBooks {
    _Alignas(64) int16_t at[LANES], length[LANES];
} ShortBooks;

static const ShortBooks short_run_books = {
    .at = {0, PLAIN - 2, PLAIN - 2, PLAIN - 1, PLAIN - 1, PLAIN, PART_112 - 1, PART_112 - 1, PART_112 - 1, PART_112 - 1,
           PLAIN + 1, PLAIN + 1, PLAIN + 1, PLAIN + 1, PLAIN + 1, PLAIN + 1, PLAIN + 3},
    .length = {0, 3, 3, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0xff /* -1 in the low byte */},
};
static const ShortBooks short_level_books = { /* lengths with the sign */
    .at = {0, PART_202, PLAIN - 1, PLAIN - 2, PLAIN, PLAIN + 1, PLAIN + 1, PLAIN + 1, PLAIN + 1, PLAIN + 3},
    .length = {0, 3, 3, 4, 2, 1, 1, 1, 1, 0},
};

#define LOG_4_TO_7 4, 4, 4, 4
#define LOG_8_TO_15 6, 6, 6, 6, 6, 6, 6, 6
#define LOG_16_TO_31 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8
static const _Alignas(64) int8_t short_bits[128] = {
    1,  1,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
    28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
    2,  3,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
    29, 30, 31, 32, 33, 34, 35, 36, 37, 38,
    0,  1,  1,  1,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
    29, 30, 31, 32,
};
static const _Alignas(64) int8_t short_length[128] = {
    -2, -1, 0, 2, 2, LOG_4_TO_7, LOG_8_TO_15, LOG_16_TO_31, 10, 10, 10, 10, 10, 10, 10, 10,
    1, 1, 2, 2, LOG_4_TO_7, LOG_8_TO_15, LOG_16_TO_31, 10, 10, 10, 10, 10, 10, 10,
    0, -1, 0, 1, LOG_4_TO_7, LOG_8_TO_15, LOG_16_TO_31, 10,
};

PNV_INLINE __m512i look_up(const int8_t table[128], __m512i at)
{
    return _mm512_maskz_permutex2var_epi8(0x5555555555555555, _mm512_load_si512(table), at,
                                          _mm512_load_si512(table + 64));
}

/** m: 1..MAX_SHORT. The length comes from bytes that may be negative; their sum is positive, and in the low byte. */
PNV_INLINE Codes short_code(const ShortBooks *books, __m512i state, __m512i m)
{
    const __m512i at = _mm512_add_epi16(m, _mm512_permutexvar_epi16(state, _mm512_load_si512(books->at)));
    const __m512i length = _mm512_permutexvar_epi16(state, _mm512_load_si512(books->length));

    return (Codes){look_up(short_bits, at), _mm512_add_epi8(length, look_up(short_length, at))};
}

/* ---- symbols ---- */

/** A vector of symbols, each the code a before the code b; together at most 48 bits. */
typedef struct Symbols {
    Codes a, b;
    __m512i length; /**< Of both; 0 in lanes without a symbol. */
} Symbols;

/** Nonzero AC levels of a unit in coding order. Neighbours before the first one are what the format starts with. */
typedef struct List {
    int n;
    int16_t level[LANES + MAX_AC + LANES];
    uint16_t position[LANES + MAX_AC + LANES];
} List;

PNV_INLINE __mmask32 first_lanes(int n)
{
    return n >= LANES ? 0xffffffffu : (1u << n) - 1;
}

static void list_levels(List *list, const int16_t *level, int n)
{
    __m512i position = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12,
                                        11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    int n_listed = LANES;

    list->level[LANES - 1] = PNV_INITIAL_LEVEL + 1;
    list->position[LANES - 1] = (uint16_t)-1;
    list->position[LANES - 2] = (uint16_t)(-1 - (PNV_INITIAL_RUN + 1));
    for (int i = 0; i < n; i += LANES) {
        const __m512i v = n - i >= LANES ? _mm512_loadu_si512(level + i)
                                         : _mm512_maskz_loadu_epi16(first_lanes(n - i), level + i);
        const __mmask32 is_level = _mm512_test_epi16_mask(v, v);
        _mm512_storeu_si512(list->level + n_listed, _mm512_maskz_compress_epi16(is_level, v));
        _mm512_storeu_si512(list->position + n_listed, _mm512_maskz_compress_epi16(is_level, position));
        n_listed += __builtin_popcount(is_level);
        position = _mm512_add_epi16(position, _mm512_set1_epi16(LANES));
    }
    list->n = n_listed - LANES;
}

/** Symbols i .. i + 31 of the list: the run before a level; its magnitude with the sign behind it. */
PNV_INLINE Symbols ac_symbols(const List *list, int i)
{
    const int16_t *l = list->level + LANES + i;
    const uint16_t *p = list->position + LANES + i;
    const __m512i level = _mm512_loadu_si512(l), p1 = _mm512_loadu_si512(p - 1);
    const __m512i run = _mm512_sub_epi16(_mm512_loadu_si512(p), p1); /* run + 1 */
    const __m512i run_before = _mm512_sub_epi16(p1, _mm512_loadu_si512(p - 2));
    const __m512i level_before = _mm512_abs_epi16(_mm512_loadu_si512(l - 1));
    const __m512i magnitude = _mm512_abs_epi16(level);
    const __m512i run_state = _mm512_min_epu16(run_before, _mm512_set1_epi16(PNV_RUN_STATES));
    const __m512i level_state = _mm512_min_epu16(level_before, _mm512_set1_epi16(PNV_LEVEL_STATES));
    const __mmask32 there = first_lanes(list->n - i);
    Symbols s;

    if (_mm512_mask_cmpgt_epu16_mask(there, _mm512_max_epu16(run, magnitude), _mm512_set1_epi16(MAX_SHORT))) {
        s.a = code(&run_books, run_state, run);
        s.b = code(&level_books, level_state, magnitude);
        s.b.length = _mm512_add_epi16(s.b.length, _mm512_set1_epi16(1));
    } else {
        s.a = short_code(&short_run_books, run_state, run);
        s.b = short_code(&short_level_books, level_state, magnitude);
    }
    s.b.bits = _mm512_shldi_epi16(s.b.bits, level, 1);
    s.length = _mm512_maskz_add_epi16(there, s.a.length, s.b.length);
    return s;
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
PNV_INLINE void add_symbols(PnvWords *words, const Symbols *s)
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

size_t pnv_entropy_write_avx512(uint8_t *dst, size_t capacity, const int16_t *level, int n_blocks)
{
    PnvWordWriter w = {.at = dst, .end = dst + capacity};
    uint8_t room[PNV_WORD_ROOM];
    List list;
    PnvWords words;

    list_levels(&list, level + n_blocks, 63 * n_blocks);
    const Symbols dc = dc_symbols(level, n_blocks);
    words.n = 0;
    add_symbols(&words, &dc);
    for (int i = 0; i < list.n; i += LANES) {
        const Symbols ac = ac_symbols(&list, i);
        if (words.n > PNV_MAX_WORDS - LANES) {
            pnv_put_words(&w, &words, room);
            words.n = 0;
        }
        add_symbols(&words, &ac);
    }
    pnv_put_words(&w, &words, room);
    return pnv_put_end(&w, room, dst, capacity);
}

size_t pnv_entropy_bits_avx512(const int16_t *level, int n_blocks)
{
    List list;

    list_levels(&list, level + n_blocks, 63 * n_blocks);
    __m512i sum = dc_symbols(level, n_blocks).length; /* at most 63 * 48 + 31 a lane */
    for (int i = 0; i < list.n; i += LANES)
        sum = _mm512_add_epi16(sum, ac_symbols(&list, i).length);
    return (size_t)_mm512_reduce_add_epi32(_mm512_madd_epi16(sum, _mm512_set1_epi16(1)));
}
