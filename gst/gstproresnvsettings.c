/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gstproresnvsettings.h"

#include <gst/gst.h>

/* Properties 1 .. GST_PRORES_NV_N_SETTINGS - 1. */
enum
{
  PROP_PROFILE = 1,
  PROP_RATE_CONTROL,
  PROP_QUANTIZATION,
  PROP_QUANTIZER,
  PROP_MIN_QUANTIZER,
  PROP_MAX_QUANTIZER,
  PROP_BITRATE,
  PROP_MAX_FRAME_SIZE,
  PROP_ALPHA_BITS,
  PROP_MBS_PER_SLICE,
  PROP_THREADS,
  PROP_PIPELINE_DEPTH,
  PROP_BACKEND,
  PROP_CUDA_DEVICE_ID,
  PROP_ENCODER_ID
};

#define DEFAULT_PROFILE PNV_PROFILE_AUTO
#define DEFAULT_RATE_CONTROL PNV_RATE_TARGET
#define DEFAULT_QUANTIZATION PNV_ROUNDING_DEAD_ZONE
#define DEFAULT_MIN_QUANTIZER 0
#define DEFAULT_MAX_QUANTIZER 0
#define DEFAULT_BITRATE 0
#define DEFAULT_MAX_FRAME_SIZE 0
#define DEFAULT_ALPHA_BITS GST_PRORES_NV_ALPHA_BITS_AUTO
#define DEFAULT_MBS_PER_SLICE 8
#define DEFAULT_THREADS 0
#define DEFAULT_PIPELINE_DEPTH 0
#define DEFAULT_BACKEND PNV_BACKEND_AUTO
#define DEFAULT_CUDA_DEVICE_ID -1

#define GST_TYPE_PRORES_NV_ENC_PROFILE (gst_prores_nv_enc_profile_get_type ())
static GType
gst_prores_nv_enc_profile_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    {PNV_PROFILE_AUTO, "From the caps: HQ for 4:2:2, 4444 for 4:4:4, "
          "or what downstream asks for", "auto"},
    {PNV_PROFILE_PROXY, "ProRes 422 Proxy", "proxy"},
    {PNV_PROFILE_LT, "ProRes 422 LT", "lt"},
    {PNV_PROFILE_STANDARD, "ProRes 422", "standard"},
    {PNV_PROFILE_HQ, "ProRes 422 HQ", "hq"},
    {PNV_PROFILE_4444, "ProRes 4444", "4444"},
    {PNV_PROFILE_4444XQ, "ProRes 4444 XQ", "4444xq"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstProresNvEncProfile", values));
  return type;
}

#define GST_TYPE_PRORES_NV_ENC_RATE_CONTROL \
    (gst_prores_nv_enc_rate_control_get_type ())
static GType
gst_prores_nv_enc_rate_control_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    {PNV_RATE_CONSTANT_QUANTIZER, "One quantizer, sizes as they come",
        "constant-quantizer"},
    {PNV_RATE_TARGET, "As near the target as the frame allows, never over",
        "target"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstProresNvEncRateControl", values));
  return type;
}

#define GST_TYPE_PRORES_NV_ENC_QUANTIZATION \
    (gst_prores_nv_enc_quantization_get_type ())
static GType
gst_prores_nv_enc_quantization_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    {PNV_ROUNDING_DEAD_ZONE, "Small levels give way among small ones: "
          "most picture for the bits", "dead-zone"},
    {PNV_ROUNDING_NEAREST, "To the nearest level: most exact at a quantizer",
        "nearest"},
    {PNV_ROUNDING_OPTIMAL, "Each level weighed against its bits: slower, "
          "a little better", "optimal"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstProresNvEncQuantization", values));
  return type;
}

#define GST_TYPE_PRORES_NV_ENC_ALPHA_BITS \
    (gst_prores_nv_enc_alpha_bits_get_type ())
static GType
gst_prores_nv_enc_alpha_bits_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    {GST_PRORES_NV_ALPHA_BITS_AUTO, "16 where the input has alpha and the profile can "
          "carry it, else none", "auto"},
    {0, "No alpha", "0"},
    {8, "8 bits", "8"},
    {16, "16 bits", "16"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstProresNvEncAlphaBits", values));
  return type;
}

#define GST_TYPE_PRORES_NV_ENC_MBS_PER_SLICE \
    (gst_prores_nv_enc_mbs_per_slice_get_type ())
