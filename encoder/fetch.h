/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any input format -> samples of one slice of one component, edges replicated. */
#ifndef PNV_FETCH_H
#define PNV_FETCH_H

#include <stddef.h>
#include <stdint.h>

/** What the codes of a component mean. */
typedef enum PnvSampleRange {
    PNV_SAMPLES_VIDEO,      /**< As ProRes stores it: kept. */
    PNV_SAMPLES_FULL_LUMA,  /**< 0..2^b-1 from black to white: brought to 16..235 of 8 bits. */
    PNV_SAMPLES_FULL_CHROMA /**< 2^(b-1) grey, 2^b-1 wide: brought to 224 of 8 bits. */
} PnvSampleRange;

/** One component of a picture, or of a field of it: every second row. */
typedef struct PnvPlane {
    const uint8_t *data;  /**< Top left sample; for depth above 8 2-byte aligned. */
    ptrdiff_t stride;     /**< Bytes from a row to the next. */
    int step;             /**< Bytes from a sample to the next in its row: more than a sample's in packed formats. */
    int width, height;    /**< Samples. */
    int depth;            /**< Bits of a sample: 8 (uint8_t), 10, 12 or 16 (little-endian uint16_t, low bits). */
    PnvSampleRange range;
} PnvPlane;

#define PNV_FETCH_STRIDE 128 /**< Samples from a row to the next in what fetch writes: the widest slice. */

/**
 * Read columns x0 .. x0 + width - 1 of rows y0 .. y0 + 15. Where the plane ends, its last column and row repeat.
 *
 * What is written is the sample at one scale for every depth b: (s - 2^(b-1)) * 2^(14-b), -8192..8191. That is four
 * times the 12-bit number x that RDD 36's transform is defined on, so 14 bits of an input are kept; 16 bits are rounded
 * to that, halves up, and stop at 8191. Full range is scaled by 219/255 (luma) or 224/255 (chroma) of its span and
 * rounded once, at this scale.
 *
 * @param dst   16 rows of PNV_FETCH_STRIDE; columns behind width are left alone.
 * @param x0    < plane->width, as y0 < plane->height: a slice always has a visible sample.
 * @param width 1..PNV_FETCH_STRIDE
 */
void pnv_fetch_c(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width);

#endif
