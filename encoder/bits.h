/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where codes go: counted, or written to memory that has an end. */
#ifndef PNV_BITS_H
#define PNV_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "codeword.h"

typedef struct PnvBits {
    uint8_t *at, *end;
    uint64_t held; /**< Bits not yet stored, the lowest n_held. */
    int n_held;    /**< At most 31 between calls. */
    int overflow;  /**< Something did not fit. */
    size_t n_bits; /**< Counted. */
} PnvBits;

/** counting is a constant at every call, so that each of the two uses compiles to its own straight loop. */
static inline void pnv_bits_put(PnvBits *b, int counting, PnvCode code)
{
    if (counting) {
        b->n_bits += (size_t)code.length;
        return;
    }
    b->held = b->held << code.length | code.bits;
    b->n_held += code.length;
    if (b->n_held < 32)
        return;
    b->n_held -= 32;
    if (b->end - b->at < 4) {
        b->overflow = 1;
        return;
    }
    const uint32_t word = (uint32_t)(b->held >> b->n_held);
    b->at[0] = (uint8_t)(word >> 24);
    b->at[1] = (uint8_t)(word >> 16);
    b->at[2] = (uint8_t)(word >> 8);
    b->at[3] = (uint8_t)word;
    b->at += 4;
}

/** Fill the last byte with zeros and store what is held. Returns bytes since start; 0 if it did not all fit. */
static inline size_t pnv_bits_finish(PnvBits *b, const uint8_t *start)
{
    for (; b->n_held > 0; b->n_held -= 8) {
        if (b->at >= b->end)
            return 0;
        *b->at++ = (uint8_t)(b->n_held >= 8 ? b->held >> (b->n_held - 8) : b->held << (8 - b->n_held));
    }
    return b->overflow ? 0 : (size_t)(b->at - start);
}

#endif
