/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "yuv422p10le": yuv or yuva, the sampling, p, and the depth with its byte order; 8 bits go without. */
static bool parse_ffmpeg_name(PnvRawFormat *f, const char *name)
{
    int sampling, n = 0;

    if (strncmp(name, "yuv", 3) != 0)
        return false;
    name += 3;
    f->alpha = *name == 'a';
    name += f->alpha;
    if (sscanf(name, "%3dp%n", &sampling, &n) != 1 || n != 4 || (sampling != 422 && sampling != 444))
        return false;
    f->is_444 = sampling == 444;
    name += n;
    if (*name == 0) {
        f->depth = 8;
        return true;
    }
    n = 0;
    return sscanf(name, "%2dle%n", &f->depth, &n) == 1 && n > 0 && name[n] == 0 && f->depth > 8 && f->depth <= 16;
}

/* "I422_10LE", "A444_12LE"; 8 bits are "Y42B", "Y444", "A422" and "A444". */
static bool parse_gstreamer_name(PnvRawFormat *f, const char *name)
{
    static const struct { char name[5]; bool is_444, alpha; } eight[] = {
        {"Y42B", false, false}, {"Y444", true, false}, {"A422", false, true}, {"A444", true, true},
    };
    char first;
    int sampling, n = 0;

    for (size_t i = 0; i < sizeof eight / sizeof *eight; i++)
        if (!strcmp(name, eight[i].name)) {
            *f = (PnvRawFormat){eight[i].is_444, eight[i].alpha, 8};
            return true;
        }
    if (sscanf(name, "%c%3d_%2dLE%n", &first, &sampling, &f->depth, &n) != 3 || n == 0 || name[n])
        return false;
    f->is_444 = sampling == 444;
    f->alpha = first == 'A';
    return (first == 'A' || first == (f->is_444 ? 'Y' : 'I')) && (sampling == 422 || sampling == 444) &&
           f->depth > 8 && f->depth <= 16;
}

bool pnv_raw_format(PnvRawFormat *format, const char *name)
{
    return parse_ffmpeg_name(format, name) || parse_gstreamer_name(format, name);
}

static size_t plane_width(const PnvRawFormat *f, int plane, int width)
{
    return (size_t)((plane == 1 || plane == 2) && !f->is_444 ? (width + 1) / 2 : width);
}

uint64_t pnv_raw_bytes(const PnvRawFormat *f, int width, int height)
{
    uint64_t samples = 0;

    for (int plane = 0; plane < (f->alpha ? 4 : 3); plane++)
        samples += (uint64_t)plane_width(f, plane, width) * (uint64_t)height;
    return samples * (f->depth > 8 ? 2 : 1);
}

double pnv_psnr(double mse, int depth)
{
    const double peak = ldexp(1.0, depth) - 1;
    return mse > 0 ? 10 * log10(peak * peak / mse) : INFINITY;
}

void pnv_comparer_free(PnvComparer *c)
{
    free(c->a);
    free(c->b);
    *c = (PnvComparer){0};
}

static bool reserve(PnvComparer *c, size_t n)
{
    if (n <= c->allocated)
        return true;
    pnv_comparer_free(c);
    c->a = malloc(n * sizeof *c->a);
    c->b = malloc(n * sizeof *c->b);
    if (!c->a || !c->b) {
        pnv_comparer_free(c);
        return false;
    }
    c->allocated = n;
    return true;
}

static void load_raw(uint16_t *to, const uint8_t *raw, size_t n, int depth)
{
    for (size_t i = 0; i < n; i++)
        to[i] = depth > 8 ? (uint16_t)(raw[2 * i] | raw[2 * i + 1] << 8) : raw[i];
}

static void load_decoded(uint16_t *to, const PnvReader *reader, int plane)
{
    const PnvReaderFrame *f = pnv_reader_frame(reader);

    for (int y = 0; y < f->plane[plane].height; y++) {
        const double *row = plane < 3 ? pnv_reader_row(reader, plane, y) : NULL;
        const uint16_t *alpha = plane == 3 ? pnv_reader_alpha_row(reader, y) : NULL;
        for (int x = 0; x < f->plane[plane].width; x++)
            *to++ = (uint16_t)(row ? pnv_reader_round(row[x], f->depth)
                                   : pnv_reader_alpha_at_depth(alpha[x], f->header.alpha_type, f->depth));
    }
}

static double mean_squared_error(const uint16_t *a, const uint16_t *b, size_t n)
{
    uint64_t sum = 0; /* of less than 2^32 squares below 2^32 */

    for (size_t i = 0; i < n; i++) {
        const int64_t d = (int64_t)a[i] - b[i];
        sum += (uint64_t)(d * d);
    }
    return n ? (double)sum / (double)n : 0;
}

/* SSIM of one window: means, variances and covariance of n samples from their sums. */
static double window_ssim(const uint16_t *a, const uint16_t *b, size_t stride, int width, int height, double peak)
{
    const double n = (double)width * height, c1 = 0.0001 * peak * peak, c2 = 0.0009 * peak * peak;
    uint64_t sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;

    for (int y = 0; y < height; y++, a += stride, b += stride)
        for (int x = 0; x < width; x++) {
            const uint32_t va = a[x], vb = b[x];
            sa += va, sb += vb;
            saa += va * va, sbb += vb * vb, sab += va * vb;
        }
    const double ma = (double)sa / n, mb = (double)sb / n;
    const double aa = (double)saa / n - ma * ma, bb = (double)sbb / n - mb * mb, ab = (double)sab / n - ma * mb;
    return (2 * ma * mb + c1) * (2 * ab + c2) / ((ma * ma + mb * mb + c1) * (aa + bb + c2));
}

/* Planes smaller than a window are one window. */
static double mean_ssim(const uint16_t *a, const uint16_t *b, int width, int height, int depth)
{
    const int w = width < 8 ? width : 8, h = height < 8 ? height : 8;
    const double peak = ldexp(1.0, depth) - 1;
    double sum = 0, n = 0;

    for (int y = 0; y + h <= height; y += 4)
        for (int x = 0; x + w <= width; x += 4, n++) {
            const size_t at = (size_t)y * (size_t)width + (size_t)x;
            sum += window_ssim(a + at, b + at, (size_t)width, w, h, peak);
        }
    return n > 0 ? sum / n : 1;
}

static void compare_alpha(PnvComparison *result, const uint16_t *a, const uint16_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int d = abs((int)a[i] - (int)b[i]);
        result->alpha_differences += d != 0;
        if (d > result->alpha_largest)
            result->alpha_largest = d;
    }
}

bool pnv_compare(PnvComparer *c, PnvComparison *result, const PnvReader *reader, const PnvRawFormat *format,
                 const uint8_t *raw)
{
    const PnvReaderFrame *f = pnv_reader_frame(reader);

    *result = (PnvComparison){.valid = true};
    for (int plane = 0; plane < (format->alpha ? 4 : 3); plane++) {
        const int width = f->plane[plane].width, height = f->plane[plane].height;
        const size_t n = (size_t)width * (size_t)height;
        if (!reserve(c, n))
            return false;
        load_raw(c->a, raw, n, format->depth);
        load_decoded(c->b, reader, plane);
        raw += n * (format->depth > 8 ? 2 : 1);
        if (plane == 3) {
            compare_alpha(result, c->a, c->b, n);
        } else {
            result->mse[plane] = mean_squared_error(c->a, c->b, n);
            result->ssim[plane] = mean_ssim(c->a, c->b, width, height, format->depth);
        }
    }
    return true;
}
