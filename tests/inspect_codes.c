/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One faulty frame for each code that the reader can report, and the places where legal ends. */
#include "check.h"
#include "inspect_frames.h"
#include "reader.h"

#define MAX_FRAME_BYTES 1024

/* Codes found in one frame, as bits. */
typedef struct Found {
    uint64_t codes;
    uint32_t offset; /* of the last one */
} Found;

static void collect(void *opaque, const PnvFinding *f)
{
    Found *found = opaque;

    found->codes |= UINT64_C(1) << f->code;
    found->offset = f->offset;
    CHECK(f->text[0] && strlen(f->text) < sizeof f->text - 1, "%s: '%s'", pnv_finding_name(f->code), f->text);
}

static Found inspect(PnvReader *reader, const uint8_t *data, size_t size)
{
    Found found = {0};
    const PnvReaderOptions options = {.flags = PNV_READER_PIXELS, .report = collect, .opaque = &found};

    pnv_reader_read(reader, data, size, &options);
    return found;
}

static void check_codes(PnvReader *reader, const char *name, const uint8_t *data, size_t size, uint64_t want)
{
    const Found found = inspect(reader, data, size);

    for (int i = 1; i < PNV_N_FINDING_CODES; i++)
        CHECK((found.codes >> i & 1) == (want >> i & 1), "%s: %s %s found", name, pnv_finding_name((PnvFindingCode)i),
              found.codes >> i & 1 ? "was" : "was not");
}

#define CODE(id) (UINT64_C(1) << PNV_FINDING_##id)

/* ---- headers: one byte changed ---- */

static void test_headers(PnvReader *reader)
{
    static const struct { const char *name; int frame, at, value; uint64_t want; } changes[] = {
        {"frame_size short", 0, 3, 0x31, CODE(FRAME_SIZE) | CODE(PICTURE_SIZE) | CODE(SLICE_TABLE)},
        {"frame_size long", 0, 3, 0x33, CODE(FRAME_SIZE)},
        {"identifier", 0, 4, 'p', CODE(FRAME_IDENTIFIER)},
        {"frame_header_size", 0, 9, 19, CODE(FRAME_HEADER_SIZE)},
        {"frame_header_size of matrices", 0, 9, 84, CODE(FRAME_HEADER_SIZE)},
        {"reserved byte", 0, 10, 0x80, CODE(RESERVED_BITS)},
        {"version 1 is legal", 0, 11, 1, 0},
        {"version 2", 0, 11, 2, CODE(BITSTREAM_VERSION)},
        {"version 0 with 4:4:4 and alpha", 2, 11, 0, CODE(VERSION_RULE)},
        {"encoder_identifier", 0, 12, 0, CODE(ENCODER_ID)},
        {"height 0", 0, 19, 0, CODE(DIMENSIONS)},
        {"width 0", 0, 17, 0, CODE(DIMENSIONS)},
        {"interlaced with one row", 3, 19, 1, CODE(DIMENSIONS)},
        {"chroma_format 0", 0, 20, 0x00, CODE(CHROMA_FORMAT)},
        {"reserved bits beside it", 0, 20, 0xb0, CODE(RESERVED_BITS)},
        {"interlace_mode 3", 0, 20, 0x8c, CODE(INTERLACE_MODE)},
        {"aspect ratio 3 is legal", 0, 21, 0x30, 0},
        {"aspect ratio 4", 0, 21, 0x40, CODE(ASPECT_RATIO)},
        {"frame rate 11 is legal", 0, 21, 0x0b, 0},
        {"frame rate 12", 0, 21, 0x0c, CODE(FRAME_RATE_CODE)},
        {"primaries", 0, 22, 7, CODE(COLOR_PRIMARIES)},
        {"transfer", 0, 23, 6, CODE(TRANSFER)},
        {"transfer HLG is legal", 0, 23, 18, 0},
        {"matrix", 0, 24, 5, CODE(MATRIX_COEFFICIENTS)},
        {"alpha type 3", 0, 25, 3, CODE(ALPHA_TYPE)},
        {"reserved bits beside it", 0, 25, 0x10, CODE(RESERVED_BITS)},
        {"reserved byte", 0, 26, 1, CODE(RESERVED_BITS)},
        {"reserved bits beside the flags", 0, 27, 4, CODE(RESERVED_BITS)},
        {"a matrix that is not there", 0, 27, 1, CODE(FRAME_HEADER_SIZE)},
        {"picture_header_size", 0, 28, 0x38, CODE(PICTURE_HEADER_SIZE)},
        {"reserved bits beside it", 0, 28, 0x41, CODE(RESERVED_BITS)},
        {"picture_size long", 0, 32, 0x17, CODE(PICTURE_SIZE)},
        {"number of slices", 0, 34, 2, CODE(SLICE_COUNT)},
        {"number of slices 0", 0, 34, 0, CODE(SLICE_COUNT)},
        {"a slice width that cuts the same", 0, 35, 0x20, 0},
        {"reserved bits beside it", 0, 35, 0x01, CODE(RESERVED_BITS)},
        {"slice table long", 0, 37, 0x0d, CODE(SLICE_TABLE)},
        {"slice table shorter than its header", 0, 37, 5, CODE(SLICE_TABLE) | CODE(PICTURE_SIZE)},
        {"slice_header_size", 0, 38, 0x38, CODE(SLICE_HEADER_SIZE) | CODE(OVERRUN)},
        {"slice_header_size short", 0, 38, 0x28, CODE(SLICE_HEADER_SIZE)},
        {"reserved bits beside it", 0, 38, 0x34, CODE(RESERVED_BITS)},
        {"quantizer 0", 0, 39, 0, CODE(QUANTIZATION_INDEX)},
        {"quantizer 224 is legal", 0, 39, 224, 0},
        {"quantizer 225", 0, 39, 225, CODE(QUANTIZATION_INDEX)},
        {"coded size", 0, 41, 9, CODE(CODED_SIZE)},
    };
    static const struct { const uint8_t *data; size_t size; } frames[] = {
        {frame_grey, sizeof frame_grey}, {frame_levels, sizeof frame_levels},
        {frame_alpha, sizeof frame_alpha}, {frame_fields, sizeof frame_fields},
    };

    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const size_t size = frames[changes[i].frame].size;
        uint8_t data[MAX_FRAME_BYTES];
        memcpy(data, frames[changes[i].frame].data, size);
        data[changes[i].at] = (uint8_t)changes[i].value;
        check_codes(reader, changes[i].name, data, size, changes[i].want);
    }
}

