/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "pixels.h"
#include "tables.h"
#include "unit.h"

#define FRAME_PREFIX_BYTES 8   /* frame_size and frame_identifier */
#define FRAME_HEADER_BYTES 20  /* without matrices */
#define MATRIX_BYTES 64
#define PICTURE_HEADER_BYTES 8
#define DEFAULT_MAX_SAMPLES (UINT64_C(1) << 27)
#define LARGEST_MAX_SAMPLES (UINT64_C(1) << 30) /* keeps indices of levels within 32 bits */

struct PnvReader {
    PnvReaderFrame frame;
    PnvReaderOptions options;
    PnvPixels pixels;

    const uint8_t *data; /* during pnv_reader_read() only */
    uint32_t size;       /* of the frame: frame_size, or the sample's where that is less */
    int at_picture, at_slice; /* where findings are reported */

    uint32_t slices_allocated;
    int16_t *levels; /* all slices' with PNV_READER_LEVELS */
    size_t levels_allocated;
    double *samples[2][3]; /* picture, plane; whole macroblocks */
    size_t samples_allocated[2][3];
    uint16_t *alpha[2];
    size_t alpha_allocated[2];

    int16_t unit_levels[3][64 * PNV_UNIT_MAX_BLOCKS]; /* of the slice at hand */
    uint16_t unit_alpha[PNV_UNIT_MAX_ALPHA];
};

static const char *const plane_names[4] = {"Y", "Cb", "Cr", "alpha"};

__attribute__((format(printf, 4, 5))) static void report(PnvReader *r, PnvFindingCode code, uint32_t offset,
                                                         const char *format, ...)
{
    PnvFinding finding = {.code = code, .picture = r->at_picture, .slice = r->at_slice, .offset = offset};

    if (pnv_finding_is_violation(code))
        r->frame.n_violations++;
    else
        r->frame.n_notes++;
    r->frame.n_found[code]++;
    if (!r->options.report)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(finding.text, sizeof finding.text, format, args);
    va_end(args);
    r->options.report(r->options.opaque, &finding);
}

/* Slices cannot be found: nothing is known of their levels and their alpha. */
static void lose_slices(PnvReader *r)
{
    r->frame.complete = false;
    r->frame.opaque = false;
}

/* ---- memory ---- */

/* At least n elements of size bytes; what was there may be lost. The size is kept for the next frame. */
static bool reserve(void *pointer, size_t *allocated, size_t n, size_t size)
{
    void **p = pointer;

    if (n <= *allocated)
        return true;
    free(*p);
    *p = malloc(n * size);
    *allocated = *p ? n : 0;
    return *p != NULL;
}

PnvReader *pnv_reader_new(void)
{
    PnvReader *r = calloc(1, sizeof *r);

    if (r)
        pnv_pixels_init(&r->pixels);
    return r;
}

void pnv_reader_free(PnvReader **reader)
{
    PnvReader *r = reader ? *reader : NULL;

    if (!r)
        return;
    for (int picture = 0; picture < 2; picture++) {
        for (int plane = 0; plane < 3; plane++)
            free(r->samples[picture][plane]);
        free(r->alpha[picture]);
    }
    free(r->levels);
    free(r->frame.slices);
    free(r);
    *reader = NULL;
}

/* ---- geometry (RDD 36 5.2) ---- */

static int chroma_mb_width(const PnvReaderFrame *f)
{
    return f->header.chroma_format == 3 ? 16 : 8;
}

/* Samples of one row of a plane, up to whole macroblocks. */
static size_t plane_stride(const PnvReaderFrame *f, int plane)
{
    return (size_t)f->pictures[0].width_mb * (size_t)(plane == 1 || plane == 2 ? chroma_mb_width(f) : 16);
}

static void place_pictures(PnvReaderFrame *f)
{
    const PnvReaderHeader *h = &f->header;
    const bool interlaced = h->interlace_mode != 0;

    f->n_pictures = interlaced ? 2 : 1;
    for (int i = 0; i < f->n_pictures; i++) {
        PnvReaderPicture *p = &f->pictures[i];
        p->row_step = interlaced ? 2 : 1;
        p->first_row = interlaced && i != h->interlace_mode - 1 ? 1 : 0;
        p->height = (h->height - p->first_row + p->row_step - 1) / p->row_step;
        p->width_mb = (h->width + 15) / 16;
        p->height_mb = (p->height + 15) / 16;
    }
    for (int plane = 0; plane < (h->alpha_type ? 4 : 3); plane++) {
        const bool halved = h->chroma_format == 2 && (plane == 1 || plane == 2);
        f->plane[plane].width = halved ? (h->width + 1) / 2 : h->width;
        f->plane[plane].height = h->height;
    }
}

