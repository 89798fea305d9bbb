/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole frames before the strict reader: every profile, size and slice width, every fill, depths and quantizers, and
 * the same bytes from every number of threads. With the argument "ffmpeg" the same matrix before ffmpeg.
 */
#include "check.h"
#include "profile.h"
#include "stream.h"

static const int sizes[][2] = {{1, 1}, {15, 17}, {16, 16}, {33, 35}, {64, 48}, {130, 98}, {720, 486}, {1998, 1080},
                               {1920, 1080}};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static PnvReader *reader;

/* Sanitizers and emulators set this: frames of full size take them minutes. */
static int only_small(void)
{
    return getenv("PNV_TEST_SMALL") != NULL;
}

static PnvParams make_params(PnvProfile profile, const int size[2], int depth, int mbs_per_slice, int quantizer)
{
    return (PnvParams){.width = size[0], .height = size[1], .chroma = pnv_profile_info(profile)->chroma,
                       .depth = depth, .profile = profile, .quantizer = quantizer, .mbs_per_slice = mbs_per_slice, .rounding = PNV_ROUNDING_NEAREST,
                       .fps_n = 25, .fps_d = 1, .threads = 1};
}

/* shift turns the depth, fill and quantizer of each case to another. */
static void test_matrix(int by_ffmpeg, int shift)
{
    static const int depths[3] = {8, 10, 12};

    for (int s = 0; s < N_SIZES; s++) {
        if (only_small() && sizes[s][0] > 130)
            break;
        for (PnvProfile profile = PNV_PROFILE_PROXY; profile <= PNV_PROFILE_4444XQ; profile++) {
            TestFrame frames[4];
            PnvParams params;
            char name[64];
            for (int i = 0; i < 4; i++) { /* slices of 1, 2, 4, 8; depth, fill and quantizer go round with all others */
                const int turn = i + s + (int)profile + shift;
                const Fill fill = (Fill)(turn % N_FILLS);
                TestPicture t;
                params = make_params(profile, sizes[s], depths[turn % 3], 1 << i, turn % 7 == 0 ? 1 : turn % 9 + 1);
                snprintf(name, sizeof name, "%s %dx%d slices of %d depth %d %s", pnv_profile_name(profile), sizes[s][0],
                         sizes[s][1], 1 << i, params.depth, fill_names[fill]);
                test_picture_init(&t, &params, fill, (uint32_t)turn);
                frames[i] = test_encode(&params, &t);
                if (!by_ffmpeg)
                    judge_strictly(reader, name, &params, &t, &frames[i]);
                test_picture_free(&t);
            }
            if (by_ffmpeg)
                judge_by_ffmpeg(name, &params, frames, 4);
            for (int i = 0; i < 4; i++)
                free(frames[i].data);
        }
    }
}

/* All depths and fills, and quantizers on both sides of the change of scale, at one awkward size. */
static void test_settings(void)
{
    static const int size[2] = {130, 98}, quantizers[] = {1, 2, 4, 63, 128, 129, 130, 224};

    for (PnvProfile profile = PNV_PROFILE_PROXY; profile <= PNV_PROFILE_4444XQ; profile++) {
        for (int depth = 8; depth <= 12; depth += 2) {
            for (int fill = 0; fill < N_FILLS; fill++) {
                for (size_t q = 0; q < sizeof quantizers / sizeof *quantizers; q++) {
                    const PnvParams params = make_params(profile, size, depth, 8, quantizers[q]);
                    TestPicture t;
                    char name[64];
                    snprintf(name, sizeof name, "%s depth %d %s quantizer %d", pnv_profile_name(profile), depth,
                             fill_names[fill], quantizers[q]);
                    test_picture_init(&t, &params, (Fill)fill, 5);
                    TestFrame frame = test_encode(&params, &t);
                    judge_strictly(reader, name, &params, &t, &frame);
                    free(frame.data);
                    test_picture_free(&t);
                }
            }
        }
    }
}

/* The bytes do not depend on threads, frames in flight, or what was coded before. */
static void test_threads(void)
{
    static const int threads[] = {1, 2, 5, 16};
    enum { N_THREADS = sizeof threads / sizeof *threads, N_PICTURES = 6 };

    for (int s = 3; s < N_SIZES; s += 2) {
        if (only_small() && sizes[s][0] > 130)
            break;
        TestPicture pictures[N_PICTURES];
        TestFrame want[N_PICTURES];
        PnvParams params = make_params(PNV_PROFILE_HQ, sizes[s], 10, 8, 4);
        for (int i = 0; i < N_PICTURES; i++) {
            test_picture_init(&pictures[i], &params, (Fill)(i % N_FILLS), (uint32_t)i);
            want[i] = test_encode(&params, &pictures[i]);
        }
        for (int n = 0; n < N_THREADS; n++) {
            PnvEncoder *enc;
            params.threads = threads[n];
            params.frames_in_flight = 1 + n % 3;
            REQUIRE(pnv_open(&enc, &params, NULL) == PNV_OK, "open");
            int next_out = 0;
            for (int i = 0; next_out < N_PICTURES;) {
                PnvPacket packet;
                if (i < N_PICTURES && pnv_send(enc, &pictures[i].pic) == PNV_OK) {
                    i++;
                    continue;
                }
                REQUIRE(pnv_collect(enc, &packet) == PNV_OK, "collect");
                CHECK(same_frame(&want[next_out], &(TestFrame){(uint8_t *)packet.data, packet.size}),
                      "%dx%d picture %d, %d threads: other bytes", sizes[s][0], sizes[s][1], next_out, threads[n]);
                pnv_packet_release(&packet);
                next_out++;
            }
            pnv_close(&enc);
        }
        for (int i = 0; i < N_PICTURES; i++) {
            free(want[i].data);
            test_picture_free(&pictures[i]);
        }
    }
}

