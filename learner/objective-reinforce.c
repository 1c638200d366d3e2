/* REINFORCE (Williams 1992): -A log pi(token). With staleness 0 the samples are from the very
 * policy that is being improved, and no ratio is needed. */
#include "learner/objective.h"

static struct objective_term
term(const struct objective_token *t) {
    return (struct objective_term){.loss = -t->advantage * t->logp, .weight = -t->advantage};
}

const struct objective objective_reinforce = {
    .name = "reinforce",
    .help = "-A log pi(token)",
    .term = term,
};
