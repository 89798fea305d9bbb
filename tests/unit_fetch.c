/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples arrive at one scale, edges repeat, nothing outside the plane is read: planes end where their memory ends. */
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

/* A plane in memory of exactly its last sample's end, so that AddressSanitizer sees any read past it. */
static PnvPlane make_plane(int width, int height, int depth, ptrdiff_t padding)
{
    const int bytes = depth > 8 ? 2 : 1;
    const ptrdiff_t stride = width * bytes + padding;
    uint8_t *data = malloc((size_t)(stride * (height - 1) + width * bytes));

    REQUIRE(data, "memory");
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const int s = sample(x, y, depth);
            uint8_t *at = data + y * stride + x * bytes;
            at[0] = (uint8_t)s;
            if (bytes == 2)
                at[1] = (uint8_t)(s >> 8);
        }
    }
    return (PnvPlane){data, stride, width, height};
}

static void test_plane(int width, int height, int depth, ptrdiff_t padding)
{
    const PnvPlane plane = make_plane(width, height, depth, padding);
    static int16_t got[17 * PNV_FETCH_STRIDE];

    for (int y0 = 0; y0 < height; y0 += 16) {
        for (int x0 = 0; x0 < width; x0 += 128) {
            for (int w = 8; w <= 128; w *= 2) {
                memset(got, 0x55, sizeof got);
                pnv_fetch_c(got, &plane, depth, x0, y0, w);
                for (int y = 0; y < 16; y++) {
                    for (int x = 0; x < w; x++) {
                        const int s = sample(min_int(x0 + x, width - 1), min_int(y0 + y, height - 1), depth);
                        const int want = (s - (1 << (depth - 1))) * (1 << (14 - depth));
                        CHECK(got[y * PNV_FETCH_STRIDE + x] == want, "%dx%d depth %d at %d,%d: %d, not %d", width,
                              height, depth, x0 + x, y0 + y, got[y * PNV_FETCH_STRIDE + x], want);
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

int main(void)
{
    static const int sizes[][2] = {{1, 1}, {7, 3}, {16, 16}, {17, 17}, {127, 15}, {129, 33}, {200, 20}};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int depth = 8; depth <= 12; depth += 2) {
            test_plane(sizes[i][0], sizes[i][1], depth, 0);
            test_plane(sizes[i][0], sizes[i][1], depth, 6);
        }
    }
    CHECK_END();
}
