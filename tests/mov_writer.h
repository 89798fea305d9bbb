/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The least QuickTime file that decoders read, for tests that hand ProRes frames to a second judge. */
#ifndef MOV_WRITER_H
#define MOV_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What the file says of its frames. */
typedef struct MovWriterInfo {
    const char *fourcc; /**< "apco", "apcs", "apcn", "apch", "ap4h" or "ap4x". */
    int width, height;
    int fps_n, fps_d;     /**< Default 0/0: 25/1. */
    int depth;            /**< Of the sample entry. Default 0: 24. */
    const int *colr;      /**< Three codes of an nclc; NULL: no colr. */
    int fiel_count, fiel_detail; /**< 0: no fiel. */
    bool fragmented;      /**< One moof for each frame. */
} MovWriterInfo;

/**
 * Build a file in memory.
 *
 * @param frames n_frames pointers, sizes their bytes.
 * @param[out] size bytes of the result.
 * @return the file, to be freed with free(); NULL when memory runs out.
 */
uint8_t *mov_writer_build(const MovWriterInfo *info, const uint8_t *const *frames, const size_t *sizes, int n_frames,
                          size_t *size);

/** The same, written to path. Returns false when that failed. */
bool mov_writer_write(const char *path, const MovWriterInfo *info, const uint8_t *const *frames, const size_t *sizes,
                      int n_frames);

#endif
