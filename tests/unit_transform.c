/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The transform's promises: accuracy against the exact DCT, ranges that never wrap, and the order of its output. */
#include <math.h>
#include <stdint.h>

#include "check.h"
#include "dct.h"
#include "fetch.h"
#include "tables.h"
#include "transform.h"

static double basis[8][8]; /* orthonormal: [frequency][sample] */

static void init_basis(void)
{
    for (int u = 0; u < 8; u++) {
        for (int x = 0; x < 8; x++)
            basis[u][x] = (u ? 0.5 : sqrt(0.125)) * cos((2 * x + 1) * u * acos(-1) / 16);
    }
}

/* C of RDD 36's scale: samples at four times the 12-bit scale, so a quarter of their DCT. */
static void exact_dct(double c[64], const int16_t *samples, int stride)
{
    double columns[64];

    for (int v = 0; v < 8; v++) {
        for (int x = 0; x < 8; x++) {
            columns[8 * v + x] = 0;
            for (int y = 0; y < 8; y++)
                columns[8 * v + x] += basis[v][y] * samples[y * stride + x] / 4.0;
        }
    }
    for (int v = 0; v < 8; v++) {
        for (int u = 0; u < 8; u++) {
            c[8 * v + u] = 0;
            for (int x = 0; x < 8; x++)
                c[8 * v + u] += basis[u][x] * columns[8 * v + x];
        }
    }
}

static uint32_t seed = 1;
static uint32_t random_bits(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Fills of one block, values of depth bits as fetch would scale them. */
enum { FILL_RANDOM, FILL_EXTREME, FILL_SMALL, FILL_FLAT, N_FILLS };
static const char *const fill_names[N_FILLS] = {"random", "extreme", "small", "flat"};

static void fill_block(int16_t *samples, int stride, int depth, int fill)
{
    const int max = (1 << depth) - 1, level = (int)(random_bits() % (unsigned)(max + 1));

    for (int y = 0; y < 8; y++) {
        for (int x = 0; x < 8; x++) {
            int s = (int)(random_bits() % (unsigned)(max + 1));
            if (fill == FILL_EXTREME)
                s = random_bits() & 1 ? max : 0;
            else if (fill == FILL_SMALL)
                s = (1 << (depth - 1)) + (int)(random_bits() % 9) - 4;
            else if (fill == FILL_FLAT)
                s = level;
            samples[y * stride + x] = (int16_t)((s << (14 - depth)) - 8192);
        }
    }
}

/* Largest error 1/8 and root mean square 1/32, in units of F = C / 8. */
static void test_accuracy(void)
{
    enum { N_BLOCKS = 4000 };
    static int16_t samples[16 * PNV_FETCH_STRIDE], coef[64 * 4];

    for (int depth = 8; depth <= 14; depth += 2) {
        for (int fill = 0; fill < N_FILLS; fill++) {
            double peak = 0, sum = 0;
            for (int n = 0; n < N_BLOCKS; n++) {
                double want[64];
                fill_block(samples, PNV_FETCH_STRIDE, depth, fill);
                exact_dct(want, samples, PNV_FETCH_STRIDE);
                pnv_transform_c(coef, samples, PNV_FETCH_STRIDE, PNV_BLOCKS_LUMA, 1, pnv_scan_progressive);
                for (int i = 0; i < 64; i++) {
                    const double error = (coef[4 * i] / 2.0 - want[pnv_scan_progressive[i]]) / 8;
                    peak = fmax(peak, fabs(error));
                    sum += error * error;
                }
            }
            const double rms = sqrt(sum / (64.0 * N_BLOCKS));
            printf("depth %2d %-8s peak %.4f rms %.4f\n", depth, fill_names[fill], peak, rms);
            CHECK(peak <= 1.0 / 8, "depth %d %s: peak %f", depth, fill_names[fill], peak);
            CHECK(rms <= 1.0 / 32, "depth %d %s: rms %f", depth, fill_names[fill], rms);
        }
    }
}

/* One pass's output for the input that drives it furthest: extreme by the sign of each factor, which a unit impulse
 * through the pass shows. */
static void extreme_input(int16_t in[8], int u, int sign, int low, int high)
{
    for (int k = 0; k < 8; k++) {
        const int positive = basis[u][k] > 0;
        in[k] = (int16_t)(positive == (sign > 0) ? high : low);
    }
}

static void test_ranges(void)
{
    int low = 0, high = 0;

    for (int u = 0; u < 8; u++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            int16_t in[8], out[8];
            extreme_input(in, u, sign, -8192, 8191);
            pnv_dct_column(out, 1, in, 1);
            low = out[u] < low ? out[u] : low;
            high = out[u] > high ? out[u] : high;
            double exact = 0;
            for (int k = 0; k < 8; k++)
                exact += basis[u][k] * in[k];
            CHECK(fabs(out[u] - exact) < 1.5, "column %d wraps: %d, exactly %f", u, out[u], exact);
        }
    }
    CHECK(low == -23171 && high == 23170, "columns reach %d..%d", low, high);
    for (int u = 0; u < 8; u++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            int16_t in[8], out[8];
            extreme_input(in, u, sign, low, high);
            pnv_dct_row(out, in);
            double exact = 0;
            for (int k = 0; k < 8; k++)
                exact += basis[u][k] * in[k] / 2;
            CHECK(fabs(out[u] - exact) < 1.5, "row %d wraps: %d, exactly %f", u, out[u], exact);
        }
    }
}

