/* Acknowledging a learner step: everything it did in one transaction. Whatever is refused leaves no
 * trace. */
#include "store/store-int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Measurements with a column of their own; others go to `extra`. */
static const char *const columns[] = {
    "matches",   "tokens",       "loss",      "entropy",  "kl_magnet",   "kl_sampler",
    "grad_norm", "lr",           "reward_0",  "reward_1", "baseline_0",  "baseline_1",
    "invalid",   "reply_tokens", "matches_s", "tokens_s", "wait_data_s", "learn_s",
};
#define COLUMNS ((int)(sizeof columns / sizeof *columns))

struct last {
    int64_t step; /* -1: none */
    int64_t policy;
    char snapshot[HASH_HEX], state[HASH_HEX];
};

static int
read_last(struct store *s, struct last *l, struct err *e) {
    *l = (struct last){.step = -1};
    sqlite3_stmt *st = sql_get(s, SQL_STEP_LAST,
                               "SELECT step, policy_after_id, snapshot, state FROM step"
                               " ORDER BY step DESC LIMIT 1",
                               e);
    if (!st)
        return -1;
    int got = sql_row(s, st, "table step", e);
    if (got <= 0)
        return got;
    l->step = sqlite3_column_int64(st, 0);
    l->policy = sqlite3_column_int64(st, 1);
    const char *bad = !sql_text(st, 2, l->snapshot, sizeof l->snapshot) ? "snapshot"
                      : !sql_text(st, 3, l->state, sizeof l->state)     ? "state"
                                                                        : NULL;
    sqlite3_reset(st);
    return bad ? store_fail(s, e, "table step, step %lld, column %s: does not decode",
                            (long long)l->step, bad)
               : 0;
}

int
store_step_last(struct store *s, int64_t *step, char state[HASH_HEX], struct err *e) {
    struct last l;
    if (read_last(s, &l, e) < 0)
        return -1;
    *step = l.step;
    memcpy(state, l.state, HASH_HEX);
    return 0;
}

static int
check(struct store *s, const struct store_step *st, struct err *e) {
    const char *bad = NULL;
    if (!st->snapshot || strlen(st->snapshot) >= HASH_HEX || !st->state ||
        strlen(st->state) >= HASH_HEX)
        bad = "a hash of snapshot or state is missing or too long";
    else if (st->policy_before < 0 || st->policy_before > s->policies ||
             (st->policy_before == 0 && (st->step > 0 || st->refused)))
        bad = "the policy before it is unknown";
    else if (st->step == 0 && (st->nlease || st->nsample))
        bad = "the first weights come without leases and samples";
    for (size_t i = 0; i < st->nbaseline && !bad; i++) {
        const struct store_baseline *b = &st->baseline[i];
        if (b->game < 1 || b->game > s->games || b->role < -1 || b->role > 1 || !isfinite(b->value))
            bad = "a baseline has no known game, no role, or no number";
    }
    return bad ? store_fail(s, e, "step %lld: %s", (long long)st->step, bad) : 0;
}

static int
add_policy(struct store *s, const struct store_step *st, int64_t *policy, struct err *e) {
    if (st->refused) {
        *policy = st->policy_before;
        return 0;
    }
    struct store_policy p = {.kind = "snapshot",
                             .step = st->step,
                             .parent = st->policy_before,
                             .at_ms = st->at_ms,
                             .kept = true};
    snprintf(p.name, sizeof p.name, "%s", st->snapshot);
    if (policy_insert(s, &p, e) < 0)
        return -1;
    *policy = p.id;
    return 0;
}

static void
add_text(struct buf *out, const char *s) {
    buf_put(out, "\"");
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            buf_fmt(out, "\\%c", *s);
        else if ((unsigned char)*s < 0x20)
            buf_fmt(out, "\\u%04x", (unsigned char)*s);
        else
            buf_add(out, s, 1);
    buf_put(out, "\"");
}

/* JSON has no infinity; 1e999 is read as one. */
static void
add_number(struct buf *out, double v) {
    if (isnan(v))
        buf_put(out, "null");
    else if (isinf(v))
        buf_put(out, v > 0 ? "1e999" : "-1e999");
    else
        buf_fmt(out, "%.17g", v);
}

static void
bind_metrics(sqlite3_stmt *row, int at, const struct store_step *st, struct buf *extra) {
    for (int c = 0; c <= COLUMNS; c++)
        sqlite3_bind_null(row, at + c);
    for (size_t i = 0; i < st->nmetric; i++) {
        const struct store_metric *m = &st->metric[i];
        int c = 0;
        while (c < COLUMNS && strcmp(columns[c], m->name))
            c++;
        if (c < COLUMNS) {
            sqlite3_bind_double(row, at + c, m->value); /* NaN becomes NULL */
            continue;
        }
        buf_put(extra, extra->len ? ", " : "{");
        add_text(extra, m->name);
        buf_put(extra, ": ");
        add_number(extra, m->value);
    }
    if (extra->len) {
        buf_put(extra, "}");
        sql_bind_text(row, at + COLUMNS, buf_text(extra));
    }
}

