/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layout.h"

#include <assert.h>
#include <string.h>

#include "shared.h"
#include "tables.h"

static void put_be16(uint8_t *dst, unsigned v)
{
    dst[0] = (uint8_t)(v >> 8);
    dst[1] = (uint8_t)v;
}

static void put_be32(uint8_t *dst, uint32_t v)
{
    put_be16(dst, v >> 16);
    put_be16(dst + 2, v & 0xffff);
}

void pnv_layout_frame_start(uint8_t *dst, const PnvFrameHeader *header, uint32_t frame_size)
{
    uint8_t *h = dst + PNV_FRAME_PREFIX_BYTES;

    memset(dst, 0, PNV_FRAME_START_BYTES); /* every reserved bit */
    put_be32(dst, frame_size);
    memcpy(dst + 4, "icpf", 4);
    put_be16(h, PNV_FRAME_HEADER_BYTES);
    /* bitstream_version: the lowest that allows the content */
    h[3] = header->chroma == PNV_CHROMA_444 || header->alpha_bits;
    memcpy(h + 4, header->encoder_id, 4);
    put_be16(h + 8, (unsigned)header->width);
    put_be16(h + 10, (unsigned)header->height);
    h[12] = (uint8_t)((header->chroma == PNV_CHROMA_444 ? 3 : 2) << 6 | (int)header->interlace << 2);
    h[13] = (uint8_t)(header->aspect_code << 4 | header->frame_rate_code);
    h[14] = (uint8_t)header->color_primaries;
    h[15] = (uint8_t)header->transfer_characteristic;
    h[16] = (uint8_t)header->matrix_coefficients;
    h[17] = (uint8_t)(header->alpha_bits / 8); /* alpha_channel_type: 0, 1 for 8 bits, 2 for 16 */
    h[19] = 3; /* both matrices follow */
    memcpy(h + 20, header->luma_matrix, 64);
    memcpy(h + 84, header->chroma_matrix, 64);
}

void pnv_layout_picture_header(uint8_t *dst, const PnvGrid *grid, uint32_t picture_size)
{
    dst[0] = PNV_PICTURE_HEADER_BYTES << 3;
    put_be32(dst + 1, picture_size);
    /* deprecated_number_of_slices: decoders count for themselves, very old ones read it */
    put_be16(dst + 5, grid->n_slices <= 0xffff ? (unsigned)grid->n_slices : 0);
    dst[7] = (uint8_t)(pnv_log2((unsigned)grid->mbs_per_slice) << 4);
}

void pnv_layout_slice_header(uint8_t *dst, int quantizer, const size_t unit_bytes[3], int has_alpha)
{
    dst[0] = (uint8_t)(pnv_slice_header_bytes(has_alpha) << 3);
    dst[1] = (uint8_t)quantizer;
    for (int c = 0; c < 2 + !!has_alpha; c++) {
        assert(unit_bytes[c] <= 0xffff);
        put_be16(dst + 2 + 2 * (ptrdiff_t)c, (unsigned)unit_bytes[c]);
    }
}

void pnv_layout_slice_size(uint8_t *dst, size_t slice_bytes)
{
    assert(slice_bytes <= 0xffff);
    put_be16(dst, (unsigned)slice_bytes);
}

/** Whether a / b lies within ppm millionths of c / d. */
static int ratio_near(int64_t a, int64_t b, int64_t c, int64_t d, double ppm)
{
    const double x = (double)a / (double)b, y = (double)c / (double)d;
    return x >= y * (1 - ppm * 1e-6) && x <= y * (1 + ppm * 1e-6);
}

int pnv_layout_frame_rate_code(int n, int d)
{
    if (n <= 0 || d <= 0)
        return 0;
    for (int code = 1; code < PNV_N_FRAME_RATE_CODES; code++) {
        if (ratio_near(n, d, pnv_frame_rates[code].n, pnv_frame_rates[code].d, 10))
            return code;
    }
    return 0;
}

int pnv_layout_aspect_code(int width, int height, int par_n, int par_d)
{
    if (par_n <= 0 || par_d <= 0)
        return 0;
    if (par_n == par_d)
        return 1;
    const int64_t w = (int64_t)width * par_n, h = (int64_t)height * par_d;
    return ratio_near(w, h, 4, 3, 30000) ? 2 : ratio_near(w, h, 16, 9, 30000) ? 3 : 0;
}
