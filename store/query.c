/* Asking the named questions of questions.c. Answers are rows of text. */
#include "store/store-int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

const struct store_named *
store_query_at(int i) {
    return i >= 0 && i < store_questions_n ? &store_questions[i] : NULL;
}

static const struct store_named *
find(const char *query) {
    for (int i = 0; i < store_questions_n; i++)
        if (!strcmp(store_questions[i].name, query))
            return &store_questions[i];
    return NULL;
}

/* The one policy of this name; 0: there is none, or several; -1: it failed. */
static int64_t
only_policy(struct store *s, const char *name, struct err *e) {
    sqlite3_stmt *st = sql_get(s, SQL_WAY_POLICY, STORE_POLICY_IDS("?1"), e);
    if (!st)
        return -1;
    sql_bind_text(st, 1, name);
    int64_t id = 0;
    int n = 0, got;
    while ((got = sql_row(s, st, "table policy", e)) == 1 && ++n < 2)
        id = sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    return got < 0 ? -1 : n == 1 ? id : 0;
}

/* NULL: it is not asked for. */
static const struct store_bind *
given(const struct store_bind *bind, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(bind[i].name, name) && !(bind[i].text && !*bind[i].text))
            return &bind[i];
    return NULL;
}

/* Is this word asked for, and a rare one? */
static bool
is_rare(const struct store_bind *b, const char *common) {
    return b && b->text && strcmp(b->text, common) != 0;
}

/* Which search finds the matches that are asked for soonest: that of the rarest thing. */
static int
choose_way(struct store *s, sqlite3_stmt *st, const struct store_bind *bind, size_t n,
           struct err *e) {
    int at = sqlite3_bind_parameter_index(st, ":way");
    const struct store_bind *policy = given(bind, n, ":policy");
    const char *way = "id";
    int64_t id = 0;
    if (!at)
        return 0;
    if (is_rare(given(bind, n, ":reason"), "play")) {
        way = "reason";
    } else if (policy && (id = policy->text ? only_policy(s, policy->text, e) : policy->number)) {
        way = "policy";
    } else if (is_rare(given(bind, n, ":kind"), "train")) {
        way = "kind";
    }
    sql_bind_text(st, at, way);
    sqlite3_bind_int64(st, sqlite3_bind_parameter_index(st, ":way_id"), id);
    return id < 0 ? -1 : 0;
}

static int
bind_all(struct store *s, const struct store_named *q, sqlite3_stmt *st,
         const struct store_bind *bind, size_t nbind, struct err *e) {
    for (size_t i = 0; i < nbind; i++) {
        int at = sqlite3_bind_parameter_index(st, bind[i].name);
        if (!at)
            return store_fail(s, e, "query %s: no parameter %s; it has %s", q->name, bind[i].name,
                              *q->params ? q->params : "none");
        if (bind[i].text && !*bind[i].text)
            continue;
        if (bind[i].text)
            sql_bind_text(st, at, bind[i].text);
        else
            sqlite3_bind_int64(st, at, bind[i].number);
    }
    return choose_way(s, st, bind, nbind, e);
}

/* Prepared once for each connection: a long question's plan takes as long as its answer. */
static sqlite3_stmt *
prepare(struct store *s, const struct store_named *q, struct err *e) {
    sqlite3_stmt **kept = &s->question[q - store_questions];
    sqlite3_stmt *st = NULL;
    if (*kept && !sqlite3_stmt_busy(*kept))
        return *kept;
    if (sqlite3_prepare_v3(s->db, q->sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL)) {
        sql_fail(s, e, "query %s", q->name);
        return NULL;
    }
    if (!*kept)
        *kept = st;
    return st;
}

/* A row as cells. Text that is not UTF-8 (nobody but a stranger wrote it) is escaped, so that what
 * callers print or send is valid; its bytes stand in `room`. */
void
cells_read(sqlite3_stmt *st, struct store_cell *cell, int cells, struct buf *room) {
    for (int i = 0; i < cells; i++) {
        static const enum store_type types[] = {[SQLITE_INTEGER] = STORE_INT,
                                                [SQLITE_FLOAT] = STORE_REAL,
                                                [SQLITE_TEXT] = STORE_TEXT,
                                                [SQLITE_BLOB] = STORE_TEXT,
                                                [SQLITE_NULL] = STORE_NULL};
        cell[i] = (struct store_cell){.name = sqlite3_column_name(st, i),
                                      .type = types[sqlite3_column_type(st, i)]};
        if (cell[i].type == STORE_NULL)
            continue;
        if (cell[i].type == STORE_REAL && !isfinite(sqlite3_column_double(st, i)))
            cell[i].type = STORE_TEXT; /* "Inf" is no number of JSON */
        cell[i].text = (const char *)sqlite3_column_text(st, i);
        size_t n = cell[i].text ? (size_t)sqlite3_column_bytes(st, i) : 0;
        if (!n)
            cell[i].text = "";
        else if (cell[i].type == STORE_TEXT && escape_needed(cell[i].text, n)) {
            buf_clear(&room[i]);
            escape_add(&room[i], cell[i].text, n);
            cell[i].text = buf_text(&room[i]);
        }
    }
}

static int
read_rows(struct store *s, const struct store_named *q, sqlite3_stmt *st,
          int (*each)(void *arg, const struct store_cell *cell, int cells), void *arg,
          struct err *e) {
    struct store_cell cell[CELLS_MOST];
    struct buf room[CELLS_MOST] = {{0}};
    int cells = sqlite3_column_count(st), rows = 0, got = 1;
    ensure(cells <= CELLS_MOST);
    while (got == 1 && (got = sql_row(s, st, q->name, e)) == 1) {
        cells_read(st, cell, cells, room);
        rows++;
        int stop = each(arg, cell, cells);
        if (stop)
            got = stop < 0 ? -1 : 0;
    }
    for (int i = 0; i < cells; i++)
        buf_free(&room[i]);
    return got < 0 ? -1 : rows;
}

static int
is_late(void *arg) {
    return clock_mono_us() > *(const int64_t *)arg;
}

void
store_set_patience(struct store *s, double seconds) {
    s->patience_us = (int64_t)(seconds * 1e6);
}

int
store_query(struct store *s, const char *query, const struct store_bind *bind, size_t nbind,
            int (*each)(void *arg, const struct store_cell *cell, int cells), void *arg,
            struct err *e) {
    const struct store_named *q = find(query);
    if (!q)
        return store_fail(s, e, "query %s: there is none of this name", query);
    sqlite3_stmt *st = prepare(s, q, e);
    if (!st)
        return -1;
    int64_t deadline = clock_mono_us() + s->patience_us;
    sqlite3_progress_handler(s->db, 100000, is_late, &deadline);
    int rows = bind_all(s, q, st, bind, nbind, e);
    if (!rows)
        rows = read_rows(s, q, st, each, arg, e);
    sqlite3_progress_handler(s->db, 0, NULL, NULL);
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    if (st != s->question[q - store_questions])
        sqlite3_finalize(st);
    return rows;
}
