/* The match runner: records fit the rules, faults are charged to the right seat, and what a match
 * becomes does not depend on what is played beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "arena/match.h"
#include "arena/verify.h"
#include "arena/wire.h"
#include "policy/mat.h"

enum { MODEL = 1, RANDOM = 2, FIRST = 3, MATCHES = 96 };

struct record { /* wire bytes of each finished match, by id; times zeroed */
    struct buf at[MATCHES + 1];
    int reasons[END_REASONS], verdicts[VERDICTS], turns;
    double payoff_sum, payoff[2];
};

static void
keep(void *arg, const struct store_match *m) {
    struct record *r = arg;
    struct store_match copy = *m;
    copy.started_ms = copy.ended_ms = 0;
    assert_in_range(m->id, 1, MATCHES);
    assert_int_equal(r->at[m->id].len, 0);
    wire_done(&r->at[m->id], &copy);
    r->reasons[m->reason]++;
    for (size_t i = 0; i < m->nturns; i++)
        r->verdicts[m->turn[i].verdict]++;
    r->turns += (int)m->nturns;
    r->payoff_sum += m->payoff[0] + m->payoff[1];
    if (m->loser >= 0) {
        assert_int_equal(m->loser, m->turn[m->nturns - 1].seat);
        assert_true(m->result == (m->loser ? 1 : -1));
        r->payoff[0] = m->payoff[m->loser];
        r->payoff[1] = m->payoff[1 - m->loser];
    }
}

static void
record_free(struct record *r) {
    for (int i = 0; i <= MATCHES; i++)
        buf_free(&r->at[i]);
}

static void
setup_from(struct setup *s, const char *yaml) {
    struct conf *c = conf_new();
    struct err e = {.text = ""};
    if (conf_parse(c, yaml, strlen(yaml), "test", &e) < 0 || setup_load(s, c, &e) < 0)
        fail_msg("%s", e.text);
    conf_free(c);
}

static struct runner *
runner_with_all(const struct setup *s) {
    struct err e = {.text = ""};
    struct runner *r = runner_new(s);
    struct model *m = model_new(&s->model);
    model_init(m, 3, 0.2);
    assert_int_equal(runner_add_model(r, MODEL, m, &e), 0);
    assert_int_equal(runner_add_scripted(r, RANDOM, "random", &e), 0);
    assert_int_equal(runner_add_scripted(r, FIRST, "first", &e), 0);
    return r;
}

/* Plays matches 1..MATCHES, at most `inflight` at once, in the order that `stride` gives. */
static void
play_all(const struct setup *s, int inflight, int stride, int64_t a, int64_t b,
         struct record *out) {
    struct runner *r = runner_with_all(s);
    memset(out, 0, sizeof *out);
    for (int i = 0; i < MATCHES || runner_active(r);) {
        while (i < MATCHES && (int)runner_active(r) < inflight) {
            int64_t id = (int64_t)(i * stride) % MATCHES + 1;
            runner_start(r, &(struct match_job){.id = id,
                                                .kind = MATCH_TRAIN,
                                                .game = 1,
                                                .deal = id,
                                                .policy = {a, b},
                                                .attempts = 1});
            i++;
        }
        runner_step(r, keep, out);
    }
    runner_free(r);
}

static const char small[] = "game: kuhn_poker\n"
                            "model: {dim: 16, layers: 1, heads: 2, kv_heads: 1, hidden: 16, "
                            "context: 96}\n"
                            "prompt: {max_reply: 4}\n";

static void
test_scripted(void **state) {
    (void)state;
    struct setup s;
    struct record r;
    setup_from(&s, small);
    play_all(&s, 16, 1, RANDOM, FIRST, &r);
    assert_int_equal(r.reasons[END_PLAY], MATCHES);
    assert_int_equal(r.verdicts[VERDICT_OK], r.turns);
    assert_true(r.payoff_sum == 0);
    record_free(&r);
    setup_free(&s);
}

static void
test_independence(void **state) {
    (void)state;
    struct setup s;
    struct record alone, many;
    setup_from(&s, small);
    play_all(&s, 1, 1, MODEL, RANDOM, &alone);
    play_all(&s, 64, 35, MODEL, RANDOM, &many);
    for (int i = 1; i <= MATCHES; i++) {
        assert_int_equal(alone.at[i].len, many.at[i].len);
        assert_memory_equal(alone.at[i].at, many.at[i].at, alone.at[i].len);
    }
    record_free(&alone);
    record_free(&many);
    setup_free(&s);
}

