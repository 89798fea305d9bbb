/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transform for NEON, a block at a time: lanes are columns, then rows. dct.h is the definition. */
#include <arm_neon.h>

#include "arm.h"
#include "dct.h"

/** cos(k * pi / 16) / 2, k = 1..7, as a pass has them. */
typedef struct Factors {
    int32_t k[8];
} Factors;

static const Factors column_factors = {{0, PNV_DCT_COL_1, PNV_DCT_COL_2, PNV_DCT_COL_3, PNV_DCT_COL_4, PNV_DCT_COL_5,
                                        PNV_DCT_COL_6, PNV_DCT_COL_7}};
static const Factors row_factors = {{0, PNV_DCT_ROW_1, PNV_DCT_ROW_2, PNV_DCT_ROW_3, PNV_DCT_ROW_4, PNV_DCT_ROW_5,
                                     PNV_DCT_ROW_6, PNV_DCT_ROW_7}};

/** (sum + 2^15) >> 16 of four sums of products; all of it fits 32 bits, see dct.h. */
static inline int16x4_t sum_4(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d, int32_t ka, int32_t kb, int32_t kc,
                              int32_t kd)
{
    int32x4_t sum = vmlaq_n_s32(vdupq_n_s32(1 << 15), a, ka);

    sum = vmlaq_n_s32(sum, b, kb);
    sum = vmlaq_n_s32(sum, c, kc);
    return vshrn_n_s32(vmlaq_n_s32(sum, d, kd), 16);
}

/** One pass of four lanes. */
static inline void pass_4(int16x4_t out[8], const int16x4_t in[8], const Factors *f)
{
    const int32_t *k = f->k;
    const int32x4_t e0 = vaddl_s16(in[0], in[7]), o0 = vsubl_s16(in[0], in[7]);
    const int32x4_t e1 = vaddl_s16(in[1], in[6]), o1 = vsubl_s16(in[1], in[6]);
    const int32x4_t e2 = vaddl_s16(in[2], in[5]), o2 = vsubl_s16(in[2], in[5]);
    const int32x4_t e3 = vaddl_s16(in[3], in[4]), o3 = vsubl_s16(in[3], in[4]);

    out[0] = sum_4(e0, e1, e2, e3, k[4], k[4], k[4], k[4]);
    out[1] = sum_4(o0, o1, o2, o3, k[1], k[3], k[5], k[7]);
    out[2] = sum_4(e0, e1, e2, e3, k[2], k[6], -k[6], -k[2]);
    out[3] = sum_4(o0, o1, o2, o3, k[3], -k[7], -k[1], -k[5]);
    out[4] = sum_4(e0, e1, e2, e3, k[4], -k[4], -k[4], k[4]);
    out[5] = sum_4(o0, o1, o2, o3, k[5], -k[1], k[7], k[3]);
    out[6] = sum_4(e0, e1, e2, e3, k[6], -k[2], k[2], -k[6]);
    out[7] = sum_4(o0, o1, o2, o3, k[7], -k[5], k[3], -k[1]);
}

static inline void pass_8(int16x8_t x[8], const Factors *f)
{
    int16x4_t half[2][8], out[2][8];

    for (int i = 0; i < 8; i++) {
        half[0][i] = vget_low_s16(x[i]);
        half[1][i] = vget_high_s16(x[i]);
    }
    pass_4(out[0], half[0], f);
    pass_4(out[1], half[1], f);
    for (int i = 0; i < 8; i++)
        x[i] = vcombine_s16(out[0][i], out[1][i]);
}

static inline void transpose(int16x8_t x[8])
{
    int16x8_t a[8];
    int32x4_t b[8];

    for (int i = 0; i < 8; i += 2) {
        a[i] = vtrn1q_s16(x[i], x[i + 1]);
        a[i + 1] = vtrn2q_s16(x[i], x[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        for (int j = i; j < i + 2; j++) {
            const int32x4_t p = vreinterpretq_s32_s16(a[j]), q = vreinterpretq_s32_s16(a[j + 2]);
            b[j] = vtrn1q_s32(p, q);
            b[j + 2] = vtrn2q_s32(p, q);
        }
    }
    for (int i = 0; i < 4; i++) {
        const int64x2_t p = vreinterpretq_s64_s32(b[i]), q = vreinterpretq_s64_s32(b[i + 4]);
        x[i] = vreinterpretq_s16_s64(vtrn1q_s64(p, q));
        x[i + 4] = vreinterpretq_s16_s64(vtrn2q_s64(p, q));
    }
}

static ptrdiff_t block_offset(PnvBlockOrder order, int b, ptrdiff_t stride)
{
    const int bottom = order == PNV_BLOCKS_LUMA ? b >> 1 : b & 1;
    const int right = order == PNV_BLOCKS_LUMA ? b & 1 : order == PNV_BLOCKS_CHROMA_444 ? b >> 1 : 0;

    return bottom * 8 * stride + right * 8;
}

void pnv_transform_neon(int16_t *coef, const int16_t *samples, ptrdiff_t stride, PnvBlockOrder order, int n_mb,
                        const uint8_t scan[64])
{
    const int per_mb = pnv_order_blocks_per_mb(order), mb_width = order == PNV_BLOCKS_CHROMA_422 ? 8 : 16;
    const int n_blocks = n_mb * per_mb;

    for (int block = 0; block < n_blocks; block++) {
        const int16_t *at = samples + block / per_mb * mb_width + block_offset(order, block % per_mb, stride);
        int16_t out[64]; /* horizontal frequency major, as the transpose leaves it */
        int16x8_t x[8];
        for (int y = 0; y < 8; y++)
            x[y] = vld1q_s16(at + y * stride);
        pass_8(x, &column_factors);
        transpose(x);
        pass_8(x, &row_factors);
        for (int u = 0; u < 8; u++)
            vst1q_s16(out + 8 * u, x[u]);
        for (int i = 0; i < 64; i++)
            coef[i * n_blocks + block] = out[scan[i] % 8 * 8 + scan[i] / 8];
    }
}

void pnv_forward_neon(int16_t *level, const PnvPlane *plane, int x0, int y0, PnvBlockOrder order, int n_mb,
                      const uint8_t scan[64], const PnvQuant *quant)
{
    _Alignas(16) int16_t samples[16 * PNV_FETCH_STRIDE];
    const int mb_width = order == PNV_BLOCKS_CHROMA_422 ? 8 : 16;

    pnv_fetch_neon(samples, plane, x0, y0, n_mb * mb_width);
    pnv_transform_neon(level, samples, PNV_FETCH_STRIDE, order, n_mb, scan);
    if (quant)
        pnv_quant_neon(level, level, n_mb * pnv_order_blocks_per_mb(order), quant);
}
