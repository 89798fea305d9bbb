/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every variant of the colour matrix and of the decimation gives what the definitions give: every matrix, depth and
 * range, rows of every length at any alignment, in memory that ends where reading and writing must.
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
    test_decimate(ref, var, name);
}

int main(void)
{
    exact_each_level(test_level);
    CHECK_END();
}
