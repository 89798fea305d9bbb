/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CUDA runtime API on the CPU: memory, streams, events, contexts and faults. Kernels run in fiber.c.
 *
 * One lock holds everything, kernels included; it is given up only while a host function of a stream runs. Streams are
 * queues. In eager mode an operation runs as it is queued. In lazy mode it runs when something waits for it, so that
 * what is not waited for is never done; asking (cudaStreamQuery) runs one operation and tells what is left.
 * Numbers grow with each queued operation; "up to a number" is what waiting and the default stream mean. */
#include "hostcuda_control.h"
#include "hostcuda_internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if HOSTCUDA_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum { MAX_DEVICES = 8, MAX_STACK = 32, MAX_KERNELS = 512, NAME_BYTES = 64 };

/* Bytes beside each block of device memory that nobody may write; ASan has its own. */
enum { CANARY_BYTES = HOSTCUDA_ASAN ? 0 : 256, CANARY = 0xFD };

typedef struct CUctx_st Context;
typedef struct CUstream_st Stream;
typedef struct CUevent_st Event;

/* One cudaEventRecord: events are recorded again while others still wait for what was before. */
typedef struct Record {
    unsigned refs;
    bool done;
    Stream *stream;
    uint64_t number;
    struct timespec time;
} Record;

typedef enum { OP_COPY, OP_SET, OP_KERNEL, OP_HOST, OP_RECORD, OP_WAIT, OP_FREE } OpKind;

typedef struct Kernel Kernel;

typedef struct Op {
    struct Op *next;
    uint64_t number;
    OpKind kind;
    void *dst; /* copies, fills and frees */
    const void *src;
    size_t dst_pitch, src_pitch, width, height;
    int value;
    enum cudaMemcpyKind direction;
    Record *record;
    cudaHostFn_t fn;
    void *data;
    const Kernel *kernel;
    uint3 grid, block;
    void **args; /* array of pointers and the parameters themselves in one allocation */
} Op;

struct CUstream_st {
    Stream *next;
    Context *context;
    unsigned flags;
    bool is_default;
    bool busy; /* a host function runs, the lock is free */
    Op *head, **tail;
};

struct CUevent_st {
    Event *next;
    Context *context;
    unsigned flags;
    Record *record;
};

struct CUctx_st {
    Context *next;
    int device;
    bool primary;
    Stream *default_stream;
};

typedef enum { BLOCK_DEVICE, BLOCK_PINNED, BLOCK_REGISTERED } BlockKind;

typedef struct Block {
    struct Block *next;
    char *base, *allocation;
    size_t bytes;
    BlockKind kind;
    unsigned flags;
    Context *context;
} Block;

struct Kernel {
    const void *function;
    const HostcudaSignature *signature;
    char name[NAME_BYTES];
    char *shared_start, *shared_stop;
};

typedef struct Fault {
    char function[NAME_BYTES];
    unsigned long n;
    bool sticky;
    cudaError_t error;
} Fault;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a stream is no longer busy */
    bool configured;
    unsigned seed;
    bool lazy, strict;
    int n_devices, driver;
    size_t memory;
    FILE *log;
    Fault fault;
    unsigned long fault_seen;
    cudaError_t lost;
    const char **calls;
    size_t n_calls, cap_calls;
    HostcudaCounts counts;
    uint64_t number, random;
    Context *contexts, *primary[MAX_DEVICES];
    Stream *streams; /* without the default ones */
    Event *events;
    Block *blocks;
    Kernel kernels[MAX_KERNELS];
    unsigned n_kernels;
} rt = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static _Thread_local struct {
    Context *stack[MAX_STACK];
    int depth;
    int device; /* of cudaSetDevice while the stack is empty */
    cudaError_t last_error;
    bool in_callback;
} my;

/* ---- Settings and calls ---- */

static long env_number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 0) : otherwise;
}

static void fault_from_env(void)
{
    const char *text = getenv("PNV_HOSTCUDA_FAIL");
    memset(&rt.fault, 0, sizeof rt.fault);
    rt.fault_seen = 0;
    if (!text || !*text)
        return;
    char sticky[16] = "";
    int error = 0;
    if (sscanf(text, "%63[^:]:%lu:%15[^:]:%d", rt.fault.function, &rt.fault.n, sticky, &error) < 2 ||
        (*sticky && strcmp(sticky, "sticky") && strcmp(sticky, "once")))
        hostcuda_die("PNV_HOSTCUDA_FAIL=%s: not function:n[:sticky|once[:error]]", text);
    rt.fault.sticky = strcmp(sticky, "sticky") == 0;
    rt.fault.error = (cudaError_t)error;
}

static void configure(void)
{
    rt.configured = true;
    rt.seed = (unsigned)env_number("PNV_HOSTCUDA_SEED", 0);
    rt.random = rt.seed;
    rt.lazy = env_number("PNV_HOSTCUDA_LAZY", 0) != 0;
    rt.strict = env_number("PNV_HOSTCUDA_STRICT", 1) != 0;
    rt.n_devices = (int)env_number("PNV_HOSTCUDA_DEVICES", 1);
    rt.driver = (int)env_number("PNV_HOSTCUDA_DRIVER", CUDART_VERSION);
    rt.memory = (size_t)env_number("PNV_HOSTCUDA_MEMORY", 8L << 30);
    rt.lost = cudaSuccess;
    fault_from_env();
    const char *path = getenv("PNV_HOSTCUDA_LOG");
    if (path && *path && !rt.log)
        rt.log = fopen(path, "w");
}

static void lock(void)
{
    pthread_mutex_lock(&rt.lock);
    if (!rt.configured)
        configure();
}

static void unlock(void)
{
    pthread_mutex_unlock(&rt.lock);
}

static cudaError_t fitting_error(const char *function)
{
    if (strstr(function, "lloc") || strstr(function, "Create") || strstr(function, "HostRegister"))
        return cudaErrorMemoryAllocation;
    if (strcmp(function, "exec") == 0)
        return cudaErrorIllegalAddress;
    return cudaErrorUnknown;
}

