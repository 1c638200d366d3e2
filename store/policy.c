/* Policies: found or added, and found again by a piece of their hash. */
#include "store/store-int.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS "id, kind, name, step, parent_id, made_ms, kept"

static int
find(struct store *s, struct store_policy *p, struct err *e) {
    sqlite3_stmt *st = sql_get(
        s, SQL_POLICY_FIND, "SELECT id FROM policy WHERE kind = ?1 AND name = ?2 AND step = ?3", e);
    if (!st)
        return -1;
    sql_bind_text(st, 1, p->kind);
    sql_bind_text(st, 2, p->name);
    sqlite3_bind_int64(st, 3, p->step);
    int got = sql_row(s, st, "table policy", e);
    if (got == 1) {
        p->id = sqlite3_column_int64(st, 0);
        sqlite3_reset(st);
    }
    return got;
}

int
policy_insert(struct store *s, struct store_policy *p, struct err *e) {
    int got = find(s, p, e);
    if (got)
        return got < 0 ? -1 : 0;
    sqlite3_stmt *st = sql_get(s, SQL_POLICY_ADD,
                               "INSERT INTO policy (kind, name, step, parent_id, made_ms, kept)"
                               " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                               e);
    if (!st)
        return -1;
    sql_bind_text(st, 1, p->kind);
    sql_bind_text(st, 2, p->name);
    sqlite3_bind_int64(st, 3, p->step);
    if (p->parent)
        sqlite3_bind_int64(st, 4, p->parent);
    else
        sqlite3_bind_null(st, 4);
    sqlite3_bind_int64(st, 5, p->at_ms);
    sqlite3_bind_int(st, 6, p->kept);
    if (sql_run(st))
        return sql_fail(s, e, "table policy, %s", p->name);
    p->id = sqlite3_last_insert_rowid(s->db);
    return 0;
}

int
store_policy_add(struct store *s, struct store_policy *p, struct err *e) {
    if (strcmp(p->kind, "snapshot") && strcmp(p->kind, "scripted"))
        return store_fail(s, e, "policy %s: kind is neither snapshot nor scripted", p->name);
    if (p->parent < 0 || p->parent > s->policies)
        return store_fail(s, e, "policy %s: parent %lld is unknown", p->name, (long long)p->parent);
    int got = find(s, p, e);
    if (got)
        return got < 0 ? -1 : 0;
    struct store_policy added = *p;
    if (batch_alone(s, e) < 0)
        return -1;
    if (policy_insert(s, &added, e) < 0) {
        batch_undo(s);
        return -1;
    }
    if (store_commit(s, e) < 0)
        return -1;
    p->id = s->policies = added.id;
    return 0;
}

static int
decode(struct store *s, sqlite3_stmt *st, struct store_policy *p, struct err *e) {
    *p = (struct store_policy){
        .id = sqlite3_column_int64(st, 0),
        .step = sqlite3_column_int64(st, 3),
        .parent = sqlite3_column_int64(st, 4),
        .at_ms = sqlite3_column_int64(st, 5),
        .kept = sqlite3_column_int(st, 6) != 0,
    };
    const char *bad = !sql_text(st, 1, p->kind, sizeof p->kind)   ? "kind"
                      : !sql_text(st, 2, p->name, sizeof p->name) ? "name"
                                                                  : NULL;
    return bad ? store_fail(s, e, "table policy, id %lld, column %s: does not decode",
                            (long long)p->id, bad)
               : 0;
}

static int
read_one(struct store *s, sqlite3_stmt *st, struct store_policy *p, struct err *e) {
    int got = sql_row(s, st, "table policy", e);
    if (got == 1) {
        got = decode(s, st, p, e) < 0 ? -1 : 1;
        sqlite3_reset(st);
    }
    return got;
}

int
store_policy_get(struct store *s, int64_t id, struct store_policy *p, struct err *e) {
    sqlite3_stmt *st =
        sql_get(s, SQL_POLICY_GET, "SELECT " COLUMNS " FROM policy WHERE id = ?1", e);
    if (!st)
        return -1;
    sqlite3_bind_int64(st, 1, id);
    int got = read_one(s, st, p, e);
    if (got == 0)
        return store_fail(s, e, "table policy: there is no id %lld", (long long)id);
    return got < 0 ? -1 : 0;
}

/* The newest is the one that the last step ended with; before the first step, the newest row. */
int
store_policy_latest(struct store *s, struct store_policy *p, struct err *e) {
    sqlite3_stmt *st =
        sql_get(s, SQL_POLICY_STEP,
                "SELECT " COLUMNS " FROM policy"
                " WHERE id = (SELECT policy_after_id FROM step ORDER BY step.step DESC LIMIT 1)",
                e);
    int got = st ? read_one(s, st, p, e) : -1;
    if (got)
        return got;
    st = sql_get(s, SQL_POLICY_LATEST,
                 "SELECT " COLUMNS " FROM policy WHERE kind = 'snapshot'"
                 " ORDER BY step DESC, id DESC LIMIT 1",
                 e);
    return st ? read_one(s, st, p, e) : -1;
}

static bool
is_prefix(const char *name) {
    size_t n = strlen(name);
    return n >= 4 && n < HASH_HEX && strspn(name, "0123456789abcdef") == n;
}

int
store_policy_find(struct store *s, const char *name, struct store_policy *p, struct err *e) {
    sqlite3_stmt *st =
        sql_get(s, SQL_POLICY_NAME,
                "SELECT " COLUMNS " FROM policy WHERE kind = 'scripted' AND name = ?1"
                " ORDER BY step DESC LIMIT 1",
                e);
    if (!st)
        return -1;
    sql_bind_text(st, 1, name);
    int got = read_one(s, st, p, e);
    if (got || !is_prefix(name))
        return got;
    st = sql_get(s, SQL_POLICY_PREFIX,
                 "SELECT " COLUMNS " FROM policy"
                 " WHERE kind = 'snapshot' AND name >= ?1 AND name < ?1 || 'g'"
                 " ORDER BY name, step DESC",
                 e);
    if (!st)
        return -1;
    sql_bind_text(st, 1, name);
    bool found = false;
    while ((got = sql_row(s, st, "table policy", e)) == 1) {
        struct store_policy one;
        int bad = decode(s, st, &one, e);
        if (!bad && found && strcmp(p->name, one.name))
            bad = store_fail(s, e, "policy %s: both %.12s and %.12s begin so; give more digits",
                             name, p->name, one.name);
        if (bad) {
            sqlite3_reset(st);
            return -1;
        }
        if (!found)
            *p = one;
        found = true;
    }
    return got < 0 ? -1 : found;
}

int
store_policy_list(struct store *s, int (*each)(void *arg, const struct store_policy *), void *arg,
                  struct err *e) {
    sqlite3_stmt *st = sql_get(s, SQL_POLICY_LIST, "SELECT " COLUMNS " FROM policy ORDER BY id", e);
    if (!st)
        return -1;
    int got;
    while ((got = sql_row(s, st, "table policy", e)) == 1) {
        struct store_policy p;
        int stop = decode(s, st, &p, e);
        if (!stop)
            stop = each(arg, &p);
        if (stop) {
            sqlite3_reset(st);
            return stop;
        }
    }
    return got;
}

void
store_policy_label(const struct store_policy *p, char out[STORE_LABEL]) {
    if (!strcmp(p->kind, "snapshot"))
        snprintf(out, STORE_LABEL, "step %lld (%.8s)", (long long)p->step, p->name);
    else
        snprintf(out, STORE_LABEL, "%s", p->name);
}

int
store_policy_set_kept(struct store *s, int64_t id, bool kept, struct err *e) {
    sqlite3_stmt *st = sql_get(s, SQL_POLICY_KEPT, "UPDATE policy SET kept = ?2 WHERE id = ?1", e);
    if (!st || batch_alone(s, e) < 0)
        return -1;
    sqlite3_bind_int64(st, 1, id);
    sqlite3_bind_int(st, 2, kept);
    if (sql_run(st)) {
        sql_fail(s, e, "table policy, id %lld", (long long)id);
        batch_undo(s);
        return -1;
    }
    bool any = sqlite3_changes(s->db) > 0;
    if (store_commit(s, e) < 0)
        return -1;
    return any ? 0 : store_fail(s, e, "table policy: there is no id %lld", (long long)id);
}
