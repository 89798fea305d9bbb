/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A chart of lines as an SVG file that needs nothing else. */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

enum { BENCH_MAX_POINTS = 16 };

typedef struct BenchCurve {
    const char *name;
    const char *colour;
    int is_dashed;
    int n;
    double x[BENCH_MAX_POINTS], y[BENCH_MAX_POINTS]; /**< By rising x. */
} BenchCurve;

/** Write the chart, x in a logarithmic scale. @return 0, or -1 with errno. */
int bench_plot(const char *path, const char *title, const char *x_name, const char *y_name, const BenchCurve *curves,
               int n_curves);

#endif
