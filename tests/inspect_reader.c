/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader on frames that are known by hand: levels, sizes and samples. */
#include <math.h>

#include "check.h"
#include "inspect_frames.h"
#include "reader.h"
#include "tables.h"

static void print_finding(void *opaque, const PnvFinding *f)
{
    fprintf(stderr, "%s: picture %d slice %d byte %u: %s: %s\n", (const char *)opaque, f->picture, f->slice, f->offset,
            pnv_finding_name(f->code), f->text);
}

/* Reads a frame that must conform. */
static const PnvReaderFrame *read_frame(PnvReader *reader, const uint8_t *data, size_t size, const char *name)
{
    const PnvReaderOptions options = {.flags = PNV_READER_LEVELS | PNV_READER_PIXELS, .report = print_finding,
                                      .opaque = (void *)(uintptr_t)name};
    const PnvReaderStatus status = pnv_reader_read(reader, data, size, &options);
    const PnvReaderFrame *f = pnv_reader_frame(reader);

    REQUIRE(status == PNV_READER_OK && f->complete, "%s: status %d", name, status);
    CHECK(f->n_violations == 0 && f->n_notes == 0, "%s: %llu violations, %llu notes", name,
          (unsigned long long)f->n_violations, (unsigned long long)f->n_notes);
    return f;
}

static void check_flat(const PnvReader *reader, int plane, int value, const char *name)
{
    const PnvReaderFrame *f = pnv_reader_frame(reader);

    for (int y = 0; y < f->plane[plane].height; y++)
        for (int x = 0; x < f->plane[plane].width; x++)
            CHECK(pnv_reader_round(pnv_reader_row(reader, plane, y)[x], f->depth) == value, "%s: plane %d %d,%d: %g",
                  name, plane, x, y, pnv_reader_row(reader, plane, y)[x]);
}

static void test_grey(PnvReader *reader)
{
    const PnvReaderFrame *f = read_frame(reader, frame_grey, sizeof frame_grey, "grey");

    CHECK(f->header.width == 16 && f->header.height == 16 && !strcmp(f->header.encoder_id, "test"), "header");
    CHECK(f->n_slices == 1 && f->slices[0].quantizer == 1 && f->slices[0].n_mbs == 1, "slice");
    CHECK(f->slices[0].unit_bits[0] == 12 && f->slices[0].unit_bits[1] == 10, "bits");
    CHECK(f->header_bytes == 44 && f->unit_bytes[0] == 2 && f->stuffing_bytes == 0, "shares");
    CHECK(f->plane[1].width == 8 && f->plane[1].height == 16 && f->plane[3].width == 0, "planes");
    for (int plane = 0; plane < 3; plane++)
        check_flat(reader, plane, 512, "grey");
}

static void test_levels(PnvReader *reader)
{
    static const int want_row[16] = {514, 514, 514, 513, 513, 513, 513, 512, 514, 514, 514, 514, 513, 513, 513, 513};
    static const struct { int at, level; } want[] = {
        {0, 10}, {1, 12}, {2, 11}, {3, 11}, {4, 5}, {7, -1}, {13, 1}, {162, -3},
    };
    const PnvReaderFrame *f = read_frame(reader, frame_levels, sizeof frame_levels, "levels");
    const int16_t *levels = pnv_reader_levels(reader, &f->slices[0], 0);
    int n_zeros = 0;

    CHECK(f->slices[0].unit_bits[0] == 56 && pnv_reader_n_blocks(reader, &f->slices[0], 0) == 4, "bits");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        CHECK(levels[want[i].at] == want[i].level, "level %d is %d", want[i].at, levels[want[i].at]);
    for (int i = 0; i < 256; i++)
        n_zeros += levels[i] == 0;
    CHECK(n_zeros == 256 - 8, "%d zeros", n_zeros);
    for (int x = 0; x < 16; x++)
        CHECK(pnv_reader_round(pnv_reader_row(reader, 0, 0)[x], 10) == want_row[x], "%d: %g", x,
              pnv_reader_row(reader, 0, 0)[x]);
}

static void test_alpha(PnvReader *reader)
{
    static const int want[2][2] = {{2008, 2088}, {2048, 2128}}; /* blocks go down the columns */
    const PnvReaderFrame *f = read_frame(reader, frame_alpha, sizeof frame_alpha, "alpha");

    CHECK(f->opaque && f->depth == 12 && f->unit_bytes[3] == 5, "opaque %d", f->opaque);
    check_flat(reader, 0, 2048, "alpha");
    check_flat(reader, 2, 2048, "alpha");
    for (int y = 0; y < 16; y++)
        for (int x = 0; x < 16; x++) {
            CHECK(pnv_reader_round(pnv_reader_row(reader, 1, y)[x], 12) == want[y / 8][x / 8], "Cb %d,%d", x, y);
            CHECK(pnv_reader_alpha_row(reader, y)[x] == 65535, "alpha %d,%d", x, y);
        }
}

static void test_fields(PnvReader *reader)
{
    uint8_t data[sizeof frame_fields];

    memcpy(data, frame_fields, sizeof data);
    for (int bottom_first = 0; bottom_first < 2; bottom_first++) {
        data[20] = bottom_first ? 0x88 : 0x84;
        read_frame(reader, data, sizeof data, "fields");
        for (int y = 0; y < 32; y++) {
            const double sample = pnv_reader_row(reader, 0, y)[5];
            CHECK(sample == ((y & 1) == bottom_first ? 532 : 492), "bottom first %d, row %d: %g", bottom_first, y,
                  sample);
        }
    }
}

