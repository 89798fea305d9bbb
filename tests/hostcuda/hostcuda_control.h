/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file
 * What a test sets, breaks and reads in the emulated CUDA runtime. Works in C and C++; all functions may be called
 * from any thread, but settings are meant for moments when no other thread uses the runtime.
 *
 * The environment sets the same for programs that do not know the emulation; it is read at the first call:
 *
 *     PNV_HOSTCUDA_SEED=n       shuffles blocks, warps and lanes; 0 (the default) is ascending order
 *     PNV_HOSTCUDA_LAZY=1       operations run only when something waits for them
 *     PNV_HOSTCUDA_FAIL=function:n[:sticky[:error]]
 *                               the n-th call (from 1) of function fails; `*` is any function, `exec` the n-th
 *                               copy, fill or kernel when it runs, after which the device is lost: what waits for it
 *                               reports it. sticky: from then on every call fails, as on a lost device; once, the
 *                               default: only this one. error: its number, else one that fits.
 *     PNV_HOSTCUDA_DEVICES=n    number of devices, 1 by default, at most 8; 0 makes calls return cudaErrorNoDevice
 *     PNV_HOSTCUDA_DRIVER=v     version of the driver, for example 11080; less than the runtime's makes calls
 *                               return cudaErrorInsufficientDriver, 0 is no driver at all
 *     PNV_HOSTCUDA_MEMORY=n     bytes of each device, 8 GiB by default
 *     PNV_HOSTCUDA_STRICT=0     misuse is reported and returned as an error; by default it ends the process
 *     PNV_HOSTCUDA_LOG=file     one line a call: its number and function
 */
#ifndef HOSTCUDA_CONTROL_H
#define HOSTCUDA_CONTROL_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Back to what the environment says: order, devices, faults, and no calls counted. Objects stay as they are. */
void hostcuda_reset(void);

void hostcuda_set_seed(unsigned seed);
void hostcuda_set_lazy(int lazy);
void hostcuda_set_devices(int n_devices);
void hostcuda_set_driver(int version);
void hostcuda_set_memory(size_t bytes);

/** With 0, misuse (a handle of another context, a copy past its block) is counted and returned as an error instead of
 *  ending the process with a message: CUDA errors make the encoder go on elsewhere, and would hide it. */
void hostcuda_set_strict(int strict);

/**
 * Make one call fail, counted from now on. A device lost before is back.
 *
 * @param function name such as "cudaMalloc"; "*" for any; "exec" for an operation when it runs; NULL for no fault.
 * @param n        which call, from 1.
 * @param sticky   from that call on every call fails with the same error, and queued operations are dropped. What
 *                 frees or destroys still does so, and returns the error.
 * @param error    what the call returns; cudaSuccess picks one that fits the function.
 */
void hostcuda_fail(const char *function, unsigned long n, int sticky, cudaError_t error);

/** Every call from now on fails with error, and queued operations are dropped; cudaSuccess: the device is back. */
void hostcuda_lose_device(cudaError_t error);

/** Number of calls of function since the last hostcuda_clear_calls(); NULL for all of them. cudaGetErrorString,
 *  cudaGetErrorName, cudaGetLastError and cudaPeekAtLastError cannot fail and are neither counted nor listed. */
unsigned long hostcuda_calls(const char *function);

/** Function of the n-th call (from 1), or NULL after the last: what a sweep over all calls iterates over. */
const char *hostcuda_call(unsigned long n);

/** Forget the calls, and the counts of work done of HostcudaCounts. */
void hostcuda_clear_calls(void);

typedef struct HostcudaCounts {
    unsigned long kernels, blocks;     /**< Launches and blocks executed. */
    unsigned long copies, sets;        /**< Copies and fills executed. */
    unsigned long long to_device;      /**< Bytes copied from the host to a device, */
    unsigned long long to_host;        /**< and back. */
    unsigned long pageable;            /**< Asynchronous copies that waited because host memory was not page-locked. */
    unsigned long device_waits;        /**< Calls that waited for a whole device, for example cudaFree. */
    unsigned long misuse;              /**< Reports with strict off. */
    unsigned long live_device;         /**< Now: blocks of device memory, */
    unsigned long live_pinned;         /**< of page-locked host memory, registered included, */
    unsigned long live_streams;        /**< streams without the default ones, */
    unsigned long live_events;         /**< and events. */
    unsigned long long device_bytes;   /**< Bytes of device memory in use now. */
} HostcudaCounts;

HostcudaCounts hostcuda_counts(void);

/* Contexts, below the driver API that driver.c makes of them. The runtime uses the context on top of the calling
 * thread's stack, or else the primary one of its device. Pointers, streams and events belong to the context that was
 * current when they were made; using one while another context is current is misuse. */
typedef struct CUctx_st *HostcudaContext;

HostcudaContext hostcuda_context_create(int device);  /**< Made and pushed; NULL if there is no such device. */
int hostcuda_context_destroy(HostcudaContext context); /**< All its objects go with it; 0 if it was alive. */
int hostcuda_context_push(HostcudaContext context);   /**< 0, or -1 if it is not alive. */
HostcudaContext hostcuda_context_pop(void);           /**< NULL if the stack is empty. */
HostcudaContext hostcuda_context_current(void);       /**< NULL if the stack is empty. */
HostcudaContext hostcuda_context_retain(int device);  /**< The primary one; NULL if there is no such device. */
/** 0, or -1 if it is not retained. The last one destroys it, unless the runtime has used it by itself: on behalf of a
 *  thread with an empty stack. */
int hostcuda_context_release(int device);
int hostcuda_context_device(HostcudaContext context); /**< -1 if it is not alive. */

#ifdef __cplusplus
}
#endif
#endif
