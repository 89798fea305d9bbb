/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames in flight: whatever happens while they are there, each is pushed or given back, in order, and nobody waits
 * for ever. */
#include "element.h"

static const guint depths[] = {0, 1, 2, 5, 16};

/* Large and noisy enough that a few frames take a while, on one thread; an emulated GPU needs less for that. */
static int slow_width(void)
{
    return g_getenv("PNV_TEST_BACKEND") ? 128 : 1280;
}

static int slow_height(void)
{
    return slow_width() * 9 / 16;
}

static GstHarness *slow_harness(guint depth, const char *more)
{
    gchar *launch = g_strdup_printf("proresnvenc threads=1 rate-control=constant-quantizer quantizer=1 "
                                    "pipeline-depth=%u %s", depth, more);
    GstHarness *h = test_harness(launch);

    g_free(launch);
    fail_unless(push_caps(h, test_caps("I422_10LE", slow_width(), slow_height(), NULL)));
    return h;
}

static GstBuffer *slow_buffer(guint seed)
{
    GstVideoInfo info;

    test_info(&info, "I422_10LE", slow_width(), slow_height());
    return test_buffer(&info, seed);
}

static GstBuffer *small_buffer(guint seed)
{
    GstVideoInfo info;

    test_info(&info, "Y42B", 64, 48);
    return test_buffer(&info, seed);
}

/* All packets that are there follow each other by 40 ms from frame begin on. Returns how many. */
static guint check_order(GstHarness *h, guint begin)
{
    guint n = 0;

    for (GstBuffer *packet; (packet = gst_harness_try_pull(h)); n++) {
        fail_unless_equals_uint64(GST_BUFFER_PTS(packet), (begin + n) * 40 * GST_MSECOND);
        gst_buffer_unref(packet);
    }
    return n;
}

/* A packet comes without a next frame, and without the end. */
GST_START_TEST(test_pushed_at_once)
{
    gchar *launch = g_strdup_printf("proresnvenc pipeline-depth=%u", depths[__i__]);
    GstHarness *h = test_harness(launch);

    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    for (guint i = 0; i < 5; i++) {
        fail_unless_equals_int(gst_harness_push(h, small_buffer(i)), GST_FLOW_OK);
        GstBuffer *packet = gst_harness_pull(h);
        fail_unless(packet != NULL);
        fail_unless_equals_uint64(GST_BUFFER_PTS(packet), i * 40 * GST_MSECOND);
        gst_buffer_unref(packet);
    }
    test_harness_free(h);
    g_free(launch);
}
GST_END_TEST;

GST_START_TEST(test_eos)
{
    GstHarness *h = slow_harness(depths[__i__], "");

    for (guint i = 0; i < 7; i++)
        fail_unless_equals_int(gst_harness_push(h, slow_buffer(i)), GST_FLOW_OK);
    fail_unless(gst_harness_push_event(h, gst_event_new_eos()));
    fail_unless_equals_int(check_order(h, 0), 7);
    GstEvent *event;
    do {
        event = gst_harness_pull_event(h);
        fail_unless(event != NULL);
        const gboolean last = GST_EVENT_TYPE(event) == GST_EVENT_EOS;
        gst_event_unref(event);
        if (last)
            break;
    } while (TRUE);
    test_harness_free(h);
}
GST_END_TEST;

static GstPadProbeReturn note(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    GString *notes = data;

    if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
        g_string_append_c(notes, 'F');
    else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CUSTOM_DOWNSTREAM)
        g_string_append_c(notes, 'E');
    return GST_PAD_PROBE_OK;
}

/* Writes down the frames and events that leave the element. */
static GString *take_notes(GstHarness *h)
{
    GstPad *pad = gst_element_get_static_pad(h->element, "src");
    GString *notes = g_string_new(NULL);

    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note, notes, NULL);
    gst_object_unref(pad);
    return notes;
}

static void push_mark(GstHarness *h)
{
    gst_harness_push_event(h, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("mark")));
}

