#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/mat.h"
#include "policy/score.h"
#include "tests/unit/policy/naive.h"

static const struct gen_head plain = {.temperature = 1.0f, .top_p = 1.0f};

/* Shapes that meet every ragged edge: odd widths, shared keys, heads wider and narrower than
 * vectors. */
static const struct model_config configs[] = {
    {.vocab = 29,
     .dim = 24,
     .layers = 2,
     .heads = 4,
     .kv_heads = 2,
     .hidden = 37,
     .context = 64,
     .tied = false,
     .rope_theta = 10000.0f,
     .norm_eps = 1e-5f},
    {.vocab = 40,
     .dim = 32,
     .layers = 3,
     .heads = 4,
     .kv_heads = 4,
     .hidden = 64,
     .context = 64,
     .tied = true,
     .rope_theta = 500.0f,
     .norm_eps = 1e-5f},
    {.vocab = 96,
     .dim = 64,
     .layers = 2,
     .heads = 2,
     .kv_heads = 1,
     .hidden = 80,
     .context = 64,
     .tied = true,
     .rope_theta = 10000.0f,
     .norm_eps = 1e-6f},
    {.vocab = 17,
     .dim = 12,
     .layers = 1,
     .heads = 6,
     .kv_heads = 1,
     .hidden = 9,
     .context = 64,
     .tied = false,
     .rope_theta = 10000.0f,
     .norm_eps = 1e-5f},
};
enum { CONFIGS = sizeof configs / sizeof *configs, LONGEST = 60 };

struct sequence {
    int32_t token[LONGEST];
    int prompt, n; /* tokens before the sampled ones; all */
};

/* Sequences that share prefixes: each copies a random part of an earlier one. */
static void
make_sequences(struct sequence *q, int count, int longest, int vocab, uint64_t seed) {
    struct rng r;
    rng_init(&r, seed, 1, RNG_TEST);
    for (int i = 0; i < count; i++) {
        q[i].n = 4 + (int)rng_below(&r, (uint32_t)longest - 4);
        int keep = i ? (int)rng_below(&r, (uint32_t)q[i].n) : 0;
        const struct sequence *from = &q[i ? rng_below(&r, (uint32_t)i) : 0];
        for (int t = 0; t < q[i].n; t++)
            q[i].token[t] = i && t < keep && t < from->n ? from->token[t]
                                                         : (int32_t)rng_below(&r, (uint32_t)vocab);
        q[i].prompt = 1 + (int)rng_below(&r, (uint32_t)q[i].n - 1);
    }
}

/* Adds a sequence as prompt and sampled reply; node[t] receives the ids. */
static void
add_sequence(struct score *s, const struct sequence *q, int32_t *node) {
    int at = score_add(s, -1, q->token, (size_t)q->prompt, false, node);
    score_add(s, at, q->token + q->prompt, (size_t)(q->n - q->prompt), true, node + q->prompt);
}

static void
close_to(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance * (1.0 + fabs(want))))
        fail_msg("%.9g instead of %.9g", got, want);
}

static void
logp_is_the_naive_one(void **state) {
    (void)state;
    for (int c = 0; c < CONFIGS; c++) {
        struct model *m = naive_model(&configs[c], 5, 0.2);
        double *params = naive_params(m), *want = mem_zero(LONGEST, sizeof(double) * 264);
        struct score *s = score_new(&m->c, plain, 2);
        struct sequence q[12];
        int32_t node[12][LONGEST];
        make_sequences(q, 12, LONGEST, m->c.vocab, (uint64_t)c);
        for (int i = 0; i < 12; i++)
            add_sequence(s, &q[i], node[i]);
        score_forward(s, m);
        for (int i = 0; i < 12; i++) {
            naive_logp(m, params, q[i].token, q[i].n, 1.0, want);
            for (int t = q[i].prompt; t < q[i].n; t++) {
                const double *row = want + (t - 1) * m->c.vocab;
                double entropy = 0.0;
                for (int k = 0; k < m->c.vocab; k++)
                    entropy -= exp(row[k]) * row[k];
                close_to((double)score_logp(s)[node[i][t]], row[q[i].token[t]], 3e-5);
                close_to((double)score_entropy(s)[node[i][t - 1]], entropy, 3e-5);
            }
        }
        free(params);
        free(want);
        score_free(s);
        model_free(m);
    }
}

