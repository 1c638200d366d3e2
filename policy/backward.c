/* Mirrors the phases of the forward pass. Per layer, from the last: B' (feed-forward and attention)
 * of every shard, then what shards pulled on each other's rows is added, then A' (query, key and
 * value projections), which goes together with B' of the layer below. */
#include "policy/backward.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "policy/mat.h"
#include "policy/vec.h"

enum {
    MOST_SHARDS = 8,
    LEAST_ROWS = 192,        /* per shard */
    MOST_FLOATS = 192 << 20, /* in all shards' gradients (a lone shard may have more) */
    SUM_CHUNK = 1 << 16,
};

struct desk { /* scratch of one thread, CHUNK rows each */
    struct sight sight;
    float *norm, *dnorm; /* [dim] */
    float *act, *dact;   /* [hidden] */
    float *gate, *dgate; /* [2 hidden] */
    float *datt;         /* [dim] */
    float *dlogits;      /* [vocab] */
};

struct shard {
    float *grad;                      /* [count]; owned */
    struct model view;                /* the same block as tensors; its layer table is owned */
    float *side_dkeys, *side_dvalues; /* [context][kv_row]; owned */
};

struct backward {
    struct model_config c;
    struct shape h;
    struct pool *pool; /* borrowed */
    struct desk *desk; /* [threads] */
    struct shard shard[MOST_SHARDS];
    size_t rows, wanted;    /* room */
    float *dx;              /* [rows][dim] */
    float *dtop;            /* [wanted][dim] of the last layer */
    float *dqkv;            /* [rows][qkv] */
    float *dkeys, *dvalues; /* [rows][kv_row] */
    /* of the run in hand */
    const struct backward_job *run;
    const struct model *m;
    size_t shards, layer;
    float *grad;
    size_t count;
};

static float *
floats(size_t n) {
    return mem_aligned(n * sizeof(float));
}

struct backward *
backward_new(const struct model_config *c, struct pool *pool) {
    struct backward *b = mem_zero(1, sizeof *b);
    b->c = *c;
    b->h = shape_of(c);
    b->pool = pool;
    b->desk = mem_zero((size_t)pool_threads(pool), sizeof *b->desk);
    for (int i = 0; i < pool_threads(pool); i++) {
        struct desk *d = &b->desk[i];
        sight_init(&d->sight, &b->h);
        d->norm = floats(CHUNK * b->h.dim);
        d->dnorm = floats(CHUNK * b->h.dim);
        d->act = floats(CHUNK * b->h.hidden);
        d->dact = floats(CHUNK * b->h.hidden);
        d->gate = floats(CHUNK * 2 * b->h.hidden);
        d->dgate = floats(CHUNK * 2 * b->h.hidden);
        d->datt = floats(CHUNK * b->h.dim);
        d->dlogits = floats(CHUNK * b->h.vocab);
    }
    return b;
}

static void
free_rows(struct backward *b) {
    free(b->dx);
    free(b->dtop);
    free(b->dqkv);
    free(b->dkeys);
    free(b->dvalues);
}

void
backward_free(struct backward *b) {
    if (!b)
        return;
    free_rows(b);
    for (int i = 0; i < pool_threads(b->pool); i++) {
        struct desk *d = &b->desk[i];
        sight_free(&d->sight);
        free(d->norm);
        free(d->dnorm);
        free(d->act);
        free(d->dact);
        free(d->gate);
        free(d->dgate);
        free(d->datt);
        free(d->dlogits);
    }
    for (size_t s = 0; s < MOST_SHARDS; s++) {
        free(b->shard[s].grad);
        free(b->shard[s].view.layer);
        free(b->shard[s].side_dkeys);
        free(b->shard[s].side_dvalues);
    }
    free(b->desk);
    free(b);
}

/* The tensors of `m`, in another block of the same layout. */
static float *
moved(const struct model *m, const float *tensor, float *block) {
    return block + (tensor - m->params);
}

