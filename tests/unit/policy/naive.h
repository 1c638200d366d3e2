/* An independent transformer for the tests: one sequence, double precision, plain loops, weights
 * found by their names. */
#ifndef TESTS_NAIVE_H
#define TESTS_NAIVE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "policy/model.h"

/* Where the tensor called `name` starts. */
static inline size_t
naive_at(const struct model *m, const char *name) {
    struct model_tensor t;
    for (int i = 0; !model_tensor(m, i, &t); i++)
        if (!strcmp(t.name, name))
            return t.offset;
    panic("no tensor %s", name);
}

static inline const double *
naive_in(const struct model *m, const double *params, int layer, const char *what) {
    char name[96];
    snprintf(name, sizeof name, "model.layers.%d.%s.weight", layer, what);
    return params + naive_at(m, name);
}

static inline void
naive_mul(double *y, const double *w, const double *x, int out, int in) {
    for (int o = 0; o < out; o++) {
        y[o] = 0.0;
        for (int i = 0; i < in; i++)
            y[o] += w[o * in + i] * x[i];
    }
}

static inline void
naive_norm(double *y, const double *x, const double *w, int n, double eps) {
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    for (int i = 0; i < n; i++)
        y[i] = x[i] / sqrt(sum / n + eps) * w[i];
}

static inline void
naive_rope(double *v, int head, int pos, double theta) {
    for (int i = 0; i < head / 2; i++) {
        double a = pos * pow(theta, -2.0 * i / head), x = v[i], y = v[i + head / 2];
        v[i] = x * cos(a) - y * sin(a);
        v[i + head / 2] = y * cos(a) + x * sin(a);
    }
}

/* x[n][dim] -> x + attention(norm(x)). */
static inline void
naive_attention(const struct model *m, const double *params, int l, double *x, int n) {
    const struct model_config *c = &m->c;
    int dim = c->dim, head = dim / c->heads, kv = head * c->kv_heads,
        share = c->heads / c->kv_heads;
    double *q = mem_zero((size_t)n, sizeof(double) * (size_t)dim),
           *k = mem_zero((size_t)n, sizeof(double) * (size_t)kv);
    double *v = mem_zero((size_t)n, sizeof(double) * (size_t)kv),
           *norm = mem_zero((size_t)dim, sizeof(double));
    double *out = mem_zero((size_t)dim, sizeof(double)), *p = mem_zero((size_t)n, sizeof(double));
    const double *norm1 = naive_in(m, params, l, "input_layernorm");
    const double *wq = naive_in(m, params, l, "self_attn.q_proj");
    const double *wk = naive_in(m, params, l, "self_attn.k_proj");
    const double *wv = naive_in(m, params, l, "self_attn.v_proj");
    const double *wo = naive_in(m, params, l, "self_attn.o_proj");
    for (int t = 0; t < n; t++) {
        naive_norm(norm, x + t * dim, norm1, dim, (double)c->norm_eps);
        naive_mul(q + t * dim, wq, norm, dim, dim);
        naive_mul(k + t * kv, wk, norm, kv, dim);
        naive_mul(v + t * kv, wv, norm, kv, dim);
        for (int h = 0; h < c->heads; h++)
            naive_rope(q + t * dim + h * head, head, t, (double)c->rope_theta);
        for (int h = 0; h < c->kv_heads; h++)
            naive_rope(k + t * kv + h * head, head, t, (double)c->rope_theta);
    }
    for (int t = 0; t < n; t++) {
        memset(out, 0, sizeof(double) * (size_t)dim);
        for (int h = 0; h < c->heads; h++) {
            int g = h / share * head;
            double sum = 0.0;
            for (int j = 0; j <= t; j++) {
                double s = 0.0;
                for (int d = 0; d < head; d++)
                    s += q[t * dim + h * head + d] * k[j * kv + g + d];
                sum += p[j] = exp(s / sqrt((double)head));
            }
            for (int j = 0; j <= t; j++)
                for (int d = 0; d < head; d++)
                    out[h * head + d] += p[j] / sum * v[j * kv + g + d];
        }
        naive_mul(norm, wo, out, dim, dim);
        for (int i = 0; i < dim; i++)
            x[t * dim + i] += norm[i];
    }
    free(q);
    free(k);
    free(v);
    free(norm);
    free(out);
    free(p);
}

static inline void
naive_feed_forward(const struct model *m, const double *params, int l, double *x, int n) {
    int dim = m->c.dim, hidden = m->c.hidden;
    double *norm = mem_zero((size_t)dim, sizeof(double)),
           *gate = mem_zero((size_t)hidden, sizeof(double));
    double *up = mem_zero((size_t)hidden, sizeof(double));
    const double *norm2 = naive_in(m, params, l, "post_attention_layernorm");
    const double *wg = naive_in(m, params, l, "mlp.gate_proj");
    const double *wu = naive_in(m, params, l, "mlp.up_proj");
    const double *wd = naive_in(m, params, l, "mlp.down_proj");
    for (; n-- > 0; x += dim) {
        naive_norm(norm, x, norm2, dim, (double)m->c.norm_eps);
        naive_mul(gate, wg, norm, hidden, dim);
        naive_mul(up, wu, norm, hidden, dim);
        for (int i = 0; i < hidden; i++)
            gate[i] = gate[i] / (1.0 + exp(-gate[i])) * up[i];
        naive_mul(norm, wd, gate, dim, hidden);
        for (int i = 0; i < dim; i++)
            x[i] += norm[i];
    }
    free(norm);
    free(gate);
    free(up);
}

/* Log-probabilities of the next token after each of n tokens: logp[n][vocab], at a temperature. */
static inline void
naive_logp(const struct model *m, const double *params, const int32_t *tokens, int n,
           double temperature, double *logp) {
    int dim = m->c.dim, vocab = m->c.vocab;
    const double *embed = params + naive_at(m, "model.embed_tokens.weight");
    const double *head = m->c.tied ? embed : params + naive_at(m, "lm_head.weight");
    const double *last = params + naive_at(m, "model.norm.weight");
    double *x = mem_zero((size_t)n, sizeof(double) * (size_t)dim),
           *norm = mem_zero((size_t)dim, sizeof(double));
    for (int t = 0; t < n; t++)
        memcpy(x + t * dim, embed + tokens[t] * dim, sizeof(double) * (size_t)dim);
    for (int l = 0; l < m->c.layers; l++) {
        naive_attention(m, params, l, x, n);
        naive_feed_forward(m, params, l, x, n);
    }
    for (int t = 0; t < n; t++) {
        double *row = logp + t * vocab, sum = 0.0;
        naive_norm(norm, x + t * dim, last, dim, (double)m->c.norm_eps);
        naive_mul(row, head, norm, vocab, dim);
        for (int i = 0; i < vocab; i++)
            sum += exp(row[i] /= temperature);
        for (int i = 0; i < vocab; i++)
            row[i] -= log(sum);
    }
    free(x);
    free(norm);
}

static inline double *
naive_params(const struct model *m) {
    double *p = mem_zero(m->count, sizeof *p);
    for (size_t i = 0; i < m->count; i++)
        p[i] = (double)m->params[i];
    return p;
}

/* A model of random weights, norms included. */
static inline struct model *
naive_model(const struct model_config *c, uint64_t seed, double std) {
    struct model *m = model_new(c);
    struct rng r;
    model_init(m, seed, std);
    rng_init(&r, seed, 7, RNG_TEST);
    for (size_t i = 0; i < m->count; i++)
        m->params[i] += (float)(0.1 * std * rng_normal(&r));
    return m;
}

#endif
