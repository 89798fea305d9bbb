/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every coefficient over every step: the reciprocal divides exactly. */
#include <stdint.h>

#include "check.h"
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
            quant.step[i] = pnv_quant_step(d, PNV_ROUNDING_NEAREST);
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
        pnv_quant_init(&quant, pnv_matrix_proxy_luma, pnv_scan_interlaced, scales[s].quantizer, PNV_ROUNDING_NEAREST);
        for (int i = 0; i < 64; i++)
            CHECK(quant.step[i].bias == pnv_matrix_proxy_luma[pnv_scan_interlaced[i]] * scales[s].qscale,
                  "quantizer %d position %d: half a step is %d", scales[s].quantizer, i, quant.step[i].bias);
    }
}

int main(void)
{
    test_every_step();
    test_steps_of_matrix();
    CHECK_END();
}
