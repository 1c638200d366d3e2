/* Leases: ranges of matches that the learner has taken but not acknowledged. */
#include "store/store-int.h"

#include "base/clock.h"

int64_t
store_lease_next(struct store *s, struct err *e) {
    sqlite3_stmt *st =
        sql_get(s, SQL_LEASE_NEXT, "SELECT coalesce(max(last_match), 0) + 1 FROM lease", e);
    if (!st || sql_row(s, st, "table lease", e) <= 0)
        return -1;
    int64_t next = sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    return next;
}

/* Refuses a range that overlaps an earlier one or has matches that are not recorded. */
static int
check(struct store *s, const struct store_lease *l, struct err *e) {
    if (l->first < 1 || l->last < l->first)
        return store_fail(s, e, "lease %lld..%lld: not a range of matches", (long long)l->first,
                          (long long)l->last);
    int64_t next = store_lease_next(s, e);
    if (next < 0)
        return -1;
    if (l->first < next)
        return store_fail(s, e,
                          "lease %lld..%lld: matches up to %lld are leased or consumed already",
                          (long long)l->first, (long long)l->last, (long long)next - 1);
    sqlite3_stmt *st =
        sql_get(s, SQL_LEASE_COUNT, "SELECT count(*) FROM match WHERE id BETWEEN ?1 AND ?2", e);
    if (!st)
        return -1;
    sqlite3_bind_int64(st, 1, l->first);
    sqlite3_bind_int64(st, 2, l->last);
    if (sql_row(s, st, "table match", e) <= 0)
        return -1;
    int64_t missing = l->last - l->first + 1 - sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    return missing ? store_fail(s, e, "lease %lld..%lld: %lld of its matches are not recorded yet",
                                (long long)l->first, (long long)l->last, (long long)missing)
                   : 0;
}

int
store_lease_add(struct store *s, struct store_lease *l, struct err *e) {
    sqlite3_stmt *st =
        sql_get(s, SQL_LEASE_ADD,
                "INSERT INTO lease (first_match, last_match, taken_ms) VALUES (?1, ?2, ?3)", e);
    if (!st || check(s, l, e) < 0 || batch_alone(s, e) < 0)
        return -1;
    sqlite3_bind_int64(st, 1, l->first);
    sqlite3_bind_int64(st, 2, l->last);
    sqlite3_bind_int64(st, 3, clock_wall_ms());
    if (sql_run(st)) {
        sql_fail(s, e, "table lease");
        batch_undo(s);
        return -1;
    }
    int64_t id = sqlite3_last_insert_rowid(s->db);
    if (store_commit(s, e) < 0)
        return -1;
    l->id = id;
    return 0;
}

int
store_lease_drop(struct store *s, struct err *e) {
    sqlite3_stmt *st = sql_get(s, SQL_LEASE_DROP, "DELETE FROM lease WHERE step IS NULL", e);
    if (!st || batch_alone(s, e) < 0)
        return -1;
    if (sql_run(st)) {
        sql_fail(s, e, "table lease");
        batch_undo(s);
        return -1;
    }
    int n = sqlite3_changes(s->db);
    return store_commit(s, e) < 0 ? -1 : n;
}
