/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where frames lie on their way in: pools for upstream to fill, and the CUDA
 * context that is shared with it, so that as little as can be is copied. */
#ifndef GST_PRORES_NV_MEMORY_H
#define GST_PRORES_NV_MEMORY_H

#include <gst/video/video.h>

#include "gstproresnvcuda.h"
#include "pnv.h"

G_BEGIN_DECLS

typedef struct
{
  GMutex lock;
  GstCudaContext *shared;       /* of the pipeline; given under the lock */

  /* The streaming thread's. */
  GstAllocator *allocator;      /* of memory that the open encoder reads */
  GstCudaContext *context;      /* that it works in, or NULL: any */
  gboolean settled;             /* frames have come in that context */
  gboolean warned;              /* of frames on another GPU */
  const gchar *way;             /* of the last frame, for the log */
} GstProresNvMemory;

void gst_prores_nv_memory_init (GstProresNvMemory * memory);
void gst_prores_nv_memory_clear (GstProresNvMemory * memory);

/* The pipeline's context: given by it, asked by others, no longer needed.
 * @device is the GPU to use, -1: any. FALSE where it is about other things. */
gboolean gst_prores_nv_memory_set_context (GstProresNvMemory * memory,
    GstElement * element, GstContext * shared, gint device);
gboolean gst_prores_nv_memory_answer_query (GstProresNvMemory * memory,
    GstElement * element, GstQuery * query);
void gst_prores_nv_memory_drop_context (GstProresNvMemory * memory);

/* For new @caps: the context that an encoder is to work in, which is the
 * pipeline's where the caps say CUDA memory, else NULL. */
GstCudaContext *gst_prores_nv_memory_context_for_caps (GstProresNvMemory *
    memory, GstElement * element, const GstCaps * caps, gint device);

/* For a @buffer: the context that the encoder is to move to, or NULL where it
 * may stay. It follows its input; from the first frame on not to another GPU,
 * of which one warning tells, nor ever to another than @device. */
GstCudaContext *gst_prores_nv_memory_context_for_buffer (GstProresNvMemory *
    memory, GstElement * element, GstBuffer * buffer, gint device);

/* Around the life of an encoder, which works in @context, kept, or NULL. The
 * end closes it; what was allocated for it stays valid. */
void gst_prores_nv_memory_open (GstProresNvMemory * memory,
    GstElement * element, PnvEncoder * enc, GstCudaContext * context);
void gst_prores_nv_memory_close (GstProresNvMemory * memory,
    PnvEncoder * enc);

/* Whether @enc takes @buffer from the memory of a GPU. */
gboolean gst_prores_nv_memory_reaches (const PnvEncoder * enc,
    GstBuffer * buffer);

/* What it has to wait for then; as gst_prores_nv_cuda_fence(). */
gpointer gst_prores_nv_memory_fence (const GstProresNvMemory * memory,
    GstBuffer * buffer, gpointer * event);

/* After @picture, which is @buffer, was staged: a line in the log where frames
 * begin to go another way. @before are the counts until then. TRUE if it was
 * brought from a GPU to the CPU. */
gboolean gst_prores_nv_memory_note (GstProresNvMemory * memory,
    GstElement * element, const PnvEncoder * enc, GstBuffer * buffer,
    const PnvPicture * picture, const PnvStats * before);

/* Offer upstream a pool of at least @n_buffers for the caps of @query, of
 * whatever memory they say. FALSE while no encoder is open. */
gboolean gst_prores_nv_memory_offer_pool (GstProresNvMemory * memory,
    GstElement * element, GstQuery * query, guint n_buffers);

G_END_DECLS

#endif
