/* Best-first search over replies. A prefix waits in a heap by its mass; the heaviest are taken a
 * few at a time, their distributions computed in one batch, and their continuations put back. A
 * finished reply is listed when it is taken. Continuations of negligible mass are not followed;
 * they, and all that is left when the search ends, make up `rest`. */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "policy/gen-int.h"

enum { BATCH = 24, LEAST_STEPS = 48, STEPS_PER_REPLY = 1 };

struct prefix { /* a reply so far: `before` and one token more */
    double mass;
    int32_t before; /* index; -1: the empty reply */
    int32_t token, node, length;
};

struct search {
    struct gen *g;
    int max_reply;
    double negligible;
    struct prefix *prefix;
    size_t n, cap;
    size_t *heap; /* indices, heaviest first; ties go to the older */
    size_t in_heap, heap_cap;
    struct gen_outcomes *out;
    size_t outcome_cap;
    const struct gen_prune *prune; /* NULL: every beginning is followed */
    int32_t *said;                 /* [max_reply + 1] scratch: the tokens of a prefix */
};

static bool
heavier(const struct search *s, size_t a, size_t b) {
    double x = s->prefix[a].mass, y = s->prefix[b].mass;
    return x > y || (x == y && a < b);
}

static void
heap_put(struct search *s, size_t index) {
    if (s->in_heap == s->heap_cap) {
        s->heap_cap = s->heap_cap ? s->heap_cap * 2 : 256;
        s->heap = mem_grow(s->heap, s->heap_cap, sizeof *s->heap);
    }
    size_t at = s->in_heap++;
    for (; at && heavier(s, index, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = index;
}

static size_t
heap_take(struct search *s) {
    size_t top = s->heap[0], last = s->heap[--s->in_heap], at = 0;
    for (size_t next; (next = 2 * at + 1) < s->in_heap; at = next) {
        if (next + 1 < s->in_heap && heavier(s, s->heap[next + 1], s->heap[next]))
            next++;
        if (!heavier(s, s->heap[next], last))
            break;
        s->heap[at] = s->heap[next];
    }
    s->heap[at] = last;
    return top;
}

static void
put_prefix(struct search *s, struct prefix p) {
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 1024;
        s->prefix = mem_grow(s->prefix, s->cap, sizeof *s->prefix);
    }
    s->prefix[s->n] = p;
    heap_put(s, s->n++);
}

static void
spell(const struct search *s, const struct prefix *p, int32_t *out) {
    for (size_t i = (size_t)p->length; i-- > 0; p = &s->prefix[p->before])
        out[i] = p->token;
}

/* Lists a finished reply. */
static void
list_reply(struct search *s, const struct prefix *p) {
    struct gen_outcomes *o = s->out;
    size_t at = o->tokens.n;
    for (int32_t i = 0; i < p->length; i++)
        tokens_add(&o->tokens, 0);
    spell(s, p, o->tokens.at + at);
    if (o->count == s->outcome_cap) {
        s->outcome_cap = s->outcome_cap ? s->outcome_cap * 2 : 64;
        o->outcome = mem_grow(o->outcome, s->outcome_cap, sizeof *o->outcome);
    }
    o->outcome[o->count++] = (struct gen_outcome){.probability = p->mass,
                                                  .at = at,
                                                  .n = (size_t)p->length,
                                                  .cut = p->length == 0 || p->token != TOKEN_END};
    o->rest -= p->mass;
}

/* Is there no use in following p (whose tokens stand in s->said) by `token`? */
static bool
is_hopeless(struct search *s, const struct prefix *p, int32_t token) {
    if (!s->prune || token == TOKEN_END)
        return false;
    s->said[p->length] = token;
    return s->prune->hopeless(s->prune->arg, s->said, (size_t)p->length + 1);
}

static void
expand(struct search *s, size_t index) {
    size_t vocab = (size_t)s->g->m->c.vocab;
    struct prefix p = s->prefix[index];
    spell(s, &p, s->said);
    const float *logp = s->g->logp + (size_t)s->g->node[p.node].dist * vocab;
    for (size_t t = 0; t < vocab; t++) {
        double mass = p.mass * exp((double)logp[t]);
        if (is_hopeless(s, &p, (int32_t)t)) {
            s->out->hopeless += mass;
            s->out->rest -= mass;
            continue;
        }
        if (mass > s->negligible)
            put_prefix(s, (struct prefix){.mass = mass,
                                          .before = (int32_t)index,
                                          .token = (int32_t)t,
                                          .node = -1,
                                          .length = p.length + 1});
    }
}

/* Is nothing to follow p? Else its node is found, and computed with the next batch. */
static bool
is_finished(struct search *s, struct prefix *p) {
    if ((p->length && p->token == TOKEN_END) || p->length >= s->max_reply)
        return true;
    if (p->node < 0)
        p->node = gen_child(s->g, s->prefix[p->before].node, p->token);
    if (s->g->tree.depth[p->node] + 1 >= s->g->m->c.context)
        return true;
    gen_need(s->g, p->node);
    return false;
}

static void
search_run(struct search *s, double epsilon, size_t max_replies) {
    size_t steps = LEAST_STEPS + STEPS_PER_REPLY * max_replies;
    while (s->in_heap && steps && s->out->rest >= epsilon && s->out->count < max_replies) {
        size_t open[BATCH], n = 0;
        while (s->in_heap && steps && n < BATCH && s->out->count < max_replies) {
            size_t index = heap_take(s);
            if (is_finished(s, &s->prefix[index])) {
                list_reply(s, &s->prefix[index]);
            } else {
                open[n++] = index;
                steps--;
            }
        }
        gen_compute(s->g);
        for (size_t i = 0; i < n; i++)
            expand(s, open[i]);
    }
}

void
gen_enumerate(struct gen *g, const int32_t *context, size_t n, int max_reply, double epsilon,
              size_t max_replies, const struct gen_prune *prune, struct gen_outcomes *out) {
    ensure(n > 0);
    gen_evict(g);
    *out = (struct gen_outcomes){.rest = 1.0};
    struct search s = {.g = g, .max_reply = max_reply, .out = out, .prune = prune};
    s.said = mem_alloc(((size_t)max_reply + 1) * sizeof *s.said);
    s.negligible = epsilon > 0.0 ? epsilon * 1e-6 : 1e-15;
    int32_t node = -1;
    size_t held = n < (size_t)g->m->c.context ? n : (size_t)g->m->c.context;
    for (size_t i = 0; i < held; i++)
        node = gen_child(g, node, context[i]);
    put_prefix(&s, (struct prefix){.mass = 1.0, .before = -1, .token = -1, .node = node});
    search_run(&s, epsilon, max_replies);
    if (out->rest < 0.0)
        out->rest = 0.0;
    free(s.said);
    free(s.prefix);
    free(s.heap);
}

void
gen_outcomes_free(struct gen_outcomes *o) {
    free(o->outcome);
    tokens_free(&o->tokens);
    *o = (struct gen_outcomes){0};
}
