/* The loop. Serve decides where the run stands: after every lost connection the learner asks it,
 * and goes on from the step that serve names. What is in memory is used again when it is that
 * very state, otherwise it is read back from the files. A step whose acknowledgement was lost is
 * therefore either found acknowledged or computed again, from the same matches to the same
 * bytes. */
#include "learner/learn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "learner/ack.h"
#include "learner/lesson.h"
#include "learner/link.h"
#include "learner/plan.h"
#include "learner/state.h"
#include "learner/update.h"
#include "store/store.h"

#define MODULE "learner"
#define BUSY_SECONDS 10

struct learner {
    const char *run; /* borrowed */
    struct plan plan;
    struct link *link;
    struct store *store; /* read-only */
    struct state *state;
    struct lesson *lesson;
    struct baselines baselines; /* as of the newest acknowledged step */
    int64_t policy;             /* of the state's weights */
    int64_t *lease;             /* of the step in progress; owned */
    size_t nlease, lease_cap;
    int64_t step_began;            /* monotonic microseconds */
    int64_t played;                /* when the last matches of the step were there */
    double wait_s, learn_s, ack_s; /* of the step in progress; ack_s of the one before */
    bool pending;                  /* the step was sent, and no answer came yet */
    bool refused;                  /* the step in progress */
    struct metrics metrics;
    struct buf body;
};

/* ---- being stopped ---- */

/* A signal handler can reach nothing else. */
static volatile sig_atomic_t stop_signal;

static void
on_signal(int number) {
    stop_signal = number;
}

static bool
is_stopped(void *arg) {
    (void)arg;
    return stop_signal != 0;
}

/* ---- time ---- */

static double
seconds_since(int64_t start_us) {
    return (double)(clock_mono_us() - start_us) / 1e6;
}

/* ---- sessions ---- */

static int
take_baseline(void *arg, const struct store_baseline *row) {
    baselines_set(
        arg, &(struct baseline){
                 .game = row->game, .role = row->role, .value = row->value, .count = row->count});
    return 0;
}

/* Done once a server has answered: it writes config.yaml before it listens. */
static int
prepare(struct learner *l, struct err *e) {
    if (plan_read(&l->plan, l->run, e) < 0)
        return -1;
    struct buf path = {0};
    const char *const folders[] = {"snapshots", "state"};
    int bad = 0;
    for (int i = 0; i < 2 && bad == 0; i++) {
        buf_clear(&path);
        buf_fmt(&path, "%s/%s", l->run, folders[i]);
        bad = file_mkdirs(buf_text(&path), e);
    }
    buf_clear(&path);
    buf_fmt(&path, "%s/run.db", l->run);
    if (bad == 0)
        l->store = store_open(buf_text(&path), STORE_READ, false, e);
    buf_free(&path);
    if (!l->store)
        return -1;
    l->state = state_new(&l->plan);
    l->lesson = lesson_new(&l->plan, l->state->model->count);
    l->baselines = (struct baselines){.kind = l->plan.baseline, .decay = l->plan.baseline_decay};
    return 0;
}

static int
load(struct learner *l, const struct link_session *s, struct err *e) {
    if (state_load(l->state, &l->plan, l->run, s->state, e) < 0)
        return -1;
    if (l->state->step != s->step || strcmp(l->state->snapshot, s->snapshot))
        return err_set(e,
                       "%s/state/%s: is of step %" PRId64 ", but run.db names it for step %" PRId64,
                       l->run, s->state, l->state->step, s->step);
    state_sweep(l->state, l->run);
    l->baselines.n = 0;
    if (store_baseline_list(l->store, take_baseline, &l->baselines, e) < 0)
        return -1;
    log_info(MODULE, "continuing after step %" PRId64 ", snapshot %.12s", s->step, s->snapshot);
    return 0;
}

