/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The emulated CUDA runtime: that kernels compute what a GPU computes, that every order of threads and operations is
 * tried, and that mistakes are found. What ends the process runs in a child of its own. */
#include "check.h"
#include "hostcuda_control.h"
#include "unit_hostcuda.h"

#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
#ifndef ASAN
#define ASAN 0
#endif
#if defined(__SANITIZE_THREAD__)
#define TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TSAN 1
#endif
#endif
#ifndef TSAN
#define TSAN 0
#endif

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        const cudaError_t error_ = (call);                                                                             \
        CHECK(error_ == cudaSuccess, "%s: %s", #call, cudaGetErrorString(error_));                                     \
    } while (0)
#define GIVES(error, call)                                                                                             \
    do {                                                                                                               \
        const cudaError_t error_ = (call);                                                                             \
        CHECK(error_ == (error), "%s: %s", #call, cudaGetErrorName(error_));                                           \
    } while (0)

static const unsigned seeds[] = {0, 1, 2, 77};
enum { N_SEEDS = TSAN ? 2 : sizeof seeds / sizeof *seeds };

/* ---- Kernels ---- */

static void *device(size_t bytes)
{
    void *p = NULL;
    REQUIRE(cudaMalloc(&p, bytes) == cudaSuccess, "%zu bytes", bytes);
    return p;
}

static void *device_copy(const void *from, size_t bytes)
{
    void *p = device(bytes);
    OK(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
    return p;
}

static void fetch(void *to, const void *d_from, size_t bytes)
{
    memset(to, 0xaa, bytes);
    OK(cudaMemcpy(to, d_from, bytes, cudaMemcpyDeviceToHost));
}

static unsigned next_random(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 32);
}

static void test_scan_and_compact(void)
{
    enum { N = 4 * SCAN_THREADS };
    unsigned in[N], want[N], got[N];
    for (int i = 0; i < N; i++) {
        in[i] = next_random() & 1 ? next_random() : 0;
        want[i] = in[i] + (i % SCAN_THREADS ? want[i - 1] : 0);
    }
    unsigned *d_in = device_copy(in, sizeof in), *d_out = device(sizeof in);
    OK(unit_scan(d_out, d_in, N, NULL));
    fetch(got, d_out, sizeof got);
    CHECK_MEM_EQ(want, got, sizeof want, "scan");

    OK(unit_compact(d_out, d_in, N, NULL));
    fetch(got, d_out, sizeof got);
    for (int i = 0; i < N; i += 32) {
        int n = 0;
        memset(&want[i], 0, 32 * sizeof *want);
        for (int k = 0; k < 32; k++)
            if (in[i + k])
                want[i + n++] = in[i + k];
    }
    CHECK_MEM_EQ(want, got, sizeof want, "compact");
    OK(cudaFree(d_in));
    OK(cudaFree(d_out));
}

static void test_reduce(void)
{
    unsigned in[32], want[8] = {0, 0xffffffffu, 0, 0, 0, 0, 1, 0}, got[8];
    for (int i = 0; i < 32; i++) {
        in[i] = next_random();
        want[0] += in[i];
        want[1] = in[i] < want[1] ? in[i] : want[1];
        want[2] = in[i] > want[2] ? in[i] : want[2];
        want[3] |= in[i];
        want[4] ^= in[i];
        want[5] |= in[i] & 1;
        want[6] &= in[i];
        want[7] |= (in[i] & 1) << i;
    }
    unsigned *d_in = device_copy(in, sizeof in), *d_out = device(sizeof got);
    OK(unit_reduce(d_out, d_in, NULL));
    fetch(got, d_out, sizeof got);
    CHECK_MEM_EQ(want, got, sizeof want, "reduce");
    OK(cudaFree(d_in));
    OK(cudaFree(d_out));
}

static void test_shuffle(void)
{
    int want[288], got[288];
    for (int i = 0; i < 32; i++) {
        want[i] = 5;
        want[32 + i] = i < 3 ? i : i - 3;
        want[64 + i] = i + 3 > 31 ? i : i + 3;
        want[96 + i] = i ^ 6;
        want[128 + i] = (i & ~7) + 1;
        want[160 + i] = i & 7 ? i - 1 : i;
        want[192 + i] = (i & 7) == 7 ? i : i + 1;
        want[224 + i] = i ^ 5;
        want[256 + i] = i & 8 ? i ^ 12 : i; /* lower groups can be reached, higher ones cannot */
    }
    int *d_out = device(sizeof got);
    OK(unit_shuffle(d_out, NULL));
    fetch(got, d_out, sizeof got);
    CHECK_MEM_EQ(want, got, sizeof want, "shuffle");
    OK(cudaFree(d_out));
}

static unsigned slow_clz(uint64_t x, int bits)
{
    unsigned n = 0;
    while (bits-- > 0 && !(x >> bits & 1))
        n++;
    return n;
}

static unsigned slow_ffs(uint64_t x)
{
    for (unsigned i = 0; i < 64; i++)
        if (x >> i & 1)
            return i + 1;
    return 0;
}

static unsigned slow_popc(uint64_t x)
{
    unsigned n = 0;
    for (; x; x >>= 1)
        n += x & 1;
    return n;
}

static uint64_t slow_reverse(uint64_t x, int bits)
{
    uint64_t out = 0;
    for (int i = 0; i < bits; i++)
        out |= (x >> i & 1) << (bits - 1 - i);
    return out;
}

/* The high half by bits: as far from the compiler's multiplication as can be. */
static uint64_t slow_mul_high(uint64_t a, uint64_t b)
{
    uint64_t high = 0, low = 0;
    for (int i = 63; i >= 0; i--) {
        high = high << 1 | low >> 63;
        low <<= 1;
        if (a >> i & 1) {
            low += b;
            high += low < b;
        }
    }
    return high;
}

static void builtins_of(unsigned *out, unsigned x, unsigned y, unsigned z)
{
    const uint64_t w = (uint64_t)y << 32 | x;
    const unsigned s = z & 31, clamped = z > 32 ? 32 : z;
    *out++ = slow_popc(x);
    *out++ = slow_popc(w);
    *out++ = slow_clz(x, 32);
    *out++ = slow_clz(w, 64);
    *out++ = slow_ffs(x);
    *out++ = slow_ffs(w);
    *out++ = (unsigned)slow_reverse(x, 32);
    *out++ = (unsigned)slow_reverse(w, 64);
    unsigned permuted = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned pick = z >> (4 * i) & 15, byte = (unsigned)(w >> (8 * (pick & 7))) & 255;
        permuted |= (pick & 8 ? (byte & 128 ? 255u : 0) : byte) << (8 * i);
    }
    *out++ = permuted;
    *out++ = (unsigned)((uint64_t)((int64_t)(int)x * (int)y) >> 32);
    *out++ = (unsigned)((uint64_t)x * y >> 32);
    *out++ = (unsigned)slow_mul_high(w, w);
    *out++ = s ? y << s | x >> (32 - s) : y;
    *out++ = s ? x >> s | y << (32 - s) : x;
    *out++ = clamped == 32 ? x : clamped ? y << clamped | x >> (32 - clamped) : y;
    *out++ = clamped == 32 ? y : clamped ? x >> clamped | y << (32 - clamped) : x;
    *out++ = (x > y ? x - y : y - x) + z;
    unsigned dot = z;
    for (int i = 0; i < 32; i += 8)
        dot += (unsigned)((int8_t)(x >> i) * (int8_t)(y >> i));
    *out++ = dot;
    *out++ = (int)x < (int)y ? x : y;
    *out++ = x > y ? x : y;
    *out++ = x < y ? x : y;
    *out++ = x & 0x3fffffff;
    *out++ = (int)y > -1 ? y : 0xffffffffu;
    *out = 32;
}

