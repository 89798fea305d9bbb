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
#include <malloc.h>

#include "hostcuda_control.h"

#define CUDA_ENCODER TEST_ENCODER " backend=cuda"

/* What both libgstcuda and the encoder know. */
static const char *const cuda_formats[] = {"Y42B", "I422_10LE", "I422_12LE",  "Y444", "Y444_16LE", "I420", "NV12",
                                           "P010_10LE", "YUY2", "UYVY", "RGBA", "BGRx", "RGB10A2_LE", "GBR"};

#if PNV_TEST_STREAMS
/* What memory tells of its stream since GStreamer 1.24, and calls for it: the element looks for them in the process. */
gpointer gst_cuda_memory_get_stream(GstCudaMemory *memory);
CUstream gst_cuda_stream_get_handle(gpointer stream);
CUresult CuEventCreate(CUevent *event, unsigned int flags);
CUresult CuEventRecord(CUevent event, CUstream stream);
CUresult CuEventDestroy(CUevent event);

gpointer gst_cuda_memory_get_stream(GstCudaMemory *memory)
{
    return gst_mini_object_get_qdata(GST_MINI_OBJECT(memory), g_quark_from_static_string("stream"));
}

CUstream gst_cuda_stream_get_handle(gpointer stream)
{
    return stream;
}

CUresult CuEventCreate(CUevent *event, unsigned int flags)
{
    return (CUresult)cudaEventCreateWithFlags(event, flags);
}

CUresult CuEventRecord(CUevent event, CUstream stream)
{
    return (CUresult)cudaEventRecord(event, stream);
}

CUresult CuEventDestroy(CUevent event)
{
    return (CUresult)cudaEventDestroy(event);
}
#endif

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
    enum { N_FRAMES = 5 };
    static const char *const backends[] = {"cpu", "cuda", "auto", "cpu"};
    GstCudaContext *context = new_context(0);
    GstBuffer *want[N_FRAMES] = {NULL};
    GstVideoInfo info;

    /* planes of I420 overlap in libgstcuda 1.22 where the height is odd */
    test_info(&info, cuda_formats[__i__], 82, strcmp(cuda_formats[__i__], "I420") == 0 ? 52 : 51);
    for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
        const gboolean is_cpu = strcmp(backends[b], "cpu") == 0, on_gpu = b > 0;
        gchar *launch = g_strdup_printf(TEST_ENCODER " backend=%s", backends[b]);
        GstHarness *h = test_harness(launch);
        /* the processor takes such frames where caps do not announce them */
        fail_unless(push_caps(h, is_cpu ? gst_video_info_to_caps(&info) : cuda_caps(&info)));
        for (guint i = 0; i < N_FRAMES; i++) {
            GstMapInfo map;
            gst_harness_push(h, on_gpu ? cuda_buffer(context, &info, i) : test_buffer(&info, i));
            GstBuffer *packet = gst_harness_pull(h);
            if (!on_gpu)
                want[i] = gst_buffer_ref(packet);
            fail_unless(gst_buffer_map(want[i], &map, GST_MAP_READ));
            fail_unless_equals_int(gst_buffer_get_size(packet), map.size);
            fail_unless(gst_buffer_memcmp(packet, 0, map.data, map.size) == 0, "%s: frame %u", launch, i);
            gst_buffer_unmap(want[i], &map);
            gst_buffer_unref(packet);
        }
        check_no_error(h);
        fail_unless_equals_uint64(get_stat(h->element, "downloads"), is_cpu && on_gpu ? N_FRAMES : 0);
        fail_unless_equals_uint64(get_stat(h->element, "staging-copies"), 0);
        fail_unless_equals_uint64(get_stat(h->element, "fallbacks"), 0);
        test_harness_free(h);
        g_free(launch);
    }
    for (guint i = 0; i < N_FRAMES; i++)
        gst_buffer_unref(want[i]);
    gst_object_unref(context);
}
GST_END_TEST;

