/* What the files of store/ share; nobody else includes it.
 *
 * sql.c: statements and errors · batch.c: the open transaction and what happens when it is lost ·
 * schema.c: versions · escape.c: bytes as text · the rest: one table or two each. */
#ifndef STORE_STORE_INT_H
#define STORE_STORE_INT_H

#include <sqlite3.h>

#include "base/buf.h"
#include "base/err.h"
#include "store/store.h"

#define STORE_APPLICATION 0x41676f6e /* "Agon" */
#define STORE_PATIENCE_US 2000000    /* for a named question: the server has other work */
#define STORE_MAX_ROW (128 << 20)    /* bytes of one row: longer ones are refused, not read */
#define STORE_MAX_REPLY (16 << 20)   /* bytes of one reply, word or prompt text */
#define STORE_MAX_TOKENS (4 << 20)   /* tokens of one turn's prompt or reply; moves of one match */
#define STORE_MAX_TURNS (1 << 20)    /* turns of one match */

#define STORE_QUESTIONS 48 /* room for so many named ones */

enum sql_id { /* prepared statements, kept for the life of the connection */
              SQL_RUN_GET,
              SQL_RUN_SET,
              SQL_GAME_FIND,
              SQL_GAME_ADD,
              SQL_GAME_GET,
              SQL_GAME_LIST,
              SQL_POLICY_FIND,
              SQL_POLICY_ADD,
              SQL_POLICY_GET,
              SQL_POLICY_STEP,
              SQL_POLICY_LATEST,
              SQL_POLICY_NAME,
              SQL_POLICY_PREFIX,
              SQL_POLICY_LIST,
              SQL_POLICY_KEPT,
              SQL_MATCH_ADD,
              SQL_MATCH_EXISTS,
              SQL_MATCH_LAST,
              SQL_MATCH_EACH,
              SQL_TURN_ADD,
              SQL_TURN_EACH,
              SQL_PROMPT_FIND,
              SQL_PROMPT_ADD,
              SQL_PROMPT_EACH,
              SQL_TALLY_ADD,
              SQL_TOTAL_ADD,
              SQL_SEAT_TALLY_ADD,
              SQL_LEASE_NEXT,
              SQL_LEASE_COUNT,
              SQL_LEASE_ADD,
              SQL_LEASE_DROP,
              SQL_LEASE_GET,
              SQL_LEASE_CLOSE,
              SQL_STEP_LAST,
              SQL_STEP_ADD,
              SQL_SAMPLE_ADD,
              SQL_BASELINE_SET,
              SQL_BASELINE_LIST,
              SQL_EVAL_ADD,
              SQL_EVENT_ADD,
              SQL_THIN,
              SQL_IMPORT_FIND,
              SQL_IMPORT_ADD,
              SQL_IMPORT_RESULT,
              SQL_IMPORT_EMPTY,
              SQL_IMPORT_DROP,
              SQL_MATCH_SAMPLES,
              SQL_WAY_POLICY,
              SQL_IDS
};

#define PROMPT_SLOTS 16384
#define PROMPT_BYTES (32 << 20)

struct prompt_slot {
    uint64_t hash;
    int64_t id;
    int32_t *tokens; /* owned; NULL: the slot is empty */
    size_t n;
};

#define TALLY_SLOTS 256

struct tally {
    enum { TALLY_PAIR, TALLY_SEAT, TALLY_RUN } table;
    enum match_kind kind;
    enum match_reason reason;
    int loser;        /* of TALLY_SEAT: 1 when it was this one */
    int seat, mirror; /* of TALLY_SEAT; mirror: 1 against itself */
    int64_t game, policy[2];
    int64_t matches, wins0, draws, wins1, turns, tokens;
    double result_sum;
};

struct store {
    sqlite3 *db;
    enum store_mode mode;
    bool open;               /* a transaction has begun */
    bool lost;               /* matches of a batch were given up; store_rollback() ends this */
    int64_t rows;            /* matches in the open batch */
    int log_pages;           /* of the -wal file when it was last moved into the database */
    bool retry;              /* the last failure was "busy" or "full" */
    bool reading;            /* store_match_each() is at work */
    int64_t patience_us;     /* of store_query() */
    int64_t games, policies; /* greatest ids: rows are never deleted, so 1..greatest exist */
    sqlite3_stmt *stmt[SQL_IDS];
    sqlite3_stmt *question[STORE_QUESTIONS]; /* of store_query() */
    struct prompt_slot *prompt;              /* [PROMPT_SLOTS], chosen by hash; NULL for readers */
    size_t prompt_bytes;
    struct tally tally[TALLY_SLOTS]; /* of the open batch, not written yet */
    int tallies;
    struct buf moves, reply, word; /* scratch of writing */
};

