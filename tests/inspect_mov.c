/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files: samples are found in every form of tables, contradictions with the frames are named, lies are refused. */
#include "check.h"
#include "container.h"
#include "inspect_frames.h"
#include "mov_writer.h"

static void store_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static uint8_t *build(const MovWriterInfo *info, int n, size_t *size)
{
    const uint8_t *frames[8];
    size_t sizes[8];

    for (int i = 0; i < n; i++) {
        frames[i] = frame_grey;
        sizes[i] = sizeof frame_grey;
    }
    uint8_t *file = mov_writer_build(info, frames, sizes, n, size);
    REQUIRE(file, "no memory");
    return file;
}

static bool open_file(PnvMov *mov, const uint8_t *file, size_t size, char *error)
{
    const PnvSource source = pnv_source_memory(file, size);
    return pnv_mov_open(mov, &source, error);
}

static void check_samples(const PnvMov *mov, const uint8_t *file, size_t size, uint32_t n, const char *name)
{
    CHECK(mov->n_samples == n, "%s: %u samples", name, mov->n_samples);
    for (uint32_t i = 0; i < mov->n_samples; i++) {
        const PnvMovSample *s = &mov->samples[i];
        CHECK(s->size == sizeof frame_grey && s->offset + s->size <= size &&
              !memcmp(file + s->offset, frame_grey, s->size), "%s: sample %u", name, i);
    }
}

static void test_forms(void)
{
    static const int colr[3] = {9, 16, 9};
    char error[PNV_MOV_ERROR_BYTES];
    PnvMov mov;

    for (int fragmented = 0; fragmented < 2; fragmented++) {
        const MovWriterInfo info = {.fourcc = "apcs", .width = 16, .height = 16, .fps_n = 30000, .fps_d = 1001,
                                    .colr = colr, .fiel_count = 2, .fiel_detail = 14, .fragmented = fragmented};
        size_t size;
        uint8_t *file = build(&info, 5, &size);
        REQUIRE(open_file(&mov, file, size, error), "fragmented %d: %s", fragmented, error);
        check_samples(&mov, file, size, 5, fragmented ? "fragmented" : "plain");
        CHECK(mov.fragmented == fragmented && !mov.bare && !strcmp(mov.fourcc, "apcs"), "form");
        CHECK(mov.width == 16 && mov.height == 16 && mov.depth == 24 && !strcmp(mov.colr_type, "nclc"), "entry");
        CHECK(mov.colr[0] == 9 && mov.colr[1] == 16 && mov.fiel_count == 2 && mov.fiel_detail == 14, "extensions");
        CHECK(mov.timescale == 30000 && mov.duration == 5 * 1001 && pnv_mov_frame_rate(&mov) == 30000.0 / 1001, "rate");
        CHECK(pnv_container_profile(mov.fourcc) == PNV_PROFILE_LT, "profile");
        pnv_mov_close(&mov);
        free(file);
    }
}

static void test_bare(void)
{
    uint8_t file[3 * sizeof frame_grey + 20];
    char error[PNV_MOV_ERROR_BYTES];
    PnvMov mov;

    for (size_t i = 0; i < 3; i++)
        memcpy(file + i * sizeof frame_grey, frame_grey, sizeof frame_grey);
    REQUIRE(open_file(&mov, file, 3 * sizeof frame_grey, error), "%s", error);
    CHECK(mov.bare && mov.n_durations == 0, "bare");
    check_samples(&mov, file, sizeof file, 3, "bare");
    pnv_mov_close(&mov);

    /* a cut last frame keeps the size it claims; what is no frame is one more sample, for the reader to refuse */
    REQUIRE(open_file(&mov, file, 3 * sizeof frame_grey - 1, error), "%s", error);
    CHECK(mov.n_samples == 3 && mov.samples[2].size == sizeof frame_grey, "cut");
    pnv_mov_close(&mov);
    memset(file + 3 * sizeof frame_grey, 0x55, 20);
    REQUIRE(open_file(&mov, file, sizeof file, error), "%s", error);
    CHECK(mov.n_samples == 4 && mov.samples[3].size == 20, "junk");
    pnv_mov_close(&mov);
}

/* Place of the first box of a type, found by its letters. */
static uint8_t *find(uint8_t *file, size_t size, const char *type)
{
    for (size_t i = 4; i + 4 <= size; i++)
        if (!memcmp(file + i, type, 4))
            return file + i - 4;
    REQUIRE(false, "no %s", type);
    return NULL;
}

