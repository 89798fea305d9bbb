/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entropy coding for AVX2. entropy.c is the definition, codeword.h has the codes; entropy_avx512.c tells the way in
 * wider vectors: list the nonzero levels with their positions, build codes in lanes from tables that the symbols before
 * select, merge them into words, write these.
 *
 * Here the list is made by a table of byte shuffles, codes are built in bytes, 32 at a time, and shifts by lane are
 * multiplications by powers of two. Vectors with a number that is too large for this, or with a symbol of more than 16
 * bits or four of more than 57, are coded one symbol after the other.
 */
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#include "codeword.h"
#include "compact.h"
#include "entropy.h"
#include "vectors.h"
#include "words.h"

enum {
    LANES = 32,
    MAX_AC = 63 * PNV_MAX_BLOCKS,
    MAX_RUN = 251, MAX_DC = 223, /* The largest numbers that vectors code: x of code() has 8 bits. */
};

/** Nonzero AC levels of a unit in coding order. Neighbours before the first one are what the format starts with. */
typedef struct List {
    int n;
    int has_position;
    uint16_t both[LANES + MAX_AC + LANES];     /**< A level, and above it the lowest byte of its position. */
    int8_t level[LANES + MAX_AC + LANES];      /**< Up to 127. */
    uint8_t run[LANES + MAX_AC + LANES];       /**< Before the level, and 1; 255 for all that is more. */
    uint16_t position[LANES + MAX_AC + LANES]; /**< Only if has_position: if some run is that long. */
} List;

/** Appends those of 16 levels in bytes that are at places in them. Returns where the list goes on. */
PNV_INLINE size_t list_at(List *list, size_t n_listed, __m128i level, __m128i places, size_t set, __m128i position)
{
    _mm_storeu_si128((__m128i *)(list->both + n_listed),
                     _mm_unpacklo_epi8(_mm_shuffle_epi8(level, places), _mm_add_epi8(places, position)));
    return n_listed + (size_t)__builtin_popcountll(set);
}

/** Appends what is not zero of 16 levels in bytes. position: of the first one. */
PNV_INLINE size_t list_16(List *list, size_t n_listed, __m128i level, __m128i position)
{
    const size_t set = 0xffff & ~(size_t)_mm_movemask_epi8(_mm_cmpeq_epi8(level, _mm_setzero_si128()));
    const __m128i low = _mm_loadl_epi64((const __m128i *)&pnv_set_bits[set & 0xff]);
    const __m128i high = _mm_loadl_epi64((const __m128i *)&pnv_set_bits[set >> 8]);

    n_listed = list_at(list, n_listed, level, low, set & 0xff, position);
    return list_at(list, n_listed, level, _mm_add_epi8(high, _mm_set1_epi8(8)), set >> 8, position);
}

/** n without zeros at the end, except for some of the last 32. */
PNV_INLINE int without_zeros(const int16_t *level, int n)
{
    while (n >= 32) {
        const __m256i v = _mm256_or_si256(_mm256_loadu_si256((const __m256i *)(level + n - 32)),
                                          _mm256_loadu_si256((const __m256i *)(level + n - 16)));
        if (!_mm256_testz_si256(v, v))
            break;
        n -= 32;
    }
    return n;
}

/** 16-bit lanes of two vectors, none above 255, to bytes. */
PNV_INLINE __m256i to_bytes(__m256i a, __m256i b)
{
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(a, b), 0xd8);
}

PNV_INLINE __m256i load_unaligned(const void *at)
{
    return _mm256_loadu_si256(at);
}

/** Levels, and runs by their lowest bytes. Returns the sum of these. */
static uint64_t split(List *list)
{
    const __m256i low = _mm256_set1_epi16(0xff);
    __m256i sum = _mm256_setzero_si256();

    for (int i = LANES; i < LANES + list->n; i += LANES) {
        const __m256i a = load_unaligned(list->both + i), b = load_unaligned(list->both + i + 16);
        const __m256i a_run = _mm256_sub_epi8(a, load_unaligned(list->both + i - 1));
        const __m256i b_run = _mm256_sub_epi8(b, load_unaligned(list->both + i + 15));
        const __m256i run = to_bytes(_mm256_srli_epi16(a_run, 8), _mm256_srli_epi16(b_run, 8));
        _mm256_storeu_si256((__m256i *)(list->run + i), run);
        _mm256_storeu_si256((__m256i *)(list->level + i),
                            to_bytes(_mm256_and_si256(a, low), _mm256_and_si256(b, low)));
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(run, _mm256_setzero_si256()));
    }
    return pnv_sum_of_4(sum);
}

