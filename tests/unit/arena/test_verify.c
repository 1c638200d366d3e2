/* The verifier finds nothing in what the runner records, and finds every single change to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arena/match.h"
#include "arena/verify.h"
#include "base/mem.h"

struct found {
    int problems;
    char columns[512]; /* " moves verdict" */
};

static void
note(void *arg, const struct verify_problem *p) {
    struct found *f = arg;
    f->problems++;
    size_t n = strlen(f->columns);
    snprintf(f->columns + n, sizeof f->columns - n, " %s", p->column);
}

static void
load(struct setup *s, struct conf **c, const char *const *options) {
    struct err e = {.text = ""};
    *c = conf_new();
    for (; *options; options++)
        if (conf_set(*c, *options, &e) < 0)
            fail_msg("%s", e.text);
    if (setup_load(s, *c, &e) < 0)
        fail_msg("%s", e.text);
}

static struct model *
tiny_model(const struct setup *s) {
    struct model *m = model_new(&s->model);
    model_init(m, 7, 0.3);
    return m;
}

/* Plays `n` matches, model against random player, seats in turn; done() sees each. */
static void
play(const struct setup *s, int n, bool model, void (*done)(void *, const struct store_match *),
     void *arg) {
    struct err e = {.text = ""};
    struct runner *r = runner_new(s);
    assert_int_equal(runner_add_scripted(r, 1, "random", &e), 0);
    if (model)
        assert_int_equal(runner_add_model(r, 2, tiny_model(s), &e), 0);
    for (int i = 0; i < n; i++) {
        struct match_job j = {
            .id = 1 + i, .game = 1, .deal = i / 2, .policy = {1, 1}, .attempts = 1};
        if (model)
            j.policy[i & 1] = 2;
        runner_start(r, &j);
    }
    while (runner_active(r))
        runner_step(r, done, arg);
    runner_free(r);
}

struct check {
    struct verify *v;
    struct found found;
    int reasons[END_REASONS];
};

static void
check_one(void *arg, const struct store_match *m) {
    struct check *c = arg;
    c->reasons[m->reason]++;
    verify_match(c->v, m);
}

static void
check_runs(const char *const *options, int matches, struct check *out) {
    struct setup s;
    struct conf *conf;
    load(&s, &conf, options);
    struct check c = {0};
    c.v = verify_new(&s, note, &c.found);
    play(&s, matches, true, check_one, &c);
    play(&s, matches, false, check_one, &c);
    if (c.found.problems)
        fail_msg("%d problems:%s", c.found.problems, c.found.columns);
    assert_int_equal(verify_count(c.v).matches, 2 * matches);
    verify_free(c.v);
    setup_free(&s);
    conf_free(conf);
    *out = c;
}

#define SMALL                                                                                 \
    "model.dim=16", "model.layers=1", "model.heads=2", "model.kv_heads=2", "model.hidden=16", \
        "model.context=1024"

static void
accepts_what_was_played(void **unused) {
    (void)unused;
    static const char *const observation[] = {SMALL, NULL};
    static const char *const conversation[] = {SMALL, "prompt.mode=conversation", "match.retries=2",
                                               "game=kuhn_poker(hands=2)", NULL};
    static const char *const everything[] = {
        SMALL, "prompt.template=You are {seat}. {rules} {history}{news} {view} Say one of {legal}:",
        "match.invalid=spiral", "match.retries=1", NULL};
    static const char *const talk[] = {SMALL,
                                       "prompt.mode=conversation",
                                       "prompt.template={rules}{view}",
                                       "model.context=4096",
                                       "game=prisoners_dilemma(rounds=2)",
                                       NULL};
    static const char *const limited[] = {
        SMALL, "match.max_turns=2", "game=tic_tac_toe", "match.retries=16", "prompt.max_reply=2",
        NULL};
    struct check c;
    check_runs(observation, 60, &c);
    assert_true(c.reasons[END_INVALID] + c.reasons[END_NO_ANSWER] > 0);
    check_runs(conversation, 60, &c);
    check_runs(everything, 60, &c);
    check_runs(talk, 20, &c);
    assert_true(c.reasons[END_PLAY] > 0);
    check_runs(limited, 60, &c);
    assert_true(c.reasons[END_TURN_LIMIT] > 0);
}

/* ---- one change at a time ---- */