/* ---- questions.c ---- */
extern const struct store_named store_questions[]; /* [store_questions_n] */
extern const int store_questions_n;
/* SQL for the ids of the policies that `p`, a parameter, may mean. */
#define STORE_POLICY_IDS(p)                                                        \
    "SELECT id FROM policy WHERE id = " p " OR name = " p " OR (kind = 'snapshot'" \
    " AND length(" p ") >= 4 AND substr(name, 1, length(" p ")) = " p ")"          \
    " OR (" p " = 'latest' AND id = (SELECT policy_after_id FROM step"             \
    " ORDER BY step DESC LIMIT 1))"

/* ---- open.c ---- */
#define PATH_ROOM 4096
/* A path as SQLite's URI, with "?..." behind it. */
void path_uri(const char *path, const char *query, char uri[PATH_ROOM * 4]);

/* ---- sum.c ---- */
/* detail: as it is stored. */
int64_t sum_match(const struct store_match *m, const char *detail);
int64_t sum_turn(int64_t match, int64_t number, const struct store_turn *t);
bool sum_fits_turn(int64_t sum, int64_t match, int64_t number, const struct store_turn *t,
                   bool thinned);

/* ---- recover.c ---- */
int recover_check(struct store *s, const char *path, struct err *e);

/* ---- sql.c ---- */
/* The statement of `id`, prepared from `sql` at its first use. NULL on failure. */
sqlite3_stmt *sql_get(struct store *s, enum sql_id id, const char *sql, struct err *e);
/* Runs to its end a statement without rows and resets it; 0, or the SQLite result code. */
int sql_run(sqlite3_stmt *st);
int sql_exec(struct store *s, const char *sql, struct err *e);
/* One row of one statement: 1 a row (reset it after reading), 0 none (reset already), -1. */
int sql_row(struct store *s, sqlite3_stmt *st, const char *what, struct err *e);
/* One-off questions: the first column of the only row. sql_word: 1 found, 0 no row, -1. */
int sql_number(struct store *s, const char *sql, int64_t *out, struct err *e);
int sql_word(struct store *s, const char *sql, char *out, size_t cap, struct err *e);
/* Fails with "what: the connection's last error" and notes whether it was busy or full; -1. */
int sql_fail(struct store *s, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails for a reason outside SQLite; -1. */
int store_fail(struct store *s, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Text of a column in the caller's room. False when NULL, of another type, or too long. */
bool sql_text(sqlite3_stmt *st, int col, char *out, size_t cap);
void sql_bind_text(sqlite3_stmt *st, int at,
                   const char *text); /* NULL binds NULL; bytes are borrowed */

/* ---- schema.c ---- */
/* Refuses a file that is not Agon's, or of a version that this connection cannot use; writes
 * nothing. */
int schema_refuse(struct store *s, const char *path, struct err *e);
/* Brings the file to the newest version in one transaction. */
int schema_open(struct store *s, const char *path, struct err *e);
/* step[i] is the SQL that leads from version i to i + 1. */
int schema_apply(struct store *s, const char *const *step, int steps, struct err *e);

/* ---- batch.c ---- */
int batch_begin(struct store *s, struct err *e); /* joins the open batch, or begins one */
int batch_alone(struct store *s, struct err *e); /* commits the open batch, then begins */
void batch_undo(struct store *s);

/* ---- prompt.c ---- */
int64_t prompt_id(struct store *s, const struct store_turn *t, struct err *e); /* -1 on failure */
void prompt_forget(struct store *s);

/* ---- tally.c ---- */
int tally_match(struct store *s, const struct store_match *m, struct err *e);
int tally_flush(struct store *s, struct err *e);

/* ---- names.c ---- */
int name_kind(const char *text, size_t n); /* -1: unknown */
int name_reason(const char *text, size_t n);
int name_verdict(const char *text, size_t n);

/* ---- escape.c ---- */
bool escape_needed(const char *p, size_t n);
void escape_add(struct buf *out, const char *p, size_t n);
int escape_undo(const char *p, size_t n, char *out,
                size_t *len); /* out: room for n; -1: malformed */

/* ---- query.c ---- */
#define CELLS_MOST 64 /* columns of an answer */
/* The present row as cells [cells]; room [cells] holds what had to be escaped, until the next
 * row. */
void cells_read(sqlite3_stmt *st, struct store_cell *cell, int cells, struct buf *room);

/* ---- policy.c ---- */
int policy_insert(struct store *s, struct store_policy *p,
                  struct err *e); /* found or added, in the batch */

#endif
