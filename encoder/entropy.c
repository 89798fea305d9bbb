/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "entropy.h"

#include <stdlib.h>
#include <string.h>

#include "codeword.h"

static const PnvCodebook dc_first = PNV_CODEBOOK_DC_FIRST;
static const PnvCodebook dc_books[PNV_DC_STATES] = PNV_CODEBOOKS_DC;
static const PnvCodebook run_books[PNV_RUN_STATES] = PNV_CODEBOOKS_RUN;
static const PnvCodebook level_books[PNV_LEVEL_STATES] = PNV_CODEBOOKS_LEVEL;

static inline int min_int(int a, int b)
{
    return a < b ? a : b;
}

/** Where codes go: counted always, kept when there is a destination. */
typedef struct Sink {
    uint8_t *at, *end;
    uint64_t held;  /**< Bits not yet stored, the lowest n_held. */
    int n_held;     /**< At most 31 between calls. */
    int overflow;
    size_t n_bits;
} Sink;

static inline void store_be32(uint8_t *dst, uint32_t v)
{
    dst[0] = (uint8_t)(v >> 24);
    dst[1] = (uint8_t)(v >> 16);
    dst[2] = (uint8_t)(v >> 8);
    dst[3] = (uint8_t)v;
}

/* counting is a constant at every call, so that each of the two uses compiles to its own straight loop. */
static inline void put(Sink *s, int counting, PnvCode code)
{
    if (counting) {
        s->n_bits += (size_t)code.length;
        return;
    }
    s->held = s->held << code.length | code.bits;
    s->n_held += code.length;
    if (s->n_held < 32)
        return;
    s->n_held -= 32;
    if (s->end - s->at < 4) {
        s->overflow = 1;
        return;
    }
    store_be32(s->at, (uint32_t)(s->held >> s->n_held));
    s->at += 4;
}

/** Fill the last byte with zeros and store what is held. */
static int finish(Sink *s)
{
    for (; s->n_held > 0; s->n_held -= 8) {
        if (s->at >= s->end)
            return -1;
        *s->at++ = (uint8_t)(s->n_held >= 8 ? s->held >> (s->n_held - 8) : s->held << (8 - s->n_held));
    }
    return s->overflow ? -1 : 0;
}

static inline void code_dc(Sink *s, int counting, const int16_t *dc, int n_blocks)
{
    int previous = PNV_INITIAL_DC_DIFF;

    put(s, counting, pnv_code(dc_first, pnv_fold_sign(dc[0])));
    for (int b = 1; b < n_blocks; b++) {
        const int diff = dc[b] - dc[b - 1];
        const PnvCodebook book = dc_books[min_int(abs(previous), PNV_DC_STATES - 1)];
        put(s, counting, pnv_code(book, pnv_fold_sign(previous < 0 ? -diff : diff)));
        previous = diff;
    }
}

/** First nonzero at or after i, or n. Most levels are zero: four are looked at at once. */
static inline int next_nonzero(const int16_t *level, int i, int n)
{
    for (; i + 4 <= n; i += 4) {
        uint64_t four;
        memcpy(&four, level + i, sizeof four);
        if (four)
            break;
    }
    while (i < n && !level[i])
        i++;
    return i;
}

static inline void code_ac(Sink *s, int counting, const int16_t *level, int n)
{
    int previous_run = PNV_INITIAL_RUN, previous_level = PNV_INITIAL_LEVEL;
    int start = 0; /* position after the last nonzero level: the run counts from here, across rows */

    for (int i = next_nonzero(level, 0, n); i < n; i = next_nonzero(level, start, n)) {
        const int run = i - start, magnitude = abs(level[i]) - 1;
        const PnvCode code = pnv_code(level_books[min_int(previous_level, PNV_LEVEL_STATES - 1)], (uint32_t)magnitude);

        put(s, counting, pnv_code(run_books[min_int(previous_run, PNV_RUN_STATES - 1)], (uint32_t)run));
        put(s, counting, (PnvCode){code.bits << 1 | (level[i] < 0), code.length + 1});
        previous_run = run;
        previous_level = magnitude;
        start = i + 1;
    }
}

static inline void code_unit(Sink *s, int counting, const int16_t *level, int n_blocks)
{
    code_dc(s, counting, level, n_blocks);
    code_ac(s, counting, level + n_blocks, 63 * n_blocks);
}

size_t pnv_entropy_bits_c(const int16_t *level, int n_blocks)
{
    Sink s = {0};

    code_unit(&s, 1, level, n_blocks);
    return s.n_bits;
}

size_t pnv_entropy_write_c(uint8_t *dst, size_t capacity, const int16_t *level, int n_blocks)
{
    Sink s = {.at = dst, .end = dst + capacity};

    code_unit(&s, 0, level, n_blocks);
    return finish(&s) < 0 ? 0 : (size_t)(s.at - dst);
}
