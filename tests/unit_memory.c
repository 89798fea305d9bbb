/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An encoder without memory: each thing it allocates and each thread it starts is refused once, and all from there on.
 * Opening then fails and leaves nothing behind, or the frames that had no memory are lost, each by its own packet, and
 * all others are the same bytes as ever. With memory, it asks for none once it knows the stream. The linker puts the
 * functions here in front of the allocator's.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"
#include "stream.h"

enum { N_PICTURES = 4 };

/* Allocations and threads asked for since may_have(); those up to it are granted, then so many refused. */
static atomic_int n_asked, n_live;
static int n_granted = INT_MAX, n_refused;

static void may_have(int granted, int refused)
{
    n_asked = 0;
    n_granted = granted;
    n_refused = refused;
}

static int is_refused(void)
{
    const int behind = atomic_fetch_add(&n_asked, 1) - n_granted;

    return behind >= 0 && behind < n_refused;
}

typedef void *StartRoutine(void *arg);

/* The linker's names: what a call means, and what it gets. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void __real_free(void *memory);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, StartRoutine *start, void *arg);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
void __wrap_free(void *memory);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, StartRoutine *start, void *arg);

static void *counted(void *memory)
{
    n_live += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return is_refused() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return is_refused() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    if (is_refused())
        return NULL;
    return memory ? __real_realloc(memory, size) : counted(__real_realloc(NULL, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return is_refused() ? NULL : counted(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (is_refused())
        return ENOMEM;
    const int error = __real_posix_memalign(memory, alignment, size);
    n_live += !error;
    return error;
}

void __wrap_free(void *memory)
{
    n_live -= memory != NULL;
    __real_free(memory);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, StartRoutine *start, void *arg)
{
    return is_refused() ? EAGAIN : __real_pthread_create(thread, attributes, start, arg);
}

/* Pictures that take ever more memory, and what they are coded to. */
typedef struct Job {
    PnvParams params;
    TestPicture t[N_PICTURES];
    TestFrame want[N_PICTURES];
} Job;

/* Code them all, keeping the packets. Returns how many were lost. */
static int code_all(const Job *job, PnvEncoder *enc, PnvPacket packet[N_PICTURES], const char *name)
{
    int n_sent = 0, n_lost = 0;

    for (int i = 0; i < N_PICTURES; i++) {
        while (n_sent < N_PICTURES && pnv_send(enc, &job->t[n_sent].pic) == PNV_OK)
            n_sent++;
        const PnvStatus status = pnv_collect(enc, &packet[i]);
        const PnvPacket *p = &packet[i];
        if (status == PNV_OK) {
            const TestFrame got = {(uint8_t *)p->data, p->size};
            CHECK(!p->error && same_frame(&got, &job->want[i]), "%s: picture %d", name, i);
            continue;
        }
        CHECK(status == PNV_ENOMEM && p->error && !p->data && !p->size && !p->owner, "%s: picture %d is lost with %d",
              name, i, status);
        n_lost++;
    }
    return n_lost;
}

/* Returns whether so many were not enough. */
static int try_with(const Job *job, int granted, int refused, const char *name)
{
    const int n_live_before = n_live;
    PnvPacket packet[2 * N_PICTURES] = {{0}};
    char error[PNV_ERROR_BYTES] = "";
    PnvEncoder *enc;

    may_have(granted, refused);
    const PnvStatus status = pnv_open(&enc, &job->params, error);
    if (status == PNV_OK) {
        CHECK(n_asked <= granted, "%s: opened without memory", name);
        const int n_lost = code_all(job, enc, packet, name);
        CHECK((n_asked > granted) == (n_lost > 0), "%s: %d frames are lost", name, n_lost);
    } else {
        CHECK(status == PNV_ENOMEM && !enc && error[0], "%s: open gives %d \"%s\"", name, status, error);
    }
    const int is_short = n_asked > granted;
    may_have(INT_MAX, 0);
    if (enc)
        CHECK(code_all(job, enc, packet + N_PICTURES, name) == 0, "%s: frames are lost with memory", name);
    pnv_close(&enc);
    for (int i = 0; i < 2 * N_PICTURES; i++)
        pnv_packet_release(&packet[i]);
    CHECK(n_live == n_live_before, "%s: %d left behind", name, n_live - n_live_before);
    return is_short;
}

/* In steady state nothing is allocated. One frame at a time: else any of them can come to any packet's memory first. */
static void check_steady(const Job *job, const char *name)
{
    enum { WARM = 6, ROUNDS = 8 };
    PnvParams params = job->params;
    PnvPacket packet[N_PICTURES];
    PnvEncoder *enc;

    params.frames_in_flight = 1;
    REQUIRE(pnv_open(&enc, &params, NULL) == PNV_OK, "%s: open", name);
    for (int round = 0; round < ROUNDS; round++) {
        if (round == WARM)
            may_have(INT_MAX, 0);
        CHECK(code_all(job, enc, packet, name) == 0, "%s: frames are lost with memory", name);
        for (int i = 0; i < N_PICTURES; i++)
            pnv_packet_release(&packet[i]);
    }
    CHECK(n_asked == 0, "%s: %d allocations in steady state", name, n_asked);
    pnv_close(&enc);
}

static void test_memory(const PnvParams *params, const char *name)
{
    static const Fill fills[N_PICTURES] = {FILL_FLAT, FILL_NATURAL, FILL_NOISE, FILL_CHECKS};
    PnvParams alone = *params;
    Job job = {.params = *params};

    alone.threads = alone.frames_in_flight = 1;
    for (int i = 0; i < N_PICTURES; i++) {
        test_picture_init(&job.t[i], params, fills[i], (uint32_t)i);
        test_picture_fill_alpha(&job.t[i], i < 2 ? ALPHA_OPAQUE : ALPHA_NOISE, 1);
        job.t[i].pic.interlace = (PnvInterlace)(i % 3);
        job.want[i] = test_encode(&alone, &job.t[i]);
    }
    check_steady(&job, name);
    for (int i = 0; i < 2; i++) {
        int granted = 0;
        while (try_with(&job, granted, i ? INT_MAX : 1, name))
            granted++;
        CHECK(granted > 10, "%s: asks for memory only %d times", name, granted);
    }
    for (int i = 0; i < N_PICTURES; i++) {
        free(job.want[i].data);
        test_picture_free(&job.t[i]);
    }
}

int main(void)
{
    static const char *const modes[] = {"constant", "maximum", "target"};

    for (int mode = 0; mode < 3; mode++) {
        for (int threads = 1; threads <= 3; threads += 2) {
            PnvParams params = {.width = 130, .height = 70, .chroma = PNV_CHROMA_444, .depth = 10, .alpha_bits = 16,
                                .quantizer = 2, .backend = PNV_BACKEND_CPU, .threads = threads, .frames_in_flight = 2};
            char name[64];
            if (mode == 1)
                params.max_frame_bytes = 40000;
            if (mode == 2)
                params.rate_control = PNV_RATE_TARGET;
            snprintf(name, sizeof name, "%s, %d threads", modes[mode], threads);
            test_memory(&params, name);
        }
    }
    CHECK_END();
}
