/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Levels of one unit -> its bytes, or how many bytes without writing them. RDD 36 5.3.3, 7.1.1 */
#ifndef PNV_ENTROPY_H
#define PNV_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

/**
 * @param level 64 rows of n_blocks levels, as pnv_quant_c() writes them: row i has scan position i of every block.
 *              |level| <= 8192.
 * @return bits of the unit without the zeros that fill its last byte; at least 6.
 */
size_t pnv_entropy_bits_c(const int16_t *level, int n_blocks);

/**
 * Write the unit. Nothing is written past dst + capacity.
 *
 * @param capacity pnv_unit_bound(n_blocks) is always enough; less is right when the length is known.
 * @return bytes written, (pnv_entropy_bits_c() + 7) / 8; 0 if capacity is too small, dst is then undefined.
 */
size_t pnv_entropy_write_c(uint8_t *dst, size_t capacity, const int16_t *level, int n_blocks);

#endif
