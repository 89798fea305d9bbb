/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every variant of alpha reads, counts and writes as the definition does. */
#include "exact.h"

static uint16_t value[PNV_MAX_ALPHA_VALUES];

/* Runs of random lengths; differences small, large, wrapping. */
static void fill(int n, int bits, int longest)
{
    const int max = (1 << bits) - 1;

    for (int i = 0; i < n;) {
        const int kind = exact_between(0, 4), before = i ? value[i - 1] : max;
        const int v = kind == 0   ? exact_between(0, max)
                      : kind == 1 ? before + exact_between(-66, 66)
                      : kind == 2 ? 0
                      : kind == 3 ? max
                                  : before + exact_between(-9, 9);
        for (int end = i + exact_between(1, longest); i < n && i < end; i++)
            value[i] = (uint16_t)(v & max);
    }
}

static void test_units(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    static uint8_t want[8192], got[8192];

    for (int round = 0; round < 4000; round++) {
        const int bits = round % 2 ? 16 : 8, n = 256 << exact_between(0, 3), longest = 1 << exact_between(0, 12);
        fill(n, bits, longest);
        uint16_t *own = malloc((size_t)n * sizeof *own); /* so that AddressSanitizer sees reads past it */
        REQUIRE(own, "memory");
        memcpy(own, value, (size_t)n * sizeof *own);
        const size_t bound = pnv_alpha_bound(n, bits), size = ref->alpha_write(want, bound, own, n, bits);
        const size_t counted = ref->alpha_bits(own, n, bits);
        REQUIRE(size && (counted + 7) / 8 == size, "the definition");
        CHECK(var->alpha_bits(own, n, bits) == counted, "%s: %zu bits for %zu", name, var->alpha_bits(own, n, bits),
              counted);
        const size_t room[] = {bound, size, size + 1, size + 9, size - 1, exact_random() % size, 0};
        for (size_t i = 0; i < sizeof room / sizeof *room; i++) {
            memset(got, 0xaa, sizeof got);
            const size_t wanted = room[i] >= size ? size : 0, written = var->alpha_write(got, room[i], own, n, bits);
            CHECK(written == wanted && !memcmp(got, want, wanted), "%s: %zu bytes for %zu, or others, in %zu", name,
                  written, size, room[i]);
            for (size_t g = 0; g < 64; g++)
                CHECK(got[room[i] + g] == 0xaa, "%s: wrote %zu past capacity %zu", name, g, room[i]);
        }
        free(own);
    }
}

static void test_fetch(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    static uint16_t want[PNV_MAX_ALPHA_VALUES + 16], got[PNV_MAX_ALPHA_VALUES + 16];
    static const int widths[] = {1, 15, 16, 17, 33, 100, 128, 200};
    static const struct { PnvPacking packing; int depth, step, shift; } forms[] = {
        {PNV_PACKING_SAMPLES, 8, 1, 0},  {PNV_PACKING_SAMPLES, 8, 4, 0},  {PNV_PACKING_SAMPLES, 10, 2, 0},
        {PNV_PACKING_SAMPLES, 10, 8, 6}, {PNV_PACKING_SAMPLES, 12, 2, 0}, {PNV_PACKING_SAMPLES, 12, 8, 4},
        {PNV_PACKING_SAMPLES, 16, 2, 0}, {PNV_PACKING_SAMPLES, 16, 8, 0}, {PNV_PACKING_WORDS, 2, 4, 30},
        {PNV_PACKING_WORDS, 10, 4, 20},  {PNV_PACKING_WORDS_BE, 2, 4, 0},
    };

    for (int round = 0; round < 2200; round++) {
        const int f = round % 11, width = widths[exact_random() % 8];
        PnvPlane p = {.step = forms[f].step, .width = width, .height = exact_between(1, 40), .depth = forms[f].depth,
                      .packing = forms[f].packing, .shift = forms[f].shift, .component = 3};
        p.stride = pnv_plane_row_bytes(&p) + 2 * (round % 3);
        const size_t size = (size_t)(p.stride * (p.height - 1) + pnv_plane_row_bytes(&p));
        uint8_t *data = malloc(size);
        REQUIRE(data, "memory");
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)exact_random();
        p.data = data;
        const int n_mb = 1 << exact_between(0, 3), x0 = exact_between(0, (width - 1) / 16) * 16;
        const int y0 = exact_between(0, (p.height - 1) / 16) * 16, bits = exact_random() & 1 ? 16 : 8;
        memset(want, 0x55, sizeof want);
        memset(got, 0x55, sizeof got);
        ref->alpha_fetch(want, &p, bits, x0, y0, 16 * n_mb);
        var->alpha_fetch(got, &p, bits, x0, y0, 16 * n_mb);
        CHECK_MEM_EQ(want, got, sizeof want, "%s fetch: packing %d depth %d step %d to %d, %dx%d at %d,%d, %d MBs",
                     name, (int)p.packing, p.depth, p.step, bits, width, p.height, x0, y0, n_mb);
        free(data);
    }
}

/* Every alpha there is, to 8 and 16 bits. */
static void test_every_alpha(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    static const int depths[] = {8, 10, 12, 16};
    static uint16_t want[2048], got[2048];
    uint8_t row[256];

    for (int d = 0; d < 4; d++) {
        for (int first = 0; first < 1 << depths[d]; first += 128) {
            const int bytes = depths[d] == 8 ? 1 : 2;
            for (int x = 0; x < 128; x++) {
                row[x * bytes] = (uint8_t)(first + x);
                if (bytes == 2)
                    row[2 * x + 1] = (uint8_t)((first + x) >> 8);
            }
            const PnvPlane p = {.data = row, .stride = 256, .step = bytes, .width = 128, .height = 1,
                                .depth = depths[d]};
            for (int bits = 8; bits <= 16; bits += 8) {
                ref->alpha_fetch(want, &p, bits, 0, 0, 128);
                var->alpha_fetch(got, &p, bits, 0, 0, 128);
                CHECK_MEM_EQ(want, got, sizeof want, "%s: alpha %d .. of %d bits to %d", name, first, depths[d], bits);
            }
        }
    }
}

static void test_level(const PnvDsp *ref, const PnvDsp *var, const char *name)
{
    test_units(ref, var, name);
    test_fetch(ref, var, name);
    test_every_alpha(ref, var, name);
}

int main(void)
{
    exact_each_level(test_level);
    CHECK_END();
}
