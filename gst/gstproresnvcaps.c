/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gstproresnvcaps.h"

#include "gstproresnvcuda.h"

#define MEDIA_TYPE "video/x-prores"

/* As caps of unknown preference are read. */
static const PnvProfile profiles_all[GST_PRORES_NV_N_PROFILES] = {
  PNV_PROFILE_STANDARD, PNV_PROFILE_LT, PNV_PROFILE_HQ, PNV_PROFILE_PROXY,
  PNV_PROFILE_4444, PNV_PROFILE_4444XQ
};

gboolean
gst_prores_nv_profile_is_444 (PnvProfile profile)
{
  return profile == PNV_PROFILE_4444 || profile == PNV_PROFILE_4444XQ;
}

/* The profile of choice. */
static PnvProfile
preferred_profile (const GstProresNvFormat * format)
{
  return format->kind == GST_PRORES_NV_KIND_444
      || format->kind == GST_PRORES_NV_KIND_RGB || format->alpha_depth ?
      PNV_PROFILE_4444 : PNV_PROFILE_HQ;
}

static void
append_string (GValue * list, const gchar * string)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_set_static_string (&value, string);
  gst_value_list_append_and_take_value (list, &value);
}

/* How video comes, each with caps of its own. */
typedef enum
{
  FRAMES,
  CUDA_FRAMES,                  /* in the memory of a GPU */
  FIELDS,                       /* one a buffer: interlace-mode=alternate */
  N_FORMS
} Form;

