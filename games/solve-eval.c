/* What a strategy is worth: expected values, exact best responses, NashConv and mixtures.
 *
 * A best response picks one action for a whole information set: the one with the highest value
 * summed over its nodes, each weighted with the probability that chance and the other seat lead
 * there. Never forfeiting is always at least as good (a forfeit pays the least there is), so best
 * responders do not. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "games/solve-tree.h"

static bool
is_seat(int mover) {
    return mover == GAME_SEAT_0 || mover == GAME_SEAT_1;
}

/* Probabilities of the node's edges: chance's, or the mover's in `strategy`. */
static const double *
edge_weights(const struct solve *s, const double *strategy, const struct solve_node *at) {
    return is_seat(at->mover) ? strategy + s->info[at->set].at : s->prob + at->first;
}

double
solve_expect(const struct solve *s, const double *strategy, size_t node, int seat,
             const double *v) {
    const struct solve_node *at = &s->node[node];
    if (at->mover == GAME_OVER)
        return seat == GAME_SEAT_0 ? at->payoff : -at->payoff;
    const double *w = edge_weights(s, strategy, at);
    const uint32_t *child = s->child + at->first;
    double sum = 0;
    for (uint32_t j = 0; j < at->edges; j++)
        sum += w[j] * v[child[j]];
    if (is_seat(at->mover))
        sum += w[at->edges] * (at->mover == seat ? -s->unit : s->unit);
    return sum;
}

void
solve_reach(const struct solve *s, const double *strategy, int except, double *reach) {
    memset(reach, 0, s->nodes * sizeof reach[0]);
    reach[0] = 1;
    for (size_t i = 0; i < s->nodes; i++) {
        const struct solve_node *at = &s->node[i];
        if (at->mover == GAME_OVER)
            continue;
        const double *w = edge_weights(s, strategy, at);
        const uint32_t *child = s->child + at->first;
        for (uint32_t j = 0; j < at->edges; j++)
            reach[child[j]] += at->mover == except ? reach[i] : reach[i] * w[j];
    }
}

void
solve_own_reach(const struct solve *s, const double *strategy, double *own) {
    for (size_t i = 0; i < s->sets; i++) {
        const struct solve_set *set = &s->set[i];
        own[i] = set->parent == SOLVE_ROOT ? 1 : own[set->before] * strategy[set->parent];
    }
}

void
solve_uniform(const struct solve *s, double *strategy) {
    for (size_t i = 0; i < s->sets; i++) {
        const struct solve_info *info = &s->info[i];
        for (int j = 0; j < info->actions; j++)
            strategy[info->at + (size_t)j] = 1.0 / info->actions;
        strategy[info->at + (size_t)info->actions] = 0;
    }
}

static double
value(const struct solve *s, const double *strategy, double *v) {
    for (size_t i = s->nodes; i-- > 0;)
        v[i] = solve_expect(s, strategy, i, GAME_SEAT_0, v);
    return v[0];
}

/* Probability that the match ends by an invalid reply of `seat`. */
static double
forfeit(const struct solve *s, const double *strategy, int seat, double *v) {
    for (size_t i = s->nodes; i-- > 0;) {
        const struct solve_node *at = &s->node[i];
        v[i] = 0;
        if (at->mover == GAME_OVER)
            continue;
        const double *w = edge_weights(s, strategy, at);
        for (uint32_t j = 0; j < at->edges; j++)
            v[i] += w[j] * v[s->child[at->first + j]];
        if (at->mover == seat)
            v[i] += w[at->edges];
    }
    return v[0];
}

static double
best_of_states(const struct solve *s, const double *strategy, int seat, double *v) {
    for (size_t i = s->nodes; i-- > 0;) {
        const struct solve_node *at = &s->node[i];
        if (at->mover != seat) {
            v[i] = solve_expect(s, strategy, i, seat, v);
            continue;
        }
        v[i] = v[s->child[at->first]];
        for (uint32_t j = 1; j < at->edges; j++)
            if (v[s->child[at->first + j]] > v[i])
                v[i] = v[s->child[at->first + j]];
    }
    return v[0];
}

/* The best action of a whole information set; its nodes take that action's values. */
static void
decide(const struct solve *s, size_t id, const double *reach, double *v) {
    const struct solve_set *set = &s->set[id];
    const uint32_t *node = s->set_node + set->first;
    uint32_t best = 0;
    double most = 0;
    for (uint32_t j = 0; j < (uint32_t)s->info[id].actions; j++) {
        double sum = 0;
        for (uint32_t k = 0; k < set->nodes; k++)
            sum += reach[node[k]] * v[s->child[s->node[node[k]].first + j]];
        if (j == 0 || sum > most) {
            most = sum;
            best = j;
        }
    }
    for (uint32_t k = 0; k < set->nodes; k++)
        v[node[k]] = v[s->child[s->node[node[k]].first + best]];
}

