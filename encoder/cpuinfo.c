/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cpuinfo.h"

/* PNV_HAVE_X86, PNV_HAVE_NEON and PNV_AVX512_EMULATED come from meson.build: the variants that are in this build. */
#if PNV_HAVE_X86
#include <cpuid.h>

/* MOVBE and LZCNT, which __builtin_cpu_supports() does not know in every compiler. */
static int has_movbe_lzcnt(void)
{
    unsigned a, b, c1, c2, d;

    return __get_cpuid(1, &a, &b, &c1, &d) && __get_cpuid(0x80000001, &a, &b, &c2, &d) && (c1 >> 22 & 1) &&
           (c2 >> 5 & 1);
}

/* The flags of meson.build, no more and no less. The builtin also asks whether the system saves the registers. */
static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && has_movbe_lzcnt();
}

static int has_avx512(void)
{
    if (PNV_AVX512_EMULATED) /* by AVX2, in tests */
        return has_avx2();
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vnni");
}
#endif

int pnv_cpu_has(PnvCpu cpu)
{
    switch (cpu) {
    case PNV_CPU_AUTO:
    case PNV_CPU_C:
        return 1;
#if PNV_HAVE_X86
    case PNV_CPU_AVX2:
        return has_avx2();
    case PNV_CPU_AVX512:
        return has_avx512();
#endif
#if PNV_HAVE_NEON
    case PNV_CPU_NEON:
        return 1; /* part of aarch64 */
#endif
    default:
        return 0;
    }
}

int pnv_cpu_is_emulated(PnvCpu cpu)
{
#if PNV_HAVE_X86
    return PNV_AVX512_EMULATED && cpu == PNV_CPU_AVX512;
#else
    (void)cpu;
    return 0;
#endif
}

PnvCpu pnv_cpu_best(void)
{
    static const PnvCpu levels[] = {PNV_CPU_AVX512, PNV_CPU_AVX2, PNV_CPU_NEON};

    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (pnv_cpu_has(levels[i]))
            return levels[i];
    }
    return PNV_CPU_C;
}

const char *pnv_cpu_name(PnvCpu cpu)
{
    static const char *const names[] = {"auto", "c", "avx2", "avx512", "neon"};

    return (unsigned)cpu < sizeof names / sizeof *names ? names[cpu] : "unknown";
}