/* Random weights say nothing legal: the mover loses, zero-sum, or by SPIRAL's rule. */
static void
test_faults(void **state) {
    (void)state;
    struct setup s;
    struct record r;
    setup_from(&s, small);
    play_all(&s, 32, 1, MODEL, MODEL, &r);
    assert_int_equal(r.reasons[END_PLAY], 0);
    assert_int_equal(r.reasons[END_INVALID] + r.reasons[END_NO_ANSWER], MATCHES);
    assert_true(r.payoff[0] == -1 && r.payoff[1] == 1);
    record_free(&r);
    s.spiral = true;
    play_all(&s, 32, 1, MODEL, MODEL, &r);
    assert_true(r.payoff[0] == -1.5 && r.payoff[1] == 0.5);
    record_free(&r);
    setup_free(&s);
}

static void
test_retries(void **state) {
    (void)state;
    struct setup s;
    struct record r;
    setup_from(&s, small);
    s.retries = 2;
    play_all(&s, 32, 1, MODEL, MODEL, &r);
    assert_int_equal(r.turns, 3 * MATCHES);
    assert_int_equal(r.verdicts[VERDICT_OK], 0);
    record_free(&r);
    setup_free(&s);
}

static void
test_turn_limit(void **state) {
    (void)state;
    struct setup s;
    struct record r;
    setup_from(&s, "game: connect_four\nmatch: {max_turns: 5}\nmodel: {context: 256}\n");
    play_all(&s, 32, 1, RANDOM, RANDOM, &r);
    assert_int_equal(r.reasons[END_TURN_LIMIT], MATCHES);
    assert_int_equal(r.turns, 5 * MATCHES);
    assert_true(r.payoff_sum == 0);
    record_free(&r);
    setup_free(&s);
}

/* In conversation mode a seat's context grows over its turns; a history is what it was told. */
static void
test_conversation(void **state) {
    (void)state;
    struct setup s;
    struct record one, many;
    setup_from(&s, "game: leduc_poker\n"
                   "model: {dim: 16, layers: 1, heads: 2, kv_heads: 1, hidden: 16, context: 512}\n"
                   "prompt: {mode: conversation, template: '{view}', follow_up: '{news}{legal}', "
                   "max_reply: 4}\n"
                   "match: {retries: 3}\n");
    play_all(&s, 1, 1, MODEL, FIRST, &one);
    play_all(&s, 50, 7, MODEL, FIRST, &many);
    for (int i = 1; i <= MATCHES; i++)
        assert_memory_equal(one.at[i].at, many.at[i].at, one.at[i].len);
    record_free(&one);
    record_free(&many);
    setup_free(&s);
}

/* ---- several games ---- */

enum { KUHN = 7, TTT = 3, MINIMAX = 4 }; /* KUHN, TTT: ids of the database */

struct checked {
    struct record *record;
    struct verify *verify[2]; /* of KUHN and TTT */
    int matches[2], problems;
};

static void
tell(void *arg, const struct verify_problem *p) {
    print_error("match %d: %s: %s\n", (int)p->match, p->column, p->text);
    (void)arg;
}

static void
keep_checked(void *arg, const struct store_match *m) {
    struct checked *c = arg;
    assert_true(m->game == KUHN || m->game == TTT);
    assert_int_equal(m->game, m->id % 3 ? KUHN : TTT);
    c->matches[m->game == TTT]++;
    c->problems += verify_match(c->verify[m->game == TTT], m);
    keep(c->record, m);
}

