/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every coefficient over every step: the reciprocal divides exactly. The other roundings against their definitions. */
#include <stdint.h>

#include "check.h"
#include "entropy.h"
#include "quant.h"
#include "tables.h"

enum { N_COEFS = 32768, N_BLOCKS = N_COEFS / 64 };

/* coef holds sign * (first .. first + 32767); expected levels are counted up, not divided. */
static unsigned long wrong_levels(const int16_t *coef, const int16_t *level, int d)
{
    unsigned long wrong = 0;
    int magnitude = abs(coef[0]), want = (magnitude + d) / (2 * d), next = (2 * want + 1) * d;

    for (int i = 0; i < N_COEFS; i++, magnitude++) {
        if (magnitude == next) { /* halves go away from zero */
            want++;
            next += 2 * d;
        }
        wrong += level[i] != (coef[i] < 0 ? -want : want);
    }
    return wrong;
}

static void test_every_step(void)
{
    static int16_t positive[N_COEFS], negative[N_COEFS], level[N_COEFS];

    for (int i = 0; i < N_COEFS; i++) {
        positive[i] = (int16_t)i;
        negative[i] = (int16_t)(-1 - i);
    }
    for (int d = 2; d <= 63 * 512; d++) {
        PnvQuant quant;
        for (int i = 0; i < 64; i++)
            quant.step[i] = pnv_quant_step(d);
        pnv_quant_c(level, positive, N_BLOCKS, &quant);
        CHECK(wrong_levels(positive, level, d) == 0, "step %d, positive", d);
        pnv_quant_c(level, negative, N_BLOCKS, &quant);
        CHECK(wrong_levels(negative, level, d) == 0, "step %d, negative", d);
    }
}

/* Each scan position uses its own weight and the quantizer's scale. */
static void test_steps_of_matrix(void)
{
    static const struct { int quantizer, qscale; } scales[] = {{1, 1}, {4, 4}, {128, 128}, {129, 132}, {130, 136},
                                                               {160, 256}, {192, 384}, {223, 508}, {224, 512}};
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        PnvQuant quant;
        CHECK(pnv_qscale(scales[s].quantizer) == scales[s].qscale, "qScale of %d", scales[s].quantizer);
        pnv_quant_init(&quant, pnv_matrix_proxy_luma, pnv_scan_interlaced, scales[s].quantizer);
        for (int i = 0; i < 64; i++)
            CHECK(quant.step[i].bias == pnv_matrix_proxy_luma[pnv_scan_interlaced[i]] * scales[s].qscale,
                  "quantizer %d position %d: half a step is %d", scales[s].quantizer, i, quant.step[i].bias);
    }
}

static uint32_t seed = 3;
static uint32_t random_bits(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

enum { MAX_LEVELS = 64 * 32 };

/* Coefficients of one of several densities, signs and sizes around the steps of a quantizer. */
static void fill_coefficients(int16_t *coef, int n_blocks, const PnvQuant *quant, int kind)
{
    for (int i = 0; i < 64 * n_blocks; i++) {
        const int d = quant->step[i / n_blocks].bias;
        int64_t c = (int64_t)(random_bits() % 4096) * 2 * d * (1 + kind % 3) / 4096; /* x in 0..3 */
        if (kind % 4 == 1 && random_bits() % 4)
            c = (int64_t)(random_bits() % 1024) * d / 1024;
        if (kind % 4 == 2)
            c = random_bits() % 32769;
        if (kind % 4 == 3 && random_bits() % 8)
            c = 0;
        c = c > 32768 ? 32768 : c;
        coef[i] = (int16_t)(random_bits() & 1 || c == 32768 ? -c : c);
    }
}

/* x >= n / 64, x = |c| / (2 * d), without rounding anywhere. */
static int reaches(int c, int d, int n)
{
    return (int64_t)abs(c) * 64 >= (int64_t)n * 2 * d;
}

static int is_small(const int16_t *coef, int i, int n_blocks, const PnvQuant *quant)
{
    if (i < n_blocks || i >= 64 * n_blocks) /* in front of the first AC none is, behind the last all are */
        return i >= n_blocks;
    return !reaches(coef[i], quant->step[i / n_blocks].bias, 41);
}

static void test_dead_zone(void)
{
    static const int thresholds[5] = {40, 41, 41, 44, 50};
    static int16_t coef[MAX_LEVELS], level[MAX_LEVELS];

    for (int round = 0; round < 600; round++) {
        const int n_blocks = 2 << round % 5, quantizer = 1 + (int)(random_bits() % (round % 2 ? 224 : 12));
        PnvQuant quant;
        pnv_quant_init(&quant, round % 3 ? pnv_matrix_hq : pnv_matrix_xq_luma, pnv_scan_progressive, quantizer);
        fill_coefficients(coef, n_blocks, &quant, round);
        memset(level, 0x55, sizeof level);
        pnv_quant_dead_zone_c(level, coef, n_blocks, &quant);
        for (int i = 0; i < 64 * n_blocks; i++) {
            const int d = quant.step[i / n_blocks].bias, c = abs(coef[i]);
            int want = (c + d) / (2 * d);
            if (i >= n_blocks) {
                const int n = is_small(coef, i - 2, n_blocks, &quant) + is_small(coef, i - 1, n_blocks, &quant) +
                              is_small(coef, i + 1, n_blocks, &quant) + is_small(coef, i + 2, n_blocks, &quant);
                want = reaches(c, d, thresholds[n]) ? (int)(((int64_t)c * 64 + 28 * 2 * d) / (64 * 2 * d)) : 0;
            }
            CHECK(level[i] == (coef[i] < 0 ? -want : want), "quantizer %d, %d blocks, at %d: %d of %d is %d, not %d",
                  quantizer, n_blocks, i, coef[i], d, level[i], want);
        }
    }
}

/* By the words of the definition: the bits of the whole unit counted before and after each change. */
static void optimal_by_definition(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    pnv_quant_c(level, coef, n_blocks, quant);
    for (int i = n_blocks; i < 64 * n_blocks; i++) {
        if (!level[i])
            continue;
        const int d = quant->step[i / n_blocks].bias, magnitude = abs(level[i]);
        const int16_t old = level[i];
        const int before = (int)pnv_entropy_bits_c(level, n_blocks);
        level[i] = (int16_t)(old < 0 ? old + 1 : old - 1);
        const int saved = before - (int)pnv_entropy_bits_c(level, n_blocks);
        /* 2 * (x - level) + 1 < 0.12 * saved, times 100 * d */
        if (!(100 * (abs(coef[i]) - 2 * d * magnitude + d) < 12 * d * saved))
            level[i] = old;
    }
}

static void test_optimal(void)
{
    static int16_t coef[MAX_LEVELS], level[MAX_LEVELS], want[MAX_LEVELS];

    for (int round = 0; round < 300; round++) {
        const int n_blocks = 2 << round % 4, quantizer = 1 + (int)(random_bits() % (round % 2 ? 224 : 12));
        PnvQuant quant;
        pnv_quant_init(&quant, pnv_matrix_hq, pnv_scan_interlaced, quantizer);
        fill_coefficients(coef, n_blocks, &quant, round);
        pnv_quant_optimal_c(level, coef, n_blocks, &quant);
        optimal_by_definition(want, coef, n_blocks, &quant);
        CHECK_MEM_EQ(level, want, (size_t)(64 * n_blocks) * sizeof *level, "round %d, quantizer %d", round, quantizer);
    }
}

int main(void)
{
    test_every_step();
    test_steps_of_matrix();
    test_dead_zone();
    test_optimal();
    CHECK_END();
}
