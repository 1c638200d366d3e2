/* Options to numbers; the learning rate over the steps; configurations that cannot be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/learner/fixture.h"

static void
rates(void **state) {
    (void)state;
    struct plan p = fixture_plan((const char *[]){"learner.warmup=10", "learner.warmup_lr=0.5",
                                                  "learner.lr=0.1", "learner.lr_end=0.02",
                                                  "learner.lr_steps=50", NULL});
    const struct {
        int64_t step;
        double lr;
    } want[] = {{1, 0.5}, {10, 0.5}, {30, 0.06}, {40, 0.04}, {50, 0.02}, {51, 0.02}, {1000, 0.02}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        assert_true(fabs(plan_rate(&p, want[i].step) - want[i].lr) < 1e-12);
    assert_true(plan_is_warmup(&p, 10) && !plan_is_warmup(&p, 11));
    p = fixture_plan((const char *[]){"learner.lr=0.1", "learner.lr_steps=5", NULL});
    assert_true(plan_rate(&p, 3) == 0.1 && plan_rate(&p, 5000) == 0.1);
    p = fixture_plan((const char *[]){"learner.warmup=10", "learner.lr=0.1", "learner.lr_end=0.2",
                                      "learner.lr_steps=5", NULL});
    assert_true(plan_rate(&p, 11) == 0.2);
    p = fixture_plan(
        (const char *[]){"learner.warmup=10", "learner.lr=0.1", "learner.ramp=4", NULL});
    assert_true(fabs(plan_rate(&p, 11) - 0.025) < 1e-12 && fabs(plan_rate(&p, 13) - 0.075) < 1e-12);
    assert_true(plan_rate(&p, 14) == 0.1 && plan_rate(&p, 99) == 0.1);
}

static void
defaults_that_depend(void **state) {
    (void)state;
    struct plan p = fixture_plan((const char *[]){"learner.batch=100", "learner.chunk=30", NULL});
    assert_true(p.normalizer == 200 && p.chunk == 30);
    p = fixture_plan((const char *[]){"learner.batch=100", "learner.chunk=30", "learner.mode=sync",
                                      "learner.normalizer=7", "prompt.mode=conversation", NULL});
    assert_true(p.normalizer == 7 && p.chunk == 100 && p.conversation);
    p = fixture_plan((const char *[]){"learner.batch=100", "learner.chunk=300", NULL});
    assert_true(p.chunk == 100);
}

static void
impossible_models(void **state) {
    (void)state;
    struct conf *c = fixture_conf((const char *[]){"model.heads=3", NULL});
    struct plan p;
    struct err e = {.text = ""};
    assert_int_equal(plan_from(&p, c, &e), -1);
    assert_non_null(strstr(e.text, "heads"));
    conf_free(c);
    assert_int_equal(plan_read(&p, "/nonexistent", &e), -1);
    assert_non_null(strstr(e.text, "/nonexistent/config.yaml"));
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates),
        cmocka_unit_test(defaults_that_depend),
        cmocka_unit_test(impossible_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
