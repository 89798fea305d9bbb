/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search itself, as CPU and GPU both compile it. rate.h says what it is. */
#ifndef PNV_RATE_SEARCH_H
#define PNV_RATE_SEARCH_H

#include "rate.h"
#include "tables.h"

/* A frame is aimed a little under its budget, and taken when it is within 1 % of it. All in 1/2000. */
enum { PNV_RATE_SHARE_FIRST = 1992, PNV_RATE_SHARE_AGAIN = 1995, PNV_RATE_SHARE_ENOUGH = 1980, PNV_RATE_SHARES = 2000 };

/* The quantizer seldom moves more than once; the border of slices less often than that. */
enum { PNV_RATE_MAX_SAMPLE_ROUNDS = 6, PNV_RATE_MAX_ENCODE_ROUNDS = 20 };

PNV_SHARED int64_t pnv_rate_min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

PNV_SHARED int64_t pnv_rate_max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

PNV_SHARED int pnv_rate_bin_of(uint32_t y)
{
    if (!y)
        return 0;
    const int octave = pnv_log2(y);
    return 1 + 2 * octave + (octave > 0 && (y >> (octave - 1) & 1));
}

/*
 * The model: bits of a coefficient, its share of runs and sign included, in 1/16, by its size relative to the step in
 * half octaves from 2^-1.5 on; below it costs nothing, behind the end a bit for each half octave. Fitted to the bytes
 * of slices of photographs from HQ to Proxy. Nearest rounding makes levels of smaller coefficients; optimal is much
 * like the dead zone.
 */
enum {
    PNV_RATE_COST_FIRST = -96, PNV_RATE_COST_STEP = 32, PNV_RATE_COST_UNIT = 16 * PNV_RATE_COST_STEP,
    PNV_RATE_N_COSTS = 20, PNV_RATE_DC_COST = 70, PNV_RATE_SLICE_COST = 7 * 8
};

/** In 1/16 bit. */
PNV_SHARED int pnv_rate_cost(int is_nearest, int i)
{
    static const uint8_t costs[2][PNV_RATE_N_COSTS] = {
        {0, 15, 45, 66, 66, 64, 85, 106, 121, 136, 147, 158, 168, 178, 188, 198, 208, 218, 228, 238},
        {0, 64, 68, 40, 60, 62, 85, 106, 121, 136, 147, 158, 168, 178, 188, 198, 208, 218, 228, 238},
    };
    return costs[is_nearest][i];
}

/** In 1 / PNV_RATE_COST_UNIT bit, of a coefficient that is so many 1/64 octaves above the step. */
PNV_SHARED int64_t pnv_rate_cost_of(int is_nearest, int above)
{
    const int at = above - PNV_RATE_COST_FIRST, i = at / PNV_RATE_COST_STEP, part = at % PNV_RATE_COST_STEP;

    if (at <= 0)
        return 0;
    if (i >= PNV_RATE_N_COSTS - 1)
        return pnv_rate_cost(is_nearest, PNV_RATE_N_COSTS - 1) * PNV_RATE_COST_STEP +
               (at - (PNV_RATE_N_COSTS - 1) * PNV_RATE_COST_STEP) * 16;
    return pnv_rate_cost(is_nearest, i) * (PNV_RATE_COST_STEP - part) + pnv_rate_cost(is_nearest, i + 1) * part;
}

/** 64 * log2(v), rounded down; v up to 2^15. */
PNV_SHARED int pnv_rate_log2_64ths(unsigned v)
{
    int log = pnv_log2(v);
    uint32_t mantissa = v << (15 - log); /* 1 <= m < 2 in 2^-15 */

    for (int bit = 0; bit < 6; bit++) { /* m * m >= 2: the next digit is 1 */
        mantissa = mantissa * mantissa >> 15;
        log = 2 * log + (int)(mantissa >> 16);
        mantissa >>= mantissa >> 16;
    }
    return log;
}

/* Bits in 1 / PNV_RATE_COST_UNIT of n slices with this histogram, which has 16 of 63 coefficients, at a quantizer. */
PNV_SHARED int64_t pnv_rate_model(const PnvRate *rate, const PnvRateHistogram *h, int n_slices, int quantizer)
{
    const int is_nearest = rate->rounding == PNV_ROUNDING_NEAREST;
    const int step = pnv_rate_log2_64ths(4 * (unsigned)pnv_qscale(quantizer));
    int64_t sum = 0, n = h->n[0];

    for (int b = 1; b < PNV_RATE_BINS; b++) {
        n += h->n[b];
        sum += h->n[b] * pnv_rate_cost_of(is_nearest, 32 * (b - 1) + 16 - step); /* the middle of the bin */
    }
    return sum * 63 / 16 + n * (PNV_RATE_DC_COST * PNV_RATE_COST_STEP / 16) +
           (int64_t)n_slices * PNV_RATE_SLICE_COST * PNV_RATE_COST_UNIT;
}

