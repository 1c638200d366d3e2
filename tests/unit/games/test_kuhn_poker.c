/* Kuhn poker against its known exact values (Kuhn 1950), which also proves the solver. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "games/solve.h"

#define near(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static struct solve *
open_game(const char *spec) {
    const struct game *g;
    struct game_args args;
    struct err e;
    if (game_spec_parse(spec, &g, &args, &e))
        fail_msg("%s", e.text);
    struct solve *s = solve_new(g, &args, 1000000, &e);
    if (!s)
        fail_msg("%s", e.text);
    return s;
}

static const struct solve_info *
find(const struct solve *s, char card, const char *moves) {
    char view[100];
    struct text t;
    text_init(&t, view, sizeof view);
    text_fmt(&t, "Your card %c. Moves: %s.", card, moves);
    for (size_t i = 0; i < solve_sets(s); i++)
        if (strcmp(solve_info(s, i)->view, view) == 0)
            return solve_info(s, i);
    fail_msg("no information set shows '%s'", view);
    return NULL;
}

/* Probability of the second action (bet or call). */
static void
set(const struct solve *s, double *x, char card, const char *moves, double p) {
    const struct solve_info *info = find(s, card, moves);
    assert_int_equal(info->actions, 2);
    x[info->at] = 1 - p;
    x[info->at + 1] = p;
    x[info->at + 2] = 0;
}

/* The same probabilities for the cards J, Q, K: first move, after a check, after a bet, and first
 * player's answer to check-bet. */
static double *
strategy(const struct solve *s, const double first[3], const double checked[3], const double bet[3],
         const double answer[3]) {
    double *x = calloc(solve_width(s), sizeof x[0]);
    for (int i = 0; i < 3; i++) {
        set(s, x, "JQK"[i], "none", first[i]);
        set(s, x, "JQK"[i], "check", checked[i]);
        set(s, x, "JQK"[i], "bet", bet[i]);
        set(s, x, "JQK"[i], "check bet", answer[i]);
    }
    return x;
}

static double *
constant(const struct solve *s, double j, double q, double k) {
    const double p[3] = {j, q, k};
    return strategy(s, p, p, p, p);
}

static struct solve_report
evaluate(const struct solve *s, double *x) {
    struct solve_report r;
    solve_evaluate(s, x, &r);
    free(x);
    return r;
}

static void
known_strategies_have_their_known_worth(void **state) {
    (void)state;
    struct solve *s = open_game("kuhn_poker");
    assert_int_equal(solve_sets(s), 12);
    assert_int_equal(solve_nodes(s), 58);
    struct solve_report r = evaluate(s, constant(s, 0.5, 0.5, 0.5));
    near(r.value, 1.0 / 8);
    near(r.nash_conv, 11.0 / 12);
    r = evaluate(s, constant(s, 1, 1, 1));
    near(r.value, 0);
    near(r.nash_conv, 2.0 / 3);
    r = evaluate(s, constant(s, 0, 0, 0));
    near(r.value, 0);
    near(r.nash_conv, 2);
    r = evaluate(s, constant(s, 0, 0, 1));
    near(r.nash_conv, 1.0 / 2);
    double *x = calloc(solve_width(s), sizeof x[0]);
    solve_uniform(s, x);
    near(evaluate(s, x).value, 1.0 / 8);
    solve_free(s);
}

static void
the_nash_family_cannot_be_exploited(void **state) {
    (void)state;
    struct solve *s = open_game("kuhn_poker");
    const double alphas[] = {0, 1.0 / 6, 1.0 / 3};
    for (int i = 0; i < 3; i++) {
        double a = alphas[i];
        const double first[3] = {a, 0, 3 * a}, checked[3] = {1.0 / 3, 0, 1};
        const double bet[3] = {0, 1.0 / 3, 1}, answer[3] = {0, a + 1.0 / 3, 1};
        struct solve_report r = evaluate(s, strategy(s, first, checked, bet, answer));
        near(r.value, -1.0 / 18);
        near(r.nash_conv, 0);
        near(r.best[0], -1.0 / 18);
        near(r.best[1], 1.0 / 18);
        near(r.forfeit[0] + r.forfeit[1], 0);
    }
    solve_free(s);
}

static void
forfeits_cost_a_whole_match(void **state) {
    (void)state;
    struct solve *s = open_game("kuhn_poker");
    double *x = constant(s, 0, 0, 0);
    const struct solve_info *jack = find(s, 'J', "none");
    x[jack->at] = x[jack->at + 2] = 0.5;
    struct solve_report r = evaluate(s, x);
    /* J: 1/2 x -2 + 1/2 x -1; Q: 0; K: +1. */
    near(r.value, (-1.5 + 0 + 1) / 3);
    near(r.forfeit[0], 1.0 / 6);
    near(r.forfeit[1], 0);
    /* Seat 0 always bets and is never called. Seat 1 bets whenever it gets the chance to. */
    near(r.best[0], 1);
    near(r.best[1], 1.0 / 6 * 2 + 5.0 / 6 * 1);

    x = constant(s, 1, 1, 1);
    for (int i = 0; i < 3; i++) {
        const struct solve_info *info = find(s, "JQK"[i], "bet");
        x[info->at + 1] = 0;
        x[info->at + 2] = 1;
    }
    r = evaluate(s, x);
    near(r.value, 2);
    near(r.forfeit[1], 1);
    near(r.best[0], 2);
    solve_free(s);
}