static enum link_result
publish_first(struct learner *l, struct err *e) {
    state_init(l->state, &l->plan);
    state_sweep(l->state, l->run);
    if (state_save(l->state, &l->plan, l->run, e) < 0)
        return LINK_FAIL;
    metrics_clear(&l->metrics);
    buf_clear(&l->body);
    ack_body(&(struct ack){.state = l->state, .metrics = &l->metrics}, &l->body);
    enum link_result r = link_step(l->link, &l->body, &l->policy, e);
    if (r != LINK_OK)
        return r;
    state_thin(l->state, l->run);
    log_info(MODULE, "first weights: %zu parameters, snapshot %.12s", l->state->model->count,
             l->state->snapshot);
    return LINK_OK;
}

/* ---- one step ---- */

static void
append_line(struct learner *l) {
    struct buf path = {0}, line = {0};
    buf_fmt(&path, "%s/metrics.jsonl", l->run);
    ack_line(&(struct ack){.state = l->state, .refused = l->refused, .metrics = &l->metrics},
             clock_wall_ms(), &line);
    /* A pipe without a reader is an error rather than something to wait for. */
    int fd = open(buf_text(&path), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (fd < 0 || write(fd, line.at, line.len) != (ssize_t)line.len)
        log_warn(MODULE, "%s: cannot append: %s", buf_text(&path), strerror(errno));
    if (fd >= 0)
        close(fd);
    buf_free(&path);
    buf_free(&line);
}

/* The step in progress is acknowledged. */
static void
settle(struct learner *l, int64_t policy) {
    l->pending = false;
    l->policy = policy;
    if (!l->refused)
        baselines_copy(&l->baselines, &l->lesson->baselines);
    state_thin(l->state, l->run);
    append_line(l);
    if (l->refused)
        log_warn(MODULE,
                 "step %" PRId64 " refused: its loss or gradient is not finite; the weights stay",
                 l->state->step);
}

static enum link_result
open_session(struct learner *l, struct err *e) {
    struct link_session s;
    enum link_result r = link_open(l->link, &s, e);
    if (r != LINK_OK)
        return r;
    if (!l->state && prepare(l, e) < 0)
        return LINK_FAIL;
    l->step_began = clock_mono_us();
    if (s.step < 0) {
        l->pending = false;
        return publish_first(l, e);
    }
    if (!strcmp(s.state, l->state->hash)) {
        if (l->pending)
            settle(l, s.policy);
    } else if (load(l, &s, e) < 0) {
        return LINK_FAIL;
    }
    l->pending = false;
    l->policy = s.policy;
    return LINK_OK;
}

struct reading {
    struct lesson *lesson;
    struct err *e;
    int bad;
};

static int
take_match(void *arg, const struct store_match *m) {
    struct reading *r = arg;
    r->bad = lesson_match(r->lesson, m, r->e);
    return r->bad;
}

/* Reads the leased matches into the lesson. A busy database is asked again, as long as it has
 * shown no match. */
static int
read_lease(struct learner *l, const struct link_lease *lease, struct err *e) {
    int64_t before = l->lesson->leased, count = lease->last - lease->first + 1;
    struct reading r = {.lesson = l->lesson, .e = e};
    int64_t start = clock_mono_us();
    for (;;) {
        int got = store_match_each(l->store, lease->first, lease->last, take_match, &r, e);
        if (r.bad)
            return -1;
        if (got >= 0)
            break;
        if (!store_retry(l->store) || l->lesson->leased != before ||
            seconds_since(start) > BUSY_SECONDS)
            return -1;
        nanosleep(&(struct timespec){.tv_nsec = 20 * 1000000L}, NULL);
    }
    if (l->lesson->leased - before != count)
        return err_set(e,
                       "lease %" PRId64 " is of %" PRId64 " matches, but run.db holds %" PRId64
                       " training matches from %" PRId64 " to %" PRId64,
                       lease->id, count, l->lesson->leased - before, lease->first, lease->last);
    return 0;
}

static enum link_result
wait_lease(struct learner *l, int64_t count, struct link_lease *out, struct err *e) {
    int64_t start = clock_mono_us();
    enum link_result r;
    do {
        r = link_lease(l->link, count, out, e);
    } while (r == LINK_WAIT && !is_stopped(NULL));
    l->wait_s += seconds_since(start);
    if (is_stopped(NULL))
        return LINK_STOP;
    if (r == LINK_OK && (out->first > out->last || out->last - out->first >= count)) {
        err_set(
            e, "lease %" PRId64 ": %" PRId64 " matches were asked for, not %" PRId64 " to %" PRId64,
            out->id, count, out->first, out->last);
        return LINK_FAIL;
    }
    return r;
}

/* Leases the matches of a step, chunk by chunk, and adds up their gradient. */
static enum link_result
gather(struct learner *l, struct err *e) {
    lesson_begin(l->lesson, l->state->step + 1, l->policy, &l->baselines);
    l->nlease = 0;
    l->wait_s = l->learn_s = 0;
    for (int64_t left = l->plan.batch; left > 0;) {
        int64_t count = left < l->plan.chunk ? left : l->plan.chunk;
        struct link_lease lease;
        enum link_result r = wait_lease(l, count, &lease, e);
        if (r != LINK_OK)
            return r;
        if (l->nlease == l->lease_cap) {
            l->lease_cap = l->lease_cap ? 2 * l->lease_cap : 16;
            l->lease = mem_grow(l->lease, l->lease_cap, sizeof *l->lease);
        }
        l->lease[l->nlease++] = lease.id;
        int64_t start = l->played = clock_mono_us();
        if (read_lease(l, &lease, e) < 0)
            return LINK_FAIL;
        lesson_chunk(l->lesson, l->state->model, l->state->magnet);
        l->learn_s += seconds_since(start);
        left -= lease.last - lease.first + 1;
    }
    return LINK_OK;
}

struct naming { /* of a lesson's games, by the table of games */
    struct metrics *out;
    struct store_game known[CONF_MAX_GAMES];
    size_t n;
};

static int
note_game(void *arg, const struct store_game *g) {
    struct naming *a = arg;
    if (a->n == CONF_MAX_GAMES)
        return 1;
    a->known[a->n++] = *g;
    return 0;
}

static void
measure_game(struct naming *a, const struct lesson *b, const struct lesson_game *of) {
    const struct store_game *found = NULL;
    bool unique = true;
    for (size_t i = 0; i < a->n; i++)
        if (a->known[i].id == of->id)
            found = &a->known[i];
    for (size_t i = 0; found && i < a->n; i++)
        unique = unique && (&a->known[i] == found || strcmp(a->known[i].name, found->name));
    if (!found || a->out->games == CONF_MAX_GAMES)
        return;
    struct metrics_game *g = &a->out->game[a->out->games++];
    snprintf(g->name, sizeof g->name, "%s", unique ? found->name : found->spec);
    for (int seat = 0; seat < 2; seat++) {
        g->reward[seat] = of->seats[seat] ? of->ret[seat] / (double)of->seats[seat] : (double)NAN;
        g->baseline[seat] = b->warmup ? (double)NAN : baselines_value(&b->baselines, of->id, seat);
    }
    g->invalid = of->matches ? (double)of->invalid / (double)of->matches : (double)NAN;
}

static void
measure_games(struct learner *l) {
    struct naming a = {.out = &l->metrics};
    struct err e;
    if (l->plan.games < 2)
        return;
    if (store_game_list(l->store, note_game, &a, &e) < 0)
        log_warn(MODULE, "the games have no names in this step's metrics: %s", e.text);
    for (size_t i = 0; i < l->lesson->games; i++)
        measure_game(&a, l->lesson, &l->lesson->game[i]);
}

static void
measure(struct learner *l, int64_t step, double norm, double publish_s) {
    struct metrics *m = &l->metrics;
    metrics_clear(m);
    lesson_metrics(l->lesson, m);
    measure_games(l);
    double whole = seconds_since(l->step_began);
    m->at[METRIC_GRAD_NORM] = norm;
    m->at[METRIC_LR] = plan_rate(&l->plan, step);
    m->at[METRIC_TOKENS_S] = (double)l->lesson->tokens / whole;
    m->at[METRIC_MATCHES_S] = (double)l->lesson->matches / whole;
    m->at[METRIC_WAIT_DATA_S] = l->wait_s;
    m->at[METRIC_WAIT_LEARNER_S] = seconds_since(l->played);
    m->at[METRIC_LEARN_S] = l->learn_s;
    m->at[METRIC_PUBLISH_S] = publish_s;
    m->at[METRIC_ACK_S] = l->ack_s;
}

static enum link_result
make_step(struct learner *l, struct err *e) {
    enum link_result r = gather(l, e);
    if (r != LINK_OK)
        return r;
    int64_t step = l->state->step + 1, start = clock_mono_us();
    if (!l->lesson->tokens)
        log_warn(MODULE, "step %" PRId64 ": nothing to learn from in %" PRId64 " matches", step,
                 l->lesson->leased);
    double norm;
    l->refused = !update_apply(l->state, l->lesson, &l->plan, step, &norm);
    l->learn_s += seconds_since(start);
    start = clock_mono_us();
    if (state_save(l->state, &l->plan, l->run, e) < 0)
        return LINK_FAIL;
    measure(l, step, norm, seconds_since(start));
    buf_clear(&l->body);
    ack_body(&(struct ack){.state = l->state,
                           .lesson = l->lesson,
                           .refused = l->refused,
                           .lease = l->lease,
                           .nlease = l->nlease,
                           .metrics = &l->metrics},
             &l->body);
    start = clock_mono_us();
    l->pending = true;
    int64_t policy;
    r = link_step(l->link, &l->body, &policy, e);
    if (r != LINK_OK)
        return r;
    l->ack_s = seconds_since(start);
    l->step_began = clock_mono_us();
    settle(l, policy);
    return LINK_OK;
}

/* ---- the whole ---- */

static enum link_result
loop(struct learner *l, struct err *e) {
    enum link_result r = open_session(l, e);
    while (r == LINK_OK || r == LINK_LOST) {
        if (r == LINK_LOST) {
            log_warn(MODULE, "lost agon serve: %s", e->text);
            r = open_session(l, e);
            continue;
        }
        if (l->state->step >= l->plan.steps) {
            log_info(MODULE, "done: step %" PRId64 " of %" PRId64, l->state->step, l->plan.steps);
            return LINK_OK;
        }
        r = is_stopped(NULL) ? LINK_STOP : make_step(l, e);
    }
    if (r == LINK_STOP && l->state)
        log_info(MODULE, "stopped after step %" PRId64, l->state->step);
    else if (r == LINK_STOP)
        log_info(MODULE, "stopped before agon serve answered");
    return r;
}

int
learn_run(const char *run, struct err *e) {
    struct sigaction mine = {.sa_handler = on_signal}, old_term, old_int;
    stop_signal = 0;
    sigaction(SIGTERM, &mine, &old_term);
    sigaction(SIGINT, &mine, &old_int);
    struct learner l = {.run = run};
    struct link_patience patience = {.start = 30, .lost = 60};
    l.link = link_new(run, patience, is_stopped, NULL);
    enum link_result r = loop(&l, e);
    link_free(l.link);
    store_close(l.store);
    lesson_free(l.lesson);
    state_free(l.state);
    baselines_free(&l.baselines);
    free(l.lease);
    buf_free(&l.body);
    sigaction(SIGTERM, &old_term, NULL);
    sigaction(SIGINT, &old_int, NULL);
    return r == LINK_FAIL ? -1 : 0;
}
