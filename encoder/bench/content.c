/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames for proresnv-bench: made here, or read from a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "hostmem.h"
#include "slice.h"

#define PLANAR(name, chroma, depth, alpha)                                                                             \
    {                                                                                                                  \
        name, PNV_MODEL_YCBCR, chroma, PNV_PACKING_SAMPLES, depth, alpha,                                              \
        {                                                                                                              \
            {0, 0, 0, 0}, {1, 0, 0, 0}, {2, 0, 0, 0}, {3, 0, 0, 0}                                                     \
        }                                                                                                              \
    }
#define YCBCR(name, chroma, packing, depth, ...) {name, PNV_MODEL_YCBCR, chroma, packing, depth, 0, {__VA_ARGS__}}
#define RGB(name, packing, depth, alpha, ...)                                                                          \
    {name, PNV_MODEL_RGB, PNV_CHROMA_444, packing, depth, alpha, {__VA_ARGS__}}

static const PnvBenchFormat formats[] = {
    PLANAR("yuv422p", PNV_CHROMA_422, 8, 0),
    PLANAR("yuv422p10le", PNV_CHROMA_422, 10, 0),
    PLANAR("yuv422p12le", PNV_CHROMA_422, 12, 0),
    PLANAR("yuv422p16le", PNV_CHROMA_422, 16, 0),
    PLANAR("yuv444p", PNV_CHROMA_444, 8, 0),
    PLANAR("yuv444p10le", PNV_CHROMA_444, 10, 0),
    PLANAR("yuv444p12le", PNV_CHROMA_444, 12, 0),
    PLANAR("yuv444p16le", PNV_CHROMA_444, 16, 0),
    PLANAR("yuva444p", PNV_CHROMA_444, 8, 1),
    PLANAR("yuva444p10le", PNV_CHROMA_444, 10, 1),
    PLANAR("yuva444p12le", PNV_CHROMA_444, 12, 1),
    PLANAR("yuva444p16le", PNV_CHROMA_444, 16, 1),
    PLANAR("yuv420p", PNV_CHROMA_420, 8, 0),
    PLANAR("yuv420p10le", PNV_CHROMA_420, 10, 0),
    YCBCR("v210", PNV_CHROMA_422, PNV_PACKING_V210, 10, {0}, {0}, {0}),
    YCBCR("uyvy422", PNV_CHROMA_422, PNV_PACKING_SAMPLES, 8, {0, 1, 2, 0}, {0, 0, 4, 0}, {0, 2, 4, 0}),
    YCBCR("yuyv422", PNV_CHROMA_422, PNV_PACKING_SAMPLES, 8, {0, 0, 2, 0}, {0, 1, 4, 0}, {0, 3, 4, 0}),
    YCBCR("y210le", PNV_CHROMA_422, PNV_PACKING_SAMPLES, 10, {0, 0, 4, 6}, {0, 2, 8, 6}, {0, 6, 8, 6}),
    YCBCR("nv16", PNV_CHROMA_422, PNV_PACKING_SAMPLES, 8, {0, 0, 1, 0}, {1, 0, 2, 0}, {1, 1, 2, 0}),
    YCBCR("nv12", PNV_CHROMA_420, PNV_PACKING_SAMPLES, 8, {0, 0, 1, 0}, {1, 0, 2, 0}, {1, 1, 2, 0}),
    YCBCR("p010le", PNV_CHROMA_420, PNV_PACKING_SAMPLES, 10, {0, 0, 2, 6}, {1, 0, 4, 6}, {1, 2, 4, 6}),
    RGB("bgra", PNV_PACKING_SAMPLES, 8, 1, {0, 2, 4, 0}, {0, 1, 4, 0}, {0, 0, 4, 0}, {0, 3, 4, 0}),
    RGB("rgba64le", PNV_PACKING_SAMPLES, 16, 1, {0, 0, 8, 0}, {0, 2, 8, 0}, {0, 4, 8, 0}, {0, 6, 8, 0}),
    RGB("gbrp10le", PNV_PACKING_SAMPLES, 10, 0, {2, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}),
    RGB("x2rgb10le", PNV_PACKING_WORDS, 10, 0, {0, 0, 4, 20}, {0, 0, 4, 10}, {0, 0, 4, 0}),
};

#undef PLANAR
#undef YCBCR
#undef RGB

enum { RGB_MATRIX = 1 }; /* BT.709 */

const PnvBenchFormat *pnv_bench_format(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}

