/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/*
 * Twin of fetch.c, convert.c and transform.c: planes -> coefficients in coding order. Integer arithmetic of dct.h and
 * convert.h, so equal bits.
 *
 * A block of threads takes 32 DCT blocks of a slice: all of luma, or of one 4:4:4 chroma unit, or both chroma units of
 * 4:2:2. Columns: a thread loads two of them, eight 4-byte loads that a warp makes 128 bytes wide each, all in flight
 * before the first is used. Rows: lane = block, warp = row, so that what a warp stores at one scan position is
 * contiguous. In between lies shared memory with rows of 36 words: both sides use all banks without conflicts.
 *
 * Of input that is packed or converted the block of threads first makes the unit's samples in shared memory, where the
 * columns are loaded from: a warp takes a row, a lane a sample. What filters work on, the window of convert.h, is
 * staged in shared memory as well, so that each sample of the input is unpacked, and brought to another model, once.
 */
#include "place.cuh"

#include "dct.h"

enum {
    THREADS = 128,
    WARPS = THREADS / 32,
    MAX_BLOCKS = 32,
    BLOCK_WORDS = 36,
    PAIRS = 4,
    /* Samples from a row to the next. 66 words: eight rows further down, where the block below begins, are 16 banks. */
    STAGE_STRIDE = 132,
    SECOND = 64 /* column of the second unit, where two lie side by side */
};

/** What becomes of the input's planes before the DCT. */
enum Input {
    INPUT_PLAIN,   /**< Loaded as they lie. */
    INPUT_PACKED,  /**< Each sample unpacked, or made of those of R, G and B. */
    INPUT_FILTERED /**< Chroma interpolated or decimated besides. */
};

/** Shared memory of a block of threads, by Input. */
template <Input INPUT> struct Room {
    uint16_t stage[16 * STAGE_STRIDE]; /**< Samples of the unit, or of both, int16_t each. */
    uint32_t columns[MAX_BLOCKS * BLOCK_WORDS];
};

template <> struct Room<INPUT_PLAIN> {
    uint32_t columns[MAX_BLOCKS * BLOCK_WORDS];
};

template <> struct Room<INPUT_FILTERED> {
    uint16_t stage[16 * STAGE_STRIDE];
    union { /* windows have served when columns are made */
        uint16_t window[2][PNV_CONVERT_WINDOW_HEIGHT * PNV_CONVERT_WINDOW_WIDTH];
        uint32_t columns[MAX_BLOCKS * BLOCK_WORDS];
    };
};

/** A DCT block of the slice. */
struct BlockPlace {
    int c;        /**< Component. */
    int n_blocks; /**< Of its unit. */
    int index;    /**< In its unit. */
    int x, y;     /**< Of its first sample in the unit. */
};

static __device__ __forceinline__ BlockPlace block_place(const PnvCudaFrame &f, int part, int n_mb, int b)
{
    const int per_mb = blocks_per_mb(f, part), n = per_mb * n_mb, is_second = b >= n; /* Cr of 4:2:2 */
    BlockPlace place = {part + is_second, n, b - is_second * n, 0, 0};
    const int mb = place.index / per_mb, sub = place.index % per_mb;
    /* down the columns in chroma, along the rows in luma */
    const int right = part ? sub >> 1 : sub & 1, down = part ? sub & 1 : sub >> 1;

    place.x = mb * (per_mb == 2 ? 8 : 16) + 8 * right;
    place.y = 8 * down;
    return place;
}

static __device__ __forceinline__ int clamp_to(int at, int size)
{
    return at < size ? at : size - 1;
}

