/* Liar's dice by hand, and against numbers of OpenSpiel 2.0.2, whose game has one die each, the
 * highest face wild, and any higher bid allowed. Its matches are in test_openspiel.c. */
#include <math.h>
#include <stdlib.h>

#include "games/solve.h"
#include "play.h"

#define near(a, b, by) assert_true(fabs((a) - (b)) < (by))

static void
roll(struct play *p, const char *faces) {
    for (; *faces; faces++)
        play_outcome(p, *faces - '1');
}

static struct solve *
solved(struct play *p, const char *spec) {
    struct err e;
    play_start(p, spec);
    struct solve *s = solve_new(p->g, &p->args, 300000, &e);
    assert_non_null(s);
    return s;
}

static void
one_die_each_is_open_spiels_game(void **state) {
    (void)state;
    struct play p;
    struct solve_report r;
    struct solve *s = solved(&p, "liars_dice");
    assert_int_equal(solve_nodes(s), 294883);
    assert_int_equal(solve_sets(s), 24576);
    double *x = calloc(solve_width(s), sizeof x[0]);
    solve_uniform(s, x);
    solve_evaluate(s, x, &r);
    near(r.value, -0.0324074074074074, 1e-12);
    near(r.nash_conv, 1.5614886463844795, 1e-12);
    free(x);
    solve_free(s);
}

static void
equilibrium_of_three_sides_is_open_spiels(void **state) {
    (void)state;
    struct play p;
    struct solve_report r;
    struct solve *s = solved(&p, "liars_dice(sides=3)");
    assert_int_equal(solve_nodes(s), 1147);
    assert_int_equal(solve_sets(s), 192);
    double *x = calloc(solve_width(s), sizeof x[0]);
    solve_uniform(s, x);
    solve_evaluate(s, x, &r);
    near(r.value, 0.018518518518518517, 1e-12);
    near(r.nash_conv, 1.1111111111111112, 1e-12);
    solve_equilibrium(s, 2000, x, NULL, NULL);
    solve_evaluate(s, x, &r);
    near(r.value, 0.11111003986480031, 1e-9);
    near(r.nash_conv, 2.4224480046491914e-06, 1e-9);
    free(x);
    solve_free(s);
}

/* Three dice: who is called begins, who errs loses a die, and the last die decides. */
static void
rounds_follow_each_other(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "liars_dice(dice=2,wild=false)");
    roll(&p, "64");
    assert_string_equal(play_view(&p, 0), "Round 1, dice 2-2. Your dice 4 6. No bid.");
    assert_string_equal(play_view(&p, 1), "Round 1, dice 2-2. Not rolled yet.");
    roll(&p, "44");
    play_replies(&p, "1x4|3x4");
    assert_string_equal(play_told(&p, "call", 1),
                        "They call. Their dice 4 6: 3 count. They lose a die.");
    play_reply(&p, "call"); /* there are three: the caller, seat 0, loses a die */
    roll(&p, "255");
    assert_string_equal(play_view(&p, 0),
                        "Round 1, dice 2-2. Your dice 4 6. Bids 1x4 3x4. You call. Their dice 4 4: "
                        "3 count. You lose a die.\n"
                        "Round 2, dice 1-2. Your dice 2. No bid.");
    assert_int_equal(p.g->mover(p.s), GAME_SEAT_1);
    play_replies(&p, "3x6|call"); /* none: the bidder, seat 1, loses a die and begins again */
    roll(&p, "33");
    assert_int_equal(p.g->mover(p.s), GAME_SEAT_1);
    play_replies(&p, "1x3|2x3");
    assert_string_equal(play_told(&p, "call", 0), "They call. Their dice 3: 2 count. You win.");
    play_reply(&p, "call");
    play_pays(&p, 1);
}

static void
a_bid_must_be_higher(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "liars_dice(sides=3)");
    roll(&p, "12");
    assert_int_equal(play_read(&p, "call"), -1);
    play_reply(&p, "1x3");
    assert_string_equal(play_legal(&p), "2x1, 2x2, 2x3, call");
    play_start(&p, "liars_dice(sides=3,strict=true)");
    roll(&p, "12");
    play_reply(&p, "1x3");
    assert_string_equal(play_legal(&p), "2x3, call");
    play_reply(&p, "2x3");
    assert_string_equal(play_legal(&p), "call");
    play_start(&p, "liars_dice(sides=2,most=3,strict=true)");
    roll(&p, "12");
    assert_string_equal(play_legal(&p), "1x1, 1x2, 2x1, 2x2, 3x1, 3x2");
}

static void
the_highest_face_may_be_wild(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "liars_dice(sides=4)");
    roll(&p, "42");
    play_replies(&p, "2x2|call"); /* a 4 and a 2 */
    play_pays(&p, 1);
    play_start(&p, "liars_dice(sides=4)");
    roll(&p, "42");
    play_replies(&p, "2x4|call"); /* a 2 is no 4 */
    play_pays(&p, -1);
    play_start(&p, "liars_dice(sides=4,wild=false)");
    roll(&p, "42");
    play_replies(&p, "2x2|call");
    play_pays(&p, -1);
}

static void
matches_that_may_be_too_long_are_refused(void **state) {
    (void)state;
    const struct game *g;
    struct game_args args;
    struct err e;
    assert_int_equal(game_spec_parse("liars_dice(dice=5,most=40)", &g, &args, &e), -1);
    assert_non_null(strstr(e.text, "a match may have 2160 bids, 480 are possible"));
    assert_int_equal(game_spec_parse("liars_dice(dice=5,most=40,strict=true)", &g, &args, &e), 0);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_die_each_is_open_spiels_game),
        cmocka_unit_test(equilibrium_of_three_sides_is_open_spiels),
        cmocka_unit_test(rounds_follow_each_other),
        cmocka_unit_test(a_bid_must_be_higher),
        cmocka_unit_test(the_highest_face_may_be_wild),
        cmocka_unit_test(matches_that_may_be_too_long_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
