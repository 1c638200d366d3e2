/* Imitation: -log pi(token), the mean over tokens. The warm-up teaches the form of a legal reply
 * with it; returns play no part. */
#include "learner/objective.h"

static struct objective_term
term(const struct objective_token *t) {
    return (struct objective_term){.loss = -t->logp, .weight = -1};
}

const struct objective objective_imitate = {
    .name = "imitate",
    .help = "-log pi(token)",
    .per_token = true,
    .term = term,
};
