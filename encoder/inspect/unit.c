/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <string.h>

#include "bits.h"

/*
 * A combination code (RDD 36 7.1.1.1): values below (last_q + 1) << k_rice are Rice codes, the others exponential
 * Golomb codes. EG(k) is {0, k, k + 1}.
 */
typedef struct Codebook {
    uint8_t last_q, k_rice, k_exp;
} Codebook;

#define EG(k) {0, k, k + 1}

static const Codebook first_dc = EG(5);

/* By the magnitude of the DC difference before. */
static const Codebook dc_books[4] = {EG(0), EG(1), {1, 2, 3}, EG(3)};

/* By the run before. */
static const Codebook run_books[16] = {
    {2, 0, 1}, {2, 0, 1}, {1, 0, 1}, {1, 0, 1}, EG(0), {1, 1, 2}, {1, 1, 2}, {1, 1, 2},
    {1, 1, 2}, EG(1),     EG(1),     EG(1),     EG(1), EG(1),     EG(1),     EG(2),
};

/* By the magnitude of the level before, less one. */
static const Codebook level_books[9] = {
    {2, 0, 2}, {1, 0, 1}, {2, 0, 1}, EG(0), EG(1), EG(1), EG(1), EG(1), EG(2),
};

/*
 * No code for a level of 16 bits or for a run of 63 * 32 begins with more zeros; with this limit the longest code,
 * EG(5), has 46 bits and fits one peek.
 */
#define MAX_ZEROS 20

typedef struct Decoder {
    PnvBits bits;
    PnvUnitResult result;
} Decoder;

/* Records what went wrong; the first fault stays. Returns false, for the callers to hand on. */
static bool fail(Decoder *d, PnvFindingCode code, uint32_t bit, int index, int value)
{
    d->result.code = code;
    d->result.bit = bit;
    d->result.index = index;
    d->result.value = value;
    return false;
}

/* One number. Returns false if the code begins with too many zeros, and does not move then. */
static inline bool read_code(PnvBits *b, const Codebook *book, uint32_t *value)
{
    const uint64_t w = pnv_bits_peek(b);
    const int zeros = w ? __builtin_clzll(w) : 64;

    if (zeros > MAX_ZEROS)
        return false;
    if (zeros <= book->last_q) {
        const int length = zeros + 1 + book->k_rice;
        *value = (uint32_t)(w >> (64 - length)) + (((uint32_t)zeros - 1) << book->k_rice);
        b->pos += (uint32_t)length;
    } else {
        const int length = 2 * zeros - book->last_q + book->k_exp;
        *value = (uint32_t)(w >> (64 - length)) + (((uint32_t)book->last_q + 1) << book->k_rice) -
                 (1U << book->k_exp);
        b->pos += (uint32_t)length;
    }
    return true;
}

/* A number that must be there: too many zeros are an overrun where the data ends in them. */
static bool read_needed(Decoder *d, const Codebook *book, int index, uint32_t *value)
{
    const uint32_t start = d->bits.pos;

    if (!read_code(&d->bits, book, value))
        return fail(d, pnv_bits_rest_is_zero(&d->bits) ? PNV_FINDING_OVERRUN : PNV_FINDING_CODE_LENGTH, start, index,
                    0);
    if (d->bits.pos > d->bits.end)
        return fail(d, PNV_FINDING_OVERRUN, start, index, 0);
    return true;
}

static void note_level(Decoder *d, int magnitude)
{
    if (magnitude > d->result.max_level)
        d->result.max_level = magnitude;
}

/* DC levels: differences, folded by the sign of the difference before (RDD 36 7.1.1, table 9). */
static bool decode_dc(Decoder *d, int16_t *levels, int n_blocks)
{
    int dc = 0, previous = 3;

    for (int i = 0; i < n_blocks; i++) {
        const int magnitude = previous < 0 ? -previous : previous;
        const Codebook *book = i == 0 ? &first_dc : &dc_books[magnitude < 3 ? magnitude : 3];
        const uint32_t start = d->bits.pos;
        uint32_t n;

        if (!read_needed(d, book, i, &n))
            return false;
        int diff = n & 1 ? -(int)(n >> 1) - 1 : (int)(n >> 1);
        if (i > 0) {
            if (previous < 0)
                diff = -diff;
            previous = diff;
        }
        dc += diff; /* |diff| < 2^26 and |dc| < 2^15: no overflow */
        if (dc < INT16_MIN + 1 || dc > INT16_MAX)
            return fail(d, PNV_FINDING_LEVEL_RANGE, start, i, dc);
        levels[i] = (int16_t)dc;
        note_level(d, dc < 0 ? -dc : dc);
    }
    return true;
}

/* The run before the next level, or the end of the data. Returns 1 a run, 0 the end, -1 a fault. */
static inline int read_run(Decoder *d, unsigned previous_run, int index, uint32_t *run)
{
    const uint32_t start = d->bits.pos;

    if (!read_code(&d->bits, &run_books[previous_run < 15 ? previous_run : 15], run)) {
        if (pnv_bits_rest_is_zero(&d->bits))
            return 0; /* no run code is all zeros: padding cannot be mistaken for data */
        fail(d, PNV_FINDING_CODE_LENGTH, start, index, 0);
        return -1;
    }
    if (d->bits.pos > d->bits.end) {
        fail(d, PNV_FINDING_OVERRUN, start, index, 0);
        return -1;
    }
    return 1;
}