/** Two neighbouring columns of a plain plane: sample rows 0..7 at in[2 * row], in[2 * row + 1]. Edges repeat. */
static __device__ __forceinline__ void load_columns(int16_t in[16], const PnvPlane &plane, int has_pairs,
                                                    int64_t full_gain, int x, int y)
{
    const int depth = plane.depth, mask = (1 << depth) - 1;
    int s[16];

    if (has_pairs && x + 1 < plane.width) {
#pragma unroll
        for (int r = 0; r < 8; r++) {
            const uint8_t *at = plane.data + clamp_to(y + r, plane.height) * plane.stride;
            if (depth == 8) {
                const unsigned two = ((const uint16_t *)at)[x >> 1];
                s[2 * r] = (int)(two & 0xff);
                s[2 * r + 1] = (int)(two >> 8);
            } else {
                const uint32_t two = ((const uint32_t *)at)[x >> 1];
                s[2 * r] = (int)(two & 0xffff) & mask;
                s[2 * r + 1] = (int)(two >> 16) & mask;
            }
        }
    } else {
        const int x0 = clamp_to(x, plane.width), x1 = clamp_to(x + 1, plane.width);
#pragma unroll
        for (int r = 0; r < 8; r++) {
            const uint8_t *at = plane.data + clamp_to(y + r, plane.height) * plane.stride;
            s[2 * r] = depth == 8 ? at[x0] : ((const uint16_t *)at)[x0] & mask;
            s[2 * r + 1] = depth == 8 ? at[x1] : ((const uint16_t *)at)[x1] & mask;
        }
    }
#pragma unroll
    for (int i = 0; i < 16; i++)
        in[i] = pnv_fetch_sample(s[i], depth, plane.range, full_gain);
}

/** The same of samples that are staged; at is the first. */
static __device__ __forceinline__ void take_columns(int16_t in[16], const uint16_t *at)
{
#pragma unroll
    for (int r = 0; r < 8; r++) {
        const uint32_t two = *(const uint32_t *)(at + r * STAGE_STRIDE);
        in[2 * r] = (int16_t)two;
        in[2 * r + 1] = (int16_t)(two >> 16);
    }
}

/** A unit in the plane of its component. */
struct UnitPlace {
    int picture, c, x, y, width;
};

static __device__ __forceinline__ PnvConvertWindow unit_window(const PnvCudaFrame &f, const UnitPlace &unit)
{
    return pnv_convert_window(&f.conversion, &f.chroma_grid[unit.picture], unit.c, unit.x, unit.y, unit.width);
}

/** A unit's window, with which an unfiltered unit is complete: all threads of the block, and none waits. */
static __device__ __forceinline__ void stage_window(uint16_t *window, int stride, const PnvCudaFrame &f,
                                                    const UnitPlace &unit)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const PnvConvertWindow w = unit_window(f, unit);

    for (int y = warp; y < w.height; y += WARPS) {
        for (int x = lane; x < w.width; x += 32)
            window[y * stride + x] = pnv_convert_source(&f.conversion, f.plane[unit.picture], f.full_gain[unit.c > 0],
                                                        unit.c, w.x + x, w.y + y);
    }
}

/** The samples of a filtered unit from its window, likewise. */
static __device__ __forceinline__ void stage_filtered(uint16_t *stage, const uint16_t *window, const PnvCudaFrame &f,
                                                      const UnitPlace &unit)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const PnvConvertWindow w = unit_window(f, unit);
    const int depth = pnv_convert_depth(&f.plane[unit.picture][unit.c]), height = f.plane[unit.picture][0].height;

#pragma unroll 1
    for (int y = warp; y < 16; y += WARPS) {
#pragma unroll 1
        for (int i = lane; i < unit.width; i += 32) {
            /* even columns, then odd ones: where they are made otherwise, no warp has to do both */
            const int x = 2 * i < unit.width ? 2 * i : 2 * i - unit.width + 1;
            stage[y * STAGE_STRIDE + x] = (uint16_t)
                pnv_convert_sample(&f.conversion, &f.chroma_grid[unit.picture], &w, window, PNV_CONVERT_WINDOW_WIDTH,
                                   depth, unit.x + x, unit.y + y, height);
        }
    }
}

/** Samples of a part of the slice in shared memory, for all threads of the block. */
template <Input INPUT>
static __device__ __forceinline__ void stage_part(Room<INPUT> &room, const PnvCudaFrame &f, const SlicePlace &at,
                                                  int part)
{
    const int n_units = blocks_per_mb(f, part) == 2 ? 2 : 1, mb_width = n_units == 2 ? 8 : 16;
    UnitPlace unit = {at.picture, part, at.span.mb_x * mb_width, 16 * at.mb_y, at.span.n_mb * mb_width};

    if constexpr (INPUT == INPUT_FILTERED) {
        if (part) {
            for (int i = 0; i < n_units; i++, unit.c++)
                stage_window(room.window[i], PNV_CONVERT_WINDOW_WIDTH, f, unit);
            __syncthreads();
            unit.c = part;
            for (int i = 0; i < n_units; i++, unit.c++)
                stage_filtered(room.stage + i * SECOND, room.window[i], f, unit);
            __syncthreads();
            return;
        }
    }
    for (int i = 0; i < n_units; i++, unit.c++)
        stage_window(room.stage + i * SECOND, STAGE_STRIDE, f, unit);
    __syncthreads();
}

