/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interlaced video: who says how a frame is scanned, and what becomes of fields in buffers of their own. */
#include "element_reader.h"

#include <stdio.h>

#define TFF "field-order=top-field-first"
#define BFF "field-order=bottom-field-first"

enum {
    FLAG_I = GST_VIDEO_BUFFER_FLAG_INTERLACED,
    FLAG_T = GST_VIDEO_BUFFER_FLAG_TFF,
};

typedef struct Scan {
    const char *caps;           /**< Beside format, size and rate. */
    int flags[3];               /**< Of three buffers. */
    PnvInterlace frames[3];     /**< What is in their headers. */
    const char *mode, *order;   /**< Of the source caps. */
    guint warnings;
} Scan;

static const Scan scans[] = {
    {"interlace-mode=progressive", {0, FLAG_T, FLAG_I | FLAG_T}, {0, 0, 0}, "progressive", NULL, 0},
    /* the caps say it: flags need not */
    {"interlace-mode=interleaved," TFF, {0, FLAG_T, FLAG_I}, {1, 1, 1}, "interleaved", "top-field-first", 0},
    {"interlace-mode=interleaved," BFF, {0, FLAG_I, 0}, {2, 2, 2}, "interleaved", "bottom-field-first", 0},
    /* they do not: the first buffer decides for the caps, each for itself */
    {"interlace-mode=interleaved", {FLAG_T, FLAG_T, FLAG_T}, {1, 1, 1}, "interleaved", "top-field-first", 0},
    {"interlace-mode=interleaved", {0, 0, 0}, {2, 2, 2}, "interleaved", "bottom-field-first", 0},
    {"interlace-mode=interleaved", {FLAG_T, 0, FLAG_T}, {1, 2, 1}, "interleaved", "top-field-first", 1},
    {"interlace-mode=interleaved", {0, FLAG_T, FLAG_T}, {2, 1, 1}, "interleaved", "bottom-field-first", 1},
    /* a flag against the caps is the truth of its frame */
    {"interlace-mode=interleaved," BFF, {FLAG_T, 0, FLAG_T}, {1, 2, 1}, "interleaved", "bottom-field-first", 1},
    /* mixed: each for itself */
    {"interlace-mode=mixed", {0, FLAG_I, FLAG_I | FLAG_T}, {0, 2, 1}, "mixed", NULL, 0},
    {"interlace-mode=mixed", {FLAG_I | FLAG_T, FLAG_T, FLAG_I}, {1, 0, 2}, "mixed", NULL, 0},
};

GST_START_TEST(test_scan)
{
    const Scan *c = &scans[__i__];
    PnvReader *reader = pnv_reader_new();

    for (guint depth = 0; depth < 4; depth += 3) {
        gchar *launch = g_strdup_printf(TEST_ENCODER " pipeline-depth=%u", depth);
        GstHarness *h = test_harness(launch);
        GstBuffer *raw[3];
        GstVideoInfo info;

        test_info(&info, "I422_10LE", 90, 46);
        const PnvParams params = test_params(&info);
        fail_unless(push_caps(h, test_caps("I422_10LE", 90, 46, c->caps)));
        for (guint i = 0; i < 3; i++) {
            raw[i] = test_buffer(&info, i);
            GST_BUFFER_FLAG_SET(raw[i], c->flags[i]);
            fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(raw[i])), GST_FLOW_OK);
        }
        gst_harness_push_event(h, gst_event_new_eos());
        for (guint i = 0; i < 3; i++) {
            GstBuffer *packet = gst_harness_try_pull(h);
            const PnvReaderFrame *frame = read_packet(reader, packet, 10);
            fail_unless_equals_int(frame->header.interlace_mode, c->frames[i]);
            check_packet_fields(packet, &params, &info, raw[i], c->frames[i]);
            gst_buffer_unref(packet);
            gst_buffer_unref(raw[i]);
        }
        GstStructure *s = output_structure(h);
        fail_unless_equals_string(gst_structure_get_string(s, "interlace-mode"), c->mode);
        fail_unless_equals_string(gst_structure_get_string(s, "field-order"), c->order);
        gst_structure_free(s);
        fail_unless_equals_int(count_warnings(h, "order of fields changes"), c->warnings);
        check_no_error(h);
        test_harness_free(h);
        g_free(launch);
    }
    pnv_reader_free(&reader);
}
GST_END_TEST;

