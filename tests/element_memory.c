/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where frames lie on their way in and out: the pool that upstream is offered, and packets that others keep. With the
 * emulated CUDA runtime the GPU's side is looked at, too. */
#include "element.h"

#include <gst/app/app.h>

#ifdef PNV_CUDA_EMULATED
#include "hostcuda_control.h"
#define BACKEND " backend=cuda"
#else
#define BACKEND " backend=cpu"
#endif
#define ENCODER TEST_ENCODER BACKEND " name=encoder"

static const char video[] = "video/x-raw,format=I422_10LE,width=64,height=48,framerate=25/1";

static guint64 stat_of(GstElement *pipeline, const char *name)
{
    GstElement *encoder = gst_bin_get_by_name(GST_BIN(pipeline), "encoder");
    const guint64 value = get_stat(encoder, name);

    gst_object_unref(encoder);
    return value;
}

/* ---- The pool ---- */

/* Whoever takes the pool writes where the GPU reads. */
GST_START_TEST(test_pool_taken)
{
    static const char *const between[] = {
        "video/x-raw,format=I422_10LE,width=64,height=48 ! identity",
        "video/x-raw,format=I422_10LE,width=64,height=48 ! queue max-size-buffers=2",
        "video/x-raw,format=I420,width=101,height=51 ! videoconvert ! video/x-raw,format=I422_10LE",
        "video/x-raw,format=I422_10LE,width=64,height=48 ! videoscale ! video/x-raw,width=102,height=90",
        "video/x-raw,format=Y42B,width=64,height=48 ! videocrop left=2 bottom=3",
        "video/x-raw,format=Y42B,width=64,height=48 ! avenc_ffvhuff ! avdec_ffvhuff",
    };
    gchar *description = g_strdup_printf("videotestsrc num-buffers=10 ! %s ! " ENCODER " ! fakesink", between[__i__]);
    GstElement *pipeline = play(description);

    fail_unless(stat_of(pipeline, "frames") > 0);
    fail_unless_equals_uint64(stat_of(pipeline, "staging-copies"), 0);
    fail_unless_equals_uint64(stat_of(pipeline, "fallbacks"), 0);
    stop(pipeline);
    g_free(description);
}
GST_END_TEST;

/* tee offers no pools: ordinary memory is as good, and costs a copy where there is a GPU. */
GST_START_TEST(test_pool_not_taken)
{
    gchar *description = g_strdup_printf("videotestsrc num-buffers=5 ! %s ! tee name=t ! queue ! " ENCODER
                                         " ! fakesink t. ! queue ! fakesink", video);
    GstElement *pipeline = play(description);

    fail_unless_equals_uint64(stat_of(pipeline, "frames"), 5);
#ifdef PNV_CUDA_EMULATED
    fail_unless_equals_uint64(stat_of(pipeline, "staging-copies"), 5);
#endif
    stop(pipeline);
    g_free(description);
}
GST_END_TEST;

/* The pool as an application gets it, active. */
static GstBufferPool *ask_pool(GstHarness *h, const GstVideoInfo *info, const char *option)
{
    GstCaps *caps = gst_video_info_to_caps(info);
    GstQuery *query = gst_query_new_allocation(caps, TRUE);
    GstBufferPool *pool;
    guint size, min, max;

    fail_unless(gst_pad_peer_query(h->srcpad, query));
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
    fail_unless(pool != NULL);
    GstStructure *config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, size, min, max);
    if (option)
        gst_buffer_pool_config_add_option(config, option);
    fail_unless(gst_buffer_pool_set_config(pool, config));
    fail_unless(gst_buffer_pool_set_active(pool, TRUE));
    gst_query_unref(query);
    gst_caps_unref(caps);
    return pool;
}

/* The picture of test_buffer() in a buffer of the pool. */
static GstBuffer *pool_buffer(GstBufferPool *pool, const GstVideoInfo *info, guint seed)
{
    GstBuffer *from = test_buffer(info, seed), *to;
    GstVideoFrame from_frame, to_frame;

    fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &to, NULL), GST_FLOW_OK);
    fail_unless(gst_video_frame_map(&from_frame, info, from, GST_MAP_READ));
    fail_unless(gst_video_frame_map(&to_frame, info, to, GST_MAP_WRITE));
    fail_unless(gst_video_frame_copy(&to_frame, &from_frame));
    gst_video_frame_unmap(&to_frame);
    gst_video_frame_unmap(&from_frame);
    gst_buffer_copy_into(to, from, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
    gst_buffer_unref(from);
    return to;
}

