/* Sequences become a tree of nodes in the order they come. A forward pass computes those nodes that
 * something sampled stands behind, in depth-first order ("rows"), so that shared prefixes are
 * computed once and runs of neighbours are as long as can be. The reference policy runs over the
 * same rows, with the same temperature but no nucleus; its divergence is taken over what the policy
 * can sample, with the reference renormalised on it. A token outside the nucleus (which the policy
 * that is being trained may have moved since the token was sampled) has log-probability -infinity
 * and gets no gradient. */
#include "policy/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "policy/backward.h"
#include "policy/forward.h"
#include "policy/head.h"
#include "policy/mat.h"
#include "policy/tree.h"

struct score_node {
    int32_t child, next; /* first child, next sibling; -1: none */
    int32_t row;         /* -1: not computed */
    int32_t want;        /* index of its distribution; -1: none */
    bool sampled, parent_of_sampled;
};

struct score {
    struct model_config c;
    struct gen_head head;
    struct pool *pool;
    struct tree tree;
    struct score_node *node; /* [tree.n], and room for more */
    size_t node_cap;
    /* Rows of the last forward pass, and the wanted among them. */
    struct spine spine; /* the four arrays below */
    int32_t *token, *parent, *chain, *depth, *row, *want, *want_node;
    size_t rows, wanted, row_cap;
    float *logp, *reference; /* [wanted][vocab] */
    size_t logp_cap, reference_cap;
    bool has_reference;
    struct forward *forward, *forward_reference;
    struct backward *backward;
    float *out_logp, *out_entropy, *out_kl; /* [tree.n] */
    size_t out_cap;
    /* Weights of the backward pass in hand. */
    const float *w_logp, *w_entropy, *w_kl;
};

struct score *
score_new(const struct model_config *c, struct gen_head head, int threads) {
    struct score *s = mem_zero(1, sizeof *s);
    s->c = *c;
    s->head = head;
    s->pool = pool_new(threads);
    s->forward = forward_new(c, head, true, s->pool);
    s->backward = backward_new(c, s->pool);
    return s;
}

static void
free_rows(struct score *s) {
    free(s->token);
    free(s->parent);
    free(s->chain);
    free(s->depth);
    free(s->row);
    free(s->want);
    free(s->want_node);
}

void
score_free(struct score *s) {
    if (!s)
        return;
    forward_free(s->forward);
    forward_free(s->forward_reference);
    backward_free(s->backward);
    pool_free(s->pool);
    tree_free(&s->tree);
    free_rows(s);
    free(s->node);
    free(s->logp);
    free(s->reference);
    free(s->out_logp);
    free(s->out_entropy);
    free(s->out_kl);
    free(s);
}

void
score_clear(struct score *s) {
    tree_clear(&s->tree);
    s->rows = s->wanted = 0;
    s->has_reference = false;
}

size_t
score_nodes(const struct score *s) {
    return s->tree.n;
}

int
score_add(struct score *s, int parent, const int32_t *tokens, size_t n, bool sampled,
          int32_t *nodes) {
    ensure(parent >= -1 && (parent < 0 || (size_t)parent < s->tree.n));
    ensure(!sampled || !n || parent >= 0);
    for (size_t i = 0; i < n; i++) {
        ensure(tokens[i] >= 0 && tokens[i] < s->c.vocab);
        size_t before = s->tree.n;
        int32_t id = tree_child(&s->tree, parent, tokens[i]);
        ensure(s->tree.depth[id] < s->c.context);
        if (s->tree.n > s->node_cap) {
            s->node_cap = s->tree.n * 2;
            s->node = mem_grow(s->node, s->node_cap, sizeof *s->node);
        }
        if (s->tree.n > before)
            s->node[id] = (struct score_node){0};
        if (sampled)
            s->node[id].sampled = s->node[parent].parent_of_sampled = true;
        if (nodes)
            nodes[i] = id;
        parent = id;
    }
    return parent;
}

static void
room_rows(struct score *s, size_t n) {
    if (n <= s->row_cap)
        return;
    free_rows(s);
    s->row_cap = n + n / 2;
    int32_t **list[] = {&s->token, &s->parent, &s->chain,    &s->depth,
                        &s->row,   &s->want,   &s->want_node};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        *list[i] = mem_alloc(s->row_cap * sizeof **list[i]);
    s->spine = (struct spine){s->token, s->parent, s->chain, s->depth};
}

static void
add_row(struct score *s, int32_t id) {
    size_t r = s->rows++;
    int32_t parent = s->tree.parent[id];
    struct score_node *n = &s->node[id];
    n->row = s->row[r] = (int32_t)r;
    s->token[r] = s->tree.token[id];
    s->depth[r] = s->tree.depth[id];
    s->parent[r] = parent < 0 ? -1 : s->node[parent].row;
    s->chain[r] = r && s->parent[r] == (int32_t)r - 1 ? s->chain[r - 1] : (int32_t)r;
    if (n->parent_of_sampled) {
        n->want = (int32_t)s->wanted;
        s->want[s->wanted] = (int32_t)r;
        s->want_node[s->wanted++] = id;
    }
}

/* Lists children, and gives rows, depth first, to the nodes that something sampled stands
 * behind. */
