/* Scores come from tiles of keys, 16 places at once; a run of neighbours may start inside a tile, so
 * its first vector is merged with what lies before it. Outputs are sums over positions in two
 * interleaved parts. */
#include "policy/attend.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy/vec.h"

enum { /* independent sums, so that additions need not wait for each other */
       DOT_PARTS = 4,
       SUM_PARTS = 2,
       STRIP = 8, /* vectors of an output computed together */
};

struct shape
shape_of(const struct model_config *c) {
    struct shape h = {.vocab = (size_t)c->vocab,
                      .dim = (size_t)c->dim,
                      .layers = (size_t)c->layers,
                      .heads = (size_t)c->heads,
                      .groups = (size_t)c->kv_heads,
                      .hidden = (size_t)c->hidden,
                      .context = (size_t)c->context};
    h.head = h.dim / h.heads;
    h.lane = (h.head + LANES - 1) / LANES * LANES;
    h.kv = h.groups * h.head;
    h.kv_row = h.groups * h.lane;
    h.qkv = h.dim + 2 * h.kv;
    return h;
}

void
sight_init(struct sight *s, const struct shape *h) {
    *s = (struct sight){0};
    s->span = mem_alloc(h->context * sizeof *s->span);
    s->row = mem_zero(h->context + LANES, sizeof *s->row);
    s->width = (h->context + 4 * LANES) / LANES * LANES;
    s->space = mem_aligned((2 * h->heads * s->width + LANES) * sizeof *s->space);
    s->score = s->space + LANES;
    s->pull = s->score + h->heads * s->width;
    s->scale = mem_aligned(h->heads * sizeof *s->scale);
    s->q = mem_aligned(h->heads * h->lane * sizeof *s->q);
    s->dout = mem_aligned(h->heads * h->lane * sizeof *s->dout);
}

void
sight_free(struct sight *s) {
    free(s->span);
    free(s->row);
    free(s->space);
    free(s->scale);
    free(s->q);
    free(s->dout);
    *s = (struct sight){0};
}

void
sight_find(struct sight *s, const struct spine *t, int32_t place, size_t stride) {
    s->n = (size_t)t->depth[place] + 1;
    s->spans = 0;
    for (int32_t hi = place; hi >= 0;) {
        int32_t lo = t->chain[hi];
        struct span *p = &s->span[s->spans++];
        *p = (struct span){
            .lo = (size_t)lo, .n = (size_t)(hi - lo) + 1, .pos = (size_t)t->depth[lo]};
        for (size_t i = 0; i < p->n; i++)
            s->row[p->pos + i] = ((size_t)lo + i) * stride;
        hi = t->parent[lo];
    }
    for (size_t i = 0; i < SUM_PARTS; i++) /* a place to read, with weight 0, past the end */
        s->row[s->n + i] = (size_t)place * stride;
}

