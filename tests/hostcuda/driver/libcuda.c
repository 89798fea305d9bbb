/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library of the NVIDIA driver, libcuda.so.1, as far as libgstcuda asks for it: thin names over the emulated
 * runtime, so that GStreamer's CUDA memory and the encoder see the same device. What draws, compiles or launches is not
 * supported. Found in tests alone, through LD_LIBRARY_PATH. driver.c has the rest of the contexts. */
#include "hostcuda_control.h"

#include <cuda.h>
#include <stdio.h>

/* The versions of these that GStreamer asks for are not those of the toolkit's header. */
#undef cuStreamDestroy
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuStreamDestroy(CUstream stream);

/* Errors have the same numbers on both sides. */
static CUresult result(cudaError_t error)
{
    return (CUresult)error;
}

CUresult cuGetErrorName(CUresult error, const char **text)
{
    *text = cudaGetErrorName((cudaError_t)error);
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

/* ---- Devices and contexts ---- */

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    struct cudaDeviceProp properties;
    const CUresult error = result(cudaGetDeviceProperties(&properties, device));

    if (!error)
        snprintf(name, (size_t)bytes, "%s", properties.name);
    return error;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    return result(cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device));
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    CUdevice found;
    const CUresult error = cuDeviceGet(&found, device);

    if (!error)
        *context = hostcuda_context_create(device);
    return error;
}

CUresult cuDeviceCanAccessPeer(int *can_access, CUdevice device, CUdevice peer)
{
    *can_access = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

/* ---- Memory ---- */

CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes)
{
    return result(cudaMalloc((void **)pointer, bytes));
}

CUresult cuMemAllocPitch(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned int element)
{
    return result(cudaMallocPitch((void **)pointer, pitch, width, height));
}

CUresult cuMemAllocHost(void **pointer, size_t bytes)
{
    return result(cudaMallocHost(pointer, bytes));
}

CUresult cuMemFree(CUdeviceptr pointer)
{
    return result(cudaFree((void *)pointer));
}

CUresult cuMemFreeHost(void *pointer)
{
    return result(cudaFreeHost(pointer));
}

static const char *source(const CUDA_MEMCPY2D *c)
{
    const char *base = c->srcMemoryType == CU_MEMORYTYPE_HOST ? c->srcHost : (const char *)c->srcDevice;
    return base + c->srcY * c->srcPitch + c->srcXInBytes;
}

static char *destination(const CUDA_MEMCPY2D *c)
{
    char *base = c->dstMemoryType == CU_MEMORYTYPE_HOST ? c->dstHost : (char *)c->dstDevice;
    return base + c->dstY * c->dstPitch + c->dstXInBytes;
}

/* From the kinds that are stated: what is at the address has to be so. */
static enum cudaMemcpyKind direction(const CUDA_MEMCPY2D *c)
{
    const int from_host = c->srcMemoryType == CU_MEMORYTYPE_HOST, to_host = c->dstMemoryType == CU_MEMORYTYPE_HOST;

    if (from_host)
        return to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *c)
{
    return result(cudaMemcpy2D(destination(c), c->dstPitch, source(c), c->srcPitch, c->WidthInBytes, c->Height,
                               direction(c)));
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream stream)
{
    return result(cudaMemcpy2DAsync(destination(c), c->dstPitch, source(c), c->srcPitch, c->WidthInBytes, c->Height,
                                    direction(c), stream));
}

/* ---- Streams and events ---- */

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    return result(cudaStreamCreateWithFlags(stream, flags));
}

CUresult cuStreamDestroy(CUstream stream)
{
    return result(cudaStreamDestroy(stream));
}

CUresult cuStreamSynchronize(CUstream stream)
{
    return result(cudaStreamSynchronize(stream));
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    return result(cudaEventCreateWithFlags(event, flags));
}

CUresult cuEventDestroy(CUevent event)
{
    return result(cudaEventDestroy(event));
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    return result(cudaEventRecord(event, stream));
}

/* ---- What there is none of ---- */

#define UNSUPPORTED(symbol)                                                                                            \
    CUresult unsupported_##symbol(void) __asm__(#symbol);                                                              \
    CUresult unsupported_##symbol(void)                                                                                \
    {                                                                                                                  \
        return CUDA_ERROR_NOT_SUPPORTED;                                                                               \
    }
UNSUPPORTED(cuModuleLoadData)
UNSUPPORTED(cuModuleUnload)
UNSUPPORTED(cuModuleGetFunction)
UNSUPPORTED(cuLaunchKernel)
UNSUPPORTED(cuTexObjectCreate)
UNSUPPORTED(cuTexObjectDestroy)
UNSUPPORTED(cuGraphicsMapResources)
UNSUPPORTED(cuGraphicsUnmapResources)
UNSUPPORTED(cuGraphicsUnregisterResource)
UNSUPPORTED(cuGraphicsResourceSetMapFlags_v2)
UNSUPPORTED(cuGraphicsResourceGetMappedPointer_v2)
UNSUPPORTED(cuGraphicsSubResourceGetMappedArray)
UNSUPPORTED(cuGraphicsGLRegisterBuffer)
UNSUPPORTED(cuGraphicsGLRegisterImage)
UNSUPPORTED(cuGLGetDevices_v2)
