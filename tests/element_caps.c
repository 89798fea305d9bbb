/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Negotiation: which profile comes of which caps, what is refused and in which words, and that headers and source caps
 * say the same. */
#include "element.h"

#define QTMUX                                                                                                          \
    "video/x-prores,variant=(string){standard,lt,hq,proxy,4444,4444xq},width=(int)[16,2147483647],"                    \
    "height=(int)[16,2147483647]"

typedef struct Case {
    const char *format, *properties, *downstream;
    const char *variant; /**< What comes of it; NULL if it is refused. */
    const char *words;   /**< Of the refusal. */
} Case;

static const Case cases[] = {
    /* auto: several allowed */
    {"Y42B", "", NULL, "hq", NULL},
    {"Y444", "", NULL, "4444", NULL},
    {"I422_10LE", "", QTMUX, "hq", NULL},
    {"Y444_12LE", "", QTMUX, "4444", NULL},
    {"I422_10LE", "", "video/x-prores", "hq", NULL},
    {"I422_10LE", "", "video/x-prores,variant=(string){proxy,lt}", "proxy", NULL},
    {"I422_10LE", "", "video/x-prores,variant=(string){4444,lt,proxy}", "lt", NULL},
    {"I422_10LE", "", "video/x-prores,variant=(string)lt;video/x-prores,variant=(string)hq", "hq", NULL},
    {"I422_10LE", "", "video/x-h264;video/x-prores,variant=(string)standard", "standard", NULL},
    {"Y444", "", "video/x-prores,variant=(string){hq,4444xq}", "4444xq", NULL},
    /* auto: one allowed */
    {"Y42B", "", "video/x-prores,variant=(string)proxy", "proxy", NULL},
    {"Y42B", "", "video/x-prores,variant=(string)standard", "standard", NULL},
    {"Y444_10LE", "", "video/x-prores,variant=(string)4444xq", "4444xq", NULL},
    /* only what takes the size counts */
    {"Y42B", "", "video/x-prores,variant=(string)hq,width=1280;video/x-prores,variant=(string)lt,width=64", "lt", NULL},
    /* the property */
    {"Y42B", "profile=proxy", NULL, "proxy", NULL},
    {"Y42B", "profile=lt", QTMUX, "lt", NULL},
    {"Y42B", "profile=standard", QTMUX, "standard", NULL},
    {"Y42B", "profile=hq", QTMUX, "hq", NULL},
    {"Y444", "profile=4444", QTMUX, "4444", NULL},
    {"Y444", "profile=4444xq", QTMUX, "4444xq", NULL},
    /* chroma and RGB are converted to what the profile has */
    {"Y444", "profile=hq", QTMUX, "hq", NULL},
    {"Y444_10LE", "profile=proxy", NULL, "proxy", NULL},
    {"I422_12LE", "profile=4444", QTMUX, "4444", NULL},
    {"Y42B", "profile=4444xq", NULL, "4444xq", NULL},
    {"AYUV", "profile=hq", QTMUX, "hq", NULL},
    {"NV12", "", QTMUX, "hq", NULL},
    {"P010_10LE", "profile=4444", NULL, "4444", NULL},
    {"v210", "", QTMUX, "hq", NULL},
    {"A422_10LE", "", QTMUX, "4444", NULL},
    {"A420", "", NULL, "4444", NULL},
    {"BGRx", "", QTMUX, "4444", NULL},
    {"r210", "profile=lt", NULL, "lt", NULL},
    {"BGRA", "", "video/x-prores,variant=(string){proxy,lt}", "proxy", NULL},
    {"AYUV64", "", "video/x-prores,variant=(string)hq", "hq", NULL},
    {"Y444", "", "video/x-prores,variant=(string)hq", "hq", NULL},
    {"Y42B", "", "video/x-prores,variant=(string){4444xq,4444}", "4444xq", NULL},
    /* property and downstream, auto and downstream */
    {"Y42B", "profile=hq", "video/x-prores,variant=(string)lt", NULL, "profile=hq|variant=(string)lt"},
    {"Y444", "", "video/x-prores,variant=4444", NULL, "variant=(string)4444"},
    {"Y42B", "", "video/x-prores,width=1280", NULL, "64x48|width=(int)1280"},
    {"Y42B", "", "video/x-h264", NULL, "video/x-h264"},
    {"Y42B", "", "video/x-prores(memory:Other)", NULL, "memory:Other"},
    {"Y42B", "", "video/x-prores,framerate=30/1", NULL, "Downstream refuses|framerate=(fraction)30/1"},
};

