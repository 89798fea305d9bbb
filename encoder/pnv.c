/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The public calls: argument checks, the order of frames, and errors. The work is the backend's. */
#include "pnv.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "hostmem.h"
#if PNV_HAVE_CUDA /* from meson.build */
#include "pipeline.h"
#endif

struct PnvEncoder {
    PnvPlan plan;
    const PnvBackendOps *backend;
    void *impl;
    char error[PNV_ERROR_BYTES];

    /* The sender owns next_in, staged and the tags of free slots, the collector next_out and the tags of slots in
     * flight; n_in_flight passes slots between the two. */
    int next_in, next_out, staged;
    atomic_int n_in_flight;
    atomic_ullong n_frames; /* collected */
    void *tags[PNV_MAX_FRAMES_IN_FLIGHT];
};

__attribute__((format(printf, 3, 4))) static void say(const PnvParams *p, PnvLogLevel level, const char *format, ...)
{
    char text[PNV_ERROR_BYTES];
    va_list args;

    if (!p->log)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->log(p->log_opaque, level, text);
}

/**
 * Open the backend that is asked for, or the fastest.
 *
 * @param[out] note why CUDA was not taken by the automatic choice, or "".
 */
static PnvStatus open_backend(PnvEncoder *enc, char *note, char *error)
{
    PnvParams *p = &enc->plan.params;

    note[0] = '\0';
#if PNV_HAVE_CUDA
    if (p->backend == PNV_BACKEND_CUDA || (p->backend == PNV_BACKEND_AUTO && pnv_cuda_is_worth_it(&enc->plan))) {
        const int is_choice = p->backend == PNV_BACKEND_AUTO;
        const PnvStatus status = pnv_backend_cuda.open(&enc->impl, &enc->plan, is_choice ? note : error);
        if (status == PNV_OK) {
            enc->backend = &pnv_backend_cuda;
            p->backend = PNV_BACKEND_CUDA;
        }
        if (status == PNV_OK || !is_choice)
            return status;
    }
#else
    if (p->backend == PNV_BACKEND_CUDA) {
        snprintf(error, PNV_ERROR_BYTES, "this libproresnv was built without CUDA; use the cpu backend");
        return PNV_ENODEV;
    }
#endif
    enc->backend = &pnv_backend_cpu;
    p->backend = PNV_BACKEND_CPU;
    return enc->backend->open(&enc->impl, &enc->plan, error);
}

PnvStatus pnv_open(PnvEncoder **out, const PnvParams *params, char *error)
{
    char unread[PNV_ERROR_BYTES], note[PNV_ERROR_BYTES];
    PnvPlan plan;

    *out = NULL;
    if (!error)
        error = unread;
    error[0] = '\0';
    PnvStatus status = pnv_plan(&plan, params, error);
    if (status != PNV_OK)
        return status;

    PnvEncoder *enc = calloc(1, sizeof *enc);
    if (!enc) {
        snprintf(error, PNV_ERROR_BYTES, "no memory for an encoder");
        return PNV_ENOMEM;
    }
    enc->plan = plan;
    status = pnv_plan_open(&enc->plan);
    if (status != PNV_OK)
        snprintf(error, PNV_ERROR_BYTES, "no memory for the tables of an encoder");
    else
        status = open_backend(enc, note, error);
    if (status != PNV_OK) {
        pnv_plan_close(&enc->plan);
        free(enc);
        return status;
    }
    const PnvParams *p = &enc->plan.params;
    say(p, PNV_LOG_INFO, "%dx%d %s on the %s backend: %d threads, %d frames in flight%s%s", p->width, p->height,
        enc->plan.profile->title, enc->backend->name, p->threads, p->frames_in_flight, note[0] ? "; " : "", note);
    *out = enc;
    return PNV_OK;
}

const PnvParams *pnv_params(const PnvEncoder *enc)
{
    return &enc->plan.params;
}

