/* Slots walk down one prefix tree. A node may be known (keys and values computed) and may have a
 * distribution (its log-probabilities, and running sums to sample by). gen_run() computes, in one
 * batch, every unknown node on the way to the last tokens of waiting slots, then lets each slot
 * sample until it meets a node without a distribution. Fed tokens cost a look-up; nothing is
 * computed before it is needed. A reply's last token enters the tree only when the slot goes on
 * behind it.
 *
 * When the tree outgrows its bound it is rebuilt from what open slots need. A context that is
 * longer than the model's is cut off, and replies in it are empty. */
#include "policy/gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "policy/gen-int.h"
#include "policy/mat.h"
#include "policy/vec.h"

enum { DEFAULT_BYTES = 192 << 20, LEAST_NODES = 4096, MOST_NODES = 1 << 21 };

/* The tree's default bound: what fits DEFAULT_BYTES when every fourth node has a distribution. */
static size_t
default_nodes(const struct model_config *c) {
    struct shape h = shape_of(c);
    size_t node = (h.layers * (h.kv + h.kv_row) + h.vocab / 4) * sizeof(float);
    size_t n = DEFAULT_BYTES / node;
    return n < LEAST_NODES ? LEAST_NODES : n > MOST_NODES ? MOST_NODES : n;
}

/* Sets aside what a full tree needs, which costs nothing before it is used; then nothing is
 * moved. */
static void
room_forward(struct gen *g) {
    forward_room(g->forward, g->limit + g->limit / 4 + LEAST_NODES);
}

struct gen *
gen_new(const struct model *m, struct gen_head head, size_t max_nodes) {
    struct gen *g = mem_zero(1, sizeof *g);
    g->m = m;
    g->head = head;
    g->max_nodes = max_nodes ? max_nodes : default_nodes(&m->c);
    g->limit = g->max_nodes;
    g->blocks = ((size_t)m->c.vocab + LANES - 1) / LANES;
    g->tree.blocks = true;
    g->pool = pool_new(1);
    g->forward = forward_new(&m->c, head, false, g->pool);
    room_forward(g);
    return g;
}

void
gen_free(struct gen *g) {
    if (!g)
        return;
    for (size_t i = 0; i < g->slots; i++) {
        free(g->slot[i].tokens);
        free(g->slot[i].logp);
    }
    free(g->slot);
    free(g->waiting);
    tree_free(&g->tree);
    forward_free(g->forward);
    pool_free(g->pool);
    free(g->node);
    free(g->logp);
    free(g->running);
    free(g->row);
    free(g->want);
    free(g);
}

int
gen_open(struct gen *g) {
    size_t i = g->free_slot;
    while (i < g->slots && g->slot[i].state != SLOT_CLOSED)
        i++;
    if (i == g->slots) {
        g->slots = g->slots ? g->slots * 2 : 16;
        g->slot = mem_grow(g->slot, g->slots, sizeof *g->slot);
        memset(g->slot + i, 0, (g->slots - i) * sizeof *g->slot);
    }
    struct slot *s = &g->slot[i];
    s->state = SLOT_IDLE;
    s->tip = s->pending = -1;
    s->full = false;
    s->n = 0;
    g->free_slot = i + 1;
    return (int)i;
}

static struct slot *
slot_at(const struct gen *g, int slot) {
    ensure(slot >= 0 && (size_t)slot < g->slots && g->slot[slot].state != SLOT_CLOSED);
    return &g->slot[slot];
}

void
gen_close(struct gen *g, int slot) {
    struct slot *s = slot_at(g, slot);
    if (s->state == SLOT_WAITING) {
        size_t i = 0;
        while (g->waiting[i] != slot)
            i++;
        memmove(g->waiting + i, g->waiting + i + 1, (g->nwaiting - i - 1) * sizeof *g->waiting);
        g->nwaiting--;
    }
    s->state = SLOT_CLOSED;
    if ((size_t)slot < g->free_slot)
        g->free_slot = (size_t)slot;
}