static int
add_step(struct store *s, const struct store_step *st, int64_t policy, struct err *e) {
    static const char sql[] =
        "INSERT INTO step (step, policy_before_id, policy_after_id, snapshot, state, refused, "
        "at_ms,"
        " samples, matches, tokens, loss, entropy, kl_magnet, kl_sampler, grad_norm, lr, reward_0,"
        " reward_1, baseline_0, baseline_1, invalid, reply_tokens, matches_s, tokens_s, "
        "wait_data_s,"
        " learn_s, extra) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,"
        " ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)";
    sqlite3_stmt *row = sql_get(s, SQL_STEP_ADD, sql, e);
    if (!row)
        return -1;
    struct buf extra = {0};
    sqlite3_bind_int64(row, 1, st->step);
    if (st->policy_before)
        sqlite3_bind_int64(row, 2, st->policy_before);
    else
        sqlite3_bind_null(row, 2);
    sqlite3_bind_int64(row, 3, policy);
    sql_bind_text(row, 4, st->snapshot);
    sql_bind_text(row, 5, st->state);
    sqlite3_bind_int(row, 6, st->refused);
    sqlite3_bind_int64(row, 7, st->at_ms);
    sqlite3_bind_int64(row, 8, (int64_t)st->nsample);
    bind_metrics(row, 9, st, &extra);
    int rc = sql_run(row);
    buf_free(&extra);
    return rc ? sql_fail(s, e, "table step, step %lld", (long long)st->step) : 0;
}

