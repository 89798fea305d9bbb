/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AVX-512 on any x86-64 with AVX2, for tests (-Davx512=emulated): included before the first line of the *_avx512.c
 * files, it makes their intrinsics calls of SIMDe, and of functions here where SIMDe 0.7.4 has none. Those follow the
 * pseudocode of Intel's Intrinsics Guide. What neither has does not compile: no instruction of AVX-512 can be left.
 */
#ifndef PNV_X86_EMULATED_H
#define PNV_X86_EMULATED_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
/* Macros in clang. */
#undef _mm512_cmpgt_epu16_mask
#undef _mm512_cmplt_epu16_mask
#undef _mm512_mask_cmplt_epu8_mask
#undef _mm512_cmpgt_epu8_mask
#undef _mm512_mask_cmpgt_epu8_mask
#undef _mm512_cmpgt_epu32_mask
#undef _mm512_cmpgt_epu64_mask
#undef _mm512_shldi_epi16

#include <stdint.h>
#include <string.h>

/** The lanes of a vector of 512 bits, or of 256 in its first half. */
typedef union PnvLanes {
    __m512i v;
    __m256i half;
    __m128i quarter;
    uint8_t u8[64];
    uint16_t u16[32];
    uint32_t u32[16];
    uint64_t u64[8];
} PnvLanes;

#define N_LANES(lanes) (int)(sizeof(PnvLanes) / sizeof *((PnvLanes *)0)->lanes)

/* Lane by lane of a and b. */
#define BINARY(name, lanes, expression)                                                                                \
    static inline __m512i pnv_##name(__m512i a_vector, __m512i b_vector)                                               \
    {                                                                                                                  \
        const PnvLanes a = {.v = a_vector}, b = {.v = b_vector};                                                       \
        PnvLanes r;                                                                                                    \
        for (int i = 0; i < N_LANES(lanes); i++)                                                                       \
            r.lanes[i] = expression;                                                                                   \
        return r.v;                                                                                                    \
    }
BINARY(mulhi_epu16, u16, (uint16_t)((uint32_t)a.u16[i] * b.u16[i] >> 16))
#define _mm512_mulhi_epu16 pnv_mulhi_epu16
#define _mm512_maskz_mulhi_epu16(k, a, b) simde_mm512_maskz_mov_epi16(k, pnv_mulhi_epu16(a, b))
#define _mm512_mask_sub_epi16(src, k, a, b) simde_mm512_mask_mov_epi16(src, k, simde_mm512_sub_epi16(a, b))
#define _mm512_maskz_srli_epi16(k, a, n) simde_mm512_maskz_mov_epi16(k, simde_mm512_srli_epi16(a, n))
#define _mm512_maskz_srli_epi32(k, a, n) simde_mm512_maskz_mov_epi32(k, simde_mm512_srli_epi32(a, n))
#undef _mm512_madd_epi16 /* SIMDe gives it the arguments of another one */
#define _mm512_madd_epi16 simde_mm512_madd_epi16

/* A bit for each lane in which a and b compare. */
#define COMPARE(name, lanes, op)                                                                                       \
    static inline uint64_t pnv_##name(__m512i a_vector, __m512i b_vector)                                              \
    {                                                                                                                  \
        const PnvLanes a = {.v = a_vector}, b = {.v = b_vector};                                                       \
        uint64_t r = 0;                                                                                                \
        for (int i = 0; i < N_LANES(lanes); i++)                                                                       \
            r |= (uint64_t)(a.lanes[i] op b.lanes[i]) << i;                                                            \
        return r;                                                                                                      \
    }
COMPARE(cmpgt_epu16_mask, u16, >)
COMPARE(cmplt_epu16_mask, u16, <)
COMPARE(cmplt_epu8_mask, u8, <)
COMPARE(cmpgt_epu8_mask, u8, >)
COMPARE(cmpgt_epu32_mask, u32, >)
COMPARE(cmpgt_epu64_mask, u64, >)
#define _mm512_cmpgt_epu16_mask(a, b) ((__mmask32)pnv_cmpgt_epu16_mask(a, b))
#define _mm512_cmplt_epu16_mask(a, b) ((__mmask32)pnv_cmplt_epu16_mask(a, b))
#define _mm512_cmpgt_epu8_mask(a, b) ((__mmask64)pnv_cmpgt_epu8_mask(a, b))
#define _mm512_mask_cmpgt_epu8_mask(k, a, b) ((__mmask64)((k) & pnv_cmpgt_epu8_mask(a, b)))
#define _mm512_cmpgt_epu32_mask(a, b) ((__mmask16)pnv_cmpgt_epu32_mask(a, b))
#define _mm512_mask_cmplt_epu8_mask(k, a, b) ((__mmask64)((k) & pnv_cmplt_epu8_mask(a, b)))
#define _mm512_cmpgt_epu64_mask(a, b) ((__mmask8)pnv_cmpgt_epu64_mask(a, b))

static inline __m512i pnv_lzcnt_epi32(__m512i a)
{
    PnvLanes r = {.v = a};

    for (int i = 0; i < 16; i++)
        r.u32[i] = r.u32[i] ? (uint32_t)__builtin_clz(r.u32[i]) : 32;
    return r.v;
}
#define _mm512_lzcnt_epi32 pnv_lzcnt_epi32

/** The upper half of each pair of lanes a:b, shifted to the left by n, 0..15. */
static inline __m512i pnv_shldi_epi16(__m512i a_vector, __m512i b_vector, int n)
{
    const PnvLanes a = {.v = a_vector}, b = {.v = b_vector};
    PnvLanes r;

    for (int i = 0; i < 32; i++)
        r.u16[i] = (uint16_t)(((uint32_t)a.u16[i] << 16 | b.u16[i]) << n >> 16);
    return r.v;
}
#define _mm512_shldi_epi16 pnv_shldi_epi16

