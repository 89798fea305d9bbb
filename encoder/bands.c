/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bands.h"

#include <stdlib.h>
#include <string.h>

/*
 * Bands of a frame for each thread: content is uneven, and a thread that is done early takes another band. One of a
 * few slices is not worth handing out.
 */
enum { BANDS_PER_THREAD = 4, LEAST_SLICES = 4 };

/* No band is empty: a bottom field can have a row less than the top one. */
int pnv_bands_per_picture(const PnvPlan *plan, const PnvFraming *f)
{
    const int threads = plan->params.threads, wanted = threads == 1 ? 1 : BANDS_PER_THREAD * threads / f->n_pictures;
    int n_slices = f->picture[0].grid.n_slices;

    if (f->n_pictures == 2)
        n_slices = pnv_min(n_slices, f->picture[1].grid.n_slices);
    return pnv_min(wanted, (n_slices + LEAST_SLICES - 1) / LEAST_SLICES);
}

/* A walk over the slices of a band: where the next one is, and what it takes to code it. */
typedef struct Walk {
    PnvSliceJob job;
    PnvPlane planes[4];
    const PnvFrameCommon *common;
    const PnvGrid *grid;
    PnvBand *band;
    PnvCodedSlice *slice;
    int16_t *coef;
    int index;      /* of the slice in the frame */
    int column;     /* and in its row */
    int n_left;     /* slices of the band, this one among them */
} Walk;

int pnv_frame_bands(const PnvFrame *frame)
{
    const PnvFraming *f = pnv_frame_framing(frame);

    return f->n_pictures * pnv_bands_per_picture(frame->common->plan, f);
}

static int picture_of_band(const PnvFrame *frame, int band)
{
    return band / pnv_bands_per_picture(frame->common->plan, pnv_frame_framing(frame));
}

/** Slices of the frame in front of a picture. */
static int slices_before(const PnvFrame *frame, int picture)
{
    return picture ? pnv_frame_framing(frame)->picture[0].grid.n_slices : 0;
}

int pnv_band_slices(const PnvFrame *frame, int band, int *first)
{
    const PnvFraming *f = pnv_frame_framing(frame);
    const int n_bands = pnv_bands_per_picture(frame->common->plan, f), picture = picture_of_band(frame, band);
    const int64_t n_slices = f->picture[picture].grid.n_slices, i = band % n_bands;
    const int begin = (int)(n_slices * i / n_bands), end = (int)(n_slices * (i + 1) / n_bands);

    *first = slices_before(frame, picture) + begin;
    return end - begin;
}

static void walk_band(Walk *w, PnvFrame *frame, int band, int worker)
{
    const PnvFrameCommon *common = frame->common;
    const PnvFraming *f = pnv_frame_framing(frame);
    const int picture = picture_of_band(frame, band);
    const PnvPictureShape *shape = &f->picture[picture];
    const PnvGrid *grid = &shape->grid, *before = picture ? &f->picture[0].grid : NULL;

    *w = (Walk){.common = common, .grid = grid, .band = &frame->bands[band]};
    w->n_left = pnv_band_slices(frame, band, &w->index);
    w->slice = &frame->slices[w->index];
    const int in_picture = w->index - slices_before(frame, picture);
    w->column = in_picture % grid->slices_per_row;
    w->job = (PnvSliceJob){.plan = common->plan, .dsp = &common->dsp, .framing = f, .shape = shape, .planes = w->planes,
                           .span = common->spans[w->column], .mb_y = in_picture / grid->slices_per_row,
                           .scratch = &common->scratch[worker]};
    for (int c = 0; c < common->plan->n_components; c++)
        w->planes[c] = pnv_plan_plane(common->plan, &frame->pic, shape, c);
    if (frame->coef) {
        const ptrdiff_t mbs = (before ? (ptrdiff_t)before->width_mb * before->height_mb : 0) +
                              (ptrdiff_t)w->job.mb_y * grid->width_mb + w->job.span.mb_x;
        w->coef = frame->coef + 64 * mbs * pnv_encode_blocks_per_mb(common->plan);
    }
}

