/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that the GPU reads by itself, page-locked, for frames on their way
 * in. Without a GPU it is ordinary aligned memory. */
#ifndef GST_PRORES_NV_ALLOCATOR_H
#define GST_PRORES_NV_ALLOCATOR_H

#include <gst/gst.h>

#include "pnv.h"

G_BEGIN_DECLS

#define GST_TYPE_PRORES_NV_ALLOCATOR (gst_prores_nv_allocator_get_type ())
G_DECLARE_FINAL_TYPE (GstProresNvAllocator, gst_prores_nv_allocator, GST,
    PRORES_NV_ALLOCATOR, GstAllocator)

/* Of memory that @enc reads. What it has given out is valid until freed,
 * whatever becomes of the encoder. Where memory cannot be page-locked, one
 * warning of @element says so and ordinary memory does. */
GstAllocator *gst_prores_nv_allocator_new (PnvEncoder * enc,
    GstElement * element);

/* Before the encoder is closed: from then on memory is ordinary. */
void gst_prores_nv_allocator_detach (GstProresNvAllocator * self);

G_END_DECLS

#endif
