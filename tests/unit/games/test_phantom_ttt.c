/* Phantom tic-tac-toe (and Dark Hex on 3 x 3, which is as large): the exact outcome of uniform
 * random play from early states on, against OpenSpiel 2.0.2, whose numbers were taken once. Uniform
 * play does not depend on the order of tries, so states are merged over it. Single rules. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "games/game.h"
#include "games/index.h"

enum { STATES_MAX = 100000 };

struct table {
    const struct game *g;
    struct game_args args;
    struct index index;
    double *value;
    uint64_t states;
};

/* What both know and who moves, the order of tries left out. */
static uint64_t
key_of(const struct game *g, const void *s) {
    char at[2 * GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    for (int seat = 0; seat < 2; seat++) {
        size_t from = t.len;
        g->observe(s, seat, &t);
        const char *order = strstr(at + from, "\nYou tried");
        assert_non_null(order);
        t.len = (size_t)(order - at);
        at[t.len] = '\0';
    }
    text_int(&t, g->mover(s));
    return hash_fnv(at, t.len);
}

static double
uniform_value(struct table *t, const void *s) {
    if (t->g->mover(s) == GAME_OVER)
        return t->g->result(s);
    unsigned char next[GAME_MAX_STATE];
    int legal[GAME_MAX_ACTIONS];
    uint64_t key = key_of(t->g, s), at;
    for (size_t i = SIZE_MAX; index_next(&t->index, key, &i, &at);)
        return t->value[at];
    double sum = 0;
    int n = t->g->legal(s, legal);
    for (int i = 0; i < n; i++) {
        memcpy(next, s, t->g->state_bytes);
        t->g->apply(next, legal[i]);
        sum += uniform_value(t, next);
    }
    assert_true(t->states < STATES_MAX);
    t->value[t->states] = sum / n;
    index_add(&t->index, key, t->states++);
    return sum / n;
}

/* From the state after `first` and `second`. */
static void
random_play_is_worth(const char *spec, int first, int second, uint64_t states, double value) {
    struct table t = {0};
    struct err e;
    unsigned char s[GAME_MAX_STATE];
    if (game_spec_parse(spec, &t.g, &t.args, &e))
        fail_msg("%s", e.text);
    t.value = calloc(STATES_MAX, sizeof t.value[0]);
    t.g->init(s, &t.args);
    t.g->apply(s, first);
    t.g->apply(s, second);
    double v = uniform_value(&t, s);
    assert_int_equal(t.states, states);
    assert_true(fabs(v - value) < 1e-12);
    index_free(&t.index);
    free(t.value);
}

/* The second try is into a free cell, or into the taken one. */
static void
random_play_has_open_spiels_outcome(void **state) {
    (void)state;
    random_play_is_worth("phantom_ttt", 0, 4, 40250, 0.11428571428571427);
    random_play_is_worth("phantom_ttt(abrupt=true)", 0, 4, 40479, 0.1525450857426304);
    random_play_is_worth("dark_hex", 0, 4, 40794, -0.02857142857142859);
    random_play_is_worth("dark_hex(abrupt=true)", 0, 4, 45157, -0.038300028344671194);
    random_play_is_worth("phantom_ttt", 4, 4, 49713, 0.49999999999999994);
    random_play_is_worth("phantom_ttt(abrupt=true)", 4, 4, 47305, 0.7517283163265306);
}

static void
check_text(const struct game *g, const void *s, int seat, const char *expected) {
    char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    g->observe(s, seat, &t);
    assert_string_equal(at, expected);
}

static void
check_narration(const struct game *g, const void *s, int action, int seat, const char *expected) {
    char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    g->narrate(s, action, seat, &t);
    assert_string_equal(at, expected);
}

static void
a_taken_cell_is_shown_to_who_tried_it(void **state) {
    (void)state;
    const struct game *g;
    struct game_args args;
    struct err e;
    unsigned char s[GAME_MAX_STATE];
    assert_int_equal(game_spec_parse("phantom_ttt", &g, &args, &e), 0);
    g->init(s, &args);
    check_narration(g, s, 4, 0, "You take 4.");
    check_narration(g, s, 4, 1, "");
    g->apply(s, 4);
    check_text(g, s, 1, "You o.\n012\n345\n678\nYou tried nothing.");
    check_narration(g, s, 4, 1, "Their mark is on 4; try again.");
    check_narration(g, s, 4, 0, "");
    g->apply(s, 4);
    assert_int_equal(g->mover(s), 1);
    assert_false(game_is_legal(g, s, 4));
    g->apply(s, 0);
    check_text(g, s, 1, "You o.\no12\n3x5\n678\nYou tried 4 0.");
    check_text(g, s, 0, "You x.\n012\n3x5\n678\nYou tried 4.");
    g->apply(s, 3);
    g->apply(s, 1);
    check_narration(g, s, 5, 0, "You take 5. You win.");
    check_narration(g, s, 5, 1, "They take a cell. You lose.");
    g->apply(s, 5);
    assert_true(g->mover(s) == GAME_OVER && g->result(s) == 1);
}

static void
an_abrupt_try_loses_the_turn(void **state) {
    (void)state;
    const struct game *g;
    struct game_args args;
    struct err e;
    unsigned char s[GAME_MAX_STATE];
    assert_int_equal(game_spec_parse("phantom_ttt(abrupt=true)", &g, &args, &e), 0);
    g->init(s, &args);
    g->apply(s, 4);
    check_narration(g, s, 4, 1, "Their mark is on 4; your turn is over.");
    g->apply(s, 4);
    assert_int_equal(g->mover(s), 0);
    check_text(g, s, 0, "You x.\n012\n3x5\n678\nYou tried 4.");
    check_text(g, s, 1, "You o.\n012\n3x5\n678\nYou tried 4.");
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_play_has_open_spiels_outcome),
        cmocka_unit_test(a_taken_cell_is_shown_to_who_tried_it),
        cmocka_unit_test(an_abrupt_try_loses_the_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