/* The smallest frame, byte for byte but for the header, which carries both matrices and our name. */
static void test_grey(void)
{
    static const uint8_t want[] = {0x40, 0, 0, 0, 0x16, 0, 1, 0x00, 0, 12, 0x30, 1, 0, 2, 0, 2,
                                   0x82, 0x30, 0x82, 0x00, 0x82, 0x00};
    const PnvParams params = make_params(PNV_PROFILE_HQ, (const int[]){16, 16}, 10, 1, 1);
    TestPicture t;

    test_picture_init(&t, &params, FILL_FLAT, 0);
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 16 * t.width[c]; i++)
            test_picture_put(&t, c, i % t.width[c], i / t.width[c], 512);
    }
    TestFrame frame = test_encode(&params, &t);
    CHECK(frame.size == 156 + sizeof want && !memcmp(frame.data + 156, want, sizeof want), "grey: %zu bytes",
          frame.size);
    CHECK(frame.data[3] == frame.size && !memcmp(frame.data + 12, "prnv", 4), "grey: header");
    free(frame.data);
    test_picture_free(&t);
}

/* Flat luma that is a whole level at its quantizer: the level is that, and comes back as what went in. */
static void test_dc_and_scale(void)
{
    static const struct { int quantizer, level, qscale; } cases[] = {
        {1, 100, 1}, {4, 50, 4}, {128, 10, 128}, {129, 10, 132}, {130, -10, 136}, {224, 3, 512}, {224, -3, 512}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const PnvParams params = make_params(PNV_PROFILE_HQ, (const int[]){16, 16}, 12, 8, cases[i].quantizer);
        const int sample = 2048 + cases[i].level * cases[i].qscale / 2; /* C = level * 4 * qScale = 8 * x */
        TestPicture t;
        test_picture_init(&t, &params, FILL_FLAT, 0);
        for (int k = 0; k < 256; k++)
            test_picture_put(&t, 0, k % 16, k / 16, sample);
        TestFrame frame = test_encode(&params, &t);
        judge_strictly(reader, "flat", &params, &t, &frame);
        const PnvReaderFrame *f = pnv_reader_frame(reader);
        CHECK(pnv_reader_levels(reader, &f->slices[0], 0)[0] == cases[i].level, "quantizer %d: level %d, not %d",
              cases[i].quantizer, pnv_reader_levels(reader, &f->slices[0], 0)[0], cases[i].level);
        CHECK(pnv_reader_round(pnv_reader_row(reader, 0, 3)[5], 12) == sample, "quantizer %d", cases[i].quantizer);
        free(frame.data);
        test_picture_free(&t);
    }
}

/* Every setting that ends in a header arrives there. */
static void test_header(void)
{
    PnvParams params = make_params(PNV_PROFILE_4444XQ, (const int[]){720, 16}, 10, 4, 9);
    TestPicture t;

    params.fps_n = 60000, params.fps_d = 1001;
    params.par_n = 118, params.par_d = 81;
    params.height = 576;
    params.color_primaries = 9, params.transfer_characteristic = 16, params.matrix_coefficients = 6;
    params.encoder_id = "abcd";
    test_picture_init(&t, &params, FILL_FLAT, 1);
    TestFrame frame = test_encode(&params, &t);
    judge_strictly(reader, "header", &params, &t, &frame);
    const PnvReaderFrame *f = pnv_reader_frame(reader);
    const PnvReaderHeader *h = &f->header;
    CHECK(!strcmp(h->encoder_id, "abcd") && h->version == 1 && h->chroma_format == 3 && h->interlace_mode == 0 &&
              h->aspect_ratio == 3 && h->frame_rate_code == 7 && h->color_primaries == 9 &&
              h->transfer_characteristic == 16 && h->matrix_coefficients == 6 && h->alpha_type == 0,
          "header fields");
    CHECK(h->luma_sent && h->chroma_sent && !memcmp(h->luma, pnv_profile_info(PNV_PROFILE_4444XQ)->luma_matrix, 64) &&
              !memcmp(h->chroma, pnv_profile_info(PNV_PROFILE_4444XQ)->chroma_matrix, 64), "matrices");
    CHECK(f->pictures[0].log2_slice_mb == 2 && f->slices[0].quantizer == 9, "slices");
    free(frame.data);
    test_picture_free(&t);
}

int main(int argc, char **argv)
{
    const int n_shifts = getenv("PNV_TEST_FULL") ? 12 : 1; /* 12: every depth with every fill */

    reader = pnv_reader_new();
    REQUIRE(reader, "memory");
    if (argc > 1 && !strcmp(argv[1], "ffmpeg")) {
        if (!have_ffmpeg()) {
            puts("skipped: there is no ffmpeg to decode with");
            return CHECK_SKIP;
        }
        for (int shift = 0; shift < n_shifts; shift++)
            test_matrix(1, shift);
    } else {
        test_grey();
        test_dc_and_scale();
        test_header();
        test_settings();
        test_threads();
        for (int shift = 0; shift < n_shifts; shift++)
            test_matrix(0, shift);
    }
    pnv_reader_free(&reader);
    CHECK_END();
}
