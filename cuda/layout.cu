/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/*
 * Twin of layout.c and of the layout in cpu.c: sizes -> places by prefix sums, headers, slice table. Then the finished
 * frame goes to the host's memory in aligned 16-byte stores.
 */
#include "place.cuh"

enum { LAYOUT_THREADS = 256, LAYOUT_WARPS = LAYOUT_THREADS / 32, DELIVER_THREADS = 256, DELIVER_BLOCKS = 32 };

static __device__ __forceinline__ void put_be16(uint8_t *dst, unsigned v)
{
    dst[0] = (uint8_t)(v >> 8);
    dst[1] = (uint8_t)v;
}

static __device__ __forceinline__ void put_be32(uint8_t *dst, uint32_t v)
{
    put_be16(dst, v >> 16);
    put_be16(dst + 2, v & 0xffff);
}

static __device__ __forceinline__ int final_quantizer(const PnvCudaFrame &f, int k)
{
    return f.d_state->step == PNV_CUDA_FIXED ? f.quantizer : pnv_rate_quantizer(&f.d_state->rate, k);
}

static __device__ __forceinline__ unsigned unit_bytes(const PnvCudaFrame &f, int k, int c, int quantizer)
{
    return f.d_units[3 * k + c].bytes[quantizer & 1];
}

static __device__ unsigned slice_bytes(const PnvCudaFrame &f, int k, int quantizer)
{
    unsigned bytes = (unsigned)pnv_slice_header_bytes(f.alpha_bits) + (f.alpha_bits ? f.d_alpha_bytes[k] : 0);

    for (int c = 0; c < 3; c++)
        bytes += unit_bytes(f, k, c, quantizer);
    return bytes;
}

/** Sum of the values of all threads before this one; the block's total. */
static __device__ uint32_t sum_before(uint32_t value, uint32_t *total, uint32_t room[LAYOUT_WARPS])
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t sum = value, before = 0, all = 0;

    for (unsigned d = 1; d < 32; d *= 2) {
        const uint32_t other = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d)
            sum += other;
    }
    if (lane == 31)
        room[warp] = sum;
    __syncthreads();
    for (unsigned w = 0; w < LAYOUT_WARPS; w++) {
        all += room[w];
        before += w < warp ? room[w] : 0;
    }
    __syncthreads();
    *total = all;
    return before + sum - value;
}

/** Bytes in front of the first slice of a picture, slices of pictures before it not counted. */
static __device__ __forceinline__ uint32_t overhead_before(const PnvCudaFrame &f, int picture)
{
    const uint32_t first = PNV_FRAME_START_BYTES + PNV_PICTURE_HEADER_BYTES + 2 * (uint32_t)f.grid[0].n_slices;
    return picture ? first + PNV_PICTURE_HEADER_BYTES + 2 * (uint32_t)f.grid[1].n_slices : first;
}

