/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CUDA backend: every setting against the CPU, frames in flight, what is said where no device works, and what
 * becomes of frames when CUDA fails, at every call of the runtime in turn. With the argument "full-size" frames of SD
 * and HD.
 */
#include <pthread.h>
#include <sched.h>

#include "check.h"
#include "cuda_twin.h"
#include "profile.h"

#ifdef PNV_CUDA_EMULATED
#include "hostcuda_control.h"
#endif

static PnvParams make_params(PnvProfile profile, int width, int height, int depth)
{
    return (PnvParams){.width = width, .height = height, .chroma = pnv_profile_info(profile)->chroma, .depth = depth,
                       .profile = profile, .fps_n = 25, .fps_d = 1, .threads = 1};
}

/* test_encode() codes on the CPU and hands the frame to the twin, which compares. */
static void compare(const PnvParams *params, Fill fill, uint32_t seed, PnvInterlace interlace)
{
    TestPicture t;

    test_picture_init(&t, params, fill, seed);
    t.pic.interlace = params->height > 1 ? interlace : PNV_PROGRESSIVE;
    TestFrame frame = test_encode(params, &t);
    free(frame.data);
    test_picture_free(&t);
}

/* Roundings, rate modes, depths, ranges, alpha, slices and interlace go round together at awkward sizes. */
static void test_settings(void)
{
    static const int sizes[][2] = {{1, 1}, {16, 16}, {33, 35}, {130, 98}, {72, 49}, {250, 18}};
    static const int depths[] = {8, 10, 12, 16};

    const int n_settings = getenv("PNV_TEST_TINY") ? 24 : 144; /* under compute-sanitizer */

    for (int n = 0; n < n_settings; n++) {
        const PnvProfile profile = (PnvProfile)(PNV_PROFILE_PROXY + n % 6);
        PnvParams params = make_params(profile, sizes[n / 2 % 6][0], sizes[n / 2 % 6][1], depths[n % 4]);
        params.rounding = (PnvRounding)(n / 3 % 3);
        params.rate_control = n % 5 < 2 ? PNV_RATE_TARGET : PNV_RATE_CONSTANT_QUANTIZER;
        params.quantizer = params.rate_control ? 0 : n % 11 + 1;
        params.max_frame_bytes = n % 5 == 2 ? 900 + 40 * (uint32_t)n : 0;
        params.range = (PnvRange)(n % 7 == 0);
        params.alpha_bits = params.chroma == PNV_CHROMA_444 ? n / 6 % 3 * 8 : 0;
        params.mbs_per_slice = 1 << n % 4;
        compare(&params, (Fill)(n / 5 % N_FILLS), (uint32_t)n, (PnvInterlace)(n / 4 % 3));
    }
}

/* More slices than there are samples and a part of them: every phase of the search. */
static void test_search(void)
{
    for (int n = 0; n < 4; n++) {
        PnvParams params = make_params(n % 2 ? PNV_PROFILE_4444 : PNV_PROFILE_HQ, 400, 400, 10);
        params.rate_control = PNV_RATE_TARGET;
        params.mbs_per_slice = 1;
        params.bitrate = 6000 + 9000 * n;
        compare(&params, (Fill)(n % 2), 3, (PnvInterlace)(n % 3));
    }
}

/* Samples of four components in any order and at any distance, and fields in memory of their own. */
static void test_layouts(void)
{
    for (int depth = 8; depth <= 16; depth += 8) {
        for (int alpha = 0; alpha < 2; alpha++) {
            PnvParams params = make_params(PNV_PROFILE_4444, 75, 37, depth);
            TestPicture t;
            params.alpha_bits = alpha * depth;
            test_picture_init_packed(&t, &params, FILL_NATURAL, 9);
            TestFrame frame = test_encode(&params, &t);
            free(frame.data);
            test_picture_free(&t);
        }
    }
    /* every third sample: no format has that, and no region holds it */
    PnvParams wide = make_params(PNV_PROFILE_HQ, 3 * 70, 20, 10), params = make_params(PNV_PROFILE_HQ, 70, 20, 10);
    TestPicture t;
    test_picture_init(&t, &wide, FILL_NATURAL, 5);
    t.params = params;
    t.pic.step[0] = 6;
    t.pic.step[1] = t.pic.step[2] = 4;
    TestFrame frame = test_encode(&params, &t);
    free(frame.data);
    test_picture_free(&t);
    for (int order = PNV_TOP_FIELD_FIRST; order <= PNV_BOTTOM_FIELD_FIRST; order++) {
        params = make_params(PNV_PROFILE_STANDARD, 50, 35, 10);
        test_picture_init(&t, &params, FILL_NATURAL, 6);
        t.pic.interlace = (PnvInterlace)order;
        for (int c = 0; c < 3; c++) { /* the bottom field: the rows between */
            t.pic.bottom[c] = (const uint8_t *)t.pic.plane[c] + t.pic.stride[c];
            t.pic.stride[c] *= 2;
        }
        frame = test_encode(&params, &t);
        free(frame.data);
        test_picture_free(&t);
    }
}

