/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit_hostcuda.h"

static cudaLaunchConfig_t config(dim3 grid, dim3 block, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = {};
    cfg.gridDim = grid, cfg.blockDim = block, cfg.stream = stream;
    return cfg;
}

__device__ static unsigned warp_scan(unsigned x)
{
    const unsigned lane = threadIdx.x & 31;
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        const unsigned left = __shfl_up_sync(0xffffffffu, x, d);
        if (lane >= d)
            x += left;
    }
    return x;
}

static __global__ void __launch_bounds__(SCAN_THREADS) scan(unsigned *__restrict__ d_out,
                                                            const unsigned *__restrict__ d_in)
{
    __shared__ unsigned sums[SCAN_THREADS / 32];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32;
    unsigned x = warp_scan(__ldg(&d_in[i]));
    if ((threadIdx.x & 31) == 31)
        sums[warp] = x;
    __syncthreads();
    if (warp == 0) {
        const unsigned sum = threadIdx.x < SCAN_THREADS / 32 ? sums[threadIdx.x] : 0, total = warp_scan(sum);
        if (threadIdx.x < SCAN_THREADS / 32)
            sums[threadIdx.x] = total - sum;
    }
    __syncthreads();
    d_out[i] = x + sums[warp];
}

extern "C" cudaError_t unit_scan(unsigned *d_out, const unsigned *d_in, int n, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(n / SCAN_THREADS, SCAN_THREADS, stream);
    return cudaLaunchKernelEx(&cfg, scan, d_out, d_in);
}

static __global__ void compact(unsigned *d_out, const unsigned *d_in)
{
    const unsigned i = blockIdx.x * 32 + threadIdx.x, x = d_in[i];
    const unsigned which = __ballot_sync(0xffffffffu, x != 0);
    d_out[i] = 0;
    __syncwarp();
    if (x)
        d_out[blockIdx.x * 32 + __popc(which & ((1u << threadIdx.x) - 1))] = x;
}

extern "C" cudaError_t unit_compact(unsigned *d_out, const unsigned *d_in, int n, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(n / 32, 32, stream);
    return cudaLaunchKernelEx(&cfg, compact, d_out, d_in);
}

static __global__ void reduce(unsigned *d_out, const unsigned *d_in)
{
    const unsigned x = d_in[threadIdx.x], all = 0xffffffffu;
    unsigned sum = x, least = x, most = x, bits = x, parity = x;
    for (int d = 16; d; d /= 2) {
        sum += __shfl_xor_sync(all, sum, d);
        least = min(least, __shfl_xor_sync(all, least, d));
        most = max(most, __shfl_xor_sync(all, most, d));
        bits |= __shfl_xor_sync(all, bits, d);
        parity ^= __shfl_xor_sync(all, parity, d);
    }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if (sum != __reduce_add_sync(all, x) || least != __reduce_min_sync(all, x) || most != __reduce_max_sync(all, x) ||
        bits != __reduce_or_sync(all, x) || parity != __reduce_xor_sync(all, x))
        __trap();
#endif
    const unsigned any = __any_sync(all, x & 1), every = __all_sync(all, x & 1), ballot = __ballot_sync(all, x & 1);
    if (threadIdx.x == 7) {
        const unsigned results[8] = {sum, least, most, bits, parity, any, every, ballot};
        for (int i = 0; i < 8; i++)
            d_out[i] = results[i];
    }
}

extern "C" cudaError_t unit_reduce(unsigned *d_out, const unsigned *d_in, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(1, 32, stream);
    return cudaLaunchKernelEx(&cfg, reduce, d_out, d_in);
}

static __global__ void shuffle(int *d_out)
{
    const unsigned all = 0xffffffffu;
    const int lane = static_cast<int>(threadIdx.x);
    d_out[lane] = __shfl_sync(all, lane, 5);
    d_out[32 + lane] = __shfl_up_sync(all, lane, 3);
    d_out[64 + lane] = __shfl_down_sync(all, lane, 3);
    d_out[96 + lane] = __shfl_xor_sync(all, lane, 6);
    d_out[128 + lane] = __shfl_sync(all, lane, 1, 8);
    d_out[160 + lane] = __shfl_up_sync(all, lane, 1, 8);
    d_out[192 + lane] = __shfl_down_sync(all, lane, 1, 8);
    d_out[224 + lane] = __shfl_xor_sync(all, lane, 5, 8);
    d_out[256 + lane] = __shfl_xor_sync(all, lane, 12, 8);
    /* 8 bytes at once, of half a warp */
    if (lane < 16 && __shfl_xor_sync(0xffffu, 1ull << (lane + 40), 1) != 1ull << ((lane ^ 1) + 40))
        d_out[lane] = -1;
}

