/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this machine's CPU can do, in the few levels that variants are written for. */
#ifndef PNV_CPUINFO_H
#define PNV_CPUINFO_H

#include "pnv.h"

/** Whether variants of this level were built and can run here. True for auto and C. */
int pnv_cpu_has(PnvCpu cpu);

/** The highest level that pnv_cpu_has(). Never auto. */
PnvCpu pnv_cpu_best(void);

/** Whether those of this level are emulated in this build, for tests: their times say nothing. */
int pnv_cpu_is_emulated(PnvCpu cpu);

/** "auto", "c", "avx2", "avx512", "neon". */
const char *pnv_cpu_name(PnvCpu cpu);

#endif
