/* The open transaction. Matches gather in it until store_commit(); everything else commits what is
 * open and then writes in a transaction of its own, so that its failure takes nothing else along.
 *
 * SQLite may give up a whole transaction when the disk is full. The matches in it are then lost,
 * and their callers do not know: from there every call fails until store_rollback() says that they
 * do. */
#include "store/store-int.h"

int
batch_begin(struct store *s, struct err *e) {
    if (s->mode != STORE_WRITE)
        return store_fail(s, e, "database: opened for reading only, `agon serve` is the writer");
    if (s->lost) {
        store_fail(s, e, "database: what was added since the last commit is lost, add it again");
        s->retry = true;
        return -1;
    }
    if (s->open)
        return 0;
    if (sql_exec(s, "BEGIN IMMEDIATE", e) < 0)
        return -1;
    s->open = true;
    return 0;
}

int
batch_alone(struct store *s, struct err *e) {
    return store_commit(s, e) < 0 || batch_begin(s, e) < 0 ? -1 : 0;
}

void
batch_undo(struct store *s) {
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->open = false;
    s->lost = s->lost || s->rows > 0;
    s->rows = 0;
    s->tallies = 0;
    prompt_forget(s); /* ids given in the batch will be given to others */
}

void
store_rollback(struct store *s) {
    batch_undo(s);
    s->lost = false;
}

int
store_commit(struct store *s, struct err *e) {
    if (!s->open && !s->lost)
        return 0;
    if (batch_begin(s, e) < 0)
        return -1;
    if (tally_flush(s, e) < 0 || sql_exec(s, "COMMIT", e) < 0) {
        batch_undo(s);
        return -1;
    }
    s->open = false;
    s->rows = 0;
    return 0;
}
