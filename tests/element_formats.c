/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every raw format: read as GStreamer reads it, taken under every profile, with colours and chroma where they belong.
 * Pictures are made by GStreamer's own packing and judged by the strict reader's decode.
 */
#include <math.h>

#include "element_reader.h"
#include "gstproresnvcaps.h"
#include "gstproresnvpicture.h"
#include "plan.h"

static const GstProresNvFormat *format_at(int i)
{
    guint n;
    const GstProresNvFormat *list = gst_prores_nv_format_list(&n);

    return (guint)i < n ? &list[i] : NULL;
}

static int n_formats(void)
{
    guint n;

    gst_prores_nv_format_list(&n);
    return (int)n;
}

static gboolean is_rgb(const GstVideoInfo *info)
{
    return GST_VIDEO_INFO_IS_RGB(info);
}

/** A buffer whose planes have gaps in front of them and behind their rows, with the meta that says so. */
static GstBuffer *spread_buffer(const GstVideoInfo *info, guint seed)
{
    gsize offset[GST_VIDEO_MAX_PLANES] = {0}, at = 0;
    gint stride[GST_VIDEO_MAX_PLANES] = {0};

    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++) {
        const gsize rows = p + 1 < GST_VIDEO_INFO_N_PLANES(info)
                               ? (GST_VIDEO_INFO_PLANE_OFFSET(info, p + 1) - GST_VIDEO_INFO_PLANE_OFFSET(info, p)) /
                                     (gsize)GST_VIDEO_INFO_PLANE_STRIDE(info, p)
                               : (GST_VIDEO_INFO_SIZE(info) - GST_VIDEO_INFO_PLANE_OFFSET(info, p)) /
                                     (gsize)GST_VIDEO_INFO_PLANE_STRIDE(info, p);
        stride[p] = GST_VIDEO_INFO_PLANE_STRIDE(info, p) + 2 * (gint)(seed % 5);
        offset[p] = at + 6;
        at = offset[p] + rows * (gsize)stride[p];
    }
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, at, NULL);
    GstMapInfo map;
    fail_unless(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
    guint32 noise = seed * 2654435761u + 1;
    for (gsize i = 0; i < map.size; i++) {
        noise = noise * 1664525u + 1013904223u;
        map.data[i] = (guint8)(noise >> 24);
    }
    gst_buffer_unmap(buffer, &map);
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(info),
                                   (guint)info->width, (guint)info->height, GST_VIDEO_INFO_N_PLANES(info), offset,
                                   stride);
    return buffer;
}

/** Component c of pixel x in a row as GStreamer unpacks it, in the component's own bits. */
static int unpacked(const guint8 *row, const GstVideoInfo *info, int c, int x, int depth)
{
    const GstVideoFormat as = info->finfo->unpack_format;
    const int place = c == 3 ? 0 : c + 1; /* A Y U V, A R G B */

    if (as == GST_VIDEO_FORMAT_AYUV || as == GST_VIDEO_FORMAT_ARGB)
        return row[4 * x + place] >> (8 - depth);
    return ((const guint16 *)row)[4 * x + place] >> (16 - depth);
}

/** GStreamer 1.22 gives these too few rows for two fields, and reads behind them. */
static gboolean lacks_rows(const GstProresNvFormat *format, int height)
{
    return (format->format == GST_VIDEO_FORMAT_P010_10LE || format->format == GST_VIDEO_FORMAT_P012_LE ||
            format->format == GST_VIDEO_FORMAT_P016_LE) &&
           height % 4 != 0;
}

