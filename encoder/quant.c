/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "quant.h"

#include <assert.h>
#include <stdlib.h>

#include "codeword.h"
#include "tables.h"

/* The dead zone in 64ths of a step: by the number of small neighbours, below which x a neighbour is small, and what is
 * added before rounding down. */
static const int zone_threshold[5] = {40, 41, 41, 44, 50};
enum { ZONE_SMALL = 41, ZONE_OFFSET = 28 };

/** Least |c| with |c| / (2 * d) >= n / 64. */
static uint16_t zone_edge(int d, int n)
{
    return (uint16_t)((d * n + 31) / 32);
}

PnvQuantStep pnv_quant_step(int d)
{
    assert(d >= 2 && d <= 63 * 512);
    const int k = pnv_log2((unsigned)d - 1) + 1;
    PnvQuantStep step = {
        .recip = (uint16_t)((1u << (15 + k)) / (unsigned)d + 1),
        .shift = (uint16_t)(k - 1),
        .bias = (uint16_t)d,
        .zone_bias = (uint16_t)(d * ZONE_OFFSET / 32),
        .small = zone_edge(d, ZONE_SMALL),
    };
    for (int i = 0; i < 5; i++)
        step.threshold[i] = zone_edge(d, zone_threshold[i]);
    return step;
}

void pnv_quant_set(PnvQuant *quant, int i, PnvQuantStep s)
{
    assert(s.bias >= 1 && s.zone_bias >= 1);
    quant->step[i] = s;
    quant->twice[i] = (PnvQuantTwice){
        .recip = s.recip * 0x10001u,
        .shift = s.shift * 0x10001u,
        .bias = (s.bias - 1u) * 0x10001u,
        .zone_bias = (s.zone_bias - 1u) * 0x10001u,
        .small = s.small * 0x10001u,
    };
}

void pnv_quant_init(PnvQuant *quant, const uint8_t matrix[64], const uint8_t scan[64], int quantizer)
{
    for (int i = 0; i < 64; i++)
        pnv_quant_set(quant, i, pnv_quant_step(matrix[scan[i]] * pnv_qscale(quantizer)));
}

static inline int divide(int magnitude, int bias, const PnvQuantStep *s)
{
    return (int)((((uint32_t)(magnitude + bias) >> 1) * s->recip) >> 16 >> s->shift);
}

static inline int16_t quantize(int c, int bias, const PnvQuantStep *s)
{
    const int level = divide(abs(c), bias, s);

    return (int16_t)(c < 0 ? -level : level);
}

static void quantize_row(int16_t *level, const int16_t *coef, int n, const PnvQuantStep *step)
{
    const PnvQuantStep s = *step;

    for (int b = 0; b < n; b++)
        level[b] = quantize(coef[b], s.bias, &s);
}

void pnv_quant_c(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    for (int i = 0; i < 64; i++)
        quantize_row(level + i * n_blocks, coef + i * n_blocks, n_blocks, &quant->step[i]);
}

enum { MAX_BLOCKS = 32 };

void pnv_quant_dead_zone_c(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    /* Whether AC coefficient i is small is at small[i + 2]; two neighbours stand on either side. */
    uint8_t small[63 * MAX_BLOCKS + 4] = {0};
    const int n = 63 * n_blocks;

    assert(n_blocks <= MAX_BLOCKS);
    quantize_row(level, coef, n_blocks, &quant->step[0]);
    level += n_blocks;
    coef += n_blocks;
    for (int i = 0; i < 63; i++) {
        const int edge = quant->step[i + 1].small;
        for (int b = i * n_blocks; b < (i + 1) * n_blocks; b++)
            small[b + 2] = abs(coef[b]) < edge;
    }
    small[n + 2] = small[n + 3] = 1;
    for (int i = 0; i < 63; i++) {
        const PnvQuantStep s = quant->step[i + 1];
        for (int b = i * n_blocks; b < (i + 1) * n_blocks; b++) {
            const int count = small[b] + small[b + 1] + small[b + 3] + small[b + 4];
            level[b] = abs(coef[b]) < s.threshold[count] ? 0 : quantize(coef[b], s.zone_bias, &s);
        }
    }
}

static const PnvCodebook run_books[PNV_RUN_STATES] = PNV_CODEBOOKS_RUN;
static const PnvCodebook level_books[PNV_LEVEL_STATES] = PNV_CODEBOOKS_LEVEL;

static inline int min_int(int a, int b)
{
    return a < b ? a : b;
}

static inline int run_bits(int previous_run, int run)
{
    return pnv_code_length(run_books[min_int(previous_run, PNV_RUN_STATES - 1)], (uint32_t)run);
}

/** Without the sign. Levels here are magnitudes, 1 and more. */
static inline int level_bits(int previous_level, int level)
{
    return pnv_code_length(level_books[min_int(previous_level - 1, PNV_LEVEL_STATES - 1)], (uint32_t)level - 1);
}

/** A nonzero level in a row of them: where, and how large. */
typedef struct Symbol {
    int position, magnitude;
} Symbol;

/** The first nonzero level from i on; at n, magnitude 0, where there is none. */
static Symbol next_symbol(const int16_t *level, int i, int n)
{
    while (i < n && !level[i])
        i++;
    return (Symbol){i, i < n ? abs(level[i]) : 0};
}

/**
 * Bits that a level gives back when it goes one down. before: what is coded in front of it, its position and
 * magnitude, with the run of that one; next, after: the two nonzero levels behind it, if any.
 */
static int saved_bits(Symbol before, int run_before, Symbol it, Symbol next, Symbol after)
{
    const int run = it.position - before.position - 1;
    int saved = level_bits(before.magnitude, it.magnitude);

    if (it.magnitude > 1) {
        saved -= level_bits(before.magnitude, it.magnitude - 1);
        if (next.magnitude)
            saved += level_bits(it.magnitude, next.magnitude) - level_bits(it.magnitude - 1, next.magnitude);
        return saved;
    }
    saved += run_bits(run_before, run) + 1; /* the sign */
    if (next.magnitude) {
        const int next_run = next.position - it.position - 1, merged = run + 1 + next_run;
        saved += run_bits(run, next_run) - run_bits(run_before, merged);
        saved += level_bits(it.magnitude, next.magnitude) - level_bits(before.magnitude, next.magnitude);
        if (after.magnitude) {
            const int after_run = after.position - next.position - 1;
            saved += run_bits(next_run, after_run) - run_bits(merged, after_run);
        }
    }
    return saved;
}

void pnv_quant_optimal_c(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    const int n = 63 * n_blocks;
    Symbol before = {-1, PNV_INITIAL_LEVEL + 1};
    int run_before = PNV_INITIAL_RUN;

    pnv_quant_c(level, coef, n_blocks, quant);
    level += n_blocks;
    coef += n_blocks;
    Symbol it = next_symbol(level, 0, n), next = next_symbol(level, it.position + 1, n);
    while (it.magnitude) {
        const Symbol after = next_symbol(level, next.position + 1, n);
        const int d = quant->step[1 + it.position / n_blocks].bias;
        const int excess = abs(coef[it.position]) - 2 * d * it.magnitude; /* 2 * d * (x - level) */

        /* 2 * (x - level) + 1 < 0.12 * bits */
        if (25 * (excess + d) < 3 * d * saved_bits(before, run_before, it, next, after)) {
            it.magnitude--;
            level[it.position] = (int16_t)(coef[it.position] < 0 ? -it.magnitude : it.magnitude);
        }
        if (it.magnitude) {
            run_before = it.position - before.position - 1;
            before = it;
        }
        it = next;
        next = after;
    }
}
