/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes into proresnvenc and what comes out: every format, any layout of the planes, metas, properties. */
#include "element.h"

static void encode_one_format(const TestFormat *format, int width, int height)
{
    GstHarness *h = test_harness(TEST_ENCODER);
    GstBuffer *raw[3];
    GstVideoInfo info;

    test_info(&info, format->name, width, height);
    fail_unless(push_caps(h, test_caps(format->name, width, height, NULL)));
    const PnvParams params = test_params(&info);
    for (guint i = 0; i < 3; i++) {
        raw[i] = test_buffer(&info, i);
        fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(raw[i])), GST_FLOW_OK);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    fail_unless_equals_int(gst_harness_buffers_received(h), 3);

    for (guint i = 0; i < 3; i++) {
        GstBuffer *packet = gst_harness_pull(h);
        check_packet(packet, &params, &info, raw[i]);
        fail_unless_equals_uint64(GST_BUFFER_PTS(packet), GST_BUFFER_PTS(raw[i]));
        fail_unless_equals_uint64(GST_BUFFER_DTS(packet), GST_BUFFER_PTS(raw[i]));
        fail_unless_equals_uint64(GST_BUFFER_DURATION(packet), GST_BUFFER_DURATION(raw[i]));
        fail_if(GST_BUFFER_FLAG_IS_SET(packet, GST_BUFFER_FLAG_DELTA_UNIT));
        gst_buffer_unref(packet);
        gst_buffer_unref(raw[i]);
    }

    GstStructure *s = output_structure(h);
    int depth = 0;
    fail_unless_equals_string(gst_structure_get_string(s, "variant"), format->variant);
    gst_structure_get_int(s, "depth", &depth);
    fail_unless_equals_int(depth, params.alpha_bits ? 32 : format->chroma == PNV_CHROMA_444 ? 24 : 0);
    gst_structure_free(s);
    check_no_error(h);
    test_harness_free(h);
}

GST_START_TEST(test_encode_simple)
{
    encode_one_format(&test_formats[__i__], 64, 48);
    encode_one_format(&test_formats[__i__], 33, 35);
    encode_one_format(&test_formats[__i__], 1, 1);
    encode_one_format(&test_formats[__i__], 130, 98);
}
GST_END_TEST;

GST_START_TEST(test_no_encoding)
{
    GstHarness *h = test_harness("proresnvenc");

    test_harness_free(h);
    h = test_harness("proresnvenc");
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    test_harness_free(h);
    h = test_harness("proresnvenc");
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    gst_harness_push_event(h, gst_event_new_eos());
    fail_unless_equals_int(gst_harness_buffers_received(h), 0);
    test_harness_free(h);
}
GST_END_TEST;

GST_START_TEST(test_reuse)
{
    GstHarness *h = test_harness(TEST_ENCODER);

    for (guint round = 0; round < 3; round++) {
        const TestFormat *format = &test_formats[round];
        GstVideoInfo info;

        test_info(&info, format->name, 64 + 16 * (int)round, 48);
        fail_unless(push_caps(h, test_caps(format->name, info.width, info.height, NULL)));
        const PnvParams params = test_params(&info);
        for (guint i = 0; i < 4; i++) {
            GstBuffer *raw = test_buffer(&info, i);
            fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(raw)), GST_FLOW_OK);
            GstBuffer *packet = gst_harness_pull(h);
            check_packet(packet, &params, &info, raw);
            gst_buffer_unref(packet);
            gst_buffer_unref(raw);
        }
        fail_unless_equals_uint64(get_stat(h->element, "frames"), 4);
        fail_unless_equals_int(gst_element_set_state(h->element, round ? GST_STATE_READY : GST_STATE_NULL),
                               GST_STATE_CHANGE_SUCCESS);
        fail_unless_equals_int(gst_element_set_state(h->element, GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
        fail_unless_equals_uint64(get_stat(h->element, "frames"), 0);
    }
    check_no_error(h);
    test_harness_free(h);
}
GST_END_TEST;

