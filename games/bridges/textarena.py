#!/usr/bin/env python3
"""Any two-player TextArena environment as a game of Agon: textarena.py ID [options]

    agon games add --exec "python3 games/bridges/textarena.py TicTacToe-v0 --perfect-info"

Texts, wrappers, invalid moves and rewards are TextArena's own. A position is (seed, replies): an environment
is continued where it stands and made again from its seed where it does not. If anything in it is random, the match
begins with a chance move that draws the seed.

TextArena tells no legal moves. Listed are replies in square brackets that the player's own text names (with
other numbers in place of theirs), if the environment does not call them invalid when they are tried on a
copy. Any other reply may be given too: what becomes of it is the environment's affair.
"""
import argparse
import copy
import inspect
import os
import pickle
import random
import re
import sys
from itertools import product

from agon_game import CHANCE, OVER, Game

# This file's own folder would hide the library of the same name.
sys.path[:] = [p for p in sys.path if os.path.realpath(p or ".") != os.path.dirname(os.path.realpath(__file__))]
import textarena as ta  # noqa: E402

# Wrappers hand unknown names on to what they wrap, which pickle asks for before it is there.
ta.Wrapper.__getstate__ = lambda self: self.__dict__
ta.Wrapper.__setstate__ = lambda self, state: self.__dict__.update(state)

TEXT_MOST = 4000  # bytes of a view; earlier messages are left out
SEEDS = 512
TRIALS = 160
ROLES = ("GAME", "Player 0", "Player 1")


class Position:
    """What was said so far. env: the live environment, until it is taken a step further."""

    def __init__(self, seed, replies):
        self.seed, self.replies = seed, replies
        self.env = self.copy = self.views = self.news = None
        self.moves = []


def inner(env):
    while hasattr(env, "env"):
        env = env.env
    return env


def shorten(text):
    raw = text.encode()
    if len(raw) > TEXT_MOST:
        text = "(earlier messages are left out)\n" + raw[-TEXT_MOST:].decode(errors="ignore")
    return re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", " ", text).strip("\n")


