/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file
 * Bank conflicts of shared memory, counted per kernel. Kernels compiled with hostcuda_banks_cpp_args report each access
 * (the compiler's instrumentation for ThreadSanitizer, with other ears); the accesses that lanes of a warp make at one
 * place in the program for the same time since the last barrier count as one instruction of the warp.
 *
 * An estimate: the GPU's compiler may keep in registers what this one reads again, or the other way round. Lanes that
 * a GPU runs apart (divergent loops met again later) count as together.
 *
 * PNV_HOSTCUDA_BANKS=file writes the table at exit; "-" is standard output.
 */
#ifndef HOSTCUDA_BANKS_H
#define HOSTCUDA_BANKS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HostcudaBanks {
    char kernel[64];
    unsigned long long accesses; /**< Instructions of a warp that touch shared memory. */
    unsigned long long passes;   /**< What they take at least: one for each 128 bytes that the lanes ask for. */
    unsigned long long extra;    /**< Further passes because lanes want different words of the same bank. */
    unsigned worst;              /**< The most lanes that had to queue at one bank in one pass. */
} HostcudaBanks;

/** Counts since the program started or the last hostcuda_banks_clear(), kernels in order of first use: how many there
 *  are; the first capacity of them are stored. */
unsigned hostcuda_banks(HostcudaBanks *banks, unsigned capacity);
void hostcuda_banks_clear(void);

#ifdef __cplusplus
}
#endif
#endif