struct loss { /* weights by node, for tree and naive loss alike */
    double w_logp[4][LONGEST], w_entropy[4][LONGEST], w_kl[4][LONGEST];
};

static double
naive_loss(const struct model *m, const double *params, const double *ref, double temperature,
           const struct sequence *q, int count, const struct loss *w) {
    int vocab = m->c.vocab;
    double sum = 0.0, *logp = mem_zero(LONGEST, sizeof(double) * (size_t)vocab);
    double *logq = mem_zero(LONGEST, sizeof(double) * (size_t)vocab);
    for (int i = 0; i < count; i++) {
        naive_logp(m, params, q[i].token, q[i].n, temperature, logp);
        if (ref)
            naive_logp(m, ref, q[i].token, q[i].n, temperature, logq);
        for (int t = q[i].prompt; t < q[i].n; t++) {
            const double *p = logp + (t - 1) * vocab, *r = logq + (t - 1) * vocab;
            sum += w->w_logp[i][t] * p[q[i].token[t]];
            for (int k = 0; k < vocab; k++) {
                sum -= w->w_entropy[i][t - 1] * exp(p[k]) * p[k];
                if (ref)
                    sum += w->w_kl[i][t - 1] * exp(p[k]) * (p[k] - r[k]);
            }
        }
    }
    free(logp);
    free(logq);
    return sum;
}

static void
random_weights(struct loss *w, uint64_t seed, bool logp, bool entropy, bool kl) {
    struct rng r;
    rng_init(&r, seed, 2, RNG_TEST);
    for (int i = 0; i < 4; i++)
        for (int t = 0; t < LONGEST; t++) {
            w->w_logp[i][t] = logp ? rng_normal(&r) : 0.0;
            w->w_entropy[i][t] = entropy ? rng_normal(&r) : 0.0;
            w->w_kl[i][t] = kl ? rng_normal(&r) : 0.0;
        }
}

/* Sums the sequences' weights on the tree's nodes and runs the backward pass. */
static void
tree_gradient(struct score *s, const struct model *m, const struct sequence *q, int count,
              int32_t (*node)[LONGEST], const struct loss *w, float *grad) {
    size_t n = score_nodes(s);
    float *lp = mem_zero(n, sizeof *lp), *en = mem_zero(n, sizeof *en),
          *kl = mem_zero(n, sizeof *kl);
    for (int i = 0; i < count; i++)
        for (int t = q[i].prompt; t < q[i].n; t++) {
            lp[node[i][t]] += (float)w->w_logp[i][t];
            en[node[i][t - 1]] += (float)w->w_entropy[i][t - 1];
            kl[node[i][t - 1]] += (float)w->w_kl[i][t - 1];
        }
    score_backward(s, m, lp, en, kl, grad);
    free(lp);
    free(en);
    free(kl);
}

/* Compares a gradient with central differences at a few entries of every tensor. */
static void
check_differences(const struct model *m, const double *ref, double temperature,
                  const struct sequence *q, int count, const struct loss *w, const float *grad) {
    struct model_tensor t;
    struct rng r;
    double *params = naive_params(m), largest = 0.0;
    rng_init(&r, 3, 3, RNG_TEST);
    for (size_t i = 0; i < m->count; i++)
        largest = fmax(largest, fabs((double)grad[i]));
    assert_true(largest > 1e-3);
    for (int i = 0; !model_tensor(m, i, &t); i++)
        for (int k = 0; k < 3; k++) {
            size_t at = t.offset + rng_below(&r, (uint32_t)(t.rows * (t.cols ? t.cols : 1)));
            if (i == 0) /* an embedding row that occurs */
                at = t.offset + (size_t)(q[0].token[k % q[0].n] * t.cols) +
                     rng_below(&r, (uint32_t)t.cols);
            double keep = params[at], h = 1e-4;
            params[at] = keep + h;
            double up = naive_loss(m, params, ref, temperature, q, count, w);
            params[at] = keep - h;
            double down = naive_loss(m, params, ref, temperature, q, count, w);
            params[at] = keep;
            double want = (up - down) / (2.0 * h), got = (double)grad[at];
            if (!(fabs(got - want) <= 2e-4 * largest + 1e-3 * fabs(want)))
                fail_msg("%s[%zu]: %g, differences say %g", t.name, at - t.offset, got, want);
        }
    free(params);
}