const char *pnv_backend_name(const PnvEncoder *enc)
{
    return enc->backend->name;
}

const char *pnv_error(const PnvEncoder *enc)
{
    return enc->error;
}

PnvStatus pnv_stage(PnvEncoder *enc, const PnvPicture *pic)
{
    const int n_slots = enc->plan.params.frames_in_flight;

    if (enc->staged) {
        snprintf(enc->error, sizeof enc->error, "a staged picture waits for pnv_submit()");
        return PNV_ESTATE;
    }
    PnvStatus status = pnv_plan_check_picture(&enc->plan, pic, enc->error);
    if (status != PNV_OK)
        return status;
    if (atomic_load(&enc->n_in_flight) == n_slots)
        return PNV_AGAIN;
    status = enc->backend->stage(enc->impl, enc->next_in, pic, enc->error);
    if (status != PNV_OK)
        return status;
    enc->tags[enc->next_in] = pic->tag;
    enc->staged = 1;
    return PNV_OK;
}

PnvStatus pnv_submit(PnvEncoder *enc)
{
    if (!enc->staged) {
        snprintf(enc->error, sizeof enc->error, "pnv_submit() without a staged picture");
        return PNV_ESTATE;
    }
    enc->backend->submit(enc->impl, enc->next_in);
    enc->next_in = (enc->next_in + 1) % enc->plan.params.frames_in_flight;
    enc->staged = 0;
    atomic_fetch_add(&enc->n_in_flight, 1);
    return PNV_OK;
}

PnvStatus pnv_send(PnvEncoder *enc, const PnvPicture *pic)
{
    const PnvStatus status = pnv_stage(enc, pic);

    return status == PNV_OK ? pnv_submit(enc) : status;
}

PnvStatus pnv_collect(PnvEncoder *enc, PnvPacket *packet)
{
    if (atomic_load(&enc->n_in_flight) == 0)
        return PNV_EMPTY;
    const int slot = enc->next_out;

    enc->backend->wait(enc->impl, slot);
    const PnvStatus status = enc->backend->take(enc->impl, slot, packet);
    packet->tag = enc->tags[slot];
    enc->next_out = (slot + 1) % enc->plan.params.frames_in_flight;
    atomic_fetch_sub(&enc->n_in_flight, 1);
    atomic_fetch_add(&enc->n_frames, 1);
    return status;
}

void pnv_drain(PnvEncoder *enc)
{
    const int n_slots = enc->plan.params.frames_in_flight;

    enc->staged = 0;
    /* Frames are coded in order, but a collector may be taking the newest: any slot that was submitted will do to wait
     * for, done or not, and the newest comes last. */
    for (int i = atomic_load(&enc->n_in_flight); i > 0; i--)
        enc->backend->wait(enc->impl, (enc->next_in + n_slots - i) % n_slots);
}

void pnv_close(PnvEncoder **enc_at)
{
    PnvEncoder *enc = *enc_at;

    if (!enc)
        return;
    pnv_drain(enc);
    enc->backend->close(enc->impl);
    pnv_plan_close(&enc->plan);
    free(enc);
    *enc_at = NULL;
}

void *pnv_host_alloc(PnvEncoder *enc, size_t bytes, int *is_pinned)
{
    if (!enc->backend->host_alloc)
        return pnv_host_pool_alloc(NULL, bytes, is_pinned);
    return enc->backend->host_alloc(enc->impl, bytes, is_pinned);
}

void pnv_stats(const PnvEncoder *enc, PnvStats *stats)
{
    *stats = (PnvStats){.n_frames = atomic_load(&enc->n_frames)};
    if (enc->backend->stats)
        enc->backend->stats(enc->impl, stats);
}

size_t pnv_packet_bound(const PnvParams *params)
{
    char unread[PNV_ERROR_BYTES];
    PnvPlan plan;

    return pnv_plan(&plan, params, unread) == PNV_OK ? plan.packet_bound : 0;
}
