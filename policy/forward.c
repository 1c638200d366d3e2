/* One layer is two phases: A (norm, query, key and value, rotation, storing) and B (attention,
 * output projection, feed-forward). B of a row needs A of its ancestors, so phases are worked off
 * chunk by chunk, B of one layer together with A of the next. The last layer's B and the head are
 * done for the wanted rows only: a prompt's inner tokens only leave their keys and values. */
#include "policy/forward.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"
#include "policy/head.h"
#include "policy/mat.h"
#include "policy/vec.h"

enum { MOST_GATES = 96 << 20 }; /* floats */

static float *
floats(size_t n) {
    return mem_aligned(n * sizeof(float));
}

/* Zeros that take no memory before they are used. */
static float *
lazy_floats(size_t n) {
    float *p = mmap(NULL, n * sizeof *p, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "agon: out of memory (%zu bytes for a forward pass)\n", n * sizeof *p);
        exit(1);
    }
    return p;
}

static void
lazy_free(float *p, size_t n) {
    if (p)
        munmap(p, n * sizeof *p);
}

static void
make_rotations(struct forward *f) {
    size_t half = f->h.head / 2;
    f->cosine = floats(f->h.context * half);
    f->sine = floats(f->h.context * half);
    for (size_t pos = 0; pos < f->h.context; pos++)
        for (size_t i = 0; i < half; i++) {
            double turn = pow((double)f->c.rope_theta, -2.0 * (double)i / (double)f->h.head);
            f->cosine[pos * half + i] = (float)cos((double)pos * turn);
            f->sine[pos * half + i] = (float)sin((double)pos * turn);
        }
}

static void
scratch_init(struct scratch *s, const struct shape *h) {
    sight_init(&s->sight, h);
    s->norm = floats(CHUNK * h->dim);
    s->att = floats(CHUNK * h->dim);
    s->mid = floats(CHUNK * h->dim);
    s->gate = floats(CHUNK * 2 * h->hidden);
    s->act = floats(CHUNK * h->hidden);
    s->order = mem_zero(h->vocab, sizeof *s->order);
}

static void
scratch_free(struct scratch *s) {
    sight_free(&s->sight);
    free(s->norm);
    free(s->att);
    free(s->mid);
    free(s->gate);
    free(s->act);
    free(s->order);
}

struct forward *
forward_new(const struct model_config *c, struct gen_head head, bool keep, struct pool *pool) {
    struct forward *f = mem_zero(1, sizeof *f);
    f->h = shape_of(c);
    f->c = *c;
    f->head = head;
    f->keep = keep;
    f->pool = pool;
    f->most_gates = MOST_GATES;
    make_rotations(f);
    f->layer = mem_zero(f->h.layers, sizeof *f->layer);
    f->scratch = mem_zero((size_t)pool_threads(pool), sizeof *f->scratch);
    for (int i = 0; i < pool_threads(pool); i++)
        scratch_init(&f->scratch[i], &f->h);
    return f;
}

void
forward_free(struct forward *f) {
    if (!f)
        return;
    lazy_free(f->memory, f->memory_floats);
    for (size_t l = 0; l < f->h.layers; l++) {
        lazy_free(f->layer[l].keys, f->places * f->h.kv);
        lazy_free(f->layer[l].values, f->places * f->h.kv_row);
        lazy_free(f->layer[l].value_tiles, f->places * f->h.kv);
    }
    for (int i = 0; i < pool_threads(f->pool); i++)
        scratch_free(&f->scratch[i]);
    free(f->scratch);
    free(f->layer);
    free(f->cosine);
    free(f->sine);
    free(f);
}

/* The next size of memory that holds `have` and needs `need`. */
static size_t
next_size(size_t have, size_t need) {
    size_t n = have ? have : 2 * MAT_ROWS;
    while (n < need)
        n += n / 2;
    return mat_padded(n) / 16 * 16;
}

/* Room for `need` rows of `width`, keeping the first `have`. */
static void
enlarge(float **p, size_t have, size_t need, size_t width) {
    float *more = lazy_floats(need * width);
    if (have)
        memcpy(more, *p, have * width * sizeof *more);
    lazy_free(*p, have * width);
    *p = more;
}

