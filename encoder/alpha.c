/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "alpha.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"

static inline int load(const uint8_t *row, const PnvPlane *p, int x)
{
    const uint8_t *at = row + (ptrdiff_t)x * p->step;

    return p->depth == 8 ? at[0] : (at[0] | at[1] << 8) & ((1 << p->depth) - 1);
}

static inline uint16_t convert(int a, int depth, int bits)
{
    if (depth == bits)
        return (uint16_t)a;
    if (depth < bits)
        return (uint16_t)(a << (bits - depth) | a >> (2 * depth - bits));
    const int max = (1 << depth) - 1; /* odd: no halves */
    return (uint16_t)((2 * a * 255 + max) / (2 * max));
}

void pnv_alpha_fetch_c(uint16_t *dst, const PnvPlane *plane, int bits, int x0, int y0, int width)
{
    assert(x0 < plane->width && y0 < plane->height);
    const int n_cols = plane->width - x0 < width ? plane->width - x0 : width;
    const int n_rows = plane->height - y0 < 16 ? plane->height - y0 : 16;

    for (int y = 0; y < n_rows; y++, dst += width) {
        const uint8_t *row = plane->data + (ptrdiff_t)(y0 + y) * plane->stride + (ptrdiff_t)x0 * plane->step;
        for (int x = 0; x < n_cols; x++)
            dst[x] = convert(load(row, plane, x), plane->depth, bits);
        for (int x = n_cols; x < width; x++)
            dst[x] = dst[n_cols - 1];
    }
    for (int y = n_rows; y < 16; y++, dst += width)
        memcpy(dst, dst - width, (size_t)width * sizeof *dst);
}

/*
 * A difference of 1..8 (8 bits) or 1..64 (16 bits) either way has a short form; any has a long one, modulo the range.
 * The short form is a plain difference and must not wrap: strict decoders do not mask its result.
 */
static inline PnvCode difference_code(int d, int bits)
{
    const int short_bits = bits == 8 ? 3 : 6;

    if (d != 0 && abs(d) <= 1 << short_bits)
        return (PnvCode){(uint32_t)(abs(d) - 1) << 1 | (d < 0), short_bits + 2};
    return (PnvCode){1u << bits | ((uint32_t)d & ((1u << bits) - 1)), bits + 1};
}

static inline PnvCode run_code(int run)
{
    if (run == 1)
        return (PnvCode){1, 1};
    return run <= 16 ? (PnvCode){(uint32_t)run - 1, 5} : (PnvCode){(uint32_t)run - 1, 16};
}

static inline void code_alpha(PnvBits *b, int counting, const uint16_t *value, int n, int bits)
{
    int previous = -1;

    for (int i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && value[i + run] == value[i]; run++)
            ;
        pnv_bits_put(b, counting, difference_code(value[i] - previous, bits));
        pnv_bits_put(b, counting, run_code(run)); /* also the last, also of one */
        previous = value[i];
    }
}

size_t pnv_alpha_bits_c(const uint16_t *value, int n, int bits)
{
    PnvBits b = {0};

    code_alpha(&b, 1, value, n, bits);
    return b.n_bits;
}

size_t pnv_alpha_write_c(uint8_t *dst, size_t capacity, const uint16_t *value, int n, int bits)
{
    PnvBits b = {.at = dst, .end = dst + capacity};

    code_alpha(&b, 0, value, n, bits);
    return pnv_bits_finish(&b, dst);
}
