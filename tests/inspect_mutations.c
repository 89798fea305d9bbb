/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every byte of every header and slice table, set to every other value: the reader, or the comparison with the
 * container, must report it, unless the frame is another legal one then. is_legal() lists those exceptions; a coarse
 * quantizer may also take a level beyond what samples can give, which is a note of its own and does not count here.
 */
#include "check.h"
#include "container.h"
#include "inspect_frames.h"
#include "mov_writer.h"
#include "reader.h"

#define MAX_FRAME_BYTES 2048

/* What a byte belongs to. */
typedef enum Kind { DATA, FRAME, MATRIX, PICTURE, TABLE, SLICE } Kind;

typedef struct Frame {
    const char *name;
    uint8_t data[MAX_FRAME_BYTES];
    uint8_t kind[MAX_FRAME_BYTES];
    uint8_t at[MAX_FRAME_BYTES]; /* byte within the header it belongs to */
    size_t size;
    int width, height;
    bool is_444;
    int n_mbs_wide;
} Frame;

/* ---- frames ---- */

static void put(Frame *f, Kind kind, int at, unsigned byte)
{
    REQUIRE(f->size < MAX_FRAME_BYTES, "%s is too long", f->name);
    f->data[f->size] = (uint8_t)byte;
    f->kind[f->size] = (uint8_t)kind;
    f->at[f->size++] = (uint8_t)at;
}

static void put_grey_unit(Frame *f, int n_blocks)
{
    uint64_t bits = UINT64_C(0x20) << 58; /* EG(5) of 0 */
    int n = 6;

    for (int i = 1; i < n_blocks; i++) { /* EG(3) of 0, then EG(0) of 0 */
        bits |= (i == 1 ? UINT64_C(8) << 60 : UINT64_C(1) << 63) >> n;
        n += i == 1 ? 4 : 1;
    }
    for (int i = 0; i < (n + 7) / 8; i++)
        put(f, DATA, 0, (unsigned)(bits >> (56 - 8 * i)) & 0xff);
}

static int grey_bytes(int n_blocks)
{
    return (n_blocks + 8 + 7) / 8;
}

static void put_u16(Frame *f, Kind kind, int at, unsigned value)
{
    put(f, kind, at, value >> 8);
    put(f, kind, at + 1, value & 0xff);
}

/* Grey, 4:2:2, both matrices, slices of 2 macroblocks and the rest. */
static void build_grey(Frame *f, int width, int height)
{
    const int mbs = (width + 15) / 16, rows = (height + 15) / 16, per_row = mbs / 2 + (mbs & 1);
    int size = 8;

    f->width = width, f->height = height, f->n_mbs_wide = mbs;
    for (int i = 0; i < 28; i++)
        put(f, FRAME, i, frame_grey[i]);
    f->data[9] = 148, f->data[27] = 3;
    f->data[17] = (uint8_t)width, f->data[19] = (uint8_t)height;
    for (int i = 0; i < 128; i++)
        put(f, MATRIX, i, 4 + (unsigned)i % 60);
    const size_t picture = f->size;
    for (int i = 0; i < 8; i++)
        put(f, PICTURE, i, i == 0 ? 0x40 : i == 6 ? (unsigned)(per_row * rows) : i == 7 ? 0x10 : 0);
    for (int i = 0; i < per_row * rows; i++) {
        const int n = i % per_row == per_row - 1 && mbs & 1 ? 1 : 2;
        const int bytes = 6 + grey_bytes(4 * n) + 2 * grey_bytes(2 * n);
        put_u16(f, TABLE, 0, (unsigned)bytes);
        size += 2 + bytes;
    }
    for (int i = 0; i < per_row * rows; i++) {
        const int n = i % per_row == per_row - 1 && mbs & 1 ? 1 : 2;
        put(f, SLICE, 0, 0x30);
        put(f, SLICE, 1, 100);
        put_u16(f, SLICE, 2, (unsigned)grey_bytes(4 * n));
        put_u16(f, SLICE, 4, (unsigned)grey_bytes(2 * n));
        put_grey_unit(f, 4 * n);
        put_grey_unit(f, 2 * n);
        put_grey_unit(f, 2 * n);
    }
    f->data[picture + 3] = (uint8_t)(size >> 8), f->data[picture + 4] = (uint8_t)size;
    f->data[2] = (uint8_t)(f->size >> 8), f->data[3] = (uint8_t)f->size;
}

/* One of the frames known by hand: one slice a picture. */
static void take_frame(Frame *f, const uint8_t *data, size_t size, int width, int height, int slice_header)
{
    const int n_pictures = data[20] & 0x0c ? 2 : 1, picture_bytes = (int)(size - 28) / n_pictures;

    f->width = width, f->height = height, f->is_444 = data[20] >> 6 == 3, f->n_mbs_wide = 1;
    for (size_t i = 0; i < size; i++) {
        const int at = i < 28 ? (int)i : ((int)i - 28) % picture_bytes;
        if (i < 28)
            put(f, FRAME, at, data[i]);
        else if (at < 8)
            put(f, PICTURE, at, data[i]);
        else if (at < 10)
            put(f, TABLE, at - 8, data[i]);
        else if (at < 10 + slice_header)
            put(f, SLICE, at - 10, data[i]);
        else
            put(f, DATA, 0, data[i]);
    }
}

