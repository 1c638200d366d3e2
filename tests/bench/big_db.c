/* A big run for measuring: matches played by the rules between made-up policies, with prompts,
 * replies, tokens, steps, samples, evaluations and events, as a run of that length would have left
 * them. `agon verify` finds nothing wrong with it, and `agon train` goes on with it: the newest
 * weights and the learner's state are real files. About 200000 turns a second.
 *
 * Usage: big_db RUN [TURNS [CONFIG [KEY=VALUE...]]] (1000000 turns of tests/bench/big_db.yaml). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena/match.h"
#include "arena/schedule.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "learner/plan.h"
#include "learner/state.h"
#include "policy/token.h"
#include "store/store.h"

enum { MATCH_MS = 5, MOST_TURNS = 1024, MOST_PLAYERS = 32, EVAL_EVERY = 20, INVALID_IN = 70 };

struct done { /* what the step needs to know of a match */
    int64_t game, policy[2];
    bool learns;
    double payoff[2];
};

struct big {
    const char *run;
    struct conf *conf;
    struct setup setup, view[CONF_MAX_GAMES];
    struct plan plan;
    struct state *state;
    struct store *store;
    struct runner *runner;
    struct schedule schedule;
    struct schedule_game game[CONF_MAX_GAMES];
    int64_t player[MOST_PLAYERS]; /* the scripted opponents */
    size_t players;
    int64_t *older; /* [nolder] snapshots before the newest */
    size_t nolder;
    int64_t step, newest, first, turns, start_ms;
    uint64_t invalid, tokens; /* of the step in hand */
    struct match_job *job;    /* [batch] */
    struct done *done;        /* [batch] */
    struct store_sample *sample;
    struct store_baseline baseline[2 * CONF_MAX_GAMES];
    struct buf text;
    float logp[8192];
};

static void
need(int status, const struct err *e) {
    if (status >= 0)
        return;
    fprintf(stderr, "big_db: %s\n", e->text);
    exit(1);
}

/* ---- matches ---- */

static void
spell_prompts(struct big *b, struct store_turn *turn, size_t n) {
    size_t room = 0;
    for (size_t i = 0; i < n; i++)
        room += turn[i].nprompt + 1;
    buf_clear(&b->text);
    buf_room(&b->text, room);
    for (size_t i = 0; i < n; i++) {
        char *at = (char *)b->text.at + b->text.len;
        turn[i].prompt_text = at;
        b->text.len += tokens_spell(turn[i].prompt, turn[i].nprompt, at) + 1;
    }
}

/* One match in so many ends by a reply that means nothing. */
static void
spoil(struct store_match *m, struct store_turn *turn, struct rng *r) {
    static const int32_t tokens[] = {'h', 'm', 'm', TOKEN_END};
    struct store_turn *t;
    if (!m->nturns || rng_below(r, INVALID_IN))
        return;
    m->nturns = 1 + rng_below(r, (uint32_t)m->nturns);
    t = &turn[m->nturns - 1];
    t->reply = "hmm";
    t->nreply = 3;
    t->word = "hmm";
    t->tokens = tokens;
    t->ntokens = 4;
    t->action = -1;
    t->verdict = VERDICT_ILLEGAL;
    m->nmoves = (size_t)t->ply;
    m->reason = END_INVALID;
    m->loser = t->seat;
    m->result = m->payoff[0] = t->seat ? 1 : -1;
    m->payoff[1] = -m->result;
}

