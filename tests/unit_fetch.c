/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples arrive at one scale, edges repeat, nothing outside the plane is read: planes end where their memory ends. */
#include <math.h>
#include <stdint.h>

#include "check.h"
#include "fetch.h"
#include "load.h"

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

static int sample(int x, int y, int depth)
{
    return (int)((unsigned)(x * 2654435761u + (unsigned)y * 40503u) >> 7) & ((1 << depth) - 1);
}

/* The scale in exact arithmetic. Video range at 14 bits; full range by the definitions of BT.601 and its successors. */
static int expected(int s, int depth, PnvSampleRange range)
{
    const double max = (1 << depth) - 1;

    if (range == PNV_SAMPLES_FULL_LUMA)
        return (int)floor((16 + 219 * (s / max)) * 64 + 0.5) - 8192;
    if (range == PNV_SAMPLES_FULL_CHROMA)
        return (int)floor(224 * ((s - (1 << (depth - 1))) / max) * 64 + 0.5);
    return min_int((int)floor(s * pow(2, 14 - depth) + 0.5), 16383) - 8192;
}

/* A plane in memory of exactly its last sample's end, so that AddressSanitizer sees any read past it. */
static PnvPlane make_plane(int width, int height, int depth, int step, ptrdiff_t padding)
{
    const int bytes = depth > 8 ? 2 : 1;
    const ptrdiff_t stride = width * step + padding;
    const size_t size = (size_t)(stride * (height - 1) + (width - 1) * step + bytes);
    uint8_t *data = malloc(size);

    REQUIRE(data, "memory");
    memset(data, 0xff, size);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const int s = sample(x, y, depth);
            uint8_t *at = data + y * stride + x * step;
            at[0] = (uint8_t)s;
            if (bytes == 2)
                at[1] = (uint8_t)(s >> 8);
        }
    }
    return (PnvPlane){.data = data, .stride = stride, .step = step, .width = width, .height = height, .depth = depth};
}

static void test_plane(int width, int height, int depth, int step, ptrdiff_t padding, PnvSampleRange range)
{
    PnvPlane plane = make_plane(width, height, depth, step, padding);
    static int16_t got[17 * PNV_FETCH_STRIDE];

    plane.range = range;
    for (int y0 = 0; y0 < height; y0 += 16) {
        for (int x0 = 0; x0 < width; x0 += 128) {
            for (int w = 8; w <= 128; w *= 2) {
                memset(got, 0x55, sizeof got);
                pnv_fetch_c(got, &plane, x0, y0, w);
                for (int y = 0; y < 16; y++) {
                    for (int x = 0; x < w; x++) {
                        const int s = sample(min_int(x0 + x, width - 1), min_int(y0 + y, height - 1), depth);
                        const int want = expected(s, depth, range);
                        CHECK(got[y * PNV_FETCH_STRIDE + x] == want, "%dx%d depth %d range %d at %d,%d: %d, not %d",
                              width, height, depth, range, x0 + x, y0 + y, got[y * PNV_FETCH_STRIDE + x], want);
                    }
                }
                CHECK(got[16 * PNV_FETCH_STRIDE] == 0x5555, "wrote a 17th row");
                if (w < 128)
                    CHECK(got[15 * PNV_FETCH_STRIDE + w] == 0x5555, "wrote column %d", w);
            }
        }
    }
    free((void *)plane.data);
}

/* Every code of every depth and range. */
static void test_every_code(void)
{
    static const int depths[] = {8, 10, 12, 16};
    static int16_t got[16 * PNV_FETCH_STRIDE];

    for (int d = 0; d < 4; d++) {
        for (int range = 0; range < 3; range++) {
            for (int s = 0; s < 1 << depths[d]; s++) {
                const uint8_t bytes[2] = {(uint8_t)s, (uint8_t)(s >> 8)};
                const PnvPlane plane = {.data = bytes, .step = 2, .stride = 2, .width = 1, .height = 1,
                                        .depth = depths[d], .range = (PnvSampleRange)range};
                pnv_fetch_c(got, &plane, 0, 0, 1);
                CHECK(got[0] == expected(s, depths[d], (PnvSampleRange)range), "depth %d range %d code %d: %d, not %d",
                      depths[d], range, s, got[0], expected(s, depths[d], (PnvSampleRange)range));
            }
        }
    }
}

