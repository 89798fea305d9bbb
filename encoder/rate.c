/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rate_search.h"

#include <stdlib.h>

void pnv_rate_reciprocals(uint16_t reciprocal[64], const uint8_t matrix[64], const uint8_t scan[64])
{
    for (int i = 0; i < 64; i++)
        reciprocal[i] = (uint16_t)pnv_rate_min64(65536 * 2 / matrix[scan[i]], 65535);
}

void pnv_rate_histogram_c(PnvRateHistogram *h, const int16_t *coef, int n_blocks, const uint16_t reciprocal[64])
{
    for (int i = 1; i < 64; i += 4) {
        for (int b = 0; b < n_blocks; b++)
            h->n[pnv_rate_bin_of((uint32_t)abs(coef[i * n_blocks + b]) * reciprocal[i] >> 16)]++;
    }
}

void pnv_rate_histogram_add(PnvRateHistogram *sum, const PnvRateHistogram *h)
{
    for (int i = 0; i < PNV_RATE_BINS; i++)
        sum->n[i] += h->n[i];
}

int pnv_rate_multiplier(int n_slices)
{
    int m = (int)((int64_t)n_slices * 607 / 1000);

    if (m < 1)
        return 1;
    for (;; m++) { /* n_slices - 1 is coprime: it ends */
        int a = m, b = n_slices;
        while (b) {
            const int r = a % b;
            a = b;
            b = r;
        }
        if (a == 1)
            return m;
    }
}

PnvRateStep pnv_rate_begin(PnvRate *rate)
{
    return pnv_rate_search_begin(rate);
}

PnvRateStep pnv_rate_coded(PnvRate *rate, int64_t bytes)
{
    return pnv_rate_search_coded(rate, bytes);
}
