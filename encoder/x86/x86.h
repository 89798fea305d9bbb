/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The variants for x86-64, and what they share. Each equals the function in C of the same name. */
#ifndef PNV_X86_H
#define PNV_X86_H

#include <stddef.h>
#include <stdint.h>

#include "color.h"
#include "decimate.h"
#include "fetch.h"
#include "quant.h"
#include "rate.h"
#include "transform.h"

#define PNV_INLINE static inline __attribute__((always_inline))

#define PNV_X86_VARIANTS(isa)                                                                                          \
    void pnv_fetch_##isa(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width);                              \
    void pnv_transform_##isa(int16_t *coef, const int16_t *samples, ptrdiff_t stride, PnvBlockOrder order, int n_mb,   \
                             const uint8_t scan[64]);                                                                  \
    void pnv_quant_##isa(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant);                    \
    void pnv_quant_dead_zone_##isa(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant);          \
    void pnv_rate_histogram_##isa(PnvRateHistogram *h, const int16_t *coef, int n_blocks,                              \
                                  const uint16_t reciprocal[64]);                                                      \
    void pnv_forward_##isa(int16_t *level, const PnvPlane *plane, int x0, int y0, PnvBlockOrder order, int n_mb,       \
                           const uint8_t scan[64], const PnvQuant *quant);                                             \
    size_t pnv_entropy_bits_##isa(const int16_t *level, int n_blocks);                                                 \
    size_t pnv_entropy_write_##isa(uint8_t *dst, size_t capacity, const int16_t *level, int n_blocks);

void pnv_quant_optimal_avx2(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant);
void pnv_color_row_avx2(int16_t *y, int16_t *cb, int16_t *cr, const uint16_t *r, const uint16_t *g, const uint16_t *b,
                        const PnvColor *color, int n);
void pnv_color_pixels_avx2(int16_t *const dst[3], ptrdiff_t stride, const PnvPlane planes[3], const PnvColor *color,
                           int x, int y, int n, int n_rows);
void pnv_decimate_row_avx2(int16_t *dst, const int16_t *src, int n);
void pnv_load_avx2(uint16_t *dst, ptrdiff_t stride, const PnvPlane *plane, int x, int y, int n, int n_rows,
                   int up);
/** As pnv_fetch_c(), to PNV_LOAD_ROOM more than its 16 rows, with anything behind width. */
void pnv_fetch_loaded_avx2(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width);
void pnv_fetch_scale_avx2(int16_t *dst, const uint16_t *sample, int n, int depth, PnvSampleRange range);
void pnv_alpha_fetch_avx2(uint16_t *dst, const PnvPlane *plane, int bits, int x0, int y0, int width);
size_t pnv_alpha_bits_avx2(const uint16_t *value, int n, int bits);
size_t pnv_alpha_write_avx2(uint8_t *dst, size_t capacity, const uint16_t *value, int n, int bits);
void pnv_interpolate_avx2(uint16_t *dst, const uint16_t *const row[6], int fx, int fy, int n, int max);
void pnv_interpolate_rows_avx2(int16_t *dst, const uint16_t *src, ptrdiff_t stride, int fy, int n, int n_rows,
                               int depth);

PNV_X86_VARIANTS(avx2)
PNV_X86_VARIANTS(avx512)

#endif
