/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rate control as the user of the element sees it: properties, stats, tags, warnings and errors. */
#include "element_reader.h"

#include "target.h"

/* Noise at full swing: what takes most bytes. */
static GstBuffer *noise_buffer(const GstVideoInfo *info, guint seed)
{
    GstBuffer *buffer = test_buffer(info, seed);
    const guint depth = GST_VIDEO_INFO_COMP_DEPTH(info, 0);
    guint32 noise = seed + 1;
    GstMapInfo map;

    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    for (gsize i = 0; i + 1 < map.size; i += depth == 8 ? 1 : 2) {
        noise = noise * 1664525u + 1013904223u;
        if (depth == 8)
            map.data[i] = (guint8)(noise >> 24);
        else
            GST_WRITE_UINT16_LE(map.data + i, noise >> (32 - depth));
    }
    gst_buffer_unmap(buffer, &map);
    return buffer;
}

static GstBuffer *grey_buffer(const GstVideoInfo *info, guint seed)
{
    GstBuffer *buffer = test_buffer(info, seed);

    gst_buffer_memset(buffer, 0, 1, gst_buffer_get_size(buffer)); /* 0x0101 of 10 bits, or 1 of 8 */
    return buffer;
}

static GstHarness *rate_harness(const char *properties, const char *format, int width, int height, GstVideoInfo *info)
{
    gchar *launch = g_strdup_printf("proresnvenc %s", properties);
    GstHarness *h = test_harness(launch);

    test_info(info, format, width, height);
    fail_unless(push_caps(h, test_caps(format, width, height, NULL)), "%s", launch);
    g_free(launch);
    return h;
}

static gdouble get_double(GstElement *element, const char *name)
{
    GstStructure *stats;
    gdouble value = -1;

    g_object_get(element, "stats", &stats, NULL);
    fail_unless(gst_structure_get_double(stats, name, &value), "%s", name);
    gst_structure_free(stats);
    return value;
}

static guint get_uint(GstElement *element, const char *name)
{
    GstStructure *stats;
    guint value = G_MAXUINT;

    g_object_get(element, "stats", &stats, NULL);
    fail_unless(gst_structure_get_uint(stats, name, &value), "%s", name);
    gst_structure_free(stats);
    return value;
}

/* The bitrate in the last tags downstream, 0 if there is none. */
static guint get_bitrate(GstHarness *h)
{
    GstEvent *event = gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_TAG, 0);
    guint bitrate = 0;
    GstTagList *tags;

    if (!event)
        return 0;
    gst_event_parse_tag(event, &tags);
    gst_tag_list_get_uint(tags, GST_TAG_BITRATE, &bitrate);
    gst_event_unref(event);
    return bitrate;
}

/* Nothing set is Apple's contract. */
GST_START_TEST(test_default)
{
    GstVideoInfo info;
    GstHarness *h = rate_harness("", "I422_10LE", 320, 240, &info);
    const guint target = (guint)pnv_target_bytes(PNV_PROFILE_HQ, 320, 240);
    guint rate_control, quantization, bitrate, size, least, most;
    gint alpha;

    g_object_get(h->element, "rate-control", &rate_control, "quantization", &quantization, "bitrate", &bitrate,
                 "max-frame-size", &size, "min-quantizer", &least, "max-quantizer", &most, "alpha-bits", &alpha, NULL);
    fail_unless_equals_int(rate_control, PNV_RATE_TARGET);
    fail_unless_equals_int(quantization, PNV_ROUNDING_DEAD_ZONE);
    fail_unless(bitrate == 0 && size == 0 && least == 0 && most == 0 && alpha == -1);

    PnvParams params = test_params(&info);
    params.rate_control = PNV_RATE_TARGET;
    params.rounding = PNV_ROUNDING_DEAD_ZONE;
    for (guint i = 0; i < 3; i++) {
        GstBuffer *raw = i == 2 ? noise_buffer(&info, i) : test_buffer(&info, i);
        fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(raw)), GST_FLOW_OK);
        GstBuffer *packet = gst_harness_pull(h);
        check_packet(packet, &params, &info, raw);
        fail_unless(gst_buffer_get_size(packet) <= target);
        if (i == 2)
            fail_unless(gst_buffer_get_size(packet) >= target * 99 / 100);
        gst_buffer_unref(packet);
        gst_buffer_unref(raw);
    }
    fail_unless_equals_int(get_bitrate(h), target * 25 * 8 / 1000 * 1000);
    fail_unless(pop_message(h, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR) == NULL);
    test_harness_free(h);
}
GST_END_TEST;

