/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any input format -> samples of one slice of one component, edges replicated. */
#ifndef PNV_FETCH_H
#define PNV_FETCH_H

#include "load.h"
#include "sample.h"

#define PNV_FETCH_STRIDE 128 /**< Samples from a row to the next in what fetch writes: the widest slice. */

/**
 * Read columns x0 .. x0 + width - 1 of rows y0 .. y0 + 15. Where the plane ends, its last column and row repeat.
 *
 * What is written is the sample at one scale for every depth b: (s - 2^(b-1)) * 2^(14-b), -8192..8191. That is four
 * times the 12-bit number x that RDD 36's transform is defined on, so 14 bits of an input are kept; 16 bits are rounded
 * to that, halves up, and stop at 8191. Full range is scaled by 219/255 (luma) or 224/255 (chroma) of its span and
 * rounded once, at this scale.
 *
 * @param dst   16 rows of PNV_FETCH_STRIDE; columns behind width are left alone.
 * @param x0    < plane->width, as y0 < plane->height: a slice always has a visible sample.
 * @param width 1..PNV_FETCH_STRIDE
 */
void pnv_fetch_c(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width);

/** Whether a plane is what most variants take in one go; anything else is loaded first. */
static inline int pnv_fetch_is_plain(const PnvPlane *plane)
{
    return pnv_plane_is_plain(plane) && plane->range == PNV_SAMPLES_VIDEO && plane->depth <= 14;
}

/** That scale of one sample. full_gain: pnv_sample_full_gain(), read for full range. */
PNV_SHARED int16_t pnv_fetch_sample(int s, int depth, PnvSampleRange range, int64_t full_gain)
{
    return range == PNV_SAMPLES_VIDEO ? pnv_sample_video(s, depth)
                                      : pnv_sample_full(s, depth, range == PNV_SAMPLES_FULL_LUMA, full_gain);
}

/** The second half of it: n loaded samples to that scale. */
void pnv_fetch_scale_c(int16_t *dst, const uint16_t *sample, int n, int depth, PnvSampleRange range);

#endif