/* Samples of rows are where they were, with the strict reader as the judge. */
GST_START_TEST(test_rows)
{
    GstHarness *h = test_harness("proresnvenc rate-control=constant-quantizer quantizer=1");
    PnvReader *reader = pnv_reader_new();
    GstVideoInfo info;
    GstMapInfo map;

    test_info(&info, "I422_10LE", 90, 45);
    fail_unless(push_caps(h, test_caps("I422_10LE", 90, 45, "interlace-mode=interleaved")));
    for (int tff = 0; tff < 2; tff++) {
        GstBuffer *raw = test_buffer(&info, 0);
        gst_buffer_map(raw, &map, GST_MAP_WRITE);
        for (int y = 0; y < 45; y++)
            for (int x = 0; x < 90; x++)
                GST_WRITE_UINT16_LE(map.data + y * GST_VIDEO_INFO_PLANE_STRIDE(&info, 0) + 2 * x,
                                    y % 2 ? 900 - 4 * y : 100 + 4 * y);
        gst_buffer_unmap(raw, &map);
        if (tff)
            GST_BUFFER_FLAG_SET(raw, FLAG_T);
        fail_unless_equals_int(gst_harness_push(h, raw), GST_FLOW_OK);
        GstBuffer *packet = gst_harness_pull(h);
        const PnvReaderFrame *frame = read_packet(reader, packet, 10);
        fail_unless_equals_int(frame->header.interlace_mode, tff ? 1 : 2);
        for (int y = 0; y < 45; y++) {
            const double *row = pnv_reader_row(reader, 0, y);
            const double want = y % 2 ? 900 - 4 * y : 100 + 4 * y;
            for (int x = 0; x < 90; x++)
                fail_unless(ABS(row[x] - want) <= 2, "tff=%d (%d,%d): %f instead of %f", tff, x, y, row[x], want);
        }
        gst_buffer_unref(packet);
    }
    pnv_reader_free(&reader);
    test_harness_free(h);
}
GST_END_TEST;

static GstCaps *fields_caps(const char *format, int width, int height, const char *more)
{
    GstCaps *caps = test_caps(format, width, height, more);

    gst_caps_set_features(caps, 0, gst_caps_features_new(GST_CAPS_FEATURE_FORMAT_INTERLACED, NULL));
    gst_caps_set_simple(caps, "interlace-mode", G_TYPE_STRING, "alternate", NULL);
    return caps;
}

static void fields_info(GstVideoInfo *info, const GstVideoInfo *frame)
{
    GstCaps *caps = fields_caps(GST_VIDEO_INFO_NAME(frame), frame->width, frame->height, NULL);

    fail_unless(gst_video_info_from_caps(info, caps));
    gst_caps_unref(caps);
}

/* One field of a woven frame, in memory of its own; a row that a field has not is nonsense. */
static GstBuffer *field_of(GstBuffer *raw, const GstVideoInfo *frame, gboolean bottom)
{
    GstVideoInfo info;
    GstMapInfo from, to;

    fields_info(&info, frame);
    GstBuffer *field = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&info), NULL);
    fail_unless(gst_buffer_map(raw, &from, GST_MAP_READ) && gst_buffer_map(field, &to, GST_MAP_WRITE));
    memset(to.data, 0xa5, to.size);
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); p++) {
        const gint stride = GST_VIDEO_INFO_PLANE_STRIDE(&info, p);
        fail_unless_equals_int(stride, GST_VIDEO_INFO_PLANE_STRIDE(frame, p));
        for (int y = bottom; y < frame->height; y += 2)
            memcpy(to.data + GST_VIDEO_INFO_PLANE_OFFSET(&info, p) + y / 2 * stride,
                   from.data + GST_VIDEO_INFO_PLANE_OFFSET(frame, p) + y * stride, (gsize)stride);
    }
    gst_buffer_unmap(raw, &from);
    gst_buffer_unmap(field, &to);
    GST_BUFFER_FLAG_SET(field, bottom ? GST_VIDEO_BUFFER_FLAG_BOTTOM_FIELD : GST_VIDEO_BUFFER_FLAG_TOP_FIELD);
    return field;
}

/* The frame of two fields, each the rows of its parity in raw. */
static GstBuffer *weave(GstBuffer *top, GstBuffer *bottom, const GstVideoInfo *frame)
{
    GstBuffer *raw = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(frame), NULL);
    GstVideoInfo info;
    GstMapInfo from[2], to;

    fields_info(&info, frame);
    gst_buffer_map(raw, &to, GST_MAP_WRITE);
    gst_buffer_map(top, &from[0], GST_MAP_READ);
    gst_buffer_map(bottom, &from[1], GST_MAP_READ);
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); p++) {
        const gint stride = GST_VIDEO_INFO_PLANE_STRIDE(&info, p);
        for (int y = 0; y < frame->height; y++)
            memcpy(to.data + GST_VIDEO_INFO_PLANE_OFFSET(frame, p) + y * stride,
                   from[y % 2].data + GST_VIDEO_INFO_PLANE_OFFSET(&info, p) + y / 2 * stride, (gsize)stride);
    }
    gst_buffer_unmap(bottom, &from[1]);
    gst_buffer_unmap(top, &from[0]);
    gst_buffer_unmap(raw, &to);
    return raw;
}

/* What buffers of single fields may have: no meta, or one that counts the rows of the field or of the frame; the times
 * of the fields, or that of their frame, as the element interlace gives. */
