/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of proresnv-bench: two diagrams in one SVG, drawn without a library. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "cpuinfo.h"

enum { WIDTH = 460, HEIGHT = 320, LEFT = 60, TOP = 40, N_COLOURS = 6 };

static const char *const colours[N_COLOURS] = {"#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94", "#b8860b", "#555555"};

typedef struct Axes {
    FILE *svg;
    int x0;                /* of the diagram on the page */
    double x_max, y_min, y_max; /* y is logarithmic */
} Axes;

static double at_x(const Axes *a, double x)
{
    return a->x0 + LEFT + x / a->x_max * WIDTH;
}

static double at_y(const Axes *a, double y)
{
    return TOP + HEIGHT - log(y / a->y_min) / log(a->y_max / a->y_min) * HEIGHT;
}

static void draw_axes(const Axes *a, const char *x_name, double x_step, const char *title)
{
    fprintf(a->svg, "<text x=\"%d\" y=\"20\" font-weight=\"bold\">%s</text>\n", a->x0 + LEFT, title);
    for (double y = a->y_min; y <= a->y_max * 1.001; y *= 10) {
        fprintf(a->svg, "<path d=\"M%.1f %.1fh%d\" stroke=\"#ccc\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                at_x(a, 0), at_y(a, y), WIDTH, at_x(a, 0) - 6, at_y(a, y) + 4, y);
    }
    for (double x = 0; x <= a->x_max * 1.001; x += x_step) {
        fprintf(a->svg, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", at_x(a, x), TOP + HEIGHT + 18, x);
    }
    fprintf(a->svg, "<path d=\"M%.1f %dv%dh%d\" fill=\"none\" stroke=\"#000\"/>\n", at_x(a, 0), TOP, HEIGHT, WIDTH);
    fprintf(a->svg, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", a->x0 + LEFT + WIDTH / 2,
            TOP + HEIGHT + 38, x_name);
}

static void draw_point(const Axes *a, double x, double y, int colour, const char *label)
{
    if (x > a->x_max || y < a->y_min || y > a->y_max)
        return;
    fprintf(a->svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", at_x(a, x), at_y(a, y), colours[colour]);
    if (label)
        fprintf(a->svg, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%s</text>\n", at_x(a, x) + 7, at_y(a, y) - 5,
                colours[colour], label);
}

static int plot_bytes(FILE *svg, const PnvBenchContent *c, const PnvParams *params, const PnvBenchPeer *peers, int rounds,
                      char *error)
{
    static const int quantizers[] = {1, 2, 4, 7, 10, 16, 28, 60};
    Axes a = {.svg = svg, .y_min = 1, .y_max = 10000};
    PnvParams p = *params;
    PnvBenchTime t;
    int colour = 0;

    p.threads = p.frames_in_flight = 1;
    p.quantizer = 1;
    if (pnv_bench_time(&t, c, &p, 1, error))
        return -1;
    a.x_max = ceil(t.bytes / 5e5) * 0.5;
    draw_axes(&a, "megabytes a frame", a.x_max > 4 ? 1 : 0.5, "frames a second of one core, by quantizer");
    for (int cpu = PNV_CPU_C; cpu <= PNV_CPU_NEON; cpu++) {
        p.cpu = (PnvCpu)cpu;
        for (size_t i = 0; pnv_cpu_has(p.cpu) && i < sizeof quantizers / sizeof *quantizers; i++) {
            p.quantizer = quantizers[i];
            if (pnv_bench_time(&t, c, &p, rounds, error))
                return -1;
            draw_point(&a, t.bytes * 1e-6, 1e3 / t.cpu_min, colour, i ? NULL : pnv_cpu_name(p.cpu));
        }
        colour += pnv_cpu_has(p.cpu);
    }
    for (int i = 0; peers && i < PNV_BENCH_PEERS; i++) {
        if (!peers[i].missing[0])
            draw_point(&a, peers[i].bytes * 1e-6, 1e3 / peers[i].cpu_ms, (colour + i) % N_COLOURS, peers[i].name);
    }
    return 0;
}

static int plot_threads(FILE *svg, const PnvBenchContent *c, const PnvParams *params, int rounds, char *error)
{
    const long n_cpus = sysconf(_SC_NPROCESSORS_ONLN), most = n_cpus < 1 ? 1 : n_cpus > 64 ? 64 : n_cpus;
    Axes a = {.svg = svg, .x0 = LEFT + WIDTH + 40, .x_max = (double)most, .y_min = 1, .y_max = 10000};
    PnvParams p = *params;
    PnvBenchTime t;
    int colour = 0;

    draw_axes(&a, "threads", most > 16 ? 8 : 1, "frames a second");
    for (int cpu = PNV_CPU_C; cpu <= PNV_CPU_NEON; cpu++) {
        p.cpu = (PnvCpu)cpu;
        for (int n = 1; pnv_cpu_has(p.cpu) && n <= most; n += n < 4 ? 1 : n / 4) {
            p.threads = n;
            p.frames_in_flight = n > 1 ? 2 : 1;
            if (pnv_bench_time(&t, c, &p, rounds, error))
                return -1;
            draw_point(&a, n, 1e3 / t.wall_min, colour, n == 1 ? pnv_cpu_name(p.cpu) : NULL);
        }
        colour += pnv_cpu_has(p.cpu);
    }
    return 0;
}

int pnv_bench_plot(const char *path, const PnvBenchContent *c, const PnvParams *params, const PnvBenchPeer *peers,
                   int rounds, char *error)
{
    FILE *svg = fopen(path, "w");

    if (!svg) {
        snprintf(error, PNV_ERROR_BYTES, "%s: %s", path, strerror(errno));
        return -1;
    }
    const int width = 2 * (LEFT + WIDTH) + 100, height = TOP + HEIGHT + 50;
    fprintf(svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height);
    int failed = plot_bytes(svg, c, params, peers, rounds, error) || plot_threads(svg, c, params, rounds, error);
    fputs("</svg>\n", svg);
    if (fclose(svg) && !failed) {
        snprintf(error, PNV_ERROR_BYTES, "%s: cannot be written", path);
        failed = 1;
    }
    return failed ? -1 : 0;
}
