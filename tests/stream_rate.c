/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate control on whole frames: the maximum is never passed while any quantizer can hold it, targets are filled, easy
 * frames stop at the smallest quantizer, and a frame's bytes depend on nothing but itself.
 */
#include "check.h"
#include "layout.h"
#include "profile.h"
#include "stream.h"
#include "target.h"

static PnvReader *reader;

static int only_small(void)
{
    return getenv("PNV_TEST_SMALL") != NULL;
}

static PnvParams make_params(PnvProfile profile, int width, int height)
{
    return (PnvParams){.width = width, .height = height, .chroma = pnv_profile_info(profile)->chroma, .depth = 10,
                       .profile = profile, .rate_control = PNV_RATE_TARGET, .fps_n = 25, .fps_d = 1};
}

typedef struct Result {
    TestFrame frame;
    PnvPacket info; /* without data */
} Result;

static Result encode(const PnvParams *params, const TestPicture *t)
{
    char error[PNV_ERROR_BYTES] = "";
    PnvEncoder *enc;
    PnvPacket packet;

    REQUIRE(pnv_open(&enc, params, error) == PNV_OK, "open: %s", error);
    REQUIRE(pnv_send(enc, &t->pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "encode: %s", pnv_error(enc));
    Result r = {{malloc(packet.size), packet.size}, packet};
    REQUIRE(r.frame.data, "memory");
    memcpy(r.frame.data, packet.data, packet.size);
    pnv_packet_release(&packet);
    pnv_close(&enc);
    r.info.data = NULL;
    if (test_twin)
        test_twin(params, t, &r.frame);
    return r;
}

/* Valid, and what the packet says of it is so. */
static void check_frame(const char *name, const Result *r, const TestPicture *t)
{
    const PnvReaderOptions options = {.flags = PNV_READER_LEVELS};
    REQUIRE(pnv_reader_read(reader, r->frame.data, r->frame.size, &options) == PNV_READER_OK, "%s", name);
    const PnvReaderFrame *f = pnv_reader_frame(reader);
    int min = 255, max = 0;

    CHECK(f->n_violations == 0 && f->n_notes == 0 && f->complete, "%s: not a valid frame", name);
    CHECK(f->header.interlace_mode == (int)t->pic.interlace, "%s: interlace", name);
    for (uint32_t i = 0; i < f->n_slices; i++) {
        min = f->slices[i].quantizer < min ? f->slices[i].quantizer : min;
        max = f->slices[i].quantizer > max ? f->slices[i].quantizer : max;
    }
    CHECK(r->info.quantizer_min == min && r->info.quantizer_max == max, "%s: quantizers %d..%d, packet says %d..%d",
          name, min, max, r->info.quantizer_min, r->info.quantizer_max);
    CHECK(max - min <= 1, "%s: quantizers %d..%d", name, min, max);
    CHECK(r->info.alpha_bytes == f->unit_bytes[3], "%s: alpha %u, packet says %u", name, f->unit_bytes[3],
          r->info.alpha_bytes);
    CHECK(r->info.over_limit == (r->info.limit_bytes && r->frame.size > r->info.limit_bytes), "%s: over_limit", name);
}

/* Every profile and content at its own target. */
static void test_targets(void)
{
    static const int sizes[][2] = {{130, 98}, {720, 486}, {1280, 720}, {1920, 1080}};

    for (int s = 0; s < (only_small() ? 1 : 4); s++) {
        for (PnvProfile profile = PNV_PROFILE_PROXY; profile <= PNV_PROFILE_4444XQ; profile++) {
            for (int fill = 0; fill < N_FILLS; fill++) {
                PnvParams params = make_params(profile, sizes[s][0], sizes[s][1]);
                const uint64_t target = pnv_target_bytes(profile, params.width, params.height);
                TestPicture t;
                char name[64];
                snprintf(name, sizeof name, "%s %dx%d %s", pnv_profile_name(profile), params.width, params.height,
                         fill_names[fill]);
                test_picture_init(&t, &params, (Fill)fill, 3);
                t.pic.interlace = (PnvInterlace)((s + fill) % 3);
                const Result r = encode(&params, &t);
                check_frame(name, &r, &t);
                CHECK(r.info.target_bytes == target && r.info.limit_bytes == target, "%s: target %u", name,
                      r.info.target_bytes);
                CHECK(r.frame.size <= target, "%s: %zu bytes of %llu", name, r.frame.size, (unsigned long long)target);
                const int least = profile == PNV_PROFILE_PROXY ? 4 : 1;
                /* at small sizes a slice is more than a hundredth */
                CHECK(s == 0 || r.frame.size * 100 >= target * 99 || r.info.quantizer_max == least ||
                          r.info.quantizer_max >= 60, "%s: %zu bytes of %llu at quantizer %d", name, r.frame.size,
                      (unsigned long long)target, r.info.quantizer_max);
                if (fill == FILL_FLAT)
                    CHECK(r.info.quantizer_max == least && r.frame.size < target / 4, "%s: an easy frame of %zu bytes",
                          name, r.frame.size);
                free(r.frame.data);
                test_picture_free(&t);
            }
        }
    }
}

/* Maxima from nothing to plenty, in both modes, with and without alpha. */
static void test_maximum(void)
{
    static const PnvProfile profiles[] = {PNV_PROFILE_LT, PNV_PROFILE_HQ, PNV_PROFILE_4444, PNV_PROFILE_4444XQ};

    for (int n = 0; n < 4 * N_FILLS * 2; n++) {
        PnvParams params = make_params(profiles[n % 4], 200, 70);
        TestPicture t;
        size_t last = 0;
        params.rate_control = n & 1 ? PNV_RATE_TARGET : PNV_RATE_CONSTANT_QUANTIZER;
        params.quantizer = n & 1 ? 0 : 2;
        params.alpha_bits = params.chroma == PNV_CHROMA_444 && n % 3 ? 16 : 0;
        test_picture_init(&t, &params, (Fill)(n / 4 % N_FILLS), (uint32_t)n);
        test_picture_fill_alpha(&t, ALPHA_MATTE, 1);
        for (uint32_t max = 1; max < 2000000; max = max * 3 / 2 + 100) {
            char name[64];
            params.max_frame_bytes = max;
            const Result r = encode(&params, &t);
            snprintf(name, sizeof name, "%s %s mode %d maximum %u", pnv_profile_name(params.profile),
                     fill_names[n / 4 % N_FILLS], n & 1, max);
            check_frame(name, &r, &t);
            CHECK(r.info.limit_bytes == max, "%s: limit %u", name, r.info.limit_bytes);
            CHECK(r.frame.size <= max || (r.info.quantizer_min == 224 && r.info.over_limit), "%s: %zu bytes", name,
                  r.frame.size);
            CHECK(r.frame.size >= last, "%s: %zu bytes, %zu with less room", name, r.frame.size, last);
            CHECK(r.info.raised == (params.rate_control == PNV_RATE_CONSTANT_QUANTIZER && r.info.quantizer_max > 2),
                  "%s: raised %d at quantizer %d", name, r.info.raised, r.info.quantizer_max);
            last = r.frame.size * 98 / 100; /* within the search's tolerance */
            free(r.frame.data);
        }
        test_picture_free(&t);
    }
}

/* Alpha comes on top of an automatic maximum, and inside of an explicit one. */
static void test_alpha(void)
{
    PnvParams params = make_params(PNV_PROFILE_4444, 320, 160);
    TestPicture t;

    params.alpha_bits = 16;
    test_picture_init(&t, &params, FILL_NOISE, 1);
    test_picture_fill_alpha(&t, ALPHA_NOISE, 1);
    const Result on_top = encode(&params, &t);
    check_frame("alpha on top", &on_top, &t);
    CHECK(on_top.info.alpha_bytes > 50000, "noise is %u bytes of alpha", on_top.info.alpha_bytes);
    CHECK(on_top.frame.size <= on_top.info.target_bytes + on_top.info.alpha_bytes &&
              on_top.frame.size > on_top.info.target_bytes, "%zu bytes, target %u", on_top.frame.size,
          on_top.info.target_bytes);
    params.max_frame_bytes = on_top.info.alpha_bytes + 40000;
    const Result inside = encode(&params, &t);
    check_frame("alpha inside", &inside, &t);
    CHECK(inside.frame.size <= params.max_frame_bytes && inside.info.alpha_bytes == on_top.info.alpha_bytes,
          "%zu bytes of %u", inside.frame.size, params.max_frame_bytes);
    free(on_top.frame.data);
    free(inside.frame.data);
    test_picture_free(&t);
}

static void test_settings(void)
{
    PnvParams params = make_params(PNV_PROFILE_HQ, 320, 160);
    TestPicture t;

    test_picture_init(&t, &params, FILL_NOISE, 1);
    PnvEncoder *enc;
    REQUIRE(pnv_open(&enc, &params, NULL) == PNV_OK, "open");
    CHECK(pnv_params(enc)->bitrate == (int64_t)pnv_target_bytes(PNV_PROFILE_HQ, 320, 160) * 25 / 125, "bitrate %d",
          pnv_params(enc)->bitrate);
    pnv_close(&enc);
    params.bitrate = 4000; /* kbit/s at 25 fps: 20000 bytes */
    const Result rate = encode(&params, &t);
    CHECK(rate.info.target_bytes == 20000 && rate.frame.size <= 20000 && rate.frame.size > 19000, "%zu bytes",
          rate.frame.size);
    params.fps_n = 30000, params.fps_d = 1001;
    const Result ntsc = encode(&params, &t);
    CHECK(ntsc.info.target_bytes == 4000LL * 125 * 1001 / 30000, "target %u", ntsc.info.target_bytes);
    params.bitrate = 0;
    params.max_quantizer = 3; /* noise does not fit: the bound of quality counts, up to the maximum */
    params.max_frame_bytes = 10000000;
    const Result bound = encode(&params, &t);
    CHECK(bound.info.quantizer_max == 3 && bound.frame.size > bound.info.target_bytes, "quantizer %d",
          bound.info.quantizer_max);
    params.max_frame_bytes = 40000;
    const Result hard = encode(&params, &t);
    CHECK(hard.info.quantizer_min > 3 && hard.frame.size <= 40000, "%zu bytes", hard.frame.size);
    params.max_quantizer = 0;
    params.min_quantizer = 150;
    const Result coarse = encode(&params, &t);
    CHECK(coarse.info.quantizer_min == 150 && coarse.info.quantizer_max == 150, "quantizer %d", coarse.info.quantizer_max);

    /* Numbers at their ends: no rate is so low that it means none, and none so high that it wraps. */
    PnvParams extreme = make_params(PNV_PROFILE_HQ, 320, 160);
    extreme.bitrate = 1, extreme.fps_n = 240;
    const Result least = encode(&extreme, &t);
    CHECK(least.info.target_bytes == 1 && least.info.quantizer_min == 224 && least.info.over_limit, "target %u",
          least.info.target_bytes);
    extreme.bitrate = INT32_MAX, extreme.fps_n = 1, extreme.fps_d = INT32_MAX;
    const Result most = encode(&extreme, &t);
    CHECK(most.info.quantizer_max == 1 && !most.info.over_limit && most.info.target_bytes == pnv_packet_bound(&extreme),
          "target %u, quantizer %d", most.info.target_bytes, most.info.quantizer_max);
    free(least.frame.data), free(most.frame.data);

    static const struct { PnvParams p; const char *words; } refused[] = {
        {{.width = 16, .height = 16, .depth = 10, .rate_control = PNV_RATE_TARGET, .bitrate = 100}, "frame rate"},
        {{.width = 16, .height = 16, .depth = 10, .bitrate = 100, .fps_n = 25, .fps_d = 1}, "constant quantizer"},
        {{.width = 16, .height = 16, .depth = 10, .min_quantizer = 9, .max_quantizer = 8}, "above max_quantizer 8"},
        {{.width = 16, .height = 16, .depth = 10, .rate_control = (PnvRateControl)2}, "rate_control 2"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char error[PNV_ERROR_BYTES] = "";
        CHECK(pnv_open(&enc, &refused[i].p, error) == PNV_EINVAL && strstr(error, refused[i].words), "%zu: \"%s\"", i,
              error);
    }
    free(rate.frame.data), free(ntsc.frame.data), free(bound.frame.data), free(hard.frame.data), free(coarse.frame.data);
    test_picture_free(&t);
}

/* Beyond the bound of quality a frame is searched for anew, not walked to: a frame more than else, not many. */
static void test_passes(void)
{
    PnvParams params = make_params(PNV_PROFILE_HQ, 1280, 720);
    TestPicture t;

    test_picture_init(&t, &params, FILL_NOISE, 1);
    for (int max = 0; max <= 20; max += 4) {
        params.max_quantizer = max;
        const Result r = encode(&params, &t);
        CHECK(r.frame.size <= r.info.limit_bytes, "max_quantizer %d: %zu bytes", max, r.frame.size);
        CHECK(r.info.n_coded * 10 <= r.info.n_slices * (max ? 28 : 18), "max_quantizer %d: %u slices coded for %u", max,
              r.info.n_coded, r.info.n_slices);
        free(r.frame.data);
    }
    test_picture_free(&t);
}

/* The same bytes alone, in any order, among others, and for every number of threads. */
static void test_stateless(void)
{
    enum { N_PICTURES = 5 };
    static const int threads[] = {1, 2, 5, 16};
    TestPicture t[N_PICTURES];
    Result alone[N_PICTURES];
    PnvParams params = make_params(PNV_PROFILE_HQ, 720, 200);

    for (int i = 0; i < N_PICTURES; i++) {
        test_picture_init(&t[i], &params, (Fill)(i % N_FILLS), (uint32_t)i);
        t[i].pic.interlace = (PnvInterlace)(i % 3);
        alone[i] = encode(&params, &t[i]);
    }
    for (int n = 0; n < 4; n++) {
        PnvEncoder *enc;
        params.threads = threads[n];
        params.frames_in_flight = 1 + n;
        REQUIRE(pnv_open(&enc, &params, NULL) == PNV_OK, "open");
        int order[3 * N_PICTURES], n_sent = 0, n_collected = 0;
        for (int i = 0; i < 3 * N_PICTURES; i++)
            order[i] = i < N_PICTURES ? i : i < 2 * N_PICTURES ? 2 * N_PICTURES - 1 - i : i * 2 % N_PICTURES;
        while (n_collected < 3 * N_PICTURES) {
            PnvPacket packet;
            if (n_sent < 3 * N_PICTURES && pnv_send(enc, &t[order[n_sent]].pic) == PNV_OK) {
                n_sent++;
                continue;
            }
            REQUIRE(pnv_collect(enc, &packet) == PNV_OK, "collect");
            CHECK(same_frame(&(TestFrame){(uint8_t *)packet.data, packet.size}, &alone[order[n_collected]].frame),
                  "picture %d as number %d with %d threads", order[n_collected], n_collected, threads[n]);
            pnv_packet_release(&packet);
            n_collected++;
        }
        pnv_close(&enc);
    }
    for (int i = 0; i < N_PICTURES; i++) {
        free(alone[i].frame.data);
        test_picture_free(&t[i]);
    }
}

int main(void)
{
    reader = pnv_reader_new();
    REQUIRE(reader, "memory");
    test_targets();
    test_maximum();
    test_alpha();
    test_settings();
    test_passes();
    test_stateless();
    pnv_reader_free(&reader);
    CHECK_END();
}
