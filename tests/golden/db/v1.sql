-- A database of version 1, as it was written then: never change this file.
-- Tests open it with every later version.
-- The tables of run.db, version 1. docs/database.md explains them with examples.
--
-- Times are integer milliseconds of UTC since 1970 (`..._ms`). Enumerations are stored as words, so that
-- a row can be read without a key; there are no CHECK lists, because a list could not grow later without
-- copying the table. REFERENCES are for people and tools: the writer checks ids itself, which is faster.
-- A file of this version is changed only by later steps in store/schema.c; this file stays as it is.

CREATE TABLE run ( -- facts of the run
    key    TEXT    NOT NULL PRIMARY KEY,
    value  TEXT    NOT NULL,
    set_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE game ( -- a game with its parameters
    id      INTEGER PRIMARY KEY,
    spec    TEXT    NOT NULL, -- kuhn_poker(hands=1,side=0)
    name    TEXT    NOT NULL, -- kuhn_poker
    version INTEGER NOT NULL, -- of rules and texts
    hash    TEXT    NOT NULL, -- SHA-256 of a plug-in's file, '' for built-in games
    UNIQUE (spec, version, hash)
) STRICT;

CREATE TABLE policy ( -- who plays: a snapshot of weights, or a scripted player
    id        INTEGER PRIMARY KEY,
    kind      TEXT    NOT NULL, -- snapshot, scripted
    name      TEXT    NOT NULL, -- SHA-256 of the snapshot, or the player's name
    step      INTEGER NOT NULL, -- learner step that made it, 0 = first weights, -1 = scripted
    parent_id INTEGER REFERENCES policy, -- policy it was trained from
    made_ms   INTEGER NOT NULL,
    kept      INTEGER NOT NULL, -- 1 while the snapshot's file is there
    UNIQUE (kind, name, step)
) STRICT;

CREATE TABLE match (
    id         INTEGER PRIMARY KEY, -- schedule id
    kind       TEXT    NOT NULL, -- train, warmup, eval, play
    iteration  INTEGER NOT NULL, -- newest learner step when the match was assigned
    game_id    INTEGER NOT NULL REFERENCES game,
    deal       INTEGER NOT NULL, -- random stream of the chance nodes; a pair of matches shares it
    policy0_id INTEGER NOT NULL REFERENCES policy, -- who sat in seat 0
    policy1_id INTEGER NOT NULL REFERENCES policy, -- who sat in seat 1
    reason     TEXT    NOT NULL, -- play, invalid, no answer, time, crash, turn limit, aborted
    loser      INTEGER, -- seat at fault, NULL when nobody is
    payoff0    REAL    NOT NULL, -- as learned from
    payoff1    REAL    NOT NULL,
    result     REAL    NOT NULL, -- seat 0's zero-sum payoff: 1 won, -1 lost; what ratings use
    moves      TEXT    NOT NULL, -- every action applied, chance outcomes too: '3 0 1 1'
    started_ms INTEGER NOT NULL,
    ended_ms   INTEGER NOT NULL,
    attempts   INTEGER NOT NULL, -- 2 when it was played again after a crash
    detail     TEXT -- a sentence about a crash, a time-out, an abort
) STRICT;

-- Forfeits are looked for by reason; in a healthy run they are few, so the index stays small.
CREATE INDEX match_forfeit ON match (reason, id) WHERE reason <> 'play';

CREATE TABLE prompt ( -- distinct pieces of context; a small game has a handful
    id     INTEGER PRIMARY KEY,
    hash   INTEGER NOT NULL, -- FNV-1a of `tokens`
    tokens BLOB    NOT NULL, -- little-endian int32 token ids
    text   TEXT -- the same for people, where it was given
) STRICT;

CREATE INDEX prompt_hash ON prompt (hash);

CREATE TABLE turn ( -- one question to a seat and its reply
    match_id  INTEGER NOT NULL REFERENCES match,
    turn_no   INTEGER NOT NULL, -- 0, 1, 2, ... in the order they were asked
    ply       INTEGER NOT NULL, -- how many of the match's moves came before
    seat      INTEGER NOT NULL,
    policy_id INTEGER NOT NULL REFERENCES policy, -- who replied
    prompt_id INTEGER REFERENCES prompt, -- what this turn added to the seat's context
    verdict   TEXT    NOT NULL, -- ok, no word, illegal, cut, time
    action    INTEGER, -- NULL unless the verdict is ok
    word      TEXT, -- the action word found in the reply
    reply     TEXT    NOT NULL,
    escaped   INTEGER NOT NULL, -- 1: `reply` and `word` are written with \xNN and \\
    ntokens   INTEGER NOT NULL, -- tokens sampled, the end token included
    tokens    BLOB, -- little-endian int32 ids; NULL when none, or thinned
    logp      BLOB, -- little-endian float32 log-probabilities; NULL for scripted players, or thinned
    PRIMARY KEY (match_id, turn_no)
) STRICT, WITHOUT ROWID;

-- Sums over `match`, kept up to date in the same transaction, so that counts, win rates and forfeits
-- cost the same after a million matches as after ten.
CREATE TABLE tally (
    game_id    INTEGER NOT NULL REFERENCES game,
    kind       TEXT    NOT NULL,
    policy0_id INTEGER NOT NULL REFERENCES policy,
    policy1_id INTEGER NOT NULL REFERENCES policy,
    reason     TEXT    NOT NULL,
    loser      INTEGER NOT NULL, -- seat at fault, -1 when nobody is
    matches    INTEGER NOT NULL,
    wins0      INTEGER NOT NULL, -- result > 0
    draws      INTEGER NOT NULL,
    wins1      INTEGER NOT NULL,
    result_sum REAL    NOT NULL,
    turns      INTEGER NOT NULL,
    tokens     INTEGER NOT NULL,
    PRIMARY KEY (policy0_id, policy1_id, game_id, kind, reason, loser)
) STRICT, WITHOUT ROWID;

CREATE INDEX tally_policy1 ON tally (policy1_id);

-- Ranges of matches handed to the learner. Open ones have no step and are deleted when a learner starts;
-- AUTOINCREMENT, so that a late acknowledgement of a deleted lease can never meet a new one.
CREATE TABLE lease (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    first_match INTEGER NOT NULL REFERENCES match,
    last_match  INTEGER NOT NULL REFERENCES match,
    taken_ms    INTEGER NOT NULL,
    step        INTEGER REFERENCES step -- step that consumed it, NULL while open
) STRICT;

CREATE INDEX lease_step ON lease (step);
CREATE INDEX lease_last ON lease (last_match);

-- One seat of one match as it was learned from. The key makes consumption happen at most once.
CREATE TABLE sample (
    match_id  INTEGER NOT NULL REFERENCES match,
    seat      INTEGER NOT NULL,
    step      INTEGER NOT NULL REFERENCES step,
    ret       REAL    NOT NULL, -- return
    baseline  REAL    NOT NULL, -- before this sample moved it
    advantage REAL    NOT NULL, -- ret - baseline
    staleness INTEGER, -- steps between the weights that played and those that learned; NULL: scripted
    PRIMARY KEY (match_id, seat)
) STRICT, WITHOUT ROWID;

CREATE TABLE baseline ( -- the present value; its past is in `sample`
    game_id INTEGER NOT NULL REFERENCES game,
    role    INTEGER NOT NULL, -- seat, -1 = shared by both
    value   REAL    NOT NULL,
    count   INTEGER NOT NULL, -- returns averaged so far
    step    INTEGER NOT NULL REFERENCES step, -- step that last moved it
    PRIMARY KEY (game_id, role)
) STRICT, WITHOUT ROWID;

CREATE TABLE step ( -- one update of the weights; 0 = the first weights
    step             INTEGER PRIMARY KEY,
    policy_before_id INTEGER REFERENCES policy, -- NULL for step 0
    policy_after_id  INTEGER NOT NULL REFERENCES policy,
    snapshot         TEXT    NOT NULL, -- SHA-256 of the weights' file
    state            TEXT    NOT NULL, -- SHA-256 of the learner's state file
    refused          INTEGER NOT NULL, -- 1: loss or gradient was not finite, weights unchanged
    at_ms            INTEGER NOT NULL,
    samples          INTEGER NOT NULL,
    -- What the learner measured; NULL where it did not.
    matches     REAL,
    tokens      REAL, -- learned from
    loss        REAL,
    entropy     REAL,
    kl_magnet   REAL, -- distance to the reference policy
    kl_sampler  REAL, -- distance to the policy that played
    grad_norm   REAL,
    lr          REAL, -- learning rate
    reward_0    REAL, -- mean payoff of seat 0
    reward_1    REAL,
    baseline_0  REAL,
    baseline_1  REAL,
    invalid     REAL, -- share of matches that ended by an invalid reply
    reply_tokens REAL, -- mean length of a reply
    matches_s   REAL, -- matches a second
    tokens_s    REAL,
    wait_data_s REAL, -- seconds spent waiting for matches
    learn_s     REAL, -- seconds spent computing
    extra       TEXT  -- further measurements as one JSON object
) STRICT;

CREATE TABLE eval ( -- how good a policy is
    id        INTEGER PRIMARY KEY,
    policy_id INTEGER REFERENCES policy, -- NULL: the mixture of all snapshots
    step      INTEGER NOT NULL,
    game_id   INTEGER NOT NULL REFERENCES game,
    kind      TEXT    NOT NULL, -- exact, matches
    report    TEXT    NOT NULL, -- JSON, as `agon eval --json` prints it
    at_ms     INTEGER NOT NULL
) STRICT;

CREATE TABLE event ( -- what happened to the run
    id     INTEGER PRIMARY KEY,
    at_ms  INTEGER NOT NULL,
    level  TEXT    NOT NULL, -- debug, info, warn, error
    module TEXT    NOT NULL,
    text   TEXT    NOT NULL
) STRICT;
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
FROM (SELECT game_id, kind, reason, sum(matches) AS matches,
             CASE loser WHEN 0 THEN policy0_id ELSE policy1_id END AS policy_id
      FROM tally WHERE loser >= 0
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

PRAGMA application_id = 1097297774;
PRAGMA user_version = 1;

INSERT INTO run VALUES ('seed', '42', 1750000000000);
INSERT INTO game VALUES (1, 'kuhn_poker(hands=1,side=0)', 'kuhn_poker', 3, '');
INSERT INTO policy VALUES (1, 'scripted', 'random', -1, NULL, 1000, 0);
INSERT INTO policy VALUES (2, 'snapshot', 'aaaa0000', 0, NULL, 2000, 1);
INSERT INTO policy VALUES (3, 'snapshot', 'bbbb1111', 1, 2, 3000, 1);
INSERT INTO match VALUES (1, 'train', 0, 1, 7, 2, 1, 'play', NULL, 0.5, -0.5, 0.5, '4 1 0', 1750000000000,
 1750000000250, 1, NULL);
INSERT INTO match VALUES (2, 'train', 0, 1, 7, 2, 1, 'invalid', 0, -1, 1, -1, '5', 1750000000100, 1750000000400,
 1, NULL);
INSERT INTO match VALUES (3, 'eval', 1, 1, 8, 1, 3, 'crash', NULL, 0, 0, 0, '2', 1750000000100, 1750000000900,
 2, 'the game''s process died');
INSERT INTO prompt VALUES (1, -3750763034362895579, x'0001000048000000', 'H');
INSERT INTO turn VALUES (1, 0, 1, 0, 2, 1, 'ok', 1, 'b', '[b]', 0, 2, x'5b00000062000000', x'000000bf0000a0bf');
INSERT INTO turn VALUES (1, 1, 2, 1, 1, NULL, 'ok', 0, 'p', '[p]', 0, 0, NULL, NULL);
INSERT INTO turn VALUES (2, 0, 1, 0, 2, 1, 'no word', NULL, NULL, 'a\x00b\\', 1, 1, x'05000000', x'000000bf');
INSERT INTO turn VALUES (3, 0, 1, 0, 1, NULL, 'ok', 1, 'b', '[b]', 0, 0, NULL, NULL);
INSERT INTO turn VALUES (3, 1, 2, 1, 3, NULL, 'time', NULL, NULL, '', 0, 0, NULL, NULL);
INSERT INTO tally VALUES (1, 'train', 2, 1, 'play', -1, 1, 1, 0, 0, 0.5, 2, 2);
INSERT INTO tally VALUES (1, 'train', 2, 1, 'invalid', 0, 1, 0, 0, 1, -1, 1, 1);
INSERT INTO tally VALUES (1, 'eval', 1, 3, 'crash', -1, 1, 0, 1, 0, 0, 2, 0);
INSERT INTO lease VALUES (1, 1, 2, 1750000000500, 1);
INSERT INTO lease VALUES (2, 3, 3, 1750000000600, NULL);
DELETE FROM lease WHERE id = 2;
INSERT INTO sample VALUES (1, 0, 1, 0.5, 0, 0.5, 0);
INSERT INTO sample VALUES (2, 0, 1, -1, 0.1, -1.1, 0);
INSERT INTO baseline VALUES (1, 0, 0.05, 2, 1);
INSERT INTO step (step, policy_after_id, snapshot, state, refused, at_ms, samples)
 VALUES (0, 2, 'aaaa0000', '4444', 0, 2000, 0);
INSERT INTO step (step, policy_before_id, policy_after_id, snapshot, state, refused, at_ms, samples, loss)
 VALUES (1, 2, 3, 'bbbb1111', '5555', 0, 3000, 2, 0.25);
INSERT INTO eval VALUES (1, 3, 1, 1, 'exact', '{"nash_conv":0.4}', 4000);
INSERT INTO event VALUES (1, 5000, 'warn', 'crew', 'worker 1 died');