/* Full slices, then the rest by its binary digits from the highest (RDD 36 5.2). */
static int slices_per_row(int width_mb, int log2_slice_mb)
{
    int n = width_mb >> log2_slice_mb;

    for (int rest = width_mb & ((1 << log2_slice_mb) - 1); rest; rest &= rest - 1)
        n++;
    return n;
}

/* ---- frame header (RDD 36 5.1.1, 6.1.1) ---- */

static bool is_primaries(int code)
{
    return code == 0 || code == 1 || code == 2 || code == 5 || code == 6 || code == 9 || code == 11 || code == 12;
}

static bool is_transfer(int code)
{
    return code == 0 || code == 1 || code == 2 || code == 16 || code == 18;
}

static bool is_matrix(int code)
{
    return code == 0 || code == 1 || code == 2 || code == 6 || code == 9;
}

static void check_reserved(PnvReader *r, uint32_t offset, int mask)
{
    if (r->data[offset] & mask)
        report(r, PNV_FINDING_RESERVED_BITS, offset, "byte 0x%02x sets reserved bits 0x%02x, which must be 0",
               r->data[offset], r->data[offset] & mask);
}

static void read_header_fields(PnvReaderHeader *h, const uint8_t *p)
{
    h->header_size = (int)pnv_read_u16(p);
    h->version = p[3];
    memcpy(h->encoder_id, p + 4, 4);
    h->width = (int)pnv_read_u16(p + 8);
    h->height = (int)pnv_read_u16(p + 10);
    h->chroma_format = p[12] >> 6;
    h->interlace_mode = p[12] >> 2 & 3;
    h->aspect_ratio = p[13] >> 4;
    h->frame_rate_code = p[13] & 15;
    h->color_primaries = p[14];
    h->transfer_characteristic = p[15];
    h->matrix_coefficients = p[16];
    h->alpha_type = p[17] & 15;
    h->luma_sent = p[19] & 2;
    h->chroma_sent = p[19] & 1;
}

static void check_version(PnvReader *r)
{
    const PnvReaderHeader *h = &r->frame.header;
    const bool is_444 = h->chroma_format == 3, alpha = h->alpha_type == 1 || h->alpha_type == 2;

    if (h->version > 1)
        report(r, PNV_FINDING_BITSTREAM_VERSION, 11, "bitstream_version %d; 0 and 1 are defined", h->version);
    else if (h->version == 0 && (is_444 || alpha))
        report(r, PNV_FINDING_VERSION_RULE, 11, "bitstream_version 0 is for 4:2:2 without alpha; this is %s",
               !alpha ? "4:4:4" : is_444 ? "4:4:4 with alpha" : "4:2:2 with alpha");
}

static void check_encoder_id(PnvReader *r)
{
    for (int i = 0; i < 4; i++) {
        const char c = r->frame.header.encoder_id[i];
        if (c < 0x20 || c > 0x7e) {
            report(r, PNV_FINDING_ENCODER_ID, 12, "encoder_identifier has the byte 0x%02x, which is no character",
                   (unsigned)(uint8_t)c);
            return;
        }
    }
}

/* What has no influence on the decoding. */
static void check_description(PnvReader *r)
{
    const PnvReaderHeader *h = &r->frame.header;

    if (h->aspect_ratio > 3)
        report(r, PNV_FINDING_ASPECT_RATIO, 21, "aspect_ratio_information %d; 0..3 are defined", h->aspect_ratio);
    if (h->frame_rate_code >= PNV_N_FRAME_RATE_CODES)
        report(r, PNV_FINDING_FRAME_RATE_CODE, 21, "frame_rate_code %d; 0..11 are defined", h->frame_rate_code);
    if (!is_primaries(h->color_primaries))
        report(r, PNV_FINDING_COLOR_PRIMARIES, 22, "color_primaries %d; 0, 1, 2, 5, 6, 9, 11 and 12 are defined",
               h->color_primaries);
    if (!is_transfer(h->transfer_characteristic))
        report(r, PNV_FINDING_TRANSFER, 23, "transfer_characteristic %d; 0, 1, 2, 16 and 18 are defined",
               h->transfer_characteristic);
    if (!is_matrix(h->matrix_coefficients))
        report(r, PNV_FINDING_MATRIX_COEFFICIENTS, 24, "matrix_coefficients %d; 0, 1, 2, 6 and 9 are defined",
               h->matrix_coefficients);
}

