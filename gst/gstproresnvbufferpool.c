/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gstproresnvbufferpool.h"

#include <gst/video/video.h>

struct _GstProresNvBufferPool
{
  GstVideoBufferPool parent;

  GstAllocator *allocator;
};

G_DEFINE_TYPE (GstProresNvBufferPool, gst_prores_nv_buffer_pool,
    GST_TYPE_VIDEO_BUFFER_POOL);

/* Rows begin at a line of the CPU's and the GPU's caches. */
#define ROW_ALIGNMENT 64

/* Only for who reads strides: others write rows as the caps alone say. */
static void
align_rows (GstStructure * config)
{
  GstVideoAlignment alignment;

  if (!gst_buffer_pool_config_has_option (config,
          GST_BUFFER_POOL_OPTION_VIDEO_META))
    return;
  gst_video_alignment_reset (&alignment);
  if (gst_buffer_pool_config_has_option (config,
          GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT))
    gst_buffer_pool_config_get_video_alignment (config, &alignment);
  else
    gst_buffer_pool_config_add_option (config,
        GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
  for (guint i = 0; i < GST_VIDEO_MAX_PLANES; i++)
    alignment.stride_align[i] |= ROW_ALIGNMENT - 1;
  gst_buffer_pool_config_set_video_alignment (config, &alignment);
}

static gboolean
gst_prores_nv_buffer_pool_set_config (GstBufferPool * pool,
    GstStructure * config)
{
  GstProresNvBufferPool *self = GST_PRORES_NV_BUFFER_POOL (pool);
  GstAllocationParams params;

  gst_allocation_params_init (&params);
  gst_buffer_pool_config_get_allocator (config, NULL, &params);
  params.align |= ROW_ALIGNMENT - 1;
  gst_buffer_pool_config_set_allocator (config, self->allocator, &params);
  align_rows (config);

  return GST_BUFFER_POOL_CLASS
      (gst_prores_nv_buffer_pool_parent_class)->set_config (pool, config);
}

static void
gst_prores_nv_buffer_pool_finalize (GObject * object)
{
  GstProresNvBufferPool *self = GST_PRORES_NV_BUFFER_POOL (object);

  gst_clear_object (&self->allocator);

  G_OBJECT_CLASS (gst_prores_nv_buffer_pool_parent_class)->finalize (object);
}

static void
gst_prores_nv_buffer_pool_class_init (GstProresNvBufferPoolClass * klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_prores_nv_buffer_pool_finalize;
  GST_BUFFER_POOL_CLASS (klass)->set_config =
      GST_DEBUG_FUNCPTR (gst_prores_nv_buffer_pool_set_config);
}

static void
gst_prores_nv_buffer_pool_init (GstProresNvBufferPool * self)
{
}

GstBufferPool *
gst_prores_nv_buffer_pool_new (GstAllocator * allocator)
{
  GstProresNvBufferPool *self =
      g_object_new (GST_TYPE_PRORES_NV_BUFFER_POOL, NULL);

  gst_object_ref_sink (self);
  self->allocator = gst_object_ref (allocator);
  return GST_BUFFER_POOL (self);
}
