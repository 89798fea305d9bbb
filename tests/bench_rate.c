/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rate control is worth, on photographs, half of them with grain: at the bytes of each of prores_ks's frames, what
 * this encoder makes of them, every frame decoded exactly. Prints tables, draws a chart, and fails where a floor is
 * missed. Exits 77 where ffmpeg or the photographs are missing.
 *
 *     bench_rate [all] [tuning] [quality] [time] [maximum] [generations] [plot FILE.svg]
 *
 * Without a section and a chart, all sections. tuning: on the photographs that constants are tuned on.
 * PNV_BENCH_VERBOSE=1 prints every frame.
 */
#include <math.h>
#include <time.h>

#include "bench_material.h"
#include "bench_plot.h"
#include "check.h"
#include "profile.h"
#include "target.h"

static PnvReader *reader;
static BenchSet set = BENCH_REPORT;

static BenchMaterial made[2]; /* by chroma format, when first asked for */

static const BenchMaterial *material(PnvChroma chroma)
{
    if (!made[chroma].n)
        bench_material_init(&made[chroma], set, chroma);
    return &made[chroma];
}

/* A mean and a worst value. */
typedef struct Statistic {
    double sum, least, most;
    int n;
} Statistic;

static void add(Statistic *s, double v)
{
    s->least = s->n && s->least < v ? s->least : v;
    s->most = s->n && s->most > v ? s->most : v;
    s->sum += v;
    s->n++;
}

static double mean(const Statistic *s)
{
    return s->n ? s->sum / s->n : 0;
}

/* A floor is kept or the benchmark fails. */
static void expect(const char *what, double value, double floor)
{
    CHECK(value >= floor, "%s: %.3f, the goal is %.3f", what, value, floor);
}

static int is_verbose(void)
{
    return getenv("PNV_BENCH_VERBOSE") != NULL;
}

static const char *const rounding_names[3] = {"dead zone", "nearest", "optimal"};

/* Ours */

static PnvParams make_params(const BenchMaterial *m, PnvProfile profile, PnvRounding rounding)
{
    PnvParams p = m->params;

    p.profile = profile;
    p.rounding = rounding;
    return p;
}

/* A target of so many bytes, never passed. At 125 frames a second a kbit/s is a byte of each. */
static void aim_at(PnvParams *p, size_t bytes)
{
    p->rate_control = PNV_RATE_TARGET;
    p->fps_n = 125, p->fps_d = 1;
    p->bitrate = (int)bytes;
    p->max_frame_bytes = (uint32_t)bytes;
}

