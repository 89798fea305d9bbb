/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gstproresnvopen.h"

#include "gstproresnvcaps.h"

#define GST_CAT_DEFAULT gst_prores_nv_enc_debug
GST_DEBUG_CATEGORY_EXTERN (gst_prores_nv_enc_debug);

static gboolean
encoder_id_is_valid (const gchar * id)
{
  if (!id || strlen (id) != 4)
    return FALSE;
  for (; *id; id++)
    if (!g_ascii_isprint (*id))
      return FALSE;
  return TRUE;
}

gboolean
gst_prores_nv_open_check_id (GstElement * self,
    const GstProresNvSettings * settings)
{
  const gchar *id = settings->encoder_id;

  if (encoder_id_is_valid (id))
    return TRUE;
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
      ("The encoder id has to be four printable ASCII characters. Set "
          "encoder-id to such a text, for example "
          GST_PRORES_NV_DEFAULT_ENCODER_ID "."),
      ("encoder-id=\"%s\"", id ? id : "(null)"));
  return FALSE;
}

/* What the caps say that no frame can carry, or not every player read. */
static gboolean
check_info (GstElement * self, const GstVideoInfo * info,
    const GstCaps * caps)
{
  const gint height = GST_VIDEO_INFO_HEIGHT (info);

  if (GST_VIDEO_INFO_INTERLACE_MODE (info) ==
      GST_VIDEO_INTERLACE_MODE_PROGRESSIVE)
    return TRUE;
  if (GST_VIDEO_INFO_INTERLACE_MODE (info) == GST_VIDEO_INTERLACE_MODE_FIELDS) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Video of interlace-mode=fields cannot be encoded. Put deinterlace "
            "before proresnvenc."), ("caps %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (height < 2) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("A frame of one row has no two fields. Set interlace-mode=progressive "
            "in its caps."), ("caps %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (height % 32 == 1)
    GST_ELEMENT_WARNING (self, STREAM, WRONG_TYPE,
        ("Interlaced video of %d rows is coded as the standard says, but "
            "FFmpeg cannot read it. Crop or add a row to be safe.", height),
        ("caps %" GST_PTR_FORMAT, caps));
  return TRUE;
}

/* The trap of pipeline descriptions: 4444 is read as a number. */
static const gchar *
variant_hint (const GstCaps * downstream)
{
  for (guint i = 0; i < gst_caps_get_size (downstream); i++)
    if (gst_structure_has_field_typed (gst_caps_get_structure (downstream, i),
            "variant", G_TYPE_INT))
      return " In a pipeline description write variant=(string)4444.";
  return "";
}

/* Auto and an error posted when the property, the caps and downstream cannot
 * agree. */
static PnvProfile
choose_profile (GstElement * self, PnvProfile wanted,
    const GstVideoInfo * info, const GstCaps * caps, const GstCaps * downstream)
{
  const GstProresNvFormat *format =
      gst_prores_nv_format_find (GST_VIDEO_INFO_FORMAT (info));
  PnvProfile allowed[GST_PRORES_NV_N_PROFILES], profile;
  const guint n_allowed =
      gst_prores_nv_profiles_allowed (downstream, info, allowed);

  profile = gst_prores_nv_profile_choose (format, allowed, n_allowed);
  for (guint i = 0; i < n_allowed; i++)
    if (allowed[i] == wanted)
      profile = wanted;
  if (profile == PNV_PROFILE_AUTO
      || (wanted != PNV_PROFILE_AUTO && profile != wanted)) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Downstream does not take %dx%d video with profile=%s. Change the "
            "profile or the caps after proresnvenc.%s", info->width,
            info->height, pnv_profile_name (wanted), variant_hint (downstream)),
        ("caps %" GST_PTR_FORMAT ", downstream takes %" GST_PTR_FORMAT, caps,
            downstream));
    return PNV_PROFILE_AUTO;
  }
  return profile;
}

/* Bits of alpha to code. What cannot be had is told once, not refused: a
 * picture without its alpha is still one. */
static gint
choose_alpha_bits (GstElement * self, gint wanted, PnvProfile profile,
    const GstVideoInfo * info)
{
  const GstProresNvFormat *format =
      gst_prores_nv_format_find (GST_VIDEO_INFO_FORMAT (info));
  const gboolean carries = gst_prores_nv_profile_is_444 (profile);

  if (format->alpha_depth && carries)
    return wanted == GST_PRORES_NV_ALPHA_BITS_AUTO ? 16 : wanted;
  if (wanted > 0)
    GST_ELEMENT_WARNING (self, STREAM, WRONG_TYPE,
        ("No alpha is coded in spite of alpha-bits=%d: %s. Set "
            "alpha-bits=auto.", wanted, carries ? "the video has none" :
            "only profiles 4444 and 4444xq carry it"),
        ("format %s, profile %s", GST_VIDEO_INFO_NAME (info),
            pnv_profile_name (profile)));
  else if (wanted != 0 && format->alpha_depth)
    GST_ELEMENT_WARNING (self, STREAM, WRONG_TYPE,
        ("The alpha of the video is dropped: profile %s has none. Set "
            "profile=4444 to keep it, or alpha-bits=0 if that is meant.",
            pnv_profile_name (profile)),
        ("format %s", GST_VIDEO_INFO_NAME (info)));
  return 0;
}