/* Pitches and offsets are the memory's, whether GstVideoMeta repeats them or not, and a crop is obeyed. */
GST_START_TEST(test_layouts)
{
    static const struct {
        int width, height, crop_x, crop_y;
    } sizes[] = {{16, 16, 0, 0}, {201, 101, 0, 0}, {722, 34, 0, 0}, {64, 48, 6, 10}};
    GstCudaContext *context = new_context(0);

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
        for (int with_meta = 0; with_meta < 2; with_meta++) {
            GstHarness *h = test_harness(CUDA_ENCODER);
            GstVideoInfo info, larger;
            test_info(&info, "I422_10LE", sizes[i].width, sizes[i].height);
            test_info(&larger, "I422_10LE", sizes[i].width + sizes[i].crop_x, sizes[i].height + sizes[i].crop_y);
            fail_unless(push_caps(h, cuda_caps(&info)));
            GstBuffer *buffer = cuda_buffer(context, &larger, 3), *raw = test_buffer(&larger, 3);
            GstVideoInfo *layout = &GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0))->info;
            fail_unless(layout->stride[0] != larger.stride[0]);
            if (with_meta)
                gst_buffer_add_video_meta_full(buffer, 0, GST_VIDEO_FORMAT_I422_10LE, (guint)larger.width,
                                               (guint)larger.height, 3, layout->offset, layout->stride);
            GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer);
            crop->x = (guint)sizes[i].crop_x;
            crop->y = (guint)sizes[i].crop_y;
            crop->width = (guint)info.width;
            crop->height = (guint)info.height;
            gst_harness_push(h, buffer);
            GstBuffer *packet = gst_harness_pull(h);
            const PnvParams params = test_params(&info);
            /* the same part of the frame in ordinary memory */
            for (int c = 0; c < 3; c++)
                larger.offset[c] += (gsize)(sizes[i].crop_y * larger.stride[c] + 2 * (sizes[i].crop_x >> (c > 0)));
            check_packet(packet, &params, &larger, raw);
            fail_unless_equals_uint64(get_stat(h->element, "downloads"), 0);
            gst_buffer_unref(packet);
            gst_buffer_unref(raw);
            test_harness_free(h);
        }
    gst_object_unref(context);
}
GST_END_TEST;

/* A buffer that is smaller than its caps say, or of another format, is refused. */
GST_START_TEST(test_wrong_layout)
{
    GstCudaContext *context = new_context(0);
    GstVideoInfo info, small, other;

    test_info(&info, "I422_10LE", 64, 48);
    test_info(&small, "I422_10LE", 64, 46);
    test_info(&other, "Y444", 64, 48);
    for (int i = 0; i < 2; i++) {
        GstHarness *h = test_harness(CUDA_ENCODER);
        fail_unless(push_caps(h, cuda_caps(&info)));
        fail_unless_equals_int(gst_harness_push(h, cuda_buffer(context, i ? &small : &other, 0)), GST_FLOW_ERROR);
        check_error(h, "not what its caps say|videoconvert");
        test_harness_free(h);
    }
    gst_object_unref(context);
}
GST_END_TEST;

/* What fills the memory is still to run when the buffer comes. */
GST_START_TEST(test_upstream_is_not_done)
{
    GstCudaContext *context = new_context(0);
    GstVideoInfo info;
    CUstream stream;
    void *host;

    test_info(&info, "I422_10LE", 82, 50);
    GstBuffer *buffers[4], *raw;
    fail_unless(gst_cuda_context_push(context));
    /* a stream of which the default one knows nothing has to be told */
    fail_unless_equals_int(CuStreamCreate(&stream, PNV_TEST_STREAMS ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT),
                           CUDA_SUCCESS);
    fail_unless_equals_int(CuMemAllocHost(&host, 1 << 20), CUDA_SUCCESS);
    gst_cuda_context_pop(NULL);
    GstHarness *h = test_harness(CUDA_ENCODER);
    fail_unless(push_caps(h, cuda_caps(&info)));
    hostcuda_set_lazy(1);
    for (guint i = 0; i < G_N_ELEMENTS(buffers); i++) {
        buffers[i] = empty_cuda_buffer(context, &info);
        const GstVideoInfo *layout = &GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffers[i], 0))->info;
        GstMapInfo map;
        guint8 *from = (guint8 *)host + i * layout->size;
        raw = test_buffer(&info, i);
        copy_planes(from, layout, raw, &info);
        gst_buffer_copy_into(buffers[i], raw, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
        gst_buffer_unref(raw);
        fail_unless(gst_buffer_map(buffers[i], &map, GST_MAP_WRITE | GST_MAP_CUDA));
        fail_unless(gst_cuda_context_push(context));
        const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                    .srcHost = from,
                                    .srcPitch = layout->size,
                                    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                    .dstDevice = (CUdeviceptr)map.data,
                                    .dstPitch = layout->size,
                                    .WidthInBytes = layout->size,
                                    .Height = 1};
        fail_unless_equals_int(CuMemcpy2DAsync(&copy, stream), CUDA_SUCCESS);
        gst_cuda_context_pop(NULL);
        gst_buffer_unmap(buffers[i], &map);
        gst_mini_object_set_qdata(GST_MINI_OBJECT(gst_buffer_peek_memory(buffers[i], 0)),
                                  g_quark_from_static_string("stream"), stream, NULL);
        gst_harness_push(h, buffers[i]);
        pull_frame(h, &info, i);
    }
    fail_unless(!PNV_TEST_STREAMS || hostcuda_calls("cudaStreamWaitEvent") >= G_N_ELEMENTS(buffers));
    test_harness_free(h);
    fail_unless(gst_cuda_context_push(context));
    CuStreamDestroy(stream);
    CuMemFreeHost(host);
    gst_cuda_context_pop(NULL);
    gst_object_unref(context);
}
GST_END_TEST;

/* ---- Caps and pools ---- */

