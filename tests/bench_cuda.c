/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CUDA backend in numbers, for gpu-check.sh: frames from ordinary, page-locked and device memory, beside the rate at
 * which the same bytes can be copied to the device at all; what the host spends on a frame; and the stages of one.
 *
 *     bench_cuda [WxH ...]     1920x1080 3840x2160 7680x4320 without arguments
 */
#include <cuda_runtime_api.h>
#include <time.h>

#include "check.h"
#include "kernels.h"
#include "stream.h"
#include "target.h"

enum { N_PICTURES = 4, MAX_MARKS = 32 };

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t cuda_error = (call);                                                                         \
        REQUIRE(cuda_error == cudaSuccess, "%s: %s", #call, cudaGetErrorString(cuda_error));                           \
    } while (0)

/* Pictures in memory that the device reads itself, or not. */
typedef struct Source {
    TestPicture t[N_PICTURES];
    PnvPicture pic[N_PICTURES], on_device[N_PICTURES];
    void *pinned[N_PICTURES];
    uint8_t *device[N_PICTURES];
    size_t bytes; /* of a frame's samples */
} Source;

static void source_init(Source *s, const PnvParams *params)
{
    s->bytes = raw_frame_bytes(params);
    for (int i = 0; i < N_PICTURES; i++) {
        test_picture_init(&s->t[i], params, FILL_NATURAL, (uint32_t)i);
        CUDA(cudaHostAlloc(&s->pinned[i], s->bytes, cudaHostAllocDefault));
        s->pic[i] = s->t[i].pic;
        uint8_t *to = s->pinned[i];
        for (int c = 0; c < 3; c++) {
            const size_t row = (size_t)s->t[i].width[c] * 2;
            s->pic[i].plane[c] = to;
            s->pic[i].stride[c] = (ptrdiff_t)row;
            for (int y = 0; y < params->height; y++, to += row)
                memcpy(to, (const uint8_t *)s->t[i].pic.plane[c] + y * s->t[i].pic.stride[c], row);
        }
        CUDA(cudaMalloc((void **)&s->device[i], s->bytes));
        CUDA(cudaMemcpy(s->device[i], s->pinned[i], s->bytes, cudaMemcpyHostToDevice));
        s->on_device[i] = s->pic[i];
        s->on_device[i].memory = PNV_MEMORY_CUDA;
        for (int c = 0; c < 3; c++)
            s->on_device[i].plane[c] = s->device[i] + ((const uint8_t *)s->pic[i].plane[c] - (const uint8_t *)s->pinned[i]);
    }
}

static void source_free(Source *s)
{
    for (int i = 0; i < N_PICTURES; i++) {
        CUDA(cudaFreeHost(s->pinned[i]));
        CUDA(cudaFree(s->device[i]));
        test_picture_free(&s->t[i]);
    }
}

/* Seconds that a copy of a frame's bytes to the device takes, many in a row. */
static double copy_time(const Source *s)
{
    cudaStream_t stream;
    void *device;
    const int n = 20;

    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&device, s->bytes));
    double start = 0;
    for (int i = -3; i < n; i++) { /* the first ones warm up */
        if (i == 0) {
            CUDA(cudaStreamSynchronize(stream));
            start = seconds(CLOCK_MONOTONIC);
        }
        CUDA(cudaMemcpyAsync(device, s->pinned[(i + 3) % N_PICTURES], s->bytes, cudaMemcpyHostToDevice, stream));
    }
    CUDA(cudaStreamSynchronize(stream));
    const double time = (seconds(CLOCK_MONOTONIC) - start) / n;
    CUDA(cudaFree(device));
    CUDA(cudaStreamDestroy(stream));
    return time;
}

static PnvEncoder *open_encoder(const PnvParams *params)
{
    char error[PNV_ERROR_BYTES] = "";
    PnvEncoder *enc;

    REQUIRE(pnv_open(&enc, params, error) == PNV_OK, "open: %s", error);
    return enc;
}

