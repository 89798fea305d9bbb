/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proresnv-bench: how fast this machine codes, stage by stage, beside others if wanted. docs/proresnv-bench.1 */
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpuinfo.h"

typedef struct Options {
    PnvParams params;
    const PnvBenchFormat *format, *against;
    const char *input, *plot;
    int n_frames, rounds, is_pattern, json, peers, stages, kernels;
} Options;

static const char usage[] =
    "Usage: proresnv-bench [option ...]\n"
    "  --input FILE       raw frames of that format; without it, frames are made\n"
    "  --content NAME     natural (default) or pattern\n"
    "  --format FORMAT    yuv422p, yuv444p or yuva444p, with nothing, 10le, 12le or 16le behind (yuv422p10le); yuv420p,\n"
    "                     yuv420p10le, nv12, p010le, nv16, uyvy422, yuyv422, y210le, v210, bgra, rgba64le, gbrp10le,\n"
    "                     x2rgb10le\n"
    "  --against FORMAT   time the same frames, made in this format, in turn with those\n"
    "  --size WxH         1920x1080\n"
    "  --profile NAME     proxy, lt, standard, hq, 4444, 4444xq; by the format\n"
    "  --quantizer N      1..224 (4)\n"
    "  --rounding NAME    dead-zone (default), nearest or optimal\n"
    "  --target           the data rate of the profile instead of a quantizer\n"
    "  --slice-mbs N      1, 2, 4, 8 (8)\n"
    "  --interlaced       code as two fields\n"
    "  --cpu LEVEL        c, avx2, avx512, neon; the best\n"
    "  --threads N        1\n"
    "  --pipeline-depth N frames in flight (1 for one thread, else 2)\n"
    "  --frames N         different frames, each coded once a round (8)\n"
    "  --rounds N         5\n"
    "  --no-stages        the total only\n"
    "  --peers            prores_ks and prores_aw of ffmpeg as well, on the same frames\n"
    "  --plot FILE        an SVG of speed against bytes and threads\n"
    "  --kernels          the kernels of input formats, each alone, instead of frames\n"
    "  --json             one JSON object on standard output\n";

static _Noreturn void refuse(const char *option, const char *value)
{
    fprintf(stderr, "proresnv-bench: --%s %s is not understood; see proresnv-bench --help\n", option, value);
    exit(2);
}

static int number(const char *option, const char *text, int min, int max)
{
    char *end;
    const long n = strtol(text, &end, 10);

    if (end == text || *end || n < min || n > max)
        refuse(option, text);
    return (int)n;
}

static const PnvBenchFormat *parse_format(const char *text)
{
    const PnvBenchFormat *format = pnv_bench_format(text);

    if (!format)
        refuse("format", text);
    return format;
}

static PnvProfile parse_profile(const char *text)
{
    for (int i = PNV_PROFILE_AUTO; i <= PNV_PROFILE_4444XQ; i++) {
        if (strcmp(text, pnv_profile_name((PnvProfile)i)) == 0)
            return (PnvProfile)i;
    }
    refuse("profile", text);
}

static PnvCpu parse_cpu(const char *text)
{
    for (int i = PNV_CPU_AUTO; i <= PNV_CPU_NEON; i++) {
        if (strcmp(text, pnv_cpu_name((PnvCpu)i)) == 0)
            return (PnvCpu)i;
    }
    refuse("cpu", text);
}

static PnvRounding parse_rounding(const char *text)
{
    static const char *const names[] = {
        [PNV_ROUNDING_DEAD_ZONE] = "dead-zone", [PNV_ROUNDING_NEAREST] = "nearest", [PNV_ROUNDING_OPTIMAL] = "optimal"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0)
            return (PnvRounding)i;
    }
    refuse("rounding", text);
}

enum {
    ROUNDING = 30, TARGET, AGAINST, KERNELS,
    INPUT = 1, CONTENT, FORMAT, SIZE, PROFILE, QUANTIZER, SLICE_MBS, INTERLACED, CPU, THREADS, DEPTH, FRAMES, ROUNDS,
    NO_STAGES, PEERS, PLOT, JSON, HELP
};

