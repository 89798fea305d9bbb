/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "frames.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "container.h"
#include "dump.h"

/* A place for one result on its way from a worker to the consumer. */
typedef struct Slot {
    PnvFrameResult result;
    bool done;
} Slot;

typedef struct Queue {
    const PnvFramesJob *job;
    Slot *slots;
    uint32_t n_slots;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t next;     /* frame to be taken by a worker, counted from job->first */
    uint32_t consumed; /* frames whose slots are free again */
} Queue;

/* What a worker owns. */
typedef struct Worker {
    Queue *queue;
    pthread_t thread;
    PnvReader *reader;
    PnvComparer comparer;
    uint8_t *buffer, *raw;
    size_t buffer_allocated, raw_allocated;
} Worker;

/* Keeps a finding if there are not too many of its code. */
typedef struct Collector {
    PnvFrameResult *result;
    uint32_t keep;
} Collector;

static void collect(void *opaque, const PnvFinding *finding)
{
    const Collector *c = opaque;
    PnvFrameResult *r = c->result;

    if (r->n_found[finding->code]++ >= c->keep)
        return;
    if (r->n_findings == r->findings_allocated) {
        const uint32_t wanted = r->findings_allocated ? 2 * r->findings_allocated : 16;
        PnvFinding *grown = realloc(r->findings, wanted * sizeof *grown);
        if (!grown)
            return; /* counted, though not kept */
        r->findings = grown;
        r->findings_allocated = wanted;
    }
    r->findings[r->n_findings++] = *finding;
}

static bool reserve(uint8_t **buffer, size_t *allocated, uint64_t n)
{
    if (n <= *allocated)
        return true;
    free(*buffer);
    *buffer = n <= SIZE_MAX ? malloc((size_t)n) : NULL;
    *allocated = *buffer ? (size_t)n : 0;
    return *buffer != NULL;
}

/* The bytes of a sample, as far as they are in the file. */
static bool load_sample(Worker *w, PnvFrameResult *r, const PnvMovSample *sample, Collector *collector)
{
    const PnvSource *source = w->queue->job->source;
    const uint64_t left = sample->offset < source->size ? source->size - sample->offset : 0;

    if (sample->size > left) {
        PnvFinding f = {.code = PNV_FINDING_TRUNCATED, .picture = -1, .slice = -1, .offset = (uint32_t)left};
        snprintf(f.text, sizeof f.text, "the sample of %u bytes at %llu has only %llu in the file", sample->size,
                 (unsigned long long)sample->offset, (unsigned long long)left);
        collect(collector, &f);
        r->size = (uint32_t)left;
    }
    if (!reserve(&w->buffer, &w->buffer_allocated, r->size ? r->size : 1))
        r->error = "no memory for the frame's bytes";
    else if (r->size && !source->read(source->opaque, sample->offset, w->buffer, r->size))
        r->error = "reading its bytes failed";
    return !r->error;
}

static void compare(Worker *w, PnvFrameResult *r)
{
    const PnvFramesJob *job = w->queue->job;
    const PnvReaderHeader *h = &r->frame.header;
    const uint64_t bytes = pnv_raw_bytes(&job->raw_format, h->width, h->height);

    if (job->raw_format.is_444 != (h->chroma_format == 3))
        r->error = "its chroma sampling is not that of the raw format";
    else if (job->raw_format.alpha && !h->alpha_type)
        r->error = "it has no alpha to compare with the raw format's";
    else if (r->index >= job->raw->size / bytes)
        r->error = "the raw file ends before its frame";
    else if (!reserve(&w->raw, &w->raw_allocated, bytes))
        r->error = "no memory for the raw frame";
    else if (!job->raw->read(job->raw->opaque, r->index * bytes, w->raw, (size_t)bytes))
        r->error = "reading its raw frame failed";
    else if (!pnv_compare(&w->comparer, &r->comparison, w->reader, &job->raw_format, w->raw))
        r->error = "no memory to compare it";
}

/*
 * Samples take memory by what the header says: no more than the raw video could hold, counting that a macroblock may
 * show a single sample of its own in each of two fields.
 */
static uint64_t max_samples(const PnvSource *raw)
{
    const uint64_t limit = UINT64_C(1) << 27;
    return raw && raw->size < limit / 512 ? 512 * raw->size + 1 : limit;
}

