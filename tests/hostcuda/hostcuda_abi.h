/* SPDX-License-Identifier: GPL-2.0-or-later */
/** @file What compiled kernels (C++) and the emulated runtime (C) call of each other. */
#ifndef HOSTCUDA_ABI_H
#define HOSTCUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

#include <vector_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set at each switch of threads. */
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
extern const int warpSize;

/** What the runtime must know of a kernel's parameters to keep and to check them. */
typedef struct HostcudaParam {
    size_t bytes;
    int pointer; /**< Itself a pointer, which must be the device's. */
} HostcudaParam;

typedef struct HostcudaSignature {
    void (*invoke)(const void *kernel, void *const *args);
    unsigned n_params;
    const HostcudaParam *params;
} HostcudaSignature;

/** Before each launch. launch_text: the arguments of cudaLaunchKernelEx() as written, for the kernel's name. */
void hostcuda_define_kernel(const void *kernel, const HostcudaSignature *signature, const char *launch_text);

enum {
    HOSTCUDA_SYNCWARP,
    HOSTCUDA_SHFL,
    HOSTCUDA_BALLOT,
    HOSTCUDA_MATCH,
    HOSTCUDA_ADD,
    HOSTCUDA_MIN,
    HOSTCUDA_MAX,
    HOSTCUDA_SMIN, /* of signed numbers */
    HOSTCUDA_SMAX,
    HOSTCUDA_AND,
    HOSTCUDA_OR,
    HOSTCUDA_XOR
};

/** All lanes of mask meet. Gives the calling lane's result: for HOSTCUDA_SHFL the value of lane source. */
uint64_t hostcuda_warp(int op, unsigned mask, uint64_t value, int source);
/** All threads of the block meet. Gives how many passed a value other than 0. */
int hostcuda_barrier(int value);
/** Lane of the calling thread in its warp. */
int hostcuda_lane(void);
__attribute__((noreturn)) void hostcuda_trap(void);

#ifdef __cplusplus
}
#endif
#endif
