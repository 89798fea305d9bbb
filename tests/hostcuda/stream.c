/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams, events and the order of operations.
 *
 * Streams are queues. In eager mode an operation runs as it is queued. In lazy mode it runs when something waits for
 * it, so that what is not waited for is never done; asking (cudaStreamQuery) runs one operation and tells what is left.
 * Numbers grow with each queued operation; "up to a number" is what waiting and the default stream mean. */
#include "hostcuda_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Operations ---- */

static void record_unref(Record *record)
{
    if (record && --record->refs == 0)
        free(record);
}

static void op_free(Op *op)
{
    record_unref(op->record);
    free(op->args);
    free(op);
}

static void copy_run(const Op *op)
{
    Block *to = hostcuda_find_block(op->dst), *from = hostcuda_find_block(op->src);
    hostcuda_open_block(to, true);
    hostcuda_open_block(from, true);
    for (size_t y = 0; y < op->height; y++)
        memcpy((char *)op->dst + y * op->dst_pitch, (const char *)op->src + y * op->src_pitch, op->width);
    hostcuda_open_block(to, false);
    hostcuda_open_block(from, false);
    hostcuda.counts.copies++;
    const bool to_device = to && to->kind == BLOCK_DEVICE, from_device = from && from->kind == BLOCK_DEVICE;
    if (to_device && !from_device)
        hostcuda.counts.to_device += op->width * op->height;
    if (!to_device && from_device)
        hostcuda.counts.to_host += op->width * op->height;
}

static void set_run(const Op *op)
{
    Block *to = hostcuda_find_block(op->dst);
    hostcuda_open_block(to, true);
    for (size_t y = 0; y < op->height; y++)
        memset((char *)op->dst + y * op->dst_pitch, op->value, op->width);
    hostcuda_open_block(to, false);
    hostcuda.counts.sets++;
}

static void kernel_run(const Stream *stream, const Op *op)
{
    const Kernel *k = op->kernel;
    const HostcudaLaunch launch = {.name = k->name, .kernel = k->function, .signature = k->signature,
                                   .args = op->args, .grid = op->grid, .block = op->block,
                                   .shared = k->shared, .n_shared = k->n_shared,
                                   .seed = hostcuda.seed ? hostcuda.seed + (unsigned)op->number : 0};
    hostcuda_open_device(stream->context, true);
    hostcuda_execute(&launch);
    hostcuda_open_device(stream->context, false);
    hostcuda_check_canaries(k->name);
    hostcuda.counts.kernels++;
    hostcuda.counts.blocks += (unsigned long)op->grid.x * op->grid.y * op->grid.z;
}

static void host_run(Stream *stream, const Op *op)
{
    stream->busy = true;
    hostcuda_unlock();
    hostcuda_thread.in_callback = true;
    op->fn(op->data);
    hostcuda_thread.in_callback = false;
    hostcuda_lock();
    stream->busy = false;
    pthread_cond_broadcast(&hostcuda.changed);
}

static void run_up_to(Stream *stream, uint64_t number);
static void run_one(Stream *stream);

static void op_run(Stream *stream, Op *op)
{
    const bool works = op->kind == OP_COPY || op->kind == OP_SET || op->kind == OP_KERNEL;
    if (op->kind == OP_WAIT) {
        if (!op->record->done)
            run_up_to(op->record->stream, op->record->number);
        return;
    }
    if (op->kind == OP_RECORD) { /* on a lost device too, or nobody would come to know */
        op->record->done = true;
        clock_gettime(CLOCK_MONOTONIC, &op->record->time);
        return;
    }
    if (op->kind == OP_FREE) {
        hostcuda_block_free(hostcuda_find_block(op->dst));
        return;
    }
    if (works && !hostcuda.lost)
        hostcuda_fault("exec");
    if (hostcuda.lost)
        return;
    switch (op->kind) {
    case OP_COPY: copy_run(op); break;
    case OP_SET: set_run(op); break;
    case OP_KERNEL: kernel_run(stream, op); break;
    default: host_run(stream, op); break;
    }
}

static bool orders_with_default(const Stream *stream)
{
    return !stream->is_default && !(stream->flags & cudaStreamNonBlocking);
}

/* A stream of the context with operations up to number. Looked for again after each: while a host function runs, other
 * threads make and destroy streams. */
static Stream *find_pending(const Context *context, uint64_t number, bool blocking_only)
{
    for (Stream *s = hostcuda.streams; s; s = s->next)
        if (s->context == context && s->head && s->head->number <= number && (!blocking_only || orders_with_default(s)))
            return s;
    return NULL;
}

static void run_streams(const Context *context, uint64_t number, bool blocking_only)
{
    for (Stream *s; (s = find_pending(context, number, blocking_only));)
        run_one(s);
}

/* The default stream and the blocking ones of its context wait for what was queued before on the other. */
static void run_default_order(const Stream *stream, uint64_t number)
{
    if (orders_with_default(stream))
        run_up_to(stream->context->default_stream, number - 1);
    if (stream->is_default)
        run_streams(stream->context, number - 1, true);
}