typedef struct Run {
    double wall, host; /* seconds a frame; host: of the thread that sends and collects, waiting aside */
    double bytes;
} Run;

typedef enum Memory { PAGEABLE, PINNED, DEVICE, N_MEMORIES } Memory;

static const PnvPicture *picture_in(const Source *s, Memory memory, int i)
{
    return memory == DEVICE ? &s->on_device[i] : memory == PINNED ? &s->pic[i] : &s->t[i].pic;
}

static Run run(const PnvParams *params, const Source *s, Memory memory, int n)
{
    PnvEncoder *enc = open_encoder(params);
    Run r = {0};
    double start = 0, cpu = 0;
    int sent = -N_PICTURES, collected = -N_PICTURES; /* warm up */

    while (collected < n) {
        PnvPacket packet;
        if (sent == 0 && collected == 0 && !start) {
            start = seconds(CLOCK_MONOTONIC);
            cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
        }
        if (sent < n && (sent != 0 || collected == 0)) {
            const int i = (sent + N_PICTURES) % N_PICTURES;
            if (pnv_send(enc, picture_in(s, memory, i)) == PNV_OK) {
                sent++;
                continue;
            }
        }
        REQUIRE(pnv_collect(enc, &packet) == PNV_OK, "collect");
        if (collected++ >= 0)
            r.bytes += (double)packet.size / n;
        pnv_packet_release(&packet);
    }
    r.wall = (seconds(CLOCK_MONOTONIC) - start) / n;
    r.host = (seconds(CLOCK_THREAD_CPUTIME_ID) - cpu) / n;
    pnv_close(&enc);
    return r;
}

/* Events between the stages of a frame. */
static struct {
    const char *stage[MAX_MARKS];
    cudaEvent_t event[MAX_MARKS];
    int n;
} marks;

static void mark(const char *stage, cudaStream_t stream)
{
    if (marks.n == MAX_MARKS)
        return;
    marks.stage[marks.n] = stage;
    CUDA(cudaEventCreate(&marks.event[marks.n]));
    CUDA(cudaEventRecord(marks.event[marks.n++], stream));
}

/* Milliseconds of the other way to the host: a few bytes with the size, a wait, the exact copy, and a second wait. To be
 * held against the stage "deliver" and no wait. */
