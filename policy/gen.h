/* Batched generation from one snapshot.
 *
 * A slot is one seat's context: it persists over the turns of a match, so its keys and values carry
 * over. Underneath, all slots share one prefix tree of tokens: a node's keys, values and next-token
 * distribution are computed once, whoever comes by. The rules are thus computed once per snapshot
 * and seat, and two matches in the same situation cost one evaluation. What the tree keeps is
 * bounded.
 *
 * What is sampled, and its log-probability, depends on the snapshot, the context and the slot's
 * random stream only: not on what else is in the batch (see policy/mat.h on row invariance). */
#ifndef POLICY_GEN_H
#define POLICY_GEN_H

#include <stdbool.h>

#include "base/rng.h"
#include "policy/model.h"
#include "policy/token.h"

struct gen; /* opaque */

/* The distribution sampled from: softmax(logits / temperature), cut to the smallest set of most
 * likely tokens whose mass reaches top_p, renormalised. temperature 0 = greedy. */
struct gen_head {
    float temperature, top_p;
};

struct gen_reply {         /* valid until the slot is next asked, fed or closed */
    const int32_t *tokens; /* [n]; the last is TOKEN_END unless cut */
    const float *logp;     /* [n] log-probability of each under the distribution sampled from */
    size_t n;
    bool cut; /* max_reply tokens, or the context, ran out before TOKEN_END */
};

/* The model is borrowed and must not change while gen lives. max_nodes bounds the prefix tree
 * (0: a default from the model's size); it is a cache bound, not a limit on what can be played. */
struct gen *gen_new(const struct model *m, struct gen_head head, size_t max_nodes);
void gen_free(struct gen *g);

int gen_open(struct gen *g); /* a new, empty slot */
/* append to its context */
void gen_feed(struct gen *g, int slot, const int32_t *tokens, size_t n);
/* Asks for a reply of at most max_reply tokens. The stream is copied. */
void gen_ask(struct gen *g, int slot, const struct rng *stream, int max_reply);
/* One batched evaluation of whatever is waiting, then samples as far as known distributions reach.
 * Returns the number of slots still waiting (0: every asked slot is ready). */
size_t gen_run(struct gen *g);
bool gen_ready(const struct gen *g, int slot, struct gen_reply *out);
void gen_close(struct gen *g, int slot);

struct gen_stats {
    uint64_t sampled;  /* tokens sampled */
    uint64_t computed; /* tree nodes evaluated */
    uint64_t fed;      /* context tokens fed */
    size_t nodes;      /* in the tree now */
};
struct gen_stats gen_stats(const struct gen *g);

/* The policy's real distribution over replies to one context, by best-first search: replies are
 * listed in order of discovery until the unlisted mass is below `epsilon` or `max_replies` are
 * found. */
struct gen_outcome {
    double probability;
    size_t at, n; /* its tokens: list->tokens.at[at .. at+n) */
    bool cut;
};
struct gen_outcomes {
    struct gen_outcome *outcome; /* owned */
    size_t count;
    struct tokens tokens; /* owned */
    double rest;          /* mass neither listed nor hopeless */
    double hopeless;      /* mass of replies that the caller had no use for */
};
/* Tells that no reply which begins with these tokens is of use, so that their many continuations
 * need not be followed. Called for beginnings without TOKEN_END. */
struct gen_prune {
    bool (*hopeless)(void *arg, const int32_t *tokens, size_t n);
    void *arg;
};
/* prune may be NULL. */
void gen_enumerate(struct gen *g, const int32_t *context, size_t n, int max_reply, double epsilon,
                   size_t max_replies, const struct gen_prune *prune, struct gen_outcomes *out);
void gen_outcomes_free(struct gen_outcomes *o);

#endif
