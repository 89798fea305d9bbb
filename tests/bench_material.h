/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the benchmarks of picture quality share: natural frames, coders of them, exact scores. */
#ifndef BENCH_MATERIAL_H
#define BENCH_MATERIAL_H

#include "pnv.h"
#include "stream.h"

enum { BENCH_WIDTH = 1920, BENCH_HEIGHT = 1080, BENCH_DEPTH = 10, BENCH_MAX_FRAMES = 32 };

/** Which photographs: what is tuned on the one set is reported on the other. */
typedef enum BenchSet { BENCH_TUNING, BENCH_REPORT } BenchSet;

/** Frames one behind the other, planar, without padding. Frame i is a photograph; odd ones carry grain. */
typedef struct BenchMaterial {
    PnvParams params; /**< Size, chroma and depth. */
    int n;
    size_t frame_bytes;
    uint8_t *raw;
    char path[64]; /**< The same as a file, for other programs. */
    char names[BENCH_MAX_FRAMES][32];
} BenchMaterial;

/** Why the material cannot be made here, or NULL. */
const char *bench_material_missing(void);

/** Make both frames, plain and grained, of each photograph of a set. What fails ends the program. */
void bench_material_init(BenchMaterial *m, BenchSet set, PnvChroma chroma);
void bench_material_free(BenchMaterial *m);

/** Frame i as the encoder takes it; borrows the material. */
PnvPicture bench_picture(const BenchMaterial *m, int i);

/** What a coded frame is worth: decoded exactly, rounded to the material's depth. */
typedef struct BenchScore {
    double bytes;
    double psnr[3]; /**< dB of Y, Cb, Cr. */
    double ssim;    /**< Of Y. */
} BenchScore;

BenchScore bench_score(PnvReader *reader, const BenchMaterial *m, int i, const uint8_t *data, size_t size);

/** All frames through an encoder of ffmpeg, for example "prores_ks -profile:v 3". n frames; free each and the array. */
TestFrame *bench_ffmpeg(const BenchMaterial *m, const char *encoder);
void bench_frames_free(TestFrame *frames, int n);

/** A copy of one decoded frame as raw samples, clamped to what the depth can hold. Room for m->frame_bytes. */
void bench_decode(PnvReader *reader, const BenchMaterial *m, uint8_t *raw, const uint8_t *data, size_t size);

#endif