typedef struct Run {
    const char *properties, *format;
    PnvProfile profile;
    guint bitrate; /**< 0: Apple's. */
} Run;

static const Run runs[] = {
    {"", "I422_10LE", PNV_PROFILE_HQ, 0},
    {"profile=proxy pipeline-depth=3", "Y42B", PNV_PROFILE_PROXY, 0},
    {"profile=4444xq", "AYUV", PNV_PROFILE_4444XQ, 0},
    {"bitrate=6000", "I422_10LE", PNV_PROFILE_HQ, 6000},
    {"bitrate=8000 profile=4444 min-quantizer=2 max-quantizer=6", "Y444_12LE", PNV_PROFILE_4444, 8000},
    {"rate-control=constant-quantizer quantizer=7", "I422_10LE", PNV_PROFILE_HQ, 0},
    {"rate-control=constant-quantizer quantizer=1 max-frame-size=40000", "I422_10LE", PNV_PROFILE_HQ, 0},
};

/* Stats and tags say what the packets are. */
GST_START_TEST(test_stats)
{
    const Run *r = &runs[__i__];
    const gboolean has_target = !strstr(r->properties, "constant");
    guint64 bytes = 0, filled = 0, most = 0, target = pnv_target_bytes(r->profile, 320, 240), raised = 0;
    guint quantizers = 0, least_q = 255, most_q = 0;
    PnvReader *reader = pnv_reader_new();
    GstVideoInfo info;
    GstHarness *h = rate_harness(r->properties, r->format, 320, 240, &info);

    if (r->bitrate)
        target = r->bitrate * 125 / 25;
    for (guint i = 0; i < 6; i++) {
        GstBuffer *(*const draw[])(const GstVideoInfo *, guint) = {grey_buffer, test_buffer, noise_buffer};
        GstBuffer *raw = draw[i % 3](&info, i);
        fail_unless_equals_int(gst_harness_push(h, raw), GST_FLOW_OK);
        GstBuffer *packet = gst_harness_pull(h);
        const PnvReaderFrame *frame = read_packet(reader, packet, 10);
        guint low = 255, high = 0;
        for (guint j = 0; j < frame->n_slices; j++) {
            low = MIN(low, frame->slices[j].quantizer);
            high = MAX(high, frame->slices[j].quantizer);
        }
        least_q = MIN(least_q, low);
        most_q = MAX(most_q, high);
        quantizers += low + high;
        bytes += gst_buffer_get_size(packet);
        filled += gst_buffer_get_size(packet) - frame->unit_bytes[3];
        most = MAX(most, gst_buffer_get_size(packet));
        raised += high > 1;
        if (has_target)
            fail_unless(gst_buffer_get_size(packet) - frame->unit_bytes[3] <= target);
        gst_buffer_unref(packet);
    }
    fail_unless_equals_uint64(get_stat(h->element, "frames"), 6);
    fail_unless_equals_uint64(get_stat(h->element, "bytes"), bytes);
    fail_unless_equals_uint64(get_stat(h->element, "mean-frame-size"), bytes / 6);
    fail_unless_equals_uint64(get_stat(h->element, "max-frame-size"), most);
    fail_unless_equals_uint64(get_stat(h->element, "mean-target-size"), has_target ? target : 0);
    fail_unless_equals_float(get_double(h->element, "fill"), has_target ? filled / (6.0 * target) : 0.0);
    fail_unless_equals_float(get_double(h->element, "mean-quantizer"), quantizers / 12.0);
    fail_unless_equals_int(get_uint(h->element, "min-quantizer"), least_q);
    fail_unless_equals_int(get_uint(h->element, "max-quantizer"), most_q);
    fail_unless_equals_uint64(get_stat(h->element, "raised"), strstr(r->properties, "40000") ? raised : 0);
    fail_unless_equals_int(get_bitrate(h), has_target ? (r->bitrate ? r->bitrate : target / 5) * 1000 : 0);
    fail_unless(pop_message(h, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR) == NULL);

    /* None is left over from a run before. */
    gst_element_set_state(h->element, GST_STATE_READY);
    gst_element_set_state(h->element, GST_STATE_PLAYING);
    fail_unless_equals_uint64(get_stat(h->element, "bytes"), 0);
    fail_unless_equals_int(get_uint(h->element, "max-quantizer"), 0);
    pnv_reader_free(&reader);
    test_harness_free(h);
}
GST_END_TEST;

