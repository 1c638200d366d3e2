/* What the learner tells serve of a step, and what it writes down of it. */
#ifndef LEARNER_ACK_H
#define LEARNER_ACK_H

#include <stdbool.h>

#include "base/buf.h"
#include "learner/lesson.h"
#include "learner/metrics.h"
#include "learner/state.h"

struct ack {
    const struct state *state;   /* saved */
    const struct lesson *lesson; /* NULL for the first weights */
    bool refused;
    const int64_t *lease; /* ids */
    size_t nlease;
    const struct metrics *metrics;
};

/* The body of POST /api/steps, as link_step() wants it. Of a refused step the leases are told, but
 * neither samples nor baselines: nothing was learned from them. */
void ack_body(const struct ack *a, struct buf *out);
/* The step's line of metrics.jsonl. */
void ack_line(const struct ack *a, int64_t at_ms, struct buf *out);

#endif
