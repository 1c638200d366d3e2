/* Facts of the run, evaluations, events: small tables with little to decide. */
#include "store/store-int.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static int
put(struct store *s, const char *key, const char *value, struct err *e) {
    sqlite3_stmt *st =
        sql_get(s, SQL_RUN_SET,
                "INSERT INTO run (key, value, set_ms) VALUES (?1, ?2, ?3)"
                " ON CONFLICT DO UPDATE SET value = excluded.value, set_ms = excluded.set_ms",
                e);
    if (!st || batch_alone(s, e) < 0)
        return -1;
    sql_bind_text(st, 1, key);
    sql_bind_text(st, 2, value);
    sqlite3_bind_int64(st, 3, clock_wall_ms());
    if (sql_run(st)) {
        sql_fail(s, e, "table run, key %s", key);
        batch_undo(s);
        return -1;
    }
    return store_commit(s, e);
}

/* The value's statement stands on its row when 1 is returned: reset it. */
static int
find(struct store *s, const char *key, sqlite3_stmt **st, struct err *e) {
    *st = sql_get(s, SQL_RUN_GET, "SELECT value FROM run WHERE key = ?1", e);
    if (!*st)
        return -1;
    sql_bind_text(*st, 1, key);
    return sql_row(s, *st, "table run", e);
}

int
store_run_set(struct store *s, const char *key, const char *value, struct err *e) {
    sqlite3_stmt *st;
    int got = find(s, key, &st, e);
    if (got < 0)
        return -1;
    if (got == 0)
        return put(s, key, value, e);
    const char *old = (const char *)sqlite3_column_text(st, 0);
    bool same = old && !strcmp(old, value);
    if (!same)
        store_fail(
            s, e,
            "run: %s was %.200s and would become %.200s; a run keeps what it began with, start a "
            "new one",
            key, old ? old : "(nothing)", value);
    sqlite3_reset(st);
    return same ? 0 : -1;
}

int
store_run_put(struct store *s, const char *key, const char *value, struct err *e) {
    return put(s, key, value, e);
}

int
store_run_get(struct store *s, const char *key, char *value, size_t cap, struct err *e) {
    sqlite3_stmt *st;
    int got = find(s, key, &st, e);
    if (got <= 0)
        return got;
    bool fits = sql_text(st, 0, value, cap);
    sqlite3_reset(st);
    return fits ? 1
                : store_fail(s, e, "table run, key %s: value does not decode or is too long", key);
}

static int
add_eval(struct store *s, const struct store_eval *v, struct err *e) {
    sqlite3_stmt *st = sql_get(s, SQL_EVAL_ADD,
                               "INSERT INTO eval (policy_id, step, game_id, kind, report, at_ms)"
                               " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                               e);
    if (!st)
        return -1;
    if (v->policy)
        sqlite3_bind_int64(st, 1, v->policy);
    else
        sqlite3_bind_null(st, 1);
    sqlite3_bind_int64(st, 2, v->step);
    sqlite3_bind_int64(st, 3, v->game);
    sql_bind_text(st, 4, v->kind);
    sql_bind_text(st, 5, v->json);
    sqlite3_bind_int64(st, 6, v->at_ms);
    return sql_run(st) ? sql_fail(s, e, "table eval") : 0;
}

int
store_eval_add(struct store *s, const struct store_eval *v, struct err *e) {
    if (!v->kind || !v->json)
        return store_fail(s, e, "evaluation: kind or report is missing");
    if (v->policy < 0 || v->policy > s->policies || v->game < 1 || v->game > s->games)
        return store_fail(s, e, "evaluation: policy %lld or game %lld is unknown",
                          (long long)v->policy, (long long)v->game);
    if (batch_alone(s, e) < 0)
        return -1;
    if (add_eval(s, v, e) < 0) {
        batch_undo(s);
        return -1;
    }
    return store_commit(s, e);
}

static int
add_event(struct store *s, const char *level, const char *module, const char *text, struct err *e) {
    sqlite3_stmt *st =
        sql_get(s, SQL_EVENT_ADD,
                "INSERT INTO event (at_ms, level, module, text) VALUES (?1, ?2, ?3, ?4)", e);
    if (!st)
        return -1;
    struct buf escaped = {0};
    if (escape_needed(text, strlen(text))) {
        escape_add(&escaped, text, strlen(text));
        text = buf_text(&escaped);
    }
    sqlite3_bind_int64(st, 1, clock_wall_ms());
    sql_bind_text(st, 2, level);
    sql_bind_text(st, 3, module);
    sql_bind_text(st, 4, text);
    int rc = sql_run(st);
    buf_free(&escaped);
    return rc ? sql_fail(s, e, "table event") : 0;
}

int
store_event_add(struct store *s, const char *level, const char *module, const char *text,
                struct err *e) {
    if (batch_alone(s, e) < 0)
        return -1;
    if (add_event(s, level, module, text, e) < 0) {
        batch_undo(s);
        return -1;
    }
    return store_commit(s, e);
}
