/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user can set: the properties, their defaults, and how they become
 * parameters of the core. Locking is the element's. */
#ifndef GST_PRORES_NV_SETTINGS_H
#define GST_PRORES_NV_SETTINGS_H

#include <glib-object.h>

#include "pnv.h"

G_BEGIN_DECLS

#define GST_PRORES_NV_ALPHA_BITS_AUTO -1
#define GST_PRORES_NV_DEFAULT_ENCODER_ID "prnv"
#define GST_PRORES_NV_DEFAULT_QUANTIZER 4

/* First property id that is free for others. */
#define GST_PRORES_NV_N_SETTINGS 32

typedef struct
{
  PnvProfile profile;
  PnvRateControl rate_control;
  PnvRounding quantization;
  guint quantizer, min_quantizer, max_quantizer, bitrate, max_frame_size;
  guint mbs_per_slice, threads, pipeline_depth;
  gint alpha_bits;
  PnvBackend backend;
  gint cuda_device_id;          /* -1: any */
  gchar *encoder_id;
} GstProresNvSettings;

/* Install the properties in a class. */
void gst_prores_nv_settings_install (GObjectClass * object_class);

/* Set all to their defaults. */
void gst_prores_nv_settings_init (GstProresNvSettings * settings);

/* Free what the settings hold. */
void gst_prores_nv_settings_clear (GstProresNvSettings * settings);

/* All of @from in the place of what @to, which may be zeros, had. */
void gst_prores_nv_settings_copy (GstProresNvSettings * to,
    const GstProresNvSettings * from);

/* The property @id from or to @value. FALSE if it is none of these. */
gboolean gst_prores_nv_settings_set (GstProresNvSettings * settings, guint id,
    const GValue * value);
gboolean gst_prores_nv_settings_get (const GstProresNvSettings * settings,
    guint id, GValue * value);

/* Into the parameters of the core, all but the profile and alpha, which caps
 * have a say in. The encoder id is not copied. */
void gst_prores_nv_settings_apply (const GstProresNvSettings * settings,
    PnvParams * params);

G_END_DECLS

#endif