/* Square pixels, 25 fps and BT.709, so that the container has something to agree with. */
static void describe(Frame *f)
{
    f->data[21] = 0x13;
    f->data[22] = f->data[23] = f->data[24] = 1;
}

/* ---- exceptions ---- */

/* Whether the frame is as legal with this value, and says nothing else than the container. */
static bool is_legal(const Frame *f, size_t i, int value)
{
    const int at = f->at[i];

    switch (f->kind[i]) {
    case FRAME:
        if (at == 11) /* version 1 allows all that 0 does */
            return !f->is_444 && value <= 1;
        if (at >= 12 && at <= 15) /* encoder_identifier: any characters */
            return value >= 0x20 && value <= 0x7e;
        if (at == 21) /* aspect ratios that are defined; the rate of the container, or unknown */
            return value >> 4 <= 3 && ((value & 15) == 3 || (value & 15) == 0);
        return false;
    case MATRIX: /* any weights */
        return value >= 2 && value <= 63;
    case PICTURE: /* a desired slice width that cuts so narrow a picture the same way */
        return at == 7 && (value & 0xcf) == 0 && f->n_mbs_wide == 1;
    case SLICE: /* any quantizer */
        return at == 1 && value >= 1 && value <= 224;
    default:
        return false;
    }
}

/* ---- test ---- */

typedef struct Found {
    uint64_t n;
    PnvFindingCode first;
} Found;

static void count(void *opaque, const PnvFinding *finding)
{
    Found *found = opaque;

    if (finding->code != PNV_FINDING_COEFFICIENT_RANGE && found->n++ == 0)
        found->first = finding->code;
}

static Found inspect(PnvReader *reader, const PnvMov *mov, const uint8_t *data, size_t size)
{
    Found found = {0};
    const PnvReaderOptions options = {.report = count, .opaque = &found};

    pnv_reader_read(reader, data, size, &options);
    pnv_container_check(mov, pnv_reader_frame(reader), count, &found);
    return found;
}

static void mutate_all(PnvReader *reader, const PnvMov *mov, Frame *f)
{
    unsigned long n = 0, n_legal = 0;

    for (size_t i = 0; i < f->size; i++) {
        const uint8_t before = f->data[i];
        if (f->kind[i] == DATA)
            continue;
        for (int value = 0; value < 256; value++) {
            if (value == before)
                continue;
            f->data[i] = (uint8_t)value;
            const Found found = inspect(reader, mov, f->data, f->size);
            const bool legal = is_legal(f, i, value);
            CHECK((found.n == 0) == legal, "%s: byte %zu (kind %d, %d) from 0x%02x to 0x%02x: %llu findings (%s)",
                  f->name, i, f->kind[i], f->at[i], before, value, (unsigned long long)found.n,
                  found.n ? pnv_finding_name(found.first) : "none");
            n++;
            n_legal += legal;
        }
        f->data[i] = before;
    }
    printf("%s: %lu mutations, %lu of them legal\n", f->name, n, n_legal);
}

static void test_frame(PnvReader *reader, Frame *f)
{
    static const int colr[3] = {1, 1, 1};
    const uint8_t *frame = f->data;
    const MovWriterInfo info = {.fourcc = f->is_444 ? "ap4h" : "apch", .width = f->width, .height = f->height,
                                .colr = colr, .fiel_count = f->data[20] & 0x0c ? 2 : 1,
                                .fiel_detail = f->data[20] & 0x0c ? 9 : 0};
    size_t size;
    char error[PNV_MOV_ERROR_BYTES];
    PnvMov mov;

    describe(f);
    uint8_t *file = mov_writer_build(&info, &frame, &f->size, 1, &size);
    REQUIRE(file, "no memory");
    const PnvSource source = pnv_source_memory(file, size);
    REQUIRE(pnv_mov_open(&mov, &source, error), "%s: %s", f->name, error);
    const Found found = inspect(reader, &mov, f->data, f->size);
    CHECK(found.n == 0, "%s as it is: %s", f->name, pnv_finding_name(found.first));
    mutate_all(reader, &mov, f);
    pnv_mov_close(&mov);
    free(file);
}

int main(void)
{
    static Frame frames[6] = {{.name = "grey"}, {.name = "levels"}, {.name = "alpha"}, {.name = "fields"},
                              {.name = "five slices"}, {.name = "one slice"}};
    PnvReader *reader = pnv_reader_new();

    REQUIRE(reader, "no memory");
    take_frame(&frames[0], frame_grey, sizeof frame_grey, 16, 16, 6);
    take_frame(&frames[1], frame_levels, sizeof frame_levels, 16, 16, 6);
    take_frame(&frames[2], frame_alpha, sizeof frame_alpha, 16, 16, 8);
    take_frame(&frames[3], frame_fields, sizeof frame_fields, 16, 32, 6);
    build_grey(&frames[4], 70, 17);
    build_grey(&frames[5], 1, 1);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        test_frame(reader, &frames[i]);
    pnv_reader_free(&reader);
    CHECK_END();
}
