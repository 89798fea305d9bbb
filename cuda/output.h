/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/*
 * Page-locked memory that the device writes coded frames into, and that is handed out as their packets, without a copy. A
 * slot has one buffer at a time; some more are spare, and take the place of those that are out.
 */
#ifndef PNV_CUDA_OUTPUT_H
#define PNV_CUDA_OUTPUT_H

#include <cuda_runtime_api.h>

#include "hostmem.h"
#include "packet.h"

/** Outlives its encoder until the last packet is released. */
typedef struct PnvCudaOutputs PnvCudaOutputs;

typedef struct PnvCudaOutput {
    PnvPacketOwner owner; /**< First. */
    PnvCudaOutputs *outputs;
    struct PnvCudaOutput *next;
    uint8_t *h_data;
    uint8_t *m_data;      /**< The device's address of it. */
    size_t capacity;
} PnvCudaOutput;

/** NULL without memory. host must be closed after the outputs. */
PnvCudaOutputs *pnv_cuda_outputs_new(PnvHostPool *host);

/** The encoder's end of it: spare buffers are freed, others when their packets are released. NULL is ignored. */
void pnv_cuda_outputs_close(PnvCudaOutputs *outputs);

/** One more spare buffer. In the encoder's context. */
cudaError_t pnv_cuda_outputs_add(PnvCudaOutputs *outputs, size_t bytes);

/** A spare buffer, of any size, or NULL. Never waits. */
PnvCudaOutput *pnv_cuda_outputs_take(PnvCudaOutputs *outputs);

/** Make one that is taken hold bytes; what was in it is lost. In the encoder's context. */
cudaError_t pnv_cuda_output_reserve(PnvCudaOutput *output, size_t bytes);

/** It is spare again. Any thread. NULL is ignored. */
void pnv_cuda_output_give(PnvCudaOutput *output);

#endif
