/* Plays an equilibrium of a game that is small enough to solve: solved once when opened, then
 * sampled from at every turn. */
#include <stdlib.h>

#include "base/mem.h"
#include "games/solve.h"
#include "policy/players/kinds.h"

#define MAX_NODES 200000 /* of the game tree */
#define WORK 20000000    /* node visits that solving may take, roughly */
#define MIN_ROUNDS 200
#define MAX_ROUNDS 20000
#define GOOD_ENOUGH 1e-6 /* NashConv, in units of payoff 1.0 */

struct equilibrium {
    struct solve *solve;
    double *strategy;
};

static bool
not_yet(void *arg, int round, double nash_conv) {
    (void)round;
    return nash_conv > *(const double *)arg;
}

static void *
open_equilibrium(const char *arg, const struct game *g, const struct game_args *args,
                 struct err *e) {
    if (player_no_argument("equilibrium", arg, e) < 0)
        return NULL;
    struct solve *s = solve_new(g, args, MAX_NODES, e);
    if (!s)
        return NULL;
    struct equilibrium *q = mem_alloc(sizeof *q);
    *q = (struct equilibrium){s, mem_zero(solve_width(s), sizeof *q->strategy)};
    size_t rounds = WORK / (solve_nodes(s) + 1);
    rounds = rounds < MIN_ROUNDS ? MIN_ROUNDS : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
    double enough = GOOD_ENOUGH * g->unit(args);
    solve_equilibrium(s, (int)rounds, q->strategy, not_yet, &enough);
    return q;
}

static int
choose_equilibrium(void *self, const struct game *g, const void *state, struct rng *r) {
    (void)g;
    struct equilibrium *q = self;
    const struct solve_info *info = solve_find(q->solve, state);
    if (!info)
        panic("the equilibrium player was asked about a state that its game does not reach");
    const double *p = q->strategy + info->at;
    double total = 0, u = rng_unit(r);
    for (int i = 0; i < info->actions; i++)
        total += p[i];
    int last = 0; /* rounding may leave u above the sum: the last possible action then */
    for (int i = 0; i < info->actions; i++) {
        if (p[i] <= 0)
            continue;
        last = i;
        u -= p[i] / total;
        if (u < 0)
            break;
    }
    return info->action[last];
}

static void
close_equilibrium(void *self) {
    struct equilibrium *q = self;
    solve_free(q->solve);
    free(q->strategy);
    free(q);
}

const struct player_kind player_equilibrium = {
    "equilibrium",     "Solves the game when opened (small games only) and plays its equilibrium.",
    open_equilibrium,  choose_equilibrium,
    close_equilibrium,
};