static void test_refusals(void)
{
    static const struct { const char *box; int offset; uint32_t value; const char *says; } lies[] = {
        {"stsz", 12, 4, "more than"},        /* samples of 4 bytes, 0x60000000 of them */
        {"stsz", 12, 0x1000, NULL},          /* samples of 4096 bytes, which the file ends before */
        {"stsc", 20, 3, "the chunks hold 3"},
        {"stco", 12, 0xffffffff, NULL},      /* behind the file: the reader says so, frame by frame */
        {"moov", 4, 0x78787878, "neither"},
        {"apch", 4, 0x61766331, "'avc1'"},
        {"hdlr", 16, 0x736f756e, "no ProRes"},
    };
    const MovWriterInfo info = {.fourcc = "apch", .width = 16, .height = 16};
    char error[PNV_MOV_ERROR_BYTES];
    PnvMov mov;

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        size_t size;
        uint8_t *file = build(&info, 6, &size);
        uint8_t *box = find(file, size, lies[i].box);
        store_u32(box + lies[i].offset, lies[i].value);
        if (i == 0) {
            store_u32(box + 16, 0x60000000);
            store_u32(find(file, size, "stsc") + 20, 0x60000000);
        }
        const bool ok = open_file(&mov, file, size, error);
        CHECK(ok == !lies[i].says && (ok || strstr(error, lies[i].says)), "%s: %d '%s'", lies[i].box, ok, error);
        pnv_mov_close(&mov);
        free(file);
    }
    CHECK(!open_file(&mov, frame_grey, 7, error) && error[0], "7 bytes");
    CHECK(!open_file(&mov, (const uint8_t *)"RIFF....AVI LIST", 16, error) && strstr(error, "neither"), "'%s'", error);
}

/* Fragments that all claim the rest of the file. */
static void test_overlap(void)
{
    const MovWriterInfo info = {.fourcc = "apch", .width = 16, .height = 16, .fragmented = true};
    char error[PNV_MOV_ERROR_BYTES];
    size_t size;
    uint8_t *file = build(&info, 8, &size);
    PnvMov mov;

    for (size_t i = 4; i + 20 <= size; i++)
        if (!memcmp(file + i, "trun", 4))
            store_u32(file + i + 16, 0x10000);
    CHECK(!open_file(&mov, file, size, error) && strstr(error, "overlap"), "'%s'", error);
    pnv_mov_close(&mov);
    free(file);
}

/* Every cut of a file is read or refused, without reading behind it. */
static void test_cuts(void)
{
    const MovWriterInfo info = {.fourcc = "apch", .width = 16, .height = 16, .fragmented = true};
    char error[PNV_MOV_ERROR_BYTES];
    size_t size;
    uint8_t *file = build(&info, 3, &size);
    PnvMov mov;

    for (size_t n = 0; n < size; n++) {
        uint8_t *cut = malloc(n ? n : 1);
        REQUIRE(cut, "no memory");
        memcpy(cut, file, n);
        const bool ok = open_file(&mov, cut, n, error);
        CHECK(ok || error[0], "cut to %zu: refused without a word", n);
        CHECK(mov.n_samples <= 3, "cut to %zu: %u samples", n, mov.n_samples);
        pnv_mov_close(&mov);
        free(cut);
    }
    free(file);
}

static void remember(void *opaque, const PnvFinding *finding)
{
    *(PnvFindingCode *)opaque = finding->code;
}

/* One thing that frame and container say differently, or not, and the only code it gives. */
typedef struct Contradiction {
    const char *fourcc;
    int width, height, fps_n, fps_d;
    int colr[3], fiel_count, fiel_detail;
    uint8_t byte20, rate, colour[3]; /* of the frame header */
    PnvFindingCode want;
} Contradiction;

#define NONE PNV_FINDING_NONE
#define COLOUR PNV_FINDING_CONTAINER_COLOUR
#define FIELDS PNV_FINDING_CONTAINER_FIELDS
#define RATE PNV_FINDING_CONTAINER_RATE