GST_START_TEST(test_profile)
{
    const Case *c = &cases[__i__];
    gchar *launch = g_strdup_printf("proresnvenc %s", c->properties);
    GstHarness *h = test_harness(launch);

    if (c->downstream)
        gst_harness_set_sink_caps_str(h, c->downstream);
    const gboolean taken = push_caps(h, test_caps(c->format, 64, 48, NULL));
    fail_unless(taken == (c->variant != NULL), "%s %s %s", c->format, c->properties, c->downstream);
    if (c->variant) {
        GstStructure *s = output_structure(h);
        fail_unless_equals_string(gst_structure_get_string(s, "variant"), c->variant);
        gst_structure_free(s);
        check_no_error(h);
    } else {
        GstVideoInfo info;
        check_error(h, c->words);
        test_info(&info, c->format, 64, 48);
        fail_unless_equals_int(gst_harness_push(h, test_buffer(&info, 0)), GST_FLOW_NOT_NEGOTIATED);
    }
    test_harness_free(h);
    g_free(launch);
}
GST_END_TEST;

typedef struct Query {
    const char *properties, *downstream, *filter;
    const char *formats; /**< In their order, "" for none; of frames, and without a filter of single fields too. */
} Query;

#if GST_CHECK_VERSION(1, 24, 0)
#define SINCE_1_24(formats) formats
#else
#define SINCE_1_24(formats) ""
#endif
/* In the order of preference. */
#define F422                                                                                                           \
    "I422_10LE,v210,Y210,UYVP,I422_12LE,Y212_LE,v216,Y42B,NV16,NV61,UYVY,YUY2,YVYU,A422_10LE" SINCE_1_24(         \
        ",A422_12LE,A422_16LE,A422")
#define F420                                                                                                           \
    "I420_10LE,P010_10LE,I420_12LE,P012_LE,P016_LE,I420,YV12,NV12,NV21,A420_10LE," SINCE_1_24(                         \
        "A420_12LE,A420_16LE,") "A420,AV12"
#define F444                                                                                                           \
    "Y444_10LE,Y444_12LE,Y444_16LE,Y444,NV24,v308,IYU2,A444_10LE,Y410," SINCE_1_24(                                    \
        "A444_12LE,A444_16LE,") "Y412_LE,AYUV64," SINCE_1_24("A444,") "AYUV,VUYA"
#define RGB                                                                                                            \
    "GBR_10LE,r210,GBR_12LE," SINCE_1_24("GBR_16LE,") "GBR,RGBP,BGRP,BGRx,RGBx,xRGB,xBGR,RGB,BGR,GBRA_10LE,"           \
    "RGB10A2_LE,BGR10A2_LE,GBRA_12LE,RGBA64_LE,BGRA64_LE,ARGB64_LE,ABGR64_LE,ARGB64,GBRA,BGRA,RGBA,ARGB,ABGR"
#define FOR_422 F422 "," F420 "," F444 "," RGB
#define FOR_444 F444 "," RGB "," F422 "," F420