/* What the decoding cannot do without. */
static bool check_structure(PnvReader *r)
{
    const PnvReaderHeader *h = &r->frame.header;
    const uint64_t before = r->frame.n_violations;

    if (h->width == 0 || h->height == 0)
        report(r, PNV_FINDING_DIMENSIONS, 16, "%dx%d; both must be 1..65535", h->width, h->height);
    else if (h->interlace_mode && h->height < 2)
        report(r, PNV_FINDING_DIMENSIONS, 18, "interlaced with %d row; the bottom field would have none", h->height);
    if (h->chroma_format < 2)
        report(r, PNV_FINDING_CHROMA_FORMAT, 20, "chroma_format %d; 2 (4:2:2) and 3 (4:4:4) are defined",
               h->chroma_format);
    if (h->interlace_mode == 3)
        report(r, PNV_FINDING_INTERLACE_MODE, 20, "interlace_mode 3; 0, 1 and 2 are defined");
    if (h->alpha_type > 2)
        report(r, PNV_FINDING_ALPHA_TYPE, 25, "alpha_channel_type %d; 0, 1 and 2 are defined", h->alpha_type);
    return r->frame.n_violations == before;
}

static void read_matrix(PnvReader *r, uint8_t *weights, uint32_t offset, const char *name)
{
    memcpy(weights, r->data + offset, MATRIX_BYTES);
    for (uint32_t i = 0; i < MATRIX_BYTES; i++)
        if (weights[i] < 2 || weights[i] > 63)
            report(r, PNV_FINDING_MATRIX_WEIGHT, offset + i, "%s weight [%u][%u] is %d; 2..63 are legal", name, i / 8,
                   i % 8, weights[i]);
}

/* Without a chroma matrix, chroma takes the luma matrix in force; without a luma matrix, that is all 4. */
static void read_matrices(PnvReader *r)
{
    PnvReaderHeader *h = &r->frame.header;
    uint32_t at = FRAME_PREFIX_BYTES + FRAME_HEADER_BYTES;

    memset(h->luma, 4, MATRIX_BYTES);
    if (h->luma_sent) {
        read_matrix(r, h->luma, at, "luma");
        at += MATRIX_BYTES;
    }
    memcpy(h->chroma, h->luma, MATRIX_BYTES);
    if (h->chroma_sent)
        read_matrix(r, h->chroma, at, "chroma");
}

/* Returns whether the size leaves the fields and the pictures their place. */
static bool check_header_size(PnvReader *r)
{
    const PnvReaderHeader *h = &r->frame.header;
    const int n_matrices = h->luma_sent + h->chroma_sent;
    const int expected = FRAME_HEADER_BYTES + MATRIX_BYTES * n_matrices;

    if (h->header_size != expected)
        report(r, PNV_FINDING_FRAME_HEADER_SIZE, 8, "frame_header_size %d; with %d matrices it is %d", h->header_size,
               n_matrices, expected);
    if ((uint32_t)h->header_size + FRAME_PREFIX_BYTES > r->size) {
        if (h->header_size == expected)
            report(r, PNV_FINDING_FRAME_HEADER_SIZE, 8, "frame_header_size %d, but the frame has %u bytes",
                   h->header_size, r->size);
        return false;
    }
    return h->header_size >= expected;
}

static void check_prefix(PnvReader *r, size_t sample_size)
{
    const uint8_t *id = r->data + 4;

    r->frame.header.frame_size = pnv_read_u32(r->data);
    if (r->frame.header.frame_size != sample_size)
        report(r, PNV_FINDING_FRAME_SIZE, 0, "frame_size %u, but the sample has %zu bytes", r->frame.header.frame_size,
               sample_size);
    if (memcmp(id, "icpf", 4) != 0)
        report(r, PNV_FINDING_FRAME_IDENTIFIER, 4, "frame_identifier %02x%02x%02x%02x; it must be 'icpf', 69637066",
               id[0], id[1], id[2], id[3]);
}

static bool read_frame_header(PnvReader *r)
{
    const uint32_t at = FRAME_PREFIX_BYTES;

    read_header_fields(&r->frame.header, r->data + at);
    const bool size_fits = check_header_size(r);
    check_reserved(r, at + 2, 0xff);
    check_version(r);
    check_encoder_id(r);
    const bool structure = check_structure(r);
    check_reserved(r, at + 12, 0x33);
    check_description(r);
    check_reserved(r, at + 17, 0xf0);
    check_reserved(r, at + 18, 0xff);
    check_reserved(r, at + 19, 0xfc);
    if (!size_fits)
        return false;
    read_matrices(r);
    r->frame.header_bytes += FRAME_PREFIX_BYTES + (uint32_t)r->frame.header.header_size;
    return structure;
}

/* ---- slices (RDD 36 5.3) ---- */

static int n_blocks(const PnvReaderFrame *f, const PnvReaderSlice *s, int plane)
{
    return s->n_mbs * (plane == 0 || f->header.chroma_format == 3 ? 4 : 2);
}

