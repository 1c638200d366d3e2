#!/usr/bin/env python3
# timeout: 240
"""agon export and agon import: what is written is what the database holds, and what comes back is counted."""
import csv
import hashlib
import html.parser
import io
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib_api import AGON, Server, check, failures, remove

work = tempfile.mkdtemp()
run = work + "/run"


def agon(*words, status=0, data=None):
    p = subprocess.run([AGON, *words], capture_output=True, input=data, timeout=120)
    if p.returncode != status:
        print("#", words, p.returncode, p.stderr[:500])
    return p


def refused(name, words, *command):
    p = agon(*command, status=1)
    text = p.stderr.decode()
    check(name, p.returncode in (1, 2) and words in text and text.count("\n") == 1 and not p.stdout,
          (p.returncode, text, p.stdout[:200]))


def rows(sql, *values):
    db = sqlite3.connect("file:%s/run.db?mode=ro" % run, uri=True)
    try:
        return db.execute(sql, values).fetchall()
    finally:
        db.close()


def export(*words):
    return agon("export", "--run", run, *words).stdout.decode()


# ---- JSON lines ----

def json_lines():
    lines = [json.loads(l) for l in export().splitlines()]
    ids = [r[0] for r in rows("SELECT id FROM match ORDER BY id")]
    check("every match is a line, oldest first", [m["id"] for m in lines] == ids, len(lines))
    wrong = []
    for m in lines:
        row = rows("SELECT m.kind, g.spec, m.iteration, m.deal, m.reason, m.loser, m.result, m.payoff0, m.payoff1, "
                   "m.moves, m.started_ms, m.detail FROM match m JOIN game g ON g.id = m.game_id WHERE m.id = ?",
                   m["id"])[0] if m["id"] % 50 == 0 else None
        if row and row != (m["kind"], m["game"], m["iteration"], m["deal"], m["reason"], m["loser"], m["result"],
                           m["seats"][0]["payoff"], m["seats"][1]["payoff"], " ".join(map(str, m["moves"])),
                           m["started_ms"], m["detail"]):
            wrong.append((m, row))
    check("with its row", not wrong, wrong[:1])
    learned = {(s[0], s[1]): s[2:] for s in rows("SELECT match_id, seat, ret, baseline, advantage, step FROM sample")}
    wrong = [m["id"] for m in lines for s in m["seats"] if learned.get((m["id"], s["seat"]), (None,) * 4) !=
             (s["return"], s["baseline"], s["advantage"], s["learned_in_step"])]
    check("advantages are exact", learned and not wrong, wrong[:5])
    turns = rows("SELECT t.match_id, t.turn_no, t.reply, t.word, t.verdict, t.tokens, t.logp, p.tokens, p.text, t.escaped "
                 "FROM turn t LEFT JOIN prompt p ON p.id = t.prompt_id ORDER BY 1, 2")
    flat = [(m["id"], t) for m in lines for t in m["turns"]]
    wrong = []
    for row, (match, t) in zip(turns, flat):
        ids = list(struct.unpack("<%di" % (len(row[5]) // 4), row[5])) if row[5] else []
        logp = struct.unpack("<%df" % (len(row[6]) // 4), row[6]) if row[6] else None
        prompt = list(struct.unpack("<%di" % (len(row[7]) // 4), row[7]))
        same = (match == row[0] and t["turn"] == row[1] and t["verdict"] == row[4] and t["tokens"] == ids and
                t["prompt_tokens"] == prompt and t["messages"][0] == {"role": "user", "content": row[8]} and
                t["messages"][1]["role"] == "assistant")
        if not row[9]:
            same = same and t["messages"][1]["content"] == row[2] and t["word"] == row[3]
        if logp is None:
            same = same and t["logprobs"] is None
        else:
            packed = struct.pack("<%df" % len(logp), *t["logprobs"])
            same = same and packed == row[6]
        if not same:
            wrong.append((row, t))
    check("turns, messages and tokens are the database's", len(turns) == len(flat) and not wrong, wrong[:1])
    check("log-probabilities are exact to the bit", any(t["logprobs"] for _, t in flat) and not wrong)
    odd = [t for _, t in flat if t["escaped"]]
    check("bytes that are no text are escaped and marked", odd and all(
        re.search(r"\\x[0-9a-f]{2}|\\\\", t["messages"][1]["content"] + (t["word"] or "")) for t in odd), odd[:1])


def filters():
    last = rows("SELECT max(id) FROM match")[0][0]
    got = [json.loads(l)["id"] for l in export("--limit", "7").splitlines()]
    check("--limit has the newest", got == list(range(last - 6, last + 1)), got)
    got = [json.loads(l)["id"] for l in export("--from", "5", "--to", "9").splitlines()]
    check("--from and --to are a range", got == [5, 6, 7, 8, 9], got)
    got = {json.loads(l)["reason"] for l in export("--reason", "invalid").splitlines()}
    check("--reason selects", got == {"invalid"}, got)
    want = [r[0] for r in rows("SELECT id FROM match WHERE kind = 'warmup' AND id < 1000 ORDER BY id DESC LIMIT 3")]
    got = [json.loads(l)["id"] for l in
           export("--kind", "warmup", "--policy", "random", "--before", "1000", "--limit", "3",
                  "--game", "kuhn_poker").splitlines()]
    check("filters go together, and mean what they mean to `agon matches`", got == sorted(want), (got, want))
    listed = [json.loads(l)["id"] for l in agon("matches", "--run", run, "--json", "--limit", "5", "--reason",
                                                "invalid").stdout.splitlines()]
    got = [json.loads(l)["id"] for l in export("--limit", "5", "--reason", "invalid").splitlines()]
    check("the same matches as `agon matches` lists", got == sorted(listed), (got, listed))
    check("nothing fits: nothing is written", export("--game", "nim") == "")
    refused("an unknown reason", "no answer", "export", "--run", run, "--reason", "bad")
    refused("two formats", "only one", "export", "--run", run, "--pgn", "--csv")


# ---- files ----

def files():
    plain = export()
    path = work + "/all.jsonl"
    agon("export", "--run", run, path)
    check("a file holds the same", open(path).read() == plain)
    agon("export", "--run", run, path + ".zst")
    check("compressed it is small", os.path.getsize(path + ".zst") < len(plain) / 5)
    if shutil.which("zstd"):
        p = subprocess.run(["zstd", "-dcq", path + ".zst"], capture_output=True)
        check("and holds the same", p.stdout.decode() == plain, p.stderr)
    else:
        print("skip - and holds the same: the program zstd is not installed")
    refused("a folder is not replaced", "no ordinary file", "export", "--run", run, work)
    refused("a folder that is not there", "cannot create", "export", "--run", run, work + "/no/x")
    p = subprocess.run("ulimit -f 100; trap '' XFSZ; exec '%s' export --run '%s' '%s/cut'" % (AGON, run, work),
                       shell=True, capture_output=True)
    left = [f for f in os.listdir(work) if f.startswith("cut")]
    check("a full disk: an error, and no half file", p.returncode == 1 and b"cannot write" in p.stderr and not left,
          (p.stderr, left))
    p = subprocess.run("'%s' export --run '%s' | head -c 100 >/dev/null" % (AGON, run), shell=True, capture_output=True)
    check("a reader that has enough is no trouble", not p.stderr, p.stderr)


# ---- tables ----

def tables():
    table = list(csv.DictReader(io.StringIO(export("--csv", "--kind", "train"))))
    want = rows("SELECT m.id, m.payoff0, m.moves, s.advantage, s.step, g.spec FROM match m JOIN game g ON g.id = m.game_id "
                "LEFT JOIN sample s ON s.match_id = m.id AND s.seat = 0 WHERE kind = 'train' ORDER BY m.id")
    got = [(int(r["id"]), float(r["payoff0"]), r["moves"], float(r["advantage0"]) if r["advantage0"] else None,
            int(r["learned_in_step"]) if r["learned_in_step"] else None, r["game"]) for r in table]
    check("CSV has every row, with exact numbers", want and got == want, (got[:1], want[:1]))
    games = re.findall(r'\[Round "(\d+)"\]\n\[White "([^"]*)"\]\n\[Black "([^"]*)"\]\n\[Result "([^"]*)"\]',
                       export("--pgn"))
    want = rows("SELECT id, player0, player1, CASE WHEN reason = 'aborted' THEN '*' WHEN result > 0 THEN '1-0' "
                "WHEN result < 0 THEN '0-1' ELSE '1/2-1/2' END FROM v_matches ORDER BY id")
    check("PGN has every match", want and [(int(g[0]), *g[1:]) for g in games] == want, (games[:1], want[:1]))


# ---- pages ----

class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.csp, self.inside = [], "", None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = tag
        if tag == "meta" and dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.csp = dict(attributes)["content"]

    def handle_data(self, data):
        if self.inside != "style":
            self.text += data


def page(name, path):
    text = open(path, encoding="utf-8").read()
    p = Page(text)
    names = {t for t, _ in p.tags}
    style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
    digest = __import__("base64").b64encode(hashlib.sha256(style.encode()).digest()).decode()
    check("%s: its policy allows its style and nothing else" % name,
          p.csp and p.csp.startswith("default-src 'none'; style-src 'sha256-%s'" % digest) and
          "unsafe" not in p.csp, p.csp)
    check("%s: no script, no link, no host" % name, not names & {"script", "link", "img", "iframe", "object", "form"}
          and not re.search(r"https?:|//[a-z]|url\(|@import|\son[a-z]+=", text), names)
    check("%s: no attribute but its own" % name, not {k for _, a in p.tags for k in a} & {"style", "href", "src"})
    check("%s: light and dark" % name, "prefers-color-scheme:dark" in style)
    return p


def pages():
    path = work + "/run.html"
    agon("export", "--run", run, "--html", path)
    p = page("the run's page", path)
    check("it has curves and tables", sum(t == "svg" for t, _ in p.tags) >= 3 and "NashConv" in p.text and
          "Lost by a fault" in p.text and "matches" in p.text)
    match = rows("SELECT max(match_id) FROM turn WHERE logp IS NOT NULL")[0][0]
    db = sqlite3.connect(run + "/run.db")
    was = db.execute("SELECT reply, escaped FROM turn WHERE match_id = ? AND turn_no = 0", (match,)).fetchone()
    evil = "<script>alert(1)</script>&\"'</pre><img src=x onerror=y>\u202e\\x1b[2J"
    db.execute("UPDATE turn SET reply = ?, escaped = 1 WHERE match_id = ? AND turn_no = 0", (evil, match))
    db.commit()
    path = work + "/match.html"
    agon("export", "--run", run, "--html", path, "--match", str(match))
    db.execute("UPDATE turn SET reply = ?, escaped = ? WHERE match_id = ? AND turn_no = 0", (*was, match))
    db.commit()
    db.close()
    text = open(path).read()
    p = Page(text)
    check("hostile text is only text", {t for t, _ in p.tags}.isdisjoint({"script", "img"}) and
          "<script>alert(1)</script>&\"'</pre><img src=x onerror=y>" in p.text and "\u202e" not in text and
          "\x1b" not in text, text[-1500:])
    agon("export", "--run", run, "--html", path, "--match", str(match))
    page("a match's page", path)
    refused("a match that is not there", "no match 99999999", "export", "--run", run, "--html", path, "--match",
            "99999999")
    refused("a page of a selection", "one match", "export", "--run", run, "--html", path, "--game", "nim")


# ---- import ----

LADDER = b"""[Event "ladder"]
[White "champion \\"X\\""]
[Black "random"]
[Result "1-0"]

1. e4 {a comment} e5 1-0

""" * 30 + b"""[White "random"][Black "%s"][Result "0-1"] 0-1
[White "champion \\"X\\""][Black "%s"][Result "1/2-1/2"] 1/2-1/2
[White "champion \\"X\\""][Black "nobody"][Result "*"] *
[White "random"][Black "%w"][Result "1-0"] 1-0
"""


def ratings(s, query=""):
    return {r["label"]: r for r in s.call("GET", "/api/ratings" + query).json()["ratings"]}


def imports():
    label = rows("SELECT label FROM v_policies WHERE kind = 'snapshot' ORDER BY id DESC LIMIT 1")[0][0]
    path = work + "/ladder.pgn"
    other = "step 999999 " + label.split()[2]  # the digits of a snapshot, but not its step
    open(path, "wb").write(LADDER.replace(b"%s", label.encode()).replace(b"%w", other.encode()))
    s = Server(run)
    try:
        before = ratings(s)
        p = agon("import", path, "--run", run)
        check("while the server runs, it takes the results in", p.stdout.decode() ==
              "%s: 33 results of 4 pairs of players; 1 without a result left out\n" % path, p.stdout)
        after = ratings(s)
        champion = after.get('champion "X"', {})
        check("and they count for ratings", 'champion "X"' not in before and champion["kind"] == "outside" and
              champion["policy_id"] is None and champion["matches"] == 31 and champion["elo"] > 100 and
              after["random"]["matches"] == before.get("random", {"matches": 0})["matches"] + 32 and
              after[label]["kind"] == "snapshot" and
              after[label]["matches"] == before.get(label, {"matches": 0})["matches"] + 2,
              (before, after))
        check("a label of another step is somebody else", after.get(other, {}).get("kind") == "outside", after)
        check("not among a kind of the run's own matches", 'champion "X"' not in ratings(s, "?kind=train"))
        check("of the game they belong to", 'champion "X"' in ratings(s, "?game=kuhn_poker") and
              'champion "X"' not in ratings(s, "?game=nim"))
        p = agon("import", path, "--run", run)
        check("a file counts once", b"imported before" in p.stdout and ratings(s) == after, p.stdout)
        good = {"hash": "0" * 64, "name": "x", "results": [["a", "b", 1, 0, 0]]}
        for name, body in [("a hash", dict(good, hash="xyz")), ("no rows", dict(good, results=[])),
                           ("a count", dict(good, results=[["a", "b", -1, 0, 0]])),
                           ("a fraction", dict(good, results=[["a", "b", 0.5, 0, 0]])),
                           ("a name", dict(good, results=[["a\x1b", "b", 1, 0, 0]])),
                           ("a row", dict(good, results=[["a", "b"]])), ("a text", dict(good, results="x")),
                           ("a game", dict(good, game="nim"))]:
            answer = s.call("POST", "/api/imports", body)
            check("the server refuses %s" % name, answer.status == 400, answer.body)
        check("and strangers", s.call("POST", "/api/imports", good, token=False).status == 401)
        digits = hashlib.sha256(open(path, "rb").read()).hexdigest()
        check("to forget what is not there is 404", s.call("DELETE", "/api/imports/" + "0" * 64).status == 404)
        agon("import", "--remove", digits[:12], "--run", run)
        check("a file is forgotten", ratings(s) == before, ratings(s))
    finally:
        s.stop()
    p = agon("import", path, "--run", run)
    check("a run that stands still is written to directly", b": 33 results" in p.stdout, p.stdout)
    check("the rows are there, and no match was added", len(rows("SELECT * FROM v_imports")) == 4 and
          rows("SELECT sum(matches) FROM tally") == rows("SELECT count(*) FROM match"))
    check("the list names it", b"ladder.pgn" in agon("import", "--list", "--run", run).stdout)
    own = work + "/own.pgn"
    agon("export", "--run", run, "--pgn", own)
    p = agon("import", own, "--run", run)
    check("the run's own matches do not count twice", b"of this run itself left out" in p.stdout and
          len(rows("SELECT * FROM import")) == 1, p.stdout)
    agon("import", "--remove", hashlib.sha256(open(path, "rb").read()).hexdigest()[:8], "--run", run)
    check("forgotten directly", rows("SELECT count(*) FROM import_result")[0][0] == 0)
    bad = work + "/bad.pgn"
    for text, words in [(b'[White "a"]\n[Black "b"]\n[Result "2-0"]', ":3:9: Result"), (b"e4", ":1:1: a game begins"),
                        (b'[White "a"]\n[Black "b"]\n[Result "1-0"] {', ":3:16: this {"), (b"", ": no game of it"),
                        (b'[White "a"]\n[Black "b"]\n[Result "*"] *', ": no game of it has a result")]:
        open(bad, "wb").write(text)
        refused("malformed: %s" % words, bad + words, "import", bad, "--run", run)
    refused("a file that is not there", "cannot open", "import", work + "/no.pgn", "--run", run)
    refused("a game that the run has not", "plays no such game", "import", path, "--run", run, "--game", "nim")
    refused("to forget needs a hash", "first digits", "import", "--remove", "zz", "--run", run)
    check("nothing of it stays", not rows("SELECT * FROM import"))


try:
    p = subprocess.run([AGON, "train", "tests/int/tiny.yaml", "--run", run, "--steps", "40", "--set", "eval.every=5s"],
                       capture_output=True, timeout=120)
    check("a run to export", p.returncode == 0, p.stderr)
    for part in [json_lines, filters, files, tables, pages, imports]:
        part()
    p = agon("verify", "--run", run)
    check("the run is as it was", b"all right" in p.stdout, p.stdout)
finally:
    remove(work)
sys.exit(failures() > 0)
