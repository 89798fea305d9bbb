/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels: what is known of them, and their launch. They run in fiber.c. */
#include "hostcuda_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    for (unsigned i = 0; i < hostcuda.n_kernels; i++)
        if (hostcuda.kernels[i].function == function)
            return &hostcuda.kernels[i];
    return NULL;
}

void hostcuda_define_kernel(const void *function, const HostcudaSignature *signature, const char *launch_text)
{
    hostcuda_lock();
    if (!find_kernel(function)) {
        if (hostcuda.n_kernels == MAX_KERNELS)
            hostcuda_die("more than %d kernels", MAX_KERNELS);
        Kernel *k = &hostcuda.kernels[hostcuda.n_kernels++];
        k->function = function;
        k->signature = signature;
        kernel_name(k->name, launch_text);
        hostcuda_find_shared(k);
        for (unsigned i = 0; i + 1 < hostcuda.n_kernels; i++) {
            hostcuda_forget_shared(k, &hostcuda.kernels[i]);
            hostcuda_forget_shared(&hostcuda.kernels[i], k);
        }
    }
    hostcuda_unlock();
}

/* Pointers must be the device's or page-locked, of this context. In structs, where a word may be a number, those that
 * lie in memory of another context are found. */
static cudaError_t check_param(const Kernel *k, unsigned i, const void *value, const Context *context)
{
    const HostcudaParam *param = &k->signature->params[i];
    for (size_t at = 0; at + sizeof(void *) <= param->bytes; at += sizeof(void *)) {
        void *pointer;
        memcpy(&pointer, (const char *)value + at, sizeof pointer);
        const Block *block = pointer ? hostcuda_find_block(pointer) : NULL;
        if (param->pointer && pointer && !block)
            return hostcuda_misuse(cudaErrorIllegalAddress, "parameter %u of kernel %s, %p, is not the device's memory",
                                   i, k->name, pointer);
        if (block && block->kind == BLOCK_DEVICE && !hostcuda_is_near(block, context))
            return hostcuda_misuse(cudaErrorIllegalAddress, "parameter %u of kernel %s is memory of another context",
                                   i, k->name);
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
        return hostcuda_misuse(cudaErrorInvalidConfiguration, "a block of %ux%ux%u threads", block.x, block.y, block.z);
    if (!grid.x || !grid.y || !grid.z || grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
        return hostcuda_misuse(cudaErrorInvalidConfiguration, "a grid of %ux%ux%u blocks", grid.x, grid.y, grid.z);
    return cudaSuccess;
}

static cudaError_t launch(const char *function, const cudaLaunchConfig_t *config, const void *kernel, void **args)
{
    Stream *stream;
    cudaError_t error = hostcuda_enter(function);
    if (!error)
        error = hostcuda_get_stream(config->stream, &stream);
    if (!error)
        error = check_size(config->gridDim, config->blockDim);
    const Kernel *k = find_kernel(kernel);
    if (!error && !k)
        error = hostcuda_misuse(cudaErrorInvalidDeviceFunction, "the kernel was not launched by cudaLaunchKernelEx()");
    if (!error && config->dynamicSmemBytes)
        error = hostcuda_misuse(cudaErrorInvalidValue, "dynamic shared memory is not emulated");
    for (unsigned i = 0; !error && i < k->signature->n_params; i++)
        error = check_param(k, i, args[i], stream->context);
    if (!error) {
        Op *op = hostcuda_op_new(OP_KERNEL);
        op->kernel = k;
        op->grid = (uint3){config->gridDim.x, config->gridDim.y, config->gridDim.z};
        op->block = (uint3){config->blockDim.x, config->blockDim.y, config->blockDim.z};
        op->args = copy_args(k, args);
        error = hostcuda_enqueue(stream, op);
    }
    return hostcuda_leave(error);
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
    return hostcuda_leave(hostcuda_enter(__func__));
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
    (void)kernel;
    cudaError_t error = hostcuda_enter(__func__);
    if (!error) {
        memset(attributes, 0, sizeof *attributes);
        attributes->maxThreadsPerBlock = 1024;
        attributes->binaryVersion = attributes->ptxVersion = 75;
    }
    return hostcuda_leave(error);
}
