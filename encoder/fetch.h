/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any input format -> samples of one slice of one plane, edges replicated. */
#ifndef PNV_FETCH_H
#define PNV_FETCH_H

#include <stddef.h>
#include <stdint.h>

/** One plane of a picture (of a field: every second line). */
typedef struct PnvPlane {
    const uint8_t *data; /**< Top left sample; for depth above 8 2-byte aligned. */
    ptrdiff_t stride;    /**< Bytes from a row to the next; may pass the row's bytes by any amount. */
    int width, height;   /**< Samples. */
} PnvPlane;

#define PNV_FETCH_STRIDE 128 /**< Samples from a row to the next in what fetch writes: the widest slice. */

/**
 * Read columns x0 .. x0 + width - 1 of rows y0 .. y0 + 15. Where the plane ends, its last column and row repeat.
 *
 * What is written is the sample at one scale for every depth b: (s - 2^(b-1)) * 2^(14-b), -8192..8191. That is four
 * times the 12-bit number x that RDD 36's transform is defined on, so 14 bits of an input are kept.
 *
 * @param dst   16 rows of PNV_FETCH_STRIDE.
 * @param depth 8, 10 or 12. Bits above depth in an input sample are ignored.
 * @param x0    < plane->width, as y0 < plane->height: a slice always has a visible sample.
 * @param width 1..PNV_FETCH_STRIDE
 */
void pnv_fetch_c(int16_t *dst, const PnvPlane *plane, int depth, int x0, int y0, int width);

#endif
