/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames for proresnv-bench: made here, or read from a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "slice.h"

size_t pnv_bench_frame_bytes(const PnvParams *p)
{
    size_t samples = 0;

    for (int c = 0; c < (p->alpha_bits ? 4 : 3); c++)
        samples += (size_t)pnv_plane_width(p->chroma, c == 1 || c == 2, p->width) * (size_t)p->height;
    return samples * (p->depth > 8 ? 2 : 1);
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

static void put(uint8_t *row, int x, int depth, int v)
{
    const int max = (1 << depth) - 1;
    /* Video range: 16..235 of 8 bits. */
    int s = (int)((((int64_t)v + 32768) * 219 + (16 << 16)) * (1 << depth) >> 24);

    s = s < 0 ? 0 : s > max ? max : s;
    row[x * (depth > 8 ? 2 : 1)] = (uint8_t)s;
    if (depth > 8)
        row[2 * x + 1] = (uint8_t)(s >> 8);
}

static void draw(const PnvBenchContent *content, int frame, int c, int is_pattern)
{
    const PnvParams *p = &content->params;
    const PnvPicture *pic = &content->pics[frame];
    const int is_chroma = c == 1 || c == 2, width = pnv_plane_width(p->chroma, is_chroma, p->width);
    const int step = is_chroma && p->chroma == PNV_CHROMA_422 ? 2 : 1;

    for (int y = 0; y < p->height; y++) {
        uint8_t *row = (uint8_t *)pic->plane[c] + y * pic->stride[c];
        for (int i = 0; i < width; i++) {
            const int x = i * step;
            int v = is_pattern ? pattern(x, y, p->width, p->height, is_chroma, (unsigned)frame)
                               : natural(x + 4 * frame + 100000, y + frame + 100000, is_chroma, (unsigned)c * 1000);
            if (c == 3)
                v = matte(x + 4 * frame + 100000, y + frame + 100000);
            else if (!is_pattern)
                v += grain(i, y, (unsigned)(frame * 4 + c)) * (is_chroma ? 7 : 11) / 256;
            put(row, i, p->depth, v);
        }
    }
}

static const char *pixel_format(const PnvParams *p)
{
    static char name[32];

    snprintf(name, sizeof name, "yuv%s%sp%s", p->alpha_bits ? "a" : "", p->chroma == PNV_CHROMA_444 ? "444" : "422",
             p->depth == 8 ? "" : p->depth == 10 ? "10le" : p->depth == 12 ? "12le" : "16le");
    return name;
}

static int allocate(PnvBenchContent *content, const PnvParams *params, int n)
{
    *content = (PnvBenchContent){.params = *params, .frame_bytes = pnv_bench_frame_bytes(params),
                                 .pixel_format = pixel_format(params)};
    content->pics = calloc((size_t)n, sizeof *content->pics);
    for (int i = 0; content->pics && i < n; i++) {
        uint8_t *at = malloc(content->frame_bytes);
        if (!at)
            return -1;
        content->n++;
        for (int c = 0; c < (params->alpha_bits ? 4 : 3); c++) {
            content->pics[i].plane[c] = at;
            content->pics[i].stride[c] =
                (ptrdiff_t)pnv_plane_width(params->chroma, c == 1 || c == 2, params->width) * (params->depth > 8 ? 2 : 1);
            at += content->pics[i].stride[c] * params->height;
        }
    }
    return content->pics ? 0 : -1;
}

int pnv_bench_content_make(PnvBenchContent *content, const PnvParams *params, int n, int is_pattern)
{
    if (allocate(content, params, n))
        return -1;
    content->name = is_pattern ? "pattern" : "natural";
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < (params->alpha_bits ? 4 : 3); c++)
            draw(content, i, c, is_pattern);
    }
    return 0;
}

int pnv_bench_content_read(PnvBenchContent *content, const PnvParams *params, int n, const char *path, char *error)
{
    FILE *file = fopen(path, "rb");

    if (!file) {
        snprintf(error, PNV_ERROR_BYTES, "%s: %s", path, strerror(errno));
        return -1;
    }
    if (allocate(content, params, n)) {
        snprintf(error, PNV_ERROR_BYTES, "no memory for %d frames", n);
        fclose(file);
        return -1;
    }
    content->name = path;
    int n_read = 0;
    while (n_read < n && fread((void *)content->pics[n_read].plane[0], content->frame_bytes, 1, file) == 1)
        n_read++;
    fclose(file);
    for (int i = n_read > 0 ? n_read : 0; i < content->n; i++)
        free((void *)content->pics[i].plane[0]);
    content->n = n_read;
    if (n_read)
        return 0;
    snprintf(error, PNV_ERROR_BYTES, "%s holds no frame of %zu bytes (%dx%d %s)", path, content->frame_bytes,
             params->width, params->height, content->pixel_format);
    return -1;
}

void pnv_bench_content_free(PnvBenchContent *content)
{
    for (int i = 0; i < content->n; i++)
        free((void *)content->pics[i].plane[0]);
    free(content->pics);
    *content = (PnvBenchContent){0};
}
