/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the property "stats" tells. Locking is the element's. */
#ifndef GST_PRORES_NV_STATS_H
#define GST_PRORES_NV_STATS_H

#include <gst/gst.h>

#include "pnv.h"

G_BEGIN_DECLS

/* Of the frames so far; zeros at the start. */
typedef struct
{
  guint64 frames, dropped, bytes, max_bytes;
  guint64 target_bytes;         /* of all frames that had a target */
  guint64 filled_bytes;         /* what those took of it, alpha aside */
  guint64 quantizers;           /* sum of the frames' means, in halves */
  guint min_quantizer, max_quantizer;
  guint64 raised;               /* frames over their constant quantizer */
  guint64 over_target;          /* frames that no quantizer made small enough */
  guint64 downloads;            /* frames brought from a GPU for the CPU */
  PnvStats closed;              /* what encoders counted that are closed */
} GstProresNvStats;

/* A frame of @bytes that is handed on, as its @packet tells of it. */
void gst_prores_nv_stats_count (GstProresNvStats * stats,
    const PnvPacket * packet, gsize bytes);

/* Before @enc is closed. */
void gst_prores_nv_stats_keep (GstProresNvStats * stats,
    const PnvEncoder * enc);

/* All as a structure; @enc is the encoder that is open, or NULL. */
GstStructure *gst_prores_nv_stats_tell (const GstProresNvStats * stats,
    const PnvEncoder * enc, const gchar * backend_name);

G_END_DECLS

#endif
