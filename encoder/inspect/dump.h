/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every field and every slice of a frame as text. */
#ifndef PNV_INSPECT_DUMP_H
#define PNV_INSPECT_DUMP_H

#include "reader.h"

/**
 * Text on the frame that was read last, one field or slice a line.
 *
 * @param index  of the frame, for the heading; offset: of the frame in the file, likewise.
 * @param[out] bytes of the text.
 * @return the text, to be freed with free(); NULL when memory ran out.
 */
char *pnv_dump_frame(const PnvReader *reader, uint32_t index, uint64_t offset, size_t *bytes);

#endif
