/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stages as a table of functions: the C definitions first, then the variants that this CPU offers. */
#ifndef PNV_DSP_H
#define PNV_DSP_H

#include <stddef.h>
#include <stdint.h>

#include "alpha.h"
#include "color.h"
#include "decimate.h"
#include "fetch.h"
#include "forward.h"
#include "interpolate.h"
#include "load.h"
#include "quant.h"
#include "rate.h"
#include "transform.h"

/** Belongs to an encoder, not to the process. Every variant gives the bytes of its definition, named beside it. */
typedef struct PnvDsp {
    void (*load)(uint16_t *dst, ptrdiff_t stride, const PnvPlane *plane, int x, int y, int n,
                 int n_rows, int up);                                              /**< pnv_load_c() */
    void (*fetch)(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width); /**< pnv_fetch_c() */
    void (*fetch_scale)(int16_t *dst, const uint16_t *sample, int n, int depth,
                        PnvSampleRange range);                                         /**< pnv_fetch_scale_c() */
    void (*color_row)(int16_t *y, int16_t *cb, int16_t *cr, const uint16_t *r, const uint16_t *g, const uint16_t *b,
                      const PnvColor *color, int n);                                   /**< pnv_color_row_c() */
    void (*color_pixels)(int16_t *const dst[3], ptrdiff_t stride, const PnvPlane planes[3], const PnvColor *color,
                         int x, int y, int n, int n_rows);                             /**< pnv_color_pixels_c() */
    void (*decimate_row)(int16_t *dst, const int16_t *src, int n);                     /**< pnv_decimate_row_c() */
    void (*transform)(int16_t *coef, const int16_t *samples, ptrdiff_t stride, PnvBlockOrder order, int n_mb,
                      const uint8_t scan[64]);                                         /**< pnv_transform_c() */
    void (*forward)(int16_t *level, const PnvPlane *plane, int x0, int y0, PnvBlockOrder order, int n_mb,
                    const uint8_t scan[64], const PnvQuant *quant);                    /**< pnv_forward_c() */
    /** By PnvRounding: pnv_quant_dead_zone_c(), pnv_quant_c(), pnv_quant_optimal_c() */
    void (*quant[3])(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant);
    void (*histogram)(PnvRateHistogram *h, const int16_t *coef, int n_blocks,
                      const uint16_t reciprocal[64]);                                  /**< pnv_rate_histogram_c() */
    size_t (*entropy_bits)(const int16_t *level, int n_blocks);                        /**< pnv_entropy_bits_c() */
    size_t (*entropy_write)(uint8_t *dst, size_t capacity, const int16_t *level,
                            int n_blocks);                                             /**< pnv_entropy_write_c() */
    void (*alpha_fetch)(uint16_t *dst, const PnvPlane *plane, int bits, int x0, int y0,
                        int width);                                                    /**< pnv_alpha_fetch_c() */
    size_t (*alpha_bits)(const uint16_t *value, int n, int bits);                      /**< pnv_alpha_bits_c() */
    size_t (*alpha_write)(uint8_t *dst, size_t capacity, const uint16_t *value, int n,
                          int bits);                                                   /**< pnv_alpha_write_c() */
    void (*interpolate)(uint16_t *dst, const uint16_t *const row[6], int fx, int fy, int n,
                        int max);                                                      /**< pnv_interpolate_c() */
    void (*interpolate_rows)(int16_t *dst, const uint16_t *src, ptrdiff_t stride, int fy, int n, int n_rows,
                             int depth);                                               /**< pnv_interpolate_rows_c() */
} PnvDsp;

/** The fastest variants up to a level that pnv_cpu_has(); auto means the best. What has none stays C. */
void pnv_dsp_init(PnvDsp *dsp, PnvCpu cpu);

#endif
