/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gstproresnvfields.h"

gboolean
gst_prores_nv_fields_alternate (const GstVideoInfo * info)
{
  return GST_VIDEO_INFO_INTERLACE_MODE (info) ==
      GST_VIDEO_INTERLACE_MODE_ALTERNATE;
}

PnvInterlace
gst_prores_nv_fields_of_caps (const GstVideoInfo * info)
{
  switch (GST_VIDEO_INFO_INTERLACE_MODE (info)) {
    case GST_VIDEO_INTERLACE_MODE_INTERLEAVED:
    case GST_VIDEO_INTERLACE_MODE_ALTERNATE:
      break;
    default:
      return PNV_PROGRESSIVE;
  }
  switch (GST_VIDEO_INFO_FIELD_ORDER (info)) {
    case GST_VIDEO_FIELD_ORDER_TOP_FIELD_FIRST:
      return PNV_TOP_FIELD_FIRST;
    case GST_VIDEO_FIELD_ORDER_BOTTOM_FIELD_FIRST:
      return PNV_BOTTOM_FIELD_FIRST;
    default:
      return PNV_PROGRESSIVE;
  }
}

GstProresNvField
gst_prores_nv_fields_parity (GstBuffer * buffer)
{
  /* The flags of one field contain each other: that of a top field is that of
   * a bottom field and one more. */
  if (GST_VIDEO_BUFFER_IS_TOP_FIELD (buffer))
    return GST_PRORES_NV_FIELD_TOP;
  if (GST_VIDEO_BUFFER_IS_BOTTOM_FIELD (buffer))
    return GST_PRORES_NV_FIELD_BOTTOM;
  return GST_PRORES_NV_FIELD_UNMARKED;
}

PnvInterlace
gst_prores_nv_fields_of_buffer (const GstVideoInfo * info, GstBuffer * buffer)
{
  const PnvInterlace stated = gst_prores_nv_fields_of_caps (info);

  switch (GST_VIDEO_INFO_INTERLACE_MODE (info)) {
    case GST_VIDEO_INTERLACE_MODE_ALTERNATE:
      if (stated != PNV_PROGRESSIVE)
        return stated;
      break;
    case GST_VIDEO_INTERLACE_MODE_MIXED:
      if (!GST_BUFFER_FLAG_IS_SET (buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED))
        return PNV_PROGRESSIVE;
      break;
    case GST_VIDEO_INTERLACE_MODE_INTERLEAVED:
      break;
    default:
      return PNV_PROGRESSIVE;
  }
  /* A top field has this flag, too. */
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_VIDEO_BUFFER_FLAG_TFF))
    return PNV_TOP_FIELD_FIRST;
  return stated == PNV_PROGRESSIVE ? PNV_BOTTOM_FIELD_FIRST : stated;
}

GstVideoFieldOrder
gst_prores_nv_fields_order (PnvInterlace interlace)
{
  switch (interlace) {
    case PNV_TOP_FIELD_FIRST:
      return GST_VIDEO_FIELD_ORDER_TOP_FIELD_FIRST;
    case PNV_BOTTOM_FIELD_FIRST:
      return GST_VIDEO_FIELD_ORDER_BOTTOM_FIELD_FIRST;
    default:
      return GST_VIDEO_FIELD_ORDER_UNKNOWN;
  }
}

PnvInterlace
gst_prores_nv_fields_of_pair (GstBuffer * first)
{
  return gst_prores_nv_fields_parity (first) == GST_PRORES_NV_FIELD_TOP ?
      PNV_TOP_FIELD_FIRST : PNV_BOTTOM_FIELD_FIRST;
}

gboolean
gst_prores_nv_fields_begin (GstBuffer * field, PnvInterlace order)
{
  return gst_prores_nv_fields_of_pair (field) == order;
}

gboolean
gst_prores_nv_fields_match (const GstVideoInfo * info, GstBuffer * first,
    GstBuffer * second, PnvInterlace order)
{
  const gboolean in_order = gst_prores_nv_fields_begin (first, order);
  GstClockTime frame, later;

  if (gst_prores_nv_fields_parity (first) ==
      gst_prores_nv_fields_parity (second))
    return FALSE;
  if (info->fps_n <= 0 || !GST_BUFFER_PTS_IS_VALID (first)
      || !GST_BUFFER_PTS_IS_VALID (second))
    return in_order;
  /* Half a frame later is right, at the same time is what many sources give to
   * both, as interlace of GStreamer does; a whole one is the next frame's. Half
   * a frame after a field that should be a second one comes the next frame. */
  frame = gst_util_uint64_scale (GST_SECOND, info->fps_d, info->fps_n);
  later = in_order ? frame * 3 / 4 : frame / 4;
  return GST_BUFFER_PTS (second) + frame / 4 >= GST_BUFFER_PTS (first)
      && GST_BUFFER_PTS (second) < GST_BUFFER_PTS (first) + later;
}
