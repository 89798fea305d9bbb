/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/*
 * Twin of alpha.c: a block of threads codes the alpha unit of a slice. A run begins where a value differs from the one
 * in front of it, which is also the value that its difference is coded against: beginnings are listed in order, and
 * every difference and run is known from the list.
 */
#include "bits.cuh"

#include "alpha.h"
#include "sample.h"

enum {
    OWN = PNV_MAX_ALPHA_VALUES / UNIT_THREADS,
    MAX_WORDS = (PNV_MAX_ALPHA_VALUES * 18 + 31) / 32 /* each value a long difference and a run of one */
};

static_assert(OWN == 16, "a bit for each in 32");

struct AlphaUnit {
    __align__(16) uint16_t value[PNV_MAX_ALPHA_VALUES];
    uint16_t begin[PNV_MAX_ALPHA_VALUES + 1]; /**< Of runs; behind the last, the end. */
};

static __device__ __forceinline__ void load_values(AlphaUnit *u, const PnvCudaFrame &f, const SlicePlace &at, int n)
{
    const PnvPlane &plane = f.plane[at.picture][3];
    const int width = 16 * at.span.n_mb, x0 = 16 * at.span.mb_x, y0 = 16 * at.mb_y;

    for (int i = (int)threadIdx.x; i < n; i += UNIT_THREADS) {
        const int a = pnv_plane_at(&plane, x0 + i % width, y0 + i / width);
        u->value[i] = pnv_sample_alpha(a, plane.depth, f.alpha_bits);
    }
}

static __device__ __forceinline__ PnvCode difference(const AlphaUnit *u, int run, int bits)
{
    const int i = u->begin[run], previous = i ? u->value[i - 1] : -1;
    return pnv_alpha_difference(u->value[i] - previous, bits);
}

static __device__ __forceinline__ PnvCode run_length(const AlphaUnit *u, int run)
{
    return pnv_alpha_run(u->begin[run + 1] - u->begin[run]);
}

/** Where the alpha unit of slice k begins in the frame: it is the slice's last. */
static __device__ __forceinline__ uint8_t *unit_in_frame(const PnvCudaFrame &f, int k)
{
    const int is_fixed = f.d_state->step == PNV_CUDA_FIXED;
    const int quantizer = is_fixed ? f.quantizer : pnv_rate_quantizer(&f.d_state->rate, k);
    uint8_t *at = f.d_frame + f.d_offset[k] + pnv_slice_header_bytes(f.alpha_bits);

    for (int c = 0; c < 3; c++)
        at += f.d_units[3 * k + c].bytes[quantizer & 1];
    return at;
}

template <bool WRITES> static __global__ void __launch_bounds__(UNIT_THREADS) alpha_kernel(const __grid_constant__ PnvCudaFrame f)
{
    __shared__ AlphaUnit unit;
    __shared__ uint32_t words[WRITES ? MAX_WORDS + 2 : 1];
    __shared__ unsigned sums[UNIT_WARPS];

    const int k = (int)blockIdx.x, thread = (int)threadIdx.x, bits = f.alpha_bits;
    if (WRITES && !f.d_state->is_complete)
        return;
    const SlicePlace at = slice_place(f, k);
    const int n = 256 * at.span.n_mb, first = OWN * thread;
    load_values(&unit, f, at, n);
    __syncthreads();

    unsigned begins = 0, n_runs;
    uint16_t own[OWN] = {0};
    if (first < n)
        load_own(own, unit.value);
    unsigned before = __shfl_up_sync(0xffffffffu, (unsigned)own[OWN - 1], 1);
    if (first < n) {
        if (thread % 32 == 0 && first)
            before = unit.value[first - 1];
        begins = !first || own[0] != before;
#pragma unroll
        for (int j = 1; j < OWN; j++)
            begins |= (unsigned)(own[j] != own[j - 1]) << j;
    }
    unsigned place = sum_before((unsigned)__popc(begins), &n_runs, sums);
    for (int j = 0; j < OWN; j++) {
        if (begins >> j & 1)
            unit.begin[place++] = (uint16_t)(first + j);
    }
    if (thread == 0)
        unit.begin[n_runs] = (uint16_t)n;
    if (WRITES) {
        for (unsigned i = (unsigned)thread; i < MAX_WORDS + 2; i += UNIT_THREADS)
            words[i] = 0;
    }
    __syncthreads();

    const int per_thread = ((int)n_runs + UNIT_THREADS - 1) / UNIT_THREADS, begin = per_thread * thread;
    const int end = begin + per_thread < (int)n_runs ? begin + per_thread : (int)n_runs;
    unsigned n_bits = 0, total;
    for (int i = begin; i < end; i++)
        n_bits += (unsigned)(difference(&unit, i, bits).length + run_length(&unit, i).length);
    const unsigned bit = sum_before(n_bits, &total, sums);
    if (!WRITES) {
        if (thread == 0)
            f.d_alpha_bytes[k] = (uint16_t)((total + 7) / 8);
        return;
    }

    BitWriter w = bits_begin(words, bit);
    for (int i = begin; i < end; i++) {
        bits_put(&w, difference(&unit, i, bits));
        bits_put(&w, run_length(&unit, i));
    }
    bits_end(&w);
    __syncthreads();
    store_unit(unit_in_frame(f, k), words, (total + 7) / 8);
}

extern "C" cudaError_t pnv_cuda_alpha_measure(const PnvCudaFrame *frame, cudaStream_t stream)
{
    const cudaLaunchConfig_t config = launch_config(dim3((unsigned)frame->n_slices), UNIT_THREADS, stream);

    return frame->alpha_bits ? cudaLaunchKernelEx(&config, alpha_kernel<false>, *frame) : cudaSuccess;
}

extern "C" cudaError_t pnv_cuda_alpha_write(const PnvCudaFrame *frame, cudaStream_t stream)
{
    const cudaLaunchConfig_t config = launch_config(dim3((unsigned)frame->n_slices), UNIT_THREADS, stream);

    return frame->alpha_bits ? cudaLaunchKernelEx(&config, alpha_kernel<true>, *frame) : cudaSuccess;
}