static void check_samples(const GstProresNvFormat *format, int width, int height, guint seed, gboolean interlaced)
{
    const gchar *name = gst_video_format_to_string(format->format);
    GstVideoInfo info;
    GstVideoFrame frame;
    PnvPicture picture = {.interlace = interlaced ? PNV_TOP_FIELD_FIRST : PNV_PROGRESSIVE};
    PnvParams params = {.profile = PNV_PROFILE_4444, .alpha_bits = format->alpha_depth ? 16 : 0};
    PnvPlan plan;
    char error[PNV_ERROR_BYTES];
    GstElement *element = gst_element_factory_make("proresnvenc", NULL); /* to say what is wrong */

    gst_video_info_set_interlaced_format(&info, format->format,
                                         interlaced ? GST_VIDEO_INTERLACE_MODE_INTERLEAVED
                                                    : GST_VIDEO_INTERLACE_MODE_PROGRESSIVE,
                                         (guint)width, (guint)height);
    GstBuffer *buffer = spread_buffer(&info, seed);
    fail_unless(gst_prores_nv_picture_map(element, &info, buffer, GST_MAP_READ, &frame), "%s", name);
    fail_unless(gst_prores_nv_picture_describe(element, &info, &frame, &picture), "%s", name);
    gst_prores_nv_params_from_info(&params, &info);
    fail_unless(pnv_plan(&plan, &params, error) == PNV_OK, "%s: %s", name, error);
    fail_unless(pnv_plan_check_picture(&plan, &picture, error) == PNV_OK, "%s: %s", name, error);

    guint16 *row = g_new0(guint16, 4 * (gsize)width + 64);
    for (int y = 0; y < height; y++) {
        const int field = interlaced ? y % 2 : 0, line = interlaced ? y / 2 : y;
        const PnvPictureShape *shape = &plan.framing[picture.interlace].picture[field];
        info.finfo->unpack_func(info.finfo,
                                (GstVideoPackFlags)(GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE |
                                                    (interlaced ? GST_VIDEO_PACK_FLAG_INTERLACED : 0)),
                                row, frame.data, frame.info.stride, 0, y, width);
        for (int c = 0; c < plan.n_components; c++) {
            const PnvPlane plane = pnv_plan_plane(&plan, &picture, shape, c);
            for (int x = 0; x < width; x++) {
                const int got = pnv_plane_at(&plane, x >> info.finfo->w_sub[c], line >> info.finfo->h_sub[c]);
                const int want = unpacked((const guint8 *)row, &info, c, x, plane.depth);
                fail_unless(got == want, "%s %dx%d, component %d at %d,%d: %d, GStreamer has %d", name, width, height, c, x,
                            y, got, want);
            }
        }
    }
    g_free(row);
    gst_video_frame_unmap(&frame);
    gst_buffer_unref(buffer);
    gst_object_unref(element);
}

/* Where a sample lies: for odd widths, unusual strides and offsets, frames and fields. */
GST_START_TEST(test_samples)
{
    static const int sizes[][2] = {{1, 1}, {2, 2}, {7, 5}, {48, 6}, {53, 18}, {61, 12}};

    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        check_samples(format_at(__i__), sizes[i][0], sizes[i][1], i, FALSE);
        if (sizes[i][1] > 1 && !lacks_rows(format_at(__i__), sizes[i][1]))
            check_samples(format_at(__i__), sizes[i][0], sizes[i][1], i + 3, TRUE);
    }
}
GST_END_TEST;

/* ---- Pictures of planes that rise evenly, so that where chroma lies shows in every sample ---- */

enum { WIDTH = 70, HEIGHT = 52 }; /* no multiples of a macroblock or a v210 group */

typedef struct Ramp {
    double start, across, down;
} Ramp;

/* In code values of 8 bits. */
static const Ramp ramps[4] = {{40, 1.6, 1.1}, {60, 1.3, 0.7}, {200, -1.5, -0.8}, {5, 1.7, 2.2}};

static double ramp(int c, double x, double y)
{
    return ramps[c].start + ramps[c].across * x + ramps[c].down * y;
}

/** Luma row, of the frame, where chroma row k of the input lies; field -1: a frame. */
static double chroma_row(const GstVideoInfo *info, int k, int field)
{
    const gboolean cosited = info->chroma_site & GST_VIDEO_CHROMA_SITE_V_COSITED;

    if (!info->finfo->h_sub[1])
        return k;
    if (field < 0)
        return 2 * k + (cosited ? 0 : 0.5);
    /* rows of both fields are evenly spaced in the frame: 0.5, 2.5, 4.5 ... */
    return cosited ? 4 * k + field : 4 * k + 0.5 + 2 * field;
}

