/* Opening and closing. Readers can open a run that is being written, one that has stopped, and one
 * that they may not write to. */
#include "store/store-int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

#define READ_WAIT_MS 2000
#define WRITE_WAIT_MS 100
#define OPEN_WAIT_MS 90000
#define LOG_PAGES 1000

static int
check_path(struct store *s, const char *path, struct err *e) {
    struct stat st;
    if (!*path)
        return store_fail(s, e, "database: its path is empty");
    if (strlen(path) > PATH_ROOM / 4)
        return store_fail(s, e, "%s: path too long", path);
    if (stat(path, &st) < 0) {
        if (s->mode == STORE_WRITE && errno == ENOENT)
            return 0;
        return store_fail(s, e, "%s: cannot open the database: %s", path, strerror(errno));
    }
    if (S_ISDIR(st.st_mode))
        return store_fail(s, e, "%s: is a folder, a database file is needed", path);
    if (!S_ISREG(st.st_mode))
        return store_fail(s, e, "%s: is no ordinary file", path);
    return 0;
}

/* SQLite reads special names into ":memory:" and "file:..."; a path is only a path. */
static void
plain_path(const char *path, char out[PATH_ROOM]) {
    snprintf(out, PATH_ROOM, "%s%s", *path == '/' ? "" : "./", path);
}

void
path_uri(const char *path, const char *query, char uri[PATH_ROOM * 4]) {
    char plain[PATH_ROOM];
    plain_path(path, plain);
    char *at = uri + snprintf(uri, PATH_ROOM, "file:");
    for (const char *p = plain; *p; p++)
        at += snprintf(at, 4, strchr("%?#", *p) ? "%%%02X" : "%c", (unsigned char)*p);
    snprintf(at, 16, "%s", query);
}

/* A stopped run in a folder that this user may not write to: SQLite cannot make its -shm file
 * there. It can read the file as one that nobody changes, which is right as long as no -wal file
 * stands beside it. */
static int
open_immutable(struct store *s, const char *path, struct err *e) {
    char wal[PATH_ROOM], uri[PATH_ROOM * 4];
    struct stat st;
    snprintf(wal, sizeof wal, "%s-wal", path);
    if (stat(wal, &st) == 0 && st.st_size > 0)
        return store_fail(
            s, e,
            "%s: it was not closed properly and this user may not write to its folder; "
            "start and stop `agon serve` on it, or copy %s and %s elsewhere",
            path, path, wal);
    path_uri(path, "?immutable=1", uri);
    sqlite3_close(s->db);
    s->db = NULL;
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    if (sqlite3_open_v2(uri, &s->db, flags, NULL))
        return sql_fail(s, e, "%s: cannot open the database", path);
    return 0;
}

static int
open_file(struct store *s, const char *path, struct err *e) {
    char plain[PATH_ROOM];
    plain_path(path, plain);
    int flags =
        s->mode == STORE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    if (sqlite3_open_v2(plain, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL))
        return sql_fail(s, e, "%s: cannot open the database", path);
    sqlite3_extended_result_codes(s->db, 1);
    /* Whoever opens a database first may hold it for a moment, to recover a killed writer's log;
     * and a writer that begins while another program writes has nothing better to do than wait. */
    sqlite3_busy_timeout(s->db, s->mode == STORE_WRITE ? OPEN_WAIT_MS : READ_WAIT_MS);
    if (s->mode == STORE_WRITE)
        return 0;
    /* The first read needs the -shm file; that is where a read-only folder shows. */
    int rc = sqlite3_exec(s->db, "PRAGMA schema_version", NULL, NULL, NULL) & 0xff;
    if (rc == SQLITE_CANTOPEN || rc == SQLITE_READONLY)
        return open_immutable(s, path, e);
    return rc ? sql_fail(s, e, "%s: cannot read the database", path) : 0;
}

