/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading bits, most significant first, never past the end: what lies behind it reads as zero. */
#ifndef PNV_INSPECT_BITS_H
#define PNV_INSPECT_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t pnv_read_u16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t pnv_read_u32(const uint8_t *p)
{
    return pnv_read_u16(p) << 16 | pnv_read_u16(p + 2);
}

static inline uint64_t pnv_read_u64(const uint8_t *p)
{
    return (uint64_t)pnv_read_u32(p) << 32 | pnv_read_u32(p + 4);
}

/** A run of bytes and a place in it. pos may pass end: the caller compares them after each code. */
typedef struct PnvBits {
    const uint8_t *data;
    uint32_t bytes;
    uint32_t pos, end; /**< In bits; end = 8 * bytes. */
} PnvBits;

static inline PnvBits pnv_bits(const uint8_t *data, uint32_t bytes)
{
    return (PnvBits){data, bytes, 0, 8 * bytes};
}

/** The bits from pos on, left aligned: at least 57 of them, zero behind the end. */
static inline uint64_t pnv_bits_peek(const PnvBits *b)
{
    const uint32_t byte = b->pos >> 3;
    uint64_t v = 0;

    if (byte + 8 <= b->bytes)
        return pnv_read_u64(b->data + byte) << (b->pos & 7);
    for (uint32_t i = byte; i < b->bytes; i++)
        v |= (uint64_t)b->data[i] << (56 - 8 * (i - byte));
    return v << (b->pos & 7);
}

/** The next n bits, 1..32, as a number. */
static inline uint32_t pnv_bits_get(PnvBits *b, int n)
{
    const uint64_t v = pnv_bits_peek(b);
    b->pos += (uint32_t)n;
    return (uint32_t)(v >> (64 - n));
}

/** Whether all bits from pos to the end are zero; true at or behind the end. */
static inline bool pnv_bits_rest_is_zero(const PnvBits *b)
{
    uint32_t byte = b->pos >> 3;

    if (b->pos >= b->end)
        return true;
    if ((uint8_t)(b->data[byte] << (b->pos & 7)))
        return false;
    while (++byte < b->bytes)
        if (b->data[byte])
            return false;
    return true;
}

#endif
