/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every variant of quantization gives the levels of the definition: every coefficient, for steps of every size. */
#include "exact.h"
#include "tables.h"

static int16_t coef[64 * PNV_MAX_BLOCKS], want[64 * PNV_MAX_BLOCKS], got[64 * PNV_MAX_BLOCKS];

/* With a context: coefficients that are zero, near the edges of the dead zone, or anything. */
static void compare_zone(const PnvDsp *ref, const PnvDsp *var, const char *name, int n_blocks, const PnvQuant *quant)
{
    static int16_t near[64 * PNV_MAX_BLOCKS];
    const unsigned rare = 1u << exact_between(0, 6);

    for (int i = 0; i < 64 * n_blocks; i++) {
        const int edge = quant->step[i / n_blocks].small, kind = (int)(exact_random() % (4 + rare));
        const int v = kind == 0   ? exact_between(-32768, 32767)
                      : kind == 1 ? edge + exact_between(-1, 1)
                      : kind == 2 ? -quant->step[i / n_blocks].threshold[exact_random() % 5] + exact_between(-1, 1)
                      : kind == 3 ? exact_between(-2 * edge, 2 * edge)
                                  : 0;
        near[i] = (int16_t)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
    }
    memset(want, 0x55, sizeof want);
    memset(got, 0x55, sizeof got);
    ref->quant[PNV_ROUNDING_DEAD_ZONE](want, near, n_blocks, quant);
    var->quant[PNV_ROUNDING_DEAD_ZONE](got, near, n_blocks, quant);
    CHECK_MEM_EQ(want, got, sizeof want, "%s dead zone, %d blocks", name, n_blocks);
}

/* Coefficients from few to many, near the edges of levels or anywhere, up to the extremes. */
static void compare_optimal(const PnvDsp *ref, const PnvDsp *var, const char *name, int n_blocks, const PnvQuant *quant)
{
    const unsigned rare = 1u << exact_between(0, 9);
    const int most = 1 << exact_between(0, 6), size = exact_between(0, 15), fill = exact_between(0, 9);

    for (int i = 0; i < 64 * n_blocks; i++) {
        const int d = quant->step[i / n_blocks].bias;
        const int v = exact_random() % rare  ? exact_between(-d, d) * 9 / 10
                      : fill == 0            ? exact_between(-32768, 32767) >> size
                      : fill == 1            ? (i % 2 ? 32767 : -32768)
                      : exact_random() % 4   ? exact_between(-2 * d * most, 2 * d * most)
                                             : (exact_random() % 2 ? 1 : -1) * d * exact_between(1, 2 * most) +
                                                   exact_between(-1, 1);
        coef[i] = (int16_t)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
    }
    memset(want, 0x55, sizeof want);
    memset(got, 0x55, sizeof got);
    ref->quant[PNV_ROUNDING_OPTIMAL](want, coef, n_blocks, quant);
    var->quant[PNV_ROUNDING_OPTIMAL](got, coef, n_blocks, quant);
    CHECK_MEM_EQ(want, got, sizeof want, "%s optimal, %d blocks, one of %u, %d steps, fill %d", name, n_blocks, rare,
                 most, fill);
}

/* Each row another step; rows hold coefficients around multiples of half the step, and anything. */
static void test_steps(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    for (int round = 0; round < 3000; round++) {
        const int n_blocks = exact_n_blocks[round % EXACT_N_WIDTHS];
        PnvQuant quant;
        for (int i = 0; i < 64; i++) {
            const int d = round % 2 ? exact_between(2, 63 * 512) : exact_between(2, 64);
            PnvQuantStep step = pnv_quant_step(d);
            if (round % 7 == 0)
                step.bias = (uint16_t)exact_between(1, d); /* any rounding */
            pnv_quant_set(&quant, i, step);
            for (int b = 0; b < n_blocks; b++) {
                const int near_half = (2 * exact_between(0, 16383 / d) + 1) * d + exact_between(-1, 1);
                const int v = b % 3 ? exact_between(-32768, 32767) : b % 2 ? near_half : -near_half;
                coef[i * n_blocks + b] = (int16_t)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
            }
        }
        coef[exact_random() % (unsigned)(64 * n_blocks)] = -32768;
        memset(want, 0x55, sizeof want);
        memset(got, 0xaa, sizeof got);
        ref->quant[PNV_ROUNDING_NEAREST](want, coef, n_blocks, &quant);
        var->quant[PNV_ROUNDING_NEAREST](got, coef, n_blocks, &quant);
        CHECK_MEM_EQ(want, got, sizeof *want * 64 * (size_t)n_blocks, "%s round %d", name, round);
        for (int i = 64 * n_blocks; i < 64 * PNV_MAX_BLOCKS; i++)
            CHECK(got[i] == (int16_t)0xaaaa, "%s wrote past %d blocks", name, n_blocks);
        memcpy(got, coef, sizeof got);
        var->quant[PNV_ROUNDING_NEAREST](got, got, n_blocks, &quant);
        CHECK_MEM_EQ(want, got, sizeof *want * 64 * (size_t)n_blocks, "%s in place, round %d", name, round);
        compare_zone(ref, var, name, n_blocks, &quant);
    }
}

