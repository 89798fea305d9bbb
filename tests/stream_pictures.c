/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every kind of picture before the strict reader: fields in both orders, alpha, 16-bit and packed input, full range,
 * and contents at the extremes. With the argument "ffmpeg" before ffmpeg, where it can read them.
 */
#include "check.h"
#include "profile.h"
#include "slice.h"
#include "stream.h"

static PnvReader *reader;
static int by_ffmpeg;

static int only_small(void)
{
    return getenv("PNV_TEST_SMALL") != NULL;
}

static PnvParams make_params(PnvProfile profile, int width, int height, int depth, int quantizer)
{
    return (PnvParams){.width = width, .height = height, .chroma = pnv_profile_info(profile)->chroma, .depth = depth,
                       .profile = profile, .quantizer = quantizer, .rounding = PNV_ROUNDING_NEAREST};
}

/* ffmpeg rounds the rows of both fields up together, and fails where the bottom field has an MB row less. */
static int ffmpeg_can_read(const PnvParams *params, PnvInterlace interlace)
{
    return interlace == PNV_PROGRESSIVE || params->height % 32 != 1;
}

static void judge(const char *name, const PnvParams *params, const TestPicture *t)
{
    TestFrame frame = test_encode(params, t);

    if (!by_ffmpeg)
        judge_strictly(reader, name, params, t, &frame);
    else if (ffmpeg_can_read(params, t->pic.interlace))
        judge_by_ffmpeg(name, params, &frame, 1);
    free(frame.data);
}

static void test_interlaced(void)
{
    static const int sizes[][2] = {{1, 2}, {16, 3}, {90, 45}, {64, 48}, {33, 33}, {17, 65}, {130, 98}, {720, 486},
                                   {720, 576}, {1920, 1080}};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && (sizes[s][0] <= 130 || !only_small()); s++) {
        for (PnvProfile profile = PNV_PROFILE_PROXY; profile <= PNV_PROFILE_4444XQ; profile++) {
            for (int order = PNV_TOP_FIELD_FIRST; order <= PNV_BOTTOM_FIELD_FIRST; order++) {
                PnvParams params = make_params(profile, sizes[s][0], sizes[s][1], 10, 1 + (int)profile % 4);
                TestPicture t;
                char name[64];
                if (sizes[s][0] > 130 && (int)profile % 2 != order % 2)
                    continue; /* at full size one order for each profile */
                params.mbs_per_slice = 1 << (s + profile) % 4;
                params.threads = 1 + (int)s % 3;
                snprintf(name, sizeof name, "%s %dx%d order %d", pnv_profile_name(profile), sizes[s][0], sizes[s][1],
                         order);
                test_picture_init(&t, &params, FILL_NATURAL, (uint32_t)s);
                t.pic.interlace = (PnvInterlace)order;
                judge(name, &params, &t);
                test_picture_free(&t);
            }
        }
    }
}

/* A field is coded as it would be coded alone: same samples, same slices, but for the scan of interlaced pictures. And
 * each comes back in its own lines: one field black, the other white. */
static void test_fields_keep_their_lines(void)
{
    for (int order = PNV_TOP_FIELD_FIRST; order <= PNV_BOTTOM_FIELD_FIRST; order++) {
        PnvParams params = make_params(PNV_PROFILE_HQ, 48, 37, 10, 1);
        TestPicture t;
        test_picture_init(&t, &params, FILL_FLAT, 0);
        for (int y = 0; y < t.height; y++) {
            for (int x = 0; x < t.width[0]; x++)
                test_picture_put(&t, 0, x, y, y % 2 ? 900 : 100);
        }
        t.pic.interlace = (PnvInterlace)order;
        TestFrame frame = test_encode(&params, &t);
        judge_strictly(reader, "fields", &params, &t, &frame);
        const PnvReaderFrame *f = pnv_reader_frame(reader);
        for (int y = 0; y < t.height; y++)
            CHECK(abs(pnv_reader_round(pnv_reader_row(reader, 0, y)[9], 12) - 4 * (y % 2 ? 900 : 100)) <= 2, "row %d", y);
        /* the first picture is the earlier field: its DC says which */
        const int dc = pnv_reader_levels(reader, &f->slices[0], 0)[0];
        CHECK((dc > 0) == (order == PNV_BOTTOM_FIELD_FIRST), "order %d: first DC %d", order, dc);
        free(frame.data);
        test_picture_free(&t);
    }
}

