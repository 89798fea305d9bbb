/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * R'G'B' -> Y'CbCr is near the exact matrix for every pixel; greys have no colour, black and white are where they
 * belong, sums fit, and the known codes of colour bars come out.
 */
#include <math.h>

#include "exact.h"
#include "color.h"
#include "sample.h"

static const struct {
    int code;
    double kr, kb;
} matrices[] = {{1, 0.2126, 0.0722}, {4, 0.30, 0.11},     {5, 0.299, 0.114},
                {6, 0.299, 0.114},   {7, 0.212, 0.087},   {9, 0.2627, 0.0593}};
static const int depths[] = {8, 10, 12, 16};
enum { N_MATRICES = 6, N_DEPTHS = 4 };

static double worst, worst_bound, worst_grey;

/* In real numbers, at the scale of 64 to a code of 8 bits: luma from 1024 - 8192, chroma around 0. */
static double exact(int m, int component, int depth, PnvRange range, const int rgb[3])
{
    const double kr = matrices[m].kr, kb = matrices[m].kb;
    double e[3];

    for (int i = 0; i < 3; i++)
        e[i] = range == PNV_RANGE_FULL ? rgb[i] / (pow(2, depth) - 1) : (rgb[i] / pow(2, depth - 8) - 16) / 219;
    const double y = kr * e[0] + (1 - kr - kb) * e[1] + kb * e[2];
    if (component == 0)
        return 64 * (16 + 219 * y) - 8192;
    return 64 * 224 * (component == 1 ? (e[2] - y) / (2 - 2 * kb) : (e[0] - y) / (2 - 2 * kr));
}

static void test_pixel(const PnvColor *c, int m, int depth, PnvRange range, int r, int g, int b)
{
    const int rgb[3] = {r, g, b};

    for (int k = 0; k < 3; k++) {
        const int got = pnv_color_sample(c, k, r, g, b);
        const double want = fmin(fmax(exact(m, k, depth, range, rgb), -8192), 8191);
        const double error = fabs(got - want);
        worst = fmax(worst, error);
        CHECK(error < 1, "matrix %d, depth %d, range %d, component %d of %d, %d, %d: %d, not %.3f", matrices[m].code,
              depth, (int)range, k, r, g, b, got, want);
    }
}

/*
 * Before it is rounded, the sum differs from the exact number by a linear function of R, G and B, whose largest value
 * is at a corner of the cube; rounding adds half a unit at most. So eight pixels prove all.
 */
static void test_bounds(const PnvColor *c, int m, int depth, PnvRange range)
{
    const int max = (1 << depth) - 1;

    for (int k = 0; k < 3; k++) {
        const int16_t *w = c->weight[k];
        for (int corner = 0; corner < 8; corner++) {
            const int rgb[3] = {corner & 1 ? max : 0, corner & 2 ? max : 0, corner & 4 ? max : 0};
            int64_t sum = c->bias[k] - (1 << (c->shift - 1)), size = llabs(c->bias[k]);
            for (int i = 0; i < 3; i++) {
                sum += (int64_t)w[i] * (rgb[i] - c->zero);
                size += llabs((int64_t)w[i] * (rgb[i] - c->zero));
            }
            const double error = fabs((double)sum / (1 << c->shift) - exact(m, k, depth, range, rgb)) + 0.5;
            worst_bound = fmax(worst_bound, error);
            CHECK(error < 0.89, "matrix %d, depth %d, range %d, component %d: up to %.3f", matrices[m].code, depth,
                  (int)range, k, error);
            CHECK(size <= INT32_MAX, "matrix %d, depth %d, range %d: sums of %lld", matrices[m].code, depth, (int)range,
                  (long long)size);
        }
    }
    CHECK(c->zero <= 32768 && max - c->zero <= 32767, "depth %d: samples of 16 bits", depth);
}