/** Bytes of n slices with this histogram by the model, in the scale of the samples at a quantizer if they are known. */
PNV_SHARED int64_t pnv_rate_estimate_of(const PnvRate *rate, const PnvRateHistogram *h, int n_slices, int quantizer)
{
    const int64_t bits = pnv_rate_model(rate, h, n_slices, quantizer);
    const int known = rate->sample_bytes[quantizer] ? quantizer : rate->settled;

    if (!known)
        return bits / (8 * PNV_RATE_COST_UNIT);
    /* bits below 2^44 and bytes of samples below 2^21: scaled down by 2^8 the product stays below 2^57 */
    return (bits >> 8) * rate->sample_bytes[known] /
           pnv_rate_max64(pnv_rate_model(rate, &rate->sampled, rate->n_samples, known) >> 8, 1);
}

/** What the frame would take at a quantizer. */
PNV_SHARED int64_t pnv_rate_estimate(const PnvRate *rate, int quantizer)
{
    const int64_t bytes = pnv_rate_estimate_of(rate, &rate->all, rate->n_slices, quantizer);

    return rate->part_expected ? bytes * rate->part_bytes / rate->part_expected : bytes;
}

PNV_SHARED int64_t pnv_rate_share(int64_t bytes, int of_2000)
{
    return bytes * of_2000 / PNV_RATE_SHARES;
}

/** The position at which all slices have a quantizer. */
PNV_SHARED int64_t pnv_rate_position_of(const PnvRate *rate, int quantizer)
{
    return (int64_t)(quantizer - 1) * rate->n_slices;
}

PNV_SHARED PnvRateStep pnv_rate_code_at(PnvRate *rate, int64_t position, int n_wanted)
{
    rate->position = pnv_rate_max64(rate->low, pnv_rate_min64(position, rate->high));
    rate->n_wanted = n_wanted;
    return PNV_RATE_CODE;
}

/** Smallest quantizer whose estimate is under the aim, or the largest. Sizes hardly ever grow with the quantizer. */
PNV_SHARED int pnv_rate_smallest_under(const PnvRate *rate, int64_t aim)
{
    int low = rate->min_quantizer, high = rate->max_quantizer;

    while (low < high) {
        const int q = (low + high) / 2;
        if (pnv_rate_estimate(rate, q) <= aim)
            high = q;
        else
            low = q + 1;
    }
    return low;
}

PNV_SHARED PnvRateStep pnv_rate_search_begin(PnvRate *rate)
{
    rate->low = pnv_rate_position_of(rate, rate->min_quantizer);
    rate->high = pnv_rate_position_of(rate, rate->max_quantizer);
    rate->budget = rate->target;
    rate->over = rate->fits = -1;

    const int quantizer = pnv_rate_smallest_under(rate, pnv_rate_share(rate->budget, PNV_RATE_SHARE_FIRST));
    return pnv_rate_code_at(rate, pnv_rate_position_of(rate, quantizer), rate->n_samples);
}

/** Where the estimates meet the aim, between two neighbouring quantizers. */
PNV_SHARED int64_t pnv_rate_aimed_position(const PnvRate *rate)
{
    const int64_t aim = pnv_rate_share(rate->budget, PNV_RATE_SHARE_FIRST);
    const int q = pnv_rate_smallest_under(rate, aim);
    const int64_t small = pnv_rate_estimate(rate, q);

    if (q == rate->min_quantizer || small >= aim)
        return pnv_rate_position_of(rate, q);
    const int64_t large = pnv_rate_max64(pnv_rate_estimate(rate, q - 1), small + 1);
    const int64_t n_larger = pnv_rate_max64(0, large - aim) * rate->n_slices / (large - small);
    return pnv_rate_position_of(rate, q - 1) + pnv_rate_min64(n_larger, rate->n_slices);
}

/** Samples of the quantizer at the position: either they lead to another one, or to a position. */
PNV_SHARED PnvRateStep pnv_rate_sampled(PnvRate *rate, int64_t bytes)
{
    const int q = pnv_rate_quantizer(rate, 0); /* of all slices */

    rate->sample_bytes[q] = bytes;
    rate->settled = q;
    const int better = pnv_rate_smallest_under(rate, pnv_rate_share(rate->budget, PNV_RATE_SHARE_FIRST));
    if (!rate->sample_bytes[better] && rate->n_rounds < PNV_RATE_MAX_SAMPLE_ROUNDS)
        return pnv_rate_code_at(rate, pnv_rate_position_of(rate, better), rate->n_samples);
    rate->phase = rate->n_part ? PNV_RATE_CORRECTING : PNV_RATE_WHOLE;
    return pnv_rate_code_at(rate, pnv_rate_aimed_position(rate), rate->n_part ? rate->n_part : rate->n_slices);
}

