/* Scripted players: names, refusals, and that each plays what it says, on games small enough to
 * check against the solver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "games/solve.h"
#include "policy/player.h"

struct table { /* a game with its arguments and a state at its start */
    const struct game *g;
    struct game_args args;
    alignas(max_align_t) unsigned char state[GAME_MAX_STATE];
};

static struct table
set_up(const char *spec) {
    struct table t;
    struct err e = {.text = ""};
    game_spec_parse(spec, &t.g, &t.args, &e);
    assert_string_equal("", e.text);
    memset(t.state, 0, sizeof t.state);
    t.g->init(t.state, &t.args);
    return t;
}

static struct player *
open_player(const char *name, const struct table *t) {
    struct err e = {.text = ""};
    struct player *p = player_open(name, t->g, &t->args, &e);
    assert_string_equal("", e.text);
    assert_non_null(p);
    return p;
}

static void
check_refused(const char *name, const char *spec, const char *want) {
    struct table t = set_up(spec);
    struct err e = {.text = ""};
    assert_null(player_open(name, t.g, &t.args, &e));
    if (!strstr(e.text, want))
        fail_msg("%s at %s: wanted '%s', got '%s'", name, spec, want, e.text);
}

static void
test_names(void **state) {
    (void)state;
    static const char *const good[] = {"random",      "first",     "minimax",
                                       "equilibrium", "fixed:bet", "fixed:a,b"};
    static const char *const bad[] = {"",     ":",      "Random", "randomly",
                                      "rand", "fixe:a", "latest", "a:random"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(player_is_scripted(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(player_is_scripted(bad[i]));
    for (int i = 0; player_kind_at(i); i++)
        assert_true(strlen(player_kind_at(i)->help) > 20);
    assert_null(player_kind_at(-1));
    player_close(NULL);
}

static void
test_refusals(void **state) {
    (void)state;
    check_refused("nobody", "kuhn_poker",
                  "there is no scripted player 'nobody'; there are: random, first, minimax, "
                  "equilibrium, fixed");
    check_refused("random:1", "kuhn_poker", "player 'random:1': takes no argument");
    check_refused("first:x", "kuhn_poker", "takes no argument: write just 'first'");
    check_refused("minimax:x", "tic_tac_toe", "takes no argument");
    check_refused("equilibrium:x", "kuhn_poker", "takes no argument");
    check_refused("minimax", "kuhn_poker",
                  "player 'minimax': kuhn_poker has chance in it, which minimax cannot play");
    check_refused("minimax", "connect_four",
                  "player 'minimax': connect_four: the game has more than 300000 nodes");
    check_refused("equilibrium", "kuhn_poker(hands=5)",
                  "player 'equilibrium': kuhn_poker: the game has more than 200000 nodes");
    check_refused("fixed", "kuhn_poker", "needs at least one action");
    check_refused("fixed:", "kuhn_poker", "needs at least one action");
    check_refused("fixed:bet,", "kuhn_poker", "empty action");
    check_refused("fixed:,bet", "kuhn_poker", "empty action");
    char name[200] = "fixed:";
    memset(name + 6, 'x', 128);
    check_refused(name, "kuhn_poker", "an action of 128 bytes");
}

/* Stands in for a game that hides something but has no chance. */
static void
test_hidden_information(void **state) {
    (void)state;
    struct table t = set_up("tic_tac_toe");
    struct game hidden = *t.g;
    hidden.flags = GAME_NO_CHANCE;
    struct err e = {.text = ""};
    assert_null(player_open("minimax", &hidden, &t.args, &e));
    assert_non_null(strstr(e.text, "hides information, so minimax would cheat"));
}

static int
play(struct table *t, struct player *const seat[2], struct rng *r) {
    for (int plies = 0;; plies++) {
        int who = t->g->mover(t->state);
        if (who == GAME_OVER)
            break;
        int action = who == GAME_CHANCE ? game_draw(t->g, t->state, rng_unit(r))
                                        : player_choose(seat[who], t->state, r);
        assert_true(game_is_legal(t->g, t->state, action));
        t->g->apply(t->state, action);
        assert_true(plies < t->g->max_plies(&t->args));
    }
    double payoff = t->g->result(t->state);
    return payoff > 0 ? 1 : payoff < 0 ? -1 : 0;
}

static void
test_random_is_uniform(void **state) {
    (void)state;
    struct table t = set_up("tic_tac_toe");
    struct player *p = open_player("random", &t);
    struct rng r;
    rng_init(&r, 1, 1, RNG_TEST);
    int legal[GAME_MAX_ACTIONS], seen[GAME_MAX_ACTIONS] = {0};
    int n = t.g->legal(t.state, legal);
    assert_int_equal(9, n);
    for (int i = 0; i < 9000; i++)
        seen[player_choose(p, t.state, &r)]++;
    for (int i = 0; i < n; i++)
        assert_in_range(seen[legal[i]], 850, 1150); /* five standard deviations */
    player_close(p);
}

static void
test_first_and_fixed(void **state) {
    (void)state;
    struct table t = set_up("tic_tac_toe");
    struct rng r;
    rng_init(&r, 1, 1, RNG_TEST);
    int legal[GAME_MAX_ACTIONS];
    t.g->legal(t.state, legal);
    char at[GAME_WORD], name[2 * GAME_WORD];
    struct text word;
    text_init(&word, at, sizeof at);
    t.g->spell(t.state, legal[4], &word);
    struct text full;
    text_init(&full, name, sizeof name);
    text_fmt(&full, "fixed:nonsense,%s", at);
    struct player *first = open_player("first", &t), *fixed = open_player(name, &t),
                  *lost = open_player("fixed:nonsense", &t);
    assert_int_equal(legal[0], player_choose(first, t.state, &r));
    assert_int_equal(legal[4], player_choose(fixed, t.state, &r));
    assert_int_equal(legal[0], player_choose(lost, t.state, &r));
    t.g->apply(t.state, legal[4]); /* the fixed word is legal no more */
    t.g->legal(t.state, legal);
    assert_int_equal(legal[0], player_choose(fixed, t.state, &r));
    player_close(first);
    player_close(fixed);
    player_close(lost);
}

/* Tic-tac-toe: never loses, draws against itself, and uses every optimal action. */
static void
test_minimax(void **state) {
    (void)state;
    struct table start = set_up("tic_tac_toe");
    struct player *perfect = open_player("minimax", &start), *lax = open_player("random", &start);
    struct rng r;
    rng_init(&r, 1, 2, RNG_TEST);
    int lost = 0, won = 0, drawn = 0;
    for (int i = 0; i < 400; i++) {
        struct table t = start;
        int payoff =
            play(&t, (struct player *[]){i % 2 ? lax : perfect, i % 2 ? perfect : lax}, &r);
        won += payoff == (i % 2 ? -1 : 1);
        lost += payoff == (i % 2 ? 1 : -1);
        t = start;
        drawn += play(&t, (struct player *[]){perfect, perfect}, &r) == 0;
    }
    assert_int_equal(0, lost);
    assert_int_equal(400, drawn);
    assert_true(won > 300);
    int seen[GAME_MAX_ACTIONS] = {0};
    for (int i = 0; i < 9000; i++)
        seen[player_choose(perfect, start.state, &r)]++; /* all nine squares draw */
    for (int i = 0; i < 9; i++)
        assert_in_range(seen[i], 850, 1150);
    player_close(perfect);
    player_close(lax);
}

/* Collects the equilibrium player's play at every information set and measures how exploitable it
 * is. */
static void
test_equilibrium(void **state) {
    (void)state;
    struct table t = set_up("kuhn_poker");
    struct player *p = open_player("equilibrium", &t);
    struct err e;
    struct solve *s = solve_new(t.g, &t.args, 1000, &e);
    double *strategy = mem_zero(solve_width(s), sizeof *strategy);
    struct rng r;
    rng_init(&r, 1, 3, RNG_TEST);
    enum { SAMPLES = 20000 };
    for (size_t i = 0; i < solve_sets(s); i++) {
        const struct solve_info *info = solve_info(s, i);
        for (int k = 0; k < SAMPLES; k++) {
            int action = player_choose(p, info->state, &r), a = 0;
            while (a < info->actions && info->action[a] != action)
                a++;
            assert_true(a < info->actions);
            strategy[info->at + (size_t)a] += 1.0 / SAMPLES;
        }
    }
    struct solve_report report;
    solve_evaluate(s, strategy, &report);
    assert_true(report.nash_conv < 0.02);
    assert_true(fabs(report.value + 1.0 / 18) < 0.01);
    free(strategy);
    solve_free(s);
    player_close(p);
}

/* The same stream gives the same play; matches of all pairs end. */
static void
test_play_is_reproducible(void **state) {
    (void)state;
    static const char *const names[] = {"random", "first", "equilibrium", "fixed:bet"};
    struct table start = set_up("kuhn_poker");
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            struct player *seat[2] = {open_player(names[a], &start), open_player(names[b], &start)};
            unsigned char end[2][GAME_MAX_STATE];
            for (int k = 0; k < 2; k++) {
                struct table t = start;
                struct rng r;
                rng_init(&r, 5, (uint64_t)(4 * a + b), RNG_TEST);
                play(&t, seat, &r);
                memcpy(end[k], t.state, sizeof end[k]);
            }
            assert_memory_equal(end[0], end[1], start.g->state_bytes);
            player_close(seat[0]);
            player_close(seat[1]);
        }
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_hidden_information),
        cmocka_unit_test(test_random_is_uniform),
        cmocka_unit_test(test_first_and_fixed),
        cmocka_unit_test(test_minimax),
        cmocka_unit_test(test_equilibrium),
        cmocka_unit_test(test_play_is_reproducible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