/* Serialized events keep their place between frames. */
GST_START_TEST(test_event_order)
{
    GstHarness *h = slow_harness(depths[__i__], "");
    GString *notes = take_notes(h);

    push_mark(h);
    gst_harness_push(h, slow_buffer(0));
    gst_harness_push(h, slow_buffer(1));
    push_mark(h);
    push_mark(h);
    gst_harness_push(h, slow_buffer(2));
    push_mark(h);
    gst_harness_push_event(h, gst_event_new_eos());
    fail_unless_equals_string(notes->str, "EFFEEFE");
    test_harness_free(h);
    g_string_free(notes, TRUE);
}
GST_END_TEST;

static void flush(GstHarness *h)
{
    GstSegment segment;

    gst_segment_init(&segment, GST_FORMAT_TIME);
    fail_unless(gst_harness_push_event(h, gst_event_new_flush_start()));
    fail_unless(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
    fail_unless(gst_harness_push_event(h, gst_event_new_segment(&segment)));
}

GST_START_TEST(test_flush)
{
    const guint depth = depths[__i__];
    GstHarness *h = slow_harness(depth, "");

    for (guint round = 0; round < 4; round++) {
        for (guint i = 0; i < MAX(depth, 1) + round; i++)
            fail_unless_equals_int(gst_harness_push(h, slow_buffer(i)), GST_FLOW_OK);
        flush(h);
        check_order(h, 0); /* as many as were done, and none of them later */
        for (guint i = 0; i < 2; i++)
            fail_unless_equals_int(gst_harness_push(h, slow_buffer(100 + i)), GST_FLOW_OK);
        for (guint i = 0; i < 2; i++) {
            GstBuffer *packet = gst_harness_pull(h);
            fail_unless_equals_uint64(GST_BUFFER_PTS(packet), (100 + i) * 40 * GST_MSECOND);
            gst_buffer_unref(packet);
        }
    }
    fail_unless(pop_message(h, GST_MESSAGE_QOS) == NULL);
    check_no_error(h);
    test_harness_free(h);
}
GST_END_TEST;

typedef struct Feeder {
    GstHarness *h;
    GMutex lock; /* as the stream lock of an upstream pad */
    gint stop;   /* atomic */
    guint n_ok;
} Feeder;

static gpointer feed(gpointer data)
{
    Feeder *f = data;
    GstBuffer *raw = small_buffer(0);

    while (!g_atomic_int_get(&f->stop)) {
        g_mutex_lock(&f->lock);
        GstFlowReturn flow = gst_harness_push(f->h, gst_buffer_ref(raw));
        g_mutex_unlock(&f->lock);
        if (flow == GST_FLOW_OK)
            f->n_ok++;
        else
            g_thread_yield(); /* between the two halves of a flush */
        for (GstBuffer *packet; (packet = gst_harness_try_pull(f->h));)
            gst_buffer_unref(packet);
    }
    gst_buffer_unref(raw);
    return NULL;
}

/* Flushes from another thread than the one that streams, as a seek is. */
GST_START_TEST(test_flush_from_outside)
{
    gchar *launch = g_strdup_printf("proresnvenc pipeline-depth=%u", depths[__i__]);
    GstHarness *h = test_harness(launch);
    Feeder f = {.h = h};
    GstSegment segment;

    g_mutex_init(&f.lock);
    gst_segment_init(&segment, GST_FORMAT_TIME);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    GThread *thread = g_thread_new("feed", feed, &f);
    for (guint i = 0; i < 50; i++) {
        g_usleep(g_random_int_range(0, 3000));
        fail_unless(gst_harness_push_event(h, gst_event_new_flush_start()));
        g_mutex_lock(&f.lock);
        fail_unless(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
        fail_unless(gst_harness_push_event(h, gst_event_new_segment(&segment)));
        g_mutex_unlock(&f.lock);
    }
    g_atomic_int_set(&f.stop, 1);
    g_thread_join(thread);
    g_mutex_clear(&f.lock);
    check_no_error(h);
    fail_unless(f.n_ok > 0);
    fail_unless_equals_int(gst_harness_push(h, small_buffer(1000)), GST_FLOW_OK);
    GstBuffer *packet = NULL;
    do { /* those of the feeder after the last flush come first */
        if (packet)
            gst_buffer_unref(packet);
        packet = gst_harness_pull(h);
        fail_unless(packet != NULL);
    } while (GST_BUFFER_PTS(packet) != 1000 * 40 * GST_MSECOND);
    gst_buffer_unref(packet);
    test_harness_free(h);
    g_free(launch);
}
GST_END_TEST;

/* Size, format, rate and colour change between frames that are still in flight: all come out, each under its caps. */
GST_START_TEST(test_reconfigure)
{
    static const struct {
        const char *format, *more, *variant, *colorimetry;
        int width, height;
    } steps[] = {
        {"I422_10LE", NULL, "hq", "2:4:5:4", 640, 480},
        {"I422_10LE", NULL, "hq", "2:4:5:4", 322, 242},
        {"Y444", NULL, "4444", "2:4:5:4", 322, 242},
        {"Y444", "colorimetry=bt709", "4444", "bt709", 322, 242},
        {"Y444", "colorimetry=bt709,pixel-aspect-ratio=4/3", "4444", "bt709", 322, 242},
        {"Y42B", NULL, "hq", "2:4:5:4", 64, 48},
        {"I422_10LE", NULL, "hq", "2:4:5:4", 640, 480},
    };
    gchar *launch = g_strdup_printf("proresnvenc threads=1 rate-control=constant-quantizer quantizer=2 "
                                    "pipeline-depth=%u", depths[__i__]);
    GstHarness *h = test_harness(launch);
    guint pts = 0;

    for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
        GstVideoInfo info;
        test_info(&info, steps[i].format, steps[i].width, steps[i].height);
        fail_unless(push_caps(h, test_caps(steps[i].format, steps[i].width, steps[i].height, steps[i].more)));
        /* what came before is all out, before the new caps */
        fail_unless_equals_int(gst_harness_buffers_received(h), pts);
        GstStructure *s = output_structure(h);
        int width = 0;
        gst_structure_get_int(s, "width", &width);
        fail_unless_equals_int(width, steps[i].width);
        fail_unless_equals_string(gst_structure_get_string(s, "variant"), steps[i].variant);
        fail_unless_equals_string(gst_structure_get_string(s, "colorimetry"), steps[i].colorimetry);
        gst_structure_free(s);
        for (guint j = 0; j < 5; j++)
            fail_unless_equals_int(gst_harness_push(h, test_buffer(&info, pts++)), GST_FLOW_OK);
    }
    gst_harness_push_event(h, gst_event_new_eos());

    for (guint i = 0; i < pts; i++) {
        guint8 header[28];
        GstBuffer *packet = gst_harness_try_pull(h);
        fail_unless(packet != NULL);
        fail_unless_equals_uint64(GST_BUFFER_PTS(packet), i * 40 * GST_MSECOND);
        gst_buffer_extract(packet, 0, header, sizeof header);
        fail_unless_equals_int(GST_READ_UINT16_BE(header + 16), steps[i / 5].width);
        fail_unless_equals_int(GST_READ_UINT16_BE(header + 18), steps[i / 5].height);
        gst_buffer_unref(packet);
    }
    check_no_error(h);
    test_harness_free(h);
    g_free(launch);
}
GST_END_TEST;

/* New caps that are refused leave the frames before them whole. */
GST_START_TEST(test_reconfigure_refused)
{
    GstHarness *h = slow_harness(5, "");

    for (guint i = 0; i < 5; i++)
        fail_unless_equals_int(gst_harness_push(h, slow_buffer(i)), GST_FLOW_OK);
    fail_if(push_caps(h, test_caps("Y444", 64, 48, "interlace-mode=fields")));
    check_error(h, "interlace-mode=fields");
    fail_unless_equals_int(check_order(h, 0), 5);
    fail_unless_equals_int(gst_harness_push(h, small_buffer(6)), GST_FLOW_NOT_NEGOTIATED);

    /* and good ones make it work again */
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    fail_unless_equals_int(gst_harness_push(h, small_buffer(7)), GST_FLOW_OK);
    gst_buffer_unref(gst_harness_pull(h));
    test_harness_free(h);
}
GST_END_TEST;

/* Downstream that takes a few packets and then says something else. */
static gint n_to_take; /* atomic */
static GstFlowReturn later_flow;

static GstFlowReturn limited_chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
    gst_buffer_unref(buffer);
    return g_atomic_int_add(&n_to_take, -1) > 0 ? GST_FLOW_OK : later_flow;
}