static void parse_option(Options *o, int option, const char *value)
{
    PnvParams *p = &o->params;
    char rest;

    switch (option) {
    case INPUT: o->input = value; break;
    case CONTENT:
        o->is_pattern = strcmp(value, "pattern") == 0;
        if (!o->is_pattern && strcmp(value, "natural"))
            refuse("content", value);
        break;
    case FORMAT: o->format = parse_format(value); break;
    case AGAINST: o->against = parse_format(value); break;
    case SIZE:
        if (sscanf(value, "%dx%d%c", &p->width, &p->height, &rest) != 2)
            refuse("size", value);
        break;
    case PROFILE: p->profile = parse_profile(value); break;
    case QUANTIZER: p->quantizer = number("quantizer", value, 1, 224); break;
    case ROUNDING: p->rounding = parse_rounding(value); break;
    case TARGET: p->rate_control = PNV_RATE_TARGET; break;
    case SLICE_MBS: p->mbs_per_slice = number("slice-mbs", value, 1, 8); break;
    case CPU: p->cpu = parse_cpu(value); break;
    case THREADS: p->threads = number("threads", value, 1, PNV_MAX_THREADS); break;
    case DEPTH: p->frames_in_flight = number("pipeline-depth", value, 1, PNV_MAX_FRAMES_IN_FLIGHT); break;
    case FRAMES: o->n_frames = number("frames", value, 1, 100000); break;
    case ROUNDS: o->rounds = number("rounds", value, 1, 1000); break;
    case NO_STAGES: o->stages = 0; break;
    case PEERS: o->peers = 1; break;
    case PLOT: o->plot = value; break;
    case KERNELS: o->kernels = 1; break;
    case JSON: o->json = 1; break;
    case HELP: fputs(usage, stdout); exit(0);
    default: fputs(usage, stderr); exit(2);
    }
}

static Options parse(int argc, char **argv, int *interlaced)
{
    static const struct option options[] = {
        {"input", 1, NULL, INPUT},       {"content", 1, NULL, CONTENT},     {"format", 1, NULL, FORMAT},
        {"size", 1, NULL, SIZE},         {"profile", 1, NULL, PROFILE},     {"quantizer", 1, NULL, QUANTIZER},
        {"rounding", 1, NULL, ROUNDING}, {"target", 0, NULL, TARGET},       {"against", 1, NULL, AGAINST},
        {"slice-mbs", 1, NULL, SLICE_MBS}, {"interlaced", 0, NULL, INTERLACED}, {"cpu", 1, NULL, CPU},
        {"threads", 1, NULL, THREADS},   {"pipeline-depth", 1, NULL, DEPTH}, {"frames", 1, NULL, FRAMES},
        {"rounds", 1, NULL, ROUNDS},     {"no-stages", 0, NULL, NO_STAGES}, {"peers", 0, NULL, PEERS},
        {"plot", 1, NULL, PLOT},         {"json", 0, NULL, JSON},           {"help", 0, NULL, HELP},
        {"kernels", 0, NULL, KERNELS},
        {NULL, 0, NULL, 0}};
    Options o = {.params = {.width = 1920, .height = 1080, .threads = 1, .backend = PNV_BACKEND_CPU},
                 .format = pnv_bench_format("yuv422p10le"), .n_frames = 8, .rounds = 5, .stages = 1};
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == INTERLACED)
            *interlaced = 1;
        else
            parse_option(&o, option, optarg);
    }
    if (optind < argc || (o.against && o.input)) /* a file has one format */
        parse_option(&o, 0, NULL);
    pnv_bench_format_apply(o.format, &o.params);
    if (!o.params.frames_in_flight)
        o.params.frames_in_flight = o.params.threads > 1 ? 2 : 1;
    return o;
}

/** What a run found. */
typedef struct Result {
    PnvBenchTime time;
    PnvBenchStages stages;
    PnvBenchPair pair; /* the format, and what it is timed against */
    PnvBenchPeer peers[PNV_BENCH_PEERS];
    double n_coefs; /* of a frame, blocks at the edges not counted whole */
    double copy_speed[2]; /* GB/s of one thread and of as many as coded */
} Result;

