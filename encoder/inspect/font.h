/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small bitmap font for the legend of heat maps. */
#ifndef PNV_INSPECT_FONT_H
#define PNV_INSPECT_FONT_H

#include <stdint.h>

enum { PNV_FONT_WIDTH = 5, PNV_FONT_HEIGHT = 9, PNV_FONT_ADVANCE = 6 };

/**
 * Rows of a character from the top, bit 4 its left column; the last two rows are below the base line. What the font
 * lacks is an underscore.
 */
const uint8_t *pnv_font_glyph(char c);

#endif
