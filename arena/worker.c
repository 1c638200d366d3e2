/* One loop: take what serve sent, one round of the runner, send what is finished. It blocks only
 * when there is nothing to play. Serve always reads, so writing cannot deadlock. A pulse once a
 * second shows that a long computation is alive; a hung game sends none and is killed by serve's
 * deadline. */
#include "arena/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena/wire.h"
#include "base/clock.h"
#include "base/mem.h"
#include "policy/mat.h"
#include "policy/snap.h"

#define MODELS_KEPT 4 /* snapshots held besides those in use */
#define PULSE_US 1000000
#define FLUSH_BYTES 65536

struct worker {
    int fd;
    char snapshots[3200];
    struct conf *conf;
    struct setup setup;
    struct setup view[CONF_MAX_GAMES]; /* the setup with each game in view */
    struct runner *runner;
    struct buf in, out;
    int64_t sent_us; /* when something was last sent */
    bool closed;
};

static int
flush(struct worker *w, struct err *e) {
    size_t at = 0;
    while (at < w->out.len) {
        ssize_t n = write(w->fd, w->out.at + at, w->out.len - at);
        if (n > 0) {
            at += (size_t)n;
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = w->fd, .events = POLLOUT};
            poll(&p, 1, -1);
            continue;
        }
        return err_set(e, "cannot send to the server: %s", strerror(errno));
    }
    buf_clear(&w->out);
    w->sent_us = clock_mono_us();
    return 0;
}

int
worker_check_kernel(const struct model_config *c, struct err *e) {
    size_t dim = (size_t)c->dim, hidden = (size_t)c->hidden;
    size_t kv = dim / (size_t)c->heads * (size_t)c->kv_heads;
    /* Query, key and value are one product, and so are gate and up. */
    const size_t shapes[][2] = {
        {dim + 2 * kv, dim}, {dim, dim}, {2 * hidden, dim}, {dim, hidden}, {(size_t)c->vocab, dim}};
    return mat_check(shapes, sizeof shapes / sizeof *shapes, e);
}

static int
add_games(struct worker *w, const struct wire_hello *h, struct err *e) {
    for (size_t i = 0; i < h->games; i++) {
        struct setup_game g;
        if (setup_game_parse(&g, h->game[i].spec, e) < 0)
            return -1;
        w->view[i] = setup_view(&w->setup, &g);
        runner_add_game(w->runner, h->game[i].id, &w->view[i]);
    }
    return 0;
}

static int
on_hello(struct worker *w, struct rd *body, struct err *e) {
    struct wire_hello h;
    if (wire_read_hello(body, &h) < 0)
        return err_set(e, "the server's greeting cannot be read");
    if (h.version != WIRE_VERSION)
        return err_set(e, "the server speaks version %u of the worker protocol, this program %u",
                       h.version, WIRE_VERSION);
    char path[4096];
    snprintf(path, sizeof path, "%s/config.yaml", h.run);
    snprintf(w->snapshots, sizeof w->snapshots, "%s/snapshots", h.run);
    w->conf = conf_new();
    if (conf_load(w->conf, path, e) < 0 || setup_load(&w->setup, w->conf, e) < 0 ||
        worker_check_kernel(&w->setup.model, e) < 0)
        return -1;
    w->runner = runner_new(&w->setup);
    if (add_games(w, &h, e) < 0)
        return -1;
    wire_ready(&w->out, mat_kernel());
    return flush(w, e);
}

static int
on_cast(struct worker *w, struct rd *body, struct err *e) {
    struct wire_cast c;
    if (wire_read_cast(body, &c) < 0)
        return err_set(e, "a policy announcement cannot be read");
    if (runner_has(w->runner, c.id))
        return 0;
    if (c.scripted)
        return runner_add_scripted(w->runner, c.id, c.name, e);
    struct model *m = snap_load(w->snapshots, c.name, e);
    return m ? runner_add_model(w->runner, c.id, m, e) : -1;
}