static void test_contradictions(void)
{
    static const Contradiction list[] = {
        {"apch", 16, 16, 25, 1, {1, 1, 1}, 1, 0, 0x80, 3, {1, 1, 1}, NONE},
        {"apch", 32, 16, 25, 1, {1, 1, 1}, 1, 0, 0x80, 3, {1, 1, 1}, PNV_FINDING_CONTAINER_SIZE},
        {"ap4h", 16, 16, 25, 1, {1, 1, 1}, 1, 0, 0x80, 3, {1, 1, 1}, PNV_FINDING_CONTAINER_CHROMA},
        {"apch", 16, 16, 24, 1, {1, 1, 1}, 1, 0, 0x80, 1, {1, 1, 1}, RATE}, /* 24 and 24000/1001 */
        {"apch", 16, 16, 24000, 1001, {1, 1, 1}, 1, 0, 0x80, 1, {1, 1, 1}, NONE},
        {"apch", 16, 16, 2400000, 100100, {1, 1, 1}, 1, 0, 0x80, 1, {1, 1, 1}, NONE},
        {"apch", 16, 16, 30000, 1001, {1, 1, 1}, 1, 0, 0x80, 7, {1, 1, 1}, RATE}, /* frames, not fields */
        {"apch", 16, 16, 17, 1, {1, 1, 1}, 1, 0, 0x80, 0, {1, 1, 1}, NONE}, /* unknown */
        {"apch", 16, 16, 25, 1, {6, 6, 6}, 1, 0, 0x80, 3, {6, 1, 6}, NONE},    /* one curve */
        {"apch", 16, 16, 25, 1, {9, 15, 9}, 1, 0, 0x80, 3, {9, 1, 9}, NONE},
        {"apch", 16, 16, 25, 1, {9, 14, 9}, 1, 0, 0x80, 3, {9, 1, 9}, NONE},
        {"apch", 16, 16, 25, 1, {2, 2, 2}, 1, 0, 0x80, 3, {0, 0, 0}, NONE}, /* both unspecified */
        {"apch", 16, 16, 25, 1, {9, 16, 9}, 1, 0, 0x80, 3, {9, 18, 9}, COLOUR},
        {"apch", 16, 16, 25, 1, {1, 1, 1}, 1, 0, 0x80, 3, {2, 2, 2}, COLOUR},
        {"apch", 16, 16, 25, 1, {1, 1, 1}, 2, 9, 0x80, 3, {1, 1, 1}, FIELDS},
        {"apch", 16, 16, 25, 1, {1, 1, 1}, 0, 0, 0x84, 3, {1, 1, 1}, NONE}, /* no fiel */
        {"apch", 16, 16, 25, 1, {1, 1, 1}, 2, 9, 0x84, 3, {1, 1, 1}, NONE},
        {"apch", 16, 16, 25, 1, {1, 1, 1}, 2, 1, 0x84, 3, {1, 1, 1}, NONE},
        {"apch", 16, 16, 25, 1, {1, 1, 1}, 2, 14, 0x88, 3, {1, 1, 1}, NONE},
        {"apch", 16, 16, 25, 1, {1, 1, 1}, 2, 14, 0x84, 3, {1, 1, 1}, FIELDS},
        {"apch", 16, 16, 25, 1, {1, 1, 1}, 1, 0, 0x88, 3, {1, 1, 1}, FIELDS},
    };
    PnvReader *reader = pnv_reader_new();
    char error[PNV_MOV_ERROR_BYTES];
    PnvMov mov;

    REQUIRE(reader, "no memory");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const Contradiction *c = &list[i];
        const MovWriterInfo info = {.fourcc = c->fourcc, .width = c->width, .height = c->height, .fps_n = c->fps_n,
                                    .fps_d = c->fps_d, .colr = c->colr, .fiel_count = c->fiel_count,
                                    .fiel_detail = c->fiel_detail};
        uint8_t frame[sizeof frame_grey];
        size_t size;
        uint8_t *file = build(&info, 2, &size);
        memcpy(frame, frame_grey, sizeof frame);
        frame[20] = c->byte20, frame[21] = c->rate;
        memcpy(frame + 22, c->colour, 3);
        REQUIRE(open_file(&mov, file, size, error), "%s", error);
        pnv_reader_read(reader, frame, sizeof frame, NULL);
        PnvFindingCode got = PNV_FINDING_NONE;
        pnv_container_check(&mov, pnv_reader_frame(reader), remember, &got);
        CHECK(got == c->want, "row %zu: %s", i, got ? pnv_finding_name(got) : "nothing");
        pnv_mov_close(&mov);
        free(file);
    }
    pnv_reader_free(&reader);
}

static void test_depth(void)
{
    for (int depth = 24; depth <= 32; depth += 8)
        for (int see_through = 0; see_through < 2; see_through++) {
            const PnvMov mov = {.depth = depth};
            PnvFindingCode got = PNV_FINDING_NONE;
            pnv_container_check_depth(&mov, see_through, remember, &got);
            CHECK((got == PNV_FINDING_CONTAINER_DEPTH) == ((depth == 32) != see_through), "depth %d alpha %d", depth,
                  see_through);
        }
}

/* Every code has a name of its own, by which it is found again. */
static void test_names(void)
{
    for (int i = 1; i < PNV_N_FINDING_CODES; i++) {
        const char *name = pnv_finding_name((PnvFindingCode)i);
        REQUIRE(name && pnv_finding_summary((PnvFindingCode)i), "code %d has no name", i);
        CHECK(pnv_finding_by_name(name) == (PnvFindingCode)i, "%s", name);
    }
    CHECK(pnv_finding_by_name("no-such-code") == PNV_FINDING_NONE, "a code of no name");
    CHECK(!pnv_finding_name(PNV_FINDING_NONE) && !pnv_finding_name(PNV_N_FINDING_CODES), "names of no codes");
    CHECK(pnv_finding_is_violation(PNV_FINDING_STUFFING), "stuffing is a violation");
    CHECK(!pnv_finding_is_violation(PNV_FINDING_PADDING_BYTES), "some bytes of padding are a note");
}

int main(void)
{
    test_forms();
    test_bare();
    test_refusals();
    test_overlap();
    test_cuts();
    test_contradictions();
    test_depth();
    test_names();
    CHECK_END();
}
