/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forward 8x8 DCT, columns first, then rows: the definition that every variant equals bit by bit.
 *
 * Samples come at four times the 12-bit scale of RDD 36's transform (two fraction bits, -8192..8191). The column pass
 * multiplies by 16-bit fractions and keeps the two fraction bits; the row pass multiplies by 15-bit fractions and keeps
 * one: coefficients are 2 * C with C = 8 * F, F as in RDD 36 7.4. All sums are exact in 32 bits and both passes round
 * once, half up, so any order of the sums gives the same result.
 *
 * Ranges: columns -23171..23170 (8 * 23171 * 8192 / 2^16), rows -32768..32767; nothing wraps or needs clamping, which
 * unit_transform proves from the tables. Only for that is the sum of the row pass started with the rounding constant.
 *
 * The DC factor of the column pass is rounded up and that of the row pass down, so that their product is cos(pi/4)^2/4
 * to 2e-6: with both down, white would come out 0.08 F too dark.
 */
#ifndef PNV_DCT_H
#define PNV_DCT_H

#include <stdint.h>

#include "shared.h"

/** cos(k * pi / 16) / 2, k = 1..7, in 2^-16 (columns) and 2^-15 (rows); k = 4 also stands for DC. */
enum {
    PNV_DCT_COL_1 = 32138, PNV_DCT_COL_2 = 30274, PNV_DCT_COL_3 = 27246, PNV_DCT_COL_4 = 23171,
    PNV_DCT_COL_5 = 18205, PNV_DCT_COL_6 = 12540, PNV_DCT_COL_7 = 6393,
    PNV_DCT_ROW_1 = 16069, PNV_DCT_ROW_2 = 15137, PNV_DCT_ROW_3 = 13623, PNV_DCT_ROW_4 = 11585,
    PNV_DCT_ROW_5 = 9102, PNV_DCT_ROW_6 = 6270, PNV_DCT_ROW_7 = 3196
};

#define PNV_DCT_8(out, out_stride, in, in_stride, K)                                                                   \
    do {                                                                                                               \
        const int32_t e0 = (in)[0] + (in)[7 * (in_stride)], o0 = (in)[0] - (in)[7 * (in_stride)];                      \
        const int32_t e1 = (in)[1 * (in_stride)] + (in)[6 * (in_stride)];                                              \
        const int32_t o1 = (in)[1 * (in_stride)] - (in)[6 * (in_stride)];                                              \
        const int32_t e2 = (in)[2 * (in_stride)] + (in)[5 * (in_stride)];                                              \
        const int32_t o2 = (in)[2 * (in_stride)] - (in)[5 * (in_stride)];                                              \
        const int32_t e3 = (in)[3 * (in_stride)] + (in)[4 * (in_stride)];                                              \
        const int32_t o3 = (in)[3 * (in_stride)] - (in)[4 * (in_stride)];                                              \
        const int32_t half = 1 << 15;                                                                                  \
        (out)[0] = (int16_t)((half + K##4 * e0 + K##4 * e1 + K##4 * e2 + K##4 * e3) >> 16);                            \
        (out)[1 * (out_stride)] = (int16_t)((half + K##1 * o0 + K##3 * o1 + K##5 * o2 + K##7 * o3) >> 16);             \
        (out)[2 * (out_stride)] = (int16_t)((half + K##2 * e0 + K##6 * e1 - K##6 * e2 - K##2 * e3) >> 16);             \
        (out)[3 * (out_stride)] = (int16_t)((half + K##3 * o0 - K##7 * o1 - K##1 * o2 - K##5 * o3) >> 16);             \
        (out)[4 * (out_stride)] = (int16_t)((half + K##4 * e0 - K##4 * e1 - K##4 * e2 + K##4 * e3) >> 16);             \
        (out)[5 * (out_stride)] = (int16_t)((half + K##5 * o0 - K##1 * o1 + K##7 * o2 + K##3 * o3) >> 16);             \
        (out)[6 * (out_stride)] = (int16_t)((half + K##6 * e0 - K##2 * e1 + K##2 * e2 - K##6 * e3) >> 16);             \
        (out)[7 * (out_stride)] = (int16_t)((half + K##7 * o0 - K##5 * o1 + K##3 * o2 - K##1 * o3) >> 16);             \
    } while (0)

/** in and out are 8 samples apart by their strides; column pass and row pass. */
PNV_SHARED void pnv_dct_column(int16_t *out, int out_stride, const int16_t *in, int in_stride)
{
    PNV_DCT_8(out, out_stride, in, in_stride, PNV_DCT_COL_);
}

PNV_SHARED void pnv_dct_row(int16_t *out, const int16_t *in)
{
    PNV_DCT_8(out, 1, in, 1, PNV_DCT_ROW_);
}

#undef PNV_DCT_8

#endif
