#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "policy/backward.h"
#include "policy/mat.h"
#include "policy/tree.h"

static const struct model_config config = {.vocab = 50,
                                           .dim = 36,
                                           .layers = 3,
                                           .heads = 3,
                                           .kv_heads = 3,
                                           .hidden = 41,
                                           .context = 80,
                                           .tied = false,
                                           .rope_theta = 10000.0f,
                                           .norm_eps = 1e-5f};
enum { ROWS = 600, LENGTH = 60, VOCAB = 50 };

/* Ten sequences one after another. */
static void
make_tree(struct tree *t) {
    struct rng r;
    rng_init(&r, 3, 3, RNG_TEST);
    for (int i = 0; i < ROWS / LENGTH; i++)
        for (int32_t k = 0, at = -1; k < LENGTH; k++)
            at = tree_child(t, at, k ? (int32_t)rng_below(&r, VOCAB) : i);
    assert_int_equal(t->n, ROWS);
}

static struct spine
spine_of(const struct tree *t) {
    return (struct spine){t->token, t->parent, t->chain, t->depth};
}

/* Rows computed in any number of calls, in any order of lists, get the same bits. */
static void
calls_may_be_cut_anywhere(void **state) {
    (void)state;
    struct tree t = {0};
    make_tree(&t);
    struct spine spine = spine_of(&t);
    struct model *m = model_new(&config);
    model_init(m, 1, 0.2);
    struct pool *pool = pool_new(1);
    struct gen_head head = {1.0f, 1.0f};
    float *logp[2];
    for (int cut = 0; cut < 2; cut++) {
        struct forward *f = forward_new(&config, head, false, pool);
        logp[cut] = mem_aligned(mat_padded(ROWS) * VOCAB * sizeof(float) * 2);
        static int32_t row[ROWS], want[ROWS];
        struct rng r;
        rng_init(&r, 4, 4, RNG_TEST);
        for (int at = 0, n; at < ROWS; at += n) {
            n = cut ? 1 + (int)rng_below(&r, 90) : ROWS;
            n = n < ROWS - at ? n : ROWS - at;
            for (int i = 0; i < n; i++) {
                row[i] = at + (cut ? n - 1 - i : i); /* descendants first: the order is free */
                want[i] = cut ? n - 1 - i : i;
            }
            forward_room(f, (size_t)(at + n));
            struct forward_job job = {.m = m,
                                      .tree = &spine,
                                      .row = row,
                                      .rows = (size_t)n,
                                      .want = want,
                                      .wanted = (size_t)n,
                                      .logp = logp[cut] + at * VOCAB};
            forward_run(f, &job);
        }
        forward_free(f);
    }
    assert_memory_equal(logp[0], logp[1], ROWS * VOCAB * sizeof(float));
    free(logp[0]);
    free(logp[1]);
    pool_free(pool);
    model_free(m);
    tree_free(&t);
}

static void
pull_first(void *arg, size_t w, float *row) {
    (void)arg;
    for (int i = 0; i < VOCAB; i++)
        row[i] = (float)((w + (size_t)i) % 7) - 3.0f;
}

/* Gates that were not kept are computed again, to the bit. */
static void
gates_need_not_be_kept(void **state) {
    (void)state;
    struct tree t = {0};
    make_tree(&t);
    struct spine spine = spine_of(&t);
    struct model *m = model_new(&config);
    model_init(m, 1, 0.2);
    struct pool *pool = pool_new(1);
    static int32_t row[ROWS], want[ROWS];
    float *grad[2];
    for (int i = 0; i < ROWS; i++)
        row[i] = want[i] = i;
    for (int kept = 0; kept < 2; kept++) {
        struct forward *f = forward_new(&config, (struct gen_head){1.0f, 1.0f}, true, pool);
        struct backward *b = backward_new(&config, pool);
        float *logp = mem_aligned(mat_padded(ROWS) * VOCAB * sizeof(float));
        grad[kept] = mem_zero(m->count, sizeof(float));
        f->most_gates = kept ? f->most_gates : 0;
        forward_room(f, ROWS);
        struct forward_job job = {.m = m,
                                  .tree = &spine,
                                  .row = row,
                                  .rows = ROWS,
                                  .want = want,
                                  .wanted = ROWS,
                                  .logp = logp};
        forward_run(f, &job);
        assert_int_equal(f->keep_gate, kept);
        struct backward_job back = {.f = f, .job = &job, .logits = pull_first};
        backward_run(b, &back, grad[kept]);
        backward_free(b);
        forward_free(f);
        free(logp);
    }
    assert_memory_equal(grad[0], grad[1], m->count * sizeof(float));
    free(grad[0]);
    free(grad[1]);
    pool_free(pool);
    model_free(m);
    tree_free(&t);
}

int
main(int argc, char **argv) {
    (void)argc;
    mat_choose_kernel(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_may_be_cut_anywhere),
        cmocka_unit_test(gates_need_not_be_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