static const GstFlowReturn flows[] = {GST_FLOW_ERROR, GST_FLOW_EOS, GST_FLOW_NOT_LINKED, GST_FLOW_NOT_NEGOTIATED,
                                      GST_FLOW_FLUSHING};

static void downstream_says(GstFlowReturn say, guint depth)
{
    GstHarness *h = slow_harness(depth, "");
    GstFlowReturn flow = GST_FLOW_OK;
    GstBuffer *raw = slow_buffer(0);
    guint n = 0;

    later_flow = say;
    g_atomic_int_set(&n_to_take, 2);
    gst_pad_set_chain_function(h->sinkpad, limited_chain);
    while (flow == GST_FLOW_OK && n++ < 1000)
        flow = gst_harness_push(h, gst_buffer_ref(raw));
    fail_unless(flow == say, "%s after %u frames instead of %s", gst_flow_get_name(flow), n, gst_flow_get_name(say));
    /* 2 taken, 1 refused, then one more finds out, with as many in flight as there may be. */
    fail_unless(n >= 4 && n <= 4 + MAX(depth, 1), "%u", n);
    /* What was in flight is dropped, but where downstream may come back, it tries again once that was told. */
    const guint64 frames = get_stat(h->element, "frames");
    const gboolean may_come_back = say == GST_FLOW_NOT_LINKED || say == GST_FLOW_FLUSHING;
    fail_unless(frames >= 3 && frames <= 3 + (may_come_back ? MAX(depth, 1) : 0), "%" G_GUINT64_FORMAT, frames);
    fail_unless(pop_message(h, GST_MESSAGE_ERROR) == NULL);
    fail_unless(pop_message(h, GST_MESSAGE_QOS) == NULL);

    if (say == GST_FLOW_ERROR || say == GST_FLOW_EOS)
        fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(raw)), say); /* it stays */
    gst_harness_push_event(h, gst_event_new_eos()); /* does not hang */
    ASSERT_MINI_OBJECT_REFCOUNT(raw, "input", 1);   /* all were given back */

    /* A flush forgives, and so does a restart. */
    g_atomic_int_set(&n_to_take, 1000);
    flush(h);
    for (guint i = 0; i < 3; i++)
        fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(raw)), GST_FLOW_OK);
    gst_buffer_unref(raw);
    test_harness_free(h);
}

