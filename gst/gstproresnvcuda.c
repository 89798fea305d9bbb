/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gstproresnvcuda.h"

#include <gmodule.h>

#include <gst/cuda/cuda-gst.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#define GST_CAT_DEFAULT gst_prores_nv_enc_debug
GST_DEBUG_CATEGORY_EXTERN (gst_prores_nv_enc_debug);

#define DRIVER "libcuda.so.1"
#define LIBRARY "libgstcuda-1.0.so.0"

/* All that is called of the library, which is not linked. */
typedef struct
{
  __typeof__ (&gst_cuda_load_library) load_library;
  __typeof__ (&gst_cuda_memory_init_once) memory_init_once;
  __typeof__ (&gst_is_cuda_memory) is_cuda_memory;
  __typeof__ (&gst_cuda_ensure_element_context) ensure_element_context;
  __typeof__ (&gst_cuda_handle_set_context) handle_set_context;
  __typeof__ (&gst_cuda_handle_context_query) handle_context_query;
  __typeof__ (&gst_cuda_context_get_handle) context_get_handle;
  __typeof__ (&gst_cuda_context_push) context_push;
  __typeof__ (&gst_cuda_context_pop) context_pop;
  __typeof__ (&gst_cuda_buffer_pool_new) buffer_pool_new;
  __typeof__ (&CuStreamSynchronize) stream_synchronize;

  /* Since GStreamer 1.24 memory tells its stream; NULL before. */
  gpointer (*memory_get_stream) (GstCudaMemory * memory);
  CUstream (*stream_get_handle) (gpointer stream);
  CUresult (*event_create) (CUevent * event, guint flags);
  CUresult (*event_record) (CUevent event, CUstream stream);
  CUresult (*event_destroy) (CUevent event);
} Library;

/* As if it were linked: among all that the process has. */
static gboolean
find_symbols (Library * library)
{
  GModule *process = g_module_open (NULL, G_MODULE_BIND_LAZY);
  const struct
  {
    const gchar *name;
    gpointer symbol;            /* where it goes */
    gboolean optional;
  } symbols[] = {
    {"gst_cuda_load_library", &library->load_library, FALSE},
    {"gst_cuda_memory_init_once", &library->memory_init_once, FALSE},
    {"gst_is_cuda_memory", &library->is_cuda_memory, FALSE},
    {"gst_cuda_ensure_element_context", &library->ensure_element_context,
        FALSE},
    {"gst_cuda_handle_set_context", &library->handle_set_context, FALSE},
    {"gst_cuda_handle_context_query", &library->handle_context_query, FALSE},
    {"gst_cuda_context_get_handle", &library->context_get_handle, FALSE},
    {"gst_cuda_context_push", &library->context_push, FALSE},
    {"gst_cuda_context_pop", &library->context_pop, FALSE},
    {"gst_cuda_buffer_pool_new", &library->buffer_pool_new, FALSE},
    {"CuStreamSynchronize", &library->stream_synchronize, FALSE},
    {"gst_cuda_memory_get_stream", &library->memory_get_stream, TRUE},
    {"gst_cuda_stream_get_handle", &library->stream_get_handle, TRUE},
    {"CuEventCreate", &library->event_create, TRUE},
    {"CuEventRecord", &library->event_record, TRUE},
    {"CuEventDestroy", &library->event_destroy, TRUE},
  };

  for (guint i = 0; i < G_N_ELEMENTS (symbols); i++)
    if (!g_module_symbol (process, symbols[i].name, symbols[i].symbol)
        && !symbols[i].optional) {
      GST_INFO ("no CUDA memory: " LIBRARY " has no %s", symbols[i].name);
      return FALSE;
    }
  return TRUE;
}

static gpointer
open_library (gpointer unused)
{
  static Library library;
  GModule *module = NULL;

  /* The library brings half of the desktop with it: not without a driver. */
  if (g_module_open (DRIVER, G_MODULE_BIND_LAZY))
    module = g_module_open (LIBRARY, G_MODULE_BIND_LAZY);
  if (!module) {
    GST_INFO ("no CUDA memory: %s", g_module_error ());
    return NULL;
  }
  if (!find_symbols (&library))
    return NULL;
  if (!library.load_library ()) {
    GST_INFO ("no CUDA memory: the NVIDIA driver is too old");
    return NULL;
  }
  library.memory_init_once ();
  return &library;
}

/* NULL where there is none. Once found it stays, as all of its types do. */
static const Library *
get_library (void)
{
  static GOnce once = G_ONCE_INIT;

  return g_once (&once, open_library, NULL);
}

void
gst_prores_nv_cuda_watch (GstPlugin * plugin)
{
  gst_plugin_add_dependency_simple (plugin, "LD_LIBRARY_PATH",
      "/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu:/usr/lib64:"
      "/usr/lib:/usr/local/lib:/usr/lib/wsl/lib", DRIVER "," LIBRARY,
      GST_PLUGIN_DEPENDENCY_FLAG_NONE);
}

gboolean
gst_prores_nv_cuda_is_here (void)
{
  return get_library () != NULL;
}

