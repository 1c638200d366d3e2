/* The page and the line of `agon top`. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/member.h"
#include "cli/table.h"
#include "cli/top.h"

enum { STEPS_SHOWN = 5, EVALS_SHOWN = 4, WARNINGS_SHOWN = 4 };

/* A number with its unit; "-" where it is not known. */
static const char *
shown(double v, int decimals, const char *unit, char out[32]) {
    if (isfinite(v))
        snprintf(out, 32, fabs(v) < 1e15 ? "%.*f%s" : "%.*g%s", decimals, v, unit);
    else
        snprintf(out, 32, "-");
    return out;
}

/* A table as text; takes it. */
static void
put_table(struct buf *out, struct table *t) {
    char *at = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&at, &n);
    if (f) {
        table_print(t, f);
        fclose(f);
        buf_add(out, at, n);
        free(at);
    } else {
        buf_free(&t->text);
    }
    buf_put(out, "\n");
}

/* ---- how it stands ---- */

static void
put_state(const struct top_look *look, struct buf *out) {
    const json_t *o = look->overview, *workers = json_object_get(o, "workers"),
                 *learner = json_object_get(o, "learner");
    char ago[32] = "never";
    if (!look->live) {
        if (json_is_integer(json_object_get(look->status, "last_ended_ms")))
            term_ago(ago, member_int(look->status, "last_ended_ms"), look->at_ms);
        buf_fmt(out, "stopped: no server answers; the last match ended %s\n", ago);
        return;
    }
    bool done = member_int(o, "step") >= member_int(o, "last_step");
    buf_fmt(out, "running: %lld of %lld workers ready, %s%s\n", member_int(workers, "ready"),
            member_int(workers, "count"),
            done                                                 ? "the last step is made"
            : !json_is_true(json_object_get(learner, "present")) ? "no learner"
            : json_is_true(json_object_get(learner, "waiting"))  ? "the learner waits for matches"
                                                                 : "the learner is at work",
            json_is_true(json_object_get(o, "paused")) ? ", paused: the database cannot be written"
                                                       : "");
}

static void
put_rates(const struct top_look *look, struct buf *out) {
    const json_t *rates = json_object_get(look->overview, "rates"),
                 *step = json_array_get(look->steps, 0);
    char a[32], b[32], c[32];
    if (look->live)
        buf_fmt(out, "now: %s matches/s, %s tokens/s, %s invalid\n",
                shown(member_real(rates, "matches"), 0, "", a),
                shown(member_real(rates, "tokens"), 0, "", b),
                shown(100 * member_real(rates, "invalid"), 2, " %", c));
    else if (step)
        buf_fmt(out, "in its newest step: %s matches/s, %s tokens/s, %s invalid\n",
                shown(member_real(step, "matches_s"), 0, "", a),
                shown(member_real(step, "tokens_s"), 0, "", b),
                shown(100 * member_real(step, "invalid"), 2, " %", c));
}

static void
put_queue(const struct top_look *look, struct buf *out) {
    const json_t *iteration = json_object_get(look->overview, "iteration");
    long long batch = member_int(iteration, "batch"), ready = member_int(iteration, "ready"),
              flying = member_int(json_object_get(look->overview, "workers"), "in_flight");
    long long rest = batch - ready - flying;
    if (look->live && batch)
        buf_fmt(out, "this iteration: %lld of %lld matches ready, %lld in flight, %lld to come\n",
                ready, batch, flying, rest > 0 ? rest : 0);
    else if (!look->live)
        buf_fmt(out, "leases open: %lld\n", member_int(look->status, "open_leases"));
}

