/* Truth and deception by hand: who knows what, and who wins. */
#include "play.h"

static void
only_player_0_knows_which_is_true(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "truth_and_deception(talk=0)");
    assert_string_equal(play_view(&p, 1), "No statements yet.");
    play_outcome(&p, 3); /* pair 1, the false statement first */
    assert_string_equal(play_view(&p, 0), "1: An octopus has two hearts. (false) 2: An octopus has "
                                          "three hearts. (true)\nWait.");
    assert_string_equal(play_view(&p, 1), "1: An octopus has two hearts. 2: An octopus has three "
                                          "hearts.\nChoose.");
    assert_string_equal(play_told(&p, "[2]", 0),
                        "They choose statement 2. Statement 2 is true. You lose.");
    play_reply(&p, "I think [2]");
    play_pays(&p, -1);
    play_start(&p, "truth_and_deception(talk=0)");
    play_outcome(&p, 3);
    play_reply(&p, "[fact 1]");
    play_pays(&p, 1);
    play_start(&p, "truth_and_deception(talk=0)");
    play_outcome(&p, 2);
    play_reply(&p, "1");
    play_pays(&p, -1);
}

static void
a_choice_is_one_statement(void **state) {
    (void)state;
    static const char *const bad[] = {"", "one", "[3]", "[1] or [2]", "[ 1 ]", "1 2", "12"};
    struct play p;
    play_start(&p, "truth_and_deception(talk=0)");
    play_outcome(&p, 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(play_read(&p, bad[i]), -1);
    assert_int_equal(play_read(&p, "not [FACT 2], but [1]"), -1);
    assert_int_equal(play_read(&p, "2"), 1);
}

static void
the_last_messages_are_seen(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "truth_and_deception(talk=8)");
    play_outcome(&p, 2);
    assert_int_equal(play_read(&p, ""), 0);
    p.g->say(p.s, "1.", 2);
    assert_string_equal(play_told(&p, "", 1), "They say: \"1.\".");
    assert_string_equal(play_told(&p, "", 0), "");
    play_say(&p, "m0");
    play_say(&p, "m1");
    play_reply(&p, "");
    assert_string_equal(play_view(&p, 1), "1: An octopus has three hearts. 2: An octopus has two "
                                          "hearts.\nThey said: \"m0\".\nYou said: \"m1\".\n"
                                          "Message 4 of 8. Speak.");
    play_say(&p, "m3");
    play_say(&p, "m4");
    play_say(&p, "m5");
    play_say(&p, "m6");
    play_say(&p, "m7");
    assert_string_equal(play_view(&p, 1),
                        "1: An octopus has three hearts. 2: An octopus has two hearts.\n"
                        "You said: \"m3\".\nThey said: \"m4\".\nYou said: \"m5\".\n"
                        "They said: \"m6\".\nYou said: \"m7\".\nChoose.");
    p.g->say(p.s, "[1]!", 4); /* words with the choice change nothing */
    play_reply(&p, "[1]");
    play_pays(&p, -1);
}

/* No statement is in two pairs, and none is empty or broken. */
static void
statements_are_all_different(void **state) {
    (void)state;
    struct play p;
    struct game_outcome out[GAME_MAX_ACTIONS];
    static char seen[GAME_MAX_ACTIONS][GAME_TEXT];
    play_start(&p, "truth_and_deception(talk=0)");
    int n = p.g->chance(p.s, out);
    assert_true(n >= 80);
    for (int i = 0; i < n; i++) {
        play_start(&p, "truth_and_deception(talk=0)");
        play_outcome(&p, out[i].action);
        strcpy(seen[i], play_view(&p, 1));
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(seen[i], seen[j]);
            if (i / 2 == j / 2)
                continue;
            const char *second = strstr(seen[i], " 2: ") + 4;
            size_t len = strcspn(second, "\n");
            char statement[200];
            assert_in_range(len, 10, 150);
            memcpy(statement, second, len);
            statement[len] = '\0';
            assert_int_equal(statement[len - 1], '.');
            assert_null(strstr(seen[j], statement));
        }
    }
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_player_0_knows_which_is_true),
        cmocka_unit_test(a_choice_is_one_statement),
        cmocka_unit_test(the_last_messages_are_seen),
        cmocka_unit_test(statements_are_all_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
