/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mov.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"

#define MAX_MOOV_BYTES (UINT64_C(1) << 30) /* far more than tables of a day of frames */
#define MAX_MOOF_BYTES (UINT64_C(1) << 26)
#define FOURCC(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

/* A box in memory: what is behind its header. */
typedef struct Box {
    uint32_t type;
    const uint8_t *data;
    size_t size;
} Box;

/* Where defaults of movie fragments come from: trex of the track. */
typedef struct Defaults {
    uint32_t duration, size;
} Defaults;

typedef struct Parser {
    PnvMov *mov;
    const PnvSource *source;
    char *error;
    uint32_t track_id;
    Defaults trex;
    char other[5]; /* sample entry of a video track that is not ProRes */
} Parser;

__attribute__((format(printf, 2, 3))) static bool fail(Parser *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(p->error, PNV_MOV_ERROR_BYTES, format, args);
    va_end(args);
    return false;
}

/* ---- samples ---- */

static bool grow_samples(PnvMov *mov)
{
    const uint32_t wanted = mov->samples_allocated ? 2 * mov->samples_allocated : 64;
    PnvMovSample *samples = realloc(mov->samples, wanted * sizeof *samples);

    if (!samples)
        return false;
    mov->samples = samples;
    mov->samples_allocated = wanted;
    return true;
}

/*
 * One more sample. Samples of a whole file do not overlap and have bytes, so that both their number and the sum of
 * their sizes are bounded by the file: tables that say more are refused before they cost memory or time.
 */
static bool add_sample(Parser *p, uint64_t offset, uint32_t size)
{
    PnvMov *mov = p->mov;
    const uint64_t file = p->source->size;
    const uint64_t in_file = offset >= file ? 0 : size < file - offset ? size : file - offset;

    if (mov->n_samples > file / 4 || mov->n_samples >= UINT32_MAX / 2)
        return fail(p, "the tables name more than %u samples, which a file of %llu bytes cannot hold", mov->n_samples,
                    (unsigned long long)file);
    mov->sample_bytes += in_file;
    if (mov->sample_bytes > file)
        return fail(p, "the tables name samples that overlap: %u samples have more bytes than the file's %llu",
                    mov->n_samples + 1, (unsigned long long)file);
    if (mov->n_samples == mov->samples_allocated && !grow_samples(mov))
        return fail(p, "no memory for the table of %u samples", mov->n_samples);
    mov->samples[mov->n_samples++] = (PnvMovSample){offset, size};
    return true;
}

static void add_delta(PnvMov *mov, uint32_t delta, bool first)
{
    if (first || delta < mov->min_delta)
        mov->min_delta = delta;
    if (first || delta > mov->max_delta)
        mov->max_delta = delta;
}

/* n more samples of one duration. The last one waits, and is left out in the end: it is often cut. */
static void add_durations(PnvMov *mov, uint64_t n, uint32_t delta)
{
    if (n == 0)
        return;
    if (mov->n_durations >= 1)
        add_delta(mov, mov->last_delta, mov->n_durations == 1);
    if (n >= 2)
        add_delta(mov, delta, mov->n_durations == 0);
    mov->n_durations += n;
    mov->duration += n * delta;
    mov->last_delta = delta;
    if (mov->n_durations == 1)
        mov->min_delta = mov->max_delta = delta;
}

double pnv_mov_frame_rate(const PnvMov *mov)
{
    if (!mov->n_durations || !mov->duration || mov->max_delta - mov->min_delta > 1)
        return 0;
    if (mov->max_delta == mov->min_delta && mov->min_delta > 0)
        return (double)mov->timescale / mov->min_delta;
    return (double)mov->timescale * (double)mov->n_durations / (double)mov->duration;
}

/* ---- boxes ---- */

