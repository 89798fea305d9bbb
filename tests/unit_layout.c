/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Headers byte by byte, and the codes that stand for rates and aspects. */
#include "check.h"
#include "layout.h"
#include "tables.h"

static void test_frame_start(void)
{
    const PnvFrameHeader header = {
        .width = 720, .height = 486, .chroma = PNV_CHROMA_444, .aspect_code = 2, .frame_rate_code = 4,
        .color_primaries = 6, .transfer_characteristic = 1, .matrix_coefficients = 6, .encoder_id = {'t', 'e', 's', 't'},
        .luma_matrix = pnv_matrix_xq_luma, .chroma_matrix = pnv_matrix_hq,
    };
    static const uint8_t want[28] = {0x01, 0x23, 0x45, 0x67, 'i', 'c', 'p', 'f', 0, 148, 0, 1, 't', 'e', 's', 't',
                                     0x02, 0xd0, 0x01, 0xe6, 0xc0, 0x24, 6, 1, 6, 0, 0, 3};
    uint8_t got[PNV_FRAME_START_BYTES + 1];

    memset(got, 0x55, sizeof got);
    pnv_layout_frame_start(got, &header, 0x01234567);
    CHECK_MEM_EQ(got, want, sizeof want, "frame header");
    CHECK_MEM_EQ(got + 28, pnv_matrix_xq_luma, 64, "luma matrix");
    CHECK_MEM_EQ(got + 92, pnv_matrix_hq, 64, "chroma matrix");
    CHECK(got[PNV_FRAME_START_BYTES] == 0x55, "wrote past the header");

    PnvFrameHeader simple = header;
    simple.chroma = PNV_CHROMA_422;
    pnv_layout_frame_start(got, &simple, 1);
    CHECK(got[11] == 0 && got[20] == 0x80, "4:2:2 is version %d, byte 12 %02x", got[11], got[20]);
    simple.interlace = PNV_BOTTOM_FIELD_FIRST;
    pnv_layout_frame_start(got, &simple, 1);
    CHECK(got[20] == 0x88, "bottom field first is byte 12 %02x", got[20]);
    PnvFrameHeader alpha = header;
    alpha.interlace = PNV_TOP_FIELD_FIRST;
    alpha.alpha_bits = 16;
    pnv_layout_frame_start(got, &alpha, 1);
    CHECK(got[11] == 1 && got[20] == 0xc4 && got[25] == 2, "16-bit alpha is %02x", got[25]);
    alpha.alpha_bits = 8;
    pnv_layout_frame_start(got, &alpha, 1);
    CHECK(got[25] == 1, "8-bit alpha is %02x", got[25]);
}

static void test_picture_and_slice(void)
{
    uint8_t got[9];
    PnvGrid grid = pnv_grid(1920, 1080, 8);

    memset(got, 0x55, sizeof got);
    pnv_layout_picture_header(got, &grid, 0x16);
    CHECK_MEM_EQ(got, ((const uint8_t[]){0x40, 0, 0, 0, 0x16, 0x03, 0xfc, 0x30, 0x55}), 9, "picture header");
    grid = pnv_grid(16, 16, 1);
    pnv_layout_picture_header(got, &grid, 0x16);
    CHECK_MEM_EQ(got, ((const uint8_t[]){0x40, 0, 0, 0, 0x16, 0, 1, 0, 0x55}), 9, "picture header, slices of 1");
    grid.n_slices = 65536;
    pnv_layout_picture_header(got, &grid, 0x16);
    CHECK(got[5] == 0 && got[6] == 0, "a slice count past 16 bits");

    memset(got, 0x55, sizeof got);
    pnv_layout_slice_header(got, 224, (const size_t[]){0x1234, 0xffff, 7}, 0);
    CHECK_MEM_EQ(got, ((const uint8_t[]){0x30, 224, 0x12, 0x34, 0xff, 0xff, 0x55}), 7, "slice header");
    pnv_layout_slice_header(got, 1, (const size_t[]){1, 2, 0xabcd}, 16);
    CHECK_MEM_EQ(got, ((const uint8_t[]){0x40, 1, 0, 1, 0, 2, 0xab, 0xcd, 0x55}), 9, "slice header with alpha");
    memset(got, 0x55, sizeof got);
    pnv_layout_slice_size(got, 0x4567);
    CHECK_MEM_EQ(got, ((const uint8_t[]){0x45, 0x67, 0x55}), 3, "slice table entry");
}

static void test_codes(void)
{
    static const struct { int n, d, code; } rates[] = {
        {0, 0, 0}, {0, 1, 0}, {24000, 1001, 1}, {24, 1, 2}, {25, 1, 3}, {30000, 1001, 4}, {30, 1, 5}, {50, 1, 6},
        {60000, 1001, 7}, {60, 1, 8}, {100, 1, 9}, {120000, 1001, 10}, {120, 1, 11}, {50, 2, 3}, {48, 2, 2},
        {2997, 100, 4}, {23976, 1000, 1}, {5994, 100, 7}, {15, 1, 0}, {48, 1, 0}, {2398, 100, 0}, {1, 1, 0},
        {2147483647, 1, 0}, {240, 1, 0},
    };
    static const struct { int width, height, n, d, code; } aspects[] = {
        {1920, 1080, 1, 1, 1}, {100, 100, 7, 7, 1}, {1920, 1080, 0, 0, 0}, {1920, 1080, 0, 1, 0},
        {720, 486, 10, 11, 2}, {720, 480, 10, 11, 2}, {720, 576, 59, 54, 2}, {720, 576, 12, 11, 2},
        {720, 486, 40, 33, 3}, {720, 480, 32, 27, 3}, {720, 576, 118, 81, 3}, {720, 576, 16, 11, 3},
        {1440, 1080, 4, 3, 3}, {1280, 1080, 3, 2, 3}, {960, 720, 4, 3, 3}, {1920, 1080, 2, 1, 0},
        {65535, 1, 65535, 1, 0},
    };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        CHECK(pnv_layout_frame_rate_code(rates[i].n, rates[i].d) == rates[i].code, "%d/%d is code %d, not %d",
              rates[i].n, rates[i].d, pnv_layout_frame_rate_code(rates[i].n, rates[i].d), rates[i].code);
    for (size_t i = 0; i < sizeof aspects / sizeof *aspects; i++) {
        const int code = pnv_layout_aspect_code(aspects[i].width, aspects[i].height, aspects[i].n, aspects[i].d);
        CHECK(code == aspects[i].code, "%dx%d pixels %d/%d is code %d, not %d", aspects[i].width, aspects[i].height,
              aspects[i].n, aspects[i].d, code, aspects[i].code);
    }
}

int main(void)
{
    test_frame_start();
    test_picture_and_slice();
    test_codes();
    CHECK_END();
}
