#!/usr/bin/env python3
"""Twenty-one, or any other number: take 1 to `most` of a heap; who takes the last one wins."""
from agon_game import Game, OVER


class Subtraction(Game):
    name, title, max_plies, perfect_info = "subtraction", "Subtraction game", 100, True
    params = [
        {"name": "heap", "type": "int", "min": 1, "max": 100, "default": "21", "help": "Objects."},
        {"name": "most", "type": "int", "min": 1, "max": 9, "default": "3", "help": "In a turn."},
    ]
    rules = ("Who takes the last object wins.",) * 2

    def start(self, heap, most):
        return heap, most, 0

    def mover(self, s):
        return s[2] if s[0] else OVER

    def legal(self, s):
        return [(n, "take %d" % n) for n in range(1, min(s[0], s[1]) + 1)]

    def apply(self, s, n):
        return s[0] - n, s[1], 1 - s[2]

    def result(self, s):
        return 1 if s[2] == 1 else -1  # who would move now did not take the last one

    def view(self, s, seat):
        return "%d left, %s." % (s[0], "your turn" if s[2] == seat else "their turn")

    def told(self, s, n, after, seat):
        return "%s %d." % ("You take" if s[2] == seat else "They take", n)

    def rules_for(self, s, seat):
        return ("There are %d objects. In a turn you take 1 to %d of them; who takes the last one "
                "wins. You move %s. Write for example: take 1" % (s[0], s[1], ("first", "second")[seat]))


Subtraction().serve()
