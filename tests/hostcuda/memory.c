/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks of memory, and what is copied between them. */
#include "hostcuda_internal.h"

#include <stdlib.h>
#include <string.h>

#if HOSTCUDA_ASAN
#include <sanitizer/asan_interface.h>
#endif

/* Bytes beside each block of device memory that nobody may write; ASan has its own. */
enum { CANARY_BYTES = HOSTCUDA_ASAN ? 0 : 256, CANARY = 0xFD };

/* ---- Blocks ---- */

Block *hostcuda_find_block(const void *pointer)
{
    const char *p = pointer;
    for (Block *b = hostcuda.blocks; b; b = b->next)
        if (p >= b->base && (p < b->base + b->bytes || (p == b->base && !b->bytes)))
            return b;
    return NULL;
}

/* Whether what works in a context can reach a block. */
bool hostcuda_is_near(const Block *block, const Context *context)
{
    return block->context == context || (block->from_pool && block->context->device == context->device);
}

/* The host may not touch device memory; operations open it for as long as they run. */
void hostcuda_open_block(const Block *block, bool open)
{
#if HOSTCUDA_ASAN
    if (block && block->kind == BLOCK_DEVICE) {
        if (open)
            __asan_unpoison_memory_region(block->base, block->bytes);
        else
            __asan_poison_memory_region(block->base, block->bytes);
    }
#else
    (void)block;
    (void)open;
#endif
}

void hostcuda_open_device(const Context *context, bool open)
{
    if (HOSTCUDA_ASAN)
        for (const Block *b = hostcuda.blocks; b; b = b->next)
            if (hostcuda_is_near(b, context))
                hostcuda_open_block(b, open);
}

void hostcuda_check_canaries(const char *after)
{
    for (const Block *b = hostcuda.blocks; b; b = b->next)
        if (b->kind == BLOCK_DEVICE)
            for (size_t i = 0; i != CANARY_BYTES; i++)
                if ((unsigned char)b->allocation[i] != CANARY || (unsigned char)b->base[b->bytes + i] != CANARY)
                    hostcuda_die("%s: wrote outside a block of %zu bytes of device memory", after, b->bytes);
}

static size_t device_bytes(int device)
{
    size_t sum = 0;
    for (const Block *b = hostcuda.blocks; b; b = b->next)
        if (b->kind == BLOCK_DEVICE && b->context->device == device)
            sum += b->bytes;
    return sum;
}

static Block *block_add(BlockKind kind, char *allocation, char *base, size_t bytes, unsigned flags)
{
    Block *block = hostcuda_alloc(sizeof *block);
    *block = (Block){.next = hostcuda.blocks, .base = base, .allocation = allocation, .bytes = bytes, .kind = kind,
                     .flags = flags, .context = hostcuda_current_context()};
    hostcuda.blocks = block;
    return block;
}

static cudaError_t device_alloc(void **pointer, size_t bytes)
{
    *pointer = NULL;
    if (!bytes)
        return cudaSuccess;
    const Context *context = hostcuda_current_context();
    if (bytes > hostcuda.memory || device_bytes(context->device) > hostcuda.memory - bytes)
        return cudaErrorMemoryAllocation;
    void *allocation;
    if (posix_memalign(&allocation, 256, bytes + 2 * CANARY_BYTES))
        return cudaErrorMemoryAllocation;
    char *base = (char *)allocation + CANARY_BYTES;
    memset(allocation, CANARY, bytes + 2 * CANARY_BYTES);
    memset(base, 0xCD, bytes);
    hostcuda_open_block(block_add(BLOCK_DEVICE, allocation, base, bytes, 0), false);
    *pointer = base;
    return cudaSuccess;
}

void hostcuda_block_free(Block *block)
{
    Block **link = &hostcuda.blocks;
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
    hostcuda_open_block(block, true);
    if (block->kind != BLOCK_REGISTERED)
        free(block->allocation);
    free(block);
}

/* ---- Allocation ---- */

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = device_alloc(pointer, bytes);
    return hostcuda_leave(error);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error) {
        *pitch = (width + 511) & ~(size_t)511;
        error = device_alloc(pointer, *pitch * height);
    }
    return hostcuda_leave(error);
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t handle)
{
    Stream *stream;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = hostcuda_get_stream(handle, &stream);
    if (!error)
        error = device_alloc(pointer, bytes);
    if (!error && *pointer)
        hostcuda_find_block(*pointer)->from_pool = true;
    return hostcuda_leave(error);
}

