/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * plugin-proresnv:
 *
 * Apple ProRes encoder for QuickTime files, on the CPU and on NVIDIA GPUs.
 *
 * Since: 0.1
 */
#include <gst/gst.h>

#include "gstproresnvcuda.h"
#include "gstproresnvenc.h"

static gboolean
plugin_init (GstPlugin * plugin)
{
  gst_prores_nv_cuda_watch (plugin);
  return GST_ELEMENT_REGISTER (proresnvenc, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, proresnv,
    "Apple ProRes encoder for CPUs and NVIDIA GPUs", plugin_init, VERSION,
    "GPL", PACKAGE, "https://gstreamer.freedesktop.org/")
