/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of the element before the strict reader. */
#ifndef ELEMENT_READER_H
#define ELEMENT_READER_H

#include "element.h"
#include "reader.h"

static inline void report_finding(void *opaque, const PnvFinding *finding)
{
    fail_unless(!pnv_finding_is_violation(finding->code), "%s: %s", pnv_finding_name(finding->code), finding->text);
}

/** Fails if there is anything that RDD 36 forbids. The frame is valid until the reader reads the next. */
static inline const PnvReaderFrame *read_packet(PnvReader *reader, GstBuffer *packet, int depth)
{
    const PnvReaderOptions options = {.flags = PNV_READER_PIXELS, .depth = depth, .report = report_finding};
    GstMapInfo map;

    fail_unless(gst_buffer_map(packet, &map, GST_MAP_READ));
    fail_unless(pnv_reader_read(reader, map.data, map.size, &options) == PNV_READER_OK);
    gst_buffer_unmap(packet, &map);
    const PnvReaderFrame *frame = pnv_reader_frame(reader);
    fail_unless(frame->complete && frame->n_violations == 0);
    return frame;
}

#endif