/* The text of what stopped the decoding of a unit, or was wrong at its end. */
static void report_unit(PnvReader *r, const PnvUnitResult *u, int plane, uint32_t offset, uint32_t bytes)
{
    const char *name = plane_names[plane], *what = plane == 3 ? "value" : "coefficient";
    const uint32_t at = offset + u->bit / 8;

    switch (u->code) {
    case PNV_FINDING_OVERRUN:
        report(r, u->code, at, "%s: the code at bit %u, %s %d, runs past the %u bytes of the plane", name, u->bit, what,
               u->index, bytes);
        break;
    case PNV_FINDING_CODE_LENGTH:
        report(r, u->code, at, "%s: the code at bit %u, %s %d, begins with more than 20 zeros", name, u->bit, what,
               u->index);
        break;
    case PNV_FINDING_LEVEL_RANGE:
        report(r, u->code, at, "%s: level %d at bit %u, coefficient %d, does not fit 16 bits", name, u->value, u->bit,
               u->index);
        break;
    case PNV_FINDING_RUN_OVERRUN:
        report(r, u->code, at, "%s: the run of %d zeros at bit %u, after coefficient %d, passes the last one", name,
               u->value, u->bit, u->index);
        break;
    case PNV_FINDING_TRAILING_DATA:
        report(r, u->code, at, "%s: bits other than 0 from bit %u on, after the last code", name, u->bit);
        break;
    case PNV_FINDING_PADDING:
    case PNV_FINDING_PADDING_BYTES:
        report(r, u->code, at, "%s: %d zero bits after the last code; at most 7 are needed", name, u->value);
        break;
    case PNV_FINDING_ALPHA_LAST_RUN:
        report(r, u->code, at, "alpha: no run code for value %d, the last one; a run of 1 needs it too", u->index);
        break;
    case PNV_FINDING_ALPHA_OVERRUN:
        report(r, u->code, at, "alpha: a run of %d at bit %u, value %d, passes the last value of the slice", u->value,
               u->bit, u->index);
        break;
    default:
        break;
    }
}

static void report_alpha(PnvReader *r, const PnvUnitResult *u, uint32_t offset)
{
    if (u->n_wraps)
        report(r, PNV_FINDING_ALPHA_WRAP, offset + u->wrap_bit / 8,
               "alpha: short difference to %d at bit %u leaves 0..%d (%u of them in the slice)", u->wrap_value,
               u->wrap_bit, r->frame.header.alpha_type == 1 ? 255 : 65535, u->n_wraps);
    if (u->n_long_runs)
        report(r, PNV_FINDING_ALPHA_RUN_FORM, offset, "alpha: %u runs below 17 in the form of 17..2048",
               u->n_long_runs);
}

/* Decoders with 16-bit products wrap beyond this; true coefficients stay within half of it and half a step. */
static void check_coefficients(PnvReader *r, const PnvReaderSlice *s, int plane, const int16_t *levels, uint32_t offset)
{
    const uint8_t *weights = plane == 0 ? r->frame.header.luma : r->frame.header.chroma;
    const int blocks = n_blocks(&r->frame, s, plane), qscale = pnv_qscale(s->quantizer);

    for (int i = 0; i < 64; i++) {
        const int step = weights[pnv_reader_scan(r, i)] * qscale;
        for (int b = 0; b < blocks; b++) {
            const int c = abs(levels[i * blocks + b]) * step;
            if (c > INT16_MAX) {
                report(r, PNV_FINDING_COEFFICIENT_RANGE, offset,
                       "%s: level %d x weight x qScale is %d; true samples stay below 32768", plane_names[plane],
                       levels[i * blocks + b], c);
                return; /* one of a unit is enough */
            }
        }
    }
}

static bool read_levels(PnvReader *r, PnvReaderSlice *s, int plane, uint32_t offset)
{
    const int blocks = n_blocks(&r->frame, s, plane);
    int16_t *levels = r->unit_levels[plane];
    const PnvUnitResult u = pnv_unit_decode_levels(levels, blocks, r->data + offset, s->unit_bytes[plane]);

    s->unit_bits[plane] = u.used_bits;
    if (u.code != PNV_FINDING_NONE)
        report_unit(r, &u, plane, offset, s->unit_bytes[plane]);
    if (s->quantizer && u.max_level * 63 * pnv_qscale(s->quantizer) > INT16_MAX)
        check_coefficients(r, s, plane, levels, offset);
    if (r->options.flags & PNV_READER_LEVELS) {
        uint32_t at = s->first_level;
        for (int i = 0; i < plane; i++)
            at += 64 * (uint32_t)n_blocks(&r->frame, s, i);
        memcpy(r->levels + at, levels, (size_t)blocks * 64 * sizeof *levels);
    }
    return u.complete;
}

static bool read_alpha(PnvReader *r, PnvReaderSlice *s, uint32_t offset)
{
    const int n = 256 * s->n_mbs, depth = 8 * r->frame.header.alpha_type;
    const PnvUnitResult u = pnv_unit_decode_alpha(r->unit_alpha, n, depth, r->data + offset, s->unit_bytes[3]);

    s->unit_bits[3] = u.used_bits;
    report_alpha(r, &u, offset);
    if (u.code != PNV_FINDING_NONE)
        report_unit(r, &u, 3, offset, s->unit_bytes[3]);
    r->frame.opaque &= u.complete && u.opaque;
    return u.complete;
}