/* Zero bytes may follow the last picture, others may not. */
static void test_stuffing(PnvReader *reader)
{
    uint8_t data[sizeof frame_grey + 100] = {0};

    memcpy(data, frame_grey, sizeof frame_grey);
    data[3] = sizeof data;
    check_codes(reader, "stuffing of zeros", data, sizeof data, 0);
    CHECK(pnv_reader_frame(reader)->stuffing_bytes == 100, "%u bytes", pnv_reader_frame(reader)->stuffing_bytes);
    data[sizeof data - 1] = 1;
    check_codes(reader, "stuffing of other bytes", data, sizeof data, CODE(STUFFING));
    CHECK(inspect(reader, data, sizeof data).offset == sizeof data - 1, "place");
}

static void test_weights(PnvReader *reader)
{
    uint8_t data[sizeof frame_grey + 64];

    for (int weight = 0; weight < 256; weight++) {
        memcpy(data, frame_grey, 28);
        memset(data + 28, 4, 64);
        memcpy(data + 92, frame_grey + 28, sizeof frame_grey - 28);
        data[3] = sizeof data, data[9] = 84, data[27] = 2;
        data[28 + 63] = (uint8_t)weight;
        check_codes(reader, "weight", data, sizeof data, weight < 2 || weight > 63 ? CODE(MATRIX_WEIGHT) : 0);
    }
}

/* ---- codes: planes written as bits ---- */

