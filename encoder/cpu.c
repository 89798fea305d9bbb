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
    uint16_t *slice_bytes; /* of all slices of the frame, in coding order */
    Band *bands;           /* picture by picture */
    PnvBatch batch;
    PnvPacket packet;
    const char *error;
} Slot;

/* One thread's memory for one slice, a few kilobytes. */
typedef struct Scratch {
    _Alignas(64) int16_t coef[64 * PNV_MAX_BLOCKS];
    _Alignas(64) uint16_t alpha[PNV_MAX_ALPHA_VALUES];
} Scratch;

struct Cpu {
    PnvPlan *plan;
    PnvDsp dsp;
    PnvThreadpool *pool;
    PnvPacketPool *packets;
    Scratch *scratch; /* one a thread */
    Slot *slots;
    PnvSpan *spans; /* of the slices of any row */
    int n_slots;
    int n_bands;    /* of a frame, at most */
};

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

/* Bands of each picture of a frame. No band is empty: a bottom field can have a row less than the top one. */
static int bands_per_picture(const PnvPlan *plan, const PnvFraming *f)
{
    const int threads = plan->params.threads, wanted = threads == 1 ? 1 : BANDS_PER_THREAD * threads / f->n_pictures;
    int rows = f->picture[0].grid.height_mb;

    if (f->n_pictures == 2)
        rows = min_int(rows, f->picture[1].grid.height_mb);
    return min_int(rows, wanted);
}

/* First MB row of a band of a picture; that of band n_bands is the picture's end. */
static int band_row(const PnvGrid *grid, int band, int n_bands)
{
    return (int)((int64_t)grid->height_mb * band / n_bands);
}

static size_t row_bound(const PnvPlan *plan)
{
    const PnvGrid *grid = &plan->framing[0].picture[0].grid;
    return pnv_slice_bound(plan->params.chroma, plan->params.alpha_bits, grid->mbs_per_slice) *
           (size_t)grid->slices_per_row;
}

/** A slice on its way: where it is, and the memory to code it in. */
typedef struct SliceJob {
    const Cpu *cpu;
    const PnvFraming *framing;
    const PnvPlane *planes;
    PnvSpan span;
    int mb_y;
    Scratch *scratch;
} SliceJob;

/** Code Y (0), Cb or Cr. Returns its bytes, at most capacity. */
static size_t encode_colour(const SliceJob *job, int c, uint8_t *dst, size_t capacity)
{
    const PnvDsp *dsp = &job->cpu->dsp;
    const PnvChroma chroma = job->cpu->plan->params.chroma;
    const int n_mb = job->span.n_mb, mb_width = pnv_mb_width(chroma, c > 0);
    const int n_blocks = n_mb * pnv_blocks_per_mb(chroma, c > 0);
    const PnvBlockOrder order = !c                         ? PNV_BLOCKS_LUMA
                                : chroma == PNV_CHROMA_422 ? PNV_BLOCKS_CHROMA_422
                                                           : PNV_BLOCKS_CHROMA_444;
    Scratch *s = job->scratch;

    dsp->forward(s->coef, &job->planes[c], job->span.mb_x * mb_width, job->mb_y * 16, order, n_mb, job->framing->scan,
                 &job->framing->quant[c > 0]);
    return dsp->entropy_write(dst, capacity, s->coef, n_blocks);
}

static size_t encode_alpha(const SliceJob *job, uint8_t *dst, size_t capacity)
{
    const PnvDsp *dsp = &job->cpu->dsp;
    const int bits = job->cpu->plan->params.alpha_bits, width = 16 * job->span.n_mb;

    dsp->alpha_fetch(job->scratch->alpha, &job->planes[3], bits, 16 * job->span.mb_x, 16 * job->mb_y, width);
    return dsp->alpha_write(dst, capacity, job->scratch->alpha, 16 * width, bits);
}

/** Code one slice at dst, which has room for its bound. Returns its bytes. */
static size_t encode_slice(const SliceJob *job, uint8_t *dst)
{
    const PnvParams *p = &job->cpu->plan->params;
    const size_t bound = pnv_slice_bound(p->chroma, p->alpha_bits, job->span.n_mb);
    size_t unit_bytes[3], size = pnv_slice_header_bytes(p->alpha_bits);

    for (int c = 0; c < 3; c++) {
        unit_bytes[c] = encode_colour(job, c, dst + size, bound - size);
        size += unit_bytes[c];
    }
    if (p->alpha_bits)
        size += encode_alpha(job, dst + size, bound - size);
    pnv_layout_slice_header(dst, p->quantizer, unit_bytes, p->alpha_bits);
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
    const PnvFraming *framing = &plan->framing[slot->pic.interlace];
    const int n_bands = bands_per_picture(plan, framing), i = index / n_bands;
    const PnvPictureShape *shape = &framing->picture[i];
    const int slices_per_row = shape->grid.slices_per_row, first_slice = i ? framing->picture[0].grid.n_slices : 0;
    const int end = band_row(&shape->grid, index % n_bands + 1, n_bands);
    Band *band = &slot->bands[index];
    PnvPlane planes[4];
    SliceJob job = {.cpu = cpu, .framing = framing, .planes = planes, .scratch = &cpu->scratch[worker]};

    for (int c = 0; c < plan->n_components; c++)
        planes[c] = pnv_plan_plane(plan, &slot->pic, shape, c);
    band->size = 0;
    band->failed = 0;
    for (job.mb_y = band_row(&shape->grid, index % n_bands, n_bands); job.mb_y < end; job.mb_y++) {
        uint16_t *slice_bytes = slot->slice_bytes + first_slice + (ptrdiff_t)job.mb_y * slices_per_row;
        if (reserve(band, row_bound(plan))) {
            band->failed = 1;
            return;
        }
        for (int k = 0; k < slices_per_row; k++) {
            job.span = cpu->spans[k];
            const size_t n = encode_slice(&job, band->data + band->size);
            slice_bytes[k] = (uint16_t)n;
            band->size += n;
        }
    }
}