static void print_text(const Options *o, const PnvBenchContent *c, const Result *r)
{
    const PnvParams *p = &o->params;
    const PnvBenchStages *s = &r->stages;

    printf("%dx%d %s, %s, %squantizer %d, cpu %s, threads %d, in flight %d; %d frames, %d rounds\n", p->width, p->height,
           c->format->name, c->name, p->rate_control == PNV_RATE_TARGET ? "target, " : "", r->time.quantizer,
           pnv_cpu_name(p->cpu), p->threads,
           p->frames_in_flight, c->n, o->rounds);
    printf("  CPU   %8.3f ms/frame least, %8.3f median\n", r->time.cpu_min, r->time.cpu_median);
    printf("  wall  %8.3f ms/frame least, %8.3f median: %.1f fps\n", r->time.wall_min, r->time.wall_median,
           1e3 / r->time.wall_min);
    printf("  %.0f bytes/frame, %.3f ns of CPU a coefficient, %.2f GB/s of input\n", r->time.bytes,
           1e6 * r->time.cpu_min / r->n_coefs, 1e-6 * (double)c->frame_bytes / r->time.wall_min);
    printf("  memory copies at %.1f GB/s by one thread, %.1f by %d\n", r->copy_speed[0], r->copy_speed[1], p->threads);
    if (o->stages) {
        printf("  stages, ms/frame on one thread: fetch, transform, quantize together %.3f, entropy %.3f, the rest %.3f\n",
               s->forward, s->entropy, r->time.cpu_min - s->forward - s->entropy);
        printf("  apart: fetch %.3f, transform %.3f, quantize %.3f, count bits %.3f; %.0f nonzero levels\n", s->fetch,
               s->transform, s->quant, s->entropy_bits, s->n_levels);
    }
    if (o->against)
        printf("  %.3f ms/frame and %.0f bytes in turn with %s, which takes %.3f ms and %.0f bytes: %.3f times that\n",
               r->pair.cpu_ms[0], r->pair.bytes[0], o->against->name, r->pair.cpu_ms[1], r->pair.bytes[1],
               r->pair.cpu_ms[0] / r->pair.cpu_ms[1]);
    for (int i = 0; o->peers && i < PNV_BENCH_PEERS; i++) {
        const PnvBenchPeer *peer = &r->peers[i];
        if (peer->missing[0])
            printf("  %-27s missing: %s\n", peer->name, peer->missing);
        else
            printf("  %-27s %8.2f ms/frame, %7.1f times ours; %.0f bytes/frame%s%.0d\n", peer->name, peer->cpu_ms,
                   peer->ratio, peer->bytes, peer->quantizer ? ", quantizer " : "", peer->quantizer);
    }
}

static void print_json(const Options *o, const PnvBenchContent *c, const Result *r)
{
    const PnvParams *p = &o->params;
    const PnvBenchStages *s = &r->stages;

    printf("{\"width\": %d, \"height\": %d, \"format\": \"%s\", \"content\": \"%s\", \"quantizer\": %d, \"cpu\": \"%s\", "
           "\"threads\": %d, \"frames_in_flight\": %d, \"frames\": %d, \"rounds\": %d,\n",
           p->width, p->height, c->format->name, o->input ? "file" : c->name, r->time.quantizer,
           pnv_cpu_name(p->cpu), p->threads, p->frames_in_flight, c->n, o->rounds);
    printf(" \"cpu_ms_per_frame\": %.4f, \"cpu_ms_per_frame_median\": %.4f, \"wall_ms_per_frame\": %.4f, "
           "\"wall_ms_per_frame_median\": %.4f,\n",
           r->time.cpu_min, r->time.cpu_median, r->time.wall_min, r->time.wall_median);
    printf(" \"fps\": %.2f, \"bytes_per_frame\": %.1f, \"ns_per_coefficient\": %.4f, \"input_gb_per_s\": %.3f, "
           "\"copy_gb_per_s\": [%.2f, %.2f],\n",
           1e3 / r->time.wall_min, r->time.bytes, 1e6 * r->time.cpu_min / r->n_coefs,
           1e-6 * (double)c->frame_bytes / r->time.wall_min, r->copy_speed[0], r->copy_speed[1]);
    printf(" \"stages\": {");
    if (o->stages)
        printf("\"forward\": %.4f, \"entropy\": %.4f, \"rest\": %.4f, \"fetch\": %.4f, \"transform\": %.4f, "
               "\"quant\": %.4f, \"entropy_bits\": %.4f, \"nonzero_levels\": %.0f",
               s->forward, s->entropy, r->time.cpu_min - s->forward - s->entropy, s->fetch, s->transform, s->quant,
               s->entropy_bits, s->n_levels);
    printf("}");
    if (o->against)
        printf(",\n \"against\": {\"format\": \"%s\", \"cpu_ms_per_frame\": [%.4f, %.4f], \"bytes_per_frame\": [%.1f, %.1f], "
               "\"ratio\": %.4f}", o->against->name, r->pair.cpu_ms[0], r->pair.cpu_ms[1], r->pair.bytes[0],
               r->pair.bytes[1], r->pair.cpu_ms[0] / r->pair.cpu_ms[1]);
    for (int i = 0; o->peers && i < PNV_BENCH_PEERS; i++) {
        const PnvBenchPeer *peer = &r->peers[i];
        printf("%s\n  {\"name\": \"%s\", ", i ? "," : ",\n \"peers\": [", peer->name);
        if (peer->missing[0])
            printf("\"missing\": \"%s\"}", peer->missing);
        else
            printf("\"quantizer\": %d, \"cpu_ms_per_frame\": %.3f, \"bytes_per_frame\": %.1f, \"ratio\": %.2f}",
                   peer->quantizer, peer->cpu_ms, peer->bytes, peer->ratio);
    }
    printf("%s}\n", o->peers ? "]" : "");
}

