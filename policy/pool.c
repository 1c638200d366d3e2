/* Threads wait on a condition for a new round; tasks of a round are handed out one by one under the
 * same lock (rounds have few, large tasks). */
#include "policy/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

struct helper {
    struct pool *pool;
    int worker;
    pthread_t thread;
};

struct pool {
    int threads;
    struct helper *helper; /* [threads - 1]; owned */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    void (*fn)(void *arg, size_t task, int worker);
    void *arg;
    size_t tasks, next, finished;
    bool quit;
};

/* Takes tasks while there are any. Called with the lock held. */
static void
work_off(struct pool *p, int worker) {
    while (p->next < p->tasks) {
        size_t task = p->next++;
        pthread_mutex_unlock(&p->lock);
        p->fn(p->arg, task, worker);
        pthread_mutex_lock(&p->lock);
        if (++p->finished == p->tasks)
            pthread_cond_signal(&p->done);
    }
}

static void *
helper_main(void *arg) {
    struct helper *h = arg;
    struct pool *p = h->pool;
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        work_off(p, h->worker);
        if (!p->quit)
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct pool *
pool_new(int threads) {
    struct pool *p = mem_zero(1, sizeof *p);
    p->threads = threads < 1 ? 1 : threads;
    p->helper = mem_zero((size_t)p->threads, sizeof *p->helper);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    for (int i = 0; i < p->threads - 1; i++) {
        p->helper[i] = (struct helper){.pool = p, .worker = i + 1};
        if (pthread_create(&p->helper[i].thread, NULL, helper_main, &p->helper[i]))
            p->threads = i + 1; /* go on with those there are; results do not depend on it */
    }
    return p;
}

void
pool_free(struct pool *p) {
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->threads - 1; i++)
        pthread_join(p->helper[i].thread, NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    free(p->helper);
    free(p);
}

int
pool_threads(const struct pool *p) {
    return p->threads;
}

void
pool_run(struct pool *p, void (*fn)(void *arg, size_t task, int worker), void *arg, size_t tasks) {
    if (p->threads == 1 || tasks <= 1) {
        for (size_t t = 0; t < tasks; t++)
            fn(arg, t, 0);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->fn = fn;
    p->arg = arg;
    p->next = p->finished = 0;
    p->tasks = tasks;
    pthread_cond_broadcast(&p->work);
    work_off(p, 0);
    while (p->finished < p->tasks)
        pthread_cond_wait(&p->done, &p->lock);
    p->tasks = p->next = p->finished = 0;
    pthread_mutex_unlock(&p->lock);
}
