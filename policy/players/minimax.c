/* Plays perfectly: every action that keeps the game's value, with the same probability. All states
 * that can be reached are counted when the player is opened, so that a game too large is refused
 * then and the table of solved states never runs full in the middle of a match. */
#include "games/solve.h"
#include "policy/players/kinds.h"

#define MAX_STATES 300000

static int
check_game(const struct game *g, struct err *e) {
    if (!(g->flags & GAME_NO_CHANCE))
        return err_set(e, "%s has chance in it, which minimax cannot play; try 'equilibrium'",
                       g->name);
    if (!(g->flags & GAME_PERFECT_INFO))
        return err_set(e, "%s hides information, so minimax would cheat; try 'equilibrium'",
                       g->name);
    return 0;
}

static void *
open_minimax(const char *arg, const struct game *g, const struct game_args *args, struct err *e) {
    if (player_no_argument("minimax", arg, e) < 0 || check_game(g, e) < 0)
        return NULL;
    struct solve *all = solve_new(g, args, MAX_STATES, e);
    if (!all)
        return NULL;
    solve_free(all);
    return minimax_new(g, MAX_STATES, e);
}

static int
choose_minimax(void *self, const struct game *g, const void *state, struct rng *r) {
    (void)g;
    int optimal[GAME_MAX_ACTIONS];
    double value;
    struct err e;
    int n = minimax_optimal(self, state, optimal, &value, &e);
    if (n < 1)
        panic("minimax cannot go on: %s", e.text);
    return optimal[rng_below(r, (uint32_t)n)];
}

static void
close_minimax(void *self) {
    minimax_free(self);
}

const struct player_kind player_minimax = {
    "minimax",
    "Plays perfectly, without preference among the best actions (no chance, nothing hidden).",
    open_minimax,
    choose_minimax,
    close_minimax,
};