/* Every third match is of the second game. */
static void
play_two(const struct setup *s, int inflight, struct record *out) {
    struct setup view[2] = {setup_view(s, &s->games[0]), setup_view(s, &s->games[1])};
    struct checked c = {.record = out};
    struct runner *r = runner_new(s);
    struct err e = {.text = ""};
    for (int i = 0; i < 2; i++) {
        runner_add_game(r, i ? TTT : KUHN, &view[i]);
        c.verify[i] = verify_new(&view[i], tell, NULL);
    }
    struct model *model = model_new(&s->model);
    model_init(model, 3, 0.2);
    assert_int_equal(runner_add_model(r, MODEL, model, &e), 0);
    assert_int_equal(runner_add_scripted(r, RANDOM, "random", &e), 0);
    assert_int_equal(runner_add_scripted(r, MINIMAX, "minimax", &e), 0);
    assert_true(runner_can_play(r, TTT, MINIMAX));
    assert_false(runner_can_play(r, KUHN, MINIMAX)); /* it has chance in it */
    assert_true(runner_can_play(r, KUHN, MODEL));
    assert_false(runner_can_play(r, 1, MODEL));
    memset(out, 0, sizeof *out);
    for (int id = 1; id <= MATCHES || runner_active(r);) {
        for (; id <= MATCHES && (int)runner_active(r) < inflight; id++) {
            int64_t first = id % 3 ? RANDOM : MINIMAX, other = id % 2 ? MODEL : RANDOM;
            runner_start(r, &(struct match_job){.id = id,
                                                .game = id % 3 ? KUHN : TTT,
                                                .deal = id,
                                                .policy = {first, other},
                                                .attempts = 1});
        }
        runner_step(r, keep_checked, &c);
    }
    assert_int_equal(c.matches[0], MATCHES - MATCHES / 3);
    assert_int_equal(c.matches[1], MATCHES / 3);
    assert_int_equal(c.problems, 0);
    verify_free(c.verify[0]);
    verify_free(c.verify[1]);
    runner_free(r);
}

static void
test_two_games(void **state) {
    (void)state;
    struct setup s;
    struct record one, many;
    setup_from(&s, "games: [{name: kuhn_poker}, {name: tic_tac_toe, weight: 3}]\n"
                   "model: {dim: 16, layers: 1, heads: 2, kv_heads: 1, hidden: 16, "
                   "context: 128}\n"
                   "prompt: {template: '{game}: {view}', max_reply: 4}\n");
    assert_int_equal(s.ngames, 2);
    assert_true(s.games[1].weight == 3);
    assert_string_equal(s.game->name, "kuhn_poker");
    play_two(&s, 1, &one);
    play_two(&s, 64, &many);
    assert_true(one.reasons[END_PLAY] > MATCHES / 4);
    for (int i = 1; i <= MATCHES; i++) {
        assert_int_equal(one.at[i].len, many.at[i].len);
        assert_memory_equal(one.at[i].at, many.at[i].at, one.at[i].len);
    }
    record_free(&one);
    record_free(&many);
    setup_free(&s);
}

static void
test_wrong_options(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"game: no_such_game\n", "no_such_game"},
        {"model: {dim: 30, heads: 4}\n", "heads"},
        {"prompt: {template: '{rules} {nonsense}'}\n", "nonsense"},
        {"prompt: {template: '{rules}'}\nmodel: {context: 16}\n", "model.context"},
        {"schedule: {opponents: nobody}\n", "nobody"},
        {"games: [{name: kuhn_poker}, {name: no_such_game}]\n", "games: "},
        {"games: [{name: kuhn_poker}, {name: kuhn_poker(hands=1)}]\n", "the same game"},
        {"games: [{name: nim}, {name: negotiation}]\nprompt: {answer: bracket}\n", "negotiation"},
        {"games: [{name: nim}, {name: tic_tac_toe}]\nprompt: {template: '{rules}'}\n"
         "model: {context: 400}\n",
         "tic_tac_toe"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct conf *c = conf_new();
        struct setup s;
        struct err e = {.text = ""};
        assert_int_equal(conf_parse(c, wrong[i][0], strlen(wrong[i][0]), "test", &e), 0);
        assert_int_equal(setup_load(&s, c, &e), -1);
        if (!strstr(e.text, wrong[i][1]))
            fail_msg("\"%s\" does not name %s", e.text, wrong[i][1]);
        conf_free(c);
    }
}

int
main(int argc, char **argv) {
    (void)argc;
    mat_choose_kernel(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scripted),   cmocka_unit_test(test_independence),
        cmocka_unit_test(test_faults),     cmocka_unit_test(test_retries),
        cmocka_unit_test(test_turn_limit), cmocka_unit_test(test_conversation),
        cmocka_unit_test(test_two_games),  cmocka_unit_test(test_wrong_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
