/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The element among others: encodebin finds it, its words cure what they say, and muxers get what they can take. */
#include "element.h"

/* Runs to the end of the stream, or to the error that is returned. */
static GError *run(GstElement *pipeline, gchar **debug)
{
    GstBus *bus = gst_element_get_bus(pipeline);
    GError *error = NULL;

    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstMessage *message = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
        gst_message_parse_error(message, &error, debug);
    gst_message_unref(message);
    gst_object_unref(bus);
    return error;
}

static GstElement *launch(const char *description)
{
    GError *error = NULL;
    GstElement *pipeline = gst_parse_launch(description, &error);

    fail_unless(pipeline != NULL && error == NULL, "%s: %s", description, error ? error->message : "");
    return pipeline;
}

static GstElement *find_encoder(GstElement *bin)
{
    GstIterator *all = gst_bin_iterate_recurse(GST_BIN(bin));
    GValue item = G_VALUE_INIT;
    GstElement *found = NULL;

    while (gst_iterator_next(all, &item) == GST_ITERATOR_OK) {
        GstElement *element = g_value_get_object(&item);
        if (g_strcmp0(G_OBJECT_TYPE_NAME(element), "GstProresNvEnc") == 0)
            found = gst_object_ref(element);
        g_value_reset(&item);
    }
    gst_iterator_free(all);
    return found;
}

GST_START_TEST(test_encodebin)
{
    static const struct {
        const char *profile, *variant;
    } cases[] = {
        {"video/quicktime,variant=apple:video/x-prores", "hq"},
        {"video/quicktime,variant=apple:video/x-prores,variant=lt", "lt"},
        {"video/quicktime,variant=apple:video/x-prores,variant=(string)4444", "4444"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        gchar *description = g_strdup_printf("videotestsrc num-buffers=3 ! video/x-raw,format=I420 ! encodebin "
                                             "profile=\"%s\" ! fakesink",
                                             cases[i].profile);
        GstElement *pipeline = launch(description);
        gchar *debug = NULL;
        GError *error = run(pipeline, &debug);
        fail_unless(error == NULL, "%s: %s %s", cases[i].profile, error ? error->message : "", debug);
        GstElement *encoder = find_encoder(pipeline);
        fail_unless(encoder != NULL, "encodebin took another encoder for %s", cases[i].profile);
        GstPad *pad = gst_element_get_static_pad(encoder, "src");
        GstCaps *caps = gst_pad_get_current_caps(pad);
        fail_unless_equals_string(gst_structure_get_string(gst_caps_get_structure(caps, 0), "variant"),
                                  cases[i].variant);
        gst_caps_unref(caps);
        gst_object_unref(pad);
        gst_object_unref(encoder);
        stop(pipeline);
        g_free(description);
    }
}
GST_END_TEST;

/* videoconvert in front makes what the profile wants. */
GST_START_TEST(test_videoconvert)
{
    static const struct {
        const char *from, *properties, *variant;
    } cases[] = {
        {"I420", "", "hq"},           {"I420", "profile=proxy", "proxy"}, {"I420", "profile=4444", "4444"},
        {"v210", "", "hq"},           {"RGB", "profile=lt", "lt"},        {"RGB", "profile=4444xq", "4444xq"},
        {"Y444", "profile=hq", "hq"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        gchar *description = g_strdup_printf("videotestsrc num-buffers=2 ! video/x-raw,format=%s ! videoconvert ! "
                                             "proresnvenc %s ! video/x-prores,variant=(string)%s ! fakesink",
                                             cases[i].from, cases[i].properties, cases[i].variant);
        GstElement *pipeline = launch(description);
        gchar *debug = NULL;
        GError *error = run(pipeline, &debug);
        fail_unless(error == NULL, "%s: %s", description, debug);
        stop(pipeline);
        g_free(description);
    }
}
GST_END_TEST;

/* qtmux keeps the size of the first frame: told in words, not only as "not negotiated". */
GST_START_TEST(test_qtmux_refuses_new_size)
{
    GstElement *bin = gst_parse_bin_from_description("proresnvenc pipeline-depth=3 name=enc ! qtmux name=mux", FALSE,
                                                     NULL);
    GstElement *encoder = gst_bin_get_by_name(GST_BIN(bin), "enc"), *mux = gst_bin_get_by_name(GST_BIN(bin), "mux");
    GstPad *pad = gst_element_get_static_pad(encoder, "sink");
    GstVideoInfo info;

    gst_element_add_pad(bin, gst_ghost_pad_new("sink", pad));
    gst_object_unref(pad);
    pad = gst_element_get_static_pad(mux, "src");
    gst_element_add_pad(bin, gst_ghost_pad_new("src", pad));
    gst_object_unref(pad);
    GstHarness *h = gst_harness_new_with_element(bin, "sink", "src");
    GstBus *bus = gst_bus_new();
    gst_element_set_bus(encoder, bus);

    test_info(&info, "Y42B", 64, 48);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    for (guint i = 0; i < 4; i++)
        fail_unless_equals_int(gst_harness_push(h, test_buffer(&info, i)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_caps(test_caps("Y42B", 128, 48, NULL)));
    GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    GError *error;
    fail_unless(message != NULL);
    gst_message_parse_error(message, &error, NULL);
    fail_unless(strstr(error->message, "keeps its size") != NULL, "%s", error->message);
    g_error_free(error);
    gst_message_unref(message);

    gst_element_set_bus(encoder, NULL);
    gst_object_unref(bus);
    gst_object_unref(encoder);
    gst_object_unref(mux);
    gst_harness_teardown(h);
    gst_object_unref(bin);
}
GST_END_TEST;

/* Small frames, many at once: nothing is lost in a busy pipeline, whatever the depth. */
GST_START_TEST(test_many)
{
    static const guint depths[] = {0, 1, 2, 5, 16};

    for (guint i = 0; i < G_N_ELEMENTS(depths); i++) {
        gchar *description = g_strdup_printf("videotestsrc num-buffers=500 ! "
                                             "video/x-raw,format=I422_10LE,width=48,height=32 ! queue ! proresnvenc "
                                             "pipeline-depth=%u name=enc ! queue ! fakesink",
                                             depths[i]);
        GstElement *pipeline = launch(description);
        GError *error = run(pipeline, NULL);
        fail_unless(error == NULL);
        GstElement *encoder = find_encoder(pipeline);
        fail_unless_equals_uint64(get_stat(encoder, "frames"), 500);
        gst_object_unref(encoder);
        stop(pipeline);
        g_free(description);
    }
}
GST_END_TEST;

static Suite *element_pipeline_suite(void)
{
    Suite *s = suite_create("pipeline");
    TCase *tc = tcase_create("general");

    suite_add_tcase(s, tc);
    tcase_add_test(tc, test_encodebin);
    tcase_add_test(tc, test_videoconvert);
    tcase_add_test(tc, test_qtmux_refuses_new_size);
    tcase_add_test(tc, test_many);
    return s;
}

GST_CHECK_MAIN(element_pipeline);
