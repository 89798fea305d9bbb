/* SPDX-License-Identifier: GPL-2.0-or-later */
/* R'G'B' -> Y'CbCr for AVX2. color.c is the definition. */
#include <immintrin.h>
#include <string.h>

#include "ahead.h"
#include "vectors.h"
#include "x86.h"

enum { N_PIXELS = 16 }; /* at a time */

/** Of pairs (R, G) and (B, -zero). */
typedef struct Weights {
    __m256i rg[3], b0[3];
    __m128i shift;
} Weights;

PNV_INLINE __m256i two_words(int first, int second)
{
    return _mm256_set1_epi32((int)((uint32_t)(uint16_t)first | (uint32_t)(uint16_t)second << 16));
}

/**
 * bias is a multiple of zero, which is 2^(shift-2), so it can be a weight of -zero. So can what samples that are not
 * less zero give too much: 32766 at most.
 */
PNV_INLINE Weights make_weights(const PnvColor *color, int is_less_zero)
{
    Weights w = {.shift = _mm_cvtsi32_si128(color->shift - 2)};

    for (int k = 0; k < 3; k++) {
        const int16_t *of = color->weight[k];
        const int sum = is_less_zero ? 0 : of[0] + of[1] + of[2];
        w.rg[k] = two_words(of[0], of[1]);
        w.b0[k] = two_words(of[2], sum - (color->bias[k] >> (color->shift - 2)));
    }
    return w;
}

/** Two bits of the result's fraction stay until packing, which then clips where it should. */
PNV_INLINE __m256i component(const __m256i rg[2], const __m256i b0[2], const Weights *w, int k)
{
    const __m256i low = _mm256_add_epi32(_mm256_madd_epi16(rg[0], w->rg[k]), _mm256_madd_epi16(b0[0], w->b0[k]));
    const __m256i high = _mm256_add_epi32(_mm256_madd_epi16(rg[1], w->rg[k]), _mm256_madd_epi16(b0[1], w->b0[k]));

    return _mm256_srai_epi16(_mm256_packs_epi32(_mm256_sra_epi32(low, w->shift), _mm256_sra_epi32(high, w->shift)), 2);
}

PNV_INLINE void store_components(int16_t *const dst[3], int x, const __m256i rg[2], const __m256i b0[2],
                                 const Weights *w)
{
    for (int k = 0; k < 3; k++)
        _mm256_storeu_si256((__m256i *)(dst[k] + x), component(rg, b0, w, k));
}

PNV_INLINE __m256i load(const uint16_t *src, __m256i zero)
{
    return _mm256_sub_epi16(_mm256_loadu_si256((const __m256i *)src), zero);
}

void pnv_color_row_avx2(int16_t *y, int16_t *cb, int16_t *cr, const uint16_t *r, const uint16_t *g, const uint16_t *b,
                        const PnvColor *color, int n)
{
    int16_t *const dst[3] = {y, cb, cr};
    const __m256i zero = _mm256_set1_epi16((short)color->zero);
    const __m256i minus_zero = _mm256_sub_epi16(_mm256_setzero_si256(), zero);

    if (n < N_PIXELS) {
        pnv_color_row_c(y, cb, cr, r, g, b, color, n);
        return;
    }
    const Weights w = make_weights(color, 1);
    for (int x = 0; x < n; x += N_PIXELS) {
        x = x < n - N_PIXELS ? x : n - N_PIXELS; /* the last ones again where they fill no vector */
        const __m256i red = load(r + x, zero), green = load(g + x, zero), blue = load(b + x, zero);
        const __m256i rg[2] = {_mm256_unpacklo_epi16(red, green), _mm256_unpackhi_epi16(red, green)};
        const __m256i b0[2] = {_mm256_unpacklo_epi16(blue, minus_zero), _mm256_unpackhi_epi16(blue, minus_zero)};
        store_components(dst, x, rg, b0, &w);
    }
}

/* Pixels of 32 bits: a vector of them, shuffled, is pairs. Samples of so few bits fit 16 signed ones as they are. */
enum { PIXEL_BYTES = 4, WORD_DEPTH = 10 };

/** Makes pairs of 16 bits of four pixels in each lane. */
typedef struct Pairing {
    __m256i bytes;  /**< For the shuffle. */
    __m256i factor; /**< Brings samples of words to the top. */
} Pairing;

typedef struct Pixels {
    const uint8_t *data; /**< The first byte that any component has. */
    ptrdiff_t row_bytes; /**< To behind the last one; may be less than the last pixel's four. */
    Pairing rg, b;
    __m256i minus_zero; /**< Beside each B. */
    Weights weights;
} Pixels;

/** The two bytes of a pixel that a sample is in; 0x80 is none. */
PNV_INLINE int sample_bytes(const PnvPlane *p, const uint8_t *pixel)
{
    const int low = p->shift / 8;

    if (p->packing == PNV_PACKING_SAMPLES)
        return (int)(p->data - pixel) | 0x8000;
    return p->packing == PNV_PACKING_WORDS ? low | (low + 1) << 8 : (3 - low) | (2 - low) << 8;
}

