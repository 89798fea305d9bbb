/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a pipeline takes beyond the core: "appsrc ! proresnvenc ! fakesink" with preloaded buffers beside the public API
 * with the same frames, in turns, 1920x1080 at a constant quantizer. The goal is 8 % of processor time at most; on an
 * idle machine wall-clock time says the same. Ends with 1 if the bytes differ or the goal is missed.
 *
 *     bench_pipeline [ROUNDS]
 */
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "pnv.h"

enum { WIDTH = 1920, HEIGHT = 1080, N_FRAMES = 8, N_CYCLES = 2, QUANTIZER = 9, GOAL_PERCENT = 8 };

typedef struct Setting {
    int threads, depth; /* 0 threads: as many as there are cores */
} Setting;

/* The least milliseconds of a frame so far, and the bytes of a round. */
typedef struct Result {
    double cpu, wall;
    size_t bytes;
} Result;

static void take(Result *r, double cpu_start, double wall_start, size_t bytes)
{
    const int n = N_FRAMES * N_CYCLES;
    const double cpu = (pnv_bench_cpu_ms() - cpu_start) / n, wall = (pnv_bench_wall_ms() - wall_start) / n;

    r->cpu = r->bytes && r->cpu < cpu ? r->cpu : cpu;
    r->wall = r->bytes && r->wall < wall ? r->wall : wall;
    r->bytes = bytes;
}

/* ---- the core ---- */

static PnvEncoder *open_core(const PnvParams *format, const Setting *s)
{
    char error[PNV_ERROR_BYTES];
    PnvParams params = *format;
    PnvEncoder *enc;

    params.rate_control = PNV_RATE_CONSTANT_QUANTIZER;
    params.quantizer = QUANTIZER;
    params.rounding = PNV_ROUNDING_NEAREST;
    params.threads = s->threads;
    params.frames_in_flight = s->depth;
    if (pnv_open(&enc, &params, error) != PNV_OK) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return enc;
}

static void run_core(Result *r, PnvEncoder *enc, const PnvBenchContent *content)
{
    const double cpu_start = pnv_bench_cpu_ms(), wall_start = pnv_bench_wall_ms();
    const int n = N_FRAMES * N_CYCLES;
    size_t bytes = 0;

    for (int n_sent = 0, n_collected = 0; n_collected < n;) {
        PnvPacket packet;
        if (n_sent < n && pnv_send(enc, &content->pics[n_sent % N_FRAMES]) == PNV_OK) {
            n_sent++;
            continue;
        }
        if (pnv_collect(enc, &packet) != PNV_OK) {
            fprintf(stderr, "%s\n", pnv_error(enc));
            exit(1);
        }
        bytes += packet.size;
        pnv_packet_release(&packet);
        n_collected++;
    }
    take(r, cpu_start, wall_start, bytes);
}

/* ---- the pipeline ---- */

typedef struct Pipeline {
    GstElement *pipeline, *source;
    GstBuffer *frames[N_FRAMES];
    GMutex lock;
    GCond arrived;
    int n_arrived;
    size_t bytes;
    guint64 n_pushed;
} Pipeline;

static GstPadProbeReturn count(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    Pipeline *p = data;

    (void)pad;
    g_mutex_lock(&p->lock);
    p->n_arrived++;
    p->bytes += gst_buffer_get_size(GST_PAD_PROBE_INFO_BUFFER(info));
    g_cond_signal(&p->arrived);
    g_mutex_unlock(&p->lock);
    return GST_PAD_PROBE_OK;
}

static void open_pipeline(Pipeline *p, const PnvBenchContent *content, const Setting *s)
{
    GError *error = NULL;
    gchar *text = g_strdup_printf(
        "appsrc name=source format=time block=true max-buffers=2 max-bytes=0 caps=video/x-raw,format=I422_10LE,"
        "width=%d,height=%d,framerate=25/1,interlace-mode=progressive ! "
        "proresnvenc rate-control=constant-quantizer quantizer=%d quantization=nearest threads=%d pipeline-depth=%d ! "
        "fakesink name=sink sync=false",
        WIDTH, HEIGHT, QUANTIZER, s->threads, s->depth);

    *p = (Pipeline){.pipeline = gst_parse_launch(text, &error)};
    if (!p->pipeline || error) {
        fprintf(stderr, "%s\n", error ? error->message : text);
        exit(1);
    }
    g_free(text);
    g_mutex_init(&p->lock);
    g_cond_init(&p->arrived);
    p->source = gst_bin_get_by_name(GST_BIN(p->pipeline), "source");
    GstElement *sink = gst_bin_get_by_name(GST_BIN(p->pipeline), "sink");
    GstPad *pad = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count, p, NULL);
    gst_object_unref(pad);
    gst_object_unref(sink);
    for (int i = 0; i < N_FRAMES; i++)
        p->frames[i] = gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, content->memory[i], content->frame_bytes,
                                                   0, content->frame_bytes, NULL, NULL);
    gst_element_set_state(p->pipeline, GST_STATE_PLAYING);
}

