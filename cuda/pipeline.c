/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
#include "pipeline.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "encode.h"
#include "hostmem.h"
#include "input.h"
#include "kernels.h"
#include "output.h"
#include "packet.h"
#include "sample.h"
#include "threadpool.h"

enum {
    DEFAULT_FRAMES_IN_FLIGHT = 3,
    MIN_CAPABILITY = 75, /* 10 * major + minor */
    QUEUED_ROUNDS = 6,   /* of rate control, with each frame: the search rarely takes more */
    ALIGNMENT = 256,     /* of what lies in one allocation */
    /* The output has room for an eighth of the worst case, which real frames stay under, and grows where one does not. */
    OUTPUT_SHARE = 8,
    SPARE_OUTPUTS = 4,          /* packets that may be out at the caller before the next ones are copied */
    COPY_THREADS = 4,           /* a core reads and writes about a fourth of what the memory of a machine can */
    PARALLEL_COPY = 4 << 20     /* bytes of a frame from which on waking them pays; not measured */
};

#ifdef PNV_CUDA_EMULATED
#define BACKEND_NAME "cuda (emulated)"
#else
#define BACKEND_NAME "cuda"
#endif

typedef struct Pipeline Pipeline;

/* Where a slot's frame is. */
typedef enum SlotState { SLOT_FREE, SLOT_STAGED, SLOT_ON_GPU, SLOT_ON_CPU, SLOT_DONE, SLOT_LOST } SlotState;

typedef struct Slot {
    Pipeline *pipeline;
    pthread_mutex_t lock; /* wait may come from the sender (drain) and the collector at once */
    SlotState state;
    PnvPicture pic;       /* the caller's planes, which stay until the packet is collected: from them a frame that
                             CUDA lost is coded */
    PnvCudaInput input;
    int is_foreign;       /* a picture on the device, but not to be read there: its regions are copied from their homes */
    PnvCudaHome home[8];  /* of its regions */
    PnvCudaFrame frame;

    cudaStream_t stream;
    cudaEvent_t done;
    uint8_t *h_input, *d_input;
    uint8_t *d_work;          /* all below that is not d_frame */
    size_t reset_bytes;       /* of the beginning of d_work that every frame starts with as zeros */
    PnvCudaResult *h_result;  /* mapped */
    PnvCudaOutput *output;    /* that the frame is written into */
    size_t frame_capacity;    /* of d_frame */
    PnvBatch copy;
} Slot;

struct Pipeline {
    PnvPlan *plan;
    PnvCudaContext context;
    void *cpu;                /* the CPU backend stands by: a lost GPU must not meet a lack of memory */
    atomic_int is_lost;       /* CUDA failed: everything goes to the CPU */
    atomic_int has_foreign;   /* pictures, and it was told */
    int is_opening;           /* what fails then is told by the error of that, not by a warning */
    uint8_t *d_tables;        /* quantizers and headers */
    size_t headers_at;        /* of d_tables */
    PnvThreadpool *copiers;   /* for large frames, else NULL */
    PnvHostPool *host;        /* page-locked memory */
    PnvCudaOutputs *outputs;
    atomic_size_t room;       /* bytes of a frame that any slot has to have had room for */
    PnvPacketPool *packets;   /* ordinary memory, for when all outputs are out */
    atomic_ullong n_staging_copies, n_device_copies, n_packet_copies, n_cpu_fallback;
    Slot slot[PNV_MAX_FRAMES_IN_FLIGHT];
    int n_slots;
};

static void say(const Pipeline *p, PnvLogLevel level, const char *text)
{
    const PnvParams *params = &p->plan->params;

    if (params->log)
        params->log(params->log_opaque, level, text);
}

/** CUDA has failed: say so once, and never ask it again. Returns the error. */
static cudaError_t lose(Pipeline *p, const char *call, cudaError_t e)
{
    char text[PNV_ERROR_BYTES];

    if (p->is_opening || atomic_exchange(&p->is_lost, 1))
        return e;
    snprintf(text, sizeof text, "CUDA failed: %.*s: %s; this frame and all later ones are encoded by the CPU, with the same "
             "result", (int)strcspn(call, "("), call, cudaGetErrorString(e));
    say(p, PNV_LOG_WARNING, text);
    return e;
}