/* Bits above the depth are not part of a sample. */
static void test_high_bits(void)
{
    static int16_t got[16 * PNV_FETCH_STRIDE];
    const uint8_t bytes[2] = {0x34, 0xfd};
    const PnvPlane plane = {.data = bytes, .step = 2, .stride = 2, .width = 1, .height = 1, .depth = 10};

    pnv_fetch_c(got, &plane, 0, 0, 8);
    CHECK(got[0] == (0x134 << 4) - 8192, "%d", got[0]);
}

/* ---- packings, written from their definitions ---- */

enum { WIDEST = 140 };

/* Sample x of component 0..2 in row y: 10 bits. */
static int code(int component, int x, int y)
{
    return sample(x + 300 * component, y, 10);
}

/* Four words for six pixels; the two highest bits of each are not used. */
static void write_v210(uint8_t *row, int x, int y, const int there[3])
{
    const int c = x / 2;
    int v[12]; /* Cb0 Y0 Cr0 | Y1 Cb1 Y2 | Cr1 Y3 Cb2 | Y4 Cr2 Y5 */
    static const int component[12] = {1, 0, 2, 0, 1, 0, 2, 0, 1, 0, 2, 0};
    static const int number[12] = {0, 0, 0, 1, 1, 2, 1, 3, 2, 4, 2, 5};

    for (int i = 0; i < 12; i++) {
        const int k = component[i], at = (k ? c : x) + number[i];
        v[i] = at < there[k] ? code(k, at, y) : 0x2aa;
    }
    for (int i = 0; i < 4; i++) {
        const uint32_t word =
            0xc0000000u | (uint32_t)v[3 * i + 2] << 20 | (uint32_t)v[3 * i + 1] << 10 | (uint32_t)v[3 * i];
        for (int b = 0; b < 4; b++)
            row[x / 6 * 16 + 4 * i + b] = (uint8_t)(word >> 8 * b);
    }
}

/* Cb Y Cr Y, bit after bit, the most significant first. */
static void write_uyvp(uint8_t *row, int x, int y, const int there[3])
{
    const int v[4] = {code(1, x / 2, y), code(0, x, y), code(2, x / 2, y), x + 1 < there[0] ? code(0, x + 1, y) : 0};

    for (int bit = 0; bit < 40; bit++) {
        uint8_t *at = row + x / 2 * 5 + bit / 8;
        const int set = v[bit / 10] >> (9 - bit % 10) & 1;
        *at = (uint8_t)((*at & ~(0x80 >> bit % 8)) | (set ? 0x80 >> bit % 8 : 0));
    }
}

/* Pixels of three 10-bit samples in words of 32 bits, the last one lowest, the rest set. */
static void write_word(uint8_t *row, int x, int y, int is_big_endian)
{
    const uint32_t word = 0xc0000000u | (uint32_t)code(0, x, y) << 20 | (uint32_t)code(1, x, y) << 10 |
                          (uint32_t)code(2, x, y);
    for (int b = 0; b < 4; b++)
        row[4 * x + b] = (uint8_t)(word >> 8 * (is_big_endian ? 3 - b : b));
}

/* Y Cb Y Cr, 16 bits each, of which the highest 10 count (Y210). */
static void write_y210(uint8_t *row, int x, int y, const int there[3])
{
    const int v[4] = {code(0, x, y), code(1, x / 2, y), x + 1 < there[0] ? code(0, x + 1, y) : 0, code(2, x / 2, y)};

    for (int i = 0; i < 4; i++) {
        row[4 * x + 2 * i] = (uint8_t)(v[i] << 6 | 0x3f);
        row[4 * x + 2 * i + 1] = (uint8_t)(v[i] >> 2);
    }
}

typedef enum Layout { V210, UYVP, WORDS, WORDS_BE, Y210, N_LAYOUTS } Layout;

static PnvPlane component_plane(Layout layout, int c, int width, int height, const uint8_t *data, ptrdiff_t stride)
{
    static const PnvPacking packings[] = {PNV_PACKING_V210, PNV_PACKING_UYVP, PNV_PACKING_WORDS, PNV_PACKING_WORDS_BE,
                                          PNV_PACKING_SAMPLES};
    const int is_444 = layout == WORDS || layout == WORDS_BE;
    PnvPlane p = {.data = data, .stride = stride, .width = c && !is_444 ? (width + 1) / 2 : width, .height = height,
                  .depth = 10, .packing = packings[layout], .component = c};

    if (is_444) {
        p.step = 4;
        p.shift = 20 - 10 * c;
    } else if (layout == Y210) {
        p.data += c == 0 ? 0 : c == 1 ? 2 : 6;
        p.step = c ? 8 : 4;
        p.shift = 6;
    }
    return p;
}