/* Whether this is the call, or the operation, that was to fail. */
static cudaError_t fault(const char *function)
{
    const bool is_exec = strcmp(function, "exec") == 0, any = strcmp(rt.fault.function, "*") == 0;
    if (!rt.fault.n || (any ? is_exec : strcmp(rt.fault.function, function) != 0))
        return cudaSuccess;
    if (++rt.fault_seen != rt.fault.n)
        return cudaSuccess;
    const cudaError_t error = rt.fault.error ? rt.fault.error
                              : rt.fault.sticky ? cudaErrorLaunchFailure
                                                : fitting_error(function);
    if (rt.fault.sticky || is_exec) /* a fault of the device itself never heals */
        rt.lost = error;
    rt.fault.n = 0;
    return error;
}

static void note_call(const char *function)
{
    if (rt.n_calls == rt.cap_calls) {
        rt.cap_calls = rt.cap_calls ? 2 * rt.cap_calls : 1024;
        rt.calls = realloc(rt.calls, rt.cap_calls * sizeof *rt.calls);
        if (!rt.calls)
            hostcuda_die("out of memory");
    }
    rt.calls[rt.n_calls++] = function;
    if (rt.log) {
        fprintf(rt.log, "%zu %s\n", rt.n_calls, function);
        fflush(rt.log);
    }
}

/* What has neither device nor driver to ask. */
static bool needs_no_device(const char *function)
{
    return strcmp(function, "cudaDriverGetVersion") == 0 || strcmp(function, "cudaRuntimeGetVersion") == 0;
}

/* Every call of the API starts here, with the lock taken, and ends in leave(). */
static cudaError_t enter(const char *function)
{
    lock();
    note_call(function);
    if (my.in_callback)
        return cudaErrorNotPermitted;
    const cudaError_t error = fault(function);
    if (error)
        return error;
    if (needs_no_device(function))
        return cudaSuccess;
    if (rt.lost)
        return rt.lost;
    if (rt.driver < CUDART_VERSION / 1000 * 1000) /* minor versions are compatible */
        return cudaErrorInsufficientDriver;
    if (rt.n_devices <= 0)
        return cudaErrorNoDevice;
    return cudaSuccess;
}

static cudaError_t leave(cudaError_t error)
{
    if (error && error != cudaErrorNotReady)
        my.last_error = error;
    unlock();
    return error;
}

/* What no correct program does. */
__attribute__((format(printf, 2, 3))) static cudaError_t misuse(cudaError_t error, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *function = rt.n_calls ? rt.calls[rt.n_calls - 1] : "";
    if (rt.strict)
        hostcuda_die("%s: %s (%s)", function, text, cudaGetErrorName(error));
    fprintf(stderr, "hostcuda: %s: %s (%s)\n", function, text, cudaGetErrorName(error));
    rt.counts.misuse++;
    return error;
}

static void *must_alloc(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (!p)
        hostcuda_die("out of memory");
    return p;
}

/* ---- Contexts ---- */

static Stream *stream_new(Context *context, unsigned flags)
{
    Stream *stream = must_alloc(sizeof *stream);
    stream->context = context;
    stream->flags = flags;
    stream->tail = &stream->head;
    return stream;
}

static Context *context_new(int device, bool primary)
{
    Context *context = must_alloc(sizeof *context);
    context->device = device;
    context->primary = primary;
    context->default_stream = stream_new(context, 0);
    context->default_stream->is_default = true;
    context->next = rt.contexts;
    rt.contexts = context;
    return context;
}

static Context *primary_context(int device)
{
    if (!rt.primary[device])
        rt.primary[device] = context_new(device, true);
    return rt.primary[device];
}

static bool context_alive(const Context *context)
{
    for (const Context *c = rt.contexts; c; c = c->next)
        if (c == context)
            return true;
    return false;
}

/* The one that a call works in. */
static Context *current_context(void)
{
    if (my.depth && my.stack[my.depth - 1]) {
        if (!context_alive(my.stack[my.depth - 1]))
            hostcuda_die("the context current in this thread was destroyed");
        return my.stack[my.depth - 1];
    }
    return primary_context(my.device);
}

/* ---- Memory ---- */

static Block *find_block(const void *pointer)
{
    const char *p = pointer;
    for (Block *b = rt.blocks; b; b = b->next)
        if (p >= b->base && (p < b->base + b->bytes || (p == b->base && !b->bytes)))
            return b;
    return NULL;
}

/* The host may not touch device memory; operations open it for as long as they run. */
static void open_block(const Block *block, bool open)
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

static void open_device(const Context *context, bool open)
{
    if (HOSTCUDA_ASAN)
        for (const Block *b = rt.blocks; b; b = b->next)
            if (b->context == context)
                open_block(b, open);
}

static void check_canaries(const char *after)
{
    for (const Block *b = rt.blocks; b; b = b->next)
        if (b->kind == BLOCK_DEVICE)
            for (size_t i = 0; i != CANARY_BYTES; i++)
                if ((unsigned char)b->allocation[i] != CANARY || (unsigned char)b->base[b->bytes + i] != CANARY)
                    hostcuda_die("%s: wrote outside a block of %zu bytes of device memory", after, b->bytes);
}

static size_t device_bytes(int device)
{
    size_t sum = 0;
    for (const Block *b = rt.blocks; b; b = b->next)
        if (b->kind == BLOCK_DEVICE && b->context->device == device)
            sum += b->bytes;
    return sum;
}

static Block *block_add(BlockKind kind, char *allocation, char *base, size_t bytes, unsigned flags)
{
    Block *block = must_alloc(sizeof *block);
    *block = (Block){.next = rt.blocks, .base = base, .allocation = allocation, .bytes = bytes, .kind = kind,
                     .flags = flags, .context = current_context()};
    rt.blocks = block;
    return block;
}

