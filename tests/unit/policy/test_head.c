#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "policy/head.h"

enum { MOST = 70 };

static void
random_row(float *row, size_t n, unsigned id, double spread) {
    struct rng r;
    rng_init(&r, 6, id, RNG_TEST);
    for (size_t i = 0; i < n; i++)
        row[i] = (float)(spread * rng_normal(&r));
}

static void
close_to(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.9g instead of %.9g", got, want);
}

/* softmax(row / temperature) on the tokens of `in` (NULL: all), as logarithms. */
static void
softmax(const double *row, size_t n, double temperature, const bool *in, double *logp) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += !in || in[i] ? exp(row[i] / temperature) : 0.0;
    for (size_t i = 0; i < n; i++)
        logp[i] = !in || in[i] ? row[i] / temperature - log(sum) : -INFINITY;
}

static void
softmax_at_any_length(void **state) {
    (void)state;
    float row[MOST];
    double wide[MOST], want[MOST];
    int32_t order[MOST];
    for (size_t n = 1; n <= MOST; n++)
        for (int t = 0; t < 3; t++) {
            float temperature = (float[]){1.0f, 0.5f, 3.0f}[t];
            random_row(row, n, (unsigned)n, 3.0);
            for (size_t i = 0; i < n; i++)
                wide[i] = (double)row[i];
            softmax(wide, n, (double)temperature, NULL, want);
            head_apply((struct gen_head){temperature, 1.0f}, row, n, order);
            double entropy = 0.0;
            for (size_t i = 0; i < n; i++) {
                close_to((double)row[i], want[i], 5e-6);
                entropy -= exp(want[i]) * want[i];
            }
            close_to((double)head_entropy(row, n), entropy, 5e-6);
        }
}

static void
nucleus_is_the_smallest_set(void **state) {
    (void)state;
    /* Masses 0.4, 0.3, 0.2, 0.1. */
    const float logits[4] = {logf(0.1f), logf(0.4f), logf(0.3f), logf(0.2f)};
    const struct {
        float top_p;
        int kept;
    } cases[] = {{0.05f, 1}, {0.39f, 1}, {0.5f, 2}, {0.69f, 2}, {0.75f, 3}, {0.95f, 4}, {0.0f, 1}};
    int32_t order[4];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        float row[4];
        memcpy(row, logits, sizeof row);
        head_apply((struct gen_head){1.0f, cases[k].top_p}, row, 4, order);
        double sum = 0.0;
        int kept = 0;
        for (int i = 0; i < 4; i++) {
            sum += exp((double)row[i]);
            kept += row[i] > -INFINITY;
        }
        assert_int_equal(kept, cases[k].kept);
        close_to(sum, 1.0, 1e-6);
        assert_true(row[1] > -INFINITY);
    }
    /* Among equals the lower ids stay. */
    float flat[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    head_apply((struct gen_head){1.0f, 0.5f}, flat, 4, order);
    assert_true(flat[0] > -1.0f && flat[1] > -1.0f && flat[2] < -1.0f && flat[3] < -1.0f);
}

static void
greedy_is_one_token(void **state) {
    (void)state;
    float row[5] = {1.0f, 7.0f, 3.0f, 7.0f, -2.0f};
    float out[5] = {1.0f, 1.0f, 1.0f, 1.0f, 1.0f};
    int32_t order[5];
    struct gen_head head = {0.0f, 1.0f};
    head_apply(head, row, 5, order);
    for (int i = 0; i < 5; i++)
        assert_true(i == 1 ? row[i] == 0.0f : isinf(row[i]) && row[i] < 0.0f);
    assert_true(head_entropy(row, 5) == 0.0f);
    head_back(head, row, NULL, 5, 1.0f, 0.0f, out);
    for (int i = 0; i < 5; i++)
        assert_true(out[i] == 0.0f);
}

/* sum pull log p + we H + wk KL(p || q), with p and q on the tokens of `in`. */
static double
loss_of(const double *logits, const double *logq, size_t n, double temperature, const bool *in,
        const float *pull, double we, double wk) {
    double logp[MOST], q[MOST], sum = 0.0;
    softmax(logits, n, temperature, in, logp);
    softmax(logq, n, 1.0, in, q);
    for (size_t i = 0; i < n; i++) {
        if (!in[i])
            continue;
        double p = exp(logp[i]);
        sum += (double)pull[i] * logp[i] - we * p * logp[i] + wk * p * (logp[i] - q[i]);
    }
    return sum;
}

static void
gradients_are_those_of_differences(void **state) {
    (void)state;
    enum { N = 37 };
    for (int k = 0; k < 6; k++) {
        struct gen_head head = {k % 2 ? 0.7f : 1.0f, k >= 3 ? 0.8f : 1.0f};
        double we = k % 3 == 1 ? 0.7 : 0.0, wk = k % 3 == 2 ? 1.3 : 0.0;
        float row[N], logq[N], pull[N], out[N];
        double logits[N], wide[N];
        int32_t order[N];
        bool in[N];
        random_row(row, N, 1 + (unsigned)k, 1.5);
        random_row(logq, N, 20 + (unsigned)k, 1.0);
        random_row(pull, N, 40 + (unsigned)k, 1.0);
        for (int i = 0; i < N; i++)
            logits[i] = (double)row[i];
        head_apply((struct gen_head){1.0f, 1.0f}, logq, N, order);
        head_apply(head, row, N, order);
        double kl = 0.0;
        for (int i = 0; i < N; i++) {
            wide[i] = (double)logq[i];
            in[i] = row[i] > -INFINITY;
        }
        const float none[N] = {0};
        kl = loss_of(logits, wide, N, (double)head.temperature, in, none, 0.0, 1.0);
        close_to((double)head_kl(row, logq, N), kl, 1e-5);
        memcpy(out, pull, sizeof out);
        head_back(head, row, logq, N, (float)we, (float)wk, out);
        for (int i = 0; i < N; i++) {
            double keep = logits[i], h = 1e-5;
            logits[i] = keep + h;
            double up = loss_of(logits, wide, N, (double)head.temperature, in, pull, we, wk);
            logits[i] = keep - h;
            double down = loss_of(logits, wide, N, (double)head.temperature, in, pull, we, wk);
            logits[i] = keep;
            close_to((double)out[i], in[i] ? (up - down) / (2.0 * h) : 0.0, 2e-5);
        }
    }
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_at_any_length),
        cmocka_unit_test(nucleus_is_the_smallest_set),
        cmocka_unit_test(greedy_is_one_token),
        cmocka_unit_test(gradients_are_those_of_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
