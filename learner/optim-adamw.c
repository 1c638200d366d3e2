/* AdamW (Loshchilov and Hutter 2019): Adam with bias correction, and weight decay apart from the
 * gradient, in the form of PyTorch's AdamW. */
#include "learner/optim.h"

#include <math.h>

static void
update(const struct optim_rates *r, int64_t t, size_t n, const float *grad, double scale,
       float *const moment[OPTIM_MOMENTS], float *params) {
    float *m = moment[0], *v = moment[1];
    const float b1 = (float)r->beta1, b2 = (float)r->beta2, eps = (float)r->eps;
    const float c1 = (float)(1 - r->beta1), c2 = (float)(1 - r->beta2), s = (float)scale;
    const float keep = (float)(1 - r->lr * r->decay);
    const float rate = (float)(r->lr / (1 - pow(r->beta1, (double)t)));
    const float root = (float)sqrt(1 - pow(r->beta2, (double)t));
    for (size_t i = 0; i < n; i++) {
        float g = grad[i] * s;
        m[i] = b1 * m[i] + c1 * g;
        v[i] = b2 * v[i] + c2 * g * g;
        params[i] = params[i] * keep - rate * m[i] / (sqrtf(v[i]) / root + eps);
    }
}

const struct optim optim_adamw = {.name = "adamw", .moments = 2, .update = update};
