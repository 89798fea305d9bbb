/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A buffer as the core wants to see it: components, strides, fields. Each
 * function posts an error of @self that says what is wrong, and returns FALSE,
 * where a buffer is not what @info, the caps, promise. */
#ifndef GST_PRORES_NV_PICTURE_H
#define GST_PRORES_NV_PICTURE_H

#include <gst/video/video.h>

#include "pnv.h"

G_BEGIN_DECLS

/* Map @buffer, which has to stay, for reading, with further @flags: by the CPU
 * unless they say otherwise, wherever the buffer is. */
gboolean gst_prores_nv_picture_map (GstElement * self,
    const GstVideoInfo * info, GstBuffer * buffer, GstMapFlags flags,
    GstVideoFrame * video);

/* Components and strides of a mapped frame or field, GstVideoCropMeta being
 * obeyed. Nothing else of @picture is touched. */
gboolean gst_prores_nv_picture_describe (GstElement * self,
    const GstVideoInfo * info, const GstVideoFrame * video,
    PnvPicture * picture);

/* The same of two fields, @first being the one that @picture's interlace says
 * comes first. They may be the same. */
gboolean gst_prores_nv_picture_describe_fields (GstElement * self,
    const GstVideoInfo * info, const GstVideoFrame * first,
    const GstVideoFrame * second, PnvPicture * picture);

G_END_DECLS

#endif
