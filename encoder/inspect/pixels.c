/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pixels.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

void pnv_pixels_init(PnvPixels *p)
{
    for (int u = 0; u < 8; u++)
        for (int x = 0; x < 8; x++)
            p->basis[u][x] = (u ? 0.5 : 0.5 / sqrt(2.0)) * cos((2 * x + 1) * u * PI / 16);
}

/* Coefficients in F units of RDD 36 7.3: the whole range of samples is [-256, 256). Returns the rows that are not 0. */
static unsigned dequantize(double f[8][8], const int16_t *level, int step, const uint8_t *scan, const uint8_t *weight,
                           int qscale)
{
    unsigned rows = 0;

    memset(f, 0, 64 * sizeof(double));
    for (int i = 0; i < 64; i++) {
        const int at = scan[i], l = level[(ptrdiff_t)i * step];
        if (l) {
            f[at >> 3][at & 7] = (double)l * weight[at] * qscale / 8.0;
            rows |= 1U << (at >> 3);
        }
    }
    return rows;
}

/* out = basis' * f * basis: first along the rows, then down the columns, leaving out rows of zeros. */
static void inverse_dct(const PnvPixels *p, double out[8][8], double f[8][8], unsigned rows)
{
    memset(out, 0, 64 * sizeof(double));
    for (int v = 0; v < 8; v++) {
        double row[8] = {0};

        if (!(rows >> v & 1))
            continue;
        for (int u = 0; u < 8; u++)
            for (int x = 0; x < 8; x++)
                row[x] += f[v][u] * p->basis[u][x];
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 8; x++)
                out[y][x] += row[x] * p->basis[v][y];
    }
}

void pnv_pixels_block(const PnvPixels *p, double *dst, ptrdiff_t stride, const int16_t *level, int step,
                      const uint8_t *scan, const uint8_t *weight, int qscale, int depth)
{
    const double unit = ldexp(1.0, depth) / 512; /* code values for one unit of f (RDD 36 7.5.1) */
    double f[8][8], out[8][8];

    inverse_dct(p, out, f, dequantize(f, level, step, scan, weight, qscale));
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            dst[y * stride + x] = unit * (out[y][x] + 256);
}
