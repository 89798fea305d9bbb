/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the element_ tests share: a harness around proresnvenc, frames to push, and what the core makes of them. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <string.h>

#include "pnv.h"

/** An element that does what test_params() says. */
#define TEST_ENCODER "proresnvenc rate-control=constant-quantizer quantization=nearest"

typedef struct TestFormat {
    const char *name;
    PnvChroma chroma;
    int depth;
    const char *variant; /**< Of profile=auto when downstream takes anything. */
} TestFormat;

static const TestFormat test_formats[] = {
    {"Y42B", PNV_CHROMA_422, 8, "hq"},         {"I422_10LE", PNV_CHROMA_422, 10, "hq"},
    {"I422_12LE", PNV_CHROMA_422, 12, "hq"},   {"Y444", PNV_CHROMA_444, 8, "4444"},
    {"Y444_10LE", PNV_CHROMA_444, 10, "4444"}, {"Y444_12LE", PNV_CHROMA_444, 12, "4444"},
    {"Y444_16LE", PNV_CHROMA_444, 16, "4444"}, {"AYUV", PNV_CHROMA_444, 8, "4444"},
    {"A444_10LE", PNV_CHROMA_444, 10, "4444"}, {"AYUV64", PNV_CHROMA_444, 16, "4444"},
};

static inline GstCaps *test_caps(const char *format, int width, int height, const char *more)
{
    gchar *text = g_strdup_printf("video/x-raw,format=%s,width=%d,height=%d,framerate=25/1%s%s", format, width, height,
                                  more ? "," : "", more ? more : "");
    GstCaps *caps = gst_caps_from_string(text);

    fail_unless(caps != NULL, "%s", text);
    g_free(text);
    return caps;
}

static inline void test_info(GstVideoInfo *info, const char *format, int width, int height)
{
    GstCaps *caps = test_caps(format, width, height, NULL);

    fail_unless(gst_video_info_from_caps(info, caps));
    gst_caps_unref(caps);
}

/** A frame of soft shapes and a little noise, other for every seed, at a time that goes with the seed. */
static inline GstBuffer *test_buffer(const GstVideoInfo *info, guint seed)
{
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
    const int depth = GST_VIDEO_INFO_COMP_DEPTH(info, 0);
    guint32 noise = seed * 2654435761u + 1;
    GstMapInfo map;

    fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
    memset(map.data, 0, map.size); /* the end of rows too */
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(info); c++) {
        const int step = GST_VIDEO_INFO_COMP_PSTRIDE(info, c);
        for (int y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT(info, c); y++) {
            guint8 *row = map.data + GST_VIDEO_INFO_COMP_OFFSET(info, c) + y * GST_VIDEO_INFO_COMP_STRIDE(info, c);
            for (int x = 0; x < GST_VIDEO_INFO_COMP_WIDTH(info, c); x++) {
                noise = noise * 1664525u + 1013904223u;
                const guint value = (16 + (((x + 3 * (int)seed) * (y + 7) / 16) % 200)) << (depth - 8) | noise >> 30;
                row[step * x] = (guint8)value;
                if (depth > 8) /* byte by byte: rows may begin at any address */
                    row[step * x + 1] = (guint8)(value >> 8);
            }
        }
    }
    gst_buffer_unmap(buffer, &map);
    GST_BUFFER_PTS(buffer) = seed * 40 * GST_MSECOND;
    GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
    return buffer;
}

/** What TEST_ENCODER tells the core about progressive 25 fps video below HD without colours in its caps. */
static inline PnvParams test_params(const GstVideoInfo *info)
{
    return (PnvParams){
        .width = info->width,
        .height = info->height,
        .chroma = GST_VIDEO_FORMAT_INFO_W_SUB(info->finfo, 1) ? PNV_CHROMA_422 : PNV_CHROMA_444,
        .depth = GST_VIDEO_INFO_COMP_DEPTH(info, 0),
        .alpha_bits = GST_VIDEO_INFO_HAS_ALPHA(info) ? 16 : 0,
        .rounding = PNV_ROUNDING_NEAREST,
        .fps_n = 25,
        .fps_d = 1,
        .par_n = 1,
        .par_d = 1,
        .color_primaries = 6,
        .transfer_characteristic = 1,
        .matrix_coefficients = 6,
    };
}

/** Fails unless packet is what the core makes of the raw frame, scanned that way. */
static inline void check_packet_fields(GstBuffer *packet, const PnvParams *params, const GstVideoInfo *info,
                                       GstBuffer *raw, PnvInterlace interlace)
{
    char error[PNV_ERROR_BYTES];
    PnvEncoder *enc;
    PnvPicture picture = {.interlace = interlace};
    PnvPacket want;
    GstMapInfo map;

    fail_unless(pnv_open(&enc, params, error) == PNV_OK, "%s", error);
    fail_unless(gst_buffer_map(raw, &map, GST_MAP_READ));
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(info); c++) {
        picture.plane[c] = map.data + GST_VIDEO_INFO_COMP_OFFSET(info, c);
        picture.stride[c] = GST_VIDEO_INFO_COMP_STRIDE(info, c);
        picture.step[c] = GST_VIDEO_INFO_COMP_PSTRIDE(info, c);
    }
    fail_unless(pnv_send(enc, &picture) == PNV_OK, "%s", pnv_error(enc));
    fail_unless(pnv_collect(enc, &want) == PNV_OK);
    fail_unless_equals_int(gst_buffer_get_size(packet), want.size);
    fail_unless(gst_buffer_memcmp(packet, 0, want.data, want.size) == 0);
    pnv_packet_release(&want);
    gst_buffer_unmap(raw, &map);
    pnv_close(&enc);
}

