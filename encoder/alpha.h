/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The alpha unit of a slice: lossless differences and runs (RDD 36 5.3.4, 7.1.2). No transform, no quantizer. */
#ifndef PNV_ALPHA_H
#define PNV_ALPHA_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "codeword.h"
#include "fetch.h"

/** Values of the widest slice: 16 rows of 8 macroblocks. One run code reaches as far. */
#define PNV_MAX_ALPHA_VALUES 2048

/**
 * Read a slice's alpha in the order it is coded: 16 rows of width values, row by row over the whole slice, edges
 * repeated as pnv_fetch_c() does.
 *
 * Depth b becomes bits (8 or 16) so that 0 and the largest value keep their meaning: to more bits by repeating the
 * sample's own (a decoder that shifts back gets b bits exactly), to fewer by round(a * 255 / (2^b - 1)).
 *
 * @param dst 16 * width values.
 */
void pnv_alpha_fetch_c(uint16_t *dst, const PnvPlane *plane, int bits, int x0, int y0, int width);

/** Bits of the unit without the zeros that fill its last byte. @param n 256 * MBs. @param bits 8 or 16. */
size_t pnv_alpha_bits_c(const uint16_t *value, int n, int bits);

/**
 * Write the unit; nothing past dst + capacity.
 *
 * @return bytes written; 0 if capacity is too small. pnv_alpha_bound() is always enough.
 */
size_t pnv_alpha_write_c(uint8_t *dst, size_t capacity, const uint16_t *value, int n, int bits);

/** Most bytes of a unit of n values: each a long difference and a run of one. */
static inline size_t pnv_alpha_bound(int n, int bits)
{
    return ((size_t)n * (size_t)(bits + 2) + 7) / 8;
}

/*
 * A difference of 1..8 (8 bits) or 1..64 (16 bits) either way has a short form; any has a long one, modulo the range.
 * The short form is a plain difference and must not wrap: strict decoders do not mask its result.
 */
PNV_SHARED PnvCode pnv_alpha_difference(int d, int bits)
{
    const int short_bits = bits == 8 ? 3 : 6;

    if (d != 0 && abs(d) <= 1 << short_bits)
        return (PnvCode){(uint32_t)(abs(d) - 1) << 1 | (d < 0), short_bits + 2};
    return (PnvCode){1u << bits | ((uint32_t)d & ((1u << bits) - 1)), bits + 1};
}

PNV_SHARED PnvCode pnv_alpha_run(int run)
{
    if (run == 1)
        return (PnvCode){1, 1};
    return run <= 16 ? (PnvCode){(uint32_t)run - 1, 5} : (PnvCode){(uint32_t)run - 1, 16};
}

#endif
