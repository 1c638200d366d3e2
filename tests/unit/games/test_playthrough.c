/* Golden playthroughs: what every function of the contract says along one random match of each
 * game. A change of rules or texts shows up as a difference; a meant one raises the game's version
 * and is written with AGON_GOLDEN_UPDATE=1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/rng.h"
#include "games/game.h"

static const struct {
    const char *file, *spec;
} plays[] = {
    {"battleship", "battleship"},
    {"blotto", "blotto(coins=4,fields=3)"},
    {"breakthrough", "breakthrough(rows=6,columns=5)"},
    {"breakthrough-tiny", "breakthrough(rows=5,columns=5,diagonal=false)"},
    {"connect_four", "connect_four"},
    {"connect_four-small", "connect_four(rows=4,columns=5)"},
    {"dark_hex", "dark_hex"},
    {"dark_hex-abrupt", "dark_hex(abrupt=true)"},
    {"goofspiel", "goofspiel"},
    {"goofspiel-hidden", "goofspiel(cards=5,order=2,hidden=true,difference=true)"},
    {"hex", "hex"},
    {"hex-5", "hex(size=5)"},
    {"kuhn_poker", "kuhn_poker"},
    {"kuhn_poker-hands", "kuhn_poker(hands=3,side=-2)"},
    {"leduc_poker", "leduc_poker"},
    {"liars_dice", "liars_dice"},
    {"liars_dice-5", "liars_dice(dice=3,wild=false,strict=true,most=8)"},
    {"negotiation", "negotiation"},
    {"negotiation-5", "negotiation(resources=5,turns=6)"},
    {"nim", "nim"},
    {"nim-misere", "nim(piles=5-7-9-11-2,misere=true)"},
    {"othello", "othello"},
    {"phantom_ttt", "phantom_ttt"},
    {"phantom_ttt-abrupt", "phantom_ttt(abrupt=true)"},
    {"pig", "pig(goal=20)"},
    {"pig-short", "pig(goal=10,moves=6,must_hold=false)"},
    {"prisoners_dilemma", "prisoners_dilemma(rounds=3)"},
    {"rock_paper_scissors", "rock_paper_scissors"},
    {"snake", "snake"},
    {"tic_tac_toe", "tic_tac_toe"},
    {"truth_and_deception", "truth_and_deception"},
};

/* A text of several lines, indented, under its name. */
static void
put_text(struct buf *out, const char *name, const char *text) {
    buf_fmt(out, "%s:", name);
    if (strchr(text, '\n')) {
        buf_put(out, "\n    ");
        for (; *text; text++) {
            buf_add(out, text, 1);
            if (*text == '\n')
                buf_put(out, "    ");
        }
    } else if (*text) {
        buf_fmt(out, " %s", text);
    }
    buf_put(out, "\n");
}

static void
put_definition(struct buf *out, const struct game *g, const struct game_args *args) {
    char at[300];
    struct text t;
    text_init(&t, at, sizeof at);
    game_spec_text(g, args, &t);
    buf_fmt(out, "game: %s\ntitle: %s\nversion: %d\nflags: %u\n", at, g->title, g->version,
            g->flags);
    buf_fmt(out, "state_bytes: %zu\nmax_plies: %d\nunit: %.17g\n", g->state_bytes,
            g->max_plies(args), g->unit(args));
    for (int i = 0; g->params && g->params[i].name; i++) {
        const struct game_param *p = &g->params[i];
        buf_fmt(out, "param: %s type %d from %d to %d default %s: %s\n", p->name, (int)p->type,
                p->min, p->max, p->def, p->help);
    }
}

static void
put_rules(struct buf *out, const struct game *g, const void *s) {
    for (int seat = 0; seat < 2; seat++) {
        char at[GAME_TEXT], name[20];
        struct text t;
        text_init(&t, at, sizeof at);
        g->rules(s, seat, &t);
        snprintf(name, sizeof name, "rules(%d)", seat);
        put_text(out, name, at);
    }
}

static void
put_views(struct buf *out, const struct game *g, const void *s) {
    char at[GAME_TEXT], name[20];
    struct text t;
    for (int seat = 0; seat < 2; seat++) {
        text_init(&t, at, sizeof at);
        g->observe(s, seat, &t);
        snprintf(name, sizeof name, "observe(%d)", seat);
        put_text(out, name, at);
    }
    if (!g->draw)
        return;
    text_init(&t, at, sizeof at);
    g->draw(s, &t);
    put_text(out, "draw", at);
}

