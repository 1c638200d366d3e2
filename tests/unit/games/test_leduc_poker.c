/* Leduc hold'em against OpenSpiel 2.0.2, whose numbers were taken once: nodes, information sets,
 * payoffs of all complete games, value and NashConv of fixed strategies. */
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

static struct solve *solved;
static const struct game *game;
static struct game_args args;

static int
set_up(void **state) {
    struct err e;
    (void)state;
    if (game_spec_parse("leduc_poker", &game, &args, &e))
        return -1;
    solved = solve_new(game, &args, 20000, &e);
    return solved ? 0 : -1;
}

static int
tear_down(void **state) {
    (void)state;
    solve_free(solved);
    return 0;
}

static void
the_tree_has_open_spiels_size(void **state) {
    (void)state;
    assert_int_equal(solve_nodes(solved), 9457);
    assert_int_equal(solve_sets(solved), 936);
    for (size_t i = 0; i < solve_sets(solved); i++)
        assert_ptr_equal(solve_find(solved, solve_info(solved, i)->state), solve_info(solved, i));
}

static void
count_payoffs(const void *state, int count[27]) {
    _Alignas(16) unsigned char next[GAME_MAX_STATE];
    struct game_outcome out[GAME_MAX_ACTIONS];
    int legal[GAME_MAX_ACTIONS];
    int mover = game->mover(state);
    if (mover == GAME_OVER) {
        count[(int)lround(13 * game->result(state)) + 13]++;
        return;
    }
    int n = mover == GAME_CHANCE ? game->chance(state, out) : game->legal(state, legal);
    for (int i = 0; i < n; i++) {
        memcpy(next, state, game->state_bytes);
        game->apply(next, mover == GAME_CHANCE ? out[i].action : legal[i]);
        count_payoffs(next, count);
    }
}

static void
complete_games_pay_as_in_open_spiel(void **state) {
    (void)state;
    static const int win[] = {198, 366, 552, 432, 528, 192, 192}; /* of 1, 3, ..., 13 chips */
    _Alignas(16) unsigned char start[GAME_MAX_STATE];
    int count[27] = {0};
    game->init(start, &args);
    count_payoffs(start, count);
    assert_int_equal(count[13], 600);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(count[13 + 2 * i + 1], win[i]);
        assert_int_equal(count[13 - 2 * i - 1], win[i]);
    }
}

/* Always the action that `pick` chooses: 0 the lowest, 1 check or call, 2 the highest. */
static struct solve_report
evaluate(int pick) {
    struct solve_report r;
    double *x = calloc(solve_width(solved), sizeof x[0]);
    for (size_t i = 0; i < solve_sets(solved); i++) {
        const struct solve_info *info = solve_info(solved, i);
        int at = pick == 0 ? 0 : info->actions - 1;
        for (int j = 0; pick == 1 && j < info->actions; j++)
            if (info->action[j] == 1)
                at = j;
        x[info->at + (size_t)at] = 1;
    }
    if (pick < 0)
        solve_uniform(solved, x);
    solve_evaluate(solved, x, &r);
    free(x);
    return r;
}

static void
fixed_strategies_have_open_spiels_values(void **state) {
    (void)state;
    near(evaluate(-1).value, -0.078125);
    near(evaluate(-1).nash_conv, 4.747222222222222);
    near(evaluate(0).nash_conv, 2);
    near(evaluate(1).nash_conv, 2.9333333333333336);
    near(evaluate(2).nash_conv, 4.7333333333333325);
}

static void
cfr_finds_the_known_value(void **state) {
    (void)state;
    struct solve_report r;
    double *x = calloc(solve_width(solved), sizeof x[0]);
    solve_equilibrium(solved, 1000, x, NULL, NULL);
    solve_evaluate(solved, x, &r);
    free(x);
    /* Measured: 0.0005; without the weight of the own reach in the average, 0.0007. */
    assert_true(r.nash_conv >= 0 && r.nash_conv < 0.0006);
    /* The value lies between the two best responses' payoffs. */
    assert_true(-r.best[1] <= -0.085606 && -0.085606 <= r.best[0]);
    assert_true(fabs(r.value + 0.085606) < 0.0005);
}

static void
views_tell_the_whole_story(void **state) {
    (void)state;
    _Alignas(16) unsigned char s[GAME_MAX_STATE];
    static const int moves[] = {1, 2, 2, 2, 1, 5, 1, 2}; /* Js, Qh; bet raise call; Ks; check bet */
    char at[GAME_TEXT];
    struct text t;
    game->init(s, &args);
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        assert_true(game_is_legal(game, s, moves[i]));
        game->apply(s, moves[i]);
    }
    text_init(&t, at, sizeof at);
    game->observe(s, 0, &t);
    assert_string_equal(at, "Your card Js. Moves: bet raise call. Table Ks. Moves: check bet");
    text_init(&t, at, sizeof at);
    game_spell_legal(game, s, &t);
    assert_string_equal(at, "fold, call, raise");
    text_init(&t, at, sizeof at);
    game->narrate(s, 1, 1, &t);
    assert_string_equal(at, "They call. Their card Js. You win 9.");
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_has_open_spiels_size),
        cmocka_unit_test(complete_games_pay_as_in_open_spiel),
        cmocka_unit_test(fixed_strategies_have_open_spiels_values),
        cmocka_unit_test(cfr_finds_the_known_value),
        cmocka_unit_test(views_tell_the_whole_story),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
