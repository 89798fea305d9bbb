/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The constant tables of RDD 36, and the weight matrices that ProRes encoders agree on. */
#ifndef PNV_TABLES_H
#define PNV_TABLES_H

#include <stdint.h>

#include "shared.h"

/** Scan order (RDD 36 figures 4 and 5): entry i = raster position 8 * v + u of the coefficient coded at i. */
extern const uint8_t pnv_scan_progressive[64], pnv_scan_interlaced[64];

/** Weight matrices in raster order, v (vertical frequency) major, as the frame header carries them. */
extern const uint8_t pnv_matrix_proxy_luma[64], pnv_matrix_proxy_chroma[64], pnv_matrix_lt[64],
    pnv_matrix_standard[64], pnv_matrix_hq[64], pnv_matrix_xq_luma[64];

/** Codes of frame rates (RDD 36 6.1.1): the fraction of codes 1..11. Entry 0, unknown, is 0/0. */
#define PNV_N_FRAME_RATE_CODES 12
extern const struct PnvFrameRate { int n, d; } pnv_frame_rates[PNV_N_FRAME_RATE_CODES];

#define PNV_QUANTIZER_MIN 1
#define PNV_QUANTIZER_MAX 224

/** qScale of a quantization_index 1..224 (RDD 36 7.3): 1..128 as it is, then in steps of 4 up to 512. */
PNV_SHARED int pnv_qscale(int quantization_index)
{
    return quantization_index <= 128 ? quantization_index : 4 * (quantization_index - 96);
}

#endif