static double chroma_column(const GstVideoInfo *info, int i)
{
    if (!info->finfo->w_sub[1])
        return i;
    return 2 * i + (info->chroma_site & GST_VIDEO_CHROMA_SITE_H_COSITED ? 0 : 0.5);
}

/** The ramps in any format, by GStreamer's packing, which takes chroma of every second pixel as it is. */
static GstBuffer *ramp_buffer(const GstVideoInfo *info)
{
    const GstVideoFormatInfo *finfo = info->finfo;
    const gboolean interlaced = GST_VIDEO_INFO_IS_INTERLACED(info);
    const gboolean is_wide = finfo->unpack_format != GST_VIDEO_FORMAT_AYUV && finfo->unpack_format != GST_VIDEO_FORMAT_ARGB;
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
    guint8 *row = g_malloc0(8 * (WIDTH + 8));
    GstVideoFrame frame;

    gst_buffer_memset(buffer, 0, 0, GST_VIDEO_INFO_SIZE(info));
    fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_WRITE));
    for (int y = 0; y < HEIGHT; y++) {
        const int field = interlaced ? y % 2 : -1, line = interlaced ? y / 2 : y;
        const double row_of_chroma = finfo->h_sub[1] ? chroma_row(info, line / 2, field) : y;
        for (int x = 0; x < WIDTH; x++) {
            for (int c = 0; c < (int)GST_VIDEO_FORMAT_INFO_N_COMPONENTS(finfo); c++) {
                const gboolean sub = !is_rgb(info) && (c == 1 || c == 2);
                const double v = sub ? ramp(c, finfo->w_sub[1] ? chroma_column(info, x / 2) : x, row_of_chroma)
                                     : ramp(c, x, y);
                const int at = 4 * x + (c == 3 ? 0 : c + 1);
                const int depth = (int)GST_VIDEO_FORMAT_INFO_DEPTH(finfo, c), max = (1 << depth) - 1;
                /* packing cuts off what is below */
                const long s = c == 3 || is_rgb(info) ? lrint(v * max / 255) : lrint(v * (max + 1) / 256);
                if (is_wide)
                    ((guint16 *)row)[at] = (guint16)(s << (16 - depth));
                else
                    row[at] = (guint8)(s << (8 - depth));
            }
        }
        finfo->pack_func(finfo, interlaced ? GST_VIDEO_PACK_FLAG_INTERLACED : GST_VIDEO_PACK_FLAG_NONE, row, 0, frame.data,
                         frame.info.stride, GST_VIDEO_CHROMA_SITE_UNKNOWN, y, WIDTH);
    }
    gst_video_frame_unmap(&frame);
    g_free(row);
    GST_BUFFER_PTS(buffer) = 0;
    return buffer;
}

/** What a component of the stream is at a place, in code values of 8 bits. */
static double expected(const GstVideoInfo *info, int c, double x, double y)
{
    static const double bt601[2] = {0.299, 0.114};

    if (!is_rgb(info))
        return ramp(c, x, y);
    const double r = ramp(0, x, y), g = ramp(1, x, y), b = ramp(2, x, y), kr = bt601[0], kb = bt601[1];
    const double luma = kr * r + (1 - kr - kb) * g + kb * b;
    return c == 0 ? 16 + 219 * luma / 255 : 128 + 224 * (c == 1 ? (b - luma) / (2 - 2 * kb) : (r - luma) / (2 - 2 * kr)) / 255;
}

/** How far a decoded component is from what it is to be, edges aside, where filters meet what is repeated. */
typedef struct Distance {
    double largest, mean;
} Distance;

