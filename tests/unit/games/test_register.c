/* The table of games and the reader of specifications. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "games/game.h"

static const char *
canonical(const char *spec) {
    static char at[300];
    const struct game *g;
    struct game_args args;
    struct err e;
    struct text t;
    text_init(&t, at, sizeof at);
    if (game_spec_parse(spec, &g, &args, &e))
        text_put(&t, e.text);
    else
        game_spec_text(g, &args, &t);
    return at;
}

static void
the_table_ascends_and_finds(void **state) {
    (void)state;
    assert_non_null(game_at(0));
    assert_null(game_at(-1));
    for (int i = 0; game_at(i); i++) {
        assert_ptr_equal(game_find(game_at(i)->name), game_at(i));
        if (i)
            assert_true(strcmp(game_at(i - 1)->name, game_at(i)->name) < 0);
    }
    assert_null(game_find("chess"));
}

static void
specifications_have_one_canonical_form(void **state) {
    (void)state;
    assert_string_equal(canonical("tic_tac_toe"), "tic_tac_toe");
    assert_string_equal(canonical("tic_tac_toe()"), "tic_tac_toe");
    assert_string_equal(canonical("kuhn_poker"), "kuhn_poker(hands=1,side=0)");
    assert_string_equal(canonical(" kuhn_poker ( side = -2 , hands = 3 ) "),
                        "kuhn_poker(hands=3,side=-2)");
    assert_string_equal(canonical("nim(piles=5-7-9-11-2)"), "nim(piles=5-7-9-11-2,misere=false)");
    assert_string_equal(canonical("nim(misere=true)"), "nim(piles=3-4-5,misere=true)");
    const char *again = "connect_four(rows=5,columns=4)";
    assert_string_equal(canonical(again), again);
}

static void
errors_say_what_there_is(void **state) {
    (void)state;
    static const struct {
        const char *spec, *part;
    } bad[] = {
        {"chess", "no game is called 'chess'; there are: "},
        {"chess", ", kuhn_poker, leduc_poker, "},
        {"", "no game is called ''"},
        {"kuhn_poker(hands=0)", "hands is '0'; it must be a whole number from 1 to 20"},
        {"kuhn_poker(hands=3-4)", "a whole number from 1 to 20"},
        {"kuhn_poker(hands=)", "a whole number from 1 to 20"},
        {"kuhn_poker(hands=99999999999999999999)", "a whole number from 1 to 20"},
        {"kuhn_poker(hands)", "write hands=VALUE"},
        {"kuhn_poker(cards=4)", "has no parameter 'cards'; its parameters are: hands (1..20)"},
        {"kuhn_poker(hands=1,hands=2)", "hands is given twice"},
        {"kuhn_poker(hands=1,)", "missing after the last comma"},
        {"kuhn_poker(hands=1", "the closing ')' is missing"},
        {"nim(piles=1-2-3-4-5-6-7-8-9)", "1 to 8 numbers from 1 to 60"},
        {"nim(piles=3-)", "1 to 8 numbers"},
        {"nim(piles=3--4)", "1 to 8 numbers"},
        {"nim(misere=maybe)", "must be true or false"},
        {"connect_four(rows=12,columns=10)", "connect_four: a board of 12 rows and 10 columns"},
        {"tic_tac_toe(size=4)", "its parameters are: none"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (!strstr(canonical(bad[i].spec), bad[i].part))
            fail_msg("'%s' gives: %s", bad[i].spec, canonical(bad[i].spec));
}

static void
long_and_strange_specifications_are_refused(void **state) {
    (void)state;
    char junk[2000];
    memset(junk, 'x', sizeof junk);
    junk[sizeof junk - 1] = '\0';
    assert_non_null(strstr(canonical(junk), "longer than"));
    memcpy(junk, "nim(piles=", 10);
    memset(junk + 10, '1', 300);
    strcpy(junk + 310, ")");
    assert_non_null(strstr(canonical(junk), "1 to 8 numbers"));
}

static void
words_are_read_whatever_their_case(void **state) {
    (void)state;
    const struct game *g = game_find("kuhn_poker");
    struct game_args args;
    struct err e;
    _Alignas(16) unsigned char s[GAME_MAX_STATE];
    assert_int_equal(game_spec_parse("kuhn_poker", &g, &args, &e), 0);
    g->init(s, &args);
    assert_int_equal(game_parse(g, s, "J", 1), -1); /* chance's to move */
    g->apply(s, 0);
    g->apply(s, 1);
    assert_int_equal(game_parse(g, s, "check", 5), 0);
    assert_int_equal(game_parse(g, s, "\t BeT\n", 6), 1);
    assert_int_equal(game_parse(g, s, "bets", 3), 1);
    assert_int_equal(game_parse(g, s, "bets", 4), -1);
    assert_int_equal(game_parse(g, s, "call", 4), -1);
    assert_int_equal(game_parse(g, s, "", 0), -1);
    char list[64];
    struct text t;
    text_init(&t, list, sizeof list);
    game_spell_legal(g, s, &t);
    assert_string_equal(list, "check, bet");
}

static void
drawing_follows_the_probabilities(void **state) {
    (void)state;
    const struct game *g;
    struct game_args args;
    struct err e;
    _Alignas(16) unsigned char s[GAME_MAX_STATE];
    assert_int_equal(game_spec_parse("kuhn_poker", &g, &args, &e), 0);
    g->init(s, &args);
    assert_int_equal(game_draw(g, s, 0), 0);
    assert_int_equal(game_draw(g, s, 0.34), 1);
    assert_int_equal(game_draw(g, s, 0.67), 2);
    assert_int_equal(game_draw(g, s, 0x1.fffffffffffffp-1), 2);
    g->apply(s, 1);
    assert_false(game_is_legal(g, s, 1));
    assert_true(game_is_legal(g, s, 2));
    assert_int_equal(game_draw(g, s, 0.49), 0);
    assert_int_equal(game_draw(g, s, 0.5), 2);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_ascends_and_finds),
        cmocka_unit_test(specifications_have_one_canonical_form),
        cmocka_unit_test(errors_say_what_there_is),
        cmocka_unit_test(long_and_strange_specifications_are_refused),
        cmocka_unit_test(words_are_read_whatever_their_case),
        cmocka_unit_test(drawing_follows_the_probabilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