static void add_meta(GstBuffer *field, const GstVideoInfo *frame, guint kind)
{
    GstVideoInfo info;

    fields_info(&info, frame);
    if (kind > 0)
        gst_buffer_add_video_meta_full(field, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(frame),
                                       (guint)info.width,
                                       (guint)(kind > 1 ? info.height : GST_VIDEO_INFO_FIELD_HEIGHT(&info)),
                                       GST_VIDEO_INFO_N_PLANES(&info), info.offset, info.stride);
    if (kind > 1) {
        GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(field);
        crop->width = (guint)info.width;
        crop->height = (guint)info.height;
    }
}

static void same_bytes(const char *format, int width, int height, gboolean bff, guint kind, guint depth)
{
    gchar *launch = g_strdup_printf("proresnvenc pipeline-depth=%u", depth);
    GstHarness *woven = test_harness(launch), *apart = test_harness(launch);
    const char *order = kind % 2 ? NULL : bff ? BFF : TFF;
    gchar *caps = g_strdup_printf("interlace-mode=interleaved,%s", bff ? BFF : TFF);
    const GstClockTime half = kind == 1 ? 0 : 20 * GST_MSECOND, last = kind == 1 ? 40 : 20;
    GstVideoInfo info;

    test_info(&info, format, width, height);
    fail_unless(push_caps(woven, test_caps(format, width, height, caps)));
    fail_unless(push_caps(apart, fields_caps(format, width, height, order)));
    for (guint i = 0; i < 3; i++) {
        GstBuffer *raw = test_buffer(&info, i);
        for (int second = 0; second < 2; second++) {
            GstBuffer *field = field_of(raw, &info, second != bff);
            add_meta(field, &info, kind);
            GST_BUFFER_PTS(field) = GST_BUFFER_PTS(raw) + (second ? half : 0);
            GST_BUFFER_DURATION(field) = last * GST_MSECOND;
            fail_unless_equals_int(gst_harness_push(apart, field), GST_FLOW_OK);
        }
        fail_unless_equals_int(gst_harness_push(woven, raw), GST_FLOW_OK);
    }
    gst_harness_push_event(woven, gst_event_new_eos());
    gst_harness_push_event(apart, gst_event_new_eos());
    fail_unless_equals_int(gst_harness_buffers_received(apart), 3);
    for (guint i = 0; i < 3; i++) {
        GstBuffer *want = gst_harness_pull(woven), *got = gst_harness_pull(apart);
        GstMapInfo map;
        gst_buffer_map(want, &map, GST_MAP_READ);
        fail_unless_equals_int(gst_buffer_get_size(got), map.size);
        fail_unless(gst_buffer_memcmp(got, 0, map.data, map.size) == 0);
        gst_buffer_unmap(want, &map);
        fail_unless_equals_uint64(GST_BUFFER_PTS(got), GST_BUFFER_PTS(want));
        fail_unless_equals_uint64(GST_BUFFER_DTS(got), GST_BUFFER_DTS(want));
        fail_unless_equals_uint64(GST_BUFFER_DURATION(got), GST_BUFFER_DURATION(want));
        gst_buffer_unref(want);
        gst_buffer_unref(got);
    }
    GstCaps *want = gst_pad_get_current_caps(woven->sinkpad), *got = gst_pad_get_current_caps(apart->sinkpad);
    fail_unless(gst_caps_is_equal(want, got), "%" GST_PTR_FORMAT " and %" GST_PTR_FORMAT, want, got);
    gst_caps_unref(want);
    gst_caps_unref(got);
    fail_unless_equals_uint64(get_stat(apart->element, "frames"), 3);
    fail_unless_equals_uint64(get_stat(apart->element, "dropped"), 0);
    fail_unless(pop_message(apart, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_QOS) == NULL);
    test_harness_free(woven);
    test_harness_free(apart);
    g_free(caps);
    g_free(launch);
}