void
forward_room(struct forward *f, size_t n) {
    if (n <= f->places)
        return;
    size_t more = next_size(f->places, n);
    for (size_t l = 0; l < f->h.layers; l++) {
        enlarge(&f->layer[l].keys, f->places, more, f->h.kv);
        enlarge(&f->layer[l].values, f->places, more, f->h.kv_row);
        if (f->keep)
            enlarge(&f->layer[l].value_tiles, f->places, more, f->h.kv);
    }
    f->places = more;
}

/* Hands out the rows' memory; with `memory` NULL only counts. Returns the number of floats. */
static size_t
lay_out(struct forward *f, float *memory) {
    const struct shape *h = &f->h;
    size_t at = 0, layers = f->keep ? h->layers : 1;
    for (size_t l = 0; l < h->layers; l++) {
        struct layer_store *y = &f->layer[l];
        size_t n = l + 1 < h->layers ? f->rows : f->wanted; /* the last layer's outputs */
        if (l >= layers) {
            y->x = f->layer[0].x;
            y->qkv = f->layer[0].qkv;
            continue;
        }
        float **piece[] = {&y->x, &y->qkv, &y->att, &y->mid, &y->gate};
        size_t size[] = {f->rows * h->dim, f->rows * h->qkv + LANES, n * h->dim, n * h->dim,
                         f->keep_gate ? n * 2 * h->hidden : 0};
        for (size_t i = 0; i < (f->keep ? 5 : 2); i++) {
            *piece[i] = memory && size[i] ? memory + at : NULL;
            at += size[i];
        }
    }
    f->last = f->keep && memory ? memory + at : NULL;
    return at + (f->keep ? f->wanted * h->dim : 0);
}

/* Room for a job's rows. Nothing is kept. */
static void
room_rows(struct forward *f, size_t rows, size_t wanted) {
    if (mat_padded(rows) <= f->rows && (!f->keep || mat_padded(wanted) <= f->wanted))
        return;
    lazy_free(f->memory, f->memory_floats);
    f->rows = next_size(f->rows, mat_padded(rows));
    f->wanted = f->keep ? next_size(f->wanted, mat_padded(wanted)) : 0;
    f->keep_gate = f->keep && f->rows * f->h.layers * 2 * f->h.hidden <= f->most_gates;
    f->memory_floats = lay_out(f, NULL);
    f->memory = lazy_floats(f->memory_floats);
    lay_out(f, f->memory);
}

void
forward_move(struct forward *f, size_t to, const struct forward *old, size_t from) {
    const struct shape *h = &f->h;
    for (size_t l = 0; l < h->layers; l++) {
        for (size_t i = 0; i < h->kv; i++)
            f->layer[l].keys[tile_at(h->kv, to, i)] = old->layer[l].keys[tile_at(h->kv, from, i)];
        memcpy(f->layer[l].values + to * h->kv_row, old->layer[l].values + from * h->kv_row,
               h->kv_row * sizeof(float));
    }
}

float
forward_norm(float *y, const float *x, const float *weight, size_t n, float eps) {
    float scale = 1.0f / sqrtf(vec_dot(x, x, n) / (float)n + eps);
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * scale * weight[i];
    return scale;
}

/* Rotates the pairs (i, i + half) of `heads` neighbouring heads. */
static void
rotate(float *at, size_t heads, size_t half, const float *cosine, const float *sine) {
    for (size_t k = 0; k < heads; k++, at += 2 * half)
        for (size_t i = 0; i < half; i++) {
            float a = at[i], b = at[i + half];
            at[i] = a * cosine[i] - b * sine[i];
            at[i + half] = b * cosine[i] + a * sine[i];
        }
}