/* Where the seconds of the newest steps went. The oldest only marks the beginning. */
static void
put_times(const struct top_look *look, struct buf *out) {
    size_t n = json_array_size(look->steps);
    double learn = 0, wait = 0, idle = 0, most;
    if (n < 2)
        return;
    for (size_t i = 0; i + 1 < n; i++) {
        const json_t *row = json_array_get(look->steps, i);
        json_t *extra = json_loads(member_text(row, "extra"), 0, NULL);
        learn += fmax(0, member_real(row, "learn_s"));
        wait += fmax(0, member_real(row, "wait_data_s"));
        idle += fmax(0, member_real(extra, "wait_learner_s"));
        json_decref(extra);
    }
    most = (double)(member_int(json_array_get(look->steps, 0), "at_ms") -
                    member_int(json_array_get(look->steps, n - 1), "at_ms")) /
           1e3;
    if (most > 0)
        buf_fmt(out,
                "time of the last %zu steps, %.1f s: learning %.0f %%, waiting for matches %.0f %%,"
                " other %.0f %%; workers waited for the learner %.0f %%\n",
                n - 1, most, 100 * learn / most, 100 * wait / most,
                100 * fmax(0, most - learn - wait) / most, 100 * idle / most);
}

static void
put_staleness(const struct top_look *look, struct buf *out) {
    char mean[32], most[32];
    if (member_int(look->staleness, "samples"))
        buf_fmt(out, "staleness of the newest step: %s on average, %s at most (steps)\n",
                shown(member_real(look->staleness, "mean"), 2, "", mean),
                shown(member_real(look->staleness, "most"), 0, "", most));
}

/* ---- tables ---- */

static void
put_games(const struct top_look *look, struct buf *out) {
    static const char *const heads[] = {"game",    ">matches", ">won by seat 0", ">draws",
                                        ">seat 1", ">mean",    ">forfeits",      NULL};
    struct table t;
    size_t i;
    json_t *g;
    char cell[32];
    if (!json_array_size(look->games))
        return;
    table_init(&t, heads);
    json_array_foreach(look->games, i, g) {
        double n = member_real(g, "matches") / 100;
        table_add(&t, member_text(g, "game"));
        table_fmt(&t, "%lld", member_int(g, "matches"));
        table_add(&t, shown(member_real(g, "wins0") / n, 2, " %", cell));
        table_add(&t, shown(member_real(g, "draws") / n, 2, " %", cell));
        table_add(&t, shown(member_real(g, "wins1") / n, 2, " %", cell));
        table_add(&t, shown(member_real(g, "mean"), 4, "", cell));
        table_add(&t, shown(member_real(g, "forfeits") / n, 2, " %", cell));
    }
    put_table(out, &t);
}

static void
put_steps(const struct top_look *look, struct buf *out) {
    static const char *const heads[] = {">step",     "at (UTC)",   ">matches/s", ">tokens/s",
                                        ">loss",     ">entropy",   ">gradient",  ">invalid",
                                        ">waited s", ">learned s", NULL};
    static const struct {
        const char *name;
        int decimals;
        double scale;
    } columns[] = {{"matches_s", 0, 1},   {"tokens_s", 0, 1},  {"loss", 4, 1},
                   {"entropy", 4, 1},     {"grad_norm", 3, 1}, {"invalid", 2, 100},
                   {"wait_data_s", 3, 1}, {"learn_s", 3, 1}};
    struct table t;
    char cell[32];
    if (!json_array_size(look->steps))
        return;
    table_init(&t, heads);
    for (size_t i = 0; i < STEPS_SHOWN && i < json_array_size(look->steps); i++) {
        const json_t *row = json_array_get(look->steps, i);
        table_fmt(&t, "%lld", member_int(row, "step"));
        table_add(&t, member_text(row, "at"));
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            table_add(&t, shown(columns[k].scale * member_real(row, columns[k].name),
                                columns[k].decimals, columns[k].scale > 1 ? " %" : "", cell));
    }
    put_table(out, &t);
}

static void
eval_text(const json_t *row, char out[160]) {
    json_t *report = json_loads(member_text(row, "report"), 0, NULL);
    const json_t *first = json_array_get(json_object_get(report, "against"), 0);
    double n = member_real(first, "matches");
    if (isfinite(member_real(report, "nash_conv")))
        snprintf(out, 160, "NashConv %.4f, invalid %.2f %%", member_real(report, "nash_conv"),
                 100 * member_real(report, "invalid"));
    else if (n > 0)
        snprintf(out, 160, "against %.60s: %.1f %% won, %.1f %% lost of %.0f",
                 member_text(first, "name"), 100 * member_real(first, "win") / n,
                 100 * member_real(first, "loss") / n, n);
    else
        snprintf(out, 160, "-");
    json_decref(report);
}

