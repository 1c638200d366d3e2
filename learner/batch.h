/* One step's worth of matches, turned into a gradient.
 *
 * Matches come in chunks, in id order. A chunk is one prefix tree (policy/score.h): a forward pass, the
 * objective at every sampled token, a backward pass whose gradient is added up. Tokens that occur many
 * times in the same context are computed once, with the sum of their weights: the same number as one by
 * one. Sums stay undivided until the step ends, because some divisors are known only then.
 *
 * Equal matches, equal chunks and equal weights give the same bytes. */
#ifndef LEARNER_BATCH_H
#define LEARNER_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "learner/baseline.h"
#include "learner/metrics.h"
#include "learner/plan.h"
#include "policy/model.h"
#include "store/store.h"

struct batch { /* read what you like, change nothing */
    const struct plan *plan;
    const struct objective *objective; /* of this step */
    bool warmup;
    int64_t policy;              /* seats of this policy learn; in the warm-up all do */
    struct baselines baselines;  /* as they are after the matches so far */
    struct store_sample *sample; /* owned: the seats learned from */
    size_t nsample, sample_cap;
    float *grad; /* [count of parameters], undivided; owned */
    size_t count;
    int64_t leased;                  /* matches seen, the aborted ones included */
    int64_t matches;                 /* without them */
    int64_t invalid;                 /* of those, ended by an invalid reply */
    int64_t tokens, turns;           /* learned from */
    int64_t game;                    /* of the last match */
    size_t nodes;                    /* of all trees */
    double loss, entropy, kl, drift; /* sums over tokens */
    double ret[2], advantage[2];     /* sums over the seats learned from */
    int64_t seats[2];
    struct batch_work *work; /* the chunk in progress */
};

struct batch *batch_new(const struct plan *p, size_t params);
void batch_free(struct batch *b); /* NULL is fine */
/* Forgets everything and opens the batch of `step`. Baselines are copied. */
void batch_begin(struct batch *b, int64_t step, int64_t policy, const struct baselines *baselines);
/* Takes one recorded match into the chunk. Matches that are not of training (evaluations) are passed
 * over; aborted ones are counted and not learned from. A row that does not fit the run is an error. */
int batch_match(struct batch *b, const struct store_match *m, struct err *e);
/* Ends the chunk: its gradient is added. `magnet` is used where its weight is not 0. */
void batch_chunk(struct batch *b, const struct model *m, const struct model *magnet);
/* What the summed loss and gradient are divided by. */
double batch_divisor(const struct batch *b);
/* The whole loss, divided. */
double batch_loss(const struct batch *b);
/* Fills the metrics that are about the matches. */
void batch_metrics(const struct batch *b, struct metrics *out);

#endif