GST_START_TEST(test_alternate_is_interleaved)
{
    static const struct {
        const char *format;
        int width, height;
    } cases[] = {
        {"Y42B", 90, 45}, {"I422_10LE", 720, 486}, {"Y444_16LE", 33, 35}, {"AYUV", 64, 48}, {"A444_10LE", 16, 2},
        {"AYUV64", 17, 3},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        for (guint k = 0; k < 6; k++)
            same_bytes(cases[i].format, cases[i].width, cases[i].height, k % 2, k % 3, k < 3 ? 0 : 4);
}
GST_END_TEST;

typedef struct Sequence {
    const char *order; /**< Of the caps, NULL: they do not say. */
    /**
     * T, B: the top, the bottom field of another frame, 20 ms later than the one before; '.': nothing for 20 ms.
     * G gap, S segment, N new stream, C other caps, F flush, D drain, R downstream wants to negotiate, E end.
     */
    const char *input;
    const char *frames; /**< Time in ms = numbers of the two fields, in the order of their lines. */
    guint lone;         /**< Warnings. */
} Sequence;

static const Sequence sequences[] = {
    {TFF, "TBTBE", "0=01 40=23", 0},
    {BFF, "BTBTE", "0=10 40=32", 0},
    {NULL, "TBTBE", "0=01 40=23", 0},
    {NULL, "BTBTE", "0=10 40=32", 0},
    /* without a partner */
    {TFF, "TE", "0=00", 1},
    {NULL, "BE", "0=00", 1},
    {TFF, "TBTE", "0=01 40=22", 1},
    {TFF, "T.TBE", "0=00 40=12", 1},
    {TFF, "TTBE", "0=00 20=12", 1},
    {TFF, "TBB.TBE", "0=01 40=22 80=34", 1},
    {TFF, "TB.BTBE", "0=01 60=22 80=34", 1},
    {TFF, "T..BTBE", "0=00 60=11 80=23", 2},
    {TFF, "BTBTBE", "0=00 20=12 60=34", 1},
    {NULL, "BTTBE", "0=10 40=22 60=33", 2},
    /* events between the two */
    {TFF, "TG.TBE", "0=00 40=12", 1},
    {TFF, "TG.E", "0=00", 1},
    {TFF, "TBG..TBE", "0=01 80=23", 0},
    {TFF, "TS.TBE", "0=00 40=12", 1},
    {TFF, "TN.TBE", "0=00 40=12", 1},
    {TFF, "TC.TBE", "0=00 40=12", 1},
    {TFF, "TF.TBE", "40=12", 0},
    {TFF, "TDBTBE", "0=01 40=23", 0},
    {TFF, "TRBTRBE", "0=01 40=23", 0},
    {NULL, "RTDRBTBE", "0=01 40=23", 0},
    {NULL, "FTBE", "0=01", 0},
    {NULL, "GTBE", "0=01", 0},
    {NULL, "E", "", 0},
    {NULL, "GE", "", 0},
};

typedef struct Fed {
    GstBuffer *field[16];
    GstVideoInfo info[16]; /**< Of their frames. */
    guint n;
} Fed;

static void feed_one(GstHarness *h, char what, Fed *fed, GstVideoInfo *info, GstClockTime now, const char *order)
{
    GstSegment segment;
    GstQuery *query;
    GstBuffer *raw;

    gst_segment_init(&segment, GST_FORMAT_TIME);
    switch (what) {
    case 'T':
    case 'B':
        raw = test_buffer(info, fed->n);
        fed->info[fed->n] = *info;
        fed->field[fed->n] = field_of(raw, info, what == 'B');
        gst_buffer_unref(raw);
        GST_BUFFER_PTS(fed->field[fed->n]) = now;
        GST_BUFFER_DURATION(fed->field[fed->n]) = 20 * GST_MSECOND;
        fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(fed->field[fed->n++])), GST_FLOW_OK);
        break;
    case 'G':
        fail_unless(gst_harness_push_event(h, gst_event_new_gap(now, 20 * GST_MSECOND)));
        break;
    case 'N':
        gst_harness_push_event(h, gst_event_new_stream_start("another"));
        break;
    case 'S':
        segment.start = 1;
        gst_harness_push_event(h, gst_event_new_segment(&segment));
        break;
    case 'C':
        test_info(info, "I422_10LE", 80, 62);
        fail_unless(gst_harness_push_event(h, gst_event_new_caps(fields_caps("I422_10LE", 80, 62, order))));
        break;
    case 'F':
        fail_unless(gst_harness_push_event(h, gst_event_new_flush_start()));
        fail_unless(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
        fail_unless(gst_harness_push_event(h, gst_event_new_segment(&segment)));
        break;
    case 'D':
        query = gst_query_new_drain();
        gst_pad_peer_query(h->srcpad, query);
        gst_query_unref(query);
        ASSERT_MINI_OBJECT_REFCOUNT(fed->field[fed->n - 1], "field", 1);
        break;
    case 'R':
        gst_harness_push_upstream_event(h, gst_event_new_reconfigure());
        break;
    case 'E':
        gst_harness_push_event(h, gst_event_new_eos());
        break;
    default:
        break;
    }
}

/* One frame, of the fields at first and second of its time. */
static void check_frame(GstBuffer *packet, const Fed *fed, guint time_ms, guint top, guint bottom, const Sequence *s)
{
    const gboolean starts_top = s->order ? strstr(s->order, "top") != NULL : strpbrk(s->input, "TB")[0] == 'T';
    const gboolean is_top = GST_VIDEO_BUFFER_IS_TOP_FIELD(fed->field[top]);
    const GstVideoInfo *info = &fed->info[top];
    PnvReader *reader = pnv_reader_new();

    fail_unless_equals_uint64(GST_BUFFER_PTS(packet), time_ms * GST_MSECOND);
    /* The time of a first field that is missing has gone by already. */
    fail_unless_equals_uint64(GST_BUFFER_DURATION(packet),
                              (top == bottom && is_top != starts_top ? 20 : 40) * GST_MSECOND);
    const PnvParams params = test_params(info);
    GstBuffer *raw = weave(fed->field[top], fed->field[bottom], info);
    check_packet_fields(packet, &params, info, raw, starts_top ? PNV_TOP_FIELD_FIRST : PNV_BOTTOM_FIELD_FIRST);
    gst_buffer_unref(raw);
    read_packet(reader, packet, 10);
    pnv_reader_free(&reader);
}

