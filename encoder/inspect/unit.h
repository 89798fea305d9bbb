/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoding one unit: the codes of one slice's share of one plane (RDD 36 7.1). */
#ifndef PNV_INSPECT_UNIT_H
#define PNV_INSPECT_UNIT_H

#include "finding.h"

#define PNV_UNIT_MAX_BLOCKS 32        /**< 8 macroblocks of 4 blocks. */
#define PNV_UNIT_MAX_ALPHA (8 * 256) /**< 8 macroblocks of 16x16 values. */

/** How the decoding of a unit ended. */
typedef struct PnvUnitResult {
    PnvFindingCode code;   /**< What stopped it, or was wrong at its end; PNV_FINDING_NONE when nothing was. */
    bool complete;         /**< All levels or values are known, whatever code says. */
    uint32_t bit;          /**< Where the code at fault begins, in bits from the start of the unit. */
    uint32_t used_bits;    /**< Bits of all codes, without padding. */
    uint32_t padding_bits; /**< From there to the end of the unit. */
    int index;             /**< Coefficient (scan index * blocks + block) or alpha value at fault. */
    int value;             /**< The offending number: level, run or alpha value. */
    int max_level;         /**< Largest magnitude of a level. */
    bool opaque;           /**< Alpha: every value is the largest. */
    uint32_t n_wraps;      /**< Alpha: short differences that left the range; decoded modulo it. */
    uint32_t wrap_bit;     /**< Alpha: where the first of them begins. */
    int wrap_value;        /**< Alpha: what it led to. */
    uint32_t n_long_runs;  /**< Alpha: runs below 17 in the 16-bit form. */
} PnvUnitResult;

/**
 * Decode the DC and AC codes of a luma or chroma unit (RDD 36 7.1.1).
 *
 * @param levels n_blocks * 64 levels in coded order: levels[scan index * n_blocks + block]. All are written; those not
 *               decoded are 0.
 */
PnvUnitResult pnv_unit_decode_levels(int16_t *levels, int n_blocks, const uint8_t *data, uint32_t bytes);

/**
 * Decode the run and difference codes of an alpha unit (RDD 36 7.1.2).
 *
 * @param values n_values of 0..255 or 0..65535, rows of the slice one after another; those not decoded are 0.
 * @param depth  8 or 16: alpha_channel_type 1 or 2.
 */
PnvUnitResult pnv_unit_decode_alpha(uint16_t *values, int n_values, int depth, const uint8_t *data, uint32_t bytes);

#endif