/* Fields in memory of their own are the same picture as fields woven together. */
static void test_fields_apart(void)
{
    for (int height = 2; height < 70; height += 15) {
        for (int order = PNV_TOP_FIELD_FIRST; order <= PNV_BOTTOM_FIELD_FIRST; order++) {
            const PnvParams params = make_params(PNV_PROFILE_HQ, 50, height, 10, 2);
            PnvParams field_params = params;
            TestPicture woven, top, bottom;
            test_picture_init(&woven, &params, FILL_NATURAL, 8);
            woven.pic.interlace = (PnvInterlace)order;
            field_params.height = (height + 1) / 2;
            test_picture_init(&top, &field_params, FILL_FLAT, 0);
            field_params.height = height / 2;
            test_picture_init(&bottom, &field_params, FILL_FLAT, 0);
            for (int c = 0; c < 3; c++) {
                for (int i = 0; i < height * woven.width[c]; i++) {
                    const int x = i % woven.width[c], y = i / woven.width[c];
                    test_picture_put(y % 2 ? &bottom : &top, c, x, y / 2, test_picture_get(&woven, c, x, y));
                }
            }
            TestFrame want = test_encode(&params, &woven);
            top.pic.interlace = (PnvInterlace)order;
            for (int c = 0; c < 3; c++)
                top.pic.bottom[c] = bottom.pic.plane[c];
            TestFrame got = test_encode(&params, &top);
            CHECK(same_frame(&want, &got), "height %d order %d", height, order);
            PnvEncoder *enc;
            REQUIRE(pnv_open(&enc, &params, NULL) == PNV_OK, "open");
            top.pic.bottom[1] = NULL;
            CHECK(pnv_send(enc, &top.pic) == PNV_EINVAL && strstr(pnv_error(enc), "bottom[1]"), "%s", pnv_error(enc));
            top.pic.bottom[1] = bottom.pic.plane[1];
            top.pic.interlace = PNV_PROGRESSIVE;
            CHECK(pnv_send(enc, &top.pic) == PNV_EINVAL && strstr(pnv_error(enc), "progressive"), "%s", pnv_error(enc));
            pnv_close(&enc);
            free(want.data), free(got.data);
            test_picture_free(&woven), test_picture_free(&top), test_picture_free(&bottom);
        }
    }
}

/* One encoder takes every kind in turn (mixed content), and gives what an encoder for each alone gives. */
static void test_mixed(void)
{
    PnvParams params = make_params(PNV_PROFILE_HQ, 90, 65, 10, 3);
    TestPicture t[3];
    PnvEncoder *enc;

    params.frames_in_flight = 3;
    params.threads = 3;
    REQUIRE(pnv_open(&enc, &params, NULL) == PNV_OK, "open");
    for (int i = 0; i < 3; i++) {
        test_picture_init(&t[i], &params, FILL_NATURAL, 3);
        t[i].pic.interlace = (PnvInterlace)i;
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++)
            REQUIRE(pnv_send(enc, &t[(i + round) % 3].pic) == PNV_OK, "send");
        for (int i = 0; i < 3; i++) {
            PnvPacket packet;
            REQUIRE(pnv_collect(enc, &packet) == PNV_OK, "collect");
            TestFrame alone = test_encode(&params, &t[(i + round) % 3]);
            CHECK(same_frame(&alone, &(TestFrame){(uint8_t *)packet.data, packet.size}), "kind %d", (i + round) % 3);
            free(alone.data);
            pnv_packet_release(&packet);
        }
    }
    for (int i = 0; i < 3; i++)
        test_picture_free(&t[i]);
    pnv_close(&enc);
}

static void test_one_row_has_no_fields(void)
{
    const PnvParams params = make_params(PNV_PROFILE_HQ, 16, 1, 10, 4);
    TestPicture t;
    PnvEncoder *enc;

    REQUIRE(pnv_open(&enc, &params, NULL) == PNV_OK, "open");
    test_picture_init(&t, &params, FILL_FLAT, 0);
    t.pic.interlace = PNV_TOP_FIELD_FIRST;
    CHECK(pnv_send(enc, &t.pic) == PNV_EINVAL && strstr(pnv_error(enc), "height 1"), "\"%s\"", pnv_error(enc));
    t.pic.interlace = (PnvInterlace)3;
    CHECK(pnv_send(enc, &t.pic) == PNV_EINVAL && strstr(pnv_error(enc), "interlace 3"), "\"%s\"", pnv_error(enc));
    test_picture_free(&t);
    pnv_close(&enc);
}

