#!/usr/bin/env python3
# timeout: 120
"""The HTTP API of a real server: reading, refusals, the learner's calls, hostile requests."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

AGON = os.path.abspath(os.environ.get("AGON", "build/agon"))
failed = 0


def check(name, good, detail=""):
    global failed
    failed += not good
    print(("ok - " if good else "not ok - ") + name)
    if not good:
        print("#", detail)


class Server:
    def __init__(self, run):
        self.run = run
        self.process = subprocess.Popen(
            [AGON, "serve", "tests/int/tiny.yaml", "--run", run],
            stderr=open(run + ".log", "a"))
        until = time.time() + 20
        while not os.path.exists(run + "/serve.json") and time.time() < until:
            time.sleep(0.02)
        self.card = json.load(open(run + "/serve.json"))

    def call(self, method, path, body=None, token=True, raw=None):
        data = raw if raw is not None else (None if body is None else json.dumps(body).encode())
        request = urllib.request.Request(
            "http://%s:%d%s" % (self.card["host"], self.card["port"], path), data, method=method)
        if token:
            request.add_header("Authorization", "Bearer " + self.card["token"])
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as e:
            text = e.read()
            try:
                return e.code, json.loads(text)
            except ValueError:
                return e.code, text.decode(errors="replace")

    def raw(self, data, wait=1.0):
        """Sends bytes as they are; what comes back within `wait` seconds."""
        with socket.create_connection((self.card["host"], self.card["port"]), 5) as s:
            s.settimeout(wait)
            s.sendall(data)
            got = b""
            try:
                while len(got) < 65536:
                    piece = s.recv(4096)
                    if not piece:
                        break
                    got += piece
            except OSError:
                pass
            return got

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


def reading(s):
    check("health", s.call("GET", "/api/health", token=False)[0] == 200)
    status, run = s.call("GET", "/api/run", token=False)
    check("run", status == 200 and run["step"] == -1 and run["batch"] >= 0, run)
    for name in ["matches", "policies", "steps", "evals", "events"]:
        status, answer = s.call("GET", "/api/%s?limit=5" % name, token=False)
        check(name, status == 200 and isinstance(answer.get(name), list), answer)
    status, answer = s.call("GET", "/api/matches/999", token=False)
    check("a match that is not there is 404", status == 404, answer)
    check("a match id that is none is 400", s.call("GET", "/api/matches/x", token=False)[0] == 400)
    check("an unknown path is 404", s.call("GET", "/api/nonsense", token=False)[0] == 404)
    check("a wrong method is 405", s.call("POST", "/api/run", {})[0] == 405)


def changing(s):
    for path in ["/api/learner", "/api/leases", "/api/steps", "/api/evals", "/api/shutdown"]:
        status, answer = s.call("POST", path, {}, token=False)
        check("%s needs the token" % path, status == 401 and "error" in answer, answer)
    check("a lease needs a session", s.call("POST", "/api/leases", {"count": 1})[0] == 409)
    check("a body that is no JSON", s.call("POST", "/api/learner", raw=b"{")[0] == 400)
    check("a body that is no object", s.call("POST", "/api/learner", raw=b"[1]")[0] == 400)
    status, first = s.call("POST", "/api/learner", {})
    check("a session", status == 200 and first["step"] == -1 and first["session"], first)
    status, second = s.call("POST", "/api/learner", {})
    check("a later learner ends the earlier session",
          s.call("POST", "/api/leases", {"session": first["session"], "count": 1})[0] == 409)
    session = second["session"]
    check("a lease of nothing is refused",
          s.call("POST", "/api/leases", {"session": session, "count": 0})[0] == 400)
    step = {"session": session, "step": 0, "snapshot": "0" * 64, "state": "0" * 64,
            "leases": [], "samples": [], "baselines": [], "metrics": {}}
    status, answer = s.call("POST", "/api/steps", step)
    check("a step without its snapshot file is refused", status == 400, answer)
    for key, value in [("snapshot", "xyz"), ("state", 5), ("step", "one"), ("samples", [[1]])]:
        status, answer = s.call("POST", "/api/steps", dict(step, **{key: value}))
        check("a step with a bad %s is refused and says so" % key,
              status == 400 and key in answer["error"]["message"], answer)
    os.makedirs(s.run + "/snapshots", exist_ok=True)
    open(s.run + "/snapshots/" + "0" * 64 + ".safetensors", "w").close()
    status, answer = s.call("POST", "/api/steps", dict(step, step=5))
    check("a step out of order is refused", status == 409, answer)


def hostile(s):
    for name, data in [
            ("no HTTP at all", b"\x00\xff\x13\x37" * 100),
            ("a head without end", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20000),
            ("a body longer than allowed",
             b"POST /api/learner HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"),
            ("a negative length", b"POST /api/learner HTTP/1.1\r\nContent-Length: -5\r\n\r\n"),
            ("a bad percent code", b"GET /api/matches?limit=%zz HTTP/1.1\r\nHost: x\r\n\r\n"),
            ("a path without end", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n")]:
        s.raw(data, 0.3)
        check("the server lives after " + name, s.call("GET", "/api/health", token=False)[0] == 200)
    idle = [socket.create_connection((s.card["host"], s.card["port"]), 5) for _ in range(200)]
    check("200 silent connections", s.call("GET", "/api/health", token=False)[0] == 200)
    for c in idle:
        c.close()


def main():
    work = tempfile.mkdtemp()
    run = work + "/run"
    server = Server(run)
    try:
        reading(server)
        changing(server)
        hostile(server)
        check("serve.json is for its owner only", os.stat(run + "/serve.json").st_mode & 0o077 == 0)
        second = subprocess.run([AGON, "serve", "--run", run], capture_output=True, text=True,
                                timeout=20)
        check("a second server on a run is refused",
              second.returncode == 1 and "served by another" in second.stderr, second.stderr)
        check("shutdown", server.call("POST", "/api/shutdown", {})[0] == 200)
        check("it ends well", server.process.wait(20) == 0)
        check("serve.json goes with it", not os.path.exists(run + "/serve.json"))
        server = Server(run)
        check("SIGTERM ends it well", server.stop() == 0)
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
        shutil.rmtree(work)
    sys.exit(failed > 0)


main()
