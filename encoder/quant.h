/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Coefficients -> levels. */
#ifndef PNV_QUANT_H
#define PNV_QUANT_H

#include <stdint.h>

#include "pnv.h"

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
    uint16_t bias;  /**< In units of 2 * C; d makes it round half away from zero. */
    uint16_t shift; /**< k - 1 */
} PnvQuantStep;

/** The 64 steps of a matrix at one quantizer, in scan order; entry 0 is DC. */
typedef struct PnvQuant {
    PnvQuantStep step[64];
} PnvQuant;

PnvQuantStep pnv_quant_step(int d, PnvRounding rounding);

/** @param matrix 64 weights in raster order, 2..63. @param quantizer quantization_index 1..224. */
void pnv_quant_init(PnvQuant *quant, const uint8_t matrix[64], const uint8_t scan[64], int quantizer,
                    PnvRounding rounding);

/** Quantize 64 rows of n_blocks, as pnv_transform_c() wrote them. level may be coef. Levels are -8192..8192. */
void pnv_quant_c(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant);

#endif