static cudaError_t device_alloc(void **pointer, size_t bytes)
{
    *pointer = NULL;
    if (!bytes)
        return cudaSuccess;
    const Context *context = current_context();
    if (bytes > rt.memory || device_bytes(context->device) > rt.memory - bytes)
        return cudaErrorMemoryAllocation;
    void *allocation;
    if (posix_memalign(&allocation, 256, bytes + 2 * CANARY_BYTES))
        return cudaErrorMemoryAllocation;
    char *base = (char *)allocation + CANARY_BYTES;
    memset(allocation, CANARY, bytes + 2 * CANARY_BYTES);
    memset(base, 0xCD, bytes);
    open_block(block_add(BLOCK_DEVICE, allocation, base, bytes, 0), false);
    *pointer = base;
    return cudaSuccess;
}

static void block_free(Block *block)
{
    Block **link = &rt.blocks;
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
    open_block(block, true);
    if (block->kind != BLOCK_REGISTERED)
        free(block->allocation);
    free(block);
}

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
    Block *to = find_block(op->dst), *from = find_block(op->src);
    open_block(to, true);
    open_block(from, true);
    for (size_t y = 0; y < op->height; y++)
        memcpy((char *)op->dst + y * op->dst_pitch, (const char *)op->src + y * op->src_pitch, op->width);
    open_block(to, false);
    open_block(from, false);
    rt.counts.copies++;
    const bool to_device = to && to->kind == BLOCK_DEVICE, from_device = from && from->kind == BLOCK_DEVICE;
    if (to_device && !from_device)
        rt.counts.to_device += op->width * op->height;
    if (!to_device && from_device)
        rt.counts.to_host += op->width * op->height;
}

static void set_run(const Op *op)
{
    Block *to = find_block(op->dst);
    open_block(to, true);
    for (size_t y = 0; y < op->height; y++)
        memset((char *)op->dst + y * op->dst_pitch, op->value, op->width);
    open_block(to, false);
    rt.counts.sets++;
}

static void kernel_run(const Stream *stream, const Op *op)
{
    const Kernel *k = op->kernel;
    const HostcudaLaunch launch = {.name = k->name, .kernel = k->function, .signature = k->signature,
                                   .args = op->args, .grid = op->grid, .block = op->block,
                                   .shared_start = k->shared_start, .shared_stop = k->shared_stop,
                                   .seed = rt.seed ? rt.seed + (unsigned)op->number : 0};
    open_device(stream->context, true);
    hostcuda_execute(&launch);
    open_device(stream->context, false);
    check_canaries(k->name);
    rt.counts.kernels++;
    rt.counts.blocks += (unsigned long)op->grid.x * op->grid.y * op->grid.z;
}

static void host_run(Stream *stream, const Op *op)
{
    stream->busy = true;
    unlock();
    my.in_callback = true;
    op->fn(op->data);
    my.in_callback = false;
    lock();
    stream->busy = false;
    pthread_cond_broadcast(&rt.changed);
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
        block_free(find_block(op->dst));
        return;
    }
    if (works && !rt.lost)
        fault("exec");
    if (rt.lost)
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
    for (Stream *s = rt.streams; s; s = s->next)
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
        pthread_cond_wait(&rt.changed, &rt.lock);
    else
        run_head(stream);
}

static void run_up_to(Stream *stream, uint64_t number)
{
    while (stream->head && stream->head->number <= number)
        run_one(stream);
}

static void run_all(const Context *context)
{
    const uint64_t number = rt.number;
    run_up_to(context->default_stream, number);
    run_streams(context, number, false);
}

/* Lazy with a seed: now and then something else runs before what is waited for. */
static void run_others(const Stream *stream)
{
    if (!rt.lazy || !rt.seed)
        return;
    for (Stream *s = rt.streams; s; s = s->next) {
        rt.random = rt.random * 6364136223846793005u + 1442695040888963407u;
        if (s != stream && s->head && !s->busy && rt.random >> 62 == 0) {
            run_head(s);
            return; /* the list may have changed */
        }
    }
}

static cudaError_t wait_stream(Stream *stream, uint64_t number)
{
    run_others(stream);
    run_up_to(stream, number);
    if (stream->is_default)
        run_default_order(stream, number + 1);
    return rt.lost;
}

static Op *op_new(OpKind kind)
{
    Op *op = must_alloc(sizeof *op);
    op->kind = kind;
    op->height = 1;
    return op;
}

static cudaError_t enqueue(Stream *stream, Op *op)
{
    op->number = ++rt.number;
    *stream->tail = op;
    stream->tail = &op->next;
    if (!rt.lazy)
        run_up_to(stream, op->number); /* an error shows in the next call, as on a device */
    return cudaSuccess;
}

/* ---- Handles ---- */

static cudaError_t get_stream(cudaStream_t handle, Stream **stream)
{
    Context *context = current_context();
    *stream = context->default_stream;
    if (!handle || handle == cudaStreamLegacy)
        return cudaSuccess;
    for (Stream *s = rt.streams; s; s = s->next)
        if (s == handle) {
            *stream = s;
            if (s->context != context)
                return misuse(cudaErrorInvalidResourceHandle, "the stream belongs to another context");
            return cudaSuccess;
        }
    return misuse(cudaErrorInvalidResourceHandle, "stream %p does not exist", (void *)handle);
}

static cudaError_t get_event(cudaEvent_t handle, Event **event)
{
    *event = NULL;
    for (Event *e = rt.events; e; e = e->next)
        if (e == handle) {
            *event = e;
            if (e->context != current_context())
                return misuse(cudaErrorInvalidResourceHandle, "the event belongs to another context");
            return cudaSuccess;
        }
    return misuse(cudaErrorInvalidResourceHandle, "event %p does not exist", (void *)handle);
}

static void drop_stream(Stream *stream)
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

static void unlink_stream(Stream *stream)
{
    Stream **link = &rt.streams;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
}

static void free_event(Event *event)
{
    Event **link = &rt.events;
    while (*link != event)
        link = &(*link)->next;
    *link = event->next;
    record_unref(event->record);
    free(event);
}

