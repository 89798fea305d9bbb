/* SPDX-License-Identifier: GPL-2.0-or-later */
/** @file Small kernels that show what the emulated CUDA runtime does, and what it finds. */
#ifndef UNIT_HOSTCUDA_H
#define UNIT_HOSTCUDA_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SCAN_THREADS = 256 };

/** d_out[i] = sum of d_in up to and with i, within each block of SCAN_THREADS; n a multiple of it. */
cudaError_t unit_scan(unsigned *d_out, const unsigned *d_in, int n, cudaStream_t stream);
/** The values other than 0 of each 32, in order, and 0 after them; n a multiple of 32. */
cudaError_t unit_compact(unsigned *d_out, const unsigned *d_in, int n, cudaStream_t stream);
/** d_out[0..7]: sum, minimum, maximum, or and xor of d_in[0..31], then votes: any, all and ballot of odd values. */
cudaError_t unit_reduce(unsigned *d_out, const unsigned *d_in, cudaStream_t stream);
/** Shuffles of lane numbers, 32 each: idx 5, up 3, down 3, xor 6, and idx 1, up 1, down 1, xor 5, xor 12 in widths of
 *  8. */
cudaError_t unit_shuffle(int *d_out, cudaStream_t stream);
/** 24 results of integer builtins, for n_cases triples of d_in. */
enum { BUILTINS = 24 };
cudaError_t unit_builtins(unsigned *d_out, const unsigned *d_in, int n_cases, cudaStream_t stream);
/** d_out[i] = the neighbour's number of thread i. sync 1: with __syncthreads; 0: without, which is wrong. */
cudaError_t unit_neighbour(int *d_out, int n, int sync, cudaStream_t stream);
/** The same in a warp, by __syncwarp; sync 2: by a shuffle alone, which orders no memory. */
cudaError_t unit_neighbour_warp(int *d_out, int sync, cudaStream_t stream);
/** d_out[i] = places reserved with atomicAdd in the order of arrival: what kernels may not do. */
cudaError_t unit_arrival(unsigned *d_out, unsigned *d_counter, int n, cudaStream_t stream);
/** d_out[i] += add. Index n - 1 + beyond is written too. */
cudaError_t unit_add(unsigned *d_out, unsigned add, int n, int beyond, cudaStream_t stream);
/** Writes shared memory at index 64 + beyond of 64. */
cudaError_t unit_shared_overrun(unsigned *d_out, int beyond, cudaStream_t stream);
/** 64 threads write and read shared memory at their number times stride elements of 4, 8 or 16 bytes. */
cudaError_t unit_stride(unsigned *d_out, int stride, int bytes, cudaStream_t stream);
/** Two words a block: shared memory of a template and of a device function, neither written in this block. */
cudaError_t unit_unwritten(unsigned *d_out, int n_blocks, cudaStream_t stream);
/** Every index of the grid and of the block once, as numbers in order of x, y, z. */
cudaError_t unit_indices(unsigned *d_out, dim3 grid, dim3 block, cudaStream_t stream);
/** How many of the block's threads have odd numbers, three ways. */
cudaError_t unit_block_votes(int *d_out, int threads, cudaStream_t stream);

enum {
    DIVERGE_BARRIER,  /**< half of the threads return before __syncthreads */
    DIVERGE_WARP,     /**< half of a warp waits in a barrier, half in a shuffle of all */
    DIVERGE_EXITED,   /**< the mask names lanes that have returned */
    DIVERGE_MASKS,    /**< two masks for the same lanes */
    DIVERGE_OUTSIDE,  /**< the calling lane is not in its mask */
    DIVERGE_PARTIAL,  /**< a full mask in a block of 40 threads */
    DIVERGE_TRAP      /**< __trap() */
};
cudaError_t unit_diverge(int *d_out, int how, cudaStream_t stream);

/** Parameters of all kinds: a struct with a pointer in it, numbers of 1, 2, 4 and 8 bytes. */
typedef struct UnitParams {
    unsigned *d_out;
    short a;
    double b;
} UnitParams;
cudaError_t unit_params(UnitParams params, signed char c, unsigned long long d, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
