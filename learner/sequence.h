/* From a recorded match to paths in the prefix tree. In conversation mode a seat's turns are one
 * path: what it read and what it said, end to end. In observation mode every turn is a path of
 * its own. The recorded token ids are used as they are; nothing is tokenized again. */
#ifndef LEARNER_SEQUENCE_H
#define LEARNER_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "policy/score.h"
#include "store/store.h"

struct visit {            /* one sampled token, as often as it was sampled */
    int32_t node, parent; /* of the tree */
    float behaviour; /* log-probability when it was sampled; 0 where nobody sampled (imitation) */
    double advantage;
};
struct visits {
    struct visit *at; /* owned */
    size_t n, cap;
};
void visits_free(struct visits *v);
void visits_clear(struct visits *v);

struct sequence_rule {
    const struct model_config *config;
    bool conversation;
    /* Learn from what scripted players said too, where it was legal (the warm-up); else from the
     * turns with recorded log-probabilities. */
    bool imitate;
};
/* Adds the turns of one seat and a visit for every token to be learned from. Returns the number
 * of turns learned from, or -1 with e: tokens outside the vocabulary, or a path longer than the
 * context. When imitating, the turns of a match that outgrows the context are used as far as
 * they fit. */
int sequence_add(struct score *s, const struct sequence_rule *rule, const struct store_match *m,
                 int seat, double advantage, struct visits *out, struct err *e);

#endif