extern "C" cudaError_t unit_shuffle(int *d_out, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(1, 32, stream);
    return cudaLaunchKernelEx(&cfg, shuffle, d_out);
}

static __global__ void builtins(unsigned *d_out, const unsigned *d_in)
{
    const unsigned x = d_in[3 * threadIdx.x], y = d_in[3 * threadIdx.x + 1], z = d_in[3 * threadIdx.x + 2];
    const unsigned long long w = static_cast<unsigned long long>(y) << 32 | x;
    unsigned *out = d_out + BUILTINS * threadIdx.x;
    *out++ = __popc(x);
    *out++ = __popcll(w);
    *out++ = __clz(x);
    *out++ = __clzll(w);
    *out++ = __ffs(x);
    *out++ = __ffsll(w);
    *out++ = __brev(x);
    *out++ = static_cast<unsigned>(__brevll(w));
    *out++ = __byte_perm(x, y, z);
    *out++ = __mulhi(static_cast<int>(x), static_cast<int>(y));
    *out++ = __umulhi(x, y);
    *out++ = static_cast<unsigned>(__umul64hi(w, w));
    *out++ = __funnelshift_l(x, y, z);
    *out++ = __funnelshift_r(x, y, z);
    *out++ = __funnelshift_lc(x, y, z);
    *out++ = __funnelshift_rc(x, y, z);
    *out++ = __usad(x, y, z);
    *out++ = __dp4a(static_cast<int>(x), static_cast<int>(y), static_cast<int>(z));
    *out++ = min(static_cast<int>(x), static_cast<int>(y));
    *out++ = max(x, y);
    *out++ = min(static_cast<int>(x), y);
    *out++ = static_cast<unsigned>(__float_as_int(__int_as_float(static_cast<int>(x & 0x3fffffff))));
    *out++ = max(-1, static_cast<int>(y));
    *out = warpSize;
}

extern "C" cudaError_t unit_builtins(unsigned *d_out, const unsigned *d_in, int n_cases, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(1, n_cases, stream);
    return cudaLaunchKernelEx(&cfg, builtins, d_out, d_in);
}

static __global__ void neighbour(int *d_out, int sync)
{
    __shared__ int numbers[1024];
    numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (sync)
        __syncthreads();
    d_out[threadIdx.x] = numbers[(threadIdx.x + 1) % blockDim.x];
}

extern "C" cudaError_t unit_neighbour(int *d_out, int n, int sync, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(1, n, stream);
    return cudaLaunchKernelEx(&cfg, neighbour, d_out, sync);
}