static void test_builtins(void)
{
    enum { N = TSAN ? 64 : 512 };
    static unsigned in[3 * N], want[BUILTINS * N], got[BUILTINS * N];
    static const unsigned special[] = {0, 1, 0x80000000u, 0xffffffffu, 0x7fffffffu, 32, 31, 33};
    for (int i = 0; i < 3 * N; i++)
        in[i] = i < 3 * 64 ? special[(i * 5 + i / 8 + i / 24) % 8] : next_random() >> (next_random() & 31);
    for (int i = 0; i < N; i++)
        builtins_of(&want[BUILTINS * i], in[3 * i], in[3 * i + 1], in[3 * i + 2]);
    unsigned *d_in = device_copy(in, sizeof in), *d_out = device(sizeof got);
    OK(unit_builtins(d_out, d_in, N, NULL));
    fetch(got, d_out, sizeof got);
    for (int i = 0; i < BUILTINS * N; i++)
        CHECK(want[i] == got[i], "builtin %d of %08x %08x %08x: %08x, not %08x", i % BUILTINS, in[i / BUILTINS * 3],
              in[i / BUILTINS * 3 + 1], in[i / BUILTINS * 3 + 2], got[i], want[i]);
    OK(cudaFree(d_in));
    OK(cudaFree(d_out));
}

static void test_indices(void)
{
    const dim3 grids[] = {{1, 1, 1}, {7, 1, 1}, {3, 2, 2}}, blocks[] = {{1, 1, 1}, {33, 1, 1}, {5, 4, 3}};
    for (int g = 0; g < 3; g++)
        for (int b = 0; b < 3; b++) {
            unsigned got[12 * 60];
            const unsigned n = grids[g].x * grids[g].y * grids[g].z * blocks[b].x * blocks[b].y * blocks[b].z;
            unsigned *d_out = device(n * sizeof *got);
            OK(cudaMemset(d_out, 0, n * sizeof *got));
            OK(unit_indices(d_out, grids[g], blocks[b], NULL));
            fetch(got, d_out, n * sizeof *got);
            for (unsigned i = 0; i < n; i++)
                CHECK(got[i] == i, "grid %d block %d thread %u: %u", g, b, i, got[i]);
            OK(cudaFree(d_out));
        }
}

static void test_shared_is_filled(void)
{
    unsigned got[8], *d_out = device(sizeof got);
    OK(unit_unwritten(d_out, 4, NULL));
    fetch(got, d_out, sizeof got);
    for (int i = 0; i < 8; i++)
        CHECK(got[i] == 0xA5A5A5A5u, "word %d: %08x", i, got[i]);
    OK(cudaFree(d_out));
}

static void test_votes_and_params(void)
{
    int votes[3];
    int *d_votes = device(sizeof votes);
    OK(unit_block_votes(d_votes, 100, NULL));
    fetch(votes, d_votes, sizeof votes);
    CHECK(votes[0] == 50 && votes[1] == 1 && votes[2] == 0, "%d %d %d", votes[0], votes[1], votes[2]);
    OK(cudaFree(d_votes));

    unsigned sum;
    const UnitParams params = {device(4), 7, 5.0};
    OK(unit_params(params, 3, 2ull << 40, NULL));
    fetch(&sum, params.d_out, sizeof sum);
    CHECK(sum == 7 + 50 + 300 + 2000, "%u", sum);
    OK(cudaFree(params.d_out));
}

