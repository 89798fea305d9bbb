/* SPDX-License-Identifier: GPL-2.0-or-later */
/* R'G'B' -> Y'CbCr, video range at the scale of fetch.h. */
#ifndef PNV_COLOR_H
#define PNV_COLOR_H

#include <stdint.h>

#include "plane.h"

/**
 * One matrix for samples of one depth b. Component k of a pixel is
 *
 *     (w[k][0] * (R - zero) + w[k][1] * (G - zero) + w[k][2] * (B - zero) + bias[k]) >> shift
 *
 * kept in -8192..8191. zero = 2^(b-1) makes every sample fit 16 signed bits; bias holds the offset of the component and
 * half of the last bit. shift = b + 1, so that all weights fit 16 signed bits at every depth, and the sums 32: at 16
 * bits and video range, the largest, |w| adds up to 33,518 at most, times 2^15 is 0.51 * 2^31, and |bias| is below
 * 0.01 * 2^31. Since the sums are exact, their order is free.
 *
 * The weights are the exact ones times 2^shift, rounded so that they add up to the exact sum, rounded. Those of chroma
 * add up to 0: every grey is 0, without colour. Luma of greys is that of pnv_sample_video(), or, from full range, below
 * 0.72 from the exact number with black and white exact. No pixel of any depth is 0.89 from the exact matrix, in units
 * of the result, a quarter of a code value of 12 bits (unit_color).
 */
typedef struct PnvColor {
    int16_t weight[3][3]; /**< [Y, Cb, Cr][R, G, B] */
    int32_t bias[3];
    int shift;
    int zero;
} PnvColor;

/** Whether a matrix_coefficients of H.273 has weights here: 1 (709), 4 (FCC), 5, 6 (601), 7 (240M), 9 (2020). */
int pnv_color_has(int matrix_coefficients);

/**
 * @param matrix_coefficients one that pnv_color_has()
 * @param depth               bits of R, G and B: 8..16
 * @param range               of R, G and B: full, 0..2^depth - 1 from black to white, or video, 16..235 of 8 bits with
 *                            what lies outside. Y'CbCr is video range either way.
 */
void pnv_color_init(PnvColor *color, int matrix_coefficients, int depth, PnvRange range);

/** One component, 0..2, of one pixel. r, g, b: 0..2^depth - 1. */
PNV_SHARED int16_t pnv_color_sample(const PnvColor *color, int component, int r, int g, int b)
{
    const int16_t *w = color->weight[component];
    const int zero = color->zero;
    const int v = (w[0] * (r - zero) + w[1] * (g - zero) + w[2] * (b - zero) + color->bias[component]) >> color->shift;

    return (int16_t)(v < -8192 ? -8192 : v > 8191 ? 8191 : v);
}

/**
 * n pixels, 1 or more: all three components at once, as what is read and unpacked is the same. Nothing past n is read
 * or written, any alignment of samples will do, and no two rows overlap.
 */
void pnv_color_row_c(int16_t *y, int16_t *cb, int16_t *cr, const uint16_t *r, const uint16_t *g, const uint16_t *b,
                     const PnvColor *color, int n);

/** Whether R, G and B of a pixel are bytes of the same four, or fields of the same word of 32 bits. */
int pnv_color_is_packed(const PnvPlane planes[3]);

/**
 * The same from where such pixels lie: n columns from x on of n_rows rows from y on, the nearest pixels where there are
 * none. Nothing but the pnv_plane_row_bytes() of the rows is read; what the next slice reads may be prefetched.
 *
 * @param dst    Y, Cb and Cr; nothing behind the n samples of a row is written.
 * @param stride samples from a row to the next.
 * @param planes R, G and B, which pnv_color_is_packed().
 */
void pnv_color_pixels_c(int16_t *const dst[3], ptrdiff_t stride, const PnvPlane planes[3], const PnvColor *color,
                        int x, int y, int n, int n_rows);

#endif
