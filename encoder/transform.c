/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transform.h"

#include "dct.h"

/** Offset of block b of a macroblock, in samples. */
static ptrdiff_t block_offset(PnvBlockOrder order, int b, ptrdiff_t stride)
{
    switch (order) {
    case PNV_BLOCKS_CHROMA_422:
        return b * 8 * stride;
    case PNV_BLOCKS_CHROMA_444:
        return (b & 1) * 8 * stride + (b >> 1) * 8;
    default:
        return (b >> 1) * 8 * stride + (b & 1) * 8;
    }
}

static void transform_block(int16_t out[64], const int16_t *samples, ptrdiff_t stride)
{
    int16_t columns[64];

    for (int x = 0; x < 8; x++)
        pnv_dct_column(columns + x, 8, samples + x, (int)stride);
    for (int v = 0; v < 8; v++)
        pnv_dct_row(out + 8 * v, columns + 8 * v);
}

void pnv_transform_c(int16_t *coef, const int16_t *samples, ptrdiff_t stride, PnvBlockOrder order, int n_mb,
                     const uint8_t scan[64])
{
    const int per_mb = pnv_order_blocks_per_mb(order), mb_width = order == PNV_BLOCKS_CHROMA_422 ? 8 : 16;
    const int n_blocks = n_mb * per_mb;

    for (int mb = 0; mb < n_mb; mb++) {
        for (int b = 0; b < per_mb; b++) {
            int16_t block[64];
            transform_block(block, samples + mb * mb_width + block_offset(order, b, stride), stride);
            for (int i = 0; i < 64; i++)
                coef[i * n_blocks + mb * per_mb + b] = block[scan[i]];
        }
    }
}
