/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sequential part of pnv_quant_optimal_c(), for AVX-512: optimal.h is the definition.
 *
 * Vectors list the nonzero levels and how many bits each has to save; then one pass goes over the list. What it
 * carries from symbol to symbol, the place of the one before and the codebooks it selects, is a chain of dependent
 * instructions, so all else is kept out of it, code lengths come from tables, and decisions, which nothing predicts,
 * are conditional moves. Symbols with numbers that are not in the tables go to optimal.h.
 */
#ifndef PNV_X86_WEIGH_H
#define PNV_X86_WEIGH_H

#include <stdint.h>

#include "optimal.h"
#include "slice.h"
#include "x86.h"

enum {
    PNV_WEIGH_LANES = 32, /**< Of the widest vector. */
    PNV_WEIGH_ROOM = 63 * PNV_MAX_BLOCKS + 4 * PNV_WEIGH_LANES,
    PNV_WEIGH_LEVELS = 32, PNV_WEIGH_RUNS = 64 /**< Tables have numbers below these. */
};

/** Nonzero nearest AC levels of a unit in coding order. Behind the last one is room for a vector and its neighbours. */
typedef struct PnvWeighList {
    int n;
    uint8_t room[64]; /**< A vector may begin one number in front of a list, and leaves it as it was. */
    /* For vectors: the same numbers in bytes, positions without their high bits and magnitudes up to 255. */
    uint8_t position_8[PNV_WEIGH_ROOM], magnitude_8[PNV_WEIGH_ROOM], need_8[PNV_WEIGH_ROOM];
    /* From vectors. */
    uint16_t position[PNV_WEIGH_ROOM]; /**< 0 is the first AC coefficient. */
    int16_t level[PNV_WEIGH_ROOM];
    uint16_t magnitude[PNV_WEIGH_ROOM];
    /** Bits that one down has to save: floor(25 * (excess + d) / (3 * d)) + 1, 1..17. */
    uint16_t need[PNV_WEIGH_ROOM];
    /* From pnv_weigh_prepare(). */
    uint16_t down_row[PNV_WEIGH_ROOM], behind[PNV_WEIGH_ROOM]; /**< Places in the tables below. */
    uint16_t next_run[PNV_WEIGH_ROOM], next_run_row[PNV_WEIGH_ROOM], after_run_row[PNV_WEIGH_ROOM];
    uint16_t state[PNV_WEIGH_ROOM], down_state[PNV_WEIGH_ROOM]; /**< That the level selects, and one down. */
    int16_t is_one[PNV_WEIGH_ROOM];                             /**< -1 or 0. */
    int16_t sign[PNV_WEIGH_ROOM];                               /**< 1 or -1. */
    uint16_t special[PNV_WEIGH_ROOM];                           /**< Not for the tables: PNV_WEIGH_RUNS, else 0. */
} PnvWeighList;

/* ---- lengths ---- */

/** pnv_code_length() as a constant. */
#define PNV_BITS(last, rice, exp, n)                                                                                   \
    ((n) < ((last) + 1) << (rice)                                                                                      \
         ? ((n) >> (rice)) + 1 + (rice)                                                                                \
         : (last) + 2 - (exp) +                                                                                        \
               2 * (31 - __builtin_clz((unsigned)((n) - (((last) + 1) << (rice)) + (1 << (exp))) | 1)))

/* Of a magnitude, by the one before, 1..9. */
#define PNV_AFTER_1(m) PNV_BITS(2, 0, 2, (m) - 1)
#define PNV_AFTER_2(m) PNV_BITS(1, 0, 1, (m) - 1)
#define PNV_AFTER_3(m) PNV_BITS(2, 0, 1, (m) - 1)
#define PNV_AFTER_4(m) PNV_BITS(0, 0, 1, (m) - 1)
#define PNV_AFTER_5(m) PNV_BITS(0, 1, 2, (m) - 1)
#define PNV_AFTER_9(m) PNV_BITS(0, 2, 3, (m) - 1)
#define PNV_TIMES_31(f)                                                                                                \
    f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), f(14), f(15), f(16), f(17),      \
        f(18), f(19), f(20), f(21), f(22), f(23), f(24), f(25), f(26), f(27), f(28), f(29), f(30), f(31)

