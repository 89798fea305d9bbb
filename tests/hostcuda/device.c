/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices, contexts and the names of errors. */
#include "hostcuda_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Contexts ---- */

static cudaError_t check_device(int device)
{
    return device < 0 || device >= hostcuda.n_devices || device >= MAX_DEVICES ? cudaErrorInvalidDevice : cudaSuccess;
}

static Context *context_new(int device, bool primary)
{
    Context *context = hostcuda_alloc(sizeof *context);
    context->device = device;
    context->primary = primary;
    context->default_stream = hostcuda_stream_new(context, 0);
    context->default_stream->is_default = true;
    context->next = hostcuda.contexts;
    hostcuda.contexts = context;
    return context;
}

static Context *primary_context(int device, bool by_runtime)
{
    if (!hostcuda.primary[device])
        hostcuda.primary[device] = context_new(device, true);
    hostcuda.primary[device]->by_runtime |= by_runtime;
    return hostcuda.primary[device];
}

static bool context_alive(const Context *context)
{
    for (const Context *c = hostcuda.contexts; c; c = c->next)
        if (c == context)
            return true;
    return false;
}

/* The one that a call works in. */
Context *hostcuda_current_context(void)
{
    if (hostcuda_thread.depth && hostcuda_thread.stack[hostcuda_thread.depth - 1]) {
        if (!context_alive(hostcuda_thread.stack[hostcuda_thread.depth - 1]))
            hostcuda_die("the context current in this thread was destroyed");
        return hostcuda_thread.stack[hostcuda_thread.depth - 1];
    }
    return primary_context(hostcuda_thread.device, true);
}

static void context_free(Context *context)
{
    for (Stream *s = hostcuda.streams, *next; s; s = next) {
        next = s->next;
        if (s->context == context) {
            hostcuda_unlink_stream(s);
            hostcuda_drop_stream(s);
        }
    }
    for (Event *e = hostcuda.events, *next; e; e = next) {
        next = e->next;
        if (e->context == context)
            hostcuda_free_event(e);
    }
    for (Block *b = hostcuda.blocks, *next; b; b = next) {
        next = b->next;
        if (b->context == context)
            hostcuda_block_free(b);
    }
    hostcuda_drop_stream(context->default_stream);
    Context **link = &hostcuda.contexts;
    while (*link != context)
        link = &(*link)->next;
    *link = context->next;
    if (context->primary)
        hostcuda.primary[context->device] = NULL;
    free(context);
}

HostcudaContext hostcuda_context_create(int device)
{
    hostcuda_lock();
    Context *context = check_device(device) ? NULL : context_new(device, false);
    hostcuda_unlock();
    if (context)
        hostcuda_context_push(context);
    return context;
}

int hostcuda_context_destroy(HostcudaContext context)
{
    hostcuda_lock();
    const bool alive = context_alive(context) && !context->primary;
    if (alive) {
        if (hostcuda_thread.depth && hostcuda_thread.stack[hostcuda_thread.depth - 1] == context)
            hostcuda_thread.depth--;
        context_free(context);
    }
    hostcuda_unlock();
    return alive ? 0 : -1;
}

int hostcuda_context_push(HostcudaContext context)
{
    hostcuda_lock();
    const bool alive = !context || context_alive(context);
    hostcuda_unlock();
    if (!alive)
        return -1;
    if (hostcuda_thread.depth == MAX_STACK)
        hostcuda_die("more than %d contexts pushed in one thread: each push needs its pop", MAX_STACK);
    hostcuda_thread.stack[hostcuda_thread.depth++] = context;
    return 0;
}

HostcudaContext hostcuda_context_pop(void)
{
    return hostcuda_thread.depth ? hostcuda_thread.stack[--hostcuda_thread.depth] : NULL;
}

HostcudaContext hostcuda_context_current(void)
{
    return hostcuda_thread.depth ? hostcuda_thread.stack[hostcuda_thread.depth - 1] : NULL;
}