GST_START_TEST(test_downstream)
{
    for (guint i = 0; i < 3; i++)
        downstream_says(flows[__i__], depths[i + 1]);
}
GST_END_TEST;

/* Downstream had enough of one stream, not of the next. */
GST_START_TEST(test_stream_after_downstream_eos)
{
    GstHarness *h = test_harness("proresnvenc pipeline-depth=2");
    GstFlowReturn flow = GST_FLOW_OK;

    later_flow = GST_FLOW_EOS;
    g_atomic_int_set(&n_to_take, 1);
    gst_pad_set_chain_function(h->sinkpad, limited_chain);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    for (guint i = 0; i < 1000 && flow == GST_FLOW_OK; i++)
        flow = gst_harness_push(h, small_buffer(i));
    fail_unless_equals_int(flow, GST_FLOW_EOS);
    gst_harness_push_event(h, gst_event_new_eos());

    g_atomic_int_set(&n_to_take, 100);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    for (guint i = 0; i < 10; i++)
        fail_unless_equals_int(gst_harness_push(h, small_buffer(i)), GST_FLOW_OK);
    test_harness_free(h);
}
GST_END_TEST;

/* What is linked later is found. */
GST_START_TEST(test_not_linked_at_first)
{
    GstHarness *h = test_harness("proresnvenc pipeline-depth=2");
    GstFlowReturn flow = GST_FLOW_OK;

    later_flow = GST_FLOW_NOT_LINKED;
    g_atomic_int_set(&n_to_take, 0);
    gst_pad_set_chain_function(h->sinkpad, limited_chain);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    for (guint i = 0; i < 1000 && flow == GST_FLOW_OK; i++)
        flow = gst_harness_push(h, small_buffer(i));
    fail_unless_equals_int(flow, GST_FLOW_NOT_LINKED);
    g_atomic_int_set(&n_to_take, 100);
    gst_harness_push(h, small_buffer(0)); /* may tell of one that was in flight */
    for (guint i = 0; i < 10; i++)
        fail_unless_equals_int(gst_harness_push(h, small_buffer(i)), GST_FLOW_OK);
    test_harness_free(h);
}
GST_END_TEST;

