/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A GPU that fails while the element records: the file is the one that the CPU writes, and one warning tells of it. */
#include "element.h"
#include "hostcuda_control.h"

#include <glib/gstdio.h>
#include <unistd.h>

enum { N_FRAMES = 12 };

/* Where the device is lost: behind that many frames. */
static guint lose_after;

static GstPadProbeReturn lose(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
    guint *n = data;

    if (++*n == lose_after)
        hostcuda_lose_device(cudaErrorLaunchFailure);
    return GST_PAD_PROBE_OK;
}

/* Warnings that tell of it. */
static guint n_told;

/* What a pipeline writes. */
static GBytes *record(const char *backend, const char *rate, const char *pad_to_watch)
{
    gchar *path = g_build_filename(g_get_tmp_dir(), "element-lost-XXXXXX", NULL), *launch, *contents;
    gint file = g_mkstemp(path);
    gsize size;
    guint n = 0;

    fail_unless(file >= 0);
    close(file);
    launch = g_strdup_printf("videotestsrc pattern=ball num-buffers=%d ! video/x-raw,format=I422_10LE,width=48,height=36 "
                             "! proresnvenc name=encoder pipeline-depth=3 backend=%s rate-control=%s ! filesink location=%s",
                             N_FRAMES, backend, rate, path);
    GstElement *pipeline = gst_parse_launch(launch, NULL);
    fail_unless(pipeline != NULL, "%s", launch);
    GstElement *encoder = gst_bin_get_by_name(GST_BIN(pipeline), "encoder");
    GstPad *pad = gst_element_get_static_pad(encoder, pad_to_watch);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, lose, &n, NULL);
    GstBus *bus = gst_element_get_bus(pipeline);
    GstMessage *message;
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    n_told = 0;
    while ((message = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE,
                                                 GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING)) &&
           GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) {
        GError *warning;
        gst_message_parse_warning(message, &warning, NULL);
        const gboolean tells = strstr(warning->message, "CUDA failed") != NULL;
        /* upstream may have wanted memory first */
        fail_unless(tells || strstr(warning->message, "page-locked"), "%s", warning->message);
        n_told += tells;
        g_error_free(warning);
        gst_message_unref(message);
    }
    fail_unless_equals_int(GST_MESSAGE_TYPE(message), GST_MESSAGE_EOS);
    gst_message_unref(message);
    fail_unless_equals_uint64(get_stat(encoder, "frames"), N_FRAMES);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(pad);
    gst_object_unref(encoder);
    gst_object_unref(pipeline);
    fail_unless(g_file_get_contents(path, &contents, &size, NULL));
    g_unlink(path);
    g_free(path);
    g_free(launch);
    return g_bytes_new_take(contents, size);
}

GST_START_TEST(test_lost)
{
    static const char *const rates[] = {"constant-quantizer", "target"}, *const pads[] = {"sink", "src"};

    for (int r = 0; r < 2; r++) {
        lose_after = 0;
        GBytes *want = record("cpu", rates[r], "sink");
        for (lose_after = 0; lose_after < N_FRAMES; lose_after += lose_after ? 4 : 1) {
            for (int p = 0; p < 2; p++) {
                GBytes *got = record("cuda", rates[r], pads[p]);
                fail_unless(g_bytes_equal(want, got), "%s, lost at %s %u: another file", rates[r], pads[p], lose_after);
                fail_unless_equals_int(n_told, lose_after > 0);
                hostcuda_lose_device(cudaSuccess);
                g_bytes_unref(got);
            }
        }
        g_bytes_unref(want);
    }
}
GST_END_TEST;

static Suite *element_lost_suite(void)
{
    Suite *suite = suite_create("lost");
    TCase *tcase = tcase_create("general");

    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, test_lost);
    return suite;
}

GST_CHECK_MAIN(element_lost);
