/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caps, in the one place: which raw formats are taken, which profile they may
 * become, and what of a GstVideoInfo goes into the parameters of the core. */
#ifndef GST_PRORES_NV_CAPS_H
#define GST_PRORES_NV_CAPS_H

#include <gst/video/video.h>

#include "pnv.h"

G_BEGIN_DECLS

#define GST_PRORES_NV_N_PROFILES 6

/* What the core needs to know of a raw format. */
typedef struct
{
  GstVideoFormat format;
  PnvChroma chroma;
  gint depth;                   /* bits of a sample */
  gboolean has_alpha;
} GstProresNvFormat;

/* NULL for a format that is not taken. */
const GstProresNvFormat *gst_prores_nv_format_find (GstVideoFormat format);

/* The only chroma that may go under a profile; not for auto. */
PnvChroma gst_prores_nv_profile_chroma (PnvProfile profile);

/* "4:2:2", "4:4:4" */
const gchar *gst_prores_nv_chroma_name (PnvChroma chroma);

/* All that the sink and source pads can ever do. */
GstCaps *gst_prores_nv_sink_template_caps (void);
GstCaps *gst_prores_nv_src_template_caps (void);

/* Raw caps that can be coded under @profile (auto: any) so that @downstream
 * takes the result: its variants choose the formats, and what it says about
 * size, rate, aspect and colour is asked of upstream in turn. */
GstCaps *gst_prores_nv_sink_caps (PnvProfile profile,
    const GstCaps * downstream);

/* The profiles that @downstream takes for video of @info, in its own order.
 * Returns how many were written. */
guint gst_prores_nv_profiles_allowed (const GstCaps * downstream,
    const GstVideoInfo * info, PnvProfile profiles[GST_PRORES_NV_N_PROFILES]);

/* Of @n_allowed profiles, the one for @chroma when the user did not say: HQ
 * or 4444 if there, else the first that fits. Auto when none fits. */
PnvProfile gst_prores_nv_profile_choose (PnvChroma chroma,
    const PnvProfile * allowed, guint n_allowed);

/* Source caps of @profile, coded with or without alpha, without what
 * GstVideoEncoder fills in itself from the state: size, rate, aspect,
 * interlacing, colour, HDR. */
GstCaps *gst_prores_nv_src_caps (PnvProfile profile, gboolean has_alpha);

/* The same colours, said with the codes that ProRes and QuickTime know where
 * H.273 has several codes for one meaning. */
GstVideoColorimetry gst_prores_nv_colorimetry (const GstVideoColorimetry *
    colorimetry);

/* Colours for the source caps: those of gst_prores_nv_colorimetry(), so that
 * a file says what its frames say, unless @downstream asks for the input's. */
GstVideoColorimetry gst_prores_nv_src_colorimetry (const GstVideoColorimetry *
    colorimetry, const GstCaps * downstream);

/* Size, sampling, range, rate, aspect and colour codes of @info, which has a format
 * that gst_prores_nv_format_find() knows. Other fields are left alone. */
void gst_prores_nv_params_from_info (PnvParams * params,
    const GstVideoInfo * info);

G_END_DECLS

#endif