static void
shard_prepare(struct backward *b, struct shard *s) {
    const struct model *m = b->m;
    if (!s->grad) {
        s->grad = floats(m->count);
        s->side_dkeys = floats(b->h.context * b->h.kv_row);
        s->side_dvalues = floats(b->h.context * b->h.kv_row);
        s->view.layer = mem_zero(b->h.layers, sizeof *s->view.layer);
    }
    memset(s->grad, 0, m->count * sizeof *s->grad);
    float *g = s->grad;
    s->view.embed = moved(m, m->embed, g);
    s->view.norm = moved(m, m->norm, g);
    s->view.head = moved(m, m->head, g);
    for (size_t l = 0; l < b->h.layers; l++) {
        const struct model_layer *y = &m->layer[l];
        s->view.layer[l] = (struct model_layer){.norm1 = moved(m, y->norm1, g),
                                                .wq = moved(m, y->wq, g),
                                                .wk = moved(m, y->wk, g),
                                                .wv = moved(m, y->wv, g),
                                                .wo = moved(m, y->wo, g),
                                                .norm2 = moved(m, y->norm2, g),
                                                .gate = moved(m, y->gate, g),
                                                .up = moved(m, y->up, g),
                                                .down = moved(m, y->down, g)};
    }
}

static void
room(struct backward *b, size_t rows, size_t wanted) {
    if (rows > b->rows || wanted > b->wanted) {
        free_rows(b);
        b->rows = rows > b->rows ? rows + rows / 4 : b->rows;
        b->wanted = wanted > b->wanted ? wanted + wanted / 4 : b->wanted;
        b->dx = floats(b->rows * b->h.dim);
        b->dtop = floats(b->wanted * b->h.dim);
        b->dqkv = floats(b->rows * b->h.qkv);
        b->dkeys = floats(b->rows * b->h.kv_row);
        b->dvalues = floats(b->rows * b->h.kv_row);
    }
}

/* Depends on the job and the model only. */
static size_t
shards_for(size_t rows, size_t count) {
    size_t n = 1;
    while (n < MOST_SHARDS && 2 * n * LEAST_ROWS <= rows && 2 * n * count <= MOST_FLOATS)
        n *= 2;
    return n;
}

/* First of n entries that shard s has. */
static size_t
cut_at(const struct backward *b, size_t n, size_t s) {
    return n * s / b->shards;
}

/* First row that shard s has in the last layer, where shards are cut by wanted entries. */
static size_t
top_row(const struct backward *b, size_t s) {
    const struct forward_job *j = b->run->job;
    if (s == 0)
        return 0;
    size_t w = cut_at(b, j->wanted, s);
    return s == b->shards || w == j->wanted ? j->rows : (size_t)j->want[w];
}

/* dx += gradient through y = x / rms(x) * weight; dweight is added to. */
static void
norm_back(float *restrict dx, const float *restrict dy, const float *restrict x,
          const float *restrict weight, float *restrict dweight, size_t n, float eps) {
    float scale = 1.0f / sqrtf(vec_dot(x, x, n) / (float)n + eps);
    vec sum = vec_all(0.0f);
    for (size_t i = 0; i < n; i += LANES) {
        size_t some = n - i < LANES ? n - i : LANES;
        sum += vec_load_some(dy + i, some, 0.0f) * vec_load_some(weight + i, some, 0.0f) *
               vec_load_some(x + i, some, 0.0f);
    }
    float mean = vec_sum(sum) * scale * scale / (float)n;
    for (size_t i = 0; i < n; i++) {
        dweight[i] += dy[i] * x[i] * scale;
        dx[i] += scale * (dy[i] * weight[i] - x[i] * mean);
    }
}

/* act = silu(gate) * up, and dgate from dact. */
static void
swiglu_back(float *act, float *dgate, const float *dact, const float *gate, size_t rows,
            size_t hidden) {
    size_t step = hidden < LANES ? hidden : LANES;
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < hidden; i += step) {
            size_t at =
                i + step <= hidden ? i : hidden - step; /* the last ones twice, if need be */
            vec g = vec_load_some(gate + at, step, 0.0f);
            vec u = vec_load_some(gate + hidden + at, step, 0.0f);
            vec d = vec_load_some(dact + at, step, 0.0f);
            vec one = vec_all(1.0f), sig = one / (one + vec_exp(-g)), silu = g * sig;
            vec_store_some(act + at, silu * u, step);
            vec_store_some(dgate + at, d * u * (sig + silu * (one - sig)), step);
            vec_store_some(dgate + hidden + at, d * silu, step);
        }
        gate += 2 * hidden;
        dgate += 2 * hidden;
        act += hidden;
        dact += hidden;
    }
}