static void run_head(Stream *stream)
{
    Op *op = stream->head;
    run_default_order(stream, op->number);
    if (stream->head != op || stream->busy) /* run meanwhile, on the way of an order or by another thread */
        return;
    op_run(stream, op);
    stream->head = op->next;
    if (!stream->head)
        stream->tail = &stream->head;
    op_free(op);
}

static void run_one(Stream *stream)
{
    if (stream->busy)
        pthread_cond_wait(&hostcuda.changed, &hostcuda.lock);
    else
        run_head(stream);
}

static void run_up_to(Stream *stream, uint64_t number)
{
    while (stream->head && stream->head->number <= number)
        run_one(stream);
}

void hostcuda_run_all(const Context *context)
{
    const uint64_t number = hostcuda.number;
    run_up_to(context->default_stream, number);
    run_streams(context, number, false);
}

/* Lazy with a seed: now and then something else runs before what is waited for. */
static void run_others(const Stream *stream)
{
    if (!hostcuda.lazy || !hostcuda.seed)
        return;
    for (Stream *s = hostcuda.streams; s; s = s->next) {
        hostcuda.random = hostcuda.random * 6364136223846793005u + 1442695040888963407u;
        if (s != stream && s->head && !s->busy && hostcuda.random >> 62 == 0) {
            run_head(s);
            return; /* the list may have changed */
        }
    }
}

cudaError_t hostcuda_wait_stream(Stream *stream, uint64_t number)
{
    run_others(stream);
    run_up_to(stream, number);
    if (stream->is_default)
        run_default_order(stream, number + 1);
    return hostcuda.lost;
}

Op *hostcuda_op_new(OpKind kind)
{
    Op *op = hostcuda_alloc(sizeof *op);
    op->kind = kind;
    op->height = 1;
    return op;
}

cudaError_t hostcuda_enqueue(Stream *stream, Op *op)
{
    op->number = ++hostcuda.number;
    *stream->tail = op;
    stream->tail = &op->next;
    if (!hostcuda.lazy)
        run_up_to(stream, op->number); /* an error shows in the next call, as on a device */
    return cudaSuccess;
}

/* ---- Handles ---- */

Stream *hostcuda_stream_new(Context *context, unsigned flags)
{
    Stream *stream = hostcuda_alloc(sizeof *stream);
    stream->context = context;
    stream->flags = flags;
    stream->tail = &stream->head;
    return stream;
}

cudaError_t hostcuda_get_stream(cudaStream_t handle, Stream **stream)
{
    Context *context = hostcuda_current_context();
    *stream = context->default_stream;
    if (!handle || handle == cudaStreamLegacy)
        return cudaSuccess;
    for (Stream *s = hostcuda.streams; s; s = s->next)
        if (s == handle) {
            *stream = s;
            if (s->context != context)
                return hostcuda_misuse(cudaErrorInvalidResourceHandle, "the stream belongs to another context");
            return cudaSuccess;
        }
    return hostcuda_misuse(cudaErrorInvalidResourceHandle, "stream %p does not exist", (void *)handle);
}

/* An event may be waited for and asked in any context. */
static cudaError_t get_any_event(cudaEvent_t handle, Event **event)
{
    *event = hostcuda.events;
    while (*event && *event != handle)
        *event = (*event)->next;
    if (*event)
        return cudaSuccess;
    return hostcuda_misuse(cudaErrorInvalidResourceHandle, "event %p does not exist", (void *)handle);
}

static cudaError_t get_event(cudaEvent_t handle, Event **event)
{
    const cudaError_t error = get_any_event(handle, event);
    if (!error && (*event)->context != hostcuda_current_context())
        return hostcuda_misuse(cudaErrorInvalidResourceHandle, "the event belongs to another context");
    return error;
}

void hostcuda_drop_stream(Stream *stream)
{
    while (stream->head) {
        Op *op = stream->head;
        stream->head = op->next;
        if (op->kind == OP_RECORD)
            op->record->done = true;
        op_free(op);
    }
    free(stream);
}

void hostcuda_unlink_stream(Stream *stream)
{
    Stream **link = &hostcuda.streams;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
}

void hostcuda_free_event(Event *event)
{
    Event **link = &hostcuda.events;
    while (*link != event)
        link = &(*link)->next;
    *link = event->next;
    record_unref(event->record);
    free(event);
}

/* ---- Streams and events ---- */