/* The same samples with other strides and offsets, told by GstVideoMeta. */
static GstBuffer *spread_buffer(GstBuffer *raw, const GstVideoInfo *info, gint pad, gsize lead)
{
    gsize offset[GST_VIDEO_MAX_PLANES] = {0}, size = lead;
    gint stride[GST_VIDEO_MAX_PLANES] = {0};
    GstMapInfo from, to;

    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++) {
        stride[p] = GST_VIDEO_INFO_COMP_WIDTH(info, p) * GST_VIDEO_INFO_COMP_PSTRIDE(info, p) + pad + 2 * (gint)p;
        offset[p] = size;
        size += (gsize)stride[p] * GST_VIDEO_INFO_COMP_HEIGHT(info, p) + lead;
    }
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, size, NULL);
    fail_unless(gst_buffer_map(raw, &from, GST_MAP_READ) && gst_buffer_map(buffer, &to, GST_MAP_WRITE));
    memset(to.data, 0xa5, to.size);
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++)
        for (int y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT(info, p); y++)
            memcpy(to.data + offset[p] + y * stride[p],
                   from.data + GST_VIDEO_INFO_PLANE_OFFSET(info, p) + y * GST_VIDEO_INFO_PLANE_STRIDE(info, p),
                   GST_VIDEO_INFO_COMP_WIDTH(info, p) * GST_VIDEO_INFO_COMP_PSTRIDE(info, p));
    gst_buffer_unmap(raw, &from);
    gst_buffer_unmap(buffer, &to);
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(info), info->width,
                                   info->height, GST_VIDEO_INFO_N_PLANES(info), offset, stride);
    return buffer;
}

GST_START_TEST(test_strides)
{
    const TestFormat *format = &test_formats[__i__];
    GstHarness *h = test_harness(TEST_ENCODER);
    GstVideoInfo info;

    test_info(&info, format->name, 37, 21);
    fail_unless(push_caps(h, test_caps(format->name, 37, 21, NULL)));
    const PnvParams params = test_params(&info);
    GstBuffer *raw = test_buffer(&info, 1);
    for (gint pad = 0; pad < 70; pad += format->depth == 8 ? 23 : 34) {
        fail_unless_equals_int(gst_harness_push(h, spread_buffer(raw, &info, pad, 64)), GST_FLOW_OK);
        GstBuffer *packet = gst_harness_pull(h);
        check_packet(packet, &params, &info, raw);
        fail_unless(gst_buffer_get_video_meta(packet) == NULL);
        gst_buffer_unref(packet);
    }
    check_no_error(h);

    /* 16-bit samples at an odd stride cannot be read: said, not guessed. */
    if (format->depth > 8) {
        fail_unless_equals_int(gst_harness_push(h, spread_buffer(raw, &info, 3, 64)), GST_FLOW_ERROR);
        check_error(h, "Put videoconvert|stride");
    }
    gst_buffer_unref(raw);
    test_harness_free(h);
}
GST_END_TEST;

/* Planes in memories of their own. */
GST_START_TEST(test_separate_memories)
{
    GstHarness *h = test_harness(TEST_ENCODER);
    GstVideoInfo info;

    test_info(&info, "I422_10LE", 64, 48);
    fail_unless(push_caps(h, test_caps("I422_10LE", 64, 48, NULL)));
    const PnvParams params = test_params(&info);
    GstBuffer *raw = test_buffer(&info, 1), *split = gst_buffer_new();
    for (guint p = 0; p < 3; p++) {
        const gsize end = p < 2 ? GST_VIDEO_INFO_PLANE_OFFSET(&info, p + 1) : GST_VIDEO_INFO_SIZE(&info);
        const gsize start = GST_VIDEO_INFO_PLANE_OFFSET(&info, p);
        gst_buffer_append(split, gst_buffer_copy_region(raw, GST_BUFFER_COPY_MEMORY, start, end - start));
    }
    gst_buffer_add_video_meta_full(split, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info), 64, 48, 3,
                                   info.offset, info.stride);
    GST_BUFFER_PTS(split) = 0;
    fail_unless_equals_int(gst_harness_push(h, split), GST_FLOW_OK);
    GstBuffer *packet = gst_harness_pull(h);
    check_packet(packet, &params, &info, raw);
    gst_buffer_unref(packet);
    gst_buffer_unref(raw);
    test_harness_free(h);
}
GST_END_TEST;

