/* Pig by hand, and the value of small ones. OpenSpiel's matches are in test_openspiel.c. */
#include <math.h>
#include <stdlib.h>

#include "games/solve.h"
#include "play.h"

static void
a_one_loses_the_turn_and_holding_banks_it(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "pig(goal=20)");
    play_reply(&p, "roll");
    play_outcome(&p, 4);
    play_reply(&p, "roll");
    play_outcome(&p, 2);
    assert_string_equal(play_view(&p, 0), "You 0, they 0. Your turn total 8. Moves left 98.");
    assert_string_equal(play_view(&p, 1), "You 0, they 0. Their turn total 8. Moves left 98.");
    assert_string_equal(play_told(&p, "hold", 1), "They hold. You 0, they 8.");
    play_reply(&p, "hold");
    play_reply(&p, "roll");
    play_outcome(&p, 5);
    play_reply(&p, "roll");
    play_outcome(&p, 0);
    assert_string_equal(play_view(&p, 0), "You 8, they 0. Your turn total 0. Moves left 95.");
}

static void
enough_points_must_be_held(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "pig(goal=6)");
    play_reply(&p, "roll");
    play_outcome(&p, 5);
    assert_string_equal(play_legal(&p), "hold");
    play_reply(&p, "hold");
    play_pays(&p, 1);
    play_start(&p, "pig(goal=6,must_hold=false)");
    play_reply(&p, "roll");
    play_outcome(&p, 1);
    play_replies(&p, "hold|hold|roll");
    play_outcome(&p, 3);
    assert_string_equal(play_legal(&p), "roll, hold"); /* 2 banked and 4 are enough */
    play_reply(&p, "roll");
    play_outcome(&p, 1);
    assert_string_equal(play_legal(&p), "hold"); /* 6 are enough by themselves */
}

/* Three moves: the turn that the fourth is in is the last one. */
static void
the_match_ends_with_the_turn_behind_the_limit(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "pig(moves=3)");
    play_replies(&p, "hold|hold|hold");
    assert_string_equal(play_view(&p, 1), "You 0, they 0. Your turn total 0. Last turn.");
    play_reply(&p, "roll");
    play_outcome(&p, 3);
    play_reply(&p, "roll");
    play_outcome(&p, 3);
    assert_string_equal(play_told(&p, "hold", 1), "You hold. You 8, they 0. You win.");
    play_reply(&p, "hold");
    play_pays(&p, -1);
    /* The third move ends its own turn: another one is played. */
    play_start(&p, "pig(moves=3)");
    play_replies(&p, "hold|hold|roll");
    play_outcome(&p, 0);
    play_reply(&p, "hold");
    play_pays(&p, 0);
    play_start(&p, "pig(moves=3)");
    play_replies(&p, "hold|hold|hold|roll");
    play_outcome(&p, 0);
    play_pays(&p, 0);
}

/* Any roll but a 1 wins at goal 2: p = 5/6 + 1/6 (1 - p), so the value 2 p - 1 is 5/7. */
static void
a_small_one_has_its_value(void **state) {
    (void)state;
    struct play p;
    struct err e;
    struct solve_report r;
    play_start(&p, "pig(goal=2,moves=60)");
    struct solve *s = solve_new(p.g, &p.args, 10000, &e);
    assert_non_null(s);
    double *x = calloc(solve_width(s), sizeof x[0]);
    solve_equilibrium(s, 5, x, NULL, NULL);
    solve_evaluate(s, x, &r);
    assert_true(fabs(r.value - 5.0 / 7) < 1e-12);
    free(x);
    solve_free(s);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_one_loses_the_turn_and_holding_banks_it),
        cmocka_unit_test(enough_points_must_be_held),
        cmocka_unit_test(the_match_ends_with_the_turn_behind_the_limit),
        cmocka_unit_test(a_small_one_has_its_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
