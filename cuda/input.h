/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/* A frame's planes in the memory of a slot: which bytes are copied where. */
#ifndef PNV_CUDA_INPUT_H
#define PNV_CUDA_INPUT_H

#include "plan.h"

/** Rows that are copied as they are: a component, or several that are packed together. */
typedef struct PnvCudaRegion {
    const uint8_t *from; /**< First byte of the picture's memory. */
    size_t stride;       /**< Of that. */
    size_t row_bytes, n_rows;
    size_t offset, pitch; /**< In the slot. */
    size_t gather_step, gather_bytes; /**< 0, or: samples, or words, that lie so far apart and are put side by side. */
    int is_pinned;        /**< The picture's memory is page-locked: the device reads it itself. */
} PnvCudaRegion;

typedef struct PnvCudaInput {
    PnvCudaRegion region[8];
    int n_regions;
    size_t bytes;           /**< Of all regions in the slot. */
    int is_whole;           /**< No region is to be gathered. */
    PnvPicture inside;      /**< The picture as it is in the slot, but for where its planes are: */
    size_t plane[2][4];     /**< Their offsets; [1] are the bottom fields where they are apart. */
} PnvCudaInput;

/** The picture in a slot's memory. */
PnvPicture pnv_cuda_input_inside(const PnvCudaInput *input, const uint8_t *slot);

/** Most bytes of any input that pnv_cuda_input_plan() can make. */
size_t pnv_cuda_input_bound(const PnvPlan *plan);

/** Where the planes of a picture go. They are not read. */
void pnv_cuda_input_plan(PnvCudaInput *input, const PnvPlan *plan, const PnvPicture *pic);

/** Copy rows first..end - 1 of a region to the slot's memory. */
void pnv_cuda_input_copy(uint8_t *slot, const PnvCudaRegion *region, size_t first, size_t end);

#endif
