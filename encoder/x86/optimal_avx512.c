/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Optimal quantization for AVX-512. quant.c is the definition.
 *
 * A decision depends on those before it only, so decisions that follow from themselves are those of the sequence, and
 * there is one such set: 63 symbols at a time, all are guessed, then made anew in vectors from those of the last round,
 * until none changes, which takes about four rounds. What has numbers that are not in the tables goes the sequential
 * way, weigh.h.
 */
#include <immintrin.h>
#include <string.h>

#include "weigh.h"

enum { LANES = 32 };

static const _Alignas(64) uint8_t lane_numbers[64] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
    48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};

/** Of the 64 steps of a quantizer, in lanes. */
typedef struct Steps {
    _Alignas(64) uint16_t d[64], recip[64], shift[64];
} Steps;

static void gather_steps(Steps *steps, const PnvQuantStep *step)
{
    for (int i = 0; i < 64; i++) {
        steps->d[i] = step[i].bias;
        steps->recip[i] = step[i].recip;
        steps->shift[i] = step[i].shift;
    }
}

/** Numbers of 32 rows. */
PNV_INLINE __m512i of_rows(const uint16_t number[64], __m512i row)
{
    return _mm512_permutex2var_epi16(_mm512_load_si512(number), row, _mm512_load_si512(number + 32));
}

PNV_INLINE __mmask32 first_lanes(int n)
{
    return n >= LANES ? 0xffffffffu : (1u << n) - 1;
}

/** pnv_quant_level() of magnitudes, to nearest. */
PNV_INLINE __m512i divide(__m512i magnitude, __m512i row, const Steps *steps)
{
    const __m512i bias = _mm512_sub_epi16(of_rows(steps->d, row), _mm512_set1_epi16(1));
    const __m512i m = _mm512_mulhi_epu16(_mm512_avg_epu16(magnitude, bias), of_rows(steps->recip, row));

    return _mm512_srlv_epi16(m, of_rows(steps->shift, row));
}

PNV_INLINE __m512i with_sign_of(__m512i c, __m512i magnitude)
{
    return _mm512_mask_sub_epi16(magnitude, _mm512_movepi16_mask(c), _mm512_setzero_si512(), magnitude);
}

/** List the AC coefficients whose nearest level is not 0, |c| >= d. log2_n: of the number of blocks. */
static void list_coefs(PnvWeighList *list, const int16_t *coef, int n, __m128i log2_n, const Steps *steps)
{
    __m512i position = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12,
                                        11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i one = _mm512_set1_epi16(1);
    int n_listed = 0;

    for (int i = 0; i < n; i += LANES) {
        const __mmask32 there = first_lanes(n - i);
        const __m512i c = _mm512_maskz_loadu_epi16(there, coef + i);
        const __m512i row = _mm512_add_epi16(_mm512_srl_epi16(position, log2_n), one);
        const __mmask32 is_level = _mm512_mask_cmpge_epu16_mask(there, _mm512_abs_epi16(c), of_rows(steps->d, row));
        _mm512_storeu_si512(list->level + n_listed, _mm512_maskz_compress_epi16(is_level, c));
        _mm512_storeu_si512(list->position + n_listed, _mm512_maskz_compress_epi16(is_level, position));
        n_listed += __builtin_popcount(is_level);
        position = _mm512_add_epi16(position, _mm512_set1_epi16(LANES));
    }
    list->n = n_listed;
}

/** floor(25 * e / (3 * d)) + 1, e < 2 * d: what is not whole is 1 / (3 * d) off at least, floats are nearer. */
PNV_INLINE __m256i need(__m256i e, __m256i d)
{
    const __m512 dividend = _mm512_cvtepi32_ps(_mm512_mullo_epi32(_mm512_cvtepu16_epi32(e), _mm512_set1_epi32(25)));
    const __m512 divisor = _mm512_cvtepi32_ps(_mm512_mullo_epi32(_mm512_cvtepu16_epi32(d), _mm512_set1_epi32(3)));
    const __m512i quotient = _mm512_cvttps_epi32(_mm512_div_ps(dividend, divisor));

    return _mm256_add_epi16(_mm512_cvtepi32_epi16(quotient), _mm256_set1_epi16(1));
}

