/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a container says the same as the frames in it. */
#ifndef PNV_INSPECT_CONTAINER_H
#define PNV_INSPECT_CONTAINER_H

#include "mov.h"
#include "pnv.h"
#include "reader.h"

/** Compares one frame with the sample entry and the sample times; without a container, or header, nothing is said. */
void pnv_container_check(const PnvMov *mov, const PnvReaderFrame *frame, PnvFindingFunction report, void *opaque);

/**
 * Compares the depth of the sample entry with what all frames were like: 32 makes applications blend, 24 makes them
 * ignore the alpha.
 *
 * @param see_through whether any frame has alpha that is not fully opaque.
 */
void pnv_container_check_depth(const PnvMov *mov, bool see_through, PnvFindingFunction report, void *opaque);

/** Profile of a four-character code; PNV_PROFILE_AUTO if it is none. */
PnvProfile pnv_container_profile(const char *fourcc);

#endif