/* The match as if those had played it whom the schedule names. */
static void
record(void *arg, const struct store_match *played) {
    struct big *b = arg;
    struct err e;
    struct rng r;
    int64_t i = played->id - b->first;
    const struct match_job *job = &b->job[i];
    struct store_match m = *played;
    struct store_turn turn[MOST_TURNS];
    rng_init(&r, b->plan.seed, (uint64_t)m.id, RNG_TEST);
    if (m.nturns > MOST_TURNS)
        need(err_set(&e, "match %lld has more than %d turns", (long long)m.id, MOST_TURNS), &e);
    memcpy(turn, m.turn, m.nturns * sizeof *turn);
    m.turn = turn;
    m.kind = job->kind;
    m.iteration = job->iteration;
    m.started_ms = b->start_ms + m.id * MATCH_MS;
    m.ended_ms = m.started_ms + 20 + (int64_t)m.nturns * 7 + rng_below(&r, 60);
    memcpy(m.policy, job->policy, sizeof m.policy);
    bool warmup = job->kind == MATCH_WARMUP;
    if (!warmup)
        spoil(&m, turn, &r);
    spell_prompts(b, turn, m.nturns);
    for (size_t k = 0; k < m.nturns; k++) {
        turn[k].policy = m.policy[turn[k].seat];
        turn[k].logp = turn[k].policy == b->newest ? b->logp + rng_below(&r, 4096) : NULL;
        b->tokens += turn[k].ntokens;
    }
    need(store_match_add(b->store, &m, &e), &e);
    b->turns += (int64_t)m.nturns;
    b->invalid += m.reason == END_INVALID;
    b->done[i] = (struct done){.game = m.game,
                               .policy = {m.policy[0], m.policy[1]},
                               .learns = m.reason != END_ABORTED,
                               .payoff = {m.payoff[0], m.payoff[1]}};
}

static void
play_batch(struct big *b) {
    b->invalid = b->tokens = 0;
    for (int64_t i = 0; i < b->plan.batch; i++) {
        schedule_match(&b->schedule, b->first + i, b->step, b->newest, b->older, b->nolder,
                       &b->job[i]);
        struct match_job j = b->job[i];
        j.policy[0] = j.policy[1] = b->schedule.random;
        runner_start(b->runner, &j);
    }
    while (runner_active(b->runner))
        runner_step(b->runner, record, b);
}

/* ---- steps ---- */

static struct store_sample *
learn_seat(struct big *b, const struct done *d, int64_t match, int seat,
           struct store_sample *sample) {
    struct store_baseline *base = &b->baseline[(d->game - 1) * 2 + seat];
    double decay = b->plan.baseline_decay, ret = d->payoff[seat];
    if (b->step < b->plan.warmup) { /* imitated: no advantage */
        *sample = (struct store_sample){match, seat, ret, 0, 0};
        return sample + 1;
    }
    *sample = (struct store_sample){match, seat, ret, base->value, ret - base->value};
    base->value = decay * base->value + (1 - decay) * ret;
    base->count++;
    return sample + 1;
}

static size_t
learn_batch(struct big *b) {
    struct store_sample *next = b->sample;
    bool warmup = b->step < b->plan.warmup;
    for (int64_t i = 0; i < b->plan.batch; i++)
        for (int seat = 0; seat < 2; seat++)
            if (b->done[i].learns && (warmup || b->done[i].policy[seat] == b->newest))
                next = learn_seat(b, &b->done[i], b->first + i, seat, next);
    return (size_t)(next - b->sample);
}

static int64_t
now(const struct big *b) {
    return b->start_ms + (b->first + b->plan.batch) * MATCH_MS;
}

/* Hashes of files that were thinned out long ago; those of the last step are real. */
static void
name_files(struct big *b, bool last) {
    struct err e;
    char text[32];
    if (last) {
        b->state->step = b->step;
        need(state_save(b->state, &b->plan, b->run, &e), &e);
        return;
    }
    snprintf(text, sizeof text, "snapshot %lld", (long long)b->step);
    hash_hex(text, strlen(text), b->state->snapshot);
    snprintf(text, sizeof text, "state %lld", (long long)b->step);
    hash_hex(text, strlen(text), b->state->hash);
}

