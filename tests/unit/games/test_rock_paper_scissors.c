/* Rock, paper, scissors by hand. OpenSpiel's matches are in test_openspiel.c. */
#include "play.h"

static void
seat_1_does_not_see_what_seat_0_chose(void **state) {
    (void)state;
    struct play p;
    char before[GAME_TEXT];
    play_start(&p, "rock_paper_scissors");
    strcpy(before, play_view(&p, 1));
    assert_string_equal(play_told(&p, "rock", 0), "You choose rock.");
    assert_string_equal(play_told(&p, "rock", 1), "");
    play_reply(&p, "rock");
    assert_string_equal(play_view(&p, 1), before);
    assert_string_equal(play_view(&p, 0), "Round 1 of 3. You won 0, they won 0. Your choice rock.");
    assert_string_equal(play_told(&p, "paper", 0),
                        "They choose paper. They win the round. You won 0, they won 1.");
    assert_string_equal(play_told(&p, "paper", 1),
                        "You choose paper. They choose rock. You win the round. You won 1, they "
                        "won 0.");
    play_reply(&p, "paper");
    assert_string_equal(play_view(&p, 0),
                        "Round 2 of 3. You won 0, they won 1. So far, you-they: rp.");
    assert_string_equal(play_view(&p, 1),
                        "Round 2 of 3. You won 1, they won 0. So far, you-they: pr.");
}

static void
every_pair_has_its_winner(void **state) {
    (void)state;
    static const char *const word[] = {"rock", "paper", "scissors"};
    static const int pays[3][3] = {{0, -1, 1}, {1, 0, -1}, {-1, 1, 0}};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            struct play p;
            play_start(&p, "rock_paper_scissors(rounds=1)");
            play_reply(&p, word[a]);
            play_reply(&p, word[b]);
            play_pays(&p, pays[a][b]);
        }
}

static void
more_rounds_win_the_match(void **state) {
    (void)state;
    struct play p;
    play_start(&p, "rock_paper_scissors(rounds=4)");
    play_replies(&p, "rock|scissors|rock|paper|rock|rock|paper|rock");
    play_pays(&p, 1);
    play_start(&p, "rock_paper_scissors(rounds=2)");
    play_replies(&p, "rock|scissors|rock|paper");
    play_pays(&p, 0);
    assert_string_equal(play_view(&p, 0),
                        "Round 2 of 2. You won 1, they won 1. So far, you-they: rs rp. Draw.");
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seat_1_does_not_see_what_seat_0_chose),
        cmocka_unit_test(every_pair_has_its_winner),
        cmocka_unit_test(more_rounds_win_the_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
