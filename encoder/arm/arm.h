/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The variants for aarch64, where NEON is always there. Each equals the function in C of the same name. */
#ifndef PNV_ARM_H
#define PNV_ARM_H

#include <stddef.h>
#include <stdint.h>

#include "fetch.h"
#include "quant.h"
#include "transform.h"

void pnv_fetch_neon(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width);
void pnv_transform_neon(int16_t *coef, const int16_t *samples, ptrdiff_t stride, PnvBlockOrder order, int n_mb,
                        const uint8_t scan[64]);
void pnv_quant_neon(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant);
void pnv_quant_dead_zone_neon(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant);
void pnv_forward_neon(int16_t *level, const PnvPlane *plane, int x0, int y0, PnvBlockOrder order, int n_mb,
                      const uint8_t scan[64], const PnvQuant *quant);

#endif
