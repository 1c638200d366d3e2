"""Shared by the tests of the HTTP API: a server, requests as they should be and as they should not, and
the check of answers against the server's own OpenAPI document."""
import gzip
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

os.environ.setdefault("MALLOC_PERTURB_", "165")  # memory that was freed is no longer what it was
AGON = os.path.abspath(os.environ.get("AGON", "build/agon"))
failed = 0


def check(name, good, detail=""):
    global failed
    failed += not good
    print(("ok - " if good else "not ok - ") + name, flush=True)
    if not good:
        print("#", str(detail)[:2000])


def failures():
    return failed


def no_twins(pairs):
    names = [k for k, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a member is there twice: %s" % names)
    return dict(pairs)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        try:
            return json.loads(self.body, object_pairs_hook=no_twins)
        except ValueError:
            return None

    def code(self):
        o = self.json()
        return o.get("error", {}).get("code") if isinstance(o, dict) else None


class Server:
    def __init__(self, run, *options, program=AGON, prefix=()):
        self.run = run
        words = [w for o in options for w in ("--set", o)]
        self.process = subprocess.Popen(
            [*prefix, program, "serve", "tests/int/tiny.yaml", "--run", run, *words],
            stdout=subprocess.DEVNULL, stderr=open(run + ".log", "a"))
        until = time.time() + 30
        while not self.has_card() and time.time() < until:
            if self.process.poll() is not None:
                raise SystemExit(open(run + ".log").read())
            time.sleep(0.02)
        self.card = json.load(open(run + "/serve.json"))
        self.host, self.port, self.token = self.card["host"], self.card["port"], self.card["token"]
        if self.host in ("0.0.0.0", "::"):
            self.host = "127.0.0.1"

    def has_card(self):
        """Has it written its own? A server that was killed has left one."""
        try:
            return json.load(open(self.run + "/serve.json"))["pid"] == self.process.pid
        except (OSError, ValueError):
            return False

    def call(self, method, path, body=None, token=True, headers=None, timeout=30):
        """One request; the headers given come on top, None takes one away."""
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        all_headers = {"Authorization": "Bearer " + self.token} if token else {}
        if data is not None:
            all_headers["Content-Type"] = "application/json"
        all_headers.update(headers or {})
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request(method, path, data,
                               {k: v for k, v in all_headers.items() if v is not None})
            answer = connection.getresponse()
            got = answer.read()
            if answer.headers.get("Content-Encoding") == "gzip":
                got = gzip.decompress(got)
            return Answer(answer.status, answer.headers, got)
        finally:
            connection.close()

    def alive(self):
        """Does it serve a client that behaves? Where not, the reason is printed."""
        try:
            answer = self.call("GET", "/api/health", token=False)
            why = None if answer.status == 200 else (answer.status, answer.body)
        except (OSError, http.client.HTTPException) as problem:
            why = repr(problem)
        if why:
            print("# not served: %s" % (why,), flush=True)
        return why is None

    def connect(self, timeout=5):
        return socket.create_connection((self.host, self.port), timeout)

    def raw(self, data, wait=3.0, close_write=False):
        """Sends bytes as they are; what comes back until the server closes, or within `wait`."""
        with self.connect() as s:
            s.settimeout(wait)
            got = b""
            try:
                s.sendall(data)
                if close_write:
                    s.shutdown(socket.SHUT_WR)
                while len(got) < 1 << 23:
                    piece = s.recv(65536)
                    if not piece:
                        break
                    got += piece
            except OSError:
                pass
            return got

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def statuses(data):
    """The statuses of the answers in a stream of bytes (bodies have lengths here)."""
    return [int(s) for s in re.findall(rb"HTTP/1\.1 (\d\d\d) ", data)]


# ---- answers against their schema; objects must not have members that the document does not name ----

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
}


class Document:
    def __init__(self, document):
        self.document = document

    def resolve(self, schema):
        while "$ref" in schema:
            at = self.document
            for part in schema["$ref"][2:].split("/"):
                at = at[part]
            schema = at
        return schema

    def operation(self, method, template):
        return self.document["paths"][template][method.lower()]

    def schema_of(self, method, template, status):
        responses = self.operation(method, template)["responses"]
        response = self.resolve(responses.get(str(status), responses["default"]))
        return response.get("content", {}).get("application/json", {}).get("schema")

    def problems(self, schema, v, at="answer"):
        schema = self.resolve(schema)
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(TYPES[t](v) for t in types):
            return ["%s is %r, not %s" % (at, v, types)]
        found = []
        if "enum" in schema and v not in schema["enum"]:
            found.append("%s is %r, none of %s" % (at, v, schema["enum"]))
        if "pattern" in schema and isinstance(v, str) and not re.search(schema["pattern"], v):
            found.append("%s is %r, not like %s" % (at, v, schema["pattern"]))
        if isinstance(v, dict) and "properties" in schema:
            for k in schema.get("required", []):
                if k not in v:
                    found.append("%s has no %s" % (at, k))
            for k, member in v.items():
                if k in schema["properties"]:
                    found += self.problems(schema["properties"][k], member, at + "." + k)
                elif not schema.get("additionalProperties"):
                    found.append("%s has %s, which nobody knows" % (at, k))
        if isinstance(v, list) and "items" in schema:
            for i, member in enumerate(v):
                found += self.problems(schema["items"], member, "%s[%d]" % (at, i))
        return found

    def check(self, name, method, template, answer, status=200):
        schema = self.schema_of(method, template, answer.status)
        v = answer.json()
        wrong = ["no JSON"] if v is None or schema is None else self.problems(schema, v)
        check(name, answer.status == status and not wrong, (answer.status, wrong[:5], v))
        return v


def events_of(server, path, seconds, headers=None, until=None):
    """Server-sent events of a stream, as (id, event, data), read for at most so many seconds."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=seconds)
    found, event, end = [], {}, time.time() + seconds
    try:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        while time.time() < end:
            line = answer.fp.readline().decode().rstrip("\n")
            if line == "" and event:
                found.append((event.get("id"), event.get("event"), json.loads(event["data"])))
                event = {}
                if until and until(found):
                    break
            elif line and not line.startswith(":"):
                key, value = line.split(": ", 1)
                if key != "retry":
                    event[key] = value
    except OSError:
        pass
    finally:
        connection.close()
    return found


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