gboolean
gst_prores_nv_cuda_has_format (GstVideoFormat format)
{
  switch (format) {
    case GST_VIDEO_FORMAT_I420:
    case GST_VIDEO_FORMAT_YV12:
    case GST_VIDEO_FORMAT_I420_10LE:
    case GST_VIDEO_FORMAT_NV12:
    case GST_VIDEO_FORMAT_NV21:
    case GST_VIDEO_FORMAT_P010_10LE:
    case GST_VIDEO_FORMAT_P016_LE:
    case GST_VIDEO_FORMAT_YUY2:
    case GST_VIDEO_FORMAT_UYVY:
    case GST_VIDEO_FORMAT_Y42B:
    case GST_VIDEO_FORMAT_I422_10LE:
    case GST_VIDEO_FORMAT_I422_12LE:
    case GST_VIDEO_FORMAT_Y444:
    case GST_VIDEO_FORMAT_Y444_16LE:
    case GST_VIDEO_FORMAT_RGBA:
    case GST_VIDEO_FORMAT_BGRA:
    case GST_VIDEO_FORMAT_ARGB:
    case GST_VIDEO_FORMAT_ABGR:
    case GST_VIDEO_FORMAT_RGBx:
    case GST_VIDEO_FORMAT_BGRx:
    case GST_VIDEO_FORMAT_RGB:
    case GST_VIDEO_FORMAT_BGR:
    case GST_VIDEO_FORMAT_RGB10A2_LE:
    case GST_VIDEO_FORMAT_BGR10A2_LE:
    case GST_VIDEO_FORMAT_RGBP:
    case GST_VIDEO_FORMAT_BGRP:
    case GST_VIDEO_FORMAT_GBR:
    case GST_VIDEO_FORMAT_GBRA:
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
gst_prores_nv_cuda_set_context (GstElement * element, GstContext * shared,
    gint device, GstCudaContext ** context)
{
  if (!gst_context_has_context_type (shared, GST_CUDA_CONTEXT_TYPE))
    return FALSE;
  if (get_library ())
    get_library ()->handle_set_context (element, shared, device, context);
  return TRUE;
}

gboolean
gst_prores_nv_cuda_ensure_context (GstElement * element, gint device,
    GstCudaContext ** context)
{
  return get_library ()
      && get_library ()->ensure_element_context (element, device, context);
}

gboolean
gst_prores_nv_cuda_answer_query (GstElement * element, GstQuery * query,
    GstCudaContext * context)
{
  return get_library ()->handle_context_query (element, query, context);
}

gpointer
gst_prores_nv_cuda_handle (GstCudaContext * context)
{
  return get_library ()->context_get_handle (context);
}

gint
gst_prores_nv_cuda_device (GstCudaContext * context)
{
  guint device;

  g_object_get (context, "cuda-device-id", &device, NULL);
  return device;
}

static GstCudaMemory *
memory_of (GstBuffer * buffer)
{
  GstMemory *memory;

  if (!get_library () || gst_buffer_n_memory (buffer) != 1)
    return NULL;
  memory = gst_buffer_peek_memory (buffer, 0);
  return get_library ()->is_cuda_memory (memory) ?
      GST_CUDA_MEMORY_CAST (memory) : NULL;
}

GstCudaContext *
gst_prores_nv_cuda_context_of (GstBuffer * buffer)
{
  const GstCudaMemory *memory = memory_of (buffer);

  return memory ? memory->context : NULL;
}

const GstVideoInfo *
gst_prores_nv_cuda_layout_of (GstBuffer * buffer)
{
  const GstCudaMemory *memory = memory_of (buffer);

  return memory ? &memory->info : NULL;
}

GstMapFlags
gst_prores_nv_cuda_map_flags (void)
{
  return GST_MAP_CUDA;
}

/* The stream that fills the memory: the default one, which waits for all that
 * GStreamer makes, where the memory does not tell. */
static CUstream
stream_of (const Library * library, GstCudaMemory * memory)
{
  gpointer stream = NULL;

  if (library->memory_get_stream && library->stream_get_handle)
    stream = library->memory_get_stream (memory);
  return stream ? library->stream_get_handle (stream) : NULL;
}

gpointer
gst_prores_nv_cuda_fence (GstBuffer * buffer, gpointer * event)
{
  const Library *library = get_library ();
  GstCudaMemory *memory = memory_of (buffer);
  const CUstream stream = stream_of (library, memory);
  const guint no_timing = 2;
  gboolean recorded = FALSE;

  if (!library->context_push (memory->context))
    return NULL;                /* no call will do: the encoder's neither */
  if (event && library->event_create && library->event_record
      && library->event_destroy)
    recorded = (*event
        || library->event_create ((CUevent *) event, no_timing) == CUDA_SUCCESS)
        && library->event_record (*event, stream) == CUDA_SUCCESS;
  if (!recorded)
    library->stream_synchronize (stream);
  library->context_pop (NULL);
  return recorded ? *event : NULL;
}

void
gst_prores_nv_cuda_clear_event (GstCudaContext * context, gpointer * event)
{
  const Library *library = get_library ();

  /* One failure is no reason to leave it there; a second one says that the
   * context is gone, and the event with it. */
  if (*event && (library->context_push (context)
          || library->context_push (context))) {
    library->event_destroy (*event);
    library->context_pop (NULL);
  }
  *event = NULL;
}

GstBufferPool *
gst_prores_nv_cuda_pool_new (GstCudaContext * context)
{
  return get_library ()->buffer_pool_new (context);
}
