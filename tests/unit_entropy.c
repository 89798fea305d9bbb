/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codes, worked units and bounds of the entropy stage. docs/format.md has the examples. */
#include <stdint.h>

#include "check.h"
#include "codeword.h"
#include "entropy.h"
#include "slice.h"

static const PnvCodebook eg0 = {0, 0, 1}, eg1 = {0, 1, 2}, eg2 = {0, 2, 3}, eg3 = {0, 3, 4}, eg5 = {0, 5, 6};

static void test_codes(void)
{
    static const PnvCodebook c123 = {1, 2, 3}, c201 = {2, 0, 1}, c101 = {1, 0, 1}, c112 = {1, 1, 2}, c202 = {2, 0, 2};
    static const struct { const PnvCodebook *book; unsigned n; const char *bits; } codes[] = {
        {&eg0, 0, "1"}, {&eg0, 1, "010"}, {&eg0, 2, "011"}, {&eg0, 3, "00100"}, {&eg0, 7, "0001000"},
        {&eg0, 100, "0000001100101"},
        {&eg1, 0, "10"}, {&eg1, 1, "11"}, {&eg1, 2, "0100"}, {&eg1, 5, "0111"}, {&eg1, 6, "001000"},
        {&eg1, 14, "00010000"},
        {&eg2, 0, "100"}, {&eg2, 3, "111"}, {&eg2, 4, "01000"}, {&eg2, 12, "0010000"},
        {&eg2, 8191, "0000000000010000000000011"},
        {&eg3, 0, "1000"}, {&eg3, 7, "1111"}, {&eg3, 8, "010000"}, {&eg3, 24, "00100000"},
        {&eg3, 16384, "00000000000100000000001000"},
        {&eg5, 0, "100000"}, {&eg5, 31, "111111"}, {&eg5, 32, "01000000"}, {&eg5, 96, "0010000000"},
        {&eg5, 100, "0010000100"}, {&eg5, 200, "0011101000"}, {&eg5, 16384, "000000000100000000100000"},
        {&c123, 0, "100"}, {&c123, 3, "111"}, {&c123, 4, "0100"}, {&c123, 7, "0111"}, {&c123, 8, "001000"},
        {&c123, 16, "00010000"}, {&c123, 40, "0000101000"},
        {&c201, 0, "1"}, {&c201, 1, "01"}, {&c201, 2, "001"}, {&c201, 3, "00010"}, {&c201, 4, "00011"},
        {&c201, 5, "0000100"}, {&c201, 8, "0000111"},
        {&c101, 0, "1"}, {&c101, 1, "01"}, {&c101, 2, "0010"}, {&c101, 3, "0011"}, {&c101, 4, "000100"},
        {&c101, 10, "00001010"},
        {&c112, 0, "10"}, {&c112, 1, "11"}, {&c112, 2, "010"}, {&c112, 3, "011"}, {&c112, 4, "00100"},
        {&c112, 7, "00111"}, {&c112, 8, "0001000"}, {&c112, 20, "000010100"},
        {&c202, 0, "1"}, {&c202, 1, "01"}, {&c202, 2, "001"}, {&c202, 3, "000100"}, {&c202, 6, "000111"},
        {&c202, 7, "00001000"}, {&c202, 8191, "0000000000000010000000000000"},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const PnvCode code = pnv_code(*codes[i].book, codes[i].n);
        CHECK(code.length == (int)strlen(codes[i].bits), "code %zu: %d bits for %s", i, code.length, codes[i].bits);
        CHECK(code.bits == strtoul(codes[i].bits, NULL, 2), "code %zu: %x for %s", i, code.bits, codes[i].bits);
        CHECK(pnv_code_length(*codes[i].book, codes[i].n) == code.length, "length of code %zu", i);
    }
    static const struct { int n; unsigned folded; } signs[] = {
        {0, 0}, {-1, 1}, {1, 2}, {-2, 3}, {2, 4}, {-3, 5}, {3, 6}, {-8192, 16383}, {8192, 16384}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        CHECK(pnv_fold_sign(signs[i].n) == signs[i].folded, "fold of %d", signs[i].n);
}

/* The bytes of a unit, with 0x55 behind them that must stay. */
static void check_unit(const char *name, const int16_t *level, int n_blocks, const uint8_t *want, size_t n)
{
    uint8_t got[8192];

    memset(got, 0x55, sizeof got);
    const size_t size = pnv_entropy_write_c(got, n, level, n_blocks);
    CHECK(size == n && !memcmp(got, want, n), "%s: %zu bytes for %zu", name, size, n);
    CHECK(got[n] == 0x55, "%s: wrote past its capacity", name);
    CHECK((pnv_entropy_bits_c(level, n_blocks) + 7) / 8 == n, "%s: counted %zu bits", name,
          pnv_entropy_bits_c(level, n_blocks));
}

static void test_worked_units(void)
{
    int16_t level[64 * 4] = {0};

    check_unit("flat luma", level, 4, (const uint8_t[]){0x82, 0x30}, 2);
    check_unit("flat chroma", level, 2, (const uint8_t[]){0x82, 0x00}, 2);

    /* DC 10 12 11 11; +5 at index 1 block 0, -1 at index 1 block 3, +1 at index 3 block 1, -3 at index 40 block 2 */
    memcpy(level, (const int16_t[]){10, 12, 11, 11}, 4 * sizeof *level);
    level[1 * 4 + 0] = 5;
    level[1 * 4 + 3] = -1;
    level[3 * 4 + 1] = 1;
    level[40 * 4 + 2] = -3;
    check_unit("step by step", level, 4, (const uint8_t[]){0xd3, 0x2d, 0x10, 0x68, 0xb0, 0x09, 0x43}, 7);
    CHECK(pnv_entropy_bits_c(level, 4) == 56, "%zu bits for 56", pnv_entropy_bits_c(level, 4));

    memset(level, 0, sizeof level);
    memcpy(level, (const int16_t[]){-20, 0, 20, 40}, 4 * sizeof *level);
    check_unit("4:4:4 chroma", level, 4, (const uint8_t[]){0x47, 0x30, 0x30, 0x30}, 4);

    for (int b = 0; b < 4; b++)
        level[b] = 40;
    check_unit("flat +40", level, 4, (const uint8_t[]){0x70, 0x8c}, 2);
    for (int b = 0; b < 4; b++)
        level[b] = -40;
    check_unit("flat -40", level, 4, (const uint8_t[]){0x6f, 0x8c}, 2);
}

static uint32_t seed = 7;
static uint32_t random_bits(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Levels at their extremes and of every density: the bound holds, counting equals writing, and every capacity that is
 * too small is refused without a byte past it. */
static void test_bounds(void)
{
    static int16_t level[64 * PNV_MAX_BLOCKS];
    static uint8_t out[8192], again[8192];
    static const int n_blocks[] = {2, 4, 8, 14, 16, 32};

    for (int n = 0; n < 2000; n++) {
        const int blocks = n_blocks[n % 6], zeros_in_8 = n / 6 % 9, max = n / 54 % 2 ? 8192 : 3;
        for (int i = 0; i < 64 * blocks; i++) {
            level[i] = (int16_t)((int)(random_bits() % (unsigned)(2 * max + 1)) - max);
            if (max == 8192 && random_bits() % 2)
                level[i] = level[i] < 0 ? -8192 : 8192;
            if ((int)(random_bits() % 8) < zeros_in_8)
                level[i] = 0;
        }
        const size_t bound = pnv_unit_bound(blocks), bits = pnv_entropy_bits_c(level, blocks);
        memset(out, 0x55, sizeof out);
        const size_t size = pnv_entropy_write_c(out, bound, level, blocks);
        REQUIRE(size > 0 && size <= bound, "%d blocks: %zu bytes, bound %zu", blocks, size, bound);
        CHECK(size == (bits + 7) / 8, "%d blocks: %zu bytes, %zu bits counted", blocks, size, bits);
        CHECK(bits % 8 == 0 || (out[size - 1] & ((1 << (8 - bits % 8)) - 1)) == 0, "fill bits are not zero");
        CHECK(out[size] == 0x55, "wrote past its end");
        const size_t less = random_bits() % size;
        memset(again, 0xaa, sizeof again);
        CHECK(pnv_entropy_write_c(again, less, level, blocks) == 0, "fits %zu of %zu bytes", less, size);
        CHECK(again[less] == 0xaa, "wrote past capacity %zu", less);
        CHECK(pnv_entropy_write_c(again, size, level, blocks) == size && !memcmp(again, out, size),
              "exact capacity %zu", size);
    }
    CHECK(pnv_slice_bound(PNV_CHROMA_444, 16, 8) <= 65535, "a slice can pass its size field");
}

int main(void)
{
    test_codes();
    test_worked_units();
    test_bounds();
    CHECK_END();
}
