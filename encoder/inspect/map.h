/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the bits of a frame go: quantizer and bytes of every slice as two heat maps side by side. */
#ifndef PNV_INSPECT_MAP_H
#define PNV_INSPECT_MAP_H

#include <stdbool.h>

#include "reader.h"

#define PNV_MAP_ERROR_BYTES 256

/** Whether this build can write maps: libpng was there. */
bool pnv_map_available(void);

/**
 * Draw the frame that was read last.
 *
 * @param title first line of the picture.
 * @param path  of the PNG to write.
 * @param[out] error room for PNV_MAP_ERROR_BYTES.
 */
bool pnv_map_write(const PnvReader *reader, const char *title, const char *path, char *error);

#endif
