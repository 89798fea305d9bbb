/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Built where CUDA or libgstcuda's headers are missing: no buffer is in CUDA
 * memory, so that what would need one is never called. */
#include "gstproresnvcuda.h"

void
gst_prores_nv_cuda_watch (GstPlugin * plugin)
{
}

gboolean
gst_prores_nv_cuda_is_here (void)
{
  return FALSE;
}

gboolean
gst_prores_nv_cuda_has_format (GstVideoFormat format)
{
  return FALSE;
}

gboolean
gst_prores_nv_cuda_set_context (GstElement * element, GstContext * shared,
    gint device, GstCudaContext ** context)
{
  return FALSE;
}

gboolean
gst_prores_nv_cuda_ensure_context (GstElement * element, gint device,
    GstCudaContext ** context)
{
  return FALSE;
}

gboolean
gst_prores_nv_cuda_answer_query (GstElement * element, GstQuery * query,
    GstCudaContext * context)
{
  return FALSE;
}

gpointer
gst_prores_nv_cuda_handle (GstCudaContext * context)
{
  g_return_val_if_reached (NULL);
}

gint
gst_prores_nv_cuda_device (GstCudaContext * context)
{
  g_return_val_if_reached (0);
}

GstCudaContext *
gst_prores_nv_cuda_context_of (GstBuffer * buffer)
{
  return NULL;
}

const GstVideoInfo *
gst_prores_nv_cuda_layout_of (GstBuffer * buffer)
{
  return NULL;
}

GstMapFlags
gst_prores_nv_cuda_map_flags (void)
{
  g_return_val_if_reached (0);
}

gpointer
gst_prores_nv_cuda_fence (GstBuffer * buffer, gpointer * event)
{
  g_return_val_if_reached (NULL);
}

void
gst_prores_nv_cuda_clear_event (GstCudaContext * context, gpointer * event)
{
  g_return_if_reached ();
}

GstBufferPool *
gst_prores_nv_cuda_pool_new (GstCudaContext * context)
{
  g_return_val_if_reached (NULL);
}
