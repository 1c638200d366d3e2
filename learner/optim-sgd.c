/* Stochastic gradient descent with momentum beta1 (the moment is the plain sum, as in PyTorch). */
#include "learner/optim.h"

static void
update(const struct optim_rates *r, int64_t t, size_t n, const float *grad, double scale,
       float *const moment[OPTIM_MOMENTS], float *params) {
    (void)t;
    float *m = moment[0];
    const float b1 = (float)r->beta1, lr = (float)r->lr, s = (float)scale;
    const float keep = (float)(1 - r->lr * r->decay);
    for (size_t i = 0; i < n; i++) {
        m[i] = b1 * m[i] + grad[i] * s;
        params[i] = params[i] * keep - lr * m[i];
    }
}

const struct optim optim_sgd = {.name = "sgd", .moments = 1, .update = update};