static void
a_mixture_plays_as_its_parts_do(void **state) {
    (void)state;
    struct solve *s = open_game("kuhn_poker");
    double *a = constant(s, 0.5, 0.25, 1), *b = constant(s, 0.5, 0.25, 1);
    set(s, a, 'J', "none", 0);
    set(s, a, 'J', "check bet", 1);
    set(s, b, 'J', "none", 0.5);
    set(s, b, 'J', "check bet", 0);
    const double *const parts[] = {a, b};
    const double weights[] = {1, 1};
    double *mix = calloc(solve_width(s), sizeof mix[0]);
    solve_mixture(s, parts, weights, 2, mix);
    near(mix[find(s, 'J', "none")->at], 0.75);
    near(mix[find(s, 'J', "check bet")->at + 1], 1 / 1.5);
    struct solve_report ra = evaluate(s, a), rb = evaluate(s, b), r = evaluate(s, mix);
    near(r.value, (ra.value + rb.value) / 2);
    solve_free(s);
}

static void
a_mixture_counts_forfeits_and_unreached_sets(void **state) {
    (void)state;
    struct solve *s = open_game("kuhn_poker");
    double *a = constant(s, 1, 1, 1), *b = constant(s, 1, 1, 1);
    const struct solve_info *jack = find(s, 'J', "none"), *late = find(s, 'J', "check bet");
    a[jack->at + 1] = 0; /* a forfeits with J at once; neither ever checks it */
    a[jack->at + 2] = 1;
    set(s, a, 'J', "check bet", 0);
    const double *const parts[] = {a, b};
    const double weights[] = {3, 1};
    double *mix = calloc(solve_width(s), sizeof mix[0]);
    solve_mixture(s, parts, weights, 2, mix);
    near(mix[jack->at + 2], 0.75);
    near(mix[late->at + 1], 0.25); /* the plain mean */
    struct solve_report ra = evaluate(s, a), rb = evaluate(s, b), r = evaluate(s, mix);
    near(r.value, 0.75 * ra.value + 0.25 * rb.value);
    near(r.forfeit[0], 0.25);
    solve_free(s);
}

static bool
stop_when_close(void *arg, int round, double nash_conv) {
    *(int *)arg = round;
    return nash_conv > 0.01;
}

static void
cfr_finds_the_equilibrium(void **state) {
    (void)state;
    struct solve *s = open_game("kuhn_poker");
    double *x = calloc(solve_width(s), sizeof x[0]);
    int stopped = 0;
    solve_equilibrium(s, 10000, x, stop_when_close, &stopped);
    assert_in_range(stopped, 1, 1000);
    struct solve_report r = evaluate(s, x);
    assert_true(r.nash_conv < 0.01 && r.nash_conv >= 0);
    x = calloc(solve_width(s), sizeof x[0]);
    solve_equilibrium(s, 2000, x, NULL, NULL);
    r = evaluate(s, x);
    assert_true(r.nash_conv < 0.001);
    assert_true(fabs(r.value + 1.0 / 18) < 0.001);
    solve_free(s);
}

static void
a_side_payment_moves_the_value_only(void **state) {
    (void)state;
    struct solve *s = open_game("kuhn_poker(side=-3)");
    struct solve_report r = evaluate(s, constant(s, 0.5, 0.5, 0.5));
    near(r.value, 1.0 / 8 - 3);
    near(r.nash_conv, 11.0 / 12);
    near(r.best[0] + r.best[1], 11.0 / 12);
    solve_free(s);
}

static void
several_hands_add_up(void **state) {
    (void)state;
    struct solve *s = open_game("kuhn_poker(hands=2)");
    double *x = calloc(solve_width(s), sizeof x[0]);
    solve_uniform(s, x);
    struct solve_report r = evaluate(s, x);
    /* Each seat goes first once; the hands are independent. */
    near(r.value, 0);
    near(r.nash_conv, 2 * 11.0 / 12);
    solve_free(s);
}

static void
states_are_found_by_their_view(void **state) {
    (void)state;
    struct solve *s = open_game("kuhn_poker");
    for (size_t i = 0; i < solve_sets(s); i++) {
        assert_ptr_equal(solve_find(s, solve_info(s, i)->state), solve_info(s, i));
        assert_int_equal(solve_info(s, i)->actions, 2);
    }
    const struct game *g = game_find("kuhn_poker");
    struct game_args args;
    struct err e;
    _Alignas(16) unsigned char at[GAME_MAX_STATE];
    assert_int_equal(game_spec_parse("kuhn_poker(hands=2)", &g, &args, &e), 0);
    g->init(at, &args);
    assert_null(solve_find(s, at)); /* chance is to move */
    g->apply(at, 2);
    g->apply(at, 0);
    assert_null(solve_find(s, at)); /* a view of another game's tree */
    solve_free(s);
}

static void
too_large_games_are_refused(void **state) {
    (void)state;
    const struct game *g;
    struct game_args args;
    struct err e;
    assert_int_equal(game_spec_parse("kuhn_poker(hands=20)", &g, &args, &e), 0);
    assert_null(solve_new(g, &args, 5000, &e));
    assert_non_null(strstr(e.text, "more than 5000 nodes"));
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_strategies_have_their_known_worth),
        cmocka_unit_test(the_nash_family_cannot_be_exploited),
        cmocka_unit_test(forfeits_cost_a_whole_match),
        cmocka_unit_test(a_mixture_plays_as_its_parts_do),
        cmocka_unit_test(a_mixture_counts_forfeits_and_unreached_sets),
        cmocka_unit_test(cfr_finds_the_equilibrium),
        cmocka_unit_test(a_side_payment_moves_the_value_only),
        cmocka_unit_test(several_hands_add_up),
        cmocka_unit_test(states_are_found_by_their_view),
        cmocka_unit_test(too_large_games_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
