/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Levels to samples in double precision (RDD 36 7.3, 7.4). */
#ifndef PNV_INSPECT_PIXELS_H
#define PNV_INSPECT_PIXELS_H

#include <stddef.h>
#include <stdint.h>

/** What turns levels into samples; belongs to a reader. */
typedef struct PnvPixels {
    double basis[8][8]; /**< [frequency][position] of the orthonormal 8-point DCT. */
} PnvPixels;

void pnv_pixels_init(PnvPixels *p);

/**
 * Rebuild one 8x8 block.
 *
 * @param dst    top left sample; row y at dst + y * stride.
 * @param stride in samples.
 * @param level  level of scan index 0; that of index i is at level[i * step].
 * @param step   blocks of the unit.
 * @param scan   raster position of each scan index.
 * @param weight 64 weights in raster order.
 * @param qscale 1..512
 * @param depth  unit of the result: 2^depth code values for the whole range.
 */
void pnv_pixels_block(const PnvPixels *p, double *dst, ptrdiff_t stride, const int16_t *level, int step,
                      const uint8_t *scan, const uint8_t *weight, int qscale, int depth);

#endif