/* AC levels: one sequence over scan positions and blocks, block minor (RDD 36 7.1.1, tables 10 and 11). */
static bool decode_ac(Decoder *d, int16_t *levels, int n_blocks)
{
    const int n_coefs = 64 * n_blocks;
    unsigned previous_run = 4, previous_symbol = 1;
    int at = n_blocks - 1; /* coefficient of the level before */

    while (at < n_coefs - 1) {
        const uint32_t start = d->bits.pos;
        uint32_t run, symbol;
        const int got = read_run(d, previous_run, at, &run);

        if (got <= 0)
            return got == 0;
        if (run >= (uint32_t)(n_coefs - 1 - at))
            return fail(d, PNV_FINDING_RUN_OVERRUN, start, at, (int)run);
        at += (int)run + 1;
        if (!read_needed(d, &level_books[previous_symbol < 8 ? previous_symbol : 8], at, &symbol))
            return false;
        const uint32_t negative = pnv_bits_get(&d->bits, 1);
        if (d->bits.pos > d->bits.end)
            return fail(d, PNV_FINDING_OVERRUN, start, at, 0);
        if (symbol >= INT16_MAX)
            return fail(d, PNV_FINDING_LEVEL_RANGE, start, at, (int)symbol + 1);
        levels[at] = (int16_t)(negative ? -(int)symbol - 1 : (int)symbol + 1);
        note_level(d, (int)symbol + 1);
        previous_run = run;
        previous_symbol = symbol;
    }
    return true;
}

/* What follows the last code: zeros up to the next byte, and no more of them than a decoder takes (RDD 36 7.1.1). */
static void check_padding(Decoder *d)
{
    d->result.used_bits = d->bits.pos;
    d->result.padding_bits = d->bits.end - d->bits.pos;
    if (d->result.code != PNV_FINDING_NONE)
        return;
    if (!pnv_bits_rest_is_zero(&d->bits))
        fail(d, PNV_FINDING_TRAILING_DATA, d->bits.pos, 0, 0);
    else if (d->result.padding_bits >= 32)
        fail(d, PNV_FINDING_PADDING, d->bits.pos, 0, (int)d->result.padding_bits);
    else if (d->result.padding_bits >= 8)
        fail(d, PNV_FINDING_PADDING_BYTES, d->bits.pos, 0, (int)d->result.padding_bits);
}

PnvUnitResult pnv_unit_decode_levels(int16_t *levels, int n_blocks, const uint8_t *data, uint32_t bytes)
{
    Decoder d = {.bits = pnv_bits(data, bytes)};

    memset(levels, 0, (size_t)n_blocks * 64 * sizeof *levels);
    d.result.complete = decode_dc(&d, levels, n_blocks) && decode_ac(&d, levels, n_blocks);
    if (d.result.complete)
        check_padding(&d);
    else
        d.result.used_bits = d.bits.pos < d.bits.end ? d.bits.pos : d.bits.end;
    return d.result;
}

/* value - previous, as it is in the short form, modulo 2^depth in the long one (RDD 36 7.1.2). */
static bool read_alpha_value(Decoder *d, int depth, int index, int *value)
{
    const int mask = (1 << depth) - 1, short_bits = depth == 8 ? 3 : 6;
    const uint32_t start = d->bits.pos;

    if (pnv_bits_get(&d->bits, 1)) {
        *value = (*value + (int)pnv_bits_get(&d->bits, depth)) & mask;
    } else {
        const int magnitude = 1 + (int)pnv_bits_get(&d->bits, short_bits);
        *value += pnv_bits_get(&d->bits, 1) ? -magnitude : magnitude;
    }
    if (d->bits.pos > d->bits.end)
        return fail(d, PNV_FINDING_OVERRUN, start, index, 0);
    if (*value < 0 || *value > mask) {
        if (d->result.n_wraps++ == 0) {
            d->result.wrap_bit = start;
            d->result.wrap_value = *value;
        }
        *value &= mask;
    }
    return true;
}

/* How many equal values. Some encoders leave out the last code when it would be a run of 1. */
static bool read_alpha_run(Decoder *d, int index, int n_left, int *run)
{
    const uint32_t start = d->bits.pos, left = d->bits.end - d->bits.pos;
    bool long_form = false;

    *run = 1;
    if (n_left == 1 && left < 16 && pnv_bits_rest_is_zero(&d->bits)) {
        fail(d, PNV_FINDING_ALPHA_LAST_RUN, start, index, 1);
        return true;
    }
    if (!pnv_bits_get(&d->bits, 1)) {
        *run = 1 + (int)pnv_bits_get(&d->bits, 4);
        long_form = *run == 1;
        if (long_form)
            *run = 1 + (int)pnv_bits_get(&d->bits, 11);
    }
    if (d->bits.pos > d->bits.end)
        return fail(d, PNV_FINDING_OVERRUN, start, index, 0);
    if (*run > n_left)
        return fail(d, PNV_FINDING_ALPHA_OVERRUN, start, index, *run);
    d->result.n_long_runs += long_form && *run <= 16;
    return true;
}

static bool decode_alpha(Decoder *d, uint16_t *values, int n_values, int depth)
{
    int value = -1, run;

    d->result.opaque = true;
    for (int i = 0; i < n_values; i += run) {
        if (!read_alpha_value(d, depth, i, &value) || !read_alpha_run(d, i, n_values - i, &run))
            return false;
        d->result.opaque &= value == (1 << depth) - 1;
        for (int k = 0; k < run; k++)
            values[i + k] = (uint16_t)value;
    }
    return true;
}

PnvUnitResult pnv_unit_decode_alpha(uint16_t *values, int n_values, int depth, const uint8_t *data, uint32_t bytes)
{
    Decoder d = {.bits = pnv_bits(data, bytes)};

    memset(values, 0, (size_t)n_values * sizeof *values);
    d.result.complete = decode_alpha(&d, values, n_values, depth);
    if (d.result.complete)
        check_padding(&d);
    else
        d.result.used_bits = d.bits.pos < d.bits.end ? d.bits.pos : d.bits.end;
    return d.result;
}
