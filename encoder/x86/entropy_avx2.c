/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entropy coding for AVX2. entropy.c is the definition, codeword.h has the codes; entropy_avx512.c tells the way in
 * wider vectors: list the nonzero levels with their positions, build codes in 16-bit lanes from tables that the symbols
 * before select, merge them into words, write these.
 *
 * Here the list is made by a table of byte shuffles, and shifts by lane are multiplications by powers of two. Vectors
 * with a run or level above 255, or with a symbol of more than 16 bits, are coded one symbol after the other.
 */
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#include "codeword.h"
#include "compact.h"
#include "entropy.h"
#include "words.h"

enum {
    LANES = 16,
    MAX_AC = 63 * PNV_MAX_BLOCKS,
    MAX_SHORT = 255, /* Largest number that the vectors code. */
};

/** Nonzero AC levels of a unit in coding order. Neighbours before the first one are what the format starts with. */
typedef struct List {
    int n;
    int16_t level[LANES + MAX_AC + LANES];
    uint16_t position[LANES + MAX_AC + LANES];
} List;

/** Appends what is not zero of 8 levels from position i on. set: a bit for each. Returns where the list goes on. */
PNV_INLINE int list_8(List *list, int n_listed, __m128i v, unsigned set, __m128i i)
{
    const __m128i places = pnv_places_8(set);

    _mm_storeu_si128((__m128i *)(list->level + n_listed), pnv_compact_8(v, places));
    _mm_storeu_si128((__m128i *)(list->position + n_listed), _mm_add_epi16(places, i));
    return n_listed + __builtin_popcount(set);
}

static void list_levels(List *list, const int16_t *level, int n)
{
    __m128i position = _mm_setzero_si128();
    int n_listed = LANES;

    list->level[LANES - 1] = PNV_INITIAL_LEVEL + 1;
    list->position[LANES - 1] = (uint16_t)-1;
    list->position[LANES - 2] = (uint16_t)(-1 - (PNV_INITIAL_RUN + 1));
    for (int i = 0; i < n; i += 16) {
        __m128i v[2] = {_mm_setzero_si128(), _mm_setzero_si128()};
        if (n - i >= 16) {
            v[0] = _mm_loadu_si128((const __m128i *)(level + i));
            v[1] = _mm_loadu_si128((const __m128i *)(level + i + 8));
        } else { /* 63 rows of less than 16 blocks are no multiple of 16 */
            memcpy(v, level + i, (size_t)(n - i) * sizeof *level);
        }
        const __m128i is_zero = _mm_packs_epi16(_mm_cmpeq_epi16(v[0], _mm_setzero_si128()),
                                                _mm_cmpeq_epi16(v[1], _mm_setzero_si128()));
        const unsigned set = ~(unsigned)_mm_movemask_epi8(is_zero);
        n_listed = list_8(list, n_listed, v[0], set & 0xff, position);
        position = _mm_add_epi16(position, _mm_set1_epi16(8));
        n_listed = list_8(list, n_listed, v[1], set >> 8 & 0xff, position);
        position = _mm_add_epi16(position, _mm_set1_epi16(8));
    }
    list->n = n_listed - LANES;
}

/*
 * Tables of 16 bytes, once for each 128-bit lane, and constants. They are read where they are: the compiler would make
 * them anew in every turn of the loop, out of more instructions than the codes take.
 */
#define TWICE(...) {__VA_ARGS__, __VA_ARGS__}
#define ALL(x) {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}

/**
 * Codebooks by the state that selects one. The number to code comes as m = n + 1; x = m + add - 4. length counts from
 * 2 * floor(log2 x). The smallest numbers, m < small, are taken from the table of small codes at m + first.
 */
typedef struct Books {
    int8_t add[32], length[32], small[32], first[32];
} Books;

typedef struct Tables {
    _Alignas(32) Books run, level;
    int8_t small_bits[32], small_length[32], log_low[32], log_high[32], powers[32];
    int16_t no_index[16], four[16], nibble[16], one[16], twice[16], eight[16], lane[16];
    int16_t max_run[16], max_level[16], max_short[16], max_length[16], low16[16];
} Tables;

