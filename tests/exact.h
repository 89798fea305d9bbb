/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the exact_ tests share: the CPU levels of this machine, random numbers, and levels as units have them. */
#ifndef EXACT_H
#define EXACT_H

#include <stdint.h>

#include "check.h"
#include "cpuinfo.h"
#include "dsp.h"
#include "slice.h"

static uint32_t exact_seed = 1;

static inline uint32_t exact_random(void)
{
    exact_seed ^= exact_seed << 13;
    exact_seed ^= exact_seed >> 17;
    exact_seed ^= exact_seed << 5;
    return exact_seed;
}

/** low..high */
static inline int exact_between(int low, int high)
{
    return low + (int)(exact_random() % (unsigned)(high - low + 1));
}

/**
 * Run a test for each level above C: ref is the table of the definitions, var that of the level. Exits 77 where there
 * is none to compare.
 */
static inline void exact_each_level(void (*test)(const PnvDsp *ref, const PnvDsp *var, const char *name))
{
    static const PnvCpu levels[] = {PNV_CPU_AVX2, PNV_CPU_AVX512, PNV_CPU_NEON};
    PnvDsp ref, var;
    int n = 0;

    pnv_dsp_init(&ref, PNV_CPU_C);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (!pnv_cpu_has(levels[i])) {
            printf("%s: not on this machine or not in this build, skipped\n", pnv_cpu_name(levels[i]));
            continue;
        }
        pnv_dsp_init(&var, levels[i]);
        test(&ref, &var, pnv_cpu_name(levels[i]));
        n++;
    }
    if (!n)
        exit(CHECK_SKIP);
}

/** Blocks of a unit: every slice width in luma and in chroma. */
static const int exact_n_blocks[] = {2, 4, 8, 16, 32};
#define EXACT_N_WIDTHS 5

#endif