/* The box at *data, which then points behind it. Returns false at the end, or where no whole box follows. */
static bool next_box(const uint8_t **data, const uint8_t *end, Box *box)
{
    const uint64_t left = (uint64_t)(end - *data);
    uint64_t size, header = 8;

    if (left < 8)
        return false;
    size = pnv_read_u32(*data);
    if (size == 1 && left >= 16) {
        size = pnv_read_u64(*data + 8);
        header = 16;
    } else if (size == 0) {
        size = left;
    }
    if (size < header || size > left)
        return false;
    *box = (Box){pnv_read_u32(*data + 4), *data + header, (size_t)(size - header)};
    *data += size;
    return true;
}

/* The first box of a type inside another; data NULL if there is none. */
static Box find_box(const Box *parent, uint32_t type)
{
    const uint8_t *at = parent->data, *end = at ? at + parent->size : at;
    Box box;

    while (at && next_box(&at, end, &box))
        if (box.type == type)
            return box;
    return (Box){0, NULL, 0};
}

/* A box of at least size bytes, or none. */
static Box find_box_of(const Box *parent, uint32_t type, size_t size)
{
    const Box box = find_box(parent, type);
    return box.data && box.size >= size ? box : (Box){0, NULL, 0};
}

/* Entries of a table that has their number at byte 4 and the first one at byte first, as far as the box goes. */
static uint32_t table_entries(const Box *box, size_t first, size_t entry_bytes)
{
    if (!box->data || box->size < first)
        return 0;
    const uint64_t fit = (box->size - first) / entry_bytes, n = pnv_read_u32(box->data + first - 4);
    return (uint32_t)(n < fit ? n : fit);
}

static void copy_fourcc(char *to, uint32_t type)
{
    for (int i = 0; i < 4; i++) {
        const char c = (char)(type >> (24 - 8 * i));
        to[i] = c >= 0x20 && c <= 0x7e ? c : '?';
    }
    to[4] = 0;
}

/* ---- sample entry ---- */

static bool is_prores(uint32_t type)
{
    return type == FOURCC('a', 'p', 'c', 'o') || type == FOURCC('a', 'p', 'c', 's') ||
           type == FOURCC('a', 'p', 'c', 'n') || type == FOURCC('a', 'p', 'c', 'h') ||
           type == FOURCC('a', 'p', '4', 'h') || type == FOURCC('a', 'p', '4', 'x');
}

static void read_extension(PnvMov *mov, const Box *box)
{
    if (box->type == FOURCC('c', 'o', 'l', 'r') && box->size >= 10) {
        const uint32_t type = pnv_read_u32(box->data);
        if (type != FOURCC('n', 'c', 'l', 'c') && type != FOURCC('n', 'c', 'l', 'x'))
            return;
        copy_fourcc(mov->colr_type, type);
        for (int i = 0; i < 3; i++)
            mov->colr[i] = (int)pnv_read_u16(box->data + 4 + 2 * i);
    } else if (box->type == FOURCC('f', 'i', 'e', 'l') && box->size >= 2) {
        mov->fiel_count = box->data[0];
        mov->fiel_detail = box->data[1];
    } else if (box->type == FOURCC('p', 'a', 's', 'p') && box->size >= 8) {
        mov->pasp_h = pnv_read_u32(box->data);
        mov->pasp_v = pnv_read_u32(box->data + 4);
    }
}

/* A Pascal string of at most 31 bytes. */
static void read_compressor(PnvMov *mov, const uint8_t *p)
{
    const int n = p[0] < 31 ? p[0] : 31;

    for (int i = 0; i < n; i++)
        mov->compressor[i] = p[1 + i] >= 0x20 && p[1 + i] <= 0x7e ? (char)p[1 + i] : '?';
    mov->compressor[n] = 0;
}

#define SAMPLE_ENTRY_BYTES 78 /* of a visual sample entry, behind its box header */

static void read_sample_entry(PnvMov *mov, const Box *entry)
{
    const uint8_t *p = entry->data, *at = p + SAMPLE_ENTRY_BYTES;
    Box box;

    copy_fourcc(mov->fourcc, entry->type);
    mov->width = (int)pnv_read_u16(p + 24);
    mov->height = (int)pnv_read_u16(p + 26);
    read_compressor(mov, p + 42);
    mov->depth = (int)pnv_read_u16(p + 74);
    while (next_box(&at, p + entry->size, &box))
        read_extension(mov, &box);
}