static const Query queries[] = {
    {"", NULL, NULL, FOR_422},
    {"", QTMUX, NULL, FOR_422},
    {"", "video/x-prores,variant=(string)hq", NULL, FOR_422},
    {"", "video/x-prores,variant=(string){lt,proxy}", NULL, FOR_422},
    {"", "video/x-prores,variant=(string){4444xq,4444}", NULL, FOR_444},
    {"", "video/x-prores,variant=(string)4444;video/x-prores,variant=(string)lt", NULL, FOR_444},
    {"profile=lt", NULL, NULL, FOR_422},
    {"profile=lt", QTMUX, NULL, FOR_422},
    {"profile=4444", QTMUX, NULL, FOR_444},
    {"profile=4444", "video/x-prores,variant=(string)hq", NULL, ""},
    {"profile=hq", QTMUX, "video/x-raw,format={RGB,I420,Y444,Y42B}", "Y42B,I420,Y444,RGB"},
    {"profile=4444", QTMUX, "video/x-raw,format={RGB,I420,Y444,Y42B}", "Y444,RGB,Y42B,I420"},
    {"", QTMUX, "video/x-raw,format={AYUV,YUY2,I422_10LE}", "I422_10LE,YUY2,AYUV"},
    {"", QTMUX, "video/x-raw,format=GRAY8", ""},
    {"", "video/x-h264", NULL, ""},
    {"", "video/x-prores,variant=4444", NULL, ""},
};

/* The formats of frames, or of single fields, that caps allow. */
static void check_formats(const GstCaps *caps, gboolean fields, const char *formats)
{
    gchar **want = g_strsplit(formats, ",", -1);
    const guint n_want = g_strv_length(want);
    guint n = 0;

    for (guint i = 0; i < gst_caps_get_size(caps); i++) {
        const GstStructure *s = gst_caps_get_structure(caps, i);
        const GValue *value = gst_structure_get_value(s, "format");
        const gboolean list = GST_VALUE_HOLDS_LIST(value);
        const gboolean feature = gst_caps_features_contains(gst_caps_get_features(caps, i),
                                                            GST_CAPS_FEATURE_FORMAT_INTERLACED);
        const gboolean alternate = g_strcmp0(gst_structure_get_string(s, "interlace-mode"), "alternate") == 0;
        fail_unless(alternate == feature, "%" GST_PTR_FORMAT, caps);
        for (guint j = 0; feature == fields && j < (list ? gst_value_list_get_size(value) : 1); j++, n++) {
            const gchar *format = g_value_get_string(list ? gst_value_list_get_value(value, j) : value);
            fail_unless(n < n_want && g_str_equal(want[n], format), "%s at %u: %" GST_PTR_FORMAT, format, n, caps);
        }
    }
    fail_unless(n == n_want, "%" GST_PTR_FORMAT " is not %s", caps, formats);
    g_strfreev(want);
}

GST_START_TEST(test_query)
{
    const Query *q = &queries[__i__];
    gchar *launch = g_strdup_printf("proresnvenc %s", q->properties);
    GstHarness *h = test_harness(launch);
    GstCaps *filter = q->filter ? gst_caps_from_string(q->filter) : NULL;

    if (q->downstream)
        gst_harness_set_sink_caps_str(h, q->downstream);
    GstCaps *caps = gst_pad_peer_query_caps(h->srcpad, filter);
    check_formats(caps, FALSE, q->formats);
    check_formats(caps, TRUE, q->filter ? "" : q->formats);
    gst_caps_unref(caps);
    if (filter)
        gst_caps_unref(filter);
    test_harness_free(h);
    g_free(launch);
}
GST_END_TEST;

