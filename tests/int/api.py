#!/usr/bin/env python3
# timeout: 240
"""The HTTP API of a real server on a small run: every reading call against the OpenAPI document, pages,
entity tags, compression, the learner's calls, live events, a match against a person."""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from lib_api import AGON, Document, Server, check, events_of, failures, remove  # noqa: E402


# ---- a run that has played ----

def reading(s, doc):
    def get(template, path=None, status=200):
        return doc.check("GET " + (path or template), "GET", template,
                         s.call("GET", path or template, token=False), status)

    for path in ["/api/health", "/api/run", "/api/overview", "/api/games", "/api/forfeits",
                 "/api/series", "/api/series?points=7&from=3&to=50", "/api/ratings", "/api/payoff",
                 "/api/ratings?forfeits=no&kind=train", "/api/payoff?kind=warmup&policy=random",
                 "/api/events?level=warn", "/api/evals?game=kuhn_poker&policy=latest"]:
        get(path.split("?")[0], path)
    for name in ["matches", "policies", "steps", "evals", "events"]:
        get("/api/" + name)
    run = get("/api/run")
    check("the run is at its end", run["step"] == 60 and run["played"] == 60 * 64, run)
    newest = get("/api/matches", "/api/matches?limit=1")["matches"][0]
    match = get("/api/matches/{id}", "/api/matches/" + newest["id"])
    turn = match["turns"][0]
    check("a match has turns with tokens", turn["tokens"] and turn["prompt"] and
          len(turn["tokens"]) == turn["ntokens"] and match["damage"] is None, match)
    check("the tokens are the reply", turn["escaped"] or
          turn["reply"].encode() == bytes(t["id"] for t in turn["tokens"] if t["id"] < 256), turn)
    check("and what was learned from it", match["seats"][0]["learned_in_step"] == 60 and
          abs(match["seats"][0]["ret"] - match["seats"][0]["baseline"] -
              match["seats"][0]["advantage"]) < 1e-6, match["seats"])
    check("and positions as spectators see them", all(t["drawing"].startswith("Cards: ") for t in
          match["turns"]) and turn["drawing"].endswith("Moves: none.") and
          match["drawing"].startswith(turn["drawing"][:10]), match)
    policy = get("/api/policies", "/api/policies?type=snapshot&limit=1")["policies"][0]
    latest = get("/api/evals", "/api/evals?policy=latest")
    check("`latest` is the newest snapshot", latest["evals"] and
          latest == get("/api/evals", "/api/evals?policy=" + policy["id"]), latest)
    one = get("/api/policies/{id}", "/api/policies/" + policy["id"])
    check("a policy has ancestors", one["lineage"][0]["id"] == policy["parent_id"] and
          one["lineage"][0]["depth"] == 1, one)
    series = get("/api/series", "/api/series?points=10")
    check("a series has points", series["points"] == 10 and len(series["steps"]["loss"]) == 10 and
          series["steps"]["step"][-1] == 60 and len(series["evals"]) >= 1, series)
    games = get("/api/games")
    check("games have rules", len(games["games"]) > 10 and
          all(len(g["rules"]) == 2 and g["rules"][0] and g["example"] for g in games["games"]))
    return policy


def pages(s):
    seen, before = [], None
    while True:
        path = "/api/matches?limit=999&kind=train" + ("&before=" + before if before else "")
        page = s.call("GET", path, token=False).json()
        seen += [int(m["id"]) for m in page["matches"]]
        before = page["next"]
        if not before:
            break
    check("pages show every match once", seen == sorted(set(seen), reverse=True) and
          len(seen) == 30 * 64, len(seen))
    invalid = s.call("GET", "/api/matches?reason=no%20answer&limit=5", token=False).json()
    check("matches are selected by reason", all(m["reason"] == "no answer"
                                                for m in invalid["matches"]), invalid)
    steps = s.call("GET", "/api/steps?limit=60", token=False).json()
    check("a page's end says where the next begins", steps["next"] == 1 and
          s.call("GET", "/api/steps?before=1", token=False).json()["next"] is None, steps["next"])