static guint count_cuda(const GstCaps *caps, gboolean *is_first)
{
    guint n = 0;

    *is_first = FALSE;
    for (guint i = 0; i < gst_caps_get_size(caps); i++)
        if (gst_caps_features_contains(gst_caps_get_features(caps, i), GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY)) {
            *is_first |= i == 0;
            n++;
            const GValue *list = gst_structure_get_value(gst_caps_get_structure(caps, i), "format");
            for (guint f = 0; f < gst_value_list_get_size(list); f++)
                fail_if(strcmp(g_value_get_string(gst_value_list_get_value(list, f)), "AYUV64") == 0,
                        "libgstcuda makes no such memory");
        }
    return n;
}

GST_START_TEST(test_caps_list_memory)
{
    static const struct {
        const char *backend;
        gboolean listed, is_first;
    } cases[] = {{"cuda", TRUE, TRUE}, {"auto", TRUE, FALSE}, {"cpu", FALSE, FALSE}};

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        gchar *launch = g_strdup_printf("proresnvenc backend=%s", cases[i].backend);
        GstHarness *h = test_harness(launch);
        GstPad *pad = gst_element_get_static_pad(h->element, "sink");
        GstCaps *caps = gst_pad_query_caps(pad, NULL), *template = gst_pad_get_pad_template_caps(pad);
        gboolean at_top;
        fail_unless_equals_int(count_cuda(caps, &at_top) > 0, cases[i].listed);
        fail_unless_equals_int(at_top, cases[i].is_first);
        fail_unless_equals_int(count_cuda(template, &at_top), 1);
        gst_caps_unref(caps);
        gst_caps_unref(template);
        gst_object_unref(pad);
        test_harness_free(h);
        g_free(launch);
    }
}
GST_END_TEST;

static GstBufferPool *offered_pool(GstHarness *h, const GstVideoInfo *info, guint *min)
{
    GstCaps *caps = cuda_caps(info);
    GstQuery *query = gst_query_new_allocation(caps, TRUE);
    GstBufferPool *pool;
    guint size, max;

    fail_unless(gst_pad_peer_query(h->srcpad, query));
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, min, &max);
    fail_unless(pool && GST_IS_CUDA_BUFFER_POOL(pool));
    GstStructure *config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, size, *min, max);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    fail_unless(gst_buffer_pool_set_config(pool, config));
    gst_query_unref(query);
    gst_caps_unref(caps);
    return pool;
}

