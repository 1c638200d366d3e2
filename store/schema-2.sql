-- Version 2: checksums of rows, results of matches that were played elsewhere, and references that name
-- their column, without which Datasette cannot show a table. Only the tables' texts change.

PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql =
    replace(replace(replace(replace(replace(sql,
        'REFERENCES game', 'REFERENCES game(id)'), 'REFERENCES policy', 'REFERENCES policy(id)'),
        'REFERENCES prompt', 'REFERENCES prompt(id)'), 'REFERENCES match', 'REFERENCES match(id)'),
        'REFERENCES step', 'REFERENCES step(step)')
WHERE type = 'table';
PRAGMA writable_schema = RESET;

ALTER TABLE match ADD COLUMN sum INTEGER; -- of the row as it was written; NULL: by version 1
ALTER TABLE turn ADD COLUMN sum INTEGER; -- the same; upper 32 bits: of tokens and logp

CREATE TABLE import ( -- a file of results
    id      INTEGER PRIMARY KEY,
    hash    TEXT    NOT NULL UNIQUE, -- SHA-256 of the file: it is taken in once
    name    TEXT    NOT NULL, -- as the file was called
    game_id INTEGER REFERENCES game(id), -- NULL: nobody said which game
    at_ms   INTEGER NOT NULL
) STRICT;

CREATE TABLE import_result ( -- its sums, one row a pair of players
    import_id INTEGER NOT NULL REFERENCES import(id),
    white     TEXT    NOT NULL, -- names as in the file
    black     TEXT    NOT NULL,
    wins      INTEGER NOT NULL, -- seen from white
    draws     INTEGER NOT NULL,
    losses    INTEGER NOT NULL,
    PRIMARY KEY (import_id, white, black)
) STRICT, WITHOUT ROWID;
