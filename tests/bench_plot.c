/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench_plot.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 880, HEIGHT = 540, LEFT = 70, RIGHT = 220, TOP = 50, BOTTOM = 60 };

typedef struct Axes {
    double x0, x1, y0, y1;
} Axes;

static double place_x(const Axes *a, double x)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * log(x / a->x0) / log(a->x1 / a->x0);
}

static double place_y(const Axes *a, double y)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (y - a->y0) / (a->y1 - a->y0);
}

static Axes find_axes(const BenchCurve *curves, int n)
{
    Axes a = {INFINITY, 0, INFINITY, -INFINITY};

    for (int c = 0; c < n; c++)
        for (int i = 0; i < curves[c].n; i++) {
            a.x0 = fmin(a.x0, curves[c].x[i]);
            a.x1 = fmax(a.x1, curves[c].x[i]);
            a.y0 = fmin(a.y0, curves[c].y[i]);
            a.y1 = fmax(a.y1, curves[c].y[i]);
        }
    return (Axes){a.x0 / 1.1, a.x1 * 1.1, floor(a.y0 / 2) * 2, ceil(a.y1 / 2) * 2};
}

static void draw_axes(FILE *f, const Axes *a, const char *x_name, const char *y_name)
{
    static const double ticks[] = {50, 100, 150, 200, 300, 400, 500, 600, 800, 1000, 1500, 2000, 3000};

    for (double y = a->y0; y <= a->y1; y += 2)
        fprintf(f, "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.0f</text>\n",
                LEFT, place_y(a, y), WIDTH - RIGHT, LEFT - 8, place_y(a, y) + 4, y);
    for (unsigned i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        if (ticks[i] < a->x0 || ticks[i] > a->x1)
            continue;
        const double x = place_x(a, ticks[i]);
        fprintf(f, "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
                x, TOP, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 20, ticks[i]);
    }
    fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14,
            x_name);
    fprintf(f, "<text transform=\"translate(20 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
            (TOP + HEIGHT - BOTTOM) / 2, y_name);
}

static void draw_curve(FILE *f, const Axes *a, const BenchCurve *c, int row)
{
    const char *dash = c->is_dashed ? " stroke-dasharray=\"7 5\"" : "";
    const int y = TOP + 12 + 24 * row, x = WIDTH - RIGHT + 14;

    if (c->n > 1) {
        fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s d=\"", c->colour, dash);
        for (int i = 0; i < c->n; i++)
            fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M', place_x(a, c->x[i]), place_y(a, c->y[i]));
        fprintf(f, "\"/>\n<path stroke=\"%s\" stroke-width=\"2\"%s d=\"M%d %dh26\"/>\n", c->colour, dash, x, y);
    }
    for (int i = 0; i < c->n; i++)
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", place_x(a, c->x[i]), place_y(a, c->y[i]),
                c->colour);
    fprintf(f, "<circle cx=\"%d\" cy=\"%d\" r=\"3.5\" fill=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n", x + 13, y,
            c->colour, x + 34, y + 4, c->name);
}

int bench_plot(const char *path, const char *title, const char *x_name, const char *y_name, const BenchCurve *curves,
               int n_curves)
{
    const Axes axes = find_axes(curves, n_curves);
    FILE *f = fopen(path, "w");

    if (!f)
        return -1;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n"
            "<style>text{font:13px sans-serif;fill:#222}.grid{stroke:#ddd}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text x=\"%d\" y=\"28\" style=\"font-size:16px;font-weight:bold\">%s</text>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT, title);
    draw_axes(f, &axes, x_name, y_name);
    for (int c = 0; c < n_curves; c++)
        draw_curve(f, &axes, &curves[c], c);
    fputs("</svg>\n", f);
    return fclose(f);
}