struct copy { /* a match that a test may write to */
    struct store_match m;
    struct store_turn turn[16];
    int32_t moves[16], prompt[2048], tokens[64];
    float logp[64];
    char reply[64], word[64];
};

struct change {
    const char *name; /* the column that must be named */
    void (*make)(struct copy *c);
};

static void
change_seat(struct copy *c) {
    c->turn[1].seat ^= 1;
}
static void
change_ply(struct copy *c) {
    c->turn[1].ply++;
}
static void
change_policy(struct copy *c) {
    c->turn[1].policy++;
}
static void
change_prompt(struct copy *c) {
    c->prompt[3] ^= 1;
}
static void
shorten_prompt(struct copy *c) {
    c->turn[1].nprompt--;
}
static void
drop_prompt(struct copy *c) {
    c->turn[1].nprompt = 0;
}

static void
change_reply(struct copy *c) {
    c->reply[0] ^= 1;
}
static void
change_tokens(struct copy *c) {
    c->tokens[0] ^= 1;
}
static void
drop_end(struct copy *c) {
    c->turn[1].ntokens--;
}
static void
change_word(struct copy *c) {
    c->word[0] ^= 1;
}
static void
drop_word(struct copy *c) {
    c->turn[1].word = NULL;
}
static void
change_action(struct copy *c) {
    c->turn[1].action ^= 1;
}
static void
change_verdict(struct copy *c) {
    c->turn[1].verdict = VERDICT_ILLEGAL;
}
static void
change_deal(struct copy *c) {
    c->m.moves = c->moves, c->moves[0] = (c->moves[0] + 1) % 3;
}
static void
change_move(struct copy *c) {
    c->moves[c->turn[1].ply] ^= 1;
}
static void
bad_move(struct copy *c) {
    c->moves[c->turn[1].ply] = 77;
}
static void
add_move(struct copy *c) {
    c->m.nmoves++;
}
static void
drop_move(struct copy *c) {
    c->m.nmoves--;
}
static void
drop_turn(struct copy *c) {
    c->m.nturns--;
}
static void
end_invalid(struct copy *c) {
    c->m.reason = END_INVALID, c->m.loser = 0;
}
static void
end_cut(struct copy *c) {
    c->m.reason = END_NO_ANSWER, c->m.loser = 1;
}
static void
end_limit(struct copy *c) {
    c->m.reason = END_TURN_LIMIT;
}
static void
add_loser(struct copy *c) {
    c->m.loser = 1;
}
static void
no_seat(struct copy *c) {
    c->m.loser = 9;
}
static void
change_result(struct copy *c) {
    c->m.result = -c->m.result;
}
static void
result_nan(struct copy *c) {
    c->m.result = 0.0 / 0.0;
}
static void
change_payoff0(struct copy *c) {
    c->m.payoff[0] += 1e-9;
}
static void
change_payoff1(struct copy *c) {
    c->m.payoff[1] = 0;
}
static void
add_logp(struct copy *c) {
    c->turn[1].logp = c->logp, c->logp[0] = 0.5f;
}

static const struct change changes[] = {
    {"seat", change_seat},     {"ply", change_ply},         {"policy", change_policy},
    {"prompt", change_prompt}, {"prompt", shorten_prompt},  {"reply", change_reply},
    {"reply", change_tokens},  {"tokens", drop_end},        {"word", change_word},
    {"word", drop_word},       {"action", change_action},   {"verdict", change_verdict},
    {"moves", change_deal},    {"moves", change_move},      {"moves", bad_move},
    {"moves", add_move},       {"moves", drop_move},        {"moves", drop_turn},
    {"reason", end_invalid},   {"reason", end_cut},         {"reason", end_limit},
    {"loser", add_loser},      {"loser", no_seat},          {"result", change_result},
    {"result", result_nan},    {"payoff0", change_payoff0}, {"payoff1", change_payoff1},
    {"logp", add_logp},        {"prompt", drop_prompt},
};

