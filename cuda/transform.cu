/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/*
 * Twin of fetch.c and transform.c: planes -> coefficients in coding order. Integer arithmetic of dct.h, so equal bits.
 *
 * A block of threads takes 32 DCT blocks of a slice: all of luma, or of one 4:4:4 chroma unit, or both chroma units of
 * 4:2:2. Columns: a thread loads two of them, eight 4-byte loads that a warp makes 128 bytes wide each, all in flight
 * before the first is used. Rows: lane = block, warp = row, so that what a warp stores at one scan position is
 * contiguous. In between lies shared memory with rows of 36 words: both sides use all banks without conflicts.
 */
#include "place.cuh"

#include "dct.h"
#include "sample.h"

enum { THREADS = 128, MAX_BLOCKS = 32, BLOCK_WORDS = 36, PAIRS = 4 };

/** A DCT block of the slice. */
struct BlockPlace {
    int c;        /**< Component. */
    int n_blocks; /**< Of its unit. */
    int index;    /**< In its unit. */
};

static __device__ __forceinline__ BlockPlace block_place(const PnvCudaFrame &f, int part, int n_mb, int b)
{
    if (f.chroma != PNV_CHROMA_422 || !part)
        return {part, 4 * n_mb, b};
    const int n = 2 * n_mb, is_cr = b >= n;
    return {1 + is_cr, n, b - is_cr * n};
}

/** Two neighbouring columns of a block: sample rows 0..7 at in[2 * row], in[2 * row + 1]. Edges repeat. */
static __device__ __forceinline__ void load_columns(int16_t in[16], const PnvCudaPlane &p, int x, int y)
{
    const PnvPlane &plane = p.plane;
    const int depth = plane.depth, is_luma = plane.range == PNV_SAMPLES_FULL_LUMA;
    int s[16];

    if (p.has_pairs && x + 1 < plane.width) {
        const int mask = (1 << depth) - 1;
#pragma unroll
        for (int r = 0; r < 8; r++) {
            const int row = y + r < plane.height ? y + r : plane.height - 1;
            const uint8_t *at = plane.data + row * plane.stride;
            if (depth == 8) {
                const unsigned two = ((const uint16_t *)at)[x >> 1];
                s[2 * r] = (int)(two & 0xff);
                s[2 * r + 1] = (int)(two >> 8);
            } else {
                const uint32_t two = ((const uint32_t *)at)[x >> 1];
                s[2 * r] = (int)(two & 0xffff) & mask;
                s[2 * r + 1] = (int)(two >> 16) & mask;
            }
        }
    } else {
        const int x0 = x < plane.width ? x : plane.width - 1, x1 = x + 1 < plane.width ? x + 1 : plane.width - 1;
#pragma unroll
        for (int r = 0; r < 8; r++) {
            const int row = y + r < plane.height ? y + r : plane.height - 1;
            const uint8_t *at = plane.data + row * plane.stride;
            s[2 * r] = pnv_plane_load(&plane, at, x0);
            s[2 * r + 1] = pnv_plane_load(&plane, at, x1);
        }
    }
#pragma unroll
    for (int i = 0; i < 16; i++)
        in[i] = plane.range == PNV_SAMPLES_VIDEO ? pnv_sample_video(s[i], depth)
                                                 : pnv_sample_full(s[i], depth, is_luma, p.full_gain);
}

static __device__ __forceinline__ uint32_t two_words(int16_t low, int16_t high)
{
    return (uint32_t)(uint16_t)low | (uint32_t)(uint16_t)high << 16;
}

static __global__ void __launch_bounds__(THREADS) transform_kernel(const __grid_constant__ PnvCudaFrame f)
{
    __shared__ __align__(16) uint32_t room[MAX_BLOCKS * BLOCK_WORDS];
    const SlicePlace at = slice_place(f, (int)blockIdx.x);
    const int part = (int)blockIdx.y, thread = (int)threadIdx.x, n_mb = at.span.n_mb, n = 4 * n_mb;

    if (thread / PAIRS < n) {
        const int b = thread / PAIRS, pair = thread % PAIRS;
        const BlockPlace block = block_place(f, part, n_mb, b);
        const int per_mb = blocks_per_mb(f, block.c), mb_width = per_mb == 2 ? 8 : 16;
        const int mb = block.index / per_mb, sub = block.index % per_mb;
        /* down the columns in chroma, along the rows in luma */
        const int right = block.c ? sub >> 1 : sub & 1, down = block.c ? sub & 1 : sub >> 1;
        int16_t in[16], out[16];

        load_columns(in, f.plane[at.picture][block.c], (at.span.mb_x + mb) * mb_width + 8 * right + 2 * pair,
                     16 * at.mb_y + 8 * down);
        pnv_dct_column(out, 2, in, 2);
        pnv_dct_column(out + 1, 2, in + 1, 2);
#pragma unroll
        for (int v = 0; v < 8; v++)
            room[b * BLOCK_WORDS + v * PAIRS + pair] = two_words(out[2 * v], out[2 * v + 1]);
    }
    __syncthreads();

    const int b = thread % MAX_BLOCKS;
    if (b >= n)
        return;
    const BlockPlace block = block_place(f, part, n_mb, b);
    int16_t *coef = unit_coef(f, at, block.c) + block.index;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int v = thread / MAX_BLOCKS + 4 * half;
        const uint4 words = *(const uint4 *)&room[b * BLOCK_WORDS + v * PAIRS];
        const int16_t in[8] = {(int16_t)words.x, (int16_t)(words.x >> 16), (int16_t)words.y, (int16_t)(words.y >> 16),
                               (int16_t)words.z, (int16_t)(words.z >> 16), (int16_t)words.w, (int16_t)(words.w >> 16)};
        int16_t out[8];
        pnv_dct_row(out, in);
#pragma unroll
        for (int u = 0; u < 8; u++)
            coef[f.scan_inverse[8 * v + u] * block.n_blocks] = out[u];
    }
}

extern "C" cudaError_t pnv_cuda_transform(const PnvCudaFrame *frame, cudaStream_t stream)
{
    const unsigned parts = frame->chroma == PNV_CHROMA_422 ? 2 : 3;
    const cudaLaunchConfig_t config = launch_config(dim3((unsigned)frame->n_slices, parts), THREADS, stream);

    return cudaLaunchKernelEx(&config, transform_kernel, *frame);
}
