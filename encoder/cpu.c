/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU backend. A frame is a batch of bands, contiguous MB rows; a band's thread carries each slice through fetch,
 * transform, quantization and entropy coding while it sits in the first-level cache, and appends it to the band's own
 * memory. The thread that ends the last band knows all sizes and lays the frame out in a packet: one copy of the coded
 * bytes, none of the input. Bands of the next frame start meanwhile.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "dsp.h"
#include "packet.h"
#include "threadpool.h"

/* Bands of a frame for each thread: content is uneven, and a thread that is done early takes another band. */
enum { BANDS_PER_THREAD = 4 };

/* A band starts with room for 1/8 of its bound and doubles when a frame needs more: what frames really take. */
enum { BAND_START_SHARE = 8 };

typedef struct Band {
    uint8_t *data; /* slices, one after the other */
    size_t size, capacity;
    int failed;
} Band;

typedef struct Cpu Cpu;

typedef struct Slot {
    Cpu *cpu;
    PnvPicture pic;
    uint16_t *slice_bytes; /* n_slices */
    Band *bands;
    PnvBatch batch;
    PnvPacket packet;
    const char *error;
} Slot;

/* One thread's memory for one slice, a few kilobytes. */
typedef struct Scratch {
    _Alignas(64) int16_t samples[16 * PNV_FETCH_STRIDE];
    _Alignas(64) int16_t coef[64 * PNV_MAX_BLOCKS];
} Scratch;

struct Cpu {
    PnvPlan *plan;
    PnvDsp dsp;
    PnvThreadpool *pool;
    PnvPacketPool *packets;
    Scratch *scratch; /* one a thread */
    Slot *slots;
    PnvSpan *spans; /* of the slices of any row */
    int n_slots, n_bands;
};

static int band_row(const Cpu *cpu, int band)
{
    return (int)((int64_t)cpu->plan->grid.height_mb * band / cpu->n_bands);
}

static size_t row_bound(const PnvPlan *plan)
{
    return (size_t)pnv_slice_bound(plan->params.chroma, plan->grid.mbs_per_slice) * (size_t)plan->grid.slices_per_row;
}

static PnvPlane plane_of(const PnvPlan *plan, const PnvPicture *pic, int c)
{
    return (PnvPlane){
        .data = pic->plane[c],
        .stride = pic->stride[c],
        .width = pnv_plane_width(plan->params.chroma, c > 0, plan->params.width),
        .height = plan->params.height,
        .step = plan->params.depth > 8 ? 2 : 1,
        .depth = plan->params.depth,
    };
}

/** Code one unit of a slice. Returns its bytes, at most capacity. */
static size_t encode_unit(const Cpu *cpu, Scratch *s, const PnvPlane *plane, int c, PnvSpan span, int mb_y,
                          uint8_t *dst, size_t capacity)
{
    const PnvPlan *plan = cpu->plan;
    const PnvDsp *dsp = &cpu->dsp;
    const int mb_width = pnv_mb_width(plan->params.chroma, c > 0);
    const int n_blocks = span.n_mb * pnv_blocks_per_mb(plan->params.chroma, c > 0);
    const PnvBlockOrder order = !c                                        ? PNV_BLOCKS_LUMA
                                : plan->params.chroma == PNV_CHROMA_422 ? PNV_BLOCKS_CHROMA_422
                                                                          : PNV_BLOCKS_CHROMA_444;

    dsp->fetch(s->samples, plane, span.mb_x * mb_width, mb_y * 16, span.n_mb * mb_width);
    dsp->transform(s->coef, s->samples, PNV_FETCH_STRIDE, order, span.n_mb, plan->scan);
    dsp->quant(s->coef, s->coef, n_blocks, &plan->quant[c > 0]);
    return dsp->entropy_write(dst, capacity, s->coef, n_blocks);
}

