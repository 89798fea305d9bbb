/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
#include "context.h"

/* The numbers of the driver's errors and the runtime's are the same. */
static cudaError_t error_of(CUresult result)
{
    return (cudaError_t)result;
}

static cudaError_t entry_point(const char *name, void **function)
{
#if CUDART_VERSION >= 12050
    const cudaError_t e = cudaGetDriverEntryPointByVersion(name, function, 12000, cudaEnableDefault, NULL);
#elif CUDART_VERSION >= 12000
    const cudaError_t e = cudaGetDriverEntryPoint(name, function, cudaEnableDefault, NULL);
#else
    const cudaError_t e = cudaGetDriverEntryPoint(name, function, cudaEnableDefault);
#endif
    return e == cudaSuccess && !*function ? cudaErrorNotSupported : e;
}

cudaError_t pnv_cuda_context_load(PnvCudaContext *c)
{
    const struct { const char *name; void **function; } entries[] = {
        {"cuCtxPushCurrent", (void **)&c->push},
        {"cuCtxPopCurrent", (void **)&c->pop},
        {"cuCtxGetCurrent", (void **)&c->get_current},
        {"cuCtxGetDevice", (void **)&c->get_device},
        {"cuDevicePrimaryCtxRetain", (void **)&c->retain},
        {"cuDevicePrimaryCtxRelease", (void **)&c->release},
        {"cuPointerGetAttribute", (void **)&c->get_attribute},
        {"cuMemcpy3DPeerAsync", (void **)&c->copy_peer},
    };
    cudaError_t e = cudaSuccess;

    for (size_t i = 0; e == cudaSuccess && i < sizeof entries / sizeof *entries; i++)
        e = entry_point(entries[i].name, entries[i].function);
    return e;
}

cudaError_t pnv_cuda_context_adopt(PnvCudaContext *c, void *handle)
{
    c->handle = handle;
    cudaError_t e = pnv_cuda_context_enter(c);
    if (e == cudaSuccess) {
        e = error_of(c->get_device(&c->device));
        pnv_cuda_context_leave(c);
    }
    if (e != cudaSuccess)
        c->handle = NULL;
    return e;
}

cudaError_t pnv_cuda_context_find(PnvCudaContext *c)
{
    CUcontext current = NULL;
    CUdevice device = -1;

    if (c->get_current(&current) == CUDA_SUCCESS && current && c->get_device(&device) == CUDA_SUCCESS &&
        device == c->device) {
        c->handle = current;
        return cudaSuccess;
    }
    const cudaError_t e = error_of(c->retain(&c->handle, c->device));
    c->is_retained = e == cudaSuccess;
    return e;
}

void pnv_cuda_context_close(PnvCudaContext *c)
{
    if (c->is_retained)
        (void)c->release(c->device);
    c->is_retained = 0;
    c->handle = NULL;
}

cudaError_t pnv_cuda_context_enter(const PnvCudaContext *c)
{
    return error_of(c->push(c->handle));
}

void pnv_cuda_context_leave(const PnvCudaContext *c)
{
    CUcontext popped;

    (void)c->pop(&popped);
}

cudaError_t pnv_cuda_context_home(const PnvCudaContext *c, const void *memory, PnvCudaHome *home)
{
    const CUdeviceptr pointer = (CUdeviceptr)(uintptr_t)memory;
    CUmemorytype type = 0;

    *home = (PnvCudaHome){c->handle, c->device};
    CUresult e = c->get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer);
    if (e == CUDA_ERROR_INVALID_VALUE || (e == CUDA_SUCCESS && type != CU_MEMORYTYPE_DEVICE))
        return cudaSuccess;
    if (e == CUDA_SUCCESS)
        e = c->get_attribute(&home->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer);
    if (e != CUDA_SUCCESS)
        return error_of(e);
    e = c->get_attribute(&home->context, CU_POINTER_ATTRIBUTE_CONTEXT, pointer);
    if (e == CUDA_ERROR_INVALID_VALUE) { /* from a pool */
        home->context = NULL;
        e = CUDA_SUCCESS;
    }
    return error_of(e);
}

int pnv_cuda_context_is_home(const PnvCudaContext *c, PnvCudaHome home)
{
    return home.device == c->device && (!home.context || home.context == c->handle);
}

cudaError_t pnv_cuda_context_fetch(const PnvCudaContext *c, PnvCudaRows r, PnvCudaHome home, cudaStream_t stream)
{
    if (!home.context)
        return cudaMemcpy2DAsync(r.to, r.to_pitch, r.from, r.from_pitch, r.row_bytes, r.n_rows, cudaMemcpyDefault, stream);
    const CUDA_MEMCPY3D_PEER copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = (CUdeviceptr)(uintptr_t)r.from,
        .srcContext = home.context,
        .srcPitch = r.from_pitch,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = (CUdeviceptr)(uintptr_t)r.to,
        .dstContext = c->handle,
        .dstPitch = r.to_pitch,
        .WidthInBytes = r.row_bytes,
        .Height = r.n_rows,
        .Depth = 1,
    };
    return error_of(c->copy_peer(&copy, stream));
}

cudaError_t pnv_cuda_context_save(const PnvCudaContext *c, PnvCudaRows r, cudaEvent_t event)
{
    PnvCudaHome home;
    PnvCudaContext there = *c;
    cudaError_t e = pnv_cuda_context_home(c, r.from, &home);

    if (home.context)
        there.handle = home.context;
    if (e == cudaSuccess)
        e = pnv_cuda_context_enter(&there);
    if (e != cudaSuccess)
        return e;
    if (event)
        e = cudaEventSynchronize(event);
    if (e == cudaSuccess)
        e = cudaMemcpy2D(r.to, r.to_pitch, r.from, r.from_pitch, r.row_bytes, r.n_rows, cudaMemcpyDefault);
    pnv_cuda_context_leave(&there);
    return e;
}
