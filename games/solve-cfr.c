/* Equilibria. With hidden information: CFR+ (Tammelin 2014), that is counterfactual regret
 * minimisation with regrets kept at or above zero, the seats updated in turn, and the average
 * strategy weighted by the round's number. With perfect information backward induction is exact and
 * takes one pass, so CFR is not needed; all best actions are then played with equal probability. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "games/solve-tree.h"

struct cfr {
    const struct solve *s;
    double *regret, *sum, *now; /* [width]; `now` is the current strategy */
    double *v, *reach;          /* [nodes] */
    double *own;                /* [sets] */
};

/* Makes the entries of one set proportional to `w`, or uniform when they are all zero. */
static void
spread(const struct solve_info *info, const double *w, double *out) {
    double total = 0;
    for (int j = 0; j < info->actions; j++)
        total += w[info->at + (size_t)j];
    for (int j = 0; j < info->actions; j++) {
        size_t at = info->at + (size_t)j;
        out[at] = total > 0 ? w[at] / total : 1.0 / info->actions;
    }
    out[info->at + (size_t)info->actions] = 0;
}

static void
update_set(struct cfr *c, size_t id, int round) {
    const struct solve *s = c->s;
    const struct solve_set *set = &s->set[id];
    const struct solve_info *info = &s->info[id];
    for (uint32_t k = 0; k < set->nodes; k++) {
        uint32_t node = s->set_node[set->first + k];
        const uint32_t *child = s->child + s->node[node].first;
        for (int j = 0; j < info->actions; j++)
            c->regret[info->at + (size_t)j] += c->reach[node] * (c->v[child[j]] - c->v[node]);
    }
    double weight = round * c->own[id];
    for (int j = 0; j < info->actions; j++) {
        size_t at = info->at + (size_t)j;
        if (c->regret[at] < 0)
            c->regret[at] = 0;
        c->sum[at] += weight * c->now[at];
    }
    spread(info, c->regret, c->now);
}

static void
update_seat(struct cfr *c, int seat, int round) {
    const struct solve *s = c->s;
    solve_reach(s, c->now, seat, c->reach);
    solve_own_reach(s, c->now, c->own);
    for (size_t i = s->nodes; i-- > 0;)
        c->v[i] = solve_expect(s, c->now, i, seat, c->v);
    for (size_t i = 0; i < s->sets; i++)
        if (s->info[i].seat == seat)
            update_set(c, i, round);
}

static void
average(const struct cfr *c, double *out) {
    for (size_t i = 0; i < c->s->sets; i++)
        spread(&c->s->info[i], c->sum, out);
}

/* Reports at rounds 1, 2, 3, ... that grow by a tenth, and at the last. */
static void
run(struct cfr *c, int rounds, double *strategy,
    bool (*progress)(void *arg, int round, double nash_conv), void *arg) {
    int next = 1;
    for (int round = 1; round <= rounds; round++) {
        update_seat(c, GAME_SEAT_0, round);
        update_seat(c, GAME_SEAT_1, round);
        if (!progress || (round < next && round < rounds))
            continue;
        next = round + 1 + round / 10;
        struct solve_report r;
        average(c, strategy);
        solve_evaluate(c->s, strategy, &r);
        if (!progress(arg, round, r.nash_conv))
            return;
    }
    average(c, strategy);
}

static void
backward_induction(const struct solve *s, double *strategy) {
    double *v = mem_alloc(s->nodes * sizeof v[0]);
    solve_uniform(s, strategy);
    for (size_t i = s->nodes; i-- > 0;) {
        const struct solve_node *at = &s->node[i];
        if (at->mover == GAME_SEAT_0 || at->mover == GAME_SEAT_1) {
            double sign = at->mover == GAME_SEAT_0 ? 1 : -1, best = 0;
            for (uint32_t j = 0; j < at->edges; j++) {
                double x = sign * v[s->child[at->first + j]];
                best = j == 0 || x > best ? x : best;
            }
            double *out = strategy + s->info[at->set].at;
            /* Values that differ by rounding only are equally good. */
            for (uint32_t j = 0; j < at->edges; j++)
                out[j] = sign * v[s->child[at->first + j]] >= best - 1e-12 * s->unit;
            spread(&s->info[at->set], strategy, strategy);
        }
        v[i] = solve_expect(s, strategy, i, GAME_SEAT_0, v);
    }
    free(v);
}

void
solve_equilibrium(const struct solve *s, int rounds, double *strategy,
                  bool (*progress)(void *arg, int round, double nash_conv), void *arg) {
    if (s->merged) {
        backward_induction(s, strategy);
        struct solve_report r;
        if (progress) {
            solve_evaluate(s, strategy, &r);
            progress(arg, 1, r.nash_conv);
        }
        return;
    }
    struct cfr c = {
        .s = s,
        .regret = mem_zero(s->width, sizeof(double)),
        .sum = mem_zero(s->width, sizeof(double)),
        .now = mem_alloc(s->width * sizeof(double)),
        .v = mem_alloc(s->nodes * sizeof(double)),
        .reach = mem_alloc(s->nodes * sizeof(double)),
        .own = mem_alloc(s->sets * sizeof(double)),
    };
    solve_uniform(s, c.now);
    run(&c, rounds, strategy, progress, arg);
    free(c.regret);
    free(c.sum);
    free(c.now);
    free(c.v);
    free(c.reach);
    free(c.own);
}
