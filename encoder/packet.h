/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of packets: taken when a frame's size is known, used again when the caller releases it. */
#ifndef PNV_PACKET_H
#define PNV_PACKET_H

#include "pnv.h"

/** Where a packet's memory goes back to: PnvPacket.owner, and the beginning of a record of the owner's own. */
typedef struct PnvPacketOwner {
    void (*release)(struct PnvPacketOwner *owner); /**< Any thread, at any time. */
} PnvPacketOwner;

/** Outlives its encoder until the last packet is released. */
typedef struct PnvPacketPool PnvPacketPool;

/** NULL without memory. */
PnvPacketPool *pnv_packet_pool_new(void);

/** The encoder's end of it: no more packets are taken. NULL is ignored. */
void pnv_packet_pool_unref(PnvPacketPool *pool);

/**
 * Take memory for size bytes: packet->data (returned writable as well), size and owner. Grows with a margin, so that a
 * stream's frames soon find one that fits and nothing is allocated any more.
 *
 * @return where to write, or NULL without memory; the packet is then untouched.
 */
uint8_t *pnv_packet_pool_take(PnvPacketPool *pool, size_t size, PnvPacket *packet);

/** How many bytes a packet that was taken has room for. */
size_t pnv_packet_room(const PnvPacket *packet);

/**
 * Make room for size bytes or more. The first n_used stay what they are, wherever that is now; packet->size is left.
 *
 * @return where to write, or NULL without memory; the packet is then as it was.
 */
uint8_t *pnv_packet_grow(PnvPacket *packet, size_t n_used, size_t size);

#endif
