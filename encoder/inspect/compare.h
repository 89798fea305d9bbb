/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoded frames against raw video: PSNR and SSIM of each plane, alpha exactly. */
#ifndef PNV_INSPECT_COMPARE_H
#define PNV_INSPECT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader.h"

/** A planar format: Y, Cb, Cr and perhaps alpha, one plane after another without padding. */
typedef struct PnvRawFormat {
    bool is_444, alpha;
    int depth; /**< 8: one byte a sample, 9..16: two bytes, little-endian. */
} PnvRawFormat;

/**
 * Format of a name as ffmpeg or GStreamer spell it: yuv422p, yuv422p10le, yuva444p12le, I422_10LE, Y444_12LE ...
 *
 * @return false if the name stands for no such format.
 */
bool pnv_raw_format(PnvRawFormat *format, const char *name);

/** Bytes of one frame. */
uint64_t pnv_raw_bytes(const PnvRawFormat *format, int width, int height);

typedef struct PnvComparison {
    bool valid;                 /**< There was a whole frame on both sides. */
    double mse[3];              /**< Mean squared error of Y, Cb, Cr, in code values of the raw depth. */
    double ssim[3];             /**< 1: equal. */
    uint64_t alpha_differences; /**< Alpha samples that are not equal at the raw depth. */
    int alpha_largest;          /**< Largest difference of them. */
} PnvComparison;

/** Room for one comparison at a time; zero it before the first, free it with pnv_comparer_free(). */
typedef struct PnvComparer {
    uint16_t *a, *b; /**< Raw and decoded samples of one plane. */
    size_t allocated;
} PnvComparer;

void pnv_comparer_free(PnvComparer *comparer);

/**
 * Compare the frame that was read last, with PNV_READER_PIXELS and depth of the raw format, to raw samples. Decoded
 * samples are rounded and clamped to the whole range of the depth (RDD 36 7.5.1).
 *
 * SSIM: the mean over windows of 8x8 samples, 4 apart, all weights equal, K1 = 0.01 and K2 = 0.03.
 *
 * @param raw pnv_raw_bytes() of the frame's size.
 * @return false when memory ran out.
 */
bool pnv_compare(PnvComparer *comparer, PnvComparison *result, const PnvReader *reader, const PnvRawFormat *format,
                 const uint8_t *raw);

/** Decibel of a mean squared error at a depth; infinite for 0. */
double pnv_psnr(double mse, int depth);

#endif