static void
put_evals(const struct top_look *look, struct buf *out) {
    static const char *const heads[] = {">step", "evaluated", "game", "result", NULL};
    struct table t;
    char result[160];
    if (!json_array_size(look->evals))
        return;
    table_init(&t, heads);
    for (size_t i = 0; i < EVALS_SHOWN && i < json_array_size(look->evals); i++) {
        const json_t *row = json_array_get(look->evals, i);
        bool mixture = json_is_null(json_object_get(row, "policy_id"));
        eval_text(row, result);
        table_fmt(&t, "%lld", member_int(row, "step"));
        table_add(&t, mixture ? "mixture" : member_text(row, "policy"));
        table_add(&t, member_text(row, "game"));
        table_add(&t, result);
    }
    put_table(out, &t);
}

static void
put_warnings(const struct top_look *look, struct buf *out) {
    const json_t *warnings = json_object_get(look->overview, "warnings");
    for (size_t i = 0; i < WARNINGS_SHOWN && i < json_array_size(warnings); i++) {
        const char *message = member_text(json_array_get(warnings, i), "message");
        buf_put(out, "warning: ");
        term_escape(out, message, strlen(message), false);
        buf_put(out, "\n");
    }
    if (look->trouble[0]) {
        buf_put(out, "the database cannot be read: ");
        term_escape(out, look->trouble, strlen(look->trouble), false);
        buf_put(out, "\n");
    }
}

static void
put_counts(const json_t *status, struct buf *out) {
    const char *policy = member_text(status, "policy");
    term_escape(out, policy, strlen(policy), false);
    buf_fmt(out, ", %lld matches, %lld turns, %lld tokens\n", member_int(status, "matches"),
            member_int(status, "turns"), member_int(status, "tokens"));
}

void
top_page(const struct top *t, const struct top_look *look, struct buf *out) {
    char when[32];
    term_time(when, look->at_ms);
    buf_put(out, "agon top  ");
    term_escape(out, t->dir, strlen(t->dir), false);
    buf_fmt(out, "  %s UTC\n", when);
    put_state(look, out);
    if (json_is_integer(json_object_get(look->status, "step")))
        put_counts(look->status, out);
    else
        buf_put(out, "no step yet\n");
    put_rates(look, out);
    put_queue(look, out);
    put_times(look, out);
    put_staleness(look, out);
    buf_put(out, "\n");
    put_games(look, out);
    put_steps(look, out);
    put_evals(look, out);
    put_warnings(look, out);
}

void
top_line(const struct top *t, const struct top_look *look, struct buf *out) {
    const json_t *rates = json_object_get(look->overview, "rates"),
                 *iteration = json_object_get(look->overview, "iteration");
    char when[32], a[32], b[32], c[32], result[160] = "-";
    (void)t;
    term_time(when, look->at_ms);
    if (json_array_size(look->evals))
        eval_text(json_array_get(look->evals, 0), result);
    buf_fmt(out, "%s %s step %lld matches %lld", when, look->live ? "running" : "stopped",
            json_is_integer(json_object_get(look->status, "step"))
                ? member_int(look->status, "step")
                : -1,
            member_int(look->status, "matches"));
    if (look->live)
        buf_fmt(out, " matches/s %s tokens/s %s invalid %s ready %lld/%lld",
                shown(member_real(rates, "matches"), 0, "", a),
                shown(member_real(rates, "tokens"), 0, "", b),
                shown(100 * member_real(rates, "invalid"), 2, " %", c),
                member_int(iteration, "ready"), member_int(iteration, "batch"));
    buf_put(out, " evaluation ");
    term_escape(out, result, strlen(result), false);
    if (look->trouble[0]) {
        buf_put(out, " trouble ");
        term_escape(out, look->trouble, strlen(look->trouble), false);
    }
    buf_put(out, "\n");
}
