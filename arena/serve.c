/* Start, stop, and the iterations.
 *
 * Iteration k plays the matches that learner step k + 1 will learn from, all with the snapshot of
 * step k: `batch` training matches with consecutive ids. Their fate stands in one table of slots. A
 * match is finished when a worker has sent it, committed when the database has it for good; only
 * committed matches are leased. What is lost on the way (a worker's death, a full disk) is simply
 * played again: a match is a pure function of its job. */
#include "arena/serve.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena/lock.h"
#include "arena/serve-int.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "games/extern/extern.h"
#include "policy/player.h"

#define TICK_US 20000   /* commits wait at most so long */
#define PAUSE_US 500000 /* before a busy or full database is tried again */
#define BUSY_TOLD_US 30000000
#define MAX_ATTEMPTS 2
#define STOP_US 50000
#define THIN_SLICE 2048 /* match ids that one call of store_thin() passes */

void
serve_stop(struct serve *s) {
    /* A little later, so that the answer to whoever asked still goes out. */
    struct timeval soon = {.tv_usec = STOP_US};
    s->stopping = true;
    event_base_loopexit(s->base, &soon);
}

void
serve_give_up(struct serve *s, const char *fmt, ...) {
    char text[900];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    log_error("serve", "%s", text);
    if (!s->failed)
        err_set(&s->why, "%s", text);
    s->failed = true;
    serve_stop(s);
}

/* ---- the database ---- */

/* The database cannot be written now, and that is a state: told when it begins, every half minute,
 * and when it ends. */
void
serve_waits(struct serve *s, const struct err *e) {
    int64_t now = clock_mono_us();
    if (s->told_busy_us && now - s->told_busy_us < BUSY_TOLD_US)
        return;
    s->told_busy_us = now;
    log_warn("serve", "the database cannot be written now, matches wait: %s", e->text);
}

void
serve_goes_on(struct serve *s) {
    if (s->told_busy_us)
        log_info("serve", "the database can be written again");
    s->told_busy_us = 0;
}

/* What was not committed is gone: forget it and play it again when there is room. */
static void
store_trouble(struct serve *s, const struct err *e) {
    if (!store_retry(s->store)) {
        serve_give_up(s, "%s", e->text);
        return;
    }
    serve_waits(s, e);
    for (int64_t i = 0; i < s->batch; i++)
        if (s->slot[i].state == SLOT_FINISHED) {
            s->slot[i].state = SLOT_PENDING;
            if (i < s->next)
                s->next = i;
        }
    s->uncommitted = 0;
    store_rollback(s->store);
    s->paused_until_us = clock_mono_us() + PAUSE_US;
}

void
serve_commit(struct serve *s) {
    struct err e;
    if (!s->uncommitted)
        return;
    if (store_commit(s->store, &e) < 0) {
        store_trouble(s, &e);
        return;
    }
    s->uncommitted = 0;
    serve_goes_on(s);
    for (int64_t i = s->ready; i < s->batch; i++)
        if (s->slot[i].state == SLOT_FINISHED)
            s->slot[i].state = SLOT_COMMITTED;
    while (s->ready < s->batch && s->slot[s->ready].state == SLOT_COMMITTED)
        s->ready++;
    api_offer(s);
}

static void
count(struct serve *s, const struct store_match *m) {
    s->matches++;
    s->invalid += m->reason == END_INVALID || m->reason == END_NO_ANSWER;
    for (size_t i = 0; i < m->nturns; i++)
        if (m->turn[i].logp)
            s->tokens += m->turn[i].ntokens;
}

static bool
all_finished(const struct serve *s) {
    for (int64_t i = s->ready; i < s->batch; i++)
        if (s->slot[i].state < SLOT_FINISHED)
            return false;
    return true;
}