static const Tables constant_tables = {
    /* PNV_CODEBOOKS_RUN by the run before: (2,0,1) x2, (1,0,1) x2, EG(0), (1,1,2) x4, EG(1) x6, EG(2). */
    .run = {
        .add = TWICE(2, 2, 3, 3, 4, 3, 3, 3, 3, 5, 5, 5, 5, 5, 5, 7),
        .length = TWICE(3, 3, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, -1),
        .small = TWICE(3, 3, 2, 2, 0, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0),
        .first = TWICE(0, 0, 0, 0, 0, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0),
    },
    /* PNV_CODEBOOKS_LEVEL by the magnitude before: (2,0,2), (1,0,1), (2,0,1), EG(0), EG(1) x4, EG(2). With the sign. */
    .level = {
        .add = TWICE(0, 4, 3, 2, 4, 5, 5, 5, 5, 7, 0, 0, 0, 0, 0, 0),
        .length = TWICE(0, 2, 2, 3, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0),
        .small = TWICE(0, 4, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        .first = TWICE(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    },
    /* Small codes from 1: of (2,0,1), (2,0,2) and (1,0,1) from 1, of (1,1,2) from 4. */
    .small_bits = TWICE(0, 1, 1, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    .small_length = TWICE(0, 1, 2, 3, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    /* Twice the logarithm of a byte by its nibbles; 0 for zero. */
    .log_low = TWICE(0, 0, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6, 6, 6, 6, 6),
    .log_high = TWICE(0, 8, 10, 10, 12, 12, 12, 12, 14, 14, 14, 14, 14, 14, 14, 14),
    .powers = TWICE(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0),
    .no_index = ALL((int16_t)0xff00),
    .four = ALL(4),
    .nibble = ALL(15),
    .one = ALL(1),
    .twice = ALL(0x101),
    .eight = ALL(0x800),
    .lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    .max_run = ALL(PNV_RUN_STATES - 1),
    .max_level = ALL(PNV_LEVEL_STATES),
    .max_short = ALL(MAX_SHORT - 3), /* x is at most 3 above its number */
    .max_length = ALL(16),
    .low16 = {-1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0},
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

/** One code in each lane: the low length bits of bits. */
typedef struct Codes {
    __m256i bits, length;
} Codes;

/** A table looked up by the low bytes of 16-bit lanes; high bytes of 0xff give 0. */
PNV_INLINE __m256i look_up(const int8_t table[32], __m256i index)
{
    return _mm256_shuffle_epi8(load(table), index);
}

/** state: 0..15, m: 1..MAX_SHORT. */
PNV_INLINE Codes code(const Tables *t, const Books *books, __m256i state, __m256i m)
{
    const __m256i no_index = load(t->no_index), index = _mm256_or_si256(state, no_index), nibble = load(t->nibble);
    const __m256i x = _mm256_sub_epi16(_mm256_add_epi16(m, look_up(books->add, index)), load(t->four));
    /* x below 1 is replaced later. */
    const __m256i logs = _mm256_max_epu8(
        look_up(t->log_low, _mm256_and_si256(x, nibble)),
        look_up(t->log_high, _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble)));
    const __m256i length = _mm256_add_epi8(logs, look_up(books->length, index)); /* -1 only where logs is 4 or more */
    const __m256i is_small = _mm256_cmpgt_epi16(look_up(books->small, index), m);
    const __m256i at = _mm256_or_si256(_mm256_add_epi16(m, look_up(books->first, index)), no_index);

    return (Codes){
        _mm256_blendv_epi8(x, look_up(t->small_bits, at), is_small),
        _mm256_blendv_epi8(length, look_up(t->small_length, at), is_small),
    };
}

/** Numbers of at most 16 bits shifted left by 0..15 in each 16-bit lane: times a power of two. */
PNV_INLINE __m256i shift_left(const Tables *t, __m256i bits, __m256i count)
{
    /* The low byte is looked up by count, the high one by count - 8, which is 0 where that is negative. */
    const __m256i index = _mm256_sub_epi16(_mm256_mullo_epi16(count, load(t->twice)), load(t->eight));

    return _mm256_mullo_epi16(bits, look_up(t->powers, index));
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

static inline int min_int(int a, int b)
{
    return a < b ? a : b;
}

/** n symbols one after the other, as code_ac() of entropy.c. */
static __attribute__((noinline)) void add_singly(PnvWords *words, const int16_t *level, const uint16_t *position, int n)
{
    static const PnvCodebook runs[PNV_RUN_STATES] = PNV_CODEBOOKS_RUN;
    static const PnvCodebook levels[PNV_LEVEL_STATES] = PNV_CODEBOOKS_LEVEL;

    for (int i = 0; i < n; i++) {
        const int run = (int16_t)(position[i] - position[i - 1]) - 1;
        const int run_before = (int16_t)(position[i - 1] - position[i - 2]) - 1;
        const PnvCode r = pnv_code(runs[min_int(run_before, PNV_RUN_STATES - 1)], (uint32_t)run);
        const PnvCode l = pnv_code(levels[min_int(abs(level[i - 1]) - 1, PNV_LEVEL_STATES - 1)],
                                   (uint32_t)abs(level[i]) - 1);
        add_word(words, ((uint64_t)r.bits << l.length | l.bits) << 1 | (level[i] < 0), r.length + l.length + 1);
    }
    fill_up(words);
}

static void add_dc(PnvWords *words, const int16_t *dc, int n_blocks)
{
    static const PnvCodebook first = PNV_CODEBOOK_DC_FIRST;
    static const PnvCodebook books[PNV_DC_STATES] = PNV_CODEBOOKS_DC;
    int previous = PNV_INITIAL_DC_DIFF;
    PnvCode c = pnv_code(first, pnv_fold_sign(dc[0]));

    add_word(words, c.bits, c.length);
    for (int b = 1; b < n_blocks; b++) {
        const int diff = dc[b] - dc[b - 1];
        c = pnv_code(books[min_int(abs(previous), PNV_DC_STATES - 1)], pnv_fold_sign(previous < 0 ? -diff : diff));
        add_word(words, c.bits, c.length);
        previous = diff;
    }
    fill_up(words);
}

/** Bits and length of 16 symbols, the run before a level with its sign behind; bits only right up to 16. */
typedef struct Symbols {
    __m256i bits, length; /* 0 in lanes without a symbol */
} Symbols;

/** Symbols i .. i + 15 of the list. 0 if one of them is too large for this. */
PNV_INLINE int ac_symbols(Symbols *s, const Tables *t, const List *list, int i)
{
    const int16_t *l = list->level + LANES + i;
    const uint16_t *p = list->position + LANES + i;
    const __m256i level = _mm256_loadu_si256((const __m256i *)l), p1 = _mm256_loadu_si256((const __m256i *)(p - 1));
    const __m256i one = load(t->one);
    const __m256i run = _mm256_sub_epi16(_mm256_loadu_si256((const __m256i *)p), p1); /* run + 1 */
    const __m256i p2 = _mm256_loadu_si256((const __m256i *)(p - 2));
    const __m256i run_before = _mm256_sub_epi16(_mm256_sub_epi16(p1, p2), one);
    const __m256i level_before = _mm256_abs_epi16(_mm256_loadu_si256((const __m256i *)(l - 1)));
    const __m256i magnitude = _mm256_abs_epi16(level);
    const __m256i there = _mm256_cmpgt_epi16(_mm256_set1_epi16((short)min_int(list->n - i, LANES)), load(t->lane));
    const __m256i large = _mm256_cmpgt_epi16(_mm256_max_epu16(run, magnitude), load(t->max_short));

    if (!_mm256_testz_si256(large, there))
        return 0;
    const Codes r = code(t, &t->run, _mm256_min_epu16(run_before, load(t->max_run)), run);
    const Codes v = code(t, &t->level, _mm256_min_epu16(level_before, load(t->max_level)), magnitude);
    const __m256i v_length = _mm256_add_epi16(v.length, one);
    const __m256i v_bits = _mm256_or_si256(_mm256_add_epi16(v.bits, v.bits), _mm256_srli_epi16(level, 15));
    s->length = _mm256_and_si256(_mm256_add_epi16(r.length, v_length), there);
    s->bits = _mm256_and_si256(_mm256_or_si256(shift_left(t, r.bits, v_length), v_bits), there);
    return 1;
}

/** Four symbols a word. 0 where they do not fit. */
PNV_INLINE int add_symbols(PnvWords *words, const Tables *t, const Symbols *s)
{
    const __m256i low32 = _mm256_set1_epi64x(0xffffffff);
    const __m256i bits32 = _mm256_or_si256(
        _mm256_sllv_epi32(_mm256_and_si256(s->bits, load(t->low16)), _mm256_srli_epi32(s->length, 16)),
        _mm256_srli_epi32(s->bits, 16));
    const __m256i length32 = _mm256_madd_epi16(s->length, load(t->one));
    const __m256i second = _mm256_srli_epi64(length32, 32);
    const __m256i bits64 = _mm256_or_si256(_mm256_sllv_epi64(_mm256_and_si256(bits32, low32), second),
                                           _mm256_srli_epi64(bits32, 32));
    const __m256i length64 = _mm256_add_epi64(_mm256_and_si256(length32, low32), second);
    const __m256i too_long = _mm256_or_si256(_mm256_cmpgt_epi16(s->length, load(t->max_length)),
                                             _mm256_cmpgt_epi64(length64, _mm256_set1_epi64x(57)));

    if (!_mm256_testz_si256(too_long, too_long))
        return 0;
    _mm256_storeu_si256((__m256i *)(words->bits + words->n), bits64);
    /* The lowest bytes of the four lanes, side by side. */
    const __m128i pairs = _mm_packs_epi32(_mm256_castsi256_si128(length64), _mm256_extracti128_si256(length64, 1));
    const int lengths = _mm_cvtsi128_si32(_mm_shuffle_epi8(pairs, _mm_set_epi32(-1, -1, -1, 0x0c080400)));
    memcpy(words->length + words->n, &lengths, sizeof lengths);
    words->n += LANES / 4;
    return 1;
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
    add_dc(&words, level, n_blocks);
    for (int i = 0; i < list.n; i += LANES) {
        Symbols s;
        if (words.n > PNV_MAX_WORDS - LANES) {
            pnv_put_words(&w, &words, room);
            words.n = 0;
        }
        if (!ac_symbols(&s, t, &list, i) || !add_symbols(&words, t, &s))
            add_singly(&words, list.level + LANES + i, list.position + LANES + i, min_int(list.n - i, LANES));
    }
    pnv_put_words(&w, &words, room);
    return pnv_put_end(&w, room, dst, capacity);
}

size_t pnv_entropy_bits_avx2(const int16_t *level, int n_blocks)
{
    const Tables *const t = in_memory();
    List list;
    PnvWords words;
    __m256i sum = _mm256_setzero_si256(); /* at most 126 * 48 a lane */
    size_t bits = 0;

    words.n = 0;
    list_levels(&list, level + n_blocks, 63 * n_blocks);
    add_dc(&words, level, n_blocks);
    for (int i = 0; i < list.n; i += LANES) {
        Symbols s;
        if (ac_symbols(&s, t, &list, i)) {
            sum = _mm256_add_epi16(sum, s.length);
            continue;
        }
        if (words.n > PNV_MAX_WORDS - LANES) {
            for (; words.n > 0; words.n--)
                bits += words.length[words.n - 1];
        }
        add_singly(&words, list.level + LANES + i, list.position + LANES + i, min_int(list.n - i, LANES));
    }
    for (; words.n > 0; words.n--)
        bits += words.length[words.n - 1];
    _Alignas(32) int32_t sums[LANES / 2];
    _mm256_store_si256((__m256i *)sums, _mm256_madd_epi16(sum, _mm256_set1_epi16(1)));
    for (int i = 0; i < LANES / 2; i++)
        bits += (size_t)sums[i];
    return bits;
}
