/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands between the components of an input and those of the stream, where the two are not alike: 4:2:0 and 4:2:2
 * to more chroma (interpolate.h), 4:4:4 to less (decimate.h), R'G'B' to Y'CbCr (color.h), or both of the last.
 */
#ifndef PNV_CONVERT_H
#define PNV_CONVERT_H

#include <stdalign.h>

#include "color.h"
#include "decimate.h"
#include "fetch.h"
#include "interpolate.h"
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
    PNV_CONVERT_ROWS = 16 + 5,                                           /* of six taps over 16 rows */
    PNV_CONVERT_LINES = 4                                                /* of R'G'B' at a time */
};

/** A thread's memory for one slice. */
typedef struct PnvConvertScratch {
    alignas(64) int16_t samples[3][16 * PNV_FETCH_STRIDE];              /**< Of the units, as fetch.h has them. */
    alignas(64) uint16_t raw[PNV_CONVERT_ROWS][PNV_CONVERT_STRIDE];     /**< Of R'G'B' 3 * PNV_CONVERT_LINES rows. */
    alignas(64) uint16_t line[2][PNV_FETCH_STRIDE], both[2 * PNV_FETCH_STRIDE];
    alignas(64) int16_t wide[3][PNV_CONVERT_LINES][PNV_CONVERT_STRIDE];
} PnvConvertScratch;

/*
 * The same sample by sample, for whoever makes them in parallel: pnv_convert_source() of every place in the unit's
 * pnv_convert_window(), of which pnv_convert_sample() makes the samples of the stream. Where component c is not
 * filtered, the window is the unit, and its sources are the samples.
 */

/** Whether a sample of component c takes several of the input. */
PNV_SHARED int pnv_convert_filters(const PnvConversion *v, int c)
{
    return c > 0 && (v->interpolates || v->decimates);
}

/** Places of the input, in front of its first and behind its last as well: column x and row y are the first. */
typedef struct PnvConvertWindow {
    int x, y, width, height;
} PnvConvertWindow;

enum {
    PNV_CONVERT_WINDOW_WIDTH = PNV_FETCH_STRIDE + 6, /**< Most columns of a unit's window, */
    PNV_CONVERT_WINDOW_HEIGHT = 16                   /**< and rows: of 4:2:0, which has half as many, 8 and 6. */
};

/** What the 16 rows of a unit of component c are made of, whose first sample is (x0, y0) of the stream. */
PNV_SHARED PnvConvertWindow pnv_convert_window(const PnvConversion *v, const PnvChromaGrid *grid, int c, int x0, int y0,
                                               int width)
{
    PnvConvertWindow w = {x0, y0, width, 16};

    if (!pnv_convert_filters(v, c))
        return w;
    if (v->decimates) {
        w.x = 2 * x0 - 3;
        w.width = 2 * width + 5;
        return w;
    }
    w.x = ((grid->step_x * x0 - grid->offset_x) >> 3) - 2;
    w.width = width * grid->step_x / 8 + 6;
    if (grid->step_y < 8) { /* else no sample lies between rows */
        w.y = ((grid->step_y * y0 - grid->offset_y) >> 3) - 2;
        w.height = 16 * grid->step_y / 8 + 6;
    }
    return w;
}

/**
 * Component c at (x, y), or at the nearest pixel there is, as its filter takes it: of chroma that is interpolated with
 * pnv_convert_depth() bits, else an int16_t at the scale of fetch.h.
 *
 * @param planes    of the input; of RGB all three are read.
 * @param full_gain pnv_sample_full_gain() of the component, where its range is full.
 */
PNV_SHARED uint16_t pnv_convert_source(const PnvConversion *v, const PnvPlane *planes, int64_t full_gain, int c, int x,
                                       int y)
{
    if (v->is_rgb)
        return (uint16_t)pnv_color_sample(&v->color, c, pnv_plane_at(&planes[0], x, y), pnv_plane_at(&planes[1], x, y),
                                          pnv_plane_at(&planes[2], x, y));
    const int s = pnv_plane_at(&planes[c], x, y);
    return (uint16_t)(c > 0 && v->interpolates ? pnv_convert_widen(&planes[c], s, full_gain)
                                               : pnv_fetch_sample(s, planes[c].depth, planes[c].range, full_gain));
}

/**
 * Sample (x, y) of a unit of a filtered component, or the nearest that the picture has, at the scale of fetch.h.
 *
 * @param w      the unit's window,
 * @param source and what is there, stride from a row to the next.
 * @param depth  pnv_convert_depth() of the component.
 * @param height rows of the picture.
 */
PNV_SHARED int16_t pnv_convert_sample(const PnvConversion *v, const PnvChromaGrid *grid, const PnvConvertWindow *w,
                                      const uint16_t *source, int stride, int depth, int x, int y, int height)
{
    x = pnv_plane_inside(x, v->chroma_width);
    y = pnv_plane_inside(y, height);
    if (v->decimates)
        return pnv_decimate_sample((const int16_t *)source + (y - w->y) * stride + 2 * x - w->x);

    const int x8 = grid->step_x * x - grid->offset_x, y8 = grid->step_y * y - grid->offset_y, fx = x8 & 7, fy = y8 & 7;
    const uint16_t *at = source + ((y8 >> 3) - w->y) * stride + (x8 >> 3) - w->x;
    int s[6][6];
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++)
            s[i][k] = (fy || i == 2) && (fx || k == 2) ? at[(i - 2) * stride + k - 2] : 0;
    }
    return pnv_sample_video(pnv_interpolate_sample(s, fx, fy, (1 << depth) - 1), depth);
}

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
