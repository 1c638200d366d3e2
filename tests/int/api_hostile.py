#!/usr/bin/env python3
# timeout: 240
"""What the HTTP server does with bytes that no honest client sends. Runs against the build with
sanitizers where there is one."""
import os
import socket
import subprocess
import sys
import tempfile
import struct
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from lib_api import AGON, Server, check, failures, remove, statuses  # noqa: E402

HOST = b"Host: localhost\r\n"


def program():
    asan = os.path.abspath(os.environ.get("AGON_ASAN", "none"))
    if not os.path.exists(asan):
        return AGON, ()
    fixed = subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0
    return asan, (("setarch", "-R") if fixed else ())


def malformed(s):
    token = b"Authorization: Bearer " + s.token.encode() + b"\r\n"
    post = b"POST /api/learner HTTP/1.1\r\n" + HOST + token
    many = b"".join(b"X-%d: y\r\n" % i for i in range(65))
    for name, status, data in [
            ("HTTP/0.9", 400, b"GET /\r\n\r\n"),
            ("no Host", 400, b"GET /api/health HTTP/1.1\r\n\r\n"),
            ("two Hosts", 400, b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n"),
            ("a bare line feed", 400, b"GET /api/health HTTP/1.1\nHost: localhost\n\n"),
            ("one bare line feed", 400, b"GET /api/health HTTP/1.1\r\nHost: localhost\n\r\n"),
            ("a bare carriage return", 400, b"GET / HTTP/1.1\r\nHost: local\rhost\r\n\r\n"),
            ("a NUL in the head", 400, b"GET / HTTP/1.1\r\nHost: local\0host\r\n\r\n"),
            ("a NUL in the target", 400, b"GET /api/\0health HTTP/1.1\r\n" + HOST + b"\r\n"),
            ("a folded field", 400, b"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"),
            ("a blank before the colon", 400, b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n"),
            ("a blank before the first field", 400, b"GET / HTTP/1.1\r\n Host: localhost\r\n\r\n"),
            ("a field without a name", 400, b"GET / HTTP/1.1\r\n" + HOST + b": x\r\n\r\n"),
            ("a line that is no field", 400, b"GET / HTTP/1.1\r\n" + HOST + b"hello\r\n\r\n"),
            ("an absolute target", 400, b"GET http://localhost/ HTTP/1.1\r\n" + HOST + b"\r\n"),
            ("CONNECT", 400, b"CONNECT a:80 HTTP/1.1\r\n" + HOST + b"\r\n"),
            ("a small method", 400, b"get / HTTP/1.1\r\n" + HOST + b"\r\n"),
            ("HTTP/2", 505, b"GET / HTTP/2.0\r\n" + HOST + b"\r\n"),
            ("HTTP/2's preface", 400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
            ("TLS", 400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
            ("binary", 400, b"\x00\xff\x13\x37" * 100),
            ("too many fields", 431, b"GET / HTTP/1.1\r\n" + HOST + many + b"\r\n"),
            ("a field that is too long", 431, b"GET / HTTP/1.1\r\nX: " + b"a" * 40000),
            ("a head without end", 431, b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20000),
            ("a target that is too long", 414, b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
            ("a target without end", 431, b"GET /" + b"a" * 100000),
            ("two Content-Lengths", 400, post + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"),
            ("two that differ", 400, post + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
            ("a list of lengths", 400, post + b"Content-Length: 2, 2\r\n\r\n{}"),
            ("a length with a sign", 400, post + b"Content-Length: +2\r\n\r\n{}"),
            ("a negative length", 400, post + b"Content-Length: -2\r\n\r\n{}"),
            ("a hexadecimal length", 400, post + b"Content-Length: 0x2\r\n\r\n{}"),
            ("a length past all numbers", 400, post + b"Content-Length: 99999999999999999999\r\n\r\n"),
            ("a length past all memory", 413, post + b"Content-Length: 999999999999\r\n\r\n"),
            ("length and coding", 400,
             post + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
            ("coding and length", 400,
             post + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
            ("two codings", 400,
             post + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            ("another coding", 501, post + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
            ("an odd coding", 501, post + b"Transfer-Encoding: \x0bchunked\r\n\r\n".replace(b"\x0b", b"x")),
            ("a coding in HTTP/1.0", 400, post.replace(b"1.1", b"1.0") +
             b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
            ("a chunk with a sign", 400, post + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n"),
            ("a chunk with an extension", 400,
             post + b"Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\n\r\n"),
            ("a chunk of bare line feeds", 400, post + b"Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n"),
            ("a chunk that is longer than it says", 400,
             post + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}x\r\n0\r\n\r\n"),
            ("a chunk size that is too long", 400,
             post + b"Transfer-Encoding: chunked\r\n\r\n000000002\r\n{}\r\n0\r\n\r\n"),
            ("a chunk past the limit", 413, post + b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n"),
            ("a trailer", 400, post + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\n\r\n"),
            ("GET with a body", 400, b"GET /api/health HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\n\r\n{}"),
            ("GET with a coding", 400,
             b"GET /api/health HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            ("another expectation", 417, post + b"Expect: tea\r\nContent-Length: 2\r\n\r\n{}"),
            ("two tokens", 400, post + token + b"Content-Length: 2\r\n\r\n{}")]:
        got = s.raw(data, 5)
        closed = b"Connection: close" in got and b'{"error":{"code":' in got
        check("%s is refused with %d, once" % (name, status), statuses(got) == [status] and closed,
              got[:300])
    check("the server lives", s.alive())


def smuggling(s):
    """What follows a refused request is never taken for a request."""
    hidden = b"GET /api/health HTTP/1.1\r\n" + HOST + b"\r\n"
    for name, data in [
            ("after length and coding", b"POST /api/sql HTTP/1.1\r\n" + HOST +
             b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden),
            ("after a refused token", b"POST /api/shutdown HTTP/1.1\r\n" + HOST +
             b"Content-Length: %d\r\n\r\n" % len(hidden) + hidden),
            ("after an unknown path with a body", b"POST /nothing HTTP/1.1\r\n" + HOST +
             b"Content-Length: %d\r\n\r\n" % len(hidden) + hidden),
            ("after a bad head", b"GET / HTTP/1.1\r\nHost: a\n\r\n\r\n" + hidden)]:
        got = s.raw(data)
        check("no request is smuggled " + name, len(statuses(got)) == 1 and statuses(got)[0] >= 400, got)


def good_but_odd(s):
    get = b"GET /api/run HTTP/1.1\r\n" + HOST + b"\r\n"
    last = b"GET /api/run HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    check("several requests in one packet", statuses(s.raw(get * 20 + last)) == [200] * 21)
    slow = b"GET /api/matches?limit=1 HTTP/1.1\r\n" + HOST + b"\r\n"
    check("also when answers take a while", statuses(s.raw(slow * 5 + last)) == [200] * 6)
    check("a client that closes its side gets its answers",
          statuses(s.raw(get + slow, close_write=True)) == [200, 200])
    check("HTTP/1.0 is answered and closed", b"Connection: close" in s.raw(
        b"GET /api/run HTTP/1.0\r\n" + HOST + b"\r\n"))
    check("HTTP/1.0 may ask to be kept", statuses(s.raw(
        (b"GET /api/run HTTP/1.0\r\nConnection: keep-alive\r\n" + HOST + b"\r\n") * 2 + last)) == [200] * 3)
    sql = b'{"sql":"SELECT 1"}'
    post = b"POST /api/sql HTTP/1.1\r\n" + HOST + b"Connection: close\r\n"
    check("a body in chunks", statuses(s.raw(
        post + b"Transfer-Encoding: chunked\r\n\r\n5\r\n" + sql[:5] + b"\r\n%x\r\n" % len(sql[5:]) +
        sql[5:] + b"\r\n0\r\n\r\n")) == [200])
    got = s.raw(post + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(sql), 1)
    check("who expects 100 gets it", statuses(got) == [100], got)
    got = s.raw(b"POST /api/shutdown HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\n"
                b"Content-Length: 100000000\r\n\r\n", 3)
    check("but not who is refused", statuses(got) == [401], got)
    whole = post + b"Content-Length: %d\r\n\r\n" % len(sql) + sql
    with s.connect() as c:
        c.settimeout(10)
        for i in range(len(whole)):
            c.sendall(whole[i:i + 1])
            time.sleep(0.001)
        got = b""
        while piece := c.recv(65536):
            got += piece
    check("a request byte by byte", statuses(got) == [200], got)


def kept_and_gone(s):
    """Clients that go while the answer they get is made anew for others."""
    sql = b'{"sql":"SELECT count(*) FROM match"}'
    post = b"POST /api/sql HTTP/1.1\r\n" + HOST + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(sql) + sql
    get = b"GET /api/steps?limit=3 HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    for data in [post, get]:
        first = s.raw(data)
        time.sleep(1.2)
        again = s.raw(data)
        check("an old answer is sent to one who closes", statuses(first) == statuses(again) == [200] and
              b"Age:" not in first and again.split(b"\r\n\r\n")[1] == first.split(b"\r\n\r\n")[1], again[:300])
    for _ in range(20):
        with s.connect() as c:
            c.sendall(get)
    check("and to those who do not wait for it", s.alive())


def twins(s):
    """The same question twice in one packet: the first answer brings the second question."""
    last = b"GET /api/run HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    for name, sql, status in [("refused", b"SELECT nosuch", 400), ("large", b"SELECT hex(zeroblob(700000))", 200),
                              ("good", b"SELECT 77", 200)]:
        body = b'{"sql":"%s"}' % sql
        one = b"POST /api/sql HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body) + body
        check("a %s question twice in one packet has two answers" % name,
              statuses(s.raw(one + one + last, 10)) == [status, status, 200])
        for _ in range(30):
            with s.connect() as c:
                c.sendall(one * 3)
                c.recv(4096)
                c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    check("who goes in the middle costs nothing", s.alive())


def end(s):
    """The server is told to stop while one connection has more questions than are answered."""
    token = b"Authorization: Bearer " + s.token.encode() + b"\r\n"
    body = b'{"game":"kuhn_poker","against":"random","seat":0}'
    get = b"".join(b"GET %s HTTP/1.1\r\n" % p + HOST + b"\r\n" for p in [b"/api/policies", b"/api/matches?limit=3"] * 3)
    opened = [s.connect() for _ in range(4)]
    for c in opened:
        c.sendall(b"POST /api/play HTTP/1.1\r\n" + HOST + token + b"Content-Length: %d\r\n\r\n" % len(body) + body + get)
    status = s.stop()
    for c in opened:
        c.close()
    check("it ends well after all that", status == 0, open(s.run + ".log", errors="replace").read()[-3000:])


def guards(s):
    port = b"%d" % s.port
    for host, status in [(b"localhost", 200), (b"LOCALHOST:" + port, 200), (b"127.0.0.1:" + port, 200),
                         (b"[::1]:" + port, 200), (b"arena.example", 200), (b"evil.example", 403),
                         (b"localhost.evil.example", 403), (b"127.0.0.1.nip.io:" + port, 403),
                         (b"localhost:99999999", 403), (b"", 403), (b"127.0.0.2", 403), (b"0", 403)]:
        got = s.raw(b"GET /api/run HTTP/1.1\r\nConnection: close\r\nHost: " + host + b"\r\n\r\n")
        check("Host: %s is %d" % (host.decode(), status), statuses(got) == [status], got[:200])
    own = "http://%s:%d" % (s.host, s.port)
    for headers, status in [
            ({"Origin": own}, 200), ({"Origin": "null"}, 403), ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "http://%s:%d" % (s.host, s.port + 1)}, 403), ({"Origin": own + ".evil.example"}, 403),
            ({"Sec-Fetch-Site": "same-origin"}, 200), ({"Sec-Fetch-Site": "none"}, 200),
            ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Sec-Fetch-Site": "same-site"}, 403)]:
        answer = s.call("POST", "/api/learner", {}, headers=headers)
        check("POST with %s is %d" % (headers, status), answer.status == status, answer.body)
        answer = s.call("POST", "/api/sql", {"sql": "SELECT 1"}, token=False, headers=headers)
        check("and without a token, too", answer.status == status, answer.body)
    check("a link from another site may be followed", s.call("GET", "/api/run", token=False, headers={
        "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}).status == 200)
    check("but its pages read nothing", s.call("GET", "/api/run", token=False, headers={
        "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}).status == 403)
    check("a preflight has no answer that allows anything", "Access-Control-Allow-Origin" not in s.call(
        "OPTIONS", "/api/learner", headers={"Origin": "http://evil.example"}).headers)
    check("X-Forwarded-For makes nobody known", s.call("POST", "/api/learner", {}, token=False, headers={
        "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "localhost"}).status == 401)
    check("a path cannot climb", s.call("GET", "/api/policies/../../etc/passwd", token=False).status == 404)
    check("nor percent-coded", s.call("GET", "/api/policies/%2e%2e/snapshot", token=False).status == 400)


def bodies(s):
    big = b'{"sql":"' + b"x" * 300000 + b'"}'
    check("a body past its call's limit is 413", s.call("POST", "/api/sql", big, token=False).status == 413)
    deep = b'{"a":' * 100000 + b"1" + b"}" * 100000
    for name, body in [("deep", deep[:250000]), ("no UTF-8", b'{"sql":"\xff"}'), ("a NUL", b'{"sql":"\0"}'),
                       ("an escaped NUL", b'{"sql":"SELECT 1\\u0000;DROP TABLE match"}')]:
        answer = s.call("POST", "/api/sql", body, token=False)
        check("a body that is %s is refused" % name, answer.status == 400, (answer.status, answer.body))


def slow_ones(s):
    """Deadlines are absolute: a byte now and then does not help."""
    def drip(data, seconds):
        start = time.time()
        try:
            with s.connect() as c:
                c.settimeout(0.4)
                for i in range(int(seconds / 0.4)):
                    c.sendall(data[i % len(data):i % len(data) + 1])
                    try:
                        if not c.recv(65536):
                            break
                    except socket.timeout:
                        pass
        except OSError:
            pass
        took.append(time.time() - start)

    took = []
    threads = [threading.Thread(target=drip, args=(b"GET /api/health HTTP/1.1\r\nX: " + b"a" * 100, 20))
               for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check("a head that drips is given up after 10 s", all(8 < t < 18 for t in took), took)


def crowds(s):
    """serve.per_address is 100 and serve.connections 120 here."""
    idle = []
    for _ in range(200):
        idle.append(s.connect())
    check("200 silent connections keep nobody out", all(s.alive() for _ in range(20)))
    partial = []
    for _ in range(200):
        c = s.connect()
        c.sendall(b"GET / HTTP/1.1\r\nX: ")
        partial.append(c)
    check("nor do 200 unfinished heads", all(s.alive() for _ in range(20)))
    for c in idle + partial:
        c.close()
    readers = []
    for _ in range(70):
        c = s.connect()
        c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        c.sendall(b"GET /api/live HTTP/1.1\r\n" + HOST + b"\r\n")
        readers.append(c)
    time.sleep(0.5)
    status = s.call("GET", "/api/live", token=False).status if s.alive() else 0
    check("there are only so many listeners", status == 503, status)
    for c in readers:
        c.close()
    time.sleep(0.3)
    check("and those that go make room", s.alive())
    for _ in range(300):
        c = s.connect()
        c.sendall(b"GET /api/games HTTP/1.1\r\n" + HOST + b"\r\n")
        c.close()
    check("clients that do not wait for their answers cost nothing", s.alive())


def vanished(s):
    """Who stops reading is dropped, and its memory with it."""
    c = s.connect()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    requests = (b"GET /api/games HTTP/1.1\r\n" + HOST + b"\r\n") * 1000
    sent = 0
    c.settimeout(0.5)
    try:
        for _ in range(1000):
            c.sendall(requests)
            sent += 1
    except OSError:
        pass
    check("a client that only asks is not read for ever", sent < 1000, sent)
    check("and others are served", s.alive())
    c.close()


def other_machines(work):
    """On an address that other machines can reach, reading needs the token."""
    s = Server(work + "/open", "serve.host=0.0.0.0")
    try:
        for path in ["/api/health", "/api/matches", "/metrics", "/api/openapi.json", "/api/live"]:
            check("%s needs the token there" % path, s.call("GET", path, token=False).status == 401)
        check("and with it all is well", s.call("GET", "/api/health").status == 200)
        check("with a warning", "network" in [w["code"] for w in
                                              s.call("GET", "/api/health").json()["warnings"]])
        check("SQL, too", s.call("POST", "/api/sql", {"sql": "SELECT 1"}, token=False).status == 401)
    finally:
        s.stop()
    s = Server(work + "/closed", "serve.token=always")
    try:
        check("serve.token: always", s.call("GET", "/api/health", token=False).status == 401 and
              s.call("GET", "/api/health").status == 200)
    finally:
        s.stop()


def main():
    work = tempfile.mkdtemp()
    name, prefix = program()
    server = Server(work + "/run", "serve.per_address=100", "serve.connections=120", "workers.count=1",
                    "serve.hosts=arena.example", program=name, prefix=prefix)
    try:
        malformed(server)
        smuggling(server)
        good_but_odd(server)
        kept_and_gone(server)
        twins(server)
        guards(server)
        bodies(server)
        crowds(server)
        vanished(server)
        slow_ones(server)
        end(server)
        other_machines(work)
    finally:
        server.kill()
        remove(work)
    sys.exit(failures() > 0)


main()