static Distance distance(const PnvReader *reader, const PnvReaderFrame *frame, const GstVideoInfo *info, int c)
{
    const int is_half = frame->plane[c].width < WIDTH, margin = 6;
    Distance d = {0};
    int n = 0;

    for (int y = 2 * margin; y < HEIGHT - 2 * margin; y++) {
        const double *row = pnv_reader_row(reader, c, y);
        for (int x = margin; x < frame->plane[c].width - margin; x++, n++) {
            const double off = row[x] - expected(info, c, is_half ? 2 * x : x, y);
            d.largest = fabs(off) > d.largest ? fabs(off) : d.largest;
            d.mean += off;
        }
    }
    d.mean /= n;
    return d;
}

static void check_ramps(const GstProresNvFormat *format, PnvProfile profile, const char *site, gboolean interlaced)
{
    const gchar *name = gst_video_format_to_string(format->format), *variant = pnv_profile_name(profile);
    const gboolean is_444 = gst_prores_nv_profile_is_444(profile);
    gchar *more = g_strdup_printf("interlace-mode=%s%s%s", interlaced ? "interleaved" : "progressive",
                                  site ? ",chroma-site=" : "", site ? site : "");
    gchar *launch = g_strdup_printf("proresnvenc profile=%s rate-control=constant-quantizer quantizer=1 "
                                    "quantization=nearest", variant);
    /* SD, and colours of SD for RGB too */
    GstCaps *caps = test_caps(name, WIDTH, HEIGHT, more);
    GstHarness *h = test_harness(launch);
    PnvReader *reader = pnv_reader_new();
    GstVideoInfo info;

    gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING,
                        gst_video_format_get_info(format->format)->flags & GST_VIDEO_FORMAT_FLAG_RGB ? "1:0:0:4" : "bt601",
                        NULL);
    fail_unless(gst_video_info_from_caps(&info, caps));
    if (!site)
        info.chroma_site = GST_VIDEO_CHROMA_SITE_MPEG2;
    fail_unless(push_caps(h, caps), "%s %s", name, variant);
    fail_unless_equals_int(gst_harness_push(h, ramp_buffer(&info)), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    GstBuffer *packet = gst_harness_pull(h);
    fail_unless_equals_int(count_warnings(h, "alpha|profile"), format->alpha_depth && !is_444);
    check_no_error(h);

    const PnvReaderFrame *frame = read_packet(reader, packet, 8);
    /* The input's bits are rounded, which the six taps enlarge at worst; a quarter of a chroma column or row would be
     * 0.17 and more in the mean. */
    const gboolean is_coarse = profile == PNV_PROFILE_PROXY || profile == PNV_PROFILE_LT;
    const double largest = (format->depth == 8 ? 2 : 0.5) + (is_coarse ? 0.5 : 0), mean = format->depth == 8 ? 0.12 : 0.05;
    for (int c = 0; c < 3; c++) {
        const Distance d = distance(reader, frame, &info, c);
        fail_unless(d.largest < largest && fabs(d.mean) < mean,
                    "%s under %s, chroma-site %s%s: component %d is %.2f off, %.3f in the mean", name, variant,
                    site ? site : "unset", interlaced ? ", interlaced" : "", c, d.largest, d.mean);
    }
    if (is_444 && format->alpha_depth) {
        const int max = (1 << format->alpha_depth) - 1;
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                const double coded = pnv_reader_alpha_row(reader, y)[x] / 65535.0, want = ramp(3, x, y) / 255;
                fail_unless(fabs(coded - want) <= 1.0 / max + 1 / 255.0, "%s: alpha at %d,%d is %f, not %f", name, x, y,
                            coded, want);
            }
        }
    }
    gst_buffer_unref(packet);
    pnv_reader_free(&reader);
    test_harness_free(h);
    g_free(launch);
    g_free(more);
}

GST_START_TEST(test_ramps)
{
    const GstProresNvFormat *format = format_at(__i__);

    for (int profile = PNV_PROFILE_PROXY; profile <= PNV_PROFILE_4444XQ; profile++)
        check_ramps(format, (PnvProfile)profile, NULL, FALSE);
    check_ramps(format, PNV_PROFILE_HQ, NULL, TRUE);
    check_ramps(format, PNV_PROFILE_4444, NULL, TRUE);
}
GST_END_TEST;

