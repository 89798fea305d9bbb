/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/* Launch wrappers of the kernels, and what host and device agree on. Each wrapper enqueues and returns: launch errors
 * come back from it, errors of execution from the slot's event. */
#ifndef PNV_CUDA_KERNELS_H
#define PNV_CUDA_KERNELS_H

#include <cuda_runtime_api.h>

#include "convert.h"
#include "layout.h"
#include "quant.h"
#include "rate.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a unit at the last even and the last odd quantizer it was measured at: the border of rate.h moves between
 * two neighbours. 0 in quantizer: not measured. */
typedef struct PnvCudaUnit {
    uint16_t bytes[2];
    uint8_t quantizer[2];
} PnvCudaUnit;

/** Where a frame stands. */
typedef enum PnvCudaStep {
    PNV_CUDA_FIXED = 0, /**< Coded at the constant quantizer, which no maximum forbids (so far). */
    PNV_CUDA_CODE,      /**< As PnvRateStep. */
    PNV_CUDA_DONE
} PnvCudaStep;

/** A frame's state in device memory, all zero when its work begins. */
typedef struct PnvCudaState {
    PnvRate rate;
    int32_t step;        /**< PnvCudaStep */
    int32_t is_complete; /**< Sizes are final and fit: the frame can be written. */
    uint32_t frame_bytes;
    uint32_t n_coded;    /**< Slices measured, repeats counted. */
} PnvCudaState;

/** What the host learns, in mapped memory. */
typedef struct PnvCudaResult {
    int32_t step;         /**< Neither fixed nor done: more rounds are needed. */
    int32_t is_complete;  /**< 0 with a final step: frame_bytes are more than the capacity. */
    uint32_t frame_bytes; /**< Valid with a final step. */
    uint32_t alpha_bytes;
    int64_t position;     /**< Of rate.h, where step is done. */
    int32_t n_sample_rounds;
    uint32_t n_coded;
} PnvCudaResult;

/** All that the kernels need to know of one frame. Passed by value. */
typedef struct PnvCudaFrame {
    PnvPlane plane[2][4];     /**< Components of each picture, in device memory. */
    uint8_t has_pairs[2][4];  /**< Two samples of a row from an even column on can be loaded as one aligned word. */
    int64_t full_gain[2];     /**< pnv_sample_full_gain() of luma and chroma, for full range. */
    PnvConversion conversion;
    PnvChromaGrid chroma_grid[2];
    PnvGrid grid[2];
    int n_pictures, n_slices;
    int chroma, alpha_bits, rounding; /**< PnvChroma, bits, PnvRounding */
    int quantizer, first_quantizer;   /**< The constant one; that of the first entry of d_quant. */
    uint8_t scan_inverse[64];         /**< Scan position of each raster position. */
    uint16_t reciprocal[2][64];       /**< For the histogram: luma, chroma. */

    /* what is given of a search */
    int min_quantizer, max_quantizer, rank_multiplier;
    int is_target;        /**< Searches from the start, else only where the constant quantizer passes the maximum. */
    int64_t target_bytes; /**< As in the plan. */
    uint32_t max_frame_bytes;

    const PnvQuantStep *d_quant; /**< [quantizer - first_quantizer][luma, chroma][64] */
    const uint8_t *d_headers;    /**< PNV_FRAME_START_BYTES and a picture header for each picture, sizes 0. */
    int16_t *d_coef;             /**< Slices in coding order, their units one behind the other. */
    PnvCudaState *d_state;
    PnvCudaUnit *d_units;        /**< [n_slices][3] */
    uint16_t *d_alpha_bytes;     /**< [n_slices] */
    uint32_t *d_offset;          /**< [n_slices] where slices begin in the frame */
    uint8_t *d_frame;            /**< 16-byte aligned */
    uint32_t capacity;           /**< Of d_frame and of m_frame, a multiple of 16. */
    uint8_t *m_frame;            /**< Device's address of pinned host memory, 16-byte aligned. */
    PnvCudaResult *m_result;     /**< Likewise. */
} PnvCudaFrame;

/**
 * For timing: where it is set, the pipeline calls it after it queued a stage, with the stage's name, so that events can
 * be recorded in between. Set it while no encoder works.
 */
extern void (*pnv_cuda_trace)(const char *stage, cudaStream_t stream);

/** Planes -> coefficients. */
cudaError_t pnv_cuda_transform(const PnvCudaFrame *frame, cudaStream_t stream);

/** Sizes of the alpha units -> d_alpha_bytes. Nothing without alpha. */
cudaError_t pnv_cuda_alpha_measure(const PnvCudaFrame *frame, cudaStream_t stream);

/** The alpha units into d_frame. Nothing without alpha. */
cudaError_t pnv_cuda_alpha_write(const PnvCudaFrame *frame, cudaStream_t stream);

/** Sizes of the units that the frame's step asks for -> d_units. */
cudaError_t pnv_cuda_entropy_measure(const PnvCudaFrame *frame, cudaStream_t stream);

/** The colour units into d_frame, where the frame is complete. */
cudaError_t pnv_cuda_entropy_write(const PnvCudaFrame *frame, cudaStream_t stream);

/** Histograms of a frame that may be searched for. */
cudaError_t pnv_cuda_rate_histogram(const PnvCudaFrame *frame, cudaStream_t stream);

/** What comes after the sizes at hand: begin the search, or its next step. Nothing where it is done. */
cudaError_t pnv_cuda_rate_decide(const PnvCudaFrame *frame, cudaStream_t stream);

/** Sizes -> places, headers and slice tables in d_frame, and the result. */
cudaError_t pnv_cuda_layout(const PnvCudaFrame *frame, cudaStream_t stream);

/** d_frame -> m_frame, exactly its bytes, rounded up to 16. */
cudaError_t pnv_cuda_layout_deliver(const PnvCudaFrame *frame, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