static void context_free(Context *context)
{
    for (Stream *s = rt.streams, *next; s; s = next) {
        next = s->next;
        if (s->context == context) {
            unlink_stream(s);
            drop_stream(s);
        }
    }
    for (Event *e = rt.events, *next; e; e = next) {
        next = e->next;
        if (e->context == context)
            free_event(e);
    }
    for (Block *b = rt.blocks, *next; b; b = next) {
        next = b->next;
        if (b->context == context)
            block_free(b);
    }
    drop_stream(context->default_stream);
    Context **link = &rt.contexts;
    while (*link != context)
        link = &(*link)->next;
    *link = context->next;
    if (context->primary)
        rt.primary[context->device] = NULL;
    free(context);
}

/* ---- API: devices and versions ---- */

cudaError_t cudaDriverGetVersion(int *version)
{
    cudaError_t error = enter(__func__);
    if (!error)
        *version = rt.driver;
    return leave(error);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    cudaError_t error = enter(__func__);
    if (!error)
        *version = CUDART_VERSION;
    return leave(error);
}

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t error = enter(__func__);
    *count = error ? 0 : rt.n_devices < MAX_DEVICES ? rt.n_devices : MAX_DEVICES;
    return leave(error);
}

static cudaError_t check_device(int device)
{
    return device < 0 || device >= rt.n_devices || device >= MAX_DEVICES ? cudaErrorInvalidDevice : cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    cudaError_t error = enter(__func__);
    if (!error)
        error = check_device(device);
    if (!error) {
        my.device = device;
        if (my.depth)
            my.stack[my.depth - 1] = primary_context(device);
        else
            primary_context(device);
    }
    return leave(error);
}

#if CUDART_VERSION >= 12000
cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
    (void)device_flags;
    (void)flags;
    cudaError_t error = enter(__func__);
    if (!error)
        error = check_device(device);
    if (!error)
        primary_context(device);
    return leave(error);
}
#endif

cudaError_t cudaGetDevice(int *device)
{
    cudaError_t error = enter(__func__);
    if (!error)
        *device = current_context()->device;
    return leave(error);
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    (void)flags;
    return leave(enter(__func__));
}

/* A GPU of sm_75, the oldest the kernels are for. */
static void fill_properties(struct cudaDeviceProp *p, int device)
{
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "Emulated CUDA device %d", device);
    p->uuid.bytes[0] = (char)(0x70 + device);
    p->totalGlobalMem = rt.memory;
    p->sharedMemPerBlock = 48 << 10;
    p->sharedMemPerBlockOptin = 64 << 10;
    p->sharedMemPerMultiprocessor = 64 << 10;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = 32;
    p->memPitch = 0x7fffffff;
    p->maxThreadsPerBlock = p->maxThreadsPerMultiProcessor = 1024;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 64 << 10;
    p->major = 7;
    p->minor = 5;
    p->textureAlignment = 512;
    p->texturePitchAlignment = 32;
    p->multiProcessorCount = 4;
    p->canMapHostMemory = p->unifiedAddressing = p->concurrentKernels = p->hostRegisterSupported = 1;
    p->canUseHostPointerForRegisteredMem = 1;
    p->asyncEngineCount = 2;
    p->pciBusID = 1 + device;
    p->maxBlocksPerMultiProcessor = 16;
    p->l2CacheSize = 4 << 20;
    p->memoryBusWidth = 256;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    cudaError_t error = enter("cudaGetDeviceProperties");
    if (!error)
        error = check_device(device);
    if (!error)
        fill_properties(properties, device);
    return leave(error);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    cudaError_t error = enter(__func__);
    if (!error)
        error = check_device(device);
    if (error)
        return leave(error);
    struct cudaDeviceProp p;
    fill_properties(&p, device);
    switch ((int)attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrConcurrentKernels: *value = 1; break;
    case cudaDevAttrAsyncEngineCount: *value = p.asyncEngineCount; break;
    case cudaDevAttrPciBusId: *value = p.pciBusID; break;
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrIntegrated:
    case cudaDevAttrComputeMode:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrMemoryPoolsSupported: *value = 0; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMemoryClockRate: *value = 1000000; break;
    case cudaDevAttrClockRate: *value = 1000000; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
    default: error = misuse(cudaErrorInvalidValue, "attribute %d is not emulated", (int)attribute);
    }
    return leave(error);
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
    cudaError_t error = enter(__func__);
    if (!error)
        error = check_device(device);
    if (!error)
        snprintf(text, (size_t)bytes, "0000:%02x:00.0", 1 + device);
    return leave(error);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    cudaError_t error = enter(__func__);
    if (!error) {
        if (least)
            *least = 0;
        if (greatest)
            *greatest = -5;
    }
    return leave(error);
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = enter(__func__);
    if (!error) {
        rt.counts.device_waits++;
        run_all(current_context());
        error = rt.lost;
    }
    return leave(error);
}

cudaError_t cudaDeviceReset(void)
{
    cudaError_t error = enter(__func__);
    Context *context = current_context();
    if (context->primary)
        context_free(context);
    if (my.depth)
        my.depth--;
    return leave(error);
}

/* ---- API: errors ---- */

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = my.last_error;
    my.last_error = rt.lost;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return my.last_error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} error_names[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorContextIsDestroyed, "cudaErrorContextIsDestroyed", "context is destroyed"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < sizeof error_names / sizeof *error_names; i++)
        if (error_names[i].error == error)
            return error_names[i].name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof error_names / sizeof *error_names; i++)
        if (error_names[i].error == error)
            return error_names[i].text;
    return "unrecognized error code";
}

/* ---- API: memory ---- */

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    cudaError_t error = enter(__func__);
    if (!error)
        error = device_alloc(pointer, bytes);
    return leave(error);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    cudaError_t error = enter(__func__);
    if (!error) {
        *pitch = (width + 511) & ~(size_t)511;
        error = device_alloc(pointer, *pitch * height);
    }
    return leave(error);
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t handle)
{
    Stream *stream;
    cudaError_t error = enter(__func__);
    if (!error)
        error = get_stream(handle, &stream);
    if (!error)
        error = device_alloc(pointer, bytes);
    return leave(error);
}