/* ---- Order ---- */

/* Whether the neighbours are right; a missing barrier must show with every seed. */
static bool neighbours_right(int sync, bool in_warp)
{
    enum { N = 96 };
    const int n = in_warp ? 32 : N;
    int got[N], *d_out = device(sizeof got);
    bool right = true;
    OK(in_warp ? unit_neighbour_warp(d_out, sync, NULL) : unit_neighbour(d_out, n, sync, NULL));
    fetch(got, d_out, (size_t)n * sizeof *got);
    for (int i = 0; i < n; i++)
        right &= got[i] == (i + 1) % n;
    OK(cudaFree(d_out));
    return right;
}

static void test_missing_barrier(unsigned seed)
{
    CHECK(neighbours_right(1, false), "seed %u", seed);
    CHECK(neighbours_right(1, true), "seed %u", seed);
    if (!TSAN) { /* which would report it, as test_races does */
        CHECK(!neighbours_right(0, false), "seed %u: a missing __syncthreads does not show", seed);
        CHECK(!neighbours_right(0, true), "seed %u: a missing __syncwarp does not show", seed);
    }
}

/* Places in order of arrival are what seeds are there to find. */
static void test_order_shows(void)
{
    enum { N = 16 * 64 };
    unsigned got[2][N];
    for (int i = 0; i < 2; i++) {
        hostcuda_set_seed((unsigned)i);
        unsigned *d_out = device(sizeof got[0]), *d_counter = device(4);
        OK(cudaMemset(d_counter, 0, 4));
        OK(unit_arrival(d_out, d_counter, N, NULL));
        fetch(got[i], d_out, sizeof got[i]);
        OK(cudaFree(d_out));
        OK(cudaFree(d_counter));
    }
    for (unsigned i = 0; i < N; i++)
        CHECK(got[0][i] == i, "seed 0 is not ascending at %u", i);
    unsigned moved_blocks = 0, moved_threads = 0;
    for (unsigned b = 0; b < N / 64; b++) {
        unsigned first = N;
        for (unsigned i = 64 * b; i < 64 * b + 64; i++)
            first = got[1][i] < first ? got[1][i] : first;
        moved_blocks += first != 64 * b;
        for (unsigned i = 0; i < 64; i++)
            moved_threads += got[1][64 * b + i] != first + i;
    }
    CHECK(moved_blocks > N / 128 && moved_threads > N / 2, "seed 1 moves %u blocks and %u threads", moved_blocks,
          moved_threads);
    hostcuda_set_seed(0);
}

enum { N_PIPE = 512 };

typedef enum { WRONG, RIGHT, FAILED } Outcome;