/** One block: a thread takes slices that follow each other. */
static __global__ void __launch_bounds__(LAYOUT_THREADS, 1) layout_kernel(const __grid_constant__ PnvCudaFrame f)
{
    __shared__ uint32_t sums[LAYOUT_WARPS], first_field;
    PnvCudaState *state = f.d_state;
    const int thread = (int)threadIdx.x, is_final = state->step == PNV_CUDA_FIXED || state->step == PNV_CUDA_DONE;

    if (!is_final) {
        if (thread == 0) {
            PnvCudaResult more = {};
            more.step = state->step;
            *f.m_result = more;
        }
        return;
    }
    const int per_thread = (f.n_slices + LAYOUT_THREADS - 1) / LAYOUT_THREADS, begin = per_thread * thread;
    const int end = begin + per_thread < f.n_slices ? begin + per_thread : f.n_slices;
    uint32_t bytes = 0, alpha_bytes = 0, total, total_alpha;
    for (int k = begin; k < end; k++) {
        bytes += slice_bytes(f, k, final_quantizer(f, k));
        alpha_bytes += f.alpha_bits ? f.d_alpha_bytes[k] : 0;
    }
    uint32_t at = sum_before(bytes, &total, sums);
    sum_before(alpha_bytes, &total_alpha, sums);

    const int n_first = f.grid[0].n_slices;
    const uint32_t overhead = overhead_before(f, f.n_pictures - 1), frame_bytes = overhead + total;
    const int is_complete = frame_bytes <= f.capacity;
    if (thread == 0) {
        first_field = total;
        state->is_complete = is_complete;
        state->frame_bytes = frame_bytes;
        PnvCudaResult result = {};
        result.step = state->step;
        result.is_complete = is_complete;
        result.frame_bytes = frame_bytes;
        result.alpha_bytes = total_alpha;
        result.position = state->rate.position;
        result.n_sample_rounds = state->rate.n_rounds;
        result.n_coded = state->n_coded;
        *f.m_result = result;
    }
    __syncthreads();
    if (!is_complete)
        return;

    for (int k = begin; k < end; k++) {
        const int picture = k >= n_first, quantizer = final_quantizer(f, k);
        const unsigned size = slice_bytes(f, k, quantizer);
        const uint32_t offset = overhead_before(f, picture) + at;
        uint8_t *header = f.d_frame + offset;
        uint8_t *table = f.d_frame + overhead_before(f, 0) - 2 * (size_t)n_first + 2 * (size_t)k;

        if (picture) { /* the table of the second picture stands behind the first one's slices */
            if (k == n_first)
                first_field = at;
        } else {
            put_be16(table, size);
        }
        f.d_offset[k] = offset;
        header[0] = (uint8_t)(pnv_slice_header_bytes(f.alpha_bits) << 3);
        header[1] = (uint8_t)quantizer;
        for (int c = 0; c < 2 + !!f.alpha_bits; c++)
            put_be16(header + 2 + 2 * c, unit_bytes(f, k, c, quantizer));
        at += size;
    }
    __syncthreads();
    const uint32_t first_bytes = first_field; /* of the slices of the first picture */
    uint8_t *second = f.d_frame + overhead_before(f, 0) + first_bytes;
    for (int k = begin > n_first ? begin : n_first; k < end; k++)
        put_be16(second + PNV_PICTURE_HEADER_BYTES + 2 * (size_t)(k - n_first), slice_bytes(f, k, final_quantizer(f, k)));

    /* headers: all but their sizes is ready */
    const uint8_t *ready = f.d_headers;
    for (int i = thread; i < PNV_FRAME_START_BYTES + PNV_PICTURE_HEADER_BYTES; i += LAYOUT_THREADS)
        f.d_frame[i] = ready[i];
    if (f.n_pictures == 2 && thread < PNV_PICTURE_HEADER_BYTES)
        second[thread] = ready[PNV_FRAME_START_BYTES + PNV_PICTURE_HEADER_BYTES + thread];
    __syncthreads();
    if (thread == 0) {
        put_be32(f.d_frame, frame_bytes);
        put_be32(f.d_frame + PNV_FRAME_START_BYTES + 1, PNV_PICTURE_HEADER_BYTES + 2 * (uint32_t)n_first + first_bytes);
        if (f.n_pictures == 2)
            put_be32(second + 1, PNV_PICTURE_HEADER_BYTES + 2 * (uint32_t)f.grid[1].n_slices + total - first_bytes);
    }
}

/* Stores to the host's memory cross the bus as they are: whole lines of a warp, from few blocks, which saturate it. */
static __global__ void __launch_bounds__(DELIVER_THREADS) deliver_kernel(const __grid_constant__ PnvCudaFrame f)
{
    const PnvCudaState *state = f.d_state;
    const uint4 *from = (const uint4 *)f.d_frame;
    uint4 *to = (uint4 *)f.m_frame;

    if (!state->is_complete)
        return;
    const uint32_t n = (state->frame_bytes + 15) / 16;
    for (uint32_t i = blockIdx.x * DELIVER_THREADS + threadIdx.x; i < n; i += gridDim.x * DELIVER_THREADS)
        to[i] = from[i];
}

extern "C" cudaError_t pnv_cuda_layout(const PnvCudaFrame *frame, cudaStream_t stream)
{
    const cudaLaunchConfig_t config = launch_config(dim3(1), LAYOUT_THREADS, stream);

    return cudaLaunchKernelEx(&config, layout_kernel, *frame);
}

extern "C" cudaError_t pnv_cuda_layout_deliver(const PnvCudaFrame *frame, cudaStream_t stream)
{
    const unsigned n = (frame->capacity / 16 + DELIVER_THREADS - 1) / DELIVER_THREADS; /* fewer for small frames */
    const cudaLaunchConfig_t config =
        launch_config(dim3(n < (unsigned)DELIVER_BLOCKS ? n : (unsigned)DELIVER_BLOCKS), DELIVER_THREADS, stream);

    return cudaLaunchKernelEx(&config, deliver_kernel, *frame);
}
