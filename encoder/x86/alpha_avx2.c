/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Alpha for AVX2, which the AVX-512 level takes too. alpha.c is the definition. Where values change is found by
 * vectors; each run then is one word, its difference and its length, of at most 33 bits.
 */
#include "alpha.h"

#include <assert.h>
#include <immintrin.h>
#include <string.h>

#include "scale.h"
#include "words.h"

enum { LANES = 16 };

/** More bits by repeating a sample's own: 8, 10 or 12 of them to 16. */
PNV_INLINE __m256i widen(__m256i a, int depth)
{
    return _mm256_or_si256(_mm256_sll_epi16(a, _mm_cvtsi32_si128(16 - depth)),
                           _mm256_srl_epi16(a, _mm_cvtsi32_si128(2 * depth - 16)));
}

void pnv_alpha_fetch_avx2(uint16_t *dst, const PnvPlane *plane, int bits, int x0, int y0, int width)
{
    assert(x0 < plane->width && y0 < plane->height && width <= PNV_FETCH_STRIDE && width % LANES == 0);
    const int depth = plane->depth, n_rows = plane->height - y0 < 16 ? plane->height - y0 : 16;
    const PnvScaler scaler = pnv_scaler(depth, 255, 0, 0);
    uint16_t sample[16 * PNV_FETCH_STRIDE + PNV_LOAD_ROOM];

    pnv_load_avx2(sample, PNV_FETCH_STRIDE, plane, x0, y0, width, n_rows, 0);
    for (int y = 0; y < n_rows; y++, dst += width) {
        for (int x = 0; x < width; x += LANES) {
            __m256i a = _mm256_loadu_si256((const __m256i *)(sample + y * PNV_FETCH_STRIDE + x));
            if (depth > bits)
                a = pnv_scale(a, &scaler);
            else if (depth == 2)
                a = _mm256_mullo_epi16(a, _mm256_set1_epi16((short)(((1 << bits) - 1) / 3)));
            else if (depth < bits)
                a = widen(a, depth);
            _mm256_storeu_si256((__m256i *)(dst + x), a);
        }
    }
    for (int y = n_rows; y < 16; y++, dst += width)
        memcpy(dst, dst - width, (size_t)width * sizeof *dst);
}

/** Which values differ from the one before, a bit each; the first does not. */
typedef struct Changes {
    uint64_t bits[PNV_MAX_ALPHA_VALUES / 64];
} Changes;

PNV_INLINE uint64_t changes_of_16(const uint16_t *value, const uint16_t *before)
{
    const __m256i is_same = _mm256_cmpeq_epi16(_mm256_loadu_si256((const __m256i *)value),
                                               _mm256_loadu_si256((const __m256i *)before));
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(is_same), _mm256_extracti128_si256(is_same, 1));

    return ~(unsigned)_mm_movemask_epi8(bytes) & 0xffff;
}

/* n: a multiple of 256, as all units of alpha are. */
static void find_changes(Changes *c, const uint16_t *value, int n)
{
    uint16_t first[LANES + 1]; /* nothing lies before the first value */

    memcpy(first + 1, value, LANES * sizeof *value);
    first[0] = value[0];
    for (int i = 0; i < n; i += 64) {
        uint64_t bits = i ? changes_of_16(value + i, value + i - 1) : changes_of_16(value, first);
        bits |= changes_of_16(value + i + 16, value + i + 15) << 16;
        bits |= changes_of_16(value + i + 32, value + i + 31) << 32;
        bits |= changes_of_16(value + i + 48, value + i + 47) << 48;
        c->bits[i / 64] = bits;
    }
}

/** A walk over the runs of a unit. */
typedef struct Runs {
    Changes changes;
    const uint16_t *value;
    int n, bits;
    int start;    /**< Of the run that comes next. */
    int previous; /**< Value of the run before. */
    int word;     /**< Of changes, whose bits before the run's end are gone. */
} Runs;

PNV_INLINE void runs_begin(Runs *r, const uint16_t *value, int n, int bits)
{
    find_changes(&r->changes, value, n);
    r->value = value;
    r->n = n;
    r->bits = bits;
    r->start = r->word = 0;
    r->previous = -1;
}

/** One run: its difference and its length in one word. */
typedef struct Word {
    uint64_t bits;
    int length;
} Word;

/** The next run, as code_alpha() of alpha.c. */
PNV_INLINE Word next_run(Runs *r)
{
    int end = r->n;

    while (r->word < r->n / 64 && !r->changes.bits[r->word])
        r->word++;
    if (r->word < r->n / 64) {
        uint64_t *bits = &r->changes.bits[r->word];
        end = 64 * r->word + (int)_tzcnt_u64(*bits);
        *bits &= *bits - 1;
    }
    const PnvCode difference = pnv_alpha_difference(r->value[r->start] - r->previous, r->bits);
    const PnvCode run = pnv_alpha_run(end - r->start);
    r->previous = r->value[r->start];
    r->start = end;
    return (Word){(uint64_t)difference.bits << run.length | run.bits, difference.length + run.length};
}

size_t pnv_alpha_bits_avx2(const uint16_t *value, int n, int bits)
{
    size_t sum = 0;
    Runs runs;

    runs_begin(&runs, value, n, bits);
    while (runs.start < n)
        sum += (size_t)next_run(&runs).length;
    return sum;
}

size_t pnv_alpha_write_avx2(uint8_t *dst, size_t capacity, const uint16_t *value, int n, int bits)
{
    PnvWordWriter w = {.at = dst, .end = dst + capacity};
    uint8_t room[PNV_WORD_ROOM]; /* pnv_alpha_bound() is less than that of a unit of levels */
    PnvWords words;
    Runs runs;

    runs_begin(&runs, value, n, bits);
    while (runs.start < n) {
        for (words.n = 0; words.n < PNV_MAX_WORDS && runs.start < n; words.n++) {
            const Word word = next_run(&runs);
            words.bits[words.n] = word.bits;
            words.length[words.n] = (uint8_t)word.length;
        }
        for (; words.n % 4; words.n++)
            words.bits[words.n] = words.length[words.n] = 0;
        pnv_put_words(&w, &words, room);
    }
    return pnv_put_end(&w, room, dst, capacity);
}