/* All sitings of 4:2:0, frames and fields, to 4:2:2 and 4:4:4. */
GST_START_TEST(test_sitings)
{
    static const char *const sites[] = {"mpeg2", "jpeg", "cosited", "v-cosited"};
    static const GstVideoFormat formats[] = {GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_P010_10LE};

    for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
        for (int interlaced = 0; interlaced < 2; interlaced++) {
            check_ramps(gst_prores_nv_format_find(formats[i]), PNV_PROFILE_HQ, sites[__i__], interlaced);
            check_ramps(gst_prores_nv_format_find(formats[i]), PNV_PROFILE_4444, sites[__i__], interlaced);
        }
    }
    check_ramps(gst_prores_nv_format_find(GST_VIDEO_FORMAT_Y42B), PNV_PROFILE_4444, sites[__i__], FALSE);
}
GST_END_TEST;

/** What the element makes of a frame, decoded. */
static const PnvReaderFrame *code_frame(const char *properties, GstCaps *caps, GstBuffer *buffer, int depth, PnvReader *reader)
{
    gchar *launch = g_strdup_printf("proresnvenc rate-control=constant-quantizer quantizer=1 quantization=nearest %s", properties);
    GstHarness *h = test_harness(launch);

    fail_unless(push_caps(h, caps), "%s", launch);
    fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    GstBuffer *packet = gst_harness_pull(h);
    check_no_error(h);
    const PnvReaderFrame *frame = read_packet(reader, packet, depth);
    gst_buffer_unref(packet);
    test_harness_free(h);
    g_free(launch);
    return frame;
}

/* ---- Colour bars ---- */

enum { BAR_WIDTH = 32, BARS = 8, BAR_LEVEL = 75 };

/** Red, green and blue of bar i, 0..1. */
static double bar(int i, int c)
{
    static const guint8 order[3] = {2, 4, 1}; /* white, yellow, cyan, green, magenta, red, blue, black */
    return (7 - i) & order[c] ? BAR_LEVEL / 100.0 : 0;
}

static GstBuffer *bars_buffer(const GstVideoInfo *info)
{
    const GstVideoFormatInfo *finfo = info->finfo;
    const gboolean is_wide = finfo->unpack_format == GST_VIDEO_FORMAT_ARGB64;
    const gboolean is_full = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
    guint8 *row = g_malloc0(8 * BAR_WIDTH * BARS);
    GstVideoFrame frame;

    fail_unless(gst_video_frame_map(&frame, info, buffer, GST_MAP_WRITE));
    for (int x = 0; x < BAR_WIDTH * BARS; x++) {
        for (int c = 0; c < 4; c++) {
            const int depth = (int)GST_VIDEO_FORMAT_INFO_DEPTH(finfo, 0), at = 4 * x + (c == 3 ? 0 : c + 1);
            const double v = c == 3 ? 1 : bar(x / BAR_WIDTH, c), max = (1 << depth) - 1;
            const long s = lrint(is_full ? v * max : (16 + 219 * v) * (1 << (depth - 8)));
            if (is_wide)
                ((guint16 *)row)[at] = (guint16)(s << (16 - depth));
            else
                row[at] = (guint8)s;
        }
    }
    for (int y = 0; y < info->height; y++)
        finfo->pack_func(finfo, GST_VIDEO_PACK_FLAG_NONE, row, 0, frame.data, frame.info.stride,
                         GST_VIDEO_CHROMA_SITE_UNKNOWN, y, BAR_WIDTH * BARS);
    gst_video_frame_unmap(&frame);
    g_free(row);
    GST_BUFFER_PTS(buffer) = 0;
    return buffer;
}

