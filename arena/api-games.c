/* GET /api/games: what can be played, with rules and an example as the players read them. Built-in
 * rules are pure functions, so a thread may run them; games from outside are named only, since
 * asking them would mean to run somebody's program here. */
#include "arena/api-int.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "games/extern/extern.h"

#define EXAMPLE_PLIES 4 /* of players; enough that the view shows something */

static void
write_text(struct json_out *j, const char *key, void (*write)(const void *, int, struct text *),
           const void *state, int who) {
    char text[GAME_TEXT];
    struct text t;
    text_init(&t, text, sizeof text);
    write(state, who, &t);
    json_out_bytes(j, key, text, t.len);
}

static void
write_params(struct json_out *j, const struct game *g) {
    static const char *const types[] = {
        [PARAM_INT] = "int", [PARAM_LIST] = "list", [PARAM_BOOL] = "bool"};
    json_out_open(j, "parameters", '[');
    for (const struct game_param *p = g->params; p && p->name; p++) {
        json_out_open(j, NULL, '{');
        json_out_text(j, "name", p->name);
        json_out_text(j, "type", types[p->type]);
        json_out_text(j, "default", p->def);
        json_out_int(j, "min", p->min);
        json_out_int(j, "max", p->max);
        json_out_text(j, "help", p->help);
        json_out_close(j, '}');
    }
    json_out_close(j, ']');
}

/* A few moves at random, then what the seat to move sees and may say. */
static void
write_example(struct json_out *j, const struct game *g, const struct game_args *args) {
    unsigned char *state = mem_aligned(GAME_MAX_STATE);
    unsigned char *before = mem_aligned(GAME_MAX_STATE);
    int legal[GAME_MAX_ACTIONS], plies = 0, who;
    struct rng r;
    rng_init(&r, 7, 1, RNG_DEAL);
    g->init(state, args);
    memcpy(before, state, GAME_MAX_STATE);
    while ((who = g->mover(state)) != GAME_OVER && plies < EXAMPLE_PLIES) {
        int action;
        if (who == GAME_CHANCE) {
            action = game_draw(g, state, rng_unit(&r));
        } else {
            memcpy(before, state, GAME_MAX_STATE);
            int n = g->legal(state, legal);
            action = legal[rng_below(&r, (uint32_t)n)];
            plies++;
        }
        g->apply(state, action);
    }
    const void *shown = who == GAME_OVER || who == GAME_CHANCE ? before : state;
    char words[GAME_TEXT];
    struct text t;
    text_init(&t, words, sizeof words);
    who = g->mover(shown);
    json_out_open(j, "example", '{');
    if (who == GAME_SEAT_0 || who == GAME_SEAT_1) {
        json_out_int(j, "seat", who);
        write_text(j, "view", g->observe, shown, who);
        game_spell_legal(g, shown, &t);
        json_out_bytes(j, "legal", words, t.len);
    }
    json_out_close(j, '}');
    free(state);
    free(before);
}

static void
write_game(struct json_out *j, const struct game *g) {
    struct game_args args;
    char spec[256];
    struct text t;
    if (game_args_default(g, &args, NULL) < 0)
        return;
    text_init(&t, spec, sizeof spec);
    game_spec_text(g, &args, &t);
    unsigned char *state = mem_aligned(GAME_MAX_STATE);
    g->init(state, &args);
    json_out_open(j, NULL, '{');
    json_out_text(j, "name", g->name);
    json_out_text(j, "title", g->title);
    json_out_text(j, "spec", spec);
    json_out_int(j, "version", g->version);
    json_out_bool(j, "perfect_information", (g->flags & GAME_PERFECT_INFO) != 0);
    json_out_bool(j, "chance", !(g->flags & GAME_NO_CHANCE));
    json_out_bool(j, "talk", g->say != NULL);
    json_out_int(j, "max_plies", g->max_plies(&args));
    json_out_real(j, "unit", g->unit(&args));
    write_params(j, g);
    json_out_open(j, "rules", '[');
    for (int seat = 0; seat < 2; seat++)
        write_text(j, NULL, g->rules, state, seat);
    json_out_close(j, ']');
    write_example(j, g, &args);
    json_out_close(j, '}');
    free(state);
}

struct known {               /* looked up in the loop, which alone may use games from outside */
    char outside[GAME_TEXT]; /* each name behind ", " */
    size_t specs;
    char spec[CONF_MAX_GAMES][256];
};

static int
read_games(struct task *t, struct store *db, struct json_out *j) {
    const struct known *k = t->more;
    const struct game *g;
    json_out_open(j, NULL, '{');
    json_out_open(j, "run", '[');
    for (size_t i = 0; i < k->specs; i++)
        json_out_text(j, NULL, k->spec[i]);
    json_out_close(j, ']');
    json_out_open(j, "games", '[');
    for (int i = 0; (g = game_at(i)); i++)
        write_game(j, g);
    json_out_close(j, ']');
    json_out_open(j, "outside", '[');
    for (const char *p = k->outside; *p;) {
        p += strspn(p, ", ");
        size_t n = strcspn(p, ",");
        if (n)
            json_out_bytes(j, NULL, p, n);
        p += n;
    }
    json_out_close(j, ']');
    if (rows_array(t, db, j, "played", "games", NULL, 0) < 0)
        return -1;
    json_out_close(j, '}');
    return 0;
}

void
get_games(struct call *c) {
    struct known *k = mem_zero(1, sizeof *k);
    struct text t;
    for (; k->specs < c->s->setup.ngames && k->specs < CONF_MAX_GAMES; k->specs++)
        memcpy(k->spec[k->specs], c->s->setup.games[k->specs].spec, sizeof k->spec[0]);
    text_init(&t, k->outside, sizeof k->outside);
    extern_names(&t);
    api_ask(c, read_games, k);
}