/* Make a call in a function that returns its error. */
#define TRY(pipeline, call)                                                                                            \
    do {                                                                                                               \
        const cudaError_t error_of_call = (call);                                                                      \
        if (error_of_call != cudaSuccess)                                                                              \
            return lose(pipeline, #call, error_of_call);                                                               \
    } while (0)

/** The pipeline's context for the calling thread, until leave(). */
static cudaError_t enter(Pipeline *p)
{
    TRY(p, pnv_cuda_context_enter(&p->context));
    return cudaSuccess;
}

/** To free what is in it: not if there is none any more, and an error is not heard, but tried against. */
static int enter_to_free(const Pipeline *p)
{
    return p->context.handle && (pnv_cuda_context_enter(&p->context) == cudaSuccess ||
                                 pnv_cuda_context_enter(&p->context) == cudaSuccess);
}

static void leave(const Pipeline *p)
{
    pnv_cuda_context_leave(&p->context);
}

/* ---- Page-locked memory ---- */

static int pin(void *opaque, void *memory, size_t bytes)
{
    Pipeline *p = opaque;

    if (atomic_load(&p->is_lost) || pnv_cuda_context_enter(&p->context) != cudaSuccess)
        return 0;
    const cudaError_t e = cudaHostRegister(memory, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
    if (e != cudaSuccess)
        (void)cudaGetLastError(); /* it is no failure */
    leave(p);
    return e == cudaSuccess;
}

static void unpin(void *opaque, void *memory)
{
    Pipeline *p = opaque;

    if (!enter_to_free(p))
        return; /* with its context it ceased to be page-locked */
    (void)cudaHostUnregister(memory);
    leave(p);
}

/** Page-locked memory that the device can be given an address of. */
static cudaError_t allocate_host(Pipeline *p, uint8_t **memory, size_t bytes)
{
    int is_pinned;

    *memory = pnv_host_pool_alloc(p->host, bytes, &is_pinned);
    return *memory && is_pinned ? cudaSuccess : cudaErrorMemoryAllocation;
}

static void *cuda_host_alloc(void *impl, size_t bytes, int *is_pinned)
{
    Pipeline *p = impl;

    return pnv_host_pool_alloc(p->host, bytes, is_pinned);
}

/* ---- What a frame needs on the device ---- */

static size_t align_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static int has_pairs(const PnvPlane *p)
{
    const unsigned pair = p->depth > 8 ? 4 : 2;

    return pnv_plane_is_plain(p) && (uintptr_t)p->data % pair == 0 && p->stride % (int)pair == 0;
}

/** Bytes of the header template of each PnvInterlace. */
enum { HEADERS_BYTES = PNV_FRAME_START_BYTES + 2 * PNV_PICTURE_HEADER_BYTES };

/** Describe the staged picture to the kernels. */
static void describe_frame(Slot *s)
{
    const Pipeline *p = s->pipeline;
    const PnvPlan *plan = p->plan;
    const PnvFraming *framing = &plan->framing[s->pic.interlace];
    const int is_in_place = s->pic.memory == PNV_MEMORY_CUDA && !s->is_foreign;
    const PnvPicture inside = is_in_place ? s->pic : pnv_cuda_input_inside(&s->input, s->d_input);
    PnvCudaFrame *f = &s->frame;

    for (int i = 0; i < framing->n_pictures; i++) {
        f->grid[i] = framing->picture[i].grid;
        f->chroma_grid[i] = framing->picture[i].chroma;
        for (int c = 0; c < plan->n_components; c++) {
            f->plane[i][c] = pnv_plan_plane(plan, &inside, &framing->picture[i], c);
            f->has_pairs[i][c] = has_pairs(&f->plane[i][c]);
        }
    }
    f->n_pictures = framing->n_pictures;
    f->n_slices = framing->n_slices;
    for (int i = 0; i < 64; i++)
        f->scan_inverse[framing->scan[i]] = (uint8_t)i;
    memcpy(f->reciprocal, framing->reciprocal, sizeof f->reciprocal);
    f->rank_multiplier = framing->rank_multiplier;
    f->d_quant = (const PnvQuantStep *)p->d_tables + (framing->quant - plan->quant_tables) * 64;
    f->d_headers = p->d_tables + p->headers_at + (size_t)s->pic.interlace * HEADERS_BYTES;
}

static int is_searched(const PnvPlan *plan)
{
    return plan->n_quantizers > 1;
}

/* ---- Queueing ---- */

void (*pnv_cuda_trace)(const char *stage, cudaStream_t stream);

static void trace(const Slot *s, const char *stage)
{
    if (pnv_cuda_trace)
        pnv_cuda_trace(stage, s->stream);
}

/** Rows of a region, from the picture to a slot's memory of that. */
static PnvCudaRows rows_of(const PnvCudaRegion *r, uint8_t *slot)
{
    return (PnvCudaRows){slot + r->offset, r->from, r->pitch, r->stride, r->row_bytes, r->n_rows};
}

/** What the kernels read is not there before its event; what they cannot read is copied to where they can. */
static cudaError_t fetch_from_device(Slot *s)
{
    Pipeline *p = s->pipeline;

    if (s->pic.cuda_event)
        TRY(p, cudaStreamWaitEvent(s->stream, s->pic.cuda_event, 0));
    for (int i = 0; s->is_foreign && i < s->input.n_regions; i++)
        TRY(p, pnv_cuda_context_fetch(&p->context, rows_of(&s->input.region[i], s->d_input), s->home[i], s->stream));
    return cudaSuccess;
}

static cudaError_t fetch_from_host(Slot *s)
{
    Pipeline *p = s->pipeline;

    for (int i = 0; i < s->input.n_regions; i++) {
        const PnvCudaRegion *r = &s->input.region[i];
        if (r->is_pinned) {
            TRY(p, cudaMemcpy2DAsync(s->d_input + r->offset, r->pitch, r->from, r->stride, r->row_bytes, r->n_rows,
                                     cudaMemcpyHostToDevice, s->stream));
            continue;
        }
        size_t bytes = r->n_rows * r->pitch; /* and staged regions behind it */
        for (; i + 1 < s->input.n_regions && !s->input.region[i + 1].is_pinned; i++)
            bytes += s->input.region[i + 1].n_rows * s->input.region[i + 1].pitch;
        TRY(p, cudaMemcpyAsync(s->d_input + r->offset, s->h_input + r->offset, bytes, cudaMemcpyHostToDevice, s->stream));
    }
    return cudaSuccess;
}

static cudaError_t upload(Slot *s)
{
    trace(s, "");
    const cudaError_t e = s->pic.memory == PNV_MEMORY_CUDA ? fetch_from_device(s) : fetch_from_host(s);
    trace(s, "upload");
    return e;
}

static cudaError_t queue_rounds(Slot *s)
{
    for (int i = 0; i < QUEUED_ROUNDS; i++) {
        TRY(s->pipeline, pnv_cuda_entropy_measure(&s->frame, s->stream));
        TRY(s->pipeline, pnv_cuda_rate_decide(&s->frame, s->stream));
    }
    trace(s, "rate");
    return cudaSuccess;
}

static cudaError_t queue_analysis(Slot *s)
{
    Pipeline *p = s->pipeline;
    const PnvPlan *plan = p->plan;

    TRY(p, cudaMemsetAsync(s->d_work, 0, s->reset_bytes, s->stream));
    TRY(p, pnv_cuda_transform(&s->frame, s->stream));
    trace(s, "transform");
    TRY(p, pnv_cuda_alpha_measure(&s->frame, s->stream));
    trace(s, "alpha sizes");
    if (plan->params.rate_control != PNV_RATE_TARGET)
        TRY(p, pnv_cuda_entropy_measure(&s->frame, s->stream));
    trace(s, "unit sizes");
    if (!is_searched(plan))
        return cudaSuccess;
    TRY(p, pnv_cuda_rate_histogram(&s->frame, s->stream));
    TRY(p, pnv_cuda_rate_decide(&s->frame, s->stream));
    return queue_rounds(s);
}

/** Room for as much as any frame has needed so far. */
static cudaError_t reserve_output(Slot *s)
{
    const size_t bytes = atomic_load(&s->pipeline->room);

    if (s->frame_capacity < bytes) {
        (void)cudaFree(s->frame.d_frame);
        s->frame.d_frame = NULL;
        s->frame_capacity = 0;
        const cudaError_t e = cudaMalloc((void **)&s->frame.d_frame, bytes);
        if (e != cudaSuccess)
            return e;
        s->frame_capacity = bytes;
    }
    return pnv_cuda_output_reserve(s->output, bytes);
}

/** A frame as large as none before it: what comes later has room for it and some more. */
static void widen_room(Pipeline *p, size_t frame_bytes)
{
    const size_t bytes = align_up(frame_bytes, 16) + frame_bytes / 64 * 16;
    size_t room = atomic_load(&p->room);

    while (room < bytes && !atomic_compare_exchange_weak(&p->room, &room, bytes))
        ;
}

/** Where the frame goes, as far as there is room. */
static void describe_output(Slot *s)
{
    const size_t room = s->frame_capacity < s->output->capacity ? s->frame_capacity : s->output->capacity;

    s->frame.m_frame = s->output->m_data;
    s->frame.capacity = room < UINT32_MAX ? (uint32_t)(room / 16 * 16) : UINT32_MAX - 15;
}

/** Sizes are known: the frame is written and brought to the host. */
static cudaError_t queue_frame(Slot *s)
{
    Pipeline *p = s->pipeline;

    describe_output(s);
    TRY(p, pnv_cuda_layout(&s->frame, s->stream));
    trace(s, "layout");
    TRY(p, pnv_cuda_entropy_write(&s->frame, s->stream));
    trace(s, "units");
    TRY(p, pnv_cuda_alpha_write(&s->frame, s->stream));
    trace(s, "alpha");
    TRY(p, pnv_cuda_layout_deliver(&s->frame, s->stream));
    trace(s, "deliver");
    TRY(p, cudaEventRecord(s->done, s->stream));
    return cudaSuccess;
}

static cudaError_t queue_all(Slot *s)
{
    Pipeline *p = s->pipeline;

    TRY(p, reserve_output(s));
    cudaError_t e = upload(s);
    if (e == cudaSuccess)
        e = queue_analysis(s);
    return e == cudaSuccess ? queue_frame(s) : e;
}

/** Wait for a slot's frame; go on where rate control or the output's room made it stop. */
static cudaError_t finish_on_gpu(Slot *s)
{
    Pipeline *p = s->pipeline;

    for (;;) {
        TRY(p, cudaEventSynchronize(s->done));
        const PnvCudaResult *r = s->h_result;
        const int is_final = r->step == PNV_CUDA_FIXED || r->step == PNV_CUDA_DONE;
        if (is_final && r->is_complete)
            return cudaSuccess;
        if (!is_final) {
            const cudaError_t e = queue_rounds(s);
            if (e != cudaSuccess)
                return e;
        } else {
            widen_room(p, r->frame_bytes);
            TRY(p, reserve_output(s));
        }
        const cudaError_t e = queue_frame(s);
        if (e != cudaSuccess)
            return e;
    }
}

/* ---- The CPU takes over ---- */

/** The slot's picture, which lives on a device, in the slot's memory on the host. */
static cudaError_t download(Slot *s)
{
    cudaError_t e = cudaSuccess;

    for (int i = 0; e == cudaSuccess && i < s->input.n_regions; i++)
        e = pnv_cuda_context_save(&s->pipeline->context, rows_of(&s->input.region[i], s->h_input), s->pic.cuda_event);
    return e;
}

static void code_on_cpu(Slot *s)
{
    Pipeline *p = s->pipeline;
    const int index = (int)(s - p->slot);
    char unread[PNV_ERROR_BYTES];
    PnvPicture pic = s->pic;

    if (pic.memory == PNV_MEMORY_CUDA) {
        pnv_cuda_input_plan(&s->input, p->plan, &s->pic);
        if (!s->input.is_whole || download(s) != cudaSuccess) {
            s->state = SLOT_LOST;
            return;
        }
        pic = pnv_cuda_input_inside(&s->input, s->h_input);
        pic.memory = PNV_MEMORY_HOST;
    }
    atomic_fetch_add(&p->n_cpu_fallback, 1);
    pnv_backend_cpu.stage(p->cpu, index, &pic, unread); /* cannot fail */
    pnv_backend_cpu.submit(p->cpu, index);
    s->state = SLOT_ON_CPU;
}

/* ---- The backend ---- */

static void copy_job(void *arg, int job, int worker)
{
    Slot *s = arg;
    const int n_jobs = s->copy.n_jobs;

    (void)worker;
    for (int i = 0; i < s->input.n_regions; i++) {
        const PnvCudaRegion *r = &s->input.region[i];
        if (!r->is_pinned)
            pnv_cuda_input_copy(s->h_input, r, r->n_rows * (size_t)job / (size_t)n_jobs,
                                r->n_rows * (size_t)(job + 1) / (size_t)n_jobs);
    }
}

/** Whether the device can read memory by itself. Anything that is not known to be so is copied. */
static cudaError_t is_pinned(Pipeline *p, const uint8_t *at, int *result)
{
    struct cudaPointerAttributes attributes;

    TRY(p, cudaPointerGetAttributes(&attributes, at));
    *result = attributes.type == cudaMemoryTypeHost;
    return cudaSuccess;
}

static cudaError_t find_pinned(Slot *s)
{
    for (int i = 0; i < s->input.n_regions; i++) {
        PnvCudaRegion *r = &s->input.region[i];
        int first = 0, last = 0;
        if (r->gather_step)
            continue;
        cudaError_t e = is_pinned(s->pipeline, r->from, &first);
        if (e == cudaSuccess && first)
            e = is_pinned(s->pipeline, r->from + (r->n_rows - 1) * r->stride + r->row_bytes - 1, &last);
        if (e != cudaSuccess)
            return e;
        r->is_pinned = first && last;
    }
    return cudaSuccess;
}

static cudaError_t stage_from_host(Slot *s)
{
    Pipeline *p = s->pipeline;
    int all_pinned = 1;
    const cudaError_t e = find_pinned(s);

    if (e != cudaSuccess)
        return e;
    for (int i = 0; i < s->input.n_regions; i++)
        all_pinned &= s->input.region[i].is_pinned;
    if (all_pinned)
        return cudaSuccess;
    s->copy = (PnvBatch){.job = copy_job, .arg = s, .n_jobs = p->copiers ? COPY_THREADS : 1};
    if (p->copiers) {
        pnv_threadpool_run(p->copiers, &s->copy);
        pnv_threadpool_wait(p->copiers, &s->copy);
    } else {
        copy_job(s, 0, 0);
    }
    atomic_fetch_add(&p->n_staging_copies, 1);
    return cudaSuccess;
}

static cudaError_t stage_from_device(Slot *s)
{
    Pipeline *p = s->pipeline;

    for (int i = 0; i < s->input.n_regions; i++) {
        TRY(p, pnv_cuda_context_home(&p->context, s->input.region[i].from, &s->home[i]));
        s->is_foreign |= !pnv_cuda_context_is_home(&p->context, s->home[i]);
    }
    if (!s->is_foreign)
        return cudaSuccess;
    if (!s->input.is_whole)
        return lose(p, "a picture that no copy brings from another device", cudaErrorNotSupported);
    atomic_fetch_add(&p->n_device_copies, 1);
    if (!atomic_exchange(&p->has_foreign, 1))
        say(p, PNV_LOG_INFO, "pictures are in the memory of another device or CUDA context than the encoder's: each is copied; "
            "another cuda_device_id, or their cuda_context, saves that");
    return cudaSuccess;
}

static PnvStatus cuda_stage(void *impl, int slot, const PnvPicture *pic, char *error)
{
    Pipeline *p = impl;
    Slot *s = &p->slot[slot];

    (void)error; /* what cannot be staged is left to the CPU */
    pthread_mutex_lock(&s->lock);
    s->pic = *pic;
    s->is_foreign = 0;
    s->state = SLOT_STAGED;
    if (!atomic_load(&p->is_lost) && enter(p) == cudaSuccess) {
        pnv_cuda_input_plan(&s->input, p->plan, pic);
        (void)(pic->memory == PNV_MEMORY_CUDA ? stage_from_device(s) : stage_from_host(s)); /* submit sees what is lost */
        leave(p);
    }
    pthread_mutex_unlock(&s->lock);
    return PNV_OK;
}

static void cuda_submit(void *impl, int slot)
{
    Pipeline *p = impl;
    Slot *s = &p->slot[slot];

    pthread_mutex_lock(&s->lock);
    if (!atomic_load(&p->is_lost) && enter(p) == cudaSuccess) {
        describe_frame(s);
        if (queue_all(s) == cudaSuccess)
            s->state = SLOT_ON_GPU;
        leave(p);
    }
    if (s->state != SLOT_ON_GPU)
        code_on_cpu(s);
    pthread_mutex_unlock(&s->lock);
}

static void cuda_wait(void *impl, int slot)
{
    Pipeline *p = impl;
    Slot *s = &p->slot[slot];

    pthread_mutex_lock(&s->lock);
    if (s->state == SLOT_ON_GPU) {
        cudaError_t e = cudaErrorUnknown;
        if (!atomic_load(&p->is_lost)) {
            e = enter(p);
            if (e == cudaSuccess) {
                e = finish_on_gpu(s);
                leave(p);
            }
        }
        if (e == cudaSuccess)
            s->state = SLOT_DONE;
        else
            code_on_cpu(s);
    }
    if (s->state == SLOT_ON_CPU)
        pnv_backend_cpu.wait(p->cpu, slot);
    pthread_mutex_unlock(&s->lock);
}

/** The frame's bytes for the packet: where they are, if a spare buffer can take the place of that, else a copy. */
static int hand_out(Slot *s, PnvPacket *packet)
{
    const size_t bytes = s->h_result->frame_bytes;
    PnvCudaOutput *spare = pnv_cuda_outputs_take(s->pipeline->outputs);

    if (spare) {
        packet->data = s->output->h_data;
        packet->size = bytes;
        packet->owner = &s->output->owner;
        s->output = spare;
        return 0;
    }
    uint8_t *copy = pnv_packet_pool_take(s->pipeline->packets, bytes, packet);
    if (!copy)
        return -1;
    memcpy(copy, s->output->h_data, bytes);
    atomic_fetch_add(&s->pipeline->n_packet_copies, 1);
    return 0;
}

static PnvStatus take_from_gpu(Slot *s, PnvPacket *packet)
{
    const PnvCudaResult *r = s->h_result;

    *packet = (PnvPacket){0};
    if (hand_out(s, packet) != 0) {
        packet->error = "no memory for a coded frame";
        return PNV_ENOMEM;
    }
    const PnvRateReport report = {
        .n_slices = s->frame.n_slices,
        .n_coded = r->n_coded,
        .alpha_bytes = r->alpha_bytes,
        .is_searched = r->step == PNV_CUDA_DONE,
        .position = r->position,
        .n_rounds = r->n_sample_rounds,
    };
    pnv_plan_report(s->pipeline->plan, &report, packet);
    return PNV_OK;
}

static PnvStatus cuda_take(void *impl, int slot, PnvPacket *packet)
{
    Pipeline *p = impl;
    Slot *s = &p->slot[slot];

    pthread_mutex_lock(&s->lock);
    PnvStatus status = PNV_ENODEV;
    if (s->state == SLOT_LOST)
        *packet = (PnvPacket){.error = "the frame was in the memory of a device that is lost"};
    else if (s->state == SLOT_ON_CPU)
        status = pnv_backend_cpu.take(p->cpu, slot, packet);
    else
        status = take_from_gpu(s, packet);
    s->state = SLOT_FREE;
    pthread_mutex_unlock(&s->lock);
    return status;
}

static void cuda_stats(const void *impl, PnvStats *stats)
{
    const Pipeline *p = impl;

    stats->n_staging_copies = atomic_load(&p->n_staging_copies);
    stats->n_device_copies = atomic_load(&p->n_device_copies);
    stats->n_packet_copies = atomic_load(&p->n_packet_copies);
    stats->n_cpu_fallback = atomic_load(&p->n_cpu_fallback);
}

/* ---- Closing ---- */

/** What belongs to the context. */
static void close_device(Pipeline *p)
{
    for (int i = 0; i < p->n_slots; i++) {
        Slot *s = &p->slot[i];
        if (s->stream)
            (void)cudaStreamSynchronize(s->stream); /* nothing may be written to what is freed, after an error either */
        (void)cudaFree(s->frame.d_frame);
        (void)cudaFree(s->d_input);
        (void)cudaFree(s->d_work);
        if (s->done)
            (void)cudaEventDestroy(s->done);
        if (s->stream)
            (void)cudaStreamDestroy(s->stream);
    }
    (void)cudaFree(p->d_tables);
}

static void cuda_close(void *impl)
{
    Pipeline *p = impl;

    if (!p)
        return;
    if (enter_to_free(p)) {
        close_device(p);
        leave(p);
    }
    for (int i = 0; i < p->n_slots; i++) {
        pnv_host_free(p->slot[i].h_input);
        pnv_host_free(p->slot[i].h_result);
        pnv_cuda_output_give(p->slot[i].output);
        pthread_mutex_destroy(&p->slot[i].lock);
    }
    pnv_cuda_outputs_close(p->outputs);
    pnv_host_pool_close(p->host);
    pnv_cuda_context_close(&p->context);
    pnv_threadpool_delete(p->copiers);
    pnv_packet_pool_unref(p->packets);
    pnv_backend_cpu.close(p->cpu);
    free(p);
}

/* ---- Opening ---- */

__attribute__((format(printf, 2, 3))) static PnvStatus no_device(char *error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(error, PNV_ERROR_BYTES, format, args);
    va_end(args);
    return PNV_ENODEV;
}

/** How many devices there are; if none, which of the reasons it is. */
static PnvStatus count_devices(int *n, char *error)
{
    int driver = 0;

    if (cudaDriverGetVersion(&driver) != cudaSuccess || !driver)
        return no_device(error, "CUDA: no NVIDIA driver is installed; install one or use the cpu backend");
    const cudaError_t e = cudaGetDeviceCount(n);
    if (e == cudaErrorInsufficientDriver)
        return no_device(error, "CUDA: the NVIDIA driver is too old: it knows CUDA %d.%d, needed is %d.%d; update it or use "
                         "the cpu backend", driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                         CUDART_VERSION % 1000 / 10);
    if (e == cudaErrorNoDevice || (e == cudaSuccess && !*n))
        return no_device(error, "CUDA: there is no NVIDIA GPU here, or CUDA_VISIBLE_DEVICES hides it; use the cpu backend");
    return e == cudaSuccess ? PNV_OK : no_device(error, "CUDA: %s; use the cpu backend", cudaGetErrorString(e));
}

static PnvStatus check_device(int device, int n, char *error)
{
    int major = 0, minor = 0;

    if (device >= n)
        return no_device(error, "CUDA: cuda_device_id %d does not exist, the last of %d devices is %d; use another or the cpu "
                         "backend", device, n, n - 1);
    cudaError_t e = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (e != cudaSuccess)
        return no_device(error, "CUDA: %s; use the cpu backend", cudaGetErrorString(e));
    if (10 * major + minor < MIN_CAPABILITY)
        return no_device(error, "CUDA: device %d has compute capability %d.%d, needed is %d.%d; use the cpu backend", device,
                         major, minor, MIN_CAPABILITY / 10, MIN_CAPABILITY % 10);
    return PNV_OK;
}

/** The context to work in. */
static PnvStatus open_context(Pipeline *p, char *error)
{
    PnvParams *params = &p->plan->params;
    PnvCudaContext *c = &p->context;
    int n = 0;
    PnvStatus status = count_devices(&n, error);

    if (status != PNV_OK)
        return status;
    cudaError_t e = pnv_cuda_context_load(c);
    c->device = params->cuda_device_id;
    if (e == cudaSuccess && params->cuda_context) {
        e = pnv_cuda_context_adopt(c, params->cuda_context);
        if (e != cudaSuccess)
            return no_device(error, "CUDA: cuda_context %p cannot be worked in: %s; use another, none, or the cpu backend",
                             params->cuda_context, cudaGetErrorString(e));
    }
    if (e == cudaSuccess)
        status = check_device(c->device, n, error);
    if (e == cudaSuccess && status == PNV_OK && !c->handle)
        e = pnv_cuda_context_find(c);
    params->cuda_device_id = c->device;
    return e == cudaSuccess ? status : no_device(error, "CUDA: %s; use the cpu backend", cudaGetErrorString(e));
}

/** Quantizers' steps and header templates. */
static cudaError_t open_tables(Pipeline *p)
{
    const PnvPlan *plan = p->plan;
    const size_t n_scans = plan->framing[PNV_TOP_FIELD_FIRST].n_pictures ? 2 : 1;
    const size_t n_quants = n_scans * 2 * (size_t)plan->n_quantizers, step_bytes = 64 * sizeof(PnvQuantStep);

    p->headers_at = align_up(n_quants * step_bytes, ALIGNMENT);
    const size_t bytes = p->headers_at + 3 * (size_t)HEADERS_BYTES;
    uint8_t *tables = calloc(1, bytes);
    if (!tables)
        return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < n_quants; i++)
        memcpy(tables + i * step_bytes, plan->quant_tables[i].step, step_bytes);
    for (int i = PNV_PROGRESSIVE; i <= PNV_BOTTOM_FIELD_FIRST; i++) {
        const PnvFraming *framing = &plan->framing[i];
        uint8_t *to = tables + p->headers_at + (size_t)i * HEADERS_BYTES;
        PnvFrameHeader header = plan->header;
        header.interlace = (PnvInterlace)i;
        pnv_layout_frame_start(to, &header, 0);
        for (int k = 0; k < framing->n_pictures; k++)
            pnv_layout_picture_header(to + PNV_FRAME_START_BYTES + k * PNV_PICTURE_HEADER_BYTES, &framing->picture[k].grid, 0);
    }
    cudaError_t e = cudaMalloc((void **)&p->d_tables, bytes);
    if (e == cudaSuccess)
        e = cudaMemcpy(p->d_tables, tables, bytes, cudaMemcpyHostToDevice);
    free(tables);
    return e;
}

static void count_picture(const PnvPlan *plan, size_t *n_mb, size_t *n_slices)
{
    *n_mb = *n_slices = 0;
    for (int i = PNV_PROGRESSIVE; i <= PNV_BOTTOM_FIELD_FIRST; i++) {
        const PnvFraming *f = &plan->framing[i];
        size_t n = 0;
        for (int k = 0; k < f->n_pictures; k++)
            n += (size_t)f->picture[k].grid.width_mb * (size_t)f->picture[k].grid.height_mb;
        *n_mb = n > *n_mb ? n : *n_mb;
        *n_slices = (size_t)f->n_slices > *n_slices ? (size_t)f->n_slices : *n_slices;
    }
}

static void describe_settings(PnvCudaFrame *f, const PnvPlan *plan)
{
    const PnvParams *params = &plan->params;

    f->chroma = plan->chroma;
    f->conversion = plan->conversion;
    f->full_gain[0] = pnv_sample_full_gain(params->depth, 1);
    f->full_gain[1] = pnv_sample_full_gain(params->depth, 0);
    f->alpha_bits = params->alpha_bits;
    f->rounding = params->rounding;
    f->quantizer = params->quantizer;
    f->first_quantizer = plan->first_quantizer;
    f->is_target = params->rate_control == PNV_RATE_TARGET;
    f->min_quantizer = plan->first_quantizer;
    f->max_quantizer = f->is_target ? params->max_quantizer : plan->first_quantizer + plan->n_quantizers - 1;
    f->target_bytes = plan->target_bytes;
    f->max_frame_bytes = params->max_frame_bytes;
}

/** Room that frames are likely to need. */
static size_t output_bytes(const PnvPlan *plan)
{
    size_t bytes = plan->packet_bound / OUTPUT_SHARE;

    if (plan->target_bytes && !plan->params.alpha_bits && (size_t)plan->target_bytes < plan->packet_bound)
        bytes = (size_t)plan->target_bytes;
    return align_up(bytes, 16) + 4096;
}

static cudaError_t open_slot(Slot *s)
{
    const PnvPlan *plan = s->pipeline->plan;
    const size_t input_bytes = pnv_cuda_input_bound(plan);
    size_t n_mb, n_slices;
    void *mapped = NULL;

    count_picture(plan, &n_mb, &n_slices);
    describe_settings(&s->frame, plan);
    /* what is reset comes first */
    const size_t units_at = align_up(sizeof(PnvCudaState), ALIGNMENT);
    s->reset_bytes = units_at + n_slices * 3 * sizeof(PnvCudaUnit);
    const size_t alpha_at = align_up(s->reset_bytes, ALIGNMENT);
    const size_t offsets_at = align_up(alpha_at + n_slices * sizeof(uint16_t), ALIGNMENT);
    const size_t coef_at = align_up(offsets_at + n_slices * sizeof(uint32_t), ALIGNMENT);
    const size_t bytes = coef_at + n_mb * 128 * (size_t)pnv_encode_blocks_per_mb(plan);

    cudaError_t e = cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);
    if (e == cudaSuccess)
        e = cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming | cudaEventBlockingSync);
    if (e == cudaSuccess)
        e = cudaMalloc((void **)&s->d_work, bytes);
    if (e == cudaSuccess)
        e = cudaMalloc((void **)&s->d_input, input_bytes);
    if (e == cudaSuccess)
        e = allocate_host(s->pipeline, &s->h_input, input_bytes);
    if (e == cudaSuccess)
        e = allocate_host(s->pipeline, (uint8_t **)&s->h_result, sizeof *s->h_result);
    if (e == cudaSuccess)
        e = cudaHostGetDevicePointer(&mapped, s->h_result, 0);
    s->output = pnv_cuda_outputs_take(s->pipeline->outputs); /* there are enough */
    if (e == cudaSuccess)
        e = reserve_output(s);
    if (e != cudaSuccess)
        return e;
    s->frame.m_result = mapped;
    s->frame.d_state = (PnvCudaState *)s->d_work;
    s->frame.d_units = (PnvCudaUnit *)(s->d_work + units_at);
    s->frame.d_alpha_bytes = (uint16_t *)(s->d_work + alpha_at);
    s->frame.d_offset = (uint32_t *)(s->d_work + offsets_at);
    s->frame.d_coef = (int16_t *)(s->d_work + coef_at);
    return cudaSuccess;
}

