/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "slice.h"

#include "alpha.h"

PnvGrid pnv_grid(int width, int height, int mbs_per_slice)
{
    PnvGrid g = {.width_mb = (width + 15) / 16, .height_mb = (height + 15) / 16, .mbs_per_slice = mbs_per_slice};

    /* Full slices, then the rest by its binary digits from the highest. */
    g.slices_per_row = g.width_mb / mbs_per_slice;
    for (int rest = g.width_mb % mbs_per_slice; rest; rest &= rest - 1)
        g.slices_per_row++;
    g.n_slices = g.slices_per_row * g.height_mb;
    return g;
}

size_t pnv_slice_bound(PnvChroma chroma, int alpha_bits, int n_mb)
{
    const size_t colour = pnv_unit_bound(n_mb * pnv_blocks_per_mb(chroma, 0)) +
                          2 * pnv_unit_bound(n_mb * pnv_blocks_per_mb(chroma, 1));
    const size_t alpha = alpha_bits ? pnv_alpha_bound(256 * n_mb, alpha_bits) : 0;

    return pnv_slice_header_bytes(alpha_bits) + colour + alpha;
}

uint64_t pnv_picture_bound(const PnvGrid *grid, PnvChroma chroma, int alpha_bits)
{
    uint64_t row = 0;

    for (int k = 0; k < grid->slices_per_row; k++)
        row += 2 + pnv_slice_bound(chroma, alpha_bits, pnv_grid_span(grid, k).n_mb);
    return PNV_PICTURE_HEADER_BYTES + row * (uint64_t)grid->height_mb;
}
