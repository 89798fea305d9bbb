/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the next slice will read is asked for while this one is coded. For the x86 variants. */
#ifndef PNV_X86_AHEAD_H
#define PNV_X86_AHEAD_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "plane.h"
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

/** The same for columns x0 .. x0 + n - 1 of a plane whose samples lie side by side. */
PNV_INLINE ptrdiff_t pnv_ahead_of_columns(const PnvPlane *plane, int x0, int n)
{
    const int bytes = plane->depth == 8 ? 1 : 2;

    return pnv_ahead(x0 * bytes, (x0 + n) * bytes, plane->width * bytes, plane->stride);
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
 * Lines of 64 bytes are asked for by the last byte that a part has in them: where rows begin within a line, the first
 * one is also the last of the part before, and asked for with that.
 */
enum { PNV_LINE_BYTES = 64, PNV_LINE_LAST = PNV_LINE_BYTES - 1 };

/** The same for n bytes of a row, a multiple of a line. */
PNV_INLINE void pnv_ask_for_lines(const uint8_t *part, int n, ptrdiff_t ahead)
{
    for (int i = PNV_LINE_LAST; i < n; i += PNV_LINE_BYTES)
        pnv_ask_for(part + i, ahead);
}

/**
 * The same for a part of n bytes, any number. least: bytes to ask for where a row ends; the last slices of a row can be
 * narrow, the first of the next one is not.
 */
PNV_INLINE void pnv_ask_for_row(const uint8_t *part, ptrdiff_t n, ptrdiff_t ahead, ptrdiff_t least)
{
    const ptrdiff_t end = ahead == n || n > least ? n : least;

    for (ptrdiff_t i = PNV_LINE_LAST; i < end; i += PNV_LINE_BYTES)
        pnv_ask_for(part + i, ahead);
    pnv_ask_for(part + end - 1, ahead);
}

#endif