/* Without anyone to ask, the element makes a context, tells of it, offers a pool in it, and lets it go in NULL. */
GST_START_TEST(test_own_context)
{
    GstHarness *h = test_harness(CUDA_ENCODER " pipeline-depth=5");
    GstVideoInfo info;
    guint min;

    test_info(&info, "I422_10LE", 82, 50);
    fail_unless(push_caps(h, cuda_caps(&info)));
    GstMessage *message = pop_message(h, GST_MESSAGE_HAVE_CONTEXT);
    GstContext *told;
    fail_unless(message != NULL);
    gst_message_parse_have_context(message, &told);
    fail_unless_equals_string(gst_context_get_context_type(told), GST_CUDA_CONTEXT_TYPE);
    gst_context_unref(told);
    gst_message_unref(message);

    GstQuery *query = gst_query_new_context(GST_CUDA_CONTEXT_TYPE);
    GstContext *answer = NULL;
    fail_unless(gst_pad_peer_query(h->srcpad, query));
    gst_query_parse_context(query, &answer);
    fail_unless(answer != NULL);
    gst_query_unref(query);

    GstBufferPool *pool = offered_pool(h, &info, &min);
    fail_unless(min >= 6);
    GstCudaContext *context = GST_CUDA_BUFFER_POOL_CAST(pool)->context;
    fail_unless(gst_buffer_pool_set_active(pool, TRUE));
    for (guint i = 0; i < 10; i++) {
        GstBuffer *buffer, *raw = test_buffer(&info, i);
        GstVideoFrame to, from;
        fail_unless_equals_int(gst_buffer_pool_acquire_buffer(pool, &buffer, NULL), GST_FLOW_OK);
        fail_unless(gst_video_frame_map(&from, &info, raw, GST_MAP_READ));
        fail_unless(gst_video_frame_map(&to, &info, buffer, GST_MAP_WRITE));
        gst_video_frame_copy(&to, &from);
        gst_video_frame_unmap(&to);
        gst_video_frame_unmap(&from);
        gst_buffer_copy_into(buffer, raw, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
        gst_buffer_unref(raw);
        gst_harness_push(h, buffer);
        pull_frame(h, &info, i);
    }
    fail_unless_equals_uint64(get_stat(h->element, "downloads"), 0);
    gst_buffer_pool_set_active(pool, FALSE);
    g_object_add_weak_pointer(G_OBJECT(context), (gpointer *)&context);
    gst_object_unref(pool);
    GstBus *bus = gst_element_get_bus(h->element); /* messages hold what they tell of */
    gst_bus_set_flushing(bus, TRUE);
    gst_object_unref(bus);
    gst_element_set_state(h->element, GST_STATE_NULL);
    fail_unless(context == NULL, "the context is kept beyond READY");
    test_harness_free(h);
}
GST_END_TEST;

/* A context that the application gives is the one, also where frames call it by another name. */
GST_START_TEST(test_given_context)
{
    GstHarness *h = test_harness(CUDA_ENCODER);
    GstCudaContext *context = new_context(0), *other = new_context(0);
    GstContext *given = gst_context_new_cuda_context(context);
    GstVideoInfo info;
    guint min;

    test_info(&info, "I422_10LE", 82, 50);
    gst_element_set_context(h->element, given);
    fail_unless(push_caps(h, cuda_caps(&info)));
    fail_unless(pop_message(h, GST_MESSAGE_HAVE_CONTEXT) == NULL);
    GstBufferPool *pool = offered_pool(h, &info, &min);
    fail_unless(GST_CUDA_BUFFER_POOL_CAST(pool)->context == context);
    gst_object_unref(pool);
    GstCudaContext *alias = gst_cuda_context_new_wrapped(gst_cuda_context_get_handle(context), 0);
    const unsigned long n_allocated = hostcuda_calls("cudaMalloc");
    gst_harness_push(h, cuda_buffer(alias, &info, 0));
    pull_frame(h, &info, 0);
    fail_unless_equals_uint64(get_stat(h->element, "device-copies"), 0);
    fail_unless_equals_int(hostcuda_calls("cudaMalloc"), n_allocated);
    gst_object_unref(alias);
    gst_context_unref(given);
    gst_object_unref(context);
    gst_object_unref(other);
    test_harness_free(h);
}
GST_END_TEST;

/* ---- Contexts that change ---- */

/* Frames come in one context, then in another, and back: the encoder follows, and every frame comes out in order. */
GST_START_TEST(test_context_changes)
{
    GstCudaContext *contexts[2] = {new_context(0), new_context(0)};
    GstHarness *h = test_harness(CUDA_ENCODER);
    GstVideoInfo info;

    test_info(&info, "I422_10LE", 82, 50);
    fail_unless(push_caps(h, cuda_caps(&info)));
    for (guint i = 0; i < 12; i++)
        gst_harness_push(h, cuda_buffer(contexts[i / 4 % 2], &info, i));
    for (guint i = 0; i < 12; i++)
        pull_frame(h, &info, i);
    fail_unless_equals_int(count_warnings(h, ""), 0);
    fail_unless_equals_uint64(get_stat(h->element, "downloads"), 0);
    fail_unless_equals_uint64(get_stat(h->element, "fallbacks"), 0);
    test_harness_free(h);
    gst_object_unref(contexts[0]);
    gst_object_unref(contexts[1]);
}
GST_END_TEST;

/* The first frame decides for a GPU; those on another one are copied to it, with one warning. A property decides for
 * good. */
GST_START_TEST(test_other_gpu)
{
    const char *const launch[] = {CUDA_ENCODER, CUDA_ENCODER " cuda-device-id=0", CUDA_ENCODER " cuda-device-id=1"};
    GstVideoInfo info;

    hostcuda_set_devices(2);
    GstCudaContext *contexts[2] = {new_context(0), new_context(1)};
    test_info(&info, "I422_10LE", 82, 50);
    for (guint k = 0; k < G_N_ELEMENTS(launch); k++) {
        const guint device_of[] = {1, 1, 0, 1, 0, 0};
        GstHarness *h = test_harness(launch[k]);
        fail_unless(push_caps(h, cuda_caps(&info)));
        for (guint i = 0; i < G_N_ELEMENTS(device_of); i++) {
            gst_harness_push(h, cuda_buffer(contexts[device_of[i]], &info, i));
            pull_frame(h, &info, i);
        }
        fail_unless_equals_int(count_warnings(h, "copied|cuda-device-id"), 1);
        fail_unless_equals_uint64(get_stat(h->element, "device-copies"), 3);
        fail_unless_equals_uint64(get_stat(h->element, "downloads"), 0);
        fail_unless_equals_uint64(get_stat(h->element, "fallbacks"), 0);
        test_harness_free(h);
    }
    gst_object_unref(contexts[0]);
    gst_object_unref(contexts[1]);
}
GST_END_TEST;

/* Size and memory change in mid-stream, with caps or, as the base class sees it, without. */
GST_START_TEST(test_memory_changes)
{
    static const struct {
        int width;
        gboolean cuda;
    } parts[] = {{82, FALSE}, {82, TRUE}, {82, FALSE}, {64, TRUE}, {82, TRUE}, {64, FALSE}, {64, TRUE}};
    static const char *const backends[] = {"cuda", "auto"};
    GstCudaContext *context = new_context(0);

    for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
        gchar *launch = g_strdup_printf(TEST_ENCODER " backend=%s", backends[b]);
        GstHarness *h = test_harness(launch);
        GstVideoInfo info;
        for (guint p = 0; p < G_N_ELEMENTS(parts); p++) {
            test_info(&info, "I422_10LE", parts[p].width, 50);
            fail_unless(push_caps(h, parts[p].cuda ? cuda_caps(&info) : gst_video_info_to_caps(&info)));
            for (guint i = 0; i < 4; i++)
                gst_harness_push(h, parts[p].cuda ? cuda_buffer(context, &info, i) : test_buffer(&info, i));
            for (guint i = 0; i < 4; i++)
                pull_frame(h, &info, i);
        }
        check_no_error(h);
        fail_unless_equals_uint64(get_stat(h->element, "frames"), 4 * G_N_ELEMENTS(parts));
        fail_unless_equals_uint64(get_stat(h->element, "downloads"), 0);
        test_harness_free(h);
        g_free(launch);
    }
    gst_object_unref(context);
}
GST_END_TEST;

