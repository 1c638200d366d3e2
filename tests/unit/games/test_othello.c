/* Othello: published counts of move sequences, the shortest game, passing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "games/game.h"

enum { PASS = 64 };

static const struct game *
start(unsigned char *s) {
    const struct game *g;
    struct game_args args;
    struct err e;
    assert_int_equal(game_spec_parse("othello", &g, &args, &e), 0);
    g->init(s, &args);
    return g;
}

static long
count_sequences(const struct game *g, const void *s, int depth) {
    unsigned char next[GAME_MAX_STATE];
    int legal[GAME_MAX_ACTIONS];
    if (depth == 0 || g->mover(s) == GAME_OVER)
        return 1;
    int n = g->legal(s, legal);
    long sum = 0;
    for (int i = 0; i < n; i++) {
        memcpy(next, s, g->state_bytes);
        g->apply(next, legal[i]);
        sum += count_sequences(g, next, depth - 1);
    }
    return sum;
}

/* As given by several programs; passing is a move, and first happens at depth 9. */
static void
sequences_have_their_known_counts(void **state) {
    (void)state;
    static const long known[] = {1, 4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288};
    unsigned char s[GAME_MAX_STATE];
    const struct game *g = start(s);
    for (int depth = 0; depth < 10; depth++)
        assert_int_equal(count_sequences(g, s, depth), known[depth]);
}

static void
the_shortest_game_is_won_13_to_0(void **state) {
    (void)state;
    unsigned char s[GAME_MAX_STATE];
    const struct game *g = start(s);
    char at[GAME_TEXT];
    struct text t;
    for (const char *p = "f5d6c5f4e7f6g5e6e3"; *p; p += 2) {
        int action = game_parse(g, s, p, 2);
        assert_true(action >= 0);
        text_init(&t, at, sizeof at);
        g->narrate(s, action, 1, &t);
        g->apply(s, action);
    }
    assert_int_equal(g->mover(s), GAME_OVER);
    assert_true(g->result(s) == 1);
    assert_non_null(strstr(at, "x takes e3 and turns "));
    assert_non_null(strstr(at, " x wins 13:0."));
}

/* Random games: whoever cannot turn anything passes, and is to move again when the other can. */
static void
passing_is_forced(void **state) {
    (void)state;
    unsigned char s[GAME_MAX_STATE];
    struct rng rng;
    int passes = 0, draws = 0;
    rng_init(&rng, 5, 0, RNG_TEST);
    for (int i = 0; i < 300; i++) {
        const struct game *g = start(s);
        int before = -1;
        while (g->mover(s) != GAME_OVER) {
            int legal[GAME_MAX_ACTIONS], mover = g->mover(s), n = g->legal(s, legal);
            int action = legal[rng_below(&rng, (uint32_t)n)];
            if (action == PASS) {
                assert_int_equal(n, 1);
                assert_int_not_equal(before, PASS);
                passes++;
            }
            before = action;
            g->apply(s, action);
            if (g->mover(s) != GAME_OVER)
                assert_int_equal(g->mover(s), 1 - mover);
        }
        assert_int_not_equal(before, PASS);
        draws += g->result(s) == 0;
    }
    assert_true(passes > 100 && draws > 0);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_have_their_known_counts),
        cmocka_unit_test(the_shortest_game_is_won_13_to_0),
        cmocka_unit_test(passing_is_forced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
