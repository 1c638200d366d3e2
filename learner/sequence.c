#include "learner/sequence.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"

void
visits_free(struct visits *v) {
    free(v->at);
    *v = (struct visits){0};
}

void
visits_clear(struct visits *v) {
    v->n = 0;
}

static struct visit *
visits_room(struct visits *v, size_t n) {
    if (v->n + n > v->cap) {
        v->cap = 2 * (v->n + n);
        v->at = mem_grow(v->at, v->cap, sizeof *v->at);
    }
    return v->at + v->n;
}

static bool
ids_fit(const struct model_config *c, const int32_t *ids, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= c->vocab)
            return false;
    }
    return true;
}

static bool
is_learned(const struct sequence_rule *rule, const struct store_turn *t) {
    if (!t->ntokens)
        return false;
    return rule->imitate ? t->verdict == VERDICT_OK : t->logp != NULL;
}

/* Adds the reply's tokens behind `parent` with their visits; returns the last node. */
static int
add_reply(struct score *s, int parent, const struct store_turn *t, double advantage,
          struct visits *out) {
    struct visit *v = visits_room(out, t->ntokens);
    int32_t *nodes = mem_alloc(t->ntokens * sizeof *nodes);
    int last = score_add(s, parent, t->tokens, t->ntokens, true, nodes);
    for (size_t i = 0; i < t->ntokens; i++)
        v[i] = (struct visit){.node = nodes[i],
                              .parent = i ? nodes[i - 1] : parent,
                              .behaviour = t->logp ? t->logp[i] : 0,
                              .advantage = advantage};
    out->n += t->ntokens;
    free(nodes);
    return last;
}

static int
check_turn(const struct sequence_rule *rule, const struct store_match *m, size_t i, size_t depth,
           struct err *e) {
    const struct store_turn *t = &m->turn[i];
    if (!ids_fit(rule->config, t->prompt, t->nprompt) ||
        !ids_fit(rule->config, t->tokens, t->ntokens))
        return err_set(e, "match %" PRId64 ", turn %zu: a token id is outside the vocabulary of %d",
                       m->id, i, rule->config->vocab);
    if (is_learned(rule, t) && depth + t->nprompt == 0)
        return err_set(e, "match %" PRId64 ", turn %zu: a reply without a prompt", m->id, i);
    return 0;
}

int
sequence_add(struct score *s, const struct sequence_rule *rule, const struct store_match *m,
             int seat, double advantage, struct visits *out, struct err *e) {
    int node = -1, learned = 0;
    size_t depth = 0;
    for (size_t i = 0; i < m->nturns; i++) {
        const struct store_turn *t = &m->turn[i];
        if (t->seat != seat || (!rule->conversation && !is_learned(rule, t)))
            continue;
        if (!rule->conversation) {
            node = -1;
            depth = 0;
        }
        if (check_turn(rule, m, i, depth, e) < 0)
            return -1;
        depth += t->nprompt + t->ntokens;
        if (depth > (size_t)rule->config->context) {
            if (rule->imitate || !is_learned(rule, t)) {
                if (rule->conversation)
                    break;
                continue;
            }
            return err_set(e,
                           "match %" PRId64 ", turn %zu: %zu tokens do not fit into the model's "
                           "context of %d",
                           m->id, i, depth, rule->config->context);
        }
        node = score_add(s, node, t->prompt, t->nprompt, false, NULL);
        if (!is_learned(rule, t)) {
            node = score_add(s, node, t->tokens, t->ntokens, false, NULL);
            continue;
        }
        node = add_reply(s, node, t, advantage, out);
        learned++;
    }
    return learned;
}