static cudaError_t get_block(const void *pointer, BlockKind kind, Block **block)
{
    static const char *const names[] = {"cudaMalloc", "cudaHostAlloc", "cudaHostRegister"};
    Block *found = find_block(pointer);
    *block = NULL;
    if (!found || found->base != pointer || found->kind != kind)
        return misuse(kind == BLOCK_REGISTERED ? cudaErrorHostMemoryNotRegistered : cudaErrorInvalidValue,
                      "%p is not from %s", pointer, names[kind]);
    if (kind == BLOCK_DEVICE && found->context != current_context())
        return misuse(cudaErrorInvalidValue, "the memory belongs to another context");
    *block = found;
    return cudaSuccess;
}

/* Freeing waits for the device, and succeeds even where the call then returns an earlier error. */
static cudaError_t free_memory(const char *function, void *pointer, BlockKind kind)
{
    Block *block = NULL;
    cudaError_t error = enter(function);
    if (pointer && error != cudaErrorNotPermitted && error != cudaErrorInsufficientDriver &&
        error != cudaErrorNoDevice) {
        const cudaError_t found = get_block(pointer, kind, &block);
        if (!found) {
            rt.counts.device_waits++;
            run_all(block->context);
            check_canaries(function);
            block_free(block);
        }
        error = error ? error : found ? found : rt.lost;
    }
    return leave(error);
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
    cudaError_t error = enter(__func__);
    if (!error)
        error = get_stream(handle, &stream);
    if (!error)
        error = get_block(pointer, BLOCK_DEVICE, &block);
    if (!error) {
        Op *op = op_new(OP_FREE);
        op->dst = pointer;
        error = enqueue(stream, op);
    }
    return leave(error);
}

static cudaError_t host_alloc(const char *function, void **pointer, size_t bytes, unsigned flags)
{
    cudaError_t error = enter(function);
    if (!error) {
        void *allocation;
        *pointer = NULL;
        if (posix_memalign(&allocation, 4096, bytes ? bytes : 1))
            return leave(cudaErrorMemoryAllocation);
        memset(allocation, 0xCD, bytes);
        block_add(BLOCK_PINNED, allocation, allocation, bytes, flags);
        *pointer = allocation;
    }
    return leave(error);
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
    cudaError_t error = enter(__func__);
    if (!error && (!pointer || !bytes))
        error = cudaErrorInvalidValue;
    if (!error && (find_block(pointer) || find_block((char *)pointer + bytes - 1)))
        error = cudaErrorHostMemoryAlreadyRegistered;
    if (!error)
        block_add(BLOCK_REGISTERED, NULL, pointer, bytes, flags);
    return leave(error);
}

/* Under unified addressing page-locked memory has one address; that it is asked for is a matter of style. */
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
    (void)flags;
    cudaError_t error = enter(__func__);
    if (!error) {
        const Block *block = find_block(host);
        *device = host;
        if (!block || block->kind == BLOCK_DEVICE)
            error = misuse(cudaErrorInvalidValue, "%p is not page-locked host memory", host);
    }
    return leave(error);
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *host)
{
    cudaError_t error = enter(__func__);
    const Block *block = find_block(host);
    if (!error && (!block || block->kind == BLOCK_DEVICE))
        error = cudaErrorInvalidValue;
    if (!error)
        *flags = block->flags;
    return leave(error);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    cudaError_t error = enter(__func__);
    if (!error) {
        const Block *block = find_block(pointer);
        memset(attributes, 0, sizeof *attributes);
        attributes->type = cudaMemoryTypeUnregistered;
        attributes->device = -2;
        attributes->hostPointer = (void *)pointer;
        if (block) {
            const bool device = block->kind == BLOCK_DEVICE;
            attributes->type = device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
            attributes->device = block->context->device;
            attributes->devicePointer = (void *)pointer;
            attributes->hostPointer = device ? NULL : (void *)pointer;
        }
    }
    return leave(error);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    cudaError_t error = enter(__func__);
    if (!error) {
        const size_t used = device_bytes(current_context()->device);
        *total = rt.memory;
        *free_bytes = used < rt.memory ? rt.memory - used : 0;
    }
    return leave(error);
}

/* ---- API: copies and fills ---- */

/* Whether the rows lie in one block, and in the context's if it is the device's. NULL block: ordinary host memory. */
static cudaError_t check_rows(const char *what, const void *pointer, size_t pitch, size_t width, size_t height,
                              const Context *context, const Block **block)
{
    *block = find_block(pointer);
    if (pitch < width)
        return misuse(cudaErrorInvalidPitchValue, "the pitch %zu of the %s is less than the width %zu", pitch, what,
                      width);
    if (!*block)
        return cudaSuccess;
    const size_t end = (size_t)((const char *)pointer - (*block)->base) + (height - 1) * pitch + width;
    if (end > (*block)->bytes)
        return misuse(cudaErrorInvalidValue, "the %s ends %zu bytes after its block of %zu", what,
                      end - (*block)->bytes, (*block)->bytes);
    if ((*block)->kind == BLOCK_DEVICE && (*block)->context != context)
        return misuse(cudaErrorInvalidValue, "the %s belongs to another context", what);
    return cudaSuccess;
}

static cudaError_t check_direction(enum cudaMemcpyKind kind, const Block *to, const Block *from)
{
    const bool to_device = to && to->kind == BLOCK_DEVICE, from_device = from && from->kind == BLOCK_DEVICE;
    if (kind == cudaMemcpyDefault)
        return cudaSuccess;
    if (to_device != (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice))
        return misuse(cudaErrorInvalidValue, "copy kind %d, but the destination is %s memory", (int)kind,
                      to_device ? "device" : "host");
    if (from_device != (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice))
        return misuse(cudaErrorInvalidValue, "copy kind %d, but the source is %s memory", (int)kind,
                      from_device ? "device" : "host");
    return cudaSuccess;
}

