/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Apple's target data rates, as bytes of a frame. */
#ifndef PNV_TARGET_H
#define PNV_TARGET_H

#include <stdint.h>

#include "pnv.h"

/**
 * Bytes of one frame at Apple's published target data rate; alpha is not counted there. The rates are proportional to
 * the frame rate, so that one number of bytes stands for all of them. Sizes that Apple does not list take the bytes per
 * macroblock of the listed size nearest in macroblocks; below the smallest and above the largest, theirs.
 *
 * Integer arithmetic, rounded down: the same everywhere.
 *
 * @param width, height of the frame, 1..65535.
 * @return 0 for auto and for numbers that are no profile.
 */
uint64_t pnv_target_bytes(PnvProfile profile, int width, int height);

#endif
