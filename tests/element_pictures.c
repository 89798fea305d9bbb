/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes back of alpha and of full range, by the strict reader, and what the source caps say of both. */
#include "element_reader.h"

static GstBuffer *encode_one(GstHarness *h, GstBuffer *raw)
{
    fail_unless_equals_int(gst_harness_push(h, raw), GST_FLOW_OK);
    GstBuffer *packet = gst_harness_pull(h);
    fail_unless(packet != NULL);
    return packet;
}

static guint get_sample(const GstVideoInfo *info, const GstMapInfo *map, guint component, int x, int y)
{
    const guint8 *at = map->data + GST_VIDEO_INFO_COMP_OFFSET(info, component) +
                       y * GST_VIDEO_INFO_COMP_STRIDE(info, component) +
                       x * GST_VIDEO_INFO_COMP_PSTRIDE(info, component);

    return GST_VIDEO_INFO_COMP_DEPTH(info, component) == 8 ? *at : GST_READ_UINT16_LE(at);
}

static void set_sample(const GstVideoInfo *info, const GstMapInfo *map, guint component, int x, int y, guint value)
{
    guint8 *at = map->data + GST_VIDEO_INFO_COMP_OFFSET(info, component) +
                 y * GST_VIDEO_INFO_COMP_STRIDE(info, component) + x * GST_VIDEO_INFO_COMP_PSTRIDE(info, component);

    if (GST_VIDEO_INFO_COMP_DEPTH(info, component) == 8)
        *at = (guint8)value;
    else
        GST_WRITE_UINT16_LE(at, value);
}

static int output_depth(GstHarness *h)
{
    GstStructure *s = output_structure(h);
    int depth = 0;

    gst_structure_get_int(s, "depth", &depth);
    gst_structure_free(s);
    return depth;
}

/* Ramps, steps and noise, with both ends of the range. */
static void draw_alpha(const GstVideoInfo *info, GstBuffer *raw)
{
    const guint max = (1u << GST_VIDEO_INFO_COMP_DEPTH(info, 3)) - 1;
    guint32 noise = 1;
    GstMapInfo map;

    gst_buffer_map(raw, &map, GST_MAP_READWRITE);
    for (int y = 0; y < info->height; y++) {
        for (int x = 0; x < info->width; x++) {
            noise = noise * 1664525u + 1013904223u;
            const guint values[] = {0, max, (guint)(x * 7 + y) & max, max - ((guint)x & 3), noise >> 16 & max};
            set_sample(info, &map, 3, x, y, values[y * 5 / info->height]);
        }
    }
    gst_buffer_unmap(raw, &map);
}

typedef struct Alpha {
    const char *format, *properties;
    int type;  /**< alpha_channel_type, RDD 36 6.1.1. */
    int depth; /**< Of the source caps. */
} Alpha;

static const Alpha alphas[] = {
    {"AYUV", "", 2, 32},
    {"AYUV", "profile=4444xq alpha-bits=8", 1, 32},
    {"AYUV", "alpha-bits=16", 2, 32},
    {"AYUV", "alpha-bits=0", 0, 24},
    {"A444_10LE", "alpha-bits=auto", 2, 32},
    {"A444_10LE", "alpha-bits=8 rate-control=constant-quantizer", 1, 32},
    {"A444_10LE", "alpha-bits=0 profile=4444xq", 0, 24},
    {"AYUV64", "", 2, 32},
    {"AYUV64", "alpha-bits=8", 1, 32},
    {"AYUV64", "alpha-bits=0", 0, 24},
#if GST_CHECK_VERSION(1, 24, 0)
    {"A444", "", 2, 32},
    {"A444_12LE", "", 2, 32},
    {"A444_12LE", "alpha-bits=8", 1, 32},
    {"A444_16LE", "", 2, 32},
#endif
};

/* Nearest value at the coded depth; at more bits than it had, the one that comes back exactly. */
static guint coded_alpha(guint value, guint bits, int type)
{
    const guint64 max = (1u << bits) - 1, coded = type == 1 ? 255 : 65535;

    if (bits == 10 && type == 2)
        return value << 6 | value >> 4;
    if (bits == 12 && type == 2)
        return value << 4 | value >> 8;
    return (guint)((value * coded * 2 + max) / (2 * max));
}

