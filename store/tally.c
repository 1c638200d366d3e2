/* Sums over matches: of each pair of policies, of each policy in each seat, and of the whole run.
 * They gather in memory while a batch is open and reach their tables with its commit. */
#include "store/store-int.h"

/* ---- tables ---- */

#define VALUES " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
#define ADD " ON CONFLICT DO UPDATE SET matches = matches + excluded.matches,"
#define ADD_RESULTS                                                                   \
    " wins0 = wins0 + excluded.wins0, draws = draws + excluded.draws,"                \
    " wins1 = wins1 + excluded.wins1, result_sum = result_sum + excluded.result_sum," \
    " turns = turns + excluded.turns, tokens = tokens + excluded.tokens"

static const struct {
    enum sql_id id;
    const char *sql;
} tables[] = {
    [TALLY_PAIR] = {SQL_TALLY_ADD,
                    "INSERT INTO tally (game_id, kind, reason, loser, matches, wins0, draws, wins1,"
                    " result_sum, turns, tokens, policy0_id, policy1_id)" VALUES ADD ADD_RESULTS},
    [TALLY_SEAT] = {SQL_SEAT_TALLY_ADD,
                    "INSERT INTO seat_tally (game_id, kind, reason, fault, matches, wins, draws,"
                    " losses, policy_id, seat, mirror)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?12, ?14, ?15)" ADD
                    " wins = wins + excluded.wins, draws = draws + excluded.draws,"
                    " losses = losses + excluded.losses"},
    [TALLY_RUN] = {SQL_TOTAL_ADD,
                   "INSERT INTO total (game_id, kind, reason, loser, matches, wins0, draws, wins1,"
                   " result_sum, turns, tokens)"
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)" ADD ADD_RESULTS},
};

static int
write_one(struct store *s, const struct tally *t, struct err *e) {
    sqlite3_stmt *st = sql_get(s, tables[t->table].id, tables[t->table].sql, e);
    if (!st)
        return -1;
    sqlite3_bind_int64(st, 1, t->game);
    sql_bind_text(st, 2, match_kind_name(t->kind));
    sql_bind_text(st, 3, match_reason_name(t->reason));
    sqlite3_bind_int(st, 4, t->loser);
    sqlite3_bind_int64(st, 5, t->matches);
    sqlite3_bind_int64(st, 6, t->wins0);
    sqlite3_bind_int64(st, 7, t->draws);
    sqlite3_bind_int64(st, 8, t->wins1);
    if (t->table != TALLY_SEAT) {
        sqlite3_bind_double(st, 9, t->result_sum);
        sqlite3_bind_int64(st, 10, t->turns);
        sqlite3_bind_int64(st, 11, t->tokens);
    }
    if (t->table != TALLY_RUN)
        sqlite3_bind_int64(st, 12, t->policy[0]);
    if (t->table == TALLY_PAIR)
        sqlite3_bind_int64(st, 13, t->policy[1]);
    if (t->table == TALLY_SEAT) {
        sqlite3_bind_int(st, 14, t->seat);
        sqlite3_bind_int(st, 15, t->mirror);
    }
    return sql_run(st) ? sql_fail(s, e, "sums of matches") : 0;
}

int
tally_flush(struct store *s, struct err *e) {
    for (int i = 0; i < s->tallies; i++)
        if (write_one(s, &s->tally[i], e) < 0)
            return -1;
    s->tallies = 0;
    return 0;
}

/* ---- one match ---- */

static struct tally *
find(struct store *s, const struct tally *key) {
    for (int i = s->tallies - 1; i >= 0; i--) {
        struct tally *t = &s->tally[i];
        if (t->policy[0] == key->policy[0] && t->policy[1] == key->policy[1] &&
            t->table == key->table && t->reason == key->reason && t->loser == key->loser &&
            t->seat == key->seat && t->mirror == key->mirror && t->kind == key->kind &&
            t->game == key->game)
            return t;
    }
    return NULL;
}

/* `result` as the row's own side sees it: of seat 0, but in TALLY_SEAT. */
static int
add(struct store *s, const struct tally *key, const struct store_match *m, int64_t tokens,
    double result, struct err *e) {
    struct tally *t = find(s, key);
    if (!t) {
        if (s->tallies == TALLY_SLOTS && tally_flush(s, e) < 0)
            return -1;
        t = &s->tally[s->tallies++];
        *t = *key;
    }
    t->matches++;
    t->wins0 += result > 0;
    t->draws += result == 0;
    t->wins1 += result < 0;
    t->result_sum += result;
    t->turns += (int64_t)m->nturns;
    t->tokens += tokens;
    return 0;
}

int
tally_match(struct store *s, const struct store_match *m, struct err *e) {
    struct tally all = {.table = TALLY_RUN,
                        .kind = m->kind,
                        .reason = m->reason,
                        .game = m->game,
                        .loser = m->loser};
    struct tally pair = all;
    int64_t tokens = 0;
    for (size_t i = 0; i < m->nturns; i++)
        tokens += (int64_t)m->turn[i].ntokens;
    pair.table = TALLY_PAIR;
    pair.policy[0] = m->policy[0];
    pair.policy[1] = m->policy[1];
    if (add(s, &all, m, tokens, m->result, e) < 0 || add(s, &pair, m, tokens, m->result, e) < 0)
        return -1;
    for (int seat = 0; seat < 2; seat++) {
        struct tally one = all;
        one.table = TALLY_SEAT;
        one.policy[0] = m->policy[seat];
        one.seat = seat;
        one.mirror = m->policy[0] == m->policy[1];
        one.loser = m->loser == seat;
        if (add(s, &one, m, tokens, seat ? -m->result : m->result, e) < 0)
            return -1;
    }
    return 0;
}
