/* A write-ahead log beside the file, before a writer takes it in: is it this database's own? SQLite
 * does not know. It would put the pages of a stranger's log over its own, and with the next
 * checkpoint they are gone for good. So what the file says without the log must still stand where
 * the log is counted in, and the whole must hold together; both is only read. */
#include "store/store-int.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"

#define CHECK_US 5000000 /* for the pages of a large file: what was seen until then counts */

struct facts { /* what never changes once it is written */
    char text[1024];
};

static int
open_reader(struct store *s, const char *path, bool without_log) {
    char uri[PATH_ROOM * 4];
    path_uri(path, without_log ? "?immutable=1" : "?mode=ro", uri);
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    if (sqlite3_open_v2(uri, &s->db, flags, NULL))
        return -1;
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_busy_timeout(s->db, 2000);
    return 0;
}

/* The newest step, match and policy of the file: -1 when it has no tables yet. */
static int
newest(struct store *s, int64_t id[3]) {
    static const char *const sql[] = {"SELECT coalesce(max(step), -1) FROM step",
                                      "SELECT coalesce(max(id), -1) FROM match",
                                      "SELECT coalesce(max(id), -1) FROM policy"};
    for (int i = 0; i < 3; i++)
        if (sql_number(s, sql[i], &id[i], NULL) < 0)
            return -1;
    return 0;
}

static int
read_facts(struct store *s, const int64_t id[3], struct facts *out, struct err *e) {
    char sql[1024];
    snprintf(
        sql, sizeof sql,
        "SELECT coalesce((SELECT set_ms || ' ' || value FROM run WHERE key = 'seed'), '') || '/'"
        " || coalesce((SELECT snapshot FROM step WHERE step = %lld), '') || '/'"
        " || coalesce((SELECT ended_ms || ' ' || substr(moves, 1, 200) FROM match"
        " WHERE id = %lld), '') || '/'"
        " || coalesce((SELECT made_ms || ' ' || name FROM policy WHERE id = %lld), '')",
        (long long)id[0], (long long)id[1], (long long)id[2]);
    return sql_word(s, sql, out->text, sizeof out->text, e) == 1 ? 0 : -1;
}

static int
is_late(void *arg) {
    return clock_mono_us() > *(const int64_t *)arg;
}

/* Do the pages hold together? */
static bool
holds(struct store *s) {
    char answer[128];
    int64_t until = clock_mono_us() + CHECK_US;
    sqlite3_progress_handler(s->db, 100000, is_late, &until);
    int got = sql_word(s, "PRAGMA quick_check(1)", answer, sizeof answer, NULL);
    return got == 1 ? !strcmp(answer, "ok") : (sqlite3_errcode(s->db) & 0xff) == SQLITE_INTERRUPT;
}

/* Is what the file tells by itself still so with the log? Whoever was killed while pages were moved
 * from the log into the file has left a file that tells nothing by itself; what was written when
 * the run began stands in it all the same. */
static bool
agrees(struct store *without, struct store *with) {
    static const int64_t none[3] = {-1, -1, -1};
    int64_t id[3];
    struct facts before, now;
    bool solid = newest(without, id) == 0 && holds(without);
    if (read_facts(without, solid ? id : none, &before, NULL) < 0)
        return true;
    return read_facts(with, solid ? id : none, &now, NULL) == 0 && !strcmp(now.text, before.text) &&
           holds(with);
}

int
recover_check(struct store *s, const char *path, struct err *e) {
    char log[PATH_ROOM];
    struct stat st;
    struct store without = {.mode = STORE_READ}, with = {.mode = STORE_READ};
    snprintf(log, sizeof log, "%s-wal", path);
    if (stat(log, &st) < 0 || st.st_size == 0 || stat(path, &st) < 0 || st.st_size == 0)
        return 0;
    bool foreign = false;
    if (open_reader(&without, path, true) == 0 && open_reader(&with, path, false) == 0) {
        /* A reader that cannot be had tells nothing; the writer will say what is wrong. */
        int rc = sqlite3_exec(with.db, "PRAGMA schema_version", NULL, NULL, NULL) & 0xff;
        foreign = (rc == SQLITE_OK || rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB) &&
                  !agrees(&without, &with);
    }
    sqlite3_close(without.db);
    sqlite3_close(with.db);
    if (!foreign)
        return 0;
    return store_fail(s, e,
                      "%s: is damaged, or the log of another database; %s by itself is as it was. "
                      "Put its own log back, or move this one away: then the run goes on from what "
                      "is in the file, or from a backup",
                      log, path);
}
