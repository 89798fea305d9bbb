/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An RGB picture to draw rectangles and text on. */
#ifndef PNV_INSPECT_CANVAS_H
#define PNV_INSPECT_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct PnvColour {
    uint8_t r, g, b;
} PnvColour;

typedef struct PnvCanvas {
    int width, height;
    uint8_t *rgb; /**< 3 * width bytes a row. */
} PnvCanvas;

/** A canvas filled with one colour. Returns false when memory ran out. */
bool pnv_canvas_init(PnvCanvas *canvas, int width, int height, PnvColour colour);

void pnv_canvas_free(PnvCanvas *canvas);

/** Fill a rectangle; what lies outside the canvas is left out. */
void pnv_canvas_fill(PnvCanvas *canvas, int x, int y, int width, int height, PnvColour colour);

/** Draw text, its top left corner at x, y, each dot of the font scale x scale px. Returns its width. */
int pnv_canvas_text(PnvCanvas *canvas, int x, int y, int scale, PnvColour colour, const char *text);

/** Width that text takes. */
int pnv_canvas_text_width(int scale, const char *text);

/** Dark blue over green to yellow, equally bright steps for 0..1; readable without colour too. */
PnvColour pnv_canvas_heat(double value);

#endif
