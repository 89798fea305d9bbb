/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands between the components of an input and those of the stream, where the two are not alike: 4:2:0 and 4:2:2
 * to more chroma (interpolate.h), 4:4:4 to less (decimate.h), R'G'B' to Y'CbCr (color.h), or both of the last.
 */
#ifndef PNV_CONVERT_H
#define PNV_CONVERT_H

#include "color.h"
#include "decimate.h"
#include "fetch.h"
#include "interpolate.h"
#include "sample.h"
#include "slice.h"

typedef struct PnvDsp PnvDsp;

/**
 * Where a chroma sample (x, y) of the stream lies among those of the input, in eighths of their distance: column
 * step_x * x - offset_x, row step_y * y - offset_y.
 */
typedef struct PnvChromaGrid {
    int step_x, step_y, offset_x, offset_y;
} PnvChromaGrid;

typedef struct PnvConversion {
    int interpolates; /**< Chroma is made finer. */
    int decimates;    /**< Chroma is halved across. */
    int is_rgb;
    PnvColor color;
    int chroma_width; /**< Of the stream. */
} PnvConversion;

/** All conversion that these parameters and the stream's chroma take. */
PnvConversion pnv_convert_init(const PnvParams *params, PnvChroma stream);

/**
 * Chroma's place in a picture. row_step 2 says that it is the field of odd rows (first_row 1) or of even ones.
 *
 * Luma row y of a picture lies at chroma row y / 2 minus a quarter in frames (siting left or center), minus an eighth in
 * the top field and three eighths in the bottom field: chroma rows of fields lie at a quarter and three quarters of
 * the way to the next row of the same field, so that those of a frame are evenly spaced. Co-sited rows: minus nothing.
 */
PnvChromaGrid pnv_convert_grid(const PnvParams *params, PnvChroma stream, int first_row, int row_step);

/** Whether component c of the stream is not simply that of the input. */
PNV_SHARED int pnv_convert_applies(const PnvConversion *v, int c)
{
    return v->is_rgb || (c > 0 && (v->interpolates || v->decimates));
}

/**
 * Bits that a plane's samples are interpolated with: at least 12, so that what interpolation rounds up does not show, and
 * 14 of full range, which is brought to video range first.
 */
PNV_SHARED int pnv_convert_depth(const PnvPlane *p)
{
    return p->range != PNV_SAMPLES_VIDEO ? 14 : p->depth > 12 ? p->depth : 12;
}

/** A sample with these bits. full_gain: pnv_sample_full_gain(), for full range. */
PNV_SHARED int pnv_convert_widen(const PnvPlane *p, int s, int64_t full_gain)
{
    return p->range == PNV_SAMPLES_VIDEO
               ? s << (pnv_convert_depth(p) - p->depth)
               : pnv_sample_full(s, p->depth, p->range == PNV_SAMPLES_FULL_LUMA, full_gain) + 8192;
}

enum {
    PNV_CONVERT_MARGIN = 8,                                              /* columns on either side; filters need 3 */
    PNV_CONVERT_STRIDE = PNV_FETCH_STRIDE + 2 * PNV_CONVERT_MARGIN + PNV_LOAD_ROOM,
    PNV_CONVERT_ROWS = 16 + 5                                            /* of six taps over 16 rows */
};

/** A thread's memory for one slice. */
typedef struct PnvConvertScratch {
    _Alignas(64) int16_t samples[3][16 * PNV_FETCH_STRIDE];              /**< Of the units, as fetch.h has them. */
    _Alignas(64) uint16_t raw[PNV_CONVERT_ROWS][PNV_CONVERT_STRIDE];
    _Alignas(64) uint16_t line[2][PNV_FETCH_STRIDE], both[2 * PNV_FETCH_STRIDE];
    _Alignas(64) int16_t wide[3][PNV_CONVERT_STRIDE];
} PnvConvertScratch;

/**
 * Samples of component c of a slice, 16 rows of PNV_FETCH_STRIDE, edges repeated. Of RGB component 0 comes first: all
 * three are made with it.
 *
 * @param planes of the input.
 * @param x0     column of the stream's component, width its columns.
 * @param height rows of the picture.
 */
const int16_t *pnv_convert_unit(PnvConvertScratch *room, const PnvDsp *dsp, const PnvConversion *v,
                                const PnvChromaGrid *grid, const PnvPlane *planes, int c, int x0, int y0, int width,
                                int height);

#endif
