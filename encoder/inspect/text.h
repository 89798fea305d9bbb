/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports for people. */
#ifndef PNV_INSPECT_TEXT_H
#define PNV_INSPECT_TEXT_H

#include <stdio.h>

#include "summary.h"

/** One line on one finding. frame: its number; -1: the file as a whole. file_offset: of the frame. */
void pnv_text_finding(FILE *out, const char *file, int64_t frame, uint64_t file_offset, const PnvFinding *finding,
                      const PnvVerdictRules *rules);

/** One line on one frame: its bytes, and how near it comes to the raw video. format: NULL without a comparison. */
void pnv_text_frame(FILE *out, const PnvFrameResult *result, const PnvRawFormat *format);

/** What there is to know of the file. format: NULL without a comparison. */
void pnv_text_summary(FILE *out, const char *file, const PnvMov *mov, const PnvSummary *s,
                      const PnvVerdictRules *rules, const PnvRawFormat *format);

/** All codes of findings with what they mean. */
void pnv_text_codes(FILE *out);

#endif