/* What downstream wants of size, rate and colour is asked of upstream, but not what conversion changes. */
GST_START_TEST(test_query_fields)
{
    GstHarness *h = test_harness("proresnvenc");

    gst_harness_set_sink_caps_str(h, "video/x-prores,variant=(string)hq,width=[16,1920],framerate=25/1,"
                                     "colorimetry=bt709,chroma-site=cosited,pixel-aspect-ratio=1/1");
    GstCaps *caps = gst_pad_peer_query_caps(h->srcpad, NULL);
#define SIZE_AND_RATE "width=[16,1920],height=[1,65535],framerate=25/1,pixel-aspect-ratio=1/1"
#define FRAMES(formats, colors) "video/x-raw,format={" formats "}," SIZE_AND_RATE colors
#define FIELDS(formats, colors)                                                                                        \
    "video/x-raw(format:Interlaced),format={" formats "}," SIZE_AND_RATE ",interlace-mode=alternate" colors
#define COLORS ",colorimetry=bt709"
    GstCaps *want = gst_caps_from_string(FRAMES(F422, COLORS ",chroma-site=cosited") ";" FRAMES(F420, COLORS) ";" FRAMES(
        F444, COLORS) ";" FRAMES(RGB, "") ";" FIELDS(F422, COLORS ",chroma-site=cosited") ";" FIELDS(F420, COLORS) ";"
                                          FIELDS(F444, COLORS) ";" FIELDS(RGB, ""));
    fail_unless(gst_caps_is_equal(caps, want), "%" GST_PTR_FORMAT, caps);
    gst_caps_unref(caps);
    gst_caps_unref(want);
    test_harness_free(h);
}
GST_END_TEST;

/* Single fields come out as interleaved frames: they are taken where those are. */
GST_START_TEST(test_query_interlaced)
{
    static const struct {
        const char *downstream, *modes; /**< Without alternate. */
        gboolean fields;
    } modes[] = {
        {"video/x-prores,variant=(string)hq,interlace-mode=progressive", "progressive", FALSE},
        {"video/x-prores,variant=(string)hq,interlace-mode=interleaved", "interleaved", TRUE},
        {"video/x-prores,variant=(string)hq,interlace-mode={progressive,interleaved}", "{progressive,interleaved}",
         TRUE},
    };

    for (guint i = 0; i < G_N_ELEMENTS(modes); i++) {
        GstHarness *h = test_harness("proresnvenc");
        gchar *frames = g_strdup_printf("video/x-raw,format=Y42B,interlace-mode=%s", modes[i].modes);
        GstCaps *filter = gst_caps_from_string("video/x-raw,format=Y42B"), *want = gst_caps_from_string(frames);

        gst_harness_set_sink_caps_str(h, modes[i].downstream);
        GstCaps *caps = gst_pad_peer_query_caps(h->srcpad, filter);
        fail_unless_equals_int(gst_caps_get_size(caps), 1);
        fail_unless(gst_value_compare(gst_structure_get_value(gst_caps_get_structure(caps, 0), "interlace-mode"),
                                      gst_structure_get_value(gst_caps_get_structure(want, 0), "interlace-mode")) ==
                        GST_VALUE_EQUAL,
                    "%" GST_PTR_FORMAT, caps);
        gst_caps_unref(caps);
        caps = gst_pad_peer_query_caps(h->srcpad, NULL);
        check_formats(caps, TRUE, modes[i].fields ? FOR_422 : "");
        gst_caps_unref(caps);
        gst_caps_unref(filter);
        gst_caps_unref(want);
        g_free(frames);
        test_harness_free(h);
    }
}
GST_END_TEST;

/* Who can make anything gets 4:2:2, as auto is HQ first of all. */
GST_START_TEST(test_query_order)
{
    GstHarness *h = test_harness("proresnvenc");
    GstCaps *filter = gst_caps_from_string("video/x-raw,format={Y444_12LE,Y444,I422_12LE,Y42B}");
    GstCaps *caps = gst_caps_fixate(gst_pad_peer_query_caps(h->srcpad, filter));

    fail_unless_equals_string(gst_structure_get_string(gst_caps_get_structure(caps, 0), "format"), "I422_12LE");
    gst_caps_unref(caps);
    gst_caps_unref(filter);
    test_harness_free(h);
}
GST_END_TEST;

typedef struct Refusal {
    const char *format;
    int height;
    const char *caps, *words;
} Refusal;

