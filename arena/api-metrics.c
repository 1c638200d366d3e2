/* GET /metrics: numbers for Prometheus, in its text format 0.0.4. Every label's values come from a
 * list that is closed (kinds, reasons, status classes), so that no number of matches, players or
 * strangers makes the answer grow. */
#include "arena/api-int.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

struct metrics {
    struct buf *out;
    const char *name; /* of the family that is open */
};

static void
begin(struct metrics *m, const char *name, const char *type, const char *help) {
    m->name = name;
    buf_fmt(m->out, "# HELP agon_%s %s\n# TYPE agon_%s %s\n", name, help, name, type);
}

/* A label's value: backslash, quote and line end are escaped; what is no plain text is left out. */
static void
put_label(struct buf *out, const char *name, const char *value) {
    buf_fmt(out, "%s=\"", name);
    for (const char *p = value; *p; p++) {
        if (*p == '\\' || *p == '"')
            buf_add(out, (char[2]){'\\', *p}, 2);
        else if (*p == '\n')
            buf_add(out, "\\n", 2);
        else if ((unsigned char)*p >= ' ')
            buf_add(out, p, 1);
    }
    buf_add(out, "\"", 1);
}

static void
value(struct metrics *m, double v) {
    buf_fmt(m->out, "agon_%s %.17g\n", m->name, isfinite(v) ? v : 0);
}

static void
one(struct metrics *m, const char *name, const char *type, const char *help, double v) {
    begin(m, name, type, help);
    value(m, v);
}

static void
labelled(struct metrics *m, const char *label, const char *word, double v) {
    buf_fmt(m->out, "agon_%s{", m->name);
    put_label(m->out, label, word);
    buf_fmt(m->out, "} %.17g\n", v);
}

/* ---- what the loop knows ---- */

static void
put_run(struct metrics *m, const struct serve *s) {
    struct crew_status crew = crew_status(s);
    begin(m, "info", "gauge", "The kernel of the workers' matrix products.");
    labelled(m, "kernel", crew.kernel, 1);
    begin(m, "game_weight", "gauge", "Weights of the run's games.");
    for (size_t i = 0; i < s->setup.ngames; i++)
        labelled(m, "game", s->setup.games[i].spec, s->setup.games[i].weight);
    one(m, "uptime_seconds", "gauge", "Time since the server was started.",
        (double)(clock_mono_us() - s->started_us) / 1e6);
    one(m, "step", "gauge", "Newest acknowledged learner step, -1 before the first weights.",
        (double)s->step);
    one(m, "steps_wanted", "gauge", "The step that ends the run.", (double)s->last_step);
    one(m, "matches_finished_total", "counter", "Matches finished since the server was started.",
        (double)s->matches);
    one(m, "tokens_sampled_total", "counter", "Tokens sampled since the server was started.",
        (double)s->tokens);
    one(m, "matches_invalid_total", "counter",
        "Matches lost by an invalid reply since the server was started.", (double)s->invalid);
    begin(m, "workers", "gauge", "Worker processes.");
    labelled(m, "state", "ready", crew.ready);
    labelled(m, "state", "not ready", crew.count - crew.ready);
    one(m, "worker_restarts_total", "counter", "Workers that died and were started again.",
        crew.restarts);
    one(m, "learner_present", "gauge", "1 while a learner has a session.", s->session[0] != '\0');
    one(m, "paused", "gauge", "1 while the database cannot be written.", s->paused_until_us != 0);
}

static void
put_machine(struct metrics *m, const struct api *a) {
    const struct api_facts *f = &a->facts;
    one(m, "disk_free_bytes", "gauge", "Free space of the run's disk.", (double)f->disk_free);
    one(m, "database_bytes", "gauge", "Size of run.db.", (double)f->database);
    one(m, "wal_bytes", "gauge", "Size of the database's log.", (double)f->wal);
    one(m, "memory_bytes", "gauge", "Resident memory of the server.", (double)f->memory);
    one(m, "descriptors", "gauge", "Open file descriptors of the server.", f->descriptors);
}

