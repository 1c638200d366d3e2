/* What a learner asks of a policy: log-probabilities of logged tokens, and gradients.
 *
 * Sequences are added to one prefix tree, so that a shared prefix, or a whole sequence that occurs
 * many times, is computed once: for a linear loss this is exactly the sum over all samples. A node
 * is a token in its context; ids count from 0 in order of first addition. A node may be "sampled":
 * the policy chose that token, so its log-probability matters, and its parent's next-token
 * distribution (entropy, divergence to a reference) does as well.
 *
 * The loss whose gradient score_backward() adds is, with weights of the caller,
 *     sum_node  w_logp[node] * log pi(token | parent)
 *   + sum_node  w_entropy[node] * H(pi(. | node))
 *   + sum_node  w_kl[node] * KL(pi(. | node) || ref(. | node))
 * Results do not depend on `threads`, and the log-probabilities are bit-equal to those that gen.h
 * recorded for the same weights and head (both run the same forward code). */
#ifndef POLICY_SCORE_H
#define POLICY_SCORE_H

#include "policy/gen.h"
#include "policy/model.h"

struct score; /* opaque */

struct score *score_new(const struct model_config *c, struct gen_head head, int threads);
void score_free(struct score *s);
void score_clear(struct score *s); /* forget all sequences; keeps memory */

/* Extends the path that ends in node `parent` (-1: the root) by n tokens; existing nodes are found
 * again. Marks them sampled when `sampled`. nodes (may be NULL) receives the n ids. Returns the
 * last id (parent when n == 0). Paths longer than the context are a bug of the caller. */
int score_add(struct score *s, int parent, const int32_t *tokens, size_t n, bool sampled,
              int32_t *nodes);
size_t score_nodes(const struct score *s);

/* Forward pass over all nodes. Keeps what the backward pass needs. */
void score_forward(struct score *s, const struct model *m);
/* Forward pass of a reference policy over the same nodes (after score_forward): fills kl. */
void score_reference(struct score *s, const struct model *ref);

/* Arrays of score_nodes() entries, valid until the next score_add/clear. */
const float *score_logp(const struct score *s);    /* at sampled nodes, else 0 */
const float *score_entropy(const struct score *s); /* at parents of sampled nodes, else 0; nats */
const float *score_kl(const struct score *s);      /* at parents of sampled nodes, else 0; nats */

/* Adds the gradient of the weighted sum above to grad[m->count]. Weight arrays have score_nodes()
 * entries; NULL = all zero. m is the model of the last score_forward. Entries of w_logp at nodes
 * that are not sampled, and of the others at nodes that are no parent of one, must be 0. */
void score_backward(struct score *s, const struct model *m, const float *w_logp,
                    const float *w_entropy, const float *w_kl, float *grad);

#endif
