/* The named questions of people and of the API. A question is one row of the table below;
 * parameters that are not given are NULL, which every question takes for "any". Answers are rows of
 * text. :limit rows at most, with ids below :before · :game name or spec · :policy id, name,
 * `latest`, or the first four or more digits of a snapshot's hash · :kind, :reason, :level a word of that column ·
 * :id, :step numbers. */
#include "store/store-int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define MOST_US 2000000 /* a question that takes longer is given up: the server has other work */
#define PAGE "LIMIT min(max(coalesce(:limit, 50), 0), 10000)"
#define POLICY                                                                         \
    "SELECT id FROM policy WHERE id = :policy OR name = :policy OR (kind = 'snapshot'" \
    " AND length(:policy) >= 4 AND substr(name, 1, length(:policy)) = :policy)"        \
    " OR (:policy = 'latest' AND id = (SELECT policy_after_id FROM step"                \
    " ORDER BY step DESC LIMIT 1))"
#define MATCH_FILTER                                                                         \
    " (:kind IS NULL OR m.kind = :kind) AND (:before IS NULL OR m.id < :before)"             \
    " AND (:policy IS NULL OR m.policy0_id IN (" POLICY ") OR m.policy1_id IN (" POLICY "))" \
    " AND (:game IS NULL OR m.game_id IN (SELECT id FROM game WHERE :game IN (name, spec)))"

