/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Quantization for NEON. quant.c is the definition; all its numbers fit unsigned 16-bit lanes. Rows are taken 8 blocks
 * at a time; units of less are left to the definition.
 */
#include <arm_neon.h>
#include <string.h>

#include "arm.h"
#include "slice.h"

/** |-32768| is 32768. */
static inline uint16x8_t magnitude_of(int16x8_t c)
{
    return vreinterpretq_u16_s16(vabsq_s16(c));
}

/** pnv_quant_level(), with a bias of PnvQuantTwice; 0 in lanes that are not kept. */
static inline int16x8_t quantize(int16x8_t c, uint16x8_t keep, uint32_t bias, const PnvQuantStep *s)
{
    const uint16x8_t half = vrhaddq_u16(magnitude_of(c), vdupq_n_u16((uint16_t)bias)); /* (|c| + bias + 1) >> 1 */
    const uint16x4_t low = vshrn_n_u32(vmull_n_u16(vget_low_u16(half), s->recip), 16);
    const uint16x4_t high = vshrn_n_u32(vmull_n_u16(vget_high_u16(half), s->recip), 16);
    const uint16x8_t m = vshlq_u16(vcombine_u16(low, high), vdupq_n_s16((int16_t)-s->shift));
    const int16x8_t level = vreinterpretq_s16_u16(vandq_u16(m, keep));

    return vbslq_s16(vcltzq_s16(c), vnegq_s16(level), level);
}

void pnv_quant_neon(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    if (n_blocks % 8) {
        pnv_quant_c(level, coef, n_blocks, quant);
        return;
    }
    for (int i = 0; i < 64 * n_blocks; i += 8)
        vst1q_s16(level + i, quantize(vld1q_s16(coef + i), vdupq_n_u16(0xffff), quant->twice[i / n_blocks].bias,
                                      &quant->step[i / n_blocks]));
}

/** Whether coefficients are small, 0xffff or 0; that of coefficient 0 is at 2. */
typedef struct SmallWords {
    uint16_t word[2 + 64 * PNV_MAX_BLOCKS + 2];
} SmallWords;

void pnv_quant_dead_zone_neon(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    SmallWords small;
    const int n = 64 * n_blocks;

    if (n_blocks % 8) {
        pnv_quant_dead_zone_c(level, coef, n_blocks, quant);
        return;
    }
    memset(small.word, 0, 2 * sizeof *small.word);
    memset(small.word + 2 + n, 0xff, 2 * sizeof *small.word);
    for (int i = 0; i < n; i += 8) {
        const uint16x8_t edge = vdupq_n_u16(quant->step[i / n_blocks].small);
        vst1q_u16(small.word + 2 + i, vcltq_u16(magnitude_of(vld1q_s16(coef + i)), edge));
    }
    for (int i = 0; i < n; i += 8) {
        const PnvQuantStep *s = &quant->step[i / n_blocks];
        const uint16_t *at = small.word + 2 + i;
        const uint16x8_t before = vaddq_u16(vld1q_u16(at - 2), vld1q_u16(at - 1));
        const uint16x8_t behind = vaddq_u16(vld1q_u16(at + 1), vld1q_u16(at + 2));
        /* The sum is minus the count; threshold number count has bytes 2 * count and 2 * count + 1. */
        const uint16x8_t index = vmlsq_n_u16(vdupq_n_u16(0x100), vaddq_u16(before, behind), 0x202);
        uint16_t threshold[8] = {0};
        memcpy(threshold, s->threshold, sizeof s->threshold);
        const uint16x8_t least = vreinterpretq_u16_u8(
            vqtbl1q_u8(vreinterpretq_u8_u16(vld1q_u16(threshold)), vreinterpretq_u8_u16(index)));
        const int16x8_t c = vld1q_s16(coef + i);
        const uint16x8_t keep = vcgeq_u16(magnitude_of(c), least);
        vst1q_s16(level + i, quantize(c, keep, quant->twice[i / n_blocks].zone_bias, s));
    }
}