/* A flat block of its own level in every place tells where each block of a macroblock goes. */
static void test_block_order(void)
{
    static const struct { PnvBlockOrder order; int n, x[4], y[4]; } orders[] = {
        {PNV_BLOCKS_LUMA, 4, {0, 8, 0, 8}, {0, 0, 8, 8}},
        {PNV_BLOCKS_CHROMA_422, 2, {0, 0}, {0, 8}},
        {PNV_BLOCKS_CHROMA_444, 4, {0, 0, 8, 8}, {0, 8, 0, 8}},
    };
    static int16_t samples[16 * PNV_FETCH_STRIDE], coef[64 * 32];

    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        const int n = orders[o].n, mb_width = n == 2 ? 8 : 16;
        for (int y = 0; y < 16; y++) {
            for (int x = 0; x < 128; x++)
                samples[y * PNV_FETCH_STRIDE + x] = (int16_t)(100 * (y / 8 * 16 + x / 8));
        }
        for (int n_mb = 1; n_mb <= 8; n_mb++) {
            pnv_transform_c(coef, samples, PNV_FETCH_STRIDE, orders[o].order, n_mb, pnv_scan_progressive);
            for (int b = 0; b < n * n_mb; b++) {
                const int x = b / n * mb_width + orders[o].x[b % n], y = orders[o].y[b % n];
                /* DC of 2 * C: 8 * (level / 4) * 2 */
                const int want = 4 * 100 * (y / 8 * 16 + x / 8);
                CHECK(abs(coef[b] - want) <= 1, "order %zu, %d MBs, block %d: %d, not %d", o, n_mb, b, coef[b], want);
            }
        }
    }
}

/* Each scan position holds the frequency that the scan says. */
static void test_scan(void)
{
    static int16_t samples[16 * PNV_FETCH_STRIDE], coef[64 * 4];
    const uint8_t *const scans[2] = {pnv_scan_progressive, pnv_scan_interlaced};

    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < 64; i++) {
            const int v = scans[s][i] / 8, u = scans[s][i] % 8;
            for (int y = 0; y < 8; y++) {
                for (int x = 0; x < 8; x++)
                    samples[y * PNV_FETCH_STRIDE + x] = (int16_t)lrint(16000 * basis[v][y] * basis[u][x]);
            }
            pnv_transform_c(coef, samples, PNV_FETCH_STRIDE, PNV_BLOCKS_LUMA, 1, scans[s]);
            for (int j = 0; j < 64; j++)
                CHECK(abs(coef[4 * j] - (j == i ? 8000 : 0)) <= 8, "scan %d at %d: position %d has %d", s, i, j,
                      coef[4 * j]);
        }
        for (int i = 0; i < 64; i++)
            CHECK(scans[1][i] == 8 * (scans[0][i] % 8) + scans[0][i] / 8, "scans are not transposed at %d", i);
    }
}

int main(void)
{
    init_basis();
    test_accuracy();
    test_ranges();
    test_block_order();
    test_scan();
    CHECK_END();
}
