/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 4:4:4 -> 4:2:2 for AVX2. decimate.c is the definition. */
#include <immintrin.h>

#include "x86.h"

PNV_INLINE __m256i load(const int16_t *src)
{
    return _mm256_loadu_si256((const __m256i *)src);
}

/* 8 samples in 32 bits with two bits of their fraction, not yet rounded; src[-3] .. src[17] is read, and no more. */
PNV_INLINE __m256i eight(const int16_t *src)
{
    const __m256i near_left = load(src - 1);
    /* (-3, 3) and (-1 and 1, 0) side by side. */
    const __m256i far = _mm256_blend_epi16(load(src - 3), load(src + 2), 0xaa);
    const __m256i near = _mm256_blend_epi16(_mm256_add_epi16(near_left, load(src + 1)), near_left, 0xaa);
    const __m256i sum = _mm256_add_epi32(_mm256_madd_epi16(near, _mm256_set1_epi32(16 << 16 | 9)),
                                         _mm256_madd_epi16(far, _mm256_set1_epi16(-1)));

    return _mm256_srai_epi32(sum, 3);
}

void pnv_decimate_row_avx2(int16_t *dst, const int16_t *src, int n)
{
    if (n < 16) {
        pnv_decimate_row_c(dst, src, n);
        return;
    }
    for (int i = 0; i < n; i += 16) {
        i = i < n - 16 ? i : n - 16; /* the last 16 again where they fill no vector */
        const __m256i packed = _mm256_packs_epi32(eight(src + 2 * i), eight(src + 2 * i + 16));
        /* Packing and addition saturate, which clips where it should. */
        const __m256i rounded = _mm256_srai_epi16(_mm256_adds_epi16(packed, _mm256_set1_epi16(2)), 2);
        _mm256_storeu_si256((__m256i *)(dst + i), _mm256_permute4x64_epi64(rounded, 0xd8));
    }
}
