#!/usr/bin/env python3
"""The web page's files as the server sends them: type, tag, compression, content policy, no way out of the
folder; what they may not contain; and where people are told the page's address."""
import glob
import os
import re
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
from lib_api import AGON, Server, check, failures, remove  # noqa: E402

TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml",
         ".LICENSE": "text/plain"}
FILES = sorted(f for f in glob.glob("page/**/*", recursive=True)
               if os.path.isfile(f) and os.path.splitext(f)[1] in TYPES)
OWN = [f for f in FILES if "/vendor/" not in f]


def sent(s):
    wrong = []
    for f in FILES:
        path = "/" + f
        plain = s.call("GET", path, token=False)
        tag = plain.headers.get("ETag", "")
        zipped = s.call("GET", path, token=False, headers={"Accept-Encoding": "gzip"})
        head = s.call("HEAD", path, token=False)
        known = s.call("GET", path, token=False, headers={"If-None-Match": tag})
        other = s.call("GET", path, token=False, headers={"If-None-Match": 'W/"00"'})
        policy = plain.headers.get("Content-Security-Policy", "")
        want = open(f, "rb").read()
        good = [plain.status == 200, plain.body == want, zipped.body == want,
                zipped.headers.get("Content-Encoding") == "gzip",
                len(want) < 400 or int(zipped.headers["Content-Length"]) < len(want),
                plain.headers.get("Content-Type", "").startswith(TYPES[os.path.splitext(f)[1]]),
                plain.headers.get("X-Content-Type-Options") == "nosniff",
                plain.headers.get("Cache-Control") == "no-cache", len(tag) > 20,
                zipped.headers.get("Vary") == "Accept-Encoding",
                "default-src 'self'" in policy and "unsafe" not in policy and
                "require-trusted-types-for 'script'" in policy,
                head.status == 200 and head.body == b"" and
                head.headers["Content-Length"] == str(len(want)),
                known.status == 304 and known.body == b"" and known.headers["ETag"] == tag,
                other.status == 200]
        if not all(good):
            wrong.append((f, good))
    check("every file of the page is sent right", FILES and not wrong, wrong[:3])
    check("/ is the page", s.call("GET", "/", token=False).body == open("page/index.html", "rb").read())
    tags = {s.call("GET", "/" + f, token=False).headers["ETag"] for f in FILES}
    check("each has a tag of its own", len(tags) == len({open(f, "rb").read() for f in FILES}), tags)


def refused(s):
    for path in ["/page/", "/page", "/page/vendor/", "/page/views/", "/page/none.js", "/page/app.js/",
                 "/page//app.js", "/page/../app.js", "/page/../../etc/passwd", "/page/views/../app.js",
                 "/page/%2e%2e/app.js", "/page/..%2fapp.js", "/../page/app.js", "/page/vendor/../app.js",
                 "/page/%61pp.js", "/page/app.js%00.css", "/page/vendor/SHA256SUMS", "/index.html",
                 "/page/views/overview.js/x", "/page/" + "a" * 300]:
        answer = s.call("GET", path, token=False)
        check("no file is at %s" % path[:40], answer.status in (400, 404) and
              answer.json() is not None and b"root:" not in answer.body, (answer.status, answer.body))
    check("a query is refused", s.call("GET", "/?x=1", token=False).status == 400)
    answer = s.call("POST", "/page/app.js", {}, token=True)
    check("files take GET only", answer.status == 405 and answer.headers["Allow"] == "GET, HEAD")
    other = s.call("GET", "/", token=False, headers={"Host": "evil.example"})
    check("another site's name does not lead here", other.status == 403, other.status)
    check("with serve.token: always the page is there and the run is not",
          s.call("GET", "/api/overview", token=False).status == 401 and
          s.call("GET", "/api/overview").status == 200)


FORBIDDEN = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySet|"
                       r"\beval\(|new Function|createContextualFragment|\bon[a-z]+=\"|srcdoc|javascript:")
OUTSIDE = re.compile(r"(https?:)?//[a-z0-9.-]+\.[a-z]{2,}", re.I)


def contents():
    found = [(f, m.group()) for f in OWN for m in FORBIDDEN.finditer(open(f).read())]
    check("nothing turns text into markup or code", not found, found)
    found = [(f, m.group()) for f in OWN for m in OUTSIDE.finditer(open(f).read())
             if "www.w3.org" not in m.group()]
    check("nothing comes from another host", not found, found)
    missing = [(f, m) for f in OWN if f.endswith(".js")
               for m in re.findall(r"from '([^']+)'", open(f).read())
               if not os.path.isfile(os.path.normpath(os.path.join(os.path.dirname(f), m)))]
    check("every module that is imported is there", not missing, missing)
    links = re.findall(r'(?:href|src)="/([^"]+)"', open("page/index.html").read())
    check("so is what the page names", links and all(os.path.isfile(f) for f in links), links)
    html = open("page/index.html").read()
    check("the page has no script or style of its own", "<style" not in html and
          not re.search(r"<script(?![^>]* src=)", html) and "style=" not in html)
    done = subprocess.run(["tools/vendor.sh", "check"], capture_output=True, text=True)
    check("the libraries are those that were brought in", done.returncode == 0, done.stderr)


def addresses(work):
    """A server that takes over from a killed one has its port and token; the token is told to terminals only."""
    run = work + "/over"
    s = Server(run)
    first = s.card
    s.kill()
    s = Server(run)
    s.call("GET", "/api/health")
    check("a killed server's port and token serve on", s.port == first["port"] and
          s.token == first["token"], (s.card, first))
    s.kill()
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", s.port))
        taken.listen()
        process = subprocess.Popen(["timeout", "20", AGON, "serve", "--run", run], stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, text=True)
        line = next((x for x in process.stderr if "listening on" in x), "")
    port = re.search(r"127\.0\.0\.1:(\d+)", line)
    process.terminate()
    process.communicate(timeout=30)
    check("unless somebody else has the port", port and int(port.group(1)) != s.port, line)
    check("a server that ends well takes its card with it", not os.path.exists(run + "/serve.json"))
    words = [AGON, "train", "tests/int/tiny.yaml", "--run", work + "/train", "--time", "3s"]
    out = subprocess.run(words, capture_output=True, text=True, timeout=120).stdout
    check("agon train says where the page is", re.search(r"^Page: http://127\.0\.0\.1:\d+/$", out, re.M), out)
    text = open(work + "/train/logs/serve.log").read()
    check("and no log has the token", "listening on http://" in text and "token=" not in text + out, text)
    if subprocess.run(["which", "script"], capture_output=True).returncode:
        print("skip - the link on a terminal: there is no script(1)")
        return
    out = subprocess.run(["script", "-qec", " ".join(words), "/dev/null"], capture_output=True, text=True,
                         stdin=subprocess.DEVNULL, timeout=120).stdout
    check("on a terminal the link has the token", re.search(r"/#token=[0-9a-f]{32}\b", out), out)


def main():
    work = tempfile.mkdtemp()
    s = Server(work + "/run", "serve.token=always")
    try:
        sent(s)
        refused(s)
    finally:
        s.stop()
    contents()
    addresses(work)
    remove(work)
    sys.exit(failures() > 0)


main()
