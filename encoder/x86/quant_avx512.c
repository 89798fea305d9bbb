/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Quantization for AVX-512. quantize() of quant.c is the definition; its magnitudes fit unsigned 16-bit lanes. */
#include <immintrin.h>

#include "x86.h"

static inline __m512i quantize(__m512i c, __m512i bias, __m512i recip, __m512i shift)
{
    __m512i m = _mm512_add_epi16(_mm512_abs_epi16(c), bias); /* |-32768| + 32256 is below 2^16 */

    m = _mm512_srlv_epi16(_mm512_mulhi_epu16(_mm512_srli_epi16(m, 1), recip), shift);
    return _mm512_mask_sub_epi16(m, _mm512_movepi16_mask(c), _mm512_setzero_si512(), m);
}

void pnv_quant_avx512(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    for (int i = 0; i < 64; i++, level += n_blocks, coef += n_blocks) {
        const PnvQuantStep s = quant->step[i];
        const __m512i bias = _mm512_set1_epi16((short)s.bias), recip = _mm512_set1_epi16((short)s.recip);
        const __m512i shift = _mm512_set1_epi16((short)s.shift);

        for (int b = 0; b < n_blocks; b += 32) {
            const int n = n_blocks - b;
            const __mmask32 there = n >= 32 ? 0xffffffffu : (1u << n) - 1;
            const __m512i c = _mm512_maskz_loadu_epi16(there, coef + b);
            _mm512_mask_storeu_epi16(level + b, there, quantize(c, bias, recip, shift));
        }
    }
}