static cudaError_t get_block(const void *pointer, BlockKind kind, Block **block)
{
    static const char *const names[] = {"cudaMalloc", "cudaHostAlloc", "cudaHostRegister"};
    Block *found = hostcuda_find_block(pointer);
    *block = NULL;
    if (!found || found->base != pointer || found->kind != kind)
        return hostcuda_misuse(kind == BLOCK_REGISTERED ? cudaErrorHostMemoryNotRegistered : cudaErrorInvalidValue,
                               "%p is not from %s", pointer, names[kind]);
    if (kind == BLOCK_DEVICE && !hostcuda_is_near(found, hostcuda_current_context()))
        return hostcuda_misuse(cudaErrorInvalidValue, "the memory belongs to another context");
    *block = found;
    return cudaSuccess;
}

/* Freeing waits for the device, and succeeds even where the call then returns an earlier error. */
static cudaError_t free_memory(const char *function, void *pointer, BlockKind kind)
{
    Block *block = NULL;
    cudaError_t error = hostcuda_enter(function);
    if (pointer && error != cudaErrorNotPermitted && error != cudaErrorInsufficientDriver &&
        error != cudaErrorNoDevice) {
        const cudaError_t found = get_block(pointer, kind, &block);
        if (!found) {
            hostcuda.counts.device_waits++;
            hostcuda_run_all(block->context);
            hostcuda_check_canaries(function);
            hostcuda_block_free(block);
        }
        error = error ? error : found ? found : hostcuda.lost;
    }
    return hostcuda_leave(error);
}

cudaError_t cudaFree(void *pointer)
{
    return free_memory(__func__, pointer, BLOCK_DEVICE);
}

cudaError_t cudaFreeHost(void *pointer)
{
    return free_memory(__func__, pointer, BLOCK_PINNED);
}

cudaError_t cudaHostUnregister(void *pointer)
{
    return free_memory(__func__, pointer, BLOCK_REGISTERED);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t handle)
{
    Stream *stream;
    Block *block;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = hostcuda_get_stream(handle, &stream);
    if (!error)
        error = get_block(pointer, BLOCK_DEVICE, &block);
    if (!error) {
        Op *op = hostcuda_op_new(OP_FREE);
        op->dst = pointer;
        error = hostcuda_enqueue(stream, op);
    }
    return hostcuda_leave(error);
}

static cudaError_t host_alloc(const char *function, void **pointer, size_t bytes, unsigned flags)
{
    cudaError_t error = hostcuda_enter(function);
    if (!error) {
        void *allocation;
        *pointer = NULL;
        if (posix_memalign(&allocation, 4096, bytes ? bytes : 1))
            return hostcuda_leave(cudaErrorMemoryAllocation);
        memset(allocation, 0xCD, bytes);
        block_add(BLOCK_PINNED, allocation, allocation, bytes, flags);
        *pointer = allocation;
    }
    return hostcuda_leave(error);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    return host_alloc(__func__, pointer, bytes, flags);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return host_alloc(__func__, pointer, bytes, 0);
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error && (!pointer || !bytes))
        error = cudaErrorInvalidValue;
    if (!error && flags & ~(unsigned)(cudaHostRegisterPortable | cudaHostRegisterMapped))
        error = hostcuda_misuse(cudaErrorInvalidValue, "flags %#x", flags);
    const char *begin = pointer, *end = begin + bytes;
    for (const Block *b = hostcuda.blocks; b && !error; b = b->next) {
        if (begin >= b->base + b->bytes || end <= b->base)
            continue;
        if (b->kind == BLOCK_DEVICE)
            error = hostcuda_misuse(cudaErrorInvalidValue, "%p is device memory", pointer);
        else
            error = cudaErrorHostMemoryAlreadyRegistered;
    }
    if (!error)
        block_add(BLOCK_REGISTERED, NULL, pointer, bytes, flags);
    return hostcuda_leave(error);
}

/* Registered memory is its context's alone unless it was registered as portable. */
static bool is_known_here(const Block *block)
{
    return block->kind != BLOCK_REGISTERED || block->flags & cudaHostRegisterPortable ||
           block->context == hostcuda_current_context();
}