/* Easy frames stop at the finest quantizer and are smaller. */
GST_START_TEST(test_min_quantizer)
{
    static const struct {
        const char *properties;
        guint quantizer;
    } cases[] = {{"", 1}, {"min-quantizer=5", 5}, {"profile=proxy", 4}, {"profile=proxy min-quantizer=2", 2},
                 {"min-quantizer=9 max-quantizer=9", 9}};

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        GstVideoInfo info;
        GstHarness *h = rate_harness(cases[i].properties, "I422_10LE", 320, 240, &info);
        fail_unless_equals_int(gst_harness_push(h, grey_buffer(&info, 0)), GST_FLOW_OK);
        gst_buffer_unref(gst_harness_pull(h));
        fail_unless_equals_int(get_uint(h->element, "min-quantizer"), cases[i].quantizer);
        fail_unless_equals_int(get_uint(h->element, "max-quantizer"), cases[i].quantizer);
        fail_unless(get_double(h->element, "fill") < 0.5);
        test_harness_free(h);
    }
}
GST_END_TEST;

/* A quantizer that is set and not used is the first mistake that people make: it is told. */
GST_START_TEST(test_quantizer_without_effect)
{
    static const struct {
        const char *properties;
        gboolean warns;
    } cases[] = {{"quantizer=9", TRUE}, {"quantizer=9 rate-control=constant-quantizer", FALSE}, {"", FALSE}};

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        GstVideoInfo info;
        GstHarness *h = rate_harness(cases[i].properties, "I422_10LE", 320, 240, &info);
        GstMessage *message = pop_message(h, GST_MESSAGE_WARNING);
        fail_unless_equals_int(message != NULL, cases[i].warns);
        if (message) {
            GError *warning;
            gst_message_parse_warning(message, &warning, NULL);
            fail_unless(strstr(warning->message, "quantizer=9") && strstr(warning->message, "constant-quantizer"), "%s",
                        warning->message);
            g_error_free(warning);
            gst_message_unref(message);
        }
        test_harness_free(h);
    }
}
GST_END_TEST;

/* The largest quantizer stands above the target, and below the maximum. */
GST_START_TEST(test_max_quantizer)
{
    static const struct {
        const char *properties;
        guint least_bytes, most_bytes;
        gboolean passed;
    } cases[] = {{"bitrate=10000 max-quantizer=3", 0, 50000, TRUE},
                 {"bitrate=10000 max-quantizer=3 max-frame-size=1000000", 50001, 1000000, FALSE},
                 {"bitrate=10000 max-quantizer=3 max-frame-size=60000", 50001, 60000, TRUE}};

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        GstVideoInfo info;
        GstHarness *h = rate_harness(cases[i].properties, "I422_10LE", 320, 240, &info);
        fail_unless_equals_int(gst_harness_push(h, noise_buffer(&info, 0)), GST_FLOW_OK);
        GstBuffer *packet = gst_harness_pull(h);
        const gsize size = gst_buffer_get_size(packet);
        fail_unless(size >= cases[i].least_bytes && size <= cases[i].most_bytes, "%s: %" G_GSIZE_FORMAT,
                    cases[i].properties, size);
        fail_unless_equals_int(get_uint(h->element, "max-quantizer") > 3, cases[i].passed);
        fail_unless(pop_message(h, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR) == NULL);
        gst_buffer_unref(packet);
        test_harness_free(h);
    }
}
GST_END_TEST;