/* An application fills the pool's frames, as rows of the caps or of GstVideoMeta: the same bytes, and rows at lines of
 * the cache where strides are read. */
GST_START_TEST(test_pool_application)
{
    const TestFormat *format = &test_formats[__i__];
    GstHarness *h = test_harness(ENCODER);
    GstVideoInfo info;

    test_info(&info, format->name, 82, 50);
    fail_unless(push_caps(h, gst_video_info_to_caps(&info)));
    for (int with_meta = 0; with_meta < 2; with_meta++) {
        GstBufferPool *pool = ask_pool(h, &info, with_meta ? GST_BUFFER_POOL_OPTION_VIDEO_META : NULL);
        const PnvParams params = test_params(&info);
        for (guint i = 0; i < 10; i++) {
            GstBuffer *buffer = pool_buffer(pool, &info, i);
            const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
            fail_unless(!with_meta || meta->stride[0] % 64 == 0);
            gst_harness_push(h, buffer);
            GstBuffer *packet = gst_harness_pull(h), *raw = test_buffer(&info, i);
            check_packet(packet, &params, &info, raw);
            gst_buffer_unref(packet);
            gst_buffer_unref(raw);
        }
        gst_buffer_pool_set_active(pool, FALSE);
        gst_object_unref(pool);
    }
    check_no_error(h);
    fail_unless_equals_uint64(get_stat(h->element, "staging-copies"), 0);
    fail_unless_equals_uint64(get_stat(h->element, "packet-copies"), 0);
    /* and its own */
    gst_harness_push(h, test_buffer(&info, 0));
    gst_buffer_unref(gst_harness_pull(h));
#ifdef PNV_CUDA_EMULATED
    fail_unless_equals_uint64(get_stat(h->element, "staging-copies"), 1);
#endif
    test_harness_free(h);
}
GST_END_TEST;

/* Buffers of a pool outlive the encoder that it was made for, and the element. */
GST_START_TEST(test_pool_outlives)
{
    GstHarness *h = test_harness(ENCODER);
    GstVideoInfo info, other;

    test_info(&info, "I422_10LE", 82, 50);
    test_info(&other, "I422_10LE", 64, 48);
    fail_unless(push_caps(h, gst_video_info_to_caps(&info)));
    GstBufferPool *pool = ask_pool(h, &info, NULL);
    GstBuffer *before = pool_buffer(pool, &info, 1);
    fail_unless(push_caps(h, gst_video_info_to_caps(&other)));
    GstBuffer *held[8];
    for (guint i = 0; i < G_N_ELEMENTS(held); i++) /* more than there were */
        held[i] = pool_buffer(pool, &info, i);
    fail_unless(push_caps(h, gst_video_info_to_caps(&info)));
    const PnvParams params = test_params(&info);
    gst_harness_push(h, before);
    GstBuffer *packet = gst_harness_pull(h), *raw = test_buffer(&info, 1);
    check_packet(packet, &params, &info, raw);
    gst_buffer_unref(packet);
    gst_buffer_unref(raw);
    test_harness_free(h);
    GstVideoFrame frame;
    for (guint i = 0; i < G_N_ELEMENTS(held); i++) {
        fail_unless(gst_video_frame_map(&frame, &info, held[i], GST_MAP_READWRITE));
        memset(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0), (int)i, 100);
        gst_video_frame_unmap(&frame);
        gst_buffer_unref(held[i]);
    }
    gst_buffer_pool_set_active(pool, FALSE);
    gst_object_unref(pool);
}
GST_END_TEST;

