/* The output distribution and its gradients. */
#include "policy/head.h"

#include <stdbool.h>
#include <stdlib.h>

#include "policy/vec.h"

static size_t
first_best(const float *row, size_t n) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (row[i] > row[best])
            best = i;
    return best;
}

static void
make_greedy(float *row, size_t n) {
    size_t best = first_best(row, n);
    for (size_t i = 0; i < n; i++)
        row[i] = i == best ? 0.0f : -INFINITY;
}

/* Highest of n numbers. */
static float
highest(const float *row, size_t n) {
    vec top = vec_all(-INFINITY);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        top = vec_max(top, vec_load(row + i));
    if (i < n)
        top = vec_max(top, vec_load_some(row + i, n - i, -INFINITY));
    return vec_top(top);
}

/* sum e^row; zeros for -INFINITY. */
static float
sum_exp(const float *row, size_t n) {
    vec sum = vec_all(0.0f);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += vec_exp(vec_load(row + i));
    if (i < n)
        sum += vec_exp(vec_load_some(row + i, n - i, -INFINITY));
    return vec_sum(sum);
}

static void
subtract(float *row, size_t n, float x) {
    for (size_t i = 0; i < n; i++)
        row[i] -= x;
}

/* Sorts ids by falling row value, ties by id: heap sort, so that no comparison needs a context. */
static bool
goes_before(const float *row, int32_t a, int32_t b) {
    return row[a] > row[b] || (row[a] == row[b] && a < b);
}

static void
sift(const float *row, int32_t *order, size_t at, size_t n) {
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && goes_before(row, order[child], order[child + 1]))
            child++;
        if (!goes_before(row, order[at], order[child]))
            return;
        int32_t swap = order[at];
        order[at] = order[child];
        order[child] = swap;
    }
}

static void
sort_ids(const float *row, int32_t *order, size_t n) {
    for (size_t i = 0; i < n; i++)
        order[i] = (int32_t)i;
    for (size_t i = n / 2; i-- > 0;)
        sift(row, order, i, n);
    for (size_t end = n; end-- > 1;) {
        int32_t swap = order[0];
        order[0] = order[end];
        order[end] = swap;
        sift(row, order, 0, end);
    }
}

/* Keeps the smallest set of most likely tokens with mass >= top_p of `sum`; at least one. */
static void
cut_nucleus(float *row, size_t n, float top_p, float sum, int32_t *order) {
    sort_ids(row, order, n);
    double mass = 0.0, enough = (double)top_p * (double)sum;
    size_t keep = 0;
    while (keep < n && (keep == 0 || mass < enough))
        mass += exp((double)row[order[keep++]]);
    for (size_t i = keep; i < n; i++)
        row[order[i]] = -INFINITY;
}

void
head_apply(struct gen_head head, float *row, size_t n, int32_t *order) {
    if (!(head.temperature > 0.0f)) {
        make_greedy(row, n);
        return;
    }
    if (head.temperature != 1.0f) {
        float scale = 1.0f / head.temperature;
        for (size_t i = 0; i < n; i++)
            row[i] *= scale;
    }
    subtract(row, n, highest(row, n));
    float sum = sum_exp(row, n);
    if (head.top_p < 1.0f) {
        cut_nucleus(row, n, head.top_p, sum, order);
        sum = sum_exp(row, n);
    }
    subtract(row, n, (float)log((double)sum));
}

/* p * x where p > 0, else 0 (also when x is infinite). */
VEC_INLINE vec
times_likely(vec p, vec x) {
    return vec_pick(p > vec_all(0.0f), p * x, vec_all(0.0f));
}

float
head_entropy(const float *logp, size_t n) {
    vec sum = vec_all(0.0f);
    for (size_t i = 0; i < n; i += LANES) {
        vec l = vec_load_some(logp + i, n - i < LANES ? n - i : LANES, -INFINITY);
        sum -= times_likely(vec_exp(l), l);
    }
    return vec_sum(sum);
}

/* log of q's mass on the tokens that p can sample; exactly 0 when that is all of them. */
static float
log_mass_on(const float *logp, const float *logq, size_t n) {
    bool all = true;
    double mass = 0.0;
    for (size_t i = 0; i < n; i++)
        all = all && logp[i] > -INFINITY;
    if (all)
        return 0.0f;
    for (size_t i = 0; i < n; i++)
        if (logp[i] > -INFINITY)
            mass += exp((double)logq[i]);
    return (float)log(mass);
}

float
head_kl(const float *logp, const float *logq, size_t n) {
    vec shift = vec_all(log_mass_on(logp, logq, n)), sum = vec_all(0.0f);
    for (size_t i = 0; i < n; i += LANES) {
        size_t some = n - i < LANES ? n - i : LANES;
        vec p = vec_load_some(logp + i, some, -INFINITY), q = vec_load_some(logq + i, some, 0.0f);
        sum += times_likely(vec_exp(p), p - q + shift);
    }
    return vec_sum(sum);
}

void
head_back(struct gen_head head, const float *logp, const float *logq, size_t n, float w_entropy,
          float w_kl, float *out) {
    float entropy = w_entropy != 0.0f ? head_entropy(logp, n) : 0.0f, kl = 0.0f, shift = 0.0f;
    float all = 0.0f, scale = head.temperature > 0.0f ? 1.0f / head.temperature : 0.0f;
    if (w_kl != 0.0f) {
        kl = head_kl(logp, logq, n);
        shift = log_mass_on(logp, logq, n);
    }
    for (size_t i = 0; i < n; i++) {
        if (!(logp[i] > -INFINITY))
            out[i] = 0.0f;
        all += out[i];
    }
    for (size_t i = 0; i < n; i += LANES) {
        size_t some = n - i < LANES ? n - i : LANES;
        vec l = vec_load_some(logp + i, some, -INFINITY), p = vec_exp(l);
        vec pull = vec_load_some(out + i, some, 0.0f);
        vec push = vec_all(all) + vec_all(w_entropy) * (l + vec_all(entropy));
        if (w_kl != 0.0f)
            push -= vec_all(w_kl) *
                    (l - vec_load_some(logq + i, some, 0.0f) + vec_all(shift) - vec_all(kl));
        vec_store_some(out + i, (pull - times_likely(p, push)) * vec_all(scale), some);
    }
}