/* With one quantizer left there was no memory for the search, and a crash. */
GST_START_TEST(test_coarsest_only)
{
    static const char *const properties[] = {
        "min-quantizer=224", "rate-control=constant-quantizer quantizer=224 max-frame-size=1000000",
        "rate-control=constant-quantizer quantizer=224 max-frame-size=10000",
    };

    for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
        GstVideoInfo info;
        GstHarness *h = rate_harness(properties[i], "I422_10LE", 320, 240, &info);
        fail_unless_equals_int(gst_harness_push(h, test_buffer(&info, 0)), GST_FLOW_OK);
        gst_buffer_unref(gst_harness_pull(h));
        fail_unless_equals_int(get_uint(h->element, "min-quantizer"), 224);
        fail_unless_equals_int(get_uint(h->element, "max-quantizer"), 224);
        check_no_error(h);
        test_harness_free(h);
    }
}
GST_END_TEST;

typedef struct Refusal {
    const char *properties;
    int fps;
    const char *words;
} Refusal;

static const Refusal refusals[] = {
    {"bitrate=5000", 0, "cannot be encoded|bitrate 5000 kbit/s|needs a frame rate|unknown"},
    {"min-quantizer=9 max-quantizer=8", 25, "cannot be encoded|9 is above|8"},
    {"bitrate=5000 rate-control=constant-quantizer", 25, "bitrate 5000|constant quantizer"},
};

GST_START_TEST(test_refused)
{
    const Refusal *r = &refusals[__i__];
    gchar *launch = g_strdup_printf("proresnvenc %s", r->properties);
    GstHarness *h = test_harness(launch);
    GstCaps *caps = test_caps("I422_10LE", 64, 48, NULL);

    gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, r->fps, 1, NULL);
    fail_if(push_caps(h, caps));
    check_error(h, r->words);
    test_harness_free(h);
    g_free(launch);
}
GST_END_TEST;

/* Without a rate, Apple's bytes of a frame are still known; a tag that told of a rate is taken back. */
GST_START_TEST(test_no_frame_rate)
{
    const guint64 target = pnv_target_bytes(PNV_PROFILE_HQ, 320, 240);
    GstVideoInfo info;
    GstHarness *h = rate_harness("", "I422_10LE", 320, 240, &info);

    fail_unless_equals_int(gst_harness_push(h, noise_buffer(&info, 0)), GST_FLOW_OK);
    gst_buffer_unref(gst_harness_pull(h));
    fail_unless(get_bitrate(h) > 0);
    GstCaps *caps = test_caps("I422_10LE", 320, 240, NULL);
    gst_caps_set_simple(caps, "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
    fail_unless(push_caps(h, caps));
    fail_unless_equals_int(gst_harness_push(h, noise_buffer(&info, 1)), GST_FLOW_OK);
    GstBuffer *packet = gst_harness_pull(h);
    fail_unless(gst_buffer_get_size(packet) <= target && gst_buffer_get_size(packet) >= target * 99 / 100);
    fail_unless_equals_int(get_bitrate(h), 0);
    gst_buffer_unref(packet);
    test_harness_free(h);
}
GST_END_TEST;

/* What the user calls the most is an error to pass; all that came before is out. */
GST_START_TEST(test_too_large_for_user)
{
    static const char *const properties[] = {"max-frame-size=2000", "max-frame-size=2000 pipeline-depth=5",
                                             "rate-control=constant-quantizer max-frame-size=2000"};

    for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
        GstVideoInfo info;
        GstHarness *h = rate_harness(properties[i], "I422_10LE", 320, 240, &info);
        GstFlowReturn flow = GST_FLOW_OK;
        for (guint j = 0; j < 3; j++)
            fail_unless_equals_int(gst_harness_push(h, grey_buffer(&info, j)), GST_FLOW_OK);
        for (guint j = 3; j < 20 && flow == GST_FLOW_OK; j++)
            flow = gst_harness_push(h, j == 3 ? noise_buffer(&info, j) : grey_buffer(&info, j));
        fail_unless_equals_int(flow, GST_FLOW_ERROR);
        check_error(h, "max-frame-size is 2000|bytes|coarsest|frame at 0:00:00.12");
        check_no_error(h);
        fail_unless_equals_int(gst_harness_buffers_received(h), 3);
        fail_unless_equals_uint64(get_stat(h->element, "frames"), 3);
        fail_unless(pop_message(h, GST_MESSAGE_QOS) == NULL);
        gst_harness_push_event(h, gst_event_new_eos());
        test_harness_free(h);
    }
}
GST_END_TEST;

