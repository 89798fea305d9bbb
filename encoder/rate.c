/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rate.h"

#include <stdlib.h>

#include "shared.h"
#include "tables.h"

/* A frame is aimed a little under its budget, and taken when it is within 1 % of it. All in 1/2000. */
enum { SHARE_FIRST = 1992, SHARE_AGAIN = 1995, SHARE_ENOUGH = 1980, SHARES = 2000 };

/* The quantizer seldom moves more than twice; the border of slices less often than that. */
enum { MAX_SAMPLE_ROUNDS = 6, MAX_ENCODE_ROUNDS = 20 };

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void pnv_rate_reciprocals(uint16_t reciprocal[64], const uint8_t matrix[64], const uint8_t scan[64])
{
    for (int i = 0; i < 64; i++)
        reciprocal[i] = (uint16_t)min64(65536 * 2 / matrix[scan[i]], 65535);
}

static inline int bin_of(uint32_t y)
{
    if (!y)
        return 0;
    const int octave = pnv_log2(y);
    return 1 + 2 * octave + (octave > 0 && (y >> (octave - 1) & 1));
}

void pnv_rate_histogram_c(PnvRateHistogram *h, const int16_t *coef, int n_blocks, const uint16_t reciprocal[64])
{
    for (int i = 1; i < 64; i += 4) {
        for (int b = 0; b < n_blocks; b++)
            h->n[bin_of((uint32_t)abs(coef[i * n_blocks + b]) * reciprocal[i] >> 16)]++;
    }
}

/*
 * The model: bits of a coefficient by its size relative to the step, in eighths of an octave above the dead zone, in
 * 1/16 bit. Half an octave below the edge it costs nothing, at it five bits with its share of runs, and two for each
 * octave more. Only the shape counts: the factor is measured.
 */
static int model_cost(int above)
{
    if (above <= -3)
        return 0;
    return above < 2 ? (above + 3) * 16 : 80 + (above - 2) * 4;
}

/** 8 * log2(v), rounded down. */
static int log2_eighths(unsigned v)
{
    /* 2^(i / 8) in 2^-15 */
    static const uint16_t edge[8] = {32768, 35734, 38968, 42495, 46341, 50535, 55109, 60097};
    const int octave = pnv_log2(v);
    const unsigned mantissa = octave > 15 ? v >> (octave - 15) : v << (15 - octave);
    int i = 7;

    while (mantissa < edge[i])
        i--;
    return 8 * octave + i;
}

/* Bits in 1/16 of n slices with this histogram at a quantizer. The histogram has 16 of 63 coefficients. */
static int64_t model(const PnvRateHistogram *h, int n_slices, int quantizer)
{
    /* the dead zone ends near 0.63 = 2^(-5/8) of a step */
    const int edge = log2_eighths(4 * (unsigned)pnv_qscale(quantizer)) - 5;
    int64_t sum = 0;

    for (int b = 1; b < PNV_RATE_BINS; b++)
        sum += (int64_t)h->n[b] * model_cost(4 * (b - 1) + 2 - edge);
    return sum * 63 / 16 + (int64_t)n_slices * 400 * 16; /* headers and DC */
}

/** What the frame would take at a quantizer, by the factor that the samples gave at another. */
static int64_t estimate(const PnvRate *rate, int quantizer, int sampled_quantizer)
{
    const int64_t samples = model(&rate->sampled, rate->n_samples, sampled_quantizer);
    const int64_t all = model(&rate->all, rate->n_slices, quantizer);

    /* bytes below 2^32, bits in 1/16 of a frame below 2^37: scaled down by 2^8 the product stays below 2^61 */
    return (all >> 8) * rate->sample_bytes[sampled_quantizer] / max64(samples >> 8, 1);
}

static int64_t share(int64_t bytes, int of_2000)
{
    return bytes * of_2000 / SHARES;
}

int pnv_rate_multiplier(int n_slices)
{
    int m = (int)((int64_t)n_slices * 607 / 1000);

    if (m < 1)
        return 1;
    for (;; m++) { /* n_slices - 1 is coprime: it ends */
        int a = m, b = n_slices;
        while (b) {
            const int r = a % b;
            a = b;
            b = r;
        }
        if (a == 1)
            return m;
    }
}

int pnv_rate_quantizer(const PnvRate *rate, int slice)
{
    const int base = (int)(rate->position / rate->n_slices), n_larger = (int)(rate->position % rate->n_slices);

    return base + 1 + (pnv_rate_rank(rate, slice) < n_larger);
}

/** The position at which all slices have a quantizer. */
static int64_t position_of(const PnvRate *rate, int quantizer)
{
    return (int64_t)(quantizer - 1) * rate->n_slices;
}

static PnvRateStep encode_at(PnvRate *rate, int64_t position)
{
    rate->position = max64(rate->low, min64(position, rate->high));
    return PNV_RATE_ENCODE;
}

/** Smallest quantizer whose estimate is under the aim, or the largest. size is nonincreasing in the quantizer. */
static int smallest_under(const PnvRate *rate, int64_t aim, int sampled_quantizer)
{
    int low = rate->min_quantizer, high = rate->max_quantizer;

    while (low < high) {
        const int q = (low + high) / 2;
        const int64_t size = sampled_quantizer ? estimate(rate, q, sampled_quantizer)
                                               : model(&rate->all, rate->n_slices, q) / (16 * 8);
        if (size <= aim)
            high = q;
        else
            low = q + 1;
    }
    return low;
}

