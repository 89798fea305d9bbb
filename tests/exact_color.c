/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every variant of the colour matrix and of the decimation gives what the definitions give: every matrix, depth and
 * range, rows of every length at any alignment, in memory that ends where reading and writing must. And packed pixels
 * in every order, from anywhere in and beside a picture.
 */
#include "exact.h"

enum { FILL_RANDOM, FILL_EXTREME, FILL_NEAR, FILL_FLAT, FILL_NATURAL, N_FILLS };
enum { MAX_N = 70 };

/* 0..2^depth - 1 */
static int sample(int fill, int x, int depth)
{
    const int max = (1 << depth) - 1;
    static int flat;

    switch (fill) {
    case FILL_EXTREME:
        return exact_random() & 1 ? max : 0;
    case FILL_NEAR: /* where clipping begins */
        return exact_random() & 1 ? max - exact_between(0, 40) : exact_between(0, 40);
    case FILL_FLAT:
        flat = exact_random() % 32 == 0 || flat > max ? exact_between(0, max) : flat;
        return flat;
    case FILL_NATURAL:
        return x * x / 7 % (max - 8) + exact_between(0, 8);
    default:
        return exact_between(0, max);
    }
}

/* The memory ends with the row's last sample and often begins with its first; its address has any alignment. */
static void *make_row(size_t n, int rubbish, void **memory)
{
    const size_t odd = exact_random() & 1 ? 0 : exact_random() % 16;
    uint16_t *m = malloc((n + odd) * sizeof *m);

    REQUIRE(m, "memory");
    memset(m, rubbish, (n + odd) * sizeof *m);
    *memory = m;
    return m + odd;
}

static void compare_color(const PnvDsp *ref, const PnvDsp *var, const char *name, const PnvColor *c, int depth,
                          int fill, int n)
{
    uint16_t *in[3];
    int16_t *want[3], *got[3];
    void *memory[9];

    for (int k = 0; k < 3; k++) {
        in[k] = make_row((size_t)n, 0, &memory[k]);
        want[k] = make_row((size_t)n, 0x55, &memory[3 + k]);
        got[k] = make_row((size_t)n, 0xaa, &memory[6 + k]);
        for (int x = 0; x < n; x++)
            in[k][x] = (uint16_t)sample(fill, x + 10 * k, depth);
    }
    ref->color_row(want[0], want[1], want[2], in[0], in[1], in[2], c, n);
    var->color_row(got[0], got[1], got[2], in[0], in[1], in[2], c, n);
    for (int k = 0; k < 3; k++) {
        CHECK_MEM_EQ(want[k], got[k], (size_t)n * sizeof *got[k],
                     "%s color: component %d, depth %d, fill %d, %d pixels", name, k, depth, fill, n);
    }
    for (int i = 0; i < 9; i++)
        free(memory[i]);
}

static void test_color(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    static const int codes[] = {1, 4, 5, 6, 7, 9}, depths[] = {8, 10, 12, 16};

    for (size_t m = 0; m < sizeof codes / sizeof *codes; m++) {
        for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
            for (int range = PNV_RANGE_VIDEO; range <= PNV_RANGE_FULL; range++) {
                PnvColor c;
                pnv_color_init(&c, codes[m], depths[d], (PnvRange)range);
                for (int fill = 0; fill < N_FILLS; fill++) {
                    for (int n = 1; n <= MAX_N; n++)
                        compare_color(ref, var, name, &c, depths[d], fill, n);
                    compare_color(ref, var, name, &c, depths[d], fill, 1920);
                }
            }
        }
    }
}

/** Where R, G and B of a pixel are: bytes, or bits of a word. */
typedef struct Order {
    PnvPacking packing;
    int at[3];
} Order;

/** Memory of exactly what the three planes have, filled at random. */
static uint8_t *make_pixels(PnvPlane planes[3], const Order *o, int width, int height, int padding)
{
    const int is_bytes = o->packing == PNV_PACKING_SAMPLES;
    int low = is_bytes ? 3 : 0, high = 0;

    for (int c = 0; c < 3 && is_bytes; c++) {
        low = o->at[c] < low ? o->at[c] : low;
        high = o->at[c] > high ? o->at[c] : high;
    }
    for (int c = 0; c < 3; c++)
        planes[c] = (PnvPlane){.stride = 4 * width + padding, .step = 4, .width = width, .height = height,
                               .depth = is_bytes ? 8 : 10, .packing = o->packing, .shift = is_bytes ? 0 : o->at[c]};
    const size_t size = (size_t)(planes[0].stride * (height - 1) + pnv_plane_row_bytes(planes) + high - low);
    uint8_t *m = malloc(size);
    REQUIRE(m, "memory");
    for (size_t i = 0; i < size; i++)
        m[i] = (uint8_t)(exact_random() >> 9);
    for (int c = 0; c < 3; c++)
        planes[c].data = m + (is_bytes ? o->at[c] - low : 0);
    return m;
}

