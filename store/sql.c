/* Statements and errors. A statement is prepared once for each connection and reset after each use.
 */
#include "store/store-int.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

sqlite3_stmt *
sql_get(struct store *s, enum sql_id id, const char *sql, struct err *e) {
    if (!s->stmt[id] &&
        sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt[id], NULL)) {
        sql_fail(s, e, "database");
        return NULL;
    }
    return s->stmt[id];
}

int
sql_run(sqlite3_stmt *st) {
    int rc = sqlite3_step(st);
    sqlite3_reset(st);
    return rc == SQLITE_DONE ? 0 : rc == SQLITE_ROW ? SQLITE_MISUSE : rc;
}

int
sql_exec(struct store *s, const char *sql, struct err *e) {
    if (sqlite3_exec(s->db, sql, NULL, NULL, NULL))
        return sql_fail(s, e, "database");
    return 0;
}

int
sql_row(struct store *s, sqlite3_stmt *st, const char *what, struct err *e) {
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW)
        return 1;
    if (rc == SQLITE_DONE) {
        sqlite3_reset(st);
        return 0;
    }
    sql_fail(s, e, "%s", what);
    sqlite3_reset(st);
    return -1;
}

static bool
says_full(int why) {
    return why == ENOSPC || why == EDQUOT || why == EFBIG;
}

/* Quotas and size limits reach SQLite as plain I/O errors; the system's error number tells, and
 * each open file keeps its last one. */
static bool
is_full(struct store *s, int rc) {
    if (rc != SQLITE_IOERR)
        return rc == SQLITE_FULL;
    int file = 0, log = 0;
    sqlite3_file *wal = NULL;
    sqlite3_file_control(s->db, "main", SQLITE_FCNTL_LAST_ERRNO, &file);
    sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    if (wal && wal->pMethods)
        wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &log);
    return says_full(file) || says_full(log) || says_full(sqlite3_system_errno(s->db));
}

static const char *
mend(int rc) {
    static const struct {
        int rc;
        const char *text;
    } mends[] = {
        {SQLITE_BUSY, "; another program writes to the database, close it"},
        {SQLITE_LOCKED, "; another program writes to the database, close it"},
        {SQLITE_INTERRUPT, "; it took too long, ask for less"},
        {SQLITE_CORRUPT, "; put a backup back (`agon doctor` says what is damaged)"},
        {SQLITE_NOTADB, "; put a backup back, or move the file away"},
    };
    for (size_t i = 0; i < sizeof mends / sizeof *mends; i++)
        if (mends[i].rc == rc)
            return mends[i].text;
    return "";
}

int
sql_fail(struct store *s, struct err *e, const char *fmt, ...) {
    int rc = sqlite3_errcode(s->db) & 0xff;
    bool full = is_full(s, rc);
    bool busy = rc == SQLITE_BUSY || rc == SQLITE_LOCKED;
    s->retry = full || busy;
    char what[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return err_set(e, "%s: %s%s", what, full ? "the disk is full" : sqlite3_errmsg(s->db),
                   full ? "; nothing is lost, make room and it goes on" : mend(rc));
}

int
store_fail(struct store *s, struct err *e, const char *fmt, ...) {
    s->retry = false;
    char what[900];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return err_set(e, "%s", what);
}

bool
sql_text(sqlite3_stmt *st, int col, char *out, size_t cap) {
    if (sqlite3_column_type(st, col) != SQLITE_TEXT)
        return false;
    const unsigned char *text = sqlite3_column_text(st, col);
    size_t n = (size_t)sqlite3_column_bytes(st, col);
    if (!text || n >= cap || memchr(text, 0, n))
        return false;
    memcpy(out, text, n);
    out[n] = '\0';
    return true;
}

void
sql_bind_text(sqlite3_stmt *st, int at, const char *text) {
    if (text)
        sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(st, at);
}

int
sql_number(struct store *s, const char *sql, int64_t *out, struct err *e) {
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
        return sql_fail(s, e, "database");
    int got = sql_row(s, st, "database", e);
    if (got == 1)
        *out = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return got == 1 ? 0 : got < 0 ? -1 : store_fail(s, e, "database: no answer to %s", sql);
}

int
sql_word(struct store *s, const char *sql, char *out, size_t cap, struct err *e) {
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
        return sql_fail(s, e, "database");
    int got = sql_row(s, st, "database", e);
    if (got == 1 && !sql_text(st, 0, out, cap))
        got = store_fail(s, e, "database: no usable answer to %s", sql);
    sqlite3_finalize(st);
    return got;
}

bool
store_retry(const struct store *s) {
    return s->retry;
}