#ifdef PNV_CUDA_EMULATED
/* Where memory cannot be page-locked, ordinary memory does, with one warning. */
GST_START_TEST(test_pool_not_pinned)
{
    GstHarness *h = test_harness(ENCODER);
    GstVideoInfo info;

    test_info(&info, "I422_10LE", 82, 50);
    fail_unless(push_caps(h, gst_video_info_to_caps(&info)));
    hostcuda_fail("cudaHostRegister", 1, 0, cudaErrorMemoryAllocation);
    GstBufferPool *pool = ask_pool(h, &info, NULL);
    const PnvParams params = test_params(&info);
    for (guint i = 0; i < 10; i++) {
        gst_harness_push(h, pool_buffer(pool, &info, i));
        GstBuffer *packet = gst_harness_pull(h), *raw = test_buffer(&info, i);
        check_packet(packet, &params, &info, raw);
        gst_buffer_unref(packet);
        gst_buffer_unref(raw);
    }
    fail_unless_equals_int(count_warnings(h, "page-locked|copied"), 1);
    fail_unless(get_stat(h->element, "staging-copies") > 0);
    fail_unless(get_stat(h->element, "staging-copies") < 10);
    fail_unless_equals_uint64(get_stat(h->element, "fallbacks"), 0);
    gst_buffer_pool_set_active(pool, FALSE);
    gst_object_unref(pool);
    test_harness_free(h);
}
GST_END_TEST;
#endif

/* ---- Packets ---- */

/* Someone downstream keeps them all: nothing waits for them. */
GST_START_TEST(test_packets_kept)
{
    enum { N_FRAMES = 100 };
    gchar *description = g_strdup_printf("videotestsrc num-buffers=%d ! %s ! " ENCODER " ! queue max-size-buffers=0 "
                                         "max-size-bytes=0 max-size-time=0 min-threshold-buffers=50 ! "
                                         "appsink name=sink sync=false wait-on-eos=false",
                                         N_FRAMES, video);
    GstElement *pipeline = play(description), *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    GstSample *samples[N_FRAMES];
    GstVideoInfo info;

    for (guint i = 0; i < N_FRAMES; i++) {
        samples[i] = gst_app_sink_pull_sample(GST_APP_SINK(sink));
        fail_unless(samples[i] != NULL);
        fail_unless_equals_uint64(GST_BUFFER_PTS(gst_sample_get_buffer(samples[i])), i * 40 * GST_MSECOND);
    }
    test_info(&info, "I422_10LE", 64, 48);
    fail_unless_equals_uint64(stat_of(pipeline, "frames"), N_FRAMES);
    fail_unless_equals_uint64(stat_of(pipeline, "fallbacks"), 0);
#ifdef PNV_CUDA_EMULATED
    /* some are the ring that the device writes to, which does not grow, the others ordinary memory */
    const guint64 n_copies = stat_of(pipeline, "packet-copies");
    fail_unless(n_copies >= N_FRAMES - 20 && n_copies < N_FRAMES, "%u copies", (guint)n_copies);
#endif
    gst_object_unref(sink);
    stop(pipeline);
    /* videotestsrc repeats itself but for a corner: packets are whole after all else is gone */
    for (guint i = 0; i < N_FRAMES; i++) {
        GstBuffer *packet = gst_sample_get_buffer(samples[i]);
        guint8 head[8];
        fail_unless_equals_int(gst_buffer_extract(packet, 0, head, 8), 8);
        fail_unless_equals_int(GST_READ_UINT32_BE(head), gst_buffer_get_size(packet));
        fail_unless(memcmp(head + 4, "icpf", 4) == 0);
        gst_sample_unref(samples[i]);
    }
    g_free(description);
}
GST_END_TEST;

static Suite *element_memory_suite(void)
{
    Suite *s = suite_create("memory");
    TCase *tc = tcase_create("general");

    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, test_pool_taken, 0, 6);
    tcase_add_test(tc, test_pool_not_taken);
    tcase_add_loop_test(tc, test_pool_application, 0, G_N_ELEMENTS(test_formats));
    tcase_add_test(tc, test_pool_outlives);
#ifdef PNV_CUDA_EMULATED
    tcase_add_test(tc, test_pool_not_pinned);
#endif
    tcase_add_test(tc, test_packets_kept);
    return s;
}

GST_CHECK_MAIN(element_memory);
