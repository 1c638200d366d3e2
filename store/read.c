/* Reading matches whole: one pass over `match` and one over `turn`, side by side. The bytes of one
 * match stand in blocks of memory that are used again for the next. Rows may have been written by
 * anybody: whatever does not decode is an error that names it. */
#include "store/store-int.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct block {
    struct block *next;
    size_t used, cap;
    max_align_t data[];
};

struct reader {
    struct store *s;
    struct err *e;
    sqlite3_stmt *matches, *turns;
    bool turn_ready; /* `turns` stands on a row */
    struct block *block;
    struct store_match match;
    struct store_turn *turn;
    size_t turn_cap;
};

/* ---- memory of one match ---- */

static void *
take(struct reader *r, size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    if (!r->block || r->block->cap - r->block->used < bytes) {
        size_t cap = bytes > 256 << 10 ? bytes : 256 << 10;
        struct block *b = mem_alloc(sizeof *b + cap);
        *b = (struct block){.next = r->block, .cap = cap};
        r->block = b;
    }
    void *p = (char *)r->block->data + r->block->used;
    r->block->used += bytes;
    return p;
}

static void
free_blocks(struct reader *r, struct block *keep) {
    while (r->block && r->block != keep) {
        struct block *b = r->block;
        r->block = b->next;
        free(b);
    }
}

static void
forget_match(struct reader *r) {
    struct block *first = r->block;
    while (first && first->next)
        first = first->next;
    free_blocks(r, first);
    if (first)
        first->used = 0;
}

/* ---- columns ---- */

/* Fails with the place of the column at hand. */
static int
bad_match(struct reader *r, const char *column, const char *why) {
    return store_fail(r->s, r->e, "table match, id %lld, column %s: %s",
                      (long long)sqlite3_column_int64(r->matches, 0), column, why);
}

static int
bad_turn(struct reader *r, const char *column, const char *why) {
    return store_fail(r->s, r->e, "table turn, match %lld, turn %lld, column %s: %s",
                      (long long)sqlite3_column_int64(r->turns, 0),
                      (long long)sqlite3_column_int64(r->turns, 1), column, why);
}

/* A NULL reads as 0, and STRICT tables hold nothing else that does, so that only a 0 needs a second
 * look. */
static bool
is_null(sqlite3_stmt *st, int col) {
    return sqlite3_column_type(st, col) == SQLITE_NULL;
}

/* False when NULL or outside [min, max]. */
static bool
get_int(sqlite3_stmt *st, int col, int64_t min, int64_t max, int64_t *out) {
    *out = sqlite3_column_int64(st, col);
    return *out >= min && *out <= max && (*out || !is_null(st, col));
}

/* NULL reads as -1. False when outside [0, max]. */
static bool
get_optional(sqlite3_stmt *st, int col, int max, int *out) {
    int64_t v = sqlite3_column_int64(st, col);
    *out = !v && is_null(st, col) ? -1 : (int)v;
    return v >= 0 && v <= max;
}

static bool
get_real(sqlite3_stmt *st, int col, double least, double most, double *out) {
    *out = sqlite3_column_double(st, col);
    return *out >= least && *out <= most && (*out != 0 || !is_null(st, col));
}

/* The bytes of a text column, in the match's memory with a NUL behind; NULL when the column is.
 * (Read as a blob: SQLite would copy the text only to end it with a NUL.) */
static char *
get_text(struct reader *r, sqlite3_stmt *st, int col, size_t *n) {
    const void *text = sqlite3_column_blob(st, col);
    *n = text ? (size_t)sqlite3_column_bytes(st, col) : 0;
    if (!text && is_null(st, col))
        return NULL;
    char *copy = take(r, *n + 1);
    if (text)
        memcpy(copy, text, *n);
    copy[*n] = '\0';
    return copy;
}

/* Aligned copy of a blob of 4-byte numbers; false when its length is not a multiple of four. */
static bool
get_numbers(struct reader *r, int col, const void **out, size_t *n) {
    const void *p = sqlite3_column_blob(r->turns, col);
    size_t bytes = (size_t)sqlite3_column_bytes(r->turns, col);
    *out = NULL;
    *n = bytes / 4;
    if (bytes && p)
        *out = memcpy(take(r, bytes), p, bytes);
    return bytes % 4 == 0;
}

static int
get_moves(struct reader *r, struct store_match *m) {
    size_t len;
    const char *p = get_text(r, r->matches, 12, &len), *end = p + len;
    if (!p)
        return bad_match(r, "moves", "is NULL");
    int32_t *moves = take(r, (len / 2 + 1) * sizeof *moves);
    size_t n = 0;
    while (p < end) {
        bool minus = *p == '-';
        int64_t v = 0;
        const char *first = p += minus;
        for (; *p >= '0' && *p <= '9' && v <= INT32_MAX; p++)
            v = v * 10 + (*p - '0');
        if (p == first || v > INT32_MAX || (p < end && (*p != ' ' || p + 1 == end)))
            return bad_match(r, "moves", "is not a list of numbers");
        p += p < end;
        moves[n++] = (int32_t)(minus ? -v : v);
    }
    m->moves = moves;
    m->nmoves = n;
    return 0;
}