typedef struct Rows {
    void *dst;
    size_t dst_pitch;
    const void *src;
    size_t src_pitch, width, height;
} Rows;

static cudaError_t copy(const char *function, Rows r, enum cudaMemcpyKind kind, cudaStream_t handle, bool wait)
{
    Stream *stream;
    const Block *to, *from;
    cudaError_t error = enter(function);
    if (!error)
        error = get_stream(handle, &stream);
    if (error || !r.width || !r.height)
        return leave(error);
    error = check_rows("destination", r.dst, r.dst_pitch, r.width, r.height, stream->context, &to);
    if (!error)
        error = check_rows("source", r.src, r.src_pitch, r.width, r.height, stream->context, &from);
    if (!error)
        error = check_direction(kind, to, from);
    if (error)
        return leave(error);
    Op *op = op_new(OP_COPY);
    op->dst = r.dst;
    op->dst_pitch = r.dst_pitch;
    op->src = r.src;
    op->src_pitch = r.src_pitch;
    op->width = r.width;
    op->height = r.height;
    enqueue(stream, op);
    const bool pageable = !to || !from;
    rt.counts.pageable += pageable && !wait;
    if (wait || pageable)
        error = wait_stream(stream, rt.number);
    return leave(error);
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
    cudaError_t error = enter(function);
    if (!error)
        error = get_stream(handle, &stream);
    if (error || !r.width || !r.height)
        return leave(error);
    error = check_rows("destination", r.dst, r.dst_pitch, r.width, r.height, stream->context, &to);
    if (!error && !to)
        error = misuse(cudaErrorInvalidValue, "%p is ordinary host memory", r.dst);
    if (error)
        return leave(error);
    Op *op = op_new(OP_SET);
    op->dst = r.dst;
    op->dst_pitch = r.dst_pitch;
    op->width = r.width;
    op->height = r.height;
    op->value = value;
    enqueue(stream, op);
    if (wait)
        error = wait_stream(stream, rt.number);
    return leave(error);
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
    cudaError_t error = enter(__func__);
    if (!error && kind != cudaMemcpyHostToDevice)
        error = misuse(cudaErrorInvalidValue, "only host memory is copied to symbols here");
    if (!error) {
        run_all(current_context());
        memcpy((char *)symbol + offset, src, count);
    }
    return leave(error);
}

/* ---- API: streams and events ---- */

static cudaError_t stream_create(const char *function, cudaStream_t *handle, unsigned flags)
{
    cudaError_t error = enter(function);
    if (!error && (flags & ~(unsigned)cudaStreamNonBlocking))
        error = misuse(cudaErrorInvalidValue, "flags %#x", flags);
    if (!error) {
        Stream *stream = stream_new(current_context(), flags);
        stream->next = rt.streams;
        rt.streams = stream;
        *handle = stream;
    }
    return leave(error);
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
    cudaError_t error = enter(__func__);
    if (error == cudaErrorNotPermitted)
        return leave(error);
    const cudaError_t found = handle ? get_stream(handle, &stream)
                                     : misuse(cudaErrorInvalidResourceHandle, "the default stream is not destroyed");
    if (!found) { /* what is queued still completes */
        run_up_to(stream, rt.number);
        unlink_stream(stream);
        drop_stream(stream);
    }
    return leave(error ? error : found);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    Stream *stream;
    cudaError_t error = enter(__func__);
    if (!error)
        error = get_stream(handle, &stream);
    if (!error)
        error = wait_stream(stream, rt.number);
    return leave(error);
}

cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    Stream *stream;
    cudaError_t error = enter(__func__);
    if (!error)
        error = get_stream(handle, &stream);
    if (!error && stream->head) {
        if (!stream->busy)
            run_head(stream);
        error = stream->head ? cudaErrorNotReady : rt.lost;
    }
    return leave(error);
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int *flags)
{
    Stream *stream;
    cudaError_t error = enter(__func__);
    if (!error)
        error = get_stream(handle, &stream);
    if (!error)
        *flags = stream->flags;
    return leave(error);
}

/* An event may be waited for from another context or device. */
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int flags)
{
    (void)flags;
    Stream *stream;
    cudaError_t error = enter(__func__);
    if (!error)
        error = get_stream(handle, &stream);
    if (error)
        return leave(error);
    const Event *found = rt.events;
    while (found && found != event)
        found = found->next;
    if (!found)
        return leave(misuse(cudaErrorInvalidResourceHandle, "event %p does not exist", (void *)event));
    if (found->record) { /* one never recorded is no reason to wait */
        Op *op = op_new(OP_WAIT);
        op->record = found->record;
        op->record->refs++;
        error = enqueue(stream, op);
    }
    return leave(error);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t fn, void *data)
{
    Stream *stream;
    cudaError_t error = enter(__func__);
    if (!error)
        error = get_stream(handle, &stream);
    if (!error) {
        Op *op = op_new(OP_HOST);
        op->fn = fn;
        op->data = data;
        error = enqueue(stream, op);
    }
    return leave(error);
}