/* Gives every turn its prompt as text, for people who read the database. */
static void
spell_prompts(struct serve *s, struct store_turn *turn, size_t n) {
    size_t room = 0;
    for (size_t i = 0; i < n; i++)
        room += turn[i].nprompt + 1;
    buf_clear(&s->text);
    buf_room(&s->text, room);
    for (size_t i = 0; i < n; i++) {
        turn[i].prompt_text = (const char *)s->text.at + s->text.len;
        s->text.len +=
            tokens_spell(turn[i].prompt, turn[i].nprompt, (char *)s->text.at + s->text.len) + 1;
    }
}

static void
record(struct serve *s, int64_t i, const struct store_match *m) {
    struct err e;
    if (store_match_add(s->store, m, &e) < 0) {
        store_trouble(s, &e);
        if (s->slot[i].state != SLOT_PENDING) {
            s->slot[i].state = SLOT_PENDING;
            if (i < s->next)
                s->next = i;
        }
        return;
    }
    s->slot[i].state = SLOT_FINISHED;
    s->uncommitted++;
    count(s, m);
    if (s->uncommitted >= s->batch - s->ready && all_finished(s))
        serve_commit(s);
}

void
serve_match(struct serve *s, const struct wire_match *in, int worker) {
    const struct store_match *m = &in->match;
    int64_t i = m->id - s->first;
    if (i < 0 || i >= s->batch || s->slot[i].state != SLOT_PLAYING || s->slot[i].worker != worker) {
        log_warn("serve", "worker %d sent match %lld, which it was not given; ignored", worker,
                 (long long)m->id);
        return;
    }
    if (m->game != s->slot[i].job.game) {
        log_warn("serve", "match %lld came back as another game; ignored", (long long)m->id);
        return;
    }
    spell_prompts(s, in->turn, m->nturns);
    record(s, i, m);
    /* A worker gives a match up only where its game can no longer be played at all. When no other
     * is left, there is nothing to learn from. */
    s->lost += m->reason == END_ABORTED;
    if (s->lost == s->batch)
        serve_give_up(s, "%s", m->detail ? m->detail : "the game cannot be played any more");
}

static void
abort_match(struct serve *s, int64_t i, const char *why) {
    const struct match_job *j = &s->slot[i].job;
    int64_t now = clock_wall_ms();
    struct store_match m = {.id = j->id,
                            .kind = j->kind,
                            .iteration = j->iteration,
                            .game = j->game,
                            .deal = j->deal,
                            .policy = {j->policy[0], j->policy[1]},
                            .reason = END_ABORTED,
                            .loser = -1,
                            .started_ms = now,
                            .ended_ms = now,
                            .attempts = j->attempts,
                            .detail = why};
    log_warn("serve", "match %lld is given up after %d attempts: %s", (long long)j->id, j->attempts,
             why);
    record(s, i, &m);
}

void
serve_worker_died(struct serve *s, int worker, const char *why) {
    for (int64_t i = 0; i < s->batch; i++) {
        struct slot *slot = &s->slot[i];
        if (slot->state != SLOT_PLAYING || slot->worker != worker)
            continue;
        if (slot->job.attempts >= MAX_ATTEMPTS) { /* it was alone, so it is to blame */
            abort_match(s, i, why);
            continue;
        }
        slot->job.attempts++;
        slot->state = SLOT_PENDING;
        slot->again = true;
        s->again++;
    }
}

/* ---- iterations ---- */

static void
begin_iteration(struct serve *s) {
    int64_t batch = conf_int(s->conf, "learner.batch");
    s->batch = s->step < s->last_step ? batch : 0;
    s->slot = mem_grow(s->slot, (size_t)batch, sizeof *s->slot);
    s->first = s->lease_next;
    s->next = s->again = s->ready = s->uncommitted = s->lost = 0;
    int64_t last = store_match_last(s->store, NULL);
    for (int64_t i = 0; i < s->batch; i++) {
        s->slot[i] = (struct slot){.state = SLOT_PENDING, .worker = -1};
        schedule_match(&s->schedule, s->first + i, s->step, s->newest.id, s->older, s->nolder,
                       &s->slot[i].job);
        if (s->first + i <= last && store_match_exists(s->store, s->first + i))
            s->slot[i].state = SLOT_COMMITTED;
    }
    while (s->ready < s->batch && s->slot[s->ready].state == SLOT_COMMITTED)
        s->ready++;
}

