/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rate.h"

#include <stdlib.h>

#include "shared.h"
#include "tables.h"

/* A frame is aimed a little under its budget, and taken when it is within 1 % of it. All in 1/2000. */
enum { SHARE_FIRST = 1992, SHARE_AGAIN = 1995, SHARE_ENOUGH = 1980, SHARES = 2000 };

/* The quantizer seldom moves more than once; the border of slices less often than that. */
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
 * The model: bits of a coefficient, its share of runs and sign included, in 1/16, by its size relative to the step in
 * half octaves from 2^-1.5 on; below it costs nothing, behind the end a bit for each half octave. Fitted to the bytes
 * of slices of photographs from HQ to Proxy. Nearest rounding makes levels of smaller coefficients; optimal is much
 * like the dead zone.
 */
enum { COST_FIRST = -96, COST_STEP = 32, COST_UNIT = 16 * COST_STEP, N_COSTS = 20, DC_COST = 70, SLICE_COST = 7 * 8 };
static const uint8_t costs[2][N_COSTS] = {
    {0, 15, 45, 66, 66, 64, 85, 106, 121, 136, 147, 158, 168, 178, 188, 198, 208, 218, 228, 238},
    {0, 64, 68, 40, 60, 62, 85, 106, 121, 136, 147, 158, 168, 178, 188, 198, 208, 218, 228, 238},
};

/** In 1 / COST_UNIT bit, of a coefficient that is so many 1/64 octaves above the step. */
static int64_t cost_of(const uint8_t cost[N_COSTS], int above)
{
    const int at = above - COST_FIRST, i = at / COST_STEP, part = at % COST_STEP;

    if (at <= 0)
        return 0;
    if (i >= N_COSTS - 1)
        return cost[N_COSTS - 1] * COST_STEP + (at - (N_COSTS - 1) * COST_STEP) * 16;
    return cost[i] * (COST_STEP - part) + cost[i + 1] * part;
}

/** 64 * log2(v), rounded down; v up to 2^15. */
static int log2_64ths(unsigned v)
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

/* Bits in 1 / COST_UNIT of n slices with this histogram at a quantizer. The histogram has 16 of 63 coefficients. */
static int64_t model(const PnvRate *rate, const PnvRateHistogram *h, int n_slices, int quantizer)
{
    const uint8_t *cost = costs[rate->rounding == PNV_ROUNDING_NEAREST];
    const int step = log2_64ths(4 * (unsigned)pnv_qscale(quantizer));
    int64_t sum = 0, n = h->n[0];

    for (int b = 1; b < PNV_RATE_BINS; b++) {
        n += h->n[b];
        sum += h->n[b] * cost_of(cost, 32 * (b - 1) + 16 - step); /* the middle of the bin */
    }
    return sum * 63 / 16 + n * (DC_COST * COST_STEP / 16) + (int64_t)n_slices * SLICE_COST * COST_UNIT;
}

/** Bytes of n slices with this histogram by the model, in the scale of the samples at a quantizer where they are known. */
static int64_t estimate_of(const PnvRate *rate, const PnvRateHistogram *h, int n_slices, int quantizer)
{
    const int64_t bits = model(rate, h, n_slices, quantizer);
    const int known = rate->sample_bytes[quantizer] ? quantizer : rate->settled;

    if (!known)
        return bits / (8 * COST_UNIT);
    /* bits below 2^44 and bytes of samples below 2^21: scaled down by 2^8 the product stays below 2^57 */
    return (bits >> 8) * rate->sample_bytes[known] /
           max64(model(rate, &rate->sampled, rate->n_samples, known) >> 8, 1);
}

