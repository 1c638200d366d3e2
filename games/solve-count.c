/* Counts complete games by walking every one of them, and with it the exact outcome of uniform
 * random play. Nothing is merged, so that a fault of the rules cannot hide in a table. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "games/solve.h"

enum { DEPTH_MAX = 10000 };

/* Working room of one ply. */
struct level {
    struct game_outcome out[GAME_MAX_ACTIONS];
    int legal[GAME_MAX_ACTIONS];
    _Alignas(16) unsigned char state[GAME_MAX_STATE];
};

struct walk {
    const struct game *g;
    struct level **level; /* [depth + 1], made when first needed */
    int depth;
    uint64_t max_games;
    struct solve_count *count;
    struct err *e;
};

static int
count_end(struct walk *w, const void *state, double probability) {
    struct solve_count *c = w->count;
    if (c->games == w->max_games)
        return err_set(w->e, "%s: there are more than %llu complete games", w->g->name,
                       (unsigned long long)w->max_games);
    c->games++;
    double r = w->g->result(state);
    *(r > 0 ? &c->wins : r < 0 ? &c->losses : &c->draws) += 1;
    *(r > 0 ? &c->random_win : r < 0 ? &c->random_loss : &c->random_draw) += probability;
    return 0;
}

/* Outcomes of the state of a level: chance's, or the legal actions with equal probability. */
static int
list_outcomes(const struct game *g, struct level *l, int mover) {
    if (mover == GAME_CHANCE)
        return g->chance(l->state, l->out);
    int n = g->legal(l->state, l->legal);
    for (int i = 0; i < n; i++)
        l->out[i] = (struct game_outcome){l->legal[i], 1.0 / n};
    return n;
}

static int
visit(struct walk *w, int depth, double probability) {
    struct level *l = w->level[depth];
    int mover = w->g->mover(l->state);
    if (mover == GAME_OVER)
        return count_end(w, l->state, probability);
    if (depth == w->depth)
        return err_set(w->e, "%s: a match takes more than the %d actions that it promises",
                       w->g->name, w->depth);
    int n = list_outcomes(w->g, l, mover);
    if (!w->level[depth + 1])
        w->level[depth + 1] = mem_alloc(sizeof *l);
    for (int i = 0; i < n; i++) {
        memcpy(w->level[depth + 1]->state, l->state, w->g->state_bytes);
        w->g->apply(w->level[depth + 1]->state, l->out[i].action);
        if (visit(w, depth + 1, probability * l->out[i].probability))
            return -1;
    }
    return 0;
}

int
solve_count(const struct game *g, const struct game_args *args, uint64_t max_games,
            struct solve_count *out, struct err *e) {
    int depth = g->max_plies(args);
    if (depth < 0 || depth > DEPTH_MAX)
        return err_set(e, "%s: matches of %d actions are too long to be counted", g->name, depth);
    *out = (struct solve_count){0};
    struct walk w = {g, mem_zero((size_t)depth + 1, sizeof w.level[0]), depth, max_games, out, e};
    w.level[0] = mem_zero(1, sizeof *w.level[0]);
    g->init(w.level[0]->state, args);
    int bad = visit(&w, 0, 1);
    for (int i = 0; i <= depth; i++)
        free(w.level[i]);
    free(w.level);
    return bad;
}
