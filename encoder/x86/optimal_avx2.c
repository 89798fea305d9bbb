/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Optimal quantization for AVX2: all but the pass over the levels, which is weigh.h. quant.c is the definition. */
#include <immintrin.h>

#include "weigh.h"

enum { LANES = 16 };

/** Positions of nonzero levels; n is a multiple of 8. */
static void list_positions(PnvWeighList *list, const int16_t *level, int n)
{
    int n_listed = 0;

    for (int i = 0; i < n; i += LANES) {
        const int is_half = n - i < LANES; /* 63 rows of 8 blocks */
        const __m256i v = is_half ? _mm256_zextsi128_si256(_mm_loadu_si128((const __m128i *)(level + i)))
                                  : _mm256_loadu_si256((const __m256i *)(level + i));
        const __m128i is_zero = _mm_packs_epi16(
            _mm_cmpeq_epi16(_mm256_castsi256_si128(v), _mm_setzero_si128()),
            _mm_cmpeq_epi16(_mm256_extracti128_si256(v, 1), _mm_setzero_si128()));
        for (unsigned set = ~(unsigned)_mm_movemask_epi8(is_zero) & 0xffff; set; set &= set - 1)
            list->position[n_listed++] = (uint16_t)(i + __builtin_ctz(set));
    }
    list->n = n_listed;
}

void pnv_quant_optimal_avx2(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    PnvWeighList list;
    PnvWeighState state = PNV_WEIGH_START;

    if (n_blocks < 8) {
        pnv_quant_optimal_c(level, coef, n_blocks, quant);
        return;
    }
    pnv_quant_avx2(level, coef, n_blocks, quant);
    level += n_blocks;
    coef += n_blocks;
    list_positions(&list, level, 63 * n_blocks);
    const int log2_n = pnv_log2((unsigned)n_blocks);
    for (int i = 0; i < list.n; i++) {
        const int at = list.position[i], d = quant->step[1 + (at >> log2_n)].bias, l = level[at];
        const int m = l < 0 ? -l : l, e = (coef[at] < 0 ? -coef[at] : coef[at]) - 2 * d * m + d; /* 0..2 * d - 1 */
        list.level[i] = (int16_t)l;
        list.magnitude[i] = (uint16_t)m;
        /* What is not whole is 1 / (3 * d) off at least: floats are nearer. */
        list.need[i] = (uint16_t)((int)((float)(25 * e) / (float)(3 * d)) + 1);
    }
    pnv_weigh_prepare(&list, 0, list.n);
    pnv_weigh(&list, 0, list.n, &state);
    pnv_weigh_write(level, &list);
}
