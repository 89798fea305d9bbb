/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decimate.h"

void pnv_decimate_row_c(int16_t *dst, const int16_t *src, int n)
{
    for (int i = 0; i < n; i++)
        dst[i] = pnv_decimate_sample(src + 2 * i);
}