/* The child, with its entry in `node`. */
static int32_t
child(struct gen *g, int32_t parent, int32_t token) {
    int32_t id = tree_child(&g->tree, parent, token);
    while (g->nodes < g->tree.n) {
        if (g->nodes == g->node_cap) {
            g->node_cap = g->node_cap ? g->node_cap * 2 : 1024;
            g->node = mem_grow(g->node, g->node_cap, sizeof *g->node);
        }
        g->node[g->nodes++] = (struct gen_node){.dist = -1};
    }
    return id;
}

/* Appends one token to a slot's context, unless the context is full. */
static void
step(struct gen *g, struct slot *s, int32_t token) {
    if (s->tip >= 0 && g->tree.depth[s->tip] + 1 >= g->m->c.context)
        s->full = true;
    else
        s->tip = child(g, s->tip, token);
}

static void
settle_pending(struct gen *g, struct slot *s) {
    if (s->pending >= 0)
        step(g, s, s->pending);
    s->pending = -1;
}

void
gen_feed(struct gen *g, int slot, const int32_t *tokens, size_t n) {
    struct slot *s = slot_at(g, slot);
    ensure(s->state != SLOT_WAITING);
    if (!n)
        return;
    settle_pending(g, s);
    s->state = SLOT_IDLE;
    for (size_t i = 0; i < n && !s->full; i++) {
        ensure(tokens[i] >= 0 && tokens[i] < g->m->c.vocab);
        step(g, s, tokens[i]);
    }
    g->stats.fed += n;
}

void
gen_ask(struct gen *g, int slot, const struct rng *stream, int max_reply) {
    struct slot *s = slot_at(g, slot);
    ensure(s->state != SLOT_WAITING);
    settle_pending(g, s);
    ensure(s->tip >= 0);
    s->stream = *stream;
    s->max_reply = max_reply;
    s->n = 0;
    s->cut = false;
    s->state = SLOT_WAITING;
    if (g->nwaiting == g->waiting_cap) {
        g->waiting_cap = g->waiting_cap ? g->waiting_cap * 2 : 64;
        g->waiting = mem_grow(g->waiting, g->waiting_cap, sizeof *g->waiting);
    }
    g->waiting[g->nwaiting++] = slot;
}

/* Appends a sampled token to the reply. */
static void
record(struct slot *s, int32_t token, float logp) {
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 16;
        s->tokens = mem_grow(s->tokens, s->cap, sizeof *s->tokens);
        s->logp = mem_grow(s->logp, s->cap, sizeof *s->logp);
    }
    s->tokens[s->n] = token;
    s->logp[s->n++] = logp;
}

/* Probabilities of block b of a row of log-probabilities: lanes past the end are 0. */
static vec
block_of(const float *logp, size_t vocab, size_t b) {
    size_t n = vocab - b * LANES;
    const float *at = logp + b * LANES;
    return vec_exp(n >= LANES ? vec_load(at) : vec_load_some(at, n, -INFINITY));
}

/* The first token whose running sum of probabilities is above a uniform share of all: first the
 * block of tokens, by the sums that are kept, then the token in it. */
