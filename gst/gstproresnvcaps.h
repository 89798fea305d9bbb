/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caps, in the one place: which raw formats are taken, which profile they may
 * become, and what of a GstVideoInfo goes into the parameters of the core. */
#ifndef GST_PRORES_NV_CAPS_H
#define GST_PRORES_NV_CAPS_H

#include <gst/video/video.h>

#include "gstproresnvformat.h"

G_BEGIN_DECLS

#define GST_PRORES_NV_N_PROFILES 6

/* TRUE for 4444 and 4444 XQ, FALSE for the 422 profiles and auto. */
gboolean gst_prores_nv_profile_is_444 (PnvProfile profile);

/* All that the sink and source pads can ever do. */
GstCaps *gst_prores_nv_sink_template_caps (void);
GstCaps *gst_prores_nv_src_template_caps (void);

/* Raw caps that can be coded under @profile (auto: any) so that @downstream
 * takes the result: its variants choose the formats, and what it says about
 * size, rate, aspect and colour is asked of upstream in turn. CUDA memory comes
 * first where @backend asks for it, and not at all for the CPU. */
GstCaps *gst_prores_nv_sink_caps (PnvProfile profile, PnvBackend backend,
    const GstCaps * downstream);

/* The profiles that @downstream takes for video of @info, in its own order.
 * Returns how many were written. */
guint gst_prores_nv_profiles_allowed (const GstCaps * downstream,
    const GstVideoInfo * info, PnvProfile profiles[GST_PRORES_NV_N_PROFILES]);

/* Of @n_allowed profiles, the one for video of @format when the user did not
 * say: HQ for 4:2:2 and 4:2:0, 4444 for 4:4:4, RGB and what has alpha, if it is
 * there; else the first that keeps the video's chroma and alpha, else the first.
 * Auto when none is allowed. */
PnvProfile gst_prores_nv_profile_choose (const GstProresNvFormat * format,
    const PnvProfile * allowed, guint n_allowed);

/* Source caps of @profile, coded with or without alpha, without what
 * GstVideoEncoder fills in itself from the state: size, rate, aspect,
 * interlacing, colour, HDR. */
GstCaps *gst_prores_nv_src_caps (PnvProfile profile, gboolean has_alpha);

/* The same colours, said with the codes that ProRes and QuickTime know where
 * H.273 has several codes for one meaning. */
GstVideoColorimetry gst_prores_nv_colorimetry (const GstVideoColorimetry *
    colorimetry);

/* The colours of what is coded of @info: those of its caps, but video range,
 * and for RGB the matrix that it is converted with. That is the one of its
 * caps' primaries, or, where these are unknown, what GStreamer takes for Y'CbCr
 * of its size. */
GstVideoColorimetry gst_prores_nv_coded_colorimetry (const GstVideoInfo *
    info);

/* Those for the source caps: in the words of gst_prores_nv_colorimetry(), so that
 * a file says what its frames say, unless @downstream asks for the input's. */
GstVideoColorimetry gst_prores_nv_src_colorimetry (const GstVideoInfo * info,
    const GstCaps * downstream);

/* Where the chroma of what is coded lies, for the source caps: as @caps, those
 * of @info, say of what is not converted; unknown of 4:4:4. */
GstVideoChromaSite gst_prores_nv_src_chroma_site (const GstVideoInfo * info,
    const GstCaps * caps, PnvProfile profile);

/* Size, format, range, siting, rate, aspect and colour codes of @info, which has a format
 * that gst_prores_nv_format_find() knows. Other fields are left alone. */
void gst_prores_nv_params_from_info (PnvParams * params,
    const GstVideoInfo * info);

G_END_DECLS

#endif
