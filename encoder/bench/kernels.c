/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernels of input formats, each alone: what a block costs at each place that can make it. */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "cpuinfo.h"

/* A run makes the rows of blocks of the widest unit, from and to the first-level cache. */
enum { WIDTH = PNV_FETCH_STRIDE, ROWS = 8, BLOCKS = WIDTH / 8, MARGIN = 5, RUNS = 200 };

/* Blocks of a 1920x1080 frame if all of it that a kernel can make is made by it alone. */
enum { CHROMA_444 = 2 * 1920 * 1080 / 64, CHROMA_422 = CHROMA_444 / 2, PIXELS = 1920 * 1080 / 64 };

typedef struct Kernel Kernel;
struct Kernel {
    const char *name;
    size_t entry; /**< Of PnvDsp: levels with one function there are one place. */
    void (*run)(const PnvDsp *dsp, const Kernel *k);
    int depth;          /**< Bits of a sample. */
    int blocks_a_frame; /**< At worst. */
    int fx, fy;         /**< As interpolate wants them. */
};

static _Alignas(64) uint16_t samples[ROWS + MARGIN][2 + WIDTH + 3], made[ROWS][WIDTH];
static _Alignas(64) int16_t scaled[ROWS][3 + WIDTH + 2], made_scaled[3][ROWS][WIDTH]; /* around 0 */
static PnvColor color;

static void run_interpolate(const PnvDsp *dsp, const Kernel *k)
{
    for (int y = 0; y < ROWS; y++) {
        const uint16_t *row[6];
        for (int i = 0; i < 6; i++)
            row[i] = samples[y + i] + 2;
        dsp->interpolate(made[y], row, k->fx, k->fy, WIDTH, (1 << k->depth) - 1);
    }
}

static void run_color(const PnvDsp *dsp, const Kernel *k)
{
    for (int y = 0; y < ROWS; y++)
        dsp->color_row(made_scaled[0][y], made_scaled[1][y], made_scaled[2][y], samples[y], samples[y + 1],
                       samples[y + 2], &color, WIDTH);
}

/* What a unit of chroma has is half as wide: both. */
static void run_decimate(const PnvDsp *dsp, const Kernel *k)
{
    for (int y = 0; y < ROWS; y++) {
        for (int c = 1; c < 3; c++)
            dsp->decimate_row(made_scaled[c][y], scaled[y] + 3, WIDTH / 2);
    }
}

#define INTERPOLATE(place, fx, fy, depth)                                                                              \
    {"interpolate " place, offsetof(PnvDsp, interpolate), run_interpolate, depth, CHROMA_444, fx, fy}

static const Kernel kernels[] = {
    INTERPOLATE("mc00", 0, 0, 10),
    INTERPOLATE("mc10", 2, 0, 10),
    INTERPOLATE("mc20", 4, 0, 10),
    INTERPOLATE("mc30", 6, 0, 10),
    INTERPOLATE("mc01", 0, 2, 10),
    INTERPOLATE("mc11", 2, 2, 10),
    INTERPOLATE("mc21", 4, 2, 10),
    INTERPOLATE("mc31", 6, 2, 10),
    INTERPOLATE("mc02", 0, 4, 10),
    INTERPOLATE("mc12", 2, 4, 10),
    INTERPOLATE("mc22", 4, 4, 10),
    INTERPOLATE("mc32", 6, 4, 10),
    INTERPOLATE("mc03", 0, 6, 10),
    INTERPOLATE("mc13", 2, 6, 10),
    INTERPOLATE("mc23", 4, 6, 10),
    INTERPOLATE("mc33", 6, 6, 10),
    INTERPOLATE("mc0,1/8", 0, 1, 10),
    INTERPOLATE("mc1,1/8", 2, 1, 10),
    INTERPOLATE("mc2,1/8", 4, 1, 10),
    INTERPOLATE("mc0,3/8", 0, 3, 10),
    INTERPOLATE("mc20", 4, 0, 8),
    INTERPOLATE("mc01", 0, 2, 8),
    INTERPOLATE("mc22", 4, 4, 8),
    INTERPOLATE("mc20", 4, 0, 12),
    INTERPOLATE("mc01", 0, 2, 12),
    INTERPOLATE("mc22", 4, 4, 12),
    INTERPOLATE("mc20", 4, 0, 16),
    INTERPOLATE("mc01", 0, 2, 16),
    INTERPOLATE("mc22", 4, 4, 16),
    {"color", offsetof(PnvDsp, color_row), run_color, 8, PIXELS, 0, 0},
    {"color", offsetof(PnvDsp, color_row), run_color, 10, PIXELS, 0, 0},
    {"color", offsetof(PnvDsp, color_row), run_color, 16, PIXELS, 0, 0},
    {"decimate", offsetof(PnvDsp, decimate_row), run_decimate, 14, CHROMA_422, 0, 0},
};

