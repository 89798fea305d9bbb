/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small persistent pool of threads that works off batches of numbered jobs, in the order the batches came. */
#ifndef PNV_THREADPOOL_H
#define PNV_THREADPOOL_H

typedef struct PnvThreadpool PnvThreadpool;

/** Independent jobs and what follows them. The caller's memory, in use from run until wait returns. */
typedef struct PnvBatch {
    void (*job)(void *arg, int job, int worker); /**< job 0..n_jobs - 1; worker 0..n_threads - 1, for scratch memory. */
    /**
     * After the last job, on its thread. May be NULL. To go on with more jobs, which then come before those of later
     * batches, set job and n_jobs anew and return 1; else 0.
     */
    int (*finish)(void *arg);
    void *arg;
    int n_jobs; /**< 1.. */

    /* the pool's */
    struct PnvBatch *next;
    int n_started, n_ended, done;
} PnvBatch;

/** NULL when threads or memory cannot be had. @param n_threads 1.. */
PnvThreadpool *pnv_threadpool_new(int n_threads);

/** Queue a batch and return. Jobs of the next batch start while the last of this one still run. */
void pnv_threadpool_run(PnvThreadpool *pool, PnvBatch *batch);

/** Wait until a batch that was run is done, its finish included. */
void pnv_threadpool_wait(PnvThreadpool *pool, PnvBatch *batch);

/** End the threads, after all queued batches. NULL is ignored. */
void pnv_threadpool_delete(PnvThreadpool *pool);

#endif