/* The step that learns from what was played last, or the first weights. */
static void
acknowledge(struct big *b, struct store_lease *lease, size_t nsample, bool last) {
    struct err e;
    double x = (double)b->step, batch = (double)b->plan.batch;
    const struct store_metric metric[] = {
        {"matches", batch},
        {"tokens", (double)b->tokens},
        {"loss", 0.5 * exp(-x / 300) + 0.02 * sin(x)},
        {"entropy", 0.2 + exp(-x / 200)},
        {"kl_sampler", 0},
        {"grad_norm", 0.3 + 0.1 * cos(x / 7)},
        {"lr", 1e-3},
        {"invalid", (double)b->invalid / batch},
        {"reply_tokens", 4.5},
        {"matches_s", 200},
        {"tokens_s", (double)b->tokens * 200 / batch},
        {"wait_data_s", batch / 200 - 0.02},
        {"learn_s", 0.02},
        {"wait_learner_s", 0.02},
    };
    name_files(b, last);
    struct store_step st = {.step = b->step,
                            .policy_before = b->newest,
                            .snapshot = b->state->snapshot,
                            .state = b->state->hash,
                            .at_ms = now(b),
                            .lease = lease,
                            .nlease = lease ? 1 : 0,
                            .sample = b->sample,
                            .nsample = nsample,
                            .baseline = b->baseline,
                            .nbaseline = lease ? 2 * b->setup.ngames : 0,
                            .metric = metric,
                            .nmetric = sizeof metric / sizeof *metric};
    int64_t before = b->newest;
    need(store_step_ack(b->store, &st, &b->newest, &e), &e);
    if (before) {
        b->older = mem_grow(b->older, b->nolder + 1, sizeof *b->older);
        b->older[b->nolder++] = before;
    }
}

static void
evaluate(struct big *b) {
    struct err e;
    char report[256];
    double conv = 0.05 + exp(-(double)b->step / 150);
    snprintf(report, sizeof report,
             "{\"kind\":\"exact\",\"step\":%lld,\"nash_conv\":%.6f,\"invalid\":%.6f,"
             "\"value\":[-0.05,0.05],\"against\":[]}",
             (long long)b->step, conv, 0.014);
    struct store_eval v = {b->newest, b->step, 1, "exact", report, now(b)};
    need(store_eval_add(b->store, &v, &e), &e);
    v.policy = 0;
    need(store_eval_add(b->store, &v, &e), &e);
    if (b->step % (EVAL_EVERY * 5) == 0)
        need(store_event_add(b->store, "warn", "crew",
                             "worker 1 died (its process ended, signal 9)", &e),
             &e);
}

static void
one_step(struct big *b, bool last) {
    struct err e;
    play_batch(b);
    need(store_commit(b->store, &e), &e);
    size_t nsample = learn_batch(b);
    struct store_lease lease = {.first = b->first, .last = b->first + b->plan.batch - 1};
    need(store_lease_add(b->store, &lease, &e), &e);
    b->step++;
    acknowledge(b, &lease, nsample, last);
    b->first += b->plan.batch;
    if (b->step % EVAL_EVERY == 0)
        evaluate(b);
}

/* ---- begin and end ---- */

static int64_t
add_player(struct big *b, const char *name) {
    struct err e;
    struct store_policy p = {.kind = "scripted", .step = -1, .at_ms = b->start_ms, .kept = true};
    snprintf(p.name, sizeof p.name, "%s", name);
    need(store_policy_add(b->store, &p, &e), &e);
    return p.id;
}

static void
add_games(struct big *b) {
    struct err e;
    for (size_t i = 0; i < b->setup.ngames; i++) {
        const struct setup_game *from = &b->setup.games[i];
        struct store_game g = {.version = from->game->version};
        snprintf(g.spec, sizeof g.spec, "%s", from->spec);
        snprintf(g.name, sizeof g.name, "%s", from->game->name);
        need(store_game_add(b->store, &g, &e), &e);
        b->view[i] = setup_view(&b->setup, from);
        runner_add_game(b->runner, g.id, &b->view[i]);
        b->game[i] = (struct schedule_game){g.id, from->weight, b->player, b->players};
        for (int role = 0; role < 2; role++)
            b->baseline[2 * i + (size_t)role] = (struct store_baseline){.game = g.id, .role = role};
    }
}

static void
add_opponents(struct big *b) {
    char names[256], *rest = names;
    snprintf(names, sizeof names, "%s", conf_text(b->conf, "schedule.opponents"));
    for (char *name; (name = strtok_r(rest, " ", &rest)) && b->players < MOST_PLAYERS;)
        b->player[b->players++] = add_player(b, name);
}