/** Coefficients of the list -> levels. */
static void fill_list(PnvWeighList *list, __m128i log2_n, const Steps *steps)
{
    for (int i = 0; i < list->n; i += LANES) {
        const __m512i c = _mm512_loadu_si512(list->level + i), magnitude = _mm512_abs_epi16(c);
        const __m512i row = _mm512_add_epi16(_mm512_srl_epi16(_mm512_loadu_si512(list->position + i), log2_n),
                                             _mm512_set1_epi16(1));
        const __m512i d = of_rows(steps->d, row), l = divide(magnitude, row, steps);
        /* |c| + d - 2 * d * l, which has 16 bits. */
        const __m512i e = _mm512_sub_epi16(_mm512_add_epi16(magnitude, d),
                                           _mm512_slli_epi16(_mm512_mullo_epi16(d, l), 1));
        const __m256i n0 = need(_mm512_castsi512_si256(e), _mm512_castsi512_si256(d));
        const __m256i n1 = need(_mm512_extracti64x4_epi64(e, 1), _mm512_extracti64x4_epi64(d, 1));
        _mm512_storeu_si512(list->magnitude + i, l);
        _mm256_storeu_si256((__m256i *)(list->magnitude_8 + i), _mm512_cvtusepi16_epi8(l));
        _mm256_storeu_si256((__m256i *)(list->position_8 + i),
                            _mm512_cvtepi16_epi8(_mm512_loadu_si512(list->position + i)));
        _mm_storeu_si128((__m128i *)(list->need_8 + i), _mm256_cvtepi16_epi8(n0));
        _mm_storeu_si128((__m128i *)(list->need_8 + i + 16), _mm256_cvtepi16_epi8(n1));
        _mm512_storeu_si512(list->level + i, with_sign_of(c, l));
        _mm256_storeu_si256((__m256i *)(list->need + i), n0);
        _mm256_storeu_si256((__m256i *)(list->need + i + 16), n1);
    }
}

/* ---- 63 symbols at a time, in bytes ---- */

/*
 * Lengths of codes: that of n is table[n + at] + length, by the state. Tables are twice the logarithm of x at x + 1,
 * with what the small codes of (2,0,1) and (1,0,1) need below; then, from 64 on, the codes of a codebook of its own.
 */
