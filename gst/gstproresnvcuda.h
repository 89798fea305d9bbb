/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames in the memory of a GPU: GstCudaMemory of libgstcuda. It and the driver
 * are looked for when they are wanted, so that the plugin loads without them;
 * what cannot be had then is not in the caps. A buffer of theirs brings both,
 * so functions that take one, or a context, need not ask. */
#ifndef GST_PRORES_NV_CUDA_H
#define GST_PRORES_NV_CUDA_H

#include <gst/video/video.h>

G_BEGIN_DECLS

#define GST_PRORES_NV_CAPS_FEATURE_CUDA "memory:CUDAMemory"

typedef struct _GstCudaContext GstCudaContext;

/* Make the registry look at @plugin again when either comes or goes. */
void gst_prores_nv_cuda_watch (GstPlugin * plugin);

/* TRUE where CUDA memory can be used: the library and a driver are here. */
gboolean gst_prores_nv_cuda_is_here (void);

/* TRUE for formats that libgstcuda makes memory of. */
gboolean gst_prores_nv_cuda_has_format (GstVideoFormat format);

/* The context that the elements of a pipeline share. @context keeps what is in
 * it. @device is that of the context, -1: any. FALSE for contexts of other
 * kinds, and where there is none. */
gboolean gst_prores_nv_cuda_set_context (GstElement * element,
    GstContext * shared, gint device, GstCudaContext ** context);
gboolean gst_prores_nv_cuda_ensure_context (GstElement * element, gint device,
    GstCudaContext ** context);
gboolean gst_prores_nv_cuda_answer_query (GstElement * element,
    GstQuery * query, GstCudaContext * context);

/* The CUcontext of a context, and the number of its GPU. */
gpointer gst_prores_nv_cuda_handle (GstCudaContext * context);
gint gst_prores_nv_cuda_device (GstCudaContext * context);

/* The context whose memory a buffer is, NULL for all other buffers. It lives as
 * long as the buffer. */
GstCudaContext *gst_prores_nv_cuda_context_of (GstBuffer * buffer);

/* Where the planes of such a buffer are unless a GstVideoMeta says it; NULL for
 * all other buffers. */
const GstVideoInfo *gst_prores_nv_cuda_layout_of (GstBuffer * buffer);

/* How to map such a buffer for the GPU to read. */
GstMapFlags gst_prores_nv_cuda_map_flags (void);

/* What a GPU has to wait for before it reads such a buffer: an event in @event,
 * which is made at the first need, in the context of the buffer, to be given
 * back with gst_prores_nv_cuda_clear_event(). Without @event, or where the
 * library has none, all is waited for at once. NULL: nothing to wait for. */
gpointer gst_prores_nv_cuda_fence (GstBuffer * buffer, gpointer * event);
void gst_prores_nv_cuda_clear_event (GstCudaContext * context,
    gpointer * event);

/* A pool of frames in the memory of @context. */
GstBufferPool *gst_prores_nv_cuda_pool_new (GstCudaContext * context);

G_END_DECLS

#endif