/** What the estimates are off on a part of the slices, they will be off on all. */
PNV_SHARED PnvRateStep pnv_rate_corrected(PnvRate *rate, int64_t bytes)
{
    const int base = (int)(rate->position / rate->n_slices) + 1;
    const int n_larger = (int)pnv_rate_min64(rate->position % rate->n_slices, rate->n_part);
    int64_t expected = pnv_rate_estimate_of(rate, &rate->part, rate->n_part, base) * (rate->n_part - n_larger);

    if (n_larger)
        expected += pnv_rate_estimate_of(rate, &rate->part, rate->n_part, base + 1) * n_larger;
    rate->part_expected = pnv_rate_max64(expected / rate->n_part, 1);
    rate->part_bytes = bytes;
    rate->phase = PNV_RATE_WHOLE;
    return pnv_rate_code_at(rate, pnv_rate_aimed_position(rate), rate->n_slices);
}

/** Bytes that one slice gives back when its quantizer goes one up, near the position. At least 1. */
PNV_SHARED int64_t pnv_rate_bytes_per_step(const PnvRate *rate)
{
    const int q = (int)pnv_rate_min64(rate->position / rate->n_slices + 1, PNV_QUANTIZER_MAX - 1);

    return pnv_rate_max64(1, (pnv_rate_estimate(rate, q) - pnv_rate_estimate(rate, q + 1)) / rate->n_slices);
}

/** A position strictly inside of what is known, or past it where only one end is. */
PNV_SHARED int64_t pnv_rate_next_position(const PnvRate *rate, int64_t bytes)
{
    const int64_t aim = pnv_rate_share(rate->budget, PNV_RATE_SHARE_AGAIN);

    if (rate->over >= 0 && rate->fits >= 0) {
        const int64_t span = rate->fits - rate->over, drop = pnv_rate_max64(1, rate->over_bytes - rate->fits_bytes);
        /* Sizes fall ever slower, so that interpolation creeps from one side: halve the span now and then. */
        const int64_t step = rate->n_encoded >= 3 && rate->n_encoded % 2
                                 ? span / 2
                                 : pnv_rate_max64(0, rate->over_bytes - aim) * span / drop;
        return pnv_rate_max64(rate->over + 1, pnv_rate_min64(rate->over + step, rate->fits - 1));
    }
    /* The step grows while it stays one-sided. */
    const int64_t off = bytes > aim ? bytes - aim : aim - bytes;
    const int64_t step = (off / pnv_rate_bytes_per_step(rate) + 1) << pnv_rate_min64(rate->n_encoded - 1, 20);
    return bytes > rate->budget ? rate->position + step : rate->position - step;
}

/** Even the end of the search is over its budget: what passes the limit is searched for anew, from there on. */
PNV_SHARED PnvRateStep pnv_rate_give_up_target(PnvRate *rate, int64_t bytes)
{
    if (bytes <= rate->limit || rate->high == pnv_rate_position_of(rate, PNV_QUANTIZER_MAX))
        return PNV_RATE_DONE;
    rate->min_quantizer = rate->max_quantizer;
    rate->max_quantizer = PNV_QUANTIZER_MAX;
    rate->low = rate->high;
    rate->high = pnv_rate_position_of(rate, PNV_QUANTIZER_MAX);
    rate->budget = rate->limit;
    rate->phase = PNV_RATE_SAMPLING;
    rate->part_expected = 0;
    rate->n_encoded = 1;
    rate->n_rounds = 0;

    const int quantizer = pnv_rate_smallest_under(rate, pnv_rate_share(rate->budget, PNV_RATE_SHARE_FIRST));
    return pnv_rate_code_at(rate, pnv_rate_position_of(rate, quantizer), rate->n_samples);
}

PNV_SHARED PnvRateStep pnv_rate_encoded(PnvRate *rate, int64_t bytes)
{
    rate->n_encoded++;
    if (bytes > rate->budget) {
        rate->over = rate->position;
        rate->over_bytes = bytes;
        if (rate->position == rate->high)
            return pnv_rate_give_up_target(rate, bytes);
    } else {
        rate->fits = rate->position;
        rate->fits_bytes = bytes;
        if (rate->position == rate->low || bytes >= pnv_rate_share(rate->budget, PNV_RATE_SHARE_ENOUGH))
            return PNV_RATE_DONE;
    }
    if (rate->fits >= 0 && (rate->fits - rate->over == 1 || rate->n_encoded >= PNV_RATE_MAX_ENCODE_ROUNDS)) {
        if (rate->position == rate->fits)
            return PNV_RATE_DONE;
        /* Coded before, and at most a slice's worth of positions ago; the backend may have kept it. */
        rate->position = rate->fits;
        rate->low = rate->fits;
        return PNV_RATE_CODE;
    }
    return pnv_rate_code_at(rate, pnv_rate_next_position(rate, bytes), rate->n_slices);
}

PNV_SHARED PnvRateStep pnv_rate_search_coded(PnvRate *rate, int64_t bytes)
{
    if (rate->phase == PNV_RATE_WHOLE)
        return pnv_rate_encoded(rate, bytes);
    rate->n_rounds++;
    return rate->phase == PNV_RATE_SAMPLING ? pnv_rate_sampled(rate, bytes) : pnv_rate_corrected(rate, bytes);
}

#endif