static const Refusal refusals[] = {
    {"I422_10LE", 48, "interlace-mode=fields", "interlace-mode=fields|deinterlace"},
    {"I422_10LE", 1, "interlace-mode=interleaved", "one row|interlace-mode=progressive"},
    {"I422_10LE", 1, "interlace-mode=mixed", "one row"},
};

GST_START_TEST(test_refused)
{
    const Refusal *r = &refusals[__i__];
    GstHarness *h = test_harness("proresnvenc");

    fail_if(push_caps(h, test_caps(r->format, 64, r->height, r->caps)));
    check_error(h, r->words);
    test_harness_free(h);
}
GST_END_TEST;

static const char *const accepted[] = {
    NULL,
    "interlace-mode=progressive",
    "interlace-mode=interleaved",
    "interlace-mode=interleaved,field-order=bottom-field-first",
    "interlace-mode=mixed",
    "colorimetry=(string)1:4:0:0",
    "colorimetry=(string)1:4:7:1",
    "colorimetry=(string)1:3:5:1",
    "colorimetry=bt601",
    "colorimetry=bt709",
    "colorimetry=bt2020",
    "colorimetry=bt2100-pq",
    "colorimetry=(string)0:3:5:1",
    "colorimetry=(string)2:0:0:0",
    "chroma-site=mpeg2",
    "pixel-aspect-ratio=40/33",
};

GST_START_TEST(test_accepted)
{
    GstHarness *h = test_harness("proresnvenc");

    fail_unless(push_caps(h, test_caps("I422_10LE", 64, 48, accepted[__i__])));
    check_no_error(h);
    test_harness_free(h);
}
GST_END_TEST;

/* No format of the template: the pad itself refuses. */
GST_START_TEST(test_unknown_format)
{
    GstHarness *h = test_harness("proresnvenc");

    fail_if(push_caps(h, test_caps("GRAY8", 64, 48, NULL)));
    fail_if(push_caps(h, gst_caps_from_string("video/x-raw(memory:Other),format=Y42B,width=64,height=48,"
                                              "framerate=25/1")));
    test_harness_free(h);
}
GST_END_TEST;

GST_START_TEST(test_too_large)
{
    GstHarness *h = test_harness("proresnvenc");

    fail_if(push_caps(h, test_caps("Y42B", 30000, 30000, NULL)));
    check_error(h, "cannot be encoded|30000");
    test_harness_free(h);
}
GST_END_TEST;

GST_START_TEST(test_cuda_refused)
{
    GstHarness *h = test_harness("proresnvenc backend=cuda");

    if (push_caps(h, test_caps("Y42B", 64, 48, NULL)))
        check_no_error(h); /* there is one */
    else
        check_error(h, "No NVIDIA GPU can be used: |CUDA|Set backend=cpu");
    test_harness_free(h);
}
GST_END_TEST;

typedef struct Codes {
    const char *format, *caps;
    int width, height;
    int aspect, rate;           /**< Codes of the frame header, RDD 36 6.1.1. */
    int primaries, transfer, matrix;
    const char *colorimetry;    /**< Of the source caps. */
} Codes;

