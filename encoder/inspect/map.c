/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "map.h"

#include <stdio.h>
#include <stdlib.h>

#include "canvas.h"
#include "names.h"

#ifdef PNV_HAVE_PNG
#include <png.h>
#endif

enum {
    MARGIN = 32,
    TITLE_HEIGHT = 64,   /* two lines above the maps */
    HEADING_HEIGHT = 36, /* of one map */
    LEGEND_HEIGHT = 72,  /* bar and numbers below a map */
    FIELD_GAP = 8,       /* between two fields */
    BAR_HEIGHT = 16,
};

static const PnvColour background = {23, 25, 31}, text_colour = {226, 229, 235}, faint = {150, 156, 168},
                       unknown = {96, 96, 96};

/* One of the two maps: where it is and what it shows. */
typedef struct Map {
    const char *heading;
    int decimals; /* of its values */
    double (*value)(const PnvReaderSlice *slice);
    int x, y, width, height;
    double min, mean, max; /* of the slices that were decoded */
    double low, high;      /* ends of the colours: all but the 2 % at either end, which would flatten the rest */
} Map;

static double quantizer_of(const PnvReaderSlice *s)
{
    return s->quantizer;
}

/* Slices at the right edge are narrower: per macroblock they compare. */
static double bytes_of(const PnvReaderSlice *s)
{
    return (double)s->bytes / s->n_mbs;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns false when memory ran out. */
static bool find_range(Map *map, const PnvReaderFrame *f)
{
    double *values = malloc((f->n_slices ? f->n_slices : 1) * sizeof *values);
    uint32_t n = 0;

    if (!values)
        return false;
    for (uint32_t i = 0; i < f->n_slices; i++)
        if (f->slices[i].decoded)
            values[n++] = map->value(&f->slices[i]);
    qsort(values, n, sizeof *values, compare_doubles);
    for (uint32_t i = 0; i < n; i++)
        map->mean += values[i] / n;
    if (n) {
        map->min = values[0];
        map->max = values[n - 1];
        map->low = values[n / 50];
        map->high = values[n - 1 - n / 50];
    }
    free(values);
    return true;
}

/* A frame of one value has the middle colour everywhere. */
static PnvColour colour_of(const Map *map, double value)
{
    return pnv_canvas_heat(map->high > map->low ? (value - map->low) / (map->high - map->low) : 0.5);
}

/* Top of a picture in a map, and its height: the fields of an interlaced frame lie one below the other. */
static int picture_place(const Map *map, const PnvReaderFrame *f, int picture, int *height)
{
    if (f->n_pictures == 1) {
        *height = map->height;
        return map->y;
    }
    *height = (map->height - FIELD_GAP) / 2;
    return map->y + picture * (*height + FIELD_GAP);
}

static void draw_slices(PnvCanvas *canvas, const Map *map, const PnvReaderFrame *f)
{
    for (uint32_t i = 0; i < f->n_slices; i++) {
        const PnvReaderSlice *s = &f->slices[i];
        const PnvReaderPicture *p = &f->pictures[s->picture];
        int height;
        const int top = picture_place(map, f, s->picture, &height);
        const int x0 = map->x + s->mb_x * map->width / p->width_mb;
        const int x1 = map->x + (s->mb_x + s->n_mbs) * map->width / p->width_mb;
        const int y0 = top + s->mb_y * height / p->height_mb, y1 = top + (s->mb_y + 1) * height / p->height_mb;
        const int line = x1 - x0 >= 6 && y1 - y0 >= 6; /* a gap between slices that are large enough for one */
        pnv_canvas_fill(canvas, x0, y0, x1 - x0 - line, y1 - y0 - line,
                        s->decoded ? colour_of(map, map->value(s)) : unknown);
    }
}

/* anchor: part of the text that lies left of x. */
static void draw_label(PnvCanvas *canvas, int x, int y, double anchor, const char *sign, double value)
{
    char text[32];

    snprintf(text, sizeof text, value != (int)value && value < 100 ? "%s%.1f" : "%s%.0f", sign, value);
    pnv_canvas_text(canvas, x - (int)(anchor * pnv_canvas_text_width(2, text)), y, 2, text_colour, text);
}

static void draw_legend(PnvCanvas *canvas, const Map *map)
{
    const int y = map->y + map->height + 16, below = y + BAR_HEIGHT + 8;

    for (int x = 0; x < map->width; x++)
        pnv_canvas_fill(canvas, map->x + x, y, 1, BAR_HEIGHT,
                        colour_of(map, map->low + (map->high - map->low) * x / (map->width - 1)));
    if (map->high > map->low) {
        draw_label(canvas, map->x, below, 0, map->min < map->low ? "<= " : "", map->low);
        draw_label(canvas, map->x + map->width / 2, below, 0.5, "", (map->low + map->high) / 2);
        draw_label(canvas, map->x + map->width, below, 1, map->max > map->high ? ">= " : "", map->high);
    } else {
        draw_label(canvas, map->x + map->width / 2, below, 0.5, "", map->low);
    }
}

static void draw_map(PnvCanvas *canvas, const Map *map, const PnvReaderFrame *f)
{
    const int y = map->y - HEADING_HEIGHT + 8;
    char range[96];

    const int used = pnv_canvas_text(canvas, map->x, y, 2, text_colour, map->heading);
    snprintf(range, sizeof range, "min %.*f  mean %.1f  max %.*f", map->decimals, map->min, map->mean, map->decimals,
             map->max);
    pnv_canvas_text(canvas, map->x + used + 24, y, 2, faint, range);
    pnv_canvas_fill(canvas, map->x, map->y, map->width, map->height, (PnvColour){34, 37, 46});
    draw_slices(canvas, map, f);
    draw_legend(canvas, map);
}

static void draw_title(PnvCanvas *canvas, const PnvReaderFrame *f, const char *title)
{
    char line[160];
    uint32_t undecoded = 0;
    const int room = (canvas->width - 2 * MARGIN) / (2 * 6); /* characters at scale 2 */

    for (uint32_t i = 0; i < f->n_slices; i++)
        undecoded += !f->slices[i].decoded;
    snprintf(line, sizeof line, "%.*s", room < 159 ? room : 159, title);
    pnv_canvas_text(canvas, MARGIN, MARGIN, 2, text_colour, line);
    int n = snprintf(line, sizeof line, "%dx%d  %s  %s  %u bytes  %u slices", f->header.width, f->header.height,
                     pnv_name_chroma(f->header.chroma_format), pnv_name_interlace(f->header.interlace_mode),
                     f->header.frame_size, f->n_slices);
    if (undecoded)
        snprintf(line + n, sizeof line - (size_t)n, "  grey: %u not decoded", undecoded);
    if (room < 159)
        line[room] = 0;
    pnv_canvas_text(canvas, MARGIN, MARGIN + 28, 2, faint, line);
}

/* Maps are about 960 px wide and have the shape of the frame, within limits for odd ones. */
static void place_maps(Map maps[2], const PnvReaderFrame *f)
{
    const int width_mb = f->pictures[0].width_mb;
    const int width = width_mb * 32 < 480 ? 480 : width_mb * 32 > 960 ? 960 : width_mb * 32;
    const int64_t shaped = (int64_t)width * f->header.height / f->header.width;
    const int height = (int)(shaped < 120 ? 120 : shaped > 1200 ? 1200 : shaped);

    for (int i = 0; i < 2; i++) {
        maps[i].x = MARGIN + i * (width + MARGIN);
        maps[i].y = MARGIN + TITLE_HEIGHT + HEADING_HEIGHT;
        maps[i].width = width;
        maps[i].height = height + (f->n_pictures == 2 ? FIELD_GAP : 0);
    }
}

static bool write_png(const PnvCanvas *canvas, const char *path, char *error)
{
#ifdef PNV_HAVE_PNG
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)canvas->width,
                       .height = (png_uint_32)canvas->height, .format = PNG_FORMAT_RGB};

    if (png_image_write_to_file(&image, path, 0, canvas->rgb, 0, NULL))
        return true;
    snprintf(error, PNV_MAP_ERROR_BYTES, "%.150s: writing the map failed: %.64s", path, image.message);
    return false;