/* Upload on one stream, work on another, download on a third. Several threads at once call this: no CHECK. */
static Outcome pipeline(bool wait_upload, bool wait_kernel, bool wait_end)
{
    cudaStream_t streams[3];
    cudaEvent_t events[2];
    unsigned *h_in, *h_out, *d_data;
    bool right = true, failed = false;
#define DO(call) failed |= (call) != cudaSuccess
    for (int i = 0; i < 3; i++)
        DO(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    for (int i = 0; i < 2; i++)
        DO(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
    DO(cudaMalloc((void **)&d_data, N_PIPE * 4));
    DO(cudaHostAlloc((void **)&h_in, N_PIPE * 4, cudaHostAllocDefault));
    DO(cudaHostAlloc((void **)&h_out, N_PIPE * 4, cudaHostAllocDefault));
    if (failed)
        return FAILED;
    for (unsigned i = 0; i < N_PIPE; i++)
        h_in[i] = i;
    DO(cudaMemcpyAsync(d_data, h_in, N_PIPE * 4, cudaMemcpyHostToDevice, streams[0]));
    DO(cudaEventRecord(events[0], streams[0]));
    if (wait_upload)
        DO(cudaStreamWaitEvent(streams[1], events[0], 0));
    DO(unit_add(d_data, 5, N_PIPE, 0, streams[1]));
    DO(cudaEventRecord(events[1], streams[1]));
    if (wait_kernel)
        DO(cudaStreamWaitEvent(streams[2], events[1], 0));
    DO(cudaMemcpyAsync(h_out, d_data, N_PIPE * 4, cudaMemcpyDeviceToHost, streams[2]));
    if (wait_end)
        DO(cudaStreamSynchronize(streams[2]));
    for (unsigned i = 0; i < N_PIPE; i++)
        right &= h_out[i] == i + 5;
    for (int i = 0; i < 3; i++)
        DO(cudaStreamDestroy(streams[i]));
    for (int i = 0; i < 2; i++)
        DO(cudaEventDestroy(events[i]));
    DO(cudaFreeHost(h_in));
    DO(cudaFreeHost(h_out));
    DO(cudaFree(d_data));
#undef DO
    return failed ? FAILED : right ? RIGHT : WRONG;
}

static void test_streams(unsigned seed)
{
    hostcuda_set_lazy(0);
    CHECK(pipeline(true, true, true) == RIGHT, "eager, seed %u", seed);
    hostcuda_set_lazy(1);
    CHECK(pipeline(true, true, true) == RIGHT, "lazy, seed %u", seed);
    if (seed == 0) { /* with others, what is not waited for may run anyhow */
        CHECK(pipeline(false, true, true) == WRONG, "a missing wait for the upload does not show");
        CHECK(pipeline(true, false, true) == WRONG, "a missing wait for the kernel does not show");
        CHECK(pipeline(true, true, false) == WRONG, "a missing wait for the download does not show");
    }
    hostcuda_set_lazy(0);
}

static void test_default_stream(void)
{
    unsigned *h_data, *d_data = device(N_PIPE * 4);
    cudaStream_t blocking;
    hostcuda_set_lazy(1);
    OK(cudaStreamCreate(&blocking));
    OK(cudaHostAlloc((void **)&h_data, N_PIPE * 4, 0));
    memset(h_data, 0, N_PIPE * 4);
    OK(cudaMemcpyAsync(d_data, h_data, N_PIPE * 4, cudaMemcpyHostToDevice, blocking));
    OK(unit_add(d_data, 1, N_PIPE, 0, NULL)); /* after the copy, and before the next one */
    OK(cudaMemcpyAsync(h_data, d_data, N_PIPE * 4, cudaMemcpyDeviceToHost, blocking));
    OK(unit_add(d_data, 1, N_PIPE, 0, NULL));
    OK(cudaStreamSynchronize(blocking));
    for (int i = 0; i < N_PIPE; i++)
        CHECK(h_data[i] == 1, "%d: %u", i, h_data[i]);
    OK(cudaStreamDestroy(blocking));
    OK(cudaFreeHost(h_data));
    OK(cudaFree(d_data));
    hostcuda_set_lazy(0);
}

static void set_flag(void *data)
{
    int count;
    CHECK(cudaGetDeviceCount(&count) == cudaErrorNotPermitted, "CUDA called by a host function");
    *(int *)data = 1;
}

static void test_events_and_queries(void)
{
    cudaEvent_t a, b;
    cudaStream_t stream;
    float ms = -1;
    int flag = 0;
    unsigned *d_data = device(4000);
    hostcuda_set_lazy(1);
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreate(&a));
    OK(cudaEventCreate(&b));
    OK(cudaEventQuery(a)); /* never recorded: nothing to wait for */
    OK(cudaEventRecord(a, stream));
    OK(cudaMemsetAsync(d_data, 0, 4000, stream));
    OK(cudaLaunchHostFunc(stream, set_flag, &flag));
    OK(cudaEventRecord(b, stream));
    GIVES(cudaErrorNotReady, cudaEventElapsedTime(&ms, a, b));
    GIVES(cudaErrorNotReady, cudaEventQuery(b));
    CHECK(cudaGetLastError() == cudaErrorNotPermitted || flag == 0, "not ready is no error");
    int polls = 0;
    while (cudaStreamQuery(stream) == cudaErrorNotReady)
        REQUIRE(++polls < 10, "a query does not come to its end");
    CHECK(flag == 1, "the host function did not run");
    OK(cudaEventSynchronize(b));
    OK(cudaEventElapsedTime(&ms, a, b));
    CHECK(ms >= 0, "%f ms", (double)ms);
    OK(cudaEventDestroy(a));
    OK(cudaEventDestroy(b));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(d_data));
    cudaGetLastError();
    hostcuda_set_lazy(0);
}

static void test_memory(void)
{
    struct cudaPointerAttributes attributes;
    unsigned char *d_data = device(100), host[100], *h_data;
    fetch(host, d_data, 100);
    for (int i = 0; i < 100; i++)
        CHECK(host[i] == 0xCD, "device memory starts with %02x", host[i]);
    OK(cudaPointerGetAttributes(&attributes, d_data + 99));
    CHECK(attributes.type == cudaMemoryTypeDevice && !attributes.hostPointer, "type %d", (int)attributes.type);
    OK(cudaPointerGetAttributes(&attributes, host));
    CHECK(attributes.type == cudaMemoryTypeUnregistered, "type %d", (int)attributes.type);
    OK(cudaHostRegister(host, sizeof host, cudaHostRegisterDefault));
    OK(cudaPointerGetAttributes(&attributes, host + 50));
    CHECK(attributes.type == cudaMemoryTypeHost, "type %d", (int)attributes.type);
    GIVES(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host + 10, 4, cudaHostRegisterDefault));
    hostcuda_set_strict(0);
    GIVES(cudaErrorInvalidValue, cudaHostGetDevicePointer((void **)&h_data, host, 0)); /* it is not mapped */
    GIVES(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host + 1));
    OK(cudaHostUnregister(host));
    GIVES(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));
    GIVES(cudaErrorInvalidValue, cudaHostRegister(d_data, 50, cudaHostRegisterDefault));
    GIVES(cudaErrorInvalidValue, cudaHostRegister(host, 50, 0x80));
    hostcuda_set_strict(1);
    OK(cudaHostRegister(host + 40, 10, cudaHostRegisterMapped));
    GIVES(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host, 100, cudaHostRegisterMapped)); /* around it */
    OK(cudaHostGetDevicePointer((void **)&h_data, host + 40, 0));
    OK(cudaHostUnregister(host + 40));
    cudaGetLastError();

    /* rows, in both directions; and a kernel that stores into mapped memory */
    OK(cudaHostAlloc((void **)&h_data, 4 * 128, cudaHostAllocMapped));
    unsigned *d_mapped;
    OK(cudaHostGetDevicePointer((void **)&d_mapped, h_data, 0));
    memset(h_data, 0, 4 * 128);
    OK(unit_add(d_mapped, 3, 128, 0, NULL));
    OK(cudaDeviceSynchronize());
    CHECK(((unsigned *)h_data)[127] == 3, "mapped memory was not written");
    OK(cudaFreeHost(h_data));
    for (int i = 0; i < 100; i++)
        host[i] = (unsigned char)i;
    OK(cudaMemcpy2D(d_data, 12, host, 10, 10, 8, cudaMemcpyHostToDevice));
    memset(host, 0, sizeof host);
    OK(cudaMemcpy2DAsync(host, 11, d_data, 12, 9, 8, cudaMemcpyDeviceToHost, NULL));
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 9; x++)
            CHECK(host[11 * y + x] == 10 * y + x, "row %d, byte %d", y, x);
    OK(cudaFree(d_data));

    hostcuda_set_memory(1000);
    GIVES(cudaErrorMemoryAllocation, cudaMalloc((void **)&d_data, 1001));
    d_data = device(600);
    unsigned char *d_more;
    GIVES(cudaErrorMemoryAllocation, cudaMalloc((void **)&d_more, 401));
    GIVES(cudaErrorMemoryAllocation, cudaGetLastError());
    GIVES(cudaSuccess, cudaGetLastError());
    OK(cudaFree(d_data));
    hostcuda_set_memory((size_t)8 << 30);
}