/** To the next slice of the band. 0 at its end. */
static int walk_next(Walk *w)
{
    w->index++;
    w->slice++;
    if (w->coef)
        w->coef += (ptrdiff_t)w->job.span.n_mb * 64 * pnv_encode_blocks_per_mb(w->common->plan);
    if (++w->column == w->grid->slices_per_row) {
        w->column = 0;
        w->job.mb_y++;
    }
    w->job.span = w->common->spans[w->column];
    return --w->n_left > 0;
}

/** Most bytes of the slice that comes next. */
static size_t next_slice_bound(const Walk *w)
{
    return pnv_slice_bound(w->common->plan->chroma, w->common->plan->params.alpha_bits, w->job.span.n_mb);
}

int pnv_band_reserve(PnvBand *band, size_t more)
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
    if (pnv_band_reserve(w->band, next_slice_bound(w)))
        w->band->failed = 1;
    return w->band->failed ? -1 : 0;
}

/** What was just written behind the band's end. */
static PnvPiece keep(PnvBand *band, size_t bytes, int quantizer)
{
    const PnvPiece piece = {(uint32_t)band->size, (uint16_t)bytes, (uint8_t)quantizer};

    band->size += bytes;
    return piece;
}

static void reset_band(PnvBand *band)
{
    band->size = 0;
    band->alpha_bytes = 0;
    band->failed = 0;
}

/** Code the next slice at the constant quantizer. Its bytes. */
static size_t code_slice(Walk *w, uint8_t *dst)
{
    size_t alpha_bytes;
    const size_t n = pnv_encode_slice(&w->job, w->common->plan->params.quantizer, dst, &alpha_bytes);

    w->band->alpha_bytes += alpha_bytes;
    w->band->n_coded++;
    return n;
}

void pnv_band_code(void *arg, int band, int worker)
{
    PnvFrame *frame = arg;
    const int quantizer = frame->common->plan->params.quantizer;
    Walk w;

    walk_band(&w, frame, band, worker);
    reset_band(w.band);
    do {
        if (reserve_slice(&w))
            return;
        const size_t n = code_slice(&w, w.band->data + w.band->size);
        *w.slice = (PnvCodedSlice){.coded = {keep(w.band, n, quantizer)}};
    } while (walk_next(&w));
}

/** Room for more bytes behind those that the frame has. 0, or -1 without memory. */
static int reserve_frame(PnvFrame *frame, size_t n_used, size_t more)
{
    if (pnv_packet_room(&frame->packet) - n_used >= more)
        return 0;
    uint8_t *data = pnv_packet_grow(&frame->packet, n_used, n_used + more);
    if (!data)
        return -1;
    frame->data = data;
    return 0;
}

/** Code picture i, the band of that number, where it stays: begin bytes into the frame. Its end, 0 without memory. */
static size_t code_picture(PnvFrame *frame, int i, size_t begin, int worker)
{
    const PnvGrid *grid = &pnv_frame_framing(frame)->picture[i].grid;
    size_t table = begin + PNV_PICTURE_HEADER_BYTES, at = table + 2 * (size_t)grid->n_slices;
    Walk w;

    walk_band(&w, frame, i, worker);
    reset_band(w.band);
    if (reserve_frame(frame, begin, at - begin))
        return 0;
    do {
        if (reserve_frame(frame, at, next_slice_bound(&w)))
            return 0;
        const size_t n = code_slice(&w, frame->data + at);
        pnv_layout_slice_size(frame->data + table, n);
        table += 2;
        at += n;
    } while (walk_next(&w));
    pnv_layout_picture_header(frame->data + begin, grid, (uint32_t)(at - begin));
    return at;
}

void pnv_frame_start(PnvFrame *frame)
{
    PnvFrameHeader header = frame->common->plan->header;

    header.interlace = frame->pic.interlace;
    pnv_layout_frame_start(frame->data, &header, (uint32_t)frame->packet.size);
}

