/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "convert.h"

#include <string.h>

#include "dsp.h"

static int columns_are_halved(PnvChroma chroma)
{
    return chroma != PNV_CHROMA_444;
}

PnvConversion pnv_convert_init(const PnvParams *params, PnvChroma stream)
{
    PnvConversion v = {
        .is_rgb = params->model == PNV_MODEL_RGB,
        .interpolates = params->chroma == PNV_CHROMA_420 || (params->chroma == PNV_CHROMA_422 && stream == PNV_CHROMA_444),
        .decimates = params->chroma == PNV_CHROMA_444 && stream == PNV_CHROMA_422,
        .chroma_width = pnv_plane_width(stream, 1, params->width),
    };
    if (v.is_rgb)
        pnv_color_init(&v.color, params->matrix_coefficients, params->depth, params->range);
    return v;
}

PnvChromaGrid pnv_convert_grid(const PnvParams *params, PnvChroma stream, int first_row, int row_step)
{
    PnvChromaGrid g = {.step_x = 8, .step_y = 8};

    if (columns_are_halved(params->chroma) && !columns_are_halved(stream))
        g.step_x = 4;
    /* 4:2:2 that stays so is kept as it is */
    if ((params->siting == PNV_SITING_CENTER || params->siting == PNV_SITING_TOP) &&
        (g.step_x == 4 || params->chroma == PNV_CHROMA_420))
        g.offset_x = 2;
    if (params->chroma == PNV_CHROMA_420) {
        g.step_y = 4;
        if (params->siting == PNV_SITING_LEFT || params->siting == PNV_SITING_CENTER)
            g.offset_y = row_step == 1 ? 2 : first_row ? 3 : 1;
    }
    return g;
}

static void repeat_last(int16_t *row, int n, int width)
{
    for (int x = n; x < width; x++)
        row[x] = row[n - 1];
}

static void repeat_row(int16_t *dst, int n_rows, int width)
{
    for (int y = n_rows; y < 16; y++)
        memcpy(dst + y * PNV_FETCH_STRIDE, dst + (n_rows - 1) * PNV_FETCH_STRIDE, (size_t)width * sizeof *dst);
}

/** Six rows around eighth y8, from those that begin with row first; column x of them comes first. */
static void six_rows(const uint16_t *six[6], PnvConvertScratch *room, int y8, int first, int x)
{
    for (int i = 0; i < 6; i++) {
        const int row = (y8 >> 3) - 2 + i - first;
        six[i] = row >= 0 && row < PNV_CONVERT_ROWS ? room->raw[row] + x : NULL;
    }
}

/** n samples of full range with the bits that they are interpolated with. */
static void to_video_range(PnvConvertScratch *room, const PnvDsp *dsp, const PnvPlane *plane, uint16_t *row, int n)
{
    dsp->fetch_scale(room->wide[0][0], row, n, plane->depth, plane->range);
    for (int x = 0; x < n; x++)
        row[x] = (uint16_t)(room->wide[0][0][x] + 8192);
}

/** The row at eighth y8: even samples begin at eighth x8[0] of a column, odd ones, if it is finer, at x8[1]. */
static void interpolate_row(PnvConvertScratch *room, const PnvDsp *dsp, int16_t *dst, const int x8[2], int y8,
                            int first_x, int first_y, int n_cols, int is_finer_x, int depth)
{
    const int n = is_finer_x ? (n_cols + 1) / 2 : n_cols;
    const uint16_t *six[6], *line = room->line[0];

    for (int odd = 0; odd <= is_finer_x; odd++) {
        six_rows(six, room, y8, first_y, (x8[odd] >> 3) - first_x);
        dsp->interpolate(room->line[odd], six, x8[odd] & 7, y8 & 7, n, (1 << depth) - 1);
    }
    if (is_finer_x) {
        for (int x = 0; x < n; x++) {
            room->both[2 * x] = room->line[0][x];
            room->both[2 * x + 1] = room->line[1][x];
        }
        line = room->both;
    }
    dsp->fetch_scale(dst, line, n_cols, depth, PNV_SAMPLES_VIDEO);
}

static void interpolate(PnvConvertScratch *room, const PnvDsp *dsp, const PnvConversion *v, const PnvChromaGrid *g,
                        const PnvPlane *plane, int16_t *dst, int x0, int y0, int width, int n_rows)
{
    const int n_cols = pnv_min(width, v->chroma_width - x0), depth = pnv_convert_depth(plane);
    const int is_finer_x = g->step_x == 4, keeps_columns = !is_finer_x && !g->offset_x;
    const int x8[2] = {g->step_x * x0 - g->offset_x, g->step_x * (x0 + 1) - g->offset_x};
    const int y8 = g->step_y * y0 - g->offset_y;
    /* without columns or rows in between no others are read */
    const int first_x = (x8[0] >> 3) - (keeps_columns ? 0 : 2), first_y = (y8 >> 3) - (g->step_y == 8 ? 0 : 2);
    const int n_read = keeps_columns ? n_cols : (is_finer_x ? (n_cols + 1) / 2 : n_cols) + 6;
    const int last_y = ((y8 + g->step_y * (n_rows - 1)) >> 3) + (g->step_y == 8 ? 0 : 3);

    const int is_video = plane->range == PNV_SAMPLES_VIDEO;
    dsp->load(room->raw[0], PNV_CONVERT_STRIDE, plane, first_x, first_y, n_read, last_y - first_y + 1,
              is_video ? depth - plane->depth : 0);
    for (int y = first_y; y <= last_y && !is_video; y++)
        to_video_range(room, dsp, plane, room->raw[y - first_y], n_read);
    if (keeps_columns && depth <= PNV_INTERPOLATE_ROWS_DEPTH)
        dsp->interpolate_rows(dst, room->raw[2], PNV_CONVERT_STRIDE, y8 & 7, n_cols, n_rows, depth);
    else
        for (int y = 0; y < n_rows; y++)
            interpolate_row(room, dsp, dst + y * PNV_FETCH_STRIDE, x8, y8 + g->step_y * y, first_x, first_y, n_cols,
                            is_finer_x, depth);
    for (int y = 0; y < n_rows; y++)
        repeat_last(dst + y * PNV_FETCH_STRIDE, n_cols, width);
    repeat_row(dst, n_rows, width);
}

