/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "alpha.h"

#include <assert.h>
#include <string.h>

#include "bits.h"
#include "sample.h"

void pnv_alpha_fetch_c(uint16_t *dst, const PnvPlane *plane, int bits, int x0, int y0, int width)
{
    assert(x0 < plane->width && y0 < plane->height);
    const int n_rows = plane->height - y0 < 16 ? plane->height - y0 : 16;

    for (int y = 0; y < n_rows; y++, dst += width) {
        pnv_load_c(dst, width, plane, x0, y0 + y, width, 1, 0);
        for (int x = 0; x < width; x++)
            dst[x] = pnv_sample_alpha(dst[x], plane->depth, bits);
    }
    for (int y = n_rows; y < 16; y++, dst += width)
        memcpy(dst, dst - width, (size_t)width * sizeof *dst);
}

static inline void code_alpha(PnvBits *b, int counting, const uint16_t *value, int n, int bits)
{
    int previous = -1;

    for (int i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && value[i + run] == value[i]; run++)
            ;
        pnv_bits_put(b, counting, pnv_alpha_difference(value[i] - previous, bits));
        pnv_bits_put(b, counting, pnv_alpha_run(run)); /* also the last, also of one */
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
