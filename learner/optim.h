/* Optimizers: one file and one table row each (learner/optim.c). A row updates a range of
 * parameters in place from its gradient; what it remembers from step to step is `moments` arrays
 * as long as the parameters, which the learner keeps and saves. */
#ifndef LEARNER_OPTIM_H
#define LEARNER_OPTIM_H

#include <stddef.h>
#include <stdint.h>

#define OPTIM_MOMENTS 2 /* at most */

struct optim_rates {
    double lr, beta1, beta2, eps;
    double decay; /* decoupled weight decay of this range; 0 for vectors */
};
struct optim {
    const char *name;
    int moments; /* how many of the arrays it uses */
    /* `t` counts the updates since the moments were zero, from 1. The gradient is grad * scale. */
    void (*update)(const struct optim_rates *r, int64_t t, size_t n, const float *grad,
                   double scale, float *const moment[OPTIM_MOMENTS], float *params);
};

extern const struct optim optim_adamw, optim_sgd;

const struct optim *optim_find(const char *name); /* NULL: no such optimizer */

#endif
