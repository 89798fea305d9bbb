/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports for machines; docs/inspect.md documents the keys. */
#ifndef PNV_INSPECT_JSON_H
#define PNV_INSPECT_JSON_H

#include <stdio.h>

#include "summary.h"

/** What the object of one file is made of. */
typedef struct PnvJsonFile {
    const char *file;
    int status;        /**< Exit status of this file alone. */
    const char *error; /**< Why it could not be read; NULL if it could, and then what follows is there. */
    const PnvMov *mov;
    const PnvSummary *summary;
    const PnvVerdictRules *rules;
    const PnvRawFormat *format; /**< NULL: nothing was compared. */
    const char *findings;       /**< Objects by pnv_json_finding(), with commas between them. */
    const char *frames;         /**< Objects by pnv_json_frame(), likewise; NULL: not asked for. */
} PnvJsonFile;

/** One finding as an object. */
void pnv_json_finding(FILE *out, int64_t frame, uint64_t file_offset, const PnvFinding *finding);

/** One frame as an object. */
void pnv_json_frame(FILE *out, const PnvFrameResult *result, const PnvRawFormat *format);

/** One file as an object. */
void pnv_json_file(FILE *out, const PnvJsonFile *file);

#endif
