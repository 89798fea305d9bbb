/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Six pixels in 16 bytes (v210) or in 15 (UYVP): where the samples of a component are, for AVX2. */
#ifndef PNV_X86_GROUPS_H
#define PNV_X86_GROUPS_H

#include <immintrin.h>
#include <stdint.h>

#include "plane.h"
#include "x86.h"

/** Where samples are in two groups, or in four of chroma. */
typedef struct PnvGroups {
    uint8_t pair[24];    /**< The two bytes that have each sample, counted from the beginning of the first group, */
    uint16_t factor[12]; /**< and what makes the highest ten bits of them the sample. */
    int bytes;           /**< Of a group. */
} PnvGroups;

enum { PNV_GROUPS_MASK = 0xffc0 }; /* those bits */

#define PNV_TWICE(...) {__VA_ARGS__, __VA_ARGS__}
static const PnvGroups pnv_groups_v210[3] = {
    {{1, 2, 4, 5, 6, 7, 9, 10, 12, 13, 14, 15, 17, 18, 20, 21, 22, 23, 25, 26, 28, 29, 30, 31},
     PNV_TWICE(16, 64, 4, 16, 64, 4), 16},
    {{0, 1, 5, 6, 10, 11, 16, 17, 21, 22, 26, 27, 32, 33, 37, 38, 42, 43, 48, 49},
     PNV_TWICE(64, 16, 4, 64, 16, 4), 16},
    {{2, 3, 8, 9, 13, 14, 18, 19, 24, 25, 29, 30, 34, 35, 40, 41, 45, 46, 50, 51},
     PNV_TWICE(4, 64, 16, 4, 64, 16), 16},
};
static const PnvGroups pnv_groups_uyvp[3] = {
    {{2, 1, 4, 3, 7, 6, 9, 8, 12, 11, 14, 13, 17, 16, 19, 18, 22, 21, 24, 23, 27, 26, 29, 28},
     PNV_TWICE(4, 64, 4, 64, 4, 64), 15},
    {{1, 0, 6, 5, 11, 10, 16, 15, 21, 20, 26, 25, 31, 30, 36, 35, 41, 40, 46, 45}, PNV_TWICE(1, 1, 1, 1, 1, 1), 15},
    {{3, 2, 8, 7, 13, 12, 18, 17, 23, 22, 28, 27, 33, 32, 38, 37, 43, 42, 48, 47},
     PNV_TWICE(16, 16, 16, 16, 16, 16), 15},
};
#undef PNV_TWICE

/** Of a plane of either packing. */
static inline const PnvGroups *pnv_groups(const PnvPlane *p)
{
    return &(p->packing == PNV_PACKING_V210 ? pnv_groups_v210 : pnv_groups_uyvp)[p->component];
}

/** For a shuffle of the 16 bytes from 16 * window on: of these numbers of bytes those that lie there, else nothing. */
PNV_INLINE __m256i pnv_groups_pick(__m256i bytes, int window)
{
    return _mm256_adds_epu8(_mm256_sub_epi8(bytes, _mm256_set1_epi8((char)(16 * window))), _mm256_set1_epi8(0x70));
}

#endif