def refusals(s):
    for path, status, code in [
            ("/api/matches/999999", 404, "match"), ("/api/policies/999", 404, "policy"),
            ("/api/policies/1/snapshot", 404, "snapshot"), ("/api/policies/999/snapshot", 404, "snapshot"),
            ("/api/matches/x", 400, "id"), ("/api/matches/-1", 400, "id"), ("/api/nonsense", 404, "path"),
            ("/api/matches/", 404, "path"), ("/api/matches/1/", 404, "path"), ("/index.html", 404, "path"),
            ("/api/matches?limt=5", 400, "parameter"), ("/api/matches?limit=0", 400, "parameter"),
            ("/api/matches?limit=1001", 400, "parameter"), ("/api/matches?limit=5x", 400, "parameter"),
            ("/api/matches?before=-1", 400, "parameter"), ("/api/matches?kind=bad", 400, "parameter"),
            ("/api/matches?reason=", 400, "parameter"), ("/api/matches?game=", 400, "parameter"),
            ("/api/matches?game=" + "a" * 256, 400, "parameter"), ("/api/health?a=1", 400, "parameter"),
            ("/api/matches?limit=%zz", 400, "query"), ("/api/matches?limit=5&limit=6", 400, "query"),
            ("/api/policies?type=train", 400, "parameter"), ("/api/series?points=0", 400, "parameter")]:
        answer = s.call("GET", path, token=False)
        check("%s is %d %s" % (path[:40], status, code),
              answer.status == status and answer.code() == code, (answer.status, answer.body))
    answer = s.call("DELETE", "/api/matches")
    check("a wrong method is 405 and says which there are", answer.status == 405 and
          answer.headers["Allow"] == "GET, HEAD", answer.headers.items())
    check("and of two methods both", s.call("DELETE", "/api/evals").headers["Allow"] ==
          "GET, HEAD, POST")
    check("an unknown method is 405", s.call("BREW", "/api/health").status == 405)