static const Codes codes[] = {
    {"I422_10LE", "framerate=25/1,colorimetry=bt709", 1920, 1080, 1, 3, 1, 1, 1, "bt709"},
    {"I422_10LE", "framerate=25/1", 1920, 1080, 1, 3, 1, 1, 1, "bt709"},
    {"I422_10LE", "framerate=30000/1001,colorimetry=bt601,pixel-aspect-ratio=10/11", 720, 486, 2, 4, 6, 1, 6,
     "2:4:5:4"},
    {"I422_10LE", "framerate=25/1,colorimetry=(string)2:4:5:3,pixel-aspect-ratio=12/11", 720, 576, 2, 3, 5, 1, 6,
     "2:4:5:3"},
    {"I422_10LE", "framerate=24000/1001,colorimetry=bt2020", 64, 48, 1, 1, 9, 1, 9, "2:6:5:7"},
    {"I422_10LE", "framerate=24/1,colorimetry=bt2020-10", 64, 48, 1, 2, 9, 1, 9, "2:6:5:7"},
    {"Y444_12LE", "framerate=60/1,colorimetry=bt2100-pq", 64, 48, 1, 8, 9, 16, 9, "bt2100-pq"},
    {"Y444_12LE", "framerate=50/1,colorimetry=bt2100-hlg", 64, 48, 1, 6, 9, 18, 9, "bt2100-hlg"},
    {"Y444_12LE", "framerate=120000/1001,colorimetry=(string)2:3:5:10", 64, 48, 1, 10, 11, 1, 1, "2:3:5:10"},
    {"Y444_12LE", "framerate=100/1,colorimetry=(string)2:3:14:11", 64, 48, 1, 9, 12, 16, 1, "2:3:14:11"},
    {"Y42B", "framerate=30/1,colorimetry=smpte240m", 64, 48, 1, 5, 6, 2, 2, "2:5:6:4"},
    {"Y42B", "framerate=12/1,colorimetry=(string)2:3:7:2", 64, 48, 1, 0, 2, 2, 1, "2:3:7:2"},
    {"Y42B", "framerate=0/1", 64, 48, 1, 0, 6, 1, 6, "2:4:5:4"},
    {"Y42B", "framerate=0/1,max-framerate=25/1", 64, 48, 1, 0, 6, 1, 6, "2:4:5:4"},
    {"I422_10LE", "framerate=30000/1001,pixel-aspect-ratio=40/33", 720, 486, 3, 4, 6, 1, 6, "2:4:5:4"},
    {"I422_10LE", "framerate=25/1,pixel-aspect-ratio=118/81", 720, 576, 3, 3, 6, 1, 6, "2:4:5:4"},
    {"I422_10LE", "framerate=60000/1001,pixel-aspect-ratio=4/3", 960, 720, 3, 7, 1, 1, 1, "bt709"},
    {"I422_10LE", "framerate=25/1,pixel-aspect-ratio=4/3", 1440, 1080, 3, 3, 1, 1, 1, "bt709"},
    {"Y42B", "framerate=120/1,pixel-aspect-ratio=2/1", 64, 48, 0, 11, 6, 1, 6, "2:4:5:4"},
    /* unknown stays unknown, but for a matrix, which a GstVideoInfo cannot do without */
    {"Y42B", "framerate=48/1,colorimetry=(string)2:3:0:0", 64, 48, 1, 0, 2, 2, 1, "2:3:0:0"},
    {"Y42B", "framerate=48/1,colorimetry=(string)2:6:0:7", 64, 48, 1, 0, 9, 2, 9, "2:6:0:7"},
    {"Y42B", "framerate=48/1,colorimetry=(string)2:0:0:0", 64, 48, 1, 0, 6, 1, 6, "2:4:5:4"},
    {"Y444_16LE", "framerate=24/1,colorimetry=(string)2:6:14:11", 64, 48, 1, 2, 12, 16, 9, "2:6:14:11"},
    /* what is full range in has become video range */
    {"Y42B", "framerate=25/1,colorimetry=(string)1:4:0:0", 64, 48, 1, 3, 2, 2, 6, "2:4:0:0"},
    {"Y42B", "framerate=25/1,colorimetry=(string)1:4:7:1", 64, 48, 1, 3, 1, 2, 6, "2:4:7:1"},
    {"Y444_12LE", "framerate=25/1,colorimetry=(string)1:3:5:1", 64, 48, 1, 3, 1, 1, 1, "bt709"},
    {"Y444_12LE", "framerate=25/1,colorimetry=(string)1:6:14:7", 64, 48, 1, 3, 9, 16, 9, "bt2100-pq"},
};

