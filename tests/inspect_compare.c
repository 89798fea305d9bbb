/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison with raw video: formats, PSNR, SSIM and alpha where the results are known. */
#include <math.h>

#include "check.h"
#include "compare.h"
#include "inspect_frames.h"

static void test_formats(void)
{
    static const struct { const char *name; bool ok, is_444, alpha; int depth; } want[] = {
        {"yuv422p", true, false, false, 8},       {"yuv422p10le", true, false, false, 10},
        {"yuv444p12le", true, true, false, 12},   {"yuva444p16le", true, true, true, 16},
        {"yuva422p10le", true, false, true, 10},  {"I422_10LE", true, false, false, 10},
        {"Y444_12LE", true, true, false, 12},     {"A444_16LE", true, true, true, 16},
        {"Y42B", true, false, false, 8},          {"A444", true, true, true, 8},
        {"yuv420p", false, false, false, 0},      {"yuv422p10", false, false, false, 0},
        {"yuv422p10be", false, false, false, 0},  {"yuv422p20le", false, false, false, 0},
        {"yuv422p10lex", false, false, false, 0}, {"yuv0422p10le", false, false, false, 0},
        {"I444_10LE", false, false, false, 0},    {"rgb24", false, false, false, 0},
        {"", false, false, false, 0},             {"Y422_10LE", false, false, false, 0},
    };

    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        PnvRawFormat f;
        const bool ok = pnv_raw_format(&f, want[i].name);
        CHECK(ok == want[i].ok, "%s: %d", want[i].name, ok);
        if (ok)
            CHECK(f.is_444 == want[i].is_444 && f.alpha == want[i].alpha && f.depth == want[i].depth, "%s",
                  want[i].name);
    }
    CHECK(pnv_raw_bytes(&(PnvRawFormat){false, false, 10}, 33, 17) == 2 * (33 + 2 * 17) * 17, "odd width");
    CHECK(pnv_raw_bytes(&(PnvRawFormat){true, true, 8}, 65535, 65535) == UINT64_C(4) * 65535 * 65535, "largest");
}

static void fill(uint8_t *raw, size_t n, int value)
{
    for (size_t i = 0; i < n; i++) {
        raw[2 * i] = (uint8_t)value;
        raw[2 * i + 1] = (uint8_t)(value >> 8);
    }
}

static void read_frame(PnvReader *reader, const uint8_t *data, size_t size, int depth)
{
    const PnvReaderOptions options = {.flags = PNV_READER_PIXELS, .depth = depth};
    REQUIRE(pnv_reader_read(reader, data, size, &options) == PNV_READER_OK && pnv_reader_frame(reader)->complete,
            "a frame cannot be read");
}

/* Mid grey against grey that is off by a known number. */
static void test_grey(PnvReader *reader, PnvComparer *comparer)
{
    const PnvRawFormat format = {false, false, 10};
    uint8_t raw[2 * 512];
    PnvComparison c;

    read_frame(reader, frame_grey, sizeof frame_grey, 10);
    for (int off = 0; off < 4; off++) {
        fill(raw, 256, 512 + off);
        fill(raw + 512, 128, 512 - off);
        fill(raw + 768, 128, 512);
        REQUIRE(pnv_compare(comparer, &c, reader, &format, raw), "no memory");
        CHECK(c.valid && c.mse[0] == off * off && c.mse[1] == off * off && c.mse[2] == 0, "off %d: %g %g %g", off,
              c.mse[0], c.mse[1], c.mse[2]);
        CHECK(off ? c.ssim[0] < 1 && c.ssim[0] > 0.999 : c.ssim[0] == 1, "off %d: %.9f", off, c.ssim[0]);
        CHECK(c.ssim[2] == 1, "equal planes: %.9f", c.ssim[2]);
    }
    CHECK(fabs(pnv_psnr(1, 10) - 60.1975) < 1e-4, "PSNR of 1 at 10 bits: %g", pnv_psnr(1, 10));
    CHECK(fabs(pnv_psnr(1, 8) - 48.1308) < 1e-4 && isinf(pnv_psnr(0, 8)), "PSNR at 8 bits");
}

/* One window by hand: 8x8 halves of 0 and 1023 against their mirror image. */
static void test_ssim(PnvReader *reader, PnvComparer *comparer)
{
    const PnvRawFormat format = {false, false, 10};
    uint8_t raw[2 * 512];
    PnvComparison c;

    read_frame(reader, frame_grey, sizeof frame_grey, 10);
    fill(raw, 512, 512);
    for (int i = 0; i < 256; i++) /* columns of 0 and 1023: no structure in common with grey */
        fill(raw + 2 * i, 1, i & 1 ? 1023 : 0);
    REQUIRE(pnv_compare(comparer, &c, reader, &format, raw), "no memory");
    const double peak2 = 1023.0 * 1023.0, c1 = 1e-4 * peak2, c2 = 9e-4 * peak2, mean = 511.5, variance = peak2 / 4;
    const double want = (2 * mean * 512 + c1) * c2 / ((mean * mean + 512.0 * 512.0 + c1) * (variance + c2));
    CHECK(fabs(c.ssim[0] - want) < 1e-12, "%.12f, by hand %.12f", c.ssim[0], want);
}

static void test_alpha(PnvReader *reader, PnvComparer *comparer)
{
    for (int depth = 8; depth <= 16; depth += 2) {
        const PnvRawFormat format = {true, true, depth};
        const int full = (1 << depth) - 1;
        uint8_t raw[2 * 1024];
        PnvComparison c;

        read_frame(reader, frame_alpha, sizeof frame_alpha, depth);
        fill(raw, 768, 1 << (depth - 1));
        fill(raw + 2 * 768, 256, full);
        if (depth == 8) {
            memset(raw, 128, 768);
            memset(raw + 768, 255, 256);
        }
        REQUIRE(pnv_compare(comparer, &c, reader, &format, raw), "no memory");
        CHECK(c.mse[0] == 0 && c.mse[1] > 0 && c.alpha_differences == 0, "depth %d: %llu differ", depth,
              (unsigned long long)c.alpha_differences);
        raw[depth == 8 ? 768 + 7 : 2 * (768 + 7)] -= 3;
        REQUIRE(pnv_compare(comparer, &c, reader, &format, raw), "no memory");
        CHECK(c.alpha_differences == 1 && c.alpha_largest == 3, "depth %d: %llu differ by %d", depth,
              (unsigned long long)c.alpha_differences, c.alpha_largest);
    }
    CHECK(pnv_reader_alpha_at_depth(255, 1, 10) == 1023 && pnv_reader_alpha_at_depth(0, 1, 10) == 0, "8 to 10 bits");
    CHECK(pnv_reader_alpha_at_depth(128, 1, 16) == 32896 && pnv_reader_alpha_at_depth(32768, 2, 8) == 128, "middle");
}

int main(void)
{
    PnvReader *reader = pnv_reader_new();
    PnvComparer comparer = {0};

    REQUIRE(reader, "no memory");
    test_formats();
    test_grey(reader, &comparer);
    test_ssim(reader, &comparer);
    test_alpha(reader, &comparer);
    pnv_comparer_free(&comparer);
    pnv_reader_free(&reader);
    CHECK_END();
}
