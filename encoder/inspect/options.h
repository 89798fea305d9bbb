/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command line of proresnv-inspect. */
#ifndef PNV_INSPECT_OPTIONS_H
#define PNV_INSPECT_OPTIONS_H

#include "compare.h"
#include "summary.h"

enum { PNV_EXIT_CONFORMS = 0, PNV_EXIT_VIOLATIONS = 1, PNV_EXIT_UNREADABLE = 2 };

typedef struct PnvInspectOptions {
    PnvVerdictRules rules;
    bool json, dump, frames, all, quiet;
    const char *psnr; /**< Raw file to compare with; NULL: none. */
    PnvRawFormat format;
    const char *map; /**< PNG to write; NULL: none. */
    bool one_frame;  /**< Only the frame of that number. */
    uint32_t frame;
    int threads;
    char **files;
    int n_files;
} PnvInspectOptions;

/**
 * Read the command line. Prints help, version and mistakes itself.
 *
 * @return -1: go on; else the exit status to leave with.
 */
int pnv_inspect_options(PnvInspectOptions *options, int argc, char **argv);

#endif