/* RGB bars come back within one code value of 10 bits; what 8 bits of video range round is no conversion's fault. */
GST_START_TEST(test_bars)
{
    static const struct {
        const char *colorimetry; /**< Of range : matrix : transfer : primaries. */
        double kr, kb;
        int matrix; /**< In the header. */
    } colors[] = {
        {"1:1:7:1", 0.2126, 0.0722, 1}, {"1:1:16:4", 0.299, 0.114, 6}, {"1:1:13:7", 0.2627, 0.0593, 9},
        {"2:1:5:1", 0.2126, 0.0722, 1}, {"2:1:16:4", 0.299, 0.114, 6}, {"1:1:0:0", 0.299, 0.114, 6}, /* unknown: SD */
    };
    static const char *const formats[] = {"RGB", "BGRA", "r210", "GBR_12LE", "RGBA64_LE"}, *const profiles[] = {"4444", "hq"};
    PnvReader *reader = pnv_reader_new();

    for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
        for (guint p = 0; p < G_N_ELEMENTS(profiles); p++) {
            GstCaps *caps = test_caps(formats[f], BAR_WIDTH * BARS, 32, NULL);
            gchar *properties = g_strdup_printf("alpha-bits=0 profile=%s", profiles[p]);
            GstVideoInfo info;
            gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING, colors[__i__].colorimetry, NULL);
            fail_unless(gst_video_info_from_caps(&info, caps));
            const PnvReaderFrame *frame = code_frame(properties, caps, bars_buffer(&info), 10, reader);
            fail_unless_equals_int(frame->header.matrix_coefficients, colors[__i__].matrix);
            for (int i = 0; i < BARS; i++) {
                const double kr = colors[__i__].kr, kb = colors[__i__].kb;
                const double luma = kr * bar(i, 0) + (1 - kr - kb) * bar(i, 1) + kb * bar(i, 2);
                const double want[3] = {4 * (16 + 219 * luma), 4 * (128 + 224 * (bar(i, 2) - luma) / (2 - 2 * kb)),
                                        4 * (128 + 224 * (bar(i, 0) - luma) / (2 - 2 * kr))};
                for (int c = 0; c < 3; c++) {
                    const int middle = (i * BAR_WIDTH + BAR_WIDTH / 2) * frame->plane[c].width / (BAR_WIDTH * BARS);
                    const double got = pnv_reader_row(reader, c, 16)[middle], one = GST_VIDEO_INFO_COMP_DEPTH(&info, 0) == 8 ? 2 : 1;
                    fail_unless(fabs(got - want[c]) <= one, "%s %s, %s: bar %d component %d is %.2f, not %.2f", formats[f],
                                colors[__i__].colorimetry, profiles[p], i, c, got, want[c]);
                }
            }
            g_free(properties);
        }
    }
    pnv_reader_free(&reader);
}
GST_END_TEST;

/* ---- 4:2:0 against the 4:2:2 that it comes from, and against videoconvert ---- */

enum { PLATE = 256, PLATE_FRAMES = 4 };

typedef double (*Scene)(double x, double y, int frame);

/** Rings that grow finer, up to 0.7 of what 4:2:0 can hold, in chroma columns and luma rows. */
static double zone_plate(double x, double y, int frame)
{
    const double reach = 0.7 * G_PI / (2 * PLATE), dx = x - PLATE / 2.0 + 3 * frame, dy = y - PLATE / 2.0 + 2 * frame;
    return 512 + 300 * cos(reach * (dx * dx + dy * dy) / 2 + frame);
}

/** Stripes and discs with hard edges. */
static double hard_edges(double x, double y, int frame)
{
    const int stripe = (int)floor((y + 0.5 + 3 * frame) / 13) & 1, disc = hypot(x - 100, y - 128) < 60 + frame;
    return stripe ^ disc ? 800 : 224;
}

/** The mean of luma rows that a chroma row of 4:2:0 stands for: of a band-limited scene its value in the middle. */
static double of_420(Scene scene, double x, double y, int frame)
{
    return scene == zone_plate ? scene(x, y, frame) : (scene(x, y - 0.5, frame) + scene(x, y + 0.5, frame)) / 2;
}