/** What it saves to code b for a, by the magnitude before. */
#define PNV_SAVED(a, b)                                                                                                \
    {0, PNV_AFTER_1(a) - PNV_AFTER_1(b), PNV_AFTER_2(a) - PNV_AFTER_2(b), PNV_AFTER_3(a) - PNV_AFTER_3(b),             \
     PNV_AFTER_4(a) - PNV_AFTER_4(b), PNV_AFTER_5(a) - PNV_AFTER_5(b), PNV_AFTER_5(a) - PNV_AFTER_5(b),                \
     PNV_AFTER_5(a) - PNV_AFTER_5(b), PNV_AFTER_5(a) - PNV_AFTER_5(b), PNV_AFTER_9(a) - PNV_AFTER_9(b)}
#define PNV_ONE_GOES(next) PNV_SAVED(1, next)
#define PNV_ONE_DOWN(m) PNV_SAVED(m, (m) > 1 ? (m) - 1 : 1)

/** First by the next magnitude, for a 1 that goes; then by the magnitude, for one down. */
static const int8_t pnv_weigh_down[2 * PNV_WEIGH_LEVELS][16] = {
    {0}, PNV_TIMES_31(PNV_ONE_GOES), {0}, PNV_TIMES_31(PNV_ONE_DOWN)};

/**
 * What one down saves of the next magnitude, by the magnitude: 1..9, and more, where nothing changes. A 1 that goes
 * has a sign; its part of the next magnitude is in the table above.
 */
#define PNV_NEXT(m)                                                                                                    \
    {0, 1 + PNV_AFTER_1(m), PNV_AFTER_2(m) - PNV_AFTER_1(m), PNV_AFTER_3(m) - PNV_AFTER_2(m),                          \
     PNV_AFTER_4(m) - PNV_AFTER_3(m), PNV_AFTER_5(m) - PNV_AFTER_4(m), 0, 0, 0, PNV_AFTER_9(m) - PNV_AFTER_5(m)}
static const int8_t pnv_weigh_next[PNV_WEIGH_LEVELS][16] = {{0}, PNV_TIMES_31(PNV_NEXT)};

/* Runs of 4, 16 and 64 that follow each other. */
#define PNV_BITS_4(l, r, e, n)                                                                                         \
    PNV_BITS(l, r, e, n), PNV_BITS(l, r, e, n + 1), PNV_BITS(l, r, e, n + 2), PNV_BITS(l, r, e, n + 3)
#define PNV_BITS_16(l, r, e, n)                                                                                        \
    PNV_BITS_4(l, r, e, n), PNV_BITS_4(l, r, e, n + 4), PNV_BITS_4(l, r, e, n + 8), PNV_BITS_4(l, r, e, n + 12)
#define PNV_BITS_64(l, r, e)                                                                                           \
    {PNV_BITS_16(l, r, e, 0), PNV_BITS_16(l, r, e, 16), PNV_BITS_16(l, r, e, 32), PNV_BITS_16(l, r, e, 48)}

/** Of a run, the second index, by the run before. */
static const int8_t pnv_weigh_run[PNV_RUN_STATES][PNV_WEIGH_RUNS] = {
    PNV_BITS_64(2, 0, 1), PNV_BITS_64(2, 0, 1), PNV_BITS_64(1, 0, 1), PNV_BITS_64(1, 0, 1),
    PNV_BITS_64(0, 0, 1), PNV_BITS_64(1, 1, 2), PNV_BITS_64(1, 1, 2), PNV_BITS_64(1, 1, 2),
    PNV_BITS_64(1, 1, 2), PNV_BITS_64(0, 1, 2), PNV_BITS_64(0, 1, 2), PNV_BITS_64(0, 1, 2),
    PNV_BITS_64(0, 1, 2), PNV_BITS_64(0, 1, 2), PNV_BITS_64(0, 1, 2), PNV_BITS_64(0, 2, 3),
};

