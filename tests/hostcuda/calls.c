/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings, faults, and how each call of the API starts and ends. */
#include "hostcuda_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Hostcuda hostcuda = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
_Thread_local HostcudaThread hostcuda_thread;

/* ---- Settings and calls ---- */

static long env_number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 0) : otherwise;
}

static void fault_from_env(void)
{
    const char *text = getenv("PNV_HOSTCUDA_FAIL");
    memset(&hostcuda.fault, 0, sizeof hostcuda.fault);
    hostcuda.fault_seen = 0;
    if (!text || !*text)
        return;
    char sticky[16] = "";
    int error = 0;
    if (sscanf(text, "%63[^:]:%lu:%15[^:]:%d", hostcuda.fault.function, &hostcuda.fault.n, sticky, &error) < 2 ||
        (*sticky && strcmp(sticky, "sticky") && strcmp(sticky, "once")))
        hostcuda_die("PNV_HOSTCUDA_FAIL=%s: not function:n[:sticky|once[:error]]", text);
    hostcuda.fault.sticky = strcmp(sticky, "sticky") == 0;
    hostcuda.fault.error = (cudaError_t)error;
}

static void configure(void)
{
    hostcuda.configured = true;
    hostcuda.seed = (unsigned)env_number("PNV_HOSTCUDA_SEED", 0);
    hostcuda.random = hostcuda.seed;
    hostcuda.lazy = env_number("PNV_HOSTCUDA_LAZY", 0) != 0;
    hostcuda.strict = env_number("PNV_HOSTCUDA_STRICT", 1) != 0;
    hostcuda.n_devices = (int)env_number("PNV_HOSTCUDA_DEVICES", 1);
    hostcuda.driver = (int)env_number("PNV_HOSTCUDA_DRIVER", CUDART_VERSION);
    hostcuda.memory = (size_t)env_number("PNV_HOSTCUDA_MEMORY", 8L << 30);
    hostcuda.lost = cudaSuccess;
    fault_from_env();
    const char *path = getenv("PNV_HOSTCUDA_LOG");
    if (path && *path && !hostcuda.log)
        hostcuda.log = fopen(path, "w");
}

void hostcuda_lock(void)
{
    pthread_mutex_lock(&hostcuda.lock);
    if (!hostcuda.configured)
        configure();
}