/** The same frames in the other format, in turn with those of content. */
static int measure_pair(const Options *o, const PnvBenchContent *content, PnvBenchPair *pair, char *error)
{
    PnvParams params = o->params;
    PnvBenchContent other = {0};

    pnv_bench_format_apply(o->against, &params);
    int failed = pnv_bench_content_make(&other, &params, o->against, content->n, o->is_pattern);
    for (int i = 0; !failed && i < other.n; i++)
        other.pics[i].interlace = content->pics[i].interlace;
    failed = failed || pnv_bench_pair(pair, (const PnvBenchContent *const[]){content, &other},
                                      (const PnvParams *const[]){&o->params, &params}, o->rounds, error);
    pnv_bench_content_free(&other);
    return failed;
}

static int measure(const Options *o, const PnvBenchContent *c, Result *r, char *error)
{
    const PnvParams *p = &o->params;

    if (pnv_bench_time(&r->time, c, p, o->rounds, error))
        return -1;
    if (o->stages && pnv_bench_stages(&r->stages, c, p, r->time.quantizer, o->rounds, error))
        return -1;
    r->n_coefs = (double)p->width * p->height * (p->profile >= PNV_PROFILE_4444 ? 3 : 2);
    r->copy_speed[0] = pnv_bench_copy_speed(1);
    r->copy_speed[1] = p->threads > 1 ? pnv_bench_copy_speed(p->threads) : r->copy_speed[0];
    if (o->against && measure_pair(o, c, &r->pair, error))
        return -1;
    if (o->peers)
        pnv_bench_peers(r->peers, c, p, r->time.bytes);
    return o->plot ? pnv_bench_plot(o->plot, c, p, o->peers ? r->peers : NULL, o->rounds, error) : 0;
}

int main(int argc, char **argv)
{
    char error[PNV_ERROR_BYTES] = "no memory for the frames";
    PnvBenchContent content = {0};
    Result result = {0};
    int interlaced = 0;
    Options o = parse(argc, argv, &interlaced);
    PnvEncoder *enc;

    if (o.kernels) {
        pnv_bench_kernels(o.rounds, o.json);
        return 0;
    }
    /* Before frames are made: are the parameters right, and what does auto stand for? */
    const PnvStatus status = pnv_open(&enc, &o.params, error);
    if (status != PNV_OK) {
        fprintf(stderr, "proresnv-bench: %s\n", error);
        return status == PNV_ENODEV ? 77 : 2;
    }
    o.params.cpu = pnv_params(enc)->cpu;
    o.params.profile = pnv_params(enc)->profile;
    pnv_close(&enc);
    if (pnv_cpu_is_emulated(o.params.cpu))
        fprintf(stderr, "proresnv-bench: %s is emulated in this build: its times say nothing\n",
                pnv_cpu_name(o.params.cpu));
    snprintf(error, sizeof error, "no memory for %d frames", o.n_frames);
    int failed = o.input ? pnv_bench_content_read(&content, &o.params, o.format, o.n_frames, o.input, error)
                         : pnv_bench_content_make(&content, &o.params, o.format, o.n_frames, o.is_pattern);
    for (int i = 0; !failed && interlaced && i < content.n; i++)
        content.pics[i].interlace = PNV_TOP_FIELD_FIRST;
    failed = failed || measure(&o, &content, &result, error);
    if (failed)
        fprintf(stderr, "proresnv-bench: %s\n", error);
    else if (o.json)
        print_json(&o, &content, &result);
    else
        print_text(&o, &content, &result);
    pnv_bench_content_free(&content);
    return failed ? 1 : 0;
}
