/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for quantizers, alone: on made-up frames whose slices have any size at any quantizer. */
#include <math.h>
#include <stdint.h>

#include "check.h"
#include "rate.h"
#include "tables.h"

static uint32_t seed = 11;
static uint32_t random_bits(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static void test_multiplier(void)
{
    for (int n = 1; n <= 5000; n++) {
        PnvRate rate = {.n_slices = n, .multiplier = pnv_rate_multiplier(n)};
        char seen[5000] = {0};
        int n_seen = 0;
        for (int i = 0; i < n; i++) {
            const int rank = pnv_rate_rank(&rate, i);
            REQUIRE(rank >= 0 && rank < n, "rank %d of %d", rank, n);
            n_seen += !seen[rank];
            seen[rank] = 1;
        }
        CHECK(n_seen == n, "%d slices: %d ranks", n, n_seen);
    }
    CHECK(pnv_rate_multiplier(1020) == 619, "1920x1080: %d", pnv_rate_multiplier(1020));
}

static void test_histogram(void)
{
    static const int edges[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48}; /* bin 2 is [1.5, 2): no whole number */
    static const int bins[] = {0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    uint16_t reciprocal[64];
    int16_t coef[64 * 2];

    pnv_rate_reciprocals(reciprocal, pnv_matrix_hq, pnv_scan_progressive);
    for (int e = 0; e < 12; e++) {
        PnvRateHistogram h = {{0}};
        memset(coef, 0x7f, sizeof coef);
        for (int i = 1; i < 64; i += 4) {
            const int w = pnv_matrix_hq[pnv_scan_progressive[i]];
            /* the least |c| with |c| * 2 / w >= edge, a little more for the reciprocal's rounding */
            coef[2 * i] = (int16_t)((edges[e] * w + 1) / 2 + (edges[e] > 0));
            coef[2 * i + 1] = (int16_t)-coef[2 * i];
        }
        pnv_rate_histogram_c(&h, coef, 2, reciprocal);
        CHECK(h.n[bins[e]] == 32, "size %d: %u in bin %d", edges[e], h.n[bins[e]], bins[e]);
    }
    PnvRateHistogram h = {{0}};
    memset(coef, 0x80, sizeof coef);
    for (int i = 0; i < 128; i++)
        coef[i] = -32768;
    pnv_rate_histogram_c(&h, coef, 2, reciprocal);
    uint32_t sum = 0;
    for (int i = 0; i < PNV_RATE_BINS; i++)
        sum += h.n[i];
    CHECK(sum == 32, "extremes: %u", sum);
}

/* A frame: bytes of slice i at quantizer q, and its histogram. */
typedef struct Made {
    int n_slices;
    double scale[2000], power[2000];
    int jumps; /* sizes that go up and down with the quantizer */
} Made;

static int64_t made_bytes(const Made *m, int i, int q)
{
    double b = 20 + m->scale[i] / pow(pnv_qscale(q), m->power[i]);
    if (m->jumps)
        b *= 0.9 + 0.2 * ((unsigned)(i * 7919 + q * 104729) % 97 / 96.0);
    return (int64_t)b;
}

static int64_t bytes_at(const Made *m, const PnvRate *rate)
{
    int64_t sum = 0;
    for (int i = 0; i < m->n_slices; i++)
        sum += made_bytes(m, i, pnv_rate_quantizer(rate, i));
    return sum;
}

static void make(Made *m, int n_slices, int kind)
{
    m->n_slices = n_slices;
    m->jumps = kind == 3;
    for (int i = 0; i < n_slices; i++) {
        m->scale[i] = kind == 1 ? 0 : 200 + (random_bits() % 8000) * (kind == 2 && i < n_slices / 10 ? 3 : 1);
        m->power[i] = 0.5 + random_bits() % 100 / 200.0;
    }
}

typedef struct Outcome {
    int n_sampled;
    double passes; /* slices coded, in frames */
    int64_t bytes;
} Outcome;

/* As a backend does it: codes what has another quantizer than before. */
static Outcome run(const Made *m, PnvRate *rate)
{
    static int coded[2000];
    Outcome o = {0};
    int guard = 0, n_coded = 0;

    memset(coded, 0, sizeof coded);
    rate->n_slices = m->n_slices;
    rate->n_samples = pnv_rate_n_samples(m->n_slices);
    rate->n_part = pnv_rate_n_part(m->n_slices);
    rate->multiplier = pnv_rate_multiplier(m->n_slices);
    for (int b = 5; b < 12; b++) { /* something plausible; it only has to be the same shape for both */
        rate->all.n[b] = (uint32_t)(m->n_slices * 100 / (b - 4));
        rate->sampled.n[b] = (uint32_t)(rate->n_samples * 100 / (b - 4));
        rate->part.n[b] = (uint32_t)(rate->n_part * 100 / (b - 4));
    }
    for (PnvRateStep step = pnv_rate_begin(rate); step != PNV_RATE_DONE;) {
        int64_t bytes = 0;
        REQUIRE(++guard < 100, "the search does not end");
        for (int i = 0; i < m->n_slices; i++) {
            const int q = pnv_rate_quantizer(rate, i);
            if (pnv_rate_rank(rate, i) >= rate->n_wanted)
                continue;
            n_coded += coded[i] != q;
            coded[i] = q;
            bytes += made_bytes(m, i, q);
        }
        step = pnv_rate_coded(rate, bytes);
    }
    for (int i = 0; i < m->n_slices; i++)
        REQUIRE(coded[i] == pnv_rate_quantizer(rate, i), "slice %d is not coded as chosen", i);
    o.n_sampled = rate->n_rounds;
    o.passes = (double)n_coded / m->n_slices;
    o.bytes = bytes_at(m, rate);
    return o;
}

static void test_search(void)
{
    static Made m;

    for (int round = 0; round < 3000; round++) {
        const int n = round % 7 == 0 ? 1 + round % 70 : 100 + round % 1900, kind = round % 4;
        make(&m, n, kind);
        PnvRate rate = {.min_quantizer = 1 + round % 5, .max_quantizer = 224};
        rate.target = rate.limit = (int64_t)n * (30 + random_bits() % 1500);
        const Outcome o = run(&m, &rate);
        const int at_low = rate.position == (int64_t)(rate.min_quantizer - 1) * n;
        const int at_high = rate.position == (int64_t)223 * n;
        CHECK(o.bytes <= rate.limit || at_high, "round %d: %lld of %lld", round, (long long)o.bytes,
              (long long)rate.limit);
        /* with few slices a step is more than a hundredth */
        if (n >= 400 && kind != 3)
            CHECK(o.bytes >= rate.target * 99 / 100 || at_low || at_high, "round %d, %d slices: %lld of %lld after %d, %.2f",
                  round, n, (long long)o.bytes, (long long)rate.target, o.n_sampled, o.passes);
    }
}

/* The target gives way to max_quantizer, the limit does not. */
static void test_limits(void)
{
    static Made m;

    make(&m, 1000, 0);
    for (int max = 1; max <= 224; max += 7) {
        PnvRate rate = {.min_quantizer = 1, .max_quantizer = max, .target = 60000, .limit = INT64_C(1) << 40};
        run(&m, &rate);
        CHECK(rate.position <= (int64_t)(max - 1) * 1000, "over max_quantizer %d for the target", max);
        PnvRate hard = {.min_quantizer = 1, .max_quantizer = max, .target = 60000, .limit = 150000};
        const Outcome o = run(&m, &hard);
        CHECK(o.bytes <= 150000, "max_quantizer %d: %lld over the limit", max, (long long)o.bytes);
    }
    for (int budget = -100000; budget < 25000; budget += 3000) { /* nothing fits: 20 bytes a slice and more */
        PnvRate rate = {.min_quantizer = 4, .max_quantizer = 9, .target = budget, .limit = budget};
        run(&m, &rate);
        CHECK(rate.position == (int64_t)223 * 1000 || budget > 20000, "budget %d ends at %lld", budget,
              (long long)rate.position);
    }
    PnvRate rate = {.min_quantizer = 4, .max_quantizer = 224, .target = 1 << 30, .limit = 1 << 30};
    run(&m, &rate);
    CHECK(rate.position == 3 * 1000, "an easy frame stops at its smallest quantizer: %lld", (long long)rate.position);
}

int main(void)
{
    test_multiplier();
    test_histogram();
    test_search();
    test_limits();
    CHECK_END();
}
