/* Optimizers against sequences computed by hand (in double precision, PyTorch's formulas), and the
 * table of objectives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learner/objective.h"
#include "learner/optim.h"

/* cmocka's own comparison is relative, and of floats. */
#define assert_near(a, b, within) assert_true(fabs((double)(a) - (double)(b)) <= (within))

static const double grads[] = {1.0, -0.5, 0.25};

static void
check_sequence(const struct optim *o, const double params[3], const double moment0[3],
               double scale) {
    struct optim_rates r = {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.1};
    float m[2] = {0, 0}, v[2] = {0, 0}, p[2] = {0.5f, 0.5f};
    float *const moment[OPTIM_MOMENTS] = {m, v};
    for (int t = 1; t <= 3; t++) {
        float g = (float)(grads[t - 1] / scale);
        o->update(&r, t, 2, (const float[2]){g, g}, scale, moment, p);
        assert_near(p[0], params[t - 1], 1e-6);
        assert_near(p[1], params[t - 1], 1e-6);
        assert_near(m[0], moment0[t - 1], 1e-6);
    }
}

static void
adamw(void **state) {
    (void)state;
    const double params[] = {0.395000001, 0.36421305652372216, 0.3259027636256801};
    const double moment[] = {0.1, 0.04, 0.061};
    check_sequence(optim_find("adamw"), params, moment, 1);
    check_sequence(optim_find("adamw"), params, moment, 0.125);
}

static void
sgd(void **state) {
    (void)state;
    const double params[] = {0.395, 0.35105, 0.28653949999999995};
    const double moment[] = {1.0, 0.4, 0.61};
    check_sequence(optim_find("sgd"), params, moment, 1);
    check_sequence(optim_find("sgd"), params, moment, 4);
}

/* weight = d loss / d logp, by finite differences. */
static void
check_weight(const struct objective *o, double advantage) {
    const double h = 1e-6;
    struct objective_token t = {.logp = -0.7, .behaviour = -0.7, .advantage = advantage};
    double weight = o->term(&t).weight;
    t.logp += h;
    double up = o->term(&t).loss;
    t.logp -= 2 * h;
    double down = o->term(&t).loss;
    assert_near(weight, (up - down) / (2 * h), 1e-6);
}

static void
objectives(void **state) {
    (void)state;
    const struct objective *all[] = {&objective_imitate, objective_find("reinforce")};
    for (int i = 0; i < 2; i++) {
        assert_non_null(all[i]);
        check_weight(all[i], 1.5);
        check_weight(all[i], -0.25);
    }
    struct objective_token t = {.logp = -2, .behaviour = -2, .advantage = 0.5};
    assert_true(all[1]->term(&t).loss == 1);
    assert_true(all[0]->term(&t).loss == 2);
    assert_true(all[0]->per_token && !all[1]->per_token);
}

static void
unknown_names(void **state) {
    (void)state;
    assert_null(optim_find("adam"));
    assert_null(objective_find("ppo"));
    assert_null(objective_find("imitate"));
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adamw),
        cmocka_unit_test(sgd),
        cmocka_unit_test(objectives),
        cmocka_unit_test(unknown_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
