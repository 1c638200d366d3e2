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