/* Rotates a row's query and key, scales the query, stores key and value under the row's place. */
static void
store_row(const struct forward *f, struct layer_store *y, float *qkv, size_t place, size_t pos) {
    const struct shape *h = &f->h;
    size_t half = h->head / 2;
    rotate(qkv, h->heads + h->groups, half, f->cosine + pos * half, f->sine + pos * half);
    float scale = 1.0f / sqrtf((float)h->head);
    for (size_t i = 0; i < h->dim; i++)
        qkv[i] *= scale;
    const float *key = qkv + h->dim, *value = key + h->kv;
    float *tile = y->keys + tile_at(h->kv, place, 0);
    for (size_t i = 0; i < h->kv; i++)
        tile[i * LANES] = key[i];
    for (size_t g = 0; g < h->groups; g++)
        memcpy(y->values + place * h->kv_row + g * h->lane, value + g * h->head,
               h->head * sizeof *value);
    if (f->keep) {
        tile = y->value_tiles + tile_at(h->kv, place, 0);
        for (size_t i = 0; i < h->kv; i++)
            tile[i * LANES] = value[i];
    }
}

/* Phase A of layer l for rows [at, at + n). */
static void
phase_a(struct forward *f, const struct forward_job *job, struct scratch *s, size_t l, size_t at,
        size_t n) {
    const struct shape *h = &f->h;
    const struct model_layer *w = &job->m->layer[l];
    struct layer_store *y = &f->layer[l];
    for (size_t r = 0; r < n; r++)
        forward_norm(s->norm + r * h->dim, y->x + (at + r) * h->dim, w->norm1, h->dim,
                     f->c.norm_eps);
    /* wq, wk and wv are neighbours: one product. */
    mat_apply(y->qkv + at * h->qkv, s->norm, w->wq, n, h->dim, h->qkv);
    for (size_t r = 0; r < n; r++) {
        size_t place = (size_t)job->row[at + r];
        store_row(f, y, y->qkv + (at + r) * h->qkv, place, (size_t)job->tree->depth[place]);
    }
}

static void
add(float *to, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] += x[i];
}

/* act = silu(gate) * up; a row of `gate` holds gate and up side by side. */
static void
swiglu(float *act, const float *gate, size_t rows, size_t hidden) {
    size_t step = hidden < LANES ? hidden : LANES;
    for (size_t r = 0; r < rows; r++, gate += 2 * hidden, act += hidden)
        for (size_t i = 0; i < hidden; i += step) {
            size_t at =
                i + step <= hidden ? i : hidden - step; /* the last ones twice, if need be */
            vec g = vec_load_some(gate + at, step, 0.0f);
            vec u = vec_load_some(gate + hidden + at, step, 0.0f);
            vec_store_some(act + at, g / (vec_all(1.0f) + vec_exp(-g)) * u, step);
        }
}

/* Row of entry i of a layer's list; see phase_b. */
static size_t
row_of(const int32_t *pick, size_t i) {
    return pick ? (size_t)pick[i] : i;
}

size_t
forward_together(const struct forward_job *job, const int32_t *pick, size_t i, size_t end) {
    size_t n = 1;
    for (; n < ATTEND_ROWS && i + n < end; n++) {
        int32_t before = job->row[row_of(pick, i + n - 1)], place = job->row[row_of(pick, i + n)];
        if (place != before + 1 || job->tree->parent[place] != before)
            break;
    }
    return n == 3 ? 2 : n;
}

/* Attention of entries [at, at + n) of the list, several at a time where they follow each other. */
static void
attend_rows(const struct shape *h, const struct forward_job *job, struct scratch *s,
            const struct layer_store *y, const int32_t *pick, size_t at, size_t n, float *att) {
    for (size_t r = 0, rows; r < n; r += rows) {
        const float *q[ATTEND_ROWS];
        float *out[ATTEND_ROWS];
        rows = forward_together(job, pick, at + r, at + n);
        for (size_t k = 0; k < rows; k++) {
            q[k] = y->qkv + row_of(pick, at + r + k) * h->qkv;
            out[k] = att + (r + k) * h->dim;
        }
        size_t last = row_of(pick, at + r + rows - 1);
        sight_find(&s->sight, job->tree, job->row[last], h->kv_row);
        attend(h, &s->sight, rows, q, y->keys, y->values, out);
    }
}

/* Phase B of layer l for entries [at, at + n) of the layer's list of rows: all of them or, in the
 * last layer (`pick`), the wanted. Writes the layer's output to `to`. */
