/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file
 * Inside the emulated CUDA runtime: calls.c (settings, faults, how a call starts and ends), device.c (devices,
 * contexts), memory.c, stream.c (streams, events, the order of operations), kernel.c (launches), shared.c (where
 * __shared__ variables are), fiber.c (one kernel on fibers), banks.c (bank conflicts).
 *
 * One lock holds everything, kernels included; it is given up only while a host function of a stream runs.
 */
#ifndef HOSTCUDA_INTERNAL_H
#define HOSTCUDA_INTERNAL_H

#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "hostcuda_abi.h"
#include "hostcuda_control.h"

#if defined(__SANITIZE_ADDRESS__)
#define HOSTCUDA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOSTCUDA_ASAN 1
#endif
#endif
#ifndef HOSTCUDA_ASAN
#define HOSTCUDA_ASAN 0
#endif
#ifndef HOSTCUDA_TSAN /* set by the build: this source itself is built without ThreadSanitizer */
#define HOSTCUDA_TSAN 0
#endif

enum { MAX_DEVICES = 8, MAX_STACK = 32, MAX_KERNELS = 512, NAME_BYTES = 64 };

typedef struct CUctx_st Context;
typedef struct CUstream_st Stream;
typedef struct CUevent_st Event;

/* One cudaEventRecord: events are recorded again while others still wait for what was before. */
typedef struct Record {
    unsigned refs; /* the event's and the operations' */
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
    bool is_default; /* the context's, with the order of CUDA's legacy default stream */
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
    bool by_runtime;   /* of a primary one: the runtime holds it */
    unsigned retained; /* and how often others do */
    Stream *default_stream;
};

typedef enum { BLOCK_DEVICE, BLOCK_PINNED, BLOCK_REGISTERED } BlockKind;

typedef struct Block {
    struct Block *next;
    char *base, *allocation;
    size_t bytes;
    BlockKind kind;
    unsigned flags;
    bool from_pool; /* by cudaMallocAsync: no context's, but all of the device's */
    Context *context;
} Block;

/* A __shared__ variable. */
typedef struct HostcudaShared {
    char *start;
    size_t bytes;
    const char *name; /* mangled */
} HostcudaShared;

struct Kernel {
    const void *function;
    const char *symbol; /* mangled; NULL if it is not known */
    const HostcudaSignature *signature;
    char name[NAME_BYTES];
    HostcudaShared *shared;
    unsigned n_shared;
};

typedef struct Fault {
    char function[NAME_BYTES];
    unsigned long n;
    bool sticky;
    cudaError_t error;
} Fault;

typedef struct Hostcuda {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a stream is no longer busy */
    bool configured;        /* the environment was read */
    unsigned seed;
    bool lazy, strict;
    int n_devices, driver;
    size_t memory; /* bytes of each device */
    FILE *log;
    Fault fault;              /* n 0: none */
    unsigned long fault_seen; /* calls that the fault could have been */
    cudaError_t lost;         /* of every call; cudaSuccess: the devices live */
    const char **calls;       /* the functions called */
    size_t n_calls, cap_calls;
    HostcudaCounts counts; /* without what lives, which is counted when asked for */
    uint64_t number;       /* of the last operation queued */
    uint64_t random;
    Context *contexts, *primary[MAX_DEVICES];
    Stream *streams; /* without the default ones */
    Event *events;
    Block *blocks;
    Kernel kernels[MAX_KERNELS];
    unsigned n_kernels;
} Hostcuda;
extern Hostcuda hostcuda;

/* Of each host thread. */
typedef struct HostcudaThread {
    Context *stack[MAX_STACK];
    int depth;
    int device; /* of cudaSetDevice while the stack is empty */
    cudaError_t last_error;
    bool in_callback;
} HostcudaThread;
extern _Thread_local HostcudaThread hostcuda_thread;

/* ---- calls.c ---- */