static GType
gst_prores_nv_enc_mbs_per_slice_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    {1, "1 macroblock", "1"},
    {2, "2 macroblocks", "2"},
    {4, "4 macroblocks", "4"},
    {8, "8 macroblocks, the smallest result", "8"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstProresNvEncMbsPerSlice", values));
  return type;
}

#define GST_TYPE_PRORES_NV_ENC_BACKEND (gst_prores_nv_enc_backend_get_type ())
static GType
gst_prores_nv_enc_backend_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    {PNV_BACKEND_AUTO, "The fastest one that works here", "auto"},
    {PNV_BACKEND_CPU, "The processors of this computer", "cpu"},
    {PNV_BACKEND_CUDA, "An NVIDIA GPU", "cuda"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstProresNvEncBackend", values));
  return type;
}

void
gst_prores_nv_settings_install (GObjectClass * object_class)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
      GST_PARAM_MUTABLE_READY;

  /**
   * GstProresNvEnc:profile:
   *
   * With auto, if downstream allows exactly one variant, that one; if it
   * allows several, HQ for 4:2:2 and 4444 for 4:4:4 video when they are among
   * them, else the first that fits.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_PROFILE,
      g_param_spec_enum ("profile", "Profile",
          "ProRes profile; the 422 ones take 4:2:2 video, 4444 ones 4:4:4",
          GST_TYPE_PRORES_NV_ENC_PROFILE, DEFAULT_PROFILE, flags));

  /**
   * GstProresNvEnc:rate-control:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_RATE_CONTROL,
      g_param_spec_enum ("rate-control", "Rate control",
          "What decides over the size of a frame",
          GST_TYPE_PRORES_NV_ENC_RATE_CONTROL, DEFAULT_RATE_CONTROL, flags));

  /**
   * GstProresNvEnc:quantizer:
   *
   * The quantization_index of RDD 36 7.3 for all slices.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_QUANTIZER,
      g_param_spec_uint ("quantizer", "Quantizer",
          "Quantizer of rate-control=constant-quantizer, 1 is the finest",
          1, 224, GST_PRORES_NV_DEFAULT_QUANTIZER, flags));

  /**
   * GstProresNvEnc:quantization:
   *
   * How a coefficient between two levels is rounded.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_QUANTIZATION,
      g_param_spec_enum ("quantization", "Quantization",
          "How coefficients are rounded to levels",
          GST_TYPE_PRORES_NV_ENC_QUANTIZATION, DEFAULT_QUANTIZATION, flags));

  /**
   * GstProresNvEnc:min-quantizer:
   *
   * Where easy frames stop with rate-control=target, and are smaller than the
   * target.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_MIN_QUANTIZER,
      g_param_spec_uint ("min-quantizer", "Smallest quantizer",
          "Finest quantizer of rate-control=target, "
          "0 = the profile's: 4 for proxy, else 1",
          0, 224, DEFAULT_MIN_QUANTIZER, flags));

  /**
   * GstProresNvEnc:max-quantizer:
   *
   * A frame passes its target rather than this, and this rather than its
   * maximum. So it needs a max-frame-size above the target: with 0 both are one.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_MAX_QUANTIZER,
      g_param_spec_uint ("max-quantizer", "Largest quantizer",
          "Coarsest quantizer that rate-control=target takes for its target, "
          "0 = no bound", 0, 224, DEFAULT_MAX_QUANTIZER, flags));

  /**
   * GstProresNvEnc:bitrate:
   *
   * Alpha is not counted in it. It needs a frame rate in the caps.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_BITRATE,
      g_param_spec_uint ("bitrate", "Bitrate",
          "Target of rate-control=target in kbit/s, "
          "0 = Apple's for the profile, the size and the rate",
          0, G_MAXINT, DEFAULT_BITRATE, flags));

  /**
   * GstProresNvEnc:max-frame-size:
   *
   * Hard maximum of a frame in bytes, alpha included. With 0 the target is the
   * maximum for all but alpha, which is lossless and comes on top. It counts
   * with rate-control=constant-quantizer, too, where 0 is no maximum.
   *
   * A frame that cannot be made to fit is an error when this is set, and a
   * warning when it is 0.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_MAX_FRAME_SIZE,
      g_param_spec_uint ("max-frame-size", "Largest frame size",
          "Hard maximum of a frame in bytes, alpha included, 0 = the target "
          "for all but alpha; none with rate-control=constant-quantizer",
          0, G_MAXUINT32, DEFAULT_MAX_FRAME_SIZE, flags));

  /**
   * GstProresNvEnc:alpha-bits:
   *
   * Alpha is coded without loss.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_ALPHA_BITS,
      g_param_spec_enum ("alpha-bits", "Alpha bits",
          "Bits of coded alpha; only 4444 and 4444xq have it",
          GST_TYPE_PRORES_NV_ENC_ALPHA_BITS, DEFAULT_ALPHA_BITS, flags));

  /**
   * GstProresNvEnc:mbs-per-slice:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_MBS_PER_SLICE,
      g_param_spec_enum ("mbs-per-slice", "Macroblocks per slice",
          "Width of a slice in macroblocks; less is larger files",
          GST_TYPE_PRORES_NV_ENC_MBS_PER_SLICE, DEFAULT_MBS_PER_SLICE, flags));

  /**
   * GstProresNvEnc:threads:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_THREADS,
      g_param_spec_uint ("threads", "Threads",
          "CPU threads that encode, 0 = as many as there are cores",
          0, PNV_MAX_THREADS, DEFAULT_THREADS, flags));

  /**
   * GstProresNvEnc:pipeline-depth:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_PIPELINE_DEPTH,
      g_param_spec_uint ("pipeline-depth", "Pipeline depth",
          "Frames in flight, each one frame of latency; "
          "0 = 1 on the CPU, 3 on a GPU",
          0, PNV_MAX_FRAMES_IN_FLIGHT, DEFAULT_PIPELINE_DEPTH, flags));

  /**
   * GstProresNvEnc:backend:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_BACKEND,
      g_param_spec_enum ("backend", "Backend",
          "What does the work; the result is the same from all",
          GST_TYPE_PRORES_NV_ENC_BACKEND, DEFAULT_BACKEND, flags));

  /**
   * GstProresNvEnc:cuda-device-id:
   *
   * Frames that come in the memory of another GPU are copied.
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_CUDA_DEVICE_ID,
      g_param_spec_int ("cuda-device-id", "CUDA device",
          "Which GPU, -1 = that of the frames if they are on one, else the "
          "first", -1, G_MAXINT, DEFAULT_CUDA_DEVICE_ID, flags));

  /**
   * GstProresNvEnc:encoder-id:
   *
   * Since: 0.1
   */
  g_object_class_install_property (object_class, PROP_ENCODER_ID,
      g_param_spec_string ("encoder-id", "Encoder id",
          "Four printable ASCII characters that name the encoder in each frame",
          GST_PRORES_NV_DEFAULT_ENCODER_ID, flags));

  gst_type_mark_as_plugin_api (GST_TYPE_PRORES_NV_ENC_PROFILE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_PRORES_NV_ENC_RATE_CONTROL, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_PRORES_NV_ENC_QUANTIZATION, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_PRORES_NV_ENC_ALPHA_BITS, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_PRORES_NV_ENC_MBS_PER_SLICE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_PRORES_NV_ENC_BACKEND, 0);
}

