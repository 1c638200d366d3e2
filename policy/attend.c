/* Scores come from tiles of keys, 16 places at once; a run of neighbours may start inside a tile,
 * so its first vector is merged with what lies before it. Outputs are sums over positions in two
 * interleaved parts. Two rows that follow each other are worked on together, since they see the
 * same. */
#include "policy/attend.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy/vec.h"

enum { /* independent sums, so that additions need not wait for each other */
       DOT_PARTS = 2,
       SUM_PARTS = 2,
       STRIP = 8, /* most vectors of an output computed together; a power of two */
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
    size_t scores = ATTEND_ROWS * h->heads, padded = ATTEND_ROWS * h->heads * h->lane;
    s->span = mem_alloc(h->context * sizeof *s->span);
    s->row = mem_zero(h->context + LANES, sizeof *s->row);
    s->width = (h->context + 5 * LANES) / LANES * LANES;
    s->space = mem_aligned((2 * scores * s->width + LANES) * sizeof *s->space);
    s->score = s->space + LANES;
    s->pull = s->score + scores * s->width;
    s->scale = mem_aligned(scores * sizeof *s->scale);
    s->q = mem_aligned(padded * sizeof *s->q);
    s->dout = mem_aligned(padded * sizeof *s->dout);
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

/* Products of `rows` vectors `with` (head dimensions) with the 16 neighbours in each of `tiles`
 * tiles: dots[row][tile]. Each is summed in the same order however many there are. */
VEC_INLINE void
tile_dots(const float *const *with, size_t rows, const float *tile, size_t stride, size_t tiles,
          size_t head, vec dots[ATTEND_ROWS][2]) {
    vec part[ATTEND_ROWS][2][DOT_PARTS] = {{{{0}}}};
    for (size_t d = 0; d < head; d += DOT_PARTS)
        for (size_t p = 0; p < DOT_PARTS && d + p < head; p++) {
            vec keys[2];
            for (size_t t = 0; t < tiles; t++)
                keys[t] = vec_load(tile + t * stride + (d + p) * LANES);
            for (size_t r = 0; r < rows; r++) {
                vec w = vec_all(with[r][d + p]);
                for (size_t t = 0; t < tiles; t++)
                    part[r][t][p] = vec_fma(w, keys[t], part[r][t][p]);
            }
        }
    for (size_t r = 0; r < rows; r++)
        for (size_t t = 0; t < tiles; t++)
            dots[r][t] = part[r][t][0] + part[r][t][1];
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

/* Of one head, for `tiles` neighbouring tiles: computes and stores. `skip` lanes of the first
 * belong to others. */
VEC_INLINE void
tile_scores(const float *const *with, size_t rows, const float *tile, size_t stride, size_t tiles,
            size_t head, size_t skip, float *to, size_t row_step) {
    vec dots[ATTEND_ROWS][2];
    tile_dots(with, rows, tile, stride, tiles, head, dots);
    for (size_t r = 0; r < rows; r++, to += row_step) {
        if (skip)
            store_after(to, dots[r][0], skip);
        else
            vec_store(to, dots[r][0]);
        if (tiles == 2)
            vec_store(to + LANES, dots[r][1]);
    }
}

/* score[row][head][position] = with[row][head] . the position's part of the tiles. Works tile by
 * tile, all heads in each, so that memory is read in order. Writes up to 15 numbers of rubbish
 * behind the last position: spans are found from the end and written from the start, so that the
 * rubbish behind a span is overwritten by the next. `rows` and `head` are constants where this is
 * used. */
VEC_INLINE void
scores_of(const struct shape *h, const struct sight *s, size_t rows, const float *const *with,
          const float *tiles, size_t head, float *score) {
    size_t share = h->heads / h->groups, stride = h->kv * LANES, row_step = h->heads * s->width;
    for (size_t k = s->spans; k-- > 0;) {
        const struct span *p = &s->span[k];
        size_t skip = p->lo % LANES, count = (skip + p->n + LANES - 1) / LANES;
        const float *tile = tiles + p->lo / LANES * stride;
        float *to = score + p->pos - skip;
        for (size_t i = 0; i < count; i += 2, skip = 0, tile += 2 * stride, to += 2 * LANES)
            for (size_t d = 0; d < h->heads; d++) {
                const float *from[ATTEND_ROWS], *part = tile + d / share * head * LANES;
                for (size_t r = 0; r < rows; r++)
                    from[r] = with[r] + d * head;
                if (i + 1 < count)
                    tile_scores(from, rows, part, stride, 2, head, skip, to + d * s->width,
                                row_step);
                else
                    tile_scores(from, rows, part, stride, 1, head, skip, to + d * s->width,
                                row_step);
            }
    }
}

/* The same, with loops of known length for the usual heads. */
VEC_INLINE void
scores_by(const struct shape *h, const struct sight *s, size_t rows, const float *const *with,
          const float *tiles, float *score) {
    if (h->head == 8)
        scores_of(h, s, rows, with, tiles, 8, score);
    else if (h->head == 16)
        scores_of(h, s, rows, with, tiles, 16, score);
    else if (h->head == 32)
        scores_of(h, s, rows, with, tiles, 32, score);
    else
        scores_of(h, s, rows, with, tiles, h->head, score);
}

static void
scores(const struct shape *h, const struct sight *s, size_t rows, const float *const *with,
       const float *tiles, float *score) {
    if (rows == 4)
        scores_by(h, s, 4, with, tiles, score);
    else if (rows == 2)
        scores_by(h, s, 2, with, tiles, score);
    else
        scores_by(h, s, 1, with, tiles, score);
}

/* Turns n scores into e^(score - highest), with zeros for at least a vector behind; returns their
 * sum. */
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
    vec_store(score + n, vec_all(0.0f));
    return vec_sum(sum);
}

/* Some vectors of an output, worked on together: whose weights they take, and which columns of the
 * rows they sum. */
struct strip {
    size_t n, head[STRIP], d[STRIP], column[STRIP];
};

/* Vectors from v on, of `end` of all heads' vectors, at most `most`; a group's columns are `step`
 * apart. */
static struct strip
strip_from(const struct shape *h, size_t v, size_t end, size_t most, size_t step) {
    size_t per = h->lane / LANES, share = h->heads / h->groups;
    struct strip t = {.n = most};
    while (t.n > end - v)
        t.n /= 2;
    for (size_t k = 0; k < t.n; k++) {
        t.head[k] = (v + k) / per;
        t.d[k] = (v + k) % per * LANES;
        t.column[k] = t.head[k] / share * step + t.d[k];
    }
    return t;
}

/* out[row][k] = sum_position weight[row][head of k] * the position's row at base, column[k]; rows
 * and n are constants where this is used. */
VEC_INLINE void
weigh(const struct shape *h, const struct sight *s, const struct strip *t, const float *weights,
      const float *base, size_t rows, size_t n, vec out[ATTEND_ROWS][STRIP]) {
    vec part[ATTEND_ROWS][STRIP][SUM_PARTS] = {{{{0}}}};
    const float *weight[ATTEND_ROWS][STRIP];
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < n; k++)
            weight[r][k] = weights + (r * h->heads + t->head[k]) * s->width;
    for (size_t i = 0; i < s->n; i += SUM_PARTS)
        for (size_t p = 0; p < SUM_PARTS; p++) {
            const float *row = base + s->row[i + p];
            for (size_t k = 0; k < n; k++) {
                vec value = vec_load(row + t->column[k]);
                for (size_t r = 0; r < rows; r++)
                    part[r][k][p] = vec_fma(vec_all(weight[r][k][i + p]), value, part[r][k][p]);
            }
        }
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < n; k++)
            out[r][k] = part[r][k][0] + part[r][k][1];
}