/** What the frame would take at a quantizer. */
static int64_t estimate(const PnvRate *rate, int quantizer)
{
    const int64_t bytes = estimate_of(rate, &rate->all, rate->n_slices, quantizer);

    return rate->part_expected ? bytes * rate->part_bytes / rate->part_expected : bytes;
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

static PnvRateStep code_at(PnvRate *rate, int64_t position, int n_wanted)
{
    rate->position = max64(rate->low, min64(position, rate->high));
    rate->n_wanted = n_wanted;
    return PNV_RATE_CODE;
}

/** Smallest quantizer whose estimate is under the aim, or the largest. Sizes hardly ever grow with the quantizer. */
static int smallest_under(const PnvRate *rate, int64_t aim)
{
    int low = rate->min_quantizer, high = rate->max_quantizer;

    while (low < high) {
        const int q = (low + high) / 2;
        if (estimate(rate, q) <= aim)
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
    return code_at(rate, position_of(rate, smallest_under(rate, share(rate->budget, SHARE_FIRST))), rate->n_samples);
}

/** Where the estimates meet the aim, between two neighbouring quantizers. */
static int64_t aimed_position(const PnvRate *rate)
{
    const int64_t aim = share(rate->budget, SHARE_FIRST);
    const int q = smallest_under(rate, aim);
    const int64_t small = estimate(rate, q);

    if (q == rate->min_quantizer || small >= aim)
        return position_of(rate, q);
    const int64_t large = max64(estimate(rate, q - 1), small + 1);
    const int64_t n_larger = max64(0, large - aim) * rate->n_slices / (large - small);
    return position_of(rate, q - 1) + min64(n_larger, rate->n_slices);
}

/** Samples of the quantizer at the position: either they lead to another one, or to a position. */
static PnvRateStep sampled(PnvRate *rate, int64_t bytes)
{
    const int q = pnv_rate_quantizer(rate, 0); /* of all slices */

    rate->sample_bytes[q] = bytes;
    rate->settled = q;
    const int better = smallest_under(rate, share(rate->budget, SHARE_FIRST));
    if (!rate->sample_bytes[better] && rate->n_rounds < MAX_SAMPLE_ROUNDS)
        return code_at(rate, position_of(rate, better), rate->n_samples);
    rate->phase = rate->n_part ? PNV_RATE_CORRECTING : PNV_RATE_WHOLE;
    return code_at(rate, aimed_position(rate), rate->n_part ? rate->n_part : rate->n_slices);
}

/** What the estimates are off on a part of the slices, they will be off on all. */
static PnvRateStep corrected(PnvRate *rate, int64_t bytes)
{
    const int base = (int)(rate->position / rate->n_slices) + 1;
    const int n_larger = (int)min64(rate->position % rate->n_slices, rate->n_part);
    int64_t expected = estimate_of(rate, &rate->part, rate->n_part, base) * (rate->n_part - n_larger);

    if (n_larger)
        expected += estimate_of(rate, &rate->part, rate->n_part, base + 1) * n_larger;
    rate->part_expected = max64(expected / rate->n_part, 1);
    rate->part_bytes = bytes;
    rate->phase = PNV_RATE_WHOLE;
    return code_at(rate, aimed_position(rate), rate->n_slices);
}

/** Bytes that one slice gives back when its quantizer goes one up, near the position. At least 1. */
static int64_t bytes_per_step(const PnvRate *rate)
{
    const int q = (int)min64(rate->position / rate->n_slices + 1, PNV_QUANTIZER_MAX - 1);

    return max64(1, (estimate(rate, q) - estimate(rate, q + 1)) / rate->n_slices);
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
    const int64_t step = (llabs(bytes - aim) / bytes_per_step(rate) + 1) << min64(rate->n_encoded - 1, 20);
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
    return code_at(rate, next_position(rate, bytes), rate->n_slices);
}

static PnvRateStep encoded(PnvRate *rate, int64_t bytes)
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
        return PNV_RATE_CODE;
    }
    return code_at(rate, next_position(rate, bytes), rate->n_slices);
}

PnvRateStep pnv_rate_coded(PnvRate *rate, int64_t bytes)
{
    if (rate->phase == PNV_RATE_WHOLE)
        return encoded(rate, bytes);
    rate->n_rounds++;
    return rate->phase == PNV_RATE_SAMPLING ? sampled(rate, bytes) : corrected(rate, bytes);
}