static void test_alpha(void)
{
    static const int sizes[][2] = {{1, 1}, {16, 16}, {33, 35}, {130, 98}, {150, 50}, {720, 486}};
    static const int depths[] = {8, 10, 12, 16};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && (sizes[s][0] <= 150 || !only_small()); s++) {
        for (int d = 0; d < 4; d++) {
            for (int bits = 8; bits <= 16; bits += 8) {
                for (int fill = 0; fill < N_ALPHA_FILLS; fill++) {
                    PnvParams params = make_params(fill % 2 ? PNV_PROFILE_4444 : PNV_PROFILE_4444XQ, sizes[s][0],
                                                   sizes[s][1], depths[d], 4);
                    TestPicture t;
                    char name[64];
                    if (sizes[s][0] > 150 && (d + fill) % 4)
                        continue;
                    if (by_ffmpeg && (d + fill + (int)s) % 3)
                        continue; /* a process each */
                    params.alpha_bits = bits;
                    params.mbs_per_slice = 1 << (s + (size_t)fill) % 4;
                    snprintf(name, sizeof name, "%dx%d depth %d alpha %d %s", sizes[s][0], sizes[s][1], depths[d], bits,
                             alpha_fill_names[fill]);
                    test_picture_init(&t, &params, FILL_NATURAL, 2);
                    test_picture_fill_alpha(&t, (AlphaFill)fill, 2);
                    t.pic.interlace = sizes[s][1] > 1 ? (PnvInterlace)((d + fill) % 3) : PNV_PROGRESSIVE;
                    judge(name, &params, &t);
                    test_picture_free(&t);
                }
            }
        }
    }
}

/* Packed and planar components of the same samples are the same picture. */
static void test_packed(void)
{
    for (int depth = 8; depth <= 16; depth += 8) {
        PnvParams params = make_params(PNV_PROFILE_4444, 130, 37, depth, 2);
        TestPicture planar, packed;
        params.alpha_bits = depth;
        test_picture_init(&planar, &params, FILL_NATURAL, 9);
        test_picture_init_packed(&packed, &params, FILL_NATURAL, 9);
        TestFrame a = test_encode(&params, &planar), b = test_encode(&params, &packed);
        CHECK(same_frame(&a, &b), "depth %d: packed differs", depth);
        judge_strictly(reader, "packed", &params, &packed, &b);
        free(a.data);
        free(b.data);

        PnvEncoder *enc;
        REQUIRE(pnv_open(&enc, &params, NULL) == PNV_OK, "open");
        packed.pic.step[2] = depth / 8 * 4 + (depth > 8);
        packed.pic.step[2] = depth > 8 ? 7 : -4;
        CHECK(pnv_send(enc, &packed.pic) == PNV_EINVAL && strstr(pnv_error(enc), "step[2]"), "\"%s\"", pnv_error(enc));
        packed.pic.step[2] = packed.pic.step[0] * 2;
        CHECK(pnv_send(enc, &packed.pic) == PNV_EINVAL && strstr(pnv_error(enc), "stride[2]"), "\"%s\"", pnv_error(enc));
        pnv_close(&enc);
        test_picture_free(&planar);
        test_picture_free(&packed);
    }
}

/* 16 bits of input keep what the transform can hold: closer to the source than the same picture cut to 12 bits. */
static void test_16_bits(void)
{
    PnvParams params = make_params(PNV_PROFILE_4444XQ, 130, 98, 16, 1);
    TestPicture t;

    for (int fill = 0; fill < N_FILLS; fill++) {
        test_picture_init(&t, &params, (Fill)fill, 4);
        judge(fill_names[fill], &params, &t);
        test_picture_free(&t);
    }
    params.profile = PNV_PROFILE_HQ;
    params.chroma = PNV_CHROMA_422;
    test_picture_init(&t, &params, FILL_NATURAL, 4);
    judge("16 bits 4:2:2", &params, &t);
    test_picture_free(&t);

    /* A flat half step between two 12-bit codes: XQ at quantizer 1 resolves 1/16 of a 12-bit code in DC. */
    test_picture_init(&t, &params, FILL_FLAT, 0);
    for (int i = 0; i < t.width[0] * t.height; i++)
        test_picture_put(&t, 0, i % t.width[0], i / t.width[0], (2000 << 4) + 8);
    TestFrame frame = test_encode(&params, &t);
    judge_strictly(reader, "half code", &params, &t, &frame);
    const double got = pnv_reader_row(reader, 0, 5)[5];
    CHECK(got > 2000.2 && got < 2000.8, "2000.5 of 12 bits comes back as %f", got);
    free(frame.data);
    test_picture_free(&t);
}

