/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mov_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that grow; failed stays set once memory ran out. */
typedef struct Buffer {
    uint8_t *data;
    size_t size, allocated;
    bool failed;
} Buffer;

static void put(Buffer *b, const void *data, size_t n)
{
    if (b->failed)
        return;
    if (b->size + n > b->allocated) {
        const size_t wanted = 2 * (b->size + n);
        uint8_t *grown = realloc(b->data, wanted);
        if (!grown) {
            b->failed = true;
            return;
        }
        b->data = grown;
        b->allocated = wanted;
    }
    if (n)
        memcpy(b->data + b->size, data, n);
    b->size += n;
}

static void store_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void put_u32(Buffer *b, uint32_t v)
{
    uint8_t bytes[4];
    store_u32(bytes, v);
    put(b, bytes, 4);
}

static void put_u16(Buffer *b, uint32_t v)
{
    put(b, (uint8_t[2]){(uint8_t)(v >> 8), (uint8_t)v}, 2);
}

static void put_zeros(Buffer *b, size_t n)
{
    for (; n > 0; n--)
        put(b, "", 1);
}

static size_t begin_box(Buffer *b, const char *type)
{
    const size_t start = b->size;
    put_u32(b, 0);
    put(b, type, 4);
    return start;
}

static void end_box(Buffer *b, size_t start)
{
    if (!b->failed)
        store_u32(b->data + start, (uint32_t)(b->size - start));
}

static void put_matrix(Buffer *b)
{
    static const uint32_t unity[9] = {0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000};
    for (int i = 0; i < 9; i++)
        put_u32(b, unity[i]);
}

static void put_movie_header(Buffer *b, uint32_t timescale, uint32_t duration)
{
    const size_t box = begin_box(b, "mvhd");
    put_zeros(b, 12);
    put_u32(b, timescale);
    put_u32(b, duration);
    put_u32(b, 0x10000); /* rate */
    put_u16(b, 0x100);   /* volume */
    put_zeros(b, 10);
    put_matrix(b);
    put_zeros(b, 24);
    put_u32(b, 2); /* next track */
    end_box(b, box);
}

static void put_track_header(Buffer *b, const MovWriterInfo *info, uint32_t duration)
{
    const size_t box = begin_box(b, "tkhd");
    put_u32(b, 7); /* enabled, in movie, in preview */
    put_zeros(b, 8);
    put_u32(b, 1); /* track */
    put_zeros(b, 4);
    put_u32(b, duration);
    put_zeros(b, 16);
    put_matrix(b);
    put_u32(b, (uint32_t)info->width << 16);
    put_u32(b, (uint32_t)info->height << 16);
    end_box(b, box);
}

static void put_sample_entry(Buffer *b, const MovWriterInfo *info)
{
    const size_t entry = begin_box(b, info->fourcc);
    put_zeros(b, 6);
    put_u16(b, 1); /* data reference */
    put_zeros(b, 16);
    put_u16(b, (uint32_t)info->width);
    put_u16(b, (uint32_t)info->height);
    put_u32(b, 72 << 16);
    put_u32(b, 72 << 16);
    put_zeros(b, 4);
    put_u16(b, 1); /* frames a sample */
    put_zeros(b, 32);
    put_u16(b, (uint32_t)(info->depth ? info->depth : 24));
    put_u16(b, 0xffff); /* no colour table */
    if (info->colr) {
        const size_t colr = begin_box(b, "colr");
        put(b, "nclc", 4);
        for (int i = 0; i < 3; i++)
            put_u16(b, (uint32_t)info->colr[i]);
        end_box(b, colr);
    }
    if (info->fiel_count) {
        const size_t fiel = begin_box(b, "fiel");
        put(b, (uint8_t[2]){(uint8_t)info->fiel_count, (uint8_t)info->fiel_detail}, 2);
        end_box(b, fiel);
    }
    end_box(b, entry);
}

/* stts, stsc, stsz and stco; of a fragmented file they are empty. */
static void put_sample_tables(Buffer *b, const MovWriterInfo *info, const size_t *sizes, uint32_t n, uint32_t data)
{
    const bool some = n && !info->fragmented;
    size_t box = begin_box(b, "stts");
    put_u32(b, 0);
    put_u32(b, some);
    if (some) {
        put_u32(b, n);
        put_u32(b, (uint32_t)info->fps_d);
    }
    end_box(b, box);
    box = begin_box(b, "stsc");
    put_u32(b, 0);
    put_u32(b, some);
    if (some) {
        put_u32(b, 1);
        put_u32(b, n);
        put_u32(b, 1);
    }
    end_box(b, box);
    box = begin_box(b, "stsz");
    put_zeros(b, 8);
    put_u32(b, some ? n : 0);
    for (uint32_t i = 0; some && i < n; i++)
        put_u32(b, (uint32_t)sizes[i]);
    end_box(b, box);
    box = begin_box(b, "stco");
    put_u32(b, 0);
    put_u32(b, some);
    if (some)
        put_u32(b, data);
    end_box(b, box);
}

static void put_handler(Buffer *b)
{
    const size_t box = begin_box(b, "hdlr");
    put_zeros(b, 4);
    put(b, "mhlrvide", 8);
    put_zeros(b, 13);
    end_box(b, box);
}