static inline void check_packet(GstBuffer *packet, const PnvParams *params, const GstVideoInfo *info, GstBuffer *raw)
{
    check_packet_fields(packet, params, info, raw, PNV_PROGRESSIVE);
}

/** A harness with a bus to read what the element says. PNV_TEST_BACKEND chooses the backend where the launch does not. */
static inline GstHarness *test_harness(const char *launch)
{
    GstElement *element = gst_parse_launch(launch, NULL);
    GstBus *bus = gst_bus_new();
    const gchar *backend = g_getenv("PNV_TEST_BACKEND");

    fail_unless(element != NULL, "%s", launch);
    if (backend && !strstr(launch, "backend="))
        gst_util_set_object_arg(G_OBJECT(element), "backend", backend);
    gst_object_ref_sink(element);
    GstHarness *h = gst_harness_new_with_element(element, "sink", "src");
    gst_object_unref(element);
    gst_element_set_bus(h->element, bus);
    gst_object_unref(bus);
    return h;
}

static inline void test_harness_free(GstHarness *h)
{
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
}

/** Sends caps as an element would, and tells whether they were taken: the event itself, being sticky, always succeeds. */
static inline gboolean push_caps(GstHarness *h, GstCaps *caps)
{
    GstPad *pad = gst_pad_get_peer(h->srcpad);
    GstSegment segment;

    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(h, gst_event_new_stream_start("element-test"));
    gst_harness_push_event(h, gst_event_new_caps(caps));
    gst_harness_push_event(h, gst_event_new_segment(&segment));
    GstCaps *current = gst_pad_get_current_caps(pad);
    const gboolean taken = current && gst_caps_is_equal(current, caps);
    if (current)
        gst_caps_unref(current);
    gst_caps_unref(caps);
    gst_object_unref(pad);
    return taken;
}

/** The first message of a kind that waits on the bus, NULL if there is none; those before it are dropped. */
static inline GstMessage *pop_message(GstHarness *h, GstMessageType type)
{
    GstBus *bus = gst_element_get_bus(h->element);
    GstMessage *message = gst_bus_pop_filtered(bus, type);

    gst_object_unref(bus);
    return message;
}

/** Fails unless an error or warning says all of the words, separated by '|', to the user or to the log, and is a sentence. */
static inline void check_words(GstMessage *message, const char *words)
{
    GError *error;
    gchar *debug, *all, **list = g_strsplit(words, "|", -1);

    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
        gst_message_parse_error(message, &error, &debug);
    else
        gst_message_parse_warning(message, &error, &debug);
    all = g_strconcat(error->message, "\n", debug, NULL);
    for (int i = 0; list[i]; i++)
        fail_unless(strstr(all, list[i]) != NULL, "\"%s\" is not in \"%s\"", list[i], all);
    fail_unless(g_ascii_isupper(error->message[0]) && g_str_has_suffix(error->message, "."), "%s", error->message);
    g_error_free(error);
    g_free(debug);
    g_free(all);
    g_strfreev(list);
}

/** Fails unless the element's first error says all of the words. */
static inline void check_error(GstHarness *h, const char *words)
{
    GstMessage *message = pop_message(h, GST_MESSAGE_ERROR);

    fail_unless(message != NULL, "no error, should say \"%s\"", words);
    check_words(message, words);
    gst_message_unref(message);
}

/** How many warnings wait on the bus; each says all of the words. */
static inline guint count_warnings(GstHarness *h, const char *words)
{
    GstMessage *message;
    guint n = 0;

    for (; (message = pop_message(h, GST_MESSAGE_WARNING)); n++) {
        check_words(message, words);
        gst_message_unref(message);
    }
    return n;
}

static inline void check_no_error(GstHarness *h)
{
    GstMessage *message = pop_message(h, GST_MESSAGE_ERROR);

    fail_unless(message == NULL, "%" GST_PTR_FORMAT, message);
}

static inline guint64 get_stat(GstElement *element, const char *name)
{
    GstStructure *stats;
    guint64 value = G_MAXUINT64;

    g_object_get(element, "stats", &stats, NULL);
    fail_unless(gst_structure_get_uint64(stats, name, &value), "%s", name);
    gst_structure_free(stats);
    return value;
}

/** Caps the element sent downstream. */
static inline GstStructure *output_structure(GstHarness *h)
{
    GstCaps *caps = gst_pad_get_current_caps(h->sinkpad);
    GstStructure *s;

    fail_unless(caps != NULL);
    s = gst_structure_copy(gst_caps_get_structure(caps, 0));
    gst_caps_unref(caps);
    return s;
}

/** Runs a pipeline to its end, and gives it for questions. */
static inline GstElement *play(const char *description)
{
    GstElement *pipeline = gst_parse_launch(description, NULL);
    GstBus *bus;

    fail_unless(pipeline != NULL, "%s", description);
    bus = gst_element_get_bus(pipeline);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstMessage *message = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE,
                                                     GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    fail_unless_equals_int(GST_MESSAGE_TYPE(message), GST_MESSAGE_EOS);
    gst_message_unref(message);
    gst_object_unref(bus);
    return pipeline;
}

static inline void stop(GstElement *pipeline)
{
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
}

#endif
