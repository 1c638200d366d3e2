/* Games: found or added. */
#include "store/store-int.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS "id, spec, name, version, hash"

static int
find(struct store *s, struct store_game *g, struct err *e) {
    sqlite3_stmt *st = sql_get(
        s, SQL_GAME_FIND, "SELECT id FROM game WHERE spec = ?1 AND version = ?2 AND hash = ?3", e);
    if (!st)
        return -1;
    sql_bind_text(st, 1, g->spec);
    sqlite3_bind_int(st, 2, g->version);
    sql_bind_text(st, 3, g->hash);
    int got = sql_row(s, st, "table game", e);
    if (got == 1) {
        g->id = sqlite3_column_int64(st, 0);
        sqlite3_reset(st);
    }
    return got;
}

int
store_game_add(struct store *s, struct store_game *g, struct err *e) {
    int got = find(s, g, e);
    if (got)
        return got < 0 ? -1 : 0;
    sqlite3_stmt *st = sql_get(
        s, SQL_GAME_ADD, "INSERT INTO game (spec, name, version, hash) VALUES (?1, ?2, ?3, ?4)", e);
    if (!st || batch_alone(s, e) < 0)
        return -1;
    sql_bind_text(st, 1, g->spec);
    sql_bind_text(st, 2, g->name);
    sqlite3_bind_int(st, 3, g->version);
    sql_bind_text(st, 4, g->hash);
    if (sql_run(st)) {
        sql_fail(s, e, "table game, %s", g->spec);
        batch_undo(s);
        return -1;
    }
    int64_t id = sqlite3_last_insert_rowid(s->db);
    if (store_commit(s, e) < 0)
        return -1;
    g->id = s->games = id;
    return 0;
}

static int
decode(struct store *s, sqlite3_stmt *st, struct store_game *g, struct err *e) {
    *g = (struct store_game){.id = sqlite3_column_int64(st, 0),
                             .version = sqlite3_column_int(st, 3)};
    const char *bad = !sql_text(st, 1, g->spec, sizeof g->spec)   ? "spec"
                      : !sql_text(st, 2, g->name, sizeof g->name) ? "name"
                      : !sql_text(st, 4, g->hash, sizeof g->hash) ? "hash"
                                                                  : NULL;
    return bad ? store_fail(s, e, "table game, id %lld, column %s: does not decode",
                            (long long)g->id, bad)
               : 0;
}

int
store_game_get(struct store *s, int64_t id, struct store_game *g, struct err *e) {
    sqlite3_stmt *st = sql_get(s, SQL_GAME_GET, "SELECT " COLUMNS " FROM game WHERE id = ?1", e);
    if (!st)
        return -1;
    sqlite3_bind_int64(st, 1, id);
    int got = sql_row(s, st, "table game", e);
    if (got == 0)
        return store_fail(s, e, "table game: there is no id %lld", (long long)id);
    if (got < 0)
        return -1;
    int bad = decode(s, st, g, e);
    sqlite3_reset(st);
    return bad;
}

int
store_game_list(struct store *s, int (*each)(void *arg, const struct store_game *), void *arg,
                struct err *e) {
    sqlite3_stmt *st = sql_get(s, SQL_GAME_LIST, "SELECT " COLUMNS " FROM game ORDER BY id", e);
    if (!st)
        return -1;
    int got;
    while ((got = sql_row(s, st, "table game", e)) == 1) {
        struct store_game g;
        int stop = decode(s, st, &g, e);
        if (!stop)
            stop = each(arg, &g);
        if (stop) {
            sqlite3_reset(st);
            return stop;
        }
    }
    return got;
}
