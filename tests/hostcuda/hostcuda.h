/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file
 * Included before the first line of each .cu file when g++ or clang++ compiles it for the emulated runtime: what nvcc
 * knows by itself. Kernels run on fibers, one a CUDA thread; blocks run one after another.
 *
 * A .cu file for both compilers launches static kernels by cudaLaunchKernelEx(), has no extern __shared__, no inline
 * PTX, no cooperative groups, and asks __CUDA_ARCH__, which is not defined here, before it uses what sm_75 lacks. Its
 * host functions have no static variables that change: those of functions are taken for __shared__. Integers overflow
 * as on the GPU (-fwrapv); shifts by the width or more differ.
 */
#ifndef HOSTCUDA_H
#define HOSTCUDA_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <cuda_runtime.h>

#include "hostcuda_abi.h"

#define PNV_HOSTCUDA 1

/* One copy for all blocks, which run one at a time. The runtime fills it before each; "used" keeps the compiler from
 * thinking that it knows of all who write there. */
#undef __shared__
#define __shared__ static __attribute__((used))
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif

/* ---- Launch: NVIDIA's own template, after the runtime was told how to call the kernel ---- */

template <typename... P> struct hostcuda_signature {
    static_assert((std::is_trivially_copyable_v<P> && ...), "parameters of a kernel are copied as bytes");

    template <size_t... I> static void call(const void *kernel, void *const *args, std::index_sequence<I...>)
    {
        reinterpret_cast<void (*)(P...)>(const_cast<void *>(kernel))(*static_cast<P *>(args[I])...);
    }
    static void invoke(const void *kernel, void *const *args) { call(kernel, args, std::index_sequence_for<P...>()); }

    static constexpr HostcudaParam params[] = {{sizeof(P), std::is_pointer_v<P>}..., {0, 0}};
    static constexpr HostcudaSignature value = {invoke, sizeof...(P), params};
};

template <typename... P, typename... A>
static inline cudaError_t hostcuda_launch(const char *text, const cudaLaunchConfig_t *config, void (*kernel)(P...),
                                          A &&...args)
{
    hostcuda_define_kernel(reinterpret_cast<const void *>(kernel), &hostcuda_signature<P...>::value, text);
    return ::cudaLaunchKernelEx(config, kernel, std::forward<A>(args)...);
}
#define cudaLaunchKernelEx(...) hostcuda_launch(#__VA_ARGS__, __VA_ARGS__)

/* ---- Threads that meet ---- */

static inline void __syncthreads() { hostcuda_barrier(0); }
static inline int __syncthreads_count(int p) { return hostcuda_barrier(p != 0); }
static inline int __syncthreads_or(int p) { return hostcuda_barrier(p != 0) > 0; }
static inline int __syncthreads_and(int p) { return hostcuda_barrier(p == 0) == 0; }
static inline void __syncwarp(unsigned mask = 0xffffffffu) { hostcuda_warp(HOSTCUDA_SYNCWARP, mask, 0, 0); }
static inline unsigned __ballot_sync(unsigned mask, int p)
{
    return static_cast<unsigned>(hostcuda_warp(HOSTCUDA_BALLOT, mask, p != 0, 0));
}
static inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
static inline int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, p) == mask; }

template <typename T> static inline T hostcuda_shfl(unsigned mask, T value, int source)
{
    static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "shuffles move numbers");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(T));
    bits = hostcuda_warp(HOSTCUDA_SHFL, mask, bits, source);
    memcpy(&value, &bits, sizeof(T));
    return value;
}
template <typename T> static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
    return hostcuda_shfl(mask, value, (hostcuda_lane() & -width) | (source & (width - 1)));
}
template <typename T> static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const int lane = hostcuda_lane(), in = lane & (width - 1);
    return hostcuda_shfl(mask, value, static_cast<unsigned>(in) < delta ? lane : lane - static_cast<int>(delta));
}
template <typename T> static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const int lane = hostcuda_lane(), in = lane & (width - 1);
    const bool outside = in + delta >= static_cast<unsigned>(width);
    return hostcuda_shfl(mask, value, outside ? lane : lane + static_cast<int>(delta));
}
template <typename T> static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32)
{
    const int lane = hostcuda_lane(), source = lane ^ bits;
    return hostcuda_shfl(mask, value, source > (lane | (width - 1)) ? lane : source);
}
template <typename T> static inline unsigned __match_any_sync(unsigned mask, T value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(T));
    return static_cast<unsigned>(hostcuda_warp(HOSTCUDA_MATCH, mask, bits, 0));
}

/* sm_80 and up: nvcc rejects them for sm_75, so kernels ask __CUDA_ARCH__ first. */
#define HOSTCUDA_REDUCE(name, type, op)                                                                                \
    static inline type name(unsigned mask, type value)                                                                 \
    {                                                                                                                  \
        return static_cast<type>(hostcuda_warp(op, mask, static_cast<uint64_t>(value), 0));                            \
    }
HOSTCUDA_REDUCE(__reduce_add_sync, int, HOSTCUDA_ADD)
HOSTCUDA_REDUCE(__reduce_add_sync, unsigned, HOSTCUDA_ADD)
HOSTCUDA_REDUCE(__reduce_min_sync, int, HOSTCUDA_SMIN)
HOSTCUDA_REDUCE(__reduce_min_sync, unsigned, HOSTCUDA_MIN)
HOSTCUDA_REDUCE(__reduce_max_sync, int, HOSTCUDA_SMAX)
HOSTCUDA_REDUCE(__reduce_max_sync, unsigned, HOSTCUDA_MAX)
HOSTCUDA_REDUCE(__reduce_and_sync, unsigned, HOSTCUDA_AND)
HOSTCUDA_REDUCE(__reduce_or_sync, unsigned, HOSTCUDA_OR)
HOSTCUDA_REDUCE(__reduce_xor_sync, unsigned, HOSTCUDA_XOR)

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __threadfence(); }
static inline void __threadfence_system() { __threadfence(); }
[[noreturn]] static inline void __trap() { hostcuda_trap(); }

