/* Inside of gen.h, shared by gen.c (slots) and enumerate.c (the whole distribution over
 * replies). */
#ifndef POLICY_GEN_INT_H
#define POLICY_GEN_INT_H

#include "policy/forward.h"
#include "policy/gen.h"
#include "policy/tree.h"

enum slot_state { SLOT_CLOSED, SLOT_IDLE, SLOT_WAITING, SLOT_READY };

struct slot {
    enum slot_state state;
    int32_t tip;     /* node of the last token of the context; -1: none */
    int32_t pending; /* last token of a reply, behind the tip but not in the tree yet; -1: none */
    bool full;       /* more tokens were fed than the context holds */
    struct rng stream;
    int max_reply;
    int32_t *tokens; /* owned */
    float *logp;     /* owned */
    size_t n, cap;
    bool cut;
};

struct gen_node {
    int32_t dist; /* index of its distribution; -1: none */
    bool known;   /* keys and values are computed, or will be in the batch being put together */
};

struct gen {
    const struct model *m; /* borrowed */
    struct gen_head head;
    size_t max_nodes, limit; /* the bound, and when to rebuild next */
    struct tree tree;
    struct pool *pool;
    struct forward *forward;
    struct gen_node *node; /* by tree id */
    size_t nodes, node_cap;
    float *logp;     /* [dists][vocab] log-probabilities */
    double *running; /* [dists][blocks] sums of the probabilities up to each block's end */
    size_t blocks;   /* of LANES tokens in the vocabulary */
    size_t dists, dist_cap;
    struct slot *slot;
    size_t slots, free_slot; /* no slot before free_slot is closed */
    int *waiting;
    size_t nwaiting, waiting_cap;
    int32_t *row, *want; /* the batch being put together */
    size_t nrow, row_cap, nwant, want_cap;
    struct gen_stats stats;
};

int32_t gen_child(struct gen *g, int32_t parent, int32_t token);
/* Puts a node whose distribution is missing, and its unknown ancestors, into the next batch. */
void gen_need(struct gen *g, int32_t tip);
void gen_compute(struct gen *g); /* computes the batch */
void gen_evict(struct gen *g);   /* rebuilds a tree that is too large */

#endif
