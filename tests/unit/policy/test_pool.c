/* Threads: every task is done once, and what several threads compute is what one computes. Run
 * under ThreadSanitizer too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "policy/pool.h"
#include "policy/score.h"
#include "tests/unit/policy/naive.h"

#define TASKS 37

struct work {
    int done[TASKS];
    int worker[TASKS];
    int busy[4]; /* a worker does one task at a time */
    int twice;
};

static void
do_task(void *arg, size_t task, int worker) {
    struct work *w = arg;
    if (w->busy[worker]++)
        w->twice++;
    w->done[task]++;
    w->worker[task] = worker;
    w->busy[worker]--;
}

static void
every_task_is_done_once(void **state) {
    (void)state;
    for (int threads = 0; threads <= 4; threads++) {
        struct pool *p = pool_new(threads);
        int want = threads ? threads : 1;
        assert_int_equal(pool_threads(p), want);
        for (size_t round = 0; round < 300; round++) {
            struct work w = {0};
            size_t tasks = round % (TASKS + 1);
            pool_run(p, do_task, &w, tasks);
            for (size_t i = 0; i < TASKS; i++)
                assert_int_equal(w.done[i], i < tasks);
            for (size_t i = 0; i < tasks; i++)
                assert_true(w.worker[i] >= 0 && w.worker[i] < want);
            assert_int_equal(w.twice, 0);
        }
        pool_free(p);
    }
    pool_free(NULL);
}

static const struct model_config small = {.vocab = 13,
                                          .dim = 8,
                                          .layers = 2,
                                          .heads = 2,
                                          .kv_heads = 1,
                                          .hidden = 16,
                                          .context = 32,
                                          .rope_theta = 10000.0f,
                                          .norm_eps = 1e-5f};

/* Log-probabilities and the gradient of their sum over 150 random sequences. */
static void
learn_once(const struct model *m, int threads, float *grad, double *sum) {
    struct gen_head head = {.temperature = 1.0f, .top_p = 1.0f};
    struct score *s = score_new(&m->c, head, threads);
    struct rng r;
    rng_init(&r, 1, 2, RNG_TEST);
    for (int i = 0; i < 150; i++) {
        int32_t token[20];
        for (int t = 0; t < 20; t++)
            token[t] = (int32_t)rng_below(&r, (uint32_t)m->c.vocab);
        score_add(s, score_add(s, -1, token, 4, false, NULL), token + 4, 16, true, NULL);
    }
    size_t n = score_nodes(s);
    float *w = mem_zero(n, sizeof *w);
    score_forward(s, m);
    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        w[i] = score_logp(s)[i] != 0.0f;
        *sum += score_logp(s)[i];
    }
    score_backward(s, m, w, NULL, NULL, grad);
    free(w);
    score_free(s);
}

static void
threads_compute_what_one_computes(void **state) {
    (void)state;
    struct model *m = naive_model(&small, 5, 0.3);
    float *want = mem_zero(m->count, sizeof *want);
    double want_sum, sum;
    learn_once(m, 1, want, &want_sum);
    for (int threads = 2; threads <= 4; threads++) {
        float *grad = mem_zero(m->count, sizeof *grad);
        learn_once(m, threads, grad, &sum);
        assert_true(sum == want_sum);
        assert_memory_equal(grad, want, m->count * sizeof *grad);
        free(grad);
    }
    free(want);
    model_free(m);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_done_once),
        cmocka_unit_test(threads_compute_what_one_computes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
