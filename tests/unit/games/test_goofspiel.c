/* Goofspiel: nodes, information sets, and uniform play's value and best responses against OpenSpiel
 * 2.0.2 (imp_info = True), whose numbers were taken once; bids stay unseen until both are made. */
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

static void
has_open_spiels_numbers(const char *spec, size_t nodes, size_t sets, double best) {
    const struct game *g;
    struct game_args args;
    struct solve_report r;
    struct err e;
    if (game_spec_parse(spec, &g, &args, &e))
        fail_msg("%s", e.text);
    struct solve *s = solve_new(g, &args, 50000, &e);
    assert_non_null(s);
    assert_int_equal(solve_nodes(s), nodes);
    assert_int_equal(solve_sets(s), sets);
    double *x = calloc(solve_width(s), sizeof x[0]);
    solve_uniform(s, x);
    solve_evaluate(s, x, &r);
    near(r.value, 0);
    near(r.best[0], best);
    near(r.best[1], best);
    free(x);
    solve_free(s);
}

static void
small_games_agree(void **state) {
    (void)state;
    has_open_spiels_numbers("goofspiel(cards=3,order=2,hidden=true)", 67, 16, 2.0 / 3);
    has_open_spiels_numbers("goofspiel(cards=4,order=2,hidden=true)", 1077, 162, 17.0 / 24);
    has_open_spiels_numbers("goofspiel(cards=3,hidden=true,difference=true)", 418, 90, 4.0 / 3);
    has_open_spiels_numbers("goofspiel(hidden=true)", 26773, 3608, 17.0 / 24);
}

/* With the bids shown, who wins is the same, but more is known. */
static void
open_bids_split_the_sets(void **state) {
    (void)state;
    has_open_spiels_numbers("goofspiel(cards=3,order=2)", 67, 20, 2.0 / 3);
}

static void
check_views(const struct game *g, const void *s, const char *first, const char *second) {
    char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    g->observe(s, 0, &t);
    assert_string_equal(at, first);
    text_init(&t, at, sizeof at);
    g->observe(s, 1, &t);
    assert_string_equal(at, second);
}

static void
views_tell_finished_rounds(void **state) {
    (void)state;
    const struct game *g;
    struct game_args args;
    struct err e;
    unsigned char s[GAME_MAX_STATE];
    assert_int_equal(game_spec_parse("goofspiel(cards=3)", &g, &args, &e), 0);
    g->init(s, &args);
    check_views(g, s, "Points 0:0. Your cards 1 2 3. Theirs 1 2 3.",
                "Points 0:0. Your cards 1 2 3. Theirs 1 2 3.");
    g->apply(s, 1);
    g->apply(s, 2);
    check_views(g, s, "Points 0:0. Your cards 1 2. Theirs 1 2 3. Prize 2. You bid 3.",
                "Points 0:0. Your cards 1 2 3. Theirs 1 2 3. Prize 2.");
    g->apply(s, 0);
    g->apply(s, 2);
    g->apply(s, 0);
    g->apply(s, 1);
    assert_int_equal(g->mover(s), GAME_OVER);
    check_views(g, s,
                "Prize 2: you 3, they 1.\nPrize 3: you 1, they 2.\nPrize 1: you 2, they 3.\n"
                "Points 2:4. You lose.",
                "Prize 2: you 1, they 3.\nPrize 3: you 2, they 1.\nPrize 1: you 3, they 2.\n"
                "Points 4:2. You win.");
    near(g->result(s), -1);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_games_agree),
        cmocka_unit_test(open_bids_split_the_sets),
        cmocka_unit_test(views_tell_finished_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