/* ---- rows ---- */

static int
get_enum(sqlite3_stmt *st, int col, int (*find)(const char *, size_t)) {
    const void *text = sqlite3_column_blob(st, col);
    return text ? find(text, (size_t)sqlite3_column_bytes(st, col)) : -1;
}

static int
read_match(struct reader *r) {
    sqlite3_stmt *st = r->matches;
    struct store_match *m = &r->match;
    *m = (struct store_match){.id = sqlite3_column_int64(st, 0)};
    int kind = get_enum(st, 1, name_kind), reason = get_enum(st, 7, name_reason);
    int64_t attempts;
    const char *bad = kind < 0                                                 ? "kind"
                      : !get_int(st, 2, INT64_MIN, INT64_MAX, &m->iteration)   ? "iteration"
                      : !get_int(st, 3, 1, INT64_MAX, &m->game)                ? "game_id"
                      : !get_int(st, 4, INT64_MIN, INT64_MAX, &m->deal)        ? "deal"
                      : !get_int(st, 5, 1, INT64_MAX, &m->policy[0])           ? "policy0_id"
                      : !get_int(st, 6, 1, INT64_MAX, &m->policy[1])           ? "policy1_id"
                      : reason < 0                                             ? "reason"
                      : !get_optional(st, 8, 1, &m->loser)                     ? "loser"
                      : !get_real(st, 9, -1e9, 1e9, &m->payoff[0])             ? "payoff0"
                      : !get_real(st, 10, -1e9, 1e9, &m->payoff[1])            ? "payoff1"
                      : !get_real(st, 11, -1, 1, &m->result)                   ? "result"
                      : !get_int(st, 13, INT64_MIN, INT64_MAX, &m->started_ms) ? "started_ms"
                      : !get_int(st, 14, INT64_MIN, INT64_MAX, &m->ended_ms)   ? "ended_ms"
                      : !get_int(st, 15, INT_MIN, INT_MAX, &attempts)          ? "attempts"
                                                                               : NULL;
    if (bad)
        return bad_match(r, bad, "does not decode");
    m->kind = (enum match_kind)kind;
    m->reason = (enum match_reason)reason;
    m->attempts = (int)attempts;
    size_t n;
    m->detail = get_text(r, st, 16, &n);
    if (get_moves(r, m) < 0)
        return -1;
    m->altered = !is_null(st, 17) && sqlite3_column_int64(st, 17) != sum_match(m, m->detail);
    return 0;
}

/* Reply and word as they were, and the tokens. */
static int
read_words(struct reader *r, struct store_turn *t) {
    sqlite3_stmt *st = r->turns;
    int64_t escaped, ntokens;
    size_t nword;
    char *reply = get_text(r, st, 9, &t->nreply), *word = get_text(r, st, 8, &nword);
    if (!reply)
        return bad_turn(r, "reply", "is NULL");
    if (!get_int(st, 10, 0, 1, &escaped))
        return bad_turn(r, "escaped", "is neither 0 nor 1");
    if (escaped && escape_undo(reply, t->nreply, reply, &t->nreply) < 0)
        return bad_turn(r, "reply", "has a backslash that is no escape");
    if (escaped && word && escape_undo(word, nword, word, &nword) < 0)
        return bad_turn(r, "word", "has a backslash that is no escape");
    reply[t->nreply] = '\0';
    if (word)
        word[nword] = '\0';
    if (escaped && !escape_needed(reply, t->nreply) && !(word && escape_needed(word, nword)))
        return bad_turn(r, "escaped", "is 1, but nothing had to be escaped");
    t->reply = reply;
    t->word = word;
    if (!get_int(st, 11, 0, STORE_MAX_TOKENS, &ntokens))
        return bad_turn(r, "ntokens", "is out of range");
    const void *tokens, *logp;
    size_t n, nlogp;
    if (!get_numbers(r, 12, &tokens, &n) || (tokens && n != (size_t)ntokens))
        return bad_turn(r, "tokens", "has not 4 bytes for each of `ntokens`");
    if (!get_numbers(r, 13, &logp, &nlogp) || (logp && nlogp != n))
        return bad_turn(r, "logp", "has not 4 bytes for each of `tokens`");
    t->tokens = tokens;
    t->logp = logp;
    t->ntokens = n;
    return 0;
}