/** Run every kernel once on a black frame: contexts, modules and clocks are up before the first frame comes. */
static cudaError_t warm_up(Pipeline *p)
{
    Slot *s = &p->slot[0];
    const PnvPlan *plan = p->plan;
    PnvPicture pic = {0};
    ptrdiff_t stride = 0;

    for (int c = 0; c < plan->n_components; c++) {
        const PnvPlane plane = pnv_plan_plane(plan, &pic, &plan->framing[PNV_PROGRESSIVE].picture[0], c);
        stride = pnv_plane_row_bytes(&plane) > stride ? pnv_plane_row_bytes(&plane) : stride;
    }
    for (int c = 0; c < plan->n_components; c++) {
        pic.plane[c] = s->h_input; /* not read: the copy is what matters, and it is there */
        pic.stride[c] = stride;
    }
    memset(s->h_input, 0, pnv_cuda_input_bound(plan));
    s->pic = pic;
    pnv_cuda_input_plan(&s->input, plan, &pic);
    describe_frame(s);
    const cudaError_t e = queue_all(s);
    return e == cudaSuccess ? finish_on_gpu(s) : e;
}

static cudaError_t open_device(Pipeline *p)
{
    cudaError_t e = pnv_cuda_context_enter(&p->context);

    if (e != cudaSuccess)
        return e;
    e = open_tables(p);
    atomic_store(&p->room, output_bytes(p->plan));
    for (int i = 0; e == cudaSuccess && i < p->n_slots + SPARE_OUTPUTS; i++)
        e = pnv_cuda_outputs_add(p->outputs, atomic_load(&p->room));
    for (int i = 0; e == cudaSuccess && i < p->n_slots; i++)
        e = open_slot(&p->slot[i]);
    if (e == cudaSuccess)
        e = warm_up(p);
    leave(p);
    return e;
}