/* EG(5) of the first DC level, left aligned in 32 bits, and its length. */
static int first_dc(int level, uint32_t *code)
{
    const uint32_t x = (uint32_t)(level >= 0 ? 2 * level : -2 * level - 1) + 32;
    const int e = 31 - __builtin_clz(x), length = 2 * e - 5 + 1;

    *code = x << (32 - length);
    return length;
}

/* A flat block at each kind of quantization_index; levels to the ends of what 16-bit samples need. */
static void test_dc(PnvReader *reader)
{
    static const struct { int q, level; double sample; } want[] = {
        {1, 100, 524.5},  {4, 50, 537},   {128, 10, 672},  {129, 10, 677},   {130, -10, 342},
        {224, 3, 704},    {224, -3, 320}, {1, 4096, 1024}, {1, -4096, 0},    {1, 0, 512},
    };

    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        uint8_t data[sizeof frame_grey + 3] = {0};
        uint32_t code;
        const int length = first_dc(want[i].level, &code);
        /* first DC, then differences of 0: EG(3), EG(0), EG(0) */
        const uint64_t bits = (uint64_t)code << 32 | UINT64_C(0x8c00000000000000) >> length;

        memcpy(data, frame_grey, sizeof frame_grey);
        data[3] = sizeof data, data[32] = 0x16 + 3, data[37] = 0x0c + 3, data[39] = (uint8_t)want[i].q, data[41] = 5;
        for (int k = 0; k < 5; k++)
            data[44 + k] = (uint8_t)(bits >> (56 - 8 * k));
        memcpy(data + 49, frame_grey + 46, 4);
        const PnvReaderOptions options = {.flags = PNV_READER_PIXELS};
        pnv_reader_read(reader, data, sizeof data, &options);
        const PnvReaderFrame *f = pnv_reader_frame(reader);
        CHECK(f->complete && f->n_violations == 0, "q %d level %d", want[i].q, want[i].level);
        CHECK(fabs(pnv_reader_row(reader, 0, 3)[3] - want[i].sample) < 1e-9, "q %d level %d: %g", want[i].q,
              want[i].level, pnv_reader_row(reader, 0, 3)[3]);
    }
}

/* The tables of RDD 36 for qScale and for widths that are no multiple of a slice. */
static void test_geometry(PnvReader *reader)
{
    static const struct { int width, per_row; } want[] = {
        {720, 7}, {1280, 10}, {1440, 12}, {1920, 15}, {2048, 16}, {3840, 30}, {4096, 32}, {100, 3}, {16, 1},
    };
    uint8_t data[400];

    CHECK(pnv_qscale(129) == 132 && pnv_qscale(160) == 256 && pnv_qscale(223) == 508, "qScale");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        memset(data, 0, sizeof data);
        memcpy(data, frame_grey, 36);
        data[16] = (uint8_t)(want[i].width >> 8), data[17] = (uint8_t)want[i].width;
        data[32] = 0xff;
        data[35] = 0x30;
        pnv_reader_read(reader, data, sizeof data, NULL);
        const PnvReaderPicture *p = &pnv_reader_frame(reader)->pictures[0];
        CHECK(p->slices_per_row == want[i].per_row, "width %d: %d", want[i].width, p->slices_per_row);
    }
}

/* Every cut of a frame is reported, and nothing behind the cut is read (this test runs under AddressSanitizer too). */
static void test_cuts(PnvReader *reader)
{
    for (size_t n = 0; n < sizeof frame_fields; n++) {
        uint8_t *cut = malloc(n ? n : 1);
        REQUIRE(cut, "no memory");
        memcpy(cut, frame_fields, n);
        pnv_reader_read(reader, cut, n, NULL);
        CHECK(pnv_reader_frame(reader)->n_found[PNV_FINDING_FRAME_SIZE] == 1, "cut to %zu bytes", n);
        free(cut);
    }
}

/* Memory follows max_samples, not the numbers of the header. */
static void test_bounds(PnvReader *reader)
{
    uint8_t data[sizeof frame_grey];
    const PnvReaderOptions options = {.flags = PNV_READER_PIXELS | PNV_READER_LEVELS};

    memcpy(data, frame_grey, sizeof data);
    memset(data + 16, 0xff, 4);
    CHECK(pnv_reader_read(reader, data, sizeof data, &options) == PNV_READER_EBIG, "65535x65535 was taken");
    CHECK(pnv_reader_read(reader, data, sizeof data, NULL) == PNV_READER_OK, "65535x65535 was not read");
    CHECK(pnv_reader_frame(reader)->n_found[PNV_FINDING_SLICE_TABLE] == 1, "slice table");
}

int main(void)
{
    PnvReader *reader = pnv_reader_new();

    REQUIRE(reader, "no memory");
    test_grey(reader);
    test_levels(reader);
    test_alpha(reader);
    test_fields(reader);
    test_dc(reader);
    test_geometry(reader);
    test_cuts(reader);
    test_bounds(reader);
    pnv_reader_free(&reader);
    CHECK_END();
}
