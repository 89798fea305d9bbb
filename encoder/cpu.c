/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU backend: what of a frame comes after what. A frame is a batch of bands; a band's thread carries each slice
 * through the stages while it sits in the first-level cache, and appends it to the band's own memory. The thread that
 * ends the last band knows all sizes, takes a packet and says where each band's slices go, and the bands are copied
 * there by all threads: one copy of the coded bytes, none of the input. Bands of the next frame start meanwhile. One
 * thread alone knows at each slice where it goes, and codes it there.
 *
 * Where a frame has a target or passes a maximum, it takes several rounds of jobs: the bands first make coefficients,
 * keep them and count their sizes; then rate.h says which slices to code at which quantizer, round by round, each ended
 * by the thread that comes last. What was coded stays in the bands' memory, found by its slice.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend.h"
#include "bands.h"
#include "hostmem.h"

/* Memory starts with room for 1/8 of the bound and doubles when a frame needs more: what frames really take. */
enum { START_SHARE = 8 };

typedef struct Cpu {
    PnvFrameCommon common;
    PnvThreadpool *pool;
    PnvFrame *frames; /* in flight, by slot */
    int n_frames;
    int n_bands; /* of a frame, at most */
} Cpu;

/** What memory for one of n parts of a frame's slices starts with. */
static size_t start_room(const PnvPlan *plan, int n)
{
    const PnvGrid *grid = &plan->framing[0].picture[0].grid;
    const size_t slice = pnv_slice_bound(plan->chroma, plan->params.alpha_bits, grid->mbs_per_slice);

    return slice * (size_t)(grid->n_slices / n / START_SHARE + 1);
}

/** Whether frames are coded where they stay, as far as a maximum lets them. */
static int codes_in_packet(const PnvPlan *plan)
{
    return plan->params.threads == 1 && plan->params.rate_control != PNV_RATE_TARGET;
}

static size_t alpha_bytes(const PnvFrame *frame)
{
    size_t bytes = 0;

    for (int i = 0; i < pnv_frame_bands(frame); i++)
        bytes += frame->bands[i].alpha_bytes;
    return bytes;
}

/** Bytes of a frame that are not slices. */
static size_t frame_overhead(const PnvFraming *f)
{
    return PNV_FRAME_START_BYTES + (size_t)f->n_pictures * PNV_PICTURE_HEADER_BYTES + 2 * (size_t)f->n_slices;
}

static void report_rate(const PnvFrame *frame, PnvPacket *packet)
{
    PnvRateReport report = {
        .n_slices = pnv_frame_framing(frame)->n_slices,
        .alpha_bytes = (uint32_t)alpha_bytes(frame),
        .is_searched = frame->is_searched,
        .position = frame->rate.position,
        .n_rounds = frame->rate.n_rounds,
    };

    for (int i = 0; i < pnv_frame_bands(frame); i++)
        report.n_coded += frame->bands[i].n_coded;
    pnv_plan_report(frame->common->plan, &report, packet);
}

static int continue_with(PnvFrame *frame, int n_jobs, void (*job)(void *arg, int job, int worker),
                         int (*finish)(void *arg))
{
    frame->batch.n_jobs = n_jobs;
    frame->batch.job = job;
    frame->batch.finish = finish;
    return 1;
}

static int finish_frame(void *arg)
{
    PnvFrame *frame = arg;

    report_rate(frame, &frame->packet);
    return 0;
}

/** Everything is coded: sizes say where it goes. */
static int place_frame(PnvFrame *frame)
{
    const PnvFraming *f = pnv_frame_framing(frame);
    const int per_picture = pnv_bands_per_picture(frame->common->plan, f);
    size_t at = PNV_FRAME_START_BYTES, begin[3] = {at};
    PnvBand *band = frame->bands;

    for (int i = 0; i < f->n_pictures; i++) {
        size_t table = at + PNV_PICTURE_HEADER_BYTES;
        at = table + 2 * (size_t)f->picture[i].grid.n_slices;
        for (int b = 0; b < per_picture; b++, band++) {
            int first;
            band->table = table;
            band->place = at;
            table += 2 * (size_t)pnv_band_slices(frame, i * per_picture + b, &first);
            at += pnv_band_bytes(frame, i * per_picture + b);
        }
        begin[i + 1] = at;
    }
    frame->data = pnv_packet_pool_take(frame->common->packets, at, &frame->packet);
    if (!frame->data) {
        frame->error = PNV_FRAME_NO_MEMORY;
        return 0;
    }
    pnv_frame_start(frame);
    for (int i = 0; i < f->n_pictures; i++)
        pnv_layout_picture_header(frame->data + begin[i], &f->picture[i].grid, (uint32_t)(begin[i + 1] - begin[i]));
    return continue_with(frame, pnv_frame_bands(frame), pnv_band_place, finish_frame);
}

/** Whether all bands have the memory they need; else the frame fails. */
static int bands_are_well(PnvFrame *frame)
{
    for (int i = 0; i < pnv_frame_bands(frame); i++) {
        if (frame->bands[i].failed)
            frame->error = PNV_FRAME_NO_MEMORY;
    }
    return !frame->error;
}

