#include "learner/update.h"

#include <math.h>

/* Squares of larger numbers leave the range of float32 and would spoil the moments. */
#define UPDATE_MAX_NORM 1e15

static double
length(const float *v, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)v[i] * (double)v[i];
    return sqrt(sum);
}

static void
optimize(struct state *s, const struct lesson *b, const struct plan *p, int64_t step,
         double scale) {
    struct optim_rates rates = p->rates;
    rates.lr = plan_rate(p, step);
    s->updates++;
    struct model_tensor t;
    for (int i = 0; model_tensor(s->model, i, &t) == 0; i++) {
        size_t n = (size_t)t.rows * (size_t)(t.cols ? t.cols : 1);
        float *moment[OPTIM_MOMENTS];
        for (int k = 0; k < OPTIM_MOMENTS; k++)
            moment[k] = s->moment[k] ? s->moment[k] + t.offset : NULL;
        rates.decay = t.cols ? p->rates.decay : 0;
        p->optim->update(&rates, s->updates, n, b->grad + t.offset, scale, moment,
                         s->model->params + t.offset);
    }
}

static void
move_magnet(struct state *s, const struct plan *p, int64_t step) {
    if (plan_is_warmup(p, step)) {
        model_copy(s->magnet, s->model);
        return;
    }
    const float rate = (float)p->magnet_rate, keep = (float)(1 - p->magnet_rate);
    float *magnet = s->magnet->params;
    const float *params = s->model->params;
    for (size_t i = 0; i < s->model->count; i++)
        magnet[i] = keep * magnet[i] + rate * params[i];
}

bool
update_apply(struct state *s, const struct lesson *b, const struct plan *p, int64_t step,
             double *norm) {
    double divisor = lesson_divisor(b);
    *norm = length(b->grad, b->count) / divisor;
    bool good = isfinite(lesson_loss(b)) && isfinite(*norm);
    double scale = 1 / divisor;
    if (good && p->clip > 0 && *norm > p->clip)
        scale *= p->clip / *norm;
    else if (*norm > UPDATE_MAX_NORM)
        good = false;
    s->step = step;
    s->hash[0] = '\0';
    if (good && b->tokens) {
        optimize(s, b, p, step, scale);
        move_magnet(s, p, step);
    }
    if (step == p->warmup)
        state_forget(s);
    return good;
}
