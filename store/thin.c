/* Thinning: matches that were learned from keep their moves, words and replies, but lose the token
 * ids and log-probabilities, which are most of their bytes. Forfeits stay whole, and so do one
 * match in `keep` and the newest. The run's fact "thinned" tells how far it has come, so that each
 * call goes on where the last one ended. */
#include "store/store-int.h"

#include <stdio.h>
#include <stdlib.h>

#define SLICE 2048  /* match ids of one call: about ten milliseconds */
#define NEWEST 1000 /* consumed ids that are left alone, for people to look at */

static int
thinned_upto(struct store *s, int64_t *upto, struct err *e) {
    char text[24];
    int got = store_run_get(s, "thinned", text, sizeof text, e);
    *upto = got == 1 ? strtoll(text, NULL, 10) : 0;
    return got < 0 ? -1 : 0;
}

/* Greatest id such that every match up to it is either consumed or will never be. */
static int
consumed_upto(struct store *s, int64_t *upto, struct err *e) {
    return sql_number(s,
                      "SELECT coalesce((SELECT min(first_match) - 1 FROM lease WHERE step IS NULL),"
                      " (SELECT max(last_match) FROM lease), 0)",
                      upto, e);
}

static int
thin(struct store *s, int64_t first, int64_t last, int keep, struct err *e) {
    static const char sql[] =
        "UPDATE turn SET tokens = NULL, logp = NULL WHERE match_id BETWEEN ?1 AND ?2"
        " AND match_id % ?3 <> 0 AND tokens IS NOT NULL"
        " AND EXISTS (SELECT 1 FROM match m WHERE m.id = match_id AND m.kind = 'train'"
        "  AND m.reason = 'play')"
        " AND EXISTS (SELECT 1 FROM sample a WHERE a.match_id = turn.match_id)";
    sqlite3_stmt *st = sql_get(s, SQL_THIN, sql, e);
    if (!st)
        return -1;
    sqlite3_bind_int64(st, 1, first);
    sqlite3_bind_int64(st, 2, last);
    sqlite3_bind_int(st, 3, keep);
    return sql_run(st)
               ? sql_fail(s, e, "table turn, matches %lld..%lld", (long long)first, (long long)last)
               : 0;
}

int
store_thin(struct store *s, int64_t upto, int keep_one_in, struct err *e) {
    int64_t done, consumed;
    if (keep_one_in < 1)
        return store_fail(s, e, "thinning: one match in %d cannot be kept", keep_one_in);
    if (thinned_upto(s, &done, e) < 0 || consumed_upto(s, &consumed, e) < 0)
        return -1;
    if (upto > consumed - NEWEST)
        upto = consumed - NEWEST;
    if (done >= upto)
        return 0;
    int64_t last = upto - done > SLICE ? done + SLICE : upto;
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)last);
    if (batch_alone(s, e) < 0)
        return -1;
    if (thin(s, done + 1, last, keep_one_in, e) < 0) {
        batch_undo(s);
        return -1;
    }
    return store_run_put(s, "thinned", text, e) < 0 ? -1 : (int)(last - done);
}
