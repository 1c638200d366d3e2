/* The backward pass: the exact reverse of policy/forward.h over all rows of its last job.
 *
 * Rows are cut into a number of shards that depends on their number and on the model only. A shard
 * adds up its own gradients in order of its rows, and shards are added in order: results do not
 * depend on the number of threads. Rows must be in depth-first order of the tree, so that a shard's
 * rows see, apart from each other, only the ancestors of its first row; what they pull on those is
 * kept aside and added between the phases. */
#ifndef POLICY_BACKWARD_H
#define POLICY_BACKWARD_H

#include "policy/forward.h"

struct backward; /* opaque */

struct backward *backward_new(const struct model_config *c, struct pool *pool);
void backward_free(struct backward *b);

struct backward_job {
    const struct forward *f;       /* made with keep; holds what forward_run left */
    const struct forward_job *job; /* the job it ran; row[i] == i, want ascending */
    /* Fills `row` (vocab numbers) with the gradient of wanted entry w's logits. Called by any
     * thread. */
    void (*logits)(void *arg, size_t w, float *row);
    void *arg;
};
/* Adds to grad[m->count]. */
void backward_run(struct backward *b, const struct backward_job *job, float *grad);

#endif