PNV_INLINE int sample_factor(const PnvPlane *p)
{
    return 1 << (16 - WORD_DEPTH - p->shift % 8);
}

/** second: NULL for a 0. */
PNV_INLINE Pairing make_pairing(const PnvPlane *first, const PnvPlane *second, const uint8_t *pixel)
{
    const __m256i places = _mm256_broadcastsi128_si256(_mm_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c));
    const __m256i bytes = two_words(sample_bytes(first, pixel), second ? sample_bytes(second, pixel) : 0x8080);

    return (Pairing){_mm256_add_epi8(bytes, places),
                     two_words(sample_factor(first), second ? sample_factor(second) : 0)};
}

PNV_INLINE Pixels make_pixels(const PnvPlane planes[3], const PnvColor *color)
{
    Pixels p = {.data = planes[0].data, .minus_zero = two_words(0, -color->zero), .weights = make_weights(color, 0)};
    const uint8_t *last = p.data;

    for (int c = 1; c < 3; c++) {
        p.data = planes[c].data < p.data ? planes[c].data : p.data;
        last = planes[c].data > last ? planes[c].data : last;
    }
    p.row_bytes = last - p.data + pnv_plane_row_bytes(&planes[0]);
    p.rg = make_pairing(&planes[0], &planes[1], p.data);
    p.b = make_pairing(&planes[2], NULL, p.data);
    return p;
}

PNV_INLINE __m256i pairs(__m256i pixels, const Pairing *p, int is_words)
{
    const __m256i v = _mm256_shuffle_epi8(pixels, p->bytes);

    return is_words ? _mm256_srli_epi16(_mm256_mullo_epi16(v, p->factor), 16 - WORD_DEPTH) : v;
}

/** n pixels, N_PIXELS or more. */
PNV_INLINE void color_pixels(int16_t *const dst[3], const uint8_t *src, ptrdiff_t row_bytes, int n, const Pixels *p,
                             int is_words)
{
    for (int x = 0; x < n; x += N_PIXELS) {
        uint8_t copy[PIXEL_BYTES * N_PIXELS];
        x = x < n - N_PIXELS ? x : n - N_PIXELS;
        const uint8_t *at = src + PIXEL_BYTES * x;
        const ptrdiff_t rest = row_bytes - PIXEL_BYTES * x;
        __m256i rg[2], b0[2];
        if (rest < (ptrdiff_t)sizeof copy)
            at = memcpy(copy, at, (size_t)rest);
        for (int i = 0; i < 2; i++) { /* in the order that packing undoes */
            const __m256i pixels = pnv_load_halves(at + 16 * i, at + 16 * i + 32);
            rg[i] = pairs(pixels, &p->rg, is_words);
            b0[i] = _mm256_or_si256(pairs(pixels, &p->b, is_words), p->minus_zero);
        }
        store_components(dst, x, rg, b0, &p->weights);
    }
}

PNV_INLINE void color_pixel_rows(int16_t *const dst[3], ptrdiff_t stride, const PnvPlane planes[3],
                                 const PnvColor *color, const PnvColumns *there, int y, int n_rows, int is_words)
{
    const Pixels p = make_pixels(planes, color);
    const ptrdiff_t begin = (ptrdiff_t)there->first * PIXEL_BYTES, bytes = (ptrdiff_t)there->n * PIXEL_BYTES;
    const ptrdiff_t ahead = pnv_ahead(begin, begin + bytes, p.row_bytes, planes->stride);

    for (int i = 0; i < n_rows; i++) {
        const uint8_t *src = p.data + pnv_plane_inside(y + i, planes->height) * planes->stride + begin;
        const ptrdiff_t at = i * stride, inside = at + there->left;
        int16_t *const to[3] = {dst[0] + inside, dst[1] + inside, dst[2] + inside};
        color_pixels(to, src, p.row_bytes - begin, there->n, &p, is_words);
        for (int k = 0; k < 3; k++)
            pnv_columns_repeat((uint16_t *)dst[k] + at, there);
        pnv_ask_for_row(src, bytes, ahead, PNV_FETCH_STRIDE * PIXEL_BYTES);
    }
}

/** Whether two bytes have all of each sample, as in every known format. */
static int two_bytes_are_enough(const PnvPlane planes[3])
{
    for (int c = 0; c < 3; c++) {
        if (planes[c].shift % 8 > 16 - WORD_DEPTH)
            return 0;
    }
    return 1;
}

void pnv_color_pixels_avx2(int16_t *const dst[3], ptrdiff_t stride, const PnvPlane planes[3], const PnvColor *color,
                           int x, int y, int n, int n_rows)
{
    const PnvColumns there = pnv_plane_columns(&planes[0], x, n);

    if (there.n < N_PIXELS || !two_bytes_are_enough(planes))
        pnv_color_pixels_c(dst, stride, planes, color, x, y, n, n_rows);
    else if (planes[0].packing == PNV_PACKING_SAMPLES)
        color_pixel_rows(dst, stride, planes, color, &there, y, n_rows, 0);
    else
        color_pixel_rows(dst, stride, planes, color, &there, y, n_rows, 1);
}
