/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Planar video-range samples of 8 to 14 bits for AVX2 in one go, all other input by way of load. fetch.c defines it. */
#include <immintrin.h>
#include <string.h>

#include "ahead.h"
#include "scale.h"
#include "x86.h"

enum { LANES = 16 };

/** How samples get their scale; constant in each loop. */
typedef enum Scale { UP, DOWN, FULL } Scale;

typedef struct Scaling {
    __m128i shift; /**< Of UP. */
    PnvScaler full;
} Scaling;

PNV_INLINE __m256i scale_16(const uint16_t *sample, const Scaling *s, Scale how, int depth)
{
    const __m256i v = _mm256_loadu_si256((const __m256i *)sample), middle = _mm256_set1_epi16(8192);

    if (how == UP)
        return _mm256_sub_epi16(_mm256_sll_epi16(v, s->shift), middle);
    if (how == FULL)
        return pnv_scale(v, &s->full);
    /* 15 or 16 bits: half of the last bit that is kept is added by the rounding average. */
    const __m256i halves = _mm256_avg_epu16(depth == 16 ? _mm256_srli_epi16(v, 1) : v, _mm256_setzero_si256());
    return _mm256_sub_epi16(_mm256_min_epu16(halves, _mm256_set1_epi16(16383)), middle);
}

PNV_INLINE void scale_row(int16_t *dst, const uint16_t *sample, int n, const Scaling *scaling, Scale how, int depth)
{
    const Scaling s = *scaling; /* which no store can change */
    int x = 0;

    for (; x + LANES <= n; x += LANES)
        _mm256_storeu_si256((__m256i *)(dst + x), scale_16(sample + x, &s, how, depth));
    if (x < n) {
        uint16_t copy[LANES] = {0};
        memcpy(copy, sample + x, (size_t)(n - x) * sizeof *copy);
        const __m256i v = scale_16(copy, &s, how, depth);
        memcpy(dst + x, &v, (size_t)(n - x) * sizeof *dst);
    }
}

void pnv_fetch_scale_avx2(int16_t *dst, const uint16_t *sample, int n, int depth, PnvSampleRange range)
{
    Scaling s = {.shift = _mm_cvtsi32_si128(14 - depth)};

    if (range == PNV_SAMPLES_VIDEO) {
        if (depth <= 14)
            scale_row(dst, sample, n, &s, UP, depth);
        else
            scale_row(dst, sample, n, &s, DOWN, depth);
        return;
    }
    s.full = range == PNV_SAMPLES_FULL_LUMA ? pnv_scaler(depth, 219 << 6, 0, 1024 - 8192)
                                            : pnv_scaler(depth, 224 << 6, 1 << 15, 0);
    scale_row(dst, sample, n, &s, FULL, depth);
}

/* Columns that fill no vector are taken one by one: nothing behind the plane may be read. */
static inline int16_t scale_one(const uint8_t *row, int bytes, int depth, int x)
{
    const int s = bytes == 1 ? row[x] : (row[2 * x] | row[2 * x + 1] << 8) & ((1 << depth) - 1);

    return (int16_t)((s << (14 - depth)) - 8192);
}

void pnv_fetch_avx2(int16_t *dst, const PnvPlane *plane, int x0, int y0, int width)
{
    const int depth = plane->depth, bytes = depth == 8 ? 1 : 2, last_row = plane->height - 1;
    const int n_cols = plane->width - x0 < width ? plane->width - x0 : width;
    const __m256i mask = _mm256_set1_epi16((short)((1 << depth) - 1)), offset = _mm256_set1_epi16(8192);
    const __m128i shift = _mm_cvtsi32_si128(14 - depth);

    if (!pnv_fetch_is_plain(plane)) {
        int16_t samples[16 * PNV_FETCH_STRIDE + PNV_LOAD_ROOM]; /* as nothing behind width may be written */
        pnv_fetch_loaded_avx2(samples, plane, x0, y0, width);
        for (int y = 0; y < 16; y++)
            memcpy(dst + y * PNV_FETCH_STRIDE, samples + y * PNV_FETCH_STRIDE, (size_t)width * sizeof *dst);
        return;
    }
    const ptrdiff_t ahead = pnv_ahead_of_columns(plane, x0, n_cols);
    for (int y = 0; y < 16; y++, dst += PNV_FETCH_STRIDE) {
        const int row_y = y0 + y < last_row ? y0 + y : last_row;
        const uint8_t *row = plane->data + row_y * plane->stride + (ptrdiff_t)x0 * bytes;
        pnv_ask_for_row(row, n_cols * bytes, ahead, PNV_FETCH_STRIDE * bytes);
        int x = 0;
        for (; x + 16 <= n_cols; x += 16) {
            __m256i s = bytes == 1 ? _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(row + x)))
                                   : _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(row + 2 * x)), mask);
            s = _mm256_sub_epi16(_mm256_sll_epi16(s, shift), offset);
            _mm256_storeu_si256((__m256i *)(dst + x), s);
        }
        if (x + 8 <= n_cols) {
            const __m128i eight = bytes == 1 ? _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(row + x)))
                                             : _mm_and_si128(_mm_loadu_si128((const __m128i *)(row + 2 * x)),
                                                             _mm256_castsi256_si128(mask));
            _mm_storeu_si128((__m128i *)(dst + x),
                             _mm_sub_epi16(_mm_sll_epi16(eight, shift), _mm256_castsi256_si128(offset)));
            x += 8;
        }
        for (; x < n_cols; x++)
            dst[x] = scale_one(row, bytes, depth, x);
        for (; x < width; x++)
            dst[x] = dst[n_cols - 1];
    }
}
