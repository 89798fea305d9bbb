/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "color.h"

#include <assert.h>
#include <stddef.h>

#include "load.h"

/* Shares of red and blue in luma, in 1/10000: H.273, table 4. */
static const struct {
    int matrix_coefficients, kr, kb;
} matrices[] = {
    {1, 2126, 722}, {4, 3000, 1100}, {5, 2990, 1140}, {6, 2990, 1140}, {7, 2120, 870}, {9, 2627, 593},
};

static int find_matrix(int matrix_coefficients)
{
    for (int i = 0; i < (int)(sizeof matrices / sizeof *matrices); i++) {
        if (matrices[i].matrix_coefficients == matrix_coefficients)
            return i;
    }
    return -1;
}

int pnv_color_has(int matrix_coefficients)
{
    return find_matrix(matrix_coefficients) >= 0;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* weight[i] = numerator[i] / denominator, each up or down, so that they add up to the rounded sum: those with the
 * largest remainders go up. */
static void round_weights(int16_t weight[3], const int64_t numerator[3], int64_t denominator)
{
    int64_t rest[3], sum = 0;
    int missing = 0;

    for (int i = 0; i < 3; i++) {
        weight[i] = (int16_t)floor_div(numerator[i], denominator);
        rest[i] = numerator[i] - weight[i] * denominator;
        sum += numerator[i];
        missing -= weight[i];
    }
    missing += (int)floor_div(2 * sum + denominator, 2 * denominator);
    for (; missing > 0; missing--) {
        int largest = 0;
        for (int i = 1; i < 3; i++)
            largest = rest[i] > rest[largest] ? i : largest;
        weight[largest]++;
        rest[largest] = -1;
    }
}

void pnv_color_init(PnvColor *color, int matrix_coefficients, int depth, PnvRange range)
{
    const int m = find_matrix(matrix_coefficients), shift = depth + 1, zero = 1 << (depth - 1);
    assert(m >= 0 && depth >= 8 && depth <= 16);
    const int64_t k[3] = {matrices[m].kr, 10000 - matrices[m].kr - matrices[m].kb, matrices[m].kb};
    /* From black to white: of the input, and of luma and chroma at the output's scale of 64 to a code of 8 bits. */
    const int64_t span = range == PNV_RANGE_FULL ? (1 << depth) - 1 : 219 << (depth - 8);
    const int64_t luma = (219 * 64) * ((int64_t)1 << shift), chroma = (224 * 64) * ((int64_t)1 << shift);
    const int half = 1 << (shift - 1);

    const int64_t y[3] = {luma * k[0], luma * k[1], luma * k[2]};
    round_weights(color->weight[0], y, 10000 * span);
    for (int c = 1; c < 3; c++) {
        /* (B - Y) / (2 - 2 Kb), (R - Y) / (2 - 2 Kr) */
        const int own = c == 1 ? 2 : 0;
        int64_t difference[3];
        for (int i = 0; i < 3; i++)
            difference[i] = chroma * ((i == own ? 10000 : 0) - k[i]);
        round_weights(color->weight[c], difference, 2 * (10000 - k[own]) * span);
        color->bias[c] = half;
    }
    /* Full range: black, zero below the middle, is 16 of 8 bits. Video range: the middle is the middle. */
    const int sum = color->weight[0][0] + color->weight[0][1] + color->weight[0][2];
    color->bias[0] = half + (range == PNV_RANGE_FULL ? sum * zero - 7168 * (1 << shift) : 0);
    color->shift = shift;
    color->zero = zero;
}

void pnv_color_row_c(int16_t *restrict y, int16_t *restrict cb, int16_t *restrict cr, const uint16_t *r,
                     const uint16_t *g, const uint16_t *b, const PnvColor *color, int n)
{
    for (int x = 0; x < n; x++) {
        y[x] = pnv_color_sample(color, 0, r[x], g[x], b[x]);
        cb[x] = pnv_color_sample(color, 1, r[x], g[x], b[x]);
        cr[x] = pnv_color_sample(color, 2, r[x], g[x], b[x]);
    }
}

int pnv_color_is_packed(const PnvPlane planes[3])
{
    const PnvPlane *first = &planes[0];
    intptr_t low = (intptr_t)first->data, high = low;

    for (int c = 0; c < 3; c++) {
        const PnvPlane *p = &planes[c];
        const intptr_t at = (intptr_t)p->data;
        if (p->step != 4 || p->stride != first->stride || p->packing != first->packing)
            return 0;
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    return first->packing == PNV_PACKING_SAMPLES ? first->depth == 8 && high - low < 4 : high == low;
}

void pnv_color_pixels_c(int16_t *const dst[3], ptrdiff_t stride, const PnvPlane planes[3], const PnvColor *color,
                        int x, int y, int n, int n_rows)
{
    enum { MOST = 256 };
    uint16_t sample[3][MOST + PNV_LOAD_ROOM];

    for (int row = 0; row < n_rows; row++) {
        for (int i = 0; i < n; i += MOST) {
            const int part = n - i < MOST ? n - i : MOST;
            const ptrdiff_t at = row * stride + i;
            for (int c = 0; c < 3; c++)
                pnv_load_c(sample[c], MOST, &planes[c], x + i, y + row, part, 1, 0);
            pnv_color_row_c(dst[0] + at, dst[1] + at, dst[2] + at, sample[0], sample[1], sample[2], color, part);
        }
    }
}
