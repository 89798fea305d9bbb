/* SPDX-License-Identifier: GPL-2.0-or-later */
/* As much of the driver API as makes, pushes and pops contexts. */
#include "hostcuda_control.h"

#include <cuda.h>

static CUresult result(int ok)
{
    return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult device_result(CUdevice device)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess)
        return CUDA_ERROR_NO_DEVICE;
    return device >= 0 && device < n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
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
    return device_result(ordinal);
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
    const CUresult error = device_result(device);
    if (!error)
        *context = hostcuda_context_create(device);
    return error;
}

CUresult cuCtxDestroy(CUcontext context)
{
    return result(hostcuda_context_destroy(context) == 0);
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    return result(hostcuda_context_push(context) == 0);
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    CUcontext popped = hostcuda_context_pop();
    if (context)
        *context = popped;
    return result(popped != NULL);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = hostcuda_context_current();
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    hostcuda_context_pop();
    return context ? result(hostcuda_context_push(context) == 0) : CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = hostcuda_context_device(hostcuda_context_current());
    return result(*device >= 0);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    const CUresult error = device_result(device);
    if (!error)
        *context = hostcuda_context_primary(device);
    return error;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    return device_result(device);
}