/* ---- samples ---- */

static void store_samples(PnvReader *r, const PnvReaderSlice *s, int plane)
{
    const PnvReaderFrame *f = &r->frame;
    const size_t stride = plane_stride(f, plane);
    const uint8_t *scan = f->header.interlace_mode ? pnv_scan_interlaced : pnv_scan_progressive;
    const int blocks = n_blocks(f, s, plane);

    for (int b = 0; b < blocks; b++) {
        int x, y;
        pnv_reader_block_place(r, s, plane, b, &x, &y);
        pnv_pixels_block(&r->pixels, r->samples[s->picture][plane] + (size_t)y * stride + (size_t)x, (ptrdiff_t)stride,
                         r->unit_levels[plane] + b, blocks, scan, plane == 0 ? f->header.luma : f->header.chroma,
                         pnv_qscale(s->quantizer), f->depth);
    }
}

static void store_alpha(PnvReader *r, const PnvReaderSlice *s)
{
    const size_t stride = plane_stride(&r->frame, 3), width = 16 * (size_t)s->n_mbs;
    uint16_t *to = r->alpha[s->picture] + 16 * s->mb_y * stride + 16 * (size_t)s->mb_x;

    for (size_t y = 0; y < 16; y++)
        memcpy(to + y * stride, r->unit_alpha + y * width, width * sizeof *to);
}

static bool reserve_samples(PnvReader *r)
{
    const PnvReaderFrame *f = &r->frame;
    const double grey = ldexp(0.5, f->depth);

    for (int picture = 0; picture < f->n_pictures; picture++) {
        const size_t rows = 16 * (size_t)f->pictures[picture].height_mb;
        for (int plane = 0; plane < 3; plane++) {
            const size_t n = rows * plane_stride(f, plane);
            if (!reserve(&r->samples[picture][plane], &r->samples_allocated[picture][plane], n, sizeof(double)))
                return false;
            for (size_t i = 0; i < n; i++)
                r->samples[picture][plane][i] = grey;
        }
        if (f->header.alpha_type) {
            const size_t n = rows * plane_stride(f, 3);
            if (!reserve(&r->alpha[picture], &r->alpha_allocated[picture], n, sizeof(uint16_t)))
                return false;
            memset(r->alpha[picture], 0, n * sizeof(uint16_t));
        }
    }
    return true;
}

/* Room for what the caller wants kept; sizes by the header, which is bounded by max_samples. */
static PnvReaderStatus reserve_kept(PnvReader *r)
{
    const PnvReaderFrame *f = &r->frame;
    uint64_t n_mbs = 0, max = r->options.max_samples ? r->options.max_samples : DEFAULT_MAX_SAMPLES;

    if (!(r->options.flags & (PNV_READER_LEVELS | PNV_READER_PIXELS)))
        return PNV_READER_OK;
    if (max > LARGEST_MAX_SAMPLES)
        max = LARGEST_MAX_SAMPLES;
    for (int i = 0; i < f->n_pictures; i++)
        n_mbs += (uint64_t)f->pictures[i].width_mb * (uint64_t)f->pictures[i].height_mb;
    if (n_mbs * 256 > max)
        return PNV_READER_EBIG;
    if (r->options.flags & PNV_READER_LEVELS) {
        const size_t n = (size_t)n_mbs * 64 * (f->header.chroma_format == 3 ? 12 : 8);
        if (!reserve(&r->levels, &r->levels_allocated, n, sizeof(int16_t)))
            return PNV_READER_ENOMEM;
        memset(r->levels, 0, n * sizeof(int16_t));
    }
    if (r->options.flags & PNV_READER_PIXELS && !reserve_samples(r))
        return PNV_READER_ENOMEM;
    return PNV_READER_OK;
}

/* ---- slice (RDD 36 5.3.1, 6.3) ---- */

/* Sizes of the planes; the last one is what is left. Returns whether they fit the slice. */
static bool read_coded_sizes(PnvReader *r, PnvReaderSlice *s)
{
    const int n_sizes = r->frame.header.alpha_type ? 3 : 2;
    const uint8_t *p = r->data + s->offset;
    uint32_t sum = s->header_bytes;

    for (int i = 0; i < n_sizes; i++) {
        s->unit_bytes[i] = (uint16_t)pnv_read_u16(p + 2 + 2 * i);
        sum += s->unit_bytes[i];
    }
    if (sum > s->bytes) {
        report(r, PNV_FINDING_CODED_SIZE, s->offset + 2, "header and planes make %u bytes, but the slice has %u", sum,
               s->bytes);
        memset(s->unit_bytes, 0, sizeof s->unit_bytes);
        return false;
    }
    s->unit_bytes[n_sizes] = (uint16_t)(s->bytes - sum);
    return true;
}