GST_START_TEST(test_alpha)
{
    static const char *const modes[] = {"interlace-mode=progressive",
                                        "interlace-mode=interleaved,field-order=top-field-first",
                                        "interlace-mode=interleaved,field-order=bottom-field-first"};
    const Alpha *c = &alphas[__i__];
    gchar *launch = g_strdup_printf("proresnvenc %s", c->properties);

    for (guint mode = 0; mode < G_N_ELEMENTS(modes); mode++) {
        GstHarness *h = test_harness(launch);
        PnvReader *reader = pnv_reader_new();
        GstVideoInfo info;
        GstMapInfo map;

        test_info(&info, c->format, 153, 45);
        fail_unless(push_caps(h, test_caps(c->format, 153, 45, modes[mode])));
        GstBuffer *raw = test_buffer(&info, 1);
        draw_alpha(&info, raw);
        GstBuffer *packet = encode_one(h, gst_buffer_ref(raw));
        const PnvReaderFrame *frame = read_packet(reader, packet, 12);
        fail_unless_equals_int(frame->header.alpha_type, c->type);
        fail_unless_equals_int(frame->header.interlace_mode, mode);
        fail_unless_equals_int(output_depth(h), c->depth);
        gst_buffer_map(raw, &map, GST_MAP_READ);
        for (int y = 0; c->type && y < 45; y++)
            for (int x = 0; x < 153; x++)
                fail_unless_equals_int(pnv_reader_alpha_row(reader, y)[x],
                                       coded_alpha(get_sample(&info, &map, 3, x, y),
                                                   GST_VIDEO_INFO_COMP_DEPTH(&info, 3), c->type));
        gst_buffer_unmap(raw, &map);
        gst_buffer_unref(packet);
        gst_buffer_unref(raw);
        fail_unless(pop_message(h, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR) == NULL);
        pnv_reader_free(&reader);
        test_harness_free(h);
    }
    g_free(launch);
}
GST_END_TEST;

/* Alpha that is asked for and cannot be had is told once. */
GST_START_TEST(test_no_alpha)
{
    static const struct {
        const char *format, *bits, *words;
        int depth;
    } cases[] = {
        {"Y444", "16", "alpha-bits=16|the video has none", 24},
        {"Y444_16LE", "8", "alpha-bits=8|the video has none", 24},
        {"Y42B", "16", "alpha-bits=16|only profiles 4444 and 4444xq", 0},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        gchar *launch = g_strdup_printf("proresnvenc alpha-bits=%s", cases[i].bits);
        GstHarness *h = test_harness(launch);
        PnvReader *reader = pnv_reader_new();
        GstVideoInfo info;

        test_info(&info, cases[i].format, 64, 48);
        fail_unless(push_caps(h, test_caps(cases[i].format, 64, 48, NULL)));
        for (guint j = 0; j < 3; j++) {
            GstBuffer *packet = encode_one(h, test_buffer(&info, j));
            fail_unless_equals_int(read_packet(reader, packet, 10)->header.alpha_type, 0);
            gst_buffer_unref(packet);
        }
        fail_unless_equals_int(output_depth(h), cases[i].depth);
        fail_unless_equals_int(count_warnings(h, cases[i].words), 1);
        check_no_error(h);
        pnv_reader_free(&reader);
        test_harness_free(h);
        g_free(launch);
    }
}
GST_END_TEST;

/* Bars of levels in, as they are meant, and what is in the stream, in 10 bits. */
static const struct {
    double luma, chroma; /**< Of the range: 0..1, -0.5..0.5. */
} bars[] = {
    {0, 0}, {1, 0}, {0.5, 0}, {0.25, 0.5}, {0.75, -0.5}, {0.114, 0.25}, {0.701, -0.125},
};

/* The codes of full and of video range for a level: ITU-T T.871, Rec. ITU-R BT.709. */
static double full(double value, gboolean chroma, guint depth)
{
    return (chroma ? 1u << (depth - 1) : 0) + value * ((1u << depth) - 1);
}