GST_START_TEST(test_sequence)
{
    const Sequence *s = &sequences[__i__];

    for (guint depth = 0; depth < 4; depth += 3) {
        gchar *launch = g_strdup_printf(TEST_ENCODER " pipeline-depth=%u", depth);
        gchar **frames = g_strsplit(s->frames, " ", -1);
        GstHarness *h = test_harness(launch);
        GstClockTime now = 0;
        Fed fed = {.n = 0};
        GstVideoInfo info;

        test_info(&info, "I422_10LE", 64, 48);
        fail_unless(push_caps(h, fields_caps("I422_10LE", 64, 48, s->order)));
        for (const char *at = s->input; *at; at++) {
            feed_one(h, *at, &fed, &info, now, s->order);
            now += strchr("TB.", *at) ? 20 * GST_MSECOND : 0;
        }
        for (guint i = 0; i < g_strv_length(frames); i++) {
            GstBuffer *packet = gst_harness_try_pull(h);
            guint time_ms;
            char top, bottom;
            fail_unless(packet != NULL, "%s: no frame %u", s->input, i);
            fail_unless(sscanf(frames[i], "%u=%c%c", &time_ms, &top, &bottom) == 3);
            check_frame(packet, &fed, time_ms, (guint)(top - '0'), (guint)(bottom - '0'), s);
            gst_buffer_unref(packet);
        }
        fail_unless(gst_harness_try_pull(h) == NULL, "%s: one frame more", s->input);
        fail_unless_equals_int(count_warnings(h, "A field has no partner|field at"), s->lone);
        fail_unless_equals_uint64(get_stat(h->element, "frames"), g_strv_length(frames));
        fail_unless_equals_uint64(get_stat(h->element, "dropped"), 0);
        fail_unless(pop_message(h, GST_MESSAGE_ERROR | GST_MESSAGE_QOS) == NULL);
        for (guint i = 0; i < fed.n; i++) {
            ASSERT_MINI_OBJECT_REFCOUNT(fed.field[i], "field", 1);
            gst_buffer_unref(fed.field[i]);
        }
        test_harness_free(h);
        g_strfreev(frames);
        g_free(launch);
    }
}
GST_END_TEST;

static GstBuffer *one_field(char parity, GstClockTime pts)
{
    GstVideoInfo info;

    test_info(&info, "Y42B", 64, 48);
    GstBuffer *raw = test_buffer(&info, 0), *field = field_of(raw, &info, parity == 'B');
    GST_BUFFER_PTS(field) = pts;
    GST_BUFFER_DURATION(field) = 20 * GST_MSECOND;
    gst_buffer_unref(raw);
    return field;
}

/* Stopped while a field waits: it goes, and the next start begins afresh. */
GST_START_TEST(test_stop_between_fields)
{
    GstHarness *h = test_harness("proresnvenc pipeline-depth=2");

    for (guint i = 0; i < 4; i++) {
        GstBuffer *field = one_field('T', 0);
        fail_unless(push_caps(h, fields_caps("Y42B", 64, 48, NULL)));
        fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(field)), GST_FLOW_OK);
        gst_element_set_state(h->element, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
        ASSERT_MINI_OBJECT_REFCOUNT(field, "field", 1);
        gst_buffer_unref(field);
        gst_element_set_state(h->element, GST_STATE_PLAYING);
    }
    fail_unless(push_caps(h, fields_caps("Y42B", 64, 48, NULL)));
    fail_unless_equals_int(gst_harness_push(h, one_field('B', 0)), GST_FLOW_OK);
    fail_unless_equals_int(gst_harness_push(h, one_field('T', 20 * GST_MSECOND)), GST_FLOW_OK);
    gst_buffer_unref(gst_harness_pull(h));
    fail_unless(pop_message(h, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR) == NULL);
    test_harness_free(h);
}
GST_END_TEST;

