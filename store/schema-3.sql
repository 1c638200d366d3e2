-- Version 3: sums of each policy and of the whole run, and indexes by which the newest matches of a policy or a kind are found however few
-- they are among how many others. Rows carry their ids in ascending order, so that an index's part for
-- one value is in the order of time, and a new row is added at the end of that part.

CREATE INDEX match_policy0 ON match (policy0_id);
CREATE INDEX match_policy1 ON match (policy1_id);
-- Nearly all matches of a run are for training; those need no index to be found.
CREATE INDEX match_kind ON match (kind) WHERE kind <> 'train';

-- Sums over `tally` of all policies: a row for each way that matches of a game and a kind have ended. Where
-- `tally` grows with the number of snapshots, this does not.
CREATE TABLE total (
    game_id    INTEGER NOT NULL REFERENCES game(id),
    kind       TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    loser      INTEGER NOT NULL, -- seat at fault, -1 when nobody is
    matches    INTEGER NOT NULL,
    wins0      INTEGER NOT NULL, -- result > 0
    draws      INTEGER NOT NULL,
    wins1      INTEGER NOT NULL,
    result_sum REAL    NOT NULL,
    turns      INTEGER NOT NULL,
    tokens     INTEGER NOT NULL,
    PRIMARY KEY (game_id, kind, reason, loser)
) STRICT, WITHOUT ROWID;

INSERT INTO total
SELECT game_id, kind, reason, loser, sum(matches), sum(wins0), sum(draws), sum(wins1),
       sum(result_sum), sum(turns), sum(tokens)
FROM tally GROUP BY game_id, kind, reason, loser;

-- The same of each policy in each seat, as that seat sees it.
CREATE TABLE seat_tally (
    policy_id INTEGER NOT NULL REFERENCES policy(id),
    seat      INTEGER NOT NULL,
    game_id   INTEGER NOT NULL REFERENCES game(id),
    kind      TEXT    NOT NULL,
    reason    TEXT    NOT NULL,
    fault     INTEGER NOT NULL, -- 1: this seat lost for that reason
    mirror    INTEGER NOT NULL, -- 1: against itself
    matches   INTEGER NOT NULL,
    wins      INTEGER NOT NULL,
    draws     INTEGER NOT NULL,
    losses    INTEGER NOT NULL,
    PRIMARY KEY (policy_id, seat, game_id, kind, reason, fault, mirror)
) STRICT, WITHOUT ROWID;

INSERT INTO seat_tally
SELECT policy_id, seat, game_id, kind, reason, fault, mirror, sum(matches), sum(wins), sum(draws), sum(losses)
FROM (SELECT policy0_id AS policy_id, 0 AS seat, game_id, kind, reason, loser = 0 AS fault,
             policy0_id = policy1_id AS mirror, matches, wins0 AS wins, draws, wins1 AS losses FROM tally
      UNION ALL
      SELECT policy1_id, 1, game_id, kind, reason, loser = 1, policy0_id = policy1_id,
             matches, wins1, draws, wins0 FROM tally)
GROUP BY policy_id, seat, game_id, kind, reason, fault, mirror;
