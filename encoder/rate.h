/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate control: one quantizer for a frame, and the next larger one for some of its slices, so that the frame comes as
 * near its budget as it can and never over.
 *
 * All assignments of a frame lie on one line, the *position*: with n slices in the spread order (which visits the
 * picture evenly), position (q - min) * n + k gives quantizer q + 1 to the first k of them and q to the others. The
 * size falls as the position grows, slice by slice. The search finds the smallest position that fits:
 *
 *   1. A histogram of coefficients, taken while they are made, says what each quantizer would cost, within some percent.
 *   2. A few slices of the spread order are coded at that quantizer and give the factor that was missing; again where
 *      that moves the quantizer.
 *   3. More slices are coded at the position that this leads to, and what they are off corrects it.
 *   4. All slices are coded. This is mostly the frame, and what was coded before is part of it.
 *   5. Where it is over, or leaves more than 1 %, the border moves and only the slices next to it are coded again.
 *
 * The search is integer arithmetic and sees nothing but the frame: equal on every backend and number of threads. The
 * backend does the work and asks here what comes next.
 */
#ifndef PNV_RATE_H
#define PNV_RATE_H

#include <stdint.h>

#include "pnv.h"
#include "slice.h"

#define PNV_RATE_BINS 32    /**< Half octaves of a coefficient's size. */
#define PNV_RATE_SAMPLES 64 /**< Slices that are coded first, to find the factor. */
#define PNV_RATE_PART 256   /**< Slices that are coded next, to correct the position. */

#define PNV_RATE_QUANTIZERS 225 /**< quantization_index 1..224 as an index. */

/** How many coefficients of each size. Bin 0: below 1. */
typedef struct PnvRateHistogram {
    uint32_t n[PNV_RATE_BINS];
} PnvRateHistogram;

/**
 * Add the coefficients of a unit that stand for the others: scan positions 1, 5, 9 .. 61. A coefficient's size is
 * y = floor(|c| * 2 / W), c = 2 * C, so that it is a level of 1 at y = 4 * qScale; the bins begin at y = 0, 1, 1.5, 2,
 * 3, 4, 6, 8, 12 ...
 *
 * @param reciprocal of the matrix in scan order, from pnv_rate_reciprocals().
 */
void pnv_rate_histogram_c(PnvRateHistogram *h, const int16_t *coef, int n_blocks, const uint16_t reciprocal[64]);

/** Add one to another. */
void pnv_rate_histogram_add(PnvRateHistogram *sum, const PnvRateHistogram *h);

/** 65536 * 2 / W, at most 65535, in scan order: y = (|c| * that) >> 16. */
void pnv_rate_reciprocals(uint16_t reciprocal[64], const uint8_t matrix[64], const uint8_t scan[64]);

/** What the backend is to do next. */
typedef enum PnvRateStep {
    /**
     * Code each slice of rank below n_wanted at pnv_rate_quantizer(), where it is not coded so yet, and say how many
     * bytes these slices take: pnv_rate_coded(). While n_wanted is below n_slices, measuring them does as well, but
     * most of them stay at their quantizer or the one next to it.
     */
    PNV_RATE_CODE,
    PNV_RATE_DONE /**< The frame is what was coded at pnv_rate_quantizer(). */
} PnvRateStep;

typedef enum PnvRatePhase { PNV_RATE_SAMPLING, PNV_RATE_CORRECTING, PNV_RATE_WHOLE } PnvRatePhase;

/** The search for one frame. */
typedef struct PnvRate {
    /* given */
    int n_slices, multiplier;
    int n_samples, n_part; /**< pnv_rate_n_samples(), pnv_rate_n_part() */
    PnvRounding rounding;
    int min_quantizer, max_quantizer; /**< Of the search for the target. */
    int64_t target; /**< Bytes that all slices should take, alpha aside. */
    int64_t limit;  /**< Bytes that they must not pass, at least target: for its sake quantizers go on up to 224. */
    PnvRateHistogram all, sampled, part; /**< Of all slices, and of those of rank below n_samples and n_part. */

    /* the search's */
    int64_t position;         /**< What is coded, or to be coded. */
    int n_wanted;             /**< Slices that are. */
    PnvRatePhase phase;
    int n_rounds, n_encoded;  /**< How often, with some of the slices and with all. */
    int settled;              /**< Quantizer that the samples led to. */
    int64_t part_bytes, part_expected; /**< The correction, or 0. */
    int64_t low, high;        /**< First and last position of the search. */
    int64_t budget;           /**< Target, or limit once that is at stake. */
    int64_t over, over_bytes; /**< Largest position known to be over the budget; over -1: none. */
    int64_t fits, fits_bytes; /**< Smallest position known to fit; fits -1: none. */
    int64_t sample_bytes[PNV_RATE_QUANTIZERS]; /**< Exactly, by quantizer; 0: not measured. */
} PnvRate;

/** A multiplier that spreads the first slices of the order over n: coprime to n and near its golden section. */
int pnv_rate_multiplier(int n_slices);

/** Rank of a slice in the spread order, 0..n_slices - 1; slices in coding order, fields one after the other. */
PNV_SHARED int pnv_rate_rank(const PnvRate *rate, int slice)
{
    return (int)((int64_t)slice * rate->multiplier % rate->n_slices);
}

/** Slices of the spread order that are sampled. */
PNV_SHARED int pnv_rate_n_samples(int n_slices)
{
    return n_slices < PNV_RATE_SAMPLES ? n_slices : PNV_RATE_SAMPLES;
}

/** Slices that correct the position; 0 where that is not worth a round of its own. */
PNV_SHARED int pnv_rate_n_part(int n_slices)
{
    return n_slices < 2 * PNV_RATE_PART ? 0 : PNV_RATE_PART;
}

/** Begin. What is given is set, all else is 0. Budgets may be anything, down to below 0. */
PnvRateStep pnv_rate_begin(PnvRate *rate);

/** The slices of rank below n_wanted take that many bytes, headers included. */
PnvRateStep pnv_rate_coded(PnvRate *rate, int64_t bytes);

/** Quantizer of a slice at the position. */
PNV_SHARED int pnv_rate_quantizer(const PnvRate *rate, int slice)
{
    const int base = (int)(rate->position / rate->n_slices), n_larger = (int)(rate->position % rate->n_slices);

    return base + 1 + (pnv_rate_rank(rate, slice) < n_larger);
}

#endif
