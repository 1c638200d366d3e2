/* The options of a run that the learner goes by, read once from RUN/config.yaml. */
#ifndef LEARNER_PLAN_H
#define LEARNER_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/conf.h"
#include "base/err.h"
#include "learner/baseline.h"
#include "learner/objective.h"
#include "learner/optim.h"
#include "policy/gen.h"
#include "policy/model.h"

struct plan {
    uint64_t seed;
    size_t games; /* of the run */
    struct model_config model;
    double init_std;
    bool conversation; /* one sequence per seat; else one per turn */
    struct gen_head head;
    int64_t batch, chunk; /* matches per step and per lease; chunk <= batch */
    int64_t steps, warmup;
    const struct objective *objective;
    const struct optim *optim;
    struct optim_rates rates; /* all but the learning rate of a step */
    double warmup_lr, lr, lr_end;
    int64_t lr_steps, ramp;
    enum baseline_kind baseline;
    double baseline_decay;
    double normalizer; /* never 0 */
    double entropy, magnet_kl, magnet_rate;
    double clip; /* 0: none */
    int threads;
    bool sync; /* fsync what is written */
};

/* Fills the plan from options; a model that cannot be is an error. */
int plan_from(struct plan *p, const struct conf *c, struct err *e);
/* From RUN/config.yaml. */
int plan_read(struct plan *p, const char *run, struct err *e);

bool plan_is_warmup(const struct plan *p, int64_t step);
/* The learning rate of a step: warmup_lr; then lr, which moves linearly to lr_end at lr_steps, and
 * in the first `ramp` steps after the warm-up rises from 0 (the optimizer's moments are new then,
 * and a whole step in the direction of the first gradient would undo the warm-up). */
double plan_rate(const struct plan *p, int64_t step);

#endif
