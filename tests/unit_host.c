/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pnv_host_alloc(): what its memory is, and how long it lives; and pnv_stats(). */
#include <pthread.h>
#include <stdint.h>

#include "check.h"
#include "hostmem.h"

static const PnvParams small = {.width = 64, .height = 48, .depth = 10, .backend = PNV_BACKEND_CPU};

/* Pins that only note what they are asked. */
typedef struct Notes {
    int n_pins, n_unpins, refuses;
    void *last;
    size_t bytes;
} Notes;

static int note_pin(void *opaque, void *memory, size_t bytes)
{
    Notes *n = opaque;

    n->n_pins++;
    n->last = memory;
    n->bytes = bytes;
    return !n->refuses;
}

static void note_unpin(void *opaque, void *memory)
{
    Notes *n = opaque;

    n->n_unpins++;
    n->last = memory;
}

/* Whole huge pages begin where the system can map them as such, and all that was asked for is there. */
static void test_pages(void)
{
    static const size_t bytes[] = {1, 4096, (2 << 20) - 1, 2 << 20, (5 << 20) + 1};

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        uint8_t *memory = pnv_pages_alloc(bytes[i]);
        REQUIRE(memory, "%zu bytes", bytes[i]);
        CHECK((uintptr_t)memory % (bytes[i] < 2 << 20 ? 4096 : 2 << 20) == 0, "%zu bytes begin at %p", bytes[i],
              (void *)memory);
        memset(memory, 1, bytes[i]);
        free(memory);
    }
    CHECK(!pnv_pages_alloc(SIZE_MAX - 100), "more than there is");
}

static void test_pins(void)
{
    Notes notes = {0};
    int is_pinned = 9;
    PnvHostPool *pool = pnv_host_pool_new((PnvHostPins){note_pin, note_unpin, &notes});
    REQUIRE(pool, "pool");
    uint8_t *a = pnv_host_pool_alloc(pool, 5000, &is_pinned), *b = pnv_host_pool_alloc(pool, 1, NULL);
    REQUIRE(a && b, "memory");
    CHECK(is_pinned == 1 && notes.n_pins == 2 && notes.last == b && notes.bytes == 4096, "%d pins, the last of %zu bytes",
          notes.n_pins, notes.bytes);
    CHECK((uintptr_t)a % 4096 == 0 && (uintptr_t)b % 4096 == 0, "alignment");
    memset(a, 1, 8192); /* whole pages */
    notes.refuses = 1;
    uint8_t *c = pnv_host_pool_alloc(pool, 4096, &is_pinned);
    CHECK(c && !is_pinned && notes.n_pins == 3, "pinned where it could not be");
    pnv_host_free(a);
    CHECK(notes.n_unpins == 1 && notes.last == a, "%d unpins", notes.n_unpins);
    pnv_host_free(c);
    CHECK(notes.n_unpins == 1, "what was not pinned is unpinned");
    CHECK(!pnv_host_pool_alloc(pool, SIZE_MAX - 100, &is_pinned) && !is_pinned, "more than there is");

    pnv_host_pool_close(pool);
    CHECK(notes.n_unpins == 2 && notes.last == b, "%d unpins after the pool was closed", notes.n_unpins);
    b[0] = 7; /* still there */
    pnv_host_free(b);
    CHECK(notes.n_unpins == 2, "unpinned twice");
    pnv_host_free(NULL);
    pnv_host_pool_close(NULL);
}

enum { N_THREADS = 4, N_ROUNDS = 200 };

static void *allocate_and_free(void *arg)
{
    void *kept[8] = {0};

    for (int i = 0; i < N_ROUNDS; i++) {
        pnv_host_free(kept[i % 8]);
        kept[i % 8] = pnv_host_pool_alloc(arg, 64, NULL);
    }
    for (int i = 0; i < 8; i++)
        pnv_host_free(kept[i]);
    return NULL;
}

/* Counted without atomics by the pins, whose calls come one at a time; ThreadSanitizer watches. */
static void test_threads(void)
{
    Notes notes = {0};
    pthread_t thread[N_THREADS];
    PnvHostPool *pool = pnv_host_pool_new((PnvHostPins){note_pin, note_unpin, &notes});

    REQUIRE(pool, "pool");
    for (int i = 0; i < N_THREADS; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, allocate_and_free, pool), "thread");
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK(notes.n_pins == N_THREADS * N_ROUNDS && notes.n_unpins == notes.n_pins, "%d pins, %d unpins", notes.n_pins,
          notes.n_unpins);
    pnv_host_pool_close(pool);
}

/* Of a CPU encoder: ordinary, and freed whenever. */
static void test_cpu(void)
{
    PnvEncoder *enc;
    PnvPacket packet;
    PnvStats stats;
    int is_pinned = 9;

    REQUIRE(pnv_open(&enc, &small, NULL) == PNV_OK, "open");
    uint16_t *samples = pnv_host_alloc(enc, 128 * 48, &is_pinned), *more = pnv_host_alloc(enc, 100, NULL);
    REQUIRE(samples && more, "memory");
    CHECK(!is_pinned && (uintptr_t)samples % 4096 == 0, "pinned %d, %p", is_pinned, (void *)samples);
    memset(samples, 1, 128 * 48);
    const PnvPicture pic = {.plane = {samples, samples, samples}, .stride = {128, 64, 64}};
    for (int i = 0; i < 3; i++) {
        pnv_stats(enc, &stats);
        CHECK(stats.n_frames == (uint64_t)i, "%d frames", (int)stats.n_frames);
        REQUIRE(pnv_send(enc, &pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "encode");
        pnv_packet_release(&packet);
    }
    pnv_stats(enc, &stats);
    CHECK(stats.n_frames == 3 && !stats.n_staging_copies && !stats.n_packet_copies && !stats.n_cpu_fallback, "counters");
    pnv_host_free(samples);
    pnv_close(&enc);
    more[0] = 1;
    pnv_host_free(more);
}

int main(void)
{
    test_pages();
    test_pins();
    test_threads();
    test_cpu();
    CHECK_END();
}
