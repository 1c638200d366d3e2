/* The match database: the only code that speaks SQL. `agon serve` holds the one writer; everybody
 * else opens it read-only (SQLite up to 3.51.2 can corrupt a WAL file when two connections write
 * and checkpoint at the same moment: sqlite.org/wal.html#walresetbug).
 *
 * Matches are written in batches: store_match_add() runs inside one open transaction, begun by the
 * first and made durable by store_commit(). Nothing may be acknowledged to anybody before the
 * commit. All other writing functions commit what is open, and then themselves.
 *
 * Functions return 0, or -1 with e filled (table and row named). "Busy" and "full" are states:
 * store_retry(s) tells whether the same may succeed later. When they cost the matches of the open
 * batch, every writing call fails so until store_rollback(); then the matches are added again.
 * docs/database.md describes the tables. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

struct store; /* opaque: one connection */

enum store_mode { STORE_WRITE, STORE_READ };

/* Opens `path`; STORE_WRITE creates and migrates it, and the caller sees to it that it is the only
 * writer. A file of a newer schema, of another program, or no database at all is refused.
 * full_sync: survive a power cut, not only the death of the process. */
struct store *store_open(const char *path, enum store_mode mode, bool full_sync, struct err *e);
void store_close(struct store *s); /* commits what is open; NULL is fine */
int store_commit(struct store *s, struct err *e);
/* Forgets the matches added since the last commit (after a failure that store_retry() explains). */
void store_rollback(struct store *s);
bool store_retry(const struct store *s); /* was the last failure "busy" or "full"? */
int store_checkpoint(struct store *s, struct err *e);

/* ---- run: facts. _set: set once, later values must agree. _put: the newest value counts. ---- */
int store_run_set(struct store *s, const char *key, const char *value, struct err *e);
int store_run_put(struct store *s, const char *key, const char *value, struct err *e);
/* 1 found, 0 not, -1. */
int store_run_get(struct store *s, const char *key, char *value, size_t cap, struct err *e);

/* ---- games and policies: found or added; ids count from 1 ---- */
struct store_game {
    int64_t id;
    char spec[256]; /* canonical: "kuhn_poker(hands=1,side=0)" */
    char name[64];
    int version;
    char hash[HASH_HEX]; /* of a plug-in's file; "" for built-in games */
};
int store_game_add(struct store *s, struct store_game *g, struct err *e); /* sets g->id */
int store_game_get(struct store *s, int64_t id, struct store_game *g, struct err *e);
int store_game_list(struct store *s, int (*each)(void *arg, const struct store_game *), void *arg,
                    struct err *e);

struct store_policy {
    int64_t id;
    char kind[16];       /* "snapshot" or "scripted" */
    char name[HASH_HEX]; /* the snapshot's hash, or the scripted player's name */
    int64_t step;        /* learner step that made it; 0 = the first weights; -1 for scripted */
    int64_t parent;      /* policy it was trained from, 0 = none */
    int64_t at_ms;       /* creation */
    bool kept;           /* is the snapshot file still there? */
};
/* By kind, name and step. */
int store_policy_add(struct store *s, struct store_policy *p, struct err *e);
int store_policy_get(struct store *s, int64_t id, struct store_policy *p, struct err *e);
/* Newest snapshot: 1 found, 0 none yet. */
int store_policy_latest(struct store *s, struct store_policy *p, struct err *e);
/* By scripted name, or unique prefix (4 digits or more) of a hash: 1 found, 0 not, -1. */
int store_policy_find(struct store *s, const char *name, struct store_policy *p, struct err *e);
int store_policy_list(struct store *s, int (*each)(void *arg, const struct store_policy *),
                      void *arg, struct err *e);
/* "step 60 (3f9a12cd)", or a scripted player's name: as the views have it. */
#define STORE_LABEL 128
void store_policy_label(const struct store_policy *p, char out[STORE_LABEL]);
int store_policy_set_kept(struct store *s, int64_t id, bool kept, struct err *e);