/** The same the other way round, with every run before: no minimum is in the chain. */
#define PNV_BY_RUN(n)                                                                                                  \
    {PNV_BITS(2, 0, 1, n), PNV_BITS(2, 0, 1, n), PNV_BITS(1, 0, 1, n), PNV_BITS(1, 0, 1, n), PNV_BITS(0, 0, 1, n),     \
     PNV_BITS(1, 1, 2, n), PNV_BITS(1, 1, 2, n), PNV_BITS(1, 1, 2, n), PNV_BITS(1, 1, 2, n), PNV_BITS(0, 1, 2, n),     \
     PNV_BITS(0, 1, 2, n), PNV_BITS(0, 1, 2, n), PNV_BITS(0, 1, 2, n), PNV_BITS(0, 1, 2, n), PNV_BITS(0, 1, 2, n),     \
     PNV_BITS_FROM_15(n)}
#define PNV_BITS_FROM_15(n)                                                                                            \
    PNV_7_TIMES(n), PNV_7_TIMES(n), PNV_7_TIMES(n), PNV_7_TIMES(n), PNV_7_TIMES(n), PNV_7_TIMES(n), PNV_7_TIMES(n)
#define PNV_7_TIMES(n)                                                                                                 \
    PNV_BITS(0, 2, 3, n), PNV_BITS(0, 2, 3, n), PNV_BITS(0, 2, 3, n), PNV_BITS(0, 2, 3, n), PNV_BITS(0, 2, 3, n),      \
        PNV_BITS(0, 2, 3, n), PNV_BITS(0, 2, 3, n)
static const int8_t pnv_weigh_run_after[PNV_WEIGH_RUNS][PNV_WEIGH_RUNS] = {
    PNV_BY_RUN(0), PNV_TIMES_31(PNV_BY_RUN),
    PNV_BY_RUN(32), PNV_BY_RUN(33), PNV_BY_RUN(34), PNV_BY_RUN(35), PNV_BY_RUN(36), PNV_BY_RUN(37), PNV_BY_RUN(38),
    PNV_BY_RUN(39), PNV_BY_RUN(40), PNV_BY_RUN(41), PNV_BY_RUN(42), PNV_BY_RUN(43), PNV_BY_RUN(44), PNV_BY_RUN(45),
    PNV_BY_RUN(46), PNV_BY_RUN(47), PNV_BY_RUN(48), PNV_BY_RUN(49), PNV_BY_RUN(50), PNV_BY_RUN(51), PNV_BY_RUN(52),
    PNV_BY_RUN(53), PNV_BY_RUN(54), PNV_BY_RUN(55), PNV_BY_RUN(56), PNV_BY_RUN(57), PNV_BY_RUN(58), PNV_BY_RUN(59),
    PNV_BY_RUN(60), PNV_BY_RUN(61), PNV_BY_RUN(62), PNV_BY_RUN(63)};

/* ---- the pass ---- */

/** All that does not depend on decisions, of symbols begin..end - 1. Compilers make vectors of it. */
PNV_INLINE void pnv_weigh_prepare(PnvWeighList *list, int begin, int end)
{
    const int n = list->n;

    list->position[n] = list->position[n + 1] = list->magnitude[n] = 0;
    for (int i = begin; i < end; i++) {
        const uint16_t m = list->magnitude[i], next = list->magnitude[i + 1];
        const uint16_t next_run = (uint16_t)(list->position[i + 1] - list->position[i] - 1);
        const uint16_t after_run = (uint16_t)(list->position[i + 2] - list->position[i + 1] - 1);
        const uint16_t m_31 = m < 31 ? m : 31, next_31 = next < 31 ? next : 31;
        const uint16_t run_63 = next_run < 63 ? next_run : 63, m_10 = m < 10 ? m : 10;
        list->down_row[i] = (uint16_t)((m == 1 ? next_31 : PNV_WEIGH_LEVELS + m_31) << 4);
        list->behind[i] = (uint16_t)(next_31 << 4 | m_10);
        list->next_run[i] = run_63;
        list->next_run_row[i] = (uint16_t)(run_63 << 6);
        list->after_run_row[i] = (uint16_t)((after_run < 63 ? after_run : 63) << 6);
        list->state[i] = m < 9 ? m : 9;
        list->down_state[i] = m < 10 ? m - 1 : 9;
        list->is_one[i] = m == 1 ? -1 : 0;
        list->sign[i] = (int16_t)(list->level[i] >> 15 | 1);
        list->special[i] = m > 31 || next > 31 || after_run > 63 ? PNV_WEIGH_RUNS : 0;
    }
    for (int i = begin > n - 2 ? begin : n - 2 > 0 ? n - 2 : 0; i < end; i++)
        list->special[i] = PNV_WEIGH_RUNS;
}

