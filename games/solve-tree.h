/* Inside of the exact solver: the enumerated game. Private to games/solve*.c.
 *
 * Nodes stand in topological order (a node before its children). With hidden information they are
 * histories and form a tree, and every information set has perfect recall (checked when it is
 * built): its nodes share the seat's own last decision, `parent`. With perfect information they are
 * states, each its own information set, and form an acyclic graph. */
#ifndef GAMES_SOLVE_TREE_H
#define GAMES_SOLVE_TREE_H

#include "games/index.h"
#include "games/solve.h"

#define SOLVE_ROOT SIZE_MAX /* parent of a set before which the seat has not decided */

struct solve_node {
    int mover;
    uint32_t set; /* of the mover, at a seat's node */
    size_t first; /* its edges: [first, first + edges) */
    uint32_t edges;
    double payoff; /* player 0's, in natural units, at the end of a match */
};

struct solve_set {
    size_t parent;   /* strategy position of the seat's own last action, or SOLVE_ROOT */
    uint32_t before; /* the set of that position */
    uint32_t level;  /* own decisions before this one */
    size_t first;    /* its nodes: set_node[first .. first + nodes) */
    uint32_t nodes;
};

/* One step of a best response's backward pass. */
struct solve_step {
    bool decide;   /* a whole information set of the best responder, otherwise one other node */
    uint32_t what; /* set or node */
};

struct solve {
    const struct game *g;
    struct game_args args;
    double unit;
    bool merged; /* perfect information: nodes are states */
    size_t nodes;
    struct solve_node *node;
    uint32_t *child; /* [edges] */
    double *prob;    /* [edges] chance's probabilities */
    size_t sets, width;
    struct solve_info *info;
    struct solve_set *set;
    uint32_t *set_node;
    struct index views; /* hash of (seat, view) to set */
    size_t steps[2];
    struct solve_step *step[2]; /* only where not merged */
};

/* v[node] becomes the expected payoff of `seat` below `node` from its children's v, where the mover
 * follows `strategy`. */
double solve_expect(const struct solve *s, const double *strategy, size_t node, int seat,
                    const double *v);
/* reach[node] becomes the probability of getting there by chance and by the seats' strategy,
 * leaving the moves of `except` out (-1: nobody's). */
void solve_reach(const struct solve *s, const double *strategy, int except, double *reach);
/* own[set] becomes the probability that the set's seat plays towards it (its own moves only). */
void solve_own_reach(const struct solve *s, const double *strategy, double *own);

#endif
