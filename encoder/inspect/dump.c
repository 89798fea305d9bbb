/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dump.h"

#include <stdio.h>

#include "names.h"
#include "tables.h"

static void dump_weights(FILE *out, const char *name, bool sent, const uint8_t *weights)
{
    fprintf(out, "  %s weights: %s, %s\n", name, sent ? "sent" : "not sent", pnv_name_weights(weights));
    for (int v = 0; v < 8; v++) {
        fprintf(out, "   ");
        for (int u = 0; u < 8; u++)
            fprintf(out, " %3d", weights[8 * v + u]);
        fputc('\n', out);
    }
}

/* Bytes that are no printable characters come out as dots. */
static void dump_id(FILE *out, const char *id)
{
    fprintf(out, "  encoder_identifier %02x%02x%02x%02x '", (uint8_t)id[0], (uint8_t)id[1], (uint8_t)id[2],
            (uint8_t)id[3]);
    for (int i = 0; i < 4; i++)
        fputc(id[i] >= 0x20 && id[i] <= 0x7e ? id[i] : '.', out);
    fprintf(out, "'\n");
}

static void dump_header(FILE *out, const PnvReaderHeader *h)
{
    fprintf(out, "  frame_size %u\n  frame_header_size %d\n  bitstream_version %d\n", h->frame_size, h->header_size,
            h->version);
    dump_id(out, h->encoder_id);
    fprintf(out, "  horizontal_size %d\n  vertical_size %d\n", h->width, h->height);
    fprintf(out, "  chroma_format %d: %s\n", h->chroma_format, pnv_name_chroma(h->chroma_format));
    fprintf(out, "  interlace_mode %d: %s\n", h->interlace_mode, pnv_name_interlace(h->interlace_mode));
    fprintf(out, "  aspect_ratio_information %d: %s\n", h->aspect_ratio, pnv_name_aspect(h->aspect_ratio));
    fprintf(out, "  frame_rate_code %d", h->frame_rate_code);
    if (h->frame_rate_code > 0 && h->frame_rate_code < PNV_N_FRAME_RATE_CODES)
        fprintf(out, ": %d/%d", pnv_frame_rates[h->frame_rate_code].n, pnv_frame_rates[h->frame_rate_code].d);
    fprintf(out, "\n  color_primaries %d: %s\n", h->color_primaries, pnv_name_primaries(h->color_primaries));
    fprintf(out, "  transfer_characteristic %d: %s\n", h->transfer_characteristic,
            pnv_name_transfer(h->transfer_characteristic));
    fprintf(out, "  matrix_coefficients %d: %s\n", h->matrix_coefficients, pnv_name_matrix(h->matrix_coefficients));
    fprintf(out, "  alpha_channel_type %d\n", h->alpha_type);
    dump_weights(out, "luma", h->luma_sent, h->luma);
    dump_weights(out, "chroma", h->chroma_sent, h->chroma);
}

static void dump_slice(FILE *out, const PnvReaderSlice *s, uint32_t index, int n_planes)
{
    static const char *const names[4] = {"Y", "Cb", "Cr", "A"};

    fprintf(out, "    slice %u at %u: MB %d,%d x %d, %u bytes, quantization_index %d", index, s->offset, s->mb_x,
            s->mb_y, s->n_mbs, s->bytes, s->quantizer);
    for (int i = 0; i < n_planes; i++)
        fprintf(out, ", %s %u (%u bits)", names[i], s->unit_bytes[i], s->unit_bits[i]);
    fprintf(out, "%s\n", s->decoded ? "" : ", not decoded");
}

static void dump_picture(FILE *out, const PnvReaderFrame *f, int i)
{
    const PnvReaderPicture *p = &f->pictures[i];

    if (!p->offset) {
        fprintf(out, "  picture %d: not found\n", i);
        return;
    }
    fprintf(out, "  picture %d at %u: %u bytes, %d rows from %d in steps of %d, ", i, p->offset, p->bytes, p->height,
            p->first_row, p->row_step);
    fprintf(out, "%dx%d MB, slices of %d MB, %d a row\n", p->width_mb, p->height_mb, 1 << p->log2_slice_mb,
            p->slices_per_row);
    for (uint32_t k = 0; k < p->n_slices; k++)
        dump_slice(out, &f->slices[p->first_slice + k], k, f->header.alpha_type ? 4 : 3);
}

char *pnv_dump_frame(const PnvReader *reader, uint32_t index, uint64_t offset, size_t *bytes)
{
    const PnvReaderFrame *f = pnv_reader_frame(reader);
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);

    if (!out)
        return NULL;
    fprintf(out, "frame %u at %llu\n", index, (unsigned long long)offset);
    dump_header(out, &f->header);
    for (int i = 0; f->header_valid && i < f->n_pictures; i++)
        dump_picture(out, f, i);
    if (f->header_valid)
        fprintf(out, "  stuffing %u bytes\n", f->stuffing_bytes);
    return fclose(out) == 0 ? text : NULL;
}
