/* SPDX-License-Identifier: GPL-2.0-or-later */
/** @file Between hostcuda.c (the runtime API) and fiber.c (one kernel on fibers), and what banks.c watches. */
#ifndef HOSTCUDA_INTERNAL_H
#define HOSTCUDA_INTERNAL_H

#include "hostcuda_abi.h"

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

typedef struct HostcudaLaunch {
    const char *name;
    const void *kernel;
    const HostcudaSignature *signature;
    void *const *args;
    uint3 grid, block;
    char *shared_start, *shared_stop;
    unsigned seed; /* 0: ascending order */
} HostcudaLaunch;

/** Run all blocks of a launch. One at a time in a process; a kernel that can never end ends the process. */
void hostcuda_execute(const HostcudaLaunch *launch);

/** Where the running thread is. */
typedef struct HostcudaPlace {
    const char *kernel; /**< NULL outside of kernels. */
    unsigned thread;    /**< Number in its block. */
    const char *shared_start, *shared_stop;
} HostcudaPlace;
extern HostcudaPlace hostcuda_place;

/** Call together() each time all threads of a block have met at __syncthreads, or have returned. */
void hostcuda_observe(void (*together)(void));

/** Report and end the process: for what no real program may do. */
__attribute__((noreturn, format(printf, 1, 2))) void hostcuda_die(const char *format, ...);

#endif
