-- Views for people: names instead of ids, dates instead of milliseconds. They hold nothing, so that a
-- migration drops them all and makes them again from this file.

CREATE VIEW v_policies AS
SELECT p.id, p.kind,
       CASE p.kind WHEN 'snapshot' THEN 'step ' || p.step || ' (' || substr(p.name, 1, 8) || ')'
                   ELSE p.name END AS label,
       p.name, p.step, p.parent_id,
       datetime(p.made_ms / 1000, 'unixepoch') AS made,
       p.kept
FROM policy p;

-- One row a match. `winner` is the label of the policy that won, NULL for draws and aborted matches.
CREATE VIEW v_matches AS
SELECT m.id, m.kind, g.spec AS game, m.iteration,
       a.label AS player0, b.label AS player1,
       CASE WHEN m.reason = 'aborted' THEN 'no result'
            WHEN m.result > 0 THEN 'player 0 won'
            WHEN m.result < 0 THEN 'player 1 won'
            ELSE 'draw' END AS outcome,
       CASE WHEN m.reason = 'aborted' THEN NULL
            WHEN m.result > 0 THEN a.label
            WHEN m.result < 0 THEN b.label END AS winner,
       m.reason,
       CASE m.loser WHEN 0 THEN a.label WHEN 1 THEN b.label END AS forfeited_by,
       m.loser, m.result, m.payoff0, m.payoff1, m.moves,
       (SELECT count(*) FROM turn t WHERE t.match_id = m.id) AS turns,
       strftime('%Y-%m-%d %H:%M:%f', m.started_ms / 1000.0, 'unixepoch') AS started,
       (m.ended_ms - m.started_ms) / 1000.0 AS seconds,
       m.attempts, m.detail,
       (SELECT min(s.step) FROM sample s WHERE s.match_id = m.id) AS learned_in_step,
       m.deal, g.version AS game_version, m.game_id, m.policy0_id, m.policy1_id
FROM match m
LEFT JOIN game g ON g.id = m.game_id
LEFT JOIN v_policies a ON a.id = m.policy0_id
LEFT JOIN v_policies b ON b.id = m.policy1_id;

-- One row a seat of a match, seen from that seat; with what the learner made of it.
CREATE VIEW v_seats AS
SELECT m.id AS match_id, m.kind, g.spec AS game, x.seat,
       p.label AS player, o.label AS opponent,
       CASE WHEN m.reason = 'aborted' THEN NULL WHEN x.seat = 0 THEN m.result ELSE -m.result END AS result,
       CASE x.seat WHEN 0 THEN m.payoff0 ELSE m.payoff1 END AS payoff,
       m.reason,
       m.loser IS x.seat AS forfeited,
       s.step AS learned_in_step, s.ret, s.baseline, s.advantage, s.staleness,
       m.game_id, p.id AS policy_id, o.id AS opponent_id
FROM match m
JOIN (SELECT 0 AS seat UNION ALL SELECT 1) x
LEFT JOIN game g ON g.id = m.game_id
LEFT JOIN v_policies p ON p.id = CASE x.seat WHEN 0 THEN m.policy0_id ELSE m.policy1_id END
LEFT JOIN v_policies o ON o.id = CASE x.seat WHEN 0 THEN m.policy1_id ELSE m.policy0_id END
LEFT JOIN sample s ON s.match_id = m.id AND s.seat = x.seat;

-- One row a turn, with the prompt's text. `thinned` = its token ids were dropped to save space.
CREATE VIEW v_turns AS
SELECT t.match_id, t.turn_no, t.ply, t.seat, p.label AS player, t.verdict, t.word, t.action,
       q.text AS prompt, t.reply, t.escaped, t.ntokens,
       t.ntokens > 0 AND t.tokens IS NULL AS thinned,
       t.policy_id, t.prompt_id
FROM turn t
LEFT JOIN v_policies p ON p.id = t.policy_id
LEFT JOIN prompt q ON q.id = t.prompt_id;

