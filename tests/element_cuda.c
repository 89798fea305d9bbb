/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames in CUDA memory, of GStreamer's own libgstcuda, on the emulated runtime: the bytes are those of the same frames
 * in ordinary memory, nothing is copied, and what fails is told or made good. */
#include "element.h"

#include <gst/app/app.h>
#include <gst/cuda/cuda-gst.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <unistd.h>

#include "hostcuda_control.h"

#define CUDA_ENCODER TEST_ENCODER " backend=cuda"

/* What both libgstcuda and the encoder know. */
static const char *const cuda_formats[] = {"Y42B", "I422_10LE", "I422_12LE", "Y444", "Y444_16LE"};

static void setup(void)
{
    fail_unless(gst_cuda_load_library());
    gst_cuda_memory_init_once();
    hostcuda_reset();
}

/* Every test ends with as much on the device as it began with. */
static void teardown(void)
{
    hostcuda_fail(NULL, 0, 0, cudaSuccess);
    const HostcudaCounts counts = hostcuda_counts();
    fail_unless_equals_int(counts.live_device, 0);
    fail_unless_equals_int(counts.live_pinned, 0);
    fail_unless_equals_int(counts.live_streams, 0);
    fail_unless_equals_int(counts.live_events, 0);
    fail_unless_equals_int(counts.misuse, 0);
}

static GstCaps *cuda_caps(const GstVideoInfo *info)
{
    GstCaps *caps = gst_video_info_to_caps(info);

    gst_caps_set_features_simple(caps, gst_caps_features_new(GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, NULL));
    return caps;
}

static GstCudaContext *new_context(guint device)
{
    GstCudaContext *context = gst_cuda_context_new(device);

    fail_unless(context != NULL, "device %u", device);
    return context;
}

static GstBuffer *empty_cuda_buffer(GstCudaContext *context, const GstVideoInfo *info)
{
    GstAllocator *allocator = gst_allocator_find(GST_CUDA_MEMORY_TYPE_NAME);
    GstMemory *memory = gst_cuda_allocator_alloc(GST_CUDA_ALLOCATOR_CAST(allocator), context,
#if GST_CHECK_VERSION(1, 24, 0)
                                                 NULL,
#endif
                                                 info);
    GstBuffer *buffer = gst_buffer_new();

    fail_unless(memory != NULL);
    gst_buffer_append_memory(buffer, memory);
    gst_object_unref(allocator);
    return buffer;
}

/* Row by row into memory with strides of its own. */
static void copy_planes(guint8 *to, const GstVideoInfo *layout, GstBuffer *raw, const GstVideoInfo *info)
{
    GstMapInfo map;

    fail_unless(gst_buffer_map(raw, &map, GST_MAP_READ));
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(info); c++)
        for (int y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT(info, c); y++)
            memcpy(to + GST_VIDEO_INFO_COMP_OFFSET(layout, c) + y * GST_VIDEO_INFO_COMP_STRIDE(layout, c),
                   map.data + GST_VIDEO_INFO_COMP_OFFSET(info, c) + y * GST_VIDEO_INFO_COMP_STRIDE(info, c),
                   (size_t)GST_VIDEO_INFO_COMP_WIDTH(info, c) * (size_t)GST_VIDEO_INFO_COMP_PSTRIDE(info, c));
    gst_buffer_unmap(raw, &map);
}

/* The frame of test_buffer() in the memory of a GPU. */
static GstBuffer *cuda_buffer(GstCudaContext *context, const GstVideoInfo *info, guint seed)
{
    GstBuffer *buffer = empty_cuda_buffer(context, info), *raw = test_buffer(info, seed);
    const GstVideoInfo *layout = &GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0))->info;
    GstMapInfo map;

    fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
    copy_planes(map.data, layout, raw, info);
    gst_buffer_unmap(buffer, &map);
    /* to the GPU at once, as upstream would have it there */
    fail_unless(gst_buffer_map(buffer, &map, GST_MAP_READ | GST_MAP_CUDA));
    gst_buffer_unmap(buffer, &map);
    gst_buffer_copy_into(buffer, raw, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
    gst_buffer_unref(raw);
    return buffer;
}

/* Takes the next packet, which has to be that of a frame. */
static void pull_frame(GstHarness *h, const GstVideoInfo *info, guint seed)
{
    const PnvParams params = test_params(info);
    GstBuffer *packet = gst_harness_pull(h), *raw = test_buffer(info, seed);

    fail_unless_equals_uint64(GST_BUFFER_PTS(packet), GST_BUFFER_PTS(raw));
    check_packet(packet, &params, info, raw);
    gst_buffer_unref(packet);
    gst_buffer_unref(raw);
}

/* ---- Bytes, and who copies ---- */

GST_START_TEST(test_formats_and_backends)
{
    static const char *const backends[] = {"cuda", "auto", "cpu"};
    GstCudaContext *context = new_context(0);
    GstVideoInfo info;

    test_info(&info, cuda_formats[__i__], 82, 51);
    for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
        const gboolean is_cpu = strcmp(backends[b], "cpu") == 0;
        gchar *launch = g_strdup_printf(TEST_ENCODER " backend=%s", backends[b]);
        GstHarness *h = test_harness(launch);
        /* the processor takes such frames where caps do not announce them */
        fail_unless(push_caps(h, is_cpu ? gst_video_info_to_caps(&info) : cuda_caps(&info)));
        for (guint i = 0; i < 5; i++) {
            gst_harness_push(h, cuda_buffer(context, &info, i));
            pull_frame(h, &info, i);
        }
        check_no_error(h);
        fail_unless_equals_uint64(get_stat(h->element, "downloads"), is_cpu ? 5 : 0);
        fail_unless_equals_uint64(get_stat(h->element, "staging-copies"), 0);
        fail_unless_equals_uint64(get_stat(h->element, "fallbacks"), 0);
        test_harness_free(h);
        g_free(launch);
    }
    gst_object_unref(context);
}
GST_END_TEST;

static Suite *element_cuda_suite(void)
{
    Suite *s = suite_create("cuda");
    TCase *tc = tcase_create("general");

    suite_add_tcase(s, tc);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, test_formats_and_backends, 0, G_N_ELEMENTS(cuda_formats));
    return s;
}

GST_CHECK_MAIN(element_cuda);
