/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a pipeline to its end, as gst-launch-1.0 does, and prints the stats of each proresnvenc in it. A program of our
 * own, because a sanitized plugin wants a sanitized program: element_launch CYCLES DESCRIPTION... */
#include <gst/gst.h>
#include <stdlib.h>

static void print_stats(const GValue *item, gpointer unused)
{
    GObject *element = g_value_get_object(item);
    GstStructure *stats;

    if (!g_str_has_prefix(G_OBJECT_TYPE_NAME(element), "GstProresNvEnc"))
        return;
    g_object_get(element, "stats", &stats, NULL);
    gchar *text = gst_structure_to_string(stats);
    g_print("%s\n", text);
    g_free(text);
    gst_structure_free(stats);
}

/* To READY and back so many times, the last time to the end of the stream. FALSE after an error. */
static gboolean run(GstElement *pipeline, int cycles)
{
    GstBus *bus = gst_element_get_bus(pipeline);
    gboolean good = TRUE;

    while (good && cycles-- > 0) {
        gst_element_set_state(pipeline, GST_STATE_PLAYING);
        const GstClockTime timeout = cycles ? 50 * GST_MSECOND : GST_CLOCK_TIME_NONE;
        GstMessage *message = gst_bus_timed_pop_filtered(bus, timeout, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
        if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
            GError *error;
            gchar *debug;
            gst_message_parse_error(message, &error, &debug);
            g_printerr("%s\n%s\n", error->message, debug);
            g_error_free(error);
            g_free(debug);
            good = FALSE;
        }
        if (message)
            gst_message_unref(message);
        GstIterator *all = gst_bin_iterate_recurse(GST_BIN(pipeline));
        if (!cycles)
            gst_iterator_foreach(all, print_stats, NULL);
        gst_iterator_free(all);
        gst_element_set_state(pipeline, GST_STATE_READY);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    return good;
}

int main(int argc, char **argv)
{
    GError *error = NULL;

    gst_init(&argc, &argv);
    if (argc < 3)
        return 2;
    GstElement *pipeline = gst_parse_launchv((const gchar **)argv + 2, &error);
    if (!pipeline || error) {
        g_printerr("%s\n", error->message);
        return 1;
    }
    const gboolean good = run(pipeline, atoi(argv[1]));
    gst_object_unref(pipeline);
    gst_deinit();
    return good ? 0 : 1;
}
