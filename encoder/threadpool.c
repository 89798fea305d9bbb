/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "threadpool.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct Worker {
    PnvThreadpool *pool;
    pthread_t thread;
    int index;
} Worker;

struct PnvThreadpool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    PnvBatch *first, *last; /* batches with jobs that nobody has started */
    int quit;
    int n_workers;
    Worker workers[];
};

/** The lock is held. */
static void push_first(PnvThreadpool *pool, PnvBatch *batch)
{
    batch->n_started = batch->n_ended = 0;
    batch->next = pool->first;
    if (!pool->first)
        pool->last = batch;
    pool->first = batch;
    pthread_cond_broadcast(&pool->work);
}

/** Start the next job, or wait for one. NULL: the pool ends. Called and returns with the lock held. */
static PnvBatch *next_job(PnvThreadpool *pool, int *job)
{
    while (!pool->first) {
        if (pool->quit)
            return NULL;
        pthread_cond_wait(&pool->work, &pool->lock);
    }
    PnvBatch *batch = pool->first;
    *job = batch->n_started++;
    if (batch->n_started == batch->n_jobs)
        pool->first = batch->next;
    return batch;
}

/* The lock is taken twice a job, and a job is a band of a frame: a few times a thread and frame. */
static void *work(void *arg)
{
    Worker *worker = arg;
    PnvThreadpool *pool = worker->pool;
    PnvBatch *batch;
    int job;

    pthread_mutex_lock(&pool->lock);
    while ((batch = next_job(pool, &job))) {
        pthread_mutex_unlock(&pool->lock);
        batch->job(batch->arg, job, worker->index);
        pthread_mutex_lock(&pool->lock);
        if (++batch->n_ended < batch->n_jobs)
            continue;
        pthread_mutex_unlock(&pool->lock);
        const int more = batch->finish && batch->finish(batch->arg);
        pthread_mutex_lock(&pool->lock);
        if (more) {
            push_first(pool, batch);
            continue;
        }
        batch->done = 1;
        pthread_cond_broadcast(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

PnvThreadpool *pnv_threadpool_new(int n_threads)
{
    PnvThreadpool *pool = calloc(1, sizeof *pool + (size_t)n_threads * sizeof *pool->workers);

    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    for (int i = 0; i < n_threads; i++) {
        Worker *w = &pool->workers[i];
        w->pool = pool;
        w->index = i;
        if (pthread_create(&w->thread, NULL, work, w)) {
            pnv_threadpool_delete(pool);
            return NULL;
        }
        pool->n_workers++;
    }
    return pool;
}

void pnv_threadpool_run(PnvThreadpool *pool, PnvBatch *batch)
{
    batch->next = NULL;
    batch->n_started = batch->n_ended = batch->done = 0;
    pthread_mutex_lock(&pool->lock);
    if (pool->first)
        pool->last->next = batch;
    else
        pool->first = batch;
    pool->last = batch;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

void pnv_threadpool_wait(PnvThreadpool *pool, PnvBatch *batch)
{
    pthread_mutex_lock(&pool->lock);
    while (!batch->done)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void pnv_threadpool_delete(PnvThreadpool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = 1;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->n_workers; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
