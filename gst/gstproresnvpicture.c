/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gstproresnvpicture.h"

#include "gstproresnvcuda.h"
#include "gstproresnvfields.h"
#include "gstproresnvformat.h"

#define GST_CAT_DEFAULT gst_prores_nv_enc_debug
GST_DEBUG_CATEGORY_EXTERN (gst_prores_nv_enc_debug);

/* Bytes that are readable from the first sample of a plane on. */
static gsize
plane_bytes (const GstVideoFrame * video, guint plane)
{
  /* Without GstVideoMeta one mapping holds all planes. */
  const GstMapInfo *map = &video->map[video->meta ? plane : 0];
  const guint8 *start = GST_VIDEO_FRAME_PLANE_DATA (video, plane);

  return map->data + map->size - start;
}

/* Whether a crop leaves the whole of a field: nothing says whether its rows are
 * those of the field or of the frame, so both count. */
static gboolean
crop_keeps_field (const GstVideoInfo * info, const GstVideoCropMeta * crop)
{
  return crop->x == 0 && crop->y == 0 && crop->width == (guint) info->width
      && (crop->height == (guint) info->height
      || crop->height == (guint) GST_VIDEO_INFO_FIELD_HEIGHT (info));
}

/* Where in the picture the frame to code begins: GstVideoCropMeta is obeyed.
 * FALSE if what is left has not the size of the caps. Fields are not cropped. */
static gboolean
find_origin (GstElement * self, const GstVideoInfo * info,
    const GstVideoFrame * video, guint * x, guint * y)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (video->buffer);
  const guint width = info->width;
  const guint height = info->height;
  const guint video_width = GST_VIDEO_FRAME_WIDTH (video);
  const guint video_height = GST_VIDEO_FRAME_HEIGHT (video);
  const guint columns =
      gst_prores_nv_format_columns (gst_prores_nv_format_find
      (GST_VIDEO_INFO_FORMAT (info)));
  const gboolean is_field = gst_prores_nv_fields_alternate (info);
  const gboolean is_woven = !is_field
      && GST_VIDEO_INFO_IS_INTERLACED (info);
  /* Chroma begins with the first row, in fields that of each. An odd first row
   * would swap the fields. */
  const guint rows = (is_woven ? 2 : 1) << info->finfo->h_sub[1];

  *x = crop ? crop->x : 0;
  *y = crop ? crop->y : 0;
  if (!crop || (is_field && crop_keeps_field (info, crop)))
    return TRUE;
  /* The video is at least as large as the caps: check_meta(). */
  if (!is_field && crop->width == width && crop->height == height
      && *x % columns == 0 && *x <= video_width - width
      && *y % rows == 0 && *y <= video_height - height)
    return TRUE;

  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("A frame is cropped in a way that cannot be encoded. Crop with "
          "videocrop before proresnvenc, at a multiple of %u columns and of %u "
          "rows.", columns, rows),
      ("crop %u,%u %ux%u of %ux%u; caps %ux%u", crop->x, crop->y, crop->width,
          crop->height, video_width, video_height, width, height));
  return FALSE;
}

/* Rows of component @c. Of woven fields with 4:2:0 both fields want whole rows
 * of chroma. */
static guint
component_rows (const GstVideoInfo * info, guint c)
{
  const guint rows = GST_VIDEO_INFO_FIELD_HEIGHT (info);
  const guint sub = info->finfo->h_sub[c];
  guint top, bottom;

  if (gst_prores_nv_fields_alternate (info)
      || !GST_VIDEO_INFO_IS_INTERLACED (info))
    return GST_VIDEO_SUB_SCALE (sub, rows);
  top = GST_VIDEO_SUB_SCALE (sub, (rows + 1) / 2);
  bottom = GST_VIDEO_SUB_SCALE (sub, rows / 2);
  return top > bottom ? 2 * top - 1 : 2 * bottom;
}

/* Bytes of a plane up to the end of row @rows - 1 of component @c of the
 * picture that begins at @x, @y. */
static gsize
component_end (const GstProresNvFormat * format, const GstVideoInfo * info,
    guint c, guint x, guint y, guint rows, gsize stride)
{
  return ((y >> info->finfo->h_sub[c]) + rows - 1) * stride
      + gst_prores_nv_format_offset (format, c, x)
      - gst_prores_nv_format_offset (format, c, 0)
      + gst_prores_nv_format_row_bytes (format, c, info->width);
}

