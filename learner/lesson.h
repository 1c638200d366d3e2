/* One step's worth of matches, turned into a gradient.
 *
 * Matches come in chunks, in id order. A chunk is one prefix tree (policy/score.h): a forward
 * pass, the objective at every sampled token, a backward pass whose gradient is added up. Tokens
 * that occur many times in the same context are computed once, with the sum of their weights:
 * the same number as one by one. Sums stay undivided until the step ends, because some divisors
 * are known only then.
 *
 * Equal matches, equal chunks and equal weights give the same bytes. */
#ifndef LEARNER_LESSON_H
#define LEARNER_LESSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "learner/baseline.h"
#include "learner/metrics.h"
#include "learner/plan.h"
#include "policy/model.h"
#include "store/store.h"

struct lesson_game { /* the part of one game in the sums below */
    int64_t id;
    int64_t matches, invalid;
    double ret[2];
    int64_t seats[2];
};

struct lesson { /* read what you like, change nothing */
    const struct plan *plan;
    const struct objective *objective; /* of this step */
    bool warmup;
    int64_t policy;              /* seats of this policy learn; in the warm-up all do */
    struct baselines baselines;  /* as they are after the matches so far */
    struct store_sample *sample; /* owned: the seats learned from */
    size_t nsample, sample_cap;
    float *grad; /* [count of parameters], undivided; owned */
    size_t count;
    int64_t leased;           /* matches seen, the aborted ones included */
    int64_t matches;          /* without them */
    int64_t invalid;          /* of those, ended by an invalid reply */
    int64_t tokens, turns;    /* learned from */
    struct lesson_game *game; /* [games] that came up, ascending by id; owned */
    size_t games;
    size_t nodes;                    /* of all trees */
    double loss, entropy, kl, drift; /* sums over tokens */
    double ret[2], advantage[2];     /* sums over the seats learned from */
    int64_t seats[2];
    struct lesson_work *work; /* the chunk in progress */
};

struct lesson *lesson_new(const struct plan *p, size_t params);
void lesson_free(struct lesson *b); /* NULL is fine */
/* Forgets everything and opens the lesson of `step`. Baselines are copied. */
void lesson_begin(struct lesson *b, int64_t step, int64_t policy,
                  const struct baselines *baselines);
/* Takes one recorded match into the chunk. Matches that are not of training (evaluations) are
 * passed over; aborted ones are counted and not learned from. A row that does not fit the run is
 * an error. */
int lesson_match(struct lesson *b, const struct store_match *m, struct err *e);
/* Ends the chunk: its gradient is added. `magnet` is used where its weight is not 0. */
void lesson_chunk(struct lesson *b, const struct model *m, const struct model *magnet);
/* What the summed loss and gradient are divided by. */
double lesson_divisor(const struct lesson *b);
/* The whole loss, divided. */
double lesson_loss(const struct lesson *b);
/* Fills the metrics that are about the matches. */
void lesson_metrics(const struct lesson *b, struct metrics *out);

#endif