/* Deletes the files of snapshots that the keeping rule drops, and forgets them as opponents. */
static void
thin_snapshots(struct serve *s) {
    int64_t keep = conf_int(s->conf, "snapshots.keep");
    size_t n = 0;
    for (size_t i = 0; i < s->nolder; i++) {
        if (schedule_keeps(s->older_step[i], s->step, keep)) {
            s->older[n] = s->older[i];
            s->older_step[n++] = s->older_step[i];
            continue;
        }
        struct store_policy p;
        struct err e;
        if (store_policy_get(s->store, s->older[i], &p, &e) < 0 ||
            store_policy_set_kept(s->store, p.id, false, &e) < 0) {
            log_warn("serve", "%s", e.text);
            continue;
        }
        char path[SERVE_PATH + 128];
        snprintf(path, sizeof path, "%s/snapshots/%s.safetensors", s->run, p.name);
        /* A refused step names its predecessor's file: the newest must never be lost. */
        if (strcmp(p.name, s->newest.name))
            unlink(path);
    }
    s->nolder = n;
}

static void
remember_snapshot(struct serve *s, int64_t id, int64_t step) {
    s->older = mem_grow(s->older, s->nolder + 1, sizeof *s->older);
    s->older_step = mem_grow(s->older_step, s->nolder + 1, sizeof *s->older_step);
    s->older[s->nolder] = id;
    s->older_step[s->nolder++] = step;
}

void
serve_advance(struct serve *s, int64_t step, int64_t policy, const char *hash) {
    if (s->newest.id)
        remember_snapshot(s, s->newest.id, s->newest.step);
    s->step = step;
    s->newest = (struct store_policy){.id = policy, .step = step, .kept = true};
    snprintf(s->newest.name, sizeof s->newest.name, "%s", hash);
    thin_snapshots(s);
    int64_t keep = conf_int(s->conf, "store.keep");
    struct err e;
    for (int64_t done = 0; keep > 1 && done < s->batch; done += THIN_SLICE)
        if (store_thin(s->store, s->lease_next - 1, (int)keep, &e) < 0)
            log_warn("serve", "%s", e.text);
    begin_iteration(s);
    crew_dispatch(s);
    api_offer(s);
    if (s->batch == 0)
        log_info("serve", "step %lld was the last one (learner.steps)", (long long)step);
}

int
serve_reset_leases(struct serve *s, struct err *e) {
    serve_commit(s);
    if (store_lease_drop(s->store, e) < 0)
        return -1;
    int64_t next = store_lease_next(s->store, e);
    if (next < 0)
        return -1;
    s->lease_next = next;
    return 0;
}

/* ---- start ---- */

static int
add_scripted(struct serve *s, const char *name, int64_t *id, struct err *e) {
    struct store_policy p = {.step = -1, .at_ms = clock_wall_ms(), .kept = true};
    snprintf(p.kind, sizeof p.kind, "scripted");
    if (strlen(name) >= sizeof p.name)
        return err_set(e, "scripted player \"%s\": the name is too long", name);
    snprintf(p.name, sizeof p.name, "%s", name);
    if (store_policy_add(s->store, &p, e) < 0)
        return -1;
    *id = p.id;
    return 0;
}

/* Can the player play this game? Where a run has several games, one that cannot is left out of the
 * matches of that game. Of a single game the workers say it. */
static bool
is_able(const struct serve *s, const struct setup_game *g, const char *name) {
    struct err e;
    if (s->setup.ngames == 1 || s->schedule.scripted <= 0)
        return true;
    struct player *p = player_open(name, g->game, &g->args, &e);
    if (!p)
        log_warn("serve", "schedule.opponents: %s takes no part in %s: %s", name, g->spec, e.text);
    player_close(p);
    return p != NULL;
}