/* All choices, and the one that is taken. */
static int
put_choices(struct buf *out, const struct game *g, const void *s, struct rng *rng) {
    struct game_outcome o[GAME_MAX_ACTIONS];
    int legal[GAME_MAX_ACTIONS];
    bool chance = g->mover(s) == GAME_CHANCE;
    int n = chance ? g->chance(s, o) : g->legal(s, legal);
    buf_put(out, chance ? "chance:" : "legal:");
    for (int i = 0; i < n; i++) {
        char word[GAME_WORD];
        struct text t;
        text_init(&t, word, sizeof word);
        g->spell(s, chance ? o[i].action : legal[i], &t);
        buf_fmt(out, "%s %d=%s", i ? "," : "", chance ? o[i].action : legal[i], word);
        if (chance)
            buf_fmt(out, " (%.6f)", o[i].probability);
        else
            assert_int_equal(game_parse(g, s, word, t.len), legal[i]);
    }
    buf_put(out, "\n");
    return chance ? game_draw(g, s, rng_unit(rng)) : legal[rng_below(rng, (uint32_t)n)];
}

static void
put_narrations(struct buf *out, const struct game *g, const void *s, int action) {
    buf_fmt(out, "apply: %d\n", action);
    for (int seat = 0; seat < 2; seat++) {
        char at[GAME_TEXT], name[20];
        struct text t;
        text_init(&t, at, sizeof at);
        g->narrate(s, action, seat, &t);
        snprintf(name, sizeof name, "narrate(%d)", seat);
        put_text(out, name, at);
    }
}

static void
put_play(struct buf *out, const char *spec) {
    const struct game *g;
    struct game_args args;
    struct err e;
    struct rng rng;
    _Alignas(16) unsigned char s[GAME_MAX_STATE];
    if (game_spec_parse(spec, &g, &args, &e))
        fail_msg("%s", e.text);
    rng_init(&rng, 2026, 0, RNG_TEST);
    put_definition(out, g, &args);
    g->init(s, &args);
    put_rules(out, g, s);
    for (int ply = 0;; ply++) {
        buf_fmt(out, "\n# %d\nmover: %d\n", ply, g->mover(s));
        put_views(out, g, s);
        if (g->mover(s) == GAME_OVER)
            break;
        int action = put_choices(out, g, s, &rng);
        put_narrations(out, g, s, action);
        g->apply(s, action);
    }
    buf_fmt(out, "result: %.17g\n", g->result(s));
}

static void
compare(const char *path, const char *now) {
    static char was[1 << 18];
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s is missing (tests run in the top folder; AGON_GOLDEN_UPDATE=1 writes it)",
                 path);
    size_t n = fread(was, 1, sizeof was - 1, f);
    fclose(f);
    was[n] = '\0';
    int line = 1;
    for (size_t i = 0; was[i] || now[i]; i++) {
        if (was[i] != now[i])
            fail_msg("%s:%d differs; if the change is meant, raise the game's version and run this "
                     "test with AGON_GOLDEN_UPDATE=1",
                     path, line);
        line += was[i] == '\n';
    }
}

static void
write_file(const char *path, const char *now) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs(now, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void
playthroughs_stay_as_they_are(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof plays / sizeof plays[0]; i++) {
        char path[100];
        struct buf out = {0};
        snprintf(path, sizeof path, "tests/golden/play/%s.txt", plays[i].file);
        put_play(&out, plays[i].spec);
        if (getenv("AGON_GOLDEN_UPDATE"))
            write_file(path, buf_text(&out));
        else
            compare(path, buf_text(&out));
        buf_free(&out);
    }
}

static void
every_game_has_a_playthrough(void **state) {
    (void)state;
    for (int i = 0; game_at(i); i++) {
        bool found = false;
        for (size_t j = 0; j < sizeof plays / sizeof plays[0]; j++)
            found = found || strcmp(plays[j].file, game_at(i)->name) == 0;
        if (!found)
            fail_msg("%s has no playthrough: add it to the list", game_at(i)->name);
    }
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(playthroughs_stay_as_they_are),
        cmocka_unit_test(every_game_has_a_playthrough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
