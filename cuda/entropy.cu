/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/*
 * Twin of entropy.c: a block of threads codes a unit. Nothing in a unit is serial but the bit position: the nonzero
 * levels are listed in order (prefix sum of their counts), each symbol finds the state of its codebooks in the list's
 * entries in front of it, lengths are summed, and codes are merged in shared memory and stored in whole words.
 *
 * The same kernel measures: sizes come first, then everything is written where it finally belongs. Coding twice costs
 * arithmetic only, and spares device memory for the worst case and a pass over it.
 */
#include "quant.cuh"

enum { MAX_SYMBOLS = 63 * PNV_MAX_BLOCKS, MAX_WORDS = (1730 * PNV_MAX_BLOCKS + 31) / 32 };

/** A unit as a list. */
struct Unit {
    uint32_t ac[MAX_SYMBOLS]; /**< Nonzero AC levels: place in the AC sequence << 16 | level. */
    int16_t dc[PNV_MAX_BLOCKS];
};

static __device__ void load_books(Books *books)
{
    const PnvCodebook dc[] = PNV_CODEBOOKS_DC, run[] = PNV_CODEBOOKS_RUN, level[] = PNV_CODEBOOKS_LEVEL;

#pragma unroll
    for (unsigned i = 0; i < PNV_RUN_STATES; i++) {
        if (threadIdx.x != i)
            continue;
        books->run[i] = run[i];
        if (i < PNV_DC_STATES)
            books->dc[i] = dc[i];
        if (i < PNV_LEVEL_STATES)
            books->level[i] = level[i];
    }
}

static __device__ __forceinline__ int place_of(uint32_t ac)
{
    return (int)(ac >> 16);
}

static __device__ __forceinline__ int magnitude_of(uint32_t ac)
{
    return abs((int16_t)(ac & 0xffff));
}

static __device__ __forceinline__ PnvCode dc_code(const Unit *u, const Books *books, int b)
{
    const PnvCodebook first = PNV_CODEBOOK_DC_FIRST;

    if (!b)
        return pnv_code(first, pnv_fold_sign(u->dc[0]));
    const int diff = u->dc[b] - u->dc[b - 1], previous = b > 1 ? u->dc[b - 1] - u->dc[b - 2] : PNV_INITIAL_DC_DIFF;
    const int state = abs(previous) < PNV_DC_STATES ? abs(previous) : PNV_DC_STATES - 1;
    return pnv_code(books->dc[state], pnv_fold_sign(previous < 0 ? -diff : diff));
}

/** Codes of nonzero level i: its run, then its magnitude and sign. */
static __device__ __forceinline__ void ac_codes(PnvCode *run_code, PnvCode *level_code, const Unit *u,
                                                const Books *books, int i)
{
    const uint32_t it = u->ac[i];
    int before = -1, previous_run = PNV_INITIAL_RUN, previous_level = PNV_INITIAL_LEVEL;

    if (i) {
        before = place_of(u->ac[i - 1]);
        previous_level = magnitude_of(u->ac[i - 1]) - 1;
        previous_run = before - 1 - (i > 1 ? place_of(u->ac[i - 2]) : -1);
    }
    const int run_state = previous_run < PNV_RUN_STATES ? previous_run : PNV_RUN_STATES - 1;
    const int level_state = previous_level < PNV_LEVEL_STATES ? previous_level : PNV_LEVEL_STATES - 1;
    const PnvCode level = pnv_code(books->level[level_state], (uint32_t)(magnitude_of(it) - 1));

    *run_code = pnv_code(books->run[run_state], (uint32_t)(place_of(it) - before - 1));
    level_code->bits = level.bits << 1 | (it >> 15 & 1);
    level_code->length = level.length + 1;
}

/** The quantizer that unit c of slice k is to be coded at; 0: nothing is to be done. */
template <bool WRITES>
static __device__ int wanted_quantizer(const PnvCudaFrame &f, int k, int c)
{
    const PnvCudaState *state = f.d_state;
    int quantizer;

    if (WRITES && !state->is_complete)
        return 0;
    switch (state->step) {
    case PNV_CUDA_FIXED:
        return f.quantizer;
    case PNV_CUDA_CODE:
        quantizer = pnv_rate_rank(&state->rate, k) < state->rate.n_wanted ? pnv_rate_quantizer(&state->rate, k) : 0;
        break;
    default:
        return WRITES ? pnv_rate_quantizer(&state->rate, k) : 0;
    }
    return f.d_units[3 * k + c].quantizer[quantizer & 1] == quantizer ? 0 : quantizer;
}

/** Where unit c of slice k begins in the frame. */
static __device__ __forceinline__ uint8_t *unit_in_frame(const PnvCudaFrame &f, int k, int c, int quantizer)
{
    uint8_t *at = f.d_frame + f.d_offset[k] + pnv_slice_header_bytes(f.alpha_bits);

    for (int i = 0; i < c; i++)
        at += f.d_units[3 * k + i].bytes[quantizer & 1];
    return at;
}