static void test_greys(const PnvColor *c, int m, int depth, PnvRange range)
{
    const int max = (1 << depth) - 1;

    for (int s = 0; s <= max; s++) {
        const int y = pnv_color_sample(c, 0, s, s, s);
        CHECK(pnv_color_sample(c, 1, s, s, s) == 0 && pnv_color_sample(c, 2, s, s, s) == 0,
              "matrix %d, depth %d, range %d: grey %d is coloured", matrices[m].code, depth, (int)range, s);
        if (range == PNV_RANGE_VIDEO) {
            CHECK(y == pnv_sample_video(s, depth), "matrix %d, depth %d: grey %d is %d", matrices[m].code, depth, s, y);
        } else {
            const double want = 64 * (16 + 219.0 * s / max) - 8192;
            worst_grey = fmax(worst_grey, fabs(y - want));
            CHECK(fabs(y - want) < 0.72, "matrix %d, depth %d: grey %d is %d, not %.3f", matrices[m].code, depth, s, y,
                  want);
        }
    }
    if (range == PNV_RANGE_FULL) {
        CHECK(pnv_color_sample(c, 0, 0, 0, 0) == 16 * 64 - 8192, "depth %d: black", depth);
        CHECK(pnv_color_sample(c, 0, max, max, max) == 235 * 64 - 8192, "depth %d: white", depth);
    }
}

static void test_matrix(int m, int depth, PnvRange range)
{
    const int max = (1 << depth) - 1;
    PnvColor c;

    pnv_color_init(&c, matrices[m].code, depth, range);
    test_bounds(&c, m, depth, range);
    test_greys(&c, m, depth, range);
    for (int r = 0; r <= 32; r++) {
        for (int g = 0; g <= 32; g++) {
            for (int b = 0; b <= 32; b++)
                test_pixel(&c, m, depth, range, r * max / 32, g * max / 32, b * max / 32);
        }
    }
    for (int i = 0; i < 20000; i++) {
        const uint32_t rb = exact_random(), g = exact_random();
        test_pixel(&c, m, depth, range, (int)(rb & 65535) >> (16 - depth), (int)(g >> 16) >> (16 - depth),
                   (int)(rb >> 16) >> (16 - depth));
    }
    /* Near a corner or an edge of the cube: where the clip is, and where errors of weights add up. */
    for (int i = 0; i < 20000; i++) {
        int rgb[3];
        for (int k = 0; k < 3; k++) {
            const int off = (int)(exact_random() % 9), kind = (int)(exact_random() % 3);
            rgb[k] = kind == 0 ? off : kind == 1 ? max - off : (int)(exact_random() >> 16) >> (16 - depth);
        }
        test_pixel(&c, m, depth, range, rgb[0], rgb[1], rgb[2]);
    }
}

/* Y'CbCr of 100 % bars in 8 bits, as they are known. */
static void test_bars(int code, const int want[6][3])
{
    static const int on[6][3] = {{1, 1, 0}, {0, 1, 1}, {0, 1, 0}, {1, 0, 1}, {1, 0, 0}, {0, 0, 1}};

    for (int range = PNV_RANGE_VIDEO; range <= PNV_RANGE_FULL; range++) {
        for (int d = 0; d < N_DEPTHS; d++) {
            const int up = depths[d] - 8;
            const int low = range == PNV_RANGE_FULL ? 0 : 16 << up;
            const int high = range == PNV_RANGE_FULL ? (1 << depths[d]) - 1 : 235 << up;
            PnvColor c;
            pnv_color_init(&c, code, depths[d], (PnvRange)range);
            for (int i = 0; i < 6; i++) {
                for (int k = 0; k < 3; k++) {
                    const int v = pnv_color_sample(&c, k, on[i][0] ? high : low, on[i][1] ? high : low,
                                                   on[i][2] ? high : low);
                    const int got = (v + 8192 + 32) >> 6;
                    CHECK(got == want[i][k], "matrix %d, depth %d, range %d, bar %d: component %d is %d, not %d", code,
                          depths[d], range, i, k, got, want[i][k]);
                }
            }
        }
    }
}

