/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "entropy.h"

#include <stdlib.h>
#include <string.h>

#include "bits.h"

static const PnvCodebook dc_first = PNV_CODEBOOK_DC_FIRST;
static const PnvCodebook dc_books[PNV_DC_STATES] = PNV_CODEBOOKS_DC;
static const PnvCodebook run_books[PNV_RUN_STATES] = PNV_CODEBOOKS_RUN;
static const PnvCodebook level_books[PNV_LEVEL_STATES] = PNV_CODEBOOKS_LEVEL;

/*
 * Small numbers by table, made of pnv_code()'s formulas for constants: whether a number passes the escape of its
 * codebook changes from one to the next, and a branch on it is as often foretold wrong.
 */
enum { N_SMALL = 16 };
typedef struct SmallCode {
    uint8_t bits, length;
} SmallCode;

#define LOG2(x) ((x) >= 16 ? 4 : (x) >= 8 ? 3 : (x) >= 4 ? 2 : (x) >= 2)
#define ESCAPE(last, rice) (((last) + 1) << (rice))
#define LARGE(last, rice, exp, n) ((n) - ESCAPE(last, rice) + (1 << (exp)))
#define SMALL(last, rice, exp, n)                                                                                      \
    {(n) < ESCAPE(last, rice) ? 1 << (rice) | ((n) & ((1 << (rice)) - 1)) : LARGE(last, rice, exp, n),                 \
     (n) < ESCAPE(last, rice) ? ((n) >> (rice)) + 1 + (rice)                                                           \
                              : (last) + 2 + 2 * LOG2(LARGE(last, rice, exp, n)) - (exp)}
#define FOUR(last, rice, exp, n)                                                                                       \
    SMALL(last, rice, exp, n), SMALL(last, rice, exp, (n) + 1), SMALL(last, rice, exp, (n) + 2),                       \
        SMALL(last, rice, exp, (n) + 3)
#define BOOK(last, rice, exp)                                                                                          \
    {FOUR(last, rice, exp, 0), FOUR(last, rice, exp, 4), FOUR(last, rice, exp, 8), FOUR(last, rice, exp, 12)}
static const SmallCode small_runs[PNV_RUN_STATES][N_SMALL] = {PNV_EACH_CODEBOOK_RUN(BOOK)};
static const SmallCode small_levels[PNV_LEVEL_STATES][N_SMALL] = {PNV_EACH_CODEBOOK_LEVEL(BOOK)};

static inline PnvCode find_code(const SmallCode small[N_SMALL], PnvCodebook book, uint32_t n)
{
    return n < N_SMALL ? (PnvCode){small[n].bits, small[n].length} : pnv_code(book, n);
}

static inline void code_dc(PnvBits *s, int counting, const int16_t *dc, int n_blocks)
{
    int previous = PNV_INITIAL_DC_DIFF;

    pnv_bits_put(s, counting, pnv_code(dc_first, pnv_fold_sign(dc[0])));
    for (int b = 1; b < n_blocks; b++) {
        const int diff = dc[b] - dc[b - 1];
        const PnvCodebook book = dc_books[pnv_min(abs(previous), PNV_DC_STATES - 1)];
        pnv_bits_put(s, counting, pnv_code(book, pnv_fold_sign(previous < 0 ? -diff : diff)));
        previous = diff;
    }
}

/** First nonzero at or after i, or n. Most levels are zero: four are looked at at once. */
static inline int next_nonzero(const int16_t *level, int i, int n)
{
    for (; i + 4 <= n; i += 4) {
        uint64_t four;
        memcpy(&four, level + i, sizeof four);
        if (four)
            break;
    }
    while (i < n && !level[i])
        i++;
    return i;
}

static inline void code_ac(PnvBits *s, int counting, const int16_t *level, int n)
{
    int previous_run = PNV_INITIAL_RUN, previous_level = PNV_INITIAL_LEVEL;
    int start = 0; /* position after the last nonzero level: the run counts from here, across rows */

    for (int i = next_nonzero(level, 0, n); i < n; i = next_nonzero(level, start, n)) {
        const int run = i - start, magnitude = abs(level[i]) - 1;
        const int run_state = pnv_min(previous_run, PNV_RUN_STATES - 1);
        const int level_state = pnv_min(previous_level, PNV_LEVEL_STATES - 1);
        const PnvCode code = find_code(small_levels[level_state], level_books[level_state], (uint32_t)magnitude);

        pnv_bits_put(s, counting, find_code(small_runs[run_state], run_books[run_state], (uint32_t)run));
        pnv_bits_put(s, counting, (PnvCode){code.bits << 1 | (level[i] < 0), code.length + 1});
        previous_run = run;
        previous_level = magnitude;
        start = i + 1;
    }
}

static inline void code_unit(PnvBits *s, int counting, const int16_t *level, int n_blocks)
{
    code_dc(s, counting, level, n_blocks);
    code_ac(s, counting, level + n_blocks, 63 * n_blocks);
}

size_t pnv_entropy_bits_c(const int16_t *level, int n_blocks)
{
    PnvBits s = {0};

    code_unit(&s, 1, level, n_blocks);
    return s.n_bits;
}

size_t pnv_entropy_write_c(uint8_t *dst, size_t capacity, const int16_t *level, int n_blocks)
{
    PnvBits s = {.at = dst, .end = dst + capacity};

    code_unit(&s, 0, level, n_blocks);
    return pnv_bits_finish(&s, dst);
}
