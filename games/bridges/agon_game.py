"""Base class of games for Agon that are written in Python (3.8 or newer, no dependencies).

Derive from Game, fill in what is marked, and end the file with `MyGame().serve()`. Positions are values:
apply() returns a new one and leaves the old one as it is. The class speaks the protocol of docs/protocol.md;
an exception in a game ends the match with its text. print() goes to the error output, as the standard
output belongs to the protocol.
"""

import json
import os
import re
import sys
import time

PROTOCOL = 1
AHEAD = 256            # questions that may come before the first of them is answered
BATCH_SECONDS = 0.005  # but no answer is held back for much longer
ACT = re.compile(r'\{"type":"act","id":(\d+),"from":(\d+),"to":(\d+),"action":(\d+)\}').fullmatch
quote = json.encoder.encode_basestring  # a text as JSON
CHANCE = "chance"
OVER = "over"


class Game:
    name = None            # small letters, digits and _
    title = None           # for people
    version = 1            # raise it when rules or texts change
    unit = 1               # natural units (chips, points) of the payoff 1.0
    max_plies = None       # the most actions that a match can have, chance included
    perfect_info = False   # both seats may know everything
    chance = False         # mover() may say CHANCE
    open = False           # parse() takes replies that are in no list
    sessions = 256         # positions that are held at once
    copies = True          # a position may be continued twice
    params = []            # {"name", "type": "int" "list" or "bool", "min", "max", "default", "help"}
    rules = ("", "")       # what each seat is told before play

    # ---- to be filled in ----

    def start(self, **args):
        """The first position."""
        raise NotImplementedError

    def mover(self, s):
        """0, 1, CHANCE or OVER."""
        raise NotImplementedError

    def legal(self, s):
        """At a seat: [(action, "word"), ...]; actions are whole numbers from 0 on."""
        raise NotImplementedError

    def outcomes(self, s):
        """At CHANCE: [(action, probability, "name"), ...]."""
        raise NotImplementedError

    def apply(self, s, action):
        """The position behind the action; `s` stays as it is."""
        raise NotImplementedError

    def result(self, s):
        """At OVER: what seat 0 gets, from -1 to 1. Seat 1 gets the opposite."""
        raise NotImplementedError

    def view(self, s, seat):
        """All that the seat may know now. The seat to move must see something."""
        raise NotImplementedError

    def told(self, s, action, after, seat):
        """What the seat is told of the action that led from s to after; "" when nothing."""
        return ""

    # ---- to be filled in where it is needed ----

    def rules_for(self, s, seat):
        """The rules, where they depend on the parameters; s is the first position. "": as in rules."""
        return ""

    def is_open(self, s):
        """In open games: may any text be tried here?"""
        return self.open

    def parse(self, s, text):
        """In open games: the position behind a reply that is in no list, or None when it is no move."""
        return None

    # ---- the protocol ----

    def hello(self):
        return {"type": "hello", "protocol": PROTOCOL, "name": self.name, "title": self.title,
                "version": self.version, "unit": self.unit, "max_plies": self.max_plies,
                "perfect_info": self.perfect_info, "chance": self.chance, "open": self.open,
                "sessions": self.sessions, "copies": self.copies, "ahead": AHEAD, "params": self.params,
                "rules": list(self.rules)}

    written = {}

    def state(self, s, told, ident, more=""):
        """The answer as a line: written by hand, which takes a fraction of the time of json.dumps()."""
        mover, view = self.mover(s), self.view
        if told:
            more += ',"told":[%s,%s]' % (quote(told[0]), quote(told[1]))
        if mover == OVER:
            rest = '"over","result":%r' % self.result(s)
        elif mover == CHANCE:
            rest = '"chance","outcomes":[%s]' % ",".join(
                ["[%d,%r,%s]" % (a, p, quote(w)) for a, p, w in self.outcomes(s)])
        else:
            rest = '%d,"legal":[%s]' % (mover, self.list(self.legal(s)))
            if self.open and self.is_open(s):
                rest += ',"open":true'
        return '{"type":"state","id":%s,"views":[%s,%s]%s,"mover":%s}\n' % (
            ident, quote(view(s, 0)), quote(view(s, 1)), more, rest)

    def list(self, legal):
        """Games offer the same lists again and again: they are written once."""
        key = tuple(legal)
        try:
            return self.written[key]
        except (KeyError, TypeError):  # a new one, or rows that are lists
            text = ",".join(["[%d,%s]" % (a, quote(w)) for a, w in legal])
            key = tuple(map(tuple, legal))
        if len(self.written) < 10000:
            self.written[key] = text
        return text

    def go(self, s, action):
        """One action (or free text) further: (position, told); position None when it is refused."""
        after = self.parse(s, action) if isinstance(action, str) else self.apply(s, action)
        if after is None:
            return None, None
        return after, [self.told(s, action, after, 0), self.told(s, action, after, 1)]

    def _act(self, held, ident, origin, to, action):
        """By far the most frequent question."""
        s = held[origin]
        after = held[to] = self.apply(s, action)
        told = self.told
        return self.state(after, (told(s, action, after, 0), told(s, action, after, 1)), ident)

    def answer(self, q, held):
        kind, more = q["type"], ""
        if kind == "hello":
            return json.dumps(self.hello()) + "\n"
        if kind == "act":
            s, told = self.go(held[str(q["from"])], q["text"] if "text" in q else q["action"])
        elif kind == "new":
            s, told = self.start(**q["args"]), None
            if not q["actions"] and self.params:
                more = ',"rules":[%s,%s]' % (quote(self.rules_for(s, 0)), quote(self.rules_for(s, 1)))
            for action in q["actions"]:
                s, told = self.go(s, action)
                if s is None:
                    break
        else:
            raise ValueError("unknown type %r" % kind)
        if s is None:
            return '{"type":"refused","id":%d}\n' % q["id"]
        held[str(q["to"])] = s
        return self.state(s, told, q["id"], more)

    def _reply(self, line, held):
        """The answer to a line; None: it is the last one."""
        q = {}
        try:
            known = ACT(line)
            if known:
                q["id"], origin, to, action = known.groups()
                return self._act(held, q["id"], origin, to, int(action))
            q = json.loads(line)
            return None if q["type"] == "bye" else self.answer(q, held)
        except Exception as why:  # the game's fault: said, and the match is over
            return json.dumps({"type": "error", "id": int(q.get("id", 0)),
                               "text": "%s: %s" % (type(why).__name__, why)}) + "\n"

    def serve(self):
        """Answers questions until there are no more. What has come together is answered together."""
        out = os.dup(1)
        os.dup2(2, 1)
        held, rest = {}, b""
        while True:
            data = os.read(0, 65536)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            texts, due = [], time.monotonic() + BATCH_SECONDS
            for line in lines:
                text = self._reply(line.decode(), held)
                if text is None:
                    return
                texts.append(text)
                if time.monotonic() > due:
                    send(out, texts)
                    texts, due = [], time.monotonic() + BATCH_SECONDS
            send(out, texts)


def send(out, texts):
    data = "".join(texts).encode()
    while data:
        data = data[os.write(out, data):]