static void
put_http(struct metrics *m, const struct api *a) {
    static const char *const classes[] = {"1xx", "2xx", "3xx", "4xx", "5xx"};
    struct httpd_counts c = httpd_counts(a->httpd);
    one(m, "http_connections", "gauge", "Open connections.", c.open);
    one(m, "http_connections_total", "counter", "Connections accepted.", (double)c.accepted);
    one(m, "http_requests_total", "counter", "Requests whose head could be read.",
        (double)c.requests);
    begin(m, "http_answers_total", "counter", "Answers by class of status.");
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        labelled(m, "class", classes[i], (double)c.answers[i]);
    begin(m, "http_dropped_total", "counter", "Connections that were dropped, and why.");
    labelled(m, "reason", "full", (double)c.refused_full);
    labelled(m, "reason", "made room", (double)c.evicted);
    labelled(m, "reason", "malformed", (double)c.bad);
    labelled(m, "reason", "late", (double)c.late);
    one(m, "http_received_bytes_total", "counter", "Bytes received.", (double)c.bytes_in);
    one(m, "http_sent_bytes_total", "counter", "Bytes sent.", (double)c.bytes_out);
    one(m, "live_listeners", "gauge", "Clients of the live streams.", live_listeners(a));
    one(m, "play_sessions", "gauge", "People who play at the page.", play_sessions(a));
}

/* ---- what the database knows ---- */

static int
add_end(void *arg, const struct store_cell *cell, int cells) {
    struct metrics *m = arg;
    const char *kind = row_cell(cell, cells, "kind"), *reason = row_cell(cell, cells, "reason");
    double matches = row_number(cell, cells, "matches");
    bool good_kind = false, good_reason = false;
    for (int i = MATCH_TRAIN; kind && i <= MATCH_PLAY; i++)
        good_kind |= !strcmp(kind, match_kind_name((enum match_kind)i));
    for (int i = 0; reason && i < END_REASONS; i++)
        good_reason |= !strcmp(reason, match_reason_name((enum match_reason)i));
    if (!good_kind || !good_reason || !isfinite(matches))
        return 0;
    buf_fmt(m->out, "agon_%s{", m->name);
    put_label(m->out, "kind", kind);
    buf_add(m->out, ",", 1);
    put_label(m->out, "reason", reason);
    buf_fmt(m->out, "} %.17g\n", matches);
    return 0;
}

static int
add_step(void *arg, const struct store_cell *cell, int cells) {
    static const char *const columns[][2] = {
        {"loss", "Loss of the newest step."},
        {"entropy", "Entropy of the newest step."},
        {"kl_magnet", "Divergence to the reference policy of the newest step."},
        {"kl_sampler", "Divergence to the policy that played of the newest step."},
        {"grad_norm", "Norm of the gradient of the newest step."},
        {"lr", "Learning rate of the newest step."},
        {"invalid", "Share of matches that ended by an invalid reply in the newest step."},
        {"matches_s", "Matches a second of the newest step."},
        {"tokens_s", "Tokens a second of the newest step."},
        {"wait_data_s", "Seconds that the newest step waited for matches."},
        {"learn_s", "Seconds that the newest step computed."},
    };
    struct metrics *m = arg;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        double v = row_number(cell, cells, columns[i][0]);
        char name[64];
        if (!isfinite(v))
            continue;
        snprintf(name, sizeof name, "learner_%s", columns[i][0]);
        one(m, name, "gauge", columns[i][1], v);
    }
    return 0;
}

static int
read_metrics(struct task *t, struct store *db, struct json_out *j) {
    struct metrics m = {.out = j->out};
    struct store_bind newest = {":limit", NULL, 1};
    struct err e;
    buf_put(m.out, t->more);
    begin(&m, "matches_total", "counter", "Matches of the whole run by kind and end.");
    if (store_query(db, "ends", NULL, 0, add_end, &m, &e) < 0 ||
        store_query(db, "steps", &newest, 1, add_step, &m, &e) < 0)
        return task_fail_store(t, db, &e);
    return 0;
}

void
get_metrics(struct call *c) {
    struct buf known = {0};
    struct metrics m = {.out = &known};
    put_run(&m, c->s);
    put_machine(&m, c->api);
    put_http(&m, c->api);
    buf_text(&known);
    api_ask_text(c, "text/plain; version=0.0.4; charset=utf-8", read_metrics, known.at);
}
