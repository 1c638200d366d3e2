/* A stranger's SELECT. SQLite's authorizer sees every action of a statement while it is compiled
 * and refuses all but reading; the connection cannot write either. Time and memory are looked at
 * every few steps of SQLite's machine, and single values are kept short, so that no one step can be
 * long. */
#include "store/store-int.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define SQL_MOST 65536          /* bytes of a question */
#define VALUE_MOST (4 << 20)    /* bytes of one value */
#define MEMORY_MOST (256 << 20) /* more than SQLite used before */
#define OPS 50                  /* of SQLite's machine between two looks at the clock */

struct watch {
    int64_t deadline_us, memory;
    bool late, large;
    const char *refused; /* what the authorizer would not have */
};

static int
on_progress(void *arg) {
    struct watch *w = arg;
    w->late = clock_mono_us() > w->deadline_us;
    w->large = sqlite3_memory_used() > w->memory + MEMORY_MOST;
    return w->late || w->large;
}

static const char *
action_name(int action) {
    switch (action) {
    case SQLITE_PRAGMA:
        return "PRAGMA";
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
        return "ATTACH";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return "a transaction";
    case SQLITE_FUNCTION:
        return "this function";
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
        return "writing";
    }
    return "changing the database";
}

/* printf counts a precision such as %.2000000000c down in one step, which nothing can interrupt. */
static bool
is_function_allowed(const char *name) {
    static const char *const not [] = {"load_extension", "printf", "format"};
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (!name || !sqlite3_stricmp(name, not [i]))
            return false;
    return true;
}

static int
authorize(void *arg, int action, const char *a, const char *b, const char *c, const char *d) {
    struct watch *w = arg;
    (void)a;
    (void)c;
    (void)d;
    if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ||
        (action == SQLITE_FUNCTION && is_function_allowed(b)))
        return SQLITE_OK;
    if (!w->refused)
        w->refused = action_name(action);
    return SQLITE_DENY;
}

struct limit {
    int id, most, before;
};

static void
swap_limits(struct store *s, struct limit *l, int n, bool back) {
    for (int i = 0; i < n; i++) {
        if (back)
            sqlite3_limit(s->db, l[i].id, l[i].before);
        else
            l[i].before = sqlite3_limit(s->db, l[i].id, l[i].most);
    }
}

/* "SQL, line 2, column 5" where SQLite knows the place, or else "SQL". Columns are bytes. */
static void
name_place(const char *sql, int offset, char out[64]) {
    int line = 1, column = 1;
    for (int i = 0; i < offset && sql[i]; i++) {
        column = sql[i] == '\n' ? 1 : column + 1;
        line += sql[i] == '\n';
    }
    if (offset < 0)
        snprintf(out, 64, "SQL");
    else
        snprintf(out, 64, "SQL, line %d, column %d", line, column);
}

static int
fail(struct store *s, const struct watch *w, const struct store_sql *q, const char *sql,
     struct err *e) {
    char place[64];
    if (w->refused)
        return store_fail(s, e, "only reading is possible here: %s is refused", w->refused);
    if (w->late)
        return store_fail(s, e, "it took longer than %g seconds, ask for less",
                          (double)q->most_us / 1e6);
    if (w->large)
        return store_fail(s, e, "it takes too much memory, ask for less");
    name_place(sql, sqlite3_error_offset(s->db), place);
    return sql_fail(s, e, "%s", place);
}

/* What stands behind the statement and its blanks and semicolons. */
static const char *
skip_blanks(const char *p, const char *end) {
    while (p < end && strchr(" \t\r\n;", *p) && *p)
        p++;
    return p;
}

static sqlite3_stmt *
prepare(struct store *s, const char *sql, size_t n, const struct watch *w,
        const struct store_sql *q, struct err *e) {
    sqlite3_stmt *st = NULL;
    const char *tail = sql;
    char place[64];
    if (n > SQL_MOST) {
        store_fail(s, e, "SQL: the question is longer than %d bytes", SQL_MOST);
        return NULL;
    }
    if (memchr(sql, 0, n)) {
        store_fail(s, e, "SQL: the question holds a NUL");
        return NULL;
    }
    if (sqlite3_prepare_v2(s->db, sql, (int)n, &st, &tail))
        fail(s, w, q, sql, e);
    else if (!st)
        store_fail(s, e, "SQL: there is no question");
    else if ((tail = skip_blanks(tail, sql + n)) < sql + n) {
        name_place(sql, (int)(tail - sql), place);
        store_fail(s, e, "%s: one statement at a time", place);
    } else if (!sqlite3_stmt_readonly(st) || !sqlite3_column_count(st))
        store_fail(s, e, "only reading is possible here: this statement is refused");
    else
        return st;
    sqlite3_finalize(st);
    return NULL;
}

static size_t
count_bytes(const struct store_cell *cell, int cells) {
    size_t n = 0;
    for (int i = 0; i < cells; i++)
        n += cell[i].text ? strlen(cell[i].text) : 4;
    return n;
}

static int
run(struct store *s, sqlite3_stmt *st, const struct watch *w, struct store_sql *q, const char *sql,
    struct err *e) {
    struct store_cell cell[CELLS_MOST] = {{0}};
    struct buf room[CELLS_MOST] = {{0}};
    int cells = sqlite3_column_count(st), rows = 0, rc = SQLITE_DONE;
    size_t bytes = 0;
    for (int i = 0; i < cells; i++)
        cell[i].name = sqlite3_column_name(st, i);
    q->heads(q->arg, cell, cells);
    while (!q->cut && (rc = sqlite3_step(st)) == SQLITE_ROW) {
        cells_read(st, cell, cells, room);
        bytes += count_bytes(cell, cells);
        q->cut = rows == q->rows || bytes > q->bytes;
        if (!q->cut)
            q->each(q->arg, cell, cells);
        rows += !q->cut;
    }
    for (int i = 0; i < cells; i++)
        buf_free(&room[i]);
    return rc == SQLITE_DONE || q->cut ? rows : fail(s, w, q, sql, e);
}

int
store_sql(struct store *s, const char *sql, size_t n, struct store_sql *q, struct err *e) {
    struct limit limits[] = {
        {SQLITE_LIMIT_LENGTH, VALUE_MOST, 0},      {SQLITE_LIMIT_COLUMN, CELLS_MOST, 0},
        {SQLITE_LIMIT_COMPOUND_SELECT, 50, 0},     {SQLITE_LIMIT_EXPR_DEPTH, 200, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64, 0}, {SQLITE_LIMIT_ATTACHED, 0, 0},
        {SQLITE_LIMIT_VDBE_OP, 100000, 0},
    };
    int nlimits = (int)(sizeof limits / sizeof *limits);
    struct watch w = {.deadline_us = clock_mono_us() + q->most_us, .memory = sqlite3_memory_used()};
    q->cut = false;
    if (s->mode != STORE_READ)
        return store_fail(s, e, "SQL: this connection can write");
    swap_limits(s, limits, nlimits, false);
    sqlite3_set_authorizer(s->db, authorize, &w);
    sqlite3_progress_handler(s->db, OPS, on_progress, &w);
    sqlite3_stmt *st = prepare(s, sql, n, &w, q, e);
    int rows = st ? run(s, st, &w, q, sql, e) : -1;
    sqlite3_finalize(st);
    sqlite3_progress_handler(s->db, 0, NULL, NULL);
    sqlite3_set_authorizer(s->db, NULL, NULL);
    swap_limits(s, limits, nlimits, true);
    return rows;
}
