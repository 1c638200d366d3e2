/* Scores come from tiles of keys, 16 places at once; a run of neighbours may start inside a tile, so
 * its first vector is merged with what lies before it. Outputs are sums over positions in four
 * interleaved parts. */
#include "policy/attend.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy/vec.h"

enum { PARTS = 4 }; /* independent sums, so that additions need not wait for each other */

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
sight_init(struct sight *s, size_t context, size_t lane) {
    *s = (struct sight){0};
    s->span = mem_alloc(context * sizeof *s->span);
    s->row = mem_zero(context + LANES, sizeof *s->row);
    size_t row = context + 4 * LANES;
    s->space = mem_aligned(2 * row * sizeof *s->space);
    s->score = s->space + LANES;
    s->pull = s->score + row;
    s->pad = mem_aligned(2 * lane * sizeof *s->pad);
}

void
sight_free(struct sight *s) {
    free(s->span);
    free(s->row);
    free(s->space);
    free(s->pad);
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
    for (size_t i = 0; i < PARTS; i++) /* a place to read, with weight 0, past the end */
        s->row[s->n + i] = (size_t)place * stride;
}

/* The products of `with` (head dimensions) with 16 neighbours. */
VEC_INLINE vec
tile_dot(const float *with, const float *tile, size_t head) {
    vec part[PARTS] = {vec_all(0.0f), vec_all(0.0f), vec_all(0.0f), vec_all(0.0f)};
    size_t d = 0;
    for (; d + PARTS <= head; d += PARTS) {
        part[0] += vec_all(with[d]) * vec_load(tile + d * LANES);
        part[1] += vec_all(with[d + 1]) * vec_load(tile + (d + 1) * LANES);
        part[2] += vec_all(with[d + 2]) * vec_load(tile + (d + 2) * LANES);
        part[3] += vec_all(with[d + 3]) * vec_load(tile + (d + 3) * LANES);
    }
    for (size_t k = 0; d < head; d++, k++)
        part[k] += vec_all(with[d]) * vec_load(tile + d * LANES);
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

/* score[position] = with . number row of that position, for one group's part of the tiles. Writes up
 * to 15 numbers of rubbish behind the last. Spans are found from the end; they are written from the
 * start, so that the rubbish behind a span is overwritten by the next. */
static void
scores(const struct shape *h, const struct sight *s, const float *with, const float *tiles,
       size_t group, float *score) {
    const float *base = tiles + group * h->head * LANES;
    size_t stride = h->kv * LANES;
    for (size_t k = s->spans; k-- > 0;) {
        const struct span *p = &s->span[k];
        size_t skip = p->lo % LANES;
        float *to = score + p->pos - skip;
        const float *tile = base + p->lo / LANES * stride;
        store_after(to, tile_dot(with, tile, h->head), skip);
        for (size_t i = LANES; i < skip + p->n; i += LANES)
            vec_store(to + i, tile_dot(with, tile += stride, h->head));
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

/* out (head numbers) = sum_position weight * its row at base, times `scale`: in whole vectors, two at a
 * time where there are two. */
VEC_INLINE void
weigh(const struct sight *s, const float *weight, const float *base, size_t vectors, vec scale,
      vec *out) {
    vec part[2][PARTS] = {{{0}}};
    for (size_t i = 0; i < s->n; i += PARTS)
        for (size_t k = 0; k < PARTS; k++) {
            const float *row = base + s->row[i + k];
            vec w = vec_all(weight[i + k]);
            for (size_t v = 0; v < vectors; v++)
                part[v][k] += w * vec_load(row + v * LANES);
        }
    for (size_t v = 0; v < vectors; v++)
        out[v] = ((part[v][0] + part[v][1]) + (part[v][2] + part[v][3])) * scale;
}

/* The same for a whole head, stored at `to`. */
static void
weigh_head(const struct shape *h, const struct sight *s, const float *weight, const float *base,
           float scale, float *to) {
    vec out[2], by = vec_all(scale);
    size_t d = 0;
    for (; d + 2 * LANES <= h->head; d += 2 * LANES) {
        weigh(s, weight, base + d, 2, by, out);
        vec_store(to + d, out[0]);
        vec_store(to + d + LANES, out[1]);
    }
    for (; d < h->head; d += LANES) {
        weigh(s, weight, base + d, 1, by, out);
        if (h->head - d >= LANES)
            vec_store(to + d, out[0]);
        else
            vec_store_some(to + d, out[0], h->head - d);
    }
}

void
attend(const struct shape *h, struct sight *s, const float *q, const float *keys,
       const float *values, float *out) {
    size_t share = h->heads / h->groups;
    for (size_t k = 0; k < h->heads; k++) {
        size_t group = k / share;
        scores(h, s, q + k * h->head, keys, group, s->score);
        float sum = exponentials(s->score, s->n);
        weigh_head(h, s, s->score, values + group * h->lane, 1.0f / sum, out + k * h->head);
    }
}

/* Row `at` of a span's gradients: to the shared rows, or aside. */
struct targets {
    float *dkey, *dvalue;
    size_t stride;
};

/* Adds ds * q and p * dout of one head to the gradients of n neighbours from position pos on. */
static void
spread(const struct shape *h, const struct sight *s, struct targets t, size_t pos, size_t n,
       const float *q, const float *dout) {
    for (size_t i = pos; i < pos + n; i++, t.dkey += t.stride, t.dvalue += t.stride) {
        vec ds = vec_all(s->pull[i]), p = vec_all(s->score[i]);
        for (size_t d = 0; d < h->lane; d += LANES) {
            vec_store(t.dkey + d, vec_load(t.dkey + d) + ds * vec_load(q + d));
            vec_store(t.dvalue + d, vec_load(t.dvalue + d) + p * vec_load(dout + d));
        }
    }
}

static void
spread_spans(const struct shape *h, const struct sight *s, const struct attend_back *b,
             size_t group, const float *q, const float *dout) {
    size_t at = group * h->lane, stride = h->kv_row;
    for (size_t k = s->spans; k-- > 0;) {
        struct span p = s->span[k];
        size_t aside = p.lo >= b->from ? 0 : b->from - p.lo < p.n ? b->from - p.lo : p.n;
        struct targets side = {b->side_dkeys + p.pos * stride + at,
                               b->side_dvalues + p.pos * stride + at, stride};
        spread(h, s, side, p.pos, aside, q, dout);
        struct targets own = {b->dkeys + (p.lo + aside) * stride + at,
                              b->dvalues + (p.lo + aside) * stride + at, stride};
        spread(h, s, own, p.pos + aside, p.n - aside, q, dout);
    }
}

/* score: unnormalised -> probabilities; pull: gradients of probabilities -> of scores. */
static void
softmax_back(const struct sight *s, float sum, float mean) {
    vec scale = vec_all(1.0f / sum);
    vec_store(s->pull + s->n, vec_all(0.0f));
    for (size_t i = 0; i < s->n; i += LANES) {
        vec p = vec_load(s->score + i) * scale;
        vec_store(s->score + i, p);
        vec_store(s->pull + i, p * (vec_load(s->pull + i) - vec_all(mean)));
    }
}

void
attend_back(const struct shape *h, struct sight *s, const struct attend_back *b) {
    size_t share = h->heads / h->groups;
    float *q = s->pad, *dout = s->pad + h->lane;
    for (size_t k = 0; k < h->heads; k++) {
        size_t group = k / share, at = k * h->head;
        memcpy(q, b->q + at, h->head * sizeof *q);
        memcpy(dout, b->dout + at, h->head * sizeof *dout);
        scores(h, s, q, b->keys, group, s->score);
        float sum = exponentials(s->score, s->n);
        scores(h, s, dout, b->value_tiles, group, s->pull);
        softmax_back(s, sum, vec_dot(dout, b->out + at, h->head));
        weigh_head(h, s, s->pull, b->key_rows + group * h->head, 1.0f, b->dq + at);
        spread_spans(h, s, b, group, q, dout);
    }
}