/* A warning is for the user: a sentence, with properties rather than fields. */
static void
post_warning (GstElement * self, const char *text)
{
  gchar *sentence = g_strdelimit (g_strdup_printf ("%s.", text), "_", '-');

  sentence[0] = g_ascii_toupper (sentence[0]);
  GST_ELEMENT_WARNING (self, RESOURCE, FAILED, ("%s", sentence), (NULL));
  g_free (sentence);
}

static void
log_function (gpointer opaque, PnvLogLevel level, const char *text)
{
  static const GstDebugLevel levels[] = { GST_LEVEL_ERROR, GST_LEVEL_WARNING,
    GST_LEVEL_INFO, GST_LEVEL_DEBUG
  };

  if (level == PNV_LOG_WARNING)
    post_warning (opaque, text);
  else
    GST_CAT_LEVEL_LOG (GST_CAT_DEFAULT, levels[level], opaque, "%s", text);
}

gboolean
gst_prores_nv_open_plan (GstElement * self,
    const GstProresNvSettings * settings, const GstVideoInfo * info,
    const GstCaps * caps, const GstCaps * downstream, PnvParams * params)
{
  memset (params, 0, sizeof *params);
  if (!check_info (self, info, caps)
      || !gst_prores_nv_open_check_id (self, settings))
    return FALSE;
  gst_prores_nv_params_from_info (params, info);
  gst_prores_nv_settings_apply (settings, params);
  params->profile = choose_profile (self, settings->profile, info, caps,
      downstream);
  if (params->profile == PNV_PROFILE_AUTO)
    return FALSE;
  params->alpha_bits = choose_alpha_bits (self, settings->alpha_bits,
      params->profile, info);
  params->log = log_function;
  params->log_opaque = self;

  if (params->rate_control == PNV_RATE_TARGET
      && params->quantizer != GST_PRORES_NV_DEFAULT_QUANTIZER)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("quantizer=%d has no effect on rate-control=target. Set "
            "rate-control=constant-quantizer for it.", params->quantizer),
        ("caps %" GST_PTR_FORMAT, caps));
  return TRUE;
}

/* Says why the core cannot be opened. */
static void
post_open_error (GstElement * self, PnvStatus status, gchar * error,
    const GstCaps * caps)
{
  switch (status) {
    case PNV_ENODEV:
      GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
          ("No NVIDIA GPU can be used: %s. Set backend=cpu to encode without "
              "one.", error), ("caps %" GST_PTR_FORMAT, caps));
      break;
    case PNV_ENOMEM:
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
          ("Memory is not enough to encode this video. Set a lower "
              "pipeline-depth or fewer threads."),
          ("%s; caps %" GST_PTR_FORMAT, error, caps));
      break;
    default:
      g_strdelimit (error, "_", '-');   /* properties rather than fields */
      GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
          ("This video cannot be encoded as it is: %s.", error),
          ("caps %" GST_PTR_FORMAT, caps));
      break;
  }
}

/* For frames in the memory of @context: there if it can be. */
static PnvStatus
open_where_frames_are (GstElement * self, PnvEncoder ** enc,
    const PnvParams * params, GstCudaContext * context, gchar * error)
{
  PnvParams there = *params;
  PnvStatus status;

  there.backend = PNV_BACKEND_CUDA;
  there.cuda_context = gst_prores_nv_cuda_handle (context);
  status = pnv_open (enc, &there, error);
  if (params->backend == PNV_BACKEND_CUDA
      || (status != PNV_ENODEV && status != PNV_ENOMEM))
    return status;
  GST_WARNING_OBJECT (self, "frames will be brought to the CPU: %s", error);
  there.backend = PNV_BACKEND_CPU;
  return pnv_open (enc, &there, error);
}

PnvEncoder *
gst_prores_nv_open (GstElement * self, const PnvParams * params,
    GstCudaContext * context, const GstCaps * caps)
{
  gchar error[PNV_ERROR_BYTES] = "";
  PnvEncoder *enc;
  const PnvStatus status = context && params->backend != PNV_BACKEND_CPU ?
      open_where_frames_are (self, &enc, params, context, error) :
      pnv_open (&enc, params, error);

  if (status != PNV_OK)
    post_open_error (self, status, error, caps);
  return enc;
}