class Bridge(Game):
    open = True

    def __init__(self, options):
        self.id, self.known = options.id, {}
        self.name = options.name or re.sub(r"\W", "_", "ta_" + options.id).lower()
        self.title = "TextArena " + options.id
        self.perfect_info = options.perfect_info
        self.last = options.last
        self.version = options.version
        starts = [inner(self.make(seed)) for seed in range(8)]
        source = inspect.getsource(sys.modules[type(starts[0]).__module__])
        self.chance = bool(re.search(r"\brandom\.|\bnp\.random", source)) or len({
            repr(e.state.observations) for e in starts}) > 1
        turns = getattr(starts[0].state, "max_turns", None)
        self.max_plies = options.max_plies or (min(1000, 2 * turns + 8) if turns else 400)
        prompts = [[self.prompt(e, seat) for e in starts] for seat in range(2)]
        self.prompts = [p[0] if len(set(p)) == 1 else None for p in prompts]
        self.rules = [shorten(p or "This is %s. You are player %d." % (self.id, seat))
                      for seat, p in enumerate(self.prompts)]

    @staticmethod
    def prompt(env, seat):
        first = env.state.observations[seat][:1]
        return first[0][1] if first and first[0][2] == ta.ObservationType.PROMPT else None

    # ---- environments ----

    def make(self, seed):
        env = ta.make(self.id)
        env.reset(num_players=2, seed=seed)
        inner(env).noise = random.getstate()
        return env

    def step(self, env, reply):
        """One reply further, with the environment's own random numbers; True when it is over."""
        random.setstate(inner(env).noise)
        done, _ = env.step(action=reply)
        inner(env).noise = random.getstate()
        return done

    def env_of(self, s):
        """A live environment that stands at s; s gives up its own."""
        env, s.env = s.env, None
        if env is None and s.copy:
            env = pickle.loads(s.copy)
        elif env is None:  # it was continued before, so it may be so again
            env = self.make(s.seed)
            env.get_observation()
            for reply in s.replies:
                self.step(env, reply)
                env.get_observation()
            try:
                s.copy = pickle.dumps(env)
            except Exception:  # it holds something that cannot be written down
                pass
        return env

    # ---- positions ----

    def look(self, s, env, done, before):
        """Fills s in from its environment; `before` is the position before, or None."""
        state = inner(env).state
        s.news = [[m for m in state.observations[p]] for p in range(2)]
        s.mover = OVER if done else state.current_player_id
        s.views = list(before.views) if before else ["", ""]
        if done:
            rewards = env.close()
            rewards = rewards[0] if isinstance(rewards, tuple) else rewards
            s.result = max(-1.0, min(1.0, (rewards[0] - rewards[1]) / 2))
        else:
            seat, text = env.get_observation()
            text = text if isinstance(text, str) else "\n".join(m[1] for m in text)
            s.full = text
            s.views[seat] = self.view_of(seat, text)
            key = (seat, s.views[seat]) if self.last else (s.seed, *s.replies)
            if key not in self.known:
                if len(self.known) > 50000:
                    self.known.clear()
                self.known[key] = self.find_moves(s, env)
            s.moves = self.known[key]
        s.env = env
        return s

    def view_of(self, seat, text):
        """What the seat sees: all that it was told, or the last messages of it."""
        prompt = self.prompts[seat]
        if prompt:
            text = text.replace(prompt, "", 1).replace("[GAME] \n", "", 1)
        if self.last:
            starts = [m.start() for m in re.finditer(r"^\[(GAME|Player [01])\] ", text, re.M)]
            text = text[starts[-self.last]:] if len(starts) > self.last else text
        return shorten(text) or "Your turn."

    def find_moves(self, s, env):
        found, patterns = [], set()
        for token in re.findall(r"\[([^\[\]\n]{1,60})\]", s.full):
            pattern = re.sub(r"\d+", "#", token.lower())
            if pattern in patterns:
                found.append(token)
                continue
            patterns.add(pattern)
            holes = pattern.count("#")
            if holes > 2:
                found.append(token)
                continue
            parts = re.split(r"\d+", token)
            values = [()] if not holes else product(range(20)) if holes == 1 else product(range(8), range(8))
            for numbers in values:
                found.append("".join(a + str(b) for a, b in zip(parts, numbers + ("",))))
        moves, seen, make = [], set(), self.copier(env)
        for word in found:
            word = word.strip()
            if word and word.lower() not in seen and word not in ROLES and len(seen) < TRIALS:
                seen.add(word.lower())
                if self.is_valid(make(), word):
                    moves.append(word)
        return moves or ["pass"]

    def copier(self, env):
        """A function that makes copies of the bare environment, without what was said before."""
        bare = inner(env)
        kept = bare.state.observations, bare.state.logs
        bare.state.observations, bare.state.logs = {0: [], 1: []}, []
        try:
            blob = pickle.dumps(bare)
            return lambda: pickle.loads(blob)
        except Exception:  # it holds something that cannot be written down
            model = copy.deepcopy(bare)
            return lambda: copy.deepcopy(model)
        finally:
            bare.state.observations, bare.state.logs = kept

    def is_valid(self, trial, word):
        faults, state = [], trial.state
        judge = state.set_invalid_move
        state.set_invalid_move = lambda *a, **k: (faults.append(1), judge(*a, **k))[1]
        try:
            trial.step("[%s]" % word)
        except Exception:
            return False
        return not faults

    def reply(self, s, text):
        env = self.env_of(s)
        after = Position(s.seed, s.replies + [text])
        return self.look(after, env, self.step(env, text), s)

    # ---- the game ----

    def start(self):
        if self.chance:
            s = Position(None, [])
            s.views, s.mover = ["", ""], CHANCE
            return s
        return self.seeded(0)

    def seeded(self, seed):
        return self.look(Position(seed, []), self.make(seed), False, None)

    def mover(self, s):
        return s.mover

    def outcomes(self, s):
        return [(i, 1.0 / SEEDS, "seed %d" % i) for i in range(SEEDS)]

    def legal(self, s):
        return [(i, word) for i, word in enumerate(s.moves)]

    def apply(self, s, action):
        return self.seeded(action) if s.mover == CHANCE else self.reply(s, "[%s]" % s.moves[action])

    def parse(self, s, text):
        return self.reply(s, text)

    def result(self, s):
        return s.result

    def view(self, s, seat):
        return s.views[seat]

    def told(self, s, action, after, seat):
        lines = []
        for sender, text, kind in after.news[seat]:
            if kind == ta.ObservationType.PROMPT and self.prompts[seat]:
                continue
            lines.append("[%s] %s" % ("GAME" if sender == ta.GAME_ID else "Player %d" % sender, text))
        return shorten("\n".join(lines))


def main():
    p = argparse.ArgumentParser(description="A two-player TextArena environment as a game of Agon.")
    p.add_argument("id", help="for example TicTacToe-v0")
    p.add_argument("--name", help="the game's name (default: ta_ and the id)")
    p.add_argument("--perfect-info", action="store_true", help="nothing is hidden from either player")
    p.add_argument("--last", type=int, default=0, metavar="N",
                   help="a view is the last N messages only; for --perfect-info, where they show all")
    p.add_argument("--max-plies", type=int, help="the most actions of a match, up to 1000")
    p.add_argument("--version", type=int, default=1)
    options = p.parse_args()
    if options.last and not options.perfect_info:
        p.error("--last leaves out what a player was told: it goes with --perfect-info only")
    Bridge(options).serve()


main()
