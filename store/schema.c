/* Versions of the database. schema.sql makes version 1; each later version is one more step in the
 * table below. All steps that a file needs run in one transaction, then the views are made anew. A
 * file of a newer version, or of another program, is refused and left alone. */
#include "store/store-int.h"

#include <stdio.h>

/* The text of a .sql file becomes part of the program. */
#define EMBED(name, path)                                                                \
    __asm__(".section .rodata\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.previous\n"); \
    extern const char name[] __attribute__((visibility("hidden")))

EMBED(store_schema_sql, "store/schema.sql");
EMBED(store_schema_2_sql, "store/schema-2.sql");
EMBED(store_schema_3_sql, "store/schema-3.sql");
EMBED(store_views_sql, "store/views.sql");

static int
drop_views(struct store *s, struct err *e) {
    for (;;) {
        char name[128];
        int got = sql_word(s, "SELECT name FROM sqlite_schema WHERE type = 'view' LIMIT 1", name,
                           sizeof name, e);
        if (got <= 0)
            return got;
        char *sql = sqlite3_mprintf("DROP VIEW \"%w\"", name);
        int bad = sql ? sql_exec(s, sql, e) : store_fail(s, e, "database: out of memory");
        sqlite3_free(sql);
        if (bad)
            return -1;
    }
}

int
schema_apply(struct store *s, const char *const *step, int steps, struct err *e) {
    if (sql_exec(s, "BEGIN IMMEDIATE", e) < 0)
        return -1;
    int64_t version;
    char mark[128];
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             STORE_APPLICATION, steps);
    int bad = sql_number(s, "PRAGMA user_version", &version, e);
    /* Steps may change the texts of tables, nobody else may. */
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    for (int64_t i = bad ? steps : version; i < steps && !bad; i++) {
        bad = sql_exec(s, step[i], e);
        if (bad)
            err_prefix(e, "making version %d of the database", (int)i + 1);
    }
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (!bad && version < steps)
        bad = drop_views(s, e) || sql_exec(s, store_views_sql, e) || sql_exec(s, mark, e);
    if (bad || sql_exec(s, "COMMIT", e) < 0) {
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        return -1;
    }
    return 0;
}

static const char *const steps[] = {store_schema_sql, store_schema_2_sql, store_schema_3_sql};
#define STEPS ((int)(sizeof steps / sizeof *steps))

int
schema_refuse(struct store *s, const char *path, struct err *e) {
    int64_t application, version, tables;
    if (sql_number(s, "PRAGMA application_id", &application, e) < 0 ||
        sql_number(s, "PRAGMA user_version", &version, e) < 0 ||
        sql_number(s, "SELECT count(*) FROM sqlite_schema", &tables, e) < 0)
        return err_prefix(e, "%s", path);
    bool fresh = application == 0 && version == 0 && tables == 0;
    if (fresh && s->mode == STORE_READ)
        return store_fail(s, e, "%s: an empty database, no run has started here yet", path);
    if (fresh)
        return 0;
    if (application != STORE_APPLICATION)
        return store_fail(s, e, "%s: a database of another program, not of Agon", path);
    if (version < 1)
        return store_fail(s, e, "%s: damaged, a database of Agon has no version %lld", path,
                          (long long)version);
    if (version > STEPS)
        return store_fail(
            s, e,
            "%s: written by a newer Agon (database version %lld, this program knows %d); "
            "use the newer program",
            path, (long long)version, STEPS);
    if (version < STEPS && s->mode == STORE_READ)
        return store_fail(
            s, e,
            "%s: written by an older Agon (database version %lld); start `agon serve` on "
            "it once, which brings it to version %d",
            path, (long long)version, STEPS);
    return 0;
}

int
schema_open(struct store *s, const char *path, struct err *e) {
    if (s->mode == STORE_READ)
        return 0;
    if (schema_apply(s, steps, STEPS, e) < 0)
        return err_prefix(e, "%s", path);
    return 0;
}