GST_START_TEST(test_header_codes)
{
    const Codes *c = &codes[__i__];
    GstHarness *h = test_harness("proresnvenc rate-control=constant-quantizer quantizer=224");
    guint8 header[28];
    GstVideoInfo info;

    GstCaps *caps = test_caps(c->format, c->width, c->height, NULL);
    GstStructure *s = gst_caps_get_structure(caps, 0);
    gchar *text = g_strdup_printf("more,%s", c->caps);
    GstStructure *more = gst_structure_from_string(text, NULL);
    g_free(text);
    for (gint i = 0; i < gst_structure_n_fields(more); i++) {
        const gchar *name = gst_structure_nth_field_name(more, (guint)i);
        gst_structure_set_value(s, name, gst_structure_get_value(more, name));
    }
    gst_structure_free(more);
    fail_unless(gst_video_info_from_caps(&info, caps));
    fail_unless(push_caps(h, caps));
    fail_unless_equals_int(gst_harness_push(h, test_buffer(&info, 0)), GST_FLOW_OK);
    GstBuffer *packet = gst_harness_pull(h);

    fail_unless_equals_int(gst_buffer_extract(packet, 0, header, sizeof header), sizeof header);
    fail_unless_equals_int(GST_READ_UINT16_BE(header + 16), c->width);
    fail_unless_equals_int(GST_READ_UINT16_BE(header + 18), c->height);
    fail_unless_equals_int(header[21] >> 4, c->aspect);
    fail_unless_equals_int(header[21] & 15, c->rate);
    fail_unless_equals_int(header[22], c->primaries);
    fail_unless_equals_int(header[23], c->transfer);
    fail_unless_equals_int(header[24], c->matrix);
    gst_buffer_unref(packet);

    s = output_structure(h);
    fail_unless_equals_string(gst_structure_get_string(s, "colorimetry"), c->colorimetry);
    fail_unless_equals_string(gst_structure_get_string(s, "interlace-mode"), "progressive");
    gst_structure_free(s);
    test_harness_free(h);
}
GST_END_TEST;

/* Who insists on the input's own words gets them. */
GST_START_TEST(test_colorimetry_asked)
{
    GstHarness *h = test_harness("proresnvenc");

    gst_harness_set_sink_caps_str(h, "video/x-prores,colorimetry=bt601");
    fail_unless(push_caps(h, test_caps("Y42B", 64, 48, "colorimetry=bt601")));
    GstStructure *s = output_structure(h);
    fail_unless_equals_string(gst_structure_get_string(s, "colorimetry"), "bt601");
    gst_structure_free(s);
    test_harness_free(h);
}
GST_END_TEST;

