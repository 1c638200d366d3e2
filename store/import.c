/* Results that were played elsewhere: sums of a file, kept apart from the run's own matches. */
#include "store/store-int.h"

#include <string.h>

#define NAME_MOST 255

static int
check_name(struct store *s, const char *what, const char *name, struct err *e) {
    if (!name || !*name || strlen(name) > NAME_MOST || escape_needed(name, strlen(name)))
        return store_fail(s, e,
                          "import: %s must be text of 1 to %d bytes, without control "
                          "characters",
                          what, NAME_MOST);
    return 0;
}

static int
check(struct store *s, const struct store_import *in, struct err *e) {
    if (!in->hash || strlen(in->hash) != HASH_HEX - 1 ||
        strspn(in->hash, "0123456789abcdef") != HASH_HEX - 1)
        return store_fail(s, e, "import: the hash must have 64 hexadecimal digits");
    if (in->game < 0 || in->game > s->games)
        return store_fail(s, e, "import: game %lld is unknown", (long long)in->game);
    if (check_name(s, "the file's name", in->name, e) < 0)
        return -1;
    for (size_t i = 0; i < in->results; i++) {
        const struct store_import_result *r = &in->result[i];
        if (check_name(s, "a player's name", r->white, e) < 0 ||
            check_name(s, "a player's name", r->black, e) < 0)
            return -1;
        if (r->wins < 0 || r->draws < 0 || r->losses < 0 || r->wins > STORE_IMPORT_MOST ||
            r->draws > STORE_IMPORT_MOST || r->losses > STORE_IMPORT_MOST)
            return store_fail(s, e, "import: %.80s against %.80s: counts are from 0 to %lld",
                              r->white, r->black, (long long)STORE_IMPORT_MOST);
    }
    return 0;
}

/* 1 found: *id, 0 not, -1. */
static int
find(struct store *s, const char *hash, int64_t *id, struct err *e) {
    sqlite3_stmt *st = sql_get(s, SQL_IMPORT_FIND, "SELECT id FROM import WHERE hash = ?1", e);
    if (!st)
        return -1;
    sql_bind_text(st, 1, hash);
    int got = sql_row(s, st, "table import", e);
    if (got == 1) {
        *id = sqlite3_column_int64(st, 0);
        sqlite3_reset(st);
    }
    return got;
}

static int
insert(struct store *s, const struct store_import *in, struct err *e) {
    sqlite3_stmt *st = sql_get(
        s, SQL_IMPORT_ADD,
        "INSERT INTO import (hash, name, game_id, at_ms) VALUES (?1, ?2, nullif(?3, 0), ?4)", e);
    sqlite3_stmt *row = sql_get(s, SQL_IMPORT_RESULT,
                                "INSERT INTO import_result (import_id, white, black, wins, draws,"
                                " losses) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                                e);
    if (!st || !row)
        return -1;
    sql_bind_text(st, 1, in->hash);
    sql_bind_text(st, 2, in->name);
    sqlite3_bind_int64(st, 3, in->game);
    sqlite3_bind_int64(st, 4, in->at_ms);
    if (sql_run(st))
        return sql_fail(s, e, "table import");
    int64_t id = sqlite3_last_insert_rowid(s->db);
    for (size_t i = 0; i < in->results; i++) {
        const struct store_import_result *r = &in->result[i];
        sqlite3_bind_int64(row, 1, id);
        sql_bind_text(row, 2, r->white);
        sql_bind_text(row, 3, r->black);
        sqlite3_bind_int64(row, 4, r->wins);
        sqlite3_bind_int64(row, 5, r->draws);
        sqlite3_bind_int64(row, 6, r->losses);
        if (sql_run(row))
            return sql_fail(s, e, "table import_result, %.80s against %.80s", r->white, r->black);
    }
    return 0;
}

int
store_import_add(struct store *s, const struct store_import *in, struct err *e) {
    int64_t id = 0;
    if (check(s, in, e) < 0)
        return -1;
    int got = find(s, in->hash, &id, e);
    if (got)
        return got;
    if (batch_alone(s, e) < 0)
        return -1;
    if (insert(s, in, e) < 0) {
        batch_undo(s);
        return -1;
    }
    return store_commit(s, e);
}

static int delete (struct store *s, int64_t id, struct err *e) {
    static const struct {
        enum sql_id id;
        const char *sql;
    } step[] = {{SQL_IMPORT_EMPTY, "DELETE FROM import_result WHERE import_id = ?1"},
                {SQL_IMPORT_DROP, "DELETE FROM import WHERE id = ?1"}};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        sqlite3_stmt *st = sql_get(s, step[i].id, step[i].sql, e);
        if (!st)
            return -1;
        sqlite3_bind_int64(st, 1, id);
        if (sql_run(st))
            return sql_fail(s, e, "table import, id %lld", (long long)id);
    }
    return 0;
}

int
store_import_remove(struct store *s, const char *hash, struct err *e) {
    int64_t id = 0;
    int got = find(s, hash, &id, e);
    if (got <= 0)
        return got;
    if (batch_alone(s, e) < 0)
        return -1;
    if (delete (s, id, e) < 0) {
        batch_undo(s);
        return -1;
    }
    return store_commit(s, e) < 0 ? -1 : 1;
}

int
store_run_identity(struct store *s, char out[HASH_HEX], struct err *e) {
    static const char sql[] =
        "SELECT coalesce((SELECT value FROM run WHERE key = 'seed'), '') || char(10) ||"
        " coalesce((SELECT value FROM run WHERE key = 'game'), '') || char(10) ||"
        " coalesce((SELECT snapshot FROM step WHERE step = 0), '')";
    char text[8192];
    if (sql_word(s, sql, text, sizeof text, e) < 0)
        return -1;
    hash_hex(text, strlen(text), out);
    return 0;
}
