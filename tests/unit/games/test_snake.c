/* Snake: single rules. Recorded matches are replayed in tests/unit/arena/test_conform.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "games/game.h"

static const struct game *
start(const char *spec, unsigned char *s) {
    const struct game *g;
    struct game_args args;
    struct err e;
    if (game_spec_parse(spec, &g, &args, &e))
        fail_msg("%s", e.text);
    g->init(s, &args);
    return g;
}

static void
apply_chance(const struct game *g, unsigned char *s, int cell, const char *where) {
    if (g->mover(s) != GAME_CHANCE || !game_is_legal(g, s, cell))
        fail_msg("%s: chance cannot draw cell %d", where, cell);
    g->apply(s, cell);
}

/* Plays on 5 x 5 cells: `cells` are both starts and both apples, `moves` are pairs of both snakes'
 * first letters, and apples that are eaten come back on the cells of `again`. */
static const struct game *
play(const char *spec, const char *cells, const char *moves, const char *again, unsigned char *s) {
    const struct game *g = start(spec, s);
    for (; *cells; cells += 2 + (cells[2] == ' '))
        apply_chance(g, s, 5 * (cells[1] - '1') + cells[0] - 'a', cells);
    for (; *moves; moves++) {
        if (*moves == ' ')
            continue;
        assert_true(g->mover(s) != GAME_OVER);
        g->apply(s, (int)(strchr("udlr", *moves) - "udlr"));
        for (; g->mover(s) == GAME_CHANCE; again += 2 + (again[2] == ' '))
            apply_chance(g, s, 5 * (again[1] - '1') + again[0] - 'a', again);
    }
    return g;
}

static void
ends(const char *cells, const char *moves, const char *again, double result) {
    unsigned char s[GAME_MAX_STATE];
    const struct game *g = play("snake", cells, moves, again, s);
    if (g->mover(s) != GAME_OVER || g->result(s) != result)
        fail_msg("%s: %s must end with %g", cells, moves, result);
}

static void
goes_on(const char *cells, const char *moves, const char *again) {
    unsigned char s[GAME_MAX_STATE];
    const struct game *g = play("snake", cells, moves, again, s);
    if (g->mover(s) != GAME_SEAT_0)
        fail_msg("%s: %s must go on", cells, moves);
}

static void
walls_and_heads_kill(void **state) {
    (void)state;
    ends("b2 d4 a1 e1", "rl dl du", "", -1); /* seat 0 below the board */
    ends("b2 d4 a1 e1", "ur ur", "", 1);     /* seat 1 right of it */
    ends("b2 d4 a5 e5", "dr dr", "", 0);     /* both */
    ends("c3 d4 a1 e1", "rd", "", 0);        /* to the same cell */
    ends("b3 d4 a1 e1", "rl ud", "", 0);     /* changing places */
    ends("b3 d4 c3 e1", "rl ud", "a1", 1);   /* the same, but seat 0 has an apple */
}

static void
bodies_kill_and_tails_move_away(void **state) {
    (void)state;
    goes_on("b3 d4 a1 e1", "rl rd", "");          /* seat 1 goes where seat 0 was */
    ends("b3 d4 d3 e1", "rl rd", "a5", 1);        /* who eats leaves the tail there */
    ends("b3 d4 c3 e1", "rl rd", "a1", 1);        /* a body of two cells lies there */
    goes_on("b3 d4 c3 e1", "rl lu", "a1");        /* two cells turn round */
    ends("b3 d4 c3 d3", "rl rl ll", "a1 a2", -1); /* three cells do not */
    ends("b3 d4 a3 e1", "ll ul ll", "e5", -1);    /* a snake that dies is no obstacle */
}

static void
check_view(const struct game *g, const unsigned char *s, const char *expected) {
    char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    g->observe(s, 0, &t);
    assert_string_equal(at, expected);
}

/* The apple that seat 0 has eaten comes back before seat 1 has moved, and so may be eaten at
 * once. */
static void
apples_come_back(void **state) {
    (void)state;
    unsigned char s[GAME_MAX_STATE];
    const struct game *g = play("snake", "b3 d4 c3 e1", "rl", "c4 a5", s);
    check_view(g, s,
               "You x. Turn 2 of 20. Apples 1:1.\n5 *....\n4 ..Oo.\n3 .xX..\n2 .....\n1 ....*\n"
               "  abcde\nx b3 r\no d4 l\n* c3 e1 c4 a5");
}

static void
apples_decide_after_the_last_turn(void **state) {
    (void)state;
    unsigned char s[GAME_MAX_STATE];
    const struct game *g = play("snake(turns=2)", "b3 d4 b4 e1", "rl rl", "", s);
    assert_int_equal(g->mover(s), GAME_OVER);
    assert_true(g->result(s) == -1);
    g = play("snake(turns=2)", "b3 d4 a1 e1", "rl rl", "", s);
    assert_true(g->mover(s) == GAME_OVER && g->result(s) == 0);
    char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    g->observe(s, 1, &t);
    assert_non_null(strstr(at, "Turn 2 of 2. Apples 0:0."));
    assert_non_null(strstr(at, "x b3 rr\no d4 ll\n* a1 e1\nOver. Apples 0:0. Draw."));
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walls_and_heads_kill),
        cmocka_unit_test(bodies_kill_and_tails_move_away),
        cmocka_unit_test(apples_come_back),
        cmocka_unit_test(apples_decide_after_the_last_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
