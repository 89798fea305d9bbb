/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples arrive at one scale, edges repeat, nothing outside the plane is read: planes end where their memory ends. */
#include <math.h>
#include <stdint.h>

#include "check.h"
#include "fetch.h"

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
    test_every_code();
    test_high_bits();
    CHECK_END();
}