/* ---- matches ---- */
enum match_kind { MATCH_TRAIN, MATCH_WARMUP, MATCH_EVAL, MATCH_PLAY };
/* Why a match ended; every match has exactly one reason. */
enum match_reason {
    END_PLAY,       /* by the rules */
    END_INVALID,    /* a reply that is no legal action (the mover loses) */
    END_NO_ANSWER,  /* no reply, or none within its token limit */
    END_TIME,       /* a deadline passed */
    END_CRASH,      /* the game or its process died */
    END_TURN_LIMIT, /* max_turns reached */
    END_ABORTED,    /* given up; payoffs are 0 and it is never learned from */
    END_REASONS
};
const char *match_kind_name(enum match_kind k);     /* "train", ... */
const char *match_reason_name(enum match_reason r); /* "play", "invalid", "no answer", ... */

enum turn_verdict {
    VERDICT_OK,
    VERDICT_NO_WORD,
    VERDICT_ILLEGAL,
    VERDICT_CUT,
    VERDICT_TIME,
    VERDICTS
};
const char *turn_verdict_name(enum turn_verdict v);

struct store_turn {
    int ply; /* index into the match's moves when it was asked */
    int seat;
    const int32_t *prompt;   /* [nprompt] tokens this turn added to the seat's context */
    size_t nprompt;          /* stored once per distinct content */
    const char *prompt_text; /* the same for people, kept with a prompt's first use; NULL: none */
    const char *reply;       /* [nreply] raw reply bytes */
    size_t nreply;
    const char *word; /* extracted action word, NULL when there is none */
    int action;       /* -1 when the verdict is not OK */
    enum turn_verdict verdict;
    const int32_t *tokens; /* [ntokens] sampled ids, the end token included */
    const float *logp;     /* [ntokens] behaviour log-probabilities; NULL for scripted players */
    size_t ntokens;
    int64_t policy; /* policy id that produced this turn */
    bool altered;   /* reading: the row is not what was written (its checksum tells) */
};

struct store_match {
    int64_t id; /* schedule id; unique */
    enum match_kind kind;
    int64_t iteration; /* learner step whose snapshot was newest when it was assigned */
    int64_t game;      /* game id */
    int64_t deal;      /* random stream of its chance nodes (pairs share it) */
    int64_t policy[2]; /* policy id of each seat */
    enum match_reason reason;
    int loser;            /* seat at fault for reasons other than play; -1 */
    double payoff[2];     /* as learned from, in [-1, 1] (invalid: spiral may break the sum) */
    double result;        /* player 0's zero-sum payoff in [-1, 1]: what ratings use */
    const int32_t *moves; /* [nmoves] every action applied, chance outcomes included */
    size_t nmoves;
    int64_t started_ms, ended_ms;
    int attempts;                  /* 1, or 2 after a crash */
    const char *detail;            /* a sentence for crash, aborted, time; NULL */
    const struct store_turn *turn; /* [nturns] */
    size_t nturns;
    bool altered; /* reading: the row is not what was written (its checksum tells) */
};
int store_match_add(struct store *s, const struct store_match *m, struct err *e);
bool store_match_exists(struct store *s, int64_t id);
/* Greatest match id, 0 when there is none; -1 on error. */
int64_t store_match_last(struct store *s, struct err *e);
/* Reads matches first..last (ascending) whole. Pointers are valid during the call only; each()
 * returns 0 to go on. Bytes that do not decode are an error that names table, row and column. */
int store_match_each(struct store *s, int64_t first, int64_t last,
                     int (*each)(void *arg, const struct store_match *m), void *arg, struct err *e);

/* The table of prompts; each() returns 0 to go on. `hash_fits`: the stored hash is that of the
 * tokens. `text` is as it is stored, NULL where there is none. */
