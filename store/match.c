/* Writing matches. A match is checked first, so that a bad one leaves the batch as it was. */
#include "store/store-int.h"

#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "token ids and log-probabilities are stored as they lie in memory");

static int
check_turn(struct store *s, const struct store_match *m, size_t i, struct err *e) {
    const struct store_turn *t = &m->turn[i];
    const char *bad = NULL;
    if (t->seat != 0 && t->seat != 1)
        bad = "seat is neither 0 nor 1";
    else if (t->ply < 0 || (size_t)t->ply > m->nmoves)
        bad = "ply is not a place in the match's moves";
    else if (t->policy < 1 || t->policy > s->policies)
        bad = "policy is unknown";
    else if ((unsigned)t->verdict >= VERDICTS)
        bad = "verdict is unknown";
    else if (t->nreply > STORE_MAX_REPLY || (t->word && strlen(t->word) > STORE_MAX_REPLY) ||
             (t->prompt_text && strlen(t->prompt_text) > STORE_MAX_REPLY))
        bad = "text is too long";
    else if (t->nprompt > STORE_MAX_TOKENS || t->ntokens > STORE_MAX_TOKENS)
        bad = "too many tokens";
    else if ((t->nprompt && !t->prompt) || (t->ntokens && !t->tokens) || (t->nreply && !t->reply))
        bad = "a length without its bytes";
    return bad ? store_fail(s, e, "match %lld, turn %zu: %s", (long long)m->id, i, bad) : 0;
}

static int
check(struct store *s, const struct store_match *m, struct err *e) {
    const char *bad = NULL;
    if (m->id < 1)
        bad = "id is less than 1";
    else if ((unsigned)m->kind > MATCH_PLAY || (unsigned)m->reason >= END_REASONS)
        bad = "kind or reason is unknown";
    else if (m->game < 1 || m->game > s->games)
        bad = "game is unknown";
    else if (m->policy[0] < 1 || m->policy[0] > s->policies || m->policy[1] < 1 ||
             m->policy[1] > s->policies)
        bad = "policy is unknown";
    else if (m->loser < -1 || m->loser > 1)
        bad = "loser is no seat";
    else if (!isfinite(m->payoff[0]) || !isfinite(m->payoff[1]) || !(fabs(m->result) <= 1))
        bad = "payoffs are not numbers in range";
    else if (m->nmoves > STORE_MAX_TOKENS || m->nturns > STORE_MAX_TURNS)
        bad = "too many moves or turns";
    else if ((m->nmoves && !m->moves) || (m->nturns && !m->turn))
        bad = "a length without its rows";
    if (bad)
        return store_fail(s, e, "match %lld: %s", (long long)m->id, bad);
    for (size_t i = 0; i < m->nturns; i++)
        if (check_turn(s, m, i, e) < 0)
            return -1;
    return 0;
}

static void
put_moves(struct buf *out, const struct store_match *m) {
    buf_clear(out);
    for (size_t i = 0; i < m->nmoves; i++) {
        char digits[16];
        size_t at = sizeof digits;
        int64_t v = m->moves[i] < 0 ? -(int64_t)m->moves[i] : m->moves[i];
        do
            digits[--at] = (char)('0' + v % 10);
        while (v /= 10);
        if (m->moves[i] < 0)
            digits[--at] = '-';
        if (i)
            digits[--at] = ' ';
        buf_add(out, digits + at, sizeof digits - at);
    }
}

/* Detail sentences are Agon's own, but may quote a program's words. */
static const char *
put_detail(struct buf *out, const char *detail) {
    if (!detail || !escape_needed(detail, strlen(detail)))
        return detail;
    buf_clear(out);
    escape_add(out, detail, strlen(detail));
    return buf_text(out);
}

static int
insert_row(struct store *s, const struct store_match *m, struct err *e) {
    static const char sql[] =
        "INSERT INTO match (id, kind, iteration, game_id, deal, policy0_id, policy1_id, reason, "
        "loser,"
        " payoff0, payoff1, result, moves, started_ms, ended_ms, attempts, detail, sum)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,"
        " ?18)";
    sqlite3_stmt *st = sql_get(s, SQL_MATCH_ADD, sql, e);
    if (!st)
        return -1;
    put_moves(&s->moves, m);
    sqlite3_bind_int64(st, 1, m->id);
    sql_bind_text(st, 2, match_kind_name(m->kind));
    sqlite3_bind_int64(st, 3, m->iteration);
    sqlite3_bind_int64(st, 4, m->game);
    sqlite3_bind_int64(st, 5, m->deal);
    sqlite3_bind_int64(st, 6, m->policy[0]);
    sqlite3_bind_int64(st, 7, m->policy[1]);
    sql_bind_text(st, 8, match_reason_name(m->reason));
    if (m->loser < 0)
        sqlite3_bind_null(st, 9);
    else
        sqlite3_bind_int(st, 9, m->loser);
    sqlite3_bind_double(st, 10, m->payoff[0]);
    sqlite3_bind_double(st, 11, m->payoff[1]);
    sqlite3_bind_double(st, 12, m->result);
    sqlite3_bind_text(st, 13, buf_text(&s->moves), (int)s->moves.len, SQLITE_STATIC);
    sqlite3_bind_int64(st, 14, m->started_ms);
    sqlite3_bind_int64(st, 15, m->ended_ms);
    sqlite3_bind_int(st, 16, m->attempts);
    const char *detail = put_detail(&s->word, m->detail);
    sql_bind_text(st, 17, detail);
    sqlite3_bind_int64(st, 18, sum_match(m, detail));
    int rc = sql_run(st);
    if (rc)
        sql_fail(s, e, "table match, id %lld", (long long)m->id);
    return (rc & 0xff) == SQLITE_CONSTRAINT ? 1 : rc ? -1 : 0;
}

