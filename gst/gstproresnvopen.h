/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of properties and caps an encoder. What they cannot be is told as an error of
 * @self, what they only half can be as a warning. */
#ifndef GST_PRORES_NV_OPEN_H
#define GST_PRORES_NV_OPEN_H

#include <gst/video/video.h>

#include "gstproresnvcuda.h"
#include "gstproresnvsettings.h"
#include "pnv.h"

G_BEGIN_DECLS

/* Whether the encoder id is one. */
gboolean gst_prores_nv_open_check_id (GstElement * self,
    const GstProresNvSettings * settings);

/* Parameters for video of @caps, which are @info, so that @downstream takes the
 * result. They hold on to @settings. */
gboolean gst_prores_nv_open_plan (GstElement * self,
    const GstProresNvSettings * settings, const GstVideoInfo * info,
    const GstCaps * caps, const GstCaps * downstream, PnvParams * params);

/* An encoder for those, which works in @context, where the frames are, or NULL:
 * in any. Where nobody asked for a GPU, one that cannot be used is no reason to
 * fail. NULL with an error. */
PnvEncoder *gst_prores_nv_open (GstElement * self, const PnvParams * params,
    GstCudaContext * context, const GstCaps * caps);

G_END_DECLS

#endif
