/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that will be read soon is asked for: what the next slice takes, while this one is coded. For the x86 variants. */
#ifndef PNV_X86_AHEAD_H
#define PNV_X86_AHEAD_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "x86.h"

/**
 * Bytes from a part of a row to the part that the next slice has in its place: to the right of it or, where the row
 * ends, in the first columns 16 rows further down. A thread codes slices in this order, so that lines come in time and
 * to the right core, however few rows its band has; and they lie in pages that this slice reads as well.
 *
 * @param begin first byte of the part in its row
 * @param end   of the part, of row_bytes
 */
PNV_INLINE ptrdiff_t pnv_ahead(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t row_bytes, ptrdiff_t stride)
{
    return end < row_bytes ? end - begin : 16 * stride - begin;
}

/**
 * Ask for what lies that far from at. It may be outside of the plane, which a prefetch ignores. Into the second-level
 * cache: the first has no room for a slice that waits.
 */
PNV_INLINE void pnv_ask_for(const uint8_t *at, ptrdiff_t ahead)
{
    _mm_prefetch((const char *)((uintptr_t)at + (uintptr_t)ahead), _MM_HINT_T1);
}

/**
 * The same for n bytes of two rows. A transform asks in its row pass: in the column pass, which loads what may still be
 * on its way, a prefetch takes up one of the few places for lines on their way, and loads wait for them.
 */
PNV_INLINE void pnv_ask_for_two(const uint8_t *const row[2], int n, ptrdiff_t ahead)
{
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < n; i += 64)
            pnv_ask_for(row[k] + i, ahead);
    }
}

/**
 * The same for a part of n bytes of a row. least: bytes to ask for where a row ends; the last slices of a row can be
 * narrow, the first of the next one is not.
 */
PNV_INLINE void pnv_ask_for_row(const uint8_t *part, ptrdiff_t n, ptrdiff_t ahead, ptrdiff_t least)
{
    const ptrdiff_t end = ahead == n || n > least ? n : least;

    for (ptrdiff_t i = 0; i < end; i += 64)
        pnv_ask_for(part + i, ahead);
}

#endif