gboolean
gst_prores_nv_picture_describe (GstElement * self, const GstVideoInfo * info,
    const GstVideoFrame * video, PnvPicture * picture)
{
  const GstProresNvFormat *format =
      gst_prores_nv_format_find (GST_VIDEO_INFO_FORMAT (info));
  const GstVideoFormatInfo *finfo = info->finfo;
  guint x, y;

  if (!find_origin (self, info, video, &x, &y))
    return FALSE;

  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo); c++) {
    const guint plane = GST_VIDEO_FORMAT_INFO_PLANE (finfo, c);
    const gint stride_of_video = GST_VIDEO_FRAME_PLANE_STRIDE (video, plane);
    const gsize stride = stride_of_video;
    const gsize there = plane_bytes (video, plane);
    const guint rows = component_rows (info, c);
    const guint least = GST_VIDEO_SUB_SCALE (finfo->h_sub[c], info->height);

    if (stride_of_video < 0) {
      GST_ELEMENT_ERROR (self, STREAM, FORMAT,
          ("A picture whose rows go upwards cannot be encoded. Put videoflip "
              "or videoconvert before proresnvenc."),
          ("plane %u: stride %d", plane, stride_of_video));
      return FALSE;
    }
    if (there < component_end (format, info, c, x, y, rows, stride)) {
      /* GStreamer 1.22 gives P010 of some heights a row less than two fields
       * have. */
      if (rows > least
          && there >= component_end (format, info, c, x, y, least, stride)) {
        picture->chroma_rows = least;
      } else {
        GST_ELEMENT_ERROR (self, STREAM, FORMAT,
            ("A buffer is smaller than its caps say. Put videoconvert before "
                "proresnvenc, or correct the element that made it."),
            ("plane %u: %" G_GSIZE_FORMAT " bytes at stride %" G_GSIZE_FORMAT
                ", needed %" G_GSIZE_FORMAT, plane, there, stride,
                component_end (format, info, c, x, y, rows, stride)));
        return FALSE;
      }
    }
    picture->plane[c] = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (video,
        plane) + (y >> finfo->h_sub[c]) * stride
        + gst_prores_nv_format_offset (format, c, x);
    picture->stride[c] = stride;
    picture->step[c] = GST_VIDEO_FORMAT_INFO_PSTRIDE (finfo, c);
  }
  return TRUE;
}

gboolean
gst_prores_nv_picture_describe_fields (GstElement * self,
    const GstVideoInfo * info, const GstVideoFrame * first,
    const GstVideoFrame * second, PnvPicture * picture)
{
  PnvPicture other = *picture;

  if (!gst_prores_nv_picture_describe (self, info, first, picture)
      || !gst_prores_nv_picture_describe (self, info, second, &other))
    return FALSE;

  for (guint c = 0; c < G_N_ELEMENTS (picture->plane); c++) {
    if (picture->stride[c] != other.stride[c]) {
      GST_ELEMENT_ERROR (self, STREAM, FORMAT,
          ("The two fields of a frame lie differently in memory. Put "
              "interlace-mode=interleaved video into proresnvenc."),
          ("component %u: strides %" G_GSSIZE_FORMAT ", %" G_GSSIZE_FORMAT, c,
              picture->stride[c], other.stride[c]));
      return FALSE;
    }
    picture->bottom[c] = picture->interlace == PNV_TOP_FIELD_FIRST ?
        other.plane[c] : picture->plane[c];
    if (picture->interlace == PNV_BOTTOM_FIELD_FIRST)
      picture->plane[c] = other.plane[c];
  }
  return TRUE;
}

/* A frame that its buffer cannot be, whatever is in it. Of a field a meta may
 * give its own rows, or those of the frame as the pools of GStreamer do. */
static gboolean
check_layout (GstElement * self, const GstVideoInfo * info,
    GstVideoFormat format, guint width, guint height)
{
  if (format == GST_VIDEO_INFO_FORMAT (info) && width >= (guint) info->width
      && height >= (guint) GST_VIDEO_INFO_FIELD_HEIGHT (info))
    return TRUE;

  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("A frame is not what its caps say. Put videoconvert before proresnvenc, "
          "or correct the element that made it."),
      ("buffer %s %ux%u, caps %s %dx%d", gst_video_format_to_string (format),
          width, height,
          gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)),
          info->width, info->height));
  return FALSE;
}

gboolean
gst_prores_nv_picture_map (GstElement * self, const GstVideoInfo * info,
    GstBuffer * buffer, GstMapFlags flags, GstVideoFrame * video)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  const GstVideoInfo *layout = gst_prores_nv_cuda_layout_of (buffer);
  GstVideoInfo mapped = *info;

  if (meta) {
    if (!check_layout (self, info, meta->format, meta->width, meta->height))
      return FALSE;
    /* Mapping refuses a meta of less height; what a field needs is checked. */
    mapped.height = MIN ((guint) info->height, meta->height);
  } else if (layout) {
    if (!check_layout (self, info, GST_VIDEO_INFO_FORMAT (layout),
            layout->width, layout->height))
      return FALSE;
    mapped = *layout;
  }
  /* No reference: the caller holds the buffer. */
  if (gst_video_frame_map (video, &mapped, buffer,
          (GstMapFlags) (GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF |
              flags)))
    return TRUE;

  if (gst_buffer_get_size (buffer) < GST_VIDEO_INFO_SIZE (info))
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A buffer is smaller than its caps say. Put videoconvert before "
            "proresnvenc, or correct the element that made it."),
        ("%" G_GSIZE_FORMAT " bytes, caps need %" G_GSIZE_FORMAT,
            gst_buffer_get_size (buffer), GST_VIDEO_INFO_SIZE (info)));
  else
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("A buffer cannot be read as its caps say. Put videoconvert before "
            "proresnvenc."), ("cannot map %" GST_PTR_FORMAT, buffer));
  return FALSE;
}
