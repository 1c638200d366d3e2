#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "policy/tree.h"

/* Every node's depth, run and look-up are what its path says. */
static void
check_tree(const struct tree *t) {
    for (size_t i = 0; i < t->n; i++) {
        int32_t parent = t->parent[i], id = (int32_t)i;
        if (t->token[i] < 0) {
            assert_true(t->blocks);
            continue;
        }
        assert_true(parent >= -1 && parent < id);
        assert_int_equal(t->depth[i], parent < 0 ? 0 : t->depth[parent] + 1);
        assert_int_equal(tree_find(t, parent, t->token[i]), id);
        assert_int_equal(tree_find(t, id, 1 << 20), -1);
        int32_t first = t->chain[i];
        for (int32_t k = id; k > first; k--)
            assert_int_equal(t->parent[k], k - 1);
        assert_true(t->parent[first] != first - 1 || t->parent[first] < 0);
    }
}

static void
random_paths(void **state) {
    (void)state;
    for (int blocks = 0; blocks < 2; blocks++) {
        struct tree t = {.blocks = blocks};
        struct rng r;
        rng_init(&r, 1, 1, RNG_TEST);
        enum { PATHS = 300, LONGEST = 40 };
        static int32_t token[PATHS][LONGEST], node[PATHS][LONGEST];
        for (int i = 0; i < PATHS; i++) {
            int32_t at = -1;
            for (int k = 0; k < LONGEST; k++) {
                token[i][k] = (int32_t)rng_below(&r, k < 4 ? 2 : 50);
                at = node[i][k] = tree_child(&t, at, token[i][k]);
            }
        }
        check_tree(&t);
        for (int i = 0; i < PATHS; i++)
            for (int k = 0; k < LONGEST; k++)
                assert_int_equal(tree_find(&t, k ? node[i][k - 1] : -1, token[i][k]), node[i][k]);
        size_t n = t.n;
        for (int i = 0; i < PATHS; i++)
            for (int32_t k = 0, at = -1; k < LONGEST; k++)
                at = tree_child(&t, at, token[i][k]);
        assert_int_equal(t.n, n);
        tree_clear(&t);
        assert_int_equal(tree_find(&t, -1, token[0][0]), -1);
        assert_int_equal(tree_child(&t, -1, token[0][0]), 0);
        tree_free(&t);
    }
}

/* Paths that grow in turns keep their tokens side by side when ids are set aside in blocks. */
static void
blocks_keep_runs_together(void **state) {
    (void)state;
    struct tree t = {.blocks = true};
    int32_t tip[5];
    for (int i = 0; i < 5; i++)
        tip[i] = tree_child(&t, -1, i);
    for (int k = 1; k < TREE_BLOCK; k++)
        for (int i = 0; i < 5; i++) {
            int32_t next = tree_child(&t, tip[i], k);
            assert_int_equal(next, tip[i] + 1);
            tip[i] = next;
        }
    for (int i = 0; i < 5; i++)
        assert_int_equal(t.chain[tip[i]], tip[i] - TREE_BLOCK + 1);
    assert_int_equal(t.n, 5 * TREE_BLOCK);
    /* The last path's block ends where the next begins: the run goes on. */
    int32_t next = tree_child(&t, tip[4], 0);
    assert_int_equal(next, tip[4] + 1);
    assert_int_equal(t.chain[next], t.chain[tip[4]]);
    /* The first's does not: a new run. */
    next = tree_child(&t, tip[0], 0);
    assert_int_equal(t.chain[next], next);
    check_tree(&t);
    tree_free(&t);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_paths),
        cmocka_unit_test(blocks_keep_runs_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