/* Closes the lease of this id and puts its range into *l. */
static int
close_lease(struct store *s, int64_t step, int64_t id, struct store_lease *l, struct err *e) {
    static const char sql[] = "UPDATE lease SET step = ?1 WHERE id = ?2 AND step IS NULL"
                              " RETURNING first_match, last_match";
    sqlite3_stmt *row = sql_get(s, SQL_LEASE_CLOSE, sql, e);
    if (!row)
        return -1;
    sqlite3_bind_int64(row, 1, step);
    sqlite3_bind_int64(row, 2, id);
    int got = sql_row(s, row, "table lease", e);
    if (got == 0)
        return store_fail(s, e, "step %lld: lease %lld is not open", (long long)step,
                          (long long)id);
    if (got < 0)
        return -1;
    *l = (struct store_lease){id, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
    return sqlite3_reset(row) ? sql_fail(s, e, "table lease, id %lld", (long long)id) : 0;
}

static bool
is_leased(const struct store_lease *lease, size_t n, int64_t match) {
    for (size_t i = 0; i < n; i++)
        if (match >= lease[i].first && match <= lease[i].last)
            return true;
    return false;
}

/* Staleness is worked out here: the step of the weights that learn (`before`), less that of the
 * weights that played. */
static int
add_sample(struct store *s, int64_t at, int64_t before, const struct store_sample *a,
           struct err *e) {
    static const char sql[] =
        "INSERT INTO sample (match_id, seat, step, ret, baseline, advantage, staleness)"
        " SELECT m.id, ?2, ?3, ?4, ?5, ?6, CASE WHEN p.step >= 0 THEN ?7 - p.step END FROM match m"
        " JOIN policy p ON p.id = CASE ?2 WHEN 0 THEN m.policy0_id ELSE m.policy1_id END"
        " WHERE m.id = ?1 AND m.kind IN ('train', 'warmup') AND m.reason <> 'aborted'";
    long long id = (long long)a->match, step = (long long)at;
    if (a->seat != 0 && a->seat != 1)
        return store_fail(s, e, "step %lld: match %lld has no seat %d", step, id, a->seat);
    sqlite3_stmt *row = sql_get(s, SQL_SAMPLE_ADD, sql, e);
    if (!row)
        return -1;
    sqlite3_bind_int64(row, 1, a->match);
    sqlite3_bind_int(row, 2, a->seat);
    sqlite3_bind_int64(row, 3, at);
    sqlite3_bind_double(row, 4, a->ret);
    sqlite3_bind_double(row, 5, a->baseline);
    sqlite3_bind_double(row, 6, a->advantage);
    sqlite3_bind_int64(row, 7, before);
    int rc = sql_run(row) & 0xff;
    if (rc == SQLITE_CONSTRAINT && isfinite(a->ret + a->baseline + a->advantage))
        return store_fail(s, e, "step %lld: match %lld, seat %d was consumed before", step, id,
                          a->seat);
    if (rc)
        return sql_fail(s, e, "table sample, match %lld, seat %d", id, a->seat);
    if (sqlite3_changes(s->db) != 1)
        return store_fail(s, e, "step %lld: match %lld is not one to learn from", step, id);
    return 0;
}

static int
set_baseline(struct store *s, const struct store_step *st, const struct store_baseline *b,
             struct err *e) {
    static const char sql[] =
        "INSERT INTO baseline (game_id, role, value, count, step) VALUES (?1, ?2, ?3, ?4, ?5)"
        " ON CONFLICT DO UPDATE SET value = excluded.value, count = excluded.count,"
        " step = excluded.step";
    sqlite3_stmt *row = sql_get(s, SQL_BASELINE_SET, sql, e);
    if (!row)
        return -1;
    sqlite3_bind_int64(row, 1, b->game);
    sqlite3_bind_int(row, 2, b->role);
    sqlite3_bind_double(row, 3, b->value);
    sqlite3_bind_int64(row, 4, b->count);
    sqlite3_bind_int64(row, 5, st->step);
    return sql_run(row)
               ? sql_fail(s, e, "table baseline, game %lld, role %d", (long long)b->game, b->role)
               : 0;
}

static int
write_leased(struct store *s, const struct store_step *st, struct store_lease *lease,
             struct err *e) {
    struct store_policy before;
    if (st->nsample && store_policy_get(s, st->policy_before, &before, e) < 0)
        return -1;
    for (size_t i = 0; i < st->nlease; i++)
        if (close_lease(s, st->step, st->lease[i].id, &lease[i], e) < 0)
            return -1;
    for (size_t i = 0; i < st->nsample; i++) {
        if (!is_leased(lease, st->nlease, st->sample[i].match))
            return store_fail(s, e, "step %lld: match %lld is not in its leases",
                              (long long)st->step, (long long)st->sample[i].match);
        if (add_sample(s, st->step, before.step, &st->sample[i], e) < 0)
            return -1;
    }
    return 0;
}

static int
write_all(struct store *s, const struct store_step *st, int64_t *policy, struct err *e) {
    if (add_policy(s, st, policy, e) < 0 || add_step(s, st, *policy, e) < 0)
        return -1;
    struct store_lease *lease = mem_zero(st->nlease, sizeof *lease);
    int bad = write_leased(s, st, lease, e);
    free(lease);
    for (size_t i = 0; i < st->nbaseline && !bad; i++)
        bad = set_baseline(s, st, &st->baseline[i], e);
    return bad;
}

int
store_step_ack(struct store *s, const struct store_step *st, int64_t *policy, struct err *e) {
    struct last last;
    int64_t made;
    if (check(s, st, e) < 0 || read_last(s, &last, e) < 0)
        return -1;
    if (st->step >= 0 && st->step == last.step && !strcmp(st->snapshot, last.snapshot)) {
        *policy = last.policy;
        return 1;
    }
    if (st->step != last.step + 1)
        return store_fail(s, e, "step %lld: out of order, the newest step is %lld",
                          (long long)st->step, (long long)last.step);
    if (batch_alone(s, e) < 0)
        return -1;
    if (write_all(s, st, &made, e) < 0) {
        batch_undo(s);
        return -1;
    }
    if (store_commit(s, e) < 0)
        return -1;
    if (made > s->policies)
        s->policies = made;
    *policy = made;
    return 0;
}

int
store_baseline_list(struct store *s, int (*each)(void *arg, const struct store_baseline *),
                    void *arg, struct err *e) {
    sqlite3_stmt *st =
        sql_get(s, SQL_BASELINE_LIST,
                "SELECT game_id, role, value, count FROM baseline ORDER BY game_id, role", e);
    if (!st)
        return -1;
    int got;
    while ((got = sql_row(s, st, "table baseline", e)) == 1) {
        struct store_baseline b = {
            .game = sqlite3_column_int64(st, 0),
            .role = sqlite3_column_int(st, 1),
            .value = sqlite3_column_double(st, 2),
            .count = sqlite3_column_int64(st, 3),
        };
        int stop = each(arg, &b);
        if (stop) {
            sqlite3_reset(st);
            return stop;
        }
    }
    return got;
}

int
store_match_samples(struct store *s, int64_t id, struct store_sample out[2], int64_t step[2],
                    struct err *e) {
    sqlite3_stmt *st =
        sql_get(s, SQL_MATCH_SAMPLES,
                "SELECT seat, step, ret, baseline, advantage FROM sample WHERE match_id = ?1", e);
    if (!st)
        return -1;
    out[0].seat = out[1].seat = -1;
    sqlite3_bind_int64(st, 1, id);
    int got;
    while ((got = sql_row(s, st, "table sample", e)) == 1) {
        int64_t seat = sqlite3_column_int64(st, 0);
        if (seat != 0 && seat != 1) {
            sqlite3_reset(st);
            return store_fail(s, e, "table sample, match %lld: seat %lld is neither 0 nor 1",
                              (long long)id, (long long)seat);
        }
        step[seat] = sqlite3_column_int64(st, 1);
        out[seat] = (struct store_sample){.match = id,
                                          .seat = (int)seat,
                                          .ret = sqlite3_column_double(st, 2),
                                          .baseline = sqlite3_column_double(st, 3),
                                          .advantage = sqlite3_column_double(st, 4)};
    }
    return got;
}