/* Returns whether the planes can be found. */
static bool read_slice_header(PnvReader *r, PnvReaderSlice *s)
{
    const uint8_t *p = r->data + s->offset;
    const uint32_t expected = r->frame.header.alpha_type ? 8 : 6;

    if (s->bytes < expected) {
        report(r, PNV_FINDING_SLICE_TABLE, s->offset, "a slice of %u bytes is shorter than its header of %u", s->bytes,
               expected);
        return false;
    }
    s->header_bytes = p[0] >> 3;
    r->frame.header_bytes += s->header_bytes;
    check_reserved(r, s->offset, 0x07);
    if (s->header_bytes != expected)
        report(r, PNV_FINDING_SLICE_HEADER_SIZE, s->offset, "slice_header_size %d; it must be %u %s alpha",
               s->header_bytes, expected, expected == 8 ? "with" : "without");
    s->quantizer = p[1];
    if (p[1] < PNV_QUANTIZER_MIN || p[1] > PNV_QUANTIZER_MAX)
        report(r, PNV_FINDING_QUANTIZATION_INDEX, s->offset + 1, "quantization_index %d; 1..224 are legal", p[1]);
    if (s->header_bytes < expected)
        return false;
    return read_coded_sizes(r, s);
}

static void read_slice(PnvReader *r, PnvReaderSlice *s)
{
    const int n_planes = r->frame.header.alpha_type ? 4 : 3;
    bool decoded = read_slice_header(r, s);

    if (decoded) {
        uint32_t offset = s->offset + s->header_bytes;
        for (int plane = 0; plane < n_planes; plane++) {
            decoded &= plane == 3 ? read_alpha(r, s, offset) : read_levels(r, s, plane, offset);
            offset += s->unit_bytes[plane];
            r->frame.unit_bytes[plane] += s->unit_bytes[plane];
        }
    } else {
        lose_slices(r);
    }
    s->decoded = decoded && s->quantizer >= PNV_QUANTIZER_MIN && s->quantizer <= PNV_QUANTIZER_MAX;
    r->frame.complete &= s->decoded;
    if (!s->decoded || !(r->options.flags & PNV_READER_PIXELS))
        return;
    for (int plane = 0; plane < 3; plane++)
        store_samples(r, s, plane);
    if (n_planes == 4)
        store_alpha(r, s);
}

/* ---- picture (RDD 36 5.2, 6.2) ---- */

/* Room for n more slices, keeping those of the first picture. */
static bool grow_slices(PnvReader *r, uint32_t n)
{
    const uint32_t wanted = r->frame.n_slices + n;

    if (wanted <= r->slices_allocated)
        return true;
    PnvReaderSlice *slices = realloc(r->frame.slices, wanted * sizeof *slices);
    if (!slices)
        return false;
    r->frame.slices = slices;
    r->slices_allocated = wanted;
    return true;
}

/* Width in macroblocks of slice k of a row, and the macroblock it begins at. */
static int slice_place(const PnvReaderPicture *p, int k, int *mb_x)
{
    const int n_full = p->width_mb >> p->log2_slice_mb;
    int size = 1 << p->log2_slice_mb;

    *mb_x = (k < n_full ? k : n_full) << p->log2_slice_mb;
    for (int i = n_full; i <= k; i++) {
        do
            size >>= 1;
        while (!(p->width_mb & size));
        *mb_x += i < k ? size : 0;
    }
    return size;
}

/* All slices of one picture, as far as the table leads. end: first byte behind the picture. */
static void read_slices(PnvReader *r, PnvReaderPicture *p, uint32_t table, uint32_t n, uint32_t end)
{
    PnvReaderFrame *f = &r->frame;
    uint32_t at = table + 2 * n, first_level = 0;

    if (r->at_picture == 1) {
        const PnvReaderPicture *first = &f->pictures[0];
        first_level = (uint32_t)(first->width_mb * first->height_mb) * 64 * (f->header.chroma_format == 3 ? 12 : 8);
    }
    p->first_slice = f->n_slices;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t bytes = pnv_read_u16(r->data + table + 2 * i);
        int mb_x;

        r->at_slice = (int)i;
        if (bytes > end - at) {
            report(r, PNV_FINDING_SLICE_TABLE, table + 2 * i, "slice %u of %u bytes leaves the picture by %u bytes", i,
                   bytes, bytes - (end - at));
            f->complete = false;
            break;
        }
        const int n_mbs = slice_place(p, (int)i % p->slices_per_row, &mb_x);
        PnvReaderSlice *s = &f->slices[f->n_slices++];
        *s = (PnvReaderSlice){.offset = at, .bytes = (uint16_t)bytes, .mb_x = (uint16_t)mb_x,
                              .mb_y = (uint16_t)((int)i / p->slices_per_row), .n_mbs = (uint8_t)n_mbs,
                              .picture = (uint8_t)r->at_picture, .first_level = first_level};
        p->n_slices++;
        first_level += (uint32_t)(n_mbs * 64 * (f->header.chroma_format == 3 ? 12 : 8));
        read_slice(r, s);
        at += bytes;
    }
    r->at_slice = -1;
    if (p->n_slices == n && at != end)
        report(r, PNV_FINDING_PICTURE_SIZE, p->offset + 1,
               "picture_size %u, but header, table and slices make %u bytes", p->bytes, at - p->offset);
}