/* Full size, once for each profile: one order of execution, for time's sake. */
static void test_full_size(void)
{
    for (PnvProfile profile = PNV_PROFILE_PROXY; profile <= PNV_PROFILE_4444XQ; profile++) {
        for (int is_hd = 0; is_hd < 2; is_hd++) {
            PnvParams params = is_hd ? make_params(profile, 1920, 1080, 10) : make_params(profile, 720, 486, 10);
            TestPicture t;
            params.rate_control = (int)profile % 2 == is_hd ? PNV_RATE_TARGET : PNV_RATE_CONSTANT_QUANTIZER;
            test_picture_init(&t, &params, FILL_NATURAL, (uint32_t)profile);
            t.pic.interlace = (PnvInterlace)((int)profile % 3);
            void (*const twin)(const PnvParams *, const TestPicture *, const TestFrame *) = test_twin;
            test_twin = NULL;
            TestFrame want = test_encode(&params, &t), got = cuda_twin_encode(&params, &t);
            test_twin = twin;
            CHECK(same_frame(&want, &got), "%s %dx%d: another frame", pnv_profile_name(profile), params.width,
                  params.height);
            free(want.data);
            free(got.data);
            test_picture_free(&t);
        }
    }
}

enum { N_PICTURES = 6 };

/* Six frames of a stream and what the CPU makes of them. */
typedef struct Stream {
    PnvParams params;
    TestPicture t[N_PICTURES];
    TestFrame want[N_PICTURES];
    int n_warnings, n_told_copies;
    char warning[PNV_ERROR_BYTES];
} Stream;

static void stream_init(Stream *s, PnvParams params)
{
    void (*const twin)(const PnvParams *, const TestPicture *, const TestFrame *) = test_twin;

    *s = (Stream){.params = params};
    test_twin = NULL;
    for (int i = 0; i < N_PICTURES; i++) {
        test_picture_init(&s->t[i], &params, (Fill)(i % N_FILLS), (uint32_t)i);
        s->t[i].pic.interlace = (PnvInterlace)(i % 3);
        s->t[i].pic.tag = &s->t[i];
        s->want[i] = test_encode(&params, &s->t[i]);
    }
    test_twin = twin;
}

static void stream_free(Stream *s)
{
    for (int i = 0; i < N_PICTURES; i++) {
        test_picture_free(&s->t[i]);
        free(s->want[i].data);
    }
}

static void note_warning(void *opaque, PnvLogLevel level, const char *text)
{
    Stream *s = opaque;

    if (level <= PNV_LOG_WARNING) {
        s->n_warnings++;
        snprintf(s->warning, sizeof s->warning, "%s", text);
    }
    s->n_told_copies += strstr(text, "each is copied") != NULL;
}

static PnvEncoder *stream_open(Stream *s)
{
    PnvParams params = s->params;
    char error[PNV_ERROR_BYTES] = "";
    PnvEncoder *enc = NULL;

    s->n_warnings = s->n_told_copies = 0;
    params.backend = PNV_BACKEND_CUDA;
    params.log = note_warning;
    params.log_opaque = s;
    if (pnv_open(&enc, &params, error) != PNV_OK)
        snprintf(s->warning, sizeof s->warning, "%s", error);
    return enc;
}

/* All frames come, once, in order, with their bytes. Packets are kept for the caller to release, or released. */
static void stream_run_keeping(Stream *s, PnvEncoder *enc, const char *name, PnvPacket *kept)
{
    int next_out = 0;

    for (int i = 0; next_out < N_PICTURES;) {
        PnvPacket packet;
        if (i < N_PICTURES) {
            const PnvStatus status = pnv_send(enc, &s->t[i].pic);
            CHECK(status == PNV_OK || status == PNV_AGAIN, "%s: picture %d: %s", name, i, pnv_error(enc));
            if (status == PNV_OK) {
                i++;
                continue;
            }
        }
        const PnvStatus status = pnv_collect(enc, &packet);
        CHECK(status == PNV_OK, "%s: picture %d is lost: %s", name, next_out, packet.error);
        CHECK(packet.tag == &s->t[next_out], "%s: picture %d: another one's tag", name, next_out);
        CHECK(same_frame(&s->want[next_out], &(TestFrame){(uint8_t *)packet.data, packet.size}),
              "%s: picture %d: other bytes", name, next_out);
        if (kept)
            kept[next_out] = packet;
        else
            pnv_packet_release(&packet);
        next_out++;
    }
    PnvPacket none;
    CHECK(pnv_collect(enc, &none) == PNV_EMPTY, "%s: more packets than pictures", name);
}

static void stream_run(Stream *s, PnvEncoder *enc, const char *name)
{
    stream_run_keeping(s, enc, name, NULL);
}

/* Frames of every kind in flight together. */
static void test_in_flight(void)
{
    for (int depth = 1; depth <= 5; depth += 2) {
        for (int mode = 0; mode < 2; mode++) {
            PnvParams params = make_params(PNV_PROFILE_4444, 90, 65, 10);
            Stream s;
            params.alpha_bits = 8;
            params.frames_in_flight = depth;
            params.rate_control = (PnvRateControl)mode;
            stream_init(&s, params);
            for (int order = 0; order < cuda_twin_orders(); order++) {
                cuda_twin_set_order(order);
                PnvEncoder *enc = stream_open(&s);
                REQUIRE(enc, "open: %s", s.warning);
                stream_run(&s, enc, "in flight");
                stream_run(&s, enc, "in flight, again");
                pnv_close(&enc);
                CHECK(s.n_warnings == 0, "%s", s.warning);
            }
            cuda_twin_set_order(0);
            stream_free(&s);
        }
    }
}

