/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Levels weighed against the bits they cost: the sequential part of pnv_quant_optimal_c(). */
#ifndef PNV_OPTIMAL_H
#define PNV_OPTIMAL_H

#include "codeword.h"
#include "quant.h"

/** Where the codebooks are: constant tables on the CPU, shared memory on a GPU. */
typedef struct PnvOptimalBooks {
    const PnvCodebook *run, *level;
} PnvOptimalBooks;

PNV_SHARED int pnv_optimal_run_bits(const PnvOptimalBooks *books, int previous_run, int run)
{
    const int state = previous_run < PNV_RUN_STATES ? previous_run : PNV_RUN_STATES - 1;
    return pnv_code_length(books->run[state], (uint32_t)run);
}

/** Without the sign. Levels here are magnitudes, 1 and more. */
PNV_SHARED int pnv_optimal_level_bits(const PnvOptimalBooks *books, int previous_level, int level)
{
    const int state = previous_level <= PNV_LEVEL_STATES ? previous_level - 1 : PNV_LEVEL_STATES - 1;
    return pnv_code_length(books->level[state], (uint32_t)level - 1);
}

/** A nonzero level in a row of them: where, and how large. */
typedef struct PnvOptimalSymbol {
    int position, magnitude;
} PnvOptimalSymbol;

/** The first nonzero level from i on; at n or behind, magnitude 0, where there is none. */
PNV_SHARED PnvOptimalSymbol pnv_optimal_next(const int16_t *level, int i, int n)
{
    PnvOptimalSymbol s = {i, 0};

    while (s.position < n && !level[s.position])
        s.position++;
    if (s.position < n)
        s.magnitude = level[s.position] < 0 ? -level[s.position] : level[s.position];
    return s;
}

/**
 * Bits that a level gives back when it goes one down. before: what is coded in front of it, its position and
 * magnitude, with the run of that one; next, after: the two nonzero levels behind it, if any.
 */
PNV_SHARED int pnv_optimal_saved_bits(const PnvOptimalBooks *books, PnvOptimalSymbol before, int run_before,
                                      PnvOptimalSymbol it, PnvOptimalSymbol next, PnvOptimalSymbol after)
{
    const int run = it.position - before.position - 1;
    int saved = pnv_optimal_level_bits(books, before.magnitude, it.magnitude);

    if (it.magnitude > 1) {
        saved -= pnv_optimal_level_bits(books, before.magnitude, it.magnitude - 1);
        if (next.magnitude)
            saved += pnv_optimal_level_bits(books, it.magnitude, next.magnitude) -
                     pnv_optimal_level_bits(books, it.magnitude - 1, next.magnitude);
        return saved;
    }
    saved += pnv_optimal_run_bits(books, run_before, run) + 1; /* the sign */
    if (next.magnitude) {
        const int next_run = next.position - it.position - 1, merged = run + 1 + next_run;
        saved += pnv_optimal_run_bits(books, run, next_run) - pnv_optimal_run_bits(books, run_before, merged);
        saved += pnv_optimal_level_bits(books, it.magnitude, next.magnitude) -
                 pnv_optimal_level_bits(books, before.magnitude, next.magnitude);
        if (after.magnitude) {
            const int after_run = after.position - next.position - 1;
            saved += pnv_optimal_run_bits(books, next_run, after_run) - pnv_optimal_run_bits(books, merged, after_run);
        }
    }
    return saved;
}

/**
 * Weigh the AC levels of a unit in place.
 *
 * @param level nearest levels of the whole unit, DC included, as coef.
 * @param step  of the quantizer, 64.
 */
PNV_SHARED void pnv_optimal_weigh(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuantStep *step,
                                  const PnvOptimalBooks *books)
{
    const int n = 63 * n_blocks;
    PnvOptimalSymbol before = {-1, PNV_INITIAL_LEVEL + 1};
    int run_before = PNV_INITIAL_RUN;

    level += n_blocks;
    coef += n_blocks;
    PnvOptimalSymbol it = pnv_optimal_next(level, 0, n), next = pnv_optimal_next(level, it.position + 1, n);
    while (it.magnitude) {
        const PnvOptimalSymbol after = pnv_optimal_next(level, next.position + 1, n);
        const int d = step[1 + it.position / n_blocks].bias, c = coef[it.position];
        const int excess = (c < 0 ? -c : c) - 2 * d * it.magnitude; /* 2 * d * (x - level) */

        /* 2 * (x - level) + 1 < 0.12 * bits */
        if (25 * (excess + d) < 3 * d * pnv_optimal_saved_bits(books, before, run_before, it, next, after)) {
            it.magnitude--;
            level[it.position] = (int16_t)(c < 0 ? -it.magnitude : it.magnitude);
        }
        if (it.magnitude) {
            run_before = it.position - before.position - 1;
            before = it;
        }
        it = next;
        next = after;
    }
}

#endif
