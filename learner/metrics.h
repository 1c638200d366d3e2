/* What is measured at every step: one row a number. The names are columns of `step` (or keys of its
 * `extra`) and keys of metrics.jsonl; docs/learning.md explains them in the same words. */
#ifndef LEARNER_METRICS_H
#define LEARNER_METRICS_H

#include "base/buf.h"
#include "base/conf.h"

/* METRIC(id, name): `name` is what is stored. */
#define METRICS(METRIC)                      \
    METRIC(LOSS, "loss")                     \
    METRIC(REWARD_0, "reward_0")             \
    METRIC(REWARD_1, "reward_1")             \
    METRIC(ADVANTAGE_0, "advantage_0")       \
    METRIC(ADVANTAGE_1, "advantage_1")       \
    METRIC(BASELINE_0, "baseline_0")         \
    METRIC(BASELINE_1, "baseline_1")         \
    METRIC(ENTROPY, "entropy")               \
    METRIC(KL_MAGNET, "kl_magnet")           \
    METRIC(KL_SAMPLER, "kl_sampler")         \
    METRIC(GRAD_NORM, "grad_norm")           \
    METRIC(LR, "lr")                         \
    METRIC(REPLY_TOKENS, "reply_tokens")     \
    METRIC(INVALID, "invalid")               \
    METRIC(MATCHES, "matches")               \
    METRIC(TOKENS, "tokens")                 \
    METRIC(TOKENS_S, "tokens_s")             \
    METRIC(MATCHES_S, "matches_s")           \
    METRIC(WAIT_DATA_S, "wait_data_s")       \
    METRIC(WAIT_LEARNER_S, "wait_learner_s") \
    METRIC(LEARN_S, "learn_s")               \
    METRIC(PUBLISH_S, "publish_s")           \
    METRIC(ACK_S, "ack_s")                   \
    METRIC(NODES, "nodes")

#define METRIC_ID(id, name) METRIC_##id,
enum metric { METRICS(METRIC_ID) METRIC_COUNT };
#undef METRIC_ID

/* Where a run has several games, each of them besides: "reward_0.kuhn_poker", ... */
struct metrics_game {
    char name[256]; /* the specification where the name alone is not unique */
    double reward[2], baseline[2], invalid;
};

struct metrics {
    double at[METRIC_COUNT];                  /* NaN = not measured */
    struct metrics_game game[CONF_MAX_GAMES]; /* [games] */
    size_t games;
};

const char *metric_name(enum metric m);
void metrics_clear(struct metrics *m); /* all not measured */
/* A number as JSON; what JSON cannot write (NaN, infinities) becomes null. */
void metrics_put_number(struct buf *out, double v);
/* `"loss":0.5,"reward_0":null,...` without braces. */
void metrics_put(struct buf *out, const struct metrics *m);

#endif
