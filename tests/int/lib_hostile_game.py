#!/usr/bin/env python3
"""A game that behaves until the folder of its first word holds "now", and then misbehaves in the way of
its second word. Its rules: two turns each, seat 0 says a or b, seat 1 says a or b; equal words win for 0."""
import json
import os
import signal
import sys
import time

trigger, mode = sys.argv[1], sys.argv[2]
out = sys.stdout


def bad():
    return os.path.exists(os.path.join(trigger, "now"))


def send(o):
    out.write(json.dumps(o) + "\n")
    out.flush()


def misbehave(q):
    if mode == "crash":
        print("Traceback: what a pity", file=sys.stderr, flush=True)
        os.abort()
    elif mode == "exit":
        sys.exit(3)
    elif mode == "hang":
        time.sleep(1000)
    elif mode == "flood":
        while True:
            out.write("x" * 65536)
    elif mode == "errors":  # floods its error output instead of answering
        while True:
            sys.stderr.write("y" * 65535 + "\n")
    elif mode == "garbage":
        out.write("\x00\xff[}{\n")
        out.flush()
    elif mode == "twice":
        out.write((json.dumps(state(q)) + "\n") * 2)
        out.flush()
    elif mode == "outofturn":
        send(state(q))
        time.sleep(0.05)
        send(state(q))
    elif mode == "close":
        os.close(1)
        time.sleep(1000)
    elif mode == "ignoreterm":
        for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
            signal.signal(s, signal.SIG_IGN)
        if os.fork() == 0:  # and its child does not go either
            while True:
                time.sleep(1000)
        time.sleep(1000)
    elif mode == "bigmemory":
        hoard = []
        while True:
            hoard.append(bytearray(1 << 26))
    elif mode == "number":
        a = state(q)
        a["legal"] = [[1, "a"], [1, "b"]]
        a["mover"] = 0
        send(a)
    elif mode == "result":
        send({"type": "state", "id": q["id"], "mover": "over", "result": 7, "views": ["", ""]})
    elif mode == "endless":
        a = state(q)
        a.update(mover=0, legal=[[0, "a"]])
        a.pop("result", None)
        send(a)
    else:
        sys.exit("no such mode")


held = {}


def state(q):
    said = list(q["actions"]) if q["type"] == "new" else held[q["from"]] + [q["action"]]
    held[q["to"]] = said
    a = {"type": "state", "id": q["id"], "views": ["you heard %s" % said] * 2}
    if q["type"] == "act" or said:
        a["told"] = ["%d was said" % said[-1]] * 2
    if len(said) == 4:
        a.update(mover="over", result=1 if said[0] == said[1] and said[2] == said[3] else -1)
    else:
        a.update(mover=len(said) % 2, legal=[[0, "a"], [1, "b"]])
    return a


for line in sys.stdin:
    q = json.loads(line)
    if q["type"] == "hello":
        send({"type": "hello", "protocol": 2 if mode == "version" and bad() else 1,
              "name": "hostile_" + mode, "title": "Hostile", "max_plies": 4, "chance": False,
              "sessions": 8, "rules": ["Say a or b."] * 2})
    elif q["type"] == "bye":
        break
    elif bad() and mode != "version":
        misbehave(q)
    else:
        send(state(q))