#define GREY_Y "100000 1000 1 1"
#define GREY_C "100000 1000"
#define CODES_16 "100000 1000 1 00100" /* 16 bits of codes */
#define CODES_17 GREY_Y "010 1 1"
#define ZEROS_7 "0000000"
#define ZEROS_8 "00000000"
#define ZEROS_16 ZEROS_8 ZEROS_8
#define ALPHA_FULL "1" ZEROS_16 /* the difference from -1 to 65535 */

/* The bits of a text of 0 and 1, filled up to a byte. Returns the bytes. */
static size_t put_bits(uint8_t *to, const char *bits)
{
    size_t n = 0;

    for (; *bits; bits++) {
        if (*bits == ' ')
            continue;
        if (n % 8 == 0)
            to[n / 8] = 0;
        to[n / 8] |= (uint8_t)((*bits == '1') << (7 - n % 8));
        n++;
    }
    return (n + 7) / 8;
}

/* A frame of one macroblock, 4:2:2, with these planes; without alpha if a is NULL. */
static size_t build(uint8_t *data, int quantizer, const char *y, const char *cb, const char *cr, const char *a)
{
    const size_t header = a ? 8 : 6;
    uint8_t *slice = data + 38, *p = slice + header;

    memcpy(data, frame_grey, 38);
    data[11] = a != NULL;
    data[25] = a ? 2 : 0;
    const size_t ny = put_bits(p, y), ncb = put_bits(p + ny, cb), ncr = put_bits(p + ny + ncb, cr);
    const size_t na = a ? put_bits(p + ny + ncb + ncr, a) : 0, bytes = header + ny + ncb + ncr + na;
    const uint8_t fields[8] = {(uint8_t)(header << 3), (uint8_t)quantizer, (uint8_t)(ny >> 8), (uint8_t)ny,
                               (uint8_t)(ncb >> 8), (uint8_t)ncb, (uint8_t)(ncr >> 8), (uint8_t)ncr};
    memcpy(slice, fields, header);
    data[36] = (uint8_t)(bytes >> 8), data[37] = (uint8_t)bytes;
    data[31] = (uint8_t)((bytes + 10) >> 8), data[32] = (uint8_t)(bytes + 10);
    data[2] = (uint8_t)((bytes + 38) >> 8), data[3] = (uint8_t)(bytes + 38);
    return bytes + 38;
}

static void test_coefficients(PnvReader *reader)
{
    static const struct { const char *name; int quantizer; const char *y; uint64_t want; } planes[] = {
        {"grey", 4, GREY_Y, 0},
        {"no data", 4, "", CODE(OVERRUN)},
        {"DC cut", 4, GREY_C, CODE(OVERRUN)},
        {"run cut", 4, GREY_Y "0001", CODE(OVERRUN)},
        {"sign cut", 4, GREY_Y "010 1", CODE(OVERRUN)},
        /* EG(0) of 251: only the very last of the 252 AC levels is not zero; then 252 */
        {"last coefficient", 4, GREY_Y "0000000 11111100 1 0", 0},
        {"past it", 4, GREY_Y "0000000 11111101 1 0", CODE(RUN_OVERRUN)},
        {"data after it", 4, GREY_Y "0000000 11111100 1 0 1", CODE(TRAILING_DATA)},
        {"zeros, then data", 4, GREY_Y ZEROS_16 ZEROS_8 "1", CODE(CODE_LENGTH)},
        {"DC of too many zeros", 4, ZEROS_16 ZEROS_8 "1" ZEROS_16 ZEROS_16, CODE(CODE_LENGTH)},
        /* EG(5) of 65534 and 65536: DC levels 32767 and 32768 */
        {"largest DC", 1, "00000000000 1 0000000000011110 1000 1 1", CODE(COEFFICIENT_RANGE)},
        {"larger DC", 1, "00000000000 1 0000000000100000 1000 1 1", CODE(LEVEL_RANGE)},
        {"no padding", 4, CODES_16, 0},
        {"7 zero bits", 4, CODES_17 ZEROS_7, 0},
        {"8 zero bits", 4, CODES_16 ZEROS_8, CODE(PADDING_BYTES)},
        {"31 zero bits", 4, CODES_17 ZEROS_7 ZEROS_8 ZEROS_16, CODE(PADDING_BYTES)},
        {"32 zero bits", 4, CODES_16 ZEROS_16 ZEROS_16, CODE(PADDING)},
        /* level 20 x 4 x 512 */
        {"beyond any sample", 224, "0 1 001000 1000 1 1", CODE(COEFFICIENT_RANGE)},
    };

    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++) {
        uint8_t data[MAX_FRAME_BYTES];
        const size_t size = build(data, planes[i].quantizer, planes[i].y, GREY_C, GREY_C, NULL);
        check_codes(reader, planes[i].name, data, size, planes[i].want);
    }
}