/* The feed-forward's gate and up of entries [at, at + n): kept, or computed again from d->norm. */
static const float *
gates_of(struct backward *b, struct desk *d, size_t at, size_t n) {
    const struct forward *f = b->run->f;
    if (f->keep_gate)
        return f->layer[b->layer].gate + at * 2 * b->h.hidden;
    mat_apply(d->gate, d->norm, b->m->layer[b->layer].gate, n, b->h.dim, 2 * b->h.hidden);
    return d->gate;
}

/* Through the feed-forward of entries [at, at + n): dx (their rows) becomes the gradient of
 * `mid`. */
static void
feed_forward_back(struct backward *b, struct desk *d, struct shard *s, size_t at, size_t n,
                  float *dx) {
    const struct shape *h = &b->h;
    const struct model_layer *w = &b->m->layer[b->layer], *g = &s->view.layer[b->layer];
    const float *mid = b->run->f->layer[b->layer].mid + at * h->dim;
    for (size_t r = 0; r < n; r++)
        forward_norm(d->norm + r * h->dim, mid + r * h->dim, w->norm2, h->dim, b->c.norm_eps);
    const float *gate = gates_of(b, d, at, n);
    mat_back_input(d->dact, dx, w->down, n, h->hidden, h->dim);
    swiglu_back(d->act, d->dgate, d->dact, gate, n, h->hidden);
    mat_back_weight(g->down, dx, d->act, n, h->hidden, h->dim);
    mat_back_input(d->dnorm, d->dgate, w->gate, n, h->dim, 2 * h->hidden);
    mat_back_weight(g->gate, d->dgate, d->norm, n, h->dim, 2 * h->hidden);
    for (size_t r = 0; r < n; r++)
        norm_back(dx + r * h->dim, d->dnorm + r * h->dim, mid + r * h->dim, w->norm2, g->norm2,
                  h->dim, b->c.norm_eps);
}

/* Through the attention of entries [at, at + n), whose gradient of `mid` is dmid. */
static void
attention_back(struct backward *b, struct desk *d, struct shard *s, const int32_t *pick,
               size_t from, size_t at, size_t n, const float *dmid) {
    const struct shape *h = &b->h;
    const struct layer_store *y = &b->run->f->layer[b->layer];
    const float *att = y->att + at * h->dim;
    mat_back_input(d->datt, dmid, b->m->layer[b->layer].wo, n, h->dim, h->dim);
    mat_back_weight(s->view.layer[b->layer].wo, dmid, att, n, h->dim, h->dim);
    struct attend_back a = {.keys = y->keys,
                            .value_tiles = y->value_tiles,
                            .key_rows = y->qkv + h->dim,
                            .key_stride = h->qkv,
                            .dkeys = b->dkeys,
                            .dvalues = b->dvalues,
                            .from = from,
                            .side_dkeys = s->side_dkeys,
                            .side_dvalues = s->side_dvalues};
    for (size_t r = 0; r < n; r += a.rows) {
        size_t row = 0;
        a.rows = forward_together(b->run->job, pick, at + r, at + n);
        for (size_t k = 0; k < a.rows; k++) {
            row = pick ? (size_t)pick[at + r + k] : at + r + k;
            a.q[k] = y->qkv + row * h->qkv;
            a.out[k] = att + (r + k) * h->dim;
            a.dout[k] = d->datt + (r + k) * h->dim;
            a.dq[k] = b->dqkv + row * h->qkv;
        }
        sight_find(&d->sight, b->run->job->tree, (int32_t)row, h->qkv);
        attend_back(h, &d->sight, &a);
    }
}

static void
clear_rows(float *p, size_t from, size_t to, size_t width) {
    memset(p + from * width, 0, (to - from) * width * sizeof *p);
}

/* Makes the keys' and values' gradients of a shard's rows zero, and what it keeps aside. */
static void
clear_pulls(struct backward *b, struct shard *s, size_t from, size_t to) {
    clear_rows(b->dkeys, from, to, b->h.kv_row);
    clear_rows(b->dvalues, from, to, b->h.kv_row);
    clear_rows(s->side_dkeys, 0, b->h.context, b->h.kv_row);
    clear_rows(s->side_dvalues, 0, b->h.context, b->h.kv_row);
}

