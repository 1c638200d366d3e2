/* Plays the first action of the legal list, always. */
#include <stdlib.h>

#include "base/mem.h"
#include "policy/players/kinds.h"

static void *
open_first(const char *arg, const struct game *g, const struct game_args *args, struct err *e) {
    (void)g;
    (void)args;
    if (player_no_argument("first", arg, e) < 0)
        return NULL;
    return mem_zero(1, 1);
}

static int
choose_first(void *self, const struct game *g, const void *state, struct rng *r) {
    (void)self;
    (void)r;
    int legal[GAME_MAX_ACTIONS];
    g->legal(state, legal);
    return legal[0];
}

const struct player_kind player_first = {
    "first", "Plays the first action of the legal list.", open_first, choose_first, free,
};
