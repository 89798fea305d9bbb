/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Coefficients -> levels. */
#ifndef PNV_QUANT_H
#define PNV_QUANT_H

#include <stdint.h>

#include "pnv.h"
#include "shared.h"

/**
 * Division by one step d = W * qScale (2..32256) as a multiplication. With c = 2 * C (the transform's output):
 *
 *     level = sign(c) * ((|c| + bias) >> 1) * recip >> (16 + shift)
 *
 * which is floor((|c| + bias) / (2 * d)), exactly, for every |c| <= 32768 and bias <= d: (|c| + bias) >> 1 has 15 bits,
 * and recip = floor(2^(15 + k) / d) + 1 with k = ceil(log2 d) is off by less than 2^k / d, too little to matter below
 * 2^15. All of it fits unsigned 16-bit lanes with a high multiply. unit_quant goes through every c and d.
 */
typedef struct PnvQuantStep {
    uint16_t recip;
    uint16_t shift;        /**< k - 1 */
    uint16_t bias;         /**< Nearest: d, in units of c, which rounds half away from zero. */
    uint16_t zone_bias;    /**< Dead zone: floor(x + 28/64), x = |C| / d. */
    uint16_t threshold[5]; /**< Dead zone: least |c| that stays a level when 0..4 neighbours are small. */
    uint16_t small;        /**< A neighbour with |c| below this is small. */
} PnvQuantStep;

/**
 * Of a step, each number in both halves of 32 bits: vectors are filled with these for the price of a load. Biases are
 * one less, so that (|c| + bias) >> 1 is an average that rounds up, one instruction: they are 1 or more.
 */
typedef struct PnvQuantTwice {
    uint32_t recip, shift, bias, zone_bias, small;
} PnvQuantTwice;

/** Of a step, the thresholds as bytes, which vectors look up: the number of small neighbours is the index. */
typedef struct PnvQuantZone {
    uint8_t low[8], high[8];
} PnvQuantZone;

/** The 64 steps of a matrix at one quantizer, in scan order; entry 0 is DC. */
typedef struct PnvQuant {
    PnvQuantStep step[64];
    PnvQuantZone zone[64];   /**< The same, */
    PnvQuantTwice twice[64]; /**< and the same. */
} PnvQuant;

/** Level of a coefficient: the bias is the step's, for nearest or for the dead zone. */
PNV_SHARED int16_t pnv_quant_level(int c, int bias, const PnvQuantStep *s)
{
    const uint32_t magnitude = (uint32_t)(c < 0 ? -c : c);
    const int level = (int)(((magnitude + (uint32_t)bias) >> 1) * s->recip >> 16 >> s->shift);

    return (int16_t)(c < 0 ? -level : level);
}

/** Set the step of scan position i. That of DC is set without a dead zone. */
void pnv_quant_set(PnvQuant *quant, int i, PnvQuantStep step);

PnvQuantStep pnv_quant_step(int d);

/** @param matrix 64 weights in raster order, 2..63. @param quantizer quantization_index 1..224. */
void pnv_quant_init(PnvQuant *quant, const uint8_t matrix[64], const uint8_t scan[64], int quantizer);

/** Quantize 64 rows of n_blocks, as pnv_transform_c() wrote them, to nearest. level may be coef. |level| <= 8192. */
void pnv_quant_c(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant);

/**
 * The same with a dead zone that depends on the context: a level that stands among small ones costs a long run and a
 * new codebook, so it has to be worth more.
 *
 * DC rounds to nearest. For each AC coefficient of the unit in coding order, count those of the two before and the two
 * behind it that are small, x < 41/64; before the first AC coefficient none is, behind the last all are. The level is 0
 * if x is below 40, 41, 41, 44, 50 64ths for a count of 0..4, else floor(x + 28/64).
 *
 * The constants are tuned on natural pictures; docs/rate-control.md has what they gain.
 *
 * @param level must not be coef.
 */
void pnv_quant_dead_zone_c(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant);

/**
 * The same, weighing each level against its bits: from nearest levels, first to last, a level goes one down (1 to 0)
 * where its squared error then grows by less than 0.12 steps for each bit that is saved, bits counted with the next
 * run, level and the run behind it. Sequential in a unit. Steps as pnv_quant_step() makes them.
 *
 * @param level must not be coef.
 */
void pnv_quant_optimal_c(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant);

#endif