#else
    snprintf(error, PNV_MAP_ERROR_BYTES, "%.100s: this build has no libpng; install it and build again for maps", path);
    (void)canvas;
    return false;
#endif
}

bool pnv_map_available(void)
{
#ifdef PNV_HAVE_PNG
    return true;
#else
    return false;
#endif
}

bool pnv_map_write(const PnvReader *reader, const char *title, const char *path, char *error)
{
    const PnvReaderFrame *f = pnv_reader_frame(reader);
    Map maps[2] = {
        {.heading = "Quantization index", .decimals = 0, .value = quantizer_of},
        {.heading = "Bytes per macroblock", .decimals = 1, .value = bytes_of},
    };
    PnvCanvas canvas;

    if (!f->header_valid || !f->n_slices) {
        snprintf(error, PNV_MAP_ERROR_BYTES, "no slice of the frame can be read: there is nothing to draw");
        return false;
    }
    place_maps(maps, f);
    if (!find_range(&maps[0], f) || !find_range(&maps[1], f) ||
        !pnv_canvas_init(&canvas, maps[1].x + maps[1].width + MARGIN,
                         maps[0].y + maps[0].height + LEGEND_HEIGHT + MARGIN / 2, background)) {
        snprintf(error, PNV_MAP_ERROR_BYTES, "no memory for the map");
        return false;
    }
    draw_title(&canvas, f, title);
    for (int i = 0; i < 2; i++)
        draw_map(&canvas, &maps[i], f);
    const bool ok = write_png(&canvas, path, error);
    pnv_canvas_free(&canvas);
    return ok;
}
