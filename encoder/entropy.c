/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "entropy.h"

#include <stdlib.h>
#include <string.h>

#include "bits.h"

static const PnvCodebook dc_first = PNV_CODEBOOK_DC_FIRST;
static const PnvCodebook dc_books[PNV_DC_STATES] = PNV_CODEBOOKS_DC;
static const PnvCodebook run_books[PNV_RUN_STATES] = PNV_CODEBOOKS_RUN;
static const PnvCodebook level_books[PNV_LEVEL_STATES] = PNV_CODEBOOKS_LEVEL;

static inline int min_int(int a, int b)
{
    return a < b ? a : b;
}

static inline void code_dc(PnvBits *s, int counting, const int16_t *dc, int n_blocks)
{
    int previous = PNV_INITIAL_DC_DIFF;

    pnv_bits_put(s, counting, pnv_code(dc_first, pnv_fold_sign(dc[0])));
    for (int b = 1; b < n_blocks; b++) {
        const int diff = dc[b] - dc[b - 1];
        const PnvCodebook book = dc_books[min_int(abs(previous), PNV_DC_STATES - 1)];
        pnv_bits_put(s, counting, pnv_code(book, pnv_fold_sign(previous < 0 ? -diff : diff)));
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

static inline void code_ac(PnvBits *s, int counting, const int16_t *level, int n)
{
    int previous_run = PNV_INITIAL_RUN, previous_level = PNV_INITIAL_LEVEL;
    int start = 0; /* position after the last nonzero level: the run counts from here, across rows */

    for (int i = next_nonzero(level, 0, n); i < n; i = next_nonzero(level, start, n)) {
        const int run = i - start, magnitude = abs(level[i]) - 1;
        const PnvCode code = pnv_code(level_books[min_int(previous_level, PNV_LEVEL_STATES - 1)], (uint32_t)magnitude);

        pnv_bits_put(s, counting, pnv_code(run_books[min_int(previous_run, PNV_RUN_STATES - 1)], (uint32_t)run));
        pnv_bits_put(s, counting, (PnvCode){code.bits << 1 | (level[i] < 0), code.length + 1});
        previous_run = run;
        previous_level = magnitude;
        start = i + 1;
    }
}

static inline void code_unit(PnvBits *s, int counting, const int16_t *level, int n_blocks)
{
    code_dc(s, counting, level, n_blocks);
    code_ac(s, counting, level + n_blocks, 63 * n_blocks);
}

size_t pnv_entropy_bits_c(const int16_t *level, int n_blocks)
{
    PnvBits s = {0};

    code_unit(&s, 1, level, n_blocks);
    return s.n_bits;
}

size_t pnv_entropy_write_c(uint8_t *dst, size_t capacity, const int16_t *level, int n_blocks)
{
    PnvBits s = {.at = dst, .end = dst + capacity};

    code_unit(&s, 0, level, n_blocks);
    return pnv_bits_finish(&s, dst);
}
