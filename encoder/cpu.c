/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU backend. A frame is a batch of bands, slices that follow each other; a band's thread carries each one through
 * the stages while it sits in the first-level cache, and appends it to the band's own memory. The thread that ends the
 * last band knows all sizes, takes a packet and says where each band's slices go, and the bands are copied there by all
 * threads: one copy of the coded bytes, none of the input. Bands of the next frame start meanwhile. One thread alone
 * knows at each slice where it goes, and codes it there.
 *
 * Where a frame has a target or passes a maximum, it takes several rounds of jobs: the bands first make coefficients,
 * keep them and count their sizes; then rate.h says which slices to code at which quantizer, round by round, each ended
 * by the thread that comes last. What was coded stays in the bands' memory, found by its slice.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "encode.h"
#include "hostmem.h"
#include "packet.h"
#include "threadpool.h"

/*
 * Bands of a frame for each thread: content is uneven, and a thread that is done early takes another band. One of a
 * few slices is not worth handing out.
 */
enum { BANDS_PER_THREAD = 4, LEAST_SLICES = 4 };

/* Memory starts with room for 1/8 of the bound and doubles when a frame needs more: what frames really take. */
enum { START_SHARE = 8 };

static const char no_memory[] = "no memory to code a frame in";

typedef struct Band {
    uint8_t *data; /* coded slices and alpha units, one after the other */
    size_t size, capacity;
    size_t alpha_bytes;
    size_t place, table; /* of its slices and their sizes, bytes into the frame */
    uint32_t n_coded; /* slices, over all rounds */
    PnvRateHistogram all, sampled, part;
    size_t wanted_bytes; /* of the slices that the search asked for, alpha aside */
    int failed;
} Band;

/* Something coded in its band's memory. */
typedef struct Piece {
    uint32_t offset;
    uint16_t bytes;
    uint8_t quantizer; /* 0: nothing */
} Piece;

typedef struct Slice {
    Piece coded[2]; /* at the last two quantizers: the border of rate.h may move to and fro */
    Piece alpha;
} Slice;

typedef struct Cpu Cpu;

typedef struct Slot {
    Cpu *cpu;
    PnvPicture pic;
    Slice *slices; /* of all pictures of the frame, in coding order */
    Band *bands;   /* picture by picture */
    int16_t *coef; /* of all slices, in coding order; NULL at a plain constant quantizer */
    PnvRate rate;
    int is_searched; /* rather than coded at the constant quantizer */
    PnvBatch batch;
    PnvPacket packet;
    uint8_t *frame; /* the packet's bytes */
    const char *error;
} Slot;

struct Cpu {
    PnvPlan *plan;
    PnvDsp dsp;
    PnvThreadpool *pool;
    PnvPacketPool *packets;
    PnvScratch *scratch; /* one a thread */
    Slot *slots;
    PnvSpan *spans;  /* of the slices of any row */
    int n_slots;
    int n_bands;     /* of a frame, at most */
    size_t room;     /* what a frame coded in its packet begins with: what the last one took, and a slice */
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
    int n_slices = f->picture[0].grid.n_slices;

    if (f->n_pictures == 2)
        n_slices = min_int(n_slices, f->picture[1].grid.n_slices);
    return min_int(wanted, (n_slices + LEAST_SLICES - 1) / LEAST_SLICES);
}

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

static const PnvFraming *framing_of(const Slot *slot)
{
    return &slot->cpu->plan->framing[slot->pic.interlace];
}

/* A walk over the slices of a band: where the next one is, and what it takes to code it. */
typedef struct Walk {
    PnvSliceJob job;
    PnvPlane planes[4];
    const Cpu *cpu;
    const PnvGrid *grid;
    Band *band;
    Slice *slice;
    int16_t *coef;
    int index;      /* of the slice in the frame */
    int column;     /* and in its row */
    int n_left;     /* slices of the band, this one among them */
} Walk;

/** Bands of the frame. */
static int bands_of_frame(const Slot *slot)
{
    const PnvFraming *f = framing_of(slot);

    return f->n_pictures * bands_per_picture(slot->cpu->plan, f);
}