/* ---- Faults ---- */

/* Everything an encoder would do, as far as errors let it; the number of calls that failed. */
static int work(bool *right)
{
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    unsigned *h_data = NULL, *d_data = NULL;
    int failed = 0;
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        if ((call) != cudaSuccess) {                                                                                   \
            failed++;                                                                                                  \
            goto end;                                                                                                  \
        }                                                                                                              \
    } while (0)
    *right = false;
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    TRY(cudaHostAlloc((void **)&h_data, 400, cudaHostAllocDefault));
    memset(h_data, 0, 400);
    TRY(cudaMalloc((void **)&d_data, 400));
    TRY(cudaMemcpyAsync(d_data, h_data, 400, cudaMemcpyHostToDevice, stream));
    TRY(unit_add(d_data, 9, 100, 0, stream));
    TRY(cudaMemcpyAsync(h_data, d_data, 400, cudaMemcpyDeviceToHost, stream));
    TRY(cudaEventRecord(event, stream));
    TRY(cudaEventSynchronize(event));
    *right = h_data[99] == 9;
end:
    if (h_data)
        failed += cudaFreeHost(h_data) != cudaSuccess;
    if (d_data)
        failed += cudaFree(d_data) != cudaSuccess;
    if (event)
        failed += cudaEventDestroy(event) != cudaSuccess;
    if (stream)
        failed += cudaStreamDestroy(stream) != cudaSuccess;
#undef TRY
    return failed;
}

static void check_nothing_lives(const char *what, unsigned long n)
{
    const HostcudaCounts c = hostcuda_counts();
    CHECK(c.live_device + c.live_pinned + c.live_streams + c.live_events == 0,
          "%s %lu: %lu device, %lu pinned, %lu streams, %lu events are left", what, n, c.live_device, c.live_pinned,
          c.live_streams, c.live_events);
}

static void test_fault_sweep(void)
{
    bool right;
    hostcuda_fail(NULL, 0, 0, cudaSuccess);
    hostcuda_clear_calls();
    CHECK(work(&right) == 0 && right, "without a fault");
    const unsigned long n = hostcuda_calls(NULL);
    CHECK(n == 13, "%lu calls", n);
    CHECK(hostcuda_calls("cudaMemcpyAsync") == 2, "copies");
    CHECK(strcmp(hostcuda_call(6), "cudaLaunchKernelExC") == 0, "%s", hostcuda_call(6));
    CHECK(hostcuda_call(n + 1) == NULL && hostcuda_call(0) == NULL, "calls outside the list");
    for (unsigned long i = 1; i <= n; i++) {
        hostcuda_fail("*", i, 0, cudaSuccess);
        CHECK(work(&right) == 1, "call %lu of %lu", i, n);
        check_nothing_lives("call", i);
        CHECK(work(&right) == 0 && right, "after a fault in call %lu", i);
        cudaGetLastError();

        hostcuda_fail("*", i, 1, cudaErrorLaunchFailure);
        CHECK(work(&right) >= 1, "from call %lu of %lu on", i, n);
        check_nothing_lives("from call", i);
        GIVES(cudaErrorLaunchFailure, cudaDeviceSynchronize());
        GIVES(cudaErrorLaunchFailure, cudaPeekAtLastError());
    }
    hostcuda_fail("cudaMalloc", 1, 0, cudaSuccess);
    void *p;
    GIVES(cudaErrorMemoryAllocation, cudaMalloc(&p, 4));
    hostcuda_fail("cudaMalloc", 2, 0, cudaErrorUnknown);
    OK(cudaMalloc(&p, 4));
    void *q;
    GIVES(cudaErrorUnknown, cudaMalloc(&q, 4));
    OK(cudaFree(p));

    /* the second operation fails on the device: the launch is told nothing, what waits is */
    for (int lazy = 0; lazy < 2; lazy++) {
        hostcuda_set_lazy(lazy);
        hostcuda_fail("exec", 2, 0, cudaSuccess);
        CHECK(work(&right) >= 1 && !right, "lazy %d", lazy);
        GIVES(cudaErrorIllegalAddress, cudaDeviceSynchronize());
        hostcuda_fail(NULL, 0, 0, cudaSuccess);
    }
    hostcuda_set_lazy(0);
    cudaGetLastError();
    cudaGetLastError();
}

