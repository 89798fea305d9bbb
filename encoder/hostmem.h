/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory in whole pages, which a device may know as page-locked for as long as its encoder is open. */
#ifndef PNV_HOSTMEM_H
#define PNV_HOSTMEM_H

#include "pnv.h"

/**
 * At least bytes of memory, 4096-byte aligned, to be freed by free(); what is large in huge pages, where the system has
 * them to give. A row of a picture is about one small page, so that every slice of it would need 16 of their addresses
 * for each plane, and to look them up took 5 to 10 % of a frame.
 *
 * @return NULL without memory.
 */
void *pnv_pages_alloc(size_t bytes);

/** Outlives its encoder until the last of its memory is freed. */
typedef struct PnvHostPool PnvHostPool;

/** What makes pages known to a device. Both are called by the thread that allocates or frees, one at a time. */
typedef struct PnvHostPins {
    int (*pin)(void *opaque, void *memory, size_t bytes); /**< Whether it could be done. */
    void (*unpin)(void *opaque, void *memory);
    void *opaque;
} PnvHostPins;

/** NULL without memory. */
PnvHostPool *pnv_host_pool_new(PnvHostPins pins);

/**
 * The encoder's end of it: what is still allocated is ordinary memory from now on, and pins are not called any more.
 * NULL is ignored.
 */
void pnv_host_pool_close(PnvHostPool *pool);

/**
 * At least bytes of memory, 4096-byte aligned, no page of which is shared with anything else, to be freed by
 * pnv_host_free().
 *
 * @param pool            NULL: ordinary memory.
 * @param[out] is_pinned  NULL, or whether a device knows it.
 * @return NULL without memory.
 */
void *pnv_host_pool_alloc(PnvHostPool *pool, size_t bytes, int *is_pinned);

#endif