GST_START_TEST(test_small_buffer)
{
    GstVideoInfo info;

    test_info(&info, "I422_10LE", 64, 48);
    for (int with_meta = 0; with_meta < 2; with_meta++) {
        GstHarness *h = test_harness("proresnvenc pipeline-depth=3");
        fail_unless(push_caps(h, test_caps("I422_10LE", 64, 48, NULL)));
        GstBuffer *good = test_buffer(&info, 0), *bad = test_buffer(&info, 1);
        gst_buffer_set_size(bad, GST_VIDEO_INFO_SIZE(&info) - 1);
        if (with_meta)
            gst_buffer_add_video_meta_full(bad, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info), 64, 48, 3,
                                           info.offset, info.stride);
        fail_unless_equals_int(gst_harness_push(h, good), GST_FLOW_OK);
        fail_unless_equals_int(gst_harness_push(h, bad), GST_FLOW_ERROR);
        check_error(h, "A buffer is smaller than its caps say.");
        fail_unless(pop_message(h, GST_MESSAGE_QOS) == NULL);
        gst_buffer_unref(gst_harness_pull(h)); /* the one before it is whole */
        test_harness_free(h);
    }
}
GST_END_TEST;

/* A GstVideoMeta of another size than the caps, and nothing that says where to look. */
GST_START_TEST(test_small_meta)
{
    GstHarness *h = test_harness("proresnvenc");
    GstVideoInfo info;

    test_info(&info, "Y42B", 48, 48);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    GstBuffer *raw = test_buffer(&info, 0);
    gst_buffer_add_video_meta_full(raw, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info), 48, 48, 3, info.offset,
                                   info.stride);
    fail_unless_equals_int(gst_harness_push(h, raw), GST_FLOW_ERROR);
    check_error(h, "not what its caps say|48x48|64x48");
    test_harness_free(h);
}
GST_END_TEST;

static void add_crop(GstBuffer *buffer, guint x, guint y, guint width, guint height)
{
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(buffer);

    crop->x = x;
    crop->y = y;
    crop->width = width;
    crop->height = height;
}

/* The part that the crop leaves is coded, as if it had been copied out. */
GST_START_TEST(test_crop)
{
    GstHarness *h = test_harness(TEST_ENCODER);
    GstVideoInfo whole, part;
    GstMapInfo from, to;

    test_info(&whole, "I422_10LE", 80, 60);
    test_info(&part, "I422_10LE", 48, 33);
    fail_unless(push_caps(h, test_caps("I422_10LE", 48, 33, NULL)));
    GstBuffer *raw = test_buffer(&whole, 1), *want = test_buffer(&part, 1);
    gst_buffer_add_video_meta_full(raw, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&whole), 80, 60, 3,
                                   whole.offset, whole.stride);
    gst_buffer_map(raw, &from, GST_MAP_READ);
    gst_buffer_map(want, &to, GST_MAP_WRITE);
    for (guint p = 0; p < 3; p++)
        for (int y = 0; y < 33; y++)
            memcpy(to.data + GST_VIDEO_INFO_PLANE_OFFSET(&part, p) + y * GST_VIDEO_INFO_PLANE_STRIDE(&part, p),
                   from.data + GST_VIDEO_INFO_PLANE_OFFSET(&whole, p) +
                       (y + 5) * GST_VIDEO_INFO_PLANE_STRIDE(&whole, p) + (p ? 7 : 14) * 2,
                   (p ? 24 : 48) * 2);
    gst_buffer_unmap(raw, &from);
    gst_buffer_unmap(want, &to);
    add_crop(raw, 14, 5, 48, 33);
    fail_unless_equals_int(gst_harness_push(h, raw), GST_FLOW_OK);
    GstBuffer *packet = gst_harness_pull(h);
    const PnvParams params = test_params(&part);
    check_packet(packet, &params, &part, want);
    fail_unless(gst_buffer_get_video_crop_meta(packet) == NULL);
    gst_buffer_unref(packet);
    gst_buffer_unref(want);
    test_harness_free(h);
}
GST_END_TEST;

GST_START_TEST(test_crop_refused)
{
    static const guint crops[][4] = {
        {15, 0, 48, 33}, {0, 0, 40, 33}, {0, 0, 48, 40}, {40, 0, 48, 33}, {0, 40, 48, 33}, {G_MAXUINT - 1, 0, 48, 33},
    };
    GstVideoInfo whole;

    test_info(&whole, "Y42B", 80, 60);
    for (guint i = 0; i < G_N_ELEMENTS(crops); i++) {
        GstHarness *h = test_harness("proresnvenc");
        fail_unless(push_caps(h, test_caps("Y42B", 48, 33, NULL)));
        GstBuffer *raw = test_buffer(&whole, 1);
        gst_buffer_add_video_meta_full(raw, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&whole), 80, 60, 3,
                                       whole.offset, whole.stride);
        add_crop(raw, crops[i][0], crops[i][1], crops[i][2], crops[i][3]);
        fail_unless_equals_int(gst_harness_push(h, raw), GST_FLOW_ERROR);
        check_error(h, "videocrop|crop ");
        test_harness_free(h);
    }
}
GST_END_TEST;