/* Stopped in any moment, with and without an end, again and again. */
GST_START_TEST(test_state_cycles)
{
    gchar *launch = g_strdup_printf("videotestsrc ! video/x-raw,format=I422_10LE,width=320,height=240 ! proresnvenc "
                                    "name=enc pipeline-depth=%u ! fakesink name=sink sync=false async=false",
                                    depths[__i__]);
    GstElement *pipeline = gst_parse_launch(launch, NULL);

    for (guint i = 0; i < 30; i++) {
        fail_if(gst_element_set_state(pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
        g_usleep(g_random_int_range(0, 10000));
        if (i % 7 == 3)
            fail_if(gst_element_set_state(pipeline, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE);
        const GstState down = i % 3 ? GST_STATE_READY : GST_STATE_NULL;
        fail_unless_equals_int(gst_element_set_state(pipeline, down), GST_STATE_CHANGE_SUCCESS);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    fail_unless(message == NULL, "%" GST_PTR_FORMAT, message);
    gst_object_unref(bus);
    gst_object_unref(pipeline);
    g_free(launch);
}
GST_END_TEST;

/* A paused sink blocks the task in its push, and then all frames in flight are taken: stopping ends both waits. */
GST_START_TEST(test_stop_when_blocked)
{
    gchar *launch = g_strdup_printf("videotestsrc ! video/x-raw,format=Y42B,width=64,height=48 ! proresnvenc "
                                    "pipeline-depth=%u ! fakesink",
                                    depths[__i__]);

    for (guint i = 0; i < 10; i++) {
        GstElement *pipeline = gst_parse_launch(launch, NULL);
        gst_element_set_state(pipeline, GST_STATE_PAUSED);
        fail_unless_equals_int(gst_element_get_state(pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
                               GST_STATE_CHANGE_SUCCESS);
        g_usleep(i * 1000);
        fail_unless_equals_int(gst_element_set_state(pipeline, GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
        gst_object_unref(pipeline);
    }
    g_free(launch);
}
GST_END_TEST;

/* Seeks in a running pipeline, and in one that is blocked. */
GST_START_TEST(test_seek)
{
    gchar *launch = g_strdup_printf("videotestsrc num-buffers=100000 ! video/x-raw,format=Y42B,width=64,height=48 ! "
                                    "proresnvenc pipeline-depth=%u ! fakesink sync=false",
                                    depths[__i__]);
    GstElement *pipeline = gst_parse_launch(launch, NULL);

    for (guint round = 0; round < 2; round++) {
        gst_element_set_state(pipeline, round ? GST_STATE_PLAYING : GST_STATE_PAUSED);
        fail_unless_equals_int(gst_element_get_state(pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
                               GST_STATE_CHANGE_SUCCESS);
        for (guint i = 0; i < 20; i++)
            fail_unless(gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, i * GST_SECOND));
    }
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    fail_unless(message == NULL, "%" GST_PTR_FORMAT, message);
    gst_object_unref(bus);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
    g_free(launch);
}
GST_END_TEST;

/* Downstream tells that frames until 10 s are too late. */
static void send_qos(GstHarness *h)
{
    fail_unless(gst_harness_push_upstream_event(
        h, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 0, 10 * GST_SECOND)));
}

GST_START_TEST(test_late_frames)
{
    for (guint i = 0; i < G_N_ELEMENTS(depths); i++) {
        gchar *launch = g_strdup_printf("proresnvenc qos=true pipeline-depth=%u", depths[i]);
        GstHarness *h = test_harness(launch);

        fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
        fail_unless_equals_int(gst_harness_push(h, small_buffer(0)), GST_FLOW_OK);
        gst_buffer_unref(gst_harness_pull(h));
        send_qos(h);
        for (guint j = 1; j < 6; j++)
            fail_unless_equals_int(gst_harness_push(h, small_buffer(j)), GST_FLOW_OK);
        fail_unless_equals_int(gst_harness_push(h, small_buffer(250)), GST_FLOW_OK); /* 10 s: in time */
        GstBuffer *packet = gst_harness_pull(h);
        fail_unless_equals_uint64(GST_BUFFER_PTS(packet), 10 * GST_SECOND);
        gst_buffer_unref(packet);

        fail_unless_equals_uint64(get_stat(h->element, "frames"), 2);
        fail_unless_equals_uint64(get_stat(h->element, "dropped"), 5);
        for (guint j = 1; j < 6; j++) {
            GstMessage *message = pop_message(h, GST_MESSAGE_QOS);
            guint64 timestamp;
            fail_unless(message != NULL, "%u", j);
            gst_message_parse_qos(message, NULL, NULL, NULL, &timestamp, NULL);
            fail_unless_equals_uint64(timestamp, j * 40 * GST_MSECOND);
            gst_message_unref(message);
        }
        check_no_error(h);
        test_harness_free(h);
        g_free(launch);
    }
}
GST_END_TEST;

GST_START_TEST(test_late_frames_kept)
{
    GstHarness *h = test_harness("proresnvenc");

    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    send_qos(h);
    for (guint j = 0; j < 6; j++)
        fail_unless_equals_int(gst_harness_push(h, small_buffer(j)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    fail_unless_equals_int(check_order(h, 0), 6);
    fail_unless_equals_uint64(get_stat(h->element, "dropped"), 0);
    fail_unless(pop_message(h, GST_MESSAGE_QOS) == NULL);
    test_harness_free(h);
}
GST_END_TEST;

/* An event that came with a dropped frame stays between the frames around it. */
GST_START_TEST(test_late_frames_order)
{
    GstHarness *h = slow_harness(5, "qos=true");
    GString *notes = take_notes(h);

    gst_harness_push(h, slow_buffer(250)); /* in time, and long at work */
    gst_harness_push(h, slow_buffer(251));
    send_qos(h);
    push_mark(h);
    gst_harness_push(h, slow_buffer(1)); /* late */
    gst_harness_push(h, slow_buffer(252));
    gst_harness_push_event(h, gst_event_new_eos());
    fail_unless_equals_string(notes->str, "FFEF");
    test_harness_free(h);
    g_string_free(notes, TRUE);
}
GST_END_TEST;

static GstClockTime query_latency(GstHarness *h, GstClockTime *max)
{
    GstQuery *query = gst_query_new_latency();
    GstClockTime min;
    gboolean live;

    fail_unless(gst_pad_peer_query(h->sinkpad, query));
    gst_query_parse_latency(query, &live, &min, max);
    gst_query_unref(query);
    return min;
}

GST_START_TEST(test_latency)
{
    const guint depth = depths[__i__];
    gchar *launch = g_strdup_printf("proresnvenc pipeline-depth=%u", depth);
    GstHarness *h = test_harness(launch);
    GstClockTime max;

    gst_harness_set_upstream_latency(h, 10 * GST_MSECOND);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL))); /* 25 fps */
    fail_unless_equals_uint64(query_latency(h, &max), 10 * GST_MSECOND + MAX(depth, 1) * 40 * GST_MSECOND);
    fail_unless(max >= query_latency(h, &max));

    /* another rate, and none */
    GstCaps *caps = test_caps("Y42B", 64, 48, NULL);
    gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, 50, 1, NULL);
    fail_unless(push_caps(h, gst_caps_copy(caps)));
    fail_unless_equals_uint64(query_latency(h, &max), 10 * GST_MSECOND + MAX(depth, 1) * 20 * GST_MSECOND);
    gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
    fail_unless(push_caps(h, caps));
    fail_unless_equals_uint64(query_latency(h, &max), 10 * GST_MSECOND);
    test_harness_free(h);
    g_free(launch);
}
GST_END_TEST;

/* Requests for key frames change nothing: every frame is one. */
GST_START_TEST(test_key_unit_requests)
{
    GstHarness *h = test_harness("proresnvenc min-force-key-unit-interval=1000000000");

    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
    for (guint i = 0; i < 4; i++) {
        gst_harness_push_event(
            h, gst_video_event_new_downstream_force_key_unit(i * 40 * GST_MSECOND, i * 40 * GST_MSECOND,
                                                             i * 40 * GST_MSECOND, TRUE, i));
        gst_harness_push_upstream_event(h, gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, TRUE, i));
        fail_unless_equals_int(gst_harness_push(h, small_buffer(i)), GST_FLOW_OK);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    fail_unless_equals_int(check_order(h, 0), 4);
    test_harness_free(h);
}
GST_END_TEST;

/* Upstream asks for its buffers back. */
GST_START_TEST(test_drain_query)
{
    GstHarness *h = slow_harness(5, "");
    GstBuffer *raw = slow_buffer(0);

    for (guint i = 0; i < 5; i++)
        fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(raw)), GST_FLOW_OK);
    GstQuery *query = gst_query_new_drain();
    gst_pad_peer_query(h->srcpad, query);
    gst_query_unref(query);
    ASSERT_MINI_OBJECT_REFCOUNT(raw, "input", 1);
    fail_unless_equals_int(gst_harness_buffers_received(h), 5);
    gst_buffer_unref(raw);
    test_harness_free(h);
}
GST_END_TEST;

/* A new stream after the end of one. */
GST_START_TEST(test_stream_after_eos)
{
    GstHarness *h = test_harness("proresnvenc pipeline-depth=3");

    for (guint round = 0; round < 3; round++) {
        fail_unless(push_caps(h, test_caps("Y42B", 64, 48, NULL)));
        for (guint i = 0; i < 4; i++)
            fail_unless_equals_int(gst_harness_push(h, small_buffer(i)), GST_FLOW_OK);
        fail_unless(gst_harness_push_event(h, gst_event_new_eos()));
        fail_unless_equals_int(check_order(h, 0), 4);
    }
    test_harness_free(h);
}
GST_END_TEST;

static Suite *element_flow_suite(void)
{
    Suite *s = suite_create("flow");
    TCase *tc = tcase_create("general");

    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, test_pushed_at_once, 0, G_N_ELEMENTS(depths));
    tcase_add_loop_test(tc, test_eos, 0, G_N_ELEMENTS(depths));
    tcase_add_loop_test(tc, test_event_order, 0, G_N_ELEMENTS(depths));
    tcase_add_loop_test(tc, test_flush, 0, G_N_ELEMENTS(depths));
    tcase_add_loop_test(tc, test_flush_from_outside, 0, G_N_ELEMENTS(depths));
    tcase_add_loop_test(tc, test_reconfigure, 0, G_N_ELEMENTS(depths));
    tcase_add_test(tc, test_reconfigure_refused);
    tcase_add_loop_test(tc, test_downstream, 0, G_N_ELEMENTS(flows));
    tcase_add_test(tc, test_stream_after_downstream_eos);
    tcase_add_test(tc, test_not_linked_at_first);
    tcase_add_loop_test(tc, test_state_cycles, 0, G_N_ELEMENTS(depths));
    tcase_add_loop_test(tc, test_stop_when_blocked, 0, G_N_ELEMENTS(depths));
    tcase_add_loop_test(tc, test_seek, 0, G_N_ELEMENTS(depths));
    tcase_add_test(tc, test_late_frames);
    tcase_add_test(tc, test_late_frames_kept);
    tcase_add_test(tc, test_late_frames_order);
    tcase_add_loop_test(tc, test_latency, 0, G_N_ELEMENTS(depths));
    tcase_add_test(tc, test_key_unit_requests);
    tcase_add_test(tc, test_drain_query);
    tcase_add_test(tc, test_stream_after_eos);
    return s;
}

GST_CHECK_MAIN(element_flow);