/* One of two elements in a context stops, and its objects go; the other does not notice. */
GST_START_TEST(test_shared_context)
{
    GstCudaContext *context = new_context(0);
    GstHarness *one = test_harness(CUDA_ENCODER), *two = test_harness(CUDA_ENCODER);
    GstVideoInfo info;

    test_info(&info, "I422_10LE", 82, 50);
    fail_unless(push_caps(one, cuda_caps(&info)));
    fail_unless(push_caps(two, cuda_caps(&info)));
    for (guint i = 0; i < 12; i++) {
        GstBuffer *buffer = cuda_buffer(context, &info, i);
        gst_harness_push(one, gst_buffer_ref(buffer));
        if (i < 6)
            gst_harness_push(two, gst_buffer_ref(buffer));
        gst_buffer_unref(buffer);
        if (i == 5) {
            gst_element_set_state(two->element, GST_STATE_NULL); /* with frames in flight */
            test_harness_free(two);
        }
    }
    for (guint i = 0; i < 12; i++)
        pull_frame(one, &info, i);
    fail_unless_equals_uint64(get_stat(one->element, "fallbacks"), 0);
    test_harness_free(one);
    gst_object_unref(context);
}
GST_END_TEST;

/* ---- What fails ---- */

static GstPadProbeReturn keep_waiting(GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
    return GST_PAD_PROBE_OK;
}

/* The GPU goes with frames on it: those that were coded come out, and one error names the others. */
GST_START_TEST(test_lost_gpu)
{
    GstCudaContext *context = new_context(0);
    GstHarness *h = test_harness(CUDA_ENCODER " pipeline-depth=3");
    GstPad *pad = gst_element_get_static_pad(h->element, "src");
    GstVideoInfo info;

    test_info(&info, "I422_10LE", 82, 50);
    fail_unless(push_caps(h, cuda_caps(&info)));
    gst_harness_push(h, cuda_buffer(context, &info, 0));
    pull_frame(h, &info, 0);
    /* one waits to be pushed, three are in flight */
    const gulong probe =
        gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, keep_waiting, NULL, NULL);
    for (guint i = 1; i < 5; i++)
        fail_unless_equals_int(gst_harness_push(h, cuda_buffer(context, &info, i)), GST_FLOW_OK);
    hostcuda_lose_device(cudaErrorLaunchFailure);
    gst_pad_remove_probe(pad, probe);
    pull_frame(h, &info, 1);
    fail_unless(gst_harness_push_event(h, gst_event_new_eos()));
    fail_unless(gst_harness_try_pull(h) == NULL);
    GstMessage *message = pop_message(h, GST_MESSAGE_ERROR);
    fail_unless(message != NULL);
    check_words(message, "lost|0:00:00.080000000, 0:00:00.120000000, 0:00:00.160000000");
    gst_message_unref(message);
    check_no_error(h);
    fail_unless_equals_uint64(get_stat(h->element, "frames"), 2);
    hostcuda_lose_device(cudaSuccess);
    gst_object_unref(pad);
    test_harness_free(h);
    gst_object_unref(context);
}
GST_END_TEST;

/* After it nothing gets in; a new start works. */
GST_START_TEST(test_after_lost_gpu)
{
    GstCudaContext *context = new_context(0);
    GstHarness *h = test_harness(CUDA_ENCODER);
    GstVideoInfo info;
    GstFlowReturn flow = GST_FLOW_OK;

    test_info(&info, "I422_10LE", 82, 50);
    fail_unless(push_caps(h, cuda_caps(&info)));
    gst_harness_push(h, cuda_buffer(context, &info, 0));
    pull_frame(h, &info, 0);
    for (guint i = 1; i < 10 && flow == GST_FLOW_OK; i++) {
        hostcuda_lose_device(cudaSuccess); /* for the frame to be made */
        GstBuffer *buffer = cuda_buffer(context, &info, i);
        hostcuda_lose_device(cudaErrorLaunchFailure);
        flow = gst_harness_push(h, buffer);
    }
    fail_unless_equals_int(flow, GST_FLOW_ERROR);
    check_error(h, "lost|0:00:00.040000000|Start the pipeline again");
    check_no_error(h);
    hostcuda_lose_device(cudaSuccess);
    gst_element_set_state(h->element, GST_STATE_NULL);
    gst_element_set_state(h->element, GST_STATE_PLAYING);
    fail_unless(push_caps(h, cuda_caps(&info)));
    for (guint i = 0; i < 5; i++) {
        gst_harness_push(h, cuda_buffer(context, &info, i));
        pull_frame(h, &info, i);
    }
    check_no_error(h);
    test_harness_free(h);
    gst_object_unref(context);
}
GST_END_TEST;