/* Under unified addressing page-locked memory has one address; that it is asked for is a matter of style, but registered
 * memory must be meant for it. */
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
    (void)flags;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error) {
        const Block *block = hostcuda_find_block(host);
        *device = host;
        if (!block || block->kind == BLOCK_DEVICE)
            error = hostcuda_misuse(cudaErrorInvalidValue, "%p is not page-locked host memory", host);
        else if (block->kind == BLOCK_REGISTERED && !(block->flags & cudaHostRegisterMapped))
            error = hostcuda_misuse(cudaErrorInvalidValue, "%p was registered without cudaHostRegisterMapped", host);
        else if (!is_known_here(block))
            error = hostcuda_misuse(cudaErrorInvalidValue, "%p was registered by another context", host);
    }
    return hostcuda_leave(error);
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *host)
{
    cudaError_t error = hostcuda_enter(__func__);
    const Block *block = hostcuda_find_block(host);
    if (!error && (!block || block->kind == BLOCK_DEVICE))
        error = cudaErrorInvalidValue;
    if (!error)
        *flags = block->flags;
    return hostcuda_leave(error);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error) {
        const Block *block = hostcuda_find_block(pointer);
        memset(attributes, 0, sizeof *attributes);
        attributes->type = cudaMemoryTypeUnregistered;
        attributes->device = -2;
        attributes->hostPointer = (void *)pointer;
        if (block && is_known_here(block)) {
            const bool device = block->kind == BLOCK_DEVICE;
            attributes->type = device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
            attributes->device = block->context->device;
            attributes->devicePointer = (void *)pointer;
            attributes->hostPointer = device ? NULL : (void *)pointer;
        }
    }
    return hostcuda_leave(error);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error) {
        const size_t used = device_bytes(hostcuda_current_context()->device);
        *total = hostcuda.memory;
        *free_bytes = used < hostcuda.memory ? hostcuda.memory - used : 0;
    }
    return hostcuda_leave(error);
}

/* ---- Copies and fills ---- */

/* Whether the rows lie in one block, and in the context's if it is the device's; a context of NULL is any. NULL block:
 * ordinary host memory. */
static cudaError_t check_rows(const char *what, const void *pointer, size_t pitch, size_t width, size_t height,
                              const Context *context, const Block **block)
{
    *block = hostcuda_find_block(pointer);
    if (pitch < width)
        return hostcuda_misuse(cudaErrorInvalidPitchValue, "the pitch %zu of the %s is less than the width %zu", pitch,
                               what, width);
    if (!*block)
        return cudaSuccess;
    const size_t end = (size_t)((const char *)pointer - (*block)->base) + (height - 1) * pitch + width;
    if (end > (*block)->bytes)
        return hostcuda_misuse(cudaErrorInvalidValue, "the %s ends %zu bytes after its block of %zu", what,
                               end - (*block)->bytes, (*block)->bytes);
    if ((*block)->kind == BLOCK_DEVICE && context && !hostcuda_is_near(*block, context))
        return hostcuda_misuse(cudaErrorInvalidValue, "the %s belongs to another context", what);
    return cudaSuccess;
}

static cudaError_t check_direction(enum cudaMemcpyKind kind, const Block *to, const Block *from)
{
    const bool to_device = to && to->kind == BLOCK_DEVICE, from_device = from && from->kind == BLOCK_DEVICE;
    if (kind == cudaMemcpyDefault)
        return cudaSuccess;
    if (to_device != (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice))
        return hostcuda_misuse(cudaErrorInvalidValue, "copy kind %d, but the destination is %s memory", (int)kind,
                               to_device ? "device" : "host");
    if (from_device != (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice))
        return hostcuda_misuse(cudaErrorInvalidValue, "copy kind %d, but the source is %s memory", (int)kind,
                               from_device ? "device" : "host");
    return cudaSuccess;
}

typedef struct Rows {
    void *dst;
    size_t dst_pitch;
    const void *src;
    size_t src_pitch, width, height;
} Rows;

static void enqueue_copy(Stream *stream, Rows r)
{
    Op *op = hostcuda_op_new(OP_COPY);
    op->dst = r.dst;
    op->dst_pitch = r.dst_pitch;
    op->src = r.src;
    op->src_pitch = r.src_pitch;
    op->width = r.width;
    op->height = r.height;
    hostcuda_enqueue(stream, op);
}

