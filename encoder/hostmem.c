/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hostmem.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

/* In a page of its own in front of the memory: a device locks whole pages. */
typedef struct Block {
    PnvHostPool *pool;
    struct Block *next, **link;
    int is_pinned;
} Block;

struct PnvHostPool {
    pthread_mutex_t lock; /* of all below, and around the pins' calls */
    PnvHostPins pins;
    Block *blocks;
    int n_refs; /* the encoder and every block */
};

void *pnv_pages_alloc(size_t bytes)
{
    const size_t n_huge = bytes / HUGE_PAGE;
    void *memory;

    if (bytes > PTRDIFF_MAX || posix_memalign(&memory, n_huge ? HUGE_PAGE : PAGE, bytes))
        return NULL;
#ifdef MADV_HUGEPAGE
    if (n_huge)
        madvise(memory, n_huge * HUGE_PAGE, MADV_HUGEPAGE); /* a wish: nothing to do where it is refused */
#endif
    return memory;
}

PnvHostPool *pnv_host_pool_new(PnvHostPins pins)
{
    PnvHostPool *pool = calloc(1, sizeof *pool);

    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pool->pins = pins;
    pool->n_refs = 1;
    return pool;
}

/** Give up a reference and the lock. */
static void unref_locked(PnvHostPool *pool)
{
    const int n_refs = --pool->n_refs;

    pthread_mutex_unlock(&pool->lock);
    if (n_refs)
        return;
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static void unpin_locked(PnvHostPool *pool, Block *b)
{
    if (b->is_pinned)
        pool->pins.unpin(pool->pins.opaque, (uint8_t *)b + PAGE);
    b->is_pinned = 0;
}

void pnv_host_pool_close(PnvHostPool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    for (Block *b = pool->blocks; b; b = b->next)
        unpin_locked(pool, b);
    unref_locked(pool);
}

void *pnv_host_pool_alloc(PnvHostPool *pool, size_t bytes, int *is_pinned)
{
    const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    Block *b = bytes <= SIZE_MAX - 2 * PAGE ? pnv_pages_alloc(PAGE + whole) : NULL;

    if (is_pinned)
        *is_pinned = 0;
    if (!b)
        return NULL;
    void *memory = (uint8_t *)b + PAGE;
    *b = (Block){.pool = pool};
    if (!pool)
        return memory;
    pthread_mutex_lock(&pool->lock);
    b->is_pinned = bytes && pool->pins.pin(pool->pins.opaque, memory, whole);
    if (is_pinned)
        *is_pinned = b->is_pinned;
    b->next = pool->blocks;
    b->link = &pool->blocks;
    if (b->next)
        b->next->link = &b->next;
    pool->blocks = b;
    pool->n_refs++;
    pthread_mutex_unlock(&pool->lock);
    return memory;
}

void pnv_host_free(void *memory)
{
    if (!memory)
        return;
    Block *b = (Block *)((uint8_t *)memory - PAGE);
    PnvHostPool *pool = b->pool;
    if (pool) {
        pthread_mutex_lock(&pool->lock);
        *b->link = b->next;
        if (b->next)
            b->next->link = b->link;
        unpin_locked(pool, b);
        unref_locked(pool);
    }
    free(b);
}