static int
on_jobs(struct worker *w, struct rd *body, struct err *e) {
    int64_t newest;
    struct match_job *jobs;
    size_t n;
    if (wire_read_jobs(body, &newest, &jobs, &n) < 0)
        return err_set(e, "a list of matches cannot be read");
    int status = 0;
    for (size_t i = 0; i < n && !status; i++) {
        if (!runner_can_play(w->runner, jobs[i].game, jobs[i].policy[0]) ||
            !runner_can_play(w->runner, jobs[i].game, jobs[i].policy[1]))
            status = err_set(e, "match %lld: one of its policies was not announced, or cannot play",
                             (long long)jobs[i].id);
        else
            runner_start(w->runner, &jobs[i]);
    }
    free(jobs);
    runner_trim(w->runner, &newest, 1, MODELS_KEPT);
    return status;
}

static int
on_message(struct worker *w, enum wire_type type, struct rd *body, struct err *e) {
    if ((type == WIRE_HELLO) == (w->runner != NULL))
        return err_set(e, "the server's messages are out of order");
    switch (type) {
    case WIRE_HELLO:
        return on_hello(w, body, e);
    case WIRE_CAST:
        return on_cast(w, body, e);
    case WIRE_JOBS:
        return on_jobs(w, body, e);
    case WIRE_READY:
    case WIRE_DONE:
    case WIRE_PULSE:
    case WIRE_FAIL:
        break;
    }
    return err_set(e, "the server sent a message of unknown type %d", (int)type);
}

static int
take_messages(struct worker *w, struct err *e) {
    size_t at = 0, used;
    enum wire_type type;
    struct rd body;
    int got;
    while ((got = wire_next(w->in.at + at, w->in.len - at, &type, &body, &used)) == 1) {
        if (on_message(w, type, &body, e) < 0)
            return -1;
        at += used;
    }
    if (got < 0)
        return err_set(e, "the stream from the server is broken");
    if (at) {
        memmove(w->in.at, w->in.at + at, w->in.len - at);
        w->in.len -= at;
    }
    return 0;
}

/* Reads what is there; waits for it when there is nothing to play. */
static int
receive(struct worker *w, struct err *e) {
    struct pollfd p = {.fd = w->fd, .events = POLLIN};
    bool idle = !w->runner || !runner_active(w->runner);
    int ready = poll(&p, 1, idle ? -1 : 0);
    if (ready < 0 && errno != EINTR)
        return err_set(e, "cannot wait for the server: %s", strerror(errno));
    if (ready <= 0)
        return 0;
    buf_room(&w->in, 65536);
    ssize_t n = read(w->fd, w->in.at + w->in.len, 65536);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? 0 : err_set(e, "%s", strerror(errno));
    if (n == 0) {
        w->closed = true;
        return 0;
    }
    w->in.len += (size_t)n;
    return take_messages(w, e);
}

static void
on_done(void *arg, const struct store_match *m) {
    struct worker *w = arg;
    wire_done(&w->out, m);
}

static int
play(struct worker *w, struct err *e) {
    runner_step(w->runner, on_done, w);
    bool late = clock_mono_us() - w->sent_us > PULSE_US;
    if (late && !w->out.len)
        wire_pulse(&w->out);
    if (w->out.len > FLUSH_BYTES || (w->out.len && (late || !runner_active(w->runner))))
        return flush(w, e);
    return 0;
}

int
worker_run(int fd, struct err *e) {
    struct worker w = {.fd = fd};
    int status = 0;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    while (!w.closed && !status) {
        status = receive(&w, e);
        if (!status && w.runner && runner_active(w.runner))
            status = play(&w, e);
    }
    if (status < 0) {
        buf_clear(&w.out);
        wire_fail(&w.out, e->text);
        flush(&w, NULL);
    }
    runner_free(w.runner);
    setup_free(&w.setup);
    conf_free(w.conf);
    buf_free(&w.in);
    buf_free(&w.out);
    return status;
}
