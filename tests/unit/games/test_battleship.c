/* Battleship and Colonel Blotto: nodes, information sets, and uniform play's value and best
 * responses against OpenSpiel 2.0.2, whose numbers were taken once; single rules. */
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
open_solve(const char *spec, size_t nodes, size_t sets) {
    const struct game *g;
    struct game_args args;
    struct err e;
    if (game_spec_parse(spec, &g, &args, &e))
        fail_msg("%s", e.text);
    struct solve *s = solve_new(g, &args, 20000, &e);
    assert_non_null(s);
    assert_int_equal(solve_nodes(s), nodes);
    assert_int_equal(solve_sets(s), sets);
    return s;
}

static void
random_play_agrees(const char *spec, size_t nodes, size_t sets, double value, double best0,
                   double best1) {
    struct solve *s = open_solve(spec, nodes, sets);
    struct solve_report r;
    double *x = calloc(solve_width(s), sizeof x[0]);
    solve_uniform(s, x);
    solve_evaluate(s, x, &r);
    near(r.value, value);
    near(r.best[0], best0);
    near(r.best[1], best1);
    free(x);
    solve_free(s);
}

static void
small_battleships_agree(void **state) {
    (void)state;
    random_play_agrees("battleship(rows=2,columns=2,ships=2,shots=3)", 10069, 3286, 5.0 / 36,
                       11.0 / 24, 1.0 / 24);
    random_play_agrees("battleship(rows=2,columns=2,ships=1-2,shots=2)", 13685, 1586, 0, 1.0 / 12,
                       1.0 / 12);
}

static void
blotto_agrees_and_is_fair(void **state) {
    (void)state;
    random_play_agrees("blotto(coins=5)", 463, 2, 0, 2.0 / 7, 2.0 / 7);
    random_play_agrees("blotto", 4423, 2, 0, 7.0 / 22, 7.0 / 22);
    struct solve *s = open_solve("blotto(coins=5)", 463, 2);
    struct solve_report r;
    double *x = calloc(solve_width(s), sizeof x[0]);
    solve_equilibrium(s, 500, x, NULL, NULL);
    solve_evaluate(s, x, &r);
    assert_true(r.nash_conv < 0.02 && fabs(r.value) < 0.01);
    free(x);
    solve_free(s);
}

struct fixture {
    const struct game *g;
    struct game_args args;
    unsigned char state[GAME_MAX_STATE];
};

static struct fixture
open_game(const char *spec) {
    struct fixture f;
    struct err e;
    if (game_spec_parse(spec, &f.g, &f.args, &e))
        fail_msg("%s", e.text);
    f.g->init(f.state, &f.args);
    return f;
}

/* Plays words separated by commas. */
static void
play(struct fixture *f, const char *words) {
    while (*words) {
        size_t n = strcspn(words, ",");
        int action = game_parse(f->g, f->state, words, n);
        if (action < 0)
            fail_msg("%s is not legal", words);
        f->g->apply(f->state, action);
        words += n + (words[n] == ',');
    }
}

static void
sunk_ships_are_counted(void **state) {
    (void)state;
    char at[GAME_TEXT];
    struct text t;
    struct fixture f = open_game("battleship(rows=3,columns=3,ships=1-2,shots=5)");
    play(&f, "a1,c3,b2 down,a1 right,a3,a1,c3,b2,a1,a3");
    text_init(&t, at, sizeof at);
    f.g->observe(f.state, 1, &t);
    assert_string_equal(at, "Yours:\n  abc\n1 Qq.\n2 ...\n3 -.P\n"
                            "Theirs:\n  abc\n1 *..\n2 .*.\n3 -..\n"
                            "You shot a1 sunk, b2 hit, a3 water.\n"
                            "They shot a3 water, c3 sunk, a1 hit.\nShots left 2.");
    play(&f, "b1");
    assert_int_equal(f.g->mover(f.state), GAME_OVER);
    near(f.g->result(f.state), 0.5);
    text_init(&t, at, sizeof at);
    f.g->observe(f.state, 0, &t);
    assert_non_null(strstr(at, "Ships sunk 2:1. You win."));
}

static void
a_ship_may_not_take_the_room_of_the_next(void **state) {
    (void)state;
    struct fixture f = open_game("battleship(rows=2,columns=3,ships=1-3,shots=1)");
    int legal[GAME_MAX_ACTIONS];
    assert_int_equal(f.g->legal(f.state, legal), 6);
    f = open_game("battleship(rows=1,columns=5,ships=1-3,shots=1)");
    assert_int_equal(f.g->legal(f.state, legal), 4);
}

static void
impossible_parameters_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *spec, *part;
    } bad[] = {
        {"battleship(ships=5)", "do not fit on a board of 4 rows and 4 columns"},
        {"battleship(rows=2,columns=2,ships=2-2-1,shots=4)", "do not fit"},
        {"battleship(ships=1-1-1-1-1)", "at most 4"},
        {"battleship(shots=17)", "more than the board's 16 cells"},
        {"blotto(coins=30,fields=4)", "in 5456 ways"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct game *g;
        struct game_args args;
        struct err e;
        assert_int_equal(game_spec_parse(bad[i].spec, &g, &args, &e), -1);
        if (!strstr(e.text, bad[i].part))
            fail_msg("%s: %s", bad[i].spec, e.text);
    }
}

static void
blotto_counts_fields(void **state) {
    (void)state;
    char at[GAME_TEXT];
    struct text t;
    struct fixture f = open_game("blotto");
    play(&f, "5 5 0");
    text_init(&t, at, sizeof at);
    f.g->observe(f.state, 1, &t);
    assert_string_equal(at, "10 coins, 3 fields. No plan yet.");
    text_init(&t, at, sizeof at);
    f.g->narrate(f.state, game_parse(f.g, f.state, "4 5 1", 5), 1, &t);
    assert_string_equal(at, "You 4 5 1. They 5 5 0. Fields 1:1. Draw.");
    play(&f, "4 4 2");
    assert_int_equal(f.g->mover(f.state), GAME_OVER);
    near(f.g->result(f.state), 1);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_battleships_agree),
        cmocka_unit_test(blotto_agrees_and_is_fair),
        cmocka_unit_test(sunk_ships_are_counted),
        cmocka_unit_test(a_ship_may_not_take_the_room_of_the_next),
        cmocka_unit_test(impossible_parameters_are_refused),
        cmocka_unit_test(blotto_counts_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