def transfer(s, policy):
    for path in ["/api/health", "/api/matches?limit=50", "/api/games", "/api/openapi.json", "/metrics"]:
        plain = s.call("GET", path, token=False)
        head = s.call("HEAD", path, token=False)
        stable = path not in ("/api/health", "/metrics")
        check("HEAD %s has the head of GET" % path, head.status == 200 and head.body == b"" and
              (not stable or head.headers["Content-Length"] == plain.headers["Content-Length"]) and
              head.headers["Content-Type"] == plain.headers["Content-Type"], head.headers.items())
        if not stable:
            continue
        for tag in [plain.headers["ETag"], '"x", ' + plain.headers["ETag"], "*"]:
            again = s.call("GET", path, token=False, headers={"If-None-Match": tag})
            check("%s is known by %s" % (path, tag[:8]), again.status == 304 and again.body == b"",
                  again.status)
        other = s.call("GET", path, token=False, headers={"If-None-Match": 'W/"0000000000000000"'})
        check("%s is sent where the tag is another" % path, other.body == plain.body)
    zipped = s.call("GET", "/api/games", token=False, headers={"Accept-Encoding": "br, gzip;q=0.5"})
    check("gzip is used where it is accepted", zipped.headers["Content-Encoding"] == "gzip" and
          int(zipped.headers["Content-Length"]) < len(zipped.body) / 2 and
          zipped.json() == s.call("GET", "/api/games", token=False).json(), zipped.headers.items())
    check("and nowhere else", s.call("GET", "/api/games", token=False, headers={
        "Accept-Encoding": "gzip;q=0, identity"}).headers["Content-Encoding"] is None)
    for name, value in [("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
                        ("Referrer-Policy", "no-referrer")]:
        check("answers have " + name, zipped.headers[name] == value)
    rules = zipped.headers["Content-Security-Policy"]
    check("and a content policy", "default-src 'self'" in rules and "frame-ancestors 'none'" in rules
          and "unsafe" not in rules, rules)
    check("nobody else's pages may read", "Access-Control-Allow-Origin" not in zipped.headers)
    file = s.call("GET", "/api/policies/%s/snapshot" % policy["id"], token=False)
    check("a snapshot is what its name says", file.status == 200 and
          hashlib.sha256(file.body).hexdigest() == policy["name"], file.status)
    check("and is not sent twice", s.call(
        "GET", "/api/policies/%s/snapshot" % policy["id"], token=False,
        headers={"If-None-Match": file.headers["ETag"]}).status == 304)
    head = s.call("HEAD", "/api/policies/%s/snapshot" % policy["id"], token=False)
    check("HEAD tells its length", head.body == b"" and
          int(head.headers["Content-Length"]) == len(file.body), head.headers.items())


def downloads(s):
    """A large file comes in pieces; who goes in the middle of it costs nothing."""
    old = s.call("GET", "/api/policies?type=snapshot&before=10&limit=1").json()["policies"][0]
    path = "/api/policies/%s/snapshot" % old["id"]
    file = "%s/snapshots/%s.safetensors" % (s.run, old["name"])
    large = os.urandom(5000000)
    open(file, "wb").write(large)
    got = s.call("GET", path)
    check("a large file is whole", got.status == 200 and got.body == large, (got.status, len(got.body)))
    for _ in range(20):
        with s.connect() as c:
            c.sendall(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
            c.recv(1000)
    with s.connect() as c:
        c.sendall(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        c.recv(1000)
        time.sleep(0.3)
        os.truncate(file, 1000)
        c.settimeout(10)
        n = 0
        while piece := c.recv(1 << 20):
            n += len(piece)
    check("one that shrinks is cut off", n < len(large), n)
    os.unlink(file)
    check("one that is gone is 410", s.call("GET", path).status == 410)


def sql(s, doc):
    def ask(body):
        return s.call("POST", "/api/sql", body, token=False)

    v = doc.check("SQL is answered", "POST", "/api/sql",
                  ask({"sql": "SELECT id, kind, 9007199254740993, NULL FROM match LIMIT 3"}))
    check("with columns and rows", v["columns"][:2] == ["id", "kind"] and len(v["rows"]) == 3 and
          v["rows"][0] == [1, "warmup", "9007199254740993", None] and v["complete"], v)
    v = ask({"sql": "SELECT id FROM match"}).json()
    check("at most 1000 rows", len(v["rows"]) == 1000 and not v["complete"])
    for text in ["DELETE FROM match", "PRAGMA user_version", "SELECT 1; SELECT 2", "", "SELECT",
                 "ATTACH 'x' AS y"]:
        answer = ask({"sql": text})
        check("SQL is refused: " + text, answer.status == 400 and answer.code() == "sql", answer.body)
    check("SQL must be text", ask({"sql": 5}).status == 400 and ask({}).status == 400)
    forever = {"sql": "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) "
                      "SELECT count(*) FROM c"}
    slow = [threading.Thread(target=ask, args=({"sql": forever["sql"] + " -- %d" % i},)) for i in range(3)]
    for t in slow:
        t.start()
    time.sleep(0.2)
    start = time.time()
    good = s.call("GET", "/api/matches?limit=1", token=False).status == 200
    took = time.time() - start
    check("others are answered while SQL runs", good and took < 1, took)
    answer = ask(forever)
    check("SQL without end is given up", answer.status == 400 and "2 seconds" in answer.body.decode(),
          answer.body)
    for t in slow:
        t.join()


def kept(s):
    """Answers are made once for all who ask at the same time, and for a moment after."""
    path, fresh = "/api/matches?limit=7", {"Cache-Control": "max-age=1, no-cache"}
    first = s.call("GET", path, headers=fresh)
    again = s.call("GET", path)
    check("an answer is kept, and says how old it is", again.headers["Age"] == "0" and
          again.body == first.body and again.headers["ETag"] == first.headers["ETag"] and
          first.headers["Age"] is None, again.headers.items())
    check("but not for those who want a new one", s.call("GET", path, headers=fresh).headers["Age"] is None)
    check("and not for other questions", s.call("GET", "/api/matches?limit=8").headers["Age"] is None and
          len(s.call("GET", "/api/matches?limit=8").json()["matches"]) == 8)
    check("plain and compressed are two", s.call("GET", path, headers={
        "Accept-Encoding": "gzip"}).json() == first.json())
    for fields in [b"no-cache\r\nCache-Control: max-age=0", b"max-age=0\r\nCache-Control: no-cache"]:
        got = s.raw(b"GET /api/matches?limit=7 HTTP/1.1\r\nHost: 127.0.0.1\r\nCache-Control: " + fields +
                    b"\r\nConnection: close\r\n\r\n")
        check("of two fields about it the strict one counts", b" 200 " in got[:20] and b"Age:" not in got, got[:300])
    known = s.call("POST", "/api/sql", {"sql": "SELECT 5"})
    check("SQL is kept, too, and says so", known.headers["Age"] is None and
          s.call("POST", "/api/sql", {"sql": "SELECT 5"}).headers["Age"] == "0")
    time.sleep(1.3)
    got = s.raw(b"GET /api/matches?limit=7 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    check("an older one serves while it is made anew", b"\r\nAge: 1\r\n" in got and got.endswith(first.body), got[:300])
    check("and the server lives", s.alive())
    time.sleep(2.2)
    check("what nobody asked for grows not much older", s.call("GET", path).headers["Age"] in (None, "2", "3"))
    slow = {"sql": "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 500000) "
                   "SELECT max(i) FROM c"}
    answers, start = [], time.time()
    threads = [threading.Thread(target=lambda: answers.append(s.call("POST", "/api/sql", slow)))
               for _ in range(24)]
    for t in threads:
        t.start()
    with s.connect() as gone:  # one of those who wait goes
        body = json.dumps(slow).encode()
        gone.sendall(b"POST /api/sql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                     b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        time.sleep(0.05)
    for t in threads:
        t.join()
    seconds = {a.json().get("seconds") for a in answers}
    check("one computation serves all who wait for it", len(answers) == 24 and len(seconds) == 1 and
          all(a.json().get("rows") == [[500000]] for a in answers), (seconds, time.time() - start))
    check("a refusal is not kept", s.call("POST", "/api/sql", {"sql": "SELECT nothing"}).status == 400 and
          s.call("POST", "/api/sql", {"sql": "SELECT 1"}).json()["rows"] == [[1]])
    check("the server is well", s.alive())


def metrics(s):
    answer = s.call("GET", "/metrics", token=False)
    text = answer.body.decode()
    families, bad, labelled = {}, [], 0
    for line in text.splitlines():
        sample = re.fullmatch(r'(agon_[a-z0-9_]+)(\{[a-z]+="[^"\\]*"(,[a-z]+="[^"\\]*")*\})? '
                              r'-?[0-9.e+-]+', line)
        comment = re.fullmatch(r"# (HELP|TYPE) (agon_[a-z0-9_]+) (.+)", line)
        if comment:
            families.setdefault(comment[2], []).append(comment[1])
        elif not sample or families.get(sample[1]) != ["HELP", "TYPE"]:
            bad.append(line)
        else:
            labelled += sample[2] is not None
    check("metrics are in Prometheus' format", answer.status == 200 and not bad and labelled > 5 and
          answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"), bad[:3])
    check("metrics count matches", 'agon_matches_total{kind="warmup",reason="play"}' in text, text)


def live(s):
    found = events_of(s, "/api/live", 6, until=lambda f: sum(e[1] == "status" for e in f) > 1 and
                      any(e[1] == "match" for e in f))
    names = [e[1] for e in found]
    check("status comes every second, without a number", names.count("status") > 1 and
          all(e[0] is None for e in found if e[1] == "status"), found)
    numbered = [e for e in found if e[0]]
    check("finished matches come with numbers", numbered and
          all(re.fullmatch(r"\d+-\d+", e[0]) for e in numbered) and
          int(numbered[0][2]["id"]) > 3000, found)
    again = events_of(s, "/api/live", 3, {"Last-Event-ID": numbered[0][0]},
                      until=lambda f: len(f) >= len(numbered) - 1)
    check("nothing is missed after a break", [e[0] for e in again if e[0]] ==
          [e[0] for e in numbered[1:]], (again, numbered))
    found = events_of(s, "/api/live/match?pace=50", 10, until=lambda f: f[-1][1] == "end")
    names = [e[1] for e in found]
    check("the newest match is shown turn by turn", names[0] == "match" and names[-1] == "end" and
          names.count("turn") == found[0][2]["turns"] and "outcome" in found[-1][2] and
          "outcome" not in found[0][2], found)
    check("an unknown game's matches are waited for",
          events_of(s, "/api/live/match?game=nim", 1.5) == [])


def learning(s):
    """Steps and evaluations are told as they come, while a learner goes on."""
    learner = subprocess.Popen([AGON, "learn", "--run", s.run], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        found = events_of(s, "/api/live", 30, until=lambda f: any(
            e[1] == "step" and e[2]["step"] == 70 for e in f))
        steps = [e[2] for e in found if e[1] == "step"]
        check("steps are told as they are made", steps and steps[-1]["step"] == 70 and
              "loss" in steps[-1]["metrics"] and len(steps[-1]["snapshot"]) == 64, found)
        check("the learner ends", learner.wait(20) == 0)
    finally:
        learner.kill()
    report = {"game": "kuhn_poker(hands=1,side=0)", "kind": "matches", "against": [
        {"name": "random", "matches": 100, "win": 70, "draw": 0, "loss": 30, "invalid": 10},
        {"name": "a stranger", "matches": 10, "win": 1, "draw": 2, "loss": 7}]}
    policy = s.call("GET", "/api/policies?type=snapshot&limit=1").json()["policies"][0]["id"]
    last = [e[0] for e in found if e[0]][-1]
    body = {"step": 70, "policy": int(policy), "result": report}
    other = s.call("POST", "/api/evals", dict(body, result={"game": "nim", "kind": "exact"}))
    check("an evaluation of another game is refused", other.code() == "game", other.body)
    check("an evaluation is taken", s.call("POST", "/api/evals", body).status == 200)
    again = events_of(s, "/api/live", 3, {"Last-Event-ID": last}, until=lambda f: f)
    check("and told", again and again[0][1] == "eval" and again[0][2]["report"] == report and
          again[0][2]["policy_id"] == policy, again)
    ratings = s.call("GET", "/api/ratings").json()
    elo = {r["label"].split()[-1] if r["policy_id"] is None else r["policy_id"]: r
           for r in ratings["ratings"]}
    check("evaluations count for ratings", ratings["anchor"] == "random" and
          elo[policy]["elo"] > 100 and elo["stranger"]["elo"] > elo[policy]["elo"] and
          elo[policy]["low"] < elo[policy]["elo"] < elo[policy]["high"], ratings)
    met = [0] * len(ratings["ratings"])
    for a, b, *counts in ratings["pairs"]:
        met[a] += sum(counts)
        met[b] += sum(counts)
    check("pairs say who met whom", len(met) > 1 and met == [r["matches"] for r in ratings["ratings"]],
          (met, ratings))
    fair = {r["policy_id"]: r for r in s.call("GET", "/api/ratings?forfeits=no").json()["ratings"]}
    check("without forfeits they are others", fair[policy]["elo"] > elo[policy]["elo"] and
          fair[policy]["matches"] == elo[policy]["matches"] - 10, fair)


# ---- a person plays ----

def play(s, doc):
    v = doc.check("a match begins", "POST", "/api/play", s.call("POST", "/api/play", {
        "game": "kuhn_poker", "against": "fixed:bet", "seat": 0, "seed": 2}), 201)
    path = "/api/play/" + v["session"]
    names = [e["event"] for e in v["events"]]
    check("with its rules and the first turn", v["state"] == "turn" and names[0] == "start" and
          names[-1] == "turn" and v["events"][-1]["legal"] == ["check", "bet"], v)
    check("nobody else may look at it", s.call("GET", path, token=False).status == 401)
    v = s.call("POST", path, {"reply": "raise"}).json()
    check("a slip is asked for again", v["state"] == "turn" and
          [e["event"] for e in v["events"]] == ["refused"], v)
    v = doc.check("a move is made", "POST", "/api/play/{session}",
                  s.call("POST", path, {"reply": "check"}))
    check("the answer has what is new", v["state"] == "turn" and
          all(e["event"] in ("told", "turn") for e in v["events"]), v)
    v = s.call("POST", path, {"reply": "fold"}).json()
    check("the match ends", v["state"] == "over" and v["events"][-1]["event"] == "end" and
          v["events"][-1]["result"] == -0.5, v)
    answer = s.call("POST", path, {"reply": "check"})
    check("then there is no more to say", answer.status == 409 and answer.code() == "state")
    v = doc.check("the whole match can be looked at", "GET", "/api/play/{session}", s.call("GET", path))
    check("from its start to its end", v["events"][0]["event"] == "start" and
          v["events"][-1]["event"] == "end")
    check("it can be put away", s.call("DELETE", path).status == 204 and
          s.call("GET", path).status == 404)
    v = s.call("POST", "/api/play", {"against": "latest", "seat": 1}).json()
    check("the newest snapshot plays", v["state"] in ("turn", "over") and
          v["events"][0]["against"]["step"] == 60, v)
    v = s.call("POST", "/api/play", {"game": "chess"}).json()
    check("an unknown game fails with a sentence", v["state"] == "failed" and
          "chess" in v["events"][-1]["message"], v)
    for body in [{"game": "--help"}, {"game": ""}, {"game": 5}, {"against": "-x"}, {"seat": 2},
                 {"seat": "0"}, {"seed": -1}, {"game": "a" * 300}]:
        answer = s.call("POST", "/api/play", body)
        check("no match begins with %s" % str(body)[:30], answer.status == 400, answer.body)
    open_ones = [s.call("POST", "/api/play", {"game": "tic_tac_toe", "against": "random"})
                 for _ in range(10)]
    check("only so many can play at a time", [a.status for a in open_ones].count(503) >= 2 and
          [a.status for a in open_ones].count(201) >= 5, [a.status for a in open_ones])
    for a in open_ones:
        if a.status == 201:
            s.call("DELETE", "/api/play/" + a.json()["session"])


# ---- the page of documentation ----

def documented(doc):
    """Every call has its heading in docs/api.md, and the examples fit the OpenAPI document."""
    parts = re.split(r"^### ([A-Z]+) (/\S+)$", open("docs/api.md").read(), flags=re.M)
    calls = {(parts[i], parts[i + 1]): parts[i + 2] for i in range(1, len(parts), 3)}
    wanted = {(method.upper(), path) for path, methods in doc.document["paths"].items()
              for method in methods}
    check("docs/api.md has every call", set(calls) == wanted, set(calls) ^ wanted)
    for (method, path), text in sorted(calls.items()):
        operation = doc.operation(method, path)
        schemas = []
        if method == "POST":
            schemas.append(operation["requestBody"]["content"]["application/json"]["schema"])
        good = next(status for status in operation["responses"] if status.startswith("2"))
        schema = doc.schema_of(method, path, good)
        if schema and "$ref" in schema:
            schemas.append(schema)
        examples = re.findall(r"```json\n(.*?)```", text, flags=re.S)
        wrong = [] if len(examples) == len(schemas) else ["%d examples" % len(examples)]
        for example, schema in zip(examples, schemas):
            wrong += doc.problems(schema, json.loads(example))
        check("the examples of %s %s are right" % (method, path), not wrong, wrong[:5])


# ---- a new run ----

def changing(s):
    for path in ["/api/learner", "/api/leases", "/api/steps", "/api/evals", "/api/shutdown", "/api/play"]:
        for headers in [{}, {"Authorization": "Bearer " + "0" * 32}, {"Authorization": "Basic eDp5"},
                        {"Authorization": "Bearer " + s.token[:-1]}]:
            answer = s.call("POST", path, {}, token=False, headers=headers)
            if answer.status != 401 or answer.code() != "token":
                break
        check("%s needs the token" % path, answer.status == 401 and
              answer.headers["WWW-Authenticate"] == "Bearer", (headers, answer.body))
    check("a lease needs a session", s.call("POST", "/api/leases", {"count": 1}).status == 409)
    check("a body that is no JSON", s.call("POST", "/api/learner", b"{").code() == "json")
    check("a body that is no object", s.call("POST", "/api/learner", b"[1]").code() == "json")
    check("a member twice", s.call("POST", "/api/learner", b'{"a":1,"a":2}').code() == "json")
    first = s.call("POST", "/api/learner", {}).json()
    check("a session", first["step"] == -1 and first["session"], first)
    second = s.call("POST", "/api/learner", {}).json()
    check("a later learner ends the earlier session", s.call(
        "POST", "/api/leases", {"session": first["session"], "count": 1}).status == 409)
    session = second["session"]
    check("a lease of nothing is refused",
          s.call("POST", "/api/leases", {"session": session, "count": 0}).status == 400)
    step = {"session": session, "step": 0, "snapshot": "0" * 64, "state": "0" * 64,
            "leases": [], "samples": [], "baselines": [], "metrics": {}}
    check("a step without its snapshot file is refused",
          s.call("POST", "/api/steps", step).status == 400)
    for key, value in [("snapshot", "xyz"), ("state", 5), ("step", "one"), ("samples", [[1]])]:
        answer = s.call("POST", "/api/steps", dict(step, **{key: value}))
        check("a step with a bad %s is refused and says so" % key,
              answer.status == 400 and key in answer.json()["error"]["message"], answer.body)
    os.makedirs(s.run + "/snapshots", exist_ok=True)
    open(s.run + "/snapshots/" + "0" * 64 + ".safetensors", "w").close()
    check("a step out of order is refused", s.call("POST", "/api/steps", dict(step, step=5)).status == 409)


def leases(s):
    """A lease that cannot be had yet is waited for, and given up with its client."""
    session = s.call("POST", "/api/learner", {}).json()["session"]
    start = time.time()
    answer = s.call("POST", "/api/leases", {"session": session, "count": 64})
    took = time.time() - start
    check("a lease is waited for", answer.status == 204 and 4 < took < 8, (answer.status, took))
    body = json.dumps({"session": session, "count": 64}).encode()
    with s.connect() as c:
        c.sendall(b"POST /api/leases HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
                  s.token.encode() + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(0.2)
    check("a client that goes while it waits costs nothing", s.call("GET", "/api/health").status == 200)


def main():
    work = tempfile.mkdtemp()
    run = work + "/run"
    server = None
    try:
        made = subprocess.run([AGON, "train", "tests/int/tiny.yaml", "--run", run, "--steps", "60", "--set",
                               "eval.every=1h"], capture_output=True, text=True, timeout=120)
        check("a run is made", made.returncode == 0, made.stdout + made.stderr)
        server = Server(run, "learner.steps=60")
        doc = Document(server.call("GET", "/api/openapi.json", token=False).json())
        documented(doc)
        policy = reading(server, doc)
        pages(server)
        refusals(server)
        transfer(server, policy)
        downloads(server)
        sql(server, doc)
        kept(server)
        metrics(server)
        live(server)
        play(server, doc)
        check("SIGTERM ends it well", server.stop() == 0)
        server = Server(run, "learner.steps=70")
        learning(server)
        check("and again", server.stop() == 0)
        server = Server(work + "/new")
        changing(server)
        leases(server)
        check("serve.json is for its owner only",
              os.stat(server.run + "/serve.json").st_mode & 0o077 == 0)
        second = subprocess.run([AGON, "serve", "--run", server.run], capture_output=True, text=True,
                                timeout=20)
        check("a second server on a run is refused",
              second.returncode == 1 and "served by another" in second.stderr, second.stderr)
        check("shutdown", server.call("POST", "/api/shutdown", {}).status == 200)
        check("it ends well", server.process.wait(20) == 0)
        check("serve.json goes with it", not os.path.exists(server.run + "/serve.json"))
    finally:
        if server:
            server.kill()
        remove(work)
    sys.exit(failures() > 0)


main()