static void
weigh_strip(const struct shape *h, const struct sight *s, const struct strip *t,
            const float *weights, const float *base, size_t rows, vec out[ATTEND_ROWS][STRIP]) {
    if (rows == 4 && t->n == 2)
        weigh(h, s, t, weights, base, 4, 2, out);
    else if (rows == 4)
        weigh(h, s, t, weights, base, 4, 1, out);
    else if (rows == 2 && t->n == 4)
        weigh(h, s, t, weights, base, 2, 4, out);
    else if (rows == 2 && t->n == 2)
        weigh(h, s, t, weights, base, 2, 2, out);
    else if (rows == 2)
        weigh(h, s, t, weights, base, 2, 1, out);
    else if (t->n == 8)
        weigh(h, s, t, weights, base, 1, 8, out);
    else if (t->n == 4)
        weigh(h, s, t, weights, base, 1, 4, out);
    else if (t->n == 2)
        weigh(h, s, t, weights, base, 1, 2, out);
    else
        weigh(h, s, t, weights, base, 1, 1, out);
}

/* out[row] (heads * head) = for every head, the sum over positions of its weights (scores, or what
 * pulls on them) times the rows at base, times the head's scale (NULL: 1). */
static void
weigh_heads(const struct shape *h, const struct sight *s, size_t rows, const float *weights,
            const float *base, size_t step, const float *scale, float *const *out) {
    size_t vectors = h->heads * (h->lane / LANES);
    struct strip t;
    for (size_t v = 0; v < vectors; v += t.n) {
        vec sum[ATTEND_ROWS][STRIP];
        t = strip_from(h, v, vectors, STRIP / rows, step);
        weigh_strip(h, s, &t, weights, base, rows, sum);
        for (size_t r = 0; r < rows; r++)
            for (size_t k = 0; k < t.n; k++) {
                float *to = out[r] + t.head[k] * h->head + t.d[k];
                size_t left = h->head - t.d[k];
                vec by = vec_all(scale ? scale[r * h->heads + t.head[k]] : 1.0f);
                vec_store_some(to, sum[r][k] * by, left < LANES ? left : LANES);
            }
    }
}

