/* SPDX-License-Identifier: GPL-2.0-or-later
 * As a special exception, the copyright holders give permission to link this program with the NVIDIA CUDA runtime
 * library and to distribute the result, also where that runtime is linked statically; the terms of the GPL apply to
 * everything else. */
/*
 * The CUDA backend: a ring of slots, each with a stream of its own, so that the upload of one frame, the kernels of
 * another and the way back of a third go on at once. docs/cuda.md tells the whole story. No CUDA header is needed here.
 */
#ifndef PNV_CUDA_PIPELINE_H
#define PNV_CUDA_PIPELINE_H

#include "backend.h"

/**
 * open fails with PNV_ENODEV and a text that tells a missing driver, one too old and a missing device apart, or with
 * PNV_ENOMEM. After open no frame is lost to CUDA: any of its errors moves the frames in flight and all later ones to
 * the CPU, whose bytes are the same, with one warning through the log.
 */
extern const PnvBackendOps pnv_backend_cuda;

/** Whether the automatic choice of a backend is to try CUDA for these frames. */
int pnv_cuda_is_worth_it(const PnvPlan *plan);

#endif