/* Rows of every length in memory of exactly that length. */
static void test_rows(void)
{
    PnvColor c;

    pnv_color_init(&c, 1, 10, PNV_RANGE_FULL);
    for (int n = 1; n <= 70; n++) {
        const size_t size = (size_t)n * sizeof(uint16_t);
        uint16_t *in[3];
        int16_t *out[3];
        for (int k = 0; k < 3; k++) {
            in[k] = malloc(size);
            out[k] = malloc(size);
            REQUIRE(in[k] && out[k], "memory");
            for (int x = 0; x < n; x++)
                in[k][x] = (uint16_t)(exact_random() & 1023);
        }
        pnv_color_row_c(out[0], out[1], out[2], in[0], in[1], in[2], &c, n);
        for (int x = 0; x < n; x++) {
            for (int k = 0; k < 3; k++) {
                const int want = pnv_color_sample(&c, k, in[0][x], in[1][x], in[2][x]);
                CHECK(out[k][x] == want, "%d pixels, component %d at %d: %d, not %d", n, k, x, out[k][x], want);
            }
        }
        for (int k = 0; k < 3; k++) {
            free(in[k]);
            free(out[k]);
        }
    }
}

/* What is a pixel of 32 bits, and how it nearly is. */
static void test_packed(void)
{
    static const uint8_t row[64];
    const PnvPlane byte = {.data = row + 1, .stride = 32, .step = 4, .width = 8, .height = 2, .depth = 8};
    const PnvPlane word = {.data = row, .stride = 32, .step = 4, .width = 8, .height = 2, .depth = 10,
                           .packing = PNV_PACKING_WORDS, .shift = 10};
    PnvPlane p[3] = {byte, byte, byte};

    p[0].data = row + 3;
    p[2].data = row;
    CHECK(pnv_color_is_packed(p), "four bytes");
    p[0].data = row + 4;
    CHECK(!pnv_color_is_packed(p), "five bytes");
    p[0] = byte;
    p[1].stride = 36;
    CHECK(!pnv_color_is_packed(p), "two strides");
    p[1] = p[2] = byte;
    for (int c = 0; c < 3; c++)
        p[c].step = 3;
    CHECK(!pnv_color_is_packed(p), "three bytes a pixel");
    for (int c = 0; c < 3; c++)
        p[c] = word;
    CHECK(pnv_color_is_packed(p), "a word");
    p[2].data = row + 1;
    CHECK(!pnv_color_is_packed(p), "two words");
    for (int c = 0; c < 3; c++)
        p[c].packing = PNV_PACKING_SAMPLES;
    CHECK(!pnv_color_is_packed(p), "16 bits a sample");
}

int main(void)
{
    static const int bars_709[6][3] = {{219, 16, 138}, {188, 154, 16}, {173, 42, 26},
                                       {78, 214, 230}, {63, 102, 240}, {32, 240, 118}};
    static const int bars_601[6][3] = {{210, 16, 146},  {170, 166, 16}, {145, 54, 34},
                                       {106, 202, 222}, {81, 90, 240},  {41, 240, 110}};

    for (int code = 0; code < 256; code++) {
        int known = 0;
        for (int m = 0; m < N_MATRICES; m++)
            known |= matrices[m].code == code;
        CHECK(pnv_color_has(code) == known, "matrix %d", code);
    }
    for (int m = 0; m < N_MATRICES; m++) {
        for (int d = 0; d < N_DEPTHS; d++) {
            test_matrix(m, depths[d], PNV_RANGE_VIDEO);
            test_matrix(m, depths[d], PNV_RANGE_FULL);
        }
    }
    test_bars(1, bars_709);
    test_bars(6, bars_601);
    test_rows();
    test_packed();
    printf("largest error in 1/4 of a code of 12 bits: %.3f, full-range greys %.3f, proved for every pixel: %.3f\n",
           worst, worst_grey, worst_bound);
    CHECK_END();
}