/* A packet of frame i, kept. */
static PnvPacket next_packet(Stream *s, PnvEncoder *enc, int i)
{
    PnvPacket packet;

    REQUIRE(pnv_send(enc, &s->t[i].pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "encode");
    return packet;
}

static void check_packet(const Stream *s, const PnvPacket *packet, int i, const char *name)
{
    CHECK(same_frame(&s->want[i], &(TestFrame){(uint8_t *)packet->data, packet->size}), "%s: frame %d: other bytes", name, i);
}

enum { SPARE = 4, N_KEPT = 3 * N_PICTURES };

static uint64_t packet_copies(const PnvEncoder *enc)
{
    PnvStats stats;

    pnv_stats(enc, &stats);
    return stats.n_packet_copies;
}

/* Packets are the memory that the device wrote, until as many are out as there are; then they are copies, until some come
 * back. Nothing waits for them, and those that are out outlive the encoder. */
static void test_packets(int quantizer)
{
    PnvParams params = make_params(PNV_PROFILE_HQ, 64, 48, 10);
    PnvPacket kept[N_KEPT];
    Stream s;

    params.quantizer = quantizer; /* 1: frames that are larger than the room that there is at first */
    params.frames_in_flight = 2;
    stream_init(&s, params);
    PnvEncoder *enc = stream_open(&s);
    REQUIRE(enc, "open: %s", s.warning);
    stream_run(&s, enc, "released at once");
    stream_run(&s, enc, "released at once");
    CHECK(packet_copies(enc) == 0, "%d packets were copied", (int)packet_copies(enc));
    for (int round = 0; round < 2; round++) {
        const uint64_t before = packet_copies(enc);
        for (int i = 0; i < N_KEPT; i++) {
            kept[i] = next_packet(&s, enc, i % N_PICTURES);
            const uint64_t copies = packet_copies(enc) - before;
            CHECK((int)copies == (i < SPARE ? 0 : i - SPARE + 1), "%d copies of %d packets", (int)copies, i + 1);
        }
        pnv_packet_release(&kept[2]); /* one place, and one packet more */
        kept[2] = next_packet(&s, enc, 2);
        CHECK(packet_copies(enc) - before == N_KEPT - SPARE, "a buffer that came back was not used");
        for (int i = 0; i < N_KEPT; i++) {
            check_packet(&s, &kept[i], i % N_PICTURES, "kept");
            if (!round)
                pnv_packet_release(&kept[i]);
        }
    }
    pnv_close(&enc);
    for (int i = 0; i < N_KEPT; i++) {
        check_packet(&s, &kept[i], i % N_PICTURES, "kept longer than the encoder");
        pnv_packet_release(&kept[i]);
    }
    CHECK(s.n_warnings == 0, "%s", s.warning);
    stream_free(&s);
}

enum { N_FRAMES = 10 * N_PICTURES };

/* What passes between the threads of test_threads(). */
typedef struct Threads {
    Stream s;
    PnvEncoder *enc;
    PnvPacket packet[N_FRAMES];
    _Atomic int n_collected, is_over;
    _Atomic int n_wrong, n_failed; /* CHECK() belongs to one thread */
} Threads;

static void *collect_all(void *arg)
{
    Threads *t = arg;

    while (t->n_collected < N_FRAMES) {
        const PnvStatus status = pnv_collect(t->enc, &t->packet[t->n_collected]);
        if (status == PNV_EMPTY) {
            sched_yield(); /* the sender is not there yet */
            continue;
        }
        t->n_failed += status != PNV_OK;
        t->n_collected++;
    }
    return NULL;
}

static void *release_all(void *arg)
{
    Threads *t = arg;

    for (int i = 0; i < N_FRAMES; i++) {
        while (t->n_collected <= i)
            sched_yield();
        t->n_wrong += !same_frame(&t->s.want[i % N_PICTURES], &(TestFrame){(uint8_t *)t->packet[i].data, t->packet[i].size});
        pnv_packet_release(&t->packet[i]);
    }
    return NULL;
}

static void *allocate_all(void *arg)
{
    Threads *t = arg;
    PnvStats stats;

    while (!t->is_over) {
        uint8_t *memory = pnv_host_alloc(t->enc, 5000, NULL);
        t->n_failed += !memory;
        pnv_stats(t->enc, &stats);
        pnv_host_free(memory);
        sched_yield();
    }
    return NULL;
}

/* One thread sends and drains, one collects, one releases, one allocates; ThreadSanitizer watches. */
static void test_threads(void)
{
    static Threads t;
    void *(*const work[3])(void *) = {collect_all, release_all, allocate_all};
    pthread_t thread[3];
    PnvParams params = make_params(PNV_PROFILE_LT, 20, 18, 10);

    params.frames_in_flight = 3;
    stream_init(&t.s, params);
    t.enc = stream_open(&t.s);
    REQUIRE(t.enc, "open: %s", t.s.warning);
    for (int i = 0; i < 3; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, work[i], &t), "thread");
    for (int i = 0; i < N_FRAMES;) {
        const PnvStatus status = pnv_send(t.enc, &t.s.t[i % N_PICTURES].pic);
        REQUIRE(status == PNV_OK || status == PNV_AGAIN, "send: %s", pnv_error(t.enc));
        i += status == PNV_OK;
        if (status == PNV_AGAIN)
            sched_yield();
        else if (i % 20 == 0)
            pnv_drain(t.enc);
    }
    pthread_join(thread[0], NULL);
    t.is_over = 1;
    pthread_join(thread[2], NULL);
    pnv_close(&t.enc); /* packets may be out */
    pthread_join(thread[1], NULL);
    CHECK(!t.n_failed && !t.n_wrong && !t.s.n_warnings, "%d failed, %d wrong, %s", t.n_failed, t.n_wrong, t.s.warning);
    stream_free(&t.s);
}

