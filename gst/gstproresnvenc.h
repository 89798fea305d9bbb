/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GST_PRORES_NV_ENC_H
#define GST_PRORES_NV_ENC_H

#include <gst/video/gstvideoencoder.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

#define GST_TYPE_PRORES_NV_ENC (gst_prores_nv_enc_get_type ())
G_DECLARE_FINAL_TYPE (GstProresNvEnc, gst_prores_nv_enc, GST, PRORES_NV_ENC,
    GstVideoEncoder)

GST_ELEMENT_REGISTER_DECLARE (proresnvenc);

G_END_DECLS

#endif