void pnv_bench_format_apply(const PnvBenchFormat *f, PnvParams *p)
{
    p->model = f->model;
    p->chroma = f->chroma;
    p->packing = f->packing;
    p->depth = f->depth;
    p->range = f->model == PNV_MODEL_RGB ? PNV_RANGE_FULL : PNV_RANGE_VIDEO;
    p->matrix_coefficients = f->model == PNV_MODEL_RGB ? RGB_MATRIX : 0;
    const int keeps_alpha = p->profile == PNV_PROFILE_AUTO || p->profile >= PNV_PROFILE_4444;
    p->alpha_bits = !f->has_alpha || !keeps_alpha ? 0 : f->depth == 8 ? 8 : 16;
    for (int c = 0; c < 4; c++)
        p->shift[c] = f->at[c].shift;
}

static int is_chroma(const PnvBenchFormat *f, int c)
{
    return f->model == PNV_MODEL_YCBCR && (c == 1 || c == 2);
}

static int n_components(const PnvBenchFormat *f)
{
    return f->has_alpha ? 4 : 3;
}

static int component_rows(const PnvBenchFormat *f, int c, int height)
{
    return is_chroma(f, c) && f->chroma == PNV_CHROMA_420 ? (height + 1) / 2 : height;
}

static int sample_step(const PnvBenchFormat *f, int c)
{
    return f->at[c].step ? f->at[c].step : f->depth > 8 ? 2 : 1;
}

static size_t row_bytes(const PnvBenchFormat *f, int plane, int width)
{
    size_t most = 0;

    if (f->packing == PNV_PACKING_V210)
        return (size_t)(width + 47) / 48 * 128;
    for (int c = 0; c < n_components(f); c++) {
        const size_t bytes = (size_t)(pnv_plane_width(f->chroma, is_chroma(f, c), width) * sample_step(f, c));
        most = f->at[c].plane == plane && bytes > most ? bytes : most;
    }
    return most;
}

/** Where the components of a frame are. Returns its bytes. */
static size_t lay_out(const PnvBenchFormat *f, PnvPicture *pic, const uint8_t *memory, int width, int height)
{
    size_t at = 0;

    for (int plane = 0; plane < 4; plane++) {
        const size_t bytes = row_bytes(f, plane, width);
        int rows = 0;
        for (int c = 0; c < n_components(f); c++) {
            if (f->at[c].plane != plane)
                continue;
            pic->plane[c] = memory + at + f->at[c].offset;
            pic->stride[c] = (ptrdiff_t)bytes;
            pic->step[c] = f->at[c].step;
            rows = component_rows(f, c, height);
        }
        at += (size_t)rows * bytes;
    }
    return at;
}

static uint32_t hash(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t h = x * 374761393u + y * 668265263u + seed * 2246822519u;

    h = (h ^ h >> 13) * 1274126177u;
    h = (h ^ h >> 15) * 2654435761u;
    return h ^ h >> 16;
}

/* Smooth noise of -32768..32767 whose features are 2^log2_size wide. */
static int smooth_noise(int x, int y, int log2_size, uint32_t seed)
{
    const int size = 1 << log2_size, mask = size - 1;
    const uint32_t ix = (uint32_t)(x >> log2_size), iy = (uint32_t)(y >> log2_size);
    const int64_t fx = ((int64_t)(x & mask) << 12) >> log2_size, fy = ((int64_t)(y & mask) << 12) >> log2_size;
    /* 3t^2 - 2t^3 in 2^-12 */
    const int64_t wx = (fx * fx >> 12) * (3 * 4096 - 2 * fx) >> 12, wy = (fy * fy >> 12) * (3 * 4096 - 2 * fy) >> 12;
    const int64_t a = (int64_t)(hash(ix, iy, seed) & 0xffff), b = (int64_t)(hash(ix + 1, iy, seed) & 0xffff);
    const int64_t c = (int64_t)(hash(ix, iy + 1, seed) & 0xffff), d = (int64_t)(hash(ix + 1, iy + 1, seed) & 0xffff);
    const int64_t top = a * 4096 + (b - a) * wx, bottom = c * 4096 + (d - c) * wx;

    return (int)((top * 4096 + (bottom - top) * wy) >> 24) - 32768;
}

/* Sum of four: near enough to the grain of film and sensors. -32768..32767, standard deviation about a quarter. */
static int grain(int x, int y, uint32_t seed)
{
    const uint32_t h = hash((uint32_t)x, (uint32_t)y, seed);
    const int sum = (int)(h & 255) + (int)(h >> 8 & 255) + (int)(h >> 16 & 255) + (int)(h >> 24);

    return (sum - 510) * 64;
}