void pnv_frame_code(void *arg, int job, int worker)
{
    PnvFrame *frame = arg;
    PnvFrameCommon *common = frame->common;
    const PnvFraming *f = pnv_frame_framing(frame);
    size_t at = PNV_FRAME_START_BYTES;

    (void)job;
    frame->data = pnv_packet_pool_take(common->packets, common->room, &frame->packet);
    for (int i = 0; frame->data && i < f->n_pictures && at; i++)
        at = code_picture(frame, i, at, worker);
    if (!frame->data || !at) {
        pnv_packet_release(&frame->packet);
        frame->error = PNV_FRAME_NO_MEMORY;
        return;
    }
    frame->packet.size = at;
    pnv_frame_start(frame);
    common->room = at + pnv_slice_bound(common->plan->chroma, common->plan->params.alpha_bits, PNV_MAX_MBS_PER_SLICE);
}

void pnv_band_analyse(void *arg, int band, int worker)
{
    PnvFrame *frame = arg;
    Walk w;

    walk_band(&w, frame, band, worker);
    reset_band(w.band);
    memset(&w.band->all, 0, sizeof w.band->all);
    memset(&w.band->sampled, 0, sizeof w.band->sampled);
    memset(&w.band->part, 0, sizeof w.band->part);
    do {
        const int rank = pnv_rate_rank(&frame->rate, w.index);
        PnvRateHistogram h = {{0}};
        if (reserve_slice(&w))
            return;
        pnv_encode_forward(&w.job, w.coef);
        pnv_encode_histogram(&w.job, w.coef, &h);
        pnv_rate_histogram_add(&w.band->all, &h);
        if (rank < frame->rate.n_samples)
            pnv_rate_histogram_add(&w.band->sampled, &h);
        if (rank < frame->rate.n_part)
            pnv_rate_histogram_add(&w.band->part, &h);
        const size_t n = pnv_encode_alpha(&w.job, w.band->data + w.band->size, w.band->capacity - w.band->size);
        *w.slice = (PnvCodedSlice){.alpha = keep(w.band, n, 0)};
        w.band->alpha_bytes += n;
    } while (walk_next(&w));
}

/** The piece of a slice that is coded at a quantizer, or NULL. */
static const PnvPiece *find_coded(const PnvCodedSlice *slice, int quantizer)
{
    for (int i = 0; i < 2; i++) {
        if (slice->coded[i].quantizer == quantizer)
            return &slice->coded[i];
    }
    return NULL;
}

void pnv_band_search(void *arg, int band, int worker)
{
    PnvFrame *frame = arg;
    Walk w;

    walk_band(&w, frame, band, worker);
    w.band->wanted_bytes = 0;
    do {
        if (pnv_rate_rank(&frame->rate, w.index) >= frame->rate.n_wanted)
            continue;
        const int quantizer = pnv_rate_quantizer(&frame->rate, w.index);
        PnvCodedSlice *slice = w.slice;
        const PnvPiece *piece = find_coded(slice, quantizer);
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
static const PnvPiece *chosen_piece(const PnvFrame *frame, int i)
{
    if (!frame->is_searched)
        return &frame->slices[i].coded[0];
    return find_coded(&frame->slices[i], pnv_rate_quantizer(&frame->rate, i));
}

size_t pnv_band_bytes(const PnvFrame *frame, int band)
{
    const PnvBand *b = &frame->bands[band];

    return frame->is_searched ? b->wanted_bytes + b->alpha_bytes : b->size; /* the last round wanted all slices */
}

void pnv_band_place(void *arg, int band, int worker)
{
    const PnvFrame *frame = arg;
    const PnvBand *b = &frame->bands[band];
    uint8_t *at = frame->data + b->place, *table = frame->data + b->table;
    size_t begin = 0, end = 0;
    int first;
    const int n = pnv_band_slices(frame, band, &first);

    (void)worker;
    for (int k = first; k < first + n; k++, table += 2) {
        const PnvPiece *piece = chosen_piece(frame, k);
        pnv_layout_slice_size(table, piece->bytes);
        if (piece->offset != end) {
            memcpy(at, b->data + begin, end - begin);
            at += end - begin;
            begin = end = piece->offset;
        }
        end += piece->bytes;
    }
    memcpy(at, b->data + begin, end - begin);
}
