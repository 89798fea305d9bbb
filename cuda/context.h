/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/*
 * The context that an encoder's objects belong to, on top of the calling thread's stack for as long as it works. That is
 * the driver's business: its entry points are asked of the runtime, so that nothing is linked that a machine without a
 * driver lacks.
 */
#ifndef PNV_CUDA_CONTEXT_H
#define PNV_CUDA_CONTEXT_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdint.h>

typedef struct PnvCudaContext {
    CUcontext handle; /**< NULL: there is none yet. */
    int device;
    int is_retained;  /**< The device's primary one, which is given back. */

    CUresult(CUDAAPI *push)(CUcontext context);
    CUresult(CUDAAPI *pop)(CUcontext *context);
    CUresult(CUDAAPI *get_current)(CUcontext *context);
    CUresult(CUDAAPI *get_device)(CUdevice *device);
    CUresult(CUDAAPI *retain)(CUcontext *context, CUdevice device);
    CUresult(CUDAAPI *release)(CUdevice device);
    CUresult(CUDAAPI *get_attribute)(void *value, CUpointer_attribute attribute, CUdeviceptr pointer);
    CUresult(CUDAAPI *copy_peer)(const CUDA_MEMCPY3D_PEER *copy, CUstream stream);
} PnvCudaContext;

/** Whose memory it is. */
typedef struct PnvCudaHome {
    CUcontext context; /**< NULL: no context's, but all of the device's. */
    int device;
} PnvCudaHome;

/** Rows of memory. */
typedef struct PnvCudaRows {
    uint8_t *to;
    const uint8_t *from;
    size_t to_pitch, from_pitch, row_bytes, n_rows;
} PnvCudaRows;

/** Fill in the entry points of a zeroed context. */
cudaError_t pnv_cuda_context_load(PnvCudaContext *context);

/** Take the caller's context, and its device. */
cudaError_t pnv_cuda_context_adopt(PnvCudaContext *context, void *handle);

/** Take what is current in this thread if it is on context->device, else the primary context of that. */
cudaError_t pnv_cuda_context_find(PnvCudaContext *context);

/** Give it back. All that belongs to it is gone already. */
void pnv_cuda_context_close(PnvCudaContext *context);

/** Make it current; an error, of which nothing is left to do, where the application destroyed it. */
cudaError_t pnv_cuda_context_enter(const PnvCudaContext *context);

/** What was current before is so again. */
void pnv_cuda_context_leave(const PnvCudaContext *context);

/** Where memory lives. What CUDA knows nothing of, or what is the host's, counts as at home here. */
cudaError_t pnv_cuda_context_home(const PnvCudaContext *context, const void *memory, PnvCudaHome *home);

/** Whether kernels can read it. */
int pnv_cuda_context_is_home(const PnvCudaContext *context, PnvCudaHome home);

/** Queue a copy from another home into memory of this one. In the context. */
cudaError_t pnv_cuda_context_fetch(const PnvCudaContext *context, PnvCudaRows rows, PnvCudaHome home, cudaStream_t stream);

/** Copy from wherever it lives into memory of the host, when event (if it is not NULL) is done, and wait for that. */
cudaError_t pnv_cuda_context_save(const PnvCudaContext *context, PnvCudaRows rows, cudaEvent_t event);

#endif