static int picture_of_band(const Slot *slot, int band)
{
    return band / bands_per_picture(slot->cpu->plan, framing_of(slot));
}

/** Slices of the frame in front of a picture. */
static int slices_before(const Slot *slot, int picture)
{
    return picture ? framing_of(slot)->picture[0].grid.n_slices : 0;
}

/** The slices of a band: how many, and which one of the frame is first. */
static int slices_of_band(const Slot *slot, int band, int *first)
{
    const PnvFraming *f = framing_of(slot);
    const int n_bands = bands_per_picture(slot->cpu->plan, f), picture = picture_of_band(slot, band);
    const int64_t n_slices = f->picture[picture].grid.n_slices, i = band % n_bands;
    const int begin = (int)(n_slices * i / n_bands), end = (int)(n_slices * (i + 1) / n_bands);

    *first = slices_before(slot, picture) + begin;
    return end - begin;
}

static void walk_band(Walk *w, Slot *slot, int band, int worker)
{
    const Cpu *cpu = slot->cpu;
    const PnvFraming *f = framing_of(slot);
    const int picture = picture_of_band(slot, band);
    const PnvPictureShape *shape = &f->picture[picture];
    const PnvGrid *grid = &shape->grid, *before = picture ? &f->picture[0].grid : NULL;

    *w = (Walk){.cpu = cpu, .grid = grid, .band = &slot->bands[band]};
    w->n_left = slices_of_band(slot, band, &w->index);
    w->slice = &slot->slices[w->index];
    const int in_picture = w->index - slices_before(slot, picture);
    w->column = in_picture % grid->slices_per_row;
    w->job = (PnvSliceJob){.plan = cpu->plan, .dsp = &cpu->dsp, .framing = f, .shape = shape, .planes = w->planes,
                           .span = cpu->spans[w->column], .mb_y = in_picture / grid->slices_per_row,
                           .scratch = &cpu->scratch[worker]};
    for (int c = 0; c < cpu->plan->n_components; c++)
        w->planes[c] = pnv_plan_plane(cpu->plan, &slot->pic, shape, c);
    if (slot->coef) {
        const ptrdiff_t mbs = (before ? (ptrdiff_t)before->width_mb * before->height_mb : 0) +
                              (ptrdiff_t)w->job.mb_y * grid->width_mb + w->job.span.mb_x;
        w->coef = slot->coef + 64 * mbs * pnv_encode_blocks_per_mb(cpu->plan);
    }
}

/** To the next slice of the band. 0 at its end. */
static int walk_next(Walk *w)
{
    w->index++;
    w->slice++;
    if (w->coef)
        w->coef += (ptrdiff_t)w->job.span.n_mb * 64 * pnv_encode_blocks_per_mb(w->cpu->plan);
    if (++w->column == w->grid->slices_per_row) {
        w->column = 0;
        w->job.mb_y++;
    }
    w->job.span = w->cpu->spans[w->column];
    return --w->n_left > 0;
}

/** Most bytes of the slice that comes next. */
static size_t next_slice_bound(const Walk *w)
{
    return pnv_slice_bound(w->cpu->plan->chroma, w->cpu->plan->params.alpha_bits, w->job.span.n_mb);
}

