/* From logits to the distribution that is sampled from and scored: softmax(logits / temperature),
 * cut to the nucleus top_p. Generation and scoring both come here, row by row. */
#ifndef POLICY_HEAD_H
#define POLICY_HEAD_H

#include <stddef.h>

#include "policy/gen.h"

/* Turns a row of logits into log-probabilities, in place. Tokens that cannot be sampled (outside
 * the nucleus; all but the first best one when greedy) get -INFINITY. `order` is scratch for n ids,
 * used when top_p < 1; ties there and when greedy go to the lower id. */
void head_apply(struct gen_head head, float *row, size_t n, int32_t *order);
/* Entropy in nats of a row of log-probabilities. */
float head_entropy(const float *logp, size_t n);
/* KL(p || q) in nats, q renormalised on the tokens that p can sample. */
float head_kl(const float *logp, const float *logq, size_t n);
/* d (logits) of sum_t pull[t] log p(t) + w_entropy H(p) + w_kl KL(p || q): out has n numbers, and
 * holds pull on entry. logq may be NULL when w_kl is 0. The nucleus is treated as fixed. Tokens
 * outside it get no gradient. */
void head_back(struct gen_head head, const float *logp, const float *logq, size_t n,
               float w_entropy, float w_kl, float *out);

#endif