/* Adds a player to the opponents of each game that it can play. */
static int
load_opponent(struct serve *s, const char *name, struct err *e) {
    int64_t id;
    size_t able = 0;
    if (add_scripted(s, name, &id, e) < 0)
        return -1;
    for (size_t i = 0; i < s->setup.ngames; i++) {
        struct schedule_game *g = &s->game[i];
        if (!is_able(s, &s->setup.games[i], name))
            continue;
        s->opponent[i] = mem_grow(s->opponent[i], g->nopponents + 1, sizeof *s->opponent[i]);
        s->opponent[i][g->nopponents++] = id;
        g->opponent = s->opponent[i];
        able++;
    }
    return able ? 0 : err_set(e, "schedule.opponents: %s can play none of the games", name);
}

static int
load_opponents(struct serve *s, struct err *e) {
    for (const char *at = conf_text(s->conf, "schedule.opponents"); *at;) {
        size_t len = strcspn(at, " ");
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        at += len + (at[len] == ' ');
        if (len && load_opponent(s, name, e) < 0)
            return -1;
    }
    return 0;
}

static int
load_games(struct serve *s, struct err *e) {
    for (size_t i = 0; i < s->setup.ngames; i++) {
        const struct setup_game *from = &s->setup.games[i];
        struct store_game g = {.version = from->game->version};
        snprintf(g.spec, sizeof g.spec, "%s", from->spec);
        snprintf(g.name, sizeof g.name, "%s", from->game->name);
        snprintf(g.hash, sizeof g.hash, "%s", game_hash(from->game));
        if (store_game_add(s->store, &g, e) < 0)
            return -1;
        s->game[i] = (struct schedule_game){.id = g.id, .weight = from->weight};
    }
    return 0;
}

/* The games as the run's facts have them: their specifications, separated by blanks. */
static int
note_run(struct serve *s, struct err *e) {
    char seed[32];
    struct buf games = {0};
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->setup.seed);
    for (size_t i = 0; i < s->setup.ngames; i++)
        buf_fmt(&games, "%s%s", i ? " " : "", s->setup.games[i].spec);
    int bad = store_run_set(s->store, "seed", seed, e);
    if (!bad)
        bad = store_run_set(s->store, "game", buf_text(&games), e);
    buf_free(&games);
    return bad;
}

static int
load_schedule(struct serve *s, struct err *e) {
    if (load_games(s, e) < 0)
        return -1;
    s->schedule = (struct schedule){
        .seed = s->setup.seed,
        .pairs = conf_bool(s->conf, "schedule.pairs"),
        .older = conf_real(s->conf, "schedule.older"),
        .scripted = conf_real(s->conf, "schedule.scripted"),
        .warmup = conf_int(s->conf, "learner.warmup"),
        .game = s->game,
        .ngames = s->setup.ngames,
    };
    if (s->schedule.older + s->schedule.scripted > 1)
        return err_set(e, "schedule.older and schedule.scripted: the shares add up to more than 1");
    if (note_run(s, e) < 0 || add_scripted(s, "random", &s->schedule.random, e) < 0 ||
        load_opponents(s, e) < 0)
        return -1;
    return store_commit(s->store, e);
}

static int
on_policy(void *arg, const struct store_policy *p) {
    struct serve *s = arg;
    if (p->step >= 0 && p->kept && p->id != s->newest.id)
        remember_snapshot(s, p->id, p->step);
    return 0;
}