static void
phase_b(struct forward *f, const struct forward_job *job, struct scratch *s, size_t l,
        const int32_t *pick, size_t at, size_t n, float *to) {
    const struct shape *h = &f->h;
    const struct model_layer *w = &job->m->layer[l];
    struct layer_store *y = &f->layer[l];
    float *att = f->keep ? y->att + at * h->dim : s->att;
    float *mid = f->keep ? y->mid + at * h->dim : s->mid;
    float *gate = f->keep_gate ? y->gate + at * 2 * h->hidden : s->gate;
    attend_rows(h, job, s, y, pick, at, n, att);
    mat_apply(mid, att, w->wo, n, h->dim, h->dim);
    for (size_t r = 0; r < n; r++) {
        add(mid + r * h->dim, y->x + row_of(pick, at + r) * h->dim, h->dim);
        forward_norm(s->norm + r * h->dim, mid + r * h->dim, w->norm2, h->dim, f->c.norm_eps);
    }
    /* gate and up are neighbours: one product. */
    mat_apply(gate, s->norm, w->gate, n, h->dim, 2 * h->hidden);
    swiglu(s->act, gate, n, h->hidden);
    mat_apply(to, s->act, w->down, n, h->hidden, h->dim);
    add(to, mid, n * h->dim);
}

struct phase { /* what one round of tasks does */
    struct forward *f;
    const struct forward_job *job;
    size_t layer, count, chunk; /* count entries in chunks */
};

/* Embedding and A of the first layer, or B of layer - 1 and A of layer. */
static void
task_rows(void *arg, size_t task, int worker) {
    struct phase *p = arg;
    struct forward *f = p->f;
    size_t at = task * p->chunk, dim = f->h.dim;
    size_t n = p->count - at < p->chunk ? p->count - at : p->chunk;
    float *x = f->layer[p->layer].x + at * dim;
    if (p->layer)
        phase_b(f, p->job, &f->scratch[worker], p->layer - 1, NULL, at, n, x);
    else
        for (size_t r = 0; r < n; r++)
            memcpy(x + r * dim,
                   p->job->m->embed + (size_t)p->job->tree->token[p->job->row[at + r]] * dim,
                   dim * sizeof *x);
    phase_a(f, p->job, &f->scratch[worker], p->layer, at, n);
}

/* B of the last layer, last norm and head, for wanted rows. */
static void
task_head(void *arg, size_t task, int worker) {
    struct phase *p = arg;
    struct forward *f = p->f;
    const struct forward_job *job = p->job;
    struct scratch *s = &f->scratch[worker];
    size_t at = task * p->chunk, dim = f->h.dim, vocab = f->h.vocab;
    size_t n = p->count - at < p->chunk ? p->count - at : p->chunk;
    float *x = f->keep ? f->last + at * dim : s->att; /* att is free once mid is made */
    phase_b(f, job, s, f->h.layers - 1, job->want, at, n, x);
    for (size_t r = 0; r < n; r++)
        forward_norm(s->norm + r * dim, x + r * dim, job->m->norm, dim, f->c.norm_eps);
    float *logp = job->logp + at * vocab;
    mat_apply(logp, s->norm, job->m->head, n, dim, vocab);
    for (size_t r = 0; r < n; r++)
        head_apply(f->head, logp + r * vocab, vocab, s->order);
}

/* Entries per task: equal shares for the threads, no more than a chunk. */
static size_t
chunk_for(const struct forward *f, size_t count) {
    size_t threads = (size_t)pool_threads(f->pool);
    size_t rounds = (count + threads * CHUNK - 1) / (threads * CHUNK);
    size_t chunk = mat_padded((count + threads * rounds - 1) / (threads * rounds));
    return chunk < CHUNK ? chunk : CHUNK;
}

void
forward_run(struct forward *f, const struct forward_job *job) {
    if (!job->rows)
        return;
    room_rows(f, job->rows, job->wanted);
    struct phase p = {.f = f, .job = job, .count = job->rows, .chunk = chunk_for(f, job->rows)};
    size_t tasks = (p.count + p.chunk - 1) / p.chunk;
    for (p.layer = 0; p.layer < f->h.layers; p.layer++)
        pool_run(f->pool, task_rows, &p, tasks);
    if (!job->wanted)
        return;
    p.count = job->wanted;
    p.chunk = chunk_for(f, job->wanted);
    pool_run(f->pool, task_head, &p, (p.count + p.chunk - 1) / p.chunk);
}