void
attend(const struct shape *h, struct sight *s, size_t rows, const float *const *q,
       const float *keys, const float *values, float *const *out) {
    scores(h, s, rows, q, keys, s->score);
    for (size_t r = 0; r < rows; r++)
        for (size_t k = r * h->heads; k < (r + 1) * h->heads; k++)
            s->scale[k] = 1.0f / exponentials(s->score + k * s->width, s->n - (rows - 1 - r));
    weigh_heads(h, s, rows, s->score, values, h->lane, s->scale, out);
}

/* Where gradients of a run of neighbours go: the shared rows, or rows kept aside. */
struct target {
    float *dkey, *dvalue;
    size_t pos, n;
};

enum { SPREAD = 4 }; /* most vectors of gradients worked on together */

/* Adds pull * q and weight * dout of all rows to the gradients of a run; rows and n are constants
 * where this is used. */
VEC_INLINE void
spread(const struct shape *h, const struct sight *s, const struct strip *t, struct target to,
       size_t rows, size_t n) {
    vec q[ATTEND_ROWS][SPREAD], dout[ATTEND_ROWS][SPREAD];
    const float *pull[ATTEND_ROWS][SPREAD], *weight[ATTEND_ROWS][SPREAD];
    size_t column[SPREAD], step = h->kv_row, end = to.pos + to.n;
    for (size_t k = 0; k < n; k++) {
        column[k] = t->column[k];
        for (size_t r = 0; r < rows; r++) {
            size_t head = r * h->heads + t->head[k];
            q[r][k] = vec_load(s->q + head * h->lane + t->d[k]);
            dout[r][k] = vec_load(s->dout + head * h->lane + t->d[k]);
            pull[r][k] = s->pull + head * s->width;
            weight[r][k] = s->score + head * s->width;
        }
    }
    for (size_t i = to.pos; i < end; i++, to.dkey += step, to.dvalue += step)
        for (size_t k = 0; k < n; k++) {
            vec dkey = vec_load(to.dkey + column[k]), dvalue = vec_load(to.dvalue + column[k]);
            for (size_t r = 0; r < rows; r++) {
                dkey = vec_fma(vec_all(pull[r][k][i]), q[r][k], dkey);
                dvalue = vec_fma(vec_all(weight[r][k][i]), dout[r][k], dvalue);
            }
            vec_store(to.dkey + column[k], dkey);
            vec_store(to.dvalue + column[k], dvalue);
        }
}