/* After a commit: moves the log into the database once it has grown by LOG_PAGES. What readers
 * still look at keeps it from beginning anew, for as long as they look; to try again at each commit
 * would only cost time. Where it fails, the log just grows on. */
static int
on_commit(void *arg, sqlite3 *db, const char *name, int pages) {
    struct store *s = arg;
    if (pages < s->log_pages)
        s->log_pages = 0; /* it has begun anew */
    if (pages >= s->log_pages + LOG_PAGES) {
        s->log_pages = pages;
        sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }
    return SQLITE_OK;
}

/* No memory map: a file that somebody truncates would kill the reader with SIGBUS. */
static int
set_up(struct store *s, const char *path, bool full_sync, struct err *e) {
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, STORE_MAX_ROW);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    const char *both = "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
                       "PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;";
    const char *reader = "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -16384;"
                         "PRAGMA query_only = ON;";
    const char *writer = "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL;"
                         "PRAGMA journal_size_limit = 67108864;"
                         "PRAGMA cache_size = -16384;";
    if (sql_exec(s, both, e) < 0 || sql_exec(s, s->mode == STORE_WRITE ? writer : reader, e) < 0)
        return err_prefix(e, "%s", path);
    if (s->mode == STORE_READ)
        return 0;
    char mode[16] = "";
    if (sql_word(s, "PRAGMA journal_mode", mode, sizeof mode, e) < 0)
        return -1;
    if (strcmp(mode, "wal"))
        return store_fail(s, e, "%s: this file system cannot hold a WAL database (mode %s)", path,
                          mode);
    sqlite3_wal_hook(s->db, on_commit, s);
    return sql_exec(s, full_sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", e);
}

static int
open_all(struct store *s, const char *path, bool full_sync, struct err *e) {
    if (check_path(s, path, e) < 0 || (s->mode == STORE_WRITE && recover_check(s, path, e) < 0) ||
        open_file(s, path, e) < 0 || schema_refuse(s, path, e) < 0 ||
        set_up(s, path, full_sync, e) < 0 || schema_open(s, path, e) < 0 ||
        sql_number(s, "SELECT coalesce(max(id), 0) FROM game", &s->games, e) < 0 ||
        sql_number(s, "SELECT coalesce(max(id), 0) FROM policy", &s->policies, e) < 0)
        return -1;
    if (s->mode == STORE_WRITE) /* later it has: a server's event loop stands still meanwhile */
        sqlite3_busy_timeout(s->db, WRITE_WAIT_MS);
    return 0;
}

struct store *
store_open(const char *path, enum store_mode mode, bool full_sync, struct err *e) {
    struct store *s = mem_zero(1, sizeof *s);
    s->mode = mode;
    s->patience_us = STORE_PATIENCE_US;
    if (mode == STORE_WRITE)
        s->prompt = mem_zero(PROMPT_SLOTS, sizeof *s->prompt);
    if (open_all(s, path, full_sync, e) < 0) {
        store_close(s);
        return NULL;
    }
    return s;
}

void
store_close(struct store *s) {
    if (!s)
        return;
    if (s->db && s->mode == STORE_WRITE) {
        store_commit(s, NULL);
        batch_undo(s);
    }
    for (int i = 0; i < SQL_IDS; i++)
        sqlite3_finalize(s->stmt[i]);
    for (int i = 0; i < STORE_QUESTIONS; i++)
        sqlite3_finalize(s->question[i]);
    sqlite3_close(s->db);
    prompt_forget(s);
    free(s->prompt);
    buf_free(&s->moves);
    buf_free(&s->reply);
    buf_free(&s->word);
    free(s);
}

int
store_checkpoint(struct store *s, struct err *e) {
    if (store_commit(s, e) < 0)
        return -1;
    int rc = sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    /* Busy: a reader still needs a part of the log; what could be moved has been. */
    return rc && (rc & 0xff) != SQLITE_BUSY ? sql_fail(s, e, "checkpoint") : 0;
}
