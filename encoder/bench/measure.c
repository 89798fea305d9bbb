/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clocks of proresnv-bench: whole frames through the public API, and the stages one by one. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "encode.h"
#include "slice.h"

static double clock_ms(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

double pnv_bench_cpu_ms(void)
{
    return clock_ms(CLOCK_PROCESS_CPUTIME_ID);
}

double pnv_bench_wall_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double pnv_bench_median(double *value, int n)
{
    qsort(value, (size_t)n, sizeof *value, ascending);
    return value[n / 2];
}

/* All frames once, in flight as the parameters allow. Returns the coded bytes, or -1. */
static double code_all(PnvEncoder *enc, const PnvBenchContent *c, int *quantizer)
{
    double bytes = 0;
    int n_sent = 0, n_collected = 0;

    while (n_collected < c->n) {
        const PnvStatus status = n_sent < c->n ? pnv_send(enc, &c->pics[n_sent]) : PNV_AGAIN;
        if (status == PNV_OK) {
            n_sent++;
            continue;
        }
        PnvPacket packet;
        if (status != PNV_AGAIN || pnv_collect(enc, &packet) != PNV_OK)
            return -1;
        bytes += (double)packet.size;
        *quantizer = packet.quantizer_max;
        pnv_packet_release(&packet);
        n_collected++;
    }
    return bytes;
}

int pnv_bench_time(PnvBenchTime *t, const PnvBenchContent *c, const PnvParams *params, int rounds, char *error)
{
    enum { MAX_ROUNDS = 1000 };
    static double cpu[MAX_ROUNDS], wall[MAX_ROUNDS];
    PnvEncoder *enc;
    int quantizer = 0;

    rounds = rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
    if (pnv_open(&enc, params, error) != PNV_OK)
        return -1;
    double bytes = code_all(enc, c, &quantizer);
    for (int i = 0; bytes >= 0 && i < rounds; i++) {
        const double cpu_start = pnv_bench_cpu_ms(), wall_start = pnv_bench_wall_ms();
        bytes = code_all(enc, c, &quantizer);
        cpu[i] = (pnv_bench_cpu_ms() - cpu_start) / c->n;
        wall[i] = (pnv_bench_wall_ms() - wall_start) / c->n;
    }
    if (bytes < 0) {
        snprintf(error, PNV_ERROR_BYTES, "a frame failed: %s", pnv_error(enc));
        pnv_close(&enc);
        return -1;
    }
    pnv_close(&enc);
    const double cpu_median = pnv_bench_median(cpu, rounds), wall_median = pnv_bench_median(wall, rounds);
    *t = (PnvBenchTime){cpu[0], cpu_median, wall[0], wall_median, bytes / c->n, quantizer};
    return 0;
}

/* Code one frame: its milliseconds of processor time, or -1. */
static double time_one(PnvEncoder *enc, const PnvPicture *pic, size_t *bytes)
{
    const double start = pnv_bench_cpu_ms();
    PnvPacket packet;

    if (pnv_send(enc, pic) != PNV_OK || pnv_collect(enc, &packet) != PNV_OK)
        return -1;
    const double ms = pnv_bench_cpu_ms() - start;
    *bytes = packet.size;
    pnv_packet_release(&packet);
    return ms;
}

/* All frames of both once; the least time of each is kept. */
static int time_pair(PnvEncoder *const enc[2], const PnvBenchContent *const content[2], int n, double *least,
                     PnvBenchPair *pair)
{
    *pair = (PnvBenchPair){0};
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 2; k++) {
            size_t bytes = 0;
            const double ms = time_one(enc[k], &content[k]->pics[i], &bytes);
            double *best = &least[2 * i + k];
            if (ms < 0)
                return -1;
            *best = *best == 0 || ms < *best ? ms : *best;
            pair->cpu_ms[k] += *best / n;
            pair->bytes[k] += (double)bytes / n;
        }
    }
    return 0;
}

