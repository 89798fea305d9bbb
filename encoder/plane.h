/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One component of a picture as it lies in memory, and how to read one sample of it. */
#ifndef PNV_PLANE_H
#define PNV_PLANE_H

#include <stddef.h>
#include <stdint.h>

#include "pnv.h"
#include "shared.h"

/** What the codes of a component mean. */
typedef enum PnvSampleRange {
    PNV_SAMPLES_VIDEO,      /**< As ProRes stores it: kept. */
    PNV_SAMPLES_FULL_LUMA,  /**< 0..2^b-1 from black to white: brought to 16..235 of 8 bits. */
    PNV_SAMPLES_FULL_CHROMA /**< 2^(b-1) grey, 2^b-1 wide: brought to 224 of 8 bits. */
} PnvSampleRange;

/** One component of a picture, or of a field of it: every second row. */
typedef struct PnvPlane {
    const uint8_t *data;  /**< Its top left sample; of a packing other than samples the first row. */
    ptrdiff_t stride;     /**< Bytes from a row to the next. */
    int step;             /**< Bytes from a sample, or a word, to the next. */
    int width, height;    /**< Samples. */
    int depth;            /**< Bits of a sample. */
    PnvSampleRange range;
    PnvPacking packing;
    int shift;            /**< Bits of a word below the sample. */
    int component;        /**< 0 Y, 1 Cb, 2 Cr, for the packings whose order is fixed. */
} PnvPlane;

/** Whether a row is samples side by side. */
PNV_SHARED int pnv_plane_is_plain(const PnvPlane *p)
{
    return p->packing == PNV_PACKING_SAMPLES && p->step == (p->depth == 8 ? 1 : 2) && p->shift == 0;
}

/** Sample n of a row of 10-bit samples, three in each little-endian word: Cb Y Cr Y ... (v210). */
PNV_SHARED int pnv_plane_v210(const uint8_t *row, int n)
{
    const uint8_t *at = row + n / 3 * 4;
    const uint32_t word = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;

    return (int)(word >> 10 * (n % 3)) & 0x3ff;
}

/** Sample n of a row of 10-bit samples without any gap, most significant bits first: Cb Y Cr Y ... (UYVP). */
PNV_SHARED int pnv_plane_uyvp(const uint8_t *row, int n)
{
    const uint8_t *at = row + n / 4 * 5 + n % 4;

    return (at[0] << 8 | at[1]) >> (6 - 2 * (n % 4)) & 0x3ff;
}

/** Place of sample x in a row Cb Y Cr Y ... */
PNV_SHARED int pnv_plane_in_turn(const PnvPlane *p, int x)
{
    return p->component == 0 ? 2 * x + 1 : 4 * x + (p->component == 2 ? 2 : 0);
}

/** Sample x of a row, 0..2^depth - 1. */
PNV_SHARED int pnv_plane_load(const PnvPlane *p, const uint8_t *row, int x)
{
    const uint8_t *at = row + (ptrdiff_t)x * p->step;
    const int mask = (1 << p->depth) - 1;

    switch (p->packing) {
    case PNV_PACKING_WORDS:
        return (int)(((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24) >>
                     p->shift) & mask;
    case PNV_PACKING_WORDS_BE:
        return (int)(((uint32_t)at[3] | (uint32_t)at[2] << 8 | (uint32_t)at[1] << 16 | (uint32_t)at[0] << 24) >>
                     p->shift) & mask;
    case PNV_PACKING_V210:
        return pnv_plane_v210(row, pnv_plane_in_turn(p, x));
    case PNV_PACKING_UYVP:
        return pnv_plane_uyvp(row, pnv_plane_in_turn(p, x));
    default:
        return p->depth == 8 ? at[0] : (at[0] | at[1] << 8) >> p->shift & mask;
    }
}

/** A column or row, or the nearest one that is there. */
PNV_SHARED int pnv_plane_inside(int at, int size)
{
    return at < 0 ? 0 : at < size ? at : size - 1;
}

/** Of n columns that may lie outside of a plane: those that are there, and how often the first and the last repeat. */
typedef struct PnvColumns {
    int first, n, left, right;
} PnvColumns;

PNV_SHARED PnvColumns pnv_plane_columns(const PnvPlane *p, int x, int n)
{
    const int first = pnv_plane_inside(x, p->width), last = pnv_plane_inside(x + n - 1, p->width);
    const int in_front = first - x < n ? first - x : n - 1; /* all may lie there */
    const int left = in_front > 0 ? in_front : 0;
    const PnvColumns c = {first, last - first + 1, left, n - left - (last - first + 1)};

    return c;
}

/** Fill in what lies beside: a row of columns, those that are there in their place. */
PNV_SHARED void pnv_columns_repeat(uint16_t *row, const PnvColumns *c)
{
    for (int i = 0; i < c->left; i++)
        row[i] = row[c->left];
    row += c->left + c->n;
    for (int i = 0; i < c->right; i++)
        row[i] = row[-1];
}

/** The sample at (x, y), of the nearest that is there. */
PNV_SHARED int pnv_plane_at(const PnvPlane *p, int x, int y)
{
    return pnv_plane_load(p, p->data + (ptrdiff_t)pnv_plane_inside(y, p->height) * p->stride,
                          pnv_plane_inside(x, p->width));
}

/** Bytes of a row from data on up to the end of its last sample, of v210 of the group that has it. */
PNV_SHARED ptrdiff_t pnv_plane_row_bytes(const PnvPlane *p)
{
    const ptrdiff_t last = pnv_plane_in_turn(p, p->width - 1);

    switch (p->packing) {
    case PNV_PACKING_V210:
        return (last / 12 + 1) * 16;
    case PNV_PACKING_UYVP:
        return last / 4 * 5 + last % 4 + 2;
    case PNV_PACKING_WORDS:
    case PNV_PACKING_WORDS_BE:
        return (ptrdiff_t)(p->width - 1) * p->step + 4;
    default:
        return (ptrdiff_t)(p->width - 1) * p->step + (p->depth == 8 ? 1 : 2);
    }
}

#endif
