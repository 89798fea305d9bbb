/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/*
 * Twin of the rate control in cpu.c: histograms, then round after round of measuring (entropy.cu) and deciding, by the
 * very functions that the CPU compiles. Nothing goes to the host in between: a fixed number of rounds is queued, and
 * those behind the last find nothing to do.
 */
#include "place.cuh"

#include <stdlib.h>

#include "rate_search.h"

enum { HISTOGRAM_THREADS = 128, DECIDE_THREADS = 256, DECIDE_WARPS = DECIDE_THREADS / 32 };

/** The given part of a search. */
static __device__ void set_given(PnvRate *rate, const PnvCudaFrame &f)
{
    rate->n_slices = f.n_slices;
    rate->n_samples = pnv_rate_n_samples(f.n_slices);
    rate->n_part = pnv_rate_n_part(f.n_slices);
    rate->rounding = (PnvRounding)f.rounding;
    rate->multiplier = f.rank_multiplier;
    rate->min_quantizer = f.min_quantizer;
    rate->max_quantizer = f.max_quantizer;
}

static __device__ __forceinline__ int rank_of(const PnvCudaFrame &f, int slice)
{
    return (int)((int64_t)slice * f.rank_multiplier % f.n_slices);
}

/* A block takes a slice: counts in shared memory first, then one addition a bin. Sums do not depend on their order. */
static __global__ void __launch_bounds__(HISTOGRAM_THREADS) histogram_kernel(const __grid_constant__ PnvCudaFrame f)
{
    __shared__ uint32_t bins[PNV_RATE_BINS];
    const int thread = (int)threadIdx.x, k = (int)blockIdx.x;
    const SlicePlace at = slice_place(f, k);

    if (thread < PNV_RATE_BINS)
        bins[thread] = 0;
    __syncthreads();
    for (int c = 0; c < 3; c++) {
        const int n_blocks = at.span.n_mb * blocks_per_mb(f, c);
        const int16_t *coef = unit_coef(f, at, c);
        for (int i = thread; i < 16 * n_blocks; i += HISTOGRAM_THREADS) { /* scan positions 1, 5, 9 .. 61 */
            const int position = 1 + 4 * (i / n_blocks), v = coef[position * n_blocks + i % n_blocks];
            const uint32_t size = (uint32_t)abs(v) * f.reciprocal[c > 0][position] >> 16;
            atomicAdd(&bins[pnv_rate_bin_of(size)], 1u);
        }
    }
    __syncthreads();
    if (thread < PNV_RATE_BINS && bins[thread]) {
        PnvRate *rate = &f.d_state->rate;
        const int rank = rank_of(f, k);
        atomicAdd(&rate->all.n[thread], bins[thread]);
        if (rank < pnv_rate_n_samples(f.n_slices))
            atomicAdd(&rate->sampled.n[thread], bins[thread]);
        if (rank < pnv_rate_n_part(f.n_slices))
            atomicAdd(&rate->part.n[thread], bins[thread]);
    }
}

static __device__ uint32_t sum_of_all(uint32_t value, uint32_t room[DECIDE_WARPS])
{
    uint32_t sum = 0;

    for (int d = 16; d; d /= 2)
        value += __shfl_down_sync(0xffffffffu, value, (unsigned)d);
    if (threadIdx.x % 32 == 0)
        room[threadIdx.x / 32] = value;
    __syncthreads();
    for (int w = 0; w < DECIDE_WARPS; w++)
        sum += room[w];
    __syncthreads();
    return sum;
}

/** Bytes of a slice at a quantizer, alpha aside. */
static __device__ uint32_t slice_bytes(const PnvCudaFrame &f, int k, int quantizer)
{
    uint32_t bytes = (uint32_t)pnv_slice_header_bytes(f.alpha_bits);

    for (int c = 0; c < 3; c++)
        bytes += f.d_units[3 * k + c].bytes[quantizer & 1];
    return bytes;
}

static __device__ int64_t frame_overhead(const PnvCudaFrame &f)
{
    return PNV_FRAME_START_BYTES + (int64_t)f.n_pictures * PNV_PICTURE_HEADER_BYTES + 2 * (int64_t)f.n_slices;
}

static __device__ PnvRateStep begin_search(const PnvCudaFrame &f, PnvRate *rate, int64_t alpha_bytes)
{
    set_given(rate, f);
    rate->limit = f.max_frame_bytes ? f.max_frame_bytes - alpha_bytes : f.target_bytes;
    rate->target = f.target_bytes && f.target_bytes < rate->limit ? f.target_bytes : rate->limit;
    rate->limit -= frame_overhead(f);
    rate->target -= frame_overhead(f);
    return pnv_rate_search_begin(rate);
}

static __device__ void decide(const PnvCudaFrame &f, int64_t bytes, int64_t alpha_bytes)
{
    PnvCudaState *state = f.d_state;
    PnvRateStep step;

    if (state->step == PNV_CUDA_FIXED) {
        if (!f.is_target && bytes + alpha_bytes + frame_overhead(f) <= f.max_frame_bytes)
            return;
        step = begin_search(f, &state->rate, alpha_bytes);
    } else {
        step = pnv_rate_search_coded(&state->rate, bytes);
    }
    state->step = step == PNV_RATE_DONE ? PNV_CUDA_DONE : PNV_CUDA_CODE;
}

/* One block: sums of what was measured, then one thread decides. */
static __global__ void __launch_bounds__(DECIDE_THREADS, 1) decide_kernel(const __grid_constant__ PnvCudaFrame f)
{
    __shared__ uint32_t room[DECIDE_WARPS];
    const PnvCudaState *state = f.d_state;
    const int step = state->step;
    uint32_t bytes = 0, alpha_bytes = 0;

    if (step == PNV_CUDA_DONE)
        return;
    for (int k = (int)threadIdx.x; k < f.n_slices; k += DECIDE_THREADS) {
        if (step == PNV_CUDA_FIXED) {
            alpha_bytes += f.alpha_bits ? f.d_alpha_bytes[k] : 0;
            bytes += f.is_target ? 0 : slice_bytes(f, k, f.quantizer);
        } else if (pnv_rate_rank(&state->rate, k) < state->rate.n_wanted) {
            bytes += slice_bytes(f, k, pnv_rate_quantizer(&state->rate, k));
        }
    }
    bytes = sum_of_all(bytes, room);
    alpha_bytes = sum_of_all(alpha_bytes, room);
    if (threadIdx.x == 0)
        decide(f, bytes, alpha_bytes);
}

extern "C" cudaError_t pnv_cuda_rate_histogram(const PnvCudaFrame *frame, cudaStream_t stream)
{
    const cudaLaunchConfig_t config = launch_config(dim3((unsigned)frame->n_slices), HISTOGRAM_THREADS, stream);

    return cudaLaunchKernelEx(&config, histogram_kernel, *frame);
}

extern "C" cudaError_t pnv_cuda_rate_decide(const PnvCudaFrame *frame, cudaStream_t stream)
{
    const cudaLaunchConfig_t config = launch_config(dim3(1), DECIDE_THREADS, stream);

    return cudaLaunchKernelEx(&config, decide_kernel, *frame);
}