static void test_layout(Layout layout, int width)
{
    const int height = 3, pairs = (width + 1) / 2;
    const size_t row_bytes = layout == V210   ? (size_t)(width + 5) / 6 * 16
                             : layout == UYVP ? (size_t)pairs * 5
                             : layout == Y210 ? (size_t)pairs * 8
                                              : (size_t)width * 4;
    const int there[3] = {width, pairs, pairs};
    uint8_t *data = malloc(row_bytes * (size_t)height);
    static uint16_t got[WIDEST + 40];
    static int16_t scaled[16 * PNV_FETCH_STRIDE];

    REQUIRE(data, "memory");
    memset(data, 0xff, row_bytes * (size_t)height);
    for (int y = 0; y < height; y++) {
        uint8_t *row = data + row_bytes * (size_t)y;
        for (int x = 0; layout == V210 && x < width; x += 6)
            write_v210(row, x, y, there);
        for (int x = 0; layout == UYVP && x < width; x += 2)
            write_uyvp(row, x, y, there);
        for (int x = 0; layout == Y210 && x < width; x += 2)
            write_y210(row, x, y, there);
        for (int x = 0; (layout == WORDS || layout == WORDS_BE) && x < width; x++)
            write_word(row, x, y, layout == WORDS_BE);
    }
    for (int c = 0; c < 3; c++) {
        const PnvPlane p = component_plane(layout, c, width, height, data, (ptrdiff_t)row_bytes);
        /* whole words, or the byte that its last bit lies in */
        const int last = c == 0 ? 2 * p.width - 1 : 4 * p.width - (c == 1 ? 4 : 2);
        const ptrdiff_t bytes = layout == UYVP   ? (10 * (last + 1) + 7) / 8
                                : layout == Y210 ? (p.width - 1) * p.step + 2
                                                 : (ptrdiff_t)row_bytes;
        CHECK(pnv_plane_row_bytes(&p) == bytes, "layout %d: component %d of %d px has %td bytes, not %td", (int)layout,
              c, width, pnv_plane_row_bytes(&p), bytes);
        for (int y = -1; y <= height; y++) {
            const int row = y < 0 ? 0 : min_int(y, height - 1);
            pnv_load_c(got, WIDEST + 40, &p, -10, y, p.width + 20, 1, 0);
            for (int i = 0; i < p.width + 20; i++) {
                const int x = i < 10 ? 0 : min_int(i - 10, p.width - 1);
                CHECK(got[i] == code(c, x, row), "layout %d component %d, %d px, %d,%d: %d, not %d", (int)layout, c,
                      width, i - 10, y, got[i], code(c, x, row));
            }
        }
        pnv_fetch_c(scaled, &p, 0, 0, 128);
        for (int x = 0; x < 128; x++) {
            const int want = expected(code(c, min_int(x, p.width - 1), 2), 10, PNV_SAMPLES_VIDEO);
            CHECK(scaled[2 * PNV_FETCH_STRIDE + x] == want, "layout %d component %d at its scale", (int)layout, c);
        }
    }
    free(data);
}

int main(void)
{
    static const int sizes[][2] = {{1, 1}, {7, 3}, {16, 16}, {17, 17}, {127, 15}, {129, 33}, {200, 20}};
    static const int depths[] = {8, 10, 12, 16};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int d = 0; d < 4; d++) {
            const int bytes = depths[d] > 8 ? 2 : 1;
            for (int range = 0; range < 3; range++) {
                test_plane(sizes[i][0], sizes[i][1], depths[d], bytes, 0, (PnvSampleRange)range);
                test_plane(sizes[i][0], sizes[i][1], depths[d], bytes, 6, (PnvSampleRange)range);
                test_plane(sizes[i][0], sizes[i][1], depths[d], 4 * bytes, 8, (PnvSampleRange)range);
            }
        }
    }
    for (int layout = V210; layout < N_LAYOUTS; layout++) {
        for (int width = 1; width <= WIDEST; width++)
            test_layout((Layout)layout, width);
    }
    test_every_code();
    test_high_bits();
    CHECK_END();
}
