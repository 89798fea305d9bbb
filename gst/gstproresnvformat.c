/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gstproresnvformat.h"

#define F(name) GST_VIDEO_FORMAT_##name
#define KIND(name) GST_PRORES_NV_KIND_##name

/* Samples in planes or strided in common ones, where GstVideoFormatInfo says,
 * or, where that of GStreamer 1.22 is not so, here; with shift, in the upper bits
 * of their words. */
#define SAMPLES(name, kind, depth, alpha) \
  {F (name), KIND (kind), depth, alpha, PNV_PACKING_SAMPLES, {0}, FALSE, {0}}
#define PLACED(name, kind, depth, alpha, shift, ...) \
  {F (name), KIND (kind), depth, alpha, PNV_PACKING_SAMPLES, \
    {shift, shift, shift, shift}, TRUE, {__VA_ARGS__}}
/* Three times ten bits in a word, and two of alpha. */
#define WORDS(name, kind, alpha, packing, ...) \
  {F (name), KIND (kind), 10, alpha, packing, {__VA_ARGS__}, FALSE, {0}}
#define GROUPS(name, packing) \
  {F (name), KIND (422), 10, 0, packing, {0}, FALSE, {0}}

/* Of each kind in order of preference where upstream can choose: 10 bits are
 * what ProRes is made for, what is read fastest comes first among equals, and
 * alpha is for those who have it. */
static const GstProresNvFormat formats[] = {
  SAMPLES (I422_10LE, 422, 10, 0),
  GROUPS (v210, PNV_PACKING_V210),
  PLACED (Y210, 422, 10, 0, 6, 0, 2, 6),
  GROUPS (UYVP, PNV_PACKING_UYVP),
  SAMPLES (I422_12LE, 422, 12, 0),
  PLACED (Y212_LE, 422, 12, 0, 4, 0, 2, 6),
#if G_BYTE_ORDER == G_LITTLE_ENDIAN     /* in the order of the machine */
  SAMPLES (v216, 422, 16, 0),
#endif
  SAMPLES (Y42B, 422, 8, 0),
  SAMPLES (NV16, 422, 8, 0),
  SAMPLES (NV61, 422, 8, 0),
  SAMPLES (UYVY, 422, 8, 0),
  SAMPLES (YUY2, 422, 8, 0),
  SAMPLES (YVYU, 422, 8, 0),
  SAMPLES (A422_10LE, 422, 10, 10),
#if GST_CHECK_VERSION (1, 24, 0)
  SAMPLES (A422_12LE, 422, 12, 12),
  SAMPLES (A422_16LE, 422, 16, 16),
  SAMPLES (A422, 422, 8, 8),
#endif
  SAMPLES (I420_10LE, 420, 10, 0),
  PLACED (P010_10LE, 420, 10, 0, 6, 0, 0, 2),
  SAMPLES (I420_12LE, 420, 12, 0),
  PLACED (P012_LE, 420, 12, 0, 4, 0, 0, 2),
  PLACED (P016_LE, 420, 16, 0, 0, 0, 0, 2),
  SAMPLES (I420, 420, 8, 0),
  SAMPLES (YV12, 420, 8, 0),
  SAMPLES (NV12, 420, 8, 0),
  SAMPLES (NV21, 420, 8, 0),
  SAMPLES (A420_10LE, 420, 10, 10),
#if GST_CHECK_VERSION (1, 24, 0)
  SAMPLES (A420_12LE, 420, 12, 12),
  SAMPLES (A420_16LE, 420, 16, 16),
#endif
  SAMPLES (A420, 420, 8, 8),
  SAMPLES (AV12, 420, 8, 8),
  SAMPLES (Y444_10LE, 444, 10, 0),
  SAMPLES (Y444_12LE, 444, 12, 0),
  SAMPLES (Y444_16LE, 444, 16, 0),
  SAMPLES (Y444, 444, 8, 0),
  SAMPLES (NV24, 444, 8, 0),
  SAMPLES (v308, 444, 8, 0),
  SAMPLES (IYU2, 444, 8, 0),
  SAMPLES (A444_10LE, 444, 10, 10),
  WORDS (Y410, 444, 2, PNV_PACKING_WORDS, 10, 0, 20, 30),
#if GST_CHECK_VERSION (1, 24, 0)
  SAMPLES (A444_12LE, 444, 12, 12),
  SAMPLES (A444_16LE, 444, 16, 16),
#endif
  PLACED (Y412_LE, 444, 12, 12, 4, 2, 0, 4, 6),
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
  SAMPLES (AYUV64, 444, 16, 16),
#endif
#if GST_CHECK_VERSION (1, 24, 0)
  SAMPLES (A444, 444, 8, 8),
#endif
  SAMPLES (AYUV, 444, 8, 8),
  SAMPLES (VUYA, 444, 8, 8),
  SAMPLES (GBR_10LE, RGB, 10, 0),
  WORDS (r210, RGB, 0, PNV_PACKING_WORDS_BE, 20, 10, 0),
  SAMPLES (GBR_12LE, RGB, 12, 0),
#if GST_CHECK_VERSION (1, 24, 0)
  SAMPLES (GBR_16LE, RGB, 16, 0),
#endif
  SAMPLES (GBR, RGB, 8, 0),
  SAMPLES (RGBP, RGB, 8, 0),
  SAMPLES (BGRP, RGB, 8, 0),
  SAMPLES (BGRx, RGB, 8, 0),
  SAMPLES (RGBx, RGB, 8, 0),
  SAMPLES (xRGB, RGB, 8, 0),
  SAMPLES (xBGR, RGB, 8, 0),
  SAMPLES (RGB, RGB, 8, 0),
  SAMPLES (BGR, RGB, 8, 0),
  SAMPLES (GBRA_10LE, RGB, 10, 10),
  WORDS (RGB10A2_LE, RGB, 2, PNV_PACKING_WORDS, 0, 10, 20, 30),
  WORDS (BGR10A2_LE, RGB, 2, PNV_PACKING_WORDS, 20, 10, 0, 30),
  SAMPLES (GBRA_12LE, RGB, 12, 12),
  SAMPLES (RGBA64_LE, RGB, 16, 16),
  SAMPLES (BGRA64_LE, RGB, 16, 16),
  SAMPLES (ARGB64_LE, RGB, 16, 16),
  SAMPLES (ABGR64_LE, RGB, 16, 16),
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
  SAMPLES (ARGB64, RGB, 16, 16),
#endif
  SAMPLES (GBRA, RGB, 8, 8),
  SAMPLES (BGRA, RGB, 8, 8),
  SAMPLES (RGBA, RGB, 8, 8),
  SAMPLES (ARGB, RGB, 8, 8),
  SAMPLES (ABGR, RGB, 8, 8),
};