static cudaError_t stream_create(const char *function, cudaStream_t *handle, unsigned flags)
{
    cudaError_t error = hostcuda_enter(function);
    if (!error && (flags & ~(unsigned)cudaStreamNonBlocking))
        error = hostcuda_misuse(cudaErrorInvalidValue, "flags %#x", flags);
    if (!error) {
        Stream *stream = hostcuda_stream_new(hostcuda_current_context(), flags);
        stream->next = hostcuda.streams;
        hostcuda.streams = stream;
        *handle = stream;
    }
    return hostcuda_leave(error);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return stream_create(__func__, stream, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return stream_create(__func__, stream, flags);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    (void)priority;
    return stream_create(__func__, stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    Stream *stream;
    cudaError_t error = hostcuda_enter(__func__);
    if (error == cudaErrorNotPermitted)
        return hostcuda_leave(error);
    const cudaError_t found =
        handle ? hostcuda_get_stream(handle, &stream)
               : hostcuda_misuse(cudaErrorInvalidResourceHandle, "the default stream is not destroyed");
    if (!found) { /* what is queued still completes */
        run_up_to(stream, hostcuda.number);
        hostcuda_unlink_stream(stream);
        hostcuda_drop_stream(stream);
    }
    return hostcuda_leave(error ? error : found);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    Stream *stream;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = hostcuda_get_stream(handle, &stream);
    if (!error)
        error = hostcuda_wait_stream(stream, hostcuda.number);
    return hostcuda_leave(error);
}

cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    Stream *stream;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = hostcuda_get_stream(handle, &stream);
    if (!error && stream->head) {
        if (!stream->busy)
            run_head(stream);
        error = stream->head ? cudaErrorNotReady : hostcuda.lost;
    }
    return hostcuda_leave(error);
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int *flags)
{
    Stream *stream;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = hostcuda_get_stream(handle, &stream);
    if (!error)
        *flags = stream->flags;
    return hostcuda_leave(error);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int flags)
{
    (void)flags;
    Stream *stream;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = hostcuda_get_stream(handle, &stream);
    Event *found;
    if (!error)
        error = get_any_event(event, &found);
    if (!error && found->record) { /* one never recorded is no reason to wait */
        Op *op = hostcuda_op_new(OP_WAIT);
        op->record = found->record;
        op->record->refs++;
        error = hostcuda_enqueue(stream, op);
    }
    return hostcuda_leave(error);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t fn, void *data)
{
    Stream *stream;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = hostcuda_get_stream(handle, &stream);
    if (!error) {
        Op *op = hostcuda_op_new(OP_HOST);
        op->fn = fn;
        op->data = data;
        error = hostcuda_enqueue(stream, op);
    }
    return hostcuda_leave(error);
}

static cudaError_t event_create(const char *function, cudaEvent_t *handle, unsigned flags)
{
    cudaError_t error = hostcuda_enter(function);
    if (!error && (flags & ~(unsigned)(cudaEventBlockingSync | cudaEventDisableTiming)))
        error = hostcuda_misuse(cudaErrorInvalidValue, "flags %#x", flags);
    if (!error) {
        Event *event = hostcuda_alloc(sizeof *event);
        event->context = hostcuda_current_context();
        event->flags = flags;
        event->next = hostcuda.events;
        hostcuda.events = event;
        *handle = event;
    }
    return hostcuda_leave(error);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return event_create(__func__, event, 0);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    return event_create(__func__, event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle)
{
    Event *event;
    cudaError_t error = hostcuda_enter(__func__);
    if (error == cudaErrorNotPermitted)
        return hostcuda_leave(error);
    const cudaError_t found = get_event(handle, &event);
    if (!found)
        hostcuda_free_event(event);
    return hostcuda_leave(error ? error : found);
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle)
{
    Event *event;
    Stream *stream;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = get_event(handle, &event);
    if (!error)
        error = hostcuda_get_stream(stream_handle, &stream);
    if (!error) {
        Record *record = hostcuda_alloc(sizeof *record);
        record->refs = 2; /* the event's and the operation's */
        record->stream = stream;
        record->number = hostcuda.number + 1;
        record_unref(event->record);
        event->record = record;
        Op *op = hostcuda_op_new(OP_RECORD);
        op->record = record;
        error = hostcuda_enqueue(stream, op);
    }
    return hostcuda_leave(error);
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle)
{
    Event *event;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = get_any_event(handle, &event);
    if (!error && event->record && !event->record->done) {
        Record *record = event->record;
        record->refs++;
        error = hostcuda_wait_stream(record->stream, record->number);
        record_unref(record);
    }
    return hostcuda_leave(error ? error : hostcuda.lost);
}

cudaError_t cudaEventQuery(cudaEvent_t handle)
{
    Event *event;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = get_any_event(handle, &event);
    if (!error && event->record && !event->record->done) {
        Record *record = event->record;
        if (!record->stream->busy)
            run_head(record->stream);
        error = record->done ? hostcuda.lost : cudaErrorNotReady;
    }
    return hostcuda_leave(error);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    Event *a, *b;
    cudaError_t error = hostcuda_enter("cudaEventElapsedTime");
    if (!error)
        error = get_event(start, &a);
    if (!error)
        error = get_event(end, &b);
    if (error)
        return hostcuda_leave(error);
    if (!a->record || !b->record || (a->flags | b->flags) & cudaEventDisableTiming)
        error = hostcuda_misuse(cudaErrorInvalidResourceHandle, "an event was not recorded, or is one without timing");
    else if (!a->record->done || !b->record->done)
        error = cudaErrorNotReady;
    else
        *ms = (float)((double)(b->record->time.tv_sec - a->record->time.tv_sec) * 1e3 +
                      (double)(b->record->time.tv_nsec - a->record->time.tv_nsec) * 1e-6);
    return hostcuda_leave(error);
}