static int finish_round(void *arg);

/** Set the next round of the search going, or end the frame. */
static int next_round(PnvFrame *frame, PnvRateStep step)
{
    if (step == PNV_RATE_CODE)
        return continue_with(frame, pnv_frame_bands(frame), pnv_band_search, finish_round);
    return place_frame(frame);
}

static int finish_round(void *arg)
{
    PnvFrame *frame = arg;
    int64_t bytes = 0;

    if (!bands_are_well(frame))
        return 0;
    for (int i = 0; i < pnv_frame_bands(frame); i++)
        bytes += (int64_t)frame->bands[i].wanted_bytes;
    return next_round(frame, pnv_rate_coded(&frame->rate, bytes));
}

static int finish_analysis(void *arg)
{
    PnvFrame *frame = arg;
    const PnvPlan *plan = frame->common->plan;
    const int64_t overhead = (int64_t)frame_overhead(pnv_frame_framing(frame)), alpha = (int64_t)alpha_bytes(frame);
    PnvRate *rate = &frame->rate;

    if (!bands_are_well(frame))
        return 0;
    for (int i = 0; i < pnv_frame_bands(frame); i++) {
        pnv_rate_histogram_add(&rate->all, &frame->bands[i].all);
        pnv_rate_histogram_add(&rate->sampled, &frame->bands[i].sampled);
        pnv_rate_histogram_add(&rate->part, &frame->bands[i].part);
    }
    rate->limit = plan->params.max_frame_bytes ? plan->params.max_frame_bytes - alpha : plan->target_bytes;
    rate->target = plan->target_bytes && plan->target_bytes < rate->limit ? plan->target_bytes : rate->limit;
    rate->limit -= overhead;
    rate->target -= overhead;
    return next_round(frame, pnv_rate_begin(rate));
}

static int start_search(PnvFrame *frame)
{
    const PnvPlan *plan = frame->common->plan;
    const PnvFraming *f = pnv_frame_framing(frame);
    const int is_target = plan->params.rate_control == PNV_RATE_TARGET;

    frame->rate = (PnvRate){
        .n_slices = f->n_slices,
        .n_samples = pnv_rate_n_samples(f->n_slices),
        .n_part = pnv_rate_n_part(f->n_slices),
        .rounding = plan->params.rounding,
        .multiplier = f->rank_multiplier,
        .min_quantizer = plan->first_quantizer,
        .max_quantizer = is_target ? plan->params.max_quantizer : plan->first_quantizer + plan->n_quantizers - 1,
    };
    frame->is_searched = 1;
    return continue_with(frame, pnv_frame_bands(frame), pnv_band_analyse, finish_analysis);
}

/** Whether the constant quantizer's frame passes a maximum: then it does not stand. */
static int is_over(const PnvFrame *frame, size_t bytes)
{
    const size_t max = frame->common->plan->params.max_frame_bytes;

    return max && bytes > max;
}

static int finish_bands(void *arg)
{
    PnvFrame *frame = arg;
    size_t bytes = frame_overhead(pnv_frame_framing(frame));

    if (!bands_are_well(frame))
        return 0;
    for (int i = 0; i < pnv_frame_bands(frame); i++)
        bytes += frame->bands[i].size;
    return is_over(frame, bytes) ? start_search(frame) : place_frame(frame);
}

static int finish_coded_frame(void *arg)
{
    PnvFrame *frame = arg;

    if (frame->error)
        return 0;
    if (!is_over(frame, frame->packet.size))
        return finish_frame(frame);
    pnv_packet_release(&frame->packet);
    return start_search(frame);
}