struct store_prompt {
    int64_t id;
    const int32_t *tokens; /* [n] */
    size_t n;
    const char *text;
    bool hash_fits;
};
int store_prompt_each(struct store *s, int (*each)(void *arg, const struct store_prompt *p),
                      void *arg, struct err *e);
/* A text as the database stores it: what is no printable UTF-8 is escaped. Appends to `out`. */
void store_text(const char *text, size_t n, struct buf *out);

/* ---- leases, consumption, steps ---- */
struct store_lease {
    int64_t id, first, last; /* match ids, all recorded, none consumed */
};
/* Training matches are consumed in id order. The next id to be leased (1 past the last leased or
 * consumed training match). */
int64_t store_lease_next(struct store *s, struct err *e);
int store_lease_add(struct store *s, struct store_lease *l, struct err *e); /* sets l->id */
/* Forgets leases not acknowledged (a learner that starts takes its matches again); how many. */
int store_lease_drop(struct store *s, struct err *e);

struct store_sample { /* one seat of one match as it was learned from */
    int64_t match;
    int seat;
    double ret, baseline, advantage; /* return, baseline before, advantage = ret - baseline */
};
/* What was learned from a match: out[seat].seat is -1 where nothing was; step[seat] is the step. */
int store_match_samples(struct store *s, int64_t id, struct store_sample out[2], int64_t step[2],
                        struct err *e);
struct store_baseline {
    int64_t game;
    int role; /* 0, 1; -1 = shared */
    double value;
    int64_t count;
};
struct store_metric {
    const char *name; /* column of `step` or a key of its JSON `extra` */
    double value;     /* NaN = not measured: stored as NULL */
};
struct store_step {
    int64_t step; /* newest + 1; 0 = the first weights, without leases and samples */
    int64_t policy_before;
    const char *snapshot; /* hash of the snapshot it made */
    const char *state;    /* hash of the learner's state file */
    bool refused; /* non-finite: weights unchanged, no policy row; *policy = policy_before */
    int64_t at_ms;
    const struct store_lease *lease;
    size_t nlease; /* found by id; first and last are not looked at */
    const struct store_sample *sample;
    size_t nsample;
    const struct store_baseline *baseline;
    size_t nbaseline;
    const struct store_metric *metric;
    size_t nmetric;
};
/* All of it or nothing, committed before it returns: step row, policy row (*policy = its id),
 * samples, baselines, leases closed. A step out of order, an unknown lease or a sample consumed
 * before is refused. The very same step and snapshot again is answered with success (the answer had
 * been lost): returns 1. */
int store_step_ack(struct store *s, const struct store_step *st, int64_t *policy, struct err *e);
/* Newest acknowledged step (-1: not even the first weights) and the hash of the learner's state. */
int store_step_last(struct store *s, int64_t *step, char state[HASH_HEX], struct err *e);
int store_baseline_list(struct store *s, int (*each)(void *arg, const struct store_baseline *),
                        void *arg, struct err *e);

/* ---- thinning: less bytes for what was learned from ---- */
/* Drops token ids and log-probabilities of consumed training matches with id <= upto that ended by
 * play, except where id % keep_one_in == 0 and among the newest thousand; store_match_each() then
 * gives their turns ntokens 0. Does one bounded slice a call (2048 ids), from where the last call
 * ended, and commits. Returns how many ids it passed (0: nothing left to do), or -1. */
int store_thin(struct store *s, int64_t upto, int keep_one_in, struct err *e);

/* ---- evaluations and events ---- */
struct store_eval {
    int64_t policy; /* 0 = the mixture */
    int64_t step;
    int64_t game;
    const char *kind; /* "exact" or "matches" */
    const char *json; /* what `agon eval --json` printed */
    int64_t at_ms;
};
int store_eval_add(struct store *s, const struct store_eval *v, struct err *e);
int store_event_add(struct store *s, const char *level, const char *module, const char *text,
                    struct err *e);