static void test_chroma(PnvReader *reader)
{
    uint8_t data[MAX_FRAME_BYTES];

    check_codes(reader, "Cb", data, build(data, 4, GREY_Y, "100000", GREY_C, NULL), CODE(OVERRUN));
    check_codes(reader, "Cr", data, build(data, 4, GREY_Y, GREY_C, GREY_C ZEROS_16 ZEROS_16 "1", NULL),
                CODE(CODE_LENGTH));
    check_codes(reader, "padding", data, build(data, 4, GREY_Y, GREY_C, GREY_C ZEROS_16 ZEROS_16, NULL), CODE(PADDING));
}

static void test_alpha(PnvReader *reader)
{
    static const struct { const char *name, *bits; uint64_t want; } planes[] = {
        {"opaque", ALPHA_FULL "00000 00011111111", 0},
        {"transparent", "0 000000 0 00000 00011111111", 0},
        {"63, short from -1", "0 111111 0 00000 00011111111", 0},
        {"64, short from -1, then back", "0 111111 0 00000 00011111110 0 000000 1 1", 0},
        {"a run in two parts", ALPHA_FULL "00000 00011101110" ALPHA_FULL "0 1111 1" ZEROS_16 "1", 0},
        {"a short run in the long form", ALPHA_FULL "00000 00000000100 0 000000 1 00000 00011111010",
         CODE(ALPHA_RUN_FORM)},
        {"first difference below 0", "0 000000 1 00000 00011111111", CODE(ALPHA_WRAP)},
        {"difference above 65535", ALPHA_FULL "00000 00011111110 0 000000 0 1", CODE(ALPHA_WRAP)},
        {"last run missing", ALPHA_FULL "00000 00011111110 0 000000 1", CODE(ALPHA_LAST_RUN)},
        {"both", ALPHA_FULL "00000 00011111110 0 000000 0", CODE(ALPHA_WRAP) | CODE(ALPHA_LAST_RUN)},
        {"run too long", ALPHA_FULL "00000 00100000000", CODE(ALPHA_OVERRUN)},
        {"run too short", ALPHA_FULL "00000 00011111101", CODE(OVERRUN)},
        {"no run at all", ALPHA_FULL, CODE(OVERRUN)},
        {"no data", "", CODE(OVERRUN)},
        {"data after the last value", ALPHA_FULL "00000 00011111111 1", CODE(TRAILING_DATA)},
        {"a byte too many", ALPHA_FULL "00000 00011111111" ZEROS_8, CODE(PADDING_BYTES)},
        {"four bytes too many", ALPHA_FULL "00000 00011111111" ZEROS_16 ZEROS_16, CODE(PADDING)},
    };

    for (size_t i = 0; i < sizeof planes / sizeof *planes; i++) {
        uint8_t data[MAX_FRAME_BYTES];
        const size_t size = build(data, 4, GREY_Y, GREY_C, GREY_C, planes[i].bits);
        check_codes(reader, planes[i].name, data, size, planes[i].want);
        CHECK(pnv_reader_frame(reader)->opaque == (i == 0 || i == 4 || i >= 14), "%s: opaque %d", planes[i].name,
              pnv_reader_frame(reader)->opaque);
    }
}

int main(void)
{
    PnvReader *reader = pnv_reader_new();

    REQUIRE(reader, "no memory");
    test_headers(reader);
    test_stuffing(reader);
    test_weights(reader);
    test_coefficients(reader);
    test_chroma(reader);
    test_alpha(reader);
    pnv_reader_free(&reader);
    CHECK_END();
}
