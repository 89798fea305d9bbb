/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples between the samples of an input: where chroma of 4:2:0 and 4:2:2 is wanted at more places than it has. */
#ifndef PNV_INTERPOLATE_H
#define PNV_INTERPOLATE_H

#include <stdint.h>

#include "fetch.h"
#include "shared.h"

/*
 * The luma sample interpolation of H.264, 8.4.2.2.1, for 8 to 16 bits. Between the sample G and its neighbours H at the
 * right, M below and N below H lie, with that clause's letters, Y quarters of a row down and X quarters of a column to
 * the right, what is called mcXY:
 *
 *          X  0                  1                2                3
 *    Y  0     G                  a  (G + b)       b                c  (H + b)       then H
 *       1     d  (G + h)         e  (b + h)       f  (b + j)       g  (b + m)
 *       2     h                  i  (h + j)       j                k  (j + m)       then m
 *       3     n  (M + h)         p  (h + s)       q  (j + s)       r  (m + s)
 *       then  M                                   s                                 then N
 *
 *    b, h, s, m   half way between two samples: T = the six nearest samples of their row (b between G and H, s between
 *                 M and N) or column (h between G and M, m between H and N) times 1, -5, 20, 20, -5, 1;
 *                 (T + 16) >> 5, kept in 0..max
 *    j            the same over six T, not yet rounded, of the other direction; (T + 512) >> 10, kept in 0..max
 *    (x + y)      (x + y + 1) >> 1: the average, rounded up
 *
 * Fields of interlaced 4:2:0 need eighths of a row as well, which are ours. In a column of samples or half way between
 * two, where F is the value at the nearer row of samples (G or M; b or s) and H the one half way to the next (h; j):
 *
 *    1/8 and 7/8: (3 F + H + 2) >> 2        3/8 and 5/8: (F + 3 H + 2) >> 2
 *
 * and a quarter of a column beside them, the rounded average of the values at that height in the two nearest of these
 * columns. There are no eighths of a column.
 *
 * Bounds, with max = 2^16 - 1: T of samples lies in -10 max .. 42 max, T of those in -840 max .. 1864 max, which is less
 * than 2^27: 32 bits are enough for all depths.
 */
PNV_SHARED int pnv_six_tap(int a, int b, int c, int d, int e, int f)
{
    return a + f - 5 * (b + e) + 20 * (c + d);
}

/** A sum of six-tap filters, scaled by 2^shift, as a sample. */
PNV_SHARED int pnv_six_tap_round(int sum, int shift, int max)
{
    const int v = (sum + (1 << (shift - 1))) >> shift;
    return v < 0 ? 0 : v < max ? v : max;
}

/** Half way between columns 2 and 3 of a row: not yet rounded. */
PNV_SHARED int pnv_six_tap_row(const int row[6])
{
    return pnv_six_tap(row[0], row[1], row[2], row[3], row[4], row[5]);
}

PNV_SHARED int pnv_six_tap_column(const int s[6][6], int x)
{
    return pnv_six_tap(s[0][x], s[1][x], s[2][x], s[3][x], s[4][x], s[5][x]);
}

/** Half way between rows 2 and 3. Indices are constants here and below, so that a compiler can do without the array. */
PNV_SHARED int pnv_interpolate_half_row(const int s[6][6], int fx, int max)
{
    if (fx == 4)
        return pnv_six_tap_round(pnv_six_tap(pnv_six_tap_row(s[0]), pnv_six_tap_row(s[1]), pnv_six_tap_row(s[2]),
                                             pnv_six_tap_row(s[3]), pnv_six_tap_row(s[4]), pnv_six_tap_row(s[5])),
                                 10, max);
    return pnv_six_tap_round(fx < 4 ? pnv_six_tap_column(s, 2) : pnv_six_tap_column(s, 3), 5, max);
}

/** In row 2 or, for fy of 5 and more, row 3. */
PNV_SHARED int pnv_interpolate_full_row(const int s[6][6], int fx, int fy, int max)
{
    if (fx == 4)
        return pnv_six_tap_round(fy < 5 ? pnv_six_tap_row(s[2]) : pnv_six_tap_row(s[3]), 5, max);
    return fy < 5 ? (fx < 4 ? s[2][2] : s[2][3]) : (fx < 4 ? s[3][2] : s[3][3]);
}

/** In a column of samples (fx 0 or 8) or half way between two (fx 4), any fy of 0..8. */
PNV_SHARED int pnv_interpolate_column(const int s[6][6], int fx, int fy, int max)
{
    const int from_full = fy < 5 ? fy : 8 - fy;

    if (from_full == 0)
        return pnv_interpolate_full_row(s, fx, fy, max);
    const int half = pnv_interpolate_half_row(s, fx, max);
    if (from_full == 4)
        return half;
    return ((4 - from_full) * pnv_interpolate_full_row(s, fx, fy, max) + from_full * half + 2) >> 2;
}

/**
 * One sample, fx eighths of a column right of s[2][2] and fy eighths of a row below it.
 *
 * @param s   [row][column], 0..max. Only row 2 is read for fy = 0, only column 2 for fx = 0.
 * @param fx  0, 2, 4 or 6
 * @param fy  0..7
 * @param max 2^depth - 1, depth 8..16
 * @return    0..max
 */
PNV_SHARED int pnv_interpolate_sample(const int s[6][6], int fx, int fy, int max)
{
    if (fx % 4 == 0)
        return pnv_interpolate_column(s, fx, fy, max);
    const int full = fx < 4 ? 0 : 8, is_diagonal = fy == 2 || fy == 6; /* e, g, p, r */
    const int a = pnv_interpolate_column(s, full, is_diagonal ? 4 : fy, max);
    const int b = pnv_interpolate_column(s, 4, is_diagonal ? (fy < 4 ? 0 : 8) : fy, max);
    return (a + b + 1) >> 1;
}

/**
 * n samples of a row, all at the same place (fx, fy) between the input's samples: dst[x] is right of and below row[2][x].
 *
 * @param dst n, which overlap no row
 * @param row six rows of the input, row[2] and row[3] around the one that is made; samples 0..max, columns -2 .. n + 2.
 *            For fy = 0 only row[2] is read, the others need not point anywhere; for fx = 0 only columns 0 .. n - 1.
 * @param fx  eighths of a column: 0, 2, 4 or 6
 * @param fy  eighths of a row: 0..7
 * @param n   at least 1
 * @param max 2^depth - 1, depth 8..16
 */
void pnv_interpolate_c(uint16_t *dst, const uint16_t *const row[6], int fx, int fy, int n, int max);

/**
 * Twice as many rows, of columns that are kept, at the scale of fetch.h: what most 4:2:0 needs. Row y of dst lies
 * fy + 4 * y eighths of a row below row 0 of src.
 *
 * @param dst    rows of PNV_FETCH_STRIDE; PNV_LOAD_ROOM columns behind n are left with anything.
 * @param src    0..2^depth - 1. Rows from -2 to the third below the last that is made are read, and PNV_LOAD_ROOM
 *               columns behind n.
 * @param stride samples from a row to the next
 * @param fy     0..7
 * @param n      1..PNV_FETCH_STRIDE - PNV_LOAD_ROOM
 * @param n_rows 1..16
 * @param depth  8..PNV_INTERPOLATE_ROWS_DEPTH
 */
void pnv_interpolate_rows_c(int16_t *dst, const uint16_t *src, ptrdiff_t stride, int fy, int n, int n_rows, int depth);

enum { PNV_INTERPOLATE_ROWS_DEPTH = 13 };

#endif
