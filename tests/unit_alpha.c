/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Alpha: depth conversion, the written examples, every difference and run, and a decoder of its own that reads it back. */
#include <math.h>
#include <stdint.h>

#include "alpha.h"
#include "check.h"

/* The decoding loop of RDD 36 7.1.2, with no masking of short differences and no forgiveness. Returns values read. */
static int decode(const uint8_t *data, size_t size, int bits, uint16_t *value, int n)
{
    size_t at = 0;
    int n_read = 0, previous = -1;
    const int short_bits = bits == 8 ? 3 : 6;
#define BIT() (at < 8 * size ? data[at / 8] >> (7 - at % 8) & 1 : (at = 8 * size + 99, 0))
#define BITS(k)                                                                                                        \
    ({                                                                                                                 \
        int v_ = 0;                                                                                                    \
        for (int b_ = 0; b_ < (k); b_++, at++)                                                                         \
            v_ = v_ << 1 | BIT();                                                                                      \
        v_;                                                                                                            \
    })
    while (n_read < n) {
        int current, run;
        if (BITS(1)) {
            current = (previous + BITS(bits)) & ((1 << bits) - 1);
        } else {
            const int magnitude = BITS(short_bits) + 1;
            current = BITS(1) ? previous - magnitude : previous + magnitude;
        }
        if (BITS(1))
            run = 1;
        else if ((run = BITS(4)) != 0)
            run += 1;
        else
            run = BITS(11) + 1;
        if (at > 8 * size || current < 0 || current >= 1 << bits || run > n - n_read)
            return -1;
        for (int i = 0; i < run; i++)
            value[n_read++] = (uint16_t)current;
        previous = current;
    }
    for (; at < 8 * size; at++) {
        if (BIT() || 8 * size - at > 7)
            return -1;
    }
#undef BITS
#undef BIT
    return n_read;
}

static void check_round_trip(const char *name, const uint16_t *value, int n, int bits)
{
    static uint8_t out[PNV_MAX_ALPHA_VALUES * 18 / 8 + 2], again[sizeof out];
    static uint16_t back[PNV_MAX_ALPHA_VALUES];
    const size_t bound = pnv_alpha_bound(n, bits);

    memset(out, 0x55, sizeof out);
    const size_t size = pnv_alpha_write_c(out, bound, value, n, bits);
    REQUIRE(size > 0 && size <= bound, "%s: %zu bytes, bound %zu", name, size, bound);
    CHECK(out[size] == 0x55, "%s: wrote past its end", name);
    CHECK(size == (pnv_alpha_bits_c(value, n, bits) + 7) / 8, "%s: counted %zu bits for %zu bytes", name,
          pnv_alpha_bits_c(value, n, bits), size);
    CHECK(decode(out, size, bits, back, n) == n && !memcmp(back, value, (size_t)n * 2), "%s: does not read back", name);
    memset(again, 0xaa, sizeof again);
    CHECK(pnv_alpha_write_c(again, size - 1, value, n, bits) == 0 && again[size - 1] == 0xaa, "%s: capacity", name);
    CHECK(pnv_alpha_write_c(again, size, value, n, bits) == size && !memcmp(again, out, size), "%s: exact fit", name);
}