enum { N_KERNELS = sizeof kernels / sizeof *kernels, N_LEVELS = 4 };
static const PnvCpu levels[N_LEVELS] = {PNV_CPU_C, PNV_CPU_AVX2, PNV_CPU_AVX512, PNV_CPU_NEON};

typedef struct Times {
    double ns[N_LEVELS]; /**< Of a block; 0 where the level is not there or has the function of another. */
    int same_as[N_LEVELS];
    int fastest;
} Times;

static void prepare(int depth)
{
    uint32_t x = 1;

    for (int y = 0; y < ROWS + MARGIN; y++) {
        for (int i = 0; i < 2 + WIDTH + 3; i++) {
            x = x * 1664525 + 1013904223;
            samples[y][i] = (uint16_t)(x >> 16 & ((1u << depth) - 1));
            if (y < ROWS)
                scaled[y][i] = (int16_t)(samples[y][i] - (1 << (depth - 1)));
        }
    }
    pnv_color_init(&color, 1, depth, PNV_RANGE_FULL);
}

static double time_kernel(const PnvDsp *dsp, const Kernel *k, int rounds)
{
    double best = 0;

    for (int r = 0; r <= rounds; r++) { /* the first to warm up */
        const double start = pnv_bench_cpu_ms();
        for (int i = 0; i < RUNS; i++)
            k->run(dsp, k);
        const double ms = pnv_bench_cpu_ms() - start;
        best = r < 2 || ms < best ? ms : best;
    }
    return 1e6 * best / (RUNS * BLOCKS);
}

static void time_places(Times *t, const Kernel *k, int rounds)
{
    PnvDsp dsp[N_LEVELS];

    *t = (Times){.fastest = 0};
    prepare(k->depth);
    for (int i = 0; i < N_LEVELS; i++) {
        t->same_as[i] = i;
        if (!pnv_cpu_has(levels[i]))
            continue;
        pnv_dsp_init(&dsp[i], levels[i]);
        for (int j = 0; j < i && t->same_as[i] == i; j++) {
            if (t->ns[j] > 0 && !memcmp((char *)&dsp[i] + k->entry, (char *)&dsp[j] + k->entry, sizeof(void (*)(void))))
                t->same_as[i] = j;
        }
        if (t->same_as[i] != i)
            continue;
        t->ns[i] = time_kernel(&dsp[i], k, rounds);
        t->fastest = t->ns[i] < t->ns[t->fastest] ? i : t->fastest;
    }
}

static double ms_a_frame(const Kernel *k, const Times *t)
{
    return 1e-6 * k->blocks_a_frame * t->ns[t->fastest];
}

static void print_text(const Kernel *k, const Times *t)
{
    printf("%-20s %4d", k->name, k->depth);
    for (int i = 0; i < N_LEVELS; i++) {
        if (t->ns[i] > 0)
            printf(" %9.2f", t->ns[i]);
        else if (t->same_as[i] != i)
            printf("   as %-4s", pnv_cpu_name(levels[t->same_as[i]]));
        else
            printf(" %9s", "-");
    }
    printf("  %12s  %-8s %7d %9.3f\n", "not measured", pnv_cpu_name(levels[t->fastest]), k->blocks_a_frame,
           ms_a_frame(k, t));
}

static void print_json(const Kernel *k, const Times *t)
{
    printf("  {\"name\": \"%s\", \"bits\": %d, \"ns_per_block\": {", k->name, k->depth);
    for (int i = 0; i < N_LEVELS; i++) {
        const double ns = t->ns[t->same_as[i]];
        printf("\"%s\": ", pnv_cpu_name(levels[i]));
        if (ns > 0)
            printf("%.3f, ", ns);
        else
            printf("null, ");
    }
    printf("\"cuda\": null}, \"fastest\": \"%s\", \"blocks_per_frame\": %d, \"ms_per_frame\": %.4f}",
           pnv_cpu_name(levels[t->fastest]), k->blocks_a_frame, ms_a_frame(k, t));
}

void pnv_bench_kernels(int rounds, int json)
{
    if (json) {
        printf("{\"kernels\": [\n");
    } else {
        printf("ns of processor time for 8x8 samples, from and to the first-level cache, the least of %d rounds; at worst\n"
               "a 1920x1080 frame has so many of them, and takes so many ms of the fastest. -: not here\n"
               "%-20s %4s", rounds, "kernel", "bits");
        for (int i = 0; i < N_LEVELS; i++)
            printf(" %9s", pnv_cpu_name(levels[i]));
        printf("  %12s  %-8s %7s %9s\n", "cuda", "fastest", "blocks", "ms/frame");
    }
    for (int i = 0; i < N_KERNELS; i++) {
        Times t;
        time_places(&t, &kernels[i], rounds);
        if (json)
            print_json(&kernels[i], &t);
        else
            print_text(&kernels[i], &t);
        if (json)
            printf(i + 1 < N_KERNELS ? ",\n" : "\n]}\n");
    }
}
