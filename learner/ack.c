/* JSON by hand: a step has thousands of numbers and should cost a millisecond. */
#include "learner/ack.h"

#include <inttypes.h>
#include <stdio.h>

static void
put_int(struct buf *out, int64_t v) {
    char text[24];
    int n = snprintf(text, sizeof text, "%" PRId64, v);
    buf_add(out, text, (size_t)n);
}

static void
put_leases(struct buf *out, const int64_t *id, size_t n) {
    buf_put(out, "\"leases\":[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_put(out, ",");
        put_int(out, id[i]);
    }
    buf_put(out, "]");
}

static void
put_samples(struct buf *out, const struct lesson *b) {
    buf_put(out, "\"samples\":[");
    for (size_t i = 0; i < b->nsample; i++) {
        const struct store_sample *s = &b->sample[i];
        buf_put(out, i ? ",[" : "[");
        put_int(out, s->match);
        buf_put(out, s->seat ? ",1," : ",0,");
        metrics_put_number(out, s->ret);
        buf_put(out, ",");
        metrics_put_number(out, s->baseline);
        buf_put(out, ",");
        metrics_put_number(out, s->advantage);
        buf_put(out, "]");
    }
    buf_put(out, "]");
}

static void
put_baselines(struct buf *out, const struct baselines *b) {
    buf_put(out, "\"baselines\":[");
    for (size_t i = 0; i < b->n; i++) {
        const struct baseline *r = &b->at[i];
        buf_fmt(out, "%s[%" PRId64 ",%d,", i ? "," : "", r->game, r->role);
        metrics_put_number(out, r->value);
        buf_fmt(out, ",%" PRId64 "]", r->count);
    }
    buf_put(out, "]");
}

void
ack_body(const struct ack *a, struct buf *out) {
    static const struct lesson nothing = {0};
    const struct lesson *b = a->lesson && !a->refused ? a->lesson : &nothing;
    buf_fmt(out, "\"step\":%" PRId64 ",\"snapshot\":\"%s\",\"state\":\"%s\",\"refused\":%s,",
            a->state->step, a->state->snapshot, a->state->hash, a->refused ? "true" : "false");
    put_leases(out, a->lease, a->nlease);
    buf_put(out, ",");
    put_samples(out, b);
    buf_put(out, ",");
    put_baselines(out, &b->baselines);
    buf_put(out, ",\"metrics\":{");
    metrics_put(out, a->metrics);
    buf_put(out, "}}");
}

void
ack_line(const struct ack *a, int64_t at_ms, struct buf *out) {
    buf_fmt(out, "{\"step\":%" PRId64 ",\"at_ms\":%" PRId64 ",\"snapshot\":\"%s\",\"refused\":%s,",
            a->state->step, at_ms, a->state->snapshot, a->refused ? "true" : "false");
    metrics_put(out, a->metrics);
    buf_put(out, "}\n");
}