/* ---- sample tables ---- */

/* Sizes of samples, in whichever of the forms they come. */
typedef struct Sizes {
    const uint8_t *data;
    uint32_t n, constant;
    int bits; /* of an entry; 0: constant */
} Sizes;

static Sizes read_sizes(const Box *stbl)
{
    const Box stsz = find_box_of(stbl, FOURCC('s', 't', 's', 'z'), 12);
    const Box stz2 = find_box_of(stbl, FOURCC('s', 't', 'z', '2'), 12);

    if (stsz.data) {
        const uint32_t constant = pnv_read_u32(stsz.data + 4);
        if (constant)
            return (Sizes){NULL, pnv_read_u32(stsz.data + 8), constant, 0};
        return (Sizes){stsz.data + 12, table_entries(&stsz, 12, 4), 0, 32};
    }
    if (stz2.data) {
        const int bits = stz2.data[7];
        if (bits == 8 || bits == 16)
            return (Sizes){stz2.data + 12, table_entries(&stz2, 12, (size_t)bits / 8), 0, bits};
    }
    return (Sizes){NULL, 0, 0, 0};
}

static uint32_t sample_size(const Sizes *s, uint32_t i)
{
    switch (s->bits) {
    case 8:
        return s->data[i];
    case 16:
        return pnv_read_u16(s->data + 2 * (size_t)i);
    case 32:
        return pnv_read_u32(s->data + 4 * (size_t)i);
    default:
        return s->constant;
    }
}

/* Walks the chunks: stsc says how many samples each has, stco or co64 where it begins. */
static bool read_chunks(Parser *p, const Box *stbl, const Sizes *sizes)
{
    const Box stsc = find_box(stbl, FOURCC('s', 't', 's', 'c'));
    const Box stco = find_box(stbl, FOURCC('s', 't', 'c', 'o')), co64 = find_box(stbl, FOURCC('c', 'o', '6', '4'));
    const uint32_t n_chunks = co64.data ? table_entries(&co64, 8, 8) : table_entries(&stco, 8, 4);
    const uint32_t n_runs = table_entries(&stsc, 8, 12);
    uint32_t sample = 0, run = 0;

    for (uint32_t c = 0; c < n_chunks && n_runs && sample < sizes->n; c++) {
        while (run + 1 < n_runs && pnv_read_u32(stsc.data + 8 + 12 * (size_t)(run + 1)) <= c + 1)
            run++;
        const uint32_t in_chunk = pnv_read_u32(stsc.data + 8 + 12 * (size_t)run + 4);
        uint64_t at = co64.data ? pnv_read_u64(co64.data + 8 + 8 * (size_t)c)
                                : pnv_read_u32(stco.data + 8 + 4 * (size_t)c);
        for (uint32_t k = 0; k < in_chunk && sample < sizes->n; k++) {
            const uint32_t size = sample_size(sizes, sample++);
            if (!add_sample(p, at, size))
                return false;
            at += size; /* of at most 2^32 samples: may wrap only behind any file */
        }
    }
    if (sample < sizes->n)
        return fail(p, "the sample sizes name %u samples, but the chunks hold %u", sizes->n, sample);
    return true;
}

static void read_times(PnvMov *mov, const Box *stbl)
{
    const Box stts = find_box(stbl, FOURCC('s', 't', 't', 's'));
    const uint32_t n = table_entries(&stts, 8, 8);

    for (uint32_t i = 0; i < n; i++)
        add_durations(mov, pnv_read_u32(stts.data + 8 + 8 * (size_t)i), pnv_read_u32(stts.data + 12 + 8 * (size_t)i));
}

/* ---- tracks ---- */

