/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "summary.h"

#include <string.h>

#include "container.h"
#include "profile.h"
#include "tables.h"

/* Whether two headers say the same but for the frame's size in bytes. */
static bool same_header(const PnvReaderHeader *a, const PnvReaderHeader *b)
{
    return a->version == b->version && !memcmp(a->encoder_id, b->encoder_id, 4) && a->width == b->width &&
           a->height == b->height && a->chroma_format == b->chroma_format && a->interlace_mode == b->interlace_mode &&
           a->aspect_ratio == b->aspect_ratio && a->frame_rate_code == b->frame_rate_code &&
           a->color_primaries == b->color_primaries && a->transfer_characteristic == b->transfer_characteristic &&
           a->matrix_coefficients == b->matrix_coefficients && a->alpha_type == b->alpha_type &&
           a->luma_sent == b->luma_sent && a->chroma_sent == b->chroma_sent && !memcmp(a->luma, b->luma, 64) &&
           !memcmp(a->chroma, b->chroma, 64);
}

static void add_first(PnvSummary *s, const PnvReaderFrame *f)
{
    s->header = f->header;
    s->log2_slice_mb = f->pictures[0].log2_slice_mb;
    s->slices_per_row = f->pictures[0].slices_per_row;
    s->height_mb = f->pictures[0].height_mb;
    s->n_pictures = f->n_pictures;
}

static void add_valid(PnvSummary *s, const PnvFrameResult *r)
{
    const PnvReaderFrame *f = &r->frame;

    if (s->n_valid++ == 0) {
        add_first(s, f);
    } else if (!s->varies && !same_header(&s->header, &f->header)) {
        s->varies = true;
        s->varies_at = r->index;
    }
    s->n_alpha += f->header.alpha_type != 0;
    s->n_opaque += f->opaque;
    s->header_bytes += f->header_bytes;
    s->stuffing_bytes += f->stuffing_bytes;
    for (int i = 0; i < 4; i++)
        s->unit_bytes[i] += f->unit_bytes[i];
}

static void add_comparison(PnvSummary *s, const PnvComparison *c)
{
    for (int i = 0; i < 3; i++) {
        s->mse[i] += c->mse[i];
        s->ssim[i] += c->ssim[i];
        if (s->n_compared == 0 || c->ssim[i] < s->min_ssim[i])
            s->min_ssim[i] = c->ssim[i];
        if (c->mse[i] > s->max_mse[i])
            s->max_mse[i] = c->mse[i];
    }
    s->n_compared++;
    s->alpha_differences += c->alpha_differences;
    if (c->alpha_largest > s->alpha_largest)
        s->alpha_largest = c->alpha_largest;
}

void pnv_summary_add(PnvSummary *s, const PnvFrameResult *r)
{
    if (s->n_frames++ == 0 || r->size < s->min_bytes)
        s->min_bytes = r->size;
    if (r->size > s->max_bytes)
        s->max_bytes = r->size;
    s->bytes += r->size;
    s->n_errors += r->error != NULL;
    s->n_slices += r->n_slices;
    for (int i = 0; i < 256; i++)
        s->quantizers[i] += r->quantizers[i];
    for (int i = 0; i < PNV_N_FINDING_CODES; i++)
        s->n_found[i] += r->n_found[i];
    if (r->frame.header_valid)
        add_valid(s, r);
    if (r->comparison.valid)
        add_comparison(s, &r->comparison);
}

uint64_t pnv_summary_n_violations(const PnvSummary *s, const PnvVerdictRules *rules)
{
    uint64_t n = 0;

    for (int i = 1; i < PNV_N_FINDING_CODES; i++)
        if (!rules->allowed[i] && (rules->notes_count || pnv_finding_is_violation((PnvFindingCode)i)))
            n += s->n_found[i];
    return n;
}

uint64_t pnv_summary_n_notes(const PnvSummary *s, const PnvVerdictRules *rules)
{
    uint64_t n = 0;

    for (int i = 1; i < PNV_N_FINDING_CODES; i++)
        if (!rules->allowed[i] && !rules->notes_count && !pnv_finding_is_violation((PnvFindingCode)i))
            n += s->n_found[i];
    return n;
}

double pnv_summary_frame_rate(const PnvSummary *s, const PnvMov *mov)
{
    const int code = s->header.frame_rate_code;

    if (mov->n_durations && mov->duration)
        return (double)mov->timescale * (double)mov->n_durations / (double)mov->duration;
    if (s->n_valid && code > 0 && code < PNV_N_FRAME_RATE_CODES)
        return (double)pnv_frame_rates[code].n / pnv_frame_rates[code].d;
    return 0;
}

double pnv_summary_duration(const PnvSummary *s, const PnvMov *mov)
{
    const double rate = pnv_summary_frame_rate(s, mov);
    return rate > 0 ? (double)s->n_frames / rate : 0;
}

PnvProfile pnv_summary_profile(const PnvSummary *s, const PnvMov *mov, bool *guessed)
{
    *guessed = mov->bare;
    if (!mov->bare)
        return pnv_container_profile(mov->fourcc);
    for (int i = PNV_PROFILE_PROXY; s->n_valid && i <= PNV_PROFILE_4444XQ; i++) {
        const PnvProfileInfo *info = pnv_profile_info((PnvProfile)i);
        if ((s->header.chroma_format == 3) == (info->chroma == PNV_CHROMA_444) &&
            !memcmp(info->luma_matrix, s->header.luma, 64) && !memcmp(info->chroma_matrix, s->header.chroma, 64))
            return (PnvProfile)i;
    }
    return PNV_PROFILE_AUTO;
}

double pnv_summary_mean_without_alpha(const PnvSummary *s)
{
    return s->n_frames ? (double)(s->bytes - s->unit_bytes[3]) / (double)s->n_frames : 0;
}
