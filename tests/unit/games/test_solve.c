/* The solver's refusals: games that its computations would be wrong for are not enumerated. Wrong
 * games are right ones with one function replaced. Also its hash table. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "games/index.h"
#include "games/solve.h"

static void
is_refused(const char *spec, struct game g, const char *part) {
    const struct game *from;
    struct game_args args;
    struct err e;
    assert_int_equal(game_spec_parse(spec, &from, &args, &e), 0);
    struct solve *s = solve_new(&g, &args, 100000, &e);
    if (s)
        fail_msg("not refused: wanted '%s'", part);
    if (!strstr(e.text, part))
        fail_msg("wanted '%s', got '%s'", part, e.text);
}

/* The moves without what came before the last one. */
static void
observe_the_card(const void *state, int who, struct text *out) {
    char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    game_find("kuhn_poker")->observe(state, who, &t);
    text_add(out, at, strlen("Your card K."));
}

static void
observe_nothing(const void *state, int who, struct text *out) {
    (void)state;
    (void)who;
    text_put(out, "Look away.");
}

static void
observe_too_much(const void *state, int who, struct text *out) {
    (void)state;
    (void)who;
    for (int i = 0; i < GAME_TEXT; i++)
        text_char(out, 'a');
}

static int
legal_by_card(const void *state, int *out) {
    char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    game_find("kuhn_poker")->draw(state, &t);
    out[0] = 0;
    out[1] = 1;
    return at[9] == 'K' ? 1 : 2;
}

static int
too_few_plies(const struct game_args *args) {
    (void)args;
    return 4;
}

static void
apply_without_end(void *state, int action) {
    unsigned char *plies = (unsigned char *)state + 4;
    (void)action;
    *plies ^= 1; /* x and o pass for ever */
}

static void
games_that_would_be_solved_wrongly_are_refused(void **state) {
    (void)state;
    struct game g = *game_find("kuhn_poker");
    g.observe = observe_the_card;
    is_refused("kuhn_poker", g, "a view of seat 0 forgets what it did before: 'Your card");
    g = *game_find("kuhn_poker");
    g.legal = legal_by_card;
    is_refused("kuhn_poker", g, "one view of seat 0 has different legal actions");
    g = *game_find("tic_tac_toe");
    g.observe = observe_nothing;
    is_refused("tic_tac_toe", g, "two states show the same view to seat 1: 'Look away.'");
    g.observe = observe_too_much;
    is_refused("tic_tac_toe", g, "a view is longer than");
}

static void
endless_games_are_refused(void **state) {
    (void)state;
    struct game g = *game_find("tic_tac_toe");
    g.max_plies = too_few_plies;
    is_refused("tic_tac_toe", g, "more than the 4 actions that it promises");
    g = *game_find("tic_tac_toe");
    g.apply = apply_without_end;
    is_refused("tic_tac_toe", g, "come back to a former state");
    g = *game_find("kuhn_poker");
    g.max_plies = too_few_plies;
    is_refused("kuhn_poker", g, "more than the 4 actions that it promises");
}

static void
counting_stops_in_time(void **state) {
    (void)state;
    struct game g = *game_find("tic_tac_toe");
    const struct game *from;
    struct game_args args;
    struct solve_count c;
    struct err e;
    assert_int_equal(game_spec_parse("tic_tac_toe", &from, &args, &e), 0);
    g.apply = apply_without_end;
    assert_int_equal(solve_count(&g, &args, 1000, &c, &e), -1);
    assert_non_null(strstr(e.text, "more than the 9 actions"));
    struct minimax *m = minimax_new(&g, 100000, &e);
    _Alignas(16) unsigned char s[GAME_MAX_STATE];
    int best[GAME_MAX_ACTIONS];
    double value;
    g.init(s, &args);
    assert_int_equal(minimax_optimal(m, s, best, &value, &e), -1);
    assert_non_null(strstr(e.text, "longer than"));
    minimax_free(m);
}

static void
counts_include_chance(void **state) {
    (void)state;
    const struct game *g;
    struct game_args args;
    struct solve_count c;
    struct err e;
    assert_int_equal(game_spec_parse("kuhn_poker", &g, &args, &e), 0);
    assert_int_equal(solve_count(g, &args, 1000, &c, &e), 0);
    assert_int_equal(c.games, 30); /* six deals, five ways to play each */
    assert_int_equal(c.wins, 15);
    assert_int_equal(c.losses, 15);
    /* Seat 1 folds with probability 1/4, seat 0 with 1/8; the rest are even showdowns. */
    assert_true(fabs(c.random_win - (1.0 / 4 + 5.0 / 16)) < 1e-12);
    assert_true(fabs(c.random_win + c.random_loss - 1) < 1e-12);
}

/* Many values under few hashes whose homes collide: each is found once. */
static void
the_index_finds_every_value(void **state) {
    (void)state;
    struct index x = {0};
    int seen[4000] = {0};
    for (uint64_t i = 0; i < 4000; i++)
        index_add(&x, i % 40 * 256, i);
    for (uint64_t hash = 0; hash < 40; hash++) {
        uint64_t value;
        for (size_t at = SIZE_MAX; index_next(&x, hash * 256, &at, &value);) {
            assert_int_equal(value % 40, hash);
            seen[value]++;
        }
    }
    for (int i = 0; i < 4000; i++)
        assert_int_equal(seen[i], 1);
    uint64_t value;
    size_t at = SIZE_MAX;
    assert_false(index_next(&x, 77, &at, &value));
    index_free(&x);
    assert_false(index_next(&x, 0, &at, &value));
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(games_that_would_be_solved_wrongly_are_refused),
        cmocka_unit_test(endless_games_are_refused),
        cmocka_unit_test(counting_stops_in_time),
        cmocka_unit_test(counts_include_chance),
        cmocka_unit_test(the_index_finds_every_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