/** Code one slice at dst, which has room for its bound. Returns its bytes. */
static size_t encode_slice(const Cpu *cpu, Scratch *s, const PnvPlane plane[3], PnvSpan span, int mb_y, uint8_t *dst)
{
    const PnvPlan *plan = cpu->plan;
    const size_t bound = pnv_slice_bound(plan->params.chroma, span.n_mb);
    size_t unit_bytes[3], size = PNV_SLICE_HEADER_BYTES;

    for (int c = 0; c < 3; c++) {
        unit_bytes[c] = encode_unit(cpu, s, &plane[c], c, span, mb_y, dst + size, bound - size);
        size += unit_bytes[c];
    }
    pnv_layout_slice_header(dst, plan->params.quantizer, unit_bytes[0], unit_bytes[1]);
    return size;
}

static int reserve(Band *band, size_t more)
{
    if (band->capacity - band->size >= more)
        return 0;
    size_t capacity = 2 * band->capacity;
    if (capacity - band->size < more)
        capacity = band->size + more;
    uint8_t *data = realloc(band->data, capacity);
    if (!data)
        return -1;
    band->data = data;
    band->capacity = capacity;
    return 0;
}

static void encode_band(void *arg, int index, int worker)
{
    Slot *slot = arg;
    const Cpu *cpu = slot->cpu;
    const PnvPlan *plan = cpu->plan;
    Band *band = &slot->bands[index];
    const PnvPlane plane[3] = {plane_of(plan, &slot->pic, 0), plane_of(plan, &slot->pic, 1),
                               plane_of(plan, &slot->pic, 2)};

    band->size = 0;
    band->failed = 0;
    for (int y = band_row(cpu, index); y < band_row(cpu, index + 1); y++) {
        uint16_t *slice_bytes = slot->slice_bytes + (ptrdiff_t)y * plan->grid.slices_per_row;
        if (reserve(band, row_bound(plan))) {
            band->failed = 1;
            return;
        }
        for (int k = 0; k < plan->grid.slices_per_row; k++) {
            const size_t n = encode_slice(cpu, &cpu->scratch[worker], plane, cpu->spans[k], y,
                                          band->data + band->size);
            slice_bytes[k] = (uint16_t)n;
            band->size += n;
        }
    }
}

/** All bands are coded: their sizes say where everything goes. */
static void finish_frame(void *arg)
{
    Slot *slot = arg;
    const Cpu *cpu = slot->cpu;
    const PnvPlan *plan = cpu->plan;
    const size_t table_bytes = 2 * (size_t)plan->grid.n_slices;
    size_t picture_bytes = PNV_PICTURE_HEADER_BYTES + table_bytes;
    int failed = 0;

    for (int i = 0; i < cpu->n_bands; i++) {
        picture_bytes += slot->bands[i].size;
        failed |= slot->bands[i].failed;
    }
    const size_t frame_bytes = PNV_FRAME_START_BYTES + picture_bytes;
    uint8_t *at = failed ? NULL : pnv_packet_pool_take(cpu->packets, frame_bytes, &slot->packet);
    if (!at) {
        slot->error = "no memory for a coded frame";
        return;
    }
    pnv_layout_frame_start(at, &plan->header, (uint32_t)frame_bytes);
    at += PNV_FRAME_START_BYTES;
    pnv_layout_picture_header(at, &plan->grid, (uint32_t)picture_bytes);
    at += PNV_PICTURE_HEADER_BYTES;
    for (int i = 0; i < plan->grid.n_slices; i++)
        pnv_layout_slice_size(at + 2 * (ptrdiff_t)i, slot->slice_bytes[i]);
    at += table_bytes;
    for (int i = 0; i < cpu->n_bands; i++) {
        memcpy(at, slot->bands[i].data, slot->bands[i].size);
        at += slot->bands[i].size;
    }
}