/** Every call of the API starts with hostcuda_enter(__func__), which takes the lock, counts, and gives the error that
 *  the call returns without doing anything; and ends with return hostcuda_leave(error). */
cudaError_t hostcuda_enter(const char *function);
cudaError_t hostcuda_leave(cudaError_t error);
/** Around what is no call of the API. */
void hostcuda_lock(void);
void hostcuda_unlock(void);
/** The error of the call or of the operation ("exec") if it is the one that was to fail. */
cudaError_t hostcuda_fault(const char *function);
/** Report what no correct program does: ends the process, or gives error when not strict. */
__attribute__((format(printf, 2, 3))) cudaError_t hostcuda_misuse(cudaError_t error, const char *format, ...);
/** Zeroed memory, or the end of the process. */
void *hostcuda_alloc(size_t bytes);

/* ---- device.c ---- */

/** The context that a call works in. */
Context *hostcuda_current_context(void);

/* ---- memory.c ---- */

/** The block that a pointer points into, or NULL. */
Block *hostcuda_find_block(const void *pointer);
/** Whether work in a context can reach a block of device memory. */
bool hostcuda_is_near(const Block *block, const Context *context);
/** Rows from one context's memory to another's. */
cudaError_t hostcuda_copy_peer(const char *function, const CUDA_MEMCPY3D_PEER *copy, cudaStream_t stream);
/** With AddressSanitizer host code may not touch device memory: operations open a block, or all blocks of a context,
 *  for as long as they run. */
void hostcuda_open_block(const Block *block, bool open);
void hostcuda_open_device(const Context *context, bool open);
/** End the process if something was written outside of a block of device memory. after: by whom. */
void hostcuda_check_canaries(const char *after);
void hostcuda_block_free(Block *block);

/* ---- stream.c ---- */

Stream *hostcuda_stream_new(Context *context, unsigned flags);
/** The stream of a handle, the default one for NULL; misuse if it does not exist or is of another context. */
cudaError_t hostcuda_get_stream(cudaStream_t handle, Stream **stream);
void hostcuda_unlink_stream(Stream *stream);
/** Free a stream, and what is queued on it undone. */
void hostcuda_drop_stream(Stream *stream);
void hostcuda_free_event(Event *event);
/** An operation of one row, to be filled in and queued, by which the stream owns it. */
Op *hostcuda_op_new(OpKind kind);
cudaError_t hostcuda_enqueue(Stream *stream, Op *op);
/** Run what is queued, up to a number, and give the error of a lost device. */
cudaError_t hostcuda_wait_stream(Stream *stream, uint64_t number);
void hostcuda_run_all(const Context *context);

/* ---- shared.c ---- */

/** Find the __shared__ variables that the kernel may use: its own, and all of its source if it is static, */
void hostcuda_find_shared(Kernel *kernel);
/** without those of other kernels. */
void hostcuda_forget_shared(Kernel *kernel, const Kernel *other);

/* ---- fiber.c ---- */

typedef struct HostcudaLaunch {
    const char *name;
    const void *kernel;
    const HostcudaSignature *signature;
    void *const *args;
    uint3 grid, block;
    const HostcudaShared *shared;
    unsigned n_shared;
    unsigned seed; /* 0: ascending order */
} HostcudaLaunch;

/** Run all blocks of a launch. One at a time in a process; a kernel that can never end ends the process. */
void hostcuda_execute(const HostcudaLaunch *launch);

/** Where the running thread is. */
typedef struct HostcudaPlace {
    const HostcudaLaunch *launch; /**< NULL outside of kernels. */
    unsigned thread;              /**< Number in its block. */
} HostcudaPlace;
extern HostcudaPlace hostcuda_place;

/** Call together() each time all threads of a block have met at __syncthreads, or have returned. */
void hostcuda_observe(void (*together)(void));

/** Report and end the process: for what no real program may do. */
__attribute__((noreturn, format(printf, 1, 2))) void hostcuda_die(const char *format, ...);

#endif