-- One row a learner step, with the range of matches it was made from.
CREATE VIEW v_steps AS
SELECT s.step, datetime(s.at_ms / 1000, 'unixepoch') AS at,
       b.label AS policy_before, a.label AS policy_after, s.refused, s.samples,
       (SELECT min(l.first_match) FROM lease l WHERE l.step = s.step) AS first_match,
       (SELECT max(l.last_match) FROM lease l WHERE l.step = s.step) AS last_match,
       s.matches, s.tokens, s.loss, s.entropy, s.kl_magnet, s.kl_sampler, s.grad_norm, s.lr,
       s.reward_0, s.reward_1, s.baseline_0, s.baseline_1, s.invalid, s.reply_tokens,
       s.matches_s, s.tokens_s, s.wait_data_s, s.learn_s, s.extra, s.at_ms,
       s.snapshot, s.state, s.policy_before_id, s.policy_after_id
FROM step s
LEFT JOIN v_policies b ON b.id = s.policy_before_id
LEFT JOIN v_policies a ON a.id = s.policy_after_id;

-- What a step learned from: start from `step`, which an index finds.
CREATE VIEW v_samples AS
SELECT l.step, s.match_id, s.seat, s.ret, s.baseline, s.advantage, s.staleness
FROM lease l
JOIN sample s ON s.match_id BETWEEN l.first_match AND l.last_match AND s.step = l.step;

-- Who beats whom, both seats together; aborted matches do not count. A policy against itself is one row, seen
-- from seat 0.
CREATE VIEW v_payoff AS
SELECT g.spec AS game, p.label AS player, o.label AS opponent, x.kind,
       x.matches, x.wins, x.draws, x.losses, x.total / x.matches AS mean,
       x.game_id, x.policy_id, x.opponent_id
FROM (SELECT game_id, kind, policy_id, opponent_id, sum(matches) AS matches, sum(wins) AS wins,
             sum(draws) AS draws, sum(losses) AS losses, sum(total) AS total
      FROM (SELECT game_id, kind, policy0_id AS policy_id, policy1_id AS opponent_id,
                   matches, wins0 AS wins, draws, wins1 AS losses, result_sum AS total
            FROM tally WHERE reason <> 'aborted'
            UNION ALL
            SELECT game_id, kind, policy1_id, policy0_id, matches, wins1, draws, wins0, -result_sum
            FROM tally WHERE reason <> 'aborted' AND policy0_id <> policy1_id)
      GROUP BY policy_id, opponent_id, game_id, kind) x
LEFT JOIN game g ON g.id = x.game_id
LEFT JOIN v_policies p ON p.id = x.policy_id
LEFT JOIN v_policies o ON o.id = x.opponent_id;

-- Matches that one seat lost for another reason than play: reason, game, who was at fault.
CREATE VIEW v_forfeits AS
SELECT f.reason, g.spec AS game, p.label AS player, f.kind, f.matches, f.game_id, f.policy_id
FROM (SELECT game_id, kind, reason, policy_id, sum(matches) AS matches
      FROM seat_tally WHERE fault
      GROUP BY reason, game_id, policy_id, kind) f
LEFT JOIN game g ON g.id = f.game_id
LEFT JOIN v_policies p ON p.id = f.policy_id;

-- How fast matches ended, minute by minute.
CREATE VIEW v_speed AS
SELECT strftime('%Y-%m-%d %H:%M', ended_ms / 1000, 'unixepoch') AS minute, kind,
       count(*) AS matches, count(*) / 60.0 AS matches_per_second,
       avg(ended_ms - started_ms) / 1000.0 AS seconds_a_match
FROM match
GROUP BY ended_ms / 60000, kind;

-- Results that were played elsewhere, one row a pair of players of a file.
CREATE VIEW v_imports AS
SELECT i.id AS import_id, i.name AS file, g.spec AS game, r.white, r.black,
       r.wins, r.draws, r.losses, datetime(i.at_ms / 1000, 'unixepoch') AS at, i.hash, i.game_id
FROM import i
JOIN import_result r ON r.import_id = i.id
LEFT JOIN game g ON g.id = i.game_id;
