/* Two lists behind one lock: jobs that wait and jobs that are done. */
#include "arena/readers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#define NICE 10

struct queue {
    struct read_job *first, **last;
    int n, slow;
};

struct readers {
    char *database;
    pthread_t thread[READERS_THREADS + 1]; /* the last: for background jobs */
    int threads;
    int fd;
    struct event *event;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct queue waiting, done; /* these and what follows: under the lock */
    bool slow_at_work, stopping;
};

static void
push(struct queue *q, struct read_job *j) {
    j->next = NULL;
    if (!q->first)
        q->last = &q->first;
    *q->last = j;
    q->last = &j->next;
    q->n++;
    q->slow += j->slow;
}

static struct read_job *
unlink_at(struct queue *q, struct read_job **at) {
    struct read_job *j = *at;
    *at = j->next;
    if (!j->next)
        q->last = at;
    q->n--;
    q->slow -= j->slow;
    return j;
}

static struct read_job *
take_first(struct queue *q) {
    return q->first ? unlink_at(q, &q->first) : NULL;
}

/* The first job for a thread of this kind; no_slow: that is not slow. */
static struct read_job *
take(struct queue *q, bool background, bool no_slow) {
    for (struct read_job **at = &q->first; *at; at = &(*at)->next)
        if ((*at)->background == background && !(no_slow && (*at)->slow))
            return unlink_at(q, at);
    return NULL;
}

static void
work_on(struct readers *r, struct read_job *j, struct store **db) {
    struct err why = {.text = ""};
    if (!*db)
        *db = store_open(r->database, STORE_READ, false, &why);
    j->work(j, *db, &why);
}

/* Takes jobs until the readers stop. */
static void
work(struct readers *r, bool background) {
    struct store *db = NULL;
    pthread_mutex_lock(&r->lock);
    while (!r->stopping) {
        struct read_job *j = take(&r->waiting, background, r->slow_at_work);
        if (!j) {
            pthread_cond_wait(&r->wake, &r->lock);
            continue;
        }
        r->slow_at_work |= j->slow;
        pthread_mutex_unlock(&r->lock);
        work_on(r, j, &db);
        pthread_mutex_lock(&r->lock);
        if (j->slow) {
            r->slow_at_work = false;
            pthread_cond_broadcast(&r->wake);
        }
        push(&r->done, j);
        uint64_t one = 1;
        ssize_t n = write(r->fd, &one, sizeof one);
        (void)n; /* it can only fail when the counter is not zero, which is all that is wanted */
    }
    pthread_mutex_unlock(&r->lock);
    store_close(db);
}

static void *
run_thread(void *arg) {
    work(arg, false);
    return NULL;
}

static void *
run_background(void *arg) {
    /* On Linux this is the thread's own; where it fails, nothing is lost. */
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    work(arg, true);
    return NULL;
}

static void
finish(struct readers *r, struct queue *q) {
    for (;;) {
        pthread_mutex_lock(&r->lock);
        struct read_job *j = take_first(q);
        pthread_mutex_unlock(&r->lock);
        if (!j)
            return;
        j->done(j);
    }
}

static void
on_done(evutil_socket_t fd, short what, void *arg) {
    (void)what;
    struct readers *r = arg;
    uint64_t count;
    ssize_t n = read(fd, &count, sizeof count);
    (void)n;
    finish(r, &r->done);
}

/* Signals are the main thread's. */
static int
start_threads(struct readers *r, struct err *e) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int bad = 0;
    while (!bad && r->threads <= READERS_THREADS) {
        bad = pthread_create(&r->thread[r->threads], NULL,
                             r->threads < READERS_THREADS ? run_thread : run_background, r);
        r->threads += !bad;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return bad ? err_set(e, "cannot start a thread: %s", strerror(bad)) : 0;
}

struct readers *
readers_new(struct event_base *base, const char *database, struct err *e) {
    struct readers *r = mem_zero(1, sizeof *r);
    r->database = mem_text(database);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->wake, NULL);
    r->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r->fd < 0) {
        err_set(e, "cannot make an eventfd: %s", strerror(errno));
        readers_free(r);
        return NULL;
    }
    r->event = event_new(base, r->fd, EV_READ | EV_PERSIST, on_done, r);
    ensure(r->event);
    if (event_add(r->event, NULL) < 0 || start_threads(r, e) < 0) {
        readers_free(r);
        return NULL;
    }
    return r;
}

void
readers_free(struct readers *r) {
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stopping = true;
    pthread_cond_broadcast(&r->wake);
    pthread_mutex_unlock(&r->lock);
    for (int i = 0; i < r->threads; i++)
        pthread_join(r->thread[i], NULL);
    finish(r, &r->done);
    finish(r, &r->waiting);
    if (r->event)
        event_free(r->event);
    if (r->fd >= 0)
        close(r->fd);
    pthread_cond_destroy(&r->wake);
    pthread_mutex_destroy(&r->lock);
    free(r->database);
    free(r);
}

int
readers_add(struct readers *r, struct read_job *j) {
    pthread_mutex_lock(&r->lock);
    bool full = r->stopping || r->waiting.n >= READERS_MOST ||
                (j->slow && r->waiting.slow >= READERS_SLOW_MOST);
    if (!full) {
        push(&r->waiting, j);
        pthread_cond_broadcast(&r->wake);
    }
    pthread_mutex_unlock(&r->lock);
    return full ? -1 : 0;
}

bool
readers_drop(struct readers *r, struct read_job *j) {
    pthread_mutex_lock(&r->lock);
    struct read_job **at = &r->waiting.first;
    while (*at && *at != j)
        at = &(*at)->next;
    bool found = *at != NULL;
    if (found)
        unlink_at(&r->waiting, at);
    pthread_mutex_unlock(&r->lock);
    return found;
}
