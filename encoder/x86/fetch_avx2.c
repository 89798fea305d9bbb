/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Planar video-range samples of 8 to 14 bits for AVX2; all other input stays with fetch.c, the definition. */
#include <immintrin.h>

#include "x86.h"

/* Columns that fill no vector are taken one by one: nothing behind the plane may be read. */
static inline int16_t scale_one(const uint8_t *row, int bytes, int depth, int x)
{
    const int s = bytes == 1 ? row[x] : (row[2 * x] | row[2 * x + 1] << 8) & ((1 << depth) - 1);

    return (int16_t)((s << (14 - depth)) - 8192);
}

void pnv_fetch_avx2(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width)
{
    const int depth = plane->depth, bytes = depth == 8 ? 1 : 2, last_row = plane->height - 1;
    const int n_cols = plane->width - x0 < width ? plane->width - x0 : width;
    const __m256i mask = _mm256_set1_epi16((short)((1 << depth) - 1)), offset = _mm256_set1_epi16(8192);
    const __m128i shift = _mm_cvtsi32_si128(14 - depth);

    if (!pnv_fetch_is_plain(plane)) {
        pnv_fetch_c(dst, plane, x0, y0, width);
        return;
    }
    for (int y = 0; y < 16; y++, dst += PNV_FETCH_STRIDE) {
        const int row_y = y0 + y < last_row ? y0 + y : last_row;
        const uint8_t *row = plane->data + row_y * plane->stride + (ptrdiff_t)x0 * bytes;
        /* Of the next MB row; may lie outside of the plane, which a prefetch ignores. */
        for (int at = 0; at < n_cols * bytes; at += 64)
            _mm_prefetch((const char *)((uintptr_t)(row + at) + (uintptr_t)(16 * plane->stride)), _MM_HINT_T1);
        int x = 0;
        for (; x + 16 <= n_cols; x += 16) {
            __m256i s = bytes == 1 ? _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(row + x)))
                                   : _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(row + 2 * x)), mask);
            s = _mm256_sub_epi16(_mm256_sll_epi16(s, shift), offset);
            _mm256_storeu_si256((__m256i *)(dst + x), s);
        }
        if (x + 8 <= n_cols) {
            const __m128i eight = bytes == 1 ? _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(row + x)))
                                             : _mm_and_si128(_mm_loadu_si128((const __m128i *)(row + 2 * x)),
                                                             _mm256_castsi256_si128(mask));
            _mm_storeu_si128((__m128i *)(dst + x),
                             _mm_sub_epi16(_mm_sll_epi16(eight, shift), _mm256_castsi256_si128(offset)));
            x += 8;
        }
        for (; x < n_cols; x++)
            dst[x] = scale_one(row, bytes, depth, x);
        for (; x < width; x++)
            dst[x] = dst[n_cols - 1];
    }
}