void
gst_prores_nv_settings_init (GstProresNvSettings * settings)
{
  settings->profile = DEFAULT_PROFILE;
  settings->rate_control = DEFAULT_RATE_CONTROL;
  settings->quantization = DEFAULT_QUANTIZATION;
  settings->quantizer = GST_PRORES_NV_DEFAULT_QUANTIZER;
  settings->min_quantizer = DEFAULT_MIN_QUANTIZER;
  settings->max_quantizer = DEFAULT_MAX_QUANTIZER;
  settings->bitrate = DEFAULT_BITRATE;
  settings->max_frame_size = DEFAULT_MAX_FRAME_SIZE;
  settings->alpha_bits = DEFAULT_ALPHA_BITS;
  settings->mbs_per_slice = DEFAULT_MBS_PER_SLICE;
  settings->threads = DEFAULT_THREADS;
  settings->pipeline_depth = DEFAULT_PIPELINE_DEPTH;
  settings->backend = DEFAULT_BACKEND;
  settings->cuda_device_id = DEFAULT_CUDA_DEVICE_ID;
  settings->encoder_id = g_strdup (GST_PRORES_NV_DEFAULT_ENCODER_ID);
}

void
gst_prores_nv_settings_clear (GstProresNvSettings * settings)
{
  g_clear_pointer (&settings->encoder_id, g_free);
}

