/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dsp.h"

#include "entropy.h"

void pnv_dsp_init(PnvDsp *dsp)
{
    *dsp = (PnvDsp){
        .fetch = pnv_fetch_c,
        .transform = pnv_transform_c,
        .quant = pnv_quant_c,
        .entropy_bits = pnv_entropy_bits_c,
        .entropy_write = pnv_entropy_write_c,
        .alpha_fetch = pnv_alpha_fetch_c,
        .alpha_bits = pnv_alpha_bits_c,
        .alpha_write = pnv_alpha_write_c,
    };
}
