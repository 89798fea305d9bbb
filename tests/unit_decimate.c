/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 4:4:4 -> 4:2:2: the filter as written, its response, constants kept, no shift in place, nothing else read. */
#include <math.h>

#include "exact.h"
#include "decimate.h"

static int expected(const int16_t *s)
{
    static const int tap[7] = {-1, 0, 9, 16, 9, 0, -1};
    double sum = 0;

    for (int i = 0; i < 7; i++)
        sum += tap[i] * s[i - 3] / 32.0;
    return (int)fmin(fmax(floor(sum + 0.5), -8192), 8191);
}

/* Memory that ends with the last sample that may be read. */
static void test_row(int n, int kind)
{
    const size_t n_src = (size_t)(2 * n + 5);
    int16_t *memory = malloc(n_src * sizeof *memory), *dst = malloc((size_t)n * sizeof *dst);

    REQUIRE(memory && dst, "memory");
    for (size_t i = 0; i < n_src; i++)
        memory[i] = (int16_t)(kind == 0 ? (int)(exact_random() & 16383) - 8192 : exact_random() & 1 ? 8191 : -8192);
    pnv_decimate_row_c(dst, memory + 3, n);
    for (int i = 0; i < n; i++) {
        const int want = expected(memory + 3 + 2 * i);
        CHECK(dst[i] == want, "%d samples, at %d: %d, not %d", n, i, dst[i], want);
    }
    free(memory);
    free(dst);
}

static void test_constants(void)
{
    for (int v = -8192; v <= 8191; v++) {
        const int16_t s[7] = {(int16_t)v, (int16_t)v, (int16_t)v, (int16_t)v, (int16_t)v, (int16_t)v, (int16_t)v};
        CHECK(pnv_decimate_sample(s + 3) == v, "constant %d", v);
    }
}

/* A cubic curve keeps its value in place, which a filter that shifts or blurs, as (1 2 1) / 4 does, would not give. */
static void test_cubic(void)
{
    for (int x = -17; x <= 17; x++) {
        int16_t s[7];
        for (int i = 0; i < 7; i++)
            s[i] = (int16_t)((x + i - 3) * (x + i - 3) * (x + i - 3));
        CHECK(pnv_decimate_sample(s + 3) == s[3], "cube of %d: %d", x, pnv_decimate_sample(s + 3));
    }
}

/* What 4:2:2 cannot hold would come back as a false constant. */
static void test_highest_frequency(void)
{
    for (int v = -8192; v <= 8191; v++) {
        int16_t s[7];
        for (int i = 0; i < 7; i++)
            s[i] = (int16_t)(i & 1 ? v : -1 - v);
        CHECK(abs(pnv_decimate_sample(s + 3)) <= 1, "%d and %d in turn: %d", v, -1 - v, pnv_decimate_sample(s + 3));
    }
}

/*
 * A zone plate up to a part of the frequencies that 4:2:2 holds, through the filter or (1 2 1) / 4, and back by the six
 * taps of H.264: PSNR.
 */
enum { PLATE = 1024 };

static double zone_plate(double part, int use_121)
{
    static int16_t full[PLATE + 6], half[PLATE / 2 + 5];
    const double rate = part * acos(-1) / 2 / PLATE;
    double error = 0;

    for (int y = 0; y < PLATE; y += 8) {
        for (int x = -3; x < PLATE + 3; x++)
            full[x + 3] = (int16_t)lrint(7168 * cos(rate * (x * x + y * y) / 2));
        const int16_t *s = full + 3;
        int16_t *h = half + 2;
        for (int i = 0; i < PLATE / 2; i++, s += 2)
            h[i] = use_121 ? (int16_t)((s[-1] + 2 * s[0] + s[1] + 2) >> 2) : pnv_decimate_sample(s);
        for (int i = 2; i < PLATE / 2 - 3; i++) {
            const int between = 20 * (h[i] + h[i + 1]) - 5 * (h[i - 1] + h[i + 2]) + h[i - 2] + h[i + 3];
            error += pow(h[i] - full[2 * i + 3], 2) + pow(((between + 16) >> 5) - full[2 * i + 4], 2);
        }
    }
    return 10 * log10(16383.0 * 16383 * (PLATE / 8) * (PLATE - 10) / error);
}

static void test_zone_plate(void)
{
    const double wide = zone_plate(0.7, 0), wide_121 = zone_plate(0.7, 1);
    const double low = zone_plate(0.5, 0), low_121 = zone_plate(0.5, 1);

    printf("zone plate up to 0.7 of 4:2:2: %.1f dB, (1 2 1) / 4 %.1f dB; up to 0.5: %.1f dB, %.1f dB\n", wide, wide_121,
           low, low_121);
    CHECK(wide > wide_121 + 4, "%.1f dB, (1 2 1) / 4 %.1f dB", wide, wide_121);
    CHECK(low > low_121 + 7, "%.1f dB, (1 2 1) / 4 %.1f dB", low, low_121);
}

int main(void)
{
    for (int n = 1; n <= 70; n++) {
        for (int round = 0; round < 20; round++)
            test_row(n, round % 2);
    }
    test_constants();
    test_cubic();
    test_highest_frequency();
    test_zone_plate();
    CHECK_END();
}