static int usable_cpus(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

static int open_slot(Cpu *cpu, Slot *slot)
{
    const PnvPlan *plan = cpu->plan;

    slot->cpu = cpu;
    slot->slice_bytes = calloc((size_t)plan->grid.n_slices, sizeof *slot->slice_bytes);
    slot->bands = calloc((size_t)cpu->n_bands, sizeof *slot->bands);
    if (!slot->slice_bytes || !slot->bands)
        return -1;
    for (int i = 0; i < cpu->n_bands; i++) {
        const size_t rows = (size_t)(band_row(cpu, i + 1) - band_row(cpu, i));
        if (reserve(&slot->bands[i], row_bound(plan) * (rows / BAND_START_SHARE + 1)))
            return -1;
    }
    slot->batch = (PnvBatch){.job = encode_band, .finish = finish_frame, .arg = slot, .n_jobs = cpu->n_bands};
    return 0;
}

static void cpu_close(void *impl)
{
    Cpu *cpu = impl;

    if (!cpu)
        return;
    pnv_threadpool_delete(cpu->pool);
    for (int i = 0; cpu->slots && i < cpu->n_slots; i++) {
        Slot *slot = &cpu->slots[i];
        for (int b = 0; slot->bands && b < cpu->n_bands; b++)
            free(slot->bands[b].data);
        free(slot->bands);
        free(slot->slice_bytes);
        pnv_packet_release(&slot->packet);
    }
    free(cpu->slots);
    free(cpu->scratch);
    free(cpu->spans);
    pnv_packet_pool_unref(cpu->packets);
    free(cpu);
}

static PnvStatus cpu_open(void **impl, PnvPlan *plan, char *error)
{
    PnvParams *p = &plan->params;
    if (!p->threads)
        p->threads = min_int(usable_cpus(), PNV_MAX_THREADS);
    if (!p->frames_in_flight)
        p->frames_in_flight = 1;

    Cpu *cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        goto fail;
    cpu->plan = plan;
    pnv_dsp_init(&cpu->dsp);
    cpu->n_slots = p->frames_in_flight;
    cpu->n_bands = p->threads == 1 ? 1 : min_int(plan->grid.height_mb, BANDS_PER_THREAD * p->threads);
    cpu->packets = pnv_packet_pool_new();
    cpu->scratch = aligned_alloc(_Alignof(Scratch), (size_t)p->threads * sizeof *cpu->scratch);
    cpu->spans = calloc((size_t)plan->grid.slices_per_row, sizeof *cpu->spans);
    cpu->slots = calloc((size_t)cpu->n_slots, sizeof *cpu->slots);
    if (!cpu->packets || !cpu->scratch || !cpu->spans || !cpu->slots)
        goto fail;
    for (int k = 0; k < plan->grid.slices_per_row; k++)
        cpu->spans[k] = pnv_grid_span(&plan->grid, k);
    for (int i = 0; i < cpu->n_slots; i++) {
        if (open_slot(cpu, &cpu->slots[i]))
            goto fail;
    }
    cpu->pool = pnv_threadpool_new(p->threads);
    if (!cpu->pool)
        goto fail;
    *impl = cpu;
    return PNV_OK;

fail:
    snprintf(error, PNV_ERROR_BYTES, "no memory or threads for %dx%d with %d frames in flight and %d threads", p->width,
             p->height, p->frames_in_flight, p->threads);
    cpu_close(cpu);
    return PNV_ENOMEM;
}

static PnvStatus cpu_stage(void *impl, int slot, const PnvPicture *pic, char *error)
{
    Cpu *cpu = impl;

    (void)error; /* the planes are read where they are: nothing can fail */
    cpu->slots[slot].pic = *pic;
    return PNV_OK;
}

static void cpu_submit(void *impl, int slot)
{
    Cpu *cpu = impl;

    cpu->slots[slot].error = NULL;
    pnv_threadpool_run(cpu->pool, &cpu->slots[slot].batch);
}

static void cpu_wait(void *impl, int slot)
{
    Cpu *cpu = impl;

    pnv_threadpool_wait(cpu->pool, &cpu->slots[slot].batch);
}

static PnvStatus cpu_take(void *impl, int slot, PnvPacket *packet)
{
    Slot *s = &((Cpu *)impl)->slots[slot];

    *packet = s->packet;
    s->packet = (PnvPacket){0};
    packet->error = s->error;
    return s->error ? PNV_ENOMEM : PNV_OK;
}

const PnvBackendOps pnv_backend_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .stage = cpu_stage,
    .submit = cpu_submit,
    .wait = cpu_wait,
    .take = cpu_take,
    .close = cpu_close,
};