/* The count is deprecated: decoders compute it, but very old ones read it (RDD 36 6.2). */
static void check_slice_count(PnvReader *r, uint32_t offset, uint32_t n)
{
    const uint32_t count = pnv_read_u16(r->data + offset), expected = n <= 65535 ? n : 0;

    if (count != expected)
        report(r, PNV_FINDING_SLICE_COUNT, offset, "deprecated_number_of_slices %u; the picture has %u", count, n);
}

/* Returns the size of the picture header; 0: the picture cannot be read. */
static uint32_t read_picture_header(PnvReader *r, PnvReaderPicture *p)
{
    const uint8_t *data = r->data + p->offset;
    const uint32_t header_bytes = data[0] >> 3, left = r->size - p->offset;

    p->bytes = pnv_read_u32(data + 1);
    check_reserved(r, p->offset, 0x07);
    if (header_bytes != PICTURE_HEADER_BYTES)
        report(r, PNV_FINDING_PICTURE_HEADER_SIZE, p->offset, "picture_header_size %u; it must be 8", header_bytes);
    if (p->bytes > left) {
        report(r, PNV_FINDING_PICTURE_SIZE, p->offset + 1, "picture_size %u, but the frame has %u bytes left",
               p->bytes, left);
        p->bytes = left;
    }
    p->log2_slice_mb = data[7] >> 4 & 3;
    check_reserved(r, p->offset + 7, 0xcf);
    if (header_bytes > p->bytes)
        report(r, PNV_FINDING_PICTURE_SIZE, p->offset + 1, "picture_size %u is less than the header's %u bytes",
               p->bytes, header_bytes);
    return header_bytes < PICTURE_HEADER_BYTES || header_bytes > p->bytes ? 0 : header_bytes;
}

/* Returns false when memory runs out. */
static bool read_picture(PnvReader *r, PnvReaderPicture *p)
{
    const uint32_t header_bytes = read_picture_header(r, p);
    const uint64_t slice_header_bytes = r->frame.header.alpha_type ? 8 : 6;

    p->slices_per_row = slices_per_row(p->width_mb, p->log2_slice_mb);
    const uint32_t n = (uint32_t)(p->slices_per_row * p->height_mb);
    check_slice_count(r, p->offset + 5, n);
    if (!header_bytes) {
        lose_slices(r);
        return true;
    }
    if (header_bytes + n * (2 + slice_header_bytes) > p->bytes) {
        report(r, PNV_FINDING_SLICE_TABLE, p->offset + header_bytes,
               "%u slices need more than the picture's %u bytes for their table and headers", n, p->bytes);
        lose_slices(r);
        return true;
    }
    if (!grow_slices(r, n))
        return false;
    r->frame.header_bytes += header_bytes + 2 * n;
    read_slices(r, p, p->offset + header_bytes, n, p->offset + p->bytes);
    return true;
}

/* Zero bytes behind the last picture may fill a frame up (RDD 36 5.1). */
static void check_stuffing(PnvReader *r, uint32_t at)
{
    r->frame.stuffing_bytes = r->size - at;
    for (uint32_t i = at; i < r->size; i++) {
        if (r->data[i]) {
            report(r, PNV_FINDING_STUFFING, i, "byte 0x%02x behind the last picture; only zeros may follow it",
                   r->data[i]);
            return;
        }
    }
}

static bool read_pictures(PnvReader *r)
{
    PnvReaderFrame *f = &r->frame;
    uint32_t at = FRAME_PREFIX_BYTES + (uint32_t)f->header.header_size;

    for (int i = 0; i < f->n_pictures; i++) {
        PnvReaderPicture *p = &f->pictures[i];

        r->at_picture = i;
        if (r->size - at < PICTURE_HEADER_BYTES) {
            report(r, PNV_FINDING_PICTURE_SIZE, at, "%u bytes are left for picture %d; its header alone has 8",
                   r->size - at, i);
            lose_slices(r);
            return true;
        }
        p->offset = at;
        if (!read_picture(r, p))
            return false;
        at += p->bytes;
    }
    r->at_picture = -1;
    check_stuffing(r, at);
    return true;
}