static int
by_step(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Where the run stands, from the database alone. */
static int
load_progress(struct serve *s, struct err *e) {
    char state[HASH_HEX];
    if (store_step_last(s->store, &s->step, state, e) < 0 || serve_reset_leases(s, e) < 0)
        return -1;
    if (s->step >= 0 && store_policy_latest(s->store, &s->newest, e) < 0)
        return -1;
    if (store_policy_list(s->store, on_policy, s, e) < 0)
        return -1;
    /* Ids and steps grow together, so sorting each keeps the pairs. */
    if (s->nolder) {
        qsort(s->older, s->nolder, sizeof *s->older, by_step);
        qsort(s->older_step, s->nolder, sizeof *s->older_step, by_step);
    }
    if (s->step >= 0)
        begin_iteration(s);
    return 0;
}

static void
on_signal(evutil_socket_t signal, short what, void *arg) {
    (void)what;
    log_info("serve", "signal %d: stopping", (int)signal);
    serve_stop(arg);
}

static void
on_tick(evutil_socket_t fd, short what, void *arg) {
    (void)fd;
    (void)what;
    struct serve *s = arg;
    serve_commit(s);
    crew_tick(s);
    api_tick(s);
    if (s->paused_until_us && clock_mono_us() > s->paused_until_us) {
        s->paused_until_us = 0;
        crew_dispatch(s);
    }
}

static int
open_all(struct serve *s, struct err *e) {
    char path[SERVE_PATH + 32];
    snprintf(path, sizeof path, "%s/config.yaml", s->run);
    s->conf = conf_new();
    if (conf_load(s->conf, path, e) < 0 || setup_load(&s->setup, s->conf, e) < 0)
        return -1;
    s->lock_fd = lock_run(s->run, e);
    if (s->lock_fd < 0)
        return -1;
    s->last_step = conf_int(s->conf, "learner.steps");
    snprintf(path, sizeof path, "%s/snapshots", s->run);
    if (file_mkdirs(path, e) < 0)
        return -1;
    snprintf(path, sizeof path, "%s/run.db", s->run);
    s->store = store_open(path, STORE_WRITE, conf_text(s->conf, "store.sync")[0] == 'f', e);
    if (!s->store || load_schedule(s, e) < 0 || load_progress(s, e) < 0)
        return -1;
    s->base = event_base_new();
    if (!s->base)
        return err_set(e, "libevent found no way to wait for events");
    s->term = evsignal_new(s->base, SIGTERM, on_signal, s);
    s->interrupt = evsignal_new(s->base, SIGINT, on_signal, s);
    s->tick = event_new(s->base, -1, EV_PERSIST, on_tick, s);
    struct timeval every = {.tv_usec = TICK_US};
    if (!s->term || !s->interrupt || !s->tick || evsignal_add(s->term, NULL) < 0 ||
        evsignal_add(s->interrupt, NULL) < 0 || event_add(s->tick, &every) < 0)
        return err_set(e, "libevent could not watch signals and time");
    if (api_start(s, e) < 0)
        return -1;
    return crew_start(s, e);
}

static void
close_all(struct serve *s) {
    api_stop(s);
    crew_stop(s);
    struct event *events[] = {s->tick, s->term, s->interrupt};
    for (size_t i = 0; i < 3; i++)
        if (events[i])
            event_free(events[i]);
    if (s->base)
        event_base_free(s->base);
    store_close(s->store);
    setup_free(&s->setup);
    conf_free(s->conf);
    for (size_t i = 0; i < CONF_MAX_GAMES; i++)
        free(s->opponent[i]);
    free(s->slot);
    free(s->older);
    free(s->older_step);
    buf_free(&s->text);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
}

int
serve_run(const char *run, struct err *e) {
    struct serve s = {.lock_fd = -1, .step = -1, .started_us = clock_mono_us()};
    signal(SIGPIPE, SIG_IGN);
    if (snprintf(s.run, sizeof s.run, "%s", run) >= (int)sizeof s.run)
        return err_set(e, "the run folder's path is too long");
    int status = open_all(&s, e);
    if (status == 0) {
        log_info("serve", "run %s, step %lld, %zu game%s, %s first", s.run, (long long)s.step,
                 s.setup.ngames, s.setup.ngames == 1 ? "" : "s", s.setup.spec);
        crew_dispatch(&s);
        event_base_dispatch(s.base);
        serve_commit(&s);
        log_info("serve", "stopped after %llu matches", (unsigned long long)s.matches);
    }
    close_all(&s);
    if (s.failed) {
        *e = s.why;
        return -1;
    }
    return status;
}
