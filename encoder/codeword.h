/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One number -> its code (RDD 36 7.1.1), and which codebook is in force (7.1.1.3 to 7.1.1.4). */
#ifndef PNV_CODEWORD_H
#define PNV_CODEWORD_H

#include <stdint.h>

#include "shared.h"

/**
 * A combination code: Golomb-Rice with parameter rice while its quotient is at most last, then exponential Golomb of
 * order exp. EG(k) is {0, k, k + 1}.
 */
typedef struct PnvCodebook {
    uint8_t last, rice, exp;
} PnvCodebook;

/** Codebooks by the state that selects them. */
#define PNV_CODEBOOK_DC_FIRST {0, 5, 6}
/** By |previous DC difference|, 3 and more alike. */
#define PNV_CODEBOOKS_DC {{0, 0, 1}, {0, 1, 2}, {1, 2, 3}, {0, 3, 4}}
/** By the previous run, 15 and more alike: B(last, rice, exp) of each. */
#define PNV_EACH_CODEBOOK_RUN(B)                                                                                       \
    B(2, 0, 1), B(2, 0, 1), B(1, 0, 1), B(1, 0, 1), B(0, 0, 1), B(1, 1, 2), B(1, 1, 2), B(1, 1, 2),                    \
    B(1, 1, 2), B(0, 1, 2), B(0, 1, 2), B(0, 1, 2), B(0, 1, 2), B(0, 1, 2), B(0, 1, 2), B(0, 2, 3)
/** By the previous |level| - 1, 8 and more alike. */
#define PNV_EACH_CODEBOOK_LEVEL(B)                                                                                     \
    B(2, 0, 2), B(1, 0, 1), B(2, 0, 1), B(0, 0, 1), B(0, 1, 2), B(0, 1, 2), B(0, 1, 2), B(0, 1, 2), B(0, 2, 3)
#define PNV_CODEBOOK(last, rice, exp) {last, rice, exp}
#define PNV_CODEBOOKS_RUN {PNV_EACH_CODEBOOK_RUN(PNV_CODEBOOK)}
#define PNV_CODEBOOKS_LEVEL {PNV_EACH_CODEBOOK_LEVEL(PNV_CODEBOOK)}

enum {
    PNV_DC_STATES = 4, PNV_RUN_STATES = 16, PNV_LEVEL_STATES = 9,
    PNV_INITIAL_DC_DIFF = 3, PNV_INITIAL_RUN = 4, PNV_INITIAL_LEVEL = 1 /**< |level| - 1 */
};

/** A code: the low length bits of bits, the leading ones zero. At most 28 bits for what an encoder can meet. */
typedef struct PnvCode {
    uint32_t bits;
    int length;
} PnvCode;

PNV_SHARED PnvCode pnv_code(PnvCodebook cb, uint32_t n)
{
    const uint32_t escape = (uint32_t)(cb.last + 1) << cb.rice;

    if (n < escape)
        return (PnvCode){1u << cb.rice | (n & ((1u << cb.rice) - 1)), (int)(n >> cb.rice) + 1 + cb.rice};
    const uint32_t x = n - escape + (1u << cb.exp);
    return (PnvCode){x, cb.last + 2 + 2 * pnv_log2(x) - cb.exp};
}

PNV_SHARED int pnv_code_length(PnvCodebook cb, uint32_t n)
{
    return pnv_code(cb, n).length;
}

/** Signed -> unsigned: 0, -1, 1, -2, 2 -> 0, 1, 2, 3, 4. */
PNV_SHARED uint32_t pnv_fold_sign(int n)
{
    return n < 0 ? (uint32_t)(-2 * n - 1) : (uint32_t)(2 * n);
}

#endif