GST_START_TEST(test_metas)
{
    static const guint8 captions[] = {0x94, 0x2c};
    GstHarness *h = test_harness("proresnvenc");
    GstVideoInfo info;

    test_info(&info, "Y42B", 64, 48);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    GstBuffer *raw = test_buffer(&info, 0);
    gst_buffer_add_video_meta(raw, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_Y42B, 64, 48);
    add_crop(raw, 0, 0, 64, 48);
    gst_buffer_add_video_time_code_meta_full(raw, 25, 1, NULL, GST_VIDEO_TIME_CODE_FLAGS_NONE, 10, 11, 12, 13, 0);
    gst_buffer_add_video_caption_meta(raw, GST_VIDEO_CAPTION_TYPE_CEA608_RAW, captions, sizeof captions);
    gst_buffer_add_video_region_of_interest_meta(raw, "face", 1, 2, 3, 4);
    GstCaps *reference = gst_caps_new_empty_simple("timestamp/x-unix");
    gst_buffer_add_reference_timestamp_meta(raw, reference, 5 * GST_SECOND, GST_CLOCK_TIME_NONE);
    gst_caps_unref(reference);
    fail_unless_equals_int(gst_harness_push(h, raw), GST_FLOW_OK);

    GstBuffer *packet = gst_harness_pull(h);
    const GstVideoTimeCodeMeta *tc = gst_buffer_get_video_time_code_meta(packet);
    fail_unless(tc != NULL && tc->tc.hours == 10 && tc->tc.frames == 13);
    const GstVideoCaptionMeta *cc = gst_buffer_get_video_caption_meta(packet);
    fail_unless(cc != NULL && cc->size == 2 && cc->data[0] == 0x94);
    fail_unless(gst_buffer_get_video_region_of_interest_meta_id(packet, 0) != NULL);
    fail_unless(gst_buffer_get_reference_timestamp_meta(packet, NULL) != NULL);
    fail_unless(gst_buffer_get_video_meta(packet) == NULL);
    fail_unless(gst_buffer_get_video_crop_meta(packet) == NULL);
    gst_buffer_unref(packet);
    test_harness_free(h);
}
GST_END_TEST;

GST_START_TEST(test_properties)
{
    GstHarness *h = test_harness("proresnvenc profile=lt quantizer=17 mbs-per-slice=2 threads=2 pipeline-depth=3 "
                                 "backend=cpu encoder-id=test rate-control=constant-quantizer "
                                 "quantization=optimal");
    GstVideoInfo info;

    test_info(&info, "I422_10LE", 130, 98);
    fail_unless(push_caps(h, test_caps("I422_10LE", 130, 98, NULL)));
    PnvParams params = test_params(&info);
    params.profile = PNV_PROFILE_LT;
    params.quantizer = 17;
    params.rounding = PNV_ROUNDING_OPTIMAL;
    params.mbs_per_slice = 2;
    params.encoder_id = "test";
    GstBuffer *raw = test_buffer(&info, 0);
    fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(raw)), GST_FLOW_OK);
    GstBuffer *packet = gst_harness_pull(h);
    check_packet(packet, &params, &info, raw);
    gst_buffer_unref(packet);
    gst_buffer_unref(raw);

    guint quantizer, threads, depth;
    gint profile, rate_control, quantization, mbs, backend;
    gchar *id;
    g_object_get(h->element, "profile", &profile, "rate-control", &rate_control, "quantizer", &quantizer,
                 "quantization", &quantization, "mbs-per-slice", &mbs, "threads", &threads, "pipeline-depth", &depth,
                 "backend", &backend, "encoder-id", &id, NULL);
    fail_unless(profile == PNV_PROFILE_LT && quantizer == 17 && mbs == 2 && threads == 2 && depth == 3 &&
                backend == PNV_BACKEND_CPU);
    fail_unless(rate_control == PNV_RATE_CONSTANT_QUANTIZER && quantization == PNV_ROUNDING_OPTIMAL);
    fail_unless_equals_string(id, "test");
    g_free(id);
    test_harness_free(h);
}
GST_END_TEST;