/** Symbol i of the list, and none behind the last. */
PNV_INLINE PnvOptimalSymbol pnv_weigh_symbol(const PnvWeighList *list, int i)
{
    return i < list->n ? (PnvOptimalSymbol){list->position[i], list->magnitude[i]} : (PnvOptimalSymbol){0, 0};
}

/** What is in force in front of a symbol. */
typedef struct PnvWeighState {
    int64_t start;      /**< Of the run, behind the level before. */
    int64_t level;      /**< The magnitude before, up to 9. */
    const int8_t *bits; /**< Of runs, by the run before. */
} PnvWeighState;

/** s = from where x is negative. Half of the decisions go either way, and compilers would make branches of them. */
PNV_INLINE void pnv_weigh_take(PnvWeighState *s, int x, PnvWeighState from)
{
    __asm__("test %3, %3\n\tcmovs %4, %0\n\tcmovs %5, %1\n\tcmovs %6, %2"
            : "+&r"(s->start), "+&r"(s->level), "+&r"(s->bits)
            : "r"(x), "r"(from.start), "r"(from.level), "r"(from.bits)
            : "cc");
}

/** Saved bits by the definition. */
static __attribute__((noinline)) int pnv_weigh_saved(const PnvWeighList *list, int i, PnvWeighState s)
{
    static const PnvCodebook run_books[PNV_RUN_STATES] = PNV_CODEBOOKS_RUN;
    static const PnvCodebook level_books[PNV_LEVEL_STATES] = PNV_CODEBOOKS_LEVEL;
    const int run_before = (int)(s.bits - pnv_weigh_run[0]) / PNV_WEIGH_RUNS;

    return pnv_optimal_saved_bits(&(PnvOptimalBooks){run_books, level_books},
                                  (PnvOptimalSymbol){(int)s.start - 1, (int)s.level}, run_before,
                                  pnv_weigh_symbol(list, i), pnv_weigh_symbol(list, i + 1),
                                  pnv_weigh_symbol(list, i + 2));
}

/** In front of the first symbol. */
#define PNV_WEIGH_START {0, PNV_INITIAL_LEVEL + 1, pnv_weigh_run[PNV_INITIAL_RUN]}

/** Weigh the levels of symbols i..end - 1. */
PNV_INLINE void pnv_weigh(PnvWeighList *list, int i, int end, PnvWeighState *state)
{
    const int8_t *const after = pnv_weigh_run_after[0], *const down_bits = pnv_weigh_down[0];
    const int8_t *const next_bits = pnv_weigh_next[0];
    PnvWeighState s = *state;

    for (; i < end; i++) {
        const int64_t position = list->position[i], run = position - s.start, merged = list->position[i + 1] - s.start;
        const int is_one = list->is_one[i];
        int lack = list->need[i] - 1; /* of saved bits, if not negative */

        if (__builtin_expect(((uint64_t)merged | list->special[i]) >= PNV_WEIGH_RUNS, 0)) {
            lack -= pnv_weigh_saved(list, i, s);
        } else {
            const int8_t *const next_run = after + list->next_run_row[i];
            const int8_t *const after_run = after + list->after_run_row[i];
            lack -= next_bits[list->behind[i]] + (after_run[list->next_run[i]] & is_one);
            lack -= down_bits[list->down_row[i] + s.level];
            lack -= ((s.bits[run] - s.bits[merged]) + (next_run[run] - after_run[merged])) & is_one;
        }
        list->level[i] = (int16_t)(list->level[i] - (list->sign[i] & lack >> 31));
        const int8_t *const bits = pnv_weigh_run[run < PNV_RUN_STATES - 1 ? run : PNV_RUN_STATES - 1];
        PnvWeighState kept = {position + 1, list->state[i], bits}, down = {position + 1, list->down_state[i], bits};
        pnv_weigh_take(&down, is_one, s);
        pnv_weigh_take(&kept, lack, down);
        s = kept;
    }
    *state = s;
}

/** Put the levels in their places among the AC levels of a unit, where zeros are. */
PNV_INLINE void pnv_weigh_write(int16_t *level, const PnvWeighList *list)
{
    for (int i = 0; i < list->n; i++)
        level[list->position[i]] = list->level[i];
}

#endif