static cudaError_t event_create(const char *function, cudaEvent_t *handle, unsigned flags)
{
    cudaError_t error = enter(function);
    if (!error && (flags & ~(unsigned)(cudaEventBlockingSync | cudaEventDisableTiming)))
        error = misuse(cudaErrorInvalidValue, "flags %#x", flags);
    if (!error) {
        Event *event = must_alloc(sizeof *event);
        event->context = current_context();
        event->flags = flags;
        event->next = rt.events;
        rt.events = event;
        *handle = event;
    }
    return leave(error);
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
    cudaError_t error = enter(__func__);
    if (error == cudaErrorNotPermitted)
        return leave(error);
    const cudaError_t found = get_event(handle, &event);
    if (!found)
        free_event(event);
    return leave(error ? error : found);
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle)
{
    Event *event;
    Stream *stream;
    cudaError_t error = enter(__func__);
    if (!error)
        error = get_event(handle, &event);
    if (!error)
        error = get_stream(stream_handle, &stream);
    if (!error) {
        Record *record = must_alloc(sizeof *record);
        record->refs = 2; /* the event's and the operation's */
        record->stream = stream;
        record->number = rt.number + 1;
        record_unref(event->record);
        event->record = record;
        Op *op = op_new(OP_RECORD);
        op->record = record;
        error = enqueue(stream, op);
    }
    return leave(error);
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle)
{
    Event *event;
    cudaError_t error = enter(__func__);
    if (!error)
        error = get_event(handle, &event);
    if (!error && event->record && !event->record->done) {
        Record *record = event->record;
        record->refs++;
        error = wait_stream(record->stream, record->number);
        record_unref(record);
    }
    return leave(error ? error : rt.lost);
}

cudaError_t cudaEventQuery(cudaEvent_t handle)
{
    Event *event;
    cudaError_t error = enter(__func__);
    if (!error)
        error = get_event(handle, &event);
    if (!error && event->record && !event->record->done) {
        Record *record = event->record;
        if (!record->stream->busy)
            run_head(record->stream);
        error = record->done ? rt.lost : cudaErrorNotReady;
    }
    return leave(error);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    Event *a, *b;
    cudaError_t error = enter("cudaEventElapsedTime");
    if (!error)
        error = get_event(start, &a);
    if (!error)
        error = get_event(end, &b);
    if (error)
        return leave(error);
    if (!a->record || !b->record || (a->flags | b->flags) & cudaEventDisableTiming)
        error = misuse(cudaErrorInvalidResourceHandle, "an event was not recorded, or is one without timing");
    else if (!a->record->done || !b->record->done)
        error = cudaErrorNotReady;
    else
        *ms = (float)((double)(b->record->time.tv_sec - a->record->time.tv_sec) * 1e3 +
                      (double)(b->record->time.tv_nsec - a->record->time.tv_nsec) * 1e-6);
    return leave(error);
}

/* ---- API: kernels ---- */

/* The second argument of cudaLaunchKernelEx() as written. */
static void kernel_name(char name[NAME_BYTES], const char *text)
{
    int depth = 0;
    size_t n = 0;
    while (*text && (*text != ',' || depth)) {
        depth += *text == '(' || *text == '{' || *text == '[';
        depth -= *text == ')' || *text == '}' || *text == ']';
        text++;
    }
    for (text += *text == ','; *text == ' '; text++) {
    }
    for (; *text && (*text != ',' || depth) && n + 1 < NAME_BYTES; text++) {
        depth += *text == '<' || *text == '(';
        depth -= *text == '>' || *text == ')';
        name[n++] = *text;
    }
    name[n] = '\0';
}

static Kernel *find_kernel(const void *function)
{
    for (unsigned i = 0; i < rt.n_kernels; i++)
        if (rt.kernels[i].function == function)
            return &rt.kernels[i];
    return NULL;
}

void hostcuda_define_kernel(const void *function, const HostcudaSignature *signature, const char *launch_text,
                            char *shared_start, char *shared_stop)
{
    lock();
    if (!find_kernel(function)) {
        if (rt.n_kernels == MAX_KERNELS)
            hostcuda_die("more than %d kernels", MAX_KERNELS);
        Kernel *k = &rt.kernels[rt.n_kernels++];
        k->function = function;
        k->signature = signature;
        k->shared_start = shared_start;
        k->shared_stop = shared_stop;
        kernel_name(k->name, launch_text);
    }
    unlock();
}

/* Pointers must be the device's or page-locked, of this context. In structs, where a word may be a number, those that
 * lie in memory of another context are found. */
static cudaError_t check_param(const Kernel *k, unsigned i, const void *value, const Context *context)
{
    const HostcudaParam *param = &k->signature->params[i];
    for (size_t at = 0; at + sizeof(void *) <= param->bytes; at += sizeof(void *)) {
        void *pointer;
        memcpy(&pointer, (const char *)value + at, sizeof pointer);
        const Block *block = pointer ? find_block(pointer) : NULL;
        if (param->pointer && pointer && !block)
            return misuse(cudaErrorIllegalAddress, "parameter %u of kernel %s, %p, is not memory of the device", i,
                          k->name, pointer);
        if (block && block->kind == BLOCK_DEVICE && block->context != context)
            return misuse(cudaErrorIllegalAddress, "parameter %u of kernel %s is memory of another context", i,
                          k->name);
    }
    return cudaSuccess;
}

static void **copy_args(const Kernel *k, void **args)
{
    const unsigned n = k->signature->n_params;
    size_t bytes = (n + 1) * sizeof(void *);
    for (unsigned i = 0; i < n; i++)
        bytes = ((bytes + 15) & ~(size_t)15) + k->signature->params[i].bytes;
    void **copies;
    if (posix_memalign((void **)&copies, 16, bytes))
        hostcuda_die("out of memory");
    size_t at = (n + 1) * sizeof(void *);
    for (unsigned i = 0; i < n; i++) {
        at = (at + 15) & ~(size_t)15;
        copies[i] = (char *)copies + at;
        memcpy(copies[i], args[i], k->signature->params[i].bytes);
        at += k->signature->params[i].bytes;
    }
    return copies;
}

