/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the stream_ tests share: pictures to code, coding them, and two judges of the result. */
#ifndef STREAM_H
#define STREAM_H

#include "pnv.h"
#include "reader.h"

/** What a picture shows. */
typedef enum Fill {
    FILL_NATURAL, /**< Soft shapes, edges and grain. */
    FILL_NOISE,   /**< Independent samples over the whole range. */
    FILL_CHECKS,  /**< Black and white in every pattern that drives coefficients far. */
    FILL_FLAT,
    N_FILLS
} Fill;

extern const char *const fill_names[N_FILLS];

/** What its alpha is like. */
typedef enum AlphaFill {
    ALPHA_OPAQUE,
    ALPHA_CLEAR,
    ALPHA_RAMP,
    ALPHA_STEPS, /**< Areas with hard edges. */
    ALPHA_MATTE, /**< Opaque inside, clear outside, soft between, with a little noise there. */
    ALPHA_NOISE,
    N_ALPHA_FILLS
} AlphaFill;

extern const char *const alpha_fill_names[N_ALPHA_FILLS];

/** A picture in memory that ends with its last sample, rows padded by a few bytes that hold rubbish. */
typedef struct TestPicture {
    PnvParams params; /**< What it was made for. */
    PnvPicture pic;
    int n_components;
    int width[4], height, depth;
    uint8_t *memory[4]; /**< Components packed together have the first one's. */
} TestPicture;

/** A picture for params, progressive; with alpha if params have. */
void test_picture_init(TestPicture *t, const PnvParams *params, Fill fill, uint32_t seed);

/** The same with its components packed as A, Y, Cb, Cr, in samples of 8 or 16 bits; 4:4:4 only. */
void test_picture_init_packed(TestPicture *t, const PnvParams *params, Fill fill, uint32_t seed);

void test_picture_fill_alpha(TestPicture *t, AlphaFill fill, uint32_t seed);
void test_picture_free(TestPicture *t);
void test_picture_put(TestPicture *t, int component, int x, int y, int s);

int test_picture_get(const TestPicture *t, int plane, int x, int y);

/** A picture from tightly packed planar samples, as "ffmpeg -f rawvideo" writes them. */
void test_picture_from_raw(TestPicture *t, const PnvParams *params, const uint8_t *raw);

/** Bytes of such a raw frame. */
size_t raw_frame_bytes(const PnvParams *params);

/** One coded frame, in memory of its own. */
typedef struct TestFrame {
    uint8_t *data;
    size_t size;
} TestFrame;

/**
 * Set by what is linked with a test to code everything another way as well: called with each frame of test_encode(),
 * and by tests that code for themselves. NULL by default.
 */
extern void (*test_twin)(const PnvParams *params, const TestPicture *t, const TestFrame *frame);

/** Code one picture with an encoder of its own; a failure ends the test. */
TestFrame test_encode(const PnvParams *params, const TestPicture *t);

/** Whether two frames are the same bytes. */
int same_frame(const TestFrame *a, const TestFrame *b);

/**
 * First judge: the strict reader finds nothing, in each block no coefficient of the error is larger than half a step
 * and 2, in units of C, alpha is exact, and fields have their lines. Leaves the frame decoded in the reader.
 */
void judge_strictly(PnvReader *reader, const char *name, const PnvParams *params, const TestPicture *t,
                    const TestFrame *frame);

/** PSNR of a decoded plane against the picture, samples rounded to the picture's depth. */
double plane_psnr(const PnvReader *reader, const TestPicture *t, int plane);

/** Whether an ffmpeg is there to ask. */
int have_ffmpeg(void);

/**
 * Second judge: ffmpeg decodes the frames, all of the same parameters, without a word at log level warning, and each
 * sample is within one code value of the strict reader's, clipped as ffmpeg does.
 */
void judge_by_ffmpeg(const char *name, const PnvParams *params, const TestFrame *frames, int n_frames);

/** Run a shell command and return its whole output; a failure ends the test. Free it. */
uint8_t *command_output(const char *command, size_t *size);

#endif
