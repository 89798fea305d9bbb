/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One slice through the stages, for the CPU: samples -> coefficients -> levels -> bytes. */
#ifndef PNV_ENCODE_H
#define PNV_ENCODE_H

#include "convert.h"
#include "dsp.h"
#include "plan.h"
#include "rate.h"

/** A thread's memory for one slice: it stays in the first-level cache, with the conversion's part in the second. */
typedef struct PnvScratch {
    _Alignas(64) int16_t coef[64 * PNV_MAX_BLOCKS];
    _Alignas(64) int16_t level[64 * PNV_MAX_BLOCKS];
    _Alignas(64) uint16_t alpha[PNV_MAX_ALPHA_VALUES];
    PnvConvertScratch convert;
} PnvScratch;

/** A slice on its way. */
typedef struct PnvSliceJob {
    const PnvPlan *plan;
    const PnvDsp *dsp;
    const PnvFraming *framing;
    const PnvPictureShape *shape; /**< Of its picture, */
    const PnvPlane *planes;       /**< whose components these are, 3 or 4. */
    PnvSpan span;
    int mb_y;
    PnvScratch *scratch;
} PnvSliceJob;

/** Blocks of a macroblock in all colour units. */
int pnv_encode_blocks_per_mb(const PnvPlan *plan);

/**
 * Coefficients of one unit, 0 Y, 1 Cb, 2 Cr; with quant their nearest levels. Of RGB unit 0 comes first: the others need
 * what it left in the scratch memory.
 *
 * @param coef 64 rows of the unit's blocks.
 */
void pnv_encode_unit(const PnvSliceJob *job, int c, int16_t *coef, const PnvQuant *quant);

/**
 * Code one slice at one quantizer in one go.
 *
 * @param dst room for pnv_slice_bound().
 * @param[out] alpha_bytes of the result.
 * @return its bytes.
 */
size_t pnv_encode_slice(const PnvSliceJob *job, int quantizer, uint8_t *dst, size_t *alpha_bytes);

/**
 * First half, for rate control: coefficients of the three units, one behind the other.
 *
 * @param coef 64 * pnv_encode_blocks_per_mb() * n_mb.
 */
void pnv_encode_forward(const PnvSliceJob *job, int16_t *coef);

/** Add a slice's coefficients to a histogram. */
void pnv_encode_histogram(const PnvSliceJob *job, const int16_t *coef, PnvRateHistogram *h);

/** Alpha unit of a slice, if the plan has alpha. Returns its bytes. */
size_t pnv_encode_alpha(const PnvSliceJob *job, uint8_t *dst, size_t capacity);

/** Second half: code a slice of these coefficients and this alpha. Returns its bytes. */
size_t pnv_encode_coef(const PnvSliceJob *job, const int16_t *coef, int quantizer, const uint8_t *alpha,
                       size_t alpha_bytes, uint8_t *dst);

#endif
