/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/* What unit coders share: prefix sums over a block of threads, and bits merged in shared memory. */
#ifndef PNV_CUDA_BITS_CUH
#define PNV_CUDA_BITS_CUH

#include "place.cuh"

#include "codeword.h"

enum { UNIT_THREADS = 128, UNIT_WARPS = UNIT_THREADS / 32 };

/**
 * Sum of the values of all threads before this one. All threads of the block call it.
 *
 * @param room  shared, may be used again by the next call.
 * @param total of all threads.
 */
static __device__ __forceinline__ unsigned sum_before(unsigned value, unsigned *total, unsigned room[UNIT_WARPS])
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = value, before = 0, all = 0;

#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        const unsigned other = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d)
            sum += other;
    }
    if (lane == 31)
        room[warp] = sum;
    __syncthreads();
#pragma unroll
    for (unsigned w = 0; w < UNIT_WARPS; w++) {
        const unsigned n = room[w];
        all += n;
        if (w < warp)
            before += n;
    }
    __syncthreads();
    *total = all;
    return before + sum - value;
}

/**
 * Sixteen values of a thread, one thread's behind the other's in shared memory: two at once of eight, since one at a time,
 * eight words from a lane to the next, every fourth lane would want the same bank.
 */
template <typename T> static __device__ __forceinline__ void load_own(T own[16], const T *shared)
{
    const uint4 *from = (const uint4 *)(shared + 16 * threadIdx.x);
    const uint4 low = from[0], high = from[1];
    const uint32_t pairs[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};

    static_assert(sizeof(T) == 2, "halves of words");
#pragma unroll
    for (int j = 0; j < 16; j++)
        own[j] = (T)(pairs[j / 2] >> (16 * (j % 2)));
}

template <typename T> static __device__ __forceinline__ void store_own(T *shared, const T own[16])
{
    uint4 *to = (uint4 *)(shared + 16 * threadIdx.x);
    uint32_t pairs[8];

#pragma unroll
    for (int j = 0; j < 8; j++)
        pairs[j] = (uint32_t)(uint16_t)own[2 * j] | (uint32_t)(uint16_t)own[2 * j + 1] << 16;
    to[0] = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
    to[1] = make_uint4(pairs[4], pairs[5], pairs[6], pairs[7]);
}

/**
 * A thread's share of the unit's bits: words of 32, first bit highest, that threads merge by OR. Words are zero before
 * the first put; since no two threads set a bit, their order does not matter.
 */
struct BitWriter {
    uint32_t *word;
    uint64_t held; /**< The lowest n_held bits are not stored yet; zeros stand in front for the bits of others. */
    int n_held;    /**< 0..31 between calls */
};

static __device__ __forceinline__ BitWriter bits_begin(uint32_t *words, unsigned at)
{
    return {words + at / 32, 0, (int)(at % 32)};
}

static __device__ __forceinline__ void bits_put(BitWriter *w, PnvCode code)
{
    w->held = w->held << code.length | code.bits;
    w->n_held += code.length;
    if (w->n_held < 32)
        return;
    w->n_held -= 32;
    atomicOr(w->word++, (uint32_t)(w->held >> w->n_held));
}

static __device__ __forceinline__ void bits_end(BitWriter *w)
{
    if (w->n_held)
        atomicOr(w->word, (uint32_t)(w->held << (32 - w->n_held)));
}

static __device__ __forceinline__ uint32_t swap_bytes(uint32_t v)
{
    return v >> 24 | (v >> 8 & 0xff00) | (v << 8 & 0xff0000) | v << 24;
}

/**
 * All threads of the block store the first n_bytes of words to any address: whole aligned words where they are the
 * unit's own, bytes at its ends, whose words belong to neighbours as well. words[n_bytes / 4 + 1] is readable.
 */
static __device__ __forceinline__ void store_unit(uint8_t *dst, const uint32_t *words, unsigned n_bytes)
{
    const unsigned ahead = (unsigned)((uintptr_t)dst & 3), n_words = (ahead + n_bytes + 3) / 4;

    for (unsigned i = threadIdx.x; i < n_words; i += UNIT_THREADS) {
        const int first = (int)(4 * i) - (int)ahead; /* byte of the unit at the aligned word's beginning */
        if (first >= 0 && (unsigned)first + 4 <= n_bytes) {
            const unsigned k = (unsigned)first / 4, shift = 8 * ((unsigned)first & 3);
            const uint64_t two = (uint64_t)words[k] << 32 | words[k + 1];
            *(uint32_t *)(dst + first) = swap_bytes((uint32_t)(two >> (32 - shift)));
            continue;
        }
        for (int b = first < 0 ? 0 : first; b < first + 4 && b < (int)n_bytes; b++)
            dst[b] = (uint8_t)(words[b / 4] >> (24 - 8 * (b % 4)));
    }
}

#endif