void
gst_prores_nv_settings_copy (GstProresNvSettings * to,
    const GstProresNvSettings * from)
{
  gst_prores_nv_settings_clear (to);
  *to = *from;
  to->encoder_id = g_strdup (from->encoder_id);
}

gboolean
gst_prores_nv_settings_set (GstProresNvSettings * settings, guint id,
    const GValue * value)
{
  switch (id) {
    case PROP_PROFILE:
      settings->profile = g_value_get_enum (value);
      break;
    case PROP_RATE_CONTROL:
      settings->rate_control = g_value_get_enum (value);
      break;
    case PROP_QUANTIZATION:
      settings->quantization = g_value_get_enum (value);
      break;
    case PROP_QUANTIZER:
      settings->quantizer = g_value_get_uint (value);
      break;
    case PROP_MIN_QUANTIZER:
      settings->min_quantizer = g_value_get_uint (value);
      break;
    case PROP_MAX_QUANTIZER:
      settings->max_quantizer = g_value_get_uint (value);
      break;
    case PROP_BITRATE:
      settings->bitrate = g_value_get_uint (value);
      break;
    case PROP_MAX_FRAME_SIZE:
      settings->max_frame_size = g_value_get_uint (value);
      break;
    case PROP_ALPHA_BITS:
      settings->alpha_bits = g_value_get_enum (value);
      break;
    case PROP_MBS_PER_SLICE:
      settings->mbs_per_slice = g_value_get_enum (value);
      break;
    case PROP_THREADS:
      settings->threads = g_value_get_uint (value);
      break;
    case PROP_PIPELINE_DEPTH:
      settings->pipeline_depth = g_value_get_uint (value);
      break;
    case PROP_BACKEND:
      settings->backend = g_value_get_enum (value);
      break;
    case PROP_CUDA_DEVICE_ID:
      settings->cuda_device_id = g_value_get_int (value);
      break;
    case PROP_ENCODER_ID:
      g_free (settings->encoder_id);
      settings->encoder_id = g_value_dup_string (value);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_prores_nv_settings_get (const GstProresNvSettings * settings, guint id,
    GValue * value)
{
  switch (id) {
    case PROP_PROFILE:
      g_value_set_enum (value, settings->profile);
      break;
    case PROP_RATE_CONTROL:
      g_value_set_enum (value, settings->rate_control);
      break;
    case PROP_QUANTIZATION:
      g_value_set_enum (value, settings->quantization);
      break;
    case PROP_QUANTIZER:
      g_value_set_uint (value, settings->quantizer);
      break;
    case PROP_MIN_QUANTIZER:
      g_value_set_uint (value, settings->min_quantizer);
      break;
    case PROP_MAX_QUANTIZER:
      g_value_set_uint (value, settings->max_quantizer);
      break;
    case PROP_BITRATE:
      g_value_set_uint (value, settings->bitrate);
      break;
    case PROP_MAX_FRAME_SIZE:
      g_value_set_uint (value, settings->max_frame_size);
      break;
    case PROP_ALPHA_BITS:
      g_value_set_enum (value, settings->alpha_bits);
      break;
    case PROP_MBS_PER_SLICE:
      g_value_set_enum (value, settings->mbs_per_slice);
      break;
    case PROP_THREADS:
      g_value_set_uint (value, settings->threads);
      break;
    case PROP_PIPELINE_DEPTH:
      g_value_set_uint (value, settings->pipeline_depth);
      break;
    case PROP_BACKEND:
      g_value_set_enum (value, settings->backend);
      break;
    case PROP_CUDA_DEVICE_ID:
      g_value_set_int (value, settings->cuda_device_id);
      break;
    case PROP_ENCODER_ID:
      g_value_set_string (value, settings->encoder_id);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

void
gst_prores_nv_settings_apply (const GstProresNvSettings * settings,
    PnvParams * params)
{
  params->rate_control = settings->rate_control;
  params->rounding = settings->quantization;
  params->quantizer = settings->quantizer;
  params->min_quantizer = settings->min_quantizer;
  params->max_quantizer = settings->max_quantizer;
  params->bitrate = settings->bitrate;
  params->max_frame_bytes = settings->max_frame_size;
  params->mbs_per_slice = settings->mbs_per_slice;
  params->threads = settings->threads;
  params->frames_in_flight = settings->pipeline_depth;
  params->backend = settings->backend;
  params->cuda_device_id = MAX (settings->cuda_device_id, 0);
  params->encoder_id = settings->encoder_id;
}