/*
 * Natural pictures have about the same energy in each octave: amplitudes halve as features halve. Edges come from a
 * threshold of the large shapes; half of the picture is finely textured, as grass, cloth or foliage.
 */
static int natural(int x, int y, int is_chroma, uint32_t seed)
{
    int v = 0;

    for (int k = 9; k >= 1; k--)
        v += smooth_noise(x, y, k, seed + (unsigned)k) * (is_chroma ? 1 : 2) >> (10 - k);
    const int shape = smooth_noise(x, y, 7, seed + 77);
    if (shape > 6000)
        v += is_chroma ? 3000 : 7000;
    const int rough = smooth_noise(x, y, 8, seed + 99);
    if (rough > 0)
        v += (smooth_noise(x, y, 2, seed + 20) + smooth_noise(x, y, 1, seed + 21)) * (rough >> 8) /
             (is_chroma ? 2048 : 768);
    return v / 2;
}

/* Bars, a ramp, boxes and stripes: most blocks are flat. */
static int pattern(int x, int y, int width, int height, int is_chroma, uint32_t seed)
{
    const int bar = x * 8 / width;

    if (y < height / 2)
        return (is_chroma ? (bar * 5 % 8 - 4) * 5000 : (7 - bar) * 8000 - 28000);
    if (y < height * 5 / 8)
        return (int)((int64_t)x * 60000 / width) - 30000;
    if (y < height * 6 / 8)
        return is_chroma ? 0 : (x / 8 + y / 8 + (int)seed) % 2 ? 20000 : -20000;
    if (y < height * 7 / 8)
        return is_chroma ? 0 : (int)(hash((uint32_t)(x / 3), (uint32_t)(y / 5), seed) & 3) ? -26000 : 26000;
    return is_chroma ? 4000 : -28000;
}

/* A matte: inside, outside, and borders some pixels wide. Beyond the ends of what put() clips to. */
static int matte(int x, int y)
{
    const int v = (smooth_noise(x, y, 9, 5) + smooth_noise(x, y, 6, 6) / 3) * 24;

    return v > 42000 ? 42000 : v < -42000 ? -42000 : v;
}

static int clip(int64_t s, int max)
{
    return s < 0 ? 0 : s > max ? max : (int)s;
}

/* Video range: 16..235 of 8 bits. */
static int code(int v, int depth)
{
    return clip((((int64_t)v + 32768) * 219 + (16 << 16)) * (1 << depth) >> 24, (1 << depth) - 1);
}

static void put_bits(uint8_t *at, int n_bytes, uint32_t bits)
{
    for (int i = 0; i < n_bytes; i++)
        at[i] |= (uint8_t)(bits >> 8 * i);
}

/* Sample x of component c in a row; memory is zero before. */
static void put(const PnvBenchFormat *f, const PnvPicture *pic, int c, int x, int y, int s)
{
    uint8_t *row = (uint8_t *)pic->plane[c] + y * pic->stride[c];

    if (f->packing == PNV_PACKING_V210) {
        const int n = c ? 4 * x + (c == 2 ? 2 : 0) : 2 * x + 1;
        put_bits(row + n / 3 * 4, 4, (uint32_t)s << 10 * (n % 3));
    } else {
        put_bits(row + x * sample_step(f, c), f->packing == PNV_PACKING_WORDS ? 4 : f->depth > 8 ? 2 : 1,
                 (uint32_t)s << f->at[c].shift);
    }
}

/* Sample (i, y) of a component at column x of the picture, -32768..32767 and somewhat beyond. */
static int value(const PnvBenchContent *content, int frame, int c, int i, int x, int y, int is_pattern)
{
    const int w = content->params.width, h = content->params.height, is_colour = c == 1 || c == 2;

    if (c == 3)
        return matte(x + 4 * frame + 100000, y + frame + 100000);
    if (is_pattern)
        return pattern(x, y, w, h, is_colour, (unsigned)frame);
    return natural(x + 4 * frame + 100000, y + frame + 100000, is_colour, (unsigned)c * 1000) +
           grain(i, y, (unsigned)(frame * 4 + c)) * (is_colour ? 7 : 11) / 256;
}