static __global__ void neighbour_warp(int *d_out, int sync)
{
    __shared__ int numbers[32];
    numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (sync == 1)
        __syncwarp();
    if (sync == 2)
        d_out[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
    d_out[threadIdx.x] = numbers[(threadIdx.x + 1) % 32];
}

extern "C" cudaError_t unit_neighbour_warp(int *d_out, int sync, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(1, 32, stream);
    return cudaLaunchKernelEx(&cfg, neighbour_warp, d_out, sync);
}

static __global__ void arrival(unsigned *d_out, unsigned *d_counter)
{
    d_out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(d_counter, 1u);
}

extern "C" cudaError_t unit_arrival(unsigned *d_out, unsigned *d_counter, int n, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(n / 64, 64, stream);
    return cudaLaunchKernelEx(&cfg, arrival, d_out, d_counter);
}

static __global__ void add(unsigned *d_out, unsigned what, int n, int beyond)
{
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        d_out[i == n - 1 ? i + beyond : i] += what;
}

extern "C" cudaError_t unit_add(unsigned *d_out, unsigned what, int n, int beyond, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config((n + 127) / 128, 128, stream);
    return cudaLaunchKernelEx(&cfg, add, d_out, what, n, beyond);
}

static __global__ void shared_overrun(unsigned *d_out, int beyond)
{
    __shared__ unsigned low[64];
    __shared__ unsigned high[64];
    unsigned *volatile unknown = low; /* what it points to: else UBSan is first to see the end of it */
    low[threadIdx.x] = high[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 63)
        unknown[63 + beyond] = 7;
    __syncthreads();
    d_out[threadIdx.x] = low[threadIdx.x] + high[threadIdx.x];
}

extern "C" cudaError_t unit_shared_overrun(unsigned *d_out, int beyond, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(1, 64, stream);
    return cudaLaunchKernelEx(&cfg, shared_overrun, d_out, beyond);
}

template <typename T, int N> static __global__ void strided(T *d_out, int step)
{
    __shared__ T data[N];
    const int at = static_cast<int>(threadIdx.x) % 32 * step + static_cast<int>(threadIdx.x) / 32;
    data[at] = d_out[threadIdx.x];
    __syncthreads();
    d_out[threadIdx.x] = data[at];
}

extern "C" cudaError_t unit_stride(unsigned *d_out, int stride, int bytes, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(1, 64, stream);
    if (bytes == 4)
        return cudaLaunchKernelEx(&cfg, strided<unsigned, 2048>, d_out, stride);
    if (bytes == 8)
        return cudaLaunchKernelEx(&cfg, strided<unsigned long long, 2048>,
                                  reinterpret_cast<unsigned long long *>(d_out), stride);
    return cudaLaunchKernelEx(&cfg, strided<uint4, 1024>, reinterpret_cast<uint4 *>(d_out), stride);
}

__device__ static unsigned unwritten_of_function()
{
    __shared__ unsigned char odd[3], byte;
    return static_cast<unsigned>(odd[0]) << 24 | odd[1] << 16 | odd[2] << 8 | byte;
}

template <int N> static __global__ void unwritten(unsigned *d_out)
{
    __shared__ unsigned words[N];
    d_out[2 * blockIdx.x] = words[N - 1];
    d_out[2 * blockIdx.x + 1] = unwritten_of_function();
    words[N - 1] = 1;
}

extern "C" cudaError_t unit_unwritten(unsigned *d_out, int n_blocks, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(n_blocks, 1, stream);
    return cudaLaunchKernelEx(&cfg, unwritten<5>, d_out);
}

static __global__ void indices(unsigned *d_out)
{
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
    d_out[i] += i;
}

extern "C" cudaError_t unit_indices(unsigned *d_out, dim3 grid, dim3 block, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(grid, block, stream);
    return cudaLaunchKernelEx(&cfg, indices, d_out);
}

static __global__ void block_votes(int *d_out)
{
    const int odd = threadIdx.x & 1;
    const int count = __syncthreads_count(odd), any = __syncthreads_or(odd), all = __syncthreads_and(odd);
    if (threadIdx.x == 0) {
        d_out[0] = count;
        d_out[1] = any;
        d_out[2] = all;
    }
}

extern "C" cudaError_t unit_block_votes(int *d_out, int threads, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(1, threads, stream);
    return cudaLaunchKernelEx(&cfg, block_votes, d_out);
}

static __global__ void diverge(int *d_out, int how)
{
    const unsigned lane = threadIdx.x & 31, all = 0xffffffffu;
    const bool low = lane < 16;
    int x = static_cast<int>(lane);
    if ((how == DIVERGE_BARRIER || how == DIVERGE_EXITED) && low)
        return;
    switch (how) {
    case DIVERGE_BARRIER: __syncthreads(); break;
    case DIVERGE_WARP:
        if (low)
            __syncthreads();
        else
            x = __shfl_sync(all, x, 20);
        break;
    case DIVERGE_EXITED:
    case DIVERGE_PARTIAL: x = __shfl_sync(all, x, 20); break;
    case DIVERGE_MASKS: x = __shfl_sync(low ? 0x1ffffu : all, x, 3); break;
    case DIVERGE_OUTSIDE: x = __shfl_sync(0xffffu, x, 3); break;
    default: __trap();
    }
    d_out[threadIdx.x] = x;
}

extern "C" cudaError_t unit_diverge(int *d_out, int how, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(1, how == DIVERGE_PARTIAL ? 40 : 64, stream);
    return cudaLaunchKernelEx(&cfg, diverge, d_out, how);
}

static __constant__ const unsigned weights[4] = {1, 10, 100, 1000};

static __global__ void params_kernel(UnitParams p, signed char c, unsigned long long d)
{
    if (threadIdx.x == 0)
        p.d_out[0] = weights[0] * static_cast<unsigned>(p.a) + weights[1] * static_cast<unsigned>(p.b) +
                     weights[2] * static_cast<unsigned>(c) + weights[3] * static_cast<unsigned>(d >> 40);
}

extern "C" cudaError_t unit_params(UnitParams params, signed char c, unsigned long long d, cudaStream_t stream)
{
    cudaLaunchConfig_t cfg = config(1, 32, stream);
    return cudaLaunchKernelEx(&cfg, params_kernel, params, c, d);
}