static void test_written_examples(void)
{
    static const struct { int n, bits, value, size; uint8_t bytes[5]; } cases[] = {
        {2048, 8, 255, 4, {0x80, 0x03, 0xff, 0x80}},
        {2048, 16, 65535, 5, {0x80, 0x00, 0x03, 0xff, 0x80}},
        {2048, 8, 0, 3, {0x00, 0x3f, 0xf8}},
        {2048, 16, 0, 3, {0x00, 0x07, 0xff}},
        {256, 16, 65535, 5, {0x80, 0x00, 0x00, 0x7f, 0x80}},
        {256, 8, 255, 4, {0x80, 0x00, 0x7f, 0x80}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint16_t value[2048];
        uint8_t out[8];
        for (int k = 0; k < cases[i].n; k++)
            value[k] = (uint16_t)cases[i].value;
        const size_t size = pnv_alpha_write_c(out, sizeof out, value, cases[i].n, cases[i].bits);
        CHECK(size == (size_t)cases[i].size && !memcmp(out, cases[i].bytes, size), "example %zu: %zu bytes", i, size);
    }
}

/* Every first value, and every difference from several values: the short form never leaves the range. */
static void test_every_difference(void)
{
    uint16_t value[256];

    for (int bits = 8; bits <= 16; bits += 8) {
        const int max = (1 << bits) - 1;
        const int from[] = {0, 1, 7, 63, 64, max / 2, max - 64, max - 1, max};
        for (int to = 0; to <= max; to++) {
            for (size_t f = 0; f < sizeof from / sizeof *from; f++) {
                value[0] = (uint16_t)to;
                value[1] = (uint16_t)from[f];
                value[2] = (uint16_t)to;
                value[3] = (uint16_t)(to ^ 1);
                check_round_trip("difference", value, 4, bits);
            }
        }
    }
}

static void test_every_run(void)
{
    static uint16_t value[PNV_MAX_ALPHA_VALUES];

    for (int bits = 8; bits <= 16; bits += 8) {
        for (int run = 1; run < PNV_MAX_ALPHA_VALUES; run++) {
            for (int i = 0; i < PNV_MAX_ALPHA_VALUES; i++)
                value[i] = i < run ? 200 : 3;
            check_round_trip("run", value, PNV_MAX_ALPHA_VALUES, bits);
            check_round_trip("run to the end", value, run, bits);
        }
    }
}

/* Nothing is longer than a long difference and a run of one for every value. */
static void test_worst_case(void)
{
    static uint16_t value[PNV_MAX_ALPHA_VALUES];

    for (int bits = 8; bits <= 16; bits += 8) {
        for (int i = 0; i < PNV_MAX_ALPHA_VALUES; i++)
            value[i] = (uint16_t)(i % 2 ? 1 << (bits - 1) : (1 << bits) - 1);
        check_round_trip("worst", value, PNV_MAX_ALPHA_VALUES, bits);
        CHECK(pnv_alpha_bits_c(value, PNV_MAX_ALPHA_VALUES, bits) == (size_t)PNV_MAX_ALPHA_VALUES * (unsigned)(bits + 2),
              "worst case of %d bits is %zu", bits, pnv_alpha_bits_c(value, PNV_MAX_ALPHA_VALUES, bits));
    }
}

/* Every code of every depth: ends stay ends, more bits give back the sample by a shift, fewer are rounded. */
static void test_depths(void)
{
    static const int depths[] = {8, 10, 12, 16};
    uint16_t got[256];

    for (int d = 0; d < 4; d++) {
        const int depth = depths[d], max = (1 << depth) - 1;
        for (int bits = 8; bits <= 16; bits += 8) {
            for (int a = 0; a <= max; a++) {
                const uint8_t bytes[2] = {(uint8_t)a, (uint8_t)(a >> 8)};
                const PnvPlane plane = {.data = bytes, .step = 2, .stride = 2, .width = 1, .height = 1, .depth = depth};
                pnv_alpha_fetch_c(got, &plane, bits, 0, 0, 16);
                if (bits >= depth)
                    CHECK(got[0] >> (bits - depth) == a, "%d bits from %d of %d: %d", bits, a, depth, got[0]);
                else
                    CHECK(got[0] == (int)floor(a * 255.0 / max + 0.5), "8 bits from %d of %d: %d", a, depth, got[0]);
                CHECK((a != 0 || got[0] == 0) && (a != max || got[0] == (1 << bits) - 1), "%d of %d to %d bits: %d", a,
                      depth, bits, got[0]);
                CHECK(got[255] == got[0], "edges repeat");
            }
        }
    }
}

/* Rows of the slice one after the other, edges repeated, nothing read behind the plane. */
static void test_fetch_order(void)
{
    enum { WIDTH = 21, HEIGHT = 19 };
    uint8_t *plane_data = malloc(WIDTH * HEIGHT);
    uint16_t got[16 * 32];

    REQUIRE(plane_data, "memory");
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        plane_data[i] = (uint8_t)(i * 7);
    const PnvPlane plane = {.data = plane_data, .step = 1, .stride = WIDTH, .width = WIDTH, .height = HEIGHT, .depth = 8};
    pnv_alpha_fetch_c(got, &plane, 16, 16, 16, 16);
    for (int y = 0; y < 16; y++) {
        for (int x = 0; x < 16; x++) {
            const int px = 16 + x < WIDTH ? 16 + x : WIDTH - 1, py = 16 + y < HEIGHT ? 16 + y : HEIGHT - 1;
            CHECK(got[16 * y + x] == (uint8_t)((py * WIDTH + px) * 7) * 257, "at %d,%d", x, y);
        }
    }
    free(plane_data);
}

int main(void)
{
    test_written_examples();
    test_every_difference();
    test_every_run();
    test_worst_case();
    test_depths();
    test_fetch_order();
    CHECK_END();
}