int pnv_bench_pair(PnvBenchPair *pair, const PnvBenchContent *const content[2], const PnvParams *const params[2],
                   int rounds, char *error)
{
    const int n = content[0]->n < content[1]->n ? content[0]->n : content[1]->n;
    double *least = calloc(2 * (size_t)n, sizeof *least);
    PnvEncoder *enc[2] = {NULL, NULL};
    int failed = !least || pnv_open(&enc[0], params[0], error) != PNV_OK || pnv_open(&enc[1], params[1], error) != PNV_OK;

    for (int r = 0; r <= rounds && !failed; r++) {
        failed = time_pair(enc, content, n, least, pair);
        if (failed)
            snprintf(error, PNV_ERROR_BYTES, "a frame failed: %s%s", pnv_error(enc[0]), pnv_error(enc[1]));
    }
    pnv_close(&enc[0]);
    pnv_close(&enc[1]);
    free(least);
    return failed ? -1 : 0;
}

/* Which stages a walk over a frame runs. */
typedef enum Chain { FETCH, FETCH_TRANSFORM, FETCH_TRANSFORM_QUANT, FORWARD, FORWARD_BITS, FORWARD_WRITE, COUNT } Chain;

typedef struct Walk {
    const PnvPlan *plan;
    const PnvDsp *dsp;
    Chain chain;
    size_t sum;
    PnvScratch scratch;
    _Alignas(64) int16_t samples[16 * PNV_FETCH_STRIDE];
    _Alignas(64) int16_t coef[64 * PNV_MAX_BLOCKS], level[64 * PNV_MAX_BLOCKS];
    uint8_t out[8192];
} Walk;

/* As pnv_encode_unit() does, in steps. */
static void fetch_transform(Walk *w, const PnvSliceJob *job, int c)
{
    const PnvChroma chroma = job->plan->chroma;
    const int mb_width = pnv_mb_width(chroma, c > 0), x0 = job->span.mb_x * mb_width, n_mb = job->span.n_mb;
    const PnvBlockOrder order = !c                         ? PNV_BLOCKS_LUMA
                                : chroma == PNV_CHROMA_422 ? PNV_BLOCKS_CHROMA_422
                                                           : PNV_BLOCKS_CHROMA_444;
    const int16_t *samples = w->samples;

    if (pnv_convert_applies(&job->plan->conversion, c))
        samples = pnv_convert_unit(&w->scratch.convert, job->dsp, &job->plan->conversion, &job->shape->chroma,
                                   job->planes, c, x0, 16 * job->mb_y, n_mb * mb_width, job->shape->height);
    else
        job->dsp->fetch(w->samples, &job->planes[c], x0, 16 * job->mb_y, n_mb * mb_width);
    if (w->chain != FETCH)
        job->dsp->transform(w->coef, samples, PNV_FETCH_STRIDE, order, n_mb, job->framing->scan);
}

static void walk_unit(Walk *w, const PnvSliceJob *job, int c)
{
    const int n_blocks = job->span.n_mb * pnv_blocks_per_mb(job->plan->chroma, c > 0);
    const PnvQuant *quant = pnv_plan_quant(w->plan, job->framing, c, w->plan->params.quantizer);
    const int rounding = w->plan->params.rounding, is_nearest = rounding == PNV_ROUNDING_NEAREST;
    const int16_t *level = is_nearest || w->chain == FETCH_TRANSFORM ? w->coef : w->level;

    if (w->chain >= FORWARD)
        pnv_encode_unit(job, c, w->coef, is_nearest ? quant : NULL);
    else
        fetch_transform(w, job, c);
    if (w->chain == FETCH_TRANSFORM_QUANT || (w->chain >= FORWARD && !is_nearest))
        w->dsp->quant[rounding](w->level, w->coef, n_blocks, quant);
    if (w->chain == FORWARD_BITS)
        w->sum += w->dsp->entropy_bits(level, n_blocks);
    if (w->chain == FORWARD_WRITE)
        w->sum += w->dsp->entropy_write(w->out, sizeof w->out, level, n_blocks);
    for (int i = 0; w->chain == COUNT && i < 64 * n_blocks; i++)
        w->sum += level[i] != 0;
}