static void test_full_range(void)
{
    for (int depth = 8; depth <= 16; depth += depth == 12 ? 4 : 2) {
        for (PnvProfile profile = PNV_PROFILE_HQ; profile <= PNV_PROFILE_4444XQ; profile++) {
            for (int fill = 0; fill < N_FILLS; fill++) {
                PnvParams params = make_params(profile, 66, 50, depth, 1);
                TestPicture t;
                char name[64];
                params.range = PNV_RANGE_FULL;
                snprintf(name, sizeof name, "%s full range depth %d %s", pnv_profile_name(profile), depth,
                         fill_names[fill]);
                test_picture_init(&t, &params, (Fill)fill, 6);
                judge(name, &params, &t);
                test_picture_free(&t);
            }
        }
    }
}

/* What drives coefficients, codes and sizes furthest; the reader sees that no slice or unit passes its bound. */
static void test_extremes(void)
{
    static const char *const kinds[] = {"noise", "checks", "all 0", "all largest"};

    for (int kind = 0; kind < 4; kind++) {
        for (int depth = 8; depth <= 16; depth += depth == 12 ? 4 : 2) {
            for (int chroma = 0; chroma < 2; chroma++) {
                PnvParams params = make_params(chroma ? PNV_PROFILE_4444XQ : PNV_PROFILE_HQ, 256, 64, depth, 1);
                TestPicture t;
                char name[64];
                params.alpha_bits = chroma ? 16 : 0;
                snprintf(name, sizeof name, "%s depth %d %s", kinds[kind], depth, pnv_profile_name(params.profile));
                test_picture_init(&t, &params, kind == 0 ? FILL_NOISE : FILL_CHECKS, (uint32_t)depth);
                for (int c = 0; kind >= 2 && c < 3; c++) {
                    for (int i = 0; i < t.width[c] * t.height; i++)
                        test_picture_put(&t, c, i % t.width[c], i / t.width[c], kind == 3 ? (1 << depth) - 1 : 0);
                }
                test_picture_fill_alpha(&t, ALPHA_NOISE, 1);
                t.pic.interlace = (PnvInterlace)(kind % 3);
                TestFrame frame = test_encode(&params, &t);
                if (by_ffmpeg) {
                    judge_by_ffmpeg(name, &params, &frame, 1);
                } else {
                    judge_strictly(reader, name, &params, &t, &frame);
                    const PnvReaderFrame *f = pnv_reader_frame(reader);
                    for (uint32_t k = 0; k < f->n_slices; k++) {
                        CHECK(f->slices[k].bytes <= pnv_slice_bound(params.chroma, params.alpha_bits, f->slices[k].n_mbs),
                              "%s: slice of %d bytes", name, f->slices[k].bytes);
                        CHECK(f->slices[k].unit_bytes[0] <= pnv_unit_bound(4 * f->slices[k].n_mbs), "%s: luma", name);
                    }
                }
                free(frame.data);
                test_picture_free(&t);
            }
        }
    }
}

int main(int argc, char **argv)
{
    by_ffmpeg = argc > 1 && !strcmp(argv[1], "ffmpeg");
    if (by_ffmpeg && !have_ffmpeg()) {
        puts("skipped: there is no ffmpeg to decode with");
        return CHECK_SKIP;
    }
    reader = pnv_reader_new();
    REQUIRE(reader, "memory");
    test_interlaced();
    test_alpha();
    test_16_bits();
    test_full_range();
    test_extremes();
    if (!by_ffmpeg) {
        test_fields_keep_their_lines();
        test_fields_apart();
        test_mixed();
        test_one_row_has_no_fields();
        test_packed();
    }
    pnv_reader_free(&reader);
    CHECK_END();
}
