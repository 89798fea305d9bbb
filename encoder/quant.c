/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "quant.h"

#include <assert.h>
#include <stdlib.h>

#include "shared.h"
#include "tables.h"

PnvQuantStep pnv_quant_step(int d, PnvRounding rounding)
{
    assert(d >= 2 && d <= 63 * 512);
    assert(rounding == PNV_ROUNDING_NEAREST);
    const int k = pnv_log2((unsigned)d - 1) + 1;

    return (PnvQuantStep){
        .recip = (uint16_t)((1u << (15 + k)) / (unsigned)d + 1),
        .bias = (uint16_t)d,
        .shift = (uint16_t)(k - 1),
    };
}

void pnv_quant_init(PnvQuant *quant, const uint8_t matrix[64], const uint8_t scan[64], int quantizer,
                    PnvRounding rounding)
{
    for (int i = 0; i < 64; i++)
        quant->step[i] = pnv_quant_step(matrix[scan[i]] * pnv_qscale(quantizer), rounding);
}

static int16_t quantize(int c, PnvQuantStep s)
{
    const uint32_t magnitude = ((uint32_t)abs(c) + s.bias) >> 1;
    const int level = (int)((magnitude * s.recip) >> 16 >> s.shift);

    return (int16_t)(c < 0 ? -level : level);
}

void pnv_quant_c(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    for (int i = 0; i < 64; i++) {
        const PnvQuantStep s = quant->step[i];
        for (int b = 0; b < n_blocks; b++)
            level[i * n_blocks + b] = quantize(coef[i * n_blocks + b], s);
    }
}
