/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "canvas.h"

#include <stdlib.h>
#include <string.h>

#include "font.h"

bool pnv_canvas_init(PnvCanvas *c, int width, int height, PnvColour colour)
{
    *c = (PnvCanvas){width, height, malloc(3 * (size_t)width * (size_t)height)};
    if (!c->rgb)
        return false;
    pnv_canvas_fill(c, 0, 0, width, height, colour);
    return true;
}

void pnv_canvas_free(PnvCanvas *c)
{
    free(c->rgb);
    c->rgb = NULL;
}

void pnv_canvas_fill(PnvCanvas *c, int x, int y, int width, int height, PnvColour colour)
{
    const int x0 = x < 0 ? 0 : x, y0 = y < 0 ? 0 : y;
    const int x1 = x + width < c->width ? x + width : c->width, y1 = y + height < c->height ? y + height : c->height;

    for (int row = y0; row < y1; row++) {
        uint8_t *p = c->rgb + 3 * ((size_t)row * (size_t)c->width + (size_t)x0);
        for (int column = x0; column < x1; column++, p += 3)
            p[0] = colour.r, p[1] = colour.g, p[2] = colour.b;
    }
}

int pnv_canvas_text_width(int scale, const char *text)
{
    const int n = (int)strlen(text);
    return n ? scale * (n * PNV_FONT_ADVANCE - 1) : 0;
}

int pnv_canvas_text(PnvCanvas *c, int x, int y, int scale, PnvColour colour, const char *text)
{
    for (int i = 0; text[i]; i++) {
        const uint8_t *glyph = pnv_font_glyph(text[i]);
        for (int row = 0; row < PNV_FONT_HEIGHT; row++)
            for (int column = 0; column < PNV_FONT_WIDTH; column++)
                if (glyph[row] >> (PNV_FONT_WIDTH - 1 - column) & 1)
                    pnv_canvas_fill(c, x + scale * (i * PNV_FONT_ADVANCE + column), y + scale * row, scale, scale,
                                    colour);
    }
    return pnv_canvas_text_width(scale, text);
}

PnvColour pnv_canvas_heat(double value)
{
    static const PnvColour steps[] = {
        {20, 22, 70}, {44, 58, 134}, {33, 108, 152}, {30, 152, 138}, {92, 190, 92}, {184, 212, 58}, {252, 232, 96},
    };
    enum { N = sizeof steps / sizeof *steps };
    const double at = (value < 0 ? 0 : value > 1 ? 1 : value) * (N - 1);
    const int i = at >= N - 1 ? N - 2 : (int)at;
    const double part = at - i;
    const PnvColour a = steps[i], b = steps[i + 1];

    return (PnvColour){(uint8_t)(a.r + part * (b.r - a.r) + 0.5), (uint8_t)(a.g + part * (b.g - a.g) + 0.5),
                       (uint8_t)(a.b + part * (b.b - a.b) + 0.5)};
}