static void read_frame(Worker *w, PnvFrameResult *r)
{
    const PnvFramesJob *job = w->queue->job;
    Collector collector = {r, job->keep_findings};
    const PnvReaderOptions options = {.flags = job->raw ? PNV_READER_PIXELS : 0, .depth = job->raw_format.depth,
                                      .max_samples = max_samples(job->raw), .report = collect, .opaque = &collector};

    if (!load_sample(w, r, &job->mov->samples[r->index], &collector))
        return;
    const PnvReaderStatus status = pnv_reader_read(w->reader, w->buffer, r->size, &options);
    const PnvReaderFrame *f = pnv_reader_frame(w->reader);
    pnv_container_check(job->mov, f, collect, &collector);
    r->n_slices = f->n_slices;
    for (uint32_t i = 0; i < f->n_slices; i++)
        r->quantizers[f->slices[i].quantizer]++;
    if (job->dump)
        r->dump = pnv_dump_frame(w->reader, r->index, r->offset, &r->dump_bytes);
    if (status != PNV_READER_OK)
        r->error = status == PNV_READER_EBIG ? "it is larger than the raw video, or than 2^27 samples"
                                             : "no memory to read it";
    else if (job->raw && f->header_valid) {
        r->frame = *f;
        compare(w, r);
    }
    r->frame = *f;
    r->frame.slices = NULL;
}

/* The next frame that has a free slot; false when there is none left. */
static bool take(Queue *q, uint32_t *i)
{
    bool taken;

    pthread_mutex_lock(&q->mutex);
    while (q->next < q->job->n && q->next >= q->consumed + q->n_slots)
        pthread_cond_wait(&q->changed, &q->mutex);
    taken = q->next < q->job->n;
    if (taken)
        *i = q->next++;
    pthread_mutex_unlock(&q->mutex);
    return taken;
}

static void clear_result(PnvFrameResult *r)
{
    PnvFinding *findings = r->findings;
    const uint32_t allocated = r->findings_allocated;

    free(r->dump);
    memset(r, 0, sizeof *r);
    r->findings = findings;
    r->findings_allocated = allocated;
}

static void *work(void *opaque)
{
    Worker *w = opaque;
    Queue *q = w->queue;
    uint32_t i;

    while (take(q, &i)) {
        Slot *slot = &q->slots[i % q->n_slots];
        PnvFrameResult *r = &slot->result;

        clear_result(r);
        r->index = q->job->first + i;
        r->offset = q->job->mov->samples[r->index].offset;
        r->size = q->job->mov->samples[r->index].size;
        read_frame(w, r);
        pthread_mutex_lock(&q->mutex);
        slot->done = true;
        pthread_cond_broadcast(&q->changed);
        pthread_mutex_unlock(&q->mutex);
    }
    return NULL;
}

static void consume_all(Queue *q)
{
    for (uint32_t i = 0; i < q->job->n; i++) {
        Slot *slot = &q->slots[i % q->n_slots];

        pthread_mutex_lock(&q->mutex);
        while (!slot->done)
            pthread_cond_wait(&q->changed, &q->mutex);
        pthread_mutex_unlock(&q->mutex);
        q->job->consume(q->job->opaque, &slot->result);
        pthread_mutex_lock(&q->mutex);
        slot->done = false;
        q->consumed++;
        pthread_cond_broadcast(&q->changed);
        pthread_mutex_unlock(&q->mutex);
    }
}

static void free_worker(Worker *w)
{
    pnv_reader_free(&w->reader);
    pnv_comparer_free(&w->comparer);
    free(w->buffer);
    free(w->raw);
}

/* Starts as many workers as it can; one is enough. */
static int start_workers(Queue *q, Worker *workers, int n)
{
    int started = 0;

    for (; started < n; started++) {
        Worker *w = &workers[started];
        w->queue = q;
        w->reader = pnv_reader_new();
        if (!w->reader || pthread_create(&w->thread, NULL, work, w) != 0) {
            free_worker(w);
            break;
        }
    }
    return started;
}

bool pnv_frames_run(const PnvFramesJob *job, char *error)
{
    const int n_workers = (uint32_t)job->threads < job->n ? job->threads : (int)job->n;
    Queue q = {.job = job, .n_slots = 2 * (uint32_t)n_workers + 2, .mutex = PTHREAD_MUTEX_INITIALIZER,
               .changed = PTHREAD_COND_INITIALIZER};
    Worker *workers = calloc((size_t)n_workers + 1, sizeof *workers);
    int started = 0;

    q.slots = calloc(q.n_slots, sizeof *q.slots);
    if (workers && q.slots)
        started = start_workers(&q, workers, n_workers);
    if (started)
        consume_all(&q);
    else if (job->n)
        snprintf(error, PNV_FRAMES_ERROR_BYTES, "no memory or no thread to read frames with");
    for (int i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        free_worker(&workers[i]);
    }
    for (uint32_t i = 0; q.slots && i < q.n_slots; i++) {
        free(q.slots[i].result.findings);
        free(q.slots[i].result.dump);
    }
    free(q.slots);
    free(workers);
    pthread_mutex_destroy(&q.mutex);
    pthread_cond_destroy(&q.changed);
    return started > 0 || job->n == 0;
}