static void draw(const PnvBenchContent *content, int frame, int c, int is_pattern)
{
    const PnvBenchFormat *f = content->format;
    const int is_colour = is_chroma(f, c), height = component_rows(f, c, content->params.height);
    const int step_x = is_colour && f->chroma != PNV_CHROMA_444 ? 2 : 1;
    const int step_y = is_colour && f->chroma == PNV_CHROMA_420 ? 2 : 1;

    for (int y = 0; y < height; y++) {
        for (int i = 0; i < pnv_plane_width(f->chroma, is_colour, content->params.width); i++) {
            int v = value(content, frame, c, i, i * step_x, y * step_y, is_pattern);
            if (step_y == 2) /* it lies between two rows */
                v = (v + value(content, frame, c, i, i * step_x, 2 * y + 1, is_pattern)) >> 1;
            put(f, &content->pics[frame], c, i, y, code(v, f->depth));
        }
    }
}

/* The same picture in R'G'B', full range. */
static void draw_rgb(const PnvBenchContent *content, int frame, int is_pattern)
{
    const PnvBenchFormat *f = content->format;
    const int max = (1 << f->depth) - 1;

    for (int y = 0; y < content->params.height; y++) {
        for (int x = 0; x < content->params.width; x++) {
            int64_t v[3]; /* Y of 0..65536, Cb and Cr of -32768..32768, centred where code() has 125.5 of 8 bits */
            for (int c = 0; c < 3; c++)
                v[c] = value(content, frame, c, x, x, y, is_pattern);
            v[0] += 32768;
            v[1] = (v[1] * 219 - 163840) / 224;
            v[2] = (v[2] * 219 - 163840) / 224;
            const int64_t rgb[3] = {v[0] + 15748 * v[2] / 10000, v[0] - (1873 * v[1] + 4681 * v[2]) / 10000,
                                    v[0] + 18556 * v[1] / 10000};
            for (int c = 0; c < 3; c++)
                put(f, &content->pics[frame], c, x, y, clip((rgb[c] * max + 32768) >> 16, max));
        }
    }
}

static int allocate(PnvBenchContent *content, const PnvParams *params, const PnvBenchFormat *format, int n)
{
    PnvPicture any;
    /* Fields of 4:2:0 can have a row of chroma more than the frame; it is there to be read. */
    const size_t spare = row_bytes(format, 1, params->width) + row_bytes(format, 2, params->width);

    *content = (PnvBenchContent){.params = *params, .format = format,
                                 .frame_bytes = lay_out(format, &any, NULL, params->width, params->height),
                                 .pics = calloc((size_t)n, sizeof *content->pics),
                                 .memory = calloc((size_t)n, sizeof *content->memory)};
    for (int i = 0; content->pics && content->memory && i < n; i++) {
        content->memory[i] = pnv_pages_alloc(content->frame_bytes + spare); /* as the element's pool has it */
        if (!content->memory[i])
            return -1;
        memset(content->memory[i], 0, content->frame_bytes + spare);
        content->n++;
        lay_out(format, &content->pics[i], content->memory[i], params->width, params->height);
    }
    return content->n ? 0 : -1;
}

int pnv_bench_content_make(PnvBenchContent *content, const PnvParams *params, const PnvBenchFormat *format, int n,
                           int is_pattern)
{
    if (allocate(content, params, format, n))
        return -1;
    content->name = is_pattern ? "pattern" : "natural";
    for (int i = 0; i < n; i++) {
        if (format->model == PNV_MODEL_RGB)
            draw_rgb(content, i, is_pattern);
        for (int c = format->model == PNV_MODEL_RGB ? 3 : 0; c < n_components(format); c++)
            draw(content, i, c, is_pattern);
    }
    return 0;
}

int pnv_bench_content_read(PnvBenchContent *content, const PnvParams *params, const PnvBenchFormat *format, int n,
                           const char *path, char *error)
{
    FILE *file = fopen(path, "rb");

    if (!file) {
        snprintf(error, PNV_ERROR_BYTES, "%s: %s", path, strerror(errno));
        return -1;
    }
    if (allocate(content, params, format, n)) {
        snprintf(error, PNV_ERROR_BYTES, "no memory for %d frames", n);
        fclose(file);
        return -1;
    }
    content->name = path;
    int n_read = 0;
    while (n_read < n && fread(content->memory[n_read], content->frame_bytes, 1, file) == 1)
        n_read++;
    fclose(file);
    for (int i = n_read; i < content->n; i++)
        free(content->memory[i]);
    content->n = n_read;
    if (n_read)
        return 0;
    snprintf(error, PNV_ERROR_BYTES, "%s holds no frame of %zu bytes (%dx%d %s)", path, content->frame_bytes,
             params->width, params->height, format->name);
    return -1;
}

void pnv_bench_content_free(PnvBenchContent *content)
{
    for (int i = 0; i < content->n; i++)
        free(content->memory[i]);
    free(content->memory);
    free(content->pics);
    *content = (PnvBenchContent){0};
}
