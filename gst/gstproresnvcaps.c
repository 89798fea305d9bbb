/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gstproresnvcaps.h"

#define MEDIA_TYPE "video/x-prores"

/* In order of preference where upstream can choose: 10 bits are what ProRes
 * is made for, and alpha is for those who have it. A new format needs a row
 * here, and a fetch in the core if its samples are neither bytes nor words. */
static const GstProresNvFormat formats[] = {
  {GST_VIDEO_FORMAT_I422_10LE, PNV_CHROMA_422, 10, FALSE},
  {GST_VIDEO_FORMAT_I422_12LE, PNV_CHROMA_422, 12, FALSE},
  {GST_VIDEO_FORMAT_Y42B, PNV_CHROMA_422, 8, FALSE},
  {GST_VIDEO_FORMAT_Y444_10LE, PNV_CHROMA_444, 10, FALSE},
  {GST_VIDEO_FORMAT_Y444_12LE, PNV_CHROMA_444, 12, FALSE},
  {GST_VIDEO_FORMAT_Y444_16LE, PNV_CHROMA_444, 16, FALSE},
  {GST_VIDEO_FORMAT_Y444, PNV_CHROMA_444, 8, FALSE},
  {GST_VIDEO_FORMAT_A444_10LE, PNV_CHROMA_444, 10, TRUE},
#if GST_CHECK_VERSION (1, 24, 0)
  {GST_VIDEO_FORMAT_A444_12LE, PNV_CHROMA_444, 12, TRUE},
  {GST_VIDEO_FORMAT_A444_16LE, PNV_CHROMA_444, 16, TRUE},
#endif
#if G_BYTE_ORDER == G_LITTLE_ENDIAN     /* in the order of the machine */
  {GST_VIDEO_FORMAT_AYUV64, PNV_CHROMA_444, 16, TRUE},
#endif
#if GST_CHECK_VERSION (1, 24, 0)
  {GST_VIDEO_FORMAT_A444, PNV_CHROMA_444, 8, TRUE},
#endif
  {GST_VIDEO_FORMAT_AYUV, PNV_CHROMA_444, 8, TRUE},
};

/* As caps of unknown preference are read. */
static const PnvProfile profiles_all[GST_PRORES_NV_N_PROFILES] = {
  PNV_PROFILE_STANDARD, PNV_PROFILE_LT, PNV_PROFILE_HQ, PNV_PROFILE_PROXY,
  PNV_PROFILE_4444, PNV_PROFILE_4444XQ
};

const GstProresNvFormat *
gst_prores_nv_format_find (GstVideoFormat format)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].format == format)
      return &formats[i];
  return NULL;
}

PnvChroma
gst_prores_nv_profile_chroma (PnvProfile profile)
{
  return profile == PNV_PROFILE_4444 || profile == PNV_PROFILE_4444XQ ?
      PNV_CHROMA_444 : PNV_CHROMA_422;
}

const gchar *
gst_prores_nv_chroma_name (PnvChroma chroma)
{
  return chroma == PNV_CHROMA_444 ? "4:4:4" : "4:2:2";
}

static void
append_string (GValue * list, const gchar * string)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_set_static_string (&value, string);
  gst_value_list_append_and_take_value (list, &value);
}

/* Raw video of the wanted chroma formats, of any size and rate. */
static GstStructure *
raw_structure (gboolean want_422, gboolean want_444)
{
  GstStructure *s = gst_structure_new ("video/x-raw",
      "width", GST_TYPE_INT_RANGE, 1, 65535,
      "height", GST_TYPE_INT_RANGE, 1, 65535,
      "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, NULL);
  GValue list = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_LIST);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].chroma == PNV_CHROMA_444 ? want_444 : want_422)
      append_string (&list, gst_video_format_to_string (formats[i].format));
  gst_structure_take_value (s, "format", &list);
  return s;
}

/* One field a buffer, which caps say with a feature, so that elements that
 * know nothing of it do not take it for frames. */
static void
append_alternate (GstCaps * caps, GstStructure * s)
{
  gst_structure_set (s, "interlace-mode", G_TYPE_STRING, "alternate", NULL);
  gst_caps_append_structure_full (caps, s,
      gst_caps_features_new (GST_CAPS_FEATURE_FORMAT_INTERLACED, NULL));
}