static void
bind_numbers(sqlite3_stmt *st, int at, const void *p, size_t n) {
    if (p && n)
        sqlite3_bind_blob64(st, at, p, n * sizeof(int32_t), SQLITE_STATIC);
    else
        sqlite3_bind_null(st, at);
}

/* Binds reply, word and the mark that says whether they are escaped. */
static void
bind_words(struct store *s, sqlite3_stmt *st, const struct store_turn *t) {
    size_t nword = t->word ? strlen(t->word) : 0;
    const char *reply = t->nreply ? t->reply : "", *word = t->word;
    size_t nreply = t->nreply;
    bool escaped = escape_needed(reply, nreply) || (word && escape_needed(word, nword));
    if (escaped) {
        buf_clear(&s->reply);
        escape_add(&s->reply, reply, nreply);
        reply = buf_text(&s->reply);
        nreply = s->reply.len;
    }
    if (escaped && word) {
        buf_clear(&s->word);
        escape_add(&s->word, word, nword);
        word = buf_text(&s->word);
        nword = s->word.len;
    }
    if (word)
        sqlite3_bind_text(st, 9, word, (int)nword, SQLITE_STATIC);
    else
        sqlite3_bind_null(st, 9);
    sqlite3_bind_text(st, 10, reply, (int)nreply, SQLITE_STATIC);
    sqlite3_bind_int(st, 11, escaped);
}

static int
insert_turn(struct store *s, const struct store_match *m, size_t i, struct err *e) {
    static const char sql[] =
        "INSERT INTO turn (match_id, turn_no, ply, seat, policy_id, prompt_id, verdict, action, "
        "word,"
        " reply, escaped, ntokens, tokens, logp, sum)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    const struct store_turn *t = &m->turn[i];
    int64_t prompt = t->nprompt ? prompt_id(s, t, e) : 0;
    sqlite3_stmt *st = prompt < 0 ? NULL : sql_get(s, SQL_TURN_ADD, sql, e);
    if (!st)
        return -1;
    sqlite3_bind_int64(st, 1, m->id);
    sqlite3_bind_int64(st, 2, (int64_t)i);
    sqlite3_bind_int(st, 3, t->ply);
    sqlite3_bind_int(st, 4, t->seat);
    sqlite3_bind_int64(st, 5, t->policy);
    if (prompt)
        sqlite3_bind_int64(st, 6, prompt);
    else
        sqlite3_bind_null(st, 6);
    sql_bind_text(st, 7, turn_verdict_name(t->verdict));
    if (t->action < 0)
        sqlite3_bind_null(st, 8);
    else
        sqlite3_bind_int(st, 8, t->action);
    bind_words(s, st, t);
    sqlite3_bind_int64(st, 12, (int64_t)t->ntokens);
    bind_numbers(st, 13, t->tokens, t->ntokens);
    bind_numbers(st, 14, t->logp, t->ntokens);
    sqlite3_bind_int64(st, 15, sum_turn(m->id, (int64_t)i, t));
    return sql_run(st) ? sql_fail(s, e, "table turn, match %lld, turn %zu", (long long)m->id, i)
                       : 0;
}

/* 0, 1 when nothing was written and the batch is whole (e says why), -1 when it must be undone. */
static int
insert(struct store *s, const struct store_match *m, struct err *e) {
    int rc = insert_row(s, m, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < m->nturns; i++)
        if (insert_turn(s, m, i, e) < 0)
            return -1;
    return tally_match(s, m, e);
}

int
store_match_add(struct store *s, const struct store_match *m, struct err *e) {
    if (check(s, m, e) < 0 || batch_begin(s, e) < 0)
        return -1;
    int rc = insert(s, m, e);
    if (rc < 0)
        batch_undo(s);
    else if (rc == 0)
        s->rows++;
    return rc ? -1 : 0;
}

bool
store_match_exists(struct store *s, int64_t id) {
    sqlite3_stmt *st = sql_get(s, SQL_MATCH_EXISTS, "SELECT 1 FROM match WHERE id = ?1", NULL);
    if (!st)
        return false;
    sqlite3_bind_int64(st, 1, id);
    bool found = sqlite3_step(st) == SQLITE_ROW;
    sqlite3_reset(st);
    return found;
}

int64_t
store_match_last(struct store *s, struct err *e) {
    sqlite3_stmt *st = sql_get(s, SQL_MATCH_LAST, "SELECT coalesce(max(id), 0) FROM match", e);
    if (!st || sql_row(s, st, "table match", e) <= 0)
        return -1;
    int64_t id = sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    return id;
}