/* ---- results that were played elsewhere ---- */
#define STORE_IMPORT_MOST 1000000000
struct store_import_result {     /* sums of two players' matches */
    const char *white, *black;   /* names as in the file */
    int64_t wins, draws, losses; /* seen from white, each at most STORE_IMPORT_MOST */
};
struct store_import {
    const char *hash; /* SHA-256 of the file */
    const char *name; /* of the file */
    int64_t game;     /* 0: not said */
    int64_t at_ms;
    const struct store_import_result *result;
    size_t results;
};
/* Commits. 1: a file of this hash is there already, nothing was done. */
int store_import_add(struct store *s, const struct store_import *in, struct err *e);
/* Commits. 1: it was there and is removed, 0: it was not there. */
int store_import_remove(struct store *s, const char *hash, struct err *e);
/* What the run is, as a hash: seed, games and first weights. Two runs of one identity have the same
 * matches. */
int store_run_identity(struct store *s, char out[HASH_HEX], struct err *e);

/* ---- questions of people and the API: rows as JSON, so that callers need no SQL ---- */
struct store_named {
    const char *name, *help;
    const char *params; /* ":game :limit"; each may be left out, and is then "any" */
    const char *sql;
};
const struct store_named *store_query_at(int i); /* NULL past the last */
/* Runs one of the named queries (store/query.c lists them: "status", "matches", "match", "turns",
 * "policies", "steps", "evals", "events", "games", "forfeits", ...) with integer and text
 * parameters bound by name. each() receives one row: names and values as text (NULL = SQL NULL),
 * `kind` tells the JSON type of each. Returns the number of rows or -1. */
enum store_type { STORE_NULL, STORE_INT, STORE_REAL, STORE_TEXT };
struct store_cell {
    const char *name, *text;
    enum store_type type;
};
struct store_bind {
    const char *name; /* ":limit" */
    const char *text; /* used when not NULL; "" = any */
    int64_t number;
};
/* A question that takes longer than two seconds is given up, or than what is set here. */
void store_set_patience(struct store *s, double seconds);
int store_query(struct store *s, const char *query, const struct store_bind *bind, size_t nbind,
                int (*each)(void *arg, const struct store_cell *cell, int cells), void *arg,
                struct err *e);

/* ---- copies and checks ---- */
struct store_watch { /* for those who wait; tell() returns true to stop */
    bool (*tell)(void *arg, int done, int all); /* pages; all is 0 where that is not known */
    /* store_backup: reads through `s` see what will be copied. NULL, or -1 and e to give up. */
    int (*held)(void *arg, struct err *e);
    void *arg;
};
/* Copies the database as it is now to the new file `path`, while others write. The caller gives the
 * file its name and syncs it. `w` may be NULL. */
int store_backup(struct store *s, const char *path, const struct store_watch *w, struct err *e);
/* Reads the whole file and checks that it is whole: every page, every row, and (unless quick) every
 * index against its table. */
int store_check(struct store *s, bool quick, const struct store_watch *w, struct err *e);
const char *store_sqlite_version(void); /* "3.40.1" */

/* ---- a stranger's own question ---- */
struct store_sql {
    int rows;     /* most */
    size_t bytes; /* of text in all rows, most */
    int64_t most_us;
    void *arg;
    /* Called once before the rows, with the columns' names alone. */
    void (*heads)(void *arg, const struct store_cell *cell, int cells);
    void (*each)(void *arg, const struct store_cell *cell, int cells);
    bool cut; /* set: there was more than rows and bytes allow */
};
/* Runs one SELECT on a reading connection. Whatever else the text asks for (writing, PRAGMA,
 * ATTACH, a second statement) is refused by name; time, rows, columns and memory are bounded.
 * Returns the number of rows, or -1. */
int store_sql(struct store *s, const char *sql, size_t n, struct store_sql *q, struct err *e);

#endif
