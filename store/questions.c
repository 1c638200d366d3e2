/* The named questions of people and of the API, as SQL: query.c asks them. Parameters that are not
 * given are NULL, which every question takes for "any". :limit rows at most, with ids below
 * :before; :game name or spec; :policy id, name, or the first four or more digits of a snapshot's
 * hash, or latest; :kind, :reason, :level a word of that column; :id, :step numbers; :since, :until
 * milliseconds of UTC; :least, :most turns; :result the seat that won, draw or none. :way and
 * :way_id are query.c's own: how matches are searched. */
#include "store/store-int.h"

#define PAGE "LIMIT min(max(coalesce(:limit, 50), 0), 10000)"
/* As a bound of the key, so that a page far down costs what the first one does. */
#define BEFORE "coalesce(:before, 9223372036854775807)"
#define POLICY STORE_POLICY_IDS(":policy")
#define MATCH_FILTER                                                                         \
    " (:kind IS NULL OR m.kind = :kind) AND m.id < " BEFORE                                  \
    " AND (:policy IS NULL OR m.policy0_id IN (" POLICY ") OR m.policy1_id IN (" POLICY "))" \
    " AND (:game IS NULL OR m.game_id IN (SELECT id FROM game WHERE :game IN (name, spec)))"
#define MATCH_PARAMS \
    ":game :policy :kind :reason :result :since :until :least :most :after :before :limit"
/* What only people ask for. Turns are numbered from 0 without gaps, so that one of them tells
 * whether there are so many. */
#define MATCH_MORE                                                                  \
    " AND (:result IS NULL OR :result = CASE WHEN m.reason = 'aborted' THEN 'none'" \
    "  WHEN m.result > 0 THEN '0' WHEN m.result < 0 THEN '1' ELSE 'draw' END)"      \
    " AND (:since IS NULL OR m.started_ms >= :since)"                               \
    " AND (:until IS NULL OR m.started_ms < :until)"                                \
    " AND m.id > coalesce(:after, -1)"                                              \
    " AND (coalesce(:least, 0) < 1 OR EXISTS (SELECT 1 FROM turn t"                 \
    "  WHERE t.match_id = m.id AND t.turn_no = :least - 1))"                        \
    " AND (:most IS NULL OR NOT EXISTS (SELECT 1 FROM turn t"                       \
    "  WHERE t.match_id = m.id AND t.turn_no = :most))"
/* A search down the table, or down the index of what is asked for and may be rare: which of them is
 * :way, and choose_way() says. The other searches end before their first row. */
#define SEARCH(way, from, more)                                                       \
    "SELECT id FROM match m " from " WHERE :way = '" way "'" more " AND" MATCH_FILTER \
    " AND (:reason IS NULL OR m.reason = :reason)" MATCH_MORE
#define BY_ID SEARCH("id", "NOT INDEXED", "")
#define BY_REASON \
    SEARCH("reason", "INDEXED BY match_forfeit", " AND m.reason = :reason AND m.reason <> 'play'")
#define BY_KIND SEARCH("kind", "INDEXED BY match_kind", " AND m.kind = :kind AND m.kind <> 'train'")
#define BY_POLICY0 SEARCH("policy", "INDEXED BY match_policy0", " AND m.policy0_id = :way_id")
#define BY_POLICY1                               \
    SEARCH("policy", "INDEXED BY match_policy1", \
           " AND m.policy1_id = :way_id AND m.policy0_id <> :way_id")
#define AND_ALL " UNION ALL "
#define PICK BY_ID AND_ALL BY_REASON AND_ALL BY_KIND AND_ALL BY_POLICY0 AND_ALL BY_POLICY1
#define MATCHES_BY_ID(order)                                   \
    "WITH picked AS (" PICK " ORDER BY id " order " " PAGE ")" \
    " SELECT v.* FROM picked JOIN v_matches v ON v.id = picked.id ORDER BY v.id " order