static int reserve(Band *band, size_t more)
{
    if (band->capacity - band->size >= more)
        return 0;
    if (band->size + more > UINT32_MAX) /* what a piece's offset can say */
        return -1;
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

/** Room for one more slice. 0, or -1 without memory: the band has failed. */
static int reserve_slice(const Walk *w)
{
    if (reserve(w->band, next_slice_bound(w)))
        w->band->failed = 1;
    return w->band->failed ? -1 : 0;
}

/** What was just written behind the band's end. */
static Piece keep(Band *band, size_t bytes, int quantizer)
{
    const Piece piece = {(uint32_t)band->size, (uint16_t)bytes, (uint8_t)quantizer};

    band->size += bytes;
    return piece;
}

static void reset_band(Band *band)
{
    band->size = 0;
    band->alpha_bytes = 0;
    band->failed = 0;
}

/** Job of a plain constant quantizer: everything at once. */
static void code_band(void *arg, int index, int worker)
{
    Slot *slot = arg;
    const int quantizer = slot->cpu->plan->params.quantizer;
    Walk w;

    walk_band(&w, slot, index, worker);
    reset_band(w.band);
    do {
        size_t alpha_bytes;
        if (reserve_slice(&w))
            return;
        const size_t n = pnv_encode_slice(&w.job, quantizer, w.band->data + w.band->size, &alpha_bytes);
        *w.slice = (Slice){.coded = {keep(w.band, n, quantizer)}};
        w.band->alpha_bytes += alpha_bytes;
        w.band->n_coded++;
    } while (walk_next(&w));
}

/** Room for more bytes behind those that the frame has. 0, or -1 without memory. */
static int reserve_frame(Slot *slot, size_t n_used, size_t more)
{
    if (pnv_packet_room(&slot->packet) - n_used >= more)
        return 0;
    uint8_t *frame = pnv_packet_grow(&slot->packet, n_used, n_used + more);
    if (!frame)
        return -1;
    slot->frame = frame;
    return 0;
}

/** Code picture i, the band of that number, where it stays: begin bytes into the frame. Its end, 0 without memory. */
static size_t code_picture(Slot *slot, int i, size_t begin, int worker)
{
    const PnvGrid *grid = &framing_of(slot)->picture[i].grid;
    size_t table = begin + PNV_PICTURE_HEADER_BYTES, at = table + 2 * (size_t)grid->n_slices;
    Walk w;

    walk_band(&w, slot, i, worker);
    reset_band(w.band);
    if (reserve_frame(slot, begin, at - begin))
        return 0;
    do {
        size_t alpha_bytes;
        if (reserve_frame(slot, at, next_slice_bound(&w)))
            return 0;
        const size_t n = pnv_encode_slice(&w.job, slot->cpu->plan->params.quantizer, slot->frame + at, &alpha_bytes);
        pnv_layout_slice_size(slot->frame + table, n);
        table += 2;
        at += n;
        w.band->alpha_bytes += alpha_bytes;
        w.band->n_coded++;
    } while (walk_next(&w));
    pnv_layout_picture_header(slot->frame + begin, grid, (uint32_t)(at - begin));
    return at;
}

static void lay_out_start(Slot *slot)
{
    PnvFrameHeader header = slot->cpu->plan->header;

    header.interlace = slot->pic.interlace;
    pnv_layout_frame_start(slot->frame, &header, (uint32_t)slot->packet.size);
}

/** Job of a plain constant quantizer on one thread: everything at once, where it stays. */
static void code_frame(void *arg, int index, int worker)
{
    Slot *slot = arg;
    Cpu *cpu = slot->cpu;
    const PnvFraming *f = framing_of(slot);
    size_t at = PNV_FRAME_START_BYTES;

    (void)index;
    slot->frame = pnv_packet_pool_take(cpu->packets, cpu->room, &slot->packet);
    for (int i = 0; slot->frame && i < f->n_pictures && at; i++)
        at = code_picture(slot, i, at, worker);
    if (!slot->frame || !at) {
        pnv_packet_release(&slot->packet);
        slot->error = no_memory;
        return;
    }
    slot->packet.size = at;
    lay_out_start(slot);
    cpu->room = at + pnv_slice_bound(cpu->plan->chroma, cpu->plan->params.alpha_bits, PNV_MAX_MBS_PER_SLICE);
}

static void add_histogram(PnvRateHistogram *sum, const PnvRateHistogram *h)
{
    for (int i = 0; i < PNV_RATE_BINS; i++)
        sum->n[i] += h->n[i];
}

/** First job of a search: coefficients, their histogram, and alpha, which does not depend on what is found. */
static void analyse_band(void *arg, int index, int worker)
{
    Slot *slot = arg;
    Walk w;

    walk_band(&w, slot, index, worker);
    reset_band(w.band);
    memset(&w.band->all, 0, sizeof w.band->all);
    memset(&w.band->sampled, 0, sizeof w.band->sampled);
    memset(&w.band->part, 0, sizeof w.band->part);
    do {
        const int rank = pnv_rate_rank(&slot->rate, w.index);
        PnvRateHistogram h = {{0}};
        if (reserve_slice(&w))
            return;
        pnv_encode_forward(&w.job, w.coef);
        pnv_encode_histogram(&w.job, w.coef, &h);
        add_histogram(&w.band->all, &h);
        if (rank < slot->rate.n_samples)
            add_histogram(&w.band->sampled, &h);
        if (rank < slot->rate.n_part)
            add_histogram(&w.band->part, &h);
        const size_t n = pnv_encode_alpha(&w.job, w.band->data + w.band->size, w.band->capacity - w.band->size);
        *w.slice = (Slice){.alpha = keep(w.band, n, 0)};
        w.band->alpha_bytes += n;
    } while (walk_next(&w));
}

/** The piece of a slice that is coded at a quantizer, or NULL. */
static const Piece *find_coded(const Slice *slice, int quantizer)
{
    for (int i = 0; i < 2; i++) {
        if (slice->coded[i].quantizer == quantizer)
            return &slice->coded[i];
    }
    return NULL;
}

/** Code what the search asks for and is not coded yet. */
static void search_band(void *arg, int index, int worker)
{
    Slot *slot = arg;
    Walk w;

    walk_band(&w, slot, index, worker);
    w.band->wanted_bytes = 0;
    do {
        if (pnv_rate_rank(&slot->rate, w.index) >= slot->rate.n_wanted)
            continue;
        const int quantizer = pnv_rate_quantizer(&slot->rate, w.index);
        Slice *slice = w.slice;
        const Piece *piece = find_coded(slice, quantizer);
        if (!piece) {
            if (reserve_slice(&w))
                return;
            slice->coded[1] = slice->coded[0];
            const size_t n = pnv_encode_coef(&w.job, w.coef, quantizer, w.band->data + slice->alpha.offset,
                                             slice->alpha.bytes, w.band->data + w.band->size);
            slice->coded[0] = keep(w.band, n, quantizer);
            piece = &slice->coded[0];
            w.band->n_coded++;
        }
        w.band->wanted_bytes += (size_t)(piece->bytes - slice->alpha.bytes);
    } while (walk_next(&w));
}

/** The coded piece of slice i that the frame takes. */
static const Piece *chosen_piece(const Slot *slot, int i)
{
    if (!slot->is_searched)
        return &slot->slices[i].coded[0];
    return find_coded(&slot->slices[i], pnv_rate_quantizer(&slot->rate, i));
}

static size_t alpha_bytes(const Slot *slot)
{
    size_t bytes = 0;

    for (int i = 0; i < bands_of_frame(slot); i++)
        bytes += slot->bands[i].alpha_bytes;
    return bytes;
}

/** Bytes of a frame that are not slices. */
static size_t frame_overhead(const PnvFraming *f)
{
    return PNV_FRAME_START_BYTES + (size_t)f->n_pictures * PNV_PICTURE_HEADER_BYTES + 2 * (size_t)f->n_slices;
}

/** Bytes of those that the frame takes. */
static size_t chosen_bytes(const Slot *slot, int band)
{
    size_t bytes = 0;
    int first;

    if (!slot->is_searched)
        return slot->bands[band].size;
    const int n = slices_of_band(slot, band, &first);
    for (int k = first; k < first + n; k++)
        bytes += chosen_piece(slot, k)->bytes;
    return bytes;
}

/** Job: a band's slices and their sizes to where they go. What lies together in the band's memory is copied as one. */
static void place_band(void *arg, int index, int worker)
{
    const Slot *slot = arg;
    const Band *band = &slot->bands[index];
    uint8_t *at = slot->frame + band->place, *table = slot->frame + band->table;
    size_t begin = 0, end = 0;
    int first;
    const int n = slices_of_band(slot, index, &first);

    (void)worker;
    for (int k = first; k < first + n; k++, table += 2) {
        const Piece *piece = chosen_piece(slot, k);
        pnv_layout_slice_size(table, piece->bytes);
        if (piece->offset != end) {
            memcpy(at, band->data + begin, end - begin);
            at += end - begin;
            begin = end = piece->offset;
        }
        end += piece->bytes;
    }
    memcpy(at, band->data + begin, end - begin);
}

static void report_rate(const Slot *slot, PnvPacket *packet)
{
    PnvRateReport report = {
        .n_slices = framing_of(slot)->n_slices,
        .alpha_bytes = (uint32_t)alpha_bytes(slot),
        .is_searched = slot->is_searched,
        .position = slot->rate.position,
        .n_rounds = slot->rate.n_rounds,
    };

    for (int i = 0; i < bands_of_frame(slot); i++)
        report.n_coded += slot->bands[i].n_coded;
    pnv_plan_report(slot->cpu->plan, &report, packet);
}

static int continue_with(Slot *slot, int n_jobs, void (*job)(void *arg, int job, int worker), int (*finish)(void *arg))
{
    slot->batch.n_jobs = n_jobs;
    slot->batch.job = job;
    slot->batch.finish = finish;
    return 1;
}

static int finish_frame(void *arg)
{
    Slot *slot = arg;

    report_rate(slot, &slot->packet);
    return 0;
}

/** Everything is coded: sizes say where it goes. */
static int place_frame(Slot *slot)
{
    const PnvFraming *f = framing_of(slot);
    const int per_picture = bands_per_picture(slot->cpu->plan, f);
    size_t at = PNV_FRAME_START_BYTES, begin[3] = {at};
    Band *band = slot->bands;

    for (int i = 0; i < f->n_pictures; i++) {
        size_t table = at + PNV_PICTURE_HEADER_BYTES;
        at = table + 2 * (size_t)f->picture[i].grid.n_slices;
        for (int b = 0; b < per_picture; b++, band++) {
            int first;
            band->table = table;
            band->place = at;
            table += 2 * (size_t)slices_of_band(slot, i * per_picture + b, &first);
            at += chosen_bytes(slot, i * per_picture + b);
        }
        begin[i + 1] = at;
    }
    slot->frame = pnv_packet_pool_take(slot->cpu->packets, at, &slot->packet);
    if (!slot->frame) {
        slot->error = no_memory;
        return 0;
    }
    lay_out_start(slot);
    for (int i = 0; i < f->n_pictures; i++)
        pnv_layout_picture_header(slot->frame + begin[i], &f->picture[i].grid, (uint32_t)(begin[i + 1] - begin[i]));
    return continue_with(slot, bands_of_frame(slot), place_band, finish_frame);
}

/** Whether all bands have the memory they need; else the frame fails. */
static int bands_are_well(Slot *slot)
{
    for (int i = 0; i < bands_of_frame(slot); i++) {
        if (slot->bands[i].failed)
            slot->error = no_memory;
    }
    return !slot->error;
}

static int finish_round(void *arg);

/** Set the next round of the search going, or end the frame. */
static int next_round(Slot *slot, PnvRateStep step)
{
    if (step == PNV_RATE_CODE)
        return continue_with(slot, bands_of_frame(slot), search_band, finish_round);
    return place_frame(slot);
}

static int finish_round(void *arg)
{
    Slot *slot = arg;
    int64_t bytes = 0;

    if (!bands_are_well(slot))
        return 0;
    for (int i = 0; i < bands_of_frame(slot); i++)
        bytes += (int64_t)slot->bands[i].wanted_bytes;
    return next_round(slot, pnv_rate_coded(&slot->rate, bytes));
}

static int finish_analysis(void *arg)
{
    Slot *slot = arg;
    const PnvPlan *plan = slot->cpu->plan;
    const int64_t overhead = (int64_t)frame_overhead(framing_of(slot)), alpha = (int64_t)alpha_bytes(slot);
    PnvRate *rate = &slot->rate;

    if (!bands_are_well(slot))
        return 0;
    for (int i = 0; i < bands_of_frame(slot); i++) {
        add_histogram(&rate->all, &slot->bands[i].all);
        add_histogram(&rate->sampled, &slot->bands[i].sampled);
        add_histogram(&rate->part, &slot->bands[i].part);
    }
    rate->limit = plan->params.max_frame_bytes ? plan->params.max_frame_bytes - alpha : plan->target_bytes;
    rate->target = plan->target_bytes && plan->target_bytes < rate->limit ? plan->target_bytes : rate->limit;
    rate->limit -= overhead;
    rate->target -= overhead;
    return next_round(slot, pnv_rate_begin(rate));
}

static int start_search(Slot *slot)
{
    const PnvPlan *plan = slot->cpu->plan;
    const PnvFraming *f = framing_of(slot);
    const int is_target = plan->params.rate_control == PNV_RATE_TARGET;

    slot->rate = (PnvRate){
        .n_slices = f->n_slices,
        .n_samples = pnv_rate_n_samples(f->n_slices),
        .n_part = pnv_rate_n_part(f->n_slices),
        .rounding = plan->params.rounding,
        .multiplier = f->rank_multiplier,
        .min_quantizer = plan->first_quantizer,
        .max_quantizer = is_target ? plan->params.max_quantizer : plan->first_quantizer + plan->n_quantizers - 1,
    };
    slot->is_searched = 1;
    return continue_with(slot, bands_of_frame(slot), analyse_band, finish_analysis);
}

/** Whether the constant quantizer's frame passes a maximum: then it does not stand. */
static int is_over(const Slot *slot, size_t bytes)
{
    const size_t max = slot->cpu->plan->params.max_frame_bytes;

    return max && bytes > max;
}

static int finish_bands(void *arg)
{
    Slot *slot = arg;
    size_t bytes = frame_overhead(framing_of(slot));

    if (!bands_are_well(slot))
        return 0;
    for (int i = 0; i < bands_of_frame(slot); i++)
        bytes += slot->bands[i].size;
    return is_over(slot, bytes) ? start_search(slot) : place_frame(slot);
}

static int finish_coded_frame(void *arg)
{
    Slot *slot = arg;

    if (slot->error)
        return 0;
    if (!is_over(slot, slot->packet.size))
        return finish_frame(slot);
    pnv_packet_release(&slot->packet);
    return start_search(slot);
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
static int open_coefficients(Slot *slot)
{
    const PnvPlan *plan = slot->cpu->plan;
    size_t n_mb = 0;

    if (plan->params.rate_control != PNV_RATE_TARGET && !plan->params.max_frame_bytes)
        return 0;
    for (int i = PNV_PROGRESSIVE; i <= PNV_BOTTOM_FIELD_FIRST; i++) {
        size_t n = 0;
        for (int k = 0; k < plan->framing[i].n_pictures; k++)
            n += (size_t)plan->framing[i].picture[k].grid.width_mb * (size_t)plan->framing[i].picture[k].grid.height_mb;
        n_mb = n > n_mb ? n : n_mb;
    }
    slot->coef = pnv_pages_alloc(n_mb * 128 * (size_t)pnv_encode_blocks_per_mb(plan));
    return slot->coef ? 0 : -1;
}

static int open_slot(Cpu *cpu, Slot *slot)
{
    const PnvPlan *plan = cpu->plan;
    int n_slices = 0;

    for (int i = PNV_PROGRESSIVE; i <= PNV_BOTTOM_FIELD_FIRST; i++)
        n_slices = max_int(n_slices, plan->framing[i].n_slices);
    slot->cpu = cpu;
    slot->slices = calloc((size_t)n_slices, sizeof *slot->slices);
    slot->bands = calloc((size_t)cpu->n_bands, sizeof *slot->bands);
    if (!slot->slices || !slot->bands || open_coefficients(slot))
        return -1;
    for (int i = 0; i < cpu->n_bands && (!codes_in_packet(plan) || slot->coef); i++) {
        if (reserve(&slot->bands[i], start_room(plan, cpu->n_bands)))
            return -1;
    }
    slot->batch = (PnvBatch){.arg = slot};
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
        free(slot->slices);
        free(slot->coef);
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
    cpu->room = start_room(plan, 1);
    cpu->scratch = aligned_alloc(_Alignof(PnvScratch), (size_t)p->threads * sizeof *cpu->scratch);
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

    s->error = NULL;
    s->is_searched = 0;
    for (int i = 0; i < bands_of_frame(s); i++)
        s->bands[i].n_coded = 0;
    if (cpu->plan->params.rate_control == PNV_RATE_TARGET)
        start_search(s);
    else if (codes_in_packet(cpu->plan))
        continue_with(s, 1, code_frame, finish_coded_frame);
    else
        continue_with(s, bands_of_frame(s), code_band, finish_bands);
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