static cudaError_t check_size(dim3 grid, dim3 block)
{
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (!threads || threads > 1024 || block.z > 64)
        return misuse(cudaErrorInvalidConfiguration, "a block of %ux%ux%u threads", block.x, block.y, block.z);
    if (!grid.x || !grid.y || !grid.z || grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
        return misuse(cudaErrorInvalidConfiguration, "a grid of %ux%ux%u blocks", grid.x, grid.y, grid.z);
    return cudaSuccess;
}

static cudaError_t launch(const char *function, const cudaLaunchConfig_t *config, const void *kernel, void **args)
{
    Stream *stream;
    cudaError_t error = enter(function);
    if (!error)
        error = get_stream(config->stream, &stream);
    if (!error)
        error = check_size(config->gridDim, config->blockDim);
    const Kernel *k = find_kernel(kernel);
    if (!error && !k)
        error = misuse(cudaErrorInvalidDeviceFunction, "the kernel was not launched by cudaLaunchKernelEx()");
    if (!error && config->dynamicSmemBytes)
        error = misuse(cudaErrorInvalidValue, "dynamic shared memory is not emulated");
    for (unsigned i = 0; !error && i < k->signature->n_params; i++)
        error = check_param(k, i, args[i], stream->context);
    if (!error) {
        Op *op = op_new(OP_KERNEL);
        op->kernel = k;
        op->grid = (uint3){config->gridDim.x, config->gridDim.y, config->gridDim.z};
        op->block = (uint3){config->blockDim.x, config->blockDim.y, config->blockDim.z};
        op->args = copy_args(k, args);
        error = enqueue(stream, op);
    }
    return leave(error);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **args)
{
    return launch(__func__, config, kernel, args);
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes,
                             cudaStream_t stream)
{
    const cudaLaunchConfig_t config = {
        .gridDim = grid, .blockDim = block, .dynamicSmemBytes = shared_bytes, .stream = stream};
    return launch(__func__, &config, kernel, args);
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value)
{
    (void)kernel;
    (void)attribute;
    (void)value;
    return leave(enter(__func__));
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
    (void)kernel;
    cudaError_t error = enter(__func__);
    if (!error) {
        memset(attributes, 0, sizeof *attributes);
        attributes->maxThreadsPerBlock = 1024;
        attributes->binaryVersion = attributes->ptxVersion = 75;
    }
    return leave(error);
}

/* ---- Control ---- */

void hostcuda_reset(void)
{
    lock();
    configure();
    rt.n_calls = 0;
    memset(&rt.counts, 0, sizeof rt.counts);
    unlock();
    my.last_error = cudaSuccess;
}

#define SETTER(name, type, statement)                                                                                  \
    void name(type value)                                                                                              \
    {                                                                                                                  \
        lock();                                                                                                        \
        statement;                                                                                                     \
        unlock();                                                                                                      \
    }
SETTER(hostcuda_set_seed, unsigned, rt.seed = value; rt.random = value)
SETTER(hostcuda_set_lazy, int, rt.lazy = value != 0)
SETTER(hostcuda_set_devices, int, rt.n_devices = value)
SETTER(hostcuda_set_driver, int, rt.driver = value)
SETTER(hostcuda_set_memory, size_t, rt.memory = value)
SETTER(hostcuda_set_strict, int, rt.strict = value != 0)
SETTER(hostcuda_lose_device, cudaError_t, rt.lost = value)

void hostcuda_fail(const char *function, unsigned long n, int sticky, cudaError_t error)
{
    lock();
    memset(&rt.fault, 0, sizeof rt.fault);
    rt.fault_seen = 0;
    rt.lost = cudaSuccess;
    if (function) {
        snprintf(rt.fault.function, sizeof rt.fault.function, "%s", function);
        rt.fault.n = n;
        rt.fault.sticky = sticky != 0;
        rt.fault.error = error;
    }
    unlock();
}

unsigned long hostcuda_calls(const char *function)
{
    unsigned long n = 0;
    lock();
    for (size_t i = 0; i < rt.n_calls; i++)
        n += !function || strcmp(rt.calls[i], function) == 0;
    unlock();
    return n;
}

const char *hostcuda_call(unsigned long n)
{
    lock();
    const char *function = n >= 1 && n <= rt.n_calls ? rt.calls[n - 1] : NULL;
    unlock();
    return function;
}

void hostcuda_clear_calls(void)
{
    lock();
    rt.n_calls = 0;
    memset(&rt.counts, 0, sizeof rt.counts);
    unlock();
}

HostcudaCounts hostcuda_counts(void)
{
    lock();
    HostcudaCounts counts = rt.counts;
    for (const Block *b = rt.blocks; b; b = b->next) {
        counts.live_device += b->kind == BLOCK_DEVICE;
        counts.live_pinned += b->kind != BLOCK_DEVICE;
        counts.device_bytes += b->kind == BLOCK_DEVICE ? b->bytes : 0;
    }
    for (const Stream *s = rt.streams; s; s = s->next)
        counts.live_streams++;
    for (const Event *e = rt.events; e; e = e->next)
        counts.live_events++;
    unlock();
    return counts;
}

HostcudaContext hostcuda_context_create(int device)
{
    lock();
    Context *context = check_device(device) ? NULL : context_new(device, false);
    unlock();
    if (context)
        hostcuda_context_push(context);
    return context;
}

int hostcuda_context_destroy(HostcudaContext context)
{
    lock();
    const bool alive = context_alive(context) && !context->primary;
    if (alive) {
        if (my.depth && my.stack[my.depth - 1] == context)
            my.depth--;
        context_free(context);
    }
    unlock();
    return alive ? 0 : -1;
}

int hostcuda_context_push(HostcudaContext context)
{
    lock();
    const bool alive = !context || context_alive(context);
    unlock();
    if (!alive)
        return -1;
    if (my.depth == MAX_STACK)
        hostcuda_die("more than %d contexts pushed in one thread: each push needs its pop", MAX_STACK);
    my.stack[my.depth++] = context;
    return 0;
}

HostcudaContext hostcuda_context_pop(void)
{
    return my.depth ? my.stack[--my.depth] : NULL;
}

HostcudaContext hostcuda_context_current(void)
{
    return my.depth ? my.stack[my.depth - 1] : NULL;
}

HostcudaContext hostcuda_context_primary(int device)
{
    lock();
    Context *context = check_device(device) ? NULL : primary_context(device);
    unlock();
    return context;
}

int hostcuda_context_device(HostcudaContext context)
{
    lock();
    const int device = context_alive(context) ? context->device : -1;
    unlock();
    return device;
}