/** Positions of n levels, and from them the runs again. */
static __attribute__((noinline)) void list_positions(List *list, const int16_t *level, int n)
{
    uint16_t *p = list->position + LANES;
    int i = 0;

    for (; i + 16 <= n; i += 16) {
        const __m128i bytes = _mm_packs_epi16(_mm_loadu_si128((const __m128i *)(level + i)),
                                              _mm_loadu_si128((const __m128i *)(level + i + 8)));
        const __m128i is_zero = _mm_cmpeq_epi8(bytes, _mm_setzero_si128());
        for (unsigned set = 0xffff & ~(unsigned)_mm_movemask_epi8(is_zero); set; set &= set - 1)
            *p++ = (uint16_t)(i + __builtin_ctz(set));
    }
    for (; i < n; i++) {
        if (level[i])
            *p++ = (uint16_t)i;
    }
    list->position[LANES - 1] = (uint16_t)-1;
    for (i = LANES; i < LANES + list->n; i += LANES) {
        const uint16_t *at = list->position + i;
        const __m256i a = _mm256_sub_epi16(load_unaligned(at), load_unaligned(at - 1));
        const __m256i b = _mm256_sub_epi16(load_unaligned(at + 16), load_unaligned(at + 15));
        _mm256_storeu_si256((__m256i *)(list->run + i), to_bytes(a, b));
    }
    list->has_position = 1;
}

/** Position of symbol i - 1. */
static int position_before(const List *list, int i)
{
    __m256i sum = _mm256_setzero_si256();

    if (list->has_position)
        return (int16_t)list->position[LANES + i - 1];
    for (int k = LANES; k < LANES + i; k += LANES)
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(load_unaligned(list->run + k), _mm256_setzero_si256()));
    return (int)pnv_sum_of_4(sum) - 1;
}

static void list_levels(List *list, const int16_t *level, int n_all)
{
    const int n = without_zeros(level, n_all);
    __m128i position = _mm_setzero_si128();
    size_t n_listed = LANES;
    int i = 0;

    for (; i + 16 <= n; i += 16) {
        const __m128i bytes = _mm_packs_epi16(_mm_loadu_si128((const __m128i *)(level + i)),
                                              _mm_loadu_si128((const __m128i *)(level + i + 8)));
        n_listed = list_16(list, n_listed, bytes, position);
        position = _mm_add_epi8(position, _mm_set1_epi8(16));
    }
    if (i < n) { /* 63 rows of less than 16 blocks are no multiple of 16 */
        __m128i v[2] = {_mm_setzero_si128(), _mm_setzero_si128()};
        memcpy(v, level + i, (size_t)(n - i) * sizeof *level);
        n_listed = list_16(list, n_listed, _mm_packs_epi16(v[0], v[1]), position);
    }
    list->n = (int)n_listed - LANES;
    list->has_position = 0;
    list->both[LANES - 1] = 0xff << 8 | (PNV_INITIAL_LEVEL + 1); /* at -1 */
    /* Behind the last one, no runs. */
    const __m256i last = _mm256_set1_epi16((short)list->both[n_listed - 1]);
    _mm256_storeu_si256((__m256i *)(list->both + n_listed), last);
    _mm256_storeu_si256((__m256i *)(list->both + n_listed + 16), last);
    /* Runs end at the last level if no byte is less than its run. */
    const int last_position = n - 1 - ((n - 1 - (list->both[n_listed - 1] >> 8)) & 0xff);
    if (split(list) != (uint64_t)(last_position + 1) && list->n)
        list_positions(list, level, n);
    list->level[LANES - 1] = PNV_INITIAL_LEVEL + 1;
    list->run[LANES - 1] = PNV_INITIAL_RUN + 1;
}