/* One error while the device still answers: frames are brought to the CPU and nothing is missing. */
GST_START_TEST(test_gpu_still_answers)
{
    GstCudaContext *context = new_context(0);
    GstHarness *h = test_harness(CUDA_ENCODER);
    GstVideoInfo info;

    test_info(&info, "I422_10LE", 82, 50);
    fail_unless(push_caps(h, cuda_caps(&info)));
    for (guint i = 0; i < 10; i++) {
        if (i == 3)
            hostcuda_fail("cudaMemsetAsync", 1, 0, cudaErrorUnknown);
        gst_harness_push(h, cuda_buffer(context, &info, i));
        pull_frame(h, &info, i);
    }
    check_no_error(h);
    fail_unless_equals_uint64(get_stat(h->element, "fallbacks"), 7);
    test_harness_free(h);
    gst_object_unref(context);
}
GST_END_TEST;

/* The application destroys its context under the encoder. Frames of the host go on. */
GST_START_TEST(test_destroyed_context)
{
    HostcudaContext handle = hostcuda_context_create(0);
    hostcuda_context_pop();
    GstCudaContext *context = gst_cuda_context_new_wrapped((CUcontext)handle, 0);
    GstHarness *h = test_harness(CUDA_ENCODER);
    GstVideoInfo info;

    test_info(&info, "I422_10LE", 82, 50);
    fail_unless(push_caps(h, cuda_caps(&info)));
    for (guint i = 0; i < 4; i++) {
        gst_harness_push(h, cuda_buffer(context, &info, i));
        pull_frame(h, &info, i);
    }
    fail_unless_equals_int(hostcuda_context_destroy(handle), 0);
    for (guint i = 4; i < 8; i++) {
        gst_harness_push(h, test_buffer(&info, i));
        pull_frame(h, &info, i);
    }
    check_no_error(h);
    fail_unless_equals_uint64(get_stat(h->element, "fallbacks"), 4);
    test_harness_free(h);
    gst_object_unref(context);
}
GST_END_TEST;

/* It goes with frames in it, too: they are named. */
GST_START_TEST(test_destroyed_with_frames)
{
    HostcudaContext handle = hostcuda_context_create(0);
    hostcuda_context_pop();
    GstCudaContext *context = gst_cuda_context_new_wrapped((CUcontext)handle, 0);
    GstHarness *h = test_harness(CUDA_ENCODER);
    GstVideoInfo info;

    test_info(&info, "I422_10LE", 82, 50);
    fail_unless(push_caps(h, cuda_caps(&info)));
    gst_harness_push(h, cuda_buffer(context, &info, 0));
    pull_frame(h, &info, 0);
    GstBuffer *buffer = cuda_buffer(context, &info, 1);
    fail_unless_equals_int(hostcuda_context_destroy(handle), 0);
    hostcuda_set_strict(0); /* libgstcuda frees what went with the context */
    gst_harness_push(h, buffer);
    gst_harness_push_event(h, gst_event_new_eos());
    check_error(h, "lost|0:00:00.040000000");
    check_no_error(h);
    test_harness_free(h);
    gst_object_unref(context);
    hostcuda_reset();
}
GST_END_TEST;

/* Each call fails, once or from then on, while frames of a GPU are coded. Every frame that went in comes out with its
 * bytes, or is named in one error; nothing is left on the device. */
enum { SWEEP_FRAMES = 5 };

