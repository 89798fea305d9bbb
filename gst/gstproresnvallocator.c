/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gstproresnvallocator.h"

#include <string.h>

#define GST_CAT_DEFAULT gst_prores_nv_enc_debug
GST_DEBUG_CATEGORY_EXTERN (gst_prores_nv_enc_debug);

struct _GstProresNvAllocator
{
  GstAllocator parent;

  GWeakRef element;

  GMutex lock;
  PnvEncoder *enc;              /* NULL once that is closed */
  gboolean warned;
};

G_DEFINE_TYPE (GstProresNvAllocator, gst_prores_nv_allocator,
    GST_TYPE_ALLOCATOR);

/* Called with the lock. */
static void
warn_once (GstProresNvAllocator * self, gsize bytes)
{
  GstElement *element;

  if (self->warned)
    return;
  self->warned = TRUE;
  element = g_weak_ref_get (&self->element);
  if (!element)
    return;
  GST_ELEMENT_WARNING (element, RESOURCE, NO_SPACE_LEFT,
      ("Memory for frames cannot be page-locked. They are copied on their way "
          "to the GPU, which is slower; the result is the same."),
      ("%" G_GSIZE_FORMAT " bytes", bytes));
  gst_object_unref (element);
}

/* Memory that the GPU reads by itself where there is one, or NULL. */
static gpointer
alloc_host (GstProresNvAllocator * self, gsize bytes)
{
  gpointer data = NULL;
  gint is_pinned = FALSE;

  g_mutex_lock (&self->lock);
  if (self->enc) {
    data = pnv_host_alloc (self->enc, bytes, &is_pinned);
    if (!is_pinned && pnv_params (self->enc)->backend == PNV_BACKEND_CUDA)
      warn_once (self, bytes);
  }
  g_mutex_unlock (&self->lock);
  return data;
}

/* Wrapped as system memory, which knows how to share and to copy; pages are
 * aligned to all that anyone asks for. */
static GstMemory *
gst_prores_nv_allocator_alloc (GstAllocator * allocator, gsize size,
    GstAllocationParams * params)
{
  const gsize whole = params->prefix + size + params->padding;
  guint8 *data = alloc_host (GST_PRORES_NV_ALLOCATOR (allocator), whole);

  if (!data)
    return gst_allocator_alloc (NULL, size, params);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED)
    memset (data, 0, params->prefix);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)
    memset (data + params->prefix + size, 0, params->padding);
  return gst_memory_new_wrapped (params->flags, data, whole, params->prefix,
      size, data, pnv_host_free);
}

static void
gst_prores_nv_allocator_finalize (GObject * object)
{
  GstProresNvAllocator *self = GST_PRORES_NV_ALLOCATOR (object);

  g_weak_ref_clear (&self->element);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (gst_prores_nv_allocator_parent_class)->finalize (object);
}

static void
gst_prores_nv_allocator_class_init (GstProresNvAllocatorClass * klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_prores_nv_allocator_finalize;
  GST_ALLOCATOR_CLASS (klass)->alloc =
      GST_DEBUG_FUNCPTR (gst_prores_nv_allocator_alloc);
}

static void
gst_prores_nv_allocator_init (GstProresNvAllocator * self)
{
  g_weak_ref_init (&self->element, NULL);
  g_mutex_init (&self->lock);
}

GstAllocator *
gst_prores_nv_allocator_new (PnvEncoder * enc, GstElement * element)
{
  GstProresNvAllocator *self =
      g_object_new (GST_TYPE_PRORES_NV_ALLOCATOR, NULL);

  gst_object_ref_sink (self);
  self->enc = enc;
  g_weak_ref_set (&self->element, element);
  return GST_ALLOCATOR (self);
}

void
gst_prores_nv_allocator_detach (GstProresNvAllocator * self)
{
  g_mutex_lock (&self->lock);
  self->enc = NULL;
  g_mutex_unlock (&self->lock);
}