#ifdef PNV_CUDA_EMULATED
/* Objects of the runtime that are alive. */
static unsigned long alive(void)
{
    const HostcudaCounts c = hostcuda_counts();
    return c.live_device + c.live_pinned + c.live_streams + c.live_events;
}

/* What is current in the calling thread stays so. */
static void check_current(HostcudaContext context, const char *name)
{
    CHECK(hostcuda_context_current() == context, "%s: another context is current after a call", name);
}

/* In steady state nothing is allocated, nothing waits for the whole device, and what crosses the bus is what is needed. */
static void test_steady_state(void)
{
    static const char *const forbidden[] = {"cudaMalloc", "cudaHostAlloc", "cudaHostRegister", "cudaFree", "cudaHostUnregister",
                                            "cudaStreamCreateWithFlags", "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaMemcpy"};
    Stream s;
    PnvParams params = make_params(PNV_PROFILE_HQ, 130, 98, 10);

    params.frames_in_flight = 3;
    stream_init(&s, params);
    PnvEncoder *enc = stream_open(&s);
    REQUIRE(enc, "open: %s", s.warning);
    stream_run(&s, enc, "first");
    stream_run(&s, enc, "first"); /* a frame needed more room, which all slots then get */
    hostcuda_clear_calls();
    stream_run(&s, enc, "steady");
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        CHECK(hostcuda_calls(forbidden[i]) == 0, "%s is called in steady state", forbidden[i]);
    CHECK(packet_copies(enc) == 0, "packets are copied");
    const HostcudaCounts c = hostcuda_counts();
    CHECK(c.device_waits == 0 && c.pageable == 0 && c.misuse == 0, "%lu waits, %lu pageable, %lu misuse", c.device_waits,
          c.pageable, c.misuse);
    CHECK(hostcuda_calls("cudaEventSynchronize") == N_PICTURES, "%lu waits for %d frames",
          hostcuda_calls("cudaEventSynchronize"), N_PICTURES);
    printf("a frame takes %lu calls, %lu of them launches\n", hostcuda_calls(NULL) / N_PICTURES, c.kernels / N_PICTURES);
    /* a packet is memory that the device wrote, and when the encoder is closed, ordinary memory */
    struct cudaPointerAttributes attributes;
    PnvPacket packet = next_packet(&s, enc, 0);
    CHECK(cudaPointerGetAttributes(&attributes, packet.data) == cudaSuccess && attributes.type == cudaMemoryTypeHost,
          "a packet is not page-locked");
    pnv_close(&enc);
    CHECK(alive() == 0, "%lu objects of the runtime are left", alive());
    check_packet(&s, &packet, 0, "after the encoder");
    pnv_packet_release(&packet);
    CHECK(alive() == 0, "%lu objects of the runtime are left", alive());
    stream_free(&s);
}