static void test_lost_device(void)
{
    unsigned *h_data, *d_data = device(400);
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaHostAlloc((void **)&h_data, 400, 0));
    memset(h_data, 0x11, 400);
    hostcuda_set_lazy(1);
    OK(cudaMemsetAsync(d_data, 0, 400, stream));
    OK(cudaMemcpyAsync(h_data, d_data, 400, cudaMemcpyDeviceToHost, stream));
    hostcuda_lose_device(cudaErrorDevicesUnavailable);
    GIVES(cudaErrorDevicesUnavailable, cudaStreamSynchronize(stream));
    GIVES(cudaErrorDevicesUnavailable, cudaStreamDestroy(stream));
    CHECK(h_data[0] == 0x11111111, "a lost device wrote to the host");
    GIVES(cudaErrorDevicesUnavailable, cudaFreeHost(h_data));
    GIVES(cudaErrorDevicesUnavailable, cudaFree(d_data));
    hostcuda_lose_device(cudaSuccess);
    hostcuda_set_lazy(0);
    check_nothing_lives("lost device", 0);
    cudaGetLastError();
    cudaGetLastError();
}

static void test_no_device(void)
{
    int count = 9, version = 0;
    hostcuda_set_devices(0);
    GIVES(cudaErrorNoDevice, cudaGetDeviceCount(&count));
    CHECK(count == 0, "%d devices", count);
    OK(cudaDriverGetVersion(&version));
    CHECK(version >= CUDART_VERSION, "driver %d", version);
    hostcuda_set_devices(2);
    OK(cudaGetDeviceCount(&count));
    CHECK(count == 2, "%d devices", count);
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(2));
    OK(cudaSetDevice(1));
    OK(cudaGetDevice(&count));
    CHECK(count == 1, "device %d", count);
    OK(cudaSetDevice(0));
    struct cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 1));
    CHECK(properties.major == 7 && properties.minor == 5, "sm_%d%d", properties.major, properties.minor);
    hostcuda_set_devices(1);
    hostcuda_set_driver(11080);
    GIVES(cudaErrorInsufficientDriver, cudaGetDeviceCount(&count));
    CHECK(count == 0, "%d devices", count);
    OK(cudaDriverGetVersion(&version));
    CHECK(version == 11080, "driver %d", version);
    hostcuda_set_driver(0);
    void *p;
    GIVES(cudaErrorInsufficientDriver, cudaMalloc(&p, 4));
    OK(cudaDriverGetVersion(&version));
    CHECK(version == 0, "driver %d", version);
    hostcuda_set_driver(CUDART_VERSION);
    cudaGetLastError();
}

/* ---- Contexts ---- */

static unsigned long misuses(void)
{
    return hostcuda_counts().misuse;
}

/* With strict off: the error, and the message counted. */
#define MISUSE(error, call)                                                                                            \
    do {                                                                                                               \
        const unsigned long before_ = misuses();                                                                       \
        GIVES(error, call);                                                                                            \
        CHECK(misuses() == before_ + 1, "%s: not reported", #call);                                                    \
    } while (0)

static void test_contexts(void)
{
    CUcontext context = NULL, popped = NULL;
    CUdevice device_number = 0;
    cudaStream_t stream, other_stream;
    cudaEvent_t event, other_event;
    unsigned *d_data = device(400), *d_other, *h_data, host[100];
    hostcuda_set_devices(2);
    hostcuda_set_strict(0);
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&event));
    OK(cudaEventRecord(event, stream));
    OK(cudaHostAlloc((void **)&h_data, 400, cudaHostAllocDefault));
    CHECK(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device_number, 1) == CUDA_SUCCESS, "device 1");
#if CUDA_VERSION >= 13000
    CHECK(cuCtxCreate(&context, NULL, 0, device_number) == CUDA_SUCCESS, "context");
#else
    CHECK(cuCtxCreate(&context, 0, device_number) == CUDA_SUCCESS, "context");