const GstProresNvFormat *
gst_prores_nv_format_find (GstVideoFormat format)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].format == format)
      return &formats[i];
  return NULL;
}

const GstProresNvFormat *
gst_prores_nv_format_list (guint * n_formats)
{
  *n_formats = G_N_ELEMENTS (formats);
  return formats;
}

const gchar *
gst_prores_nv_kind_name (GstProresNvKind kind)
{
  static const gchar *const names[GST_PRORES_NV_N_KINDS] = {
    "4:2:2", "4:2:0", "4:4:4", "RGB"
  };
  return names[kind];
}

/* Pixels and bytes of what cannot be parted. */
static void
group_of (const GstProresNvFormat * format, guint * pixels, guint * bytes)
{
  *pixels = format->packing == PNV_PACKING_V210 ? 6 : 2;
  *bytes = format->packing == PNV_PACKING_V210 ? 16 : 5;
}

static gboolean
has_groups (const GstProresNvFormat * format)
{
  return format->packing == PNV_PACKING_V210
      || format->packing == PNV_PACKING_UYVP;
}

guint
gst_prores_nv_format_columns (const GstProresNvFormat * format)
{
  guint pixels, bytes;

  if (!has_groups (format))
    return format->kind == GST_PRORES_NV_KIND_422
        || format->kind == GST_PRORES_NV_KIND_420 ? 2 : 1;
  group_of (format, &pixels, &bytes);
  return pixels;
}

gsize
gst_prores_nv_format_offset (const GstProresNvFormat * format, guint c, guint x)
{
  const GstVideoFormatInfo *info = gst_video_format_get_info (format->format);
  guint pixels, bytes;

  if (has_groups (format)) {
    group_of (format, &pixels, &bytes);
    return (gsize) (x / pixels) * bytes;
  }
  return (gsize) (x >> info->w_sub[c]) * info->pixel_stride[c]
      + (format->has_offsets ? format->offset[c] : info->poffset[c]);
}

gsize
gst_prores_nv_format_row_bytes (const GstProresNvFormat * format, guint c,
    guint width)
{
  const GstVideoFormatInfo *info = gst_video_format_get_info (format->format);
  guint pixels, bytes;

  if (has_groups (format)) {
    group_of (format, &pixels, &bytes);
    /* The second luma sample of a UYVP group is its last. */
    return (gsize) ((width + pixels - 1) / pixels) * bytes
        - (pixels == 2 && width % 2);
  }
  return (gsize) GST_VIDEO_SUB_SCALE (info->w_sub[c], width)
      * info->pixel_stride[c];
}

void
gst_prores_nv_format_apply (const GstProresNvFormat * format,
    PnvParams * params)
{
  static const PnvChroma chromas[GST_PRORES_NV_N_KINDS] = {
    PNV_CHROMA_422, PNV_CHROMA_420, PNV_CHROMA_444, PNV_CHROMA_444
  };

  params->model = format->kind == GST_PRORES_NV_KIND_RGB ? PNV_MODEL_RGB
      : PNV_MODEL_YCBCR;
  params->chroma = chromas[format->kind];
  params->depth = format->depth;
  params->alpha_depth = format->alpha_depth;
  params->packing = format->packing;
  memcpy (params->shift, format->shift, sizeof params->shift);
}