static void run_pipeline(Result *r, Pipeline *p)
{
    const double cpu_start = pnv_bench_cpu_ms(), wall_start = pnv_bench_wall_ms();
    const int n = N_FRAMES * N_CYCLES;

    p->n_arrived = 0;
    p->bytes = 0;
    for (int i = 0; i < n; i++) {
        GstBuffer *buffer = gst_buffer_copy(p->frames[i % N_FRAMES]); /* the same memory */
        GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(p->n_pushed++, GST_SECOND, 25);
        if (gst_app_src_push_buffer(GST_APP_SRC(p->source), buffer) != GST_FLOW_OK) {
            fprintf(stderr, "the pipeline takes no more\n");
            exit(1);
        }
    }
    const gint64 patience = g_get_monotonic_time() + 60 * G_TIME_SPAN_SECOND;
    g_mutex_lock(&p->lock);
    while (p->n_arrived < n) {
        if (!g_cond_wait_until(&p->arrived, &p->lock, patience)) {
            fprintf(stderr, "%d of %d frames came\n", p->n_arrived, n);
            exit(1);
        }
    }
    g_mutex_unlock(&p->lock);
    take(r, cpu_start, wall_start, p->bytes);
}

static void close_pipeline(Pipeline *p)
{
    gst_element_set_state(p->pipeline, GST_STATE_NULL);
    gst_object_unref(p->source);
    gst_object_unref(p->pipeline);
    for (int i = 0; i < N_FRAMES; i++)
        gst_buffer_unref(p->frames[i]);
    g_mutex_clear(&p->lock);
    g_cond_clear(&p->arrived);
}

/* Both in turns. 0, or 1 if bytes differ or the goal is missed. */
static int compare(const PnvBenchContent *content, const Setting *s, int rounds)
{
    PnvEncoder *enc = open_core(&content->params, s);
    Result core = {0}, element = {0};
    Pipeline pipeline;

    open_pipeline(&pipeline, content, s);
    for (int i = 0; i <= rounds; i++) {
        if (i == 1) /* one to warm up */
            core = element = (Result){0};
        run_core(&core, enc, content);
        run_pipeline(&element, &pipeline);
    }
    close_pipeline(&pipeline);
    pnv_close(&enc);
    const double cpu = 100 * (element.cpu / core.cpu - 1), wall = 100 * (element.wall / core.wall - 1);
    printf("%d threads, %d in flight: core %.3f ms of CPU a frame, %.3f wall; pipeline %.3f, %.3f: %+.1f %%, %+.1f %%\n",
           s->threads, s->depth, core.cpu, core.wall, element.cpu, element.wall, cpu, wall);
    if (core.bytes != element.bytes) {
        printf("  %zu bytes for %zu of the core\n", element.bytes, core.bytes);
        return 1;
    }
    if (cpu <= GOAL_PERCENT)
        return 0;
    printf("  the goal, %d %%, is missed\n", GOAL_PERCENT);
    return 1;
}

int main(int argc, char **argv)
{
    static const Setting settings[] = {{1, 1}, {1, 2}, {0, 1}, {0, 2}};
    const PnvBenchFormat *format = pnv_bench_format("yuv422p10le");
    const int rounds = argc > 1 ? atoi(argv[1]) : 15;
    PnvParams params = {.width = WIDTH, .height = HEIGHT};
    PnvBenchContent content;
    int failed = 0;

    gst_init(&argc, &argv);
    pnv_bench_format_apply(format, &params);
    if (pnv_bench_content_make(&content, &params, format, N_FRAMES, 0)) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        failed |= compare(&content, &settings[i], rounds);
    pnv_bench_content_free(&content);
    gst_deinit();
    return failed;
}
