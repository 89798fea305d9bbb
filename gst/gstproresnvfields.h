/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields: what buffers say of their scanning, and pairs of buffers that carry
 * one field each. */
#ifndef GST_PRORES_NV_FIELDS_H
#define GST_PRORES_NV_FIELDS_H

#include <gst/video/video.h>

#include "pnv.h"

G_BEGIN_DECLS

/* TRUE where each buffer has one field: interlace-mode=alternate. */
gboolean gst_prores_nv_fields_alternate (const GstVideoInfo * info);

/* The order of fields that the caps of @info state. Progressive for unknown,
 * for progressive and for mixed video, where each frame has its own. */
PnvInterlace gst_prores_nv_fields_of_caps (const GstVideoInfo * info);

/* How the frame that is or begins in @buffer is scanned. The flag for top field
 * first counts wherever it is set; where it is missing it says bottom first
 * only if the caps of @info state no order. In alternate video the order is
 * theirs, else that of a frame whose first field @buffer is. */
PnvInterlace gst_prores_nv_fields_of_buffer (const GstVideoInfo * info,
    GstBuffer * buffer);

/* The same as caps say it. */
GstVideoFieldOrder gst_prores_nv_fields_order (PnvInterlace interlace);

/* What a buffer of alternate video is. */
typedef enum
{
  GST_PRORES_NV_FIELD_UNMARKED,
  GST_PRORES_NV_FIELD_TOP,
  GST_PRORES_NV_FIELD_BOTTOM
} GstProresNvField;

GstProresNvField gst_prores_nv_fields_parity (GstBuffer * buffer);

/* The order of a frame whose earlier field is @first. */
PnvInterlace gst_prores_nv_fields_of_pair (GstBuffer * first);

/* Whether a field can be the first of a frame whose fields have that order. */
gboolean gst_prores_nv_fields_begin (GstBuffer * field, PnvInterlace order);

/* Whether @second is the other field of @first's frame: of the other parity,
 * and begins with it or half a frame later where timestamps tell. If @first
 * cannot begin a frame in the @order of the stream, it has to begin with it. */
gboolean gst_prores_nv_fields_match (const GstVideoInfo * info,
    GstBuffer * first, GstBuffer * second, PnvInterlace order);

G_END_DECLS

#endif
