/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "forward.h"

void pnv_forward_c(int16_t *level, const PnvPlane *plane, int x0, int y0, PnvBlockOrder order, int n_mb,
                   const uint8_t scan[64], const PnvQuant *quant)
{
    _Alignas(64) int16_t samples[16 * PNV_FETCH_STRIDE];
    const int mb_width = order == PNV_BLOCKS_CHROMA_422 ? 8 : 16;

    pnv_fetch_c(samples, plane, x0, y0, n_mb * mb_width);
    pnv_transform_c(level, samples, PNV_FETCH_STRIDE, order, n_mb, scan);
    if (quant)
        pnv_quant_c(level, level, n_mb * pnv_order_blocks_per_mb(order), quant);
}