/* A late frame is dropped whole, and told once. */
GST_START_TEST(test_late_pairs)
{
    for (guint depth = 0; depth < 4; depth += 3) {
        gchar *launch = g_strdup_printf("proresnvenc qos=true pipeline-depth=%u", depth);
        GstHarness *h = test_harness(launch);
        GstMessage *message;

        fail_unless(push_caps(h, fields_caps("Y42B", 64, 48, TFF)));
        gst_harness_push(h, one_field('T', 0));
        gst_harness_push(h, one_field('B', 20 * GST_MSECOND));
        gst_buffer_unref(gst_harness_pull(h));
        gst_harness_push_upstream_event(h, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 0, 10 * GST_SECOND));
        for (guint i = 1; i < 5; i++) {
            gst_harness_push(h, one_field('T', 40 * i * GST_MSECOND));
            gst_harness_push(h, one_field('B', (40 * i + 20) * GST_MSECOND));
        }
        gst_harness_push(h, one_field('T', 10 * GST_SECOND));
        gst_harness_push(h, one_field('B', 10 * GST_SECOND + 20 * GST_MSECOND));
        GstBuffer *packet = gst_harness_pull(h);
        fail_unless_equals_uint64(GST_BUFFER_PTS(packet), 10 * GST_SECOND);
        gst_buffer_unref(packet);
        for (guint i = 1; i < 5; i++) {
            guint64 timestamp;
            fail_unless((message = pop_message(h, GST_MESSAGE_QOS)) != NULL);
            gst_message_parse_qos(message, NULL, NULL, NULL, &timestamp, NULL);
            fail_unless_equals_uint64(timestamp, 40 * i * GST_MSECOND);
            gst_message_unref(message);
        }
        fail_unless(pop_message(h, GST_MESSAGE_QOS) == NULL);
        fail_unless_equals_uint64(get_stat(h->element, "frames"), 2);
        fail_unless_equals_uint64(get_stat(h->element, "dropped"), 4);
        check_no_error(h);
        test_harness_free(h);
        g_free(launch);
    }
}
GST_END_TEST;

/* Both fields with the time of the frame, and not in the order that the caps state: still one frame each, in the order
 * that they come in, with one warning for all. */
GST_START_TEST(test_same_time_in_other_order)
{
    GstHarness *h = test_harness(TEST_ENCODER);
    PnvReader *reader = pnv_reader_new();

    fail_unless(push_caps(h, fields_caps("Y42B", 64, 48, TFF)));
    for (guint i = 0; i < 10; i++)
        fail_unless_equals_int(gst_harness_push(h, one_field(i % 2 ? 'T' : 'B', i / 2 * 40 * GST_MSECOND)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    for (guint i = 0; i < 5; i++) {
        GstBuffer *packet = gst_harness_try_pull(h);
        fail_unless(packet != NULL, "frame %u is missing", i);
        fail_unless_equals_uint64(GST_BUFFER_PTS(packet), i * 40 * GST_MSECOND);
        fail_unless_equals_int(read_packet(reader, packet, 8)->header.interlace_mode, PNV_BOTTOM_FIELD_FIRST);
        gst_buffer_unref(packet);
    }
    fail_unless(gst_harness_try_pull(h) == NULL, "one frame more");
    fail_unless_equals_int(count_warnings(h, "The order of fields changes"), 1);
    fail_unless(pop_message(h, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR) == NULL);
    pnv_reader_free(&reader);
    test_harness_free(h);
}
GST_END_TEST;

static GstPadProbeReturn add_to_caps(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);

    if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
        GstCaps *caps;
        gst_event_parse_caps(event, &caps);
        caps = gst_caps_copy(caps);
        gst_caps_set_simple(caps, "note", G_TYPE_STRING, "of the application", NULL);
        gst_event_unref(event);
        GST_PAD_PROBE_INFO_DATA(info) = gst_event_new_caps(caps);
        gst_caps_unref(caps);
    }
    return GST_PAD_PROBE_OK;
}

/* What a probe makes of the source caps is no refusal by downstream. */
GST_START_TEST(test_probe_changes_caps)
{
    GstHarness *h = test_harness(TEST_ENCODER);
    GstPad *pad = gst_element_get_static_pad(h->element, "src");
    GstVideoInfo info;

    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, add_to_caps, NULL, NULL);
    test_info(&info, "I422_10LE", 64, 48);
    fail_unless(push_caps(h, test_caps("I422_10LE", 64, 48, NULL)));
    fail_unless_equals_int(gst_harness_push(h, test_buffer(&info, 0)), GST_FLOW_OK);
    gst_buffer_unref(gst_harness_pull(h));
    fail_unless(pop_message(h, GST_MESSAGE_ERROR) == NULL);
    gst_object_unref(pad);
    test_harness_free(h);
}
GST_END_TEST;

GST_START_TEST(test_unmarked_field)
{
    for (guint i = 0; i < 2; i++) {
        GstHarness *h = test_harness("proresnvenc");
        GstBuffer *field = one_field('T', 0);

        fail_unless(push_caps(h, fields_caps("Y42B", 64, 48, i ? TFF : NULL)));
        GST_BUFFER_FLAG_UNSET(field, GST_VIDEO_BUFFER_FLAG_TOP_FIELD);
        fail_unless_equals_int(gst_harness_push(h, field), GST_FLOW_ERROR);
        check_error(h, "neither top nor bottom");
        check_no_error(h);
        test_harness_free(h);
    }
}
GST_END_TEST;

