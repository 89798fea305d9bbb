/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The factors of dct.h in the pairs that the transforms multiply and add. */
#ifndef PNV_X86_FACTORS_H
#define PNV_X86_FACTORS_H

#include <stdint.h>

#include "dct.h"

/*
 * Pairs of factors for the multiply-adds, kept in memory: made from constants in the code, each would cost a transfer
 * from a general register and a shuffle every time that registers run out.
 */
#define PAIR(low, high) ((uint32_t)(uint16_t)(low) | (uint32_t)(high) << 16)
#define COL(n) PNV_DCT_COL_##n
static const uint32_t column_factors[12] = {
    PAIR(COL(4), COL(4)), PAIR(COL(4), -COL(4)), PAIR(COL(2), COL(6)), PAIR(COL(6), -COL(2)), /* frequency 0, 4, 2, 6 */
    PAIR(COL(1), COL(3)), PAIR(COL(5), COL(7)),   PAIR(COL(3), -COL(7)), PAIR(-COL(1), -COL(5)), /* 1, 3 */
    PAIR(COL(5), -COL(1)), PAIR(COL(7), COL(3)),  PAIR(COL(7), -COL(5)), PAIR(COL(3), -COL(1)),  /* 5, 7 */
};
#undef COL
/* For x[0] and x[4], x[1] and x[5], ...; even frequencies are symmetric, odd ones antisymmetric. */
#define ROW(sign, k0, k1, k2, k3)                                                                                      \
    PAIR(k0, (sign) * (k3)), PAIR(k1, (sign) * (k2)), PAIR(k2, (sign) * (k1)), PAIR(k3, (sign) * (k0))
#define R(n) PNV_DCT_ROW_##n
static const uint32_t row_factors[25] = {
    PAIR(R(4), R(4)), /* 0 and 4 */
    ROW(1, R(2), R(6), -R(6), -R(2)), ROW(1, R(6), -R(2), R(2), -R(6)), /* 2, 6 */
    ROW(-1, R(1), R(3), R(5), R(7)), ROW(-1, R(3), -R(7), -R(1), -R(5)), /* 1, 3 */
    ROW(-1, R(5), -R(1), R(7), R(3)), ROW(-1, R(7), -R(5), R(3), -R(1)), /* 5, 7 */
};
#undef R
#undef ROW
#undef PAIR

#endif