static void sweep_once(GstCudaContext *context, const GstVideoInfo *info, GBytes **want, unsigned long fault,
                       int sticky, const char *what)
{
    GstHarness *h = test_harness(CUDA_ENCODER " pipeline-depth=2");
    const PnvParams params = test_params(info);
    gboolean sent[SWEEP_FRAMES] = {FALSE}, seen[SWEEP_FRAMES] = {FALSE};
    GstBuffer *buffers[SWEEP_FRAMES], *packet;
    guint n_errors = 0;

    for (guint i = 0; i < SWEEP_FRAMES; i++)
        buffers[i] = cuda_buffer(context, info, i);
    hostcuda_clear_calls();
    if (fault)
        hostcuda_fail("*", fault, sticky, cudaSuccess);
    const gboolean taken = push_caps(h, cuda_caps(info));
    for (guint i = 0; i < SWEEP_FRAMES; i++)
        if (taken)
            sent[i] = gst_harness_push(h, buffers[i]) == GST_FLOW_OK;
        else
            gst_buffer_unref(buffers[i]);
    gst_harness_push_event(h, gst_event_new_eos());
    while ((packet = gst_harness_try_pull(h))) {
        const guint i = (guint)(GST_BUFFER_PTS(packet) / (40 * GST_MSECOND));
        fail_unless(i < SWEEP_FRAMES && !seen[i], "%s", what);
        seen[i] = TRUE;
        gpointer data;
        gsize bytes;
        gst_buffer_extract_dup(packet, 0, -1, &data, &bytes);
        if (!want[i]) { /* the first time, without a fault */
            GstBuffer *raw = test_buffer(info, i);
            check_packet(packet, &params, info, raw);
            gst_buffer_unref(raw);
            want[i] = g_bytes_new(data, bytes);
        }
        fail_unless(bytes == g_bytes_get_size(want[i]) && memcmp(data, g_bytes_get_data(want[i], NULL), bytes) == 0,
                    "%s: frame %u", what, i);
        g_free(data);
        gst_buffer_unref(packet);
    }
    for (GstMessage *message; (message = pop_message(h, GST_MESSAGE_ERROR));) {
        GError *error;
        gst_message_parse_error(message, &error, NULL);
        n_errors += taken; /* refused caps are sent and refused again */
        fail_unless(n_errors <= 1, "%s: %s", what, error->message);
        for (guint i = 0; i < SWEEP_FRAMES; i++) {
            gchar *time = g_strdup_printf("%" GST_TIME_FORMAT, GST_TIME_ARGS(i * 40 * GST_MSECOND));
            seen[i] |= strstr(error->message, time) != NULL;
            g_free(time);
        }
        g_error_free(error);
        gst_message_unref(message);
    }
    for (guint i = 0; i < SWEEP_FRAMES; i++)
        fail_unless(seen[i] || !sent[i], "%s: frame %u is neither here nor named", what, i);
    fail_unless(fault || (seen[SWEEP_FRAMES - 1] && !n_errors));
    test_harness_free(h);
}

GST_START_TEST(test_faults)
{
    GstCudaContext *context = new_context(0);
    GBytes *want[SWEEP_FRAMES] = {NULL};
    GstVideoInfo info;

    test_info(&info, "I422_10LE", 32, 32);
    sweep_once(context, &info, want, 0, 0, "no fault");
    const unsigned long n_calls = hostcuda_calls(NULL);
    fail_unless(n_calls > 50);
    hostcuda_set_strict(0);
    for (unsigned long n = 1; n <= n_calls; n++) {
        gchar *what = g_strdup_printf("call %lu fails %s", n, __i__ ? "from then on" : "once");
        const HostcudaCounts before = hostcuda_counts();
        sweep_once(context, &info, want, n, __i__, what);
        hostcuda_fail(NULL, 0, 0, cudaSuccess);
        const HostcudaCounts after = hostcuda_counts();
        /* What is in a context that cannot be entered stays until that goes; libgstcuda even frees it outside. */
        const char *function = hostcuda_call(n);
        fail_unless((function && g_str_has_prefix(function, "cuCtx")) ||
                        (!after.misuse && after.live_device == before.live_device &&
                         after.live_pinned == before.live_pinned && after.live_streams == before.live_streams &&
                         after.live_events == before.live_events),
                    "%s: left on the device", what);
        g_free(what);
    }
    for (guint i = 0; i < SWEEP_FRAMES; i++)
        g_bytes_unref(want[i]);
    gst_object_unref(context);
    hostcuda_reset();
}
GST_END_TEST;

/* ---- Pipelines ---- */

static gboolean have_upload(void)
{
    GstElementFactory *factory = gst_element_factory_find("cudaupload");

    if (factory)
        gst_object_unref(factory);
    else
        g_print("skipped: GStreamer's nvcodec plugin is not here\n");
    return factory != NULL;
}

/* GStreamer's own elements before it: the same packets as without, and nothing is brought to the host. */
GST_START_TEST(test_upload)
{
    static const char *const between[] = {
        "identity",
        "cudaupload ! video/x-raw(memory:CUDAMemory)",
        "cudaupload ! video/x-raw(memory:CUDAMemory) ! queue max-size-buffers=2",
        "cudaupload ! video/x-raw(memory:CUDAMemory) ! tee ! queue",
        "cudaupload ! video/x-raw(memory:CUDAMemory) ! cudadownload ! video/x-raw",
        "cudaupload",
    };
    GstBuffer *want[8] = {NULL};

    for (guint k = 0; k < G_N_ELEMENTS(between) && have_upload(); k++) {
        gchar *description =
            g_strdup_printf("videotestsrc num-buffers=8 pattern=ball ! "
                            "video/x-raw,format=I422_10LE,width=82,height=50 ! %s ! " CUDA_ENCODER
                            " name=encoder ! appsink name=sink sync=false wait-on-eos=false",
                            between[k]);
        GstElement *pipeline = play(description), *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink"),
                   *encoder = gst_bin_get_by_name(GST_BIN(pipeline), "encoder");
        for (guint i = 0; i < G_N_ELEMENTS(want); i++) {
            GstSample *sample = gst_app_sink_pull_sample(GST_APP_SINK(sink));
            GstBuffer *packet = gst_sample_get_buffer(sample);
            GstMapInfo map;
            if (!want[i])
                want[i] = gst_buffer_copy_deep(packet);
            fail_unless(gst_buffer_map(want[i], &map, GST_MAP_READ));
            fail_unless_equals_int(gst_buffer_get_size(packet), map.size);
            fail_unless(gst_buffer_memcmp(packet, 0, map.data, map.size) == 0, "%s: frame %u", between[k], i);
            gst_buffer_unmap(want[i], &map);
            gst_sample_unref(sample);
        }
        fail_unless_equals_uint64(get_stat(encoder, "downloads"), 0);
        gst_object_unref(encoder);
        gst_object_unref(sink);
        stop(pipeline);
        g_free(description);
    }
    for (guint i = 0; i < G_N_ELEMENTS(want); i++)
        gst_clear_buffer(&want[i]);
}
GST_END_TEST;

