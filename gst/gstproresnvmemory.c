/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gstproresnvmemory.h"

#include "gstproresnvallocator.h"
#include "gstproresnvbufferpool.h"

#define GST_CAT_DEFAULT gst_prores_nv_enc_debug
GST_DEBUG_CATEGORY_EXTERN (gst_prores_nv_enc_debug);

void
gst_prores_nv_memory_init (GstProresNvMemory * memory)
{
  g_mutex_init (&memory->lock);
}

void
gst_prores_nv_memory_clear (GstProresNvMemory * memory)
{
  gst_prores_nv_memory_drop_context (memory);
  g_mutex_clear (&memory->lock);
}

gboolean
gst_prores_nv_memory_set_context (GstProresNvMemory * memory,
    GstElement * element, GstContext * shared, gint device)
{
  gboolean is_ours;

  g_mutex_lock (&memory->lock);
  is_ours = gst_prores_nv_cuda_set_context (element, shared, device,
      &memory->shared);
  g_mutex_unlock (&memory->lock);
  return is_ours;
}

gboolean
gst_prores_nv_memory_answer_query (GstProresNvMemory * memory,
    GstElement * element, GstQuery * query)
{
  gboolean answered;

  g_mutex_lock (&memory->lock);
  answered = memory->shared && gst_prores_nv_cuda_answer_query (element,
      query, memory->shared);
  g_mutex_unlock (&memory->lock);
  return answered;
}

void
gst_prores_nv_memory_drop_context (GstProresNvMemory * memory)
{
  g_mutex_lock (&memory->lock);
  gst_clear_object (&memory->shared);
  g_mutex_unlock (&memory->lock);
}

static gboolean
caps_are_cuda (const GstCaps * caps)
{
  return gst_caps_features_contains (gst_caps_get_features (caps, 0),
      GST_PRORES_NV_CAPS_FEATURE_CUDA);
}

GstCudaContext *
gst_prores_nv_memory_context_for_caps (GstProresNvMemory * memory,
    GstElement * element, const GstCaps * caps, gint device)
{
  memory->settled = memory->warned = FALSE;
  memory->way = NULL;
  if (!caps_are_cuda (caps))
    return NULL;
  /* Not under the lock: it sets the context through the element, and others
   * ask this one meanwhile who hold a lock that it needs. */
  return gst_prores_nv_cuda_ensure_context (element, device, &memory->shared) ?
      memory->shared : NULL;
}

/* Two objects may stand for one context. */
static gboolean
is_same_context (GstCudaContext * a, GstCudaContext * b)
{
  return a == b || (a && b
      && gst_prores_nv_cuda_handle (a) == gst_prores_nv_cuda_handle (b));
}

static void
warn_of_copies (GstProresNvMemory * memory, GstElement * element, gint device)
{
  if (memory->warned)
    return;
  memory->warned = TRUE;
  GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS,
      ("Frames come in the memory of GPU %d, which the encoder does not work "
          "on, and have to be copied to the other. Set cuda-device-id=%d here, "
          "or another one before.", device, device), (NULL));
}

GstCudaContext *
gst_prores_nv_memory_context_for_buffer (GstProresNvMemory * memory,
    GstElement * element, GstBuffer * buffer, gint device)
{
  GstCudaContext *context = gst_prores_nv_cuda_context_of (buffer);
  gint its_device;

  if (!context)
    return NULL;
  if (is_same_context (context, memory->context)) {
    memory->settled = TRUE;
    return NULL;
  }
  its_device = gst_prores_nv_cuda_device (context);
  if ((device >= 0 && its_device != device) || (memory->settled
          && its_device != gst_prores_nv_cuda_device (memory->context))) {
    warn_of_copies (memory, element, its_device);
    return NULL;
  }
  memory->settled = TRUE;
  return context;
}

void
gst_prores_nv_memory_open (GstProresNvMemory * memory, GstElement * element,
    PnvEncoder * enc, GstCudaContext * context)
{
  memory->allocator = gst_prores_nv_allocator_new (enc, element);
  memory->context = context ? gst_object_ref (context) : NULL;
}