GST_START_TEST(test_fields_lie_differently)
{
    gsize offset[GST_VIDEO_MAX_PLANES] = {0, 80 * 24, 120 * 24};
    gint stride[GST_VIDEO_MAX_PLANES] = {80, 40, 40};
    GstHarness *h = test_harness("proresnvenc");
    GstBuffer *wide = gst_buffer_new_allocate(NULL, 160 * 24, NULL);

    fail_unless(push_caps(h, fields_caps("Y42B", 64, 48, TFF)));
    fail_unless_equals_int(gst_harness_push(h, one_field('T', 0)), GST_FLOW_OK);
    gst_buffer_add_video_meta_full(wide, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_Y42B, 64, 48, 3, offset, stride);
    gst_buffer_memset(wide, 0, 128, 160 * 24);
    GST_BUFFER_PTS(wide) = 20 * GST_MSECOND;
    GST_BUFFER_FLAG_SET(wide, GST_VIDEO_BUFFER_FLAG_BOTTOM_FIELD);
    fail_unless_equals_int(gst_harness_push(h, wide), GST_FLOW_ERROR);
    check_error(h, "lie differently|64, 80");
    test_harness_free(h);
}
GST_END_TEST;

/* FFmpeg fails at such heights: told once, and coded as RDD 36 has it. */
GST_START_TEST(test_height_of_33)
{
    static const char *const modes[] = {"interlace-mode=interleaved", "interlace-mode=mixed"};
    GstVideoInfo info;

    test_info(&info, "Y42B", 64, 33);
    for (guint i = 0; i < G_N_ELEMENTS(modes); i++) {
        GstHarness *h = test_harness(TEST_ENCODER);
        PnvReader *reader = pnv_reader_new();
        const PnvParams params = test_params(&info);
        fail_unless(push_caps(h, test_caps("Y42B", 64, 33, modes[i])));
        for (guint j = 0; j < 3; j++) {
            GstBuffer *raw = test_buffer(&info, j);
            GST_BUFFER_FLAG_SET(raw, FLAG_I | FLAG_T);
            fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(raw)), GST_FLOW_OK);
            GstBuffer *packet = gst_harness_pull(h);
            fail_unless_equals_int(read_packet(reader, packet, 10)->n_pictures, 2);
            check_packet_fields(packet, &params, &info, raw, PNV_TOP_FIELD_FIRST);
            gst_buffer_unref(packet);
            gst_buffer_unref(raw);
        }
        fail_unless_equals_int(count_warnings(h, "33 rows|FFmpeg"), 1);
        pnv_reader_free(&reader);
        test_harness_free(h);
    }
    GstHarness *h = test_harness("proresnvenc");
    fail_unless(push_caps(h, test_caps("Y42B", 64, 33, NULL)));
    fail_unless_equals_int(count_warnings(h, ""), 0);
    test_harness_free(h);
}
GST_END_TEST;

/* An odd first row would make bottom fields of top fields. */
GST_START_TEST(test_crop)
{
    GstVideoInfo whole;

    test_info(&whole, "Y42B", 64, 60);
    for (guint y = 0; y < 4; y++) {
        GstHarness *h = test_harness("proresnvenc");
        GstBuffer *raw = test_buffer(&whole, 0);
        fail_unless(push_caps(h, test_caps("Y42B", 64, 48, "interlace-mode=interleaved")));
        gst_buffer_add_video_meta(raw, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_Y42B, 64, 60);
        GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta(raw);
        *crop = (GstVideoCropMeta){.meta = crop->meta, .y = y, .width = 64, .height = 48};
        fail_unless_equals_int(gst_harness_push(h, raw), y % 2 ? GST_FLOW_ERROR : GST_FLOW_OK);
        if (y % 2)
            check_error(h, "videocrop|2 rows");
        check_no_error(h);
        test_harness_free(h);
    }
}
GST_END_TEST;

/* The first field waits half a frame. */
GST_START_TEST(test_latency)
{
    for (guint depth = 1; depth < 4; depth += 2) {
        gchar *launch = g_strdup_printf("proresnvenc pipeline-depth=%u", depth);
        GstHarness *h = test_harness(launch);
        GstQuery *query = gst_query_new_latency();
        GstClockTime min;

        gst_harness_set_upstream_latency(h, 0);
        fail_unless(push_caps(h, fields_caps("Y42B", 64, 48, TFF)));
        fail_unless(gst_pad_peer_query(h->sinkpad, query));
        gst_query_parse_latency(query, NULL, &min, NULL);
        fail_unless_equals_uint64(min, (40 * depth + 20) * GST_MSECOND);
        gst_query_unref(query);
        test_harness_free(h);
        g_free(launch);
    }
}
GST_END_TEST;

static GstPadProbeReturn note_event(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    GString *notes = data;

    if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
        g_string_append(notes, "frame ");
    else
        g_string_append_printf(notes, "%s ", GST_EVENT_TYPE_NAME(GST_PAD_PROBE_INFO_EVENT(info)));
    return GST_PAD_PROBE_OK;
}