/* Steps, each with the number of its stretch: all, or where there are many some of each stretch. */
#define STRETCHES                                                               \
    "r AS (SELECT max(min(step), coalesce(:from, 0)) AS a,"                     \
    "  min(max(step), coalesce(:to, max(step))) AS b,"                          \
    "  min(max(coalesce(:points, 200), 1), 2000) AS n FROM step),"              \
    " every(k) AS (SELECT max(1, (b - a + 1) / (n * 20)) FROM r),"              \
    " picked(step, stretch) AS (SELECT b, n - 1 FROM r WHERE a <= b UNION ALL"  \
    "  SELECT step - k, (step - k - a) * n / (b - a + 1) FROM picked, r, every" \
    "  WHERE step - k >= a)"

const struct store_named store_questions[] = {
    {"status", "counts, the newest step, and the speed over the last 1000 match ids", "",
     "WITH t AS (SELECT coalesce(sum(matches), 0) AS matches,"
     "  coalesce(sum(matches) FILTER (WHERE kind = 'train'), 0) AS train_matches,"
     "  coalesce(sum(matches) FILTER (WHERE kind = 'eval'), 0) AS eval_matches,"
     "  coalesce(sum(matches) FILTER (WHERE loser >= 0), 0) AS forfeits,"
     "  coalesce(sum(matches) FILTER (WHERE reason = 'aborted'), 0) AS aborted,"
     "  coalesce(sum(turns), 0) AS turns, coalesce(sum(tokens), 0) AS tokens FROM total),"
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
    {"matches", "matches, newest first", MATCH_PARAMS, MATCHES_BY_ID("DESC")},
    {"matches_oldest", "matches, oldest first", MATCH_PARAMS, MATCHES_BY_ID("ASC")},
    {"matches_by", "matches by :sort: longest, shortest, slowest or quickest",
     MATCH_PARAMS " :sort",
     "WITH picked AS (SELECT id, CASE :sort"
     "   WHEN 'longest' THEN -(SELECT count(*) FROM turn t WHERE t.match_id = m.id)"
     "   WHEN 'shortest' THEN (SELECT count(*) FROM turn t WHERE t.match_id = m.id)"
     "   WHEN 'quickest' THEN m.ended_ms - m.started_ms ELSE m.started_ms - m.ended_ms END AS rank"
     "  FROM match m WHERE (:reason IS NULL OR m.reason = :reason) AND" MATCH_FILTER MATCH_MORE
     "  ORDER BY rank, id DESC " PAGE ")"
     " SELECT v.* FROM picked JOIN v_matches v ON v.id = picked.id"
     " ORDER BY picked.rank, v.id DESC"},
    {"newest", "the oldest id of the newest :limit matches", MATCH_PARAMS,
     "SELECT min(id) AS id, count(*) AS matches FROM (" PICK
     " ORDER BY id DESC LIMIT coalesce(:limit, 50))"},
    {"match", "one match", ":id", "SELECT * FROM v_matches WHERE id = :id"},
    {"seats", "the two seats of a match, with what was learned from them", ":id",
     "SELECT * FROM v_seats WHERE match_id = :id ORDER BY seat"},
    {"turns", "the turns of a match, with prompts and replies", ":id",
     "SELECT * FROM v_turns WHERE match_id = :id ORDER BY turn_no"},
    {"policies", "policies, newest first, with how many seats each has played",
     ":kind :before :limit",
     "SELECT p.*, (SELECT coalesce(sum(matches), 0) FROM seat_tally t WHERE t.policy_id = p.id)"
     " AS seats_played"
     " FROM v_policies p WHERE (:kind IS NULL OR p.kind = :kind)"
     " AND p.id < " BEFORE " ORDER BY p.id DESC " PAGE},
    {"policy", "one policy", ":id",
     "SELECT p.*, (SELECT coalesce(sum(matches), 0) FROM seat_tally t WHERE t.policy_id = p.id)"
     " AS seats_played"
     " FROM v_policies p WHERE p.id = :id"},
    {"lineage", "what a policy was trained from, nearest first", ":id :limit",
     "WITH RECURSIVE up(id, depth) AS (SELECT parent_id, 1 FROM policy WHERE id = :id"
     " UNION ALL SELECT p.parent_id, depth + 1 FROM up JOIN policy p ON p.id = up.id"
     " WHERE p.parent_id < p.id) SELECT v.*, up.depth FROM up JOIN v_policies v ON v.id = up.id"
     " ORDER BY up.depth " PAGE},
    {"results",
     "sums of matches between different policies: the newest, and the :limit that have played most;"
     " with how many there are",
     ":game :kind :forfeits :limit",
     "WITH p AS MATERIALIZED (SELECT policy_id, sum(matches) AS matches FROM seat_tally"
     "  WHERE NOT mirror AND reason <> 'aborted'"
     "  AND ((:kind IS NULL AND kind <> 'warmup') OR kind = :kind) AND (:game IS NULL OR game_id IN"
     "  (SELECT id FROM game WHERE :game IN (name, spec))) GROUP BY policy_id),"
     " c AS MATERIALIZED (SELECT policy_id FROM (SELECT policy_id FROM p ORDER BY policy_id DESC"
     "   LIMIT 32) UNION SELECT policy_id FROM (SELECT policy_id FROM p"
     "   ORDER BY matches DESC, policy_id LIMIT min(max(coalesce(:limit, 50), 0), 1000)))"
     " SELECT policy0_id, policy1_id, sum(wins0) AS wins, sum(draws) AS draws,"
     "  sum(wins1) AS losses, (SELECT count(*) FROM p) AS policies"
     " FROM c CROSS JOIN tally ON policy0_id = c.policy_id"
     " WHERE policy1_id IN (SELECT policy_id FROM c) AND policy0_id <> policy1_id"
     "  AND reason <> 'aborted' AND (:forfeits IS NULL OR loser < 0)"
     "  AND ((:kind IS NULL AND kind <> 'warmup') OR kind = :kind) AND (:game IS NULL OR game_id IN"
     "  (SELECT id FROM game WHERE :game IN (name, spec)))"
     " GROUP BY policy0_id, policy1_id"},
    {"ends", "matches by kind and reason of their end", "",
     "SELECT kind, reason, sum(matches) AS matches, sum(turns) AS turns, sum(tokens) AS tokens"
     " FROM total GROUP BY kind, reason ORDER BY kind, reason"},
    {"steps", "learner steps, newest first", ":step :before :limit",
     "SELECT * FROM v_steps WHERE step BETWEEN coalesce(:step, 0) AND"
     " coalesce(:step, 9223372036854775807) AND step < " BEFORE " ORDER BY step DESC " PAGE},
    {"series",
     "means of the steps' measurements over :points stretches of the run; of a long stretch 20 to"
     " 40 steps",
     ":from :to :points",
     "WITH RECURSIVE " STRETCHES " SELECT max(s.step) AS step, count(*) AS steps, s.at_ms,"
     "  sum(s.refused) AS refused,"
     "  avg(s.matches) AS matches, avg(s.tokens) AS tokens, avg(s.loss) AS loss,"
     "  avg(s.entropy) AS entropy, avg(s.kl_magnet) AS kl_magnet, avg(s.kl_sampler) AS kl_sampler,"
     "  avg(s.grad_norm) AS grad_norm, avg(s.lr) AS lr, avg(s.reward_0) AS reward_0,"
     "  avg(s.reward_1) AS reward_1, avg(s.baseline_0) AS baseline_0,"
     "  avg(s.baseline_1) AS baseline_1, avg(s.invalid) AS invalid,"
     "  avg(s.reply_tokens) AS reply_tokens, avg(s.matches_s) AS matches_s,"
     "  avg(s.tokens_s) AS tokens_s, avg(s.wait_data_s) AS wait_data_s, avg(s.learn_s) AS learn_s"
     " FROM picked JOIN step s ON s.step = picked.step GROUP BY stretch ORDER BY 1"},
    {"series_games",
     "the same of each game, where a run has several: what `extra` has of them, game by game and"
     " column by column",
     ":from :to :points",
     "WITH RECURSIVE " STRETCHES ","
     " points AS (SELECT stretch, max(step) AS step FROM picked GROUP BY stretch),"
     " x AS (SELECT e.key AS name, stretch, avg(e.value) AS value"
     "  FROM picked JOIN step s ON s.step = picked.step, json_each(s.extra) e"
     "  WHERE s.extra LIKE '%\"reward_0.%' AND instr(e.key, '.') GROUP BY e.key, stretch),"
     " names AS (SELECT DISTINCT name, substr(name, instr(name, '.') + 1) AS game,"
     "  substr(name, 1, instr(name, '.') - 1) AS column FROM x)"
     " SELECT game, column, points.step, x.value FROM names CROSS JOIN points"
     " LEFT JOIN x ON x.name = names.name AND x.stretch = points.stretch ORDER BY 1, 2, 3"},
    {"samples", "what a step learned from", ":step :limit",
     "SELECT * FROM v_samples WHERE step = :step ORDER BY match_id, seat " PAGE},
    {"why", "the samples of a step, the largest advantage first, or by :sort match",
     ":step :sort :limit",
     "WITH picked AS (SELECT *, CASE :sort WHEN 'match' THEN 0 ELSE -abs(advantage) END AS rank"
     "  FROM v_samples WHERE step = :step ORDER BY rank, match_id, seat"
     "  LIMIT coalesce(:limit, 50))"
     " SELECT s.match_id, s.seat, m.kind, g.spec AS game, p.label AS player,"
     "  o.label AS opponent, s.ret, s.baseline, s.advantage, s.staleness, m.reason,"
     "  (SELECT count(*) FROM turn t WHERE t.match_id = m.id AND t.seat = s.seat) AS turns,"
     "  (SELECT coalesce(sum(t.ntokens), 0) FROM turn t WHERE t.match_id = m.id"
     "   AND t.seat = s.seat) AS tokens, m.deal, m.game_id, p.id AS policy_id, s.step"
     " FROM picked s JOIN match m ON m.id = s.match_id LEFT JOIN game g ON g.id = m.game_id"
     " LEFT JOIN v_policies p ON p.id = CASE s.seat WHEN 0 THEN m.policy0_id ELSE m.policy1_id END"
     " LEFT JOIN v_policies o ON o.id = CASE s.seat WHEN 0 THEN m.policy1_id ELSE m.policy0_id END"
     " ORDER BY s.rank, s.match_id, s.seat"},
    {"why_sum", "what a step learned from, in one row", ":step",
     "WITH x AS (SELECT * FROM v_samples WHERE step = :step),"
     " t AS (SELECT t.prompt_id, t.reply, t.ntokens FROM x JOIN turn t"
     "  ON t.match_id = x.match_id AND t.seat = x.seat)"
     " SELECT coalesce((SELECT sum(last_match - first_match + 1) FROM lease WHERE step = :step), 0)"
     "   AS leased, count(DISTINCT match_id) AS matches, count(*) AS samples,"
     "  (SELECT count(DISTINCT m.deal) FROM match m WHERE m.id IN (SELECT match_id FROM x)) AS "
     "deals,"
     "  (SELECT count(*) FROM t) AS replies,"
     "  (SELECT count(*) FROM (SELECT DISTINCT prompt_id, reply FROM t)) AS distinct_replies,"
     "  (SELECT coalesce(sum(ntokens), 0) FROM t) AS tokens,"
     "  avg(abs(advantage)) AS mean_advantage, max(abs(advantage)) AS largest_advantage,"
     "  coalesce(sum(advantage > 0), 0) AS raised, coalesce(sum(advantage < 0), 0) AS lowered,"
     "  max(staleness) AS staleness FROM x"},
    {"why_roles", "what a step learned from, by game, kind and seat", ":step",
     "SELECT g.spec AS game, m.kind, s.seat, count(*) AS samples, avg(s.ret) AS ret,"
     " avg(s.baseline) AS baseline, avg(s.advantage) AS advantage,"
     " max(abs(s.advantage)) AS largest_advantage, m.game_id"
     " FROM v_samples s JOIN match m ON m.id = s.match_id LEFT JOIN game g ON g.id = m.game_id"
     " WHERE s.step = :step GROUP BY m.game_id, m.kind, s.seat ORDER BY m.game_id, m.kind, s.seat"},
    {"why_match", "where a match stands on its way to a step", ":id",
     "SELECT m.id, m.kind, g.spec AS game, m.reason, m.loser, m.iteration, l.id AS lease, l.step,"
     " t.refused,"
     " (SELECT max(last_match) FROM lease) AS last_leased, (SELECT max(step) FROM step) AS newest"
     " FROM match m LEFT JOIN lease l ON l.first_match <= m.id AND l.id = (SELECT id FROM lease"
     "  WHERE last_match >= m.id ORDER BY last_match LIMIT 1)"
     " LEFT JOIN step t ON t.step = l.step LEFT JOIN game g ON g.id = m.game_id WHERE m.id = :id"},
    {"staleness", "of what the newest step learned from", "",
     "SELECT step, count(*) AS samples, avg(staleness) AS mean, max(staleness) AS most"
     " FROM v_samples WHERE step = (SELECT max(step) FROM step)"},
    {"evals", "evaluations, newest first", ":game :policy :before :limit",
     "SELECT v.id, v.step, p.label AS policy, g.spec AS game, v.kind, v.report, v.at_ms,"
     " v.policy_id, v.game_id FROM eval v LEFT JOIN v_policies p ON p.id = v.policy_id"
     " LEFT JOIN game g ON g.id = v.game_id WHERE (:game IS NULL OR :game IN (g.name, g.spec))"
     " AND (:policy IS NULL OR v.policy_id IN (" POLICY ")) AND v.id < " BEFORE
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
     " AND id < " BEFORE " ORDER BY id DESC " PAGE},
    {"games", "games, with how many matches each has", "",
     "SELECT g.*, coalesce(t.matches, 0) AS matches FROM game g LEFT JOIN"
     " (SELECT game_id, sum(matches) AS matches FROM total GROUP BY game_id) t"
     " ON t.game_id = g.id ORDER BY g.id"},
    {"forfeits", "matches lost for another reason than play: reason, game, player", ":game :limit",
     "SELECT * FROM v_forfeits WHERE (:game IS NULL OR game = :game OR game_id IN"
     " (SELECT id FROM game WHERE name = :game)) ORDER BY matches DESC " PAGE},
    {"forfeit_shares",
     "matches lost for another reason than play by what :by names: reason, game,"
     " policy, seat, kind; with how many the group played",
     ":by :game :policy :kind :reason :limit",
     "WITH f AS (SELECT CASE WHEN instr(:by, 'game') THEN game_id END AS game_id,"
     "  CASE WHEN instr(:by, 'kind') THEN kind END AS kind,"
     "  CASE WHEN instr(:by, 'policy') THEN policy_id END AS policy_id,"
     "  CASE WHEN instr(:by, 'seat') THEN seat END AS seat,"
     "  CASE WHEN instr(:by, 'reason') THEN reason END AS reason, matches,"
     "  fault AND (:reason IS NULL OR s.reason = :reason) AS lost"
     "  FROM seat_tally s WHERE s.reason <> 'aborted' AND (:kind IS NULL OR s.kind = :kind)"
     "  AND (:policy IS NULL OR s.policy_id IN (" POLICY "))"
     "  AND (:game IS NULL OR s.game_id IN (SELECT id FROM game WHERE :game IN (name, spec)))),"
     " n AS (SELECT game_id, kind, policy_id, seat, sum(matches) / CASE WHEN instr(:by, 'policy')"
     "  OR instr(:by, 'seat') OR :policy IS NOT NULL THEN 1 ELSE 2 END AS played"
     "  FROM f GROUP BY game_id, kind, policy_id, seat),"
     " l AS (SELECT reason, game_id, kind, policy_id, seat, sum(matches) AS forfeits FROM f"
     "  WHERE lost GROUP BY reason, game_id, kind, policy_id, seat)"
     " SELECT l.reason, g.spec AS game, p.label AS policy, l.seat, l.kind, l.forfeits, n.played,"
     "  l.forfeits * 1.0 / n.played AS share FROM l JOIN n ON n.game_id IS l.game_id"
     "  AND n.kind IS l.kind AND n.policy_id IS l.policy_id AND n.seat IS l.seat"
     " LEFT JOIN game g ON g.id = l.game_id LEFT JOIN v_policies p ON p.id = l.policy_id"
     " ORDER BY l.forfeits DESC, l.reason, l.game_id, l.policy_id, l.seat, l.kind " PAGE},
    {"by_game", "how the matches of each game ended", ":kind",
     "SELECT g.spec AS game, sum(t.matches) AS matches, sum(t.wins0) AS wins0, sum(t.draws) AS "
     "draws,"
     " sum(t.wins1) AS wins1, sum(t.result_sum) / sum(t.matches) AS mean,"
     " coalesce(sum(t.matches) FILTER (WHERE t.loser >= 0), 0) AS forfeits,"
     " sum(t.turns) AS turns, sum(t.tokens) AS tokens, t.game_id"
     " FROM total t LEFT JOIN game g ON g.id = t.game_id WHERE t.reason <> 'aborted'"
     " AND (:kind IS NULL OR t.kind = :kind) GROUP BY t.game_id ORDER BY t.game_id"},
    {"payoff", "who beats whom, newest policies first", ":game :policy :kind :limit",
     /* As the view, of the newest policies that have so many rows between them: `r`. */
     "WITH t AS NOT MATERIALIZED (SELECT * FROM tally WHERE reason <> 'aborted'"
     "  AND (:kind IS NULL OR kind = :kind)"
     "  AND (:game IS NULL OR game_id IN (SELECT id FROM game WHERE :game IN (name, spec)))),"
     " d AS (SELECT DISTINCT policy0_id, policy1_id, game_id, kind FROM t WHERE :policy IS NULL"
     "  ORDER BY policy0_id DESC, policy1_id DESC, game_id DESC, kind DESC " PAGE "),"
     " r(first, last) AS (SELECT CASE WHEN :policy IS NOT NULL THEN (SELECT min(id) FROM (" POLICY
     "  )) WHEN count(*) < coalesce(:limit, 50) THEN 0 ELSE min(policy0_id) END,"
     "  CASE WHEN :policy IS NOT NULL THEN (SELECT max(id) FROM (" POLICY
     "  )) ELSE 9223372036854775807 END FROM d),"
     " x AS (SELECT game_id, kind, policy_id, opponent_id, sum(matches) AS matches,"
     "   sum(wins) AS wins, sum(draws) AS draws, sum(losses) AS losses, sum(total) AS total"
     "  FROM (SELECT game_id, kind, policy0_id AS policy_id, policy1_id AS opponent_id, matches,"
     "   wins0 AS wins, draws, wins1 AS losses, result_sum AS total FROM r CROSS JOIN t"
     "   WHERE policy0_id BETWEEN r.first AND r.last"
     "   UNION ALL SELECT game_id, kind, policy1_id, policy0_id, matches, wins1, draws, wins0,"
     "   -result_sum FROM r CROSS JOIN t WHERE policy1_id BETWEEN r.first AND r.last"
     "   AND policy0_id <> policy1_id)"
     "  WHERE :policy IS NULL OR policy_id IN (" POLICY ")"
     "  GROUP BY policy_id, opponent_id, game_id, kind"
     "  ORDER BY policy_id DESC, opponent_id DESC, game_id, kind " PAGE ")"
     " SELECT g.spec AS game, p.label AS player, o.label AS opponent, x.kind, x.matches, x.wins,"
     "  x.draws, x.losses, x.total / x.matches AS mean, x.game_id, x.policy_id, x.opponent_id"
     " FROM x LEFT JOIN game g ON g.id = x.game_id LEFT JOIN v_policies p ON p.id = x.policy_id"
     " LEFT JOIN v_policies o ON o.id = x.opponent_id"
     " ORDER BY x.policy_id DESC, x.opponent_id DESC, x.game_id, x.kind"},
    {"baselines", "what each role of each game is expected to return", "",
     "SELECT g.spec AS game, b.role, b.value, b.count, b.step, b.game_id"
     " FROM baseline b LEFT JOIN game g ON g.id = b.game_id ORDER BY b.game_id, b.role"},
    {"leases", "ranges of matches handed to the learner, newest first", ":limit",
     "SELECT * FROM lease ORDER BY id DESC " PAGE},
    {"run", "facts of the run", "", "SELECT * FROM run ORDER BY key"},
};
const int store_questions_n = sizeof store_questions / sizeof *store_questions;
_Static_assert(sizeof store_questions / sizeof *store_questions <= STORE_QUESTIONS,
               "make room in struct store");
