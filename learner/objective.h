/* Objectives: what a sampled token contributes to the loss, given its log-probability now, its
 * log-probability when it was sampled, and the advantage of its seat. One file and one table row
 * each (learner/objective.c). The learner sums the terms over tokens and divides by one number. */
#ifndef LEARNER_OBJECTIVE_H
#define LEARNER_OBJECTIVE_H

#include <stdbool.h>

struct objective_token {
    double logp;      /* under the weights being trained */
    double behaviour; /* under the distribution that it was sampled from */
    double advantage;
};
struct objective_term {
    double loss;
    double weight; /* d loss / d logp */
};
struct objective {
    const char *name;
    const char *help; /* the term, one sentence */
    bool per_token;   /* the sum is divided by the number of tokens, not by learner.normalizer */
    struct objective_term (*term)(const struct objective_token *t);
};

extern const struct objective objective_reinforce;
extern const struct objective objective_imitate; /* the warm-up's; no choice of learner.objective */

const struct objective *objective_find(const char *name); /* NULL: no such objective */

#endif