static GstBuffer *scene_buffer(const GstVideoInfo *info, Scene scene, int frame)
{
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
    const double centre = info->chroma_site & GST_VIDEO_CHROMA_SITE_H_COSITED ? 0 : 0.25; /* in chroma columns */
    GstVideoFrame video;

    fail_unless(gst_video_frame_map(&video, info, buffer, GST_MAP_WRITE));
    for (guint c = 0; c < 3; c++) {
        for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&video, c); y++) {
            guint16 *row = (guint16 *)((guint8 *)GST_VIDEO_FRAME_COMP_DATA(&video, c) + y * GST_VIDEO_FRAME_COMP_STRIDE(&video, c));
            for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&video, c); x++)
                row[x] = c == 0 ? 512 : (guint16)lrint(of_420(scene, x + centre, 2 * y + 0.5, frame + (int)c));
        }
    }
    gst_video_frame_unmap(&video);
    GST_BUFFER_PTS(buffer) = 0;
    return buffer;
}

/** Squared error of a row of chroma against the 4:2:2 original. */
static double error_of(Scene scene, int c, int y, int frame, const double *row, const guint16 *words)
{
    double sum = 0;

    for (int x = 8; x < PLATE - 8; x++) {
        const double d = (row ? row[x] : words[x]) - scene(x, y, frame + c);
        sum += d * d;
    }
    return sum;
}

/** PSNR of chroma, edges aside: ours, and videoconvert's. */
static void measure(Scene scene, const char *site, double psnr[2])
{
    GstCaps *caps = test_caps("I420_10LE", 2 * PLATE, PLATE, NULL);
    GstHarness *converter = gst_harness_new_parse("videoconvert ! capsfilter caps=video/x-raw,format=I422_10LE,chroma-site=mpeg2");
    PnvReader *reader = pnv_reader_new();
    GstVideoInfo info;
    double sum[2] = {0};

    gst_caps_set_simple(caps, "chroma-site", G_TYPE_STRING, site, "colorimetry", G_TYPE_STRING, "bt709", NULL);
    fail_unless(gst_video_info_from_caps(&info, caps));
    gst_harness_set_src_caps(converter, gst_caps_copy(caps));
    for (int frame = 0; frame < PLATE_FRAMES; frame++) {
        code_frame("profile=hq", gst_caps_copy(caps), scene_buffer(&info, scene, frame), 10, reader);
        GstBuffer *converted = gst_harness_push_and_pull(converter, scene_buffer(&info, scene, frame));
        GstVideoInfo as;
        GstVideoFrame video;
        GstCaps *current = gst_pad_get_current_caps(converter->sinkpad);
        fail_unless(gst_video_info_from_caps(&as, current));
        fail_unless(gst_video_frame_map(&video, &as, converted, GST_MAP_READ));
        for (int c = 1; c < 3; c++) {
            for (int y = 16; y < PLATE - 16; y++) {
                const guint8 *data = GST_VIDEO_FRAME_COMP_DATA(&video, c);
                sum[0] += error_of(scene, c, y, frame, pnv_reader_row(reader, c, y), NULL);
                sum[1] += error_of(scene, c, y, frame, NULL,
                                   (const guint16 *)(data + y * GST_VIDEO_FRAME_COMP_STRIDE(&video, c)));
            }
        }
        gst_video_frame_unmap(&video);
        gst_buffer_unref(converted);
        gst_caps_unref(current);
    }
    for (int i = 0; i < 2; i++)
        psnr[i] = 10 * log10(1023.0 * 1023.0 * PLATE_FRAMES * 2 * (PLATE - 16) * (PLATE - 32) / sum[i]);
    gst_caps_unref(caps);
    gst_harness_teardown(converter);
    pnv_reader_free(&reader);
}

