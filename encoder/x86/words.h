/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codes that vectors have merged into words of up to 57 bits -> bytes. For the x86 variants of the entropy stage. */
#ifndef PNV_X86_WORDS_H
#define PNV_X86_WORDS_H

#include <stdint.h>
#include <string.h>

#include "slice.h"
#include "x86.h"

enum {
    PNV_MAX_WORDS = 256,
    PNV_WORD_ROOM = PNV_MAX_BLOCKS * 1730 / 8 + 16, /**< A whole unit, see pnv_unit_bound(), and the last store. */
};

/**
 * Groups of whole symbols, to be written one behind the other. Making and writing them are loops of their own: the one
 * waits for long chains of vector instructions, the other for the bit position, and neither for the other then.
 */
typedef struct PnvWords {
    int n; /**< A multiple of 4. */
    _Alignas(64) uint64_t bits[PNV_MAX_WORDS];
    _Alignas(64) uint8_t length[PNV_MAX_WORDS]; /**< 0..57 */
} PnvWords;

/** Bits leave a byte at a time; the last stored byte is always complete with zeros. */
typedef struct PnvWordWriter {
    uint8_t *at, *end; /**< end: of what may be stored to. */
    uint64_t held;     /**< The lowest n_held bits are not stored for good; what is above them is. */
    uint64_t n_held;   /**< 0..7 between words. */
    uint8_t *spilled;  /**< Where the room of dst ended and that of the caller's stack went on, or NULL. */
} PnvWordWriter;

PNV_INLINE void pnv_put_word(PnvWordWriter *w, uint64_t bits, uint64_t length)
{
    w->held = w->held << length | bits;
    w->n_held += length;
    const uint64_t word = __builtin_bswap64(w->held << ((64 - w->n_held) & 63));
    memcpy(w->at, &word, sizeof word);
    w->at += w->n_held >> 3;
    w->n_held &= 7;
}

/** Near the end of dst the rest goes to room first, so that no store needs a check of its own. */
PNV_INLINE void pnv_put_words(PnvWordWriter *w, const PnvWords *words, uint8_t *room)
{
    if (w->end - w->at < 8 * words->n + 8 && !w->spilled) {
        w->spilled = w->at;
        w->at = room;
        w->end = room + PNV_WORD_ROOM;
    }
    for (int i = 0; i < words->n; i += 4) {
        pnv_put_word(w, words->bits[i], words->length[i]);
        pnv_put_word(w, words->bits[i + 1], words->length[i + 1]);
        pnv_put_word(w, words->bits[i + 2], words->length[i + 2]);
        pnv_put_word(w, words->bits[i + 3], words->length[i + 3]);
    }
}

PNV_INLINE size_t pnv_put_end(const PnvWordWriter *w, const uint8_t *room, uint8_t *dst, size_t capacity)
{
    uint8_t *end = w->at + (w->n_held > 0);

    if (!w->spilled)
        return (size_t)(end - dst);
    const size_t before = (size_t)(w->spilled - dst), rest = (size_t)(end - room);
    if (before + rest > capacity)
        return 0;
    memcpy(w->spilled, room, rest);
    return before + rest;
}

#endif