static void walk_frame(Walk *w, const PnvPicture *pic)
{
    const PnvFraming *f = &w->plan->framing[pic->interlace];

    for (int i = 0; i < f->n_pictures; i++) {
        const PnvPictureShape *shape = &f->picture[i];
        PnvPlane planes[3];
        PnvSliceJob job = {.plan = w->plan, .dsp = w->dsp, .framing = f, .shape = shape, .planes = planes,
                           .scratch = &w->scratch};
        for (int c = 0; c < 3; c++)
            planes[c] = pnv_plan_plane(w->plan, pic, shape, c);
        for (job.mb_y = 0; job.mb_y < shape->grid.height_mb; job.mb_y++) {
            for (int k = 0; k < shape->grid.slices_per_row; k++) {
                job.span = pnv_grid_span(&shape->grid, k);
                for (int c = 0; c < 3; c++)
                    walk_unit(w, &job, c);
            }
        }
    }
}

static double time_chain(Walk *w, const PnvBenchContent *c, Chain chain, int rounds)
{
    double best = 0;

    w->chain = chain;
    for (int r = 0; r <= rounds; r++) { /* the first to warm up */
        const double start = clock_ms(CLOCK_THREAD_CPUTIME_ID);
        for (int i = 0; i < c->n; i++)
            walk_frame(w, &c->pics[i]);
        const double ms = (clock_ms(CLOCK_THREAD_CPUTIME_ID) - start) / c->n;
        best = r < 2 || ms < best ? ms : best;
    }
    return best;
}

int pnv_bench_stages(PnvBenchStages *s, const PnvBenchContent *c, const PnvParams *params, int quantizer, int rounds,
                     char *error)
{
    static Walk walk;
    PnvParams constant = *params;
    PnvPlan plan;
    PnvDsp dsp;

    constant.rate_control = PNV_RATE_CONSTANT_QUANTIZER;
    constant.bitrate = 0;
    constant.quantizer = quantizer;
    if (pnv_plan(&plan, &constant, error) != PNV_OK || pnv_plan_open(&plan) != PNV_OK)
        return -1;
    pnv_dsp_init(&dsp, plan.params.cpu);
    walk.plan = &plan;
    walk.dsp = &dsp;
    s->fetch = time_chain(&walk, c, FETCH, rounds);
    s->transform = time_chain(&walk, c, FETCH_TRANSFORM, rounds);
    s->quant = time_chain(&walk, c, FETCH_TRANSFORM_QUANT, rounds) - s->transform;
    s->transform -= s->fetch;
    s->forward = time_chain(&walk, c, FORWARD, rounds);
    s->entropy_bits = time_chain(&walk, c, FORWARD_BITS, rounds) - s->forward;
    s->entropy = time_chain(&walk, c, FORWARD_WRITE, rounds) - s->forward;
    walk.chain = COUNT;
    walk.sum = 0;
    for (int i = 0; i < c->n; i++)
        walk_frame(&walk, &c->pics[i]);
    s->n_levels = (double)walk.sum / c->n;
    pnv_plan_close(&plan);
    return 0;
}

/* ---- memory ---- */

enum { COPY_BYTES = 64 << 20 };

typedef struct Copy {
    pthread_t thread;
    char *from, *to;
} Copy;

static void *copy(void *arg)
{
    Copy *c = arg;

    memcpy(c->to, c->from, COPY_BYTES);
    return NULL;
}

double pnv_bench_copy_speed(int n_threads)
{
    enum { MAX_THREADS = 64 };
    Copy copies[MAX_THREADS] = {{0}};
    double best = 0;
    int n = 0;

    n_threads = n_threads > MAX_THREADS ? MAX_THREADS : n_threads;
    for (; n < n_threads; n++) {
        copies[n].from = malloc(2 * (size_t)COPY_BYTES);
        if (!copies[n].from)
            break;
        copies[n].to = copies[n].from + COPY_BYTES;
        memset(copies[n].from, 1, 2 * (size_t)COPY_BYTES);
    }
    for (int r = 0; r < 5 && n; r++) {
        const double start = pnv_bench_wall_ms();
        int n_started = 0;
        while (n_started < n && !pthread_create(&copies[n_started].thread, NULL, copy, &copies[n_started]))
            n_started++;
        for (int i = 0; i < n_started; i++)
            pthread_join(copies[i].thread, NULL);
        const double speed = 1e-6 * COPY_BYTES * n_started / (pnv_bench_wall_ms() - start);
        best = speed > best ? speed : best;
    }
    for (int i = 0; i < n; i++)
        free(copies[i].from);
    return best;
}
