/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Planar video-range samples of 8 to 14 bits for AVX-512; all other input as AVX2 has it. fetch.c defines it. */
#include <immintrin.h>

#include "ahead.h"
#include "x86.h"

/* (s - 2^(depth-1)) * 2^(14-depth): bits above the depth leave at the top, the offset is a flip of the sign bit. */
static inline __m512i scale(__m512i s, __m128i shift)
{
    return _mm512_srai_epi16(_mm512_xor_si512(_mm512_sll_epi16(s, shift), _mm512_set1_epi16((short)0x8000)), 2);
}

void pnv_fetch_avx512(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width)
{
    const int bytes = plane->depth == 8 ? 1 : 2, last_row = plane->height - 1;
    const int n_cols = plane->width - x0 < width ? plane->width - x0 : width;
    const __m128i shift = _mm_cvtsi32_si128(16 - plane->depth);

    if (!pnv_fetch_is_plain(plane)) {
        pnv_fetch_avx2(dst, plane, x0, y0, width);
        return;
    }
    const ptrdiff_t ahead = pnv_ahead_of_columns(plane, x0, n_cols);
    for (int y = 0; y < 16; y++, dst += PNV_FETCH_STRIDE) {
        const int row_y = y0 + y < last_row ? y0 + y : last_row;
        const uint8_t *row = plane->data + row_y * plane->stride + (ptrdiff_t)x0 * bytes;
        pnv_ask_for_row(row, n_cols * bytes, ahead, PNV_FETCH_STRIDE * bytes);
        for (int x = 0; x < n_cols; x += 32) {
            const int n = n_cols - x;
            const __mmask32 there = n >= 32 ? 0xffffffffu : (1u << n) - 1;
            const __m512i s = bytes == 1 ? _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(there, row + x))
                                         : _mm512_maskz_loadu_epi16(there, row + 2 * x);
            _mm512_mask_storeu_epi16(dst + x, there, scale(s, shift));
        }
        for (int x = n_cols; x < width; x++)
            dst[x] = dst[n_cols - 1];
    }
}
