/* The workers: started with posix_spawn (a fork of a large process is slow and copies its locks),
 * fed over a socket pair, watched by a deadline, started again with a growing delay when they die.
 * A worker whose process or stream has failed is only marked; it is buried in crew_tick(), never
 * inside a callback of its own. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include "arena/serve-int.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

#define DELAY_FIRST_US 50000
#define DELAY_MOST_US 10000000
#define STILLBORN_MOST 12 /* deaths in a row of workers that never finished a match */
#define STOP_WAIT_US 3000000
#define READ_MOST (256 << 10)

extern char **environ;

enum worker_state { WORKER_NONE, WORKER_STARTING, WORKER_READY, WORKER_DEAD };

struct worker {
    struct serve *serve;
    int number;
    enum worker_state state;
    pid_t pid;
    struct bufferevent *stream;
    int64_t *cast; /* [ncast] policies it has been told of */
    size_t ncast;
    int64_t jobs; /* in flight */
    bool alone;   /* plays one match again, by itself */
    int64_t heard_us, start_at_us, delay_us;
    uint64_t finished;
    char why[512];
};

struct crew {
    struct worker *worker;
    int count, restarts, stillborn;
    char kernel[64];
    struct wire_match incoming;
};

static void
mark_dead(struct worker *w, const char *why) {
    if (w->state != WORKER_STARTING && w->state != WORKER_READY)
        return;
    w->state = WORKER_DEAD;
    if (!w->why[0])
        snprintf(w->why, sizeof w->why, "%s", why);
    bufferevent_disable(w->stream, EV_READ | EV_WRITE);
}

/* ---- what a worker says ---- */

static int
on_message(struct worker *w, enum wire_type type, struct rd *body) {
    struct crew *c = w->serve->crew;
    uint32_t version;
    switch (type) {
    case WIRE_READY:
        if (w->state != WORKER_STARTING ||
            wire_read_text(body, &version, c->kernel, sizeof c->kernel) < 0 ||
            version != WIRE_VERSION)
            return -1;
        w->state = WORKER_READY;
        if (store_run_put(w->serve->store, "kernel", c->kernel, NULL) < 0)
            log_warn("crew", "the kernel's name was not recorded");
        return 0;
    case WIRE_DONE:
        if (wire_read_done(body, &c->incoming) < 0)
            return -1;
        w->jobs -= w->jobs > 0;
        w->alone = false;
        w->finished++;
        c->stillborn = 0;
        serve_match(w->serve, &c->incoming, w->number);
        return 0;
    case WIRE_PULSE:
        return 0;
    case WIRE_FAIL:
        if (wire_read_fail(body, w->why, sizeof w->why) < 0)
            return -1;
        log_error("crew", "worker %d: %s", w->number, w->why);
        mark_dead(w, "it failed");
        return 0;
    case WIRE_HELLO:
    case WIRE_CAST:
    case WIRE_JOBS:
        break;
    }
    return -1;
}

static void
on_read(struct bufferevent *stream, void *arg) {
    struct worker *w = arg;
    struct evbuffer *in = bufferevent_get_input(stream);
    size_t n = evbuffer_get_length(in), at = 0, used;
    const unsigned char *p = evbuffer_pullup(in, -1);
    w->heard_us = clock_mono_us();
    enum wire_type type;
    struct rd body;
    int got = 0;
    while (w->state != WORKER_DEAD && (got = wire_next(p + at, n - at, &type, &body, &used)) == 1) {
        if (on_message(w, type, &body) < 0) {
            got = -1;
            break;
        }
        at += used;
    }
    evbuffer_drain(in, at);
    if (got < 0)
        mark_dead(w, "its messages cannot be read");
    crew_dispatch(w->serve);
}

static void
on_event(struct bufferevent *stream, short what, void *arg) {
    (void)stream;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        mark_dead(arg, "its process ended");
}

/* ---- life and death ---- */

static int
spawn(struct worker *w, int fd) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGTERM);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, WIRE_FD);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    char name[] = "agon", command[] = "worker";
    char *argv[] = {name, command, NULL};
    int status = posix_spawn(&w->pid, "/proc/self/exe", &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return status;
}

static void
greet(struct worker *w) {
    const struct serve *s = w->serve;
    struct wire_hello *h = mem_zero(1, sizeof *h);
    struct buf out = {0};
    snprintf(h->run, sizeof h->run, "%s", s->run);
    for (; h->games < s->setup.ngames; h->games++) {
        h->game[h->games].id = s->schedule.game[h->games].id;
        snprintf(h->game[h->games].spec, sizeof h->game->spec, "%s", s->setup.games[h->games].spec);
    }
    wire_hello(&out, h);
    bufferevent_write(w->stream, out.at, out.len);
    buf_free(&out);
    free(h);
}