static void compare_pixels(const PnvDsp *dsp, const char *name, const PnvPlane planes[3], const PnvColor *color, int x,
                           int y, int n)
{
    const int n_rows = exact_between(1, 4);
    const ptrdiff_t stride = n + exact_between(0, 20);
    const size_t size = (size_t)(stride * (n_rows - 1) + n);
    int16_t *want[3], *got[3];
    void *memory[6];

    for (int k = 0; k < 3; k++) { /* what no pixel becomes also where nothing is to be written */
        want[k] = make_row(size, 0x55, &memory[k]);
        got[k] = make_row(size, 0x55, &memory[3 + k]);
        for (int i = 0; i < n_rows; i++) {
            for (int col = 0; col < n; col++)
                want[k][i * stride + col] = pnv_color_sample(color, k, pnv_plane_at(&planes[0], x + col, y + i),
                                                             pnv_plane_at(&planes[1], x + col, y + i),
                                                             pnv_plane_at(&planes[2], x + col, y + i));
        }
    }
    dsp->color_pixels(got, stride, planes, color, x, y, n, n_rows);
    for (int k = 0; k < 3; k++)
        CHECK_MEM_EQ(want[k], got[k], size * sizeof *got[k],
                     "%s pixels: component %d, packing %d, shifts %d %d %d, bytes %d %d, %d of %d from %d", name, k,
                     (int)planes[0].packing, planes[0].shift, planes[1].shift, planes[2].shift,
                     (int)(planes[1].data - planes[0].data), (int)(planes[2].data - planes[0].data), n,
                     planes[0].width, x);
    for (int i = 0; i < 6; i++)
        free(memory[i]);
}

static void test_order(const PnvDsp *ref, const PnvDsp *var, const char *name, const Order *o)
{
    static const int codes[] = {1, 4, 5, 6, 7, 9};

    for (int width = 1; width < 200; width += width < 50 ? 1 : 13) {
        PnvPlane planes[3];
        PnvColor color;
        uint8_t *memory = make_pixels(planes, o, width, 3, exact_between(0, 3));
        REQUIRE(pnv_color_is_packed(planes), "a pixel");
        pnv_color_init(&color, codes[width % 6], planes[0].depth, (PnvRange)(width / 6 % 2));
        for (int round = 0; round < 12; round++) {
            const int n = exact_between(1, round % 3 ? 40 : 300), x = exact_between(-10, width + 10);
            compare_pixels(ref, "c", planes, &color, x, exact_between(-2, 4), n);
            compare_pixels(var, name, planes, &color, x, exact_between(-2, 4), n);
        }
        compare_pixels(var, name, planes, &color, 0, 2, width); /* all, and all with what decimation reads beside it */
        compare_pixels(var, name, planes, &color, -8, 2, width + 16);
        free(memory);
    }
}

static void test_pixels(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    static const int shifts[][3] = {{0, 10, 20}, {2, 12, 22}, {1, 11, 21}, {7, 17, 3}}; /* 7: of no format */

    for (int r = 0; r < 4; r++) {
        for (int g = 0; g < 4; g++) {
            for (int b = 0; b < 4; b++) {
                if (r == g || g == b || b == r)
                    continue;
                test_order(ref, var, name, &(Order){PNV_PACKING_SAMPLES, {r, g, b}});
                for (int k = 0; k < 4 && r < 3 && g < 3 && b < 3; k++) {
                    test_order(ref, var, name, &(Order){PNV_PACKING_WORDS, {shifts[k][r], shifts[k][g], shifts[k][b]}});
                    test_order(ref, var, name,
                               &(Order){PNV_PACKING_WORDS_BE, {shifts[k][r], shifts[k][g], shifts[k][b]}});
                }
            }
        }
    }
}

static void compare_decimate(const PnvDsp *ref, const PnvDsp *var, const char *name, int fill, int n)
{
    const size_t n_src = (size_t)(2 * n + 5);
    void *memory[3];
    int16_t *src = make_row(n_src, 0, &memory[0]);
    int16_t *want = make_row((size_t)n, 0x55, &memory[1]), *got = make_row((size_t)n, 0xaa, &memory[2]);

    for (size_t i = 0; i < n_src; i++)
        src[i] = (int16_t)(sample(fill, (int)i, 14) - 8192);
    ref->decimate_row(want, src + 3, n);
    var->decimate_row(got, src + 3, n);
    CHECK_MEM_EQ(want, got, (size_t)n * sizeof *got, "%s decimate: fill %d, %d samples", name, fill, n);
    for (int i = 0; i < 3; i++)
        free(memory[i]);
}

static void test_decimate(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    for (int fill = 0; fill < N_FILLS; fill++) {
        for (int n = 1; n <= MAX_N; n++) {
            for (int round = 0; round < 20; round++)
                compare_decimate(ref, var, name, fill, n);
        }
        compare_decimate(ref, var, name, fill, 960);
    }
}

static void test_level(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    test_color(ref, var, name);
    test_pixels(ref, var, name);
    test_decimate(ref, var, name);
}

int main(void)
{
    exact_each_level(test_level);
    CHECK_END();
}
