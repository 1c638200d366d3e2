/* Breakthrough: sizes and values of small boards against OpenSpiel 2.0.2, whose numbers were taken
 * once, and single rules. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "games/solve.h"

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

/* Plays words separated by blanks. */
static void
play(struct fixture *f, const char *words) {
    while (*words) {
        size_t n = strcspn(words, " ");
        int action = game_parse(f->g, f->state, words, n);
        if (action < 0)
            fail_msg("%s is not legal", words);
        f->g->apply(f->state, action);
        words += n + (words[n] == ' ');
    }
}

static bool
is_legal(const struct fixture *f, const char *word) {
    return game_parse(f->g, f->state, word, strlen(word)) >= 0;
}

static void
solve_small(const char *spec, size_t states, double value) {
    struct fixture f = open_game(spec);
    struct solve_report r;
    struct err e;
    struct solve *s = solve_new(f.g, &f.args, 100000, &e);
    assert_non_null(s);
    assert_int_equal(solve_nodes(s), states);
    double *x = calloc(solve_width(s), sizeof x[0]);
    solve_equilibrium(s, 1, x, NULL, NULL);
    solve_evaluate(s, x, &r);
    if (fabs(r.value - value) > 1e-12 || r.nash_conv > 1e-12)
        fail_msg("%s: value %g, NashConv %g", spec, r.value, r.nash_conv);
    free(x);
    solve_free(s);
}

static void
small_boards_have_open_spiels_states(void **state) {
    (void)state;
    solve_small("breakthrough(rows=5,columns=3,home=1)", 51608, 1);
    solve_small("breakthrough(rows=6,columns=2)", 71474, 1);
}

static void
pieces_step_forward_and_take_diagonally(void **state) {
    (void)state;
    struct fixture f = open_game("breakthrough(rows=5,columns=4,home=1)");
    play(&f, "b1b2 c5c4 b2b3");
    assert_true(is_legal(&f, "c4b3") && is_legal(&f, "c4d3") && is_legal(&f, "c4c3"));
    assert_false(is_legal(&f, "c4c5") || is_legal(&f, "c4a3") || is_legal(&f, "c4c2"));
    play(&f, "c4c3");
    assert_false(is_legal(&f, "c3c4"));
    play(&f, "c1c2");
    assert_false(is_legal(&f, "c3c2"));
    assert_true(is_legal(&f, "c3b2") && is_legal(&f, "c3d2"));
    f = open_game("breakthrough(rows=5,columns=4,home=1,diagonal=false)");
    play(&f, "b1b2 c5c4 b2b3");
    assert_true(is_legal(&f, "c4b3") && is_legal(&f, "c4c3"));
    assert_false(is_legal(&f, "c4d3"));
}

static void
the_far_row_wins(void **state) {
    (void)state;
    struct fixture f = open_game("breakthrough(rows=4,columns=2,home=1)");
    play(&f, "a1a2 b4b3 a2b3 a4a3");
    assert_int_equal(f.g->mover(f.state), GAME_SEAT_0);
    play(&f, "b3b4");
    assert_int_equal(f.g->mover(f.state), GAME_OVER);
    assert_true(f.g->result(f.state) == 1);
    f = open_game("breakthrough(rows=3,columns=2,home=1)");
    play(&f, "a1a2 b3a2 b1b2 a2a1");
    assert_true(f.g->mover(f.state) == GAME_OVER && f.g->result(f.state) == -1);
}

static void
without_pieces_or_moves_a_player_loses(void **state) {
    (void)state;
    struct fixture f = open_game("breakthrough(rows=4,columns=2,home=1)");
    play(&f, "a1a2 a4a3 b1b2 a3b2 a2a3 b4a3");
    assert_true(f.g->mover(f.state) == GAME_OVER && f.g->result(f.state) == -1);
    f = open_game("breakthrough(rows=3,columns=2,home=1,diagonal=false)");
    play(&f, "a1a2 b3b2");
    assert_true(f.g->mover(f.state) == GAME_OVER && f.g->result(f.state) == -1);
}

static void
impossible_boards_are_refused(void **state) {
    (void)state;
    const struct game *g;
    struct game_args args;
    struct err e;
    assert_int_equal(game_spec_parse("breakthrough(rows=4)", &g, &args, &e), -1);
    assert_non_null(strstr(e.text, "4 rows are too few for home=2"));
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_boards_have_open_spiels_states),
        cmocka_unit_test(pieces_step_forward_and_take_diagonally),
        cmocka_unit_test(the_far_row_wins),
        cmocka_unit_test(without_pieces_or_moves_a_player_loses),
        cmocka_unit_test(impossible_boards_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