static void
start(struct worker *w) {
    int pair[2];
    w->start_at_us = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        serve_give_up(w->serve, "cannot make a socket pair for a worker: %s", strerror(errno));
        return;
    }
    /* dup2 onto itself would keep close-on-exec set */
    int status = pair[1] == WIRE_FD ? EINVAL : spawn(w, pair[1]);
    close(pair[1]);
    if (status) {
        close(pair[0]);
        serve_give_up(w->serve, "cannot start a worker: %s", strerror(status));
        return;
    }
    evutil_make_socket_nonblocking(pair[0]);
    w->stream = bufferevent_socket_new(w->serve->base, pair[0], BEV_OPT_CLOSE_ON_FREE);
    ensure(w->stream);
    bufferevent_setcb(w->stream, on_read, NULL, on_event, w);
    bufferevent_set_max_single_read(w->stream, READ_MOST);
    bufferevent_enable(w->stream, EV_READ | EV_WRITE);
    w->state = WORKER_STARTING;
    w->ncast = 0;
    w->jobs = 0;
    w->alone = false;
    w->finished = 0;
    w->why[0] = '\0';
    w->heard_us = clock_mono_us();
    greet(w);
}

static void
bury(struct worker *w) {
    struct serve *s = w->serve;
    int status = 0;
    kill(w->pid, SIGKILL);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        ;
    bufferevent_free(w->stream);
    w->stream = NULL;
    w->state = WORKER_NONE;
    char why[640];
    if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "worker %d died (%s, signal %d)", w->number, w->why,
                 WTERMSIG(status));
    else
        snprintf(why, sizeof why, "worker %d died (%s, exit status %d)", w->number, w->why,
                 WEXITSTATUS(status));
    log_warn("crew", "%s; %lld matches were in flight", why, (long long)w->jobs);
    struct err e;
    if (store_event_add(s->store, "warn", "crew", why, &e) < 0)
        log_warn("crew", "%s", e.text);
    serve_worker_died(s, w->number, why);
    s->crew->restarts++;
    if (w->finished)
        w->delay_us = DELAY_FIRST_US;
    else if (++s->crew->stillborn >= STILLBORN_MOST)
        serve_give_up(s, "workers die before they finish a match: %s", w->why);
    else
        w->delay_us = w->delay_us * 2 < DELAY_MOST_US ? w->delay_us * 2 : DELAY_MOST_US;
    w->start_at_us = clock_mono_us() + w->delay_us;
}

void
crew_tick(struct serve *s) {
    int64_t now = clock_mono_us();
    int64_t deadline_us = (int64_t)(conf_real(s->conf, "workers.deadline") * 1e6);
    for (int i = 0; i < s->crew->count; i++) {
        struct worker *w = &s->crew->worker[i];
        bool owes = w->jobs > 0 || w->state == WORKER_STARTING;
        if ((w->state == WORKER_READY || w->state == WORKER_STARTING) && owes &&
            now - w->heard_us > deadline_us)
            mark_dead(w, "silent past workers.deadline");
        if (w->state == WORKER_DEAD)
            bury(w);
        if (w->state == WORKER_NONE && !s->stopping && now >= w->start_at_us)
            start(w);
    }
    crew_dispatch(s);
}

/* ---- handing out work ---- */

static bool
has_cast(const struct worker *w, int64_t id) {
    for (size_t i = w->ncast; i-- > 0;)
        if (w->cast[i] == id)
            return true;
    return false;
}

/* Tells the worker of a policy that it may not have any more: it keeps the ones it knows. */
static int
announce(struct worker *w, int64_t id, struct buf *out) {
    struct store_policy p;
    struct err e;
    if (has_cast(w, id))
        return 0;
    if (store_policy_get(w->serve->store, id, &p, &e) < 0) {
        serve_give_up(w->serve, "%s", e.text);
        return -1;
    }
    struct wire_cast c = {.id = id, .scripted = p.step < 0};
    snprintf(c.name, sizeof c.name, "%s", p.name);
    wire_cast(out, &c);
    w->cast = mem_grow(w->cast, w->ncast + 1, sizeof *w->cast);
    w->cast[w->ncast++] = id;
    return 0;
}