/* ---- Arithmetic: each as the programming guide defines it, for 0 too ---- */

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
static inline unsigned long long __brevll(unsigned long long x)
{
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
           __brev(static_cast<unsigned>(x >> 32));
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    const uint64_t bytes = static_cast<uint64_t>(y) << 32 | x;
    unsigned out = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned pick = selector >> 4 * i & 15;
        unsigned byte = static_cast<unsigned>(bytes >> 8 * (pick & 7)) & 255;
        if (pick & 8) /* the sign of the byte, in all its bits */
            byte = byte & 128 ? 255 : 0;
        out |= byte << 8 * i;
    }
    return out;
}
static inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
static inline unsigned hostcuda_funnel_l(unsigned lo, unsigned hi, unsigned shift) /* shift 0..32 */
{
    return static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) << shift >> 32);
}
static inline unsigned hostcuda_funnel_r(unsigned lo, unsigned hi, unsigned shift)
{
    return static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) >> shift);
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s)
{
    return hostcuda_funnel_l(lo, hi, s & 31);
}
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s)
{
    return hostcuda_funnel_r(lo, hi, s & 31);
}
static inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s)
{
    return hostcuda_funnel_l(lo, hi, s < 32 ? s : 32);
}
static inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s)
{
    return hostcuda_funnel_r(lo, hi, s < 32 ? s : 32);
}
static inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
static inline int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 4; i++)
        c += static_cast<int8_t>(a >> 8 * i) * static_cast<int8_t>(b >> 8 * i);
    return c;
}
static inline int __float_as_int(float x)
{
    int i;
    memcpy(&i, &x, sizeof i);
    return i;
}
static inline float __int_as_float(int i)
{
    float x;
    memcpy(&x, &i, sizeof x);
    return x;
}

/* The same overloads as nvcc's, the mixed ones included: int and unsigned compare as unsigned. */
#define HOSTCUDA_MIN_MAX(result, a_type, b_type)                                                                       \
    static inline result min(a_type a, b_type b)                                                                       \
    {                                                                                                                  \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a) : static_cast<result>(b);      \
    }                                                                                                                  \
    static inline result max(a_type a, b_type b)                                                                       \
    {                                                                                                                  \
        return static_cast<result>(a) > static_cast<result>(b) ? static_cast<result>(a) : static_cast<result>(b);      \
    }
HOSTCUDA_MIN_MAX(int, int, int)
HOSTCUDA_MIN_MAX(unsigned, unsigned, unsigned)
HOSTCUDA_MIN_MAX(unsigned, int, unsigned)
HOSTCUDA_MIN_MAX(unsigned, unsigned, int)
HOSTCUDA_MIN_MAX(long, long, long)
HOSTCUDA_MIN_MAX(unsigned long, unsigned long, unsigned long)
HOSTCUDA_MIN_MAX(unsigned long, long, unsigned long)
HOSTCUDA_MIN_MAX(unsigned long, unsigned long, long)
HOSTCUDA_MIN_MAX(long long, long long, long long)
HOSTCUDA_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
HOSTCUDA_MIN_MAX(unsigned long long, long long, unsigned long long)
HOSTCUDA_MIN_MAX(unsigned long long, unsigned long long, long long)
HOSTCUDA_MIN_MAX(float, float, float)
HOSTCUDA_MIN_MAX(double, double, double)

/* ---- Memory ---- */

template <typename T> static inline T __ldg(const T *p) { return *p; }
template <typename T> static inline T __ldcs(const T *p) { return *p; }
template <typename T> static inline T __ldcg(const T *p) { return *p; }
template <typename T> static inline void __stcs(T *p, T value) { *p = value; }
template <typename T> static inline void __stcg(T *p, T value) { *p = value; }

/* For counters and sums alone: places decided by the value returned would show the order of threads. */
#define HOSTCUDA_ATOMICS(type)                                                                                         \
    static inline type atomicAdd(type *p, type v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }               \
    static inline type atomicSub(type *p, type v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }               \
    static inline type atomicAnd(type *p, type v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }               \
    static inline type atomicOr(type *p, type v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }                 \
    static inline type atomicXor(type *p, type v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }               \
    static inline type atomicExch(type *p, type v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }             \
    static inline type atomicCAS(type *p, type expected, type v)                                                       \
    {                                                                                                                  \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                       \
        return expected;                                                                                               \
    }                                                                                                                  \
    static inline type atomicMax(type *p, type v)                                                                      \
    {                                                                                                                  \
        type old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                               \
        while (old < v && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {       \
        }                                                                                                              \
        return old;                                                                                                    \
    }                                                                                                                  \
    static inline type atomicMin(type *p, type v)                                                                      \
    {                                                                                                                  \
        type old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                               \
        while (v < old && !__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {       \
        }                                                                                                              \
        return old;                                                                                                    \
    }
HOSTCUDA_ATOMICS(int)
HOSTCUDA_ATOMICS(unsigned)
HOSTCUDA_ATOMICS(unsigned long long)

#endif
