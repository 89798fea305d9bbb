/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/*
 * Twin of quant.c, in registers on the way into entropy.cu: coefficients never come back as levels to device memory. A
 * thread has 16 coefficients that follow each other in coding order.
 */
#ifndef PNV_CUDA_QUANT_CUH
#define PNV_CUDA_QUANT_CUH

#include "bits.cuh"

#include <stdlib.h>

#include "optimal.h"

enum { OWN = 16, MAX_UNIT = 64 * PNV_MAX_BLOCKS, STEP_WORDS = 64 * sizeof(PnvQuantStep) / 4 };

static_assert(64 * sizeof(PnvQuantStep) % 4 == 0 && MAX_UNIT == OWN * UNIT_THREADS, "a unit's share of a thread");

/** Codebooks by the state that selects them: shared memory answers any mix of states without conflicts. */
struct Books {
    PnvCodebook dc[PNV_DC_STATES], run[PNV_RUN_STATES], level[PNV_LEVEL_STATES];
};

/** Bit j: whether coefficient j of the thread is small (quant.h). */
static __device__ __forceinline__ unsigned small_mask(const int16_t c[OWN], int first, int log2_blocks,
                                                      const PnvQuantStep *step)
{
    unsigned mask = 0;

#pragma unroll
    for (int j = 0; j < OWN; j++) {
        const int position = (first + j) >> log2_blocks;
        mask |= (unsigned)(abs(c[j]) < step[position].small) << j;
    }
    return mask;
}

/** The levels of a thread's coefficients, nearest or by the dead zone; all threads of the block call it. */
template <int ROUNDING>
static __device__ __forceinline__ void quantize(int16_t level[OWN], const int16_t c[OWN], int n, int log2_blocks,
                                                const PnvQuantStep *step, uint16_t masks[UNIT_THREADS])
{
    const int thread = (int)threadIdx.x, first = OWN * thread, is_own = first < n;
    unsigned window = 0; /* bit j + 2: coefficient j is small */

    if (ROUNDING == PNV_ROUNDING_DEAD_ZONE) {
        if (is_own)
            masks[thread] = (uint16_t)small_mask(c, first, log2_blocks, step);
        __syncthreads();
        if (is_own) {
            const unsigned before = thread ? masks[thread - 1] : 0, behind = first + OWN < n ? masks[thread + 1] : 3;
            window = before >> 14 | (unsigned)masks[thread] << 2 | (behind & 3) << 18;
        }
    }
    if (!is_own)
        return;
#pragma unroll
    for (int j = 0; j < OWN; j++) {
        const int position = (first + j) >> log2_blocks;
        const PnvQuantStep &s = step[position];
        if (ROUNDING != PNV_ROUNDING_DEAD_ZONE) {
            level[j] = pnv_quant_level(c[j], s.bias, &s);
        } else {
            const int n_small = __popc(window >> j & 27); /* two on either side: bits 0, 1, 3, 4 */
            level[j] = abs(c[j]) < s.threshold[n_small] ? (int16_t)0 : pnv_quant_level(c[j], s.zone_bias, &s);
        }
    }
}

/** What weighing needs: the whole unit, since it goes from level to level. */
struct WeighRoom {
    __align__(16) int16_t coef[MAX_UNIT];
    __align__(16) int16_t level[MAX_UNIT];
};

/** Weigh nearest levels against their bits: one thread of the block walks, the others wait. */
static __device__ __forceinline__ void weigh(int16_t level[OWN], const int16_t c[OWN], int n, int log2_blocks,
                                             const PnvQuantStep *step, const Books *books, WeighRoom *room)
{
    const int is_own = OWN * (int)threadIdx.x < n;

    if (is_own) {
        store_own(room->coef, c);
        store_own(room->level, level);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const PnvOptimalBooks used = {books->run, books->level};
        pnv_optimal_weigh(room->level, room->coef, 1 << log2_blocks, step, &used);
    }
    __syncthreads();
    if (is_own)
        load_own(level, room->level);
}

#endif
