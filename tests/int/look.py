#!/usr/bin/env python3
# timeout: 240
"""The commands that ask a run: sql, top, why, reparse, forfeits, matches; on a run that trains, one that
stopped, one that may not be written to, an empty one, and with hostile text in it."""
import csv
import io
import json
import os
import pty
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib_api import AGON, check  # noqa: E402

work = tempfile.mkdtemp()
run = work + "/run"
started = []


def agon(*words, stdin=None, prefix=(), env=None):
    return subprocess.run([*prefix, AGON, *words], input=stdin, capture_output=True, timeout=60,
                          env=dict(os.environ, **(env or {})))


def lines(*words, **more):
    done = agon(*words, **more)
    return [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else done


def refused(name, sentence, *words, **more):
    done = agon(*words, **more)
    errors = done.stderr.decode(errors="replace")
    check(name, done.returncode in (1, 2) and sentence in errors and errors.count("\n") == 1, done)


def wait_for(condition, seconds=60):
    until = time.time() + seconds
    while time.time() < until and not condition():
        time.sleep(0.1)
    return condition()


def newest_step():
    try:
        return lines("sql", "--run", run, "--json", "SELECT max(step) AS s FROM step")[0]["s"] or 0
    except (TypeError, IndexError, KeyError):
        return 0


def train(*more):
    p = subprocess.Popen([AGON, "train", "tests/int/tiny.yaml", "--run", run, "--set",
                          "schedule.scripted=0.3", "--set", "eval.every=2s", *more],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started.append(p)
    return p


def end(p):
    p.send_signal(signal.SIGINT)
    p.wait(60)


# ---- while it trains ----

def test_live():
    p = train("--steps", "100000")
    check("a run trains", wait_for(lambda: newest_step() >= 40), newest_step())
    got = lines("sql", "--run", run, "--json", "SELECT id, kind FROM match ORDER BY id LIMIT 3")
    check("sql: a live run", got == [{"id": i, "kind": "warmup"} for i in (1, 2, 3)], got)
    wait_for(lambda: (lines("top", "--run", run, "--once", "--json")[0]["server"] or
                      {"workers": {"ready": 0}})["workers"]["ready"])
    top = lines("top", "--run", run, "--once", "--json")[0]
    check("top: the server is asked", top["live"] and top["server"]["workers"]["count"] == 2
          and "in_flight" in top["server"]["workers"] and top["games"] and top["steps"], top)
    page = agon("top", "--run", run, "--once").stdout.decode()
    check("top: the page", "running: " in page and "matches/s" in page and "staleness" in page, page)
    why = lines("why", "latest", "--run", run, "--json")[0]
    check("why: a live step", why["sum"]["leased"] == 64 and why["step"]["step"] >= 40, why)
    return p


def test_top_follows(p):
    """One look a line: it says that the server went, and finds the next one by itself."""
    log = open(work + "/top", "w+b")
    top = subprocess.Popen([AGON, "top", "--run", run, "--every", "0.2"], stdout=log)
    started.append(top)
    said = lambda word: word in open(work + "/top", "rb").read().splitlines()[-1:][0].decode() \
        if os.path.getsize(work + "/top") else False
    check("top: says that it runs", wait_for(lambda: said(" running ")))
    end(p)
    check("top: says that the server is gone", wait_for(lambda: said(" stopped ")))
    p = train("--steps", "100000")
    check("top: comes back by itself", wait_for(lambda: said(" running ")))
    end(p)
    top.send_signal(signal.SIGINT)
    check("top: ends when asked", top.wait(10) == 0)


def test_terminal():
    """On a terminal the page is drawn over; Ctrl-C gives the terminal back as it was."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(AGON, [AGON, "top", "--run", run, "--every", "0.3"])

    def read(until, seconds=10):
        got, stop = b"", time.time() + seconds
        while until not in got and time.time() < stop:
            if select.select([fd], [], [], 0.1)[0]:
                try:
                    got += os.read(fd, 65536)
                except OSError:
                    break
        return got

    first = read(b"\x1b[J") + read(b"\x1b[J")
    quiet = not termios.tcgetattr(fd)[3] & termios.ECHO
    check("top: has a screen of its own", first.startswith(b"\x1b[?1049h\x1b[?25l")
          and first.count(b"\x1b[H") >= 2 and b"stopped: no server answers" in first and quiet, first)
    check("top: no line is longer than the terminal is wide", all(
        len(x.split(b"\x1b")[0].decode()) <= 80 for x in first.split(b"\r\n")), first)
    os.write(fd, b"\x03")
    last = read(b"\x1b[?1049l")
    status = os.waitpid(pid, 0)[1]  # the settings come back after the last byte
    # what was typed is shown again; macOS and Linux keep the settings while the other side is open
    loud = bool(termios.tcgetattr(fd)[3] & termios.ECHO)
    check("top: Ctrl-C gives the terminal back",
          last.endswith(b"\x1b[?25h\x1b[?1049l") and status == 0 and loud, last)
    os.close(fd)
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(AGON, [AGON, "verify", "--run", run])
    shown = read(b"all right", 60)
    os.waitpid(pid, 0)
    os.close(fd)
    check("a bar is drawn on terminals", b"\r" in shown and b"all right" in shown, shown)
    done = agon("verify", "--run", run)
    check("and nowhere else", done.returncode == 0 and not done.stderr and b"\r" not in done.stdout, done)


# ---- when it has stopped ----

def test_sql():
    ask = lambda *words, **more: agon("sql", "--run", run, *words, **more)
    table = ask("SELECT kind, count(*) AS n FROM match GROUP BY kind ORDER BY 1").stdout.decode()
    check("sql: a table", table.splitlines()[0].split() == ["kind", "n"], table)
    check("sql: a table without rows has its head",
          ask("SELECT id, kind FROM match WHERE 0").stdout == b"id  kind\n")
    rows = list(csv.reader(io.StringIO(ask(
        "SELECT 'a,\"b\"' AS x, NULL AS y, 1.5 AS z", "--csv").stdout.decode())))
    check("sql: CSV", rows == [["x", "y", "z"], ['a,"b"', "", "1.5"]], rows)
    got = lines("sql", "--run", run, "-", "--json", stdin=b"SELECT 1 AS a,\n 2 AS a, NULL AS b;\n")
    check("sql: from standard input; names are distinct", got == [{"a": 1, "a:2": 2, "b": None}], got)
    cut = ask("SELECT id FROM match", "--json", "--limit", "5")
    check("sql: more rows than the limit are told of",
          len(cut.stdout.splitlines()) == 5 and b"more than these 5" in cut.stderr, cut)
    for text, sentence in [("DELETE FROM match", "writing is refused"),
                           ("PRAGMA journal_mode", "PRAGMA is refused"),
                           ("ATTACH '/etc/passwd' AS x", "ATTACH is refused"),
                           ("SELECT 1; SELECT 2", "line 1, column 11: one statement"),
                           ("SELECT id\nFROM match\nWHERE naught = 1", "line 3, column 7: no such column"),
                           ("SELECT * FROM nowhere", "no such table: nowhere"),
                           ("", "there is no question"),
                           ("x" * 70000, "longer than 65536")]:
        refused("sql: refused: " + text[:40].replace("\n", " "), sentence, "sql", "--run", run, text)
    refused("sql: no end", "longer than 1 seconds", "sql", "--run", run, "--seconds", "1",
            "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c")
    refused("sql: a NUL", "holds a NUL", "sql", "--run", run, "-", stdin=b"SELECT 1\0")
    refused("sql: two styles", "one of them is enough", "sql", "--run", run, "--json", "--csv", "SELECT 1")
    refused("sql: no question", "an argument is missing", "sql")
    refused("sql: not a run", "run.db", "sql", "--run", work, "SELECT 1")
    first = subprocess.run("%s sql --run %s --csv --limit 1000000 'SELECT * FROM turn' | head -n 1"
                           % (AGON, run), shell=True, capture_output=True, timeout=60)
    check("sql: a reader that has enough", first.stdout.startswith(b"match_id,") and not first.stderr, first)


def test_read_only():
    """As another user, who may read the run and nothing more."""
    shutil.copytree(run, work + "/theirs")
    os.chmod(work, 0o755)
    subprocess.run(["chmod", "-R", "a+rX,a-w", work + "/theirs"], check=True)
    prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] \
        if os.getuid() == 0 and shutil.which("setpriv") else []
    if os.getuid() == 0 and not prefix:
        print("skip - a read-only folder: there is no setpriv, and root may write everywhere")
        return
    theirs = work + "/theirs"
    for words in (["sql", "SELECT count(*) FROM match"], ["matches"], ["forfeits"], ["why", "latest"],
                  ["top", "--once"], ["reparse", "--answer", "line"]):
        done = agon(*words, "--run", theirs, prefix=prefix)
        check("a run that may only be read: " + words[0], done.returncode == 0 and done.stdout, done)
    os.chmod(theirs + "/run.db", 0)
    if prefix:
        refused("a run that may not be read", "run.db: cannot open", "sql", "--run", theirs, "SELECT 1",
                prefix=prefix)
    subprocess.run(["chmod", "-R", "u+rwX", theirs], check=True)


def test_matches():
    ask = lambda *words: lines("matches", "--run", run, "--json", *words)
    db = sqlite3.connect("file:%s/run.db?mode=ro" % run, uri=True)
    ids = lambda where, order="id DESC": [r[0] for r in db.execute(
        "SELECT id FROM v_matches WHERE %s ORDER BY %s LIMIT 20" % (where, order))]
    for name, words, expected in [
            ("newest", [], ids("1")),
            ("oldest", ["--sort", "oldest"], ids("1", "id")),
            ("longest", ["--sort", "longest"], ids("1", "turns DESC, id DESC")),
            ("shortest", ["--sort", "shortest"], ids("1", "turns, id DESC")),
            ("slowest", ["--sort", "slowest"], ids("1", "seconds DESC, id DESC")),
            ("quickest", ["--sort", "quickest", "--kind", "train"],
             ids("kind = 'train'", "seconds, id DESC")),
            ("by length", ["--length", "3-", "--kind", "warmup"], ids("turns >= 3 AND kind = 'warmup'")),
            ("by a range of lengths", ["--length", "2-2"], ids("turns = 2")),
            ("at most so long", ["--length", "-1"], ids("turns <= 1")),
            ("won by seat 1", ["--result", "1"], ids("result < 0 AND reason <> 'aborted'")),
            ("without a result", ["--result", "none"], ids("reason = 'aborted'")),
            ("between two", ["--after", "10", "--before", "14"], [13, 12, 11]),
            ("forfeits, oldest first", ["--reason", "invalid", "--sort", "oldest"],
             ids("reason = 'invalid'", "id")),
            ("of the past", ["--until", "1970-01-02"], []),
            ("since then", ["--since", "1970-01-02 10:00", "--until", "0s"], ids("1")),
            ("of a player", ["--policy", "random", "--kind", "train"],
             ids("kind = 'train' AND 'random' IN (player0, player1)"))]:
        got = [m["id"] for m in ask(*words)]
        check("matches: " + name, got == expected, (got, expected))
    head = agon("matches", "--run", run, "--csv", "--limit", "1").stdout.decode().splitlines()[0]
    check("matches: columns stay", head.startswith(
        "id,kind,game,iteration,player0,player1,outcome,winner,reason,forfeited_by,loser,result"), head)
    for words, sentence in [(["--length", "9-3"], "a range"), (["--since", "yesterday"], "a time of UTC"),
                            (["--sort", "best"], "longest"), (["--result", "2"], "draw"),
                            (["--limit", "0"], "--limit"), (["--policy", "abcd"], "abcd")]:
        refused("matches: " + " ".join(words), sentence, "matches", "--run", run, *words)


def test_forfeits():
    db = sqlite3.connect("file:%s/run.db?mode=ro" % run, uri=True)
    count = lambda where: db.execute("SELECT count(*) FROM match WHERE " + where).fetchone()[0]
    rows = lines("forfeits", "--run", run, "--json", "--kind", "train")
    good = bool(rows)
    for r in rows:
        good &= r["forfeits"] == count("kind = 'train' AND reason = '%s' AND loser = %d" % (r["reason"], r["seat"]))
        good &= r["played"] == count("kind = 'train' AND reason <> 'aborted'")
        good &= r["low"] <= r["share"] <= r["high"]
    check("forfeits: by reason, game and seat", good, rows)
    rows = lines("forfeits", "--run", run, "--json", "--by", "kind", "--kind", "train")
    check("forfeits: matches count once where seats are not told apart", len(rows) == 1 and
          rows[0]["forfeits"] == count("kind = 'train' AND loser IS NOT NULL") and
          rows[0]["played"] == count("kind = 'train' AND reason <> 'aborted'"), rows)
    rows = lines("forfeits", "--run", run, "--json", "--by", "policy", "--policy", "random")
    check("forfeits: nobody who never does", rows == [], rows)
    refused("forfeits: an unknown group", "reason, game, policy, seat, kind", "forfeits", "--run", run, "--by", "x")


def test_why():
    db = sqlite3.connect("file:%s/run.db?mode=ro" % run, uri=True)
    n, largest = db.execute("SELECT count(*), max(abs(advantage)) FROM sample WHERE step = 35").fetchone()
    o = lines("why", "35", "--run", run, "--json")[0]
    best = max(abs(s["advantage"]) for s in o["samples"])
    check("why: a step's samples", len(o["samples"]) == n == o["sum"]["samples"]
          and abs(best - largest) < 1e-9 and abs(o["samples"][0]["advantage"]) == best
          and {s["role"] for s in o["samples"]} == {"0", "1"}, o["sum"])
    rows = list(csv.DictReader(io.StringIO(agon("why", "35", "--run", run, "--csv", "--sort",
                                                "match").stdout.decode())))
    check("why: CSV in the order of matches", len(rows) == n and [int(r["match_id"]) for r in rows] ==
          sorted(int(r["match_id"]) for r in rows), rows[:3])
    for match, seat, step, advantage in db.execute(
            "SELECT match_id, seat, step, advantage FROM sample WHERE step = 35 LIMIT 4"):
        seats = lines("why", "--match", str(match), "--run", run, "--json")[0]["seats"]
        check("why: and back", seats[seat]["learned_in_step"] == step and
              abs(seats[seat]["advantage"] - advantage) < 1e-9 and seats[seat]["why_not"] is None, seats)
    text = lambda match: agon("why", "--match", str(match), "--run", run).stdout.decode()
    check("why: the warm-up", "imitated in step 1" in text(1), text(1))
    match, = db.execute("SELECT id FROM v_matches WHERE kind = 'train' AND player1 = 'random' AND "
                        "learned_in_step LIMIT 1").fetchone()
    check("why not: not the learner", "only the newest snapshot" in text(match), text(match))
    waiting, = db.execute("SELECT max(id) FROM match").fetchone()
    if waiting > db.execute("SELECT max(last_match) FROM lease").fetchone()[0]:
        check("why not: waiting", "waiting: " in text(waiting), text(waiting))
    check("why: the first weights", "first weights" in agon("why", "0", "--run", run).stdout.decode())
    for words, sentence in [(["99999999999"], "the newest is"), (["9" * 30], "whole number"),
                            (["-1"], "whole number"), (["--match", "999999999"], "the newest is"),
                            (["35", "--sort", "x"], "advantage, match")]:
        refused("why: " + " ".join(words)[:30], sentence, "why", "--run", run, *words)
    for words in ([], ["3", "--match", "3"]):
        refused("why: one of both: " + " ".join(words), "a step or a match", "why", "--run", run, *words)


def test_reparse():
    before = open(run + "/run.db", "rb").read()
    same = lines("reparse", "--answer", "whole", "--run", run, "--json")[0]
    check("reparse: the run's own parser changes nothing", same["changed"] == 0 and same["replies"] > 100
          and set(k for k, v in same["matches"].items() if v) <= {"same"}, same)
    o = lines("reparse", "--answer", "bracket", "--run", run, "--json", "--limit", "7")[0]
    m = o["matches"]
    check("reparse: another one changes all", o["changed"] == o["to_invalid"] + (o["changed"] - o["to_invalid"])
          and m["forfeit"] > 0 and 0 < m["other_result"] <= m["forfeit"] and len(o["changes"]) == 7
          and sum(g["changed"] for g in o["groups"]) == o["changed"], o)
    text = agon("reparse", "--answer", "bracket", "--run", run, "--limit", "2").stdout.decode()
    check("reparse: the page", "would end there as invalid" in text and "... and " in text, text)
    check("reparse: nothing is written", before == open(run + "/run.db", "rb").read())
    refused("reparse: an unknown parser", "boxed", "reparse", "--answer", "x", "--run", run)
    refused("reparse: no parser", "--answer", "reparse", "--run", run)


def test_hostile():
    """Text of players reaches no terminal, whatever it says."""
    bad = work + "/bad"
    shutil.copytree(run, bad)
    db = sqlite3.connect(bad + "/run.db")
    evil = "\x1b[2J\x9b31m\u202eevil\nmatch 1: fine"
    db.execute("UPDATE turn SET word = ?, reply = ?", (evil, evil))
    db.execute("UPDATE match SET detail = ?, kind = 'eval' WHERE id % 2", (evil,))
    db.execute("UPDATE policy SET name = ? WHERE kind = 'scripted'", (evil,))
    db.execute("UPDATE eval SET report = '{\"against\": [5], \"nash_conv\": \"x\"}'")
    db.commit()
    db.close()
    for words in (["sql", "SELECT word, reply FROM turn LIMIT 3"], ["matches"], ["forfeits"],
                  ["why", "35"], ["why", "--match", "3"], ["top", "--once"],
                  ["reparse", "--answer", "line", "--to", "200"]):
        done = agon(*words, "--run", bad)
        shown = done.stdout + done.stderr
        check("hostile text: " + words[0], done.returncode == 0 and b"\x1b" not in shown
              and b"\xc2\x9b" not in shown and "\u202e".encode() not in shown
              and not any(x.startswith(b"match 1: fine") for x in shown.splitlines()), done)
    with open(bad + "/run.db", "wb") as f:
        f.write(b"garbage")
    refused("a database that is none", "run.db", "sql", "--run", bad, "SELECT 1")
    for more in ([], ["--json"]):
        refused("top: a database that is none " + " ".join(more), "run.db", "top", "--once", "--run", bad, *more)
    told = json.loads(agon("top", "--once", "--json", "--run", bad).stdout)
    check("top: what is known is shown all the same", "run.db" in told["trouble"] and not told["live"], told)
    shutil.rmtree(bad)
    check("a run that goes away", b"" != agon("top", "--once", "--run", bad).stderr)


def test_empty():
    empty = work + "/empty"
    p = subprocess.Popen([AGON, "serve", "tests/int/tiny.yaml", "--run", empty],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started.append(p)
    check("an empty run", wait_for(lambda: os.path.exists(empty + "/serve.json"), 30))
    check("empty: sql", lines("sql", "--run", empty, "--json", "SELECT count(*) AS n FROM match") == [{"n": 0}])
    check("empty: matches", b"no match is recorded yet" in agon("matches", "--run", empty).stdout)
    check("empty: forfeits", b"no match was forfeited" in agon("forfeits", "--run", empty).stdout)
    check("empty: top", b"no step yet" in agon("top", "--once", "--run", empty).stdout)
    refused("empty: why", "no step yet", "why", "latest", "--run", empty)
    refused("empty: why a match", "no match is recorded", "why", "--match", "1", "--run", empty)
    check("empty: reparse", agon("reparse", "--answer", "line", "--run", empty).returncode == 0)
    end(p)


try:
    p = test_live()
    test_top_follows(p)
    for test in (test_terminal, test_sql, test_read_only, test_matches, test_forfeits, test_why,
                 test_reparse, test_hostile, test_empty):
        test()
finally:
    for p in started:
        if p.poll() is None:
            p.terminate()
            p.wait(30)
    shutil.rmtree(work, ignore_errors=True)
