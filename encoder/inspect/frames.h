/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the frames of a file on several threads and hands the results on in order. */
#ifndef PNV_INSPECT_FRAMES_H
#define PNV_INSPECT_FRAMES_H

#include "compare.h"
#include "mov.h"
#include "reader.h"

#define PNV_FRAMES_ERROR_BYTES 256
#define PNV_MAX_READER_THREADS 256

/** What there is to know of one frame. */
typedef struct PnvFrameResult {
    uint32_t index;  /**< In the file, from 0. */
    uint64_t offset; /**< Of the frame in the file. */
    uint32_t size;   /**< Bytes of the sample. */
    PnvReaderFrame frame; /**< Without its slices. */

    PnvFinding *findings; /**< Those kept: at most keep_findings of each code. */
    uint32_t n_findings, findings_allocated;
    uint32_t n_found[PNV_N_FINDING_CODES]; /**< All of them, the container's included. */

    uint32_t quantizers[256]; /**< Slices of each quantization_index. */
    uint32_t n_slices;
    PnvComparison comparison;

    char *dump; /**< With the dump flag: text of n bytes. */
    size_t dump_bytes;
    const char *error; /**< NULL, or why the frame could not be read; a constant text. */
} PnvFrameResult;

typedef struct PnvFramesJob {
    const PnvSource *source;
    const PnvMov *mov;
    uint32_t first, n;      /**< Frames of the file to read. */
    int threads;            /**< 1..PNV_MAX_READER_THREADS */
    uint32_t keep_findings; /**< Most findings of a code kept of a frame. */
    bool dump;              /**< Write the fields and slices of each frame as text. */

    const PnvSource *raw; /**< Raw video to compare with, frame by frame; NULL: none. */
    PnvRawFormat raw_format;

    /** Receives every result, in order, on the thread that called; the result is valid during the call. */
    void (*consume)(void *opaque, const PnvFrameResult *result);
    void *opaque;
} PnvFramesJob;

/**
 * Read all frames of a job.
 *
 * @param[out] error room for PNV_FRAMES_ERROR_BYTES.
 * @return false when threads or memory ran out; the results consumed before are good.
 */
bool pnv_frames_run(const PnvFramesJob *job, char *error);

#endif
