/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An application that makes its own frames and records them: app_record OUT.mov [FRAMES] */
#include <gst/app/app.h>
#include <gst/video/video.h>
#include <stdlib.h>

#define WIDTH 1280
#define HEIGHT 720
#define FPS 25

/* A ramp that moves with time, 10 bits in video range. */
static GstBuffer *make_frame(const GstVideoInfo *info, guint64 n)
{
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
    GstVideoFrame frame;

    gst_video_frame_map(&frame, info, buffer, GST_MAP_WRITE);
    for (guint p = 0; p < 3; p++)
        for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, p); y++) {
            guint16 *row = (guint16 *)((guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, p) +
                                       y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p));
            for (int x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&frame, p); x++)
                row[x] = GUINT16_TO_LE(p ? 512 : 64 + (x + y + 4 * (int)n) % 876);
        }
    gst_video_frame_unmap(&frame);
    GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(n, GST_SECOND, FPS);
    GST_BUFFER_DURATION(buffer) = GST_SECOND / FPS;
    return buffer;
}

int main(int argc, char **argv)
{
    const guint64 n_frames = argc > 2 ? strtoull(argv[2], NULL, 10) : 50;
    GError *error = NULL;
    GstVideoInfo info;

    gst_init(&argc, &argv);
    if (argc < 2) {
        g_printerr("usage: app_record OUT.mov [FRAMES]\n");
        return 2;
    }
    GstElement *pipeline = gst_parse_launch("appsrc name=in format=time block=true max-buffers=4 ! "
                                            "proresnvenc profile=hq ! qtmux ! filesink name=out", &error);
    if (!pipeline) {
        g_printerr("%s\n", error->message);
        return 1;
    }
    GstElement *in = gst_bin_get_by_name(GST_BIN(pipeline), "in"), *out = gst_bin_get_by_name(GST_BIN(pipeline), "out");
    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_I422_10LE, WIDTH, HEIGHT);
    info.fps_n = FPS;
    gst_video_colorimetry_from_string(&info.colorimetry, GST_VIDEO_COLORIMETRY_BT709);
    GstCaps *caps = gst_video_info_to_caps(&info);
    g_object_set(in, "caps", caps, NULL);
    g_object_set(out, "location", argv[1], NULL);

    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstFlowReturn flow = GST_FLOW_OK;
    for (guint64 n = 0; n < n_frames && flow == GST_FLOW_OK; n++)
        flow = gst_app_src_push_buffer(GST_APP_SRC(in), make_frame(&info, n)); /* waits while the queue is full */
    gst_app_src_end_of_stream(GST_APP_SRC(in));

    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        gst_message_parse_error(message, &error, NULL);
        g_printerr("%s\n", error->message);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_message_unref(message);
    gst_object_unref(bus);
    gst_caps_unref(caps);
    gst_object_unref(in);
    gst_object_unref(out);
    gst_object_unref(pipeline);
    return error ? 1 : 0;
}