static void decimate(PnvConvertScratch *room, const PnvDsp *dsp, const PnvConversion *v, const PnvPlane *plane,
                     int16_t *dst, int x0, int y0, int width, int n_rows)
{
    const int n_cols = pnv_min(width, v->chroma_width - x0), n = 2 * n_cols + 2 * PNV_CONVERT_MARGIN;

    dsp->load(room->raw[0], PNV_CONVERT_STRIDE, plane, 2 * x0 - PNV_CONVERT_MARGIN, y0, n, n_rows, 0);
    for (int y = 0; y < n_rows; y++, dst += PNV_FETCH_STRIDE) {
        dsp->fetch_scale(room->wide[0][0], room->raw[y], n, plane->depth, plane->range);
        dsp->decimate_row(dst, room->wide[0][0] + PNV_CONVERT_MARGIN, n_cols);
        repeat_last(dst, n_cols, width);
    }
    repeat_row(dst - n_rows * PNV_FETCH_STRIDE, n_rows, width);
}

/** Up to PNV_CONVERT_LINES rows of n pixels, with the columns beside the picture. */
static void color_rows(PnvConvertScratch *room, const PnvDsp *dsp, const PnvColor *color, const PnvPlane *planes,
                       int16_t *const dst[3], ptrdiff_t stride, int x, int y, int n, int n_rows)
{
    uint16_t(*raw)[PNV_CONVERT_STRIDE] = room->raw;

    if (pnv_color_is_packed(planes)) {
        dsp->color_pixels(dst, stride, planes, color, x, y, n, n_rows);
        return;
    }
    for (int c = 0; c < 3; c++)
        dsp->load(raw[c * PNV_CONVERT_LINES], PNV_CONVERT_STRIDE, &planes[c], x, y, n, n_rows, 0);
    for (int i = 0; i < n_rows; i++)
        dsp->color_row(dst[0] + i * stride, dst[1] + i * stride, dst[2] + i * stride, raw[i],
                       raw[PNV_CONVERT_LINES + i], raw[2 * PNV_CONVERT_LINES + i], color, n);
}

/** The same, with half the columns of chroma. */
static void color_and_decimate_rows(PnvConvertScratch *room, const PnvDsp *dsp, const PnvConversion *v,
                                    const PnvPlane *planes, int16_t *const dst[3], int x0, int y, int width, int n_rows)
{
    const int n_chroma = pnv_min(width / 2, v->chroma_width - x0 / 2);
    int16_t *const wide[3] = {room->wide[0][0], room->wide[1][0], room->wide[2][0]};

    color_rows(room, dsp, &v->color, planes, wide, PNV_CONVERT_STRIDE, x0 - PNV_CONVERT_MARGIN, y,
               width + 2 * PNV_CONVERT_MARGIN, n_rows);
    for (int i = 0; i < n_rows; i++) {
        memcpy(dst[0] + i * PNV_FETCH_STRIDE, room->wide[0][i] + PNV_CONVERT_MARGIN, (size_t)width * sizeof *dst[0]);
        for (int c = 1; c < 3; c++) {
            dsp->decimate_row(dst[c] + i * PNV_FETCH_STRIDE, room->wide[c][i] + PNV_CONVERT_MARGIN, n_chroma);
            repeat_last(dst[c] + i * PNV_FETCH_STRIDE, n_chroma, width / 2);
        }
    }
}

static void color(PnvConvertScratch *room, const PnvDsp *dsp, const PnvConversion *v, const PnvPlane *planes, int x0,
                  int y0, int width, int n_rows)
{
    for (int y = 0; y < n_rows; y += PNV_CONVERT_LINES) {
        const int n = pnv_min(PNV_CONVERT_LINES, n_rows - y), at = y * PNV_FETCH_STRIDE;
        int16_t *const dst[3] = {room->samples[0] + at, room->samples[1] + at, room->samples[2] + at};
        if (v->decimates)
            color_and_decimate_rows(room, dsp, v, planes, dst, x0, y0 + y, width, n);
        else
            color_rows(room, dsp, &v->color, planes, dst, PNV_FETCH_STRIDE, x0, y0 + y, width, n);
    }
    for (int c = 0; c < 3; c++)
        repeat_row(room->samples[c], n_rows, c && v->decimates ? width / 2 : width);
}

const int16_t *pnv_convert_unit(PnvConvertScratch *room, const PnvDsp *dsp, const PnvConversion *v,
                                const PnvChromaGrid *grid, const PnvPlane *planes, int c, int x0, int y0, int width,
                                int height)
{
    const int n_rows = pnv_min(16, height - y0);

    if (v->is_rgb) {
        if (c == 0)
            color(room, dsp, v, planes, x0, y0, width, n_rows);
    } else if (v->interpolates) {
        interpolate(room, dsp, v, grid, &planes[c], room->samples[c], x0, y0, width, n_rows);
    } else {
        decimate(room, dsp, v, &planes[c], room->samples[c], x0, y0, width, n_rows);
    }
    return room->samples[c];
}