GST_START_TEST(test_caps_carried)
{
    static const char mastering[] = "35400:14600:8500:39850:6550:2300:15635:16450:10000000:50";
    static const char light[] = "1000:400";
    GstHarness *h = test_harness("proresnvenc");
    int width = 0, height = 0, n = 0, d = 0;
    gchar *more = g_strdup_printf("pixel-aspect-ratio=40/33,chroma-site=mpeg2,colorimetry=bt2100-pq,"
                                  "mastering-display-info=(string)%s,content-light-level=(string)%s",
                                  mastering, light);

    fail_unless(push_caps(h, test_caps("Y444_10LE", 64, 48, more)));
    GstStructure *s = output_structure(h);
    fail_unless(gst_structure_get(s, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, NULL));
    fail_unless(width == 64 && height == 48);
    fail_unless(gst_structure_get_fraction(s, "framerate", &n, &d) && n == 25 && d == 1);
    fail_unless(gst_structure_get_fraction(s, "pixel-aspect-ratio", &n, &d) && n == 40 && d == 33);
    fail_unless_equals_string(gst_structure_get_string(s, "chroma-site"), "mpeg2");
    fail_unless_equals_string(gst_structure_get_string(s, "mastering-display-info"), mastering);
    fail_unless_equals_string(gst_structure_get_string(s, "content-light-level"), light);
    fail_if(gst_structure_has_field(s, "field-order"));
    gst_structure_free(s);
    g_free(more);

    /* What conversion does is said. */
    static const struct {
        const char *format, *profile, *site, *colors;
    } converted[] = {
        {"I422_10LE", "hq", "mpeg2", "bt709"},    {"NV12", "hq", "cosited", "bt709"},
        {"NV12", "4444", NULL, "bt709"},          {"Y444_10LE", "hq", "cosited", "bt709"},
        {"BGRA", "4444", NULL, "2:3:7:1"},        {"BGRA", "lt", "cosited", "2:3:7:1"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(converted); i++) {
        const gboolean is_rgb = strstr(converted[i].format, "RGB") || strstr(converted[i].format, "BGR");
        gst_util_set_object_arg(G_OBJECT(h->element), "profile", converted[i].profile);
        fail_unless(push_caps(h, test_caps(converted[i].format, 66 + 2 * (int)i, 48, /* new caps each time */
                                           is_rgb ? NULL : "chroma-site=mpeg2,colorimetry=bt709")));
        s = output_structure(h);
        fail_unless_equals_string(gst_structure_get_string(s, "chroma-site"), converted[i].site);
        fail_unless_equals_string(gst_structure_get_string(s, "colorimetry"), converted[i].colors);
        gst_structure_free(s);
    }
    gst_util_set_object_arg(G_OBJECT(h->element), "profile", "auto");

    /* What was not said is not made up. */
    fail_unless(push_caps(h, test_caps("Y444_10LE", 64, 48, NULL)));
    s = output_structure(h);
    fail_if(gst_structure_has_field(s, "chroma-site"));
    fail_if(gst_structure_has_field(s, "mastering-display-info"));
    gst_structure_free(s);
    test_harness_free(h);
}
GST_END_TEST;

GST_START_TEST(test_templates)
{
    GstElementFactory *factory = gst_element_factory_find("proresnvenc");

    fail_unless(factory != NULL);
    fail_unless_equals_int(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory)), GST_RANK_PRIMARY);
    fail_unless(gst_element_factory_list_is_type(factory, GST_ELEMENT_FACTORY_TYPE_VIDEO_ENCODER));
    for (const GList *l = gst_element_factory_get_static_pad_templates(factory); l; l = l->next) {
        GstStaticPadTemplate *t = l->data;
        GstCaps *caps = gst_static_pad_template_get_caps(t);
        if (t->direction == GST_PAD_SINK)
            for (int fields = 0; fields < 2; fields++)
                check_formats(caps, fields, FOR_422);
        else
            fail_unless(gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-prores"));
        gst_caps_unref(caps);
    }
    gst_object_unref(factory);
}
GST_END_TEST;

static Suite *element_caps_suite(void)
{
    Suite *s = suite_create("caps");
    TCase *tc = tcase_create("general");

    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, test_profile, 0, G_N_ELEMENTS(cases));
    tcase_add_loop_test(tc, test_query, 0, G_N_ELEMENTS(queries));
    tcase_add_test(tc, test_query_fields);
    tcase_add_test(tc, test_query_interlaced);
    tcase_add_test(tc, test_query_order);
    tcase_add_loop_test(tc, test_refused, 0, G_N_ELEMENTS(refusals));
    tcase_add_loop_test(tc, test_accepted, 0, G_N_ELEMENTS(accepted));
    tcase_add_test(tc, test_unknown_format);
    tcase_add_test(tc, test_too_large);
    tcase_add_test(tc, test_cuda_refused);
    tcase_add_loop_test(tc, test_header_codes, 0, G_N_ELEMENTS(codes));
    tcase_add_test(tc, test_colorimetry_asked);
    tcase_add_test(tc, test_caps_carried);
    tcase_add_test(tc, test_templates);
    return s;
}

GST_CHECK_MAIN(element_caps);
