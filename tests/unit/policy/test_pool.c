/* Run under ThreadSanitizer too: the pool, and what works on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "policy/mat.h"
#include "policy/pool.h"
#include "policy/score.h"

struct count {
    int done[1000];
    int by[8];
};

static void
count_task(void *arg, size_t task, int worker) {
    struct count *c = arg;
    c->done[task]++;
    c->by[worker]++;
}

static void
every_task_is_done_once(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        struct pool *p = pool_new(threads);
        assert_int_equal(pool_threads(p), threads);
        for (int round = 0; round < 50; round++) {
            struct count c = {{0}, {0}};
            size_t tasks = (size_t)(round * 7 % 90);
            pool_run(p, count_task, &c, tasks);
            int by = 0;
            for (int i = 0; i < 8; i++)
                by += c.by[i];
            assert_int_equal(by, tasks);
            for (size_t i = 0; i < 1000; i++)
                assert_int_equal(c.done[i], i < tasks);
        }
        pool_free(p);
    }
    pool_free(NULL);
}

static const struct model_config config = {.vocab = 60,
                                           .dim = 32,
                                           .layers = 2,
                                           .heads = 4,
                                           .kv_heads = 2,
                                           .hidden = 40,
                                           .context = 64,
                                           .tied = true,
                                           .rope_theta = 10000.0f,
                                           .norm_eps = 1e-5f};

/* Forward, reference and backward pass over a tree of a thousand nodes. */
static float *
learn(const struct model *m, const struct model *ref, int threads) {
    struct score *s = score_new(&config, (struct gen_head){1.0f, 1.0f}, threads);
    float *grad = mem_zero(m->count, sizeof *grad);
    for (int pass = 0; pass < 2; pass++) { /* memory is used again */
        struct rng r;
        rng_init(&r, 2, 2, RNG_TEST);
        score_clear(s);
        for (int i = 0; i < 60; i++) {
            int32_t token[40];
            for (int k = 0; k < 40; k++)
                token[k] = (int32_t)rng_below(&r, k < 8 ? 2 : 60);
            int at = score_add(s, -1, token, 20, false, NULL);
            score_add(s, at, token + 20, 20, true, NULL);
        }
        size_t n = score_nodes(s);
        float *w = mem_zero(n, sizeof *w), *e = mem_zero(n, sizeof *e);
        score_forward(s, m);
        score_reference(s, ref);
        for (size_t i = 0; i < n; i++) {
            w[i] = score_logp(s)[i] < 0.0f ? 0.5f : 0.0f;
            e[i] = score_entropy(s)[i] > 0.0f ? 0.1f : 0.0f;
        }
        score_backward(s, m, w, e, e, grad);
        free(w);
        free(e);
    }
    score_free(s);
    return grad;
}

static void
threads_give_the_same_bits(void **state) {
    (void)state;
    struct model *m = model_new(&config), *ref = model_new(&config);
    model_init(m, 1, 0.2);
    model_init(ref, 2, 0.2);
    float *one = learn(m, ref, 1);
    for (int threads = 2; threads <= 3; threads++) {
        float *more = learn(m, ref, threads);
        assert_memory_equal(one, more, m->count * sizeof *one);
        free(more);
    }
    free(one);
    model_free(m);
    model_free(ref);
}

int
main(int argc, char **argv) {
    (void)argc;
    mat_choose_kernel(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_done_once),
        cmocka_unit_test(threads_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