static const _Alignas(64) int8_t logs[64] = {
    -2, -1, 0, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6, 6, 6, 6, 6, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 10, 10, 10,
    10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
};
static const _Alignas(64) int8_t codes_112[64] = {
    2, 2, 3, 3, 5, 5, 5, 5, 7, 7, 7, 7, 7, 7, 7, 7, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 11, 11, 11, 11,
    11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11,
};
static const _Alignas(64) int8_t codes_202[64] = {
    0, 1, 2, 3, 6, 6, 6, 6, 8, 8, 8, 8, 8, 8, 8, 8, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

enum { OWN = 64, MAX_RUN = 58, MAX_LEVEL = 31, BLOCK = 63 };

/* By the run before, of a run: (2,0,1) x2, (1,0,1) x2, EG(0), (1,1,2) x4, EG(1) x6, EG(2). */
static const _Alignas(64) int8_t run_at[64] = {0, 0, 1, 1, 2, OWN, OWN, OWN, OWN, 3, 3, 3, 3, 3, 3, 5};
static const _Alignas(64) int8_t run_length[64] = {3, 3, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1};
/* By the magnitude before, of a magnitude: (2,0,2), (1,0,1), (2,0,1), EG(0), EG(1) x4, EG(2). */
static const _Alignas(64) int8_t level_at[64] = {0, OWN, 0, -1, 1, 2, 2, 2, 2, 4};
static const _Alignas(64) int8_t level_length[64] = {0, 0, 2, 3, 1, 0, 0, 0, 0, -1};

PNV_INLINE __m512i of_state(const int8_t table[64], __m512i state)
{
    return _mm512_permutexvar_epi8(state, _mm512_load_si512(table));
}

PNV_INLINE __m512i run_code(__m512i n, __m512i at)
{
    return _mm512_permutex2var_epi8(_mm512_load_si512(logs), _mm512_add_epi8(n, at), _mm512_load_si512(codes_112));
}

PNV_INLINE __m512i level_code(__m512i m, __m512i at)
{
    return _mm512_permutex2var_epi8(_mm512_load_si512(logs), _mm512_add_epi8(m, at), _mm512_load_si512(codes_202));
}

PNV_INLINE __m512i run_bits(__m512i before, __m512i n)
{
    const __m512i state = _mm512_min_epu8(before, _mm512_set1_epi8(PNV_RUN_STATES - 1));

    return _mm512_add_epi8(run_code(n, of_state(run_at, state)), of_state(run_length, state));
}

PNV_INLINE __m512i level_bits(__m512i state, __m512i m)
{
    return _mm512_add_epi8(level_code(m, of_state(level_at, state)), of_state(level_length, state));
}

/** v of the lane that is n in front, 0 for the first ones. */
PNV_INLINE __m512i lanes_before(__m512i lane, __m512i v, int n)
{
    return _mm512_maskz_permutexvar_epi8(~0ull << n, _mm512_sub_epi8(lane, _mm512_set1_epi8((char)n)), v);
}

/** For each lane, the last one in front of it that is not gone. Lane 0 never is. */
PNV_INLINE __m512i last_kept(__m512i lane, uint64_t gone)
{
    const __m512i kept = _mm512_maskz_mov_epi8(~gone, lane);
    const uint64_t two = gone & gone << 1, four = two & two << 2, eight = four & four << 4;
    __m512i v = _mm512_max_epu8(_mm512_max_epu8(lanes_before(lane, kept, 1), lanes_before(lane, kept, 2)),
                                _mm512_max_epu8(lanes_before(lane, kept, 3), lanes_before(lane, kept, 4)));

    v = _mm512_max_epu8(v, lanes_before(lane, v, 4));
    if (eight) {
        v = _mm512_max_epu8(v, lanes_before(lane, v, 8));
        v = _mm512_max_epu8(v, lanes_before(lane, v, 16));
        v = _mm512_max_epu8(v, lanes_before(lane, v, 32));
    }
    return v;
}

/** Lanes for whose decision a run counts that is too long for the tables. i: the symbol of lane 0. */
PNV_INLINE uint64_t too_long(const PnvWeighList *list, int i, int start, __m512i before)
{
    const uint16_t *p = list->position + i;
    const __m512i first = _mm512_mask_set1_epi16(_mm512_loadu_si512(p), 1, (short)(start - 1));
    const __m512i second = _mm512_loadu_si512(p + LANES), most = _mm512_set1_epi16(MAX_RUN + 1);
    uint64_t is_long = 0;

    for (int h = 0; h < 2; h++) {
        const __m512i at = _mm512_cvtepu8_epi16(h ? _mm512_extracti64x4_epi64(before, 1)
                                                  : _mm512_castsi512_si256(before));
        const __m512i from = _mm512_permutex2var_epi16(first, at, second);
        const __m512i next = _mm512_loadu_si512(p + 1 + LANES * h), after = _mm512_loadu_si512(p + 2 + LANES * h);
        const __m512i longest = _mm512_max_epu16(_mm512_sub_epi16(next, from), _mm512_sub_epi16(after, next));
        is_long |= (uint64_t)_mm512_cmpgt_epu16_mask(longest, most) << LANES * h;
    }
    return is_long;
}

/** Lanes 1..n. */
PNV_INLINE uint64_t symbol_lanes(int n)
{
    return (n == BLOCK ? ~0ull : (1ull << (n + 1)) - 1) & ~1ull;
}

/**
 * Weigh n symbols from i on, at most BLOCK, with two more behind them. Returns how many it did: up to the first one
 * whose numbers are not in the tables.
 */
static int weigh_block(PnvWeighList *list, int i, int n, PnvWeighState *s)
{
    const __m512i lane = _mm512_load_si512(lane_numbers), one = _mm512_set1_epi8(1), nine = _mm512_set1_epi8(9);
    uint64_t lanes = symbol_lanes(n);
    const uint8_t *p = list->position_8 + i, *m = list->magnitude_8 + i;
    /* Lane 0 is the symbol in force before. */
    const __m512i position = _mm512_mask_set1_epi8(_mm512_loadu_si512(p - 1), 1, (char)(s->start - 1));
    const __m512i next_position = _mm512_loadu_si512(p);
    const __m512i magnitude = _mm512_mask_set1_epi8(_mm512_loadu_si512(m - 1), 1, (char)s->level);
    const __m512i next = _mm512_loadu_si512(m);
    const __m512i next_run = _mm512_sub_epi8(_mm512_sub_epi8(next_position, position), one);
    const __m512i after_run = _mm512_sub_epi8(_mm512_sub_epi8(_mm512_loadu_si512(p + 1), next_position), one);
    const uint64_t large = lanes & _mm512_cmpgt_epu8_mask(_mm512_max_epu8(magnitude, next),
                                                          _mm512_set1_epi8(MAX_LEVEL));
    if (large) {
        n = __builtin_ctzll(large) - 1;
        lanes = symbol_lanes(n);
        if (n == 0)
            return 0;
    }
    const __mmask64 is_one = _mm512_mask_cmpeq_epi8_mask(lanes, magnitude, one);
    const __m512i state = _mm512_min_epu8(magnitude, nine), below = _mm512_sub_epi8(magnitude, one);
    const __m512i down_state = _mm512_min_epu8(below, nine);
    const __m512i instead = _mm512_mask_mov_epi8(below, is_one, next);
    const int run_before = (int)(s->bits - pnv_weigh_run[0]) / PNV_WEIGH_RUNS;

    /* What does not depend on decisions. */
    __m512i lack = _mm512_sub_epi8(_mm512_loadu_si512(list->need_8 + i - 1), level_bits(state, next));
    lack = _mm512_add_epi8(lack, _mm512_mask_mov_epi8(level_bits(down_state, next), is_one, _mm512_set1_epi8(-1)));
    lack = _mm512_mask_sub_epi8(lack, is_one, lack, run_bits(next_run, after_run));

    uint64_t down = _mm512_mask_cmple_epi8_mask(is_one, lack, _mm512_set1_epi8(-2)), was;
    __m512i before, run, selects;
    do {
        was = down;
        before = last_kept(lane, down & is_one);
        const __m512i from = _mm512_add_epi8(_mm512_permutexvar_epi8(before, position), one);
        run = _mm512_mask_set1_epi8(_mm512_sub_epi8(position, from), 1, (char)run_before);
        selects = _mm512_mask_mov_epi8(state, down, down_state);
        const __m512i merged = _mm512_sub_epi8(next_position, from);
        const __m512i capped = _mm512_min_epu8(run, _mm512_set1_epi8(PNV_RUN_STATES - 1));
        const __m512i own_at = of_state(run_at, _mm512_permutexvar_epi8(before, capped));
        const __m512i own_level_at = of_state(level_at, _mm512_permutexvar_epi8(before, selects));
        const __m512i level_part = _mm512_sub_epi8(level_code(magnitude, own_level_at),
                                                   level_code(instead, own_level_at));
        const __m512i run_part = _mm512_add_epi8(
            _mm512_sub_epi8(run_code(run, own_at), run_code(merged, own_at)),
            _mm512_sub_epi8(run_bits(run, next_run), run_bits(merged, after_run)));
        const __m512i saved = _mm512_mask_add_epi8(level_part, is_one, level_part, run_part);
        down = _mm512_mask_cmple_epi8_mask(lanes, lack, saved);
    } while (down != was);
    const uint64_t beyond = lanes & too_long(list, i - 1, (int)s->start, before);
    if (beyond) { /* those in front do not depend on it */
        n = __builtin_ctzll(beyond) - 1;
        lanes = symbol_lanes(n);
        down &= lanes;
    }

    for (int h = 0; h < 2; h++) { /* lane 0 does not go down */
        int16_t *l = list->level + i - 1 + LANES * h;
        const __m512i v = _mm512_loadu_si512(l), sign = _mm512_or_si512(_mm512_srai_epi16(v, 15), _mm512_set1_epi16(1));
        _mm512_storeu_si512(l, _mm512_mask_sub_epi16(v, (__mmask32)(down >> LANES * h), v, sign));
    }
    const uint64_t kept = (lanes | 1) & ~(down & is_one);
    const int last = 63 - (int)_lzcnt_u64(kept);
    if (last > 0) {
        uint8_t runs[64], levels[64];
        _mm512_storeu_si512(runs, run);
        _mm512_storeu_si512(levels, selects);
        s->start = list->position[i - 1 + last] + 1;
        s->level = levels[last];
        s->bits = pnv_weigh_run[runs[last] < PNV_RUN_STATES ? runs[last] : PNV_RUN_STATES - 1];
    }
    return n;
}

static void weigh(PnvWeighList *list)
{
    PnvWeighState s = PNV_WEIGH_START;

    for (int i = 0; i < list->n;) {
        const int most = list->n - 2 - i, n = most < BLOCK ? most : BLOCK;
        const int done = n > 0 ? weigh_block(list, i, n, &s) : 0;
        i += done;
        if (n > 0 && done == n)
            continue;
        /* A long run counts for three symbols; large levels come in crowds. */
        const int few = done < 32 ? 32 : 6, end = list->n - i < few ? list->n : i + few;
        pnv_weigh_prepare(list, i, end);
        pnv_weigh(list, i, end, &s);
        i = end;
    }
}

void pnv_quant_optimal_avx512(int16_t *level, const int16_t *coef, int n_blocks, const PnvQuant *quant)
{
    const __m128i log2_n = _mm_cvtsi32_si128(pnv_log2((unsigned)n_blocks));
    const __mmask32 blocks = first_lanes(n_blocks);
    const __m512i dc = _mm512_maskz_loadu_epi16(blocks, coef);
    Steps steps;
    PnvWeighList list;

    gather_steps(&steps, quant->step);
    memset(level, 0, (size_t)(64 * n_blocks) * sizeof *level);
    _mm512_mask_storeu_epi16(level, blocks,
                             with_sign_of(dc, divide(_mm512_abs_epi16(dc), _mm512_setzero_si512(), &steps)));
    list_coefs(&list, coef + n_blocks, 63 * n_blocks, log2_n, &steps);
    fill_list(&list, log2_n, &steps);
    weigh(&list);
    pnv_weigh_write(level + n_blocks, &list);
}
