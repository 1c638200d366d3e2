/* Role-conditioned baselines against hand-computed values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "learner/baseline.h"

/* cmocka's own comparison is relative, and of floats. */
#define assert_near(a, b, within) assert_true(fabs((double)(a) - (double)(b)) <= (within))

static const bool both[2] = {true, true}, first_only[2] = {true, false};

static void
golden_vector(void **state) {
    (void)state;
    struct baselines b = {.kind = BASELINE_ROLE, .decay = 0.95};
    const double ret[] = {1, 1, -1, 0, 1};
    const double want[] = {1, 0.95, -1.0975, -0.042625, 0.95950625};
    for (int i = 0; i < 5; i++) {
        double before[2], advantage[2];
        baselines_match(&b, 7, (const double[2]){ret[i], -ret[i]}, both, before, advantage);
        assert_near(advantage[0], want[i], 1e-12);
        assert_near(before[0] + advantage[0], ret[i], 1e-12);
        /* Zero-sum returns from zero: the second role's average mirrors the first's for ever. */
        assert_near(advantage[1], -want[i], 1e-12);
    }
    assert_int_equal(b.n, 2);
    assert_int_equal(b.at[0].count, 5);
    assert_int_equal(b.at[1].role, 1);
    baselines_free(&b);
}

static void
none_is_the_return(void **state) {
    (void)state;
    struct baselines b = {.kind = BASELINE_NONE, .decay = 0.95};
    for (int i = 0; i < 3; i++) {
        double before[2], advantage[2];
        baselines_match(&b, 1, (const double[2]){1, -1}, both, before, advantage);
        assert_true(before[0] == 0 && advantage[0] == 1 && advantage[1] == -1);
    }
    assert_int_equal(b.n, 0);
    baselines_free(&b);
}

/* Both seats of a match are measured before either is taken in. */
static void
shared_is_one_average(void **state) {
    (void)state;
    struct baselines b = {.kind = BASELINE_SHARED, .decay = 0.5};
    double before[2], advantage[2];
    baselines_match(&b, 1, (const double[2]){1, -1.5}, both, before, advantage);
    assert_true(before[0] == 0 && before[1] == 0 && advantage[1] == -1.5);
    assert_int_equal(b.n, 1);
    assert_int_equal(b.at[0].role, BASELINE_ROLE_SHARED);
    assert_int_equal(b.at[0].count, 2);
    assert_near(b.at[0].value, 0.5 * 0.5 + 0.5 * -1.5, 1e-12);
    baselines_match(&b, 1, (const double[2]){1, -1}, both, before, advantage);
    assert_near(before[0], -0.5, 1e-12);
    assert_near(before[1], -0.5, 1e-12);
    baselines_free(&b);
}

static void
only_learning_seats_count(void **state) {
    (void)state;
    struct baselines b = {.kind = BASELINE_ROLE, .decay = 0.9};
    double before[2] = {9, 9}, advantage[2] = {9, 9};
    baselines_match(&b, 1, (const double[2]){1, -1}, first_only, before, advantage);
    assert_int_equal(b.n, 1);
    assert_true(before[1] == 9 && advantage[1] == 9);
    baselines_free(&b);
}

static void
games_are_apart_and_rows_restore(void **state) {
    (void)state;
    struct baselines a = {.kind = BASELINE_ROLE, .decay = 0.95}, b = a;
    struct rng r;
    rng_init(&r, 1, 1, RNG_TEST);
    double before[2], x[2], y[2];
    for (int i = 0; i < 100; i++)
        baselines_match(&a, 1 + rng_below(&r, 3), (const double[2]){rng_normal(&r), rng_normal(&r)},
                        both, before, x);
    assert_int_equal(a.n, 6);
    for (size_t i = a.n; i-- > 0;)
        baselines_set(&b, &a.at[i]);
    assert_memory_equal(a.at, b.at, a.n * sizeof *a.at);
    baselines_match(&a, 2, (const double[2]){1, -1}, both, before, x);
    baselines_match(&b, 2, (const double[2]){1, -1}, both, before, y);
    assert_memory_equal(x, y, sizeof x);
    assert_true(baselines_value(&b, 99, 0) == 0);
    baselines_free(&a);
    baselines_free(&b);
}

static void
names(void **state) {
    (void)state;
    enum baseline_kind k;
    assert_int_equal(baseline_kind_find("shared", &k), 0);
    assert_int_equal(k, BASELINE_SHARED);
    assert_int_equal(baseline_kind_find("roles", &k), -1);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_vector),
        cmocka_unit_test(none_is_the_return),
        cmocka_unit_test(shared_is_one_average),
        cmocka_unit_test(only_learning_seats_count),
        cmocka_unit_test(games_are_apart_and_rows_restore),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
