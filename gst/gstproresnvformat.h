/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The raw formats that are taken, in the one place. */
#ifndef GST_PRORES_NV_FORMAT_H
#define GST_PRORES_NV_FORMAT_H

#include <gst/video/video.h>

#include "pnv.h"

G_BEGIN_DECLS

/* What an input is, as far as it decides over the profile. */
typedef enum
{
  GST_PRORES_NV_KIND_422,
  GST_PRORES_NV_KIND_420,
  GST_PRORES_NV_KIND_444,
  GST_PRORES_NV_KIND_RGB
} GstProresNvKind;

#define GST_PRORES_NV_N_KINDS 4

/* What the core needs to know of a raw format. */
typedef struct
{
  GstVideoFormat format;
  GstProresNvKind kind;
  gint depth;                   /* bits of a sample */
  gint alpha_depth;             /* of alpha; 0 without */
  PnvPacking packing;
  gint shift[4];                /* bits of a word below each component */
  gboolean has_offsets;         /* what GstVideoFormatInfo says is not so */
  guint8 offset[4];             /* then: bytes from the beginning of a plane */
} GstProresNvFormat;

/* NULL for a format that is not taken. */
const GstProresNvFormat *gst_prores_nv_format_find (GstVideoFormat format);

/* All of them, cheapest and most exact first. */
const GstProresNvFormat *gst_prores_nv_format_list (guint * n_formats);

/* "4:2:2", "4:2:0", "4:4:4", "RGB" */
const gchar *gst_prores_nv_kind_name (GstProresNvKind kind);

/* Bytes from the beginning of a row of component @c's plane to its sample in
 * column @x of luma, which is a multiple of
 * gst_prores_nv_format_columns(). */
gsize gst_prores_nv_format_offset (const GstProresNvFormat * format, guint c,
    guint x);

/* A picture can begin at each such column. */
guint gst_prores_nv_format_columns (const GstProresNvFormat * format);

/* Bytes of the components' samples in a row of @width px from there on, other
 * components that lie in between included. */
gsize gst_prores_nv_format_row_bytes (const GstProresNvFormat * format,
    guint c, guint width);

/* What the core is to know of @format. */
void gst_prores_nv_format_apply (const GstProresNvFormat * format,
    PnvParams * params);

G_END_DECLS

#endif