static uint32_t read_track_id(const Box *trak)
{
    const Box tkhd = find_box_of(trak, FOURCC('t', 'k', 'h', 'd'), 24);
    return !tkhd.data ? 0 : pnv_read_u32(tkhd.data + (tkhd.data[0] == 1 ? 20 : 12));
}

static uint32_t read_timescale(const Box *mdia)
{
    const Box mdhd = find_box_of(mdia, FOURCC('m', 'd', 'h', 'd'), 24);
    return !mdhd.data ? 0 : pnv_read_u32(mdhd.data + (mdhd.data[0] == 1 ? 20 : 12));
}

static bool read_track(Parser *p, const Box *trak)
{
    const Box mdia = find_box(trak, FOURCC('m', 'd', 'i', 'a')), minf = find_box(&mdia, FOURCC('m', 'i', 'n', 'f'));
    const Box stbl = find_box(&minf, FOURCC('s', 't', 'b', 'l'));
    const Box hdlr = find_box_of(&mdia, FOURCC('h', 'd', 'l', 'r'), 12);
    const Box stsd = find_box_of(&stbl, FOURCC('s', 't', 's', 'd'), 8);
    Box entry;

    if (!hdlr.data || !stsd.data || pnv_read_u32(hdlr.data + 8) != FOURCC('v', 'i', 'd', 'e'))
        return true;
    const uint8_t *at = stsd.data + 8;
    if (!next_box(&at, stsd.data + stsd.size, &entry))
        return true;
    if (!is_prores(entry.type) || entry.size < SAMPLE_ENTRY_BYTES) {
        copy_fourcc(p->other, entry.type);
        return true;
    }
    if (p->mov->n_tracks++)
        return true;
    p->track_id = read_track_id(trak);
    p->mov->timescale = read_timescale(&mdia);
    read_sample_entry(p->mov, &entry);
    read_times(p->mov, &stbl);
    const Sizes sizes = read_sizes(&stbl);
    return read_chunks(p, &stbl, &sizes);
}

static void read_trex(Parser *p, const Box *mvex)
{
    const uint8_t *at = mvex->data, *end = at + mvex->size;
    Box box;

    while (next_box(&at, end, &box))
        if (box.type == FOURCC('t', 'r', 'e', 'x') && box.size >= 24 && pnv_read_u32(box.data + 4) == p->track_id)
            p->trex = (Defaults){pnv_read_u32(box.data + 12), pnv_read_u32(box.data + 16)};
}

static bool read_moov(Parser *p, const Box *moov)
{
    const uint8_t *at = moov->data, *end = at + moov->size;
    const Box mvex = find_box(moov, FOURCC('m', 'v', 'e', 'x'));
    Box box;

    while (next_box(&at, end, &box))
        if (box.type == FOURCC('t', 'r', 'a', 'k') && !read_track(p, &box))
            return false;
    if (mvex.data)
        read_trex(p, &mvex);
    return true;
}

/* ---- movie fragments ---- */

enum { TFHD_BASE = 1, TFHD_DESCRIPTION = 2, TFHD_DURATION = 8, TFHD_SIZE = 16 };
enum { TRUN_OFFSET = 1, TRUN_FIRST_FLAGS = 4, TRUN_DURATION = 0x100, TRUN_SIZE = 0x200, TRUN_FLAGS = 0x400,
       TRUN_COMPOSITION = 0x800 };

/* One of the optional fields of 32 bits: taken from *at if flag is set, else the default. */
static uint32_t optional_u32(const uint8_t **at, const uint8_t *end, uint32_t flags, uint32_t flag, uint32_t otherwise)
{
    uint32_t value = otherwise;

    if (flags & flag && end - *at >= 4) {
        value = pnv_read_u32(*at);
        *at += 4;
    }
    return value;
}