GstCaps *
gst_prores_nv_sink_template_caps (void)
{
  GstCaps *caps = gst_caps_new_full (raw_structure (TRUE, TRUE), NULL);

  append_alternate (caps, raw_structure (TRUE, TRUE));
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
gst_prores_nv_profile_choose (PnvChroma chroma, const PnvProfile * allowed,
    guint n_allowed)
{
  const PnvProfile preferred =
      chroma == PNV_CHROMA_444 ? PNV_PROFILE_4444 : PNV_PROFILE_HQ;
  PnvProfile first = PNV_PROFILE_AUTO;

  for (guint i = 0; i < n_allowed; i++) {
    if (allowed[i] == preferred)
      return preferred;
    if (first == PNV_PROFILE_AUTO
        && gst_prores_nv_profile_chroma (allowed[i]) == chroma)
      first = allowed[i];
  }
  return first;
}

/* Raw caps that give what one structure of downstream's caps takes. */
static GstStructure *
raw_for_downstream (const GstStructure * downstream, PnvChroma chroma)
{
  static const gchar *const passed[] = { "width", "height", "framerate",
    "pixel-aspect-ratio", "interlace-mode", "colorimetry", "chroma-site"
  };
  GstStructure *s = raw_structure (chroma == PNV_CHROMA_422,
      chroma == PNV_CHROMA_444);

  for (guint i = 0; i < G_N_ELEMENTS (passed); i++) {
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

/* What one structure of downstream's caps leaves to upstream. 4:2:2 stands
 * apart and first: who can make anything shall not end at 4444 by chance.
 * Within each, the order is upstream's. */
static void
append_raw (GstCaps * caps, PnvProfile profile, const GstStructure * downstream,
    gboolean alternate)
{
  static const PnvChroma chromas[] = { PNV_CHROMA_422, PNV_CHROMA_444 };
  PnvProfile allowed[GST_PRORES_NV_N_PROFILES];
  const guint n_allowed = add_profiles (downstream, allowed, 0);

  if (alternate && !takes_interleaved (downstream))
    return;
  for (guint c = 0; c < G_N_ELEMENTS (chromas); c++) {
    gboolean want = FALSE;

    for (guint i = 0; i < n_allowed; i++)
      want |= gst_prores_nv_profile_chroma (allowed[i]) == chromas[c]
          && (profile == PNV_PROFILE_AUTO || profile == allowed[i]);
    if (!want)
      continue;
    if (alternate)
      append_alternate (caps, raw_for_downstream (downstream, chromas[c]));
    else
      gst_caps_append_structure (caps, raw_for_downstream (downstream,
              chromas[c]));
  }
}

GstCaps *
gst_prores_nv_sink_caps (PnvProfile profile, const GstCaps * downstream)
{
  GstCaps *any = gst_prores_nv_src_template_caps ();
  GstCaps *template = gst_prores_nv_sink_template_caps ();
  GstCaps *caps = gst_caps_new_empty (), *result;

  if (gst_caps_is_any (downstream))
    downstream = any;
  for (guint alternate = 0; alternate < 2; alternate++)
    for (guint i = 0; i < gst_caps_get_size (downstream); i++)
      if (structure_is_ours (downstream, i))
        append_raw (caps, profile, gst_caps_get_structure (downstream, i),
            alternate);

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
  if (gst_prores_nv_profile_chroma (profile) == PNV_CHROMA_444)
    gst_caps_set_simple (caps, "depth", G_TYPE_INT, has_alpha ? 32 : 24, NULL);
  return caps;
}

GstVideoColorimetry
gst_prores_nv_colorimetry (const GstVideoColorimetry * colorimetry)
{
  GstVideoColorimetry c = *colorimetry;

  /* Full range is converted: the stream is video range. */
  if (c.range == GST_VIDEO_COLOR_RANGE_0_255)
    c.range = GST_VIDEO_COLOR_RANGE_16_235;
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

GstVideoColorimetry
gst_prores_nv_src_colorimetry (const GstVideoColorimetry * colorimetry,
    const GstCaps * downstream)
{
  GstVideoColorimetry legal = gst_prores_nv_colorimetry (colorimetry);
  GstVideoColorimetry as_input = *colorimetry;
  gchar *name = gst_video_colorimetry_to_string (&legal);
  GstCaps *caps;

  /* The input's own words, but for the range. */
  as_input.range = legal.range;
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
set_color_codes (PnvParams * params, const GstVideoColorimetry * colorimetry)
{
  static const guint8 primaries[] = { 1, 5, 6, 9, 11, 12 };
  static const guint8 transfers[] = { 1, 16, 18 };
  static const guint8 matrices[] = { 1, 6, 9 };
  const GstVideoColorimetry c = gst_prores_nv_colorimetry (colorimetry);

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

void
gst_prores_nv_params_from_info (PnvParams * params, const GstVideoInfo * info)
{
  const GstProresNvFormat *format =
      gst_prores_nv_format_find (GST_VIDEO_INFO_FORMAT (info));

  g_return_if_fail (format != NULL);

  params->width = info->width;
  params->height = info->height;
  params->chroma = format->chroma;
  params->depth = format->depth;
  if (info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255)
    params->range = PNV_RANGE_FULL;
  params->par_n = info->par_n;
  params->par_d = info->par_d;
  set_color_codes (params, &info->colorimetry);
  /* A variable rate has a maximum there, which is no rate to write down. */
  if (!(info->flags & GST_VIDEO_FLAG_VARIABLE_FPS)) {
    params->fps_n = info->fps_n;
    params->fps_d = info->fps_d;
  }
}
