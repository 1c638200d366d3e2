/* Exact truth about small games, generic over the contract: the whole tree is enumerated once, then
 * values, best responses, NashConv, equilibria and mixtures are computed on it.
 *
 * A strategy is one array of doubles, `solve_width(s)` long: for information set i (0 <= i < sets)
 * the probabilities of its actions stand at [info->at, info->at + info->actions), and right behind
 * them stands the probability of forfeiting there (an invalid reply: the mover loses, payoff -1).
 * Both seats' information sets are in the one array. Values are in natural units, that is
 * payoff x unit. */
#ifndef GAMES_SOLVE_H
#define GAMES_SOLVE_H

#include "games/game.h"

struct solve; /* opaque: one enumerated game */

struct solve_info {
    int seat;
    int actions;       /* number of legal actions */
    const int *action; /* [actions] ascending; owned by the solver */
    size_t at;         /* offset of this set in a strategy; actions + 1 entries */
    const char *view;  /* what the seat sees; owned by the solver */
    const void *state; /* one state of the set (for spelling, rules); owned by the solver */
};

struct solve_report {
    double value;      /* player 0's expected payoff when both follow the strategy */
    double best[2];    /* seat i's payoff when it best-responds to the other's strategy */
    double nash_conv;  /* sum of both gains: best[0] - value + best[1] + value */
    double forfeit[2]; /* probability that the match ends by seat i's invalid reply */
};

/* Enumerates the tree; with perfect information, histories that lead to the same state are merged.
 * NULL when more than `max_nodes` nodes would be needed, or when the game's views lack perfect
 * recall, so that its information sets cannot be computed with. */
struct solve *solve_new(const struct game *g, const struct game_args *args, size_t max_nodes,
                        struct err *e);
void solve_free(struct solve *s);
size_t solve_sets(const struct solve *s);
size_t solve_width(const struct solve *s);
size_t solve_nodes(const struct solve *s);
const struct solve_info *solve_info(const struct solve *s, size_t i);
/* Set of the seat to move in `state`; NULL when the state is not of this game's tree. */
const struct solve_info *solve_find(const struct solve *s, const void *state);

void solve_uniform(const struct solve *s, double *strategy);
void solve_evaluate(const struct solve *s, const double *strategy, struct solve_report *out);
/* The behaviour strategy of "draw one of k strategies with these weights, then follow it" (each
 * player's own reach weighs; Kuhn 1953): the mixture of snapshots. Exact against every opponent
 * where information is hidden; on merged states exact against a random one only. */
void solve_mixture(const struct solve *s, const double *const *strategies, const double *weights,
                   size_t k, double *out);
/* CFR+ with alternating updates and linear averaging (Tammelin 2014), `rounds` rounds; writes the
 * average strategy. progress may be NULL; it is told NashConv now and then and stops when it
 * returns false. With perfect information backward induction gives the exact answer in one
 * round. */
void solve_equilibrium(const struct solve *s, int rounds, double *strategy,
                       bool (*progress)(void *arg, int round, double nash_conv), void *arg);

/* Counts of complete games by enumeration without merging, and uniform random play's exact
 * outcome. */
struct solve_count {
    uint64_t games, wins, losses, draws; /* player 0's */
    double random_win, random_loss, random_draw;
};
int solve_count(const struct game *g, const struct game_args *args, uint64_t max_games,
                struct solve_count *out, struct err *e);

/* Minimax for games without chance and hidden information: player 0's value of `state`, memoised.
 * The table is opaque, grows with use and is bounded by max_states (NULL and e past it). */
struct minimax;
struct minimax *minimax_new(const struct game *g, size_t max_states, struct err *e);
void minimax_free(struct minimax *m);
/* Fills optimal[] with the actions of the mover that keep its value; returns how many, -1 on
 * error. */
int minimax_optimal(struct minimax *m, const void *state, int *optimal, double *value,
                    struct err *e);

#endif
