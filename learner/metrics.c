#include "learner/metrics.h"

#include <math.h>
#include <stdio.h>

const char *
metric_name(enum metric m) {
#define METRIC_NAME(id, name) [METRIC_##id] = name,
    static const char *const names[METRIC_COUNT] = {METRICS(METRIC_NAME)};
#undef METRIC_NAME
    return names[m];
}

void
metrics_clear(struct metrics *m) {
    for (int i = 0; i < METRIC_COUNT; i++)
        m->at[i] = NAN;
    m->games = 0;
}

void
metrics_put_number(struct buf *out, double v) {
    if (!isfinite(v)) {
        buf_put(out, "null");
        return;
    }
    char text[40];
    int n = v == rint(v) && fabs(v) < 1e15 ? snprintf(text, sizeof text, "%.0f", v)
                                           : snprintf(text, sizeof text, "%.17g", v);
    buf_add(out, text, (size_t)n);
}

static void
put_game(struct buf *out, const char *what, const char *game, double v) {
    buf_fmt(out, ",\"%s.%s\":", what, game);
    metrics_put_number(out, v);
}

void
metrics_put(struct buf *out, const struct metrics *m) {
    for (int i = 0; i < METRIC_COUNT; i++) {
        buf_put(out, i ? ",\"" : "\"");
        buf_put(out, metric_name((enum metric)i));
        buf_put(out, "\":");
        metrics_put_number(out, m->at[i]);
    }
    for (size_t i = 0; i < m->games; i++) {
        const struct metrics_game *g = &m->game[i];
        put_game(out, metric_name(METRIC_REWARD_0), g->name, g->reward[0]);
        put_game(out, metric_name(METRIC_REWARD_1), g->name, g->reward[1]);
        put_game(out, metric_name(METRIC_BASELINE_0), g->name, g->baseline[0]);
        put_game(out, metric_name(METRIC_BASELINE_1), g->name, g->baseline[1]);
        put_game(out, metric_name(METRIC_INVALID), g->name, g->invalid);
    }
}
