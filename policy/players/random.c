/* Plays every legal action with the same probability. */
#include <stdlib.h>

#include "base/mem.h"
#include "policy/players/kinds.h"

static void *
open_random(const char *arg, const struct game *g, const struct game_args *args, struct err *e) {
    (void)g;
    (void)args;
    if (player_no_argument("random", arg, e) < 0)
        return NULL;
    return mem_zero(1, 1);
}

static int
choose_random(void *self, const struct game *g, const void *state, struct rng *r) {
    (void)self;
    int legal[GAME_MAX_ACTIONS];
    int n = g->legal(state, legal);
    return legal[rng_below(r, (uint32_t)n)];
}

const struct player_kind player_random = {
    "random", "Plays every legal action with the same probability.", open_random, choose_random,
    free,
};