/* Every quantizer of every profile, every coefficient that a row of 32 can be dealt. */
static void test_quantizers(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    static const uint8_t *const matrices[] = {pnv_matrix_proxy_luma, pnv_matrix_lt, pnv_matrix_standard, pnv_matrix_hq,
                                              pnv_matrix_xq_luma};
    for (int q = PNV_QUANTIZER_MIN; q <= PNV_QUANTIZER_MAX; q++) {
        for (size_t m = 0; m < sizeof matrices / sizeof *matrices; m++) {
            PnvQuant quant;
            pnv_quant_init(&quant, matrices[m], q % 2 ? pnv_scan_progressive : pnv_scan_interlaced, q);
            for (int i = 0; i < 64 * 32; i++)
                coef[i] = (int16_t)exact_random();
            ref->quant[PNV_ROUNDING_NEAREST](want, coef, 32, &quant);
            var->quant[PNV_ROUNDING_NEAREST](got, coef, 32, &quant);
            CHECK_MEM_EQ(want, got, sizeof want, "%s quantizer %d matrix %zu", name, q, m);
            for (int w = 0; w < EXACT_N_WIDTHS; w++)
                compare_zone(ref, var, name, exact_n_blocks[w], &quant);
        }
    }
}

static void test_optimal(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    for (int round = 0; round < 12000; round++) {
        PnvQuant quant;
        if (round % 2)
            pnv_quant_init(&quant, pnv_matrix_hq, pnv_scan_progressive, exact_between(1, round % 4 == 1 ? 16 : 224));
        else
            for (int i = 0; i < 64; i++)
                pnv_quant_set(&quant, i, pnv_quant_step(exact_between(2, round % 4 ? 64 : 63 * 512)));
        compare_optimal(ref, var, name, exact_n_blocks[round / 2 % EXACT_N_WIDTHS], &quant);
    }
}

/* The histogram of rate control adds up the same. */
static void test_histogram(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    static const uint8_t *const matrices[] = {pnv_matrix_proxy_luma, pnv_matrix_lt, pnv_matrix_hq, pnv_matrix_xq_luma};
    PnvRateHistogram sum_ref = {{0}}, sum_var = {{0}};

    for (int round = 0; round < 2000; round++) {
        const int n_blocks = exact_n_blocks[round % EXACT_N_WIDTHS], size = exact_between(0, 15);
        uint16_t reciprocal[64];
        pnv_rate_reciprocals(reciprocal, matrices[round % 4], round % 3 ? pnv_scan_progressive : pnv_scan_interlaced);
        for (int i = 0; i < 64 * n_blocks; i++)
            coef[i] = (int16_t)(exact_between(-32768, 32767) >> size);
        coef[1 * n_blocks] = -32768;
        ref->histogram(&sum_ref, coef, n_blocks, reciprocal);
        var->histogram(&sum_var, coef, n_blocks, reciprocal);
        CHECK_MEM_EQ(&sum_ref, &sum_var, sizeof sum_ref, "%s histogram, round %d", name, round);
    }
}

static void test_level(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    test_steps(ref, var, name);
    test_quantizers(ref, var, name);
    test_optimal(ref, var, name);
    test_histogram(ref, var, name);
}

int main(void)
{
    exact_each_level(test_level);
    CHECK_END();
}
