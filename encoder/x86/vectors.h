/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several files do with vectors of 256 bits. */
#ifndef PNV_X86_VECTORS_H
#define PNV_X86_VECTORS_H

#include <immintrin.h>
#include <stdint.h>

#include "x86.h"

/** 16 bytes from each of two places. */
PNV_INLINE __m256i pnv_load_halves(const void *low, const void *high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
                                   _mm_loadu_si128((const __m128i *)high), 1);
}

/** Of lanes of 64 bits. */
PNV_INLINE uint64_t pnv_sum_of_4(__m256i v)
{
    const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

    return (uint64_t)_mm_cvtsi128_si64(two) + (uint64_t)_mm_extract_epi64(two, 1);
}

#endif