static int
read_turn(struct reader *r, struct store_turn *t) {
    sqlite3_stmt *st = r->turns;
    int64_t ply, seat;
    *t = (struct store_turn){0};
    int verdict = get_enum(st, 6, name_verdict);
    const char *bad = !get_int(st, 2, 0, STORE_MAX_TOKENS, &ply)  ? "ply"
                      : !get_int(st, 3, 0, 1, &seat)              ? "seat"
                      : !get_int(st, 4, 1, INT64_MAX, &t->policy) ? "policy_id"
                      : verdict < 0                               ? "verdict"
                      : !get_optional(st, 7, INT_MAX, &t->action) ? "action"
                                                                  : NULL;
    if (bad)
        return bad_turn(r, bad, "does not decode");
    t->ply = (int)ply;
    t->seat = (int)seat;
    t->verdict = (enum turn_verdict)verdict;
    const void *prompt;
    if (sqlite3_column_int64(st, 5) && is_null(st, 14))
        return bad_turn(r, "prompt_id", "is not in table prompt");
    if (!get_numbers(r, 14, &prompt, &t->nprompt))
        return store_fail(r->s, r->e,
                          "table prompt, id %lld, column tokens: is not a list of 4-byte ids",
                          (long long)sqlite3_column_int64(st, 5));
    t->prompt = prompt;
    if (read_words(r, t) < 0)
        return -1;
    bool thinned = !t->ntokens && sqlite3_column_int64(st, 11) > 0;
    t->altered = !is_null(st, 15) && !sum_fits_turn(sqlite3_column_int64(st, 15), r->match.id,
                                                    sqlite3_column_int64(st, 1), t, thinned);
    return 0;
}

static int
next_turn(struct reader *r) {
    int got = sql_row(r->s, r->turns, "table turn", r->e);
    r->turn_ready = got == 1;
    return got < 0 ? -1 : 0;
}

/* Collects the turns of the match at hand. */
static int
read_turns(struct reader *r) {
    struct store_match *m = &r->match;
    while (r->turn_ready && sqlite3_column_int64(r->turns, 0) <= m->id) {
        if (sqlite3_column_int64(r->turns, 0) != m->id)
            return bad_turn(r, "match_id", "is not in table match");
        if (sqlite3_column_int64(r->turns, 1) != (int64_t)m->nturns)
            return bad_turn(r, "turn_no", "does not count up from 0");
        if (m->nturns == r->turn_cap) {
            r->turn_cap = r->turn_cap * 2 + 16;
            r->turn = mem_grow(r->turn, r->turn_cap, sizeof *r->turn);
        }
        if (read_turn(r, &r->turn[m->nturns]) < 0 || next_turn(r) < 0)
            return -1;
        m->nturns++;
    }
    m->turn = r->turn;
    return 0;
}

static int
read_all(struct reader *r, int (*each)(void *arg, const struct store_match *m), void *arg) {
    if (next_turn(r) < 0)
        return -1;
    int got;
    while ((got = sql_row(r->s, r->matches, "table match", r->e)) == 1) {
        if (read_match(r) < 0 || read_turns(r) < 0)
            return -1;
        int stop = each(arg, &r->match);
        if (stop)
            return stop;
        forget_match(r);
    }
    if (got == 0 && r->turn_ready)
        return bad_turn(r, "match_id", "is not in table match");
    return got;
}

/* Both statements are begun before the first row is read, and so see one state of the database. */
static int
begin(struct reader *r, int64_t first, int64_t last) {
    static const char matches[] =
        "SELECT id, kind, iteration, game_id, deal, policy0_id, policy1_id, reason, loser, payoff0,"
        " payoff1, result, moves, started_ms, ended_ms, attempts, detail, sum"
        " FROM match WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
    static const char turns[] =
        "SELECT t.match_id, t.turn_no, t.ply, t.seat, t.policy_id, t.prompt_id, t.verdict, "
        "t.action,"
        " t.word, t.reply, t.escaped, t.ntokens, t.tokens, t.logp, p.tokens, t.sum"
        " FROM turn t LEFT JOIN prompt p ON p.id = t.prompt_id"
        " WHERE t.match_id BETWEEN ?1 AND ?2 ORDER BY t.match_id, t.turn_no";
    r->matches = sql_get(r->s, SQL_MATCH_EACH, matches, r->e);
    r->turns = sql_get(r->s, SQL_TURN_EACH, turns, r->e);
    if (!r->matches || !r->turns)
        return -1;
    sqlite3_bind_int64(r->matches, 1, first);
    sqlite3_bind_int64(r->matches, 2, last);
    sqlite3_bind_int64(r->turns, 1, first);
    sqlite3_bind_int64(r->turns, 2, last);
    return 0;
}

int
store_match_each(struct store *s, int64_t first, int64_t last,
                 int (*each)(void *arg, const struct store_match *m), void *arg, struct err *e) {
    if (s->reading)
        return store_fail(s, e, "database: matches are being read on this connection already");
    struct reader r = {.s = s, .e = e};
    if (begin(&r, first, last) < 0)
        return -1;
    s->reading = true;
    bool own = sqlite3_get_autocommit(s->db) != 0; /* one state for both statements */
    int rc = own ? sql_exec(s, "BEGIN", e) : 0;
    if (!rc)
        rc = read_all(&r, each, arg);
    sqlite3_reset(r.matches);
    sqlite3_reset(r.turns);
    if (own && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    s->reading = false;
    free_blocks(&r, NULL);
    free(r.turn);
    return rc;
}
