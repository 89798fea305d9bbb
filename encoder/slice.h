/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Picture -> slices: how many, where, how wide, and how large a slice can get. RDD 36 5.3 and 7.5 (geometry). */
#ifndef PNV_SLICE_H
#define PNV_SLICE_H

#include "pnv.h"
#include "shared.h"

#define PNV_MAX_MBS_PER_SLICE 8
#define PNV_MAX_BLOCKS (4 * PNV_MAX_MBS_PER_SLICE) /**< Blocks of the largest unit: luma, or 4:4:4 chroma. */

enum { PNV_PICTURE_HEADER_BYTES = 8 };

/** How one picture is cut. Every MB row is cut alike. */
typedef struct PnvGrid {
    int width_mb, height_mb;
    int mbs_per_slice;  /**< Desired width, a power of two; the last slices of a row can be narrower. */
    int slices_per_row;
    int n_slices;
} PnvGrid;

/** Cut a picture of width x height px. 1 <= width, height <= 65535, mbs_per_slice 1, 2, 4 or 8. */
PnvGrid pnv_grid(int width, int height, int mbs_per_slice);

/** Place of slice k of a row, 0..slices_per_row - 1: first macroblock column and macroblocks. */
typedef struct PnvSpan {
    int mb_x, n_mb;
} PnvSpan;

PNV_SHARED PnvSpan pnv_grid_span(const PnvGrid *grid, int k)
{
    const int n_full = grid->width_mb / grid->mbs_per_slice;
    PnvSpan s = {k * grid->mbs_per_slice, grid->mbs_per_slice};

    if (k < n_full)
        return s;
    s.mb_x = n_full * grid->mbs_per_slice;
    for (int i = n_full;; i++) {
        while (s.n_mb > grid->width_mb - s.mb_x)
            s.n_mb >>= 1;
        if (i == k)
            return s;
        s.mb_x += s.n_mb;
    }
}

/** Blocks of one macroblock in a unit. */
PNV_SHARED int pnv_blocks_per_mb(PnvChroma chroma, int is_chroma)
{
    return is_chroma && chroma == PNV_CHROMA_422 ? 2 : 4;
}

/** Samples across one macroblock of a plane. */
PNV_SHARED int pnv_mb_width(PnvChroma chroma, int is_chroma)
{
    return is_chroma && chroma == PNV_CHROMA_422 ? 8 : 16;
}

/** Columns of a plane; odd widths round up in subsampled chroma. */
static inline int pnv_plane_width(PnvChroma chroma, int is_chroma, int width)
{
    return is_chroma && chroma != PNV_CHROMA_444 ? (width + 1) / 2 : width;
}

/**
 * Most bytes that a unit of n_blocks can take. One AC coefficient of |level| up to 8192 (weight 2, quantizer 1) is at
 * most 27 bits with its run, a DC 29: 63 * 27 + 29 = 1730 bits a block.
 */
static inline size_t pnv_unit_bound(int n_blocks)
{
    return ((size_t)n_blocks * 1730 + 7) / 8;
}

/** Bytes of a slice header: with alpha it carries the size of Cr as well. */
PNV_SHARED size_t pnv_slice_header_bytes(int has_alpha)
{
    return has_alpha ? 8 : 6;
}

/** Most bytes that a slice of n_mb macroblocks can take, header included. At most 25,376: fits its 16-bit size. */
size_t pnv_slice_bound(PnvChroma chroma, int alpha_bits, int n_mb);

/** Most bytes that a picture can take, its header and slice table included. */
uint64_t pnv_picture_bound(const PnvGrid *grid, PnvChroma chroma, int alpha_bits);

#endif