static TestFrame code(const PnvParams *p, const PnvPicture *pic, PnvPacket *info)
{
    char error[PNV_ERROR_BYTES] = "";
    PnvEncoder *enc;
    PnvPacket packet;

    REQUIRE(pnv_open(&enc, p, error) == PNV_OK, "open: %s", error);
    REQUIRE(pnv_send(enc, pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "encode: %s", pnv_error(enc));
    const TestFrame frame = {malloc(packet.size), packet.size};
    REQUIRE(frame.data, "memory");
    memcpy(frame.data, packet.data, packet.size);
    *info = packet;
    info->data = NULL;
    pnv_packet_release(&packet);
    pnv_close(&enc);
    return frame;
}

/* How the search went. */
typedef struct Search {
    Statistic fill, passes, rounds;
    int n_smallest; /* frames that stopped at the smallest quantizer; fill is that of the others */
} Search;

static BenchScore score_at(const BenchMaterial *m, int i, PnvProfile profile, PnvRounding rounding, size_t bytes,
                           Search *search)
{
    const PnvPicture pic = bench_picture(m, i);
    PnvParams p = make_params(m, profile, rounding);
    PnvPacket info;

    aim_at(&p, bytes);
    const TestFrame frame = code(&p, &pic, &info);
    CHECK(frame.size <= bytes && !info.over_limit, "%s: %zu bytes of %zu", m->names[i], frame.size, bytes);
    if (search) {
        const double fill = (double)frame.size / (double)bytes;
        if (info.quantizer_max == (profile == PNV_PROFILE_PROXY ? 4 : 1))
            search->n_smallest++;
        else
            add(&search->fill, fill);
        add(&search->passes, (double)info.n_coded / info.n_slices);
        add(&search->rounds, info.n_sample_rounds);
        if (is_verbose())
            printf("%-22s %-8s %-9s %7zu bytes, fill %.4f, quantizer %3d..%d, passes %.3f, %u sample rounds\n",
                   m->names[i], pnv_profile_name(profile), rounding_names[rounding], bytes, fill, info.quantizer_min,
                   info.quantizer_max, (double)info.n_coded / info.n_slices, info.n_sample_rounds);
    }
    const BenchScore score = bench_score(reader, m, i, frame.data, frame.size);
    free(frame.data);
    return score;
}

/* prores_ks at constant quantizers: all of them that bracket what is asked for. */

enum { MAX_RUNGS = 20 };

typedef struct Ladder {
    const BenchMaterial *m;
    PnvProfile profile;
    int n;
    TestFrame *frames[MAX_RUNGS]; /* by falling size */
    BenchScore scores[MAX_RUNGS][BENCH_MAX_FRAMES]; /* bytes 0: not yet measured */
} Ladder;

static TestFrame *run_ks(const BenchMaterial *m, PnvProfile profile, const char *options)
{
    char encoder[128];

    snprintf(encoder, sizeof encoder, "prores_ks -profile:v %d %s", (int)profile - 1, options);
    return bench_ffmpeg(m, encoder);
}

static int rung_quantizer(int rung)
{
    static const int quantizers[MAX_RUNGS] = {1,  2,  3,  4,  5,  6,  7,  8,  10, 12,
                                              14, 16, 20, 24, 28, 32, 40, 48, 56, 64};
    return quantizers[rung];
}

static const BenchScore *rung_score(Ladder *l, int rung, int i)
{
    BenchScore *s = &l->scores[rung][i];

    if (s->bytes == 0)
        *s = bench_score(reader, l->m, i, l->frames[rung][i].data, l->frames[rung][i].size);
    return s;
}

/* The first rung of at most so many bytes, or the last one. */
static int find_rung(Ladder *l, int i, double bytes)
{
    for (int rung = 0;; rung++) {
        if (rung == l->n && l->n < MAX_RUNGS) {
            char options[32];
            snprintf(options, sizeof options, "-qscale:v %d", rung_quantizer(rung));
            l->frames[l->n++] = run_ks(l->m, l->profile, options);
        }
        if (rung == MAX_RUNGS - 1 || (double)l->frames[rung][i].size <= bytes)
            return rung;
    }
}

/* Score of frame i at the quantizer, between whole ones by the logarithm of bytes, that gives so many bytes. */
static BenchScore ladder_score(Ladder *l, int i, double bytes)
{
    const int rung = find_rung(l, i, bytes);
    BenchScore s = *rung_score(l, rung, i);
    if (rung == 0 || s.bytes > bytes) /* past an end */
        return s;
    const BenchScore *larger = rung_score(l, rung - 1, i);
    const double share = log(bytes / s.bytes) / log(larger->bytes / s.bytes);
    for (int k = 0; k < 3; k++)
        s.psnr[k] += share * (larger->psnr[k] - s.psnr[k]);
    s.ssim += share * (larger->ssim - s.ssim);
    s.bytes = bytes;
    return s;
}

/* Gains of Y over the constant quantizers on either side of so many bytes, at the bytes of each. */
static void add_rung_gains(Statistic *gain, Ladder *l, int i, double bytes)
{
    const int rung = find_rung(l, i, bytes);

    for (int k = rung > 0 ? rung - 1 : 0; k <= rung; k++) {
        const BenchScore *s = rung_score(l, k, i);
        add(gain, score_at(l->m, i, l->profile, PNV_ROUNDING_DEAD_ZONE, (size_t)s->bytes, NULL).psnr[0] - s->psnr[0]);
    }
}

static void ladder_free(Ladder *l)
{
    for (int i = 0; i < l->n; i++)
        bench_frames_free(l->frames[i], l->m->n);
    *l = (Ladder){0};
}

/* Quality */

typedef struct Goals {
    PnvProfile profile;
    double mean, worst; /* Y over prores_ks */
} Goals;

static void print_gain(const char *what, const Statistic *s)
{
    printf("  %-44s %6.2f dB, worst %6.2f\n", what, mean(s), s->least);
}

static void print_search(PnvRounding rounding, const Search *s)
{
    printf("  search, %-9s fill %.2f %% (least %.2f), passes %.3f (most %.2f), sample rounds %.2f; %d of %d at the smallest\n",
           rounding_names[rounding], 100 * mean(&s->fill), 100 * s->fill.least, mean(&s->passes), s->passes.most,
           mean(&s->rounds), s->n_smallest, s->passes.n);
}

static void compare_profile(const Goals *goals)
{
    const BenchMaterial *m = material(pnv_profile_info(goals->profile)->chroma);
    static Ladder ladder;
    Statistic ks[3] = {{0}}, ssim = {0}, constant = {0}, rungs = {0}, nearest = {0}, optimal = {0}, optimal_ks = {0};
    Search search[3] = {0};
    TestFrame *theirs = run_ks(m, goals->profile, "");
    const char *name = pnv_profile_name(goals->profile);

    ladder = (Ladder){.m = m, .profile = goals->profile};
    for (int i = 0; i < m->n; i++) {
        const size_t bytes = theirs[i].size;
        const BenchScore their = bench_score(reader, m, i, theirs[i].data, bytes);
        BenchScore our[3];
        for (int r = 0; r < 3; r++)
            our[r] = score_at(m, i, goals->profile, (PnvRounding)r, bytes, &search[r]);
        for (int c = 0; c < 3; c++)
            add(&ks[c], our[0].psnr[c] - their.psnr[c]);
        add(&ssim, our[0].ssim - their.ssim);
        const BenchScore rung = ladder_score(&ladder, i, (double)bytes);
        add(&constant, our[0].psnr[0] - rung.psnr[0]);
        add_rung_gains(&rungs, &ladder, i, (double)bytes);
        add(&nearest, our[0].psnr[0] - our[PNV_ROUNDING_NEAREST].psnr[0]);
        add(&optimal, our[PNV_ROUNDING_OPTIMAL].psnr[0] - our[0].psnr[0]);
        add(&optimal_ks, our[PNV_ROUNDING_OPTIMAL].psnr[0] - their.psnr[0]);
        if (is_verbose())
            printf("%-22s %-8s Y %.2f dB; over prores_ks %+.2f, Cb %+.2f, Cr %+.2f, SSIM %+.4f, over its constant %+.2f\n",
                   m->names[i], name, our[0].psnr[0], our[0].psnr[0] - their.psnr[0], our[0].psnr[1] - their.psnr[1],
                   our[0].psnr[2] - their.psnr[2], our[0].ssim - their.ssim, our[0].psnr[0] - rung.psnr[0]);
    }
    printf("%s, %d frames at the bytes of prores_ks:\n", name, m->n);
    print_gain("Y over prores_ks", &ks[0]);
    print_gain("Cb", &ks[1]);
    print_gain("Cr", &ks[2]);
    printf("  %-44s %6.4f,   worst %7.4f\n", "SSIM of Y over prores_ks", mean(&ssim), ssim.least);
    print_gain("Y over prores_ks at a constant quantizer", &rungs);
    print_gain("the same between whole quantizers", &constant);
    print_gain("Y over our nearest rounding", &nearest);
    print_gain("Y of optimal over prores_ks", &optimal_ks);
    print_gain("Y of optimal over the dead zone", &optimal);
    for (int r = 0; r < 3; r++) {
        print_search((PnvRounding)r, &search[r]);
        expect("least fill", search[r].fill.least, 0.99);
        expect("passes within 1.2", 1.2 - mean(&search[r].passes), 0);
    }
    fflush(stdout);
    expect(name, mean(&ks[0]), goals->mean);
    expect(name, ks[0].least, goals->worst);
    if (goals->profile == PNV_PROFILE_HQ) {
        for (int c = 1; c < 3; c++) {
            expect("chroma mean", mean(&ks[c]), 1.5);
            expect("chroma worst", ks[c].least, 0);
        }
        expect("SSIM worst", ssim.least, 0);
        /* At bytes that prores_ks can take; what lies between is no frame of its: docs/rate-control.md. */
        expect("over constant quantizer, mean", mean(&rungs), 1.3);
        expect("over constant quantizer, worst", rungs.least, 0.5);
        expect("over constant quantizer between whole ones, mean", mean(&constant), 1.3);
        expect("optimal, mean", mean(&optimal_ks), 3.1);
        expect("over nearest, mean", mean(&nearest), 0.9);
    }
    ladder_free(&ladder);
    bench_frames_free(theirs, m->n);
}

static void bench_quality(void)
{
    static const Goals goals[] = {{PNV_PROFILE_HQ, 2.9, 1.4}, {PNV_PROFILE_LT, 2.0, 0}, {PNV_PROFILE_PROXY, 1.4, 0},
                                  {PNV_PROFILE_4444, 2.2, 0}};
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        compare_profile(&goals[i]);
}

/* Time */

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double time_frame(PnvEncoder *enc, const PnvPicture *pic, PnvPacket *info)
{
    PnvPacket packet;
    const double start = cpu_seconds();

    REQUIRE(pnv_send(enc, pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "encode: %s", pnv_error(enc));
    const double seconds = cpu_seconds() - start;
    *info = packet;
    info->data = NULL;
    pnv_packet_release(&packet);
    return seconds;
}

/* Two encoders take turns with a picture; the least time of each. */
static void time_pair(const PnvParams *a, const PnvParams *b, const PnvPicture *pic, double seconds[2])
{
    const PnvParams *params[2] = {a, b};
    PnvEncoder *enc[2];

    for (int k = 0; k < 2; k++) {
        REQUIRE(pnv_open(&enc[k], params[k], NULL) == PNV_OK, "open");
        seconds[k] = INFINITY;
    }
    for (int round = 0; round < 8; round++)
        for (int k = 0; k < 2; k++) {
            PnvPacket info;
            const double s = time_frame(enc[k], pic, &info);
            if (round > 0) /* the first warms up */
                seconds[k] = fmin(seconds[k], s);
        }
    pnv_close(&enc[0]);
    pnv_close(&enc[1]);
}

/* A frame at a constant quantizer, and the same with what it took as the target. */
static void time_rounding(const BenchMaterial *m, PnvCpu cpu, PnvRounding rounding)
{
    static const double goals[3] = {1.6, 1.6, 3};
    double sum[2] = {0};
    int n = 0;

    for (int i = 0; i < m->n; i += 3, n++) {
        const PnvPicture pic = bench_picture(m, i);
        PnvParams constant = make_params(m, PNV_PROFILE_HQ, rounding), target;
        PnvPacket info;
        double seconds[2];

        constant.cpu = cpu;
        constant.threads = 1;
        target = constant;
        target.rate_control = PNV_RATE_TARGET;
        free(code(&target, &pic, &info).data);
        constant.quantizer = info.quantizer_min;
        const TestFrame frame = code(&constant, &pic, &info);
        aim_at(&target, frame.size);
        free(frame.data);
        time_pair(&constant, &target, &pic, seconds);
        sum[0] += seconds[0];
        sum[1] += seconds[1];
    }
    printf("  %-4s %-9s  constant quantizer %6.2f ms, target %6.2f ms: %.2f times\n", cpu == PNV_CPU_C ? "C" : "auto",
           rounding_names[rounding], 1e3 * sum[0] / n, 1e3 * sum[1] / n, sum[1] / sum[0]);
    fflush(stdout);
    CHECK(sum[1] <= goals[rounding] * sum[0], "%s takes %.2f times, the goal is %.1f", rounding_names[rounding],
          sum[1] / sum[0], goals[rounding]);
}

static void bench_time(void)
{
    printf("CPU time of an HQ frame on one thread, with the same bytes:\n");
    for (int r = 0; r < 3; r++)
        time_rounding(material(PNV_CHROMA_422), PNV_CPU_C, (PnvRounding)r);
    for (int r = 0; r < 3; r++)
        time_rounding(material(PNV_CHROMA_422), PNV_CPU_AUTO, (PnvRounding)r);
}

/* Maximum: every second frame another scene, then a fade, then what no encoder likes. */

static void check_under(PnvEncoder *enc, const PnvPicture *pic, uint64_t target, const char *what, Statistic *fill)
{
    PnvPacket packet;

    REQUIRE(pnv_send(enc, pic) == PNV_OK && pnv_collect(enc, &packet) == PNV_OK, "encode: %s", pnv_error(enc));
    CHECK(packet.size <= target && !packet.over_limit, "%s: %zu bytes of %llu", what, packet.size,
          (unsigned long long)target);
    REQUIRE(pnv_reader_read(reader, packet.data, packet.size, NULL) == PNV_READER_OK, "%s", what);
    CHECK(pnv_reader_frame(reader)->n_violations == 0 && pnv_reader_frame(reader)->complete, "%s: not valid", what);
    add(fill, (double)packet.size / (double)target);
    pnv_packet_release(&packet);
}

static void fade(const BenchMaterial *m, int i, uint8_t *to, int step, int n_steps)
{
    const uint8_t *raw = m->raw + (size_t)i * m->frame_bytes;
    const size_t luma = 2 * (size_t)BENCH_WIDTH * BENCH_HEIGHT;

    for (size_t k = 0; k < m->frame_bytes; k += 2) {
        const int black = k < luma ? 64 : 512, s = black + ((raw[k] | raw[k + 1] << 8) - black) * step / n_steps;
        to[k] = (uint8_t)s;
        to[k + 1] = (uint8_t)(s >> 8);
    }
}

static void test_maximum(PnvProfile profile)
{
    enum { N_STEPS = 9 };
    const BenchMaterial *m = material(pnv_profile_info(profile)->chroma);
    const uint64_t target = pnv_target_bytes(profile, BENCH_WIDTH, BENCH_HEIGHT);
    PnvParams p = make_params(m, profile, PNV_ROUNDING_DEAD_ZONE);
    PnvEncoder *enc;
    Statistic natural = {0}, faded = {0}, noise = {0}, checks = {0};
    BenchMaterial black = *m; /* a frame of its own */

    p.rate_control = PNV_RATE_TARGET;
    black.raw = malloc(m->frame_bytes);
    REQUIRE(black.raw && pnv_open(&enc, &p, NULL) == PNV_OK, "open");
    for (int i = 0; i < m->n; i++) {
        const PnvPicture pic = bench_picture(m, i);
        check_under(enc, &pic, target, m->names[i], &natural);
    }
    for (int step = 0; step <= N_STEPS; step++) {
        fade(m, 3, black.raw, step, N_STEPS);
        const PnvPicture pic = bench_picture(&black, 0);
        check_under(enc, &pic, target, "fade", &faded);
    }
    for (int seed = 0; seed < 3; seed++) {
        TestPicture t;
        test_picture_init(&t, &m->params, FILL_NOISE, (uint32_t)seed);
        check_under(enc, &t.pic, target, "noise", &noise);
        test_picture_free(&t);
        test_picture_init(&t, &m->params, FILL_CHECKS, (uint32_t)seed);
        check_under(enc, &t.pic, target, "black and white", &checks);
        test_picture_free(&t);
    }
    printf("  %-6s %7llu bytes; most of them used by cuts between photographs %.2f %%, fade %.2f %%, noise %.2f %%, black and "
           "white %.2f %%\n", pnv_profile_name(profile), (unsigned long long)target, 100 * natural.most, 100 * faded.most,
           100 * noise.most, 100 * checks.most);
    pnv_close(&enc);
    free(black.raw);
}

static void bench_maximum(void)
{
    printf("Apple's targets, never passed:\n");
    for (PnvProfile profile = PNV_PROFILE_PROXY; profile <= PNV_PROFILE_4444XQ; profile++)
        test_maximum(profile);
}

/* Generations */

static void bench_generations(void)
{
    enum { N_GENERATIONS = 10 };
    const BenchMaterial *m = material(PNV_CHROMA_422);
    BenchMaterial copy = *m;

    copy.raw = malloc(m->frame_bytes);
    REQUIRE(copy.raw, "memory");
    printf("Ten generations, HQ, PSNR of Y lost from the first to the tenth:\n");
    for (int is_target = 0; is_target < 2; is_target++) {
        for (int r = 0; r < 3; r++) {
            Statistic lost = {0};
            for (int i = 0; i < m->n; i += 3) {
                double first = 0;
                memcpy(copy.raw, m->raw + (size_t)i * m->frame_bytes, m->frame_bytes);
                for (int g = 1; g <= N_GENERATIONS; g++) {
                    const PnvPicture pic = bench_picture(&copy, 0);
                    PnvParams p = make_params(m, PNV_PROFILE_HQ, (PnvRounding)r);
                    PnvPacket info;
                    p.rate_control = is_target ? PNV_RATE_TARGET : PNV_RATE_CONSTANT_QUANTIZER;
                    const TestFrame frame = code(&p, &pic, &info);
                    if (g == 1)
                        first = bench_score(reader, m, i, frame.data, frame.size).psnr[0];
                    if (g == N_GENERATIONS)
                        add(&lost, first - bench_score(reader, m, i, frame.data, frame.size).psnr[0]);
                    bench_decode(reader, m, copy.raw, frame.data, frame.size);
                    free(frame.data);
                }
            }
            printf("  %-19s %-9s  %5.2f dB, worst %5.2f\n", is_target ? "target" : "constant quantizer",
                   rounding_names[r], mean(&lost), lost.most);
            fflush(stdout);
            if (!is_target)
                CHECK(mean(&lost) < 0.3, "%s: %.2f dB lost", rounding_names[r], mean(&lost));
        }
    }
    free(copy.raw);
}

/* Chart: every third frame, so that plain and grained ones take turns. */

enum { CURVE_OPTIMAL, CURVE_DEAD_ZONE, CURVE_NEAREST, CURVE_KS_CONSTANT, CURVE_KS, CURVE_AW, N_CURVES, CURVE_STEP = 3 };

/* Each frame's sum becomes the mean of so many. */
static void end_point(BenchCurve *curve, int n)
{
    curve->x[curve->n] /= 1000.0 * n;
    curve->y[curve->n] /= n;
    curve->n++;
}

static void add_score(BenchCurve *curve, BenchScore s)
{
    curve->x[curve->n] += s.bytes;
    curve->y[curve->n] += s.psnr[0];
}

static void bench_chart(const char *path)
{
    static const int bits_per_mb[] = {200, 280, 400, 560, 800, 1100, 1500};
    static const PnvRounding roundings[] = {PNV_ROUNDING_OPTIMAL, PNV_ROUNDING_DEAD_ZONE, PNV_ROUNDING_NEAREST};
    static Ladder ladder;
    const BenchMaterial *m = material(PNV_CHROMA_422);
    const int n = (m->n + CURVE_STEP - 1) / CURVE_STEP;
    BenchCurve curves[N_CURVES] = {
        [CURVE_OPTIMAL] = {.name = "ours, optimal", .colour = "#7a3fb0"},
        [CURVE_DEAD_ZONE] = {.name = "ours", .colour = "#0b62c4"},
        [CURVE_NEAREST] = {.name = "ours, nearest", .colour = "#4aa3a0", .is_dashed = 1},
        [CURVE_KS_CONSTANT] = {.name = "prores_ks, fixed quantizer", .colour = "#d98a00", .is_dashed = 1},
        [CURVE_KS] = {.name = "prores_ks", .colour = "#c0271c"},
        [CURVE_AW] = {.name = "prores_aw, HQ", .colour = "#555"},
    };

    ladder = (Ladder){.m = m, .profile = PNV_PROFILE_HQ};
    for (size_t r = 0; r < sizeof bits_per_mb / sizeof *bits_per_mb; r++) {
        char options[32];
        snprintf(options, sizeof options, "-bits_per_mb %d", bits_per_mb[r]);
        TestFrame *theirs = run_ks(m, PNV_PROFILE_HQ, options);
        for (int i = 0; i < m->n; i += CURVE_STEP) {
            add_score(&curves[CURVE_KS], bench_score(reader, m, i, theirs[i].data, theirs[i].size));
            add_score(&curves[CURVE_KS_CONSTANT], ladder_score(&ladder, i, (double)theirs[i].size));
            for (int k = 0; k < 3; k++)
                add_score(&curves[k], score_at(m, i, PNV_PROFILE_HQ, roundings[k], theirs[i].size, NULL));
        }
        for (int c = 0; c <= CURVE_KS; c++)
            end_point(&curves[c], n);
        bench_frames_free(theirs, m->n);
    }
    TestFrame *theirs = bench_ffmpeg(m, "prores_aw -profile:v 3");
    for (int i = 0; i < m->n; i += CURVE_STEP)
        add_score(&curves[CURVE_AW], bench_score(reader, m, i, theirs[i].data, theirs[i].size));
    end_point(&curves[CURVE_AW], n);
    bench_frames_free(theirs, m->n);
    ladder_free(&ladder);
    REQUIRE(bench_plot(path, "PSNR of Y at equal bytes, HQ matrices, 1920x1080 photographs", "thousand bytes a frame",
                       "dB, mean of the frames", curves, N_CURVES) == 0, "write %s", path);
    printf("Chart: %s\n", path);
}

int main(int argc, char **argv)
{
    const char *missing = bench_material_missing(), *chart = NULL;
    int wanted = 0;

    if (missing) {
        printf("skipped: %s\n", missing);
        return CHECK_SKIP;
    }
    reader = pnv_reader_new();
    REQUIRE(reader, "memory");
    for (int i = 1; i < argc; i++) {
        static const char *const sections[] = {"quality", "time", "maximum", "generations"};
        for (int k = 0; k < 4; k++)
            wanted |= strcmp(argv[i], sections[k]) ? 0 : 1 << k;
        if (!strcmp(argv[i], "all"))
            wanted = 15;
        if (!strcmp(argv[i], "tuning"))
            set = BENCH_TUNING;
        if (!strcmp(argv[i], "plot") && i + 1 < argc)
            chart = argv[++i];
    }
    if (!wanted && !chart)
        wanted = 15;
    static void (*const run[])(void) = {bench_quality, bench_time, bench_maximum, bench_generations};
    for (int k = 0; k < 4; k++)
        if (wanted >> k & 1)
            run[k]();
    if (chart)
        bench_chart(chart);
    for (int chroma = 0; chroma < 2; chroma++)
        bench_material_free(&made[chroma]);
    pnv_reader_free(&reader);
    CHECK_END();
}