static int open_host(Pipeline *p, char *error)
{
    p->packets = pnv_packet_pool_new();
    p->host = pnv_host_pool_new((PnvHostPins){.pin = pin, .unpin = unpin, .opaque = p});
    p->outputs = p->host ? pnv_cuda_outputs_new(p->host) : NULL;
    if (!p->packets || !p->outputs || pnv_backend_cpu.open(&p->cpu, p->plan, error) != PNV_OK)
        return -1;
    if (p->plan->params.threads > 1 && pnv_cuda_input_bound(p->plan) >= PARALLEL_COPY)
        p->copiers = pnv_threadpool_new(COPY_THREADS); /* without them one thread copies */
    return 0;
}

static Pipeline *pipeline_new(PnvPlan *plan)
{
    Pipeline *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->plan = plan;
    p->n_slots = plan->params.frames_in_flight;
    for (int i = 0; i < p->n_slots; i++) {
        p->slot[i].pipeline = p;
        pthread_mutex_init(&p->slot[i].lock, NULL);
    }
    return p;
}

static PnvStatus open_pipeline(Pipeline *p, char *error)
{
    const PnvParams *params = &p->plan->params;
    const PnvStatus status = open_context(p, error);
    cudaError_t e = cudaErrorMemoryAllocation;

    if (status != PNV_OK)
        return status;
    p->is_opening = 1;
    if (open_host(p, error) == 0)
        e = open_device(p);
    p->is_opening = 0;
    if (e == cudaSuccess)
        return PNV_OK;
    snprintf(error, PNV_ERROR_BYTES, "CUDA: %s, opening %dx%d with %d frames in flight on device %d; use %s the cpu backend",
             cudaGetErrorString(e), params->width, params->height, p->n_slots, p->context.device,
             e == cudaErrorMemoryAllocation ? "fewer, or" : "another device, or");
    return e == cudaErrorMemoryAllocation ? PNV_ENOMEM : PNV_ENODEV;
}