static void
open_files(struct big *b) {
    static const char *const folders[] = {"snapshots", "state", "logs"};
    struct buf path = {0}, yaml = {0};
    struct err e;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        buf_clear(&path);
        buf_fmt(&path, "%s/%s", b->run, folders[i]);
        need(file_mkdirs(buf_text(&path), &e), &e);
    }
    buf_clear(&path);
    buf_fmt(&path, "%s/run.db", b->run);
    if (file_exists(buf_text(&path)))
        need(err_set(&e, "%s: there is a run already", buf_text(&path)), &e);
    b->store = store_open(buf_text(&path), STORE_WRITE, false, &e);
    need(b->store ? 0 : -1, &e);
    buf_clear(&path);
    buf_fmt(&path, "%s/config.yaml", b->run);
    conf_write(b->conf, &yaml);
    need(file_write(buf_text(&path), yaml.at, yaml.len, false, &e), &e);
    buf_free(&path);
    buf_free(&yaml);
}

static void
begin(struct big *b, char **argv, int64_t turns) {
    struct err e;
    b->conf = conf_new();
    need(conf_load(b->conf, argv[0] ? argv[0] : "tests/bench/big_db.yaml", &e), &e);
    for (int i = 1; argv[0] && argv[i]; i++)
        need(conf_set(b->conf, argv[i], &e), &e);
    need(setup_load(&b->setup, b->conf, &e), &e);
    need(plan_from(&b->plan, b->conf, &e), &e);
    open_files(b);
    size_t batch = (size_t)b->plan.batch;
    b->job = mem_zero(batch, sizeof *b->job);
    b->done = mem_zero(batch, sizeof *b->done);
    b->sample = mem_zero(2 * batch, sizeof *b->sample);
    b->first = 1;
    b->start_ms = clock_wall_ms() - turns * MATCH_MS / 3;
    b->state = state_new(&b->plan);
    state_init(b->state, &b->plan);
    b->runner = runner_new(&b->setup);
    add_opponents(b);
    add_games(b);
    b->schedule = (struct schedule){.seed = b->plan.seed,
                                    .pairs = conf_bool(b->conf, "schedule.pairs"),
                                    .older = conf_real(b->conf, "schedule.older"),
                                    .scripted = conf_real(b->conf, "schedule.scripted"),
                                    .warmup = b->plan.warmup,
                                    .random = add_player(b, "random"),
                                    .game = b->game,
                                    .ngames = b->setup.ngames};
    need(runner_add_scripted(b->runner, b->schedule.random, "random", &e), &e);
    for (size_t i = 0; i < sizeof b->logp / sizeof *b->logp; i++)
        b->logp[i] = -(float)(i % 97) / 40;
}

static void
end(struct big *b) {
    struct err e;
    for (size_t i = 0; i < b->nolder; i++)
        need(store_policy_set_kept(b->store, b->older[i], false, &e), &e);
    need(store_checkpoint(b->store, &e), &e);
    store_close(b->store);
    runner_free(b->runner);
    state_free(b->state);
    setup_free(&b->setup);
    conf_free(b->conf);
    free(b->older);
    free(b->job);
    free(b->done);
    free(b->sample);
    buf_free(&b->text);
}

int
main(int argc, char **argv) {
    int64_t turns = argc > 2 ? strtoll(argv[2], NULL, 10) : 1000000, start = clock_mono_us();
    struct big *b = mem_zero(1, sizeof *b);
    if (argc < 2 || turns < 1) {
        fputs("usage: big_db RUN [TURNS [CONFIG [KEY=VALUE...]]]\n", stderr);
        return 2;
    }
    b->run = argv[1];
    begin(b, argc > 3 ? argv + 3 : (char *[]){NULL}, turns);
    acknowledge(b, NULL, 0, false);
    int64_t average = 0; /* turns of a step, to know the last one */
    do {
        int64_t before = b->turns;
        one_step(b, b->turns + average >= turns);
        average = b->turns - before;
    } while (b->turns < turns);
    printf("%s: %lld turns, %lld matches, %lld steps in %.1f s\n", b->run, (long long)b->turns,
           (long long)b->first - 1, (long long)b->step, (double)(clock_mono_us() - start) / 1e6);
    end(b);
    free(b);
    return 0;
}