/* Raw video of a kind, of all for -1, of any size and rate. */
static GstStructure *
raw_structure (Form form, gint kind)
{
  GstStructure *s = gst_structure_new ("video/x-raw",
      "width", GST_TYPE_INT_RANGE, 1, 65535,
      "height", GST_TYPE_INT_RANGE, 1, 65535,
      "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, NULL);
  GValue list = G_VALUE_INIT;
  const GstProresNvFormat *formats;
  guint n_formats;

  formats = gst_prores_nv_format_list (&n_formats);
  g_value_init (&list, GST_TYPE_LIST);
  for (guint i = 0; i < n_formats; i++)
    if ((kind < 0 || (gint) formats[i].kind == kind) && (form != CUDA_FRAMES
            || gst_prores_nv_cuda_has_format (formats[i].format)))
      append_string (&list, gst_video_format_to_string (formats[i].format));
  gst_structure_take_value (s, "format", &list);
  return s;
}

/* Caps say fields and memory with features, so that elements that know nothing
 * of them do not take them for frames and for ordinary memory. */
static void
append_form (GstCaps * caps, Form form, GstStructure * s)
{
  GstCapsFeatures *features = NULL;

  if (form == FIELDS) {
    gst_structure_set (s, "interlace-mode", G_TYPE_STRING, "alternate", NULL);
    features = gst_caps_features_new (GST_CAPS_FEATURE_FORMAT_INTERLACED, NULL);
  } else if (form == CUDA_FRAMES) {
    features = gst_caps_features_new (GST_PRORES_NV_CAPS_FEATURE_CUDA, NULL);
  }
  gst_caps_append_structure_full (caps, s, features);
}

GstCaps *
gst_prores_nv_sink_template_caps (void)
{
  GstCaps *caps = gst_caps_new_empty ();

  for (Form form = 0; form < N_FORMS; form++)
    if (form != CUDA_FRAMES || gst_prores_nv_cuda_is_here ())
      append_form (caps, form, raw_structure (form, -1));
  return caps;
}

GstCaps *
gst_prores_nv_src_template_caps (void)
{
  GstStructure *s = gst_structure_new (MEDIA_TYPE,
      "width", GST_TYPE_INT_RANGE, 1, 65535,
      "height", GST_TYPE_INT_RANGE, 1, 65535,
      "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, NULL);
  GValue list = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_LIST);
  for (guint i = 0; i < G_N_ELEMENTS (profiles_all); i++)
    append_string (&list, pnv_profile_name (profiles_all[i]));
  gst_structure_take_value (s, "variant", &list);
  return gst_caps_new_full (s, NULL);
}

static PnvProfile
profile_from_value (const GValue * value)
{
  if (G_VALUE_HOLDS_STRING (value))
    for (guint i = 0; i < G_N_ELEMENTS (profiles_all); i++)
      if (g_strcmp0 (g_value_get_string (value),
              pnv_profile_name (profiles_all[i])) == 0)
        return profiles_all[i];
  return PNV_PROFILE_AUTO;
}

/* Adds the profiles that one structure allows to those already in the list,
 * once each. Returns how many there are then. */
static guint
add_profiles (const GstStructure * s, PnvProfile * profiles, guint n)
{
  const GValue *variant = gst_structure_get_value (s, "variant");
  const gboolean is_list = variant && GST_VALUE_HOLDS_LIST (variant);
  guint n_values = 1;

  if (!variant)
    n_values = G_N_ELEMENTS (profiles_all);
  else if (is_list)
    n_values = gst_value_list_get_size (variant);

  for (guint i = 0; i < n_values; i++) {
    PnvProfile profile;
    guint j = 0;

    if (!variant)
      profile = profiles_all[i];
    else if (is_list)
      profile = profile_from_value (gst_value_list_get_value (variant, i));
    else
      profile = profile_from_value (variant);

    while (j < n && profiles[j] != profile)
      j++;
    if (profile != PNV_PROFILE_AUTO && j == n)
      profiles[n++] = profile;
  }
  return n;
}

/* TRUE if a structure of downstream's caps can be met by any of our caps. */
static gboolean
structure_is_ours (const GstCaps * caps, guint i)
{
  const GstCapsFeatures *features = gst_caps_get_features (caps, i);

  return gst_structure_has_name (gst_caps_get_structure (caps, i), MEDIA_TYPE)
      && (gst_caps_features_is_any (features)
      || gst_caps_features_is_equal (features,
          GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY));
}

guint
gst_prores_nv_profiles_allowed (const GstCaps * downstream,
    const GstVideoInfo * info, PnvProfile profiles[GST_PRORES_NV_N_PROFILES])
{
  GstStructure *ours;
  guint n = 0;

  if (gst_caps_is_any (downstream)) {
    memcpy (profiles, profiles_all, sizeof profiles_all);
    return G_N_ELEMENTS (profiles_all);
  }

  ours = gst_structure_new (MEDIA_TYPE, "width", G_TYPE_INT, info->width,
      "height", G_TYPE_INT, info->height, NULL);
  for (guint i = 0; i < gst_caps_get_size (downstream); i++) {
    const GstStructure *s = gst_caps_get_structure (downstream, i);

    if (structure_is_ours (downstream, i)
        && gst_structure_can_intersect (s, ours))
      n = add_profiles (s, profiles, n);
  }
  gst_structure_free (ours);
  return n;
}

PnvProfile
gst_prores_nv_profile_choose (const GstProresNvFormat * format,
    const PnvProfile * allowed, guint n_allowed)
{
  const PnvProfile preferred = preferred_profile (format);

  for (guint i = 0; i < n_allowed; i++)
    if (allowed[i] == preferred)
      return preferred;
  for (guint i = 0; i < n_allowed; i++)
    if (gst_prores_nv_profile_is_444 (allowed[i]) ==
        gst_prores_nv_profile_is_444 (preferred))
      return allowed[i];
  return n_allowed ? allowed[0] : PNV_PROFILE_AUTO;
}

/* Raw caps of a kind that give what one structure of downstream's caps takes.
 * What conversion changes is not asked of upstream. */
static GstStructure *
raw_for_downstream (const GstStructure * downstream, Form form,
    GstProresNvKind kind)
{
  static const gchar *const passed[] = { "width", "height", "framerate",
    "pixel-aspect-ratio", "interlace-mode", "colorimetry", "chroma-site"
  };
  const guint n_passed = G_N_ELEMENTS (passed)
      - (kind != GST_PRORES_NV_KIND_422) - (kind == GST_PRORES_NV_KIND_RGB);
  GstStructure *s = raw_structure (form, kind);

  for (guint i = 0; i < n_passed; i++) {
    const GValue *value = gst_structure_get_value (downstream, passed[i]);
    if (value)
      gst_structure_set_value (s, passed[i], value);
  }
  return s;
}

/* Fields in buffers of their own come out as interleaved frames. */
static gboolean
takes_interleaved (const GstStructure * downstream)
{
  GstStructure *ours = gst_structure_new (MEDIA_TYPE, "interlace-mode",
      G_TYPE_STRING, "interleaved", NULL);
  const gboolean takes = gst_structure_can_intersect (downstream, ours);

  gst_structure_free (ours);
  return takes;
}

/* What one structure of downstream's caps leaves to upstream. All kinds are
 * taken under all profiles; what needs no conversion comes first, for who can
 * make anything. */
static void
append_raw (GstCaps * caps, Form form, PnvProfile profile,
    const GstStructure * downstream)
{
  static const GstProresNvKind orders[2][GST_PRORES_NV_N_KINDS] = {
    {GST_PRORES_NV_KIND_422, GST_PRORES_NV_KIND_420, GST_PRORES_NV_KIND_444,
        GST_PRORES_NV_KIND_RGB},
    {GST_PRORES_NV_KIND_444, GST_PRORES_NV_KIND_RGB, GST_PRORES_NV_KIND_422,
        GST_PRORES_NV_KIND_420}
  };
  PnvProfile allowed[GST_PRORES_NV_N_PROFILES];
  const guint n_allowed = add_profiles (downstream, allowed, 0);
  gboolean any = FALSE, only_444 = TRUE;

  if (form == FIELDS && !takes_interleaved (downstream))
    return;
  for (guint i = 0; i < n_allowed; i++) {
    if (profile != PNV_PROFILE_AUTO && profile != allowed[i])
      continue;
    any = TRUE;
    only_444 &= gst_prores_nv_profile_is_444 (allowed[i]);
  }
  for (guint k = 0; any && k < GST_PRORES_NV_N_KINDS; k++)
    append_form (caps, form, raw_for_downstream (downstream, form,
            orders[only_444][k]));
}

GstCaps *
gst_prores_nv_sink_caps (PnvProfile profile, PnvBackend backend,
    const GstCaps * downstream)
{
  static const Form orders[][N_FORMS] = {
    {FRAMES, CUDA_FRAMES, FIELDS},
    {CUDA_FRAMES, FRAMES, FIELDS}
  };
  const Form *const order = orders[backend == PNV_BACKEND_CUDA];
  GstCaps *any = gst_prores_nv_src_template_caps ();
  GstCaps *template = gst_prores_nv_sink_template_caps ();
  GstCaps *caps = gst_caps_new_empty (), *result;

  if (gst_caps_is_any (downstream))
    downstream = any;
  for (guint k = 0; k < N_FORMS; k++) {
    if (order[k] == CUDA_FRAMES && backend == PNV_BACKEND_CPU)
      continue;
    for (guint i = 0; i < gst_caps_get_size (downstream); i++)
      if (structure_is_ours (downstream, i))
        append_raw (caps, order[k], profile,
            gst_caps_get_structure (downstream, i));
  }

  result = gst_caps_intersect_full (caps, template, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);
  gst_caps_unref (template);
  gst_caps_unref (any);
  return result;
}

GstCaps *
gst_prores_nv_src_caps (PnvProfile profile, gboolean has_alpha)
{
  GstCaps *caps = gst_caps_new_simple (MEDIA_TYPE,
      "variant", G_TYPE_STRING, pnv_profile_name (profile), NULL);

  /* 24 says that 4:4:4 comes without alpha: muxers assume 32 otherwise, and
   * players blend what is marked so. */
  if (gst_prores_nv_profile_is_444 (profile))
    gst_caps_set_simple (caps, "depth", G_TYPE_INT, has_alpha ? 32 : 24, NULL);
  return caps;
}

GstVideoColorimetry
gst_prores_nv_colorimetry (const GstVideoColorimetry * colorimetry)
{
  GstVideoColorimetry c = *colorimetry;

  switch (c.transfer) {
    case GST_VIDEO_TRANSFER_BT601:
    case GST_VIDEO_TRANSFER_BT2020_10:
    case GST_VIDEO_TRANSFER_BT2020_12:
      c.transfer = GST_VIDEO_TRANSFER_BT709;
      break;
    default:
      break;
  }
  switch (c.primaries) {
    case GST_VIDEO_COLOR_PRIMARIES_EBU3213:
      c.primaries = GST_VIDEO_COLOR_PRIMARIES_BT470BG;
      break;
    case GST_VIDEO_COLOR_PRIMARIES_SMPTE240M:
      c.primaries = GST_VIDEO_COLOR_PRIMARIES_SMPTE170M;
      break;
    default:
      break;
  }
  return c;
}

/* GStreamer gives RGB caps no matrix of their own. */
static GstVideoColorMatrix
matrix_for_rgb (const GstVideoInfo * info)
{
  GstVideoInfo ycbcr;

  switch (info->colorimetry.primaries) {
    case GST_VIDEO_COLOR_PRIMARIES_BT709:
      return GST_VIDEO_COLOR_MATRIX_BT709;
    case GST_VIDEO_COLOR_PRIMARIES_BT2020:
      return GST_VIDEO_COLOR_MATRIX_BT2020;
    case GST_VIDEO_COLOR_PRIMARIES_BT470BG:
    case GST_VIDEO_COLOR_PRIMARIES_SMPTE170M:
    case GST_VIDEO_COLOR_PRIMARIES_EBU3213:
      return GST_VIDEO_COLOR_MATRIX_BT601;
    default:
      gst_video_info_set_format (&ycbcr, GST_VIDEO_FORMAT_AYUV, info->width,
          info->height);
      return ycbcr.colorimetry.matrix;
  }
}

GstVideoColorimetry
gst_prores_nv_coded_colorimetry (const GstVideoInfo * info)
{
  GstVideoColorimetry c = info->colorimetry;

  if (GST_VIDEO_INFO_IS_RGB (info)) {
    c.range = GST_VIDEO_COLOR_RANGE_16_235;
    c.matrix = matrix_for_rgb (info);
  } else if (c.range == GST_VIDEO_COLOR_RANGE_0_255) {
    c.range = GST_VIDEO_COLOR_RANGE_16_235;
  }
  return c;
}

GstVideoColorimetry
gst_prores_nv_src_colorimetry (const GstVideoInfo * info,
    const GstCaps * downstream)
{
  GstVideoColorimetry as_input = gst_prores_nv_coded_colorimetry (info);
  GstVideoColorimetry legal = gst_prores_nv_colorimetry (&as_input);
  gchar *name = gst_video_colorimetry_to_string (&legal);
  GstCaps *caps;

  if (!name)
    return as_input;
  caps = gst_caps_new_simple (MEDIA_TYPE, "colorimetry", G_TYPE_STRING, name,
      NULL);
  if (!gst_caps_can_intersect (caps, downstream))
    legal = as_input;
  gst_caps_unref (caps);
  g_free (name);
  return legal;
}

GstVideoChromaSite
gst_prores_nv_src_chroma_site (const GstVideoInfo * info, const GstCaps * caps,
    PnvProfile profile)
{
  const GstProresNvFormat *format =
      gst_prores_nv_format_find (GST_VIDEO_INFO_FORMAT (info));

  if (format->kind != (gst_prores_nv_profile_is_444 (profile) ?
          GST_PRORES_NV_KIND_444 : GST_PRORES_NV_KIND_422))
    return gst_prores_nv_profile_is_444 (profile) ?
        GST_VIDEO_CHROMA_SITE_UNKNOWN : GST_VIDEO_CHROMA_SITE_COSITED;
  /* Where caps say nothing, a GstVideoInfo has a guess. */
  return gst_structure_has_field (gst_caps_get_structure (caps, 0),
      "chroma-site") ? info->chroma_site : GST_VIDEO_CHROMA_SITE_UNKNOWN;
}

/* The codes of RDD 36 6.1.1 in ascending order; others are unspecified. */
static gint
legal_code (guint code, const guint8 * legal, gsize n_legal)
{
  for (gsize i = 0; i < n_legal; i++)
    if (code == legal[i])
      return code;
  return 2;
}

static void
set_color_codes (PnvParams * params, const GstVideoInfo * info)
{
  static const guint8 primaries[] = { 1, 5, 6, 9, 11, 12 };
  static const guint8 transfers[] = { 1, 16, 18 };
  static const guint8 matrices[] = { 1, 6, 9 };
  const GstVideoColorimetry coded = gst_prores_nv_coded_colorimetry (info);
  const GstVideoColorimetry c = gst_prores_nv_colorimetry (&coded);

  params->color_primaries =
      legal_code (gst_video_color_primaries_to_iso (c.primaries), primaries,
      sizeof primaries);
  params->transfer_characteristic =
      legal_code (gst_video_transfer_function_to_iso (c.transfer), transfers,
      sizeof transfers);
  params->matrix_coefficients =
      legal_code (gst_video_color_matrix_to_iso (c.matrix), matrices,
      sizeof matrices);
}

static PnvSiting
siting_of (const GstVideoInfo * info)
{
  const GstVideoChromaSite site = info->chroma_site;

  if (site == GST_VIDEO_CHROMA_SITE_UNKNOWN)
    return PNV_SITING_LEFT;
  if (site & GST_VIDEO_CHROMA_SITE_H_COSITED)
    return site & GST_VIDEO_CHROMA_SITE_V_COSITED ? PNV_SITING_TOP_LEFT
        : PNV_SITING_LEFT;
  return site & GST_VIDEO_CHROMA_SITE_V_COSITED ? PNV_SITING_TOP
      : PNV_SITING_CENTER;
}

void
gst_prores_nv_params_from_info (PnvParams * params, const GstVideoInfo * info)
{
  const GstProresNvFormat *format =
      gst_prores_nv_format_find (GST_VIDEO_INFO_FORMAT (info));

  g_return_if_fail (format != NULL);

  params->width = info->width;
  params->height = info->height;
  gst_prores_nv_format_apply (format, params);
  params->siting = siting_of (info);
  if (info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255)
    params->range = PNV_RANGE_FULL;
  params->par_n = info->par_n;
  params->par_d = info->par_d;
  set_color_codes (params, info);
  /* A variable rate has a maximum there, which is no rate to write down. */
  if (!(info->flags & GST_VIDEO_FLAG_VARIABLE_FPS)) {
    params->fps_n = info->fps_n;
    params->fps_d = info->fps_d;
  }
}