GST_START_TEST(test_properties_refused)
{
    static const char *const launch[] = {
        "proresnvenc mbs-per-slice=3", "proresnvenc mbs-per-slice=0",  "proresnvenc profile=raw",
        "proresnvenc backend=opencl",  "proresnvenc rate-control=vbr", "proresnvenc alpha-bits=10",
        "proresnvenc quantization=coarse",
    };
    for (guint i = 0; i < G_N_ELEMENTS(launch); i++) {
        GError *error = NULL;
        GstElement *element = gst_parse_launch_full(launch[i], NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
        fail_unless(element == NULL && error != NULL, "%s", launch[i]);
        g_error_free(error);
    }

    GstElement *element = gst_element_factory_make("proresnvenc", NULL);
    gst_object_ref_sink(element);
    ASSERT_WARNING(g_object_set(element, "quantizer", 0, NULL));
    ASSERT_WARNING(g_object_set(element, "quantizer", 225, NULL));
    ASSERT_WARNING(g_object_set(element, "mbs-per-slice", 16, NULL));
    ASSERT_WARNING(g_object_set(element, "pipeline-depth", 17, NULL));
    ASSERT_WARNING(g_object_set(element, "min-quantizer", 225, NULL));
    ASSERT_WARNING(g_object_set(element, "max-quantizer", 225, NULL));
    guint quantizer;
    gint mbs;
    g_object_get(element, "quantizer", &quantizer, "mbs-per-slice", &mbs, NULL);
    fail_unless(quantizer == 4 && mbs == 8);
    gst_object_unref(element);
}
GST_END_TEST;

GST_START_TEST(test_encoder_id_refused)
{
    static const char *const ids[] = {"", "abc", "abcde", "ab\nc", "\303\244bc", NULL};

    for (guint i = 0; i < G_N_ELEMENTS(ids); i++) {
        GstElement *element = gst_element_factory_make("proresnvenc", NULL);
        GstBus *bus = gst_bus_new();
        GError *error;
        gst_object_ref_sink(element);
        gst_element_set_bus(element, bus);
        g_object_set(element, "encoder-id", ids[i], NULL);
        fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
        GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
        fail_unless(message != NULL);
        gst_message_parse_error(message, &error, NULL);
        fail_unless(strstr(error->message, "four printable ASCII characters") != NULL, "%s", error->message);
        g_error_free(error);
        gst_message_unref(message);
        gst_element_set_state(element, GST_STATE_NULL);

        /* And it works once it is right. */
        g_object_set(element, "encoder-id", "four", NULL);
        fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
        gst_element_set_state(element, GST_STATE_NULL);
        gst_element_set_bus(element, NULL);
        gst_object_unref(bus);
        gst_object_unref(element);
    }
}
GST_END_TEST;

GST_START_TEST(test_stats)
{
    GstHarness *h = test_harness("proresnvenc");
    guint64 bytes = 0, most = 0;
    GstStructure *stats;
    GstVideoInfo info;

    g_object_get(h->element, "stats", &stats, NULL);
    fail_unless_equals_string(gst_structure_get_string(stats, "backend"), "none");
    gst_structure_free(stats);

    test_info(&info, "Y42B", 64, 48);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    for (guint i = 0; i < 5; i++) {
        fail_unless_equals_int(gst_harness_push(h, test_buffer(&info, i)), GST_FLOW_OK);
        GstBuffer *packet = gst_harness_pull(h);
        bytes += gst_buffer_get_size(packet);
        most = MAX(most, gst_buffer_get_size(packet));
        gst_buffer_unref(packet);
    }
    fail_unless_equals_uint64(get_stat(h->element, "frames"), 5);
    fail_unless_equals_uint64(get_stat(h->element, "dropped"), 0);
    fail_unless_equals_uint64(get_stat(h->element, "bytes"), bytes);
    fail_unless_equals_uint64(get_stat(h->element, "mean-frame-size"), bytes / 5);
    fail_unless_equals_uint64(get_stat(h->element, "max-frame-size"), most);
    g_object_get(h->element, "stats", &stats, NULL);
    fail_unless_equals_string(gst_structure_get_string(stats, "backend"), "cpu");
    gst_structure_free(stats);
    test_harness_free(h);
}
GST_END_TEST;

/* A packet is the receiver's for as long as it likes. */
GST_START_TEST(test_packet_outlives_element)
{
    GstHarness *h = test_harness(TEST_ENCODER);
    GstVideoInfo info;

    test_info(&info, "Y42B", 64, 48);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    GstBuffer *raw = test_buffer(&info, 0);
    fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(raw)), GST_FLOW_OK);
    GstBuffer *packet = gst_harness_pull(h);
    fail_unless_equals_int(gst_buffer_n_memory(packet), 1);
    test_harness_free(h);
    const PnvParams params = test_params(&info);
    check_packet(packet, &params, &info, raw);
    gst_buffer_unref(packet);
    gst_buffer_unref(raw);
}
GST_END_TEST;

