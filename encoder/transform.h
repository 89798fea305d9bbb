/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of a slice's unit -> coefficients in coding order. */
#ifndef PNV_TRANSFORM_H
#define PNV_TRANSFORM_H

#include <stddef.h>
#include <stdint.h>

/** Order of the blocks of one macroblock of a unit (RDD 36 7.5, figures 6 to 8). */
typedef enum PnvBlockOrder {
    PNV_BLOCKS_LUMA,       /**< Top left, top right, bottom left, bottom right. */
    PNV_BLOCKS_CHROMA_422, /**< Top, bottom. */
    PNV_BLOCKS_CHROMA_444  /**< Top left, bottom left, top right, bottom right: down the columns. */
} PnvBlockOrder;

static inline int pnv_order_blocks_per_mb(PnvBlockOrder order)
{
    return order == PNV_BLOCKS_CHROMA_422 ? 2 : 4;
}

/**
 * Forward DCT of one unit, n_mb macroblocks (1, 2, 4 or 8, as slices have them), dct.h being the definition of a block.
 *
 * @param coef    64 rows of n_blocks = n_mb * blocks per MB: row i has scan position i of every block in slice order,
 *                which is the order of the bitstream. 2 * C each.
 * @param samples from pnv_fetch_c(): 16 rows, stride samples apart.
 * @param scan    pnv_scan_progressive or pnv_scan_interlaced.
 */
void pnv_transform_c(int16_t *coef, const int16_t *samples, ptrdiff_t stride, PnvBlockOrder order, int n_mb,
                     const uint8_t scan[64]);

/** Scan position of each raster position: a constant table for the scans of the format, else computed into room. */
const uint8_t *pnv_scan_inverse(uint8_t room[64], const uint8_t scan[64]);

#endif