static int usable_cpus(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

/* Coefficients are kept where a frame's size decides, even if there is but one quantizer left to decide for. */
static int open_coefficients(PnvFrame *frame)
{
    const PnvPlan *plan = frame->common->plan;
    size_t n_mb = 0;

    if (plan->params.rate_control != PNV_RATE_TARGET && !plan->params.max_frame_bytes)
        return 0;
    for (int i = PNV_PROGRESSIVE; i <= PNV_BOTTOM_FIELD_FIRST; i++) {
        size_t n = 0;
        for (int k = 0; k < plan->framing[i].n_pictures; k++)
            n += (size_t)plan->framing[i].picture[k].grid.width_mb * (size_t)plan->framing[i].picture[k].grid.height_mb;
        n_mb = n > n_mb ? n : n_mb;
    }
    frame->coef = pnv_pages_alloc(n_mb * 128 * (size_t)pnv_encode_blocks_per_mb(plan));
    return frame->coef ? 0 : -1;
}

static int open_frame(Cpu *cpu, PnvFrame *frame)
{
    const PnvPlan *plan = cpu->common.plan;
    int n_slices = 0;

    for (int i = PNV_PROGRESSIVE; i <= PNV_BOTTOM_FIELD_FIRST; i++)
        n_slices = pnv_max(n_slices, plan->framing[i].n_slices);
    frame->common = &cpu->common;
    frame->slices = calloc((size_t)n_slices, sizeof *frame->slices);
    frame->bands = calloc((size_t)cpu->n_bands, sizeof *frame->bands);
    if (!frame->slices || !frame->bands || open_coefficients(frame))
        return -1;
    for (int i = 0; i < cpu->n_bands && (!codes_in_packet(plan) || frame->coef); i++) {
        if (pnv_band_reserve(&frame->bands[i], start_room(plan, cpu->n_bands)))
            return -1;
    }
    frame->batch = (PnvBatch){.arg = frame};
    return 0;
}

static int open_common(PnvFrameCommon *common, PnvPlan *plan)
{
    const PnvGrid *grid = &plan->framing[0].picture[0].grid; /* all pictures have its columns */

    common->plan = plan;
    common->room = start_room(plan, 1);
    pnv_dsp_init(&common->dsp, plan->params.cpu);
    common->packets = pnv_packet_pool_new();
    common->scratch = aligned_alloc(_Alignof(PnvScratch), (size_t)plan->params.threads * sizeof *common->scratch);
    common->spans = calloc((size_t)grid->slices_per_row, sizeof *common->spans);
    if (!common->packets || !common->scratch || !common->spans)
        return -1;
    for (int k = 0; k < grid->slices_per_row; k++)
        common->spans[k] = pnv_grid_span(grid, k);
    return 0;
}

static int open_all(Cpu *cpu, PnvPlan *plan)
{
    if (open_common(&cpu->common, plan))
        return -1;
    for (int i = PNV_PROGRESSIVE; i <= PNV_BOTTOM_FIELD_FIRST; i++) {
        const PnvFraming *f = &plan->framing[i];
        if (f->n_pictures)
            cpu->n_bands = pnv_max(cpu->n_bands, f->n_pictures * pnv_bands_per_picture(plan, f));
    }
    cpu->n_frames = plan->params.frames_in_flight;
    cpu->frames = calloc((size_t)cpu->n_frames, sizeof *cpu->frames);
    for (int i = 0; i < cpu->n_frames; i++) {
        if (!cpu->frames || open_frame(cpu, &cpu->frames[i]))
            return -1;
    }
    cpu->pool = pnv_threadpool_new(plan->params.threads);
    return cpu->pool ? 0 : -1;
}

static void cpu_close(void *impl)
{
    Cpu *cpu = impl;

    if (!cpu)
        return;
    pnv_threadpool_delete(cpu->pool);
    for (int i = 0; cpu->frames && i < cpu->n_frames; i++) {
        PnvFrame *frame = &cpu->frames[i];
        for (int b = 0; frame->bands && b < cpu->n_bands; b++)
            free(frame->bands[b].data);
        free(frame->bands);
        free(frame->slices);
        free(frame->coef);
        pnv_packet_release(&frame->packet);
    }
    free(cpu->frames);
    free(cpu->common.scratch);
    free(cpu->common.spans);
    pnv_packet_pool_unref(cpu->common.packets);
    free(cpu);
}

static PnvStatus cpu_open(void **impl, PnvPlan *plan, char *error)
{
    PnvParams *p = &plan->params;

    if (!p->threads)
        p->threads = pnv_min(usable_cpus(), PNV_MAX_THREADS);
    if (!p->frames_in_flight)
        p->frames_in_flight = 1;
    Cpu *cpu = calloc(1, sizeof *cpu);
    if (!cpu || open_all(cpu, plan)) {
        snprintf(error, PNV_ERROR_BYTES, "no memory or threads for %dx%d with %d frames in flight and %d threads",
                 p->width, p->height, p->frames_in_flight, p->threads);
        cpu_close(cpu);
        return PNV_ENOMEM;
    }
    *impl = cpu;
    return PNV_OK;
}

static PnvStatus cpu_stage(void *impl, int slot, const PnvPicture *pic, char *error)
{
    Cpu *cpu = impl;

    (void)error; /* the planes are read where they are: nothing can fail */
    cpu->frames[slot].pic = *pic;
    return PNV_OK;
}

static void cpu_submit(void *impl, int slot)
{
    Cpu *cpu = impl;
    PnvFrame *frame = &cpu->frames[slot];
    const int n_bands = pnv_frame_bands(frame);

    frame->error = NULL;
    frame->is_searched = 0;
    for (int i = 0; i < n_bands; i++)
        frame->bands[i].n_coded = 0;
    if (cpu->common.plan->params.rate_control == PNV_RATE_TARGET)
        start_search(frame);
    else if (codes_in_packet(cpu->common.plan))
        continue_with(frame, 1, pnv_frame_code, finish_coded_frame);
    else
        continue_with(frame, n_bands, pnv_band_code, finish_bands);
    pnv_threadpool_run(cpu->pool, &frame->batch);
}

static void cpu_wait(void *impl, int slot)
{
    Cpu *cpu = impl;

    pnv_threadpool_wait(cpu->pool, &cpu->frames[slot].batch);
}

static PnvStatus cpu_take(void *impl, int slot, PnvPacket *packet)
{
    PnvFrame *frame = &((Cpu *)impl)->frames[slot];

    *packet = frame->packet;
    frame->packet = (PnvPacket){0};
    packet->error = frame->error;
    return frame->error ? PNV_ENOMEM : PNV_OK;
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
