/* Copies of a database that may be written at the same time, and the check that a file is whole. */
#include "store/store-int.h"

#include <stdio.h>
#include <string.h>

#define PAGES_AT_ONCE 2048
#define CHECK_STEPS 1000000 /* of SQLite's machine between two looks at `stop` */

struct copy {
    sqlite3 *to;
    sqlite3_backup *backup;
};

static int
step(struct store *s, struct copy *c, const struct store_watch *w, struct err *e) {
    int rc;
    do {
        rc = sqlite3_backup_step(c->backup, PAGES_AT_ONCE);
        int all = sqlite3_backup_pagecount(c->backup);
        if (w && w->tell && w->tell(w->arg, all - sqlite3_backup_remaining(c->backup), all))
            return store_fail(s, e, "stopped");
    } while (rc == SQLITE_OK);
    if (rc != SQLITE_DONE)
        return store_fail(s, e, "%s", rc == SQLITE_FULL ? "the disk is full" : sqlite3_errstr(rc));
    return 0;
}

static int
copy(struct store *s, struct copy *c, const char *path, const struct store_watch *w,
     struct err *e) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    char plain[4096];
    snprintf(plain, sizeof plain, "%s%s", *path == '/' ? "" : "./", path);
    if (sqlite3_open_v2(plain, &c->to, flags, NULL))
        return store_fail(s, e, "cannot create: %s", sqlite3_errmsg(c->to));
    sqlite3_exec(c->to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL);
    c->backup = sqlite3_backup_init(c->to, "main", s->db, "main");
    if (!c->backup)
        return store_fail(s, e, "cannot copy: %s", sqlite3_errmsg(c->to));
    return step(s, c, w, e);
}

/* One state of the database is held on to for the whole copy: otherwise SQLite would begin anew
 * each time that the server commits. */
int
store_backup(struct store *s, const char *path, const struct store_watch *w, struct err *e) {
    struct copy c = {0};
    int64_t version;
    if (sql_exec(s, "BEGIN", e) < 0)
        return err_prefix(e, "%s", path);
    int bad = sql_number(s, "SELECT count(*) FROM sqlite_schema", &version, e);
    if (!bad && w && w->held)
        bad = w->held(w->arg, e);
    if (!bad && copy(s, &c, path, w, e) < 0)
        bad = err_prefix(e, "%s", path);
    sqlite3_backup_finish(c.backup);
    sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    /* One plain file: a copy in WAL mode would grow two more beside it whenever it is read. */
    if (!bad && sqlite3_exec(c.to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL))
        bad = store_fail(s, e, "%s: cannot write: %s", path, sqlite3_errmsg(c.to));
    if (sqlite3_close(c.to) && !bad)
        bad = store_fail(s, e, "%s: cannot write", path);
    return bad;
}

static int
is_stopped(void *arg) {
    const struct store_watch *w = arg;
    return w->tell(w->arg, 0, 0);
}

int
store_check(struct store *s, bool quick, const struct store_watch *w, struct err *e) {
    char answer[512];
    if (w && w->tell)
        sqlite3_progress_handler(s->db, CHECK_STEPS, is_stopped, (void *)w);
    int got = sql_word(s, quick ? "PRAGMA quick_check(1)" : "PRAGMA integrity_check(1)", answer,
                       sizeof answer, e);
    sqlite3_progress_handler(s->db, 0, NULL, NULL);
    if (got < 0)
        return -1;
    return got == 1 && !strcmp(answer, "ok") ? 0 : store_fail(s, e, "damaged: %.400s", answer);
}

const char *
store_sqlite_version(void) {
    return sqlite3_libversion();
}
