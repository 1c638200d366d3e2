/* Matches recorded with TextArena 0.7.3 (tests/golden/rules, one JSON object a line) are replayed:
 * the same steps are legal, the same seat is to move, the same payoffs come out.
 *
 * The first line names the environment. Every other line is a match: `steps` = [player, reply, 1
 * legal or 0 illegal, ...]. One illegal reply in a row is forgiven there, the second loses.
 * TextArena reads the numbers of a reply in its own way; how, is copied here by scan(), and the
 * word that the numbers make in our spelling goes to game_parse(). */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "games/game.h"

/* How an environment's replies are read. */
struct reading {
    const char *word;  /* an optional word before the number, "col" */
    int numbers;       /* in one bracket */
    bool cells;        /* two cells instead, a2a3 */
    bool inner_blanks; /* [ 3 ] is read */
    bool last;         /* of several brackets */
};

/* "a2a3]" or "a02a03]" at `p`. */
static bool
read_cells(const char *p, char *word) {
    for (int i = 0; i < 2; i++) {
        if (!isalpha((unsigned char)*p))
            return false;
        *word++ = *p++;
        int row = 0, digits = 0;
        for (; digits < 2 && isdigit((unsigned char)*p); p++, digits++)
            row = 10 * row + (*p - '0');
        if (!digits)
            return false;
        word += sprintf(word, "%d", row);
    }
    return *p == ']';
}

/* One bracket "[col 3]" or "[2 1]" at `p`, which points behind its '['. */
static bool
read_bracket(const struct reading *r, const char *p, char *word) {
    size_t n = strlen(r->word), len = 0;
    if (r->cells)
        return read_cells(p, word);
    while (r->inner_blanks && isspace((unsigned char)*p))
        p++;
    if (n && strncasecmp(p, r->word, n) == 0) {
        p += n;
        while (isspace((unsigned char)*p))
            p++;
    }
    for (int i = 0; i < r->numbers; i++) {
        int value = 0, digits = 0;
        while (i && isspace((unsigned char)*p))
            p++;
        for (; isdigit((unsigned char)*p) && digits < 6; p++, digits++)
            value = 10 * value + (*p - '0');
        if (!digits)
            return false;
        len += (size_t)sprintf(word + len, "%s%d", i ? " " : "", value);
    }
    while (r->inner_blanks && isspace((unsigned char)*p))
        p++;
    return *p == ']';
}

/* A reply without brackets is put into brackets, as TextArena does. */
static bool
scan(const struct reading *r, const char *reply, char *word) {
    char bracketed[256], found[64];
    bool any = false;
    if (!strchr(reply, '[') && !strchr(reply, ']')) {
        snprintf(bracketed, sizeof bracketed, "[%s]", reply);
        reply = bracketed;
    }
    for (const char *p = strchr(reply, '['); p; p = strchr(p + 1, '['))
        if (read_bracket(r, p + 1, found) && (r->last || !any)) {
            strcpy(word, found);
            any = true;
        }
    return any;
}

static void
replay_step(const struct game *g, unsigned char *s, const struct reading *r, const json_t *step,
            const char *where) {
    char word[64];
    const char *reply = json_string_value(json_array_get(step, 1));
    bool was_legal = json_integer_value(json_array_get(step, 2));
    int action = scan(r, reply, word) ? game_parse(g, s, word, strlen(word)) : -1;
    if (g->mover(s) != json_integer_value(json_array_get(step, 0)))
        fail_msg("%s: another seat is to move before '%s'", where, reply);
    if ((action >= 0) != was_legal)
        fail_msg("%s: '%s' must be %s", where, reply, was_legal ? "legal" : "illegal");
    if (action >= 0)
        g->apply(s, action);
}

static void
check_end(const struct game *g, const unsigned char *s, const json_t *match, const char *where) {
    const json_t *steps = json_object_get(match, "steps"), *rewards;
    const json_t *last = json_array_get(steps, json_array_size(steps) - 1);
    rewards = json_object_get(match, "rewards");
    double pay = json_number_value(json_object_get(rewards, "0"));
    assert_true(pay == -json_number_value(json_object_get(rewards, "1")));
    bool invalid = strcmp(json_string_value(json_object_get(match, "end")), "invalid") == 0;
    if (invalid) {
        /* An invalid reply loses for who gave it. */
        assert_int_not_equal(g->mover(s), GAME_OVER);
        assert_int_equal(json_integer_value(json_array_get(last, 2)), 0);
        assert_true(pay == (json_integer_value(json_array_get(last, 0)) == 0 ? -1 : 1));
        return;
    }
    if (g->mover(s) != GAME_OVER || g->result(s) != pay)
        fail_msg("%s: the match must end with %g for player 0", where, pay);
}

static void
replay_match(const char *spec, const struct reading *r, const json_t *match, const char *where) {
    const struct game *g;
    struct game_args args;
    struct err e;
    _Alignas(16) unsigned char s[GAME_MAX_STATE];
    if (game_spec_parse(spec, &g, &args, &e))
        fail_msg("%s", e.text);
    g->init(s, &args);
    const json_t *steps = json_object_get(match, "steps");
    assert_true(json_array_size(steps) > 0);
    for (size_t i = 0; i < json_array_size(steps); i++)
        replay_step(g, s, r, json_array_get(steps, i), where);
    check_end(g, s, match, where);
}

static void
replay_file(const char *file, const char *spec, const struct reading *r, int expected) {
    char path[200], line[1 << 16], where[300];
    snprintf(path, sizeof path, "tests/golden/rules/%s", file);
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is missing (tests run in the top folder)", path);
    int number = 0, matches = 0;
    while (fgets(line, sizeof line, f)) {
        number++;
        json_t *match = json_loads(line, 0, NULL);
        assert_non_null(match);
        snprintf(where, sizeof where, "%s:%d", path, number);
        if (json_object_get(match, "steps")) {
            replay_match(spec, r, match, where);
            matches++;
        }
        json_decref(match);
    }
    fclose(f);
    assert_int_equal(matches, expected);
}

static void
tic_tac_toe_conforms(void **state) {
    (void)state;
    const struct reading r = {.word = "", .numbers = 1, .inner_blanks = true};
    replay_file("TicTacToe-v0.jsonl", "tic_tac_toe", &r, 20);
}

static void
connect_four_conforms(void **state) {
    (void)state;
    const struct reading r = {.word = "col", .numbers = 1, .last = true};
    replay_file("ConnectFour-v0.jsonl", "connect_four", &r, 21);
}

/* Steps onto a free cell are straight there. A seat without a move would have to give an illegal
 * reply there, and so loses as it does here. */
static void
breakthrough_conforms(void **state) {
    (void)state;
    const struct reading r = {.word = "", .cells = true};
    replay_file("Breakthrough-v0.jsonl", "breakthrough(diagonal=false)", &r, 20);
    replay_file("Breakthrough-v0-tiny.jsonl", "breakthrough(rows=5,columns=5,diagonal=false)", &r,
                20);
}

static void
nim_conforms(void **state) {
    (void)state;
    const struct reading r = {.word = "", .numbers = 2, .inner_blanks = true};
    replay_file("Nim-v0.jsonl", "nim(piles=3-4-5)", &r, 20);
    replay_file("Nim-v0-large.jsonl", "nim(piles=5-7-9-11-2)", &r, 20);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tic_tac_toe_conforms),
        cmocka_unit_test(connect_four_conforms),
        cmocka_unit_test(nim_conforms),
        cmocka_unit_test(breakthrough_conforms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
