/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "quant.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "optimal.h"
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
    if (i == 0) { /* DC has no dead zone, and is no small neighbour */
        s.zone_bias = s.bias;
        s.small = 0;
        memset(s.threshold, 0, sizeof s.threshold);
    }
    quant->step[i] = s;
    quant->zone[i] = (PnvQuantZone){0};
    for (int n = 0; n < 5; n++) {
        quant->zone[i].low[n] = (uint8_t)(s.threshold[n] & 0xff);
        quant->zone[i].high[n] = (uint8_t)(s.threshold[n] >> 8);
    }
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

static void quantize_row(int16_t *level, const int16_t *coef, int n, const PnvQuantStep *step)
{
    const PnvQuantStep s = *step;

    for (int b = 0; b < n; b++)
        level[b] = pnv_quant_level(coef[b], s.bias, &s);
}

void pnv_quant_c(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    for (int i = 0; i < 64; i++)
        quantize_row(level + i * n_blocks, coef + i * n_blocks, n_blocks, &quant->step[i]);
}

enum { MAX_BLOCKS = 32 };

void pnv_quant_dead_zone_c(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    /* Whether coefficient i is small is at small[i + 2]; two neighbours stand on either side. */
    uint8_t small[64 * MAX_BLOCKS + 4] = {0};
    const int n = 64 * n_blocks;

    assert(n_blocks <= MAX_BLOCKS);
    for (int i = 0; i < 64; i++) {
        const int edge = quant->step[i].small;
        for (int b = i * n_blocks; b < (i + 1) * n_blocks; b++)
            small[b + 2] = abs(coef[b]) < edge;
    }
    small[n + 2] = small[n + 3] = 1;
    for (int i = 0; i < 64; i++) {
        const PnvQuantStep s = quant->step[i];
        for (int b = i * n_blocks; b < (i + 1) * n_blocks; b++) {
            const int count = small[b] + small[b + 1] + small[b + 3] + small[b + 4];
            level[b] = abs(coef[b]) < s.threshold[count] ? 0 : pnv_quant_level(coef[b], s.zone_bias, &s);
        }
    }
}

void pnv_quant_optimal_c(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    static const PnvCodebook run_books[PNV_RUN_STATES] = PNV_CODEBOOKS_RUN;
    static const PnvCodebook level_books[PNV_LEVEL_STATES] = PNV_CODEBOOKS_LEVEL;

    pnv_quant_c(level, coef, n_blocks, quant);
    pnv_optimal_weigh(level, coef, n_blocks, quant->step, &(PnvOptimalBooks){run_books, level_books});
}