static __device__ __forceinline__ uint32_t two_words(int16_t low, int16_t high)
{
    return (uint32_t)(uint16_t)low | (uint32_t)(uint16_t)high << 16;
}

/* With six blocks on a multiprocessor in mind ptxas spills nothing; of what is not plain it would for more. */
template <Input INPUT>
static __global__ void __launch_bounds__(THREADS, INPUT == INPUT_PLAIN ? 0 : 6)
    transform_kernel(const __grid_constant__ PnvCudaFrame f)
{
    __shared__ __align__(16) Room<INPUT> room;
    const SlicePlace at = slice_place(f, (int)blockIdx.x);
    const int part = (int)blockIdx.y, thread = (int)threadIdx.x, n_mb = at.span.n_mb, n = 4 * n_mb;

    if constexpr (INPUT != INPUT_PLAIN)
        stage_part(room, f, at, part);
    if (thread / PAIRS < n) {
        const int b = thread / PAIRS, pair = thread % PAIRS;
        const BlockPlace block = block_place(f, part, n_mb, b);
        int16_t in[16], out[16];

        if constexpr (INPUT == INPUT_PLAIN)
            load_columns(in, f.plane[at.picture][block.c], f.has_pairs[at.picture][block.c], f.full_gain[block.c > 0],
                         at.span.mb_x * (block.n_blocks < n ? 8 : 16) + block.x + 2 * pair, 16 * at.mb_y + block.y);
        else
            take_columns(in, room.stage + block.y * STAGE_STRIDE + (block.c != part) * SECOND + block.x + 2 * pair);
        pnv_dct_column(out, 2, in, 2);
        pnv_dct_column(out + 1, 2, in + 1, 2);
#pragma unroll
        for (int v = 0; v < 8; v++)
            room.columns[b * BLOCK_WORDS + v * PAIRS + pair] = two_words(out[2 * v], out[2 * v + 1]);
    }
    __syncthreads();

    const int b = thread % MAX_BLOCKS;
    if (b >= n)
        return;
    const BlockPlace block = block_place(f, part, n_mb, b);
    int16_t *coef = unit_coef(f, at, block.c) + block.index;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int v = thread / MAX_BLOCKS + 4 * half;
        const uint4 words = *(const uint4 *)&room.columns[b * BLOCK_WORDS + v * PAIRS];
        const int16_t in[8] = {(int16_t)words.x, (int16_t)(words.x >> 16), (int16_t)words.y, (int16_t)(words.y >> 16),
                               (int16_t)words.z, (int16_t)(words.z >> 16), (int16_t)words.w, (int16_t)(words.w >> 16)};
        int16_t out[8];
        pnv_dct_row(out, in);
#pragma unroll
        for (int u = 0; u < 8; u++)
            coef[f.scan_inverse[8 * v + u] * block.n_blocks] = out[u];
    }
}

static Input input_of(const PnvCudaFrame *f)
{
    if (pnv_convert_filters(&f->conversion, 1))
        return INPUT_FILTERED;
    for (int i = 0; i < f->n_pictures; i++) {
        for (int c = 0; c < 3; c++) {
            if (!pnv_plane_is_plain(&f->plane[i][c]))
                return INPUT_PACKED;
        }
    }
    return f->conversion.is_rgb ? INPUT_PACKED : INPUT_PLAIN;
}

extern "C" cudaError_t pnv_cuda_transform(const PnvCudaFrame *frame, cudaStream_t stream)
{
    const unsigned parts = frame->chroma == PNV_CHROMA_422 ? 2 : 3;
    const cudaLaunchConfig_t config = launch_config(dim3((unsigned)frame->n_slices, parts), THREADS, stream);

    switch (input_of(frame)) {
    case INPUT_PLAIN:
        return cudaLaunchKernelEx(&config, transform_kernel<INPUT_PLAIN>, *frame);
    case INPUT_PACKED:
        return cudaLaunchKernelEx(&config, transform_kernel<INPUT_PACKED>, *frame);
    default:
        return cudaLaunchKernelEx(&config, transform_kernel<INPUT_FILTERED>, *frame);
    }
}