/* Caps that wait for the first frame keep their place among the events. */
GST_START_TEST(test_events_before_first_frame)
{
    static const struct {
        const char *caps, *want;
    } cases[] = {
        {"interlace-mode=interleaved", "stream-start caps segment gap tag frame eos "},
        {"interlace-mode=interleaved," TFF, "stream-start caps segment gap tag frame eos "},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        GstHarness *h = test_harness("proresnvenc");
        GstPad *pad = gst_element_get_static_pad(h->element, "src");
        GString *notes = g_string_new(NULL);
        GstVideoInfo info;

        test_info(&info, "Y42B", 64, 48);
        gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note_event, notes,
                          NULL);
        gst_object_unref(pad);
        fail_unless(push_caps(h, test_caps("Y42B", 64, 48, cases[i].caps)));
        gst_harness_push_event(h, gst_event_new_gap(0, 40 * GST_MSECOND));
        fail_unless_equals_int(gst_harness_push(h, test_buffer(&info, 1)), GST_FLOW_OK);
        gst_harness_push_event(h, gst_event_new_eos());
        GString *seen = g_string_new(NULL); /* each kind once: tags come with the first frame and again */
        gchar **list = g_strsplit(notes->str, " ", -1);
        for (guint j = 0; list[j] && *list[j]; j++)
            if (!strstr(seen->str, list[j]))
                g_string_append_printf(seen, "%s ", list[j]);
        fail_unless_equals_string(seen->str, cases[i].want);
        g_string_free(seen, TRUE);
        g_strfreev(list);
        test_harness_free(h);
        g_string_free(notes, TRUE);
    }
}
GST_END_TEST;

/* What the first buffer brings may be what downstream does not take. */
GST_START_TEST(test_refused_at_first_frame)
{
    GstHarness *h = test_harness("proresnvenc");
    GstVideoInfo info;

    test_info(&info, "Y42B", 64, 48);
    gst_harness_set_sink_caps_str(h, "video/x-prores," TFF);
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, "interlace-mode=interleaved")));
    check_no_error(h);
    fail_unless_equals_int(gst_harness_push(h, test_buffer(&info, 0)), GST_FLOW_NOT_NEGOTIATED);
    check_error(h, "Downstream refuses|top-field-first");
    fail_unless_equals_int(gst_harness_push(h, test_buffer(&info, 1)), GST_FLOW_NOT_NEGOTIATED);
    check_no_error(h);

    /* other caps, and it works */
    test_info(&info, "Y42B", 80, 48);
    fail_unless(push_caps(h, test_caps("Y42B", 80, 48, "interlace-mode=interleaved," TFF)));
    fail_unless_equals_int(gst_harness_push(h, test_buffer(&info, 2)), GST_FLOW_OK);
    gst_buffer_unref(gst_harness_pull(h));
    test_harness_free(h);
}
GST_END_TEST;

/* Caps of another order and nothing else, which the base class takes for no change. */
GST_START_TEST(test_order_changes_in_caps)
{
    static const char *const orders[] = {TFF, BFF, TFF};
    GstHarness *h = test_harness(TEST_ENCODER);
    GstVideoInfo info;

    test_info(&info, "Y42B", 64, 48);
    const PnvParams params = test_params(&info);
    for (guint i = 0; i < G_N_ELEMENTS(orders); i++) {
        gchar *more = g_strdup_printf("interlace-mode=interleaved,%s", orders[i]);
        GstBuffer *raw = test_buffer(&info, i);
        fail_unless(push_caps(h, test_caps("Y42B", 64, 48, more)));
        fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(raw)), GST_FLOW_OK);
        GstBuffer *packet = gst_harness_pull(h);
        check_packet_fields(packet, &params, &info, raw, i == 1 ? PNV_BOTTOM_FIELD_FIRST : PNV_TOP_FIELD_FIRST);
        gst_buffer_unref(packet);
        gst_buffer_unref(raw);
        g_free(more);
    }
    fail_unless_equals_int(count_warnings(h, "order of fields changes"), 1);
    test_harness_free(h);
}
GST_END_TEST;

static Suite *element_fields_suite(void)
{
    Suite *s = suite_create("fields");
    TCase *tc = tcase_create("general");

    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, test_scan, 0, G_N_ELEMENTS(scans));
    tcase_add_test(tc, test_rows);
    tcase_add_test(tc, test_alternate_is_interleaved);
    tcase_add_loop_test(tc, test_sequence, 0, G_N_ELEMENTS(sequences));
    tcase_add_test(tc, test_stop_between_fields);
    tcase_add_test(tc, test_late_pairs);
    tcase_add_test(tc, test_same_time_in_other_order);
    tcase_add_test(tc, test_probe_changes_caps);
    tcase_add_test(tc, test_unmarked_field);
    tcase_add_test(tc, test_fields_lie_differently);
    tcase_add_test(tc, test_height_of_33);
    tcase_add_test(tc, test_crop);
    tcase_add_test(tc, test_latency);
    tcase_add_test(tc, test_events_before_first_frame);
    tcase_add_test(tc, test_refused_at_first_frame);
    tcase_add_test(tc, test_order_changes_in_caps);
    return s;
}

GST_CHECK_MAIN(element_fields);