static double video(double value, gboolean chroma, guint depth)
{
    return chroma ? (128 + 224 * value) * (1u << (depth - 8)) : (16 + 219 * value) * (1u << (depth - 8));
}

static void range_one(const char *format, const char *colorimetry, const char *out, gboolean is_full, PnvReader *reader)
{
    GstHarness *h = test_harness("proresnvenc rate-control=constant-quantizer quantizer=1 quantization=nearest");
    gchar *more = g_strdup_printf("colorimetry=(string)%s", colorimetry);
    GstVideoInfo info;
    GstMapInfo map;

    test_info(&info, format, 16 * G_N_ELEMENTS(bars), 32);
    fail_unless(push_caps(h, test_caps(format, info.width, info.height, more)));
    GstBuffer *raw = test_buffer(&info, 0);
    gst_buffer_map(raw, &map, GST_MAP_READWRITE);
    const guint depth = GST_VIDEO_INFO_COMP_DEPTH(&info, 0);
    const double max = (1u << depth) - 1;
    for (guint c = 0; c < 3; c++) {
        const int width = GST_VIDEO_INFO_COMP_WIDTH(&info, c);
        for (int x = 0; x < width; x++) {
            const guint bar = (guint)x * G_N_ELEMENTS(bars) / (guint)width;
            const double value = c ? bars[bar].chroma : bars[bar].luma;
            const double code = is_full ? full(value, c > 0, depth) : video(value, c > 0, depth);
            for (int y = 0; y < info.height; y++)
                set_sample(&info, &map, c, x, y, (guint)(CLAMP(code, 0, max) + 0.5));
        }
    }
    gst_buffer_unmap(raw, &map);
    GstBuffer *packet = encode_one(h, raw);
    read_packet(reader, packet, 10);
    for (int c = 0; c < 3; c++) {
        const int width = pnv_reader_frame(reader)->plane[c].width;
        for (int x = 0; x < width; x++) {
            const guint bar = (guint)x * G_N_ELEMENTS(bars) / (guint)width;
            const double want = video(c ? bars[bar].chroma : bars[bar].luma, c > 0, 10);
            const double got = pnv_reader_row(reader, c, 16)[x];
            /* Half a code of the input, which is 4 of ours at 8 bits, and what coding costs. */
            fail_unless(ABS(got - want) <= 1 + 512.0 / (1u << depth), "%s %s plane %d bar %u: %f instead of %f", format,
                        colorimetry, c, bar, got, want);
        }
    }
    /* Black and white are exact: 16 and 235 of 8 bits. */
    fail_unless_equals_int(pnv_reader_round(pnv_reader_row(reader, 0, 16)[8], 10), 16 << 2);
    fail_unless_equals_int(pnv_reader_round(pnv_reader_row(reader, 0, 16)[24], 10), 235 << 2);
    gst_buffer_unref(packet);

    GstStructure *s = output_structure(h);
    fail_unless_equals_string(gst_structure_get_string(s, "colorimetry"), out);
    gst_structure_free(s);
    fail_unless(pop_message(h, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR) == NULL);
    test_harness_free(h);
    g_free(more);
}

GST_START_TEST(test_range)
{
    static const char *const formats[] = {"Y42B", "I422_10LE", "I422_12LE", "Y444", "Y444_10LE",
                                          "Y444_12LE", "Y444_16LE", "AYUV", "A444_10LE", "AYUV64"};
    PnvReader *reader = pnv_reader_new();

    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        range_one(formats[i], "1:4:0:0", "2:4:0:0", TRUE, reader);
        range_one(formats[i], "1:3:5:1", "bt709", TRUE, reader);
        range_one(formats[i], "2:3:5:1", "bt709", FALSE, reader);
        range_one(formats[i], "0:3:5:1", "0:3:5:1", FALSE, reader);
    }
    pnv_reader_free(&reader);
}
GST_END_TEST;

static Suite *element_pictures_suite(void)
{
    Suite *s = suite_create("pictures");
    TCase *tc = tcase_create("general");

    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, test_alpha, 0, G_N_ELEMENTS(alphas));
    tcase_add_test(tc, test_no_alpha);
    tcase_add_test(tc, test_range);
    return s;
}

GST_CHECK_MAIN(element_pictures);
