#!/usr/bin/env python3
"""Any two-player zero-sum OpenSpiel game as a game of Agon: openspiel.py "NAME(parameters)" [options]

    agon games add --exec "python3 games/bridges/openspiel.py 'liars_dice(numdice=1)'"

Games with simultaneous moves are played in turns, as OpenSpiel itself converts them. A view is the
player's information state where the game has it, so that equal views are one information set.
"""
import argparse
import re
from collections import Counter

import pyspiel
from agon_game import CHANCE, OVER, Game


class Bridge(Game):
    params = []

    def __init__(self, spec, name):
        game = pyspiel.load_game(spec)
        if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            game = pyspiel.convert_to_turn_based(game)
        kind = game.get_type()
        if game.num_players() != 2 or kind.utility not in (pyspiel.GameType.Utility.ZERO_SUM,
                                                           pyspiel.GameType.Utility.CONSTANT_SUM):
            raise SystemExit("%s: only zero-sum games of two players can be played" % spec)
        self.game, self.kind = game, kind
        self.name = name or re.sub(r"\W+", "_", "os_" + spec).strip("_").lower()[:40]
        self.title = "OpenSpiel " + spec[:60]
        self.perfect_info = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        self.chance = kind.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC
        self.max_plies = min(1000, game.max_game_length() + game.max_chance_nodes_in_history())
        low, high = game.min_utility(), game.max_utility()
        self.middle = (low + high) / 2 if kind.utility == pyspiel.GameType.Utility.CONSTANT_SUM else 0.0
        self.unit = max(abs(low - self.middle), abs(high - self.middle)) or 1.0
        self.rules = ["%s, as OpenSpiel has it. You are player %d. You are shown what you know; write one "
                      "of the possible moves, as it is listed." % (kind.long_name, seat) for seat in range(2)]

    def start(self):
        return self.game.new_initial_state()

    def mover(self, s):
        return OVER if s.is_terminal() else CHANCE if s.is_chance_node() else s.current_player()

    def words(self, s, actions, player):
        """The moves' own words, with their number where two are the same but for their letters' case."""
        plain = lambda w: "".join(c if c.isprintable() else " " for c in w).strip()[:100]  # noqa: E731
        words = [plain(s.action_to_string(player, a)) or str(a) for a in actions]
        often = Counter(w.lower() for w in words)
        return [w if often[w.lower()] == 1 else "%s #%d" % (w, a) for w, a in zip(words, actions)]

    def legal(self, s):
        actions = s.legal_actions()
        return list(zip(actions, self.words(s, actions, s.current_player())))

    def outcomes(self, s):
        pairs = [(a, p) for a, p in s.chance_outcomes() if p > 0]
        words = self.words(s, [a for a, _ in pairs], pyspiel.PlayerId.CHANCE)
        return [(a, p, w) for (a, p), w in zip(pairs, words)]

    def apply(self, s, action):
        after = s.clone()
        after.apply_action(action)
        return after

    def result(self, s):
        return max(-1.0, min(1.0, (s.returns()[0] - self.middle) / self.unit))

    def view(self, s, seat):
        if self.kind.provides_information_state_string and not self.perfect_info:
            text = s.information_state_string(seat)
        elif self.kind.provides_observation_string:
            text = s.observation_string(seat)
        else:
            text = str(s)
        text = "".join(c if c == "\n" or c.isprintable() else " " for c in text).strip("\n")
        return text or ("Your turn." if self.mover(s) == seat else "")

    def told(self, s, action, after, seat):
        """Where nothing is hidden, the move; else what the seat knows now, if that has changed."""
        if self.perfect_info:
            player = pyspiel.PlayerId.CHANCE if s.is_chance_node() else s.current_player()
            return self.words(s, [action], player)[0]
        now = self.view(after, seat)
        return now if now != self.view(s, seat) else ""


def main():
    p = argparse.ArgumentParser(description="A two-player zero-sum OpenSpiel game as a game of Agon.")
    p.add_argument("spec", help="for example kuhn_poker or 'liars_dice(numdice=1)'")
    p.add_argument("--name", help="the game's name (default: os_ and the spec)")
    o = p.parse_args()
    Bridge(o.spec, o.name).serve()


main()
