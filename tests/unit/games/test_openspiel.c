/* Random games of OpenSpiel 2.0.2 (tests/golden/openspiel, whose make.py says what a line holds)
 * are replayed: at every node the same seat or chance is to move and has the same actions, nodes
 * that one of them tells apart the other does too, and the same payoff comes out.
 * AGON_OPENSPIEL=FOLDER reads another folder than the stored one.
 *
 * Action numbers are the same in all these games but nim, where make.py maps them. What OpenSpiel
 * calls black or player 0 is our seat 0; its parameters are named differently (make.py pairs
 * them), and:
 *   breakthrough  its row 0 is our row 1, where x starts; below 6 rows it has home = 1
 *   goofspiel     a difference in points is halved there
 *   blotto, goofspiel, rock_paper_scissors   moves at the same time, taken in turn */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/hash.h"
#include "games/game.h"
#include "games/index.h"

struct replay {
    const struct game *g;
    struct game_args args;
    bool sets;          /* information sets are numbered */
    struct index views; /* hash to number */
    uint64_t met;       /* views so far */
    char where[200];    /* file and line, for a failure's sentence */
};

/* 0 for the first view that was met in this variant, 1 for the second and so on. */
static uint32_t
view_number(struct replay *r, const void *s) {
    char at[GAME_TEXT];
    struct text t;
    uint64_t number;
    text_init(&t, at, sizeof at);
    text_int(&t, r->g->mover(s));
    r->g->observe(s, r->g->mover(s), &t);
    uint64_t hash = hash_fnv(at, t.len);
    for (size_t i = SIZE_MAX; index_next(&r->views, hash, &i, &number);)
        return (uint32_t)number;
    index_add(&r->views, hash, r->met);
    return (uint32_t)r->met++;
}

/* What a node says: who moves, all actions, and the information set. */
static void
add_node(struct replay *r, const void *s, struct buf *said) {
    const struct game *g = r->g;
    struct game_outcome out[GAME_MAX_ACTIONS];
    int legal[GAME_MAX_ACTIONS], mover = g->mover(s);
    bool chance = mover == GAME_CHANCE;
    int n = chance ? g->chance(s, out) : g->legal(s, legal);
    buf_u32(said, (uint32_t)mover);
    buf_u32(said, (uint32_t)n);
    for (int i = 0; i < n; i++)
        buf_u32(said, (uint32_t)(chance ? out[i].action : legal[i]));
    if (r->sets && !chance)
        buf_u32(said, view_number(r, s));
}

static void
replay_game(struct replay *r, char *line) {
    unsigned char s[GAME_MAX_STATE];
    struct buf said = {0};
    char *rest = strchr(line, '=');
    assert_non_null(rest);
    r->g->init(s, &r->args);
    for (char *word = line; word < rest; word++) {
        int action = (int)strtol(word, &word, 10);
        if (!game_is_legal(r->g, s, action))
            fail_msg("%s: %d is not legal", r->where, action);
        add_node(r, s, &said);
        r->g->apply(s, action);
    }
    double payoff = strtod(rest + 1, &rest);
    if (r->g->mover(s) != GAME_OVER)
        fail_msg("%s: the game goes on", r->where);
    double diff = r->g->result(s) * r->g->unit(&r->args) - payoff;
    if (diff > 1e-9 || diff < -1e-9)
        fail_msg("%s: player 0 gets %g, not %g", r->where, diff + payoff, payoff);
    if (hash_fnv(said.at, said.len) != strtoull(rest, NULL, 16))
        fail_msg("%s: seats to move, actions or information sets differ", r->where);
    buf_free(&said);
}

static void
replay_file(const char *name, int variants) {
    const char *folder = getenv("AGON_OPENSPIEL");
    char path[120], line[4096];
    struct replay r = {0};
    struct err e;
    snprintf(path, sizeof path, "%s/%s.txt", folder ? folder : "tests/golden/openspiel", name);
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is missing (tests run in the top folder)", path);
    int number = 0, seen = 0, games = 0;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(r.where, sizeof r.where, "%s:%d", path, ++number);
        r.sets = line[0] == 's' || (r.sets && line[0] != 'g');
        if (line[0] == 'g' || line[0] == 's') {
            index_free(&r.views);
            r.met = 0;
            if (game_spec_parse(line + 5, &r.g, &r.args, &e))
                fail_msg("%s: %s", r.where, e.text);
            assert_string_equal(r.g->name, name);
            seen++;
        } else {
            assert_true(seen > 0);
            replay_game(&r, line);
            games++;
        }
    }
    fclose(f);
    index_free(&r.views);
    assert_int_equal(seen, variants);
    assert_true(games >= 40 * variants);
}

static void
battleship_agrees(void **state) {
    (void)state;
    replay_file("battleship", 4);
}

static void
blotto_agrees(void **state) {
    (void)state;
    replay_file("blotto", 3);
}

static void
breakthrough_agrees(void **state) {
    (void)state;
    replay_file("breakthrough", 4);
}

static void
dark_hex_agrees(void **state) {
    (void)state;
    replay_file("dark_hex", 4);
}

static void
goofspiel_agrees(void **state) {
    (void)state;
    replay_file("goofspiel", 5);
}

static void
hex_agrees(void **state) {
    (void)state;
    replay_file("hex", 4);
}

static void
liars_dice_agrees(void **state) {
    (void)state;
    replay_file("liars_dice", 3);
}

static void
othello_agrees(void **state) {
    (void)state;
    replay_file("othello", 1);
}

static void
phantom_ttt_agrees(void **state) {
    (void)state;
    replay_file("phantom_ttt", 2);
}

static void
pig_agrees(void **state) {
    (void)state;
    replay_file("pig", 2);
}

static void
rock_paper_scissors_agrees(void **state) {
    (void)state;
    replay_file("rock_paper_scissors", 1);
}

static void
connect_four_agrees(void **state) {
    (void)state;
    replay_file("connect_four", 1);
}

static void
kuhn_poker_agrees(void **state) {
    (void)state;
    replay_file("kuhn_poker", 1);
}

static void
leduc_poker_agrees(void **state) {
    (void)state;
    replay_file("leduc_poker", 1);
}

static void
nim_agrees(void **state) {
    (void)state;
    replay_file("nim", 2);
}

static void
tic_tac_toe_agrees(void **state) {
    (void)state;
    replay_file("tic_tac_toe", 1);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(battleship_agrees),
        cmocka_unit_test(blotto_agrees),
        cmocka_unit_test(breakthrough_agrees),
        cmocka_unit_test(dark_hex_agrees),
        cmocka_unit_test(goofspiel_agrees),
        cmocka_unit_test(hex_agrees),
        cmocka_unit_test(othello_agrees),
        cmocka_unit_test(phantom_ttt_agrees),
        cmocka_unit_test(liars_dice_agrees),
        cmocka_unit_test(pig_agrees),
        cmocka_unit_test(rock_paper_scissors_agrees),
        cmocka_unit_test(connect_four_agrees),
        cmocka_unit_test(kuhn_poker_agrees),
        cmocka_unit_test(leduc_poker_agrees),
        cmocka_unit_test(nim_agrees),
        cmocka_unit_test(tic_tac_toe_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
