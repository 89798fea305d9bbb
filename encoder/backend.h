/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a backend is to the rest: a row of slots, one for each frame in flight. Nothing outside knows which one runs. */
#ifndef PNV_BACKEND_H
#define PNV_BACKEND_H

#include "plan.h"

typedef struct PnvBackendOps {
    const char *name;

    /**
     * Allocate everything for plan->params.frames_in_flight slots, setting that and threads first where they are 0.
     *
     * @param plan lives as long as the backend.
     * @return PNV_OK, PNV_ENOMEM or PNV_ENODEV with error filled; *impl is then NULL.
     */
    PnvStatus (*open)(void **impl, PnvPlan *plan, char *error);

    /** Bring the planes in; pic was checked and is copied. The slot is free. Errors as open. */
    PnvStatus (*stage)(void *impl, int slot, const PnvPicture *pic, char *error);

    /** Queue the staged slot. Slots come in rotation: 0, 1, ... */
    void (*submit)(void *impl, int slot);

    /** Wait until a submitted slot is coded. May run beside stage and submit of other slots. */
    void (*wait)(void *impl, int slot);

    /** After wait: hand over the packet, failed or not, and free the slot. */
    PnvStatus (*take)(void *impl, int slot, PnvPacket *packet);

    /** As pnv_host_alloc(). NULL: ordinary memory. */
    void *(*host_alloc)(void *impl, size_t bytes, int *is_pinned);

    /** Fill in what it counts; the rest is zero. Any thread. NULL: nothing. */
    void (*stats)(const void *impl, PnvStats *stats);

    /** All submitted slots were waited for. Not-taken packets are released. NULL is ignored. */
    void (*close)(void *impl);
} PnvBackendOps;

extern const PnvBackendOps pnv_backend_cpu;

#endif