template <int ROUNDING, bool WRITES>
static __global__ void __launch_bounds__(UNIT_THREADS) entropy_kernel(const __grid_constant__ PnvCudaFrame f)
{
    __shared__ Unit unit;
    __shared__ Books books;
    __shared__ __align__(4) uint32_t step_words[STEP_WORDS];
    __shared__ uint32_t words[WRITES ? MAX_WORDS + 2 : 1];
    __shared__ WeighRoom weigh_room[1];
    __shared__ uint16_t masks[ROUNDING == PNV_ROUNDING_DEAD_ZONE ? UNIT_THREADS : 1];
    __shared__ unsigned sums[UNIT_WARPS];
    __shared__ int quantizer_of_unit;

    const int k = (int)blockIdx.x, c = (int)blockIdx.y, thread = (int)threadIdx.x;
    if (thread == 0)
        quantizer_of_unit = wanted_quantizer<WRITES>(f, k, c);
    __syncthreads();
    const int quantizer = quantizer_of_unit;
    if (!quantizer)
        return;

    const SlicePlace at = slice_place(f, k);
    const int n_blocks = at.span.n_mb * blocks_per_mb(f, c), log2_blocks = pnv_log2((unsigned)n_blocks);
    const int n = 64 * n_blocks, first = OWN * thread;
    const uint32_t *steps = (const uint32_t *)(f.d_quant + 64 * (2 * (quantizer - f.first_quantizer) + (c > 0)));
    for (int i = thread; i < STEP_WORDS; i += UNIT_THREADS)
        step_words[i] = steps[i];
    load_books(&books);
    __syncthreads();

    /* quantize */
    const PnvQuantStep *step = (const PnvQuantStep *)step_words;
    int16_t coef[OWN] = {0}, level[OWN] = {0};
    if (first < n) {
        const uint4 *from = (const uint4 *)(unit_coef(f, at, c) + first);
        const uint4 low = from[0], high = from[1];
        const uint32_t pairs[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int j = 0; j < OWN; j++)
            coef[j] = (int16_t)(pairs[j / 2] >> (16 * (j % 2)));
    }
    quantize<ROUNDING>(level, coef, n, log2_blocks, step, masks);
    if (ROUNDING == PNV_ROUNDING_OPTIMAL)
        weigh(level, coef, n, log2_blocks, step, &books, weigh_room);

    /* list */
    unsigned nonzero = 0;
#pragma unroll
    for (int j = 0; j < OWN; j++) {
        if (first + j >= n_blocks)
            nonzero |= (unsigned)(level[j] != 0) << j;
        else
            unit.dc[first + j] = level[j];
    }
    unsigned n_ac;
    unsigned place = sum_before((unsigned)__popc(nonzero), &n_ac, sums);
#pragma unroll
    for (int j = 0; j < OWN; j++) {
        if (nonzero >> j & 1)
            unit.ac[place++] = (uint32_t)(first + j - n_blocks) << 16 | (uint16_t)level[j];
    }
    if (WRITES) {
        /* every word that can be touched: 1730 bits a block is the most, and far more than most units have */
        for (unsigned i = (unsigned)thread; i < MAX_WORDS + 2; i += UNIT_THREADS)
            words[i] = 0;
    }
    __syncthreads();

    /* measure: a thread has neighbouring symbols, DC first */
    const int n_symbols = n_blocks + (int)n_ac, per_thread = (n_symbols + UNIT_THREADS - 1) / UNIT_THREADS;
    const int begin = per_thread * thread, end = begin + per_thread < n_symbols ? begin + per_thread : n_symbols;
    unsigned n_bits = 0, total;
    for (int i = begin; i < end; i++) {
        if (i < n_blocks) {
            n_bits += (unsigned)dc_code(&unit, &books, i).length;
        } else {
            PnvCode run, level_code;
            ac_codes(&run, &level_code, &unit, &books, i - n_blocks);
            n_bits += (unsigned)(run.length + level_code.length);
        }
    }
    const unsigned bit = sum_before(n_bits, &total, sums);
    const unsigned n_bytes = (total + 7) / 8;
    if (!WRITES) {
        if (thread == 0) {
            PnvCudaUnit *size = &f.d_units[3 * k + c];
            size->bytes[quantizer & 1] = (uint16_t)n_bytes;
            size->quantizer[quantizer & 1] = (uint8_t)quantizer;
            if (!c)
                atomicAdd(&f.d_state->n_coded, 1u); /* a statistic; no byte depends on it */
        }
        return;
    }

    /* write */
    BitWriter w = bits_begin(words, bit);
    for (int i = begin; i < end; i++) {
        if (i < n_blocks) {
            bits_put(&w, dc_code(&unit, &books, i));
        } else {
            PnvCode run, level_code;
            ac_codes(&run, &level_code, &unit, &books, i - n_blocks);
            bits_put(&w, run);
            bits_put(&w, level_code);
        }
    }
    bits_end(&w);
    __syncthreads();
    store_unit(unit_in_frame(f, k, c, quantizer), words, n_bytes);
}

template <bool WRITES> static cudaError_t launch_entropy(const PnvCudaFrame *frame, cudaStream_t stream)
{
    const cudaLaunchConfig_t config = launch_config(dim3((unsigned)frame->n_slices, 3), UNIT_THREADS, stream);

    switch (frame->rounding) {
    case PNV_ROUNDING_DEAD_ZONE:
        return cudaLaunchKernelEx(&config, entropy_kernel<PNV_ROUNDING_DEAD_ZONE, WRITES>, *frame);
    case PNV_ROUNDING_OPTIMAL:
        return cudaLaunchKernelEx(&config, entropy_kernel<PNV_ROUNDING_OPTIMAL, WRITES>, *frame);
    default:
        return cudaLaunchKernelEx(&config, entropy_kernel<PNV_ROUNDING_NEAREST, WRITES>, *frame);
    }
}

extern "C" cudaError_t pnv_cuda_entropy_measure(const PnvCudaFrame *frame, cudaStream_t stream)
{
    return launch_entropy<false>(frame, stream);
}

extern "C" cudaError_t pnv_cuda_entropy_write(const PnvCudaFrame *frame, cudaStream_t stream)
{
    return launch_entropy<true>(frame, stream);
}
