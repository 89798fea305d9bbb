/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames for upstream to fill where the GPU reads them, so that nothing is
 * copied on the way. */
#ifndef GST_PRORES_NV_BUFFER_POOL_H
#define GST_PRORES_NV_BUFFER_POOL_H

#include <gst/video/gstvideopool.h>

#include "gstproresnvallocator.h"

G_BEGIN_DECLS

#define GST_TYPE_PRORES_NV_BUFFER_POOL (gst_prores_nv_buffer_pool_get_type ())
G_DECLARE_FINAL_TYPE (GstProresNvBufferPool, gst_prores_nv_buffer_pool, GST,
    PRORES_NV_BUFFER_POOL, GstVideoBufferPool)

/* A pool of memory of @allocator, whatever allocator its user configures. */
GstBufferPool *gst_prores_nv_buffer_pool_new (GstAllocator * allocator);

G_END_DECLS

#endif