static double size_first_time(size_t bytes)
{
    cudaStream_t stream;
    cudaEvent_t event;
    void *d_frame, *h_frame, *h_size;
    const int n = 50;
    double start = 0;

    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync));
    CUDA(cudaMalloc(&d_frame, bytes));
    CUDA(cudaHostAlloc(&h_frame, bytes, cudaHostAllocDefault));
    CUDA(cudaHostAlloc(&h_size, 64, cudaHostAllocDefault));
    for (int i = -3; i < n; i++) { /* the first ones warm up */
        if (i == 0)
            start = seconds(CLOCK_MONOTONIC);
        CUDA(cudaMemcpyAsync(h_size, d_frame, 64, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaEventRecord(event, stream));
        CUDA(cudaEventSynchronize(event));
        CUDA(cudaMemcpyAsync(h_frame, d_frame, bytes, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaEventRecord(event, stream));
        CUDA(cudaEventSynchronize(event));
    }
    const double time = 1e3 * (seconds(CLOCK_MONOTONIC) - start) / n;
    CUDA(cudaFreeHost(h_size));
    CUDA(cudaFreeHost(h_frame));
    CUDA(cudaFree(d_frame));
    CUDA(cudaEventDestroy(event));
    CUDA(cudaStreamDestroy(stream));
    return time;
}

/* Of one frame alone on the device. */
static void print_stages(PnvParams params, const Source *s)
{
    PnvEncoder *enc;
    PnvPacket packet;
    size_t bytes = 0;
    float all = 0;

    params.frames_in_flight = 1;
    enc = open_encoder(&params);
    for (int i = 0; i < 3; i++) {
        pnv_cuda_trace = i == 2 ? mark : NULL;
        REQUIRE(pnv_send(enc, &s->pic[i]) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "encode");
        bytes = packet.size;
        pnv_packet_release(&packet);
    }
    pnv_cuda_trace = NULL;
    printf("  stages, ms:");
    for (int i = 1; i < marks.n; i++) {
        float ms = 0;
        CUDA(cudaEventElapsedTime(&ms, marks.event[i - 1], marks.event[i]));
        if (strcmp(marks.stage[i], "upload"))
            all += ms;
        if (ms > 0)
            printf(" %s %.4f,", marks.stage[i], ms);
    }
    printf(" all but the upload %.4f; size first, instead of deliver: %.4f\n", all, size_first_time(bytes));
    for (int i = 0; i < marks.n; i++)
        CUDA(cudaEventDestroy(marks.event[i]));
    marks.n = 0;
    pnv_close(&enc);
}

static void bench(int width, int height, PnvProfile profile, PnvRateControl mode, int is_quick)
{
    PnvParams params = {.width = width, .height = height, .depth = 10, .profile = profile, .fps_n = 25, .fps_d = 1,
                        .chroma = profile >= PNV_PROFILE_4444 ? PNV_CHROMA_444 : PNV_CHROMA_422,
                        .backend = PNV_BACKEND_CUDA, .rate_control = mode};
    const double px = (double)width * height;
    Source s;

    source_init(&s, &params);
    const double copy = copy_time(&s);
    printf("%dx%d %s, %s: the copy of a frame alone takes %.3f ms, %.1f GB/s, %.1f fps at most\n", width, height,
           pnv_profile_name(profile), mode ? "target" : "quantizer 4", 1e3 * copy, 1e-9 * (double)s.bytes / copy, 1 / copy);
    for (int depth = is_quick ? 3 : 1; depth <= (is_quick ? 3 : 4); depth++) {
        for (int memory = PAGEABLE; memory < N_MEMORIES; memory++) {
            static const char *const names[N_MEMORIES] = {"pageable", "pinned", "device"};
            params.frames_in_flight = depth;
            const Run r = run(&params, &s, (Memory)memory, px > 2e7 ? 60 : px > 4e6 ? 120 : 300);
            printf("  depth %d, %-8s %8.1f fps, %6.2f Gpx/s, %5.1f %% of the copy, host %.3f ms, %.0f bytes\n", depth,
                   names[memory], 1 / r.wall, 1e-9 * px / r.wall, 100 * copy / r.wall, 1e3 * r.host,
                   r.bytes);
        }
    }
    print_stages(params, &s);
    source_free(&s);
}

int main(int argc, char **argv)
{
    static const int sizes[][2] = {{1920, 1080}, {3840, 2160}, {7680, 4320}};
    const int is_quick = getenv("PNV_TEST_QUICK") != NULL;
    const PnvParams probe = {.width = 16, .height = 16, .depth = 10, .backend = PNV_BACKEND_CUDA};
    char error[PNV_ERROR_BYTES] = "";
    PnvEncoder *enc;

    if (pnv_open(&enc, &probe, error) != PNV_OK) {
        printf("skipped: %s\n", error);
        return CHECK_SKIP;
    }
    pnv_close(&enc);
    for (int i = 0; i < (argc > 1 ? argc - 1 : 3); i++) {
        int width, height;
        if (argc <= 1) {
            width = sizes[i][0], height = sizes[i][1];
        } else {
            REQUIRE(sscanf(argv[i + 1], "%dx%d", &width, &height) == 2, "%s is not WxH", argv[i + 1]);
        }
        bench(width, height, PNV_PROFILE_HQ, PNV_RATE_CONSTANT_QUANTIZER, is_quick);
        if (is_quick)
            continue;
        bench(width, height, PNV_PROFILE_HQ, PNV_RATE_TARGET, 0);
        bench(width, height, PNV_PROFILE_4444XQ, PNV_RATE_TARGET, 0);
    }
    CHECK_END();
}