/* A picture in page-locked memory is not copied on the host; in the library's own it is that until the encoder closes. */
static void test_pinned(int is_ours)
{
    PnvParams params = make_params(PNV_PROFILE_HQ, 130, 98, 10);
    TestPicture t;
    void *pinned;
    PnvPacket packet;
    Stream s = {.params = params};

    test_picture_init(&t, &params, FILL_NATURAL, 4);
    TestFrame want = test_encode(&params, &t);
    PnvEncoder *enc = stream_open(&s);
    REQUIRE(enc, "open: %s", s.warning);
    if (is_ours) {
        int is_pinned = 0;
        pinned = pnv_host_alloc(enc, 3 * 64000, &is_pinned);
        CHECK(pinned && is_pinned, "pinned memory");
    } else {
        REQUIRE(cudaHostAlloc(&pinned, 3 * 64000, cudaHostAllocDefault) == cudaSuccess, "pinned memory");
    }
    PnvPicture pic = t.pic;
    for (int c = 0; c < 3; c++) {
        uint8_t *to = (uint8_t *)pinned + 64000 * c;
        const size_t row = (size_t)t.width[c] * 2;
        for (int y = 0; y < params.height; y++)
            memcpy(to + (size_t)y * 512, (const uint8_t *)t.pic.plane[c] + y * t.pic.stride[c], row);
        pic.plane[c] = to;
        pic.stride[c] = 512;
    }
    hostcuda_clear_calls();
    REQUIRE(pnv_send(enc, &pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "encode");
    CHECK(same_frame(&want, &(TestFrame){(uint8_t *)packet.data, packet.size}), "pinned: other bytes");
    CHECK(hostcuda_calls("cudaMemcpy2DAsync") == 3 && hostcuda_calls("cudaMemcpyAsync") == 0, "pinned memory was copied");
    pnv_packet_release(&packet);
    PnvStats stats;
    pnv_stats(enc, &stats);
    CHECK(stats.n_frames == 1 && stats.n_staging_copies == 0, "%d staging copies", (int)stats.n_staging_copies);
    REQUIRE(pnv_send(enc, &t.pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "encode");
    pnv_packet_release(&packet);
    pnv_stats(enc, &stats);
    CHECK(stats.n_frames == 2 && stats.n_staging_copies == 1, "%d staging copies", (int)stats.n_staging_copies);
    pnv_close(&enc);
    if (is_ours)
        pnv_host_free(pinned);
    else
        CHECK(cudaFreeHost(pinned) == cudaSuccess, "free");
    CHECK(alive() == 0, "%lu objects of the runtime are left", alive());
    free(want.data);
    test_picture_free(&t);
}

/* A picture on the device: no copy at all; and what becomes of it where CUDA fails. */
static void test_device_memory(void)
{
    PnvParams params = make_params(PNV_PROFILE_HQ, 131, 98, 10);
    TestPicture t;
    uint8_t *device = NULL;
    PnvPacket packet;
    Stream s = {.params = params};

    test_picture_init(&t, &params, FILL_NATURAL, 4);
    TestFrame want = test_encode(&params, &t);
    REQUIRE(cudaMalloc((void **)&device, 3 * 64000) == cudaSuccess, "device memory");
    PnvPicture pic = t.pic;
    pic.memory = PNV_MEMORY_CUDA;
    for (int c = 0; c < 3; c++) {
        const size_t stride = c == 1 ? 390 : 512; /* pairs are aligned, or not */
        pic.plane[c] = device + 64000 * c + 2 * c;
        pic.stride[c] = (ptrdiff_t)stride;
        REQUIRE(cudaMemcpy2D(device + 64000 * c + 2 * c, stride, t.pic.plane[c], (size_t)t.pic.stride[c],
                             (size_t)t.width[c] * 2, (size_t)params.height, cudaMemcpyHostToDevice) == cudaSuccess, "copy");
    }
    for (int fault = 0; fault < 4; fault++) {
        PnvEncoder *enc = stream_open(&s);
        REQUIRE(enc, "open: %s", s.warning);
        hostcuda_clear_calls();
        if (fault == 1) /* once: the picture is brought to the host */
            hostcuda_fail("cudaEventSynchronize", 1, 0, cudaSuccess);
        if (fault >= 2) /* for good, while queueing and while waiting: it is lost, and said to be */
            hostcuda_fail(fault == 2 ? "cudaMemsetAsync" : "cudaEventSynchronize", 1, 1, cudaErrorIllegalAddress);
        REQUIRE(pnv_send(enc, &pic) == PNV_OK, "send: %s", pnv_error(enc));
        const PnvStatus status = pnv_collect(enc, &packet);
        if (fault < 2) {
            CHECK(status == PNV_OK && same_frame(&want, &(TestFrame){(uint8_t *)packet.data, packet.size}),
                  "fault %d: status %d, or other bytes", fault, (int)status);
        } else {
            CHECK(status == PNV_ENODEV && packet.error && !packet.data && packet.tag == pic.tag, "fault %d: status %d",
                  fault, (int)status);
        }
        CHECK(fault || hostcuda_calls("cudaMemcpyAsync") + hostcuda_calls("cudaMemcpy2DAsync") == 0, "it was copied");
        CHECK(s.n_warnings == (fault > 0), "fault %d: %d warnings", fault, s.n_warnings);
        pnv_packet_release(&packet);
        if (fault == 1) { /* from now on it comes by the host each time */
            REQUIRE(pnv_send(enc, &pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "after a failure");
            CHECK(same_frame(&want, &(TestFrame){(uint8_t *)packet.data, packet.size}), "after a failure: other bytes");
            pnv_packet_release(&packet);
        }
        hostcuda_fail(NULL, 0, 0, cudaSuccess);
        hostcuda_lose_device(cudaSuccess);
        pnv_close(&enc);
    }
    CHECK(cudaFree(device) == cudaSuccess, "free");
    free(want.data);
    test_picture_free(&t);
}

/* Where a picture on a device lives, beside an encoder in the primary context of device 0. */
typedef enum Home { HOME_HERE, HOME_POOL, HOME_CONTEXT, HOME_DEVICE, HOME_POOL_OF_DEVICE, N_HOMES } Home;

/* What fills pictures there, in its own time: nothing of it has happened before its event. */
typedef struct Producer {
    HostcudaContext context; /* NULL: the primary one of device 0 */
    cudaStream_t stream;
    cudaEvent_t event;
    uint8_t *host, *device;
    size_t bytes;
    PnvPicture pic;
} Producer;

static void producer_enter(const Producer *p)
{
    if (p->context)
        hostcuda_context_push(p->context);
}

static void producer_leave(const Producer *p)
{
    if (p->context)
        hostcuda_context_pop();
}

static void producer_init(Producer *p, const TestPicture *t, Home home)
{
    *p = (Producer){.pic = t->pic};
    if (home == HOME_CONTEXT || home >= HOME_DEVICE) {
        p->context = hostcuda_context_create(home >= HOME_DEVICE);
        hostcuda_context_pop();
    }
    for (int c = 0; c < 3; c++)
        p->bytes += (size_t)t->pic.stride[c] * (size_t)t->params.height;
    producer_enter(p);
    REQUIRE(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking) == cudaSuccess &&
            cudaEventCreateWithFlags(&p->event, cudaEventDisableTiming) == cudaSuccess &&
            cudaHostAlloc((void **)&p->host, p->bytes, cudaHostAllocDefault) == cudaSuccess &&
            (home == HOME_POOL || home == HOME_POOL_OF_DEVICE ? cudaMallocAsync((void **)&p->device, p->bytes, p->stream)
                                                              : cudaMalloc((void **)&p->device, p->bytes)) == cudaSuccess,
            "producer");
    producer_leave(p);
    size_t at = 0;
    for (int c = 0; c < 3; c++) {
        const size_t bytes = (size_t)t->pic.stride[c] * (size_t)t->params.height;
        memcpy(p->host + at, t->pic.plane[c], bytes - (size_t)t->pic.stride[c] + (size_t)t->width[c] * 2);
        p->pic.plane[c] = p->device + at;
        at += bytes;
    }
    p->pic.memory = PNV_MEMORY_CUDA;
}

/* Queue the filling of the picture, which was not filled before. */
static void producer_run(Producer *p)
{
    producer_enter(p);
    REQUIRE(cudaMemsetAsync(p->device, 0x11, p->bytes, p->stream) == cudaSuccess &&
            cudaStreamSynchronize(p->stream) == cudaSuccess &&
            cudaMemcpyAsync(p->device, p->host, p->bytes, cudaMemcpyHostToDevice, p->stream) == cudaSuccess &&
            cudaEventRecord(p->event, p->stream) == cudaSuccess, "producer");
    producer_leave(p);
}

static void producer_free(Producer *p)
{
    producer_enter(p);
    (void)cudaStreamDestroy(p->stream);
    (void)cudaEventDestroy(p->event);
    (void)cudaFree(p->device);
    (void)cudaFreeHost(p->host);
    producer_leave(p);
    if (p->context)
        hostcuda_context_destroy(p->context);
}

static PnvStatus encode_from(Producer *p, PnvEncoder *enc, PnvPacket *packet)
{
    producer_run(p);
    REQUIRE(pnv_send(enc, &p->pic) == PNV_OK, "send: %s", pnv_error(enc));
    return pnv_collect(enc, packet);
}

/* Pictures on a device are waited for by their event, and copied, with a warning, where kernels cannot reach them; each
 * call that fails once changes nothing but who does the work, and one that fails for good may lose the frame. */
static void test_foreign_memory(void)
{
    static const char *const names[N_HOMES] = {"here", "pool", "context", "device", "pool of a device"};
    PnvParams params = make_params(PNV_PROFILE_HQ, 20, 18, 10);
    Stream s = {.params = params};
    TestPicture t;

    test_picture_init(&t, &params, FILL_NATURAL, 4);
    TestFrame want = test_encode(&params, &t);
    hostcuda_set_devices(2);
    hostcuda_set_lazy(1);
    for (Home home = HOME_HERE; home < N_HOMES; home++) {
        const int is_foreign = home >= HOME_CONTEXT;
        Producer p;
        PnvPacket packet;
        PnvStats stats;
        producer_init(&p, &t, home);
        const unsigned long n_alive = alive();
        PnvEncoder *enc = stream_open(&s);
        REQUIRE(enc, "open: %s", s.warning);
        hostcuda_clear_calls();
        CHECK(encode_from(&p, enc, &packet) == PNV_OK, "%s: %s", names[home], packet.error);
        CHECK(!same_frame(&want, &(TestFrame){(uint8_t *)packet.data, packet.size}), "%s: filled before its event", names[home]);
        pnv_packet_release(&packet);
        p.pic.cuda_event = p.event;
        const unsigned long first = hostcuda_calls(NULL) + 1;
        for (int i = 0; i < 2; i++) {
            CHECK(encode_from(&p, enc, &packet) == PNV_OK, "%s: %s", names[home], packet.error);
            CHECK(same_frame(&want, &(TestFrame){(uint8_t *)packet.data, packet.size}), "%s: other bytes", names[home]);
            pnv_packet_release(&packet);
        }
        const unsigned long n_calls = (hostcuda_calls(NULL) + 1 - first) / 2;
        pnv_stats(enc, &stats);
        CHECK((int)stats.n_device_copies == 3 * is_foreign && !stats.n_cpu_fallback, "%s: %d copies", names[home],
              (int)stats.n_device_copies);
        CHECK(s.n_told_copies == is_foreign && !s.n_warnings, "%s: told %d times; %s", names[home], s.n_told_copies,
              s.warning);
        pnv_close(&enc);
        for (unsigned long n = 5; n <= n_calls; n++) { /* four are the producer's */
            for (int sticky = 0; sticky < 2; sticky++) {
                enc = stream_open(&s);
                REQUIRE(enc, "open: %s", s.warning);
                hostcuda_fail("*", n, sticky, cudaSuccess);
                const PnvStatus status = encode_from(&p, enc, &packet);
                if (status == PNV_OK)
                    CHECK(same_frame(&want, &(TestFrame){(uint8_t *)packet.data, packet.size}), "%s: call %lu fails: other bytes",
                          names[home], n);
                else
                    CHECK(sticky && status == PNV_ENODEV && packet.error, "%s: call %lu fails once: %s", names[home], n,
                          packet.error);
                pnv_packet_release(&packet);
                hostcuda_fail(NULL, 0, 0, cudaSuccess);
                pnv_close(&enc);
                CHECK(alive() == n_alive, "%s: call %lu fails: %lu objects of the runtime are left", names[home], n,
                      alive() - n_alive);
            }
        }
        producer_free(&p);
        CHECK(alive() == 0, "%s: %lu objects of the runtime are left", names[home], alive());
    }
    hostcuda_set_lazy(0);
    hostcuda_set_devices(1);
    free(want.data);
    test_picture_free(&t);
}

/* Open, encode, close; whether it opened. */
static int run_once(Stream *s, const char *name, int keeps, unsigned long *n_open)
{
    PnvPacket kept[N_PICTURES] = {{0}};
    PnvStats stats;
    PnvEncoder *enc = stream_open(s);

    if (n_open)
        *n_open = hostcuda_calls(NULL);
    if (!enc)
        return 0;
    stream_run_keeping(s, enc, name, keeps ? kept : NULL);
    pnv_stats(enc, &stats);
    CHECK(stats.n_frames == N_PICTURES && (stats.n_cpu_fallback > 0) == (s->n_warnings > 0), "%s: %d by the CPU", name,
          (int)stats.n_cpu_fallback);
    CHECK(s->n_warnings <= 1 && (!s->n_warnings || strstr(s->warning, "CUDA failed: ")), "%s: %d warnings, %s", name,
          s->n_warnings, s->warning);
    pnv_close(&enc);
    for (int i = 0; keeps && i < N_PICTURES; i++) {
        check_packet(s, &kept[i], i, name);
        pnv_packet_release(&kept[i]);
    }
    return 1;
}

/* Under sanitizers every third call fails. */
static unsigned long sweep_step(void)
{
    return getenv("PNV_TEST_SMALL") ? 3 : 1;
}

/* Each call of the runtime fails, once and from then on; the result is the same every time. */
static void sweep_calls(Stream *s, const char *what, int sweeps_open, int keeps)
{
    unsigned long n_open, n_calls;
    int n_told = 0;

    hostcuda_clear_calls();
    run_once(s, what, keeps, &n_open);
    n_calls = hostcuda_calls(NULL);
    for (unsigned long n = sweeps_open ? 1 : n_open + 1; n <= n_calls; n += sweep_step()) {
        for (int sticky = 0; sticky < 2; sticky++) {
            char name[80];
            snprintf(name, sizeof name, "%s, call %lu of %lu fails %s", what, n, n_calls, sticky ? "for good" : "once");
            hostcuda_fail("*", n, sticky, cudaSuccess);
            if (!run_once(s, name, keeps, NULL)) /* it says why, and the caller takes the CPU */
                CHECK(n <= n_open && strstr(s->warning, "CUDA"), "%s: open: %s", name, s->warning);
            n_told += s->n_warnings;
            hostcuda_fail(NULL, 0, 0, cudaSuccess);
            check_current(NULL, name);
            CHECK(alive() == 0, "%s: %lu objects of the runtime are left", name, alive());
        }
    }
    CHECK(n_told > 20, "%s: %d faults were told", what, n_told);
}

/* Operations that fail when they run. */
static void sweep_operations(Stream *s, const char *what)
{
    for (unsigned long n = 1; n <= 60; n += sweep_step()) {
        char name[80];
        snprintf(name, sizeof name, "%s, operation %lu fails", what, n);
        hostcuda_fail("exec", n, 1, cudaErrorIllegalAddress);
        run_once(s, name, 0, NULL);
        hostcuda_fail(NULL, 0, 0, cudaSuccess);
    }
}

static void test_fault_sweep(void)
{
    Stream s;
    PnvParams params = make_params(PNV_PROFILE_HQ, 20, 18, 10);

    params.frames_in_flight = 3;
    for (int mode = 0; mode < 4; mode++) {
        static const char *const names[] = {"eager", "target, eager", "lazy", "target, lazy"};
        params.rate_control = (PnvRateControl)(mode & 1);
        stream_init(&s, params);
        hostcuda_set_lazy(mode >> 1);
        sweep_calls(&s, names[mode], mode == 0, mode == 2);
        sweep_operations(&s, names[mode]);
        hostcuda_set_lazy(0);
        stream_free(&s);
    }
    /* output that grows, in a context of the caller's */
    params = make_params(PNV_PROFILE_HQ, 64, 48, 10);
    params.quantizer = 1;
    params.frames_in_flight = 2;
    stream_init(&s, params);
    hostcuda_set_devices(2);
    s.params.cuda_context = hostcuda_context_create(1);
    hostcuda_context_pop();
    sweep_calls(&s, "larger frames", 1, 0);
    hostcuda_clear_calls();
    PnvEncoder *enc = stream_open(&s);
    const unsigned long n_open = hostcuda_calls("cudaHostRegister");
    stream_run(&s, enc, "larger frames");
    CHECK(hostcuda_calls("cudaHostRegister") > n_open, "no output has grown");
    pnv_close(&enc);
    hostcuda_context_destroy(s.params.cuda_context);
    hostcuda_set_devices(1);
    stream_free(&s);
}

/* What is said where no device works, and that the automatic choice then is the CPU. */
static void test_no_device(void)
{
    static const struct { int devices, driver, id; size_t memory; PnvStatus status; const char *words[2]; } cases[] = {
        {0, 13000, 0, 1 << 30, PNV_ENODEV, {"no NVIDIA GPU", "cpu backend"}},
        {1, 0, 0, 1 << 30, PNV_ENODEV, {"no NVIDIA driver", "cpu backend"}},
        {1, 11040, 0, 1 << 30, PNV_ENODEV, {"too old: it knows CUDA 11.4", "cpu backend"}},
        {1, 13000, 3, 1 << 30, PNV_ENODEV, {"cuda_device_id 3 does not exist", "cpu backend"}},
        {1, 13000, 0, 20000, PNV_ENOMEM, {"memory", "cpu backend"}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PnvParams params = make_params(PNV_PROFILE_HQ, 130, 98, 10);
        char error[PNV_ERROR_BYTES] = "";
        PnvEncoder *enc = NULL;
        hostcuda_set_devices(cases[i].devices);
        hostcuda_set_driver(cases[i].driver);
        hostcuda_set_memory(cases[i].memory);
        params.cuda_device_id = cases[i].id;
        params.backend = PNV_BACKEND_CUDA;
        const PnvStatus status = pnv_open(&enc, &params, error);
        CHECK(status == cases[i].status && !enc, "case %zu: status %d", i, (int)status);
        for (int w = 0; w < 2; w++)
            CHECK(strstr(error, cases[i].words[w]), "case %zu: \"%s\" lacks \"%s\"", i, error, cases[i].words[w]);
        params.backend = PNV_BACKEND_AUTO;
        CHECK(pnv_open(&enc, &params, error) == PNV_OK && !strcmp(pnv_backend_name(enc), "cpu"), "case %zu: auto", i);
        pnv_close(&enc);
        CHECK(alive() == 0, "case %zu: %lu objects of the runtime are left", i, alive());
        hostcuda_reset();
    }
}

/* The context that is given, or that is current on the device asked for, or the primary one of that. The emulated runtime
 * ends the process where objects of different contexts meet. */
static void test_contexts(void)
{
    PnvParams params = make_params(PNV_PROFILE_HQ, 50, 40, 10);
    Stream s;

    hostcuda_set_devices(2);
    params.frames_in_flight = 2;
    stream_init(&s, params);
    for (int how = 0; how < 3; how++) {
        static const char *const names[] = {"given", "current", "current on another device"};
        HostcudaContext context = hostcuda_context_create(1);
        REQUIRE(context, "context");
        if (how == 0)
            hostcuda_context_pop();
        s.params.cuda_context = how == 0 ? context : NULL;
        s.params.cuda_device_id = how == 1;
        const HostcudaContext current = hostcuda_context_current();
        PnvEncoder *enc = stream_open(&s);
        REQUIRE(enc, "open: %s", s.warning);
        check_current(current, names[how]);
        CHECK(pnv_params(enc)->cuda_device_id == (how < 2), "%s: device %d", names[how], pnv_params(enc)->cuda_device_id);
        int is_pinned = 0;
        uint8_t *memory = pnv_host_alloc(enc, 10000, &is_pinned);
        CHECK(memory && is_pinned, "%s: memory", names[how]);
        if (how == 1) /* it need not stay so */
            hostcuda_context_pop();
        stream_run(&s, enc, names[how]);
        check_current(how == 2 ? current : NULL, names[how]);
        pnv_host_free(memory);
        /* everything is the context's: with it goes everything, and the rest of the stream comes from the CPU */
        REQUIRE(pnv_send(enc, &s.t[0].pic) == PNV_OK && pnv_send(enc, &s.t[1].pic) == PNV_OK, "send");
        PnvPacket packet[2];
        REQUIRE(pnv_collect(enc, &packet[0]) == PNV_OK, "collect");
        memory = pnv_host_alloc(enc, 10000, &is_pinned);
        memset(memory, 1, 10000);
        CHECK(hostcuda_context_destroy(context) == 0, "destroy");
        CHECK(how == 2 || alive() == 0, "%s: %lu objects are not the context's", names[how], alive());
        CHECK(memory[9999] == 1, "%s: memory", names[how]);
        REQUIRE(pnv_collect(enc, &packet[1]) == PNV_OK, "collect: %s", packet[1].error);
        for (int i = 0; i < 2; i++) {
            CHECK(same_frame(&s.want[i], &(TestFrame){(uint8_t *)packet[i].data, packet[i].size}), "%s: packet %d", names[how], i);
            pnv_packet_release(&packet[i]);
        }
        stream_run(&s, enc, names[how]);
        uint8_t *more = pnv_host_alloc(enc, 5000, &is_pinned);
        CHECK(more && is_pinned == (how == 2), "%s: memory after its context", names[how]);
        CHECK(s.n_warnings == (how < 2) && (how == 2 || strstr(s.warning, "invalid device context")), "%s: %s", names[how],
              s.warning);
        pnv_host_free(more);
        pnv_close(&enc);
        pnv_host_free(memory);
        CHECK(alive() == 0, "%s: %lu objects of the runtime are left", names[how], alive());
        if (how == 0) {
            CHECK(!stream_open(&s) && strstr(s.warning, "cuda_context") && strstr(s.warning, "cpu backend"),
                  "a destroyed context: %s", s.warning);
        }
    }
    stream_free(&s);
    hostcuda_set_devices(1);
}

/* Two devices, and encoders that share one. */
static void test_devices(void)
{
    Stream s[3];
    PnvEncoder *enc[3];

    hostcuda_set_devices(2);
    for (int i = 0; i < 3; i++) {
        PnvParams params = make_params(PNV_PROFILE_LT, 50, 40, 10);
        params.cuda_device_id = i % 2;
        params.quantizer = i + 1;
        stream_init(&s[i], params);
        enc[i] = stream_open(&s[i]);
        REQUIRE(enc[i], "open: %s", s[i].warning);
    }
    for (int i = 0; i < 3; i++) {
        int own = -1;
        stream_run(&s[i], enc[i], "devices");
        CHECK(cudaGetDevice(&own) == cudaSuccess && own == 0, "the caller's device is %d", own);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(s[i].n_warnings == 0, "%s", s[i].warning);
        pnv_close(&enc[i]);
        stream_free(&s[i]);
    }
    hostcuda_set_devices(1);
}
#endif

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "full-size")) {
        test_full_size();
        CHECK_END();
    }
    test_settings();
    test_threads();
    if (getenv("PNV_TEST_TINY"))
        CHECK_END();
    test_search();
    test_layouts();
    test_in_flight();
    test_packets(8);
    test_packets(1);
#ifdef PNV_CUDA_EMULATED
    test_steady_state();
    test_pinned(0);
    test_pinned(1);
    test_device_memory();
    test_foreign_memory();
    test_contexts();
    test_devices();
    test_no_device();
    test_fault_sweep();
#endif
    CHECK_END();
}