cudaError_t hostcuda_copy_peer(const char *function, const CUDA_MEMCPY3D_PEER *c, cudaStream_t handle)
{
    Stream *stream;
    const Block *to = NULL, *from = NULL;
    const Rows r = {(void *)c->dstDevice, c->dstPitch, (const void *)c->srcDevice, c->srcPitch, c->WidthInBytes, c->Height};
    cudaError_t error = hostcuda_enter(function);
    if (!error)
        error = hostcuda_get_stream(handle, &stream);
    if (!error && (c->srcMemoryType != CU_MEMORYTYPE_DEVICE || c->dstMemoryType != CU_MEMORYTYPE_DEVICE || c->Depth != 1 ||
                   !c->srcContext || !c->dstContext))
        error = hostcuda_misuse(cudaErrorInvalidValue, "only rows of device memory of known contexts are emulated");
    if (!error)
        error = check_rows("destination", r.dst, r.dst_pitch, r.width, r.height, c->dstContext, &to);
    if (!error)
        error = check_rows("source", r.src, r.src_pitch, r.width, r.height, c->srcContext, &from);
    if (!error)
        error = check_direction(cudaMemcpyDeviceToDevice, to, from);
    if (!error)
        enqueue_copy(stream, r);
    return hostcuda_leave(error);
}

static cudaError_t copy(const char *function, Rows r, enum cudaMemcpyKind kind, cudaStream_t handle, bool wait)
{
    Stream *stream;
    const Block *to, *from;
    cudaError_t error = hostcuda_enter(function);
    if (!error)
        error = hostcuda_get_stream(handle, &stream);
    if (error || !r.width || !r.height)
        return hostcuda_leave(error);
    error = check_rows("destination", r.dst, r.dst_pitch, r.width, r.height, stream->context, &to);
    from = hostcuda_find_block(r.src);
    const bool is_anywhere = kind == cudaMemcpyDefault && from && from->from_pool;
    if (!error)
        error = check_rows("source", r.src, r.src_pitch, r.width, r.height, is_anywhere ? NULL : stream->context, &from);
    if (!error)
        error = check_direction(kind, to, from);
    if (error)
        return hostcuda_leave(error);
    enqueue_copy(stream, r);
    const bool pageable = !to || !from;
    hostcuda.counts.pageable += pageable && !wait;
    if (wait || pageable)
        error = hostcuda_wait_stream(stream, hostcuda.number);
    return hostcuda_leave(error);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return copy(__func__, (Rows){dst, count, src, count, count, 1}, kind, NULL, true);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy(__func__, (Rows){dst, count, src, count, count, 1}, kind, stream, false);
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    return copy(__func__, (Rows){dst, dpitch, src, spitch, width, height}, kind, NULL, true);
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy(__func__, (Rows){dst, dpitch, src, spitch, width, height}, kind, stream, false);
}

static cudaError_t set(const char *function, Rows r, int value, cudaStream_t handle, bool wait)
{
    Stream *stream;
    const Block *to;
    cudaError_t error = hostcuda_enter(function);
    if (!error)
        error = hostcuda_get_stream(handle, &stream);
    if (error || !r.width || !r.height)
        return hostcuda_leave(error);
    error = check_rows("destination", r.dst, r.dst_pitch, r.width, r.height, stream->context, &to);
    if (!error && !to)
        error = hostcuda_misuse(cudaErrorInvalidValue, "%p is ordinary host memory", r.dst);
    if (error)
        return hostcuda_leave(error);
    Op *op = hostcuda_op_new(OP_SET);
    op->dst = r.dst;
    op->dst_pitch = r.dst_pitch;
    op->width = r.width;
    op->height = r.height;
    op->value = value;
    hostcuda_enqueue(stream, op);
    if (wait)
        error = hostcuda_wait_stream(stream, hostcuda.number);
    return hostcuda_leave(error);
}

cudaError_t cudaMemset(void *dst, int value, size_t count)
{
    return set(__func__, (Rows){dst, count, NULL, 0, count, 1}, value, NULL, true);
}

cudaError_t cudaMemsetAsync(void *dst, int value, size_t count, cudaStream_t stream)
{
    return set(__func__, (Rows){dst, count, NULL, 0, count, 1}, value, stream, false);
}

cudaError_t cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return set(__func__, (Rows){dst, pitch, NULL, 0, width, height}, value, stream, false);
}

/* A __constant__ or __device__ variable is a variable of the program. */
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                               enum cudaMemcpyKind kind)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error && kind != cudaMemcpyHostToDevice)
        error = hostcuda_misuse(cudaErrorInvalidValue, "only host memory is copied to symbols here");
    if (!error) {
        hostcuda_run_all(hostcuda_current_context());
        memcpy((char *)symbol + offset, src, count);
    }
    return hostcuda_leave(error);
}