static guint count_entries(const char *path)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    guint n = 0;

    while (g_dir_read_name(dir))
        n++;
    g_dir_close(dir);
    return n;
}

/* From NULL and back, again and again. */
GST_START_TEST(test_cycles)
{
    enum { N_CYCLES = 200, N_WARM_UP = 20 };
    GstHarness *h = test_harness(CUDA_ENCODER);
    guint n_threads = 0, n_files = 0;
    gsize n_bytes = 0;
    GstVideoInfo info;

    test_info(&info, "I422_10LE", 32, 32);
    for (guint k = 0; k < N_CYCLES; k++) {
        GstCudaContext *context = new_context(0);
        GstBus *bus = gst_element_get_bus(h->element);
        fail_unless(push_caps(h, cuda_caps(&info)));
        for (guint i = 0; i < 2; i++)
            gst_harness_push(h, k % 2 ? cuda_buffer(context, &info, i) : test_buffer(&info, i));
        for (guint i = 0; i < k % 3; i++) /* at times with frames in flight */
            gst_buffer_unref(gst_harness_pull(h));
        gst_element_set_state(h->element, GST_STATE_NULL);
        while (gst_harness_buffers_in_queue(h))
            gst_buffer_unref(gst_harness_pull(h));
        for (GstEvent *event; (event = gst_harness_try_pull_event(h));)
            gst_event_unref(event);
        for (GstEvent *event; (event = gst_harness_try_pull_upstream_event(h));)
            gst_event_unref(event);
        gst_bus_set_flushing(bus, TRUE);
        gst_bus_set_flushing(bus, FALSE);
        gst_object_unref(bus);
        gst_object_unref(context);
        const HostcudaCounts counts = hostcuda_counts();
        fail_unless(counts.live_device + counts.live_pinned + counts.live_streams + counts.live_events == 0,
                    "cycle %u", k);
        hostcuda_clear_calls(); /* or the list of them grows */
        if (k == N_WARM_UP) {
            n_threads = count_entries("/proc/self/task");
            n_files = count_entries("/proc/self/fd");
            n_bytes = mallinfo2().uordblks;
        }
        gst_element_set_state(h->element, GST_STATE_PLAYING);
    }
    fail_unless(count_entries("/proc/self/task") <= n_threads + 1, "%u threads, %u", n_threads,
                count_entries("/proc/self/task"));
    fail_unless_equals_int(count_entries("/proc/self/fd"), n_files);
    /* less than one frame's objects in all */
    fail_unless(mallinfo2().uordblks < n_bytes + (64 << 10), "%zu bytes more", mallinfo2().uordblks - n_bytes);
    test_harness_free(h);
}
GST_END_TEST;

static Suite *element_cuda_suite(void)
{
    Suite *s = suite_create("cuda");
    TCase *tc = tcase_create("general");

    suite_add_tcase(s, tc);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, test_formats_and_backends, 0, G_N_ELEMENTS(cuda_formats));
    tcase_add_test(tc, test_layouts);
    tcase_add_test(tc, test_wrong_layout);
    tcase_add_test(tc, test_upstream_is_not_done);
    tcase_add_test(tc, test_caps_list_memory);
    tcase_add_test(tc, test_own_context);
    tcase_add_test(tc, test_given_context);
    tcase_add_test(tc, test_context_changes);
    tcase_add_test(tc, test_other_gpu);
    tcase_add_test(tc, test_memory_changes);
    tcase_add_test(tc, test_shared_context);
    tcase_add_test(tc, test_lost_gpu);
    tcase_add_test(tc, test_after_lost_gpu);
    tcase_add_test(tc, test_gpu_still_answers);
    tcase_add_test(tc, test_destroyed_context);
    tcase_add_test(tc, test_destroyed_with_frames);
    tcase_add_loop_test(tc, test_faults, 0, 2);
    tcase_add_test(tc, test_upload);
    tcase_add_test(tc, test_cycles);
    return s;
}

GST_CHECK_MAIN(element_cuda);