static void put_data_reference(Buffer *b)
{
    const size_t dinf = begin_box(b, "dinf"), dref = begin_box(b, "dref");
    put_u32(b, 0);
    put_u32(b, 1);
    const size_t url = begin_box(b, "url ");
    put_u32(b, 1); /* the data are in this file */
    end_box(b, url);
    end_box(b, dref);
    end_box(b, dinf);
}

static void put_media(Buffer *b, const MovWriterInfo *info, const size_t *sizes, uint32_t n, uint32_t data)
{
    const size_t mdia = begin_box(b, "mdia");
    size_t box = begin_box(b, "mdhd");
    put_zeros(b, 12);
    put_u32(b, (uint32_t)info->fps_n);
    put_u32(b, info->fragmented ? 0 : n * (uint32_t)info->fps_d);
    put_zeros(b, 4);
    end_box(b, box);
    put_handler(b);
    const size_t minf = begin_box(b, "minf");
    box = begin_box(b, "vmhd");
    put_u32(b, 1);
    put_zeros(b, 8);
    end_box(b, box);
    put_data_reference(b);
    const size_t stbl = begin_box(b, "stbl");
    box = begin_box(b, "stsd");
    put_u32(b, 0);
    put_u32(b, 1);
    put_sample_entry(b, info);
    end_box(b, box);
    put_sample_tables(b, info, sizes, n, data);
    end_box(b, stbl);
    end_box(b, minf);
    end_box(b, mdia);
}

static void put_movie(Buffer *b, const MovWriterInfo *info, const size_t *sizes, uint32_t n, uint32_t data)
{
    const uint32_t duration = info->fragmented ? 0 : n * (uint32_t)info->fps_d;
    const size_t moov = begin_box(b, "moov");
    put_movie_header(b, (uint32_t)info->fps_n, duration);
    const size_t trak = begin_box(b, "trak");
    put_track_header(b, info, duration);
    put_media(b, info, sizes, n, data);
    end_box(b, trak);
    if (info->fragmented) {
        const size_t mvex = begin_box(b, "mvex"), trex = begin_box(b, "trex");
        put_u32(b, 0);
        put_u32(b, 1); /* track */
        put_u32(b, 1); /* sample description */
        put_u32(b, (uint32_t)info->fps_d);
        put_zeros(b, 8);
        end_box(b, trex);
        end_box(b, mvex);
    }
    end_box(b, moov);
}

#define MOOF_BYTES 80 /* up to the frame: moof 8, mfhd 16, traf 8, tfhd 16, trun 24, header of mdat 8 */

static void put_fragment(Buffer *b, uint32_t sequence, const uint8_t *frame, size_t size)
{
    const size_t moof = begin_box(b, "moof");
    size_t box = begin_box(b, "mfhd");
    put_u32(b, 0);
    put_u32(b, sequence);
    end_box(b, box);
    const size_t traf = begin_box(b, "traf");
    box = begin_box(b, "tfhd");
    put_u32(b, 0x20000); /* offsets count from the moof */
    put_u32(b, 1);
    end_box(b, box);
    box = begin_box(b, "trun");
    put_u32(b, 0x201); /* data offset, sizes */
    put_u32(b, 1);
    put_u32(b, MOOF_BYTES);
    put_u32(b, (uint32_t)size);
    end_box(b, box);
    end_box(b, traf);
    end_box(b, moof);
    box = begin_box(b, "mdat");
    put(b, frame, size);
    end_box(b, box);
}

uint8_t *mov_writer_build(const MovWriterInfo *given, const uint8_t *const *frames, const size_t *sizes, int n_frames,
                          size_t *size)
{
    MovWriterInfo info = *given;
    Buffer b = {0};

    if (!info.fps_n)
        info.fps_n = 25, info.fps_d = 1;
    size_t box = begin_box(&b, "ftyp");
    put(&b, "qt  \0\0\2\0qt  ", 12);
    end_box(&b, box);
    const uint32_t data = (uint32_t)b.size + 8;
    if (info.fragmented) {
        put_movie(&b, &info, NULL, 0, 0);
        for (int i = 0; i < n_frames; i++)
            put_fragment(&b, (uint32_t)i + 1, frames[i], sizes[i]);
    } else {
        box = begin_box(&b, "mdat");
        for (int i = 0; i < n_frames; i++)
            put(&b, frames[i], sizes[i]);
        end_box(&b, box);
        put_movie(&b, &info, sizes, (uint32_t)n_frames, data);
    }
    if (b.failed) {
        free(b.data);
        return NULL;
    }
    *size = b.size;
    return b.data;
}

bool mov_writer_write(const char *path, const MovWriterInfo *info, const uint8_t *const *frames, const size_t *sizes,
                      int n_frames)
{
    size_t size;
    uint8_t *file = mov_writer_build(info, frames, sizes, n_frames, &size);
    FILE *out = file ? fopen(path, "wb") : NULL;
    bool ok = out && fwrite(file, 1, size, out) == size;

    if (out)
        ok &= fclose(out) == 0;
    free(file);
    return ok;
}