/* Adds what shards pulled on the ancestors of their first rows. */
static void
merge_pulls(struct backward *b, const size_t *first) {
    const struct spine *t = b->run->job->tree;
    size_t width = b->h.kv_row;
    for (size_t s = 1; s < b->shards; s++) {
        if (first[s] >= b->run->job->rows)
            continue;
        for (int32_t i = t->parent[first[s]]; i >= 0; i = t->parent[i]) {
            size_t pos = (size_t)t->depth[i];
            for (size_t k = 0; k < width; k++) {
                b->dkeys[(size_t)i * width + k] += b->shard[s].side_dkeys[pos * width + k];
                b->dvalues[(size_t)i * width + k] += b->shard[s].side_dvalues[pos * width + k];
            }
        }
    }
}

/* Gradients of one chunk of wanted entries at the last layer's output. */
static void
head_back_chunk(struct backward *b, struct desk *d, struct shard *s, size_t at, size_t n) {
    const struct shape *h = &b->h;
    const float *last = b->run->f->last + at * h->dim;
    float *dtop = b->dtop + at * h->dim;
    for (size_t r = 0; r < n; r++) {
        b->run->logits(b->run->arg, at + r, d->dlogits + r * h->vocab);
        forward_norm(d->norm + r * h->dim, last + r * h->dim, b->m->norm, h->dim, b->c.norm_eps);
    }
    mat_back_weight(s->view.head, d->dlogits, d->norm, n, h->dim, h->vocab);
    mat_back_input(d->dnorm, d->dlogits, b->m->head, n, h->dim, h->vocab);
    memset(dtop, 0, n * h->dim * sizeof *dtop);
    for (size_t r = 0; r < n; r++)
        norm_back(dtop + r * h->dim, d->dnorm + r * h->dim, last + r * h->dim, b->m->norm,
                  s->view.norm, h->dim, b->c.norm_eps);
}

/* Head and B' of the last layer: wanted entries of shard `task`. */
static void
task_top(void *arg, size_t task, int worker) {
    struct backward *b = arg;
    const struct forward_job *j = b->run->job;
    struct desk *d = &b->desk[worker];
    struct shard *s = &b->shard[task];
    size_t dim = b->h.dim, from = top_row(b, task), to = top_row(b, task + 1);
    size_t end = cut_at(b, j->wanted, task + 1);
    shard_prepare(b, s);
    clear_pulls(b, s, from, to);
    clear_rows(b->dqkv, from, to, b->h.qkv);
    clear_rows(b->dx, from, to, dim);
    for (size_t at = cut_at(b, j->wanted, task), n; at < end; at += n) {
        n = end - at < CHUNK ? end - at : CHUNK;
        float *dtop = b->dtop + at * dim;
        head_back_chunk(b, d, s, at, n);
        feed_forward_back(b, d, s, at, n, dtop);
        attention_back(b, d, s, j->want, from, at, n, dtop);
        for (size_t r = 0; r < n; r++)
            memcpy(b->dx + (size_t)j->want[at + r] * dim, dtop + r * dim, dim * sizeof *dtop);
    }
}

/* Finishes a row of dqkv: scale and rotation undone for the query, rotation for the key; keys' and
 * values' gradients put behind. */
static void
unrotate_row(const struct backward *b, size_t row) {
    const struct shape *h = &b->h;
    const struct forward *f = b->run->f;
    size_t half = h->head / 2, pos = (size_t)b->run->job->tree->depth[row];
    const float *cosine = f->cosine + pos * half, *sine = f->sine + pos * half;
    float *at = b->dqkv + row * h->qkv, scale = 1.0f / sqrtf((float)h->head);
    for (size_t i = 0; i < h->dim; i++)
        at[i] *= scale;
    for (size_t g = 0; g < h->groups; g++) {
        size_t from = row * h->kv_row + g * h->lane, to = h->dim + g * h->head;
        memcpy(at + to, b->dkeys + from, h->head * sizeof *at);
        memcpy(at + to + h->kv, b->dvalues + from, h->head * sizeof *at);
    }
    for (size_t k = 0; k < h->heads + h->groups; k++, at += h->head)
        for (size_t i = 0; i < half; i++) {
            float x = at[i], y = at[i + half];
            at[i] = x * cosine[i] + y * sine[i];
            at[i + half] = y * cosine[i] - x * sine[i];
        }
}

