/* From options to numbers. What needs a decision is decided here and nowhere else: "0 means
 * twice the batch", "sync is one lease of the whole batch". */
#include "learner/plan.h"

#include <string.h>

#include "base/buf.h"
#include "policy/token.h"

static void
read_model(struct plan *p, const struct conf *c) {
    p->model = (struct model_config){
        .vocab = TOKEN_COUNT,
        .dim = (int)conf_int(c, "model.dim"),
        .layers = (int)conf_int(c, "model.layers"),
        .heads = (int)conf_int(c, "model.heads"),
        .kv_heads = (int)conf_int(c, "model.kv_heads"),
        .hidden = (int)conf_int(c, "model.hidden"),
        .context = (int)conf_int(c, "model.context"),
        .tied = conf_bool(c, "model.tied"),
        .rope_theta = (float)conf_real(c, "model.rope_theta"),
        .norm_eps = (float)conf_real(c, "model.norm_eps"),
    };
    p->init_std = conf_real(c, "model.init_std");
    p->head = (struct gen_head){.temperature = (float)conf_real(c, "sampling.temperature"),
                                .top_p = (float)conf_real(c, "sampling.top_p")};
    p->conversation = !strcmp(conf_text(c, "prompt.mode"), "conversation");
}

static void
read_optim(struct plan *p, const struct conf *c) {
    p->warmup_lr = conf_real(c, "learner.warmup_lr");
    p->lr = conf_real(c, "learner.lr");
    double end = conf_real(c, "learner.lr_end");
    p->lr_end = end < 0 ? p->lr : end;
    p->lr_steps = conf_int(c, "learner.lr_steps");
    p->ramp = conf_int(c, "learner.ramp");
    p->clip = conf_real(c, "learner.clip");
    p->rates = (struct optim_rates){
        .beta1 = conf_real(c, "learner.beta1"),
        .beta2 = conf_real(c, "learner.beta2"),
        .eps = conf_real(c, "learner.eps"),
        .decay = conf_real(c, "learner.weight_decay"),
    };
}

static int
read_names(struct plan *p, const struct conf *c, struct err *e) {
    const char *objective = conf_text(c, "learner.objective");
    const char *optim = conf_text(c, "learner.optimizer");
    const char *baseline = conf_text(c, "learner.baseline");
    p->objective = objective_find(objective);
    p->optim = optim_find(optim);
    if (!p->objective)
        return err_set(e, "learner.objective: there is no objective \"%s\"", objective);
    if (!p->optim)
        return err_set(e, "learner.optimizer: there is no optimizer \"%s\"", optim);
    if (baseline_kind_find(baseline, &p->baseline) < 0)
        return err_set(e, "learner.baseline: there is no baseline \"%s\"", baseline);
    return 0;
}

int
plan_from(struct plan *p, const struct conf *c, struct err *e) {
    struct conf_game game[CONF_MAX_GAMES];
    *p = (struct plan){.seed = (uint64_t)conf_int(c, "seed"), .games = conf_games(c, game)};
    read_model(p, c);
    read_optim(p, c);
    if (model_config_check(&p->model, e) < 0 || read_names(p, c, e) < 0)
        return -1;
    p->batch = conf_int(c, "learner.batch");
    p->chunk = conf_int(c, "learner.chunk");
    if (!strcmp(conf_text(c, "learner.mode"), "sync") || p->chunk > p->batch)
        p->chunk = p->batch;
    p->steps = conf_int(c, "learner.steps");
    p->warmup = conf_int(c, "learner.warmup");
    p->baseline_decay = conf_real(c, "learner.baseline_decay");
    p->normalizer = conf_real(c, "learner.normalizer");
    if (p->normalizer == 0)
        p->normalizer = 2.0 * (double)p->batch;
    p->entropy = conf_real(c, "learner.entropy");
    p->magnet_kl = conf_real(c, "learner.magnet.kl");
    p->magnet_rate = conf_real(c, "learner.magnet.rate");
    p->threads = (int)conf_int(c, "learner.threads");
    p->sync = !strcmp(conf_text(c, "store.sync"), "full");
    return 0;
}

int
plan_read(struct plan *p, const char *run, struct err *e) {
    struct buf path = {0};
    buf_fmt(&path, "%s/config.yaml", run);
    struct conf *c = conf_new();
    int bad = conf_load(c, buf_text(&path), e);
    if (bad == 0) {
        bad = plan_from(p, c, e);
        if (bad < 0)
            err_prefix(e, "%s", buf_text(&path));
    }
    conf_free(c);
    buf_free(&path);
    return bad;
}

bool
plan_is_warmup(const struct plan *p, int64_t step) {
    return step <= p->warmup;
}

double
plan_rate(const struct plan *p, int64_t step) {
    if (plan_is_warmup(p, step))
        return p->warmup_lr;
    int64_t age = step - p->warmup;
    double way = 1;
    if (step < p->lr_steps)
        way = (double)age / (double)(p->lr_steps - p->warmup);
    double rate = p->lr + (p->lr_end - p->lr) * way;
    return age < p->ramp ? rate * (double)age / (double)p->ramp : rate;
}
