/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every variant of fetch, of the transform and of both with quantization gives what the definitions give: for every
 * depth, width, block order and scan, at every edge of planes whose memory ends with their last sample.
 */
#include "exact.h"
#include "fetch.h"
#include "tables.h"
#include "transform.h"

enum { FILL_RANDOM, FILL_EXTREME, FILL_SMALL, FILL_FLAT, FILL_NATURAL, N_FILLS };

static int sample(int fill, int x, int y, int depth)
{
    const int max = (1 << depth) - 1;
    static int flat;

    switch (fill) {
    case FILL_EXTREME:
        return exact_random() & 1 ? max : 0;
    case FILL_SMALL:
        return (max >> 1) + exact_between(-4, 4);
    case FILL_FLAT:
        flat = exact_random() % 8192 == 0 || flat > max ? exact_between(0, max) : flat;
        return flat;
    case FILL_NATURAL:
        return ((x * x / 7 + y * 3) % (max - 8)) + exact_between(0, 8);
    default:
        return exact_between(0, max);
    }
}

/* Memory of exactly the plane, at an address that no alignment can be read from. */
static PnvPlane make_plane(int width, int height, int depth, int fill, int step, int padding, int rubbish,
                           uint8_t **memory)
{
    const int bytes = depth > 8 ? 2 : 1;
    const ptrdiff_t stride = (ptrdiff_t)width * step + padding * bytes;
    const size_t size = (size_t)(stride * (height - 1) + (width - 1) * step + bytes);
    uint8_t *m = malloc(size + 2);

    REQUIRE(m, "memory");
    memset(m, 0x5a, size + 2);
    uint8_t *data = m + 2;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const int s = sample(fill, x, y, depth) | (depth < 16 && rubbish ? (int)(exact_random() << depth) : 0);
            data[y * stride + x * step] = (uint8_t)s;
            if (bytes == 2)
                data[y * stride + x * step + 1] = (uint8_t)(s >> 8);
        }
    }
    *memory = m;
    return (PnvPlane){.data = data, .stride = stride, .step = step, .width = width, .height = height, .depth = depth};
}

static void compare_fetch(const PnvDsp *ref, const PnvDsp *var, const char *name, const PnvPlane *p, int x0, int y0,
                          int width)
{
    static int16_t want[17 * PNV_FETCH_STRIDE], got[17 * PNV_FETCH_STRIDE];

    memset(want, 0x55, sizeof want);
    memset(got, 0x55, sizeof got); /* columns behind width are left alone */
    ref->fetch(want, p, x0, y0, width);
    var->fetch(got, p, x0, y0, width);
    CHECK_MEM_EQ(want, got, sizeof want, "%s fetch: %dx%d depth %d at %d,%d, %d wide", name, p->width, p->height,
                 p->depth, x0, y0, width);
}

static void compare_forward(const PnvDsp *ref, const PnvDsp *var, const char *name, const PnvPlane *p, int x0, int y0,
                            PnvBlockOrder order, int n_mb, const uint8_t *scan)
{
    static int16_t want[64 * PNV_MAX_BLOCKS], got[64 * PNV_MAX_BLOCKS];
    static PnvQuant quant;

    pnv_quant_init(&quant, exact_random() & 1 ? pnv_matrix_proxy_chroma : pnv_matrix_hq, scan, exact_between(1, 224));
    for (int with_quant = 0; with_quant < 2; with_quant++) {
        memset(want, 0x55, sizeof want);
        memset(got, 0x55, sizeof got);
        ref->forward(want, p, x0, y0, order, n_mb, scan, with_quant ? &quant : NULL);
        var->forward(got, p, x0, y0, order, n_mb, scan, with_quant ? &quant : NULL);
        CHECK_MEM_EQ(want, got, sizeof want, "%s forward: %dx%d depth %d at %d,%d order %d, %d MBs, quant %d", name,
                     p->width, p->height, p->depth, x0, y0, (int)order, n_mb, with_quant);
    }
}

static void test_plane(const PnvDsp *ref, const PnvDsp *var, const char *name, const PnvPlane *p)
{
    static const uint8_t *const scans[] = {pnv_scan_progressive, pnv_scan_interlaced};

    for (int y0 = 0; y0 < p->height; y0 += 16) {
        for (int n_mb = 1; n_mb <= 8; n_mb *= 2) {
            for (int order = PNV_BLOCKS_LUMA; order <= PNV_BLOCKS_CHROMA_444; order++) {
                const int width = n_mb * (order == PNV_BLOCKS_CHROMA_422 ? 8 : 16);
                for (int x0 = 0; x0 < p->width; x0 += width) {
                    compare_fetch(ref, var, name, p, x0, y0, width);
                    compare_forward(ref, var, name, p, x0, y0, (PnvBlockOrder)order, n_mb, scans[exact_random() & 1]);
                }
            }
        }
    }
}

static void test_planes(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    static const int sizes[][2] = {{1, 1},   {7, 3},   {9, 16},  {16, 17},  {31, 15},  {33, 16},
                                   {63, 18}, {65, 16}, {97, 33}, {127, 16}, {128, 32}, {129, 20}, {200, 16}};
    static const int depths[] = {8, 10, 12, 16};
    int round = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
            for (int range = PNV_SAMPLES_VIDEO; range <= PNV_SAMPLES_FULL_CHROMA; range++, round++) {
                const int bytes = depths[d] > 8 ? 2 : 1, step = round % 5 == 4 ? 4 * bytes : bytes;
                uint8_t *memory;
                PnvPlane p = make_plane(sizes[i][0], sizes[i][1], depths[d], round % N_FILLS, step, round % 3, round % 2,
                                        &memory);
                p.range = (PnvSampleRange)range;
                test_plane(ref, var, name, &p);
                free(memory);
            }
        }
    }
}