static void
lay_rows(struct score *s) {
    size_t n = s->tree.n;
    int32_t root = -1, id;
    room_rows(s, n);
    for (size_t i = 0; i < n; i++) {
        s->node[i].child = s->node[i].next = s->node[i].want = -1;
        s->node[i].row = s->node[i].parent_of_sampled ? 0 : -1;
    }
    for (size_t i = n; i-- > 0;) {
        int32_t parent = s->tree.parent[i], *first = parent < 0 ? &root : &s->node[parent].child;
        s->node[i].next = *first;
        *first = (int32_t)i;
        if (parent >= 0 && s->node[i].row == 0)
            s->node[parent].row = 0;
    }
    s->rows = s->wanted = 0;
    for (id = root; id >= 0;) {
        bool needed = s->node[id].row == 0;
        if (needed)
            add_row(s, id);
        int32_t next = needed ? s->node[id].child : -1;
        while (next < 0 && id >= 0) {
            next = s->node[id].next;
            id = s->tree.parent[id];
        }
        id = next;
    }
}

/* Room for `wanted` rows of log-probabilities. Nothing is kept. */
static void
room_logp(const struct score *s, float **at, size_t *cap) {
    size_t need = mat_padded(s->wanted) * (size_t)s->c.vocab;
    if (need <= *cap)
        return;
    free(*at);
    *cap = need + need / 4;
    *at = mem_aligned(*cap * sizeof **at);
}

static void
room_outputs(struct score *s) {
    size_t n = s->tree.n;
    if (n > s->out_cap) {
        free(s->out_logp);
        free(s->out_entropy);
        free(s->out_kl);
        s->out_cap = n + n / 2;
        s->out_logp = mem_aligned(s->out_cap * sizeof(float));
        s->out_entropy = mem_aligned(s->out_cap * sizeof(float));
        s->out_kl = mem_aligned(s->out_cap * sizeof(float));
    }
    if (n) {
        memset(s->out_logp, 0, n * sizeof(float));
        memset(s->out_entropy, 0, n * sizeof(float));
        memset(s->out_kl, 0, n * sizeof(float));
    }
}

static struct forward_job
job_of(const struct score *s, const struct model *m, float *logp) {
    return (struct forward_job){.m = m,
                                .tree = &s->spine,
                                .row = s->row,
                                .rows = s->rows,
                                .want = s->want,
                                .wanted = s->wanted,
                                .logp = logp};
}

static bool
same_config(const struct model_config *a, const struct model_config *b) {
    return a->vocab == b->vocab && a->dim == b->dim && a->layers == b->layers &&
           a->heads == b->heads && a->kv_heads == b->kv_heads && a->hidden == b->hidden &&
           a->tied == b->tied;
}

void
score_forward(struct score *s, const struct model *m) {
    ensure(same_config(&s->c, &m->c));
    size_t vocab = (size_t)s->c.vocab;
    lay_rows(s);
    room_outputs(s);
    room_logp(s, &s->logp, &s->logp_cap);
    s->has_reference = false;
    forward_room(s->forward, s->rows);
    struct forward_job job = job_of(s, m, s->logp);
    forward_run(s->forward, &job);
    for (size_t w = 0; w < s->wanted; w++) {
        const float *row = s->logp + w * vocab;
        int32_t id = s->want_node[w];
        s->out_entropy[id] = head_entropy(row, vocab);
        for (int32_t k = s->node[id].child; k >= 0; k = s->node[k].next)
            if (s->node[k].sampled)
                s->out_logp[k] = row[s->tree.token[k]];
    }
}

void
score_reference(struct score *s, const struct model *ref) {
    ensure(same_config(&s->c, &ref->c));
    size_t vocab = (size_t)s->c.vocab;
    if (!s->forward_reference) {
        struct gen_head head = {s->head.temperature > 0.0f ? s->head.temperature : 1.0f, 1.0f};
        s->forward_reference = forward_new(&s->c, head, false, s->pool);
    }
    room_logp(s, &s->reference, &s->reference_cap);
    forward_room(s->forward_reference, s->rows);
    struct forward_job job = job_of(s, ref, s->reference);
    forward_run(s->forward_reference, &job);
    s->has_reference = true;
    for (size_t w = 0; w < s->wanted; w++)
        s->out_kl[s->want_node[w]] = head_kl(s->logp + w * vocab, s->reference + w * vocab, vocab);
}

const float *
score_logp(const struct score *s) {
    return s->out_logp;
}

const float *
score_entropy(const struct score *s) {
    return s->out_entropy;
}

const float *
score_kl(const struct score *s) {
    return s->out_kl;
}

/* The gradient of one distribution's logits. */
static void
fill_logits(void *arg, size_t w, float *row) {
    const struct score *s = arg;
    size_t vocab = (size_t)s->c.vocab;
    int32_t id = s->want_node[w];
    memset(row, 0, vocab * sizeof *row);
    for (int32_t k = s->node[id].child; s->w_logp && k >= 0; k = s->node[k].next)
        if (s->node[k].sampled)
            row[s->tree.token[k]] += s->w_logp[k];
    head_back(s->head, s->logp + w * vocab, s->has_reference ? s->reference + w * vocab : NULL,
              vocab, s->w_entropy ? s->w_entropy[id] : 0.0f, s->w_kl ? s->w_kl[id] : 0.0f, row);
}

void
score_backward(struct score *s, const struct model *m, const float *w_logp, const float *w_entropy,
               const float *w_kl, float *grad) {
    ensure(!w_kl || s->has_reference);
    s->w_logp = w_logp;
    s->w_entropy = w_entropy;
    s->w_kl = w_kl;
    struct forward_job job = job_of(s, m, s->logp);
    struct backward_job back = {.f = s->forward, .job = &job, .logits = fill_logits, .arg = s};
    backward_run(s->backward, &back, grad);
}