static void
send_jobs(struct worker *w, const struct match_job *jobs, size_t n) {
    struct serve *s = w->serve;
    struct buf out = {0};
    /* The worker drops snapshots of its own accord, so those of a batch are named anew each
     * time. */
    w->ncast = 0;
    for (size_t i = 0; i < n; i++)
        for (int seat = 0; seat < 2; seat++)
            if (announce(w, jobs[i].policy[seat], &out) < 0) {
                buf_free(&out);
                return;
            }
    wire_jobs(&out, s->newest.id, jobs, n);
    if (!w->jobs)
        w->heard_us = clock_mono_us();
    w->jobs += (int64_t)n;
    bufferevent_write(w->stream, out.at, out.len);
    buf_free(&out);
}

static void
take(struct serve *s, struct worker *w, int64_t i, struct match_job *out) {
    s->slot[i].state = SLOT_PLAYING;
    s->slot[i].worker = w->number;
    *out = s->slot[i].job;
}

/* A match that was in flight when a worker died goes to an idle worker, by itself. */
static bool
give_again(struct serve *s, struct worker *w) {
    for (int64_t i = 0; i < s->batch; i++) {
        if (s->slot[i].state != SLOT_PENDING || !s->slot[i].again)
            continue;
        struct match_job job;
        take(s, w, i, &job);
        s->slot[i].again = false;
        s->again--;
        w->alone = true;
        send_jobs(w, &job, 1);
        return true;
    }
    return false;
}

static void
give(struct serve *s, struct worker *w, int64_t most) {
    if (most <= 0)
        return;
    struct match_job *jobs = mem_zero((size_t)most, sizeof *jobs);
    size_t n = 0;
    for (; s->next < s->batch && (int64_t)n < most; s->next++)
        if (s->slot[s->next].state == SLOT_PENDING && !s->slot[s->next].again)
            take(s, w, s->next, &jobs[n++]);
    if (n)
        send_jobs(w, jobs, n);
    free(jobs);
}

void
crew_dispatch(struct serve *s) {
    if (s->stopping || s->paused_until_us || s->step < 0 || !s->crew)
        return;
    int64_t inflight = conf_int(s->conf, "workers.inflight");
    int64_t share = (s->batch - s->next + s->crew->count - 1) / s->crew->count;
    for (int i = 0; i < s->crew->count; i++) {
        struct worker *w = &s->crew->worker[i];
        if (w->state != WORKER_READY || w->alone)
            continue;
        if (s->again > 0 && !w->jobs && give_again(s, w))
            continue;
        int64_t room = inflight - w->jobs;
        give(s, w, share < room ? share : room);
    }
}

/* ---- start and stop ---- */

int
crew_start(struct serve *s, struct err *e) {
    (void)e;
    struct crew *c = mem_zero(1, sizeof *c);
    c->count = (int)conf_int(s->conf, "workers.count");
    c->worker = mem_zero((size_t)c->count, sizeof *c->worker);
    s->crew = c;
    for (int i = 0; i < c->count; i++) {
        c->worker[i] = (struct worker){.serve = s, .number = i, .delay_us = DELAY_FIRST_US};
        start(&c->worker[i]);
    }
    return 0;
}

void
crew_stop(struct serve *s) {
    struct crew *c = s->crew;
    if (!c)
        return;
    for (int i = 0; i < c->count; i++)
        if (c->worker[i].stream) { /* closing the socket tells the worker to end */
            bufferevent_free(c->worker[i].stream);
            c->worker[i].stream = NULL;
        }
    int64_t until = clock_mono_us() + STOP_WAIT_US;
    for (int i = 0; i < c->count; i++) {
        struct worker *w = &c->worker[i];
        if (w->state == WORKER_NONE)
            continue;
        while (waitpid(w->pid, NULL, WNOHANG) == 0) {
            if (clock_mono_us() > until)
                kill(w->pid, SIGKILL);
            usleep(2000);
        }
    }
    for (int i = 0; i < c->count; i++)
        free(c->worker[i].cast);
    free(c->worker);
    wire_match_free(&c->incoming);
    free(c);
    s->crew = NULL;
}

struct crew_status
crew_status(const struct serve *s) {
    struct crew_status out = {0};
    if (!s->crew)
        return out;
    out.count = s->crew->count;
    out.restarts = s->crew->restarts;
    snprintf(out.kernel, sizeof out.kernel, "%s", s->crew->kernel);
    for (int i = 0; i < s->crew->count; i++) {
        out.ready += s->crew->worker[i].state == WORKER_READY;
        out.in_flight += s->crew->worker[i].jobs;
    }
    return out;
}

long
crew_pid(const struct serve *s, int i) {
    const struct worker *w = &s->crew->worker[i];
    return w->state == WORKER_NONE ? 0 : (long)w->pid;
}
