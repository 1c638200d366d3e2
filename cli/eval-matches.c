/* Match i and match i + 1 are a pair: the same deal, seats swapped, the same snapshot of a mixture.
 * The ids, and with them the deals and the players' random streams, are the same for every opponent
 * and every policy that is measured, so that differences are not those of the cards. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "arena/match.h"
#include "base/mem.h"
#include "cli/eval.h"

enum { IN_FLIGHT = 256 };

void
eval_side_free(struct eval_side *side) {
    for (int i = 0; i < side->models; i++)
        model_free(side->model[i]);
    free(side->model);
    *side = (struct eval_side){0};
}

static int
join(struct runner *r, struct eval_side *side, int64_t first_id, struct err *e) {
    if (!side->models)
        return runner_add_scripted(r, first_id, side->name, e);
    int status = 0;
    for (int i = 0; i < side->models; i++) {
        struct model *m = side->model[i];
        side->model[i] = NULL;
        if (!status)
            status = runner_add_model(r, first_id + i, m, e);
        else
            model_free(m);
    }
    free(side->model);
    side->model = NULL;
    side->models = 0;
    return status;
}

static int64_t
member(const struct setup *s, int models, int64_t first_id, int64_t pair) {
    if (models <= 1)
        return first_id;
    struct rng r;
    rng_init(&r, s->seed, (uint64_t)pair, RNG_SCHEDULE);
    return first_id + rng_below(&r, (uint32_t)models);
}

static void
count(void *arg, const struct store_match *m) {
    struct eval_tally *tally = arg;
    int seat = (int)(m->id & 1);
    struct eval_tally *t = &tally[seat];
    double payoff = seat ? -m->result : m->result;
    if (m->loser < 0 &&
        (m->reason == END_CRASH || m->reason == END_TIME || m->reason == END_ABORTED)) {
        t->failed++;
        snprintf(t->why, sizeof t->why, "%s", m->detail ? m->detail : "the game failed");
        return;
    }
    t->matches++;
    for (size_t i = 0; i < m->nturns; i++)
        t->decisions += m->turn[i].seat == seat;
    t->win += payoff > 0;
    t->draw += !(payoff > 0) && !(payoff < 0);
    t->loss += payoff < 0;
    if (m->loser >= 0)
        *(m->loser == seat ? &t->invalid : &t->invalid_other) += 1;
    t->payoff += payoff;
    t->squares += payoff * payoff;
}

int
eval_matches(const struct setup *s, struct eval_side *a, struct eval_side *b, int matches,
             struct eval_tally tally[2], struct progress *p, struct err *e) {
    const int64_t first_a = 1, first_b = first_a + (a->models ? a->models : 1);
    int na = a->models, nb = b->models;
    tally[0] = tally[1] = (struct eval_tally){0};
    struct runner *r = runner_new(s);
    int status = join(r, a, first_a, e);
    if (!status)
        status = join(r, b, first_b, e);
    matches += matches & 1;
    for (int next = 0; !status && (next < matches || runner_active(r));) {
        for (; next < matches && runner_active(r) < IN_FLIGHT; next++) {
            int64_t pair = EVAL_FIRST_ID + next / 2;
            int seat = next & 1;
            struct match_job job = {.id = 2 * EVAL_FIRST_ID + next,
                                    .kind = MATCH_EVAL,
                                    .game = 1,
                                    .deal = pair,
                                    .attempts = 1};
            job.policy[seat] = member(s, na, first_a, pair);
            job.policy[1 - seat] = member(s, nb, first_b, pair);
            runner_start(r, &job);
        }
        runner_step(r, count, tally);
        progress_show(p, (uint64_t)next - runner_active(r), (uint64_t)matches);
    }
    runner_free(r);
    return status;
}