static double
best_of_sets(const struct solve *s, const double *strategy, int seat, double *v, double *reach) {
    solve_reach(s, strategy, seat, reach);
    for (size_t i = 0; i < s->nodes; i++)
        if (s->node[i].mover == GAME_OVER)
            v[i] = solve_expect(s, strategy, i, seat, v);
    for (size_t i = 0; i < s->steps[seat]; i++) {
        const struct solve_step *step = &s->step[seat][i];
        if (step->decide)
            decide(s, step->what, reach, v);
        else
            v[step->what] = solve_expect(s, strategy, step->what, seat, v);
    }
    return v[0];
}

void
solve_evaluate(const struct solve *s, const double *strategy, struct solve_report *out) {
    double *v = mem_alloc(2 * s->nodes * sizeof v[0]);
    out->value = value(s, strategy, v);
    for (int seat = 0; seat < 2; seat++) {
        out->forfeit[seat] = forfeit(s, strategy, seat, v);
        out->best[seat] = s->merged ? best_of_states(s, strategy, seat, v)
                                    : best_of_sets(s, strategy, seat, v, v + s->nodes);
    }
    out->nash_conv = out->best[0] + out->best[1];
    free(v);
}

/* Weight of each information set for the strategy that is to be mixed in. With perfect recall that
 * is its seat's own probability of playing towards it, and the mixture is exact (Kuhn 1953). Where
 * histories are merged into states that probability depends on the path, and no strategy on states
 * equals the mixture against everybody: the weight is then the probability of meeting the state
 * when the other seat plays at random, which makes the mixture exact against a random player. */
static void
weigh_sets(const struct solve *s, const double *strategy, const double *uniform, double *own,
           double *scratch) {
    if (!s->merged) {
        solve_own_reach(s, strategy, own);
        return;
    }
    double *joint = scratch, *reach = scratch + s->width;
    for (int seat = 0; seat < 2; seat++) {
        for (size_t i = 0; i < s->sets; i++) {
            size_t at = s->info[i].at, n = (size_t)s->info[i].actions + 1;
            memcpy(joint + at, (s->info[i].seat == seat ? strategy : uniform) + at,
                   n * sizeof joint[0]);
        }
        solve_reach(s, joint, -1, reach);
        for (size_t i = 0; i < s->sets; i++)
            if (s->info[i].seat == seat)
                own[i] = reach[s->set_node[s->set[i].first]];
    }
}

/* Divides by the total weight; a set that no strategy plays towards takes the plain mean, which
 * `mean` holds. */
static void
normalise(const struct solve *s, const double *total, const double *mean, double *out) {
    for (size_t i = 0; i < s->sets; i++) {
        const struct solve_info *info = &s->info[i];
        for (size_t j = info->at; j <= info->at + (size_t)info->actions; j++)
            out[j] = total[i] > 0 ? out[j] / total[i] : mean[j];
    }
}

void
solve_mixture(const struct solve *s, const double *const *strategies, const double *weights,
              size_t k, double *out) {
    double *own = mem_alloc(s->sets * sizeof own[0]);
    double *total = mem_zero(s->sets, sizeof total[0]);
    double *mean = mem_zero(s->width, sizeof mean[0]);
    double *uniform = mem_alloc(s->width * sizeof uniform[0]);
    double *scratch = mem_alloc((s->width + s->nodes) * sizeof scratch[0]);
    solve_uniform(s, uniform);
    memset(out, 0, s->width * sizeof out[0]);
    double sum = 0;
    for (size_t m = 0; m < k; m++)
        sum += weights[m];
    ensure(sum > 0);
    for (size_t m = 0; m < k; m++) {
        const double *x = strategies[m];
        weigh_sets(s, x, uniform, own, scratch);
        for (size_t i = 0; i < s->sets; i++) {
            const struct solve_info *info = &s->info[i];
            double w = weights[m] * own[i];
            total[i] += w;
            for (size_t j = info->at; j <= info->at + (size_t)info->actions; j++) {
                out[j] += w * x[j];
                mean[j] += weights[m] / sum * x[j];
            }
        }
    }
    normalise(s, total, mean, out);
    free(own);
    free(total);
    free(mean);
    free(uniform);
    free(scratch);
}