static const struct store_named named[] = {
    {"status", "counts, the newest step, and the speed over the last 1000 match ids", "",
     "WITH t AS (SELECT coalesce(sum(matches), 0) AS matches,"
     "  coalesce(sum(matches) FILTER (WHERE kind = 'train'), 0) AS train_matches,"
     "  coalesce(sum(matches) FILTER (WHERE kind = 'eval'), 0) AS eval_matches,"
     "  coalesce(sum(matches) FILTER (WHERE loser >= 0), 0) AS forfeits,"
     "  coalesce(sum(matches) FILTER (WHERE reason = 'aborted'), 0) AS aborted,"
     "  coalesce(sum(turns), 0) AS turns, coalesce(sum(tokens), 0) AS tokens FROM tally),"
     " r AS (SELECT count(*) AS n, max(ended_ms) - min(ended_ms) AS ms, max(ended_ms) AS newest"
     "  FROM match WHERE id > (SELECT max(id) FROM match) - 1000)"
     " SELECT (SELECT max(step) FROM step) AS step,"
     "  (SELECT label FROM v_policies WHERE id ="
     "   (SELECT policy_after_id FROM step ORDER BY step DESC LIMIT 1)) AS policy,"
     "  t.*, (SELECT max(id) FROM match) AS last_match,"
     "  CASE WHEN r.ms > 0 THEN round((r.n - 1) * 1000.0 / r.ms, 2) END AS matches_per_second,"
     "  r.newest AS last_ended_ms,"
     "  (SELECT count(*) FROM policy WHERE kind = 'snapshot') AS snapshots,"
     "  (SELECT count(*) FROM lease WHERE step IS NULL) AS open_leases,"
     "  (SELECT coalesce(max(last_match), 0) FROM lease) AS last_leased,"
     "  (SELECT page_count FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size())"
     "   AS bytes"
     " FROM t, r"},
    {"matches", "matches, newest first", ":game :policy :kind :reason :before :limit",
     "WITH picked AS (SELECT id FROM match m WHERE (:reason IS NULL OR :reason = 'play')"
     "  AND (:reason IS NULL OR m.reason = :reason) AND" MATCH_FILTER
     "  UNION ALL SELECT id FROM match m WHERE m.reason = :reason AND m.reason <> 'play' "
     "AND" MATCH_FILTER "  ORDER BY id DESC " PAGE ")"
     " SELECT v.* FROM picked JOIN v_matches v ON v.id = picked.id ORDER BY v.id DESC"},
    {"newest", "the oldest id of the newest :limit matches",
     ":game :policy :kind :reason :before :limit",
     "SELECT min(id) AS id, count(*) AS matches FROM (SELECT id FROM match m WHERE"
     " (:reason IS NULL OR m.reason = :reason) AND" MATCH_FILTER
     "  ORDER BY id DESC LIMIT coalesce(:limit, 50))"},
    {"match", "one match", ":id", "SELECT * FROM v_matches WHERE id = :id"},
    {"seats", "the two seats of a match, with what was learned from them", ":id",
     "SELECT * FROM v_seats WHERE match_id = :id ORDER BY seat"},
    {"turns", "the turns of a match, with prompts and replies", ":id",
     "SELECT * FROM v_turns WHERE match_id = :id ORDER BY turn_no"},
    {"policies", "policies, newest first, with how many seats each has played",
     ":kind :before :limit",
     "SELECT p.*, (SELECT coalesce(sum(matches), 0) FROM tally t WHERE t.policy0_id = p.id)"
     " + (SELECT coalesce(sum(matches), 0) FROM tally t WHERE t.policy1_id = p.id) AS seats_played"
     " FROM v_policies p WHERE (:kind IS NULL OR p.kind = :kind)"
     " AND (:before IS NULL OR p.id < :before) ORDER BY p.id DESC " PAGE},
    {"policy", "one policy", ":id",
     "SELECT p.*, (SELECT coalesce(sum(matches), 0) FROM tally t WHERE t.policy0_id = p.id)"
     " + (SELECT coalesce(sum(matches), 0) FROM tally t WHERE t.policy1_id = p.id) AS seats_played"
     " FROM v_policies p WHERE p.id = :id"},
    {"lineage", "what a policy was trained from, nearest first", ":id :limit",
     "WITH RECURSIVE up(id, depth) AS (SELECT parent_id, 1 FROM policy WHERE id = :id"
     " UNION ALL SELECT p.parent_id, depth + 1 FROM up JOIN policy p ON p.id = up.id"
     " WHERE p.parent_id < p.id) SELECT v.*, up.depth FROM up JOIN v_policies v ON v.id = up.id"
     " ORDER BY up.depth " PAGE},
    {"results", "sums of matches between different policies", ":game :kind :forfeits :limit",
     "SELECT policy0_id, policy1_id, sum(wins0) AS wins, sum(draws) AS draws, sum(wins1) AS losses"
     " FROM tally WHERE policy0_id <> policy1_id AND reason <> 'aborted'"
     " AND (:forfeits IS NULL OR loser < 0)"
     " AND ((:kind IS NULL AND kind <> 'warmup') OR kind = :kind) AND (:game IS NULL OR game_id IN"
     " (SELECT id FROM game WHERE :game IN (name, spec)))"
     " GROUP BY policy0_id, policy1_id ORDER BY policy0_id DESC, policy1_id DESC"
     " LIMIT min(max(coalesce(:limit, 50), 0), 200000)"},
    {"ends", "matches by kind and reason of their end", "",
     "SELECT kind, reason, sum(matches) AS matches, sum(turns) AS turns, sum(tokens) AS tokens"
     " FROM tally GROUP BY kind, reason ORDER BY kind, reason"},
    {"steps", "learner steps, newest first", ":step :before :limit",
     "SELECT * FROM v_steps WHERE (:step IS NULL OR step = :step)"
     " AND (:before IS NULL OR step < :before) ORDER BY step DESC " PAGE},
    {"series", "means of the steps' measurements over :points stretches of the run",
     ":from :to :points",
     "WITH r AS (SELECT max(min(step), coalesce(:from, 0)) AS a,"
     "  min(max(step), coalesce(:to, max(step))) AS b FROM step)"
     " SELECT max(s.step) AS step, count(*) AS steps, s.at_ms, sum(s.refused) AS refused,"
     "  avg(s.matches) AS matches, avg(s.tokens) AS tokens, avg(s.loss) AS loss,"
     "  avg(s.entropy) AS entropy, avg(s.kl_magnet) AS kl_magnet, avg(s.kl_sampler) AS kl_sampler,"
     "  avg(s.grad_norm) AS grad_norm, avg(s.lr) AS lr, avg(s.reward_0) AS reward_0,"
     "  avg(s.reward_1) AS reward_1, avg(s.baseline_0) AS baseline_0,"
     "  avg(s.baseline_1) AS baseline_1, avg(s.invalid) AS invalid,"
     "  avg(s.reply_tokens) AS reply_tokens, avg(s.matches_s) AS matches_s,"
     "  avg(s.tokens_s) AS tokens_s, avg(s.wait_data_s) AS wait_data_s, avg(s.learn_s) AS learn_s"
     " FROM r, step s WHERE s.step BETWEEN r.a AND r.b"
     " GROUP BY (s.step - r.a) * min(max(coalesce(:points, 200), 1), 2000) / (r.b - r.a + 1)"
     " ORDER BY 1"},
    {"samples", "what a step learned from", ":step :limit",
     "SELECT * FROM v_samples WHERE step = :step ORDER BY match_id, seat " PAGE},
    {"evals", "evaluations, newest first", ":game :policy :before :limit",
     "SELECT v.id, v.step, p.label AS policy, g.spec AS game, v.kind, v.report, v.at_ms,"
     " v.policy_id, v.game_id FROM eval v LEFT JOIN v_policies p ON p.id = v.policy_id"
     " LEFT JOIN game g ON g.id = v.game_id WHERE (:game IS NULL OR :game IN (g.name, g.spec))"
     " AND (:policy IS NULL OR v.policy_id IN (" POLICY ")) AND (:before IS NULL OR v.id < :before)"
     " ORDER BY v.id DESC " PAGE},
    {"imports", "results that were played elsewhere", ":game :limit",
     "SELECT * FROM v_imports WHERE (:game IS NULL OR game_id IN"
     " (SELECT id FROM game WHERE :game IN (name, spec))) ORDER BY import_id DESC, white, black"
     " LIMIT min(max(coalesce(:limit, 50), 0), 200000)"},
    {"import_files", "files of such results, newest first", ":limit",
     "SELECT i.*, g.spec AS game, (SELECT coalesce(sum(wins + draws + losses), 0) FROM"
     " import_result r WHERE r.import_id = i.id) AS matches FROM import i"
     " LEFT JOIN game g ON g.id = i.game_id ORDER BY i.id DESC " PAGE},
    {"events", "what happened to the run, newest first", ":level :before :limit",
     "SELECT * FROM event WHERE (:level IS NULL OR level = :level)"
     " AND (:before IS NULL OR id < :before) ORDER BY id DESC " PAGE},
    {"games", "games, with how many matches each has", "",
     "SELECT g.*, coalesce((SELECT sum(matches) FROM tally t WHERE t.game_id = g.id), 0) AS matches"
     " FROM game g ORDER BY g.id"},
    {"forfeits", "matches lost for another reason than play: reason, game, player", ":game :limit",
     "SELECT * FROM v_forfeits WHERE (:game IS NULL OR game = :game OR game_id IN"
     " (SELECT id FROM game WHERE name = :game)) ORDER BY matches DESC " PAGE},
    {"payoff", "who beats whom, newest policies first", ":game :policy :kind :limit",
     "SELECT * FROM v_payoff WHERE (:game IS NULL OR game = :game OR game_id IN"
     " (SELECT id FROM game WHERE name = :game)) AND (:policy IS NULL OR policy_id IN (" POLICY "))"
     " AND (:kind IS NULL OR kind = :kind) ORDER BY policy_id DESC, opponent_id DESC, game_id, "
     "kind " PAGE},
    {"baselines", "what each role of each game is expected to return", "",
     "SELECT g.spec AS game, b.role, b.value, b.count, b.step, b.game_id"
     " FROM baseline b LEFT JOIN game g ON g.id = b.game_id ORDER BY b.game_id, b.role"},
    {"leases", "ranges of matches handed to the learner, newest first", ":limit",
     "SELECT * FROM lease ORDER BY id DESC " PAGE},
    {"run", "facts of the run", "", "SELECT * FROM run ORDER BY key"},
};
#define NAMED (sizeof named / sizeof *named)