static void
spread_heads(const struct shape *h, const struct sight *s, size_t rows, struct target to) {
    size_t per = h->lane / LANES, vectors = h->heads * per, most = rows == 4 ? 2 : SPREAD;
    struct strip t;
    for (size_t v = 0; v < vectors; v += t.n) {
        /* Heads that share a key must come one after the other. */
        size_t end = h->heads == h->groups ? vectors : (v / per + 1) * per;
        t = strip_from(h, v, end, most, h->lane);
        if (rows == 4 && t.n == 2)
            spread(h, s, &t, to, 4, 2);
        else if (rows == 4)
            spread(h, s, &t, to, 4, 1);
        else if (rows == 2 && t.n == 4)
            spread(h, s, &t, to, 2, 4);
        else if (rows == 2 && t.n == 2)
            spread(h, s, &t, to, 2, 2);
        else if (rows == 2)
            spread(h, s, &t, to, 2, 1);
        else if (t.n == 4)
            spread(h, s, &t, to, 1, 4);
        else if (t.n == 2)
            spread(h, s, &t, to, 1, 2);
        else
            spread(h, s, &t, to, 1, 1);
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
            spread_heads(h, s, b->rows,
                         (struct target){b->side_dkeys + p.pos * row, b->side_dvalues + p.pos * row,
                                         p.pos, aside});
        if (aside < p.n)
            spread_heads(h, s, b->rows,
                         (struct target){b->dkeys + own * row, b->dvalues + own * row,
                                         p.pos + aside, p.n - aside});
    }
}

/* score: unnormalised -> probabilities; pull: gradients of probabilities -> of scores. */
static void
softmax_back(float *score, float *pull, size_t n, float sum, float mean) {
    vec scale = vec_all(1.0f / sum);
    for (size_t i = 0; i < n; i += LANES) {
        vec p = vec_load(score + i) * scale;
        vec_store(score + i, p);
        vec_store(pull + i, p * (vec_load(pull + i) - vec_all(mean)));
    }
    vec_store(pull + n, vec_all(0.0f));
}

void
attend_back(const struct shape *h, struct sight *s, const struct attend_back *b) {
    scores(h, s, b->rows, b->q, b->keys, s->score);
    scores(h, s, b->rows, b->dout, b->value_tiles, s->pull);
    for (size_t r = 0; r < b->rows; r++)
        for (size_t k = 0; k < h->heads; k++) {
            size_t at = k * h->head, i = r * h->heads + k, n = s->n - (b->rows - 1 - r);
            float sum = exponentials(s->score + i * s->width, n);
            float mean = vec_dot(b->dout[r] + at, b->out[r] + at, h->head);
            softmax_back(s->score + i * s->width, s->pull + i * s->width, n, sum, mean);
            memcpy(s->q + i * h->lane, b->q[r] + at, h->head * sizeof(float));
            memcpy(s->dout + i * h->lane, b->dout[r] + at, h->head * sizeof(float));
        }
    weigh_heads(h, s, b->rows, s->pull, b->key_rows, h->head, NULL, b->dq);
    spread_spans(h, s, b);
}
