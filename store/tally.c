/* Sums over matches. They gather in memory while a batch is open and reach the table with its
 * commit. */
#include "store/store-int.h"

static struct tally *
slot(struct store *s, const struct store_match *m) {
    for (int i = s->tallies - 1; i >= 0; i--) {
        struct tally *t = &s->tally[i];
        if (t->game == m->game && t->policy[0] == m->policy[0] && t->policy[1] == m->policy[1] &&
            t->kind == m->kind && t->reason == m->reason && t->loser == m->loser)
            return t;
    }
    return NULL;
}

static int
write_one(struct store *s, const struct tally *t, struct err *e) {
    static const char sql[] =
        "INSERT INTO tally (game_id, kind, policy0_id, policy1_id, reason, loser, matches, wins0,"
        " draws, wins1, result_sum, turns, tokens)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
        " ON CONFLICT DO UPDATE SET matches = matches + excluded.matches,"
        " wins0 = wins0 + excluded.wins0, draws = draws + excluded.draws,"
        " wins1 = wins1 + excluded.wins1, result_sum = result_sum + excluded.result_sum,"
        " turns = turns + excluded.turns, tokens = tokens + excluded.tokens";
    sqlite3_stmt *st = sql_get(s, SQL_TALLY_ADD, sql, e);
    if (!st)
        return -1;
    sqlite3_bind_int64(st, 1, t->game);
    sql_bind_text(st, 2, match_kind_name(t->kind));
    sqlite3_bind_int64(st, 3, t->policy[0]);
    sqlite3_bind_int64(st, 4, t->policy[1]);
    sql_bind_text(st, 5, match_reason_name(t->reason));
    sqlite3_bind_int(st, 6, t->loser);
    sqlite3_bind_int64(st, 7, t->matches);
    sqlite3_bind_int64(st, 8, t->wins0);
    sqlite3_bind_int64(st, 9, t->draws);
    sqlite3_bind_int64(st, 10, t->wins1);
    sqlite3_bind_double(st, 11, t->result_sum);
    sqlite3_bind_int64(st, 12, t->turns);
    sqlite3_bind_int64(st, 13, t->tokens);
    return sql_run(st) ? sql_fail(s, e, "table tally") : 0;
}

int
tally_flush(struct store *s, struct err *e) {
    for (int i = 0; i < s->tallies; i++)
        if (write_one(s, &s->tally[i], e) < 0)
            return -1;
    s->tallies = 0;
    return 0;
}

int
tally_match(struct store *s, const struct store_match *m, struct err *e) {
    struct tally *t = slot(s, m);
    if (!t) {
        if (s->tallies == TALLY_SLOTS && tally_flush(s, e) < 0)
            return -1;
        t = &s->tally[s->tallies++];
        *t = (struct tally){.kind = m->kind,
                            .reason = m->reason,
                            .loser = m->loser,
                            .game = m->game,
                            .policy = {m->policy[0], m->policy[1]}};
    }
    t->matches++;
    t->wins0 += m->result > 0;
    t->draws += m->result == 0;
    t->wins1 += m->result < 0;
    t->result_sum += m->result;
    t->turns += (int64_t)m->nturns;
    for (size_t i = 0; i < m->nturns; i++)
        t->tokens += (int64_t)m->turn[i].ntokens;
    return 0;
}