/* The products of `with` (head dimensions) with 16 neighbours. */
VEC_INLINE vec
tile_dot(const float *with, const float *tile, size_t head) {
    vec part[DOT_PARTS] = {vec_all(0.0f), vec_all(0.0f), vec_all(0.0f), vec_all(0.0f)};
    size_t d = 0;
    for (; d + DOT_PARTS <= head; d += DOT_PARTS) {
        part[0] = vec_fma(vec_all(with[d]), vec_load(tile + d * LANES), part[0]);
        part[1] = vec_fma(vec_all(with[d + 1]), vec_load(tile + (d + 1) * LANES), part[1]);
        part[2] = vec_fma(vec_all(with[d + 2]), vec_load(tile + (d + 2) * LANES), part[2]);
        part[3] = vec_fma(vec_all(with[d + 3]), vec_load(tile + (d + 3) * LANES), part[3]);
    }
    if (d < head) { /* heads are even */
        part[0] = vec_fma(vec_all(with[d]), vec_load(tile + d * LANES), part[0]);
        part[1] = vec_fma(vec_all(with[d + 1]), vec_load(tile + (d + 1) * LANES), part[1]);
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}

/* Stores lanes [skip, 16) at p + skip, leaving what is before. */
VEC_INLINE void
store_after(float *p, vec v, size_t skip) {
    static const int32_t lane[LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    vec_int index, from;
    memcpy(&index, lane, sizeof index);
    from = (vec_int){0} + (int32_t)skip;
    vec_store(p, vec_pick(index >= from, v, vec_load(p)));
}

/* score[head][position] = with[head] . the position's part of the tiles. Works tile by tile, all heads
 * in each, so that memory is read in order. Writes up to 15 numbers of rubbish behind the last position:
 * spans are found from the end and written from the start, so that the rubbish behind a span is
 * overwritten by the next. */
VEC_INLINE void
scores_of(const struct shape *h, const struct sight *s, const float *with, const float *tiles,
          size_t head, float *score) {
    size_t share = h->heads / h->groups;
    for (size_t k = s->spans; k-- > 0;) {
        const struct span *p = &s->span[k];
        size_t skip = p->lo % LANES, end = skip + p->n;
        const float *tile = tiles + p->lo / LANES * h->kv * LANES;
        float *to = score + p->pos - skip;
        for (size_t i = 0; i < end; i += LANES, tile += h->kv * LANES, to += LANES)
            for (size_t d = 0; d < h->heads; d++) {
                vec dots = tile_dot(with + d * head, tile + d / share * head * LANES, head);
                if (i == 0)
                    store_after(to + d * s->width, dots, skip);
                else
                    vec_store(to + d * s->width, dots);
            }
    }
}

/* The same, with loops of known length for the usual heads. */
static void
scores(const struct shape *h, const struct sight *s, const float *with, const float *tiles,
       float *score) {
    switch (h->head) {
    case 8:
        scores_of(h, s, with, tiles, 8, score);
        break;
    case 16:
        scores_of(h, s, with, tiles, 16, score);
        break;
    case 32:
        scores_of(h, s, with, tiles, 32, score);
        break;
    default:
        scores_of(h, s, with, tiles, h->head, score);
    }
}

/* Turns n scores into e^(score - highest), with zeros up to a whole vector; returns their sum. */
static float
exponentials(float *score, size_t n) {
    vec_store(score + n, vec_all(-INFINITY));
    vec top = vec_load(score);
    for (size_t i = LANES; i < n; i += LANES)
        top = vec_max(top, vec_load(score + i));
    vec high = vec_all(vec_top(top)), sum = vec_all(0.0f);
    for (size_t i = 0; i < n; i += LANES) {
        vec e = vec_exp(vec_load(score + i) - high);
        vec_store(score + i, e);
        sum += e;
    }
    return vec_sum(sum);
}

/* Some vectors of an output, worked on together: which weights they take and which columns of the rows
 * they sum. */
struct strip {
    const float *weight[STRIP], *pull[STRIP]; /* by position */
    size_t column[STRIP], head[STRIP], d[STRIP];
};

/* Vectors [v, v + n) of all heads' vectors; a group's columns are `step` apart. */
static void
strip_make(struct strip *t, const struct shape *h, const struct sight *s, size_t v, size_t n,
           size_t step) {
    size_t per = h->lane / LANES, share = h->heads / h->groups;
    for (size_t k = 0; k < n; k++) {
        t->head[k] = (v + k) / per;
        t->d[k] = (v + k) % per * LANES;
        t->weight[k] = s->score + t->head[k] * s->width;
        t->pull[k] = s->pull + t->head[k] * s->width;
        t->column[k] = t->head[k] / share * step + t->d[k];
    }
}

/* out[k] = sum_position weight[k] * row[column[k]...]; n is a constant where this is used. */
VEC_INLINE void
weigh(const struct sight *s, const struct strip *t, const float *const *weight, const float *base,
      size_t n, vec *out) {
    vec part[STRIP][SUM_PARTS] = {{{0}}};
    for (size_t i = 0; i < s->n; i += SUM_PARTS)
        for (size_t p = 0; p < SUM_PARTS; p++) {
            const float *row = base + s->row[i + p];
            for (size_t k = 0; k < n; k++)
                part[k][p] =
                    vec_fma(vec_all(weight[k][i + p]), vec_load(row + t->column[k]), part[k][p]);
        }
    for (size_t k = 0; k < n; k++)
        out[k] = part[k][0] + part[k][1];
}

/* How many of `left` vectors are worked on together. */
static size_t
strip_for(size_t left) {
    return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* out (heads * head) = for every head, the sum over positions of its weights (scores, or what pulls on
 * them) times the rows at base, times the head's scale (NULL: 1). */
static void
weigh_heads(const struct shape *h, const struct sight *s, bool pulls, const float *base,
            size_t step, const float *scale, float *out) {
    size_t vectors = h->heads * (h->lane / LANES);
    for (size_t v = 0, n; v < vectors; v += n) {
        struct strip t;
        vec sum[STRIP];
        n = strip_for(vectors - v);
        strip_make(&t, h, s, v, n, step);
        const float *const *weight = pulls ? t.pull : t.weight;
        if (n == 8)
            weigh(s, &t, weight, base, 8, sum);
        else if (n == 4)
            weigh(s, &t, weight, base, 4, sum);
        else if (n == 2)
            weigh(s, &t, weight, base, 2, sum);
        else
            weigh(s, &t, weight, base, 1, sum);
        for (size_t k = 0; k < n; k++) {
            float *to = out + t.head[k] * h->head + t.d[k];
            vec value = sum[k] * vec_all(scale ? scale[t.head[k]] : 1.0f);
            if (h->head - t.d[k] >= LANES)
                vec_store(to, value);
            else
                vec_store_some(to, value, h->head - t.d[k]);
        }
    }
}

void
attend(const struct shape *h, struct sight *s, const float *q, const float *keys,
       const float *values, float *out) {
    scores(h, s, q, keys, s->score);
    for (size_t k = 0; k < h->heads; k++)
        s->scale[k] = 1.0f / exponentials(s->score + k * s->width, s->n);
    weigh_heads(h, s, false, values, h->lane, s->scale, out);
}

/* Where gradients of a run of neighbours go: the shared rows, or rows kept aside. */
struct target {
    float *dkey, *dvalue;
    size_t pos, n;
};

/* Adds pull * q and weight * dout to the gradients of a run; n is a constant where this is used. */
VEC_INLINE void
spread(const struct shape *h, const struct sight *s, const struct strip *t, struct target to,
       size_t n) {
    vec q[STRIP], dout[STRIP];
    for (size_t k = 0; k < n; k++) {
        q[k] = vec_load(s->q + t->head[k] * h->lane + t->d[k]);
        dout[k] = vec_load(s->dout + t->head[k] * h->lane + t->d[k]);
    }
    for (size_t i = to.pos; i < to.pos + to.n; i++) {
        for (size_t k = 0; k < n; k++) {
            float *dkey = to.dkey + t->column[k], *dvalue = to.dvalue + t->column[k];
            vec_store(dkey, vec_fma(vec_all(t->pull[k][i]), q[k], vec_load(dkey)));
            vec_store(dvalue, vec_fma(vec_all(t->weight[k][i]), dout[k], vec_load(dvalue)));
        }
        to.dkey += h->kv_row;
        to.dvalue += h->kv_row;
    }
}

static void
spread_heads(const struct shape *h, const struct sight *s, struct target to) {
    size_t per = h->lane / LANES, vectors = h->heads * per;
    for (size_t v = 0, n; v < vectors; v += n) {
        struct strip t;
        /* Heads that share a key must come one after the other. */
        size_t left = h->heads == h->groups ? vectors - v : per - v % per;
        n = strip_for(left);
        strip_make(&t, h, s, v, n, h->lane);
        if (n == 8)
            spread(h, s, &t, to, 8);
        else if (n == 4)
            spread(h, s, &t, to, 4);
        else if (n == 2)
            spread(h, s, &t, to, 2);
        else
            spread(h, s, &t, to, 1);
    }
}

static void
spread_spans(const struct shape *h, const struct sight *s, const struct attend_back *b) {
    size_t row = h->kv_row;
    for (size_t k = s->spans; k-- > 0;) {
        struct span p = s->span[k];
        size_t aside = p.lo >= b->from ? 0 : b->from - p.lo < p.n ? b->from - p.lo : p.n;
        size_t own = p.lo + aside;
        if (aside)
            spread_heads(h, s,
                         (struct target){b->side_dkeys + p.pos * row, b->side_dvalues + p.pos * row,
                                         p.pos, aside});
        if (aside < p.n)
            spread_heads(h, s,
                         (struct target){b->dkeys + own * row, b->dvalues + own * row,
                                         p.pos + aside, p.n - aside});
    }
}

/* score: unnormalised -> probabilities; pull: gradients of probabilities -> of scores. */
static void
softmax_back(float *score, float *pull, size_t n, float sum, float mean) {
    vec scale = vec_all(1.0f / sum);
    vec_store(pull + n, vec_all(0.0f));
    for (size_t i = 0; i < n; i += LANES) {
        vec p = vec_load(score + i) * scale;
        vec_store(score + i, p);
        vec_store(pull + i, p * (vec_load(pull + i) - vec_all(mean)));
    }
}

void
attend_back(const struct shape *h, struct sight *s, const struct attend_back *b) {
    scores(h, s, b->q, b->keys, s->score);
    scores(h, s, b->dout, b->value_tiles, s->pull);
    for (size_t k = 0; k < h->heads; k++) {
        size_t at = k * h->head;
        float *score = s->score + k * s->width, *pull = s->pull + k * s->width;
        memcpy(s->q + k * h->lane, b->q + at, h->head * sizeof(float));
        memcpy(s->dout + k * h->lane, b->dout + at, h->head * sizeof(float));
        float sum = exponentials(score, s->n);
        softmax_back(score, pull, s->n, sum, vec_dot(b->dout + at, b->out + at, h->head));
    }
    weigh_heads(h, s, true, b->key_rows, h->head, NULL, b->dq);
    spread_spans(h, s, b);
}