PnvRateStep pnv_rate_begin(PnvRate *rate)
{
    rate->low = position_of(rate, rate->min_quantizer);
    rate->high = position_of(rate, rate->max_quantizer);
    rate->budget = rate->target;
    rate->over = rate->fits = -1;
    rate->quantizer = smallest_under(rate, share(rate->budget, SHARE_FIRST), 0);
    return PNV_RATE_SAMPLE;
}

/** Where to begin between the last two quantizers that were sampled, quantizer and the one below. */
static PnvRateStep encode_between(PnvRate *rate, int q)
{
    const int64_t aim = share(rate->budget, SHARE_FIRST), small = estimate(rate, q, q);

    if (q == rate->min_quantizer || small >= aim)
        return encode_at(rate, position_of(rate, q));
    const int64_t large = max64(estimate(rate, q - 1, q - 1), small + 1);
    const int64_t n_larger = max64(0, large - aim) * rate->n_slices / (large - small);
    return encode_at(rate, position_of(rate, q - 1) + min64(n_larger, rate->n_slices));
}

PnvRateStep pnv_rate_sampled(PnvRate *rate, int64_t bytes)
{
    const int q = rate->quantizer;

    rate->sample_bytes[q] = bytes;
    rate->n_sampled++;
    if (rate->settled)
        return encode_between(rate, rate->settled);
    const int better = smallest_under(rate, share(rate->budget, SHARE_FIRST), q);
    if (!rate->sample_bytes[better] && rate->n_sampled < MAX_SAMPLE_ROUNDS) {
        rate->quantizer = better;
        return PNV_RATE_SAMPLE;
    }
    rate->settled = rate->sample_bytes[better] ? better : q;
    if (rate->settled == rate->min_quantizer || rate->sample_bytes[rate->settled - 1])
        return encode_between(rate, rate->settled);
    rate->quantizer = rate->settled - 1; /* the other end of what is to be shared out */
    return PNV_RATE_SAMPLE;
}

/** Bytes that one slice gives back when its quantizer goes one up, near the position. At least 1. */
static int64_t bytes_per_step(const PnvRate *rate, int64_t bytes)
{
    const int q = (int)(rate->position / rate->n_slices) + 1;
    const int64_t here = q < PNV_QUANTIZER_MAX ? rate->sample_bytes[q] : 0;
    const int64_t there = q < PNV_QUANTIZER_MAX ? rate->sample_bytes[q + 1] : 0;

    if (here && there && here > there)
        return max64(1, (here - there) / rate->n_samples);
    return max64(1, bytes / rate->n_slices * 3 / (4 * (int64_t)q + 4)); /* size falls about as q^-0.75 */
}

/** A position strictly inside of what is known, or past it where only one end is. */
static int64_t next_position(const PnvRate *rate, int64_t bytes)
{
    const int64_t aim = share(rate->budget, SHARE_AGAIN);

    if (rate->over >= 0 && rate->fits >= 0) {
        const int64_t span = rate->fits - rate->over, drop = max64(1, rate->over_bytes - rate->fits_bytes);
        /* Sizes fall ever slower, so that interpolation creeps from one side: halve the span now and then. */
        const int64_t step = rate->n_encoded >= 3 && rate->n_encoded % 2 ? span / 2
                                                                         : max64(0, rate->over_bytes - aim) * span / drop;
        return max64(rate->over + 1, min64(rate->over + step, rate->fits - 1));
    }
    /* The step grows while it stays one-sided. */
    const int64_t step = (llabs(bytes - aim) / bytes_per_step(rate, bytes) + 1) << min64(rate->n_encoded - 1, 20);
    return bytes > rate->budget ? rate->position + step : rate->position - step;
}

/** Even the end of the search is over its budget. */
static PnvRateStep give_up_target(PnvRate *rate, int64_t bytes)
{
    if (bytes <= rate->limit || rate->high == position_of(rate, PNV_QUANTIZER_MAX))
        return PNV_RATE_DONE;
    rate->low = rate->high;
    rate->high = position_of(rate, PNV_QUANTIZER_MAX);
    rate->budget = rate->limit;
    rate->n_encoded = 1;
    return encode_at(rate, next_position(rate, bytes));
}

PnvRateStep pnv_rate_encoded(PnvRate *rate, int64_t bytes)
{
    rate->n_encoded++;
    if (bytes > rate->budget) {
        rate->over = rate->position;
        rate->over_bytes = bytes;
        if (rate->position == rate->high)
            return give_up_target(rate, bytes);
    } else {
        rate->fits = rate->position;
        rate->fits_bytes = bytes;
        if (rate->position == rate->low || bytes >= share(rate->budget, SHARE_ENOUGH))
            return PNV_RATE_DONE;
    }
    if (rate->fits >= 0 && (rate->fits - rate->over == 1 || rate->n_encoded >= MAX_ENCODE_ROUNDS)) {
        if (rate->position == rate->fits)
            return PNV_RATE_DONE;
        /* Coded before, and at most a slice's worth of positions ago; the backend may have kept it. */
        rate->position = rate->fits;
        rate->low = rate->fits;
        return PNV_RATE_ENCODE;
    }
    return encode_at(rate, next_position(rate, bytes));
}