#endif
    OK(cudaGetDevice(&device_number));
    CHECK(device_number == 1, "device %d", device_number);
    OK(cudaStreamCreate(&other_stream));
    OK(cudaEventCreate(&other_event));
    d_other = device(400);
    OK(unit_add(d_other, 1, 100, 0, other_stream));
    OK(cudaMemcpyAsync(h_data, d_other, 400, cudaMemcpyDeviceToHost, other_stream)); /* host memory is everybody's */
    OK(cudaStreamWaitEvent(other_stream, event, 0)); /* and so may waiting be */
    OK(cudaStreamSynchronize(other_stream));

    MISUSE(cudaErrorInvalidResourceHandle, unit_add(d_other, 1, 100, 0, stream));
    MISUSE(cudaErrorIllegalAddress, unit_add(d_data, 1, 100, 0, other_stream));
    MISUSE(cudaErrorIllegalAddress, unit_params((UnitParams){d_data, 0, 0}, 0, 0, other_stream));
    MISUSE(cudaErrorIllegalAddress, unit_add(host, 1, 100, 0, other_stream));
    MISUSE(cudaErrorInvalidValue, cudaMemcpyAsync(d_data, h_data, 400, cudaMemcpyHostToDevice, other_stream));
    MISUSE(cudaErrorInvalidValue, cudaMemcpyAsync(d_other, d_data, 400, cudaMemcpyDeviceToDevice, other_stream));
    MISUSE(cudaErrorInvalidResourceHandle, cudaMemsetAsync(d_other, 0, 400, stream));
    MISUSE(cudaErrorInvalidResourceHandle, cudaEventRecord(event, other_stream));
    OK(cudaEventSynchronize(event)); /* in any context, but not recorded */
    MISUSE(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
    MISUSE(cudaErrorInvalidValue, cudaFree(d_data));
    MISUSE(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
    MISUSE(cudaErrorInvalidResourceHandle, cudaEventDestroy(event));

    CHECK(cuCtxPopCurrent(&popped) == CUDA_SUCCESS && popped == context, "pop");
    MISUSE(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(other_stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
    OK(cudaEventDestroy(event));
    OK(cudaFree(d_data));

    /* the rest goes with its context */
    CHECK(cuCtxPushCurrent(context) == CUDA_SUCCESS, "push");
    CHECK(cuCtxDestroy(context) == CUDA_SUCCESS, "destroy");
    MISUSE(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(other_stream));
    MISUSE(cudaErrorInvalidValue, cudaFree(d_other));
    CHECK(cuCtxPushCurrent(context) == CUDA_ERROR_INVALID_CONTEXT, "a destroyed context can be pushed");
    OK(cudaFreeHost(h_data));
    check_nothing_lives("contexts", 0);

    /* the primary one of a device that the runtime does not use by itself */
    hostcuda_set_devices(3);
    CHECK(cuDevicePrimaryCtxRetain(&context, 2) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&popped, 2) == CUDA_SUCCESS &&
          popped == context, "retain");
    CHECK(cuCtxPushCurrent(context) == CUDA_SUCCESS, "push");
    OK(cudaStreamCreate(&other_stream));
    CHECK(cuCtxPopCurrent(&popped) == CUDA_SUCCESS, "pop");
    CHECK(cuDevicePrimaryCtxRelease(2) == CUDA_SUCCESS && hostcuda_context_device(context) == 2, "released once of twice");
    CHECK(cuDevicePrimaryCtxRelease(2) == CUDA_SUCCESS && hostcuda_context_device(context) == -1, "released");
    CHECK(cuDevicePrimaryCtxRelease(2) == CUDA_ERROR_INVALID_CONTEXT, "released too often");
    check_nothing_lives("released", 0);
    /* pushing can fail, popping cannot but say so; on a lost device both work */
    CUresult(*push)(CUcontext) = NULL;
    OK(cudaGetDriverEntryPointByVersion("cuCtxPushCurrent", (void **)&push, 12000, cudaEnableDefault, NULL));
    MISUSE(cudaErrorInvalidValue,
           cudaGetDriverEntryPointByVersion("cuNothing", (void **)&popped, 12000, cudaEnableDefault, NULL));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS, "retain");
    hostcuda_fail("cuCtxPushCurrent", 1, 0, cudaErrorUnknown);
    CHECK(push(context) == CUDA_ERROR_UNKNOWN && hostcuda_context_current() == NULL, "push");
    hostcuda_fail("cuCtxPopCurrent", 1, 0, cudaErrorUnknown);
    CHECK(push(context) == CUDA_SUCCESS && cuCtxPopCurrent(&popped) == CUDA_ERROR_UNKNOWN, "pop");
    CHECK(hostcuda_context_current() == NULL, "a failed pop leaves its context");
    hostcuda_lose_device(cudaErrorLaunchFailure);
    CHECK(push(context) == CUDA_SUCCESS && cuCtxPopCurrent(&popped) == CUDA_SUCCESS, "push and pop on a lost device");
    hostcuda_fail(NULL, 0, 0, cudaSuccess);
    CHECK(cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS, "release");

    /* other mistakes */
    d_data = device(400);
    MISUSE(cudaErrorInvalidValue, cudaMemcpy(d_data, host, 401, cudaMemcpyHostToDevice));
    MISUSE(cudaErrorInvalidValue, cudaMemcpy(d_data + 1, host, 400, cudaMemcpyHostToDevice));
    MISUSE(cudaErrorInvalidValue, cudaMemcpy(d_data, host, 400, cudaMemcpyDeviceToHost));
    MISUSE(cudaErrorInvalidPitchValue, cudaMemcpy2D(d_data, 8, host, 10, 10, 4, cudaMemcpyHostToDevice));
    MISUSE(cudaErrorInvalidValue, cudaFree(host));
    MISUSE(cudaErrorInvalidValue, cudaFree(d_data + 1));
    MISUSE(cudaErrorInvalidValue, cudaFreeHost(d_data));
    MISUSE(cudaErrorInvalidConfiguration, unit_add(d_data, 1, 0, 0, NULL)); /* an empty grid */
    MISUSE(cudaErrorInvalidConfiguration, unit_neighbour((int *)d_data, 1025, 1, NULL));
    OK(cudaFree(d_data));
    MISUSE(cudaErrorInvalidValue, cudaFree(d_data)); /* a second time */
    hostcuda_set_strict(1);
    hostcuda_set_devices(1);
    cudaGetLastError();
}

/* ---- Threads of the host ---- */

static void *host_thread(void *data)
{
    for (int i = 0; i < (TSAN ? 2 : 20); i++)
        *(bool *)data &= pipeline(true, true, true) == RIGHT;
    return NULL;
}

static void test_host_threads(void)
{
    enum { N = 4 };
    pthread_t threads[N];
    bool right[N];
    hostcuda_set_lazy(1);
    for (int i = 0; i < N; i++) {
        right[i] = true;
        REQUIRE(pthread_create(&threads[i], NULL, host_thread, &right[i]) == 0, "thread %d", i);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        CHECK(right[i], "thread %d", i);
    }
    hostcuda_set_lazy(0);
}

/* ---- What ends the process ---- */

/* In a child: the mistake of that name. Ends with status 0 if nobody minds. */
static int make_mistake(const char *name)
{
    static const char *const diverge[] = {"barrier", "warp", "exited", "masks", "outside", "partial", "trap"};
    unsigned *d_data = device(64 * 4 + (strcmp(name, "overrun-odd") == 0 ? 1 : 0)), host[64];
    for (int i = 0; i <= DIVERGE_TRAP; i++)
        if (strcmp(name, diverge[i]) == 0)
            unit_diverge((int *)d_data, i, NULL);
    if (strncmp(name, "overrun", 7) == 0)
        unit_add(d_data, 0x01010101, 64, 1, NULL);
    else if (strcmp(name, "underrun") == 0)
        unit_add(d_data, 0x01010101, 1, -1, NULL);
    else if (strcmp(name, "shared-overrun") == 0)
        unit_shared_overrun(d_data, 1, NULL);
    else if (strcmp(name, "host-touches-device") == 0)
        host[0] = *(volatile unsigned *)d_data;
    else if (strcmp(name, "host-overruns-device") == 0)
        *(volatile unsigned *)(d_data + 64) = 0, cudaFree(d_data);
    else if (strcmp(name, "freed") == 0)
        cudaFree(d_data), unit_add(d_data, 1, 64, 0, NULL);
    else if (strcmp(name, "host-pointer") == 0)
        unit_add(host, 1, 64, 0, NULL);
    else if (strcmp(name, "second-malloc") == 0) /* the first was d_data */
        fprintf(stderr, "error %d\n", (int)cudaMalloc((void **)&d_data, 4)), exit(1);
    else if (strcmp(name, "race") == 0)
        neighbours_right(0, false);
    else if (strcmp(name, "race-warp") == 0)
        neighbours_right(2, true);
    else if (strcmp(name, "no-mistake") == 0)
        cudaMemcpy(host, d_data, sizeof host, cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    return 0;
}

/* Whether a child that makes the mistake dies, and says so in these words. */
static void check_death(const char *mistake, const char *words)
{
    static char output[1 << 16];
    int pipe_ends[2], status;
    REQUIRE(pipe(pipe_ends) == 0, "pipe");
    const pid_t child = fork();
    REQUIRE(child >= 0, "fork");
    if (child == 0) {
        dup2(pipe_ends[1], STDERR_FILENO);
        close(pipe_ends[0]);
        close(pipe_ends[1]);
        execl("/proc/self/exe", "unit_hostcuda", mistake, (char *)NULL);
        _exit(127);
    }
    close(pipe_ends[1]);
    size_t n = 0;
    for (ssize_t got; n < sizeof output - 1 && (got = read(pipe_ends[0], output + n, sizeof output - 1 - n)) > 0;)
        n += (size_t)got;
    output[n] = '\0';
    close(pipe_ends[0]);
    waitpid(child, &status, 0);
    const bool died = WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
    CHECK(died == (words != NULL), "%s: status %d\n%s", mistake, status, output);
    if (words)
        CHECK(strstr(output, words) != NULL, "%s: the words are missing in\n%s", mistake, output);
}

static void test_deaths(void)
{
    setenv("PNV_HOSTCUDA_SEED", "0", 1); /* which of several complaints comes first depends on it */
    check_death("no-mistake", NULL);
    check_death("barrier", "divergent __syncthreads");
    check_death("warp", "divergent __syncthreads");
    check_death("exited", "have returned");
    check_death("masks", "different masks");
    check_death("outside", "not in its mask");
    check_death("partial", "the block does not have");
    check_death("trap", "__trap() by thread");
    setenv("PNV_HOSTCUDA_FAIL", "cudaMalloc:2:once:46", 1);
    check_death("second-malloc", "error 46");
    setenv("PNV_HOSTCUDA_FAIL", "*:2:sticky", 1);
    check_death("second-malloc", "error 719");
    setenv("PNV_HOSTCUDA_FAIL", "nonsense", 1);
    check_death("second-malloc", "PNV_HOSTCUDA_FAIL=nonsense");
    unsetenv("PNV_HOSTCUDA_FAIL");
    check_death("freed", "is not the device's memory");
    check_death("host-pointer", "is not the device's memory");
    if (ASAN) {
        check_death("overrun", "heap-buffer-overflow");
        check_death("underrun", "heap-buffer-overflow");
        check_death("host-touches-device", "use-after-poison");
        check_death("shared-overrun", "global-buffer-overflow");
    } else if (!TSAN) {
        check_death("host-overruns-device", "cudaFree: wrote outside");
        check_death("overrun", "wrote outside a block of 256 bytes");
        check_death("overrun-odd", "wrote outside a block of 257 bytes");
        check_death("underrun", "wrote outside a block of 256 bytes");
    }
    if (TSAN) {
        check_death("race", "data race");
        check_death("race-warp", "data race");
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return make_mistake(argv[1]);
    hostcuda_set_strict(1);
    hostcuda_set_lazy(0);
    for (int i = 0; i < N_SEEDS; i++) {
        hostcuda_set_seed(seeds[i]);
        test_scan_and_compact();
        test_reduce();
        test_shuffle();
        test_builtins();
        test_indices();
        test_votes_and_params();
        test_shared_is_filled();
        test_missing_barrier(seeds[i]);
        test_streams(seeds[i]);
    }
    test_order_shows();
    test_default_stream();
    test_events_and_queries();
    test_memory();
    test_fault_sweep();
    test_lost_device();
    test_no_device();
    test_contexts();
    test_host_threads();
    check_nothing_lives("end", 0);
    test_deaths();
    CHECK_END();
}
