#!/usr/bin/env python3
# timeout: 240
"""A changed byte anywhere in the stored row of a match, a turn or a prompt is reported by `agon verify` with
its place: match and column, and the turn where there is one."""
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib_api import AGON, check, failures, remove

work = tempfile.mkdtemp()
run, bad = work + "/run", work + "/bad"
rng = random.Random(7)

# What verify calls a column of another name.
ALSO = {"match.id": "turn|match|row", "match.game_id": "row|game", "match.policy0_id": "policy", "match.policy1_id": "policy",
        "match.kind": "row|kind|tally", "turn.match_id": "row|moves|turn", "turn.turn_no": "row|moves|seat",
        "turn.policy_id": "policy", "turn.prompt_id": "prompt|row", "turn.ntokens": "row|tokens",
        "turn.escaped": "row|reply|word", "prompt.tokens": "prompt|row", "prompt.id": "row|prompt"}


def flip(value):
    """One changed byte: a bit of a blob or a text, the last digit of a number."""
    if value is None:
        return 1
    if isinstance(value, int):
        return value ^ 1
    if isinstance(value, float):
        return value + 2.0 ** -20 if abs(value) < 1 else value * (1 - 2.0 ** -20)
    if isinstance(value, str):
        if not value:
            return "x"
        at = rng.randrange(len(value))
        return value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1:]
    at = rng.randrange(len(value))
    return value[:at] + bytes([value[at] ^ 1 << rng.randrange(8)]) + value[at + 1:]


def verify(folder):
    p = subprocess.run([AGON, "verify", "--run", folder], capture_output=True, text=True, timeout=60)
    return p.returncode, p.stdout + p.stderr


def spoil(table, key, column, value):
    """A copy of the run with the one cell changed; False when the table does not take the value."""
    shutil.copy(run + "/run.db", bad + "/run.db")
    db = sqlite3.connect(bad + "/run.db", uri=True)
    where = " AND ".join("%s = %d" % kv for kv in key.items())
    try:
        db.execute("UPDATE %s SET %s = ? WHERE %s" % (table, column, where), (value,))
        db.commit()
        return True
    except sqlite3.IntegrityError:
        return False
    finally:
        db.close()


def try_cell(table, key, column, row, match):
    value = flip(row[column])
    if not spoil(table, key, column, value):
        return None
    status, text = verify(bad)
    also = "|" + ALSO["%s.%s" % (table, column)] if "%s.%s" % (table, column) in ALSO else ""
    place = r"match %s\b|, id %s\b" % (match, match) if match else r"prompt %d\b|match \d+" % key["id"]
    found = status == 1 and re.search(place, text) and re.search(r"\b(%s|sum%s)\b" % (column, also), text)
    return found, "%s.%s of %s: %r -> %r: %d %s" % (table, column, key, row[column], value, status, text[:300])


def columns(db, table):
    return [r[1] for r in db.execute("PRAGMA table_info(%s)" % table)]


def cells(db):
    """Some rows of each table, of different ends, and every column of each."""
    matches = [r[0] for r in db.execute(
        "SELECT max(id) FROM match WHERE kind = 'train' GROUP BY reason UNION SELECT max(id) FROM match GROUP BY kind "
        "UNION SELECT match_id FROM turn WHERE escaped ORDER BY 1 DESC LIMIT 6")]
    for id in matches:
        row = db.execute("SELECT * FROM match WHERE id = ?", (id,)).fetchone()
        for c in columns(db, "match"):
            yield "match", {"id": id}, c, row, id
        row = db.execute("SELECT * FROM turn WHERE match_id = ? ORDER BY turn_no DESC LIMIT 1", (id,)).fetchone()
        for c in columns(db, "turn") if row else []:
            yield "turn", {"match_id": id, "turn_no": row["turn_no"]}, c, row, id
    row = db.execute("SELECT * FROM prompt ORDER BY id DESC LIMIT 1").fetchone()
    for c in columns(db, "prompt"):
        yield "prompt", {"id": row["id"]}, c, row, None


try:
    subprocess.run([AGON, "train", "tests/int/tiny.yaml", "--run", run, "--steps", "36", "--set", "eval.every=1h"],
                   stdout=subprocess.DEVNULL, timeout=120, check=True)
    os.mkdir(bad)
    shutil.copy(run + "/config.yaml", bad)
    status, text = verify(run)
    check("the run itself is right", status == 0 and "all right" in text, text)
    db = sqlite3.connect("file:%s/run.db?mode=ro" % run, uri=True)
    db.row_factory = sqlite3.Row
    missed, tried = {}, {}
    for table, key, column, row, match in cells(db):
        got = try_cell(table, key, column, row, match)
        if got is None: # the table itself refuses it
            continue
        name = "%s.%s" % (table, column)
        tried[name] = tried.get(name, 0) + 1
        if not got[0]:
            missed.setdefault(name, []).append(got[1])
    for name in sorted(tried):
        check("%s: a change is reported with its place (%d tried)" % (name, tried[name]), name not in missed,
              "\n# ".join(missed.get(name, [])[:2]))
    check("many cells were tried", sum(tried.values()) > 80 and len(tried) > 28, tried)
finally:
    remove(work)
sys.exit(failures() > 0)
