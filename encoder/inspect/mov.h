/* SPDX-License-Identifier: GPL-2.0-or-later */
/**
 * @file mov.h
 * Finds the ProRes frames of a file: QuickTime and MP4 by their tables, fragmented files too, and bare frames one after
 * another. Trusts no number of the file: memory is bounded by the size of the file, and work by its bytes.
 */
#ifndef PNV_MOV_H
#define PNV_MOV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PNV_MOV_ERROR_BYTES 256

/** Bytes that can be read at any place. */
typedef struct PnvSource {
    uint64_t size;
    void *opaque;
    /** Read n bytes at offset; offset + n is at most size. Returns false when that failed. */
    bool (*read)(void *opaque, uint64_t offset, void *buffer, size_t n);
} PnvSource;

/** A source of size bytes in memory, which stay the caller's. */
PnvSource pnv_source_memory(const void *data, size_t size);

typedef struct PnvMovSample {
    uint64_t offset; /**< In the file. */
    uint32_t size;   /**< By the container; offset + size may lie behind the end of a cut file. */
} PnvMovSample;

/** What the container says of its first ProRes track. */
typedef struct PnvMov {
    bool bare;       /**< No container: frames one after another. All below but the samples is 0. */
    bool fragmented; /**< Samples come from moof boxes. */
    int n_tracks;    /**< ProRes tracks in the file; the first one is read. */

    char fourcc[5];
    int width, height, depth; /**< Of the sample entry. */
    char compressor[33];      /**< Compressor name of the sample entry. */
    char colr_type[5];        /**< "nclc" or "nclx"; "" without colr. */
    int colr[3];              /**< Primaries, transfer, matrix. */
    int fiel_count, fiel_detail; /**< 0, 0 without fiel. */
    uint32_t pasp_h, pasp_v;     /**< 0, 0 without pasp. */

    uint32_t timescale;   /**< Ticks of a second; 0 if unknown. */
    uint64_t duration;    /**< Of all samples, in ticks. */
    uint64_t n_durations; /**< Samples that have a duration. */
    uint32_t min_delta, max_delta; /**< Durations of all samples but the last one; its own if it is the only one. */
    uint32_t last_delta;

    PnvMovSample *samples;
    uint32_t n_samples;
    uint32_t samples_allocated;
    uint64_t sample_bytes; /**< Of all samples, as far as they lie in the file. */
} PnvMov;

/**
 * Read the tables.
 *
 * @param[out] mov   to be closed with pnv_mov_close(), also after a failure.
 * @param[out] error room for PNV_MOV_ERROR_BYTES: on failure, what cannot be read and why.
 */
bool pnv_mov_open(PnvMov *mov, const PnvSource *source, char *error);

/** Free the samples and zero the struct. */
void pnv_mov_close(PnvMov *mov);

/**
 * Frames per second.
 *
 * @return 0 if the container names no durations, or durations that differ by more than one tick.
 */
double pnv_mov_frame_rate(const PnvMov *mov);

#endif
