/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gstproresnvstats.h"

void
gst_prores_nv_stats_count (GstProresNvStats * stats, const PnvPacket * packet,
    gsize bytes)
{
  stats->frames++;
  stats->bytes += bytes;
  stats->max_bytes = MAX (stats->max_bytes, bytes);
  if (packet->target_bytes > 0) {
    stats->target_bytes += packet->target_bytes;
    stats->filled_bytes += bytes - packet->alpha_bytes;
  }
  stats->quantizers += packet->quantizer_min + packet->quantizer_max;
  stats->max_quantizer = MAX (stats->max_quantizer,
      (guint) packet->quantizer_max);
  if (stats->frames == 1
      || (guint) packet->quantizer_min < stats->min_quantizer)
    stats->min_quantizer = packet->quantizer_min;
  stats->raised += packet->raised;
  stats->over_target += packet->over_limit;
}

static void
add_counts (PnvStats * sum, const PnvEncoder * enc)
{
  PnvStats counts;

  pnv_stats (enc, &counts);
  sum->n_staging_copies += counts.n_staging_copies;
  sum->n_device_copies += counts.n_device_copies;
  sum->n_packet_copies += counts.n_packet_copies;
  sum->n_cpu_fallback += counts.n_cpu_fallback;
}

void
gst_prores_nv_stats_keep (GstProresNvStats * stats, const PnvEncoder * enc)
{
  add_counts (&stats->closed, enc);
}

GstStructure *
gst_prores_nv_stats_tell (const GstProresNvStats * stats,
    const PnvEncoder * enc, const gchar * backend_name)
{
  const guint64 n = MAX (stats->frames, 1);
  PnvStats counts = stats->closed;

  if (enc)
    add_counts (&counts, enc);
  return gst_structure_new ("proresnvenc-stats",
      "frames", G_TYPE_UINT64, stats->frames,
      "dropped", G_TYPE_UINT64, stats->dropped,
      "bytes", G_TYPE_UINT64, stats->bytes,
      "mean-frame-size", G_TYPE_UINT64, stats->bytes / n,
      "max-frame-size", G_TYPE_UINT64, stats->max_bytes,
      "mean-target-size", G_TYPE_UINT64, stats->target_bytes / n,
      "fill", G_TYPE_DOUBLE,
      stats->filled_bytes / (gdouble) MAX (stats->target_bytes, 1),
      "mean-quantizer", G_TYPE_DOUBLE, stats->quantizers / 2.0 / n,
      "min-quantizer", G_TYPE_UINT, stats->min_quantizer,
      "max-quantizer", G_TYPE_UINT, stats->max_quantizer,
      "raised", G_TYPE_UINT64, stats->raised,
      "over-target", G_TYPE_UINT64, stats->over_target,
      "downloads", G_TYPE_UINT64, stats->downloads,
      "staging-copies", G_TYPE_UINT64, (guint64) counts.n_staging_copies,
      "device-copies", G_TYPE_UINT64, (guint64) counts.n_device_copies,
      "packet-copies", G_TYPE_UINT64, (guint64) counts.n_packet_copies,
      "fallbacks", G_TYPE_UINT64, (guint64) counts.n_cpu_fallback,
      "backend", G_TYPE_STRING, backend_name, NULL);
}