/* Samples of one trun; *offset: where its data begins unless it says so itself, then where it ends. */
static bool read_trun(Parser *p, const Box *trun, uint64_t base, uint64_t *offset, Defaults defaults)
{
    if (trun->size < 8)
        return true;
    const uint32_t flags = pnv_read_u32(trun->data) & 0xffffff, n = pnv_read_u32(trun->data + 4);
    const uint8_t *at = trun->data + 8, *end = trun->data + trun->size;

    if (flags & TRUN_OFFSET)
        *offset = base + (uint64_t)(int64_t)(int32_t)optional_u32(&at, end, flags, TRUN_OFFSET, 0);
    optional_u32(&at, end, flags, TRUN_FIRST_FLAGS, 0);
    const uint32_t fields = flags & (TRUN_DURATION | TRUN_SIZE | TRUN_FLAGS | TRUN_COMPOSITION);
    const size_t entry_bytes = 4 * (size_t)__builtin_popcount(fields);
    if (entry_bytes && n > (size_t)(end - at) / entry_bytes)
        return fail(p, "a fragment names %u samples, but its table ends before", n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t duration = optional_u32(&at, end, flags, TRUN_DURATION, defaults.duration);
        const uint32_t size = optional_u32(&at, end, flags, TRUN_SIZE, defaults.size);
        optional_u32(&at, end, flags, TRUN_FLAGS, 0);
        optional_u32(&at, end, flags, TRUN_COMPOSITION, 0);
        if (!add_sample(p, *offset, size))
            return false;
        add_durations(p->mov, 1, duration);
        *offset += size;
    }
    return true;
}

static bool read_traf(Parser *p, const Box *traf, uint64_t moof_offset)
{
    const Box tfhd = find_box_of(traf, FOURCC('t', 'f', 'h', 'd'), 8);

    if (!tfhd.data || pnv_read_u32(tfhd.data + 4) != p->track_id)
        return true;
    const uint32_t flags = pnv_read_u32(tfhd.data) & 0xffffff;
    const uint8_t *at = tfhd.data + 8, *end = tfhd.data + tfhd.size;
    uint64_t base = moof_offset;
    if (flags & TFHD_BASE && end - at >= 8) {
        base = pnv_read_u64(at);
        at += 8;
    }
    optional_u32(&at, end, flags, TFHD_DESCRIPTION, 0);
    Defaults defaults;
    defaults.duration = optional_u32(&at, end, flags, TFHD_DURATION, p->trex.duration);
    defaults.size = optional_u32(&at, end, flags, TFHD_SIZE, p->trex.size);

    uint64_t offset = base;
    Box box;
    for (at = traf->data; next_box(&at, traf->data + traf->size, &box);)
        if (box.type == FOURCC('t', 'r', 'u', 'n') && !read_trun(p, &box, base, &offset, defaults))
            return false;
    return true;
}

static bool read_moof(Parser *p, const Box *moof, uint64_t offset)
{
    const uint8_t *at = moof->data, *end = at + moof->size;
    Box box;

    p->mov->fragmented = true;
    while (next_box(&at, end, &box))
        if (box.type == FOURCC('t', 'r', 'a', 'f') && !read_traf(p, &box, offset))
            return false;
    return true;
}

/* ---- files ---- */

/* Reads a moov or moof into memory and its tables from there. */
static bool read_tables(Parser *p, uint32_t type, uint64_t box_offset, uint64_t offset, uint64_t size)
{
    const bool is_moov = type == FOURCC('m', 'o', 'o', 'v');
    const uint64_t limit = is_moov ? MAX_MOOV_BYTES : MAX_MOOF_BYTES;

    if (size > limit)
        return fail(p, "the %s box has %llu bytes; %llu are read at most", is_moov ? "moov" : "moof",
                    (unsigned long long)size, (unsigned long long)limit);
    uint8_t *data = malloc(size ? (size_t)size : 1);
    if (!data)
        return fail(p, "no memory for a table of %llu bytes", (unsigned long long)size);
    const Box box = {type, data, (size_t)size};
    bool ok = p->source->read(p->source->opaque, offset, data, (size_t)size) ||
              fail(p, "reading %llu bytes at %llu failed", (unsigned long long)size, (unsigned long long)offset);
    ok = ok && (is_moov ? read_moov(p, &box) : read_moof(p, &box, box_offset));
    free(data);
    return ok;
}