/* The input comes back, unharmed, once its packet is out. */
GST_START_TEST(test_input_released)
{
    GstHarness *h = test_harness("proresnvenc pipeline-depth=4");
    GstBuffer *raw[8];
    GstVideoInfo info;

    test_info(&info, "Y42B", 64, 48);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    for (guint i = 0; i < G_N_ELEMENTS(raw); i++) {
        raw[i] = test_buffer(&info, i);
        fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(raw[i])), GST_FLOW_OK);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    for (guint i = 0; i < G_N_ELEMENTS(raw); i++) {
        ASSERT_MINI_OBJECT_REFCOUNT(raw[i], "input", 1);
        gst_buffer_unref(raw[i]);
        gst_buffer_unref(gst_harness_pull(h));
    }
    test_harness_free(h);
}
GST_END_TEST;

GST_START_TEST(test_no_timestamps)
{
    GstHarness *h = test_harness("proresnvenc pipeline-depth=2");
    GstVideoInfo info;

    test_info(&info, "Y42B", 64, 48);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    for (guint i = 0; i < 4; i++) {
        GstBuffer *raw = test_buffer(&info, i);
        GST_BUFFER_PTS(raw) = GST_BUFFER_DURATION(raw) = GST_CLOCK_TIME_NONE;
        fail_unless_equals_int(gst_harness_push(h, raw), GST_FLOW_OK);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    for (guint i = 0; i < 4; i++) {
        GstBuffer *packet = gst_harness_pull(h);
        fail_if(GST_BUFFER_PTS_IS_VALID(packet) || GST_BUFFER_DTS_IS_VALID(packet));
        gst_buffer_unref(packet);
    }
    test_harness_free(h);
}
GST_END_TEST;

GST_START_TEST(test_allocation)
{
    GstHarness *h = test_harness("proresnvenc pipeline-depth=6");
    GstCaps *caps = test_caps("I422_10LE", 64, 48, NULL);
    GstBufferPool *pool;
    guint size, min, max;

    fail_unless(push_caps(h, gst_caps_ref(caps)));
    GstQuery *query = gst_query_new_allocation(caps, TRUE);
    fail_unless(gst_pad_peer_query(h->srcpad, query));
    fail_unless(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL));
    fail_if(gst_query_find_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, NULL));
    fail_unless(gst_query_get_n_allocation_pools(query) > 0);
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
    fail_unless(min >= 7, "%u buffers for 6 frames in flight", min);
    if (pool)
        gst_object_unref(pool);
    gst_query_unref(query);
    gst_caps_unref(caps);
    test_harness_free(h);
}
GST_END_TEST;

static Suite *element_encode_suite(void)
{
    Suite *s = suite_create("encode");
    TCase *tc = tcase_create("general");

    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, test_encode_simple, 0, G_N_ELEMENTS(test_formats));
    tcase_add_test(tc, test_no_encoding);
    tcase_add_test(tc, test_reuse);
    tcase_add_loop_test(tc, test_strides, 0, G_N_ELEMENTS(test_formats));
    tcase_add_test(tc, test_separate_memories);
    tcase_add_test(tc, test_small_buffer);
    tcase_add_test(tc, test_small_meta);
    tcase_add_test(tc, test_crop);
    tcase_add_test(tc, test_crop_refused);
    tcase_add_test(tc, test_metas);
    tcase_add_test(tc, test_properties);
    tcase_add_test(tc, test_properties_refused);
    tcase_add_test(tc, test_encoder_id_refused);
    tcase_add_test(tc, test_stats);
    tcase_add_test(tc, test_packet_outlives_element);
    tcase_add_test(tc, test_input_released);
    tcase_add_test(tc, test_no_timestamps);
    tcase_add_test(tc, test_allocation);
    return s;
}

GST_CHECK_MAIN(element_encode);
