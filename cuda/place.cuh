/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/* Small things that all kernels use: where a slice is, and how to launch. */
#ifndef PNV_CUDA_PLACE_CUH
#define PNV_CUDA_PLACE_CUH

#include <cuda_runtime.h>

#include "kernels.h"

/** Where slice k of a frame, in coding order, comes from. */
struct SlicePlace {
    int picture, mb_y;
    PnvSpan span;
    size_t mb; /**< Macroblocks of the frame in front of it. */
};

static __device__ __forceinline__ SlicePlace slice_place(const PnvCudaFrame &f, int k)
{
    SlicePlace at;

    at.picture = f.n_pictures == 2 && k >= f.grid[0].n_slices;
    const PnvGrid &grid = f.grid[at.picture];
    if (at.picture)
        k -= f.grid[0].n_slices;
    at.mb_y = k / grid.slices_per_row;
    at.span = pnv_grid_span(&grid, k % grid.slices_per_row);
    at.mb = (size_t)at.mb_y * grid.width_mb + at.span.mb_x;
    if (at.picture)
        at.mb += (size_t)f.grid[0].width_mb * f.grid[0].height_mb;
    return at;
}

/** Blocks of a macroblock in unit c. */
static __device__ __forceinline__ int blocks_per_mb(const PnvCudaFrame &f, int c)
{
    return c && f.chroma == PNV_CHROMA_422 ? 2 : 4;
}

/** Coefficients of unit c of a slice: 64 rows of its blocks. */
static __device__ __forceinline__ int16_t *unit_coef(const PnvCudaFrame &f, const SlicePlace &at, int c)
{
    const int per_chroma = blocks_per_mb(f, 1);
    const size_t in_front = at.mb * (4 + 2 * per_chroma);               /* blocks of other slices */
    const int own = c ? (4 + (c - 1) * per_chroma) * at.span.n_mb : 0; /* of other units */

    return f.d_coef + 64 * (in_front + own);
}

static inline cudaLaunchConfig_t launch_config(dim3 grid, unsigned threads, cudaStream_t stream)
{
    cudaLaunchConfig_t config = {};

    config.gridDim = grid;
    config.blockDim = dim3(threads);
    config.stream = stream;
    return config;
}

#endif