const struct store_named *
store_query_at(int i) {
    return i >= 0 && (size_t)i < NAMED ? &named[i] : NULL;
}

static const struct store_named *
find(const char *query) {
    for (size_t i = 0; i < NAMED; i++)
        if (!strcmp(named[i].name, query))
            return &named[i];
    return NULL;
}

static int
bind_all(struct store *s, const struct store_named *q, sqlite3_stmt *st,
         const struct store_bind *bind, size_t nbind, struct err *e) {
    for (size_t i = 0; i < nbind; i++) {
        int at = sqlite3_bind_parameter_index(st, bind[i].name);
        if (!at)
            return store_fail(s, e, "query %s: no parameter %s; it has %s", q->name, bind[i].name,
                              *q->params ? q->params : "none");
        if (bind[i].text && !*bind[i].text)
            continue;
        if (bind[i].text)
            sql_bind_text(st, at, bind[i].text);
        else
            sqlite3_bind_int64(st, at, bind[i].number);
    }
    return 0;
}

/* A row as cells. Text that is not UTF-8 (nobody but a stranger wrote it) is escaped, so that what
 * callers print or send is valid; its bytes stand in `room`. */
void
cells_read(sqlite3_stmt *st, struct store_cell *cell, int cells, struct buf *room) {
    for (int i = 0; i < cells; i++) {
        static const enum store_type types[] = {[SQLITE_INTEGER] = STORE_INT,
                                                [SQLITE_FLOAT] = STORE_REAL,
                                                [SQLITE_TEXT] = STORE_TEXT,
                                                [SQLITE_BLOB] = STORE_TEXT,
                                                [SQLITE_NULL] = STORE_NULL};
        cell[i] = (struct store_cell){.name = sqlite3_column_name(st, i),
                                      .type = types[sqlite3_column_type(st, i)]};
        if (cell[i].type == STORE_NULL)
            continue;
        if (cell[i].type == STORE_REAL && !isfinite(sqlite3_column_double(st, i)))
            cell[i].type = STORE_TEXT; /* "Inf" is no number of JSON */
        cell[i].text = (const char *)sqlite3_column_text(st, i);
        size_t n = cell[i].text ? (size_t)sqlite3_column_bytes(st, i) : 0;
        if (!n)
            cell[i].text = "";
        else if (cell[i].type == STORE_TEXT && escape_needed(cell[i].text, n)) {
            buf_clear(&room[i]);
            escape_add(&room[i], cell[i].text, n);
            cell[i].text = buf_text(&room[i]);
        }
    }
}