void hostcuda_unlock(void)
{
    pthread_mutex_unlock(&hostcuda.lock);
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
cudaError_t hostcuda_fault(const char *function)
{
    const bool is_exec = strcmp(function, "exec") == 0, any = strcmp(hostcuda.fault.function, "*") == 0;
    if (!hostcuda.fault.n || (any ? is_exec : strcmp(hostcuda.fault.function, function) != 0))
        return cudaSuccess;
    if (++hostcuda.fault_seen != hostcuda.fault.n)
        return cudaSuccess;
    const cudaError_t error = hostcuda.fault.error ? hostcuda.fault.error
                              : hostcuda.fault.sticky ? cudaErrorLaunchFailure
                                                : fitting_error(function);
    if (hostcuda.fault.sticky || is_exec) /* a fault of the device itself never heals */
        hostcuda.lost = error;
    hostcuda.fault.n = 0;
    return error;
}

static void note_call(const char *function)
{
    if (hostcuda.n_calls == hostcuda.cap_calls) {
        hostcuda.cap_calls = hostcuda.cap_calls ? 2 * hostcuda.cap_calls : 1024;
        hostcuda.calls = realloc(hostcuda.calls, hostcuda.cap_calls * sizeof *hostcuda.calls);
        if (!hostcuda.calls)
            hostcuda_die("out of memory");
    }
    hostcuda.calls[hostcuda.n_calls++] = function;
    if (hostcuda.log) {
        fprintf(hostcuda.log, "%zu %s\n", hostcuda.n_calls, function);
        fflush(hostcuda.log);
    }
}

/* What has neither device nor driver to ask. */
static bool needs_no_device(const char *function)
{
    return strcmp(function, "cudaDriverGetVersion") == 0 || strcmp(function, "cudaRuntimeGetVersion") == 0;
}

/* Whose context is current is known to the host alone. */
static bool needs_no_live_device(const char *function)
{
    return strncmp(function, "cuCtx", 5) == 0 || strcmp(function, "cuDevicePrimaryCtxRelease") == 0;
}

/* Every call of the API starts here, with the lock taken, and ends in hostcuda_leave(). */
cudaError_t hostcuda_enter(const char *function)
{
    hostcuda_lock();
    note_call(function);
    if (hostcuda_thread.in_callback)
        return cudaErrorNotPermitted;
    const cudaError_t error = hostcuda_fault(function);
    if (error)
        return error;
    if (needs_no_device(function))
        return cudaSuccess;
    if (hostcuda.lost && !needs_no_live_device(function))
        return hostcuda.lost;
    if (hostcuda.driver < CUDART_VERSION / 1000 * 1000) /* minor versions are compatible */
        return cudaErrorInsufficientDriver;
    if (hostcuda.n_devices <= 0)
        return cudaErrorNoDevice;
    return cudaSuccess;
}

cudaError_t hostcuda_leave(cudaError_t error)
{
    if (error && error != cudaErrorNotReady)
        hostcuda_thread.last_error = error;
    hostcuda_unlock();
    return error;
}

/* What no correct program does. */
cudaError_t hostcuda_misuse(cudaError_t error, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *function = hostcuda.n_calls ? hostcuda.calls[hostcuda.n_calls - 1] : "";
    if (hostcuda.strict)
        hostcuda_die("%s: %s (%s)", function, text, cudaGetErrorName(error));
    fprintf(stderr, "hostcuda: %s: %s (%s)\n", function, text, cudaGetErrorName(error));
    hostcuda.counts.misuse++;
    return error;
}

void *hostcuda_alloc(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (!p)
        hostcuda_die("out of memory");
    return p;
}

/* ---- Control ---- */

void hostcuda_reset(void)
{
    hostcuda_lock();
    configure();
    hostcuda.n_calls = 0;
    memset(&hostcuda.counts, 0, sizeof hostcuda.counts);
    hostcuda_unlock();
    hostcuda_thread.last_error = cudaSuccess;
}

#define SETTER(name, type, statement)                                                                                  \
    void name(type value)                                                                                              \
    {                                                                                                                  \
        hostcuda_lock();                                                                                               \
        statement;                                                                                                     \
        hostcuda_unlock();                                                                                             \
    }
SETTER(hostcuda_set_seed, unsigned, hostcuda.seed = value; hostcuda.random = value)
SETTER(hostcuda_set_lazy, int, hostcuda.lazy = value != 0)
SETTER(hostcuda_set_devices, int, hostcuda.n_devices = value)
SETTER(hostcuda_set_driver, int, hostcuda.driver = value)
SETTER(hostcuda_set_memory, size_t, hostcuda.memory = value)
SETTER(hostcuda_set_strict, int, hostcuda.strict = value != 0)
SETTER(hostcuda_lose_device, cudaError_t, hostcuda.lost = value)

void hostcuda_fail(const char *function, unsigned long n, int sticky, cudaError_t error)
{
    hostcuda_lock();
    memset(&hostcuda.fault, 0, sizeof hostcuda.fault);
    hostcuda.fault_seen = 0;
    hostcuda.lost = cudaSuccess;
    if (function) {
        snprintf(hostcuda.fault.function, sizeof hostcuda.fault.function, "%s", function);
        hostcuda.fault.n = n;
        hostcuda.fault.sticky = sticky != 0;
        hostcuda.fault.error = error;
    }
    hostcuda_unlock();
}

unsigned long hostcuda_calls(const char *function)
{
    unsigned long n = 0;
    hostcuda_lock();
    for (size_t i = 0; i < hostcuda.n_calls; i++)
        n += !function || strcmp(hostcuda.calls[i], function) == 0;
    hostcuda_unlock();
    return n;
}

const char *hostcuda_call(unsigned long n)
{
    hostcuda_lock();
    const char *function = n >= 1 && n <= hostcuda.n_calls ? hostcuda.calls[n - 1] : NULL;
    hostcuda_unlock();
    return function;
}

void hostcuda_clear_calls(void)
{
    hostcuda_lock();
    hostcuda.n_calls = 0;
    memset(&hostcuda.counts, 0, sizeof hostcuda.counts);
    hostcuda_unlock();
}

HostcudaCounts hostcuda_counts(void)
{
    hostcuda_lock();
    HostcudaCounts counts = hostcuda.counts;
    for (const Block *b = hostcuda.blocks; b; b = b->next) {
        counts.live_device += b->kind == BLOCK_DEVICE;
        counts.live_pinned += b->kind != BLOCK_DEVICE;
        counts.device_bytes += b->kind == BLOCK_DEVICE ? b->bytes : 0;
    }
    for (const Stream *s = hostcuda.streams; s; s = s->next)
        counts.live_streams++;
    for (const Event *e = hostcuda.events; e; e = e->next)
        counts.live_events++;
    hostcuda_unlock();
    return counts;
}
