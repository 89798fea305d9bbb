/* SPDX-License-Identifier: GPL-2.0-or-later */
/* As much of the driver API as makes, pushes and pops contexts and copies between them, and the way from the runtime to it. */
#include "hostcuda_internal.h"

#include <cuda.h>
#include <string.h>

/* Each call is one of those that can fail. It ends before the work begins, which takes the lock by itself. */
static CUresult call(const char *name)
{
    const cudaError_t error = hostcuda_enter(name);
    hostcuda_unlock();
    return (CUresult)error; /* the numbers are the same */
}

static CUresult result(int ok)
{
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult device_result(const char *name, CUdevice device)
{
    CUresult error = call(name);
    if (!error && (device < 0 || device >= hostcuda.n_devices || device >= MAX_DEVICES))
        error = CUDA_ERROR_INVALID_DEVICE;
    return error;
}

CUresult cuInit(unsigned int flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    return cudaDriverGetVersion(version) == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult cuDeviceGetCount(int *count)
{
    return cudaGetDeviceCount(count) == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return device_result("cuDeviceGet", ordinal);
}

#if CUDA_VERSION >= 13000
CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *params, unsigned int flags, CUdevice device)
{
    (void)params;
#else
CUresult cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device)
{
#endif
    (void)flags;
    const CUresult error = device_result("cuCtxCreate", device);
    if (!error)
        *context = hostcuda_context_create(device);
    return error;
}

/* Destroying, popping and releasing do so even where they are told to fail. */

CUresult cuCtxDestroy(CUcontext context)
{
    const CUresult error = call("cuCtxDestroy");
    const int destroyed = hostcuda_context_destroy(context) == 0;
    return error ? error : result(destroyed);
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    const CUresult error = call("cuCtxPushCurrent");
    return error ? error : result(hostcuda_context_push(context) == 0);
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    const CUresult error = call("cuCtxPopCurrent");
    CUcontext popped = hostcuda_context_pop();
    if (context)
        *context = popped;
    return error ? error : result(popped != NULL);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    const CUresult error = call("cuCtxGetCurrent");
    *context = hostcuda_context_current();
    return error;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    const CUresult error = call("cuCtxSetCurrent");
    if (error)
        return error;
    hostcuda_context_pop();
    return context ? result(hostcuda_context_push(context) == 0) : CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    const CUresult error = call("cuCtxGetDevice");
    *device = hostcuda_context_device(hostcuda_context_current());
    return error ? error : result(*device >= 0);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    const CUresult error = device_result("cuDevicePrimaryCtxRetain", device);
    if (!error)
        *context = hostcuda_context_retain(device);
    return error;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    const CUresult error = call("cuDevicePrimaryCtxRelease");
    const int released = hostcuda_context_release(device) == 0;
    return error ? error : result(released);
}

/* ---- Memory ---- */

/* Of device memory; of other memory its type alone. */
CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    cudaError_t error = hostcuda_enter("cuPointerGetAttribute");
    const Block *block = hostcuda_find_block((const void *)pointer);
    if (!error && (!block || (block->from_pool && attribute == CU_POINTER_ATTRIBUTE_CONTEXT)))
        error = cudaErrorInvalidValue; /* no mistake: so it tells that it does not know it */
    if (!error) {
        switch ((int)attribute) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *(CUmemorytype *)value = block->kind == BLOCK_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)value = block->context->device; break;
        case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)value = block->context; break;
        default: error = hostcuda_misuse(cudaErrorInvalidValue, "attribute %d is not emulated", (int)attribute);
        }
    }
    hostcuda_unlock();
    return (CUresult)error;
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream)
{
    return (CUresult)hostcuda_copy_peer("cuMemcpy3DPeerAsync", copy, stream);
}

/* ---- From the runtime ---- */

static cudaError_t entry_point(const char *function, const char *symbol, void **pointer,
                               enum cudaDriverEntryPointQueryResult *status)
{
    const struct { const char *name; void *pointer; } entries[] = {
        {"cuCtxPushCurrent", (void *)cuCtxPushCurrent},
        {"cuCtxPopCurrent", (void *)cuCtxPopCurrent},
        {"cuCtxGetCurrent", (void *)cuCtxGetCurrent},
        {"cuCtxGetDevice", (void *)cuCtxGetDevice},
        {"cuDevicePrimaryCtxRetain", (void *)cuDevicePrimaryCtxRetain},
        {"cuDevicePrimaryCtxRelease", (void *)cuDevicePrimaryCtxRelease},
        {"cuPointerGetAttribute", (void *)cuPointerGetAttribute},
        {"cuMemcpy3DPeerAsync", (void *)cuMemcpy3DPeerAsync},
    };
    cudaError_t error = hostcuda_enter(function);
    *pointer = NULL;
    for (size_t i = 0; !error && i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].name, symbol) == 0)
            *pointer = entries[i].pointer;
    if (!error && !*pointer)
        error = hostcuda_misuse(cudaErrorInvalidValue, "%s is not emulated", symbol);
    if (status)
        *status = *pointer ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return hostcuda_leave(error);
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **pointer, unsigned int version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
    (void)version;
    (void)flags;
    return entry_point(__func__, symbol, pointer, status);
}
#elif CUDART_VERSION >= 12000
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **pointer, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *status)
{
    (void)flags;
    return entry_point(__func__, symbol, pointer, status);
}
#endif