static void
gradient_is_that_of_differences(void **state) {
    (void)state;
    for (int c = 0; c < CONFIGS; c++)
        for (int kind = c ? 3 : 0; kind < (c ? 4 : 3); kind++) { /* 3: all terms at once */
            struct gen_head head = {.temperature = kind % 2 ? 0.7f : 1.0f, .top_p = 1.0f};
            struct model *m = naive_model(&configs[c], 5, 0.3),
                         *ref = naive_model(&configs[c], 6, 0.3);
            double *other = naive_params(ref);
            struct score *s = score_new(&m->c, head, 1);
            struct sequence q[4];
            int32_t node[4][LONGEST];
            struct loss w;
            float *grad = mem_zero(m->count, sizeof *grad);
            make_sequences(q, 3, 20, m->c.vocab, 20 + (uint64_t)c);
            random_weights(&w, 4, kind % 3 == 0, kind == 1 || kind == 3, kind >= 2);
            for (int i = 0; i < 3; i++)
                add_sequence(s, &q[i], node[i]);
            score_forward(s, m);
            score_reference(s, ref);
            tree_gradient(s, m, q, 3, node, &w, grad);
            check_differences(m, kind >= 2 ? other : NULL, (double)head.temperature, q, 3, &w,
                              grad);
            free(grad);
            free(other);
            score_free(s);
            model_free(m);
            model_free(ref);
        }
}

/* The gradient of a tree is the sum of the gradients of its sequences, one by one. */
static void
tree_is_sum_of_sequences(void **state) {
    (void)state;
    enum { MANY = 48 };
    struct model *m = naive_model(&configs[1], 5, 0.3), *ref = naive_model(&configs[1], 6, 0.3);
    struct score *tree = score_new(&m->c, plain, 2), *single = score_new(&m->c, plain, 1);
    static struct sequence q[MANY];
    static int32_t node[MANY][LONGEST], alone[MANY][LONGEST];
    float *whole = mem_zero(m->count, sizeof *whole), *parts = mem_zero(m->count, sizeof *parts);
    struct loss w;
    make_sequences(q, MANY, LONGEST, m->c.vocab, 77);
    random_weights(&w, 9, true, true, true);
    for (int i = 0; i < MANY; i++)
        add_sequence(tree, &q[i], node[i]);
    assert_true(score_nodes(tree) > 800); /* several shards */
    score_forward(tree, m);
    score_reference(tree, ref);
    size_t n = score_nodes(tree);
    float *lp = mem_zero(n, sizeof *lp), *en = mem_zero(n, sizeof *en),
          *kl = mem_zero(n, sizeof *kl);
    for (int i = 0; i < MANY; i++)
        for (int t = q[i].prompt; t < q[i].n; t++) {
            lp[node[i][t]] += (float)w.w_logp[i % 4][t];
            en[node[i][t - 1]] += (float)w.w_entropy[i % 4][t - 1];
            kl[node[i][t - 1]] += (float)w.w_kl[i % 4][t - 1];
        }
    score_backward(tree, m, lp, en, kl, whole);
    for (int i = 0; i < MANY; i++) {
        struct loss mine = w;
        memcpy(mine.w_logp[0], w.w_logp[i % 4], sizeof mine.w_logp[0]);
        memcpy(mine.w_entropy[0], w.w_entropy[i % 4], sizeof mine.w_entropy[0]);
        memcpy(mine.w_kl[0], w.w_kl[i % 4], sizeof mine.w_kl[0]);
        score_clear(single);
        add_sequence(single, &q[i], alone[i]);
        score_forward(single, m);
        score_reference(single, ref);
        for (int t = q[i].prompt; t < q[i].n; t++) {
            assert_memory_equal(&score_logp(single)[alone[i][t]], &score_logp(tree)[node[i][t]], 4);
            assert_memory_equal(&score_kl(single)[alone[i][t - 1]], &score_kl(tree)[node[i][t - 1]],
                                4);
        }
        tree_gradient(single, m, &q[i], 1, &alone[i], &mine, parts);
    }
    double largest = 0.0, off = 0.0;
    for (size_t i = 0; i < m->count; i++) {
        largest = fmax(largest, fabs((double)whole[i]));
        off = fmax(off, fabs((double)whole[i] - (double)parts[i]));
    }
    assert_true(largest > 1.0);
    assert_true(off < 1e-4 * largest);
    free(lp);
    free(en);
    free(kl);
    free(whole);
    free(parts);
    score_free(tree);
    score_free(single);
    model_free(m);
    model_free(ref);
}