/* Planes whose samples do not lie side by side, or are not plain numbers. */
static void test_packed_planes(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    static const int sizes[][2] = {{1, 1}, {7, 3}, {16, 16}, {33, 16}, {65, 20}, {129, 17}, {256, 16}, {384, 18}};
    static const struct { PnvPacking packing; int depth, step, shift; } forms[] = {
        {PNV_PACKING_SAMPLES, 8, 2, 0},   {PNV_PACKING_SAMPLES, 8, 3, 0},   {PNV_PACKING_SAMPLES, 10, 2, 6},
        {PNV_PACKING_SAMPLES, 10, 8, 6},  {PNV_PACKING_SAMPLES, 12, 4, 4},  {PNV_PACKING_SAMPLES, 16, 4, 0},
        {PNV_PACKING_WORDS, 10, 4, 20},   {PNV_PACKING_WORDS_BE, 10, 4, 0}, {PNV_PACKING_V210, 10, 4, 0},
        {PNV_PACKING_UYVP, 10, 5, 0},     {PNV_PACKING_SAMPLES, 12, 2, 4},  {PNV_PACKING_SAMPLES, 10, 2, 3},
        {PNV_PACKING_SAMPLES, 8, 4, 0},   {PNV_PACKING_SAMPLES, 8, 8, 0},   {PNV_PACKING_SAMPLES, 10, 4, 6},
        {PNV_PACKING_SAMPLES, 10, 4, 0},  {PNV_PACKING_SAMPLES, 10, 4, 2},  {PNV_PACKING_SAMPLES, 12, 8, 0},
        {PNV_PACKING_SAMPLES, 12, 8, 4},
    };

    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const int is_ordered = forms[f].packing == PNV_PACKING_V210 || forms[f].packing == PNV_PACKING_UYVP;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes * (is_ordered ? 3 : 1); i++) {
            const int *size_px = sizes[i / (is_ordered ? 3 : 1)];
            PnvPlane p = {.width = size_px[0], .height = size_px[1], .depth = forms[f].depth, .step = forms[f].step,
                          .shift = forms[f].shift, .packing = forms[f].packing, .component = is_ordered ? (int)i % 3 : 0,
                          .range = PNV_SAMPLES_VIDEO};
            p.stride = pnv_plane_row_bytes(&p) + (ptrdiff_t)i % 3;
            const size_t size = (size_t)(p.stride * (p.height - 1) + pnv_plane_row_bytes(&p));
            uint8_t *memory = malloc(size);
            REQUIRE(memory, "memory");
            for (size_t at = 0; at < size; at++)
                memory[at] = (uint8_t)exact_random();
            p.data = memory;
            test_plane(ref, var, name, &p);
            p.range = (PnvSampleRange)exact_between(PNV_SAMPLES_FULL_LUMA, PNV_SAMPLES_FULL_CHROMA);
            test_plane(ref, var, name, &p);
            free(memory);
        }
    }
}

/* Whole rectangles of every fill: what most of a picture is. */
static void test_inner(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    for (int fill = 0; fill < N_FILLS; fill++) {
        for (int depth = 8; depth <= 12; depth += 2) {
            for (int round = 0; round < 20; round++) {
                uint8_t *memory;
                const PnvPlane p = make_plane(256, 32, depth, fill, depth > 8 ? 2 : 1, 0, 0, &memory);
                test_plane(ref, var, name, &p);
                free(memory);
            }
        }
    }
}

/* Samples of any origin, any number of macroblocks that a slice has, any stride and any scan; extremes that drive the sums
 * furthest. */
static void test_transform(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    static int16_t want[64 * PNV_MAX_BLOCKS], got[64 * PNV_MAX_BLOCKS];

    for (int round = 0; round < 3000; round++) {
        const int order = round % 3, n_mb = 1 << exact_between(0, 3), kind = round % 4;
        const int width = n_mb * (order == PNV_BLOCKS_CHROMA_422 ? 8 : 16), stride = width + exact_between(0, 3);
        const size_t n = (size_t)(15 * stride + width);
        int16_t *samples = malloc(n * sizeof *samples);
        uint8_t scan[64];
        REQUIRE(samples, "memory");
        for (size_t i = 0; i < n; i++)
            samples[i] = (int16_t)(kind == 0   ? exact_between(-8192, 8191)
                                   : kind == 1 ? (exact_random() & 1 ? 8191 : -8192)
                                   : kind == 2 ? (i / 8 % 2 ? 8191 : -8192)
                                               : exact_between(-8192, -8185));
        for (int i = 0; i < 64; i++)
            scan[i] = pnv_scan_progressive[i];
        if (round % 5 == 0)
            memcpy(scan, pnv_scan_interlaced, sizeof scan);
        const uint8_t *s = round % 5 == 1 ? pnv_scan_interlaced : round % 5 == 2 ? pnv_scan_progressive : scan;
        memset(want, 0x55, sizeof want);
        memset(got, 0x55, sizeof got);
        ref->transform(want, samples, stride, (PnvBlockOrder)order, n_mb, s);
        var->transform(got, samples, stride, (PnvBlockOrder)order, n_mb, s);
        CHECK_MEM_EQ(want, got, sizeof want, "%s transform: order %d, %d MBs, kind %d", name, order, n_mb, kind);
        free(samples);
    }
}

static void test_level(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    test_transform(ref, var, name);
    test_planes(ref, var, name);
    test_packed_planes(ref, var, name);
    test_inner(ref, var, name);
}

int main(void)
{
    exact_each_level(test_level);
    CHECK_END();
}