static PnvStatus cuda_open(void **impl, PnvPlan *plan, char *error)
{
    PnvParams *params = &plan->params;
    const PnvParams given = *params;

    *impl = NULL;
    if (!params->frames_in_flight)
        params->frames_in_flight = DEFAULT_FRAMES_IN_FLIGHT;
    Pipeline *p = pipeline_new(plan);
    PnvStatus status = PNV_ENOMEM;
    if (p)
        status = open_pipeline(p, error);
    else
        snprintf(error, PNV_ERROR_BYTES, "no memory for a CUDA pipeline");
    if (status == PNV_OK) {
        *impl = p;
        return PNV_OK;
    }
    cuda_close(p);
    *params = given;
    return status;
}

int pnv_cuda_is_worth_it(const PnvPlan *plan)
{
    /* Nothing of this has run on a GPU yet. Until tests/gpu-check.sh has passed on one, CUDA is for those who ask for it:
     * then the rule is to be measured, perhaps from 1280x720 up. */
    (void)plan;
    return 0;
}

const PnvBackendOps pnv_backend_cuda = {
    .name = BACKEND_NAME,
    .open = cuda_open,
    .stage = cuda_stage,
    .submit = cuda_submit,
    .wait = cuda_wait,
    .take = cuda_take,
    .host_alloc = cuda_host_alloc,
    .stats = cuda_stats,
    .close = cuda_close,
};