static int32_t
draw(const float *logp, const double *running, size_t vocab, struct rng *stream) {
    size_t blocks = (vocab + LANES - 1) / LANES, low = 0, high = blocks - 1;
    double x = rng_unit(stream) * running[blocks - 1];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (running[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    float p[LANES];
    vec_store(p, block_of(logp, vocab, low));
    double sum = low ? running[low - 1] : 0.0;
    size_t token = 0; /* the last possible one, should rounding leave x above the block's end */
    for (size_t i = 0; i < LANES && sum <= x; i++) {
        sum += (double)p[i];
        token = p[i] > 0.0f ? i : token;
    }
    return (int32_t)(low * LANES + token);
}

/* Samples until the reply is complete (true) or a distribution is missing (false). */
static bool
sample(struct gen *g, struct slot *s) {
    size_t vocab = (size_t)g->m->c.vocab;
    for (;;) {
        settle_pending(g, s);
        if (s->full || s->n >= (size_t)(s->max_reply < 0 ? 0 : s->max_reply) ||
            g->tree.depth[s->tip] + 1 >= g->m->c.context) {
            s->cut = true;
            return true;
        }
        int32_t dist = g->node[s->tip].dist;
        if (dist < 0)
            return false;
        const float *logp = g->logp + (size_t)dist * vocab;
        int32_t token = draw(logp, g->running + (size_t)dist * g->blocks, vocab, &s->stream);
        record(s, token, logp[token]);
        g->stats.sampled++;
        s->pending = token;
        if (token == TOKEN_END)
            return true;
        if (s->n == (size_t)s->max_reply) {
            s->cut = true;
            return true;
        }
    }
}

static void
list_put(int32_t **list, size_t *n, size_t *cap, int32_t value) {
    if (*n == *cap) {
        *cap = *cap ? *cap * 2 : 256;
        *list = mem_grow(*list, *cap, sizeof **list);
    }
    (*list)[(*n)++] = value;
}

void
gen_need(struct gen *g, int32_t tip) {
    if (g->node[tip].dist >= 0)
        return;
    size_t first = g->nrow;
    list_put(&g->row, &g->nrow, &g->row_cap, tip);
    g->node[tip].known = true;
    for (int32_t i = g->tree.parent[tip]; i >= 0 && !g->node[i].known; i = g->tree.parent[i]) {
        g->node[i].known = true;
        list_put(&g->row, &g->nrow, &g->row_cap, i);
    }
    /* From the first token to the last: neighbours are computed together. */
    for (size_t a = first, b = g->nrow - 1; a < b; a++, b--) {
        int32_t swap = g->row[a];
        g->row[a] = g->row[b];
        g->row[b] = swap;
    }
    g->node[tip].dist = (int32_t)(g->dists + g->nwant);
    list_put(&g->want, &g->nwant, &g->want_cap, (int32_t)(g->nrow - 1));
}

static void
room_dists(struct gen *g, size_t n) {
    if (n <= g->dist_cap)
        return;
    size_t vocab = (size_t)g->m->c.vocab;
    while (g->dist_cap < n)
        g->dist_cap = g->dist_cap ? g->dist_cap * 2 : 2 * MAT_ROWS;
    g->logp = mem_grow(g->logp, g->dist_cap * vocab, sizeof *g->logp);
    g->running = mem_grow(g->running, g->dist_cap * g->blocks, sizeof *g->running);
}

/* Running sums of the probabilities, block by block. */
static void
sum_up(const float *logp, double *running, size_t vocab) {
    double sum = 0.0;
    for (size_t b = 0; b * LANES < vocab; b++)
        running[b] = sum += (double)vec_sum(block_of(logp, vocab, b));
}

void
gen_compute(struct gen *g) {
    size_t vocab = (size_t)g->m->c.vocab;
    if (!g->nrow)
        return;
    forward_room(g->forward, g->tree.n);
    room_dists(g, g->dists + mat_padded(g->nwant));
    struct spine spine = {g->tree.token, g->tree.parent, g->tree.chain, g->tree.depth};
    struct forward_job job = {.m = g->m,
                              .tree = &spine,
                              .row = g->row,
                              .rows = g->nrow,
                              .want = g->want,
                              .wanted = g->nwant,
                              .logp = g->logp + g->dists * vocab};
    forward_run(g->forward, &job);
    for (size_t i = g->dists; i < g->dists + g->nwant; i++)
        sum_up(g->logp + i * vocab, g->running + i * g->blocks, vocab);
    g->dists += g->nwant;
    g->stats.computed += g->nrow;
    g->nrow = g->nwant = 0;
}

int32_t
gen_child(struct gen *g, int32_t parent, int32_t token) {
    return child(g, parent, token);
}

/* The node of `to` on the same path as `tip` in the old tree, made together with its ancestors.
 * `map` tells where old nodes went, -1: nowhere yet. `path` is scratch for a context. */
static int32_t
carry_over(struct gen *to, const struct gen *old, int32_t tip, int32_t *map, int32_t *path) {
    size_t n = 0, vocab = (size_t)to->m->c.vocab;
    int32_t at = tip;
    for (; at >= 0 && map[at] < 0; at = old->tree.parent[at])
        path[n++] = at;
    int32_t here = at < 0 ? -1 : map[at];
    while (n-- > 0) {
        int32_t from = path[n], dist = old->node[from].dist;
        here = map[from] = child(to, here, old->tree.token[from]);
        forward_room(to->forward, to->tree.n);
        to->node[here].known = old->node[from].known;
        if (old->node[from].known)
            forward_move(to->forward, (size_t)here, old->forward, (size_t)from);
        if (dist < 0)
            continue;
        room_dists(to, to->dists + 1);
        memcpy(to->logp + to->dists * vocab, old->logp + (size_t)dist * vocab,
               vocab * sizeof *to->logp);
        memcpy(to->running + to->dists * to->blocks, old->running + (size_t)dist * to->blocks,
               to->blocks * sizeof *to->running);
        to->node[here].dist = (int32_t)to->dists++;
    }
    return here;
}

void
gen_evict(struct gen *g) {
    if (g->tree.n <= g->limit)
        return;
    struct gen fresh = {.m = g->m, .pool = g->pool, .blocks = g->blocks};
    fresh.tree.blocks = true;
    fresh.forward = forward_new(&g->m->c, g->head, false, g->pool);
    int32_t *map = mem_alloc(g->tree.n * sizeof *map);
    int32_t *path = mem_alloc((size_t)g->m->c.context * sizeof *path);
    memset(map, 0xff, g->tree.n * sizeof *map);
    for (size_t i = 0; i < g->slots; i++)
        if (g->slot[i].state != SLOT_CLOSED && g->slot[i].tip >= 0)
            g->slot[i].tip = carry_over(&fresh, g, g->slot[i].tip, map, path);
    free(map);
    free(path);
    tree_free(&g->tree);
    forward_free(g->forward);
    free(g->node);
    free(g->logp);
    free(g->running);
    g->tree = fresh.tree;
    g->forward = fresh.forward;
    g->node = fresh.node;
    g->nodes = fresh.nodes;
    g->node_cap = fresh.node_cap;
    g->logp = fresh.logp;
    g->running = fresh.running;
    g->dists = fresh.dists;
    g->dist_cap = fresh.dist_cap;
    g->limit = 2 * g->tree.n > g->max_nodes ? 2 * g->tree.n : g->max_nodes;
    room_forward(g);
}

size_t
gen_run(struct gen *g) {
    gen_evict(g);
    for (size_t i = 0; i < g->nwaiting; i++) {
        struct slot *s = &g->slot[g->waiting[i]];
        if (!s->full && s->max_reply > 0 && g->tree.depth[s->tip] + 1 < g->m->c.context)
            gen_need(g, s->tip);
    }
    gen_compute(g);
    size_t still = 0;
    for (size_t i = 0; i < g->nwaiting; i++) {
        struct slot *s = &g->slot[g->waiting[i]];
        if (sample(g, s))
            s->state = SLOT_READY;
        else
            g->waiting[still++] = g->waiting[i];
    }
    return g->nwaiting = still;
}

bool
gen_ready(const struct gen *g, int slot, struct gen_reply *out) {
    const struct slot *s = slot_at(g, slot);
    if (s->state != SLOT_READY)
        return false;
    *out = (struct gen_reply){s->tokens, s->logp, s->n, s->cut};
    return true;
}

struct gen_stats
gen_stats(const struct gen *g) {
    struct gen_stats stats = g->stats;
    stats.nodes = g->tree.n;
    return stats;
}