void
gst_prores_nv_memory_close (GstProresNvMemory * memory, PnvEncoder * enc)
{
  if (memory->allocator)
    gst_prores_nv_allocator_detach (GST_PRORES_NV_ALLOCATOR
        (memory->allocator));
  gst_clear_object (&memory->allocator);
  pnv_close (&enc);
  gst_clear_object (&memory->context);
}

gboolean
gst_prores_nv_memory_reaches (const PnvEncoder * enc, GstBuffer * buffer)
{
  return pnv_params (enc)->backend == PNV_BACKEND_CUDA
      && gst_prores_nv_cuda_context_of (buffer);
}

gboolean
gst_prores_nv_memory_note (GstProresNvMemory * memory, GstElement * element,
    const PnvEncoder * enc, GstBuffer * buffer, const PnvPicture * picture,
    const PnvStats * before)
{
  const gboolean is_downloaded = picture->memory == PNV_MEMORY_HOST
      && gst_prores_nv_cuda_context_of (buffer);
  const gchar *way;
  PnvStats after;

  pnv_stats (enc, &after);
  if (is_downloaded)
    way = "brought from a GPU to the CPU";
  else if (after.n_device_copies > before->n_device_copies)
    way = "copied from another GPU or context";
  else if (picture->memory == PNV_MEMORY_CUDA)
    way = "read in CUDA memory, no copy";
  else if (pnv_params (enc)->backend != PNV_BACKEND_CUDA)
    way = "read by the CPU where they are, no copy";
  else if (after.n_staging_copies > before->n_staging_copies)
    way = "copied by the CPU for the GPU";
  else
    way = "read by the GPU in page-locked memory, no copy";
  if (way != memory->way)
    GST_INFO_OBJECT (element, "frames are %s", way);
  memory->way = way;
  return is_downloaded;
}

gpointer
gst_prores_nv_memory_fence (const GstProresNvMemory * memory,
    GstBuffer * buffer, gpointer * event)
{
  const gboolean is_own =
      is_same_context (gst_prores_nv_cuda_context_of (buffer),
      memory->context);

  return gst_prores_nv_cuda_fence (buffer, is_own ? event : NULL);
}

/* The pool for caps, NULL where there is none of that memory. */
static GstBufferPool *
pool_for_caps (const GstProresNvMemory * memory, const GstCaps * caps)
{
  if (!caps_are_cuda (caps))
    return gst_prores_nv_buffer_pool_new (memory->allocator);
  return memory->context ? gst_prores_nv_cuda_pool_new (memory->context) : NULL;
}

gboolean
gst_prores_nv_memory_offer_pool (GstProresNvMemory * memory,
    GstElement * element, GstQuery * query, guint n_buffers)
{
  GstAllocationParams params;
  GstBufferPool *pool;
  GstStructure *config;
  GstVideoInfo info;
  GstCaps *caps;
  guint size;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!memory->allocator || !caps || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  pool = pool_for_caps (memory, caps);
  if (!pool)
    return TRUE;                /* upstream makes its own memory */
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, GST_VIDEO_INFO_SIZE (&info),
      n_buffers, 0);
  if (gst_buffer_pool_set_config (pool, config)) {
    /* The pitches of a GPU make frames larger. */
    config = gst_buffer_pool_get_config (pool);
    gst_buffer_pool_config_get_params (config, NULL, &size, NULL, NULL);
    gst_structure_free (config);
    gst_query_add_allocation_pool (query, pool, size, n_buffers, 0);
    if (!caps_are_cuda (caps)) {
      gst_allocation_params_init (&params);
      gst_query_add_allocation_param (query, memory->allocator, &params);
    }
    GST_INFO_OBJECT (element, "offered %" GST_PTR_FORMAT " of %u frames or more"
        " for %" GST_PTR_FORMAT, pool, n_buffers, caps);
  }
  gst_object_unref (pool);
  return TRUE;
}
