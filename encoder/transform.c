/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transform.h"

#include "dct.h"
#include "tables.h"

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

const uint8_t *pnv_scan_inverse(uint8_t room[64], const uint8_t scan[64])
{
    static const uint8_t progressive[64] = {
         0,  1,  4,  5, 16, 17, 21, 22,
         2,  3,  6,  7, 18, 20, 23, 28,
         8,  9, 12, 13, 19, 24, 27, 29,
        10, 11, 14, 15, 25, 26, 30, 31,
        32, 33, 37, 38, 45, 46, 53, 54,
        34, 36, 39, 44, 47, 52, 55, 60,
        35, 40, 43, 48, 51, 56, 59, 61,
        41, 42, 49, 50, 57, 58, 62, 63,
    };
    static const uint8_t interlaced[64] = {
         0,  2,  8, 10, 32, 34, 35, 41,
         1,  3,  9, 11, 33, 36, 40, 42,
         4,  6, 12, 14, 37, 39, 43, 49,
         5,  7, 13, 15, 38, 44, 48, 50,
        16, 18, 19, 25, 45, 47, 51, 57,
        17, 20, 24, 26, 46, 52, 56, 58,
        21, 23, 27, 30, 53, 55, 59, 62,
        22, 28, 29, 31, 54, 60, 61, 63,
    };

    if (scan == pnv_scan_progressive)
        return progressive;
    if (scan == pnv_scan_interlaced)
        return interlaced;
    for (int i = 0; i < 64; i++)
        room[scan[i]] = (uint8_t)i;
    return room;
}
