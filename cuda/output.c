/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
#include "output.h"

#include <pthread.h>
#include <stdlib.h>

struct PnvCudaOutputs {
    pthread_mutex_t lock;
    PnvHostPool *host;
    PnvCudaOutput *spare;
    int is_closed;
    int n_refs; /* the encoder and every buffer */
};

PnvCudaOutputs *pnv_cuda_outputs_new(PnvHostPool *host)
{
    PnvCudaOutputs *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    pthread_mutex_init(&o->lock, NULL);
    o->host = host;
    o->n_refs = 1;
    return o;
}

static void unref(PnvCudaOutputs *o)
{
    pthread_mutex_lock(&o->lock);
    const int n_refs = --o->n_refs;
    pthread_mutex_unlock(&o->lock);
    if (n_refs)
        return;
    pthread_mutex_destroy(&o->lock);
    free(o);
}

static void output_free(PnvCudaOutput *output)
{
    PnvCudaOutputs *o = output->outputs;

    pnv_host_free(output->h_data);
    free(output);
    unref(o);
}

void pnv_cuda_output_give(PnvCudaOutput *output)
{
    if (!output)
        return;
    PnvCudaOutputs *o = output->outputs;
    pthread_mutex_lock(&o->lock);
    const int is_closed = o->is_closed;
    if (!is_closed) {
        output->next = o->spare;
        o->spare = output;
    }
    pthread_mutex_unlock(&o->lock);
    if (is_closed)
        output_free(output);
}

static void release(PnvPacketOwner *owner)
{
    pnv_cuda_output_give((PnvCudaOutput *)owner);
}

void pnv_cuda_outputs_close(PnvCudaOutputs *o)
{
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    PnvCudaOutput *spare = o->spare;
    o->spare = NULL;
    o->is_closed = 1;
    pthread_mutex_unlock(&o->lock);
    while (spare) {
        PnvCudaOutput *next = spare->next;
        output_free(spare);
        spare = next;
    }
    unref(o);
}

cudaError_t pnv_cuda_output_reserve(PnvCudaOutput *output, size_t bytes)
{
    void *mapped = NULL;
    int is_pinned = 0;

    if (bytes <= output->capacity)
        return cudaSuccess;
    pnv_host_free(output->h_data);
    output->capacity = 0;
    output->h_data = pnv_host_pool_alloc(output->outputs->host, bytes, &is_pinned);
    if (!output->h_data || !is_pinned)
        return cudaErrorMemoryAllocation;
    const cudaError_t e = cudaHostGetDevicePointer(&mapped, output->h_data, 0);
    if (e == cudaSuccess) {
        output->m_data = mapped;
        output->capacity = bytes;
    }
    return e;
}

cudaError_t pnv_cuda_outputs_add(PnvCudaOutputs *o, size_t bytes)
{
    PnvCudaOutput *output = calloc(1, sizeof *output);

    if (!output)
        return cudaErrorMemoryAllocation;
    output->owner.release = release;
    output->outputs = o;
    pthread_mutex_lock(&o->lock);
    o->n_refs++;
    pthread_mutex_unlock(&o->lock);
    const cudaError_t e = pnv_cuda_output_reserve(output, bytes);
    pnv_cuda_output_give(output); /* freed with the others, whatever it is worth */
    return e;
}

PnvCudaOutput *pnv_cuda_outputs_take(PnvCudaOutputs *o)
{
    pthread_mutex_lock(&o->lock);
    PnvCudaOutput *output = o->spare;
    if (output)
        o->spare = output->next;
    pthread_mutex_unlock(&o->lock);
    return output;
}
