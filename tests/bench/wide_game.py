"""A game whose positions hardly repeat: 60 actions, each of 1000 numbers in a row, 9 offered at a time."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../games/bridges"))
from agon_game import Game, OVER  # noqa: E402


class Wide(Game):
    name, title, max_plies, perfect_info = "wide", "Wide", 60, True
    rules = ("Name a number.",) * 2

    def start(self):
        return 0, 1

    def mover(self, s):
        return s[0] % 2 if s[0] < 60 else OVER

    def legal(self, s):
        return [(i, str(i)) for i in range(9)]

    def apply(self, s, a):
        return s[0] + 1, (s[1] * 31 + a) % 1000003

    def result(self, s):
        return 1 if s[1] % 2 else -1

    def view(self, s, seat):
        return "turn %d, sum %d" % s

    def told(self, s, a, after, seat):
        return str(a)


Wide().serve()
