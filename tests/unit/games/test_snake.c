/* Snake against matches recorded with TextArena 0.7.3 (tests/golden/rules/Snake-v0.jsonl): the same
 * starts, apples, turns and payoffs, and single rules.
 *
 * A draw during a step is an index into the free cells, column by column from the left. Where the
 * original differs, and why it is not followed:
 *   - it may put the first apples on one cell; here they lie apart
 *   - after the turn limit it asks seat 0 for one more move, which changes nothing
 *   - its turns are the moves of one snake, here of both
 *   - an invalid reply kills the snake, but if the other had moved, that move is still carried out
 *     and may be deadly too, which makes a draw; an invalid reply always loses here
 *   - it draws an apple for who eats in the last turn, which changes nothing */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

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

static long
number(const json_t *list, size_t i) {
    return (long)json_integer_value(json_array_get(list, i));
}

/* [x, y] to our cell on the 5 x 5 board. */
static int
cell_of(const json_t *xy) {
    return (int)(5 * number(xy, 1) + number(xy, 0));
}

static void
apply_chance(const struct game *g, unsigned char *s, int cell, const char *where) {
    if (g->mover(s) != GAME_CHANCE || !game_is_legal(g, s, cell))
        fail_msg("%s: chance cannot draw cell %d", where, cell);
    g->apply(s, cell);
}

static void
deal(const struct game *g, unsigned char *s, const json_t *match, const char *where) {
    const json_t *initial = json_object_get(match, "initial"), *apples, *snakes;
    snakes = json_object_get(initial, "snakes");
    for (int seat = 0; seat < 2; seat++) {
        const json_t *snake = json_object_get(snakes, seat ? "1" : "0");
        const json_t *positions = json_object_get(snake, "positions");
        assert_int_equal(json_array_size(positions), 1);
        apply_chance(g, s, cell_of(json_array_get(positions, 0)), where);
    }
    apples = json_object_get(initial, "apples");
    for (size_t i = 0; i < json_array_size(apples); i++)
        apply_chance(g, s, cell_of(json_array_get(apples, i)), where);
}

static bool
apples_coincide(const json_t *match) {
    const json_t *apples = json_object_get(json_object_get(match, "initial"), "apples");
    return json_equal(json_array_get(apples, 0), json_array_get(apples, 1));
}

/* The first of these words, in this order, that stands in brackets; a reply without brackets is put
 * into brackets first. */
static const char *
read_reply(const char *reply) {
    static const char *const word[][2] = {
        {"[up]", "up"},     {"[w]", "up"},   {"[down]", "down"},   {"[s]", "down"},
        {"[left]", "left"}, {"[a]", "left"}, {"[right]", "right"}, {"[d]", "right"}};
    char bracketed[300];
    bool bare = !strchr(reply, '[') && !strchr(reply, ']');
    snprintf(bracketed, sizeof bracketed, bare ? "[%s]" : "%s", reply);
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
        if (strcasestr(bracketed, word[i][0]))
            return word[i][1];
    return NULL;
}

/* The index-th free cell, column by column. */
static int
free_cell(const struct game *g, const unsigned char *s, long index) {
    for (int x = 0; x < 5; x++)
        for (int y = 0; y < 5; y++)
            if (game_is_legal(g, s, 5 * y + x) && index-- == 0)
                return 5 * y + x;
    return -1;
}

static void
check_payoff(const struct game *g, const unsigned char *s, const json_t *match, int invalid,
             const char *where) {
    double pay = json_number_value(json_object_get(json_object_get(match, "rewards"), "0"));
    if (invalid >= 0)
        assert_true(pay == (invalid == 0 ? -1 : 1));
    else if (g->mover(s) != GAME_OVER || g->result(s) != pay)
        fail_msg("%s: the match must end with %g for player 0", where, pay);
}

static void
replay_match(const json_t *match, const char *where) {
    unsigned char s[GAME_MAX_STATE];
    const struct game *g = start("snake", s);
    const json_t *steps = json_object_get(match, "steps"), *step;
    int invalid = -1;
    if (!apples_coincide(match))
        deal(g, s, match, where);
    for (size_t i = 0; i < json_array_size(steps) && invalid < 0; i++) {
        step = json_array_get(steps, i);
        const char *word = read_reply(json_string_value(json_array_get(step, 1)));
        if (!word) {
            invalid = (int)number(step, 0);
            assert_true(i + 1 == json_array_size(steps));
            break;
        }
        if (i == 40) { /* the move after the limit */
            assert_int_equal(g->mover(s), GAME_OVER);
            break;
        }
        if (!apples_coincide(match)) {
            assert_int_equal(g->mover(s), number(step, 0));
            g->apply(s, game_parse(g, s, word, strlen(word)));
        }
        const json_t *draws = json_array_get(step, 3);
        for (size_t j = 0; j < json_array_size(draws) && g->mover(s) != GAME_OVER; j++)
            apply_chance(g, s, free_cell(g, s, number(draws, j)), where);
        assert_int_not_equal(apples_coincide(match) ? GAME_SEAT_0 : g->mover(s), GAME_CHANCE);
    }
    check_payoff(g, s, match, invalid, where);
}

static void
recorded_matches_come_out_the_same(void **state) {
    (void)state;
    static const char path[] = "tests/golden/rules/Snake-v0.jsonl";
    char line[1 << 16], where[100];
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is missing (tests run in the top folder)", path);
    int lines = 0, matches = 0, coincide = 0;
    while (fgets(line, sizeof line, f)) {
        json_t *match = json_loads(line, 0, NULL);
        assert_non_null(match);
        snprintf(where, sizeof where, "%s:%d", path, ++lines);
        if (json_object_get(match, "steps")) {
            coincide += apples_coincide(match);
            replay_match(match, where);
            matches++;
        }
        json_decref(match);
    }
    fclose(f);
    assert_int_equal(matches, 20);
    assert_int_equal(coincide, 1); /* ends at once by an invalid reply: only that is checked */
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
        cmocka_unit_test(recorded_matches_come_out_the_same),
        cmocka_unit_test(walls_and_heads_kill),
        cmocka_unit_test(bodies_kill_and_tails_move_away),
        cmocka_unit_test(apples_come_back),
        cmocka_unit_test(apples_decide_after_the_last_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