/* Type, header size and size of the box of a file at offset; a box that leaves the file ends with it. */
static bool read_box_header(Parser *p, uint64_t offset, uint32_t *type, uint64_t *header, uint64_t *size)
{
    const uint64_t left = p->source->size - offset;
    uint8_t buffer[16] = {0};

    if (left < 8 || !p->source->read(p->source->opaque, offset, buffer, left < 16 ? 8 : 16))
        return false;
    *type = pnv_read_u32(buffer + 4);
    *size = pnv_read_u32(buffer);
    *header = 8;
    if (*size == 1) {
        *size = pnv_read_u64(buffer + 8);
        *header = 16;
    } else if (*size == 0) {
        *size = left;
    }
    if (*size < *header)
        return false;
    if (*size > left)
        *size = left;
    return true;
}

static bool read_boxes(Parser *p)
{
    uint64_t offset = 0, header, size;
    uint32_t type;
    bool moov = false;

    while (offset < p->source->size && read_box_header(p, offset, &type, &header, &size)) {
        const bool is_moov = type == FOURCC('m', 'o', 'o', 'v'), is_moof = type == FOURCC('m', 'o', 'o', 'f');
        if (size >= header && ((is_moov && !moov) || (is_moof && p->mov->n_tracks)) &&
            !read_tables(p, type, offset, offset + header, size - header))
            return false;
        moov |= is_moov;
        offset += size;
    }
    if (!moov)
        return fail(p, "neither a QuickTime or MP4 file with a moov box, nor bare 'icpf' frames; of other containers "
                       "'ffmpeg -i FILE -c copy FILE.mov' makes one that can be read");
    if (!p->mov->n_tracks)
        return fail(p, "no ProRes video track%s%s%s", p->other[0] ? "; there is a video track of '" : "", p->other,
                    p->other[0] ? "'" : "");
    return true;
}

/* Frames one after another by their own sizes. The rest of the file is one sample where no further frame follows. */
static bool read_bare(Parser *p)
{
    const uint64_t file = p->source->size;
    uint8_t buffer[8];

    p->mov->bare = true;
    for (uint64_t offset = 0, size; offset < file; offset += size) {
        const uint64_t left = file - offset;

        size = left < UINT32_MAX ? left : UINT32_MAX;
        if (left >= 8) {
            if (!p->source->read(p->source->opaque, offset, buffer, 8))
                return fail(p, "reading 8 bytes at %llu failed", (unsigned long long)offset);
            const uint32_t frame_size = pnv_read_u32(buffer);
            if (!memcmp(buffer + 4, "icpf", 4) && frame_size >= 8)
                size = frame_size;
            else if (size < left)
                return fail(p, "no frame begins at byte %llu", (unsigned long long)offset);
        }
        if (!add_sample(p, offset, (uint32_t)size))
            return false;
    }
    return true;
}

bool pnv_mov_open(PnvMov *mov, const PnvSource *source, char *error)
{
    Parser p = {.mov = mov, .source = source, .error = error};
    uint8_t start[8];

    *mov = (PnvMov){0};
    error[0] = 0;
    if (source->size < 8)
        return fail(&p, "%llu bytes; the smallest file that can be read has 8", (unsigned long long)source->size);
    if (!source->read(source->opaque, 0, start, 8))
        return fail(&p, "reading the first 8 bytes failed");
    return memcmp(start + 4, "icpf", 4) ? read_boxes(&p) : read_bare(&p);
}

void pnv_mov_close(PnvMov *mov)
{
    free(mov->samples);
    *mov = (PnvMov){0};
}

static bool read_memory(void *opaque, uint64_t offset, void *buffer, size_t n)
{
    memcpy(buffer, (const uint8_t *)opaque + offset, n);
    return true;
}

PnvSource pnv_source_memory(const void *data, size_t size)
{
    return (PnvSource){size, (void *)(uintptr_t)data, read_memory};
}
