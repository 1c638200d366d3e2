"""A game whose program ends at the first move."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../games/bridges"))
from agon_game import Game  # noqa: E402


class Crash(Game):
    name, title, max_plies, perfect_info = "crash", "Crash", 2, True
    rules = ("Say 0.",) * 2

    def start(self):
        return 0

    def mover(self, s):
        return 0

    def legal(self, s):
        return [(0, "0")]

    def apply(self, s, a):
        os._exit(3)

    def view(self, s, seat):
        return "Nothing was said."


Crash().serve()
