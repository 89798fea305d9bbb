/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packet.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Buffers kept for the next packets: what a muxer or a short queue gives back at once. More go back to the system. */
enum { KEPT_BUFFERS = 8, ALIGNMENT = 64 };

typedef struct Buffer {
    PnvPacketOwner owner; /* first */
    PnvPacketPool *pool;
    struct Buffer *next;
    size_t capacity;
} Buffer;

struct PnvPacketPool {
    pthread_mutex_t lock;
    Buffer *free;
    int n_free;
    int n_refs; /* the encoder and every packet that is out */
};

static uint8_t *buffer_data(Buffer *b)
{
    return (uint8_t *)b + ALIGNMENT;
}

PnvPacketPool *pnv_packet_pool_new(void)
{
    PnvPacketPool *pool = calloc(1, sizeof *pool);

    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pool->n_refs = 1;
    return pool;
}

static void free_list(Buffer *b)
{
    while (b) {
        Buffer *next = b->next;
        free(b);
        b = next;
    }
}

void pnv_packet_pool_unref(PnvPacketPool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    const int n_refs = --pool->n_refs;
    pthread_mutex_unlock(&pool->lock);
    if (n_refs)
        return;
    free_list(pool->free);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/** Unlink the first free buffer of at least size bytes, else the first of all, else NULL. */
static Buffer *pop_free(PnvPacketPool *pool, size_t size)
{
    Buffer **at = &pool->free;

    while (*at && (*at)->capacity < size)
        at = &(*at)->next;
    if (!*at)
        at = &pool->free;
    Buffer *b = *at;
    if (b) {
        *at = b->next;
        pool->n_free--;
    }
    return b;
}

static void release(PnvPacketOwner *owner)
{
    Buffer *b = (Buffer *)owner;
    PnvPacketPool *pool = b->pool;

    pthread_mutex_lock(&pool->lock);
    const int keep = pool->n_free < KEPT_BUFFERS;
    if (keep) {
        b->next = pool->free;
        pool->free = b;
        pool->n_free++;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!keep)
        free(b);
    pnv_packet_pool_unref(pool);
}

/** NULL without memory. */
static Buffer *new_buffer(PnvPacketPool *pool, size_t size)
{
    const size_t capacity = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    Buffer *b = aligned_alloc(ALIGNMENT, ALIGNMENT + capacity);

    if (b)
        *b = (Buffer){.owner = {release}, .pool = pool, .capacity = capacity};
    return b;
}

static uint8_t *hand_out(PnvPacket *packet, Buffer *b)
{
    packet->data = buffer_data(b);
    packet->owner = &b->owner;
    return buffer_data(b);
}

uint8_t *pnv_packet_pool_take(PnvPacketPool *pool, size_t size, PnvPacket *packet)
{
    pthread_mutex_lock(&pool->lock);
    Buffer *b = pop_free(pool, size);
    pool->n_refs++;
    pthread_mutex_unlock(&pool->lock);

    if (!b || b->capacity < size) {
        free(b);
        b = new_buffer(pool, size + size / 4);
        if (!b) {
            pnv_packet_pool_unref(pool);
            return NULL;
        }
    }
    packet->size = size;
    return hand_out(packet, b);
}

size_t pnv_packet_room(const PnvPacket *packet)
{
    return ((const Buffer *)packet->owner)->capacity;
}

uint8_t *pnv_packet_grow(PnvPacket *packet, size_t n_used, size_t size)
{
    Buffer *old = (Buffer *)packet->owner;
    const size_t twice = 2 * old->capacity;
    Buffer *b = new_buffer(old->pool, size > twice ? size : twice);

    if (!b)
        return NULL;
    memcpy(buffer_data(b), packet->data, n_used);
    free(old);
    return hand_out(packet, b);
}

void pnv_packet_release(PnvPacket *packet)
{
    PnvPacketOwner *owner = packet->owner;

    memset(packet, 0, sizeof *packet);
    if (owner)
        owner->release(owner);
}