/** Bytes of picture() i, or 0 if one of its bands failed. */
static size_t picture_bytes(const Slot *slot, const PnvFraming *framing, int i, int n_bands)
{
    size_t bytes = PNV_PICTURE_HEADER_BYTES + 2 * (size_t)framing->picture[i].grid.n_slices;

    for (const Band *b = slot->bands + i * n_bands; b < slot->bands + (i + 1) * n_bands; b++) {
        if (b->failed)
            return 0;
        bytes += b->size;
    }
    return bytes;
}

/** Write picture() i and return where it ends. */
static uint8_t *lay_out_picture(uint8_t *at, const Slot *slot, const PnvFraming *framing, int i, int n_bands,
                                size_t bytes)
{
    const PnvGrid *grid = &framing->picture[i].grid;
    const uint16_t *slice_bytes = slot->slice_bytes + (i ? framing->picture[0].grid.n_slices : 0);

    pnv_layout_picture_header(at, grid, (uint32_t)bytes);
    at += PNV_PICTURE_HEADER_BYTES;
    for (int k = 0; k < grid->n_slices; k++, at += 2)
        pnv_layout_slice_size(at, slice_bytes[k]);
    for (const Band *b = slot->bands + i * n_bands; b < slot->bands + (i + 1) * n_bands; b++) {
        memcpy(at, b->data, b->size);
        at += b->size;
    }
    return at;
}

/** All bands are coded: their sizes say where everything goes. */
static void finish_frame(void *arg)
{
    Slot *slot = arg;
    const Cpu *cpu = slot->cpu;
    const PnvPlan *plan = cpu->plan;
    const PnvFraming *framing = &plan->framing[slot->pic.interlace];
    const int n_bands = bands_per_picture(plan, framing);
    size_t frame_bytes = PNV_FRAME_START_BYTES, bytes[2];
    int failed = 0;

    for (int i = 0; i < framing->n_pictures; i++) {
        bytes[i] = picture_bytes(slot, framing, i, n_bands);
        failed |= !bytes[i];
        frame_bytes += bytes[i];
    }
    uint8_t *at = failed ? NULL : pnv_packet_pool_take(cpu->packets, frame_bytes, &slot->packet);
    if (!at) {
        slot->error = "no memory for a coded frame";
        return;
    }
    PnvFrameHeader header = plan->header;
    header.interlace = slot->pic.interlace;
    pnv_layout_frame_start(at, &header, (uint32_t)frame_bytes);
    at += PNV_FRAME_START_BYTES;
    for (int i = 0; i < framing->n_pictures; i++)
        at = lay_out_picture(at, slot, framing, i, n_bands, bytes[i]);
}

static int usable_cpus(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

static int open_slot(Cpu *cpu, Slot *slot)
{
    const PnvPlan *plan = cpu->plan;
    int n_slices = 0;

    for (int i = PNV_PROGRESSIVE; i <= PNV_BOTTOM_FIELD_FIRST; i++)
        n_slices = max_int(n_slices, plan->framing[i].n_slices);
    slot->cpu = cpu;
    slot->slice_bytes = calloc((size_t)n_slices, sizeof *slot->slice_bytes);
    slot->bands = calloc((size_t)cpu->n_bands, sizeof *slot->bands);
    if (!slot->slice_bytes || !slot->bands)
        return -1;
    const size_t rows = (size_t)(plan->framing[0].picture[0].grid.height_mb / cpu->n_bands);
    for (int i = 0; i < cpu->n_bands; i++) {
        if (reserve(&slot->bands[i], row_bound(plan) * (rows / BAND_START_SHARE + 1)))
            return -1;
    }
    slot->batch = (PnvBatch){.job = encode_band, .finish = finish_frame, .arg = slot};
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
    pnv_dsp_init(&cpu->dsp, p->cpu);
    cpu->n_slots = p->frames_in_flight;
    for (int i = PNV_PROGRESSIVE; i <= PNV_BOTTOM_FIELD_FIRST; i++) {
        const PnvFraming *f = &plan->framing[i];
        if (f->n_pictures)
            cpu->n_bands = max_int(cpu->n_bands, f->n_pictures * bands_per_picture(plan, f));
    }
    cpu->packets = pnv_packet_pool_new();
    cpu->scratch = aligned_alloc(_Alignof(Scratch), (size_t)p->threads * sizeof *cpu->scratch);
    const PnvGrid *grid = &plan->framing[0].picture[0].grid; /* all pictures have its columns */
    cpu->spans = calloc((size_t)grid->slices_per_row, sizeof *cpu->spans);
    cpu->slots = calloc((size_t)cpu->n_slots, sizeof *cpu->slots);
    if (!cpu->packets || !cpu->scratch || !cpu->spans || !cpu->slots)
        goto fail;
    for (int k = 0; k < grid->slices_per_row; k++)
        cpu->spans[k] = pnv_grid_span(grid, k);
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
    Slot *s = &cpu->slots[slot];
    const PnvFraming *framing = &cpu->plan->framing[s->pic.interlace];

    s->error = NULL;
    s->batch.n_jobs = framing->n_pictures * bands_per_picture(cpu->plan, framing);
    pnv_threadpool_run(cpu->pool, &s->batch);
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
