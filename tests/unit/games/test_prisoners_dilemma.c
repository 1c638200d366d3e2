/* The prisoner's dilemma by hand: what is seen when, and what a reply means. */
#include <math.h>
#include <stdlib.h>

#include "games/solve.h"
#include "play.h"

static void
words_are_told_and_choices_hidden(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "prisoners_dilemma(rounds=2)");
    assert_string_equal(play_view(&p, 0), "Round 1 of 2. Points: you 0, they 0. Speak.");
    assert_string_equal(play_view(&p, 1), "Round 1 of 2. Points: you 0, they 0. Wait.");
    p.g->say(p.s, "Let's both \"cooperate\".", 23);
    assert_string_equal(play_told(&p, "", 1), "They say: \"Let's both 'cooperate'.\".");
    assert_string_equal(play_told(&p, "", 0), "");
    play_reply(&p, "");
    assert_string_equal(play_told(&p, "", 0), "They say nothing.");
    play_reply(&p, "");
    assert_string_equal(play_view(&p, 1), "Round 1 of 2. Points: you 0, they 0. They said: "
                                          "\"Let's both 'cooperate'.\". Wait.");
    p.g->say(p.s, "Ha, [defect]!", 13); /* words with a choice are told to nobody */
    assert_string_equal(play_told(&p, "[defect]", 1), "");
    assert_string_equal(play_told(&p, "[defect]", 0), "You defect.");
    play_reply(&p, "[defect]");
    assert_string_equal(play_view(&p, 0), "Round 1 of 2. Points: you 0, they 0. You said: "
                                          "\"Let's both 'cooperate'.\". You defect. Wait.");
    assert_string_equal(play_view(&p, 1), "Round 1 of 2. Points: you 0, they 0. They said: "
                                          "\"Let's both 'cooperate'.\". Choose.");
    assert_string_equal(play_told(&p, "[cooperate]", 0),
                        "They cooperate. You get 5, they get 0. Points: you 5, they 0.");
    assert_string_equal(
        play_told(&p, "[cooperate]", 1),
        "You cooperate. They defect. You get 0, they get 5. Points: you 0, they 5.");
    play_reply(&p, "[cooperate]");
    p.g->say(p.s, "hm", 2);
    play_reply(&p, "hm"); /* new words take the place of the old ones */
    assert_string_equal(play_view(&p, 1), "Round 2 of 2. Points: you 0, they 5. So far, you-they: "
                                          "CD. They said: \"hm\". Speak.");
}

static void
only_defect_defects(void **state) {
    (void)state;
    static const char *const defect[] = {"[defect]", "x [DEFECT] y", "[cooperate] [Defect]",
                                         " Defect "};
    static const char *const cooperate[] = {"[Cooperate]", "", "[ defect ]", "I defect", "defect."};
    struct play p;
    play_start(&p, "prisoners_dilemma(talk=0)");
    for (size_t i = 0; i < sizeof defect / sizeof defect[0]; i++)
        assert_int_equal(play_read(&p, defect[i]), 1);
    for (size_t i = 0; i < sizeof cooperate / sizeof cooperate[0]; i++)
        assert_int_equal(play_read(&p, cooperate[i]), 0);
    play_start(&p, "prisoners_dilemma");
    assert_int_equal(play_read(&p, "[defect]"), 0); /* no choice yet: only talk */
    assert_string_equal(play_legal(&p), "...");
}

static void
more_points_win(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "prisoners_dilemma(talk=0,rounds=3,points=30-50-10-20)");
    play_replies(&p, "cooperate|cooperate|defect|defect|cooperate|defect");
    assert_string_equal(play_view(&p, 1), "Round 3 of 3. Points: you 100, they 60. So far, "
                                          "you-they: CC DD DC. You win.");
    play_pays(&p, -1);
    play_start(&p, "prisoners_dilemma(talk=0,rounds=2)");
    play_replies(&p, "cooperate|defect|defect|cooperate");
    play_pays(&p, 0);
    struct err e;
    assert_int_equal(game_spec_parse("prisoners_dilemma(points=1-2-3)", &p.g, &p.args, &e), -1);
    assert_non_null(strstr(e.text, "points are 4 numbers"));
}

/* Talk is worth nothing where what one wins the other loses. */
static void
talk_does_not_change_the_value(void **state) {
    (void)state;
    static const char *const spec[] = {"prisoners_dilemma(rounds=2,talk=0)",
                                       "prisoners_dilemma(rounds=2,talk=1)"};
    for (int i = 0; i < 2; i++) {
        struct play p;
        struct err e;
        struct solve_report r;
        play_start(&p, spec[i]);
        struct solve *s = solve_new(p.g, &p.args, 1000, &e);
        assert_non_null(s);
        double *x = calloc(solve_width(s), sizeof x[0]);
        solve_uniform(s, x);
        solve_evaluate(s, x, &r);
        assert_true(fabs(r.value) < 1e-12 && fabs(r.nash_conv - 1.5) < 1e-12);
        solve_equilibrium(s, 500, x, NULL, NULL);
        solve_evaluate(s, x, &r);
        assert_true(fabs(r.value) < 1e-4 && r.nash_conv < 1e-4);
        free(x);
        solve_free(s);
    }
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_told_and_choices_hidden),
        cmocka_unit_test(only_defect_defects),
        cmocka_unit_test(more_points_win),
        cmocka_unit_test(talk_does_not_change_the_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
