/* The block of parameters: its layout, the names of its parts, first weights. Parameters lie in
 * file order; query, key and value weights are neighbours, and so are gate and up, so that each
 * group can be applied as one product. */
#include "policy/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

static int
check_range(const char *name, int value, int low, int high, struct err *e) {
    if (value < low || value > high)
        return err_set(e, "model: %s is %d; it must be between %d and %d", name, value, low, high);
    return 0;
}

/* Number of parameters; 64 bits cannot overflow within the ranges checked. */
static uint64_t
count_params(const struct model_config *c) {
    uint64_t d = (uint64_t)(c->dim / c->heads), dim = (uint64_t)c->dim;
    uint64_t kv = d * (uint64_t)c->kv_heads;
    uint64_t layer = 2 * dim + 2 * dim * dim + 2 * kv * dim + 3 * dim * (uint64_t)c->hidden;
    uint64_t table = (uint64_t)c->vocab * dim;
    return table * (c->tied ? 1 : 2) + (uint64_t)c->layers * layer + dim;
}

int
model_config_check(const struct model_config *c, struct err *e) {
    if (check_range("vocab", c->vocab, 2, 1 << 20, e) || check_range("dim", c->dim, 2, 16384, e) ||
        check_range("layers", c->layers, 1, 256, e) || check_range("heads", c->heads, 1, 256, e) ||
        check_range("kv_heads", c->kv_heads, 1, 256, e) ||
        check_range("hidden", c->hidden, 1, 65536, e) ||
        check_range("context", c->context, 1, 1 << 20, e))
        return -1;
    if (c->dim % c->heads || c->dim / c->heads % 2)
        return err_set(e, "model: dim (%d) must be an even multiple of heads (%d)", c->dim,
                       c->heads);
    if (c->heads % c->kv_heads)
        return err_set(e, "model: heads (%d) must be a multiple of kv_heads (%d)", c->heads,
                       c->kv_heads);
    if (!(c->rope_theta >= 1.0f && c->rope_theta <= 1e12f))
        return err_set(e, "model: rope_theta is %g; it must be between 1 and 1e12",
                       (double)c->rope_theta);
    if (!(c->norm_eps >= 1e-12f && c->norm_eps <= 1.0f))
        return err_set(e, "model: norm_eps is %g; it must be between 1e-12 and 1",
                       (double)c->norm_eps);
    if (count_params(c) > 2000000000u)
        return err_set(e, "model: %llu parameters are too many (at most 2000000000)",
                       (unsigned long long)count_params(c));
    return 0;
}

enum part { NORM1, WQ, WK, WV, WO, NORM2, GATE, UP, DOWN, PARTS };

/* Shape of a part of a layer; cols == 0: a vector. */
static void
part_shape(const struct model_config *c, enum part p, int *rows, int *cols) {
    int kv = c->dim / c->heads * c->kv_heads;
    const int shape[PARTS][2] = {{c->dim, 0},         {c->dim, c->dim},    {kv, c->dim},
                                 {kv, c->dim},        {c->dim, c->dim},    {c->dim, 0},
                                 {c->hidden, c->dim}, {c->hidden, c->dim}, {c->dim, c->hidden}};
    *rows = shape[p][0];
    *cols = shape[p][1];
}

static size_t
cells(int rows, int cols) {
    return (size_t)rows * (size_t)(cols ? cols : 1);
}

/* Hands out the block piece by piece in file order. Returns the number of parameters. */
static size_t
lay_out(struct model *m, float *params) {
    const struct model_config *c = &m->c;
    size_t at = 0, table = cells(c->vocab, c->dim);
    m->embed = params;
    at += table;
    for (int l = 0; l < c->layers; l++) {
        struct model_layer *y = &m->layer[l];
        float **piece[PARTS] = {&y->norm1, &y->wq,   &y->wk, &y->wv,  &y->wo,
                                &y->norm2, &y->gate, &y->up, &y->down};
        for (int p = 0; p < PARTS; p++) {
            int rows, cols;
            part_shape(c, (enum part)p, &rows, &cols);
            *piece[p] = params + at;
            at += cells(rows, cols);
        }
    }
    m->norm = params + at;
    at += (size_t)c->dim;
    m->head = c->tied ? m->embed : params + at;
    return at + (c->tied ? 0 : table);
}

struct model *
model_new(const struct model_config *c) {
    struct model *m = mem_zero(1, sizeof *m);
    m->c = *c;
    m->count = (size_t)count_params(c);
    m->params = mem_aligned(m->count * sizeof *m->params);
    m->layer = mem_zero((size_t)c->layers, sizeof *m->layer);
    ensure(lay_out(m, m->params) == m->count);
    return m;
}

void
model_free(struct model *m) {
    if (!m)
        return;
    free(m->params);
    free(m->layer);
    free(m);
}

void
model_copy(struct model *to, const struct model *from) {
    ensure(to->count == from->count);
    memcpy(to->params, from->params, from->count * sizeof *to->params);
}

/* Tensor i as layer and part; false for those outside the layers. */
static bool
in_layer(const struct model *m, int i, int *layer, enum part *part) {
    if (i < 1 || i > m->c.layers * PARTS)
        return false;
    *layer = (i - 1) / PARTS;
    *part = (enum part)((i - 1) % PARTS);
    return true;
}

int
model_tensor(const struct model *m, int i, struct model_tensor *out) {
    static const char *const names[PARTS] = {
        "input_layernorm",  "self_attn.q_proj", "self_attn.k_proj",
        "self_attn.v_proj", "self_attn.o_proj", "post_attention_layernorm",
        "mlp.gate_proj",    "mlp.up_proj",      "mlp.down_proj"};
    const struct model_config *c = &m->c;
    int layer, last = 1 + c->layers * PARTS;
    enum part part;
    *out = (struct model_tensor){0};
    if (in_layer(m, i, &layer, &part)) {
        const struct model_layer *y = &m->layer[layer];
        float *const piece[PARTS] = {y->norm1, y->wq,   y->wk, y->wv,  y->wo,
                                     y->norm2, y->gate, y->up, y->down};
        snprintf(out->name, sizeof out->name, "model.layers.%d.%s.weight", layer, names[part]);
        part_shape(c, part, &out->rows, &out->cols);
        out->offset = (size_t)(piece[part] - m->params);
        return 0;
    }
    if (i == last) {
        snprintf(out->name, sizeof out->name, "model.norm.weight");
        out->rows = c->dim;
        out->offset = (size_t)(m->norm - m->params);
        return 0;
    }
    if (i != 0 && (i != last + 1 || c->tied))
        return -1;
    snprintf(out->name, sizeof out->name, i ? "lm_head.weight" : "model.embed_tokens.weight");
    out->rows = c->vocab;
    out->cols = c->dim;
    out->offset = i ? (size_t)(m->head - m->params) : 0;
    return 0;
}

void
model_init(struct model *m, uint64_t seed, double std) {
    struct model_tensor t;
    for (int i = 0; !model_tensor(m, i, &t); i++) {
        float *at = m->params + t.offset;
        int layer;
        enum part part;
        bool deep = in_layer(m, i, &layer, &part) && (part == WO || part == DOWN);
        double s = deep ? std / sqrt(2.0 * m->c.layers) : std;
        struct rng r;
        rng_init(&r, seed, (uint64_t)i, RNG_INIT);
        for (size_t k = 0; k < cells(t.rows, t.cols); k++)
            at[k] = t.cols ? (float)(s * rng_normal(&r)) : 1.0f;
    }
}