/*
 * Tables of 16 bytes, once for each 128-bit lane, and constants. They are read where they are: the compiler would make
 * them anew in every turn of the loop, out of more instructions than the codes take.
 */
#define TWICE(...) {__VA_ARGS__, __VA_ARGS__}
#define ALL(x) TWICE(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x)

/**
 * Codebooks by the state that selects one. The number to code comes as m, x = m + add; length counts from
 * 2 * floor(log2 x). The smallest numbers, m < small, are taken from the table of small codes at m + first.
 */
typedef struct Books {
    int8_t add[32], length[32], small[32], first[32];
} Books;

typedef struct Tables {
    _Alignas(32) Books run, level, dc;
    int8_t small_bits[32], small_length[32], log_low[32], log_high[32], powers[32];
    int8_t nibble[32], one[32], eight[32], lane[32], two_one[32];
    int8_t run_states[32], level_states[32], least_large[32], least_large_dc[32], max_length[32];
    int16_t dc_states[16], one_16[16], max_dc[16];
    int32_t max_word[8];
} Tables;

enum { DC_FIRST = 4 };

static const Tables constant_tables = {
    /* PNV_CODEBOOKS_RUN by the run before + 1, of a run + 1: (2,0,1) x2, (1,0,1) x2, EG(0), (1,1,2) x4, EG(1) x6; and
     * EG(2), whose 16 is a 0 in the four bits that count. */
    .run = {
        .add = TWICE(3, -2, -2, -1, -1, 0, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1),
        .length = TWICE(-1, 3, 3, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0),
        .small = TWICE(0, 3, 3, 2, 2, 0, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0),
        .first = TWICE(0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0),
    },
    /* PNV_CODEBOOKS_LEVEL by the magnitude before, of one: (2,0,2), (1,0,1), (2,0,1), EG(0), EG(1) x4, EG(2). */
    .level = {
        .add = TWICE(0, 0, -1, -2, 0, 1, 1, 1, 1, 3, 0, 0, 0, 0, 0, 0),
        .length = TWICE(0, 2, 2, 3, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0),
        .small = TWICE(0, 4, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        .first = TWICE(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    },
    /* PNV_CODEBOOKS_DC by the difference before, then that of the first: EG(0), EG(1), (1,2,3), EG(3); EG(5). */
    .dc = {
        .add = TWICE(1, 2, 0, 8, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        .length = TWICE(1, 0, 0, -2, -4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        .small = TWICE(0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        .first = TWICE(0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    },
    /* Small codes: of (2,0,1), (2,0,2) and (1,0,1) from 1, of (1,1,2) from 4, of (1,2,3) from 6. */
    .small_bits = TWICE(0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0),
    .small_length = TWICE(0, 1, 2, 3, 2, 2, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0),
    /* Twice the logarithm of a byte by its nibbles; 0 for zero. */
    .log_low = TWICE(0, 0, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6, 6, 6, 6, 6),
    .log_high = TWICE(0, 8, 10, 10, 12, 12, 12, 12, 14, 14, 14, 14, 14, 14, 14, 14),
    .powers = TWICE(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0),
    .nibble = ALL(15),
    .one = ALL(1),
    .eight = ALL(8),
    .lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
             16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
    .two_one = TWICE(2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1),
    .run_states = ALL(PNV_RUN_STATES),
    .level_states = ALL(PNV_LEVEL_STATES),
    .least_large = ALL((int8_t)(MAX_RUN + 2)),
    .least_large_dc = ALL((int8_t)(MAX_DC + 1)),
    .max_length = ALL(16),
    .dc_states = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3},
    .one_16 = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    .max_dc = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255},
    .max_word = {57, 57, 57, 57, 57, 57, 57, 57},
};

/** Hides from the compiler that they are constant. */
PNV_INLINE const Tables *in_memory(void)
{
    const Tables *t = &constant_tables;

    __asm__("" : "+r"(t));
    return t;
}

PNV_INLINE __m256i load(const void *table)
{
    return _mm256_load_si256(table);
}

PNV_INLINE __m256i look_up(const int8_t table[32], __m256i index)
{
    return _mm256_shuffle_epi8(load(table), index);
}

/* ---- codes, in bytes ---- */

/** One code in each byte: the low length bits of bits. */
typedef struct Codes {
    __m256i bits, length;
} Codes;

/** m: unsigned, m + add at most 255. */
PNV_INLINE Codes code(const Tables *t, const Books *books, __m256i state, __m256i m)
{
    const __m256i x = _mm256_add_epi8(m, look_up(books->add, state)), nibble = load(t->nibble);
    /* x below 1 is replaced later. */
    const __m256i logs = _mm256_max_epu8(
        look_up(t->log_low, _mm256_and_si256(x, nibble)),
        look_up(t->log_high, _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble)));
    const __m256i length = _mm256_add_epi8(logs, look_up(books->length, state));
    const __m256i is_large = _mm256_cmpeq_epi8(_mm256_max_epu8(m, look_up(books->small, state)), m);
    const __m256i at = _mm256_add_epi8(m, look_up(books->first, state));

    return (Codes){
        _mm256_blendv_epi8(look_up(t->small_bits, at), x, is_large),
        _mm256_blendv_epi8(look_up(t->small_length, at), length, is_large),
    };
}

/** Bytes of 0xff in the first n lanes. */
PNV_INLINE __m256i first_lanes(const Tables *t, int n)
{
    return _mm256_cmpgt_epi8(_mm256_set1_epi8((char)(n < LANES ? n : LANES)), load(t->lane));
}

PNV_INLINE int is_any(__m256i mask)
{
    return !_mm256_testz_si256(mask, mask);
}

/**
 * 32 symbols. Bits are 16 a lane, only right where that is enough: of symbols 0..7 and 16..23, and of 8..15 and
 * 24..31, as unpacking leaves them. Lengths are bytes in order. Both are 0 in lanes without a symbol.
 */
typedef struct Symbols {
    __m256i bits[2], length;
} Symbols;

/**
 * Symbols i .. i + 31 of the list, the run before a level with its sign behind. is_full, a constant: all are there.
 * 0 if one is too large for this.
 */
PNV_INLINE int ac_symbols(Symbols *s, const Tables *t, const List *list, int i, int is_full)
{
    const uint8_t *r = list->run + LANES + i;
    const int8_t *l = list->level + LANES + i;
    const __m256i run = load_unaligned(r), level = load_unaligned(l), magnitude = _mm256_abs_epi8(level);
    const __m256i run_state = _mm256_min_epu8(load_unaligned(r - 1), load(t->run_states));
    const __m256i level_state = _mm256_min_epu8(_mm256_abs_epi8(load_unaligned(l - 1)), load(t->level_states));
    const __m256i there = is_full ? _mm256_set1_epi8(-1) : first_lanes(t, list->n - i);
    /* Levels are large from 127 on, which is listed for all that is more. */
    const __m256i largest = _mm256_max_epu8(run, _mm256_adds_epu8(magnitude, magnitude));
    const __m256i is_large = _mm256_cmpeq_epi8(_mm256_max_epu8(largest, load(t->least_large)), largest);

    if (!_mm256_testz_si256(is_large, there))
        return 0;
    const Codes a = code(t, &t->run, run_state, run), b = code(t, &t->level, level_state, magnitude);
    const __m256i b_length = _mm256_add_epi8(b.length, load(t->one));
    const __m256i sign = _mm256_and_si256(_mm256_srli_epi16(level, 7), load(t->one));
    const __m256i a_bits = _mm256_and_si256(a.bits, there), b_bits = _mm256_and_si256(b.bits, there);
    const __m256i b_sign = _mm256_and_si256(sign, there), zero = _mm256_setzero_si256();
    /* 2 to the power of b_length, in two bytes. */
    const __m256i low = look_up(t->powers, b_length);
    const __m256i high = look_up(t->powers, _mm256_sub_epi8(b_length, load(t->eight)));
    s->length = _mm256_and_si256(_mm256_add_epi8(a.length, b_length), there);
    s->bits[0] = _mm256_add_epi16(
        _mm256_mullo_epi16(_mm256_unpacklo_epi8(a_bits, zero), _mm256_unpacklo_epi8(low, high)),
        _mm256_maddubs_epi16(_mm256_unpacklo_epi8(b_bits, b_sign), load(t->two_one)));
    s->bits[1] = _mm256_add_epi16(
        _mm256_mullo_epi16(_mm256_unpackhi_epi8(a_bits, zero), _mm256_unpackhi_epi8(low, high)),
        _mm256_maddubs_epi16(_mm256_unpackhi_epi8(b_bits, b_sign), load(t->two_one)));
    return 1;
}

/** The DC of up to 32 blocks as numbers to code, with the states that select their codebooks, in 16-bit lanes. */
typedef struct DcNumbers {
    __m256i number[2], state[2];
} DcNumbers;

/** 32 levels can be read. */
PNV_INLINE DcNumbers dc_numbers(const Tables *t, const int16_t *dc)
{
    int16_t value[1 + LANES], diff[1 + LANES];
    DcNumbers n;

    value[0] = 0;
    for (int h = 0; h < 2; h++)
        _mm256_storeu_si256((__m256i *)(value + 1 + 16 * h), load_unaligned(dc + 16 * h));
    for (int h = 0; h < 2; h++) {
        const __m256i v = load_unaligned(value + 1 + 16 * h);
        _mm256_storeu_si256((__m256i *)(diff + 1 + 16 * h), _mm256_sub_epi16(v, load_unaligned(value + 16 * h)));
    }
    diff[0] = 0;
    for (int h = 0; h < 2; h++) {
        __m256i before = load_unaligned(diff + 16 * h);
        if (h == 0)
            before = _mm256_insert_epi16(before, PNV_INITIAL_DC_DIFF, 1);
        const __m256i is_negative = _mm256_srai_epi16(before, 15);
        const __m256i turned = _mm256_sub_epi16(_mm256_xor_si256(load_unaligned(diff + 1 + 16 * h), is_negative),
                                                is_negative);
        n.number[h] = _mm256_xor_si256(_mm256_add_epi16(turned, turned), _mm256_srai_epi16(turned, 15));
        n.state[h] = _mm256_min_epu16(_mm256_abs_epi16(before), load(t->dc_states));
    }
    n.state[0] = _mm256_insert_epi16(n.state[0], DC_FIRST, 0);
    return n;
}

/** 0 if one is too large for this. */
PNV_INLINE int dc_symbols(Symbols *s, const Tables *t, const DcNumbers *n, int n_blocks)
{
    const __m256i there = first_lanes(t, n_blocks);
    const __m256i m = to_bytes(_mm256_min_epu16(n->number[0], load(t->max_dc)),
                               _mm256_min_epu16(n->number[1], load(t->max_dc)));
    const __m256i is_large = _mm256_cmpeq_epi8(_mm256_max_epu8(m, load(t->least_large_dc)), m);

    if (!_mm256_testz_si256(is_large, there))
        return 0;
    const Codes c = code(t, &t->dc, to_bytes(n->state[0], n->state[1]), m);
    const __m256i bits = _mm256_and_si256(c.bits, there);
    s->bits[0] = _mm256_unpacklo_epi8(bits, _mm256_setzero_si256());
    s->bits[1] = _mm256_unpackhi_epi8(bits, _mm256_setzero_si256());
    s->length = _mm256_and_si256(c.length, there);
    return 1;
}

/* ---- symbols to words ---- */

/** Four symbols of 16 bits -> one word of 64. length: in 16-bit lanes as the symbols. */
PNV_INLINE __m256i join(const Tables *t, __m256i bits, __m256i length)
{
    const __m256i zero = _mm256_setzero_si256();
    /* Two neighbours into 32-bit lanes, then two of those into 64-bit lanes; the first one is the lower. */
    const __m256i bits32 = _mm256_or_si256(
        _mm256_sllv_epi32(_mm256_blend_epi16(bits, zero, 0xaa), _mm256_srli_epi32(length, 16)),
        _mm256_srli_epi32(bits, 16));
    const __m256i length32 = _mm256_madd_epi16(length, load(t->one_16));

    return _mm256_or_si256(
        _mm256_sllv_epi64(_mm256_blend_epi32(bits32, zero, 0xaa), _mm256_srli_epi64(length32, 32)),
        _mm256_srli_epi64(bits32, 32));
}

/** Lengths of eight words, in 32-bit lanes. */
PNV_INLINE void store_lengths(PnvWords *words, __m256i length)
{
    const __m128i pairs = _mm_packs_epi32(_mm256_castsi256_si128(length), _mm256_extracti128_si256(length, 1));

    _mm_storel_epi64((__m128i *)(words->length + words->n), _mm_packus_epi16(pairs, pairs));
}

/** Four symbols a word. 0 where they do not fit. */
PNV_INLINE int add_symbols(PnvWords *words, const Tables *t, const Symbols *s)
{
    const __m256i length = _mm256_madd_epi16(_mm256_maddubs_epi16(s->length, load(t->one)), load(t->one_16));

    if (is_any(_mm256_or_si256(_mm256_cmpgt_epi8(s->length, load(t->max_length)),
                               _mm256_cmpgt_epi32(length, load(t->max_word)))))
        return 0;
    const __m256i zero = _mm256_setzero_si256();
    const __m256i a = join(t, s->bits[0], _mm256_unpacklo_epi8(s->length, zero));
    const __m256i b = join(t, s->bits[1], _mm256_unpackhi_epi8(s->length, zero));
    _mm256_storeu_si256((__m256i *)(words->bits + words->n), _mm256_permute2x128_si256(a, b, 0x20));
    _mm256_storeu_si256((__m256i *)(words->bits + words->n + 4), _mm256_permute2x128_si256(a, b, 0x31));
    store_lengths(words, length);
    words->n += LANES / 4;
    return 1;
}

/** Words of a single symbol. */
static void add_word(PnvWords *words, uint64_t bits, int length)
{
    words->bits[words->n] = bits;
    words->length[words->n++] = (uint8_t)length;
}

static void fill_up(PnvWords *words)
{
    while (words->n % 4)
        add_word(words, 0, 0);
}

/** Up to 32 symbols from i on, which is a multiple of it, one after the other, as code_ac() of entropy.c. */
static __attribute__((noinline)) void add_singly(PnvWords *words, const List *list, int i, const int16_t *ac)
{
    static const PnvCodebook runs[PNV_RUN_STATES] = PNV_CODEBOOKS_RUN;
    static const PnvCodebook levels[PNV_LEVEL_STATES] = PNV_CODEBOOKS_LEVEL;
    const int end = LANES + pnv_min(list->n, i + LANES);
    int position = position_before(list, i);

    for (i += LANES; i < end; i++) {
        const int run = list->has_position ? list->position[i] - position - 1 : list->run[i] - 1;
        position += run + 1;
        const int level = ac[position];
        const PnvCode r = pnv_code(runs[pnv_min(list->run[i - 1] - 1, PNV_RUN_STATES - 1)], (uint32_t)run);
        const PnvCode l = pnv_code(levels[pnv_min(abs(list->level[i - 1]) - 1, PNV_LEVEL_STATES - 1)],
                                   (uint32_t)abs(level) - 1);
        add_word(words, ((uint64_t)r.bits << l.length | l.bits) << 1 | (level < 0), r.length + l.length + 1);
    }
    fill_up(words);
}

/** One DC a word, in 32-bit lanes, whatever its size: at most 31 bits. */
static __attribute__((noinline)) void add_dc_wide(PnvWords *words, const DcNumbers *n, int n_blocks)
{
    /* By state, as Tables.dc has them; a logarithm comes with the 127 of a float's exponent. */
    const __m256i add = _mm256_setr_epi32(1, 2, 0, 8, 32, 0, 0, 0);
    const __m256i length = _mm256_setr_epi32(1 - 254, -254, -254, -2 - 254, -4 - 254, 0, 0, 0);
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    for (int first = 0; first < n_blocks; first += 8, words->n += 8) {
        const int h = first / 16, is_upper = first & 8;
        const __m256i m = _mm256_cvtepu16_epi32(is_upper ? _mm256_extracti128_si256(n->number[h], 1)
                                                         : _mm256_castsi256_si128(n->number[h]));
        const __m256i state = _mm256_cvtepu16_epi32(is_upper ? _mm256_extracti128_si256(n->state[h], 1)
                                                             : _mm256_castsi256_si128(n->state[h]));
        const __m256i x = _mm256_add_epi32(m, _mm256_permutevar8x32_epi32(add, state));
        const __m256i log = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(x)), 23);
        const __m256i long_length = _mm256_add_epi32(_mm256_add_epi32(log, log),
                                                     _mm256_permutevar8x32_epi32(length, state));
        /* (1,2,3) of less than 4: "1" and two bits. */
        const __m256i is_short = _mm256_and_si256(_mm256_cmpeq_epi32(state, _mm256_set1_epi32(2)),
                                                  _mm256_cmpgt_epi32(_mm256_set1_epi32(4), m));
        const __m256i there = _mm256_cmpgt_epi32(_mm256_set1_epi32(n_blocks - first), lane);
        const __m256i bits = _mm256_and_si256(
            _mm256_add_epi32(x, _mm256_and_si256(is_short, _mm256_set1_epi32(4))), there);
        _mm256_storeu_si256((__m256i *)(words->bits + words->n), _mm256_cvtepu32_epi64(_mm256_castsi256_si128(bits)));
        _mm256_storeu_si256((__m256i *)(words->bits + words->n + 4),
                            _mm256_cvtepu32_epi64(_mm256_extracti128_si256(bits, 1)));
        store_lengths(words, _mm256_and_si256(_mm256_blendv_epi8(long_length, _mm256_set1_epi32(3), is_short), there));
    }
}

PNV_INLINE void add_dc(PnvWords *words, const Tables *t, const int16_t *dc, int n_blocks)
{
    const DcNumbers n = dc_numbers(t, dc);
    Symbols s;

    if (!dc_symbols(&s, t, &n, n_blocks) || !add_symbols(words, t, &s))
        add_dc_wide(words, &n, n_blocks);
}

size_t pnv_entropy_write_avx2(uint8_t *dst, size_t capacity, const int16_t *level, int n_blocks)
{
    const Tables *const t = in_memory();
    PnvWordWriter w = {.at = dst, .end = dst + capacity};
    uint8_t room[PNV_WORD_ROOM];
    List list;
    PnvWords words;

    list_levels(&list, level + n_blocks, 63 * n_blocks);
    words.n = 0;
    add_dc(&words, t, level, n_blocks);
    for (int i = 0; i < list.n; i += LANES) {
        Symbols s;
        if (words.n > PNV_MAX_WORDS - LANES) {
            pnv_put_words(&w, &words, room);
            words.n = 0;
        }
        const int is_there = i + LANES <= list.n ? ac_symbols(&s, t, &list, i, 1) : ac_symbols(&s, t, &list, i, 0);
        if (!is_there || !add_symbols(&words, t, &s))
            add_singly(&words, &list, i, level + n_blocks);
    }
    pnv_put_words(&w, &words, room);
    return pnv_put_end(&w, room, dst, capacity);
}

size_t pnv_entropy_bits_avx2(const int16_t *level, int n_blocks)
{
    const Tables *const t = in_memory();
    List list;
    PnvWords words;
    __m256i sum = _mm256_setzero_si256();
    size_t bits = 0;

    list_levels(&list, level + n_blocks, 63 * n_blocks);
    words.n = 0;
    add_dc(&words, t, level, n_blocks);
    for (int i = 0; i < list.n; i += LANES) {
        Symbols s;
        if (i + LANES <= list.n ? ac_symbols(&s, t, &list, i, 1) : ac_symbols(&s, t, &list, i, 0)) {
            sum = _mm256_add_epi64(sum, _mm256_sad_epu8(s.length, _mm256_setzero_si256()));
            continue;
        }
        if (words.n > PNV_MAX_WORDS - LANES) {
            for (; words.n > 0; words.n--)
                bits += words.length[words.n - 1];
        }
        add_singly(&words, &list, i, level + n_blocks);
    }
    for (; words.n > 0; words.n--)
        bits += words.length[words.n - 1];
    return bits + pnv_sum_of_4(sum);
}
