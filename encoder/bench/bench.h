/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of proresnv-bench share. */
#ifndef PNV_BENCH_H
#define PNV_BENCH_H

#include "dsp.h"
#include "plan.h"
#include "pnv.h"

/** How raw frames lie in memory, without padding. */
typedef struct PnvBenchFormat {
    const char *name; /**< As ffmpeg calls it. */
    PnvModel model;
    PnvChroma chroma;
    PnvPacking packing;
    int depth, has_alpha;
    /** Of each component: its plane, bytes in front of its first sample and to the next, bits below it in its word. */
    struct { int plane, offset, step, shift; } at[4];
} PnvBenchFormat;

/** NULL where there is none of that name. */
const PnvBenchFormat *pnv_bench_format(const char *name);

/** Tell the encoder. Alpha under a profile without it is left out. */
void pnv_bench_format_apply(const PnvBenchFormat *format, PnvParams *params);

/** Frames to code, each in memory of its own so that they stream from memory as real ones do. */
typedef struct PnvBenchContent {
    PnvParams params; /**< Size of the frames, and their format for the encoder. */
    const PnvBenchFormat *format;
    PnvPicture *pics;
    int n;
    size_t frame_bytes; /**< Of one raw frame, which begins at plane 0. */
    uint8_t **memory;   /**< Of each frame. */
    const char *name;   /**< For people: "natural", "pattern" or the file. */
} PnvBenchContent;

/**
 * Make n frames: a natural-like picture that moves (noise of many sizes, edges, fine texture, grain) or, with
 * is_pattern, flat bars with ramps and text-like detail. The same on every machine, and the same picture in every
 * format but for what a format cannot hold.
 *
 * @return 0, or -1 without memory.
 */
int pnv_bench_content_make(PnvBenchContent *c, const PnvParams *params, const PnvBenchFormat *format, int n,
                           int is_pattern);

/** Read up to n raw frames of a file. @return 0, or -1 with error filled. */
int pnv_bench_content_read(PnvBenchContent *c, const PnvParams *params, const PnvBenchFormat *format, int n,
                           const char *path, char *error);

void pnv_bench_content_free(PnvBenchContent *c);

/** Milliseconds of one frame. */
typedef struct PnvBenchTime {
    double cpu_min, cpu_median, wall_min, wall_median;
    double bytes;  /**< Of a coded frame, mean. */
    int quantizer; /**< Largest of the last frame: what a target led to. */
} PnvBenchTime;

/**
 * Code all frames through the public API, rounds times after one round to warm up. CPU time is the whole process's.
 *
 * @param params what to code with; size, chroma and depth as the content's.
 * @return 0, or -1 with error filled.
 */
int pnv_bench_time(PnvBenchTime *t, const PnvBenchContent *c, const PnvParams *params, int rounds, char *error);

/** The same frames in two formats. */
typedef struct PnvBenchPair {
    double cpu_ms[2]; /**< A frame: the least time of each, their mean. */
    double bytes[2];  /**< A coded frame, mean. */
} PnvBenchPair;

/**
 * Code the frames of both in turn, one at a time, so that what else the machine does falls on both. As many frames are
 * taken as both have.
 *
 * @return 0, or -1 with error filled.
 */
int pnv_bench_pair(PnvBenchPair *pair, const PnvBenchContent *const content[2], const PnvParams *const params[2],
                   int rounds, char *error);

/** Stages on one thread, milliseconds of one frame, the least of the rounds. */
typedef struct PnvBenchStages {
    double fetch, transform, quant; /**< One after the other, through memory of a slice; conversion is part of fetch. */
    double forward;                 /**< The three as the encoder does them, in one call where nothing is converted. */
    double entropy_bits;            /**< Counting bits. */
    double entropy;                 /**< Writing them. */
    double n_levels;                /**< Levels of a frame that are not zero. */
} PnvBenchStages;

int pnv_bench_stages(PnvBenchStages *s, const PnvBenchContent *c, const PnvParams *params, int quantizer, int rounds,
                     char *error);

/** GB/s of memory copied (read and written bytes count once) by n threads at once, best of a few. */
double pnv_bench_copy_speed(int n_threads);

/** Another encoder on the same frames. */
typedef struct PnvBenchPeer {
    const char *name;    /**< For people. */
    int quantizer;       /**< Of the run, 0 if it has no fixed one. */
    double cpu_ms;       /**< A frame, its tool's own overhead taken away: median of some runs. */
    double ratio;        /**< To ours, coded just before: median of these runs. */
    double bytes;        /**< A frame. */
    char missing[160];   /**< Why there is no figure, or "". */
} PnvBenchPeer;

enum { PNV_BENCH_PEERS = 3 }; /* prores_ks at a fixed quantizer, prores_ks, prores_aw */

/**
 * Start ffmpeg for each peer, one thread, on the content's frames, in turn with our encoder. The fixed quantizer is the
 * one whose frames come nearest to bytes.
 */
void pnv_bench_peers(PnvBenchPeer peers[PNV_BENCH_PEERS], const PnvBenchContent *c, const PnvParams *params,
                     double bytes);

/** Draw speed against bytes of a frame and against threads. @return 0, or -1 with error filled. */
int pnv_bench_plot(const char *path, const PnvBenchContent *c, const PnvParams *params, const PnvBenchPeer *peers,
                   int rounds, char *error);

/**
 * Time the kernels that bring input formats to samples, each alone at each place where this build and machine have it,
 * and print them as a table or, with json, as one object.
 */
void pnv_bench_kernels(int rounds, int json);

/** Sorts n values, the least first, and returns the one in their middle. */
double pnv_bench_median(double *value, int n);

double pnv_bench_cpu_ms(void);
double pnv_bench_wall_ms(void);

#endif
