/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "encode.h"

#include <string.h>

static int blocks_per_mb(const PnvSliceJob *job, int c)
{
    return pnv_blocks_per_mb(job->plan->chroma, c > 0);
}

int pnv_encode_blocks_per_mb(const PnvPlan *plan)
{
    return pnv_blocks_per_mb(plan->chroma, 0) + 2 * pnv_blocks_per_mb(plan->chroma, 1);
}

void pnv_encode_unit(const PnvSliceJob *job, int c, int16_t *coef, const PnvQuant *quant)
{
    const PnvChroma chroma = job->plan->chroma;
    const int mb_width = pnv_mb_width(chroma, c > 0);
    const PnvBlockOrder order = !c                         ? PNV_BLOCKS_LUMA
                                : chroma == PNV_CHROMA_422 ? PNV_BLOCKS_CHROMA_422
                                                           : PNV_BLOCKS_CHROMA_444;

    const int x0 = job->span.mb_x * mb_width, y0 = 16 * job->mb_y, n_mb = job->span.n_mb;

    if (!pnv_convert_applies(&job->plan->conversion, c)) {
        job->dsp->forward(coef, &job->planes[c], x0, y0, order, n_mb, job->framing->scan, quant);
        return;
    }
    const int16_t *samples = pnv_convert_unit(&job->scratch->convert, job->dsp, &job->plan->conversion,
                                              &job->shape->chroma, job->planes, c, x0, y0, n_mb * mb_width,
                                              job->shape->height);
    job->dsp->transform(coef, samples, PNV_FETCH_STRIDE, order, n_mb, job->framing->scan);
    if (quant)
        job->dsp->quant[PNV_ROUNDING_NEAREST](coef, coef, n_mb * blocks_per_mb(job, c), quant);
}

static const int16_t *quantize(const PnvSliceJob *job, int c, const int16_t *coef, int quantizer)
{
    const PnvQuant *quant = pnv_plan_quant(job->plan, job->framing, c, quantizer);

    job->dsp->quant[job->plan->params.rounding](job->scratch->level, coef, job->span.n_mb * blocks_per_mb(job, c),
                                                quant);
    return job->scratch->level;
}

/** Levels of a unit at once. To nearest they need no neighbours, and come without coefficients in between. */
static const int16_t *levels(const PnvSliceJob *job, int c, int quantizer)
{
    const int is_nearest = job->plan->params.rounding == PNV_ROUNDING_NEAREST;
    int16_t *coef = is_nearest ? job->scratch->level : job->scratch->coef;

    pnv_encode_unit(job, c, coef, is_nearest ? pnv_plan_quant(job->plan, job->framing, c, quantizer) : NULL);
    return is_nearest ? coef : quantize(job, c, coef, quantizer);
}

static size_t slice_bound(const PnvSliceJob *job)
{
    return pnv_slice_bound(job->plan->chroma, job->plan->params.alpha_bits, job->span.n_mb);
}

size_t pnv_encode_alpha(const PnvSliceJob *job, uint8_t *dst, size_t capacity)
{
    const int bits = job->plan->params.alpha_bits, width = 16 * job->span.n_mb;

    if (!bits)
        return 0;
    job->dsp->alpha_fetch(job->scratch->alpha, &job->planes[3], bits, 16 * job->span.mb_x, 16 * job->mb_y, width);
    return job->dsp->alpha_write(dst, capacity, job->scratch->alpha, 16 * width, bits);
}

size_t pnv_encode_slice(const PnvSliceJob *job, int quantizer, uint8_t *dst, size_t *alpha_bytes)
{
    const int has_alpha = job->plan->params.alpha_bits;
    const size_t bound = slice_bound(job);
    size_t unit_bytes[3], size = pnv_slice_header_bytes(has_alpha);

    for (int c = 0; c < 3; c++) {
        const int16_t *level = levels(job, c, quantizer);
        unit_bytes[c] = job->dsp->entropy_write(dst + size, bound - size, level, job->span.n_mb * blocks_per_mb(job, c));
        size += unit_bytes[c];
    }
    *alpha_bytes = pnv_encode_alpha(job, dst + size, bound - size);
    pnv_layout_slice_header(dst, quantizer, unit_bytes, has_alpha);
    return size + *alpha_bytes;
}

void pnv_encode_forward(const PnvSliceJob *job, int16_t *coef)
{
    for (int c = 0; c < 3; c++) {
        pnv_encode_unit(job, c, coef, NULL);
        coef += 64 * job->span.n_mb * blocks_per_mb(job, c);
    }
}

void pnv_encode_histogram(const PnvSliceJob *job, const int16_t *coef, PnvRateHistogram *h)
{
    for (int c = 0; c < 3; c++) {
        const int n_blocks = job->span.n_mb * blocks_per_mb(job, c);
        job->dsp->histogram(h, coef, n_blocks, job->framing->reciprocal[c > 0]);
        coef += 64 * n_blocks;
    }
}

size_t pnv_encode_coef(const PnvSliceJob *job, const int16_t *coef, int quantizer, const uint8_t *alpha,
                       size_t alpha_bytes, uint8_t *dst)
{
    const int has_alpha = job->plan->params.alpha_bits;
    const size_t bound = slice_bound(job);
    size_t unit_bytes[3], size = pnv_slice_header_bytes(has_alpha);

    for (int c = 0; c < 3; c++) {
        const int n_blocks = job->span.n_mb * blocks_per_mb(job, c);
        unit_bytes[c] = job->dsp->entropy_write(dst + size, bound - size, quantize(job, c, coef, quantizer), n_blocks);
        size += unit_bytes[c];
        coef += 64 * n_blocks;
    }
    if (alpha_bytes)
        memcpy(dst + size, alpha, alpha_bytes);
    pnv_layout_slice_header(dst, quantizer, unit_bytes, has_alpha);
    return size + alpha_bytes;
}
