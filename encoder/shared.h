/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For headers that C and CUDA both compile, so that a definition exists once. */
#ifndef PNV_SHARED_H
#define PNV_SHARED_H

#ifdef __CUDACC__
#define PNV_SHARED static __host__ __device__ __forceinline__
#else
#define PNV_SHARED static inline
#endif

PNV_SHARED int pnv_min(int a, int b)
{
    return a < b ? a : b;
}

PNV_SHARED int pnv_max(int a, int b)
{
    return a > b ? a : b;
}

/** floor(log2(x)), x > 0. */
PNV_SHARED int pnv_log2(unsigned x)
{
#ifdef __CUDA_ARCH__
    return 31 - __clz((int)x);
#else
    return 31 - __builtin_clz(x);
#endif
}

#endif