/* A' of rows [at, at + n): dx becomes the gradient of the layer's input. */
static void
projections_back(struct backward *b, struct desk *d, struct shard *s, size_t at, size_t n) {
    const struct shape *h = &b->h;
    const struct layer_store *y = &b->run->f->layer[b->layer];
    const struct model_layer *w = &b->m->layer[b->layer], *g = &s->view.layer[b->layer];
    const float *x = y->x + at * h->dim, *dqkv = b->dqkv + at * h->qkv;
    float *dx = b->dx + at * h->dim;
    for (size_t r = 0; r < n; r++) {
        unrotate_row(b, at + r);
        forward_norm(d->norm + r * h->dim, x + r * h->dim, w->norm1, h->dim, b->c.norm_eps);
    }
    mat_back_weight(g->wq, dqkv, d->norm, n, h->dim, h->qkv);
    mat_back_input(d->dnorm, dqkv, w->wq, n, h->dim, h->qkv);
    for (size_t r = 0; r < n; r++)
        norm_back(dx + r * h->dim, d->dnorm + r * h->dim, x + r * h->dim, w->norm1, g->norm1,
                  h->dim, b->c.norm_eps);
}

/* A' of a layer for the rows of shard `task`, then the embedding's gradient (lowest layer). */
static void
task_projections(void *arg, size_t task, int worker) {
    struct backward *b = arg;
    const struct forward_job *j = b->run->job;
    struct shard *s = &b->shard[task];
    size_t dim = b->h.dim, from = cut_at(b, j->rows, task), end = cut_at(b, j->rows, task + 1);
    for (size_t at = from, n; at < end; at += n) {
        n = end - at < CHUNK ? end - at : CHUNK;
        projections_back(b, &b->desk[worker], s, at, n);
    }
    for (size_t r = from; b->layer == 0 && r < end; r++) {
        float *to = s->view.embed + (size_t)j->tree->token[r] * dim;
        for (size_t i = 0; i < dim; i++)
            to[i] += b->dx[r * dim + i];
    }
}

/* B' of a layer below the last for the rows of shard `task`. */
static void
task_layer(void *arg, size_t task, int worker) {
    struct backward *b = arg;
    struct desk *d = &b->desk[worker];
    struct shard *s = &b->shard[task];
    size_t rows = b->run->job->rows, from = cut_at(b, rows, task), end = cut_at(b, rows, task + 1);
    clear_pulls(b, s, from, end);
    for (size_t at = from, n; at < end; at += n) {
        n = end - at < CHUNK ? end - at : CHUNK;
        float *dx = b->dx + at * b->h.dim;
        feed_forward_back(b, d, s, at, n, dx);
        attention_back(b, d, s, NULL, from, at, n, dx);
    }
}

static void
task_sum(void *arg, size_t task, int worker) {
    struct backward *b = arg;
    (void)worker;
    size_t at = task * SUM_CHUNK, end = at + SUM_CHUNK < b->count ? at + SUM_CHUNK : b->count;
    for (size_t s = 0; s < b->shards; s++) {
        const float *from = b->shard[s].grad;
        for (size_t i = at; i < end; i++)
            b->grad[i] += from[i];
    }
}

void
backward_run(struct backward *b, const struct backward_job *job, float *grad) {
    size_t rows = job->job->rows, first[MOST_SHARDS];
    if (!job->job->wanted)
        return;
    b->run = job;
    b->m = job->job->m;
    b->grad = grad;
    b->count = b->m->count;
    b->shards = shards_for(rows, b->count);
    room(b, rows, job->job->wanted);
    b->layer = b->h.layers - 1;
    pool_run(b->pool, task_top, b, b->shards);
    for (size_t s = 0; s < b->shards; s++)
        first[s] = top_row(b, s);
    merge_pulls(b, first);
    pool_run(b->pool, task_projections, b, b->shards);
    for (size_t s = 0; s < b->shards; s++)
        first[s] = cut_at(b, rows, s);
    while (b->layer-- > 0) {
        pool_run(b->pool, task_layer, b, b->shards);
        merge_pulls(b, first);
        pool_run(b->pool, task_projections, b, b->shards);
    }
    pool_run(b->pool, task_sum, b, (b->count + SUM_CHUNK - 1) / SUM_CHUNK);
}