/* ---- frame ---- */

static void reset(PnvReader *r, const uint8_t *data, size_t size, const PnvReaderOptions *options)
{
    PnvReaderSlice *slices = r->frame.slices;

    r->frame = (PnvReaderFrame){.slices = slices};
    r->options = options ? *options : (PnvReaderOptions){0};
    r->data = data;
    r->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    r->at_picture = r->at_slice = -1;
}

PnvReaderStatus pnv_reader_read(PnvReader *r, const uint8_t *data, size_t size, const PnvReaderOptions *options)
{
    PnvReaderFrame *f = &r->frame;

    reset(r, data, size, options);
    if (r->size < FRAME_PREFIX_BYTES + FRAME_HEADER_BYTES) {
        report(r, PNV_FINDING_FRAME_SIZE, 0, "%u bytes; the smallest frame header ends at 28", r->size);
        return PNV_READER_OK;
    }
    check_prefix(r, size);
    if (f->header.frame_size < r->size && f->header.frame_size >= FRAME_PREFIX_BYTES + FRAME_HEADER_BYTES)
        r->size = f->header.frame_size;
    f->header_valid = read_frame_header(r);
    if (!f->header_valid)
        return PNV_READER_OK;
    f->depth = r->options.depth ? r->options.depth : f->header.chroma_format == 3 ? 12 : 10;
    f->complete = true;
    f->opaque = f->header.alpha_type != 0;
    place_pictures(f);
    const PnvReaderStatus status = reserve_kept(r);
    if (status != PNV_READER_OK || !read_pictures(r)) {
        lose_slices(r);
        return status != PNV_READER_OK ? status : PNV_READER_ENOMEM;
    }
    return PNV_READER_OK;
}

/* ---- what was read ---- */

const PnvReaderFrame *pnv_reader_frame(const PnvReader *r)
{
    return &r->frame;
}

const double *pnv_reader_picture_row(const PnvReader *r, int picture, int plane, int y)
{
    return r->samples[picture][plane] + (size_t)y * plane_stride(&r->frame, plane);
}

/* Which picture carries row y of the frame, and as which of its rows. */
static int picture_of_row(const PnvReaderFrame *f, int *y)
{
    int picture = 0;

    if (f->n_pictures == 2) {
        picture = (*y & 1) == f->pictures[0].first_row ? 0 : 1;
        *y >>= 1;
    }
    return picture;
}

const double *pnv_reader_row(const PnvReader *r, int plane, int y)
{
    const int picture = picture_of_row(&r->frame, &y);
    return pnv_reader_picture_row(r, picture, plane, y);
}

const uint16_t *pnv_reader_alpha_row(const PnvReader *r, int y)
{
    const int picture = picture_of_row(&r->frame, &y);
    return r->frame.header.alpha_type ? r->alpha[picture] + (size_t)y * plane_stride(&r->frame, 3) : NULL;
}

int pnv_reader_round(double sample, int depth)
{
    const double largest = ldexp(1.0, depth) - 1, rounded = floor(sample + 0.5);
    return (int)(rounded < 0 ? 0 : rounded > largest ? largest : rounded);
}

int pnv_reader_alpha_at_depth(int value, int alpha_type, int depth)
{
    const int64_t from = alpha_type == 1 ? 255 : 65535, to = (INT64_C(1) << depth) - 1;
    return (int)((2 * value * to + from) / (2 * from));
}

const int16_t *pnv_reader_levels(const PnvReader *r, const PnvReaderSlice *slice, int plane)
{
    const int16_t *levels = r->levels + slice->first_level;

    for (int i = 0; i < plane; i++)
        levels += 64 * n_blocks(&r->frame, slice, i);
    return levels;
}

int pnv_reader_n_blocks(const PnvReader *r, const PnvReaderSlice *slice, int plane)
{
    return n_blocks(&r->frame, slice, plane);
}

void pnv_reader_block_place(const PnvReader *r, const PnvReaderSlice *s, int plane, int block, int *x, int *y)
{
    const int per_mb = n_blocks(&r->frame, s, plane) / s->n_mbs;
    const int mb = s->mb_x + block / per_mb, k = block % per_mb;

    *x = mb * (per_mb == 4 ? 16 : 8);
    *y = s->mb_y * 16;
    if (plane == 0) { /* along the rows */
        *x += 8 * (k & 1);
        *y += 8 * (k >> 1);
    } else { /* down the columns, as two 4:2:2 macroblocks side by side */
        *x += 8 * (k >> 1);
        *y += 8 * (k & 1);
    }
}

int pnv_reader_scan(const PnvReader *r, int index)
{
    return r->frame.header.interlace_mode ? pnv_scan_interlaced[index] : pnv_scan_progressive[index];
}