static int
read_rows(struct store *s, const struct store_named *q, sqlite3_stmt *st,
          int (*each)(void *arg, const struct store_cell *cell, int cells), void *arg,
          struct err *e) {
    struct store_cell cell[CELLS_MOST];
    struct buf room[CELLS_MOST] = {{0}};
    int cells = sqlite3_column_count(st), rows = 0, got = 1;
    ensure(cells <= CELLS_MOST);
    while (got == 1 && (got = sql_row(s, st, q->name, e)) == 1) {
        cells_read(st, cell, cells, room);
        rows++;
        int stop = each(arg, cell, cells);
        if (stop)
            got = stop < 0 ? -1 : 0;
    }
    for (int i = 0; i < cells; i++)
        buf_free(&room[i]);
    return got < 0 ? -1 : rows;
}

static int
is_late(void *arg) {
    return clock_mono_us() > *(const int64_t *)arg;
}

int
store_query(struct store *s, const char *query, const struct store_bind *bind, size_t nbind,
            int (*each)(void *arg, const struct store_cell *cell, int cells), void *arg,
            struct err *e) {
    const struct store_named *q = find(query);
    if (!q)
        return store_fail(s, e, "query %s: there is none of this name", query);
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(s->db, q->sql, -1, &st, NULL))
        return sql_fail(s, e, "query %s", q->name);
    int64_t deadline = clock_mono_us() + MOST_US;
    sqlite3_progress_handler(s->db, 100000, is_late, &deadline);
    int rows = bind_all(s, q, st, bind, nbind, e);
    if (!rows)
        rows = read_rows(s, q, st, each, arg, e);
    sqlite3_progress_handler(s->db, 0, NULL, NULL);
    sqlite3_finalize(st);
    return rows;
}