static void
threads_do_not_matter(void **state) {
    (void)state;
    enum { MANY = 96 };
    static struct sequence q[MANY];
    static int32_t node[MANY][LONGEST];
    struct model *m = naive_model(&configs[0], 5, 0.3), *ref = naive_model(&configs[0], 8, 0.3);
    float *first = NULL, *logp = NULL;
    make_sequences(q, MANY, LONGEST, m->c.vocab, 78);
    for (int threads = 1; threads <= 3; threads++) {
        struct score *s = score_new(&m->c, plain, threads);
        for (int i = 0; i < MANY; i++)
            add_sequence(s, &q[i], node[i]);
        size_t n = score_nodes(s);
        float *grad = mem_zero(m->count, sizeof *grad), *w = mem_zero(n, sizeof *w);
        for (int i = 0; i < MANY; i++)
            for (int t = q[i].prompt; t < q[i].n; t++)
                w[node[i][t]] += (float)t - 20.0f;
        score_forward(s, m);
        score_reference(s, ref);
        score_backward(s, m, w, NULL, NULL, grad);
        if (!first) {
            first = mem_copy(grad, m->count * sizeof *grad);
            logp = mem_copy(score_logp(s), n * sizeof *logp);
        }
        assert_memory_equal(grad, first, m->count * sizeof *grad);
        assert_memory_equal(score_logp(s), logp, n * sizeof *logp);
        free(grad);
        free(w);
        score_free(s);
    }
    free(first);
    free(logp);
    model_free(m);
    model_free(ref);
}

static void
same_weights_have_no_divergence(void **state) {
    (void)state;
    struct model *m = naive_model(&configs[2], 5, 0.3);
    struct score *s = score_new(&m->c, plain, 1);
    struct sequence q[4];
    int32_t node[4][LONGEST];
    make_sequences(q, 4, LONGEST, m->c.vocab, 3);
    for (int i = 0; i < 4; i++)
        add_sequence(s, &q[i], node[i]);
    score_forward(s, m);
    score_reference(s, m);
    for (size_t i = 0; i < score_nodes(s); i++)
        assert_true(score_kl(s)[i] == 0.0f);
    score_free(s);
    model_free(m);
}

static void
nucleus_is_cut_and_renormalised(void **state) {
    (void)state;
    struct model *m = naive_model(&configs[1], 5, 0.5);
    double *params = naive_params(m), *row = mem_zero(3, sizeof(double) * 40);
    struct gen_head head = {.temperature = 0.8f, .top_p = 0.6f};
    struct score *s = score_new(&m->c, head, 1);
    const int32_t prompt[3] = {3, 1, 4};
    int32_t node[40];
    int at = score_add(s, -1, prompt, 3, false, NULL);
    for (int32_t k = 0; k < 40; k++)
        score_add(s, at, &k, 1, true, &node[k]);
    score_forward(s, m);
    naive_logp(m, params, prompt, 3, 0.8, row);
    const double *p = row + 2 * 40;
    double sum = 0.0, entropy = 0.0, kept = 0.0;
    int cut = 0;
    for (int k = 0; k < 40; k++) {
        double above = 0.0;
        for (int i = 0; i < 40; i++)
            above += p[i] > p[k] ? exp(p[i]) : 0.0;
        if (above < 0.6)
            kept += exp(p[k]);
    }
    for (int k = 0; k < 40; k++) {
        double got = (double)score_logp(s)[node[k]], above = 0.0;
        for (int i = 0; i < 40; i++)
            above += p[i] > p[k] ? exp(p[i]) : 0.0;
        if (above >= 0.6) {
            assert_true(got < -1e30 && isinf(got));
            cut++;
            continue;
        }
        assert_true(fabs(got - (p[k] - log(kept))) < 1e-4);
        sum += exp(got);
        entropy -= exp(got) * got;
    }
    assert_true(cut > 5 && cut < 39);
    assert_true(fabs(sum - 1.0) < 1e-5);
    assert_true(fabs(entropy - (double)score_entropy(s)[at]) < 1e-5);
    float *grad = mem_zero(m->count, sizeof *grad), *w = mem_zero(score_nodes(s), sizeof *w);
    for (int k = 0; k < 40; k++)
        w[node[k]] = 1.0f;
    score_reference(s, m);
    assert_true(fabs((double)score_kl(s)[at]) < 1e-5);
    score_backward(s, m, w, NULL, NULL, grad);
    for (size_t i = 0; i < m->count; i++)
        assert_true(isfinite(grad[i]));
    free(grad);
    free(w);
    free(params);
    free(row);
    score_free(s);
    model_free(m);
}