GST_START_TEST(test_interpolation)
{
    static const char *const sites[] = {"mpeg2", "jpeg"};
    double plate[2], edges[2];

    measure(zone_plate, sites[__i__], plate);
    measure(hard_edges, sites[__i__], edges);
    g_print("chroma-site %s: zone plate %.2f dB, videoconvert %.2f dB; hard edges %.2f, %.2f dB\n", sites[__i__], plate[0],
            plate[1], edges[0], edges[1]);
    fail_unless(plate[0] >= plate[1] + 3, "%s: %.2f dB, videoconvert %.2f dB", sites[__i__], plate[0], plate[1]);
    fail_unless(edges[0] >= edges[1], "%s: %.2f dB, videoconvert %.2f dB", sites[__i__], edges[0], edges[1]);
}
GST_END_TEST;

/* 486 rows of P010 in fields have 243 of chroma, which is one less than both fields want. */
GST_START_TEST(test_missing_chroma_row)
{
    GstCaps *caps = test_caps("P010_10LE", 72, 486, "interlace-mode=interleaved,field-order=bottom-field-first");
    PnvReader *reader = pnv_reader_new();
    GstVideoInfo info;

    fail_unless(gst_video_info_from_caps(&info, caps));
    /* all there is, and not a byte more */
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, (gsize)info.stride[0] * (486 + 243), NULL);
    gst_buffer_memset(buffer, 0, 0x80, gst_buffer_get_size(buffer));
    gsize offset[GST_VIDEO_MAX_PLANES] = {0, (gsize)info.stride[0] * 486};
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_INTERLACED, GST_VIDEO_FORMAT_P010_10LE, 72, 486, 2, offset,
                                   info.stride);
    GST_BUFFER_PTS(buffer) = 0;
    code_frame("", caps, buffer, 8, reader);
    for (int y = 0; y < 486; y++)
        fail_unless(fabs(pnv_reader_row(reader, 1, y)[20] - 128.5) < 0.6, "row %d: %f", y, pnv_reader_row(reader, 1, y)[20]);
    pnv_reader_free(&reader);
}
GST_END_TEST;

/* Too small for its caps, or with samples at odd places: the error says which plane and how many bytes. */
GST_START_TEST(test_refused)
{
    static const struct {
        const char *format;
        gint short_by, odd;
        const char *words;
    } cases[] = {
        {"v210", 81, 0, "smaller than its caps say|plane 0|12207 bytes at stride 256|needed 12208"},
        {"NV12", 1, 0, "smaller than its caps say|plane 1|needed 1536"},
        {"P010_10LE", 0, 1, "not aligned"},
        {"Y210", 0, 1, "not aligned"},
    };
    GstCaps *caps = test_caps(cases[__i__].format, 64, 48, NULL);
    GstHarness *h = test_harness("proresnvenc");
    GstVideoInfo info;

    fail_unless(gst_video_info_from_caps(&info, caps));
    gsize size = GST_VIDEO_INFO_SIZE(&info), offset[GST_VIDEO_MAX_PLANES];
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, size - (gsize)cases[__i__].short_by + 16, NULL);
    for (int i = 0; i < GST_VIDEO_MAX_PLANES; i++)
        offset[i] = info.offset[i] + (gsize)cases[__i__].odd;
    gst_buffer_resize(buffer, 0, (gssize)size - cases[__i__].short_by + (cases[__i__].odd ? 16 : 0));
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, info.finfo->format, 64, 48, info.finfo->n_planes, offset,
                                   info.stride);
    fail_unless(push_caps(h, caps));
    fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_ERROR);
    check_error(h, cases[__i__].words);
    test_harness_free(h);
}
GST_END_TEST;

static Suite *formats_suite(void)
{
    Suite *suite = suite_create("formats");
    TCase *tc = tcase_create("general");

    suite_add_tcase(suite, tc);
    tcase_add_loop_test(tc, test_samples, 0, n_formats());
    tcase_add_loop_test(tc, test_ramps, 0, n_formats());
    tcase_add_loop_test(tc, test_sitings, 0, 4);
    tcase_add_loop_test(tc, test_bars, 0, 6);
    tcase_add_loop_test(tc, test_interpolation, 0, 2);
    tcase_add_test(tc, test_missing_chroma_row);
    tcase_add_loop_test(tc, test_refused, 0, 4);
    return suite;
}

GST_CHECK_MAIN(formats)