/* The lanes whose bits are set, one behind the other, then zeros. */
#define COMPRESS(name, lanes)                                                                                          \
    static inline __m512i pnv_##name(uint64_t k, __m512i a_vector)                                                     \
    {                                                                                                                  \
        const PnvLanes a = {.v = a_vector};                                                                            \
        PnvLanes r = {.v = simde_mm512_setzero_si512()};                                                               \
        for (int n = 0; k; k &= k - 1)                                                                                 \
            r.lanes[n++] = a.lanes[__builtin_ctzll(k)];                                                                \
        return r.v;                                                                                                    \
    }
COMPRESS(maskz_compress_epi8, u8)
COMPRESS(maskz_compress_epi16, u16)
#define _mm512_maskz_compress_epi8 pnv_maskz_compress_epi8
#define _mm512_maskz_compress_epi16 pnv_maskz_compress_epi16

/* Modulo 2 to the power of the lanes' bits. */
#define SUM(name, lanes, out)                                                                                          \
    static inline out pnv_##name(__m512i a_vector)                                                                     \
    {                                                                                                                  \
        const PnvLanes a = {.v = a_vector};                                                                            \
        __typeof__(a.lanes[0] + 0) sum = 0;                                                                            \
        for (int i = 0; i < N_LANES(lanes); i++)                                                                       \
            sum += a.lanes[i];                                                                                         \
        return (out)sum;                                                                                               \
    }
SUM(reduce_add_epi32, u32, int)
SUM(reduce_add_epi64, u64, long long)
#define _mm512_reduce_add_epi32 pnv_reduce_add_epi32
#define _mm512_reduce_add_epi64 pnv_reduce_add_epi64

/* To lanes of another width: zeros are added, or the upper bits lost; what r has more of is zero. */
#define CONVERT(name, in, part_in, from, out, part_out, to)                                                            \
    static inline out pnv_##name(in a_vector)                                                                          \
    {                                                                                                                  \
        const PnvLanes a = {.part_in = a_vector};                                                                      \
        PnvLanes r = {.v = simde_mm512_setzero_si512()};                                                               \
        for (int i = 0; i < N_LANES(from) && i < N_LANES(to); i++)                                                     \
            r.to[i] = (__typeof__(r.to[0]))a.from[i];                                                                  \
        return r.part_out;                                                                                             \
    }
CONVERT(cvtepu8_epi16, __m256i, half, u8, __m512i, v, u16)
CONVERT(cvtepu32_epi64, __m256i, half, u32, __m512i, v, u64)
CONVERT(cvtepi32_epi8, __m512i, v, u32, __m128i, quarter, u8)
CONVERT(cvtepi64_epi8, __m512i, v, u64, __m128i, quarter, u8)
#define _mm512_zextsi128_si512(a) simde_mm512_inserti32x4(simde_mm512_setzero_si512(), a, 0)
#define _mm512_zextsi256_si512(a) simde_mm512_inserti64x4(simde_mm512_setzero_si512(), a, 0)
#define _mm512_cvtepu8_epi16 pnv_cvtepu8_epi16
#define _mm512_cvtepu32_epi64 pnv_cvtepu32_epi64
#define _mm512_cvtepi32_epi8 pnv_cvtepi32_epi8
#define _mm512_cvtepi64_epi8 pnv_cvtepi64_epi8

/* Loads and stores that touch no byte of a lane whose bit is not set. */
#define MASKED(bits, lanes, part)                                                                                      \
    static inline __m##bits##i pnv_mask_loadu_##bits##_##lanes(__m##bits##i src, uint64_t k, const void *at)           \
    {                                                                                                                  \
        PnvLanes r = {.part = src};                                                                                    \
        for (size_t i = 0; i < bits / 8 / sizeof r.lanes[0]; i++) {                                                    \
            if (k >> i & 1)                                                                                            \
                memcpy(&r.lanes[i], (const char *)at + i * sizeof r.lanes[0], sizeof r.lanes[0]);                      \
        }                                                                                                              \
        return r.part;                                                                                                 \
    }                                                                                                                  \
    static inline void pnv_mask_storeu_##bits##_##lanes(void *at, uint64_t k, __m##bits##i a)                          \
    {                                                                                                                  \
        const PnvLanes v = {.part = a};                                                                                \
        for (size_t i = 0; i < bits / 8 / sizeof v.lanes[0]; i++) {                                                    \
            if (k >> i & 1)                                                                                            \
                memcpy((char *)at + i * sizeof v.lanes[0], &v.lanes[i], sizeof v.lanes[0]);                            \
        }                                                                                                              \
    }
MASKED(256, u8, half)
MASKED(256, u16, half)
MASKED(512, u16, v)
#define _mm256_mask_loadu_epi8 pnv_mask_loadu_256_u8
#define _mm256_maskz_loadu_epi8(k, at) pnv_mask_loadu_256_u8(_mm256_setzero_si256(), k, at)
#define _mm512_mask_loadu_epi16 pnv_mask_loadu_512_u16
#define _mm512_maskz_loadu_epi16(k, at) pnv_mask_loadu_512_u16(simde_mm512_setzero_si512(), k, at)
#define _mm256_mask_storeu_epi16 pnv_mask_storeu_256_u16
#define _mm512_mask_storeu_epi16 pnv_mask_storeu_512_u16

#undef N_LANES
#undef BINARY
#undef COMPARE
#undef COMPRESS
#undef SUM
#undef CONVERT
#undef MASKED

#endif
