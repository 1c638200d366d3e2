/* Hex and Dark Hex: sizes, values and best responses of small boards against OpenSpiel 2.0.2, whose
 * numbers were taken once; exactly one player joins the edges of a full board. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "games/hex-board.h"
#include "games/solve.h"

#define near(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static struct solve *
solve_game(const char *spec, size_t nodes, size_t sets) {
    const struct game *g;
    struct game_args args;
    struct err e;
    if (game_spec_parse(spec, &g, &args, &e))
        fail_msg("%s", e.text);
    struct solve *s = solve_new(g, &args, 100000, &e);
    assert_non_null(s);
    assert_int_equal(solve_nodes(s), nodes);
    if (sets)
        assert_int_equal(solve_sets(s), sets);
    return s;
}

static void
the_first_player_wins_hex(const char *spec, size_t states) {
    struct solve *s = solve_game(spec, states, 0);
    struct solve_report r;
    double *x = calloc(solve_width(s), sizeof x[0]);
    solve_equilibrium(s, 1, x, NULL, NULL);
    solve_evaluate(s, x, &r);
    near(r.value, 1);
    near(r.nash_conv, 0);
    free(x);
    solve_free(s);
}

static void
small_boards_of_hex_are_won_by_the_first_player(void **state) {
    (void)state;
    the_first_player_wins_hex("hex(size=2)", 32);
    the_first_player_wins_hex("hex", 5514);
}

static bool
joins_any(const struct hex_board *b, int who) {
    for (int cell = 0; cell < b->size * b->size; cell++)
        if (b->cell[cell] == who && hex_joins(b, cell))
            return true;
    return false;
}

static void
a_full_board_has_one_winner(void **state) {
    (void)state;
    struct hex_board b;
    struct rng rng;
    int won[2] = {0};
    rng_init(&rng, 3, 0, RNG_TEST);
    for (int i = 0; i < 2000; i++) {
        hex_init(&b, 2 + i % (HEX_SIDE_MAX - 1));
        for (int cell = 0; cell < b.size * b.size; cell++)
            b.cell[cell] = (uint8_t)rng_below(&rng, 2);
        assert_int_equal(joins_any(&b, 0) + joins_any(&b, 1), 1);
        won[joins_any(&b, 1)]++;
    }
    assert_true(won[0] > 900 && won[1] > 900);
}

/* On 5 x 5, one wall from the left edge to c3, another from any cell to the right edge: are they
 * one? The cells of row 3 touch those above, and above right, and those below, and below left. */
static void
a_cell_touches_six_others(void **state) {
    (void)state;
    static const int last[5] = {-1, 3, 3, 2,
                                -1}; /* column where the other wall may begin, by row */
    struct hex_board b;
    for (int cell = 0; cell < 25; cell++) {
        int row = cell / 5, column = cell % 5;
        hex_init(&b, 5);
        b.cell[10] = b.cell[11] = b.cell[12] = 1;
        for (int c = column; c < 5; c++)
            b.cell[5 * row + c] = 1;
        assert_int_equal(hex_joins(&b, 12), column <= last[row]);
    }
}

static void
dark_hex_has_open_spiels_numbers(const char *spec, size_t nodes, size_t sets, double value,
                                 double best0, double best1) {
    struct solve *s = solve_game(spec, nodes, sets);
    struct solve_report r;
    double *x = calloc(solve_width(s), sizeof x[0]);
    solve_uniform(s, x);
    solve_evaluate(s, x, &r);
    near(r.value, value);
    near(r.best[0], best0);
    near(r.best[1], best1);
    solve_equilibrium(s, 300, x, NULL, NULL);
    solve_evaluate(s, x, &r);
    assert_true(r.nash_conv < 0.02);
    free(x);
    solve_free(s);
}

static void
small_boards_of_dark_hex_agree(void **state) {
    (void)state;
    dark_hex_has_open_spiels_numbers("dark_hex(size=2)", 441, 70, 0, 1, 0.25);
    dark_hex_has_open_spiels_numbers("dark_hex(size=2,abrupt=true)", 471, 94, 11.0 / 24, 5.0 / 6,
                                     0);
}

/* Seat 1 tries the cell that seat 0 holds, then another one. */
static void
dark_hex_tells_only_own_tries(const char *spec, int mover_after, const char *told) {
    const struct game *g;
    struct game_args args;
    struct err e;
    unsigned char s[GAME_MAX_STATE];
    char at[GAME_TEXT];
    struct text t;
    if (game_spec_parse(spec, &g, &args, &e))
        fail_msg("%s", e.text);
    g->init(s, &args);
    g->apply(s, 4);
    assert_true(game_is_legal(g, s, 4));
    text_init(&t, at, sizeof at);
    g->narrate(s, 4, 0, &t);
    assert_string_equal(at, "");
    g->narrate(s, 4, 1, &t);
    assert_string_equal(at, told);
    g->apply(s, 4);
    assert_int_equal(g->mover(s), mover_after);
    text_init(&t, at, sizeof at);
    g->observe(s, 0, &t);
    assert_string_equal(at, "You x, top to bottom.\n   a b c\n 1 . . .\n 2  . x .\n 3   . . .\n"
                            "You tried b2.");
    if (mover_after == 1)
        assert_false(game_is_legal(g, s, 4));
}

static void
a_try_at_a_taken_cell_is_told_to_who_made_it(void **state) {
    (void)state;
    dark_hex_tells_only_own_tries("dark_hex", 1, "Their mark is on b2; try again.");
    dark_hex_tells_only_own_tries("dark_hex(abrupt=true)", 0,
                                  "Their mark is on b2; your turn is over.");
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_boards_of_hex_are_won_by_the_first_player),
        cmocka_unit_test(a_full_board_has_one_winner),
        cmocka_unit_test(a_cell_touches_six_others),
        cmocka_unit_test(small_boards_of_dark_hex_agree),
        cmocka_unit_test(a_try_at_a_taken_cell_is_told_to_who_made_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