static void
copy_match(struct copy *c, const struct store_match *m) {
    *c = (struct copy){.m = *m};
    assert_true(m->nturns <= 16 && m->nmoves < 15);
    memcpy(c->turn, m->turn, m->nturns * sizeof *m->turn);
    memcpy(c->moves, m->moves, m->nmoves * sizeof *m->moves);
    struct store_turn *t = &c->turn[1];
    assert_true(t->nprompt <= 2048 && t->ntokens <= 64 && t->nreply < 64);
    memcpy(c->prompt, t->prompt, t->nprompt * sizeof *t->prompt);
    memcpy(c->tokens, t->tokens, t->ntokens * sizeof *t->tokens);
    memcpy(c->reply, t->reply, t->nreply);
    snprintf(c->word, sizeof c->word, "%s", t->word);
    t->prompt = c->prompt;
    t->tokens = c->tokens;
    t->reply = c->reply;
    t->word = c->word;
    c->m.turn = c->turn;
    c->m.moves = c->moves;
}

static void
change_each(void *arg, const struct store_match *m) {
    const struct setup *s = arg;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct copy *c = mem_alloc(sizeof *c);
        copy_match(c, m);
        changes[i].make(c);
        struct found f = {0};
        struct verify *v = verify_new(s, note, &f);
        int n = verify_match(v, &c->m);
        char name[32];
        snprintf(name, sizeof name, " %s", changes[i].name);
        if (n != f.problems || !strstr(f.columns, name))
            fail_msg("change %zu of %s was told as:%s", i, changes[i].name, f.columns);
        verify_free(v);
        free(c);
    }
}

static void
finds_every_change(void **unused) {
    (void)unused;
    static const char *const options[] = {SMALL, "prompt.template={rules}{view}{legal}", NULL};
    struct setup s;
    struct conf *conf;
    load(&s, &conf, options);
    play(&s, 20, false, change_each, &s);
    setup_free(&s);
    conf_free(conf);
}

/* What one seat said is in what the other reads. */
static void
change_words(void *arg, const struct store_match *m) {
    const struct setup *s = arg;
    struct copy *c = mem_alloc(sizeof *c);
    copy_match(c, m);
    struct store_turn *first = &c->turn[0];
    static const char said[] = "hello";
    first->reply = first->word = said;
    first->nreply = sizeof said - 1;
    struct found f = {0};
    struct verify *v = verify_new(s, note, &f);
    verify_match(v, &c->m);
    if (!strstr(f.columns, " prompt"))
        fail_msg("other words were told as:%s", f.columns);
    verify_free(v);
    free(c);
}

static void
words_are_heard(void **unused) {
    (void)unused;
    static const char *const options[] = {SMALL, "game=prisoners_dilemma(rounds=1)", NULL};
    struct setup s;
    struct conf *conf;
    load(&s, &conf, options);
    play(&s, 4, false, change_words, &s);
    setup_free(&s);
    conf_free(conf);
}

static void
counts_turns_without_tokens(void **unused) {
    (void)unused;
    static const char *const options[] = {SMALL, NULL};
    struct setup s;
    struct conf *conf;
    load(&s, &conf, options);
    struct found f = {0};
    struct verify *v = verify_new(&s, note, &f);
    static const struct store_turn turn[] = {{.ply = 2,
                                              .seat = 0,
                                              .reply = "check",
                                              .nreply = 5,
                                              .word = "check",
                                              .action = 0,
                                              .policy = 1},
                                             {.ply = 3,
                                              .seat = 1,
                                              .reply = "check",
                                              .nreply = 5,
                                              .word = "check",
                                              .action = 0,
                                              .policy = 1}};
    struct rng deal;
    int32_t moves[4] = {0};
    unsigned char *state = mem_aligned(GAME_MAX_STATE);
    rng_init(&deal, s.seed, 5, RNG_DEAL);
    s.game->init(state, &s.args);
    for (int i = 0; i < 4; i++) {
        moves[i] = i < 2 ? game_draw(s.game, state, rng_unit(&deal)) : 0;
        s.game->apply(state, moves[i]);
    }
    double result = s.game->result(state);
    struct store_match m = {.id = 1,
                            .kind = MATCH_PLAY,
                            .game = 1,
                            .deal = 5,
                            .policy = {1, 1},
                            .reason = END_PLAY,
                            .loser = -1,
                            .payoff = {result, -result},
                            .result = result,
                            .moves = moves,
                            .nmoves = 4,
                            .turn = turn,
                            .nturns = 2};
    assert_int_equal(verify_match(v, &m), 0);
    assert_int_equal(verify_count(v).thinned, 2);
    free(state);
    verify_free(v);
    setup_free(&s);
    conf_free(conf);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_was_played),
        cmocka_unit_test(finds_every_change),
        cmocka_unit_test(words_are_heard),
        cmocka_unit_test(counts_turns_without_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