/* The target alone is only told to be passed, once: the frames go out whole. */
GST_START_TEST(test_too_large_for_target)
{
    PnvReader *reader = pnv_reader_new();
    GstVideoInfo info;
    GstHarness *h = rate_harness("bitrate=400", "I422_10LE", 320, 240, &info); /* 2000 bytes */

    for (guint i = 0; i < 4; i++) {
        GstBuffer *raw = i % 2 ? noise_buffer(&info, i) : grey_buffer(&info, i);
        fail_unless_equals_int(gst_harness_push(h, raw), GST_FLOW_OK);
        GstBuffer *packet = gst_harness_pull(h);
        const gsize size = gst_buffer_get_size(packet);
        fail_unless((size > 2000) == (i % 2), "%" G_GSIZE_FORMAT, size);
        read_packet(reader, packet, 10);
        gchar *words = g_strdup_printf("takes %" G_GSIZE_FORMAT " bytes|target of 2000|coarsest", size);
        fail_unless_equals_int(count_warnings(h, words), i == 1);
        fail_unless_equals_uint64(get_stat(h->element, "over-target"), (i + 1) / 2);
        g_free(words);
        gst_buffer_unref(packet);
    }
    fail_unless_equals_int(get_uint(h->element, "max-quantizer"), 224);
    check_no_error(h);
    pnv_reader_free(&reader);
    test_harness_free(h);
}
GST_END_TEST;

/* A maximum of the user's bounds the whole frame, alpha too; without it alpha comes on top. */
GST_START_TEST(test_alpha_and_maximum)
{
    const guint target = (guint)pnv_target_bytes(PNV_PROFILE_4444, 320, 240);
    PnvReader *reader = pnv_reader_new();

    for (guint own = 0; own < 2; own++) {
        gchar *properties = g_strdup_printf("max-frame-size=%u", own ? 250000 : 0);
        GstVideoInfo info;
        GstHarness *h = rate_harness(properties, "AYUV", 320, 240, &info);
        fail_unless_equals_int(gst_harness_push(h, noise_buffer(&info, 0)), GST_FLOW_OK);
        GstBuffer *packet = gst_harness_pull(h);
        const PnvReaderFrame *frame = read_packet(reader, packet, 10);
        const gsize colour = gst_buffer_get_size(packet) - frame->unit_bytes[3];
        fail_unless(frame->unit_bytes[3] > 10000 && colour <= target);
        fail_unless(own ? gst_buffer_get_size(packet) <= 250000 : colour >= target * 99 / 100);
        fail_unless(pop_message(h, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR) == NULL);
        gst_buffer_unref(packet);
        test_harness_free(h);
        g_free(properties);
    }
    pnv_reader_free(&reader);
}
GST_END_TEST;

static Suite *element_rate_suite(void)
{
    Suite *s = suite_create("rate");
    TCase *tc = tcase_create("general");

    suite_add_tcase(s, tc);
    tcase_add_test(tc, test_default);
    tcase_add_loop_test(tc, test_stats, 0, G_N_ELEMENTS(runs));
    tcase_add_test(tc, test_min_quantizer);
    tcase_add_test(tc, test_max_quantizer);
    tcase_add_test(tc, test_quantizer_without_effect);
    tcase_add_test(tc, test_coarsest_only);
    tcase_add_loop_test(tc, test_refused, 0, G_N_ELEMENTS(refusals));
    tcase_add_test(tc, test_no_frame_rate);
    tcase_add_test(tc, test_too_large_for_user);
    tcase_add_test(tc, test_too_large_for_target);
    tcase_add_test(tc, test_alpha_and_maximum);
    return s;
}

GST_CHECK_MAIN(element_rate);