static void
nodes_are_found_again(void **state) {
    (void)state;
    struct score *s = score_new(&configs[0], plain, 1);
    const int32_t a[] = {1, 2, 3, 4}, b[] = {1, 2, 5};
    int32_t node[4], again[4];
    assert_int_equal(score_add(s, -1, a, 4, false, node), 3);
    assert_int_equal(score_add(s, -1, b, 3, false, again), 4);
    assert_int_equal(again[1], node[1]);
    assert_int_equal(score_add(s, -1, a, 4, false, again), 3);
    assert_int_equal(score_add(s, node[1], b + 2, 1, true, again), 4);
    assert_int_equal(score_add(s, 2, NULL, 0, true, NULL), 2);
    assert_int_equal(score_nodes(s), 5);
    score_clear(s);
    assert_int_equal(score_nodes(s), 0);
    assert_int_equal(score_add(s, -1, b, 3, false, NULL), 2);
    score_free(s);
}

/* Only sampled tokens get a log-probability, though their siblings stand in the same
 * distribution. */
static void
what_was_not_sampled_stays_zero(void **state) {
    (void)state;
    struct model *m = naive_model(&configs[0], 5, 0.3);
    struct score *s = score_new(&m->c, plain, 1);
    const int32_t prompt[] = {1, 2}, tail[] = {9, 3, 3};
    int at = score_add(s, -1, prompt, 2, false, NULL);
    int sampled = score_add(s, at, tail, 1, true, NULL);
    int other = score_add(s, at, tail + 1, 2, false, NULL);
    score_forward(s, m);
    assert_true(score_logp(s)[sampled] < 0.0f && score_entropy(s)[at] > 0.0f);
    assert_true(score_logp(s)[other] == 0.0f && score_logp(s)[at] == 0.0f);
    assert_true(score_logp(s)[other - 1] == 0.0f && score_entropy(s)[sampled] == 0.0f);
    score_free(s);
    model_free(m);
}

/* An empty tree, and one where nothing is sampled, have nothing to compute. */
static void
nothing_sampled_is_nothing_done(void **state) {
    (void)state;
    struct model *m = naive_model(&configs[0], 5, 0.3);
    struct score *s = score_new(&m->c, plain, 2);
    float *grad = mem_zero(m->count, sizeof *grad);
    score_forward(s, m);
    score_backward(s, m, NULL, NULL, NULL, grad);
    const int32_t a[] = {1, 2, 3, 4};
    score_add(s, -1, a, 4, false, NULL);
    score_forward(s, m);
    score_reference(s, m);
    score_backward(s, m, NULL, NULL, NULL, grad);
    for (int i = 0; i < 4; i++)
        assert_true(score_logp(s)[i] == 0.0f && score_entropy(s)[i] == 0.0f);
    for (size_t i = 0; i < m->count; i++)
        assert_true(grad[i] == 0.0f);
    free(grad);
    score_free(s);
    model_free(m);
}

int
main(int argc, char **argv) {
    (void)argc;
    mat_choose_kernel(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logp_is_the_naive_one),
        cmocka_unit_test(gradient_is_that_of_differences),
        cmocka_unit_test(tree_is_sum_of_sequences),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(same_weights_have_no_divergence),
        cmocka_unit_test(nucleus_is_cut_and_renormalised),
        cmocka_unit_test(nodes_are_found_again),
        cmocka_unit_test(what_was_not_sampled_stays_zero),
        cmocka_unit_test(nothing_sampled_is_nothing_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