HostcudaContext hostcuda_context_retain(int device)
{
    hostcuda_lock();
    Context *context = check_device(device) ? NULL : primary_context(device, false);
    if (context)
        context->retained++;
    hostcuda_unlock();
    return context;
}

int hostcuda_context_release(int device)
{
    hostcuda_lock();
    Context *context = check_device(device) ? NULL : hostcuda.primary[device];
    const bool held = context && context->retained;
    if (held && --context->retained == 0 && !context->by_runtime)
        context_free(context);
    hostcuda_unlock();
    return held ? 0 : -1;
}

int hostcuda_context_device(HostcudaContext context)
{
    hostcuda_lock();
    const int device = context_alive(context) ? context->device : -1;
    hostcuda_unlock();
    return device;
}

/* ---- Devices and versions ---- */

cudaError_t cudaDriverGetVersion(int *version)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        *version = hostcuda.driver;
    return hostcuda_leave(error);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        *version = CUDART_VERSION;
    return hostcuda_leave(error);
}

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t error = hostcuda_enter(__func__);
    *count = error ? 0 : hostcuda.n_devices < MAX_DEVICES ? hostcuda.n_devices : MAX_DEVICES;
    return hostcuda_leave(error);
}

cudaError_t cudaSetDevice(int device)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = check_device(device);
    if (!error) {
        hostcuda_thread.device = device;
        if (hostcuda_thread.depth)
            hostcuda_thread.stack[hostcuda_thread.depth - 1] = primary_context(device, true);
        else
            primary_context(device, true);
    }
    return hostcuda_leave(error);
}

#if CUDART_VERSION >= 12000
cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
    (void)device_flags;
    (void)flags;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = check_device(device);
    if (!error)
        primary_context(device, true);
    return hostcuda_leave(error);
}
#endif

cudaError_t cudaGetDevice(int *device)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        *device = hostcuda_current_context()->device;
    return hostcuda_leave(error);
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    (void)flags;
    return hostcuda_leave(hostcuda_enter(__func__));
}

/* A GPU of sm_75, the oldest the kernels are for. */
static void fill_properties(struct cudaDeviceProp *p, int device)
{
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "Emulated CUDA device %d", device);
    p->uuid.bytes[0] = (char)(0x70 + device);
    p->totalGlobalMem = hostcuda.memory;
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
    cudaError_t error = hostcuda_enter("cudaGetDeviceProperties");
    if (!error)
        error = check_device(device);
    if (!error)
        fill_properties(properties, device);
    return hostcuda_leave(error);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = check_device(device);
    if (error)
        return hostcuda_leave(error);
    struct cudaDeviceProp p;
    fill_properties(&p, device);
    switch ((int)attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrTextureAlignment: *value = (int)p.textureAlignment; break;
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
    default: error = hostcuda_misuse(cudaErrorInvalidValue, "attribute %d is not emulated", (int)attribute);
    }
    return hostcuda_leave(error);
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error)
        error = check_device(device);
    if (!error)
        snprintf(text, (size_t)bytes, "0000:%02x:00.0", 1 + device);
    return hostcuda_leave(error);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error) {
        if (least)
            *least = 0;
        if (greatest)
            *greatest = -5;
    }
    return hostcuda_leave(error);
}

cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = hostcuda_enter(__func__);
    if (!error) {
        hostcuda.counts.device_waits++;
        hostcuda_run_all(hostcuda_current_context());
        error = hostcuda.lost;
    }
    return hostcuda_leave(error);
}

cudaError_t cudaDeviceReset(void)
{
    cudaError_t error = hostcuda_enter(__func__);
    Context *context = hostcuda_current_context();
    if (context->primary)
        context_free(context);
    if (hostcuda_thread.depth)
        hostcuda_thread.depth--;
    return hostcuda_leave(error);
}

/* ---- Errors ---- */

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = hostcuda_thread.last_error;
    hostcuda_thread.last_error = hostcuda.lost;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return hostcuda_thread.last_error;
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
