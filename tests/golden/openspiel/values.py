"""What OpenSpiel (pip install open_spiel) computes of small games: how values.txt was made.

    python3 values.py > values.txt

A line is Agon's name of the game, the number of information sets ("-" where nothing is hidden: Agon then
merges equal positions), what player 0 gets when both move at random, and NashConv of that. tests/int/openspiel.py
compares them with `agon games solve`."""
import sys

import pyspiel
from make import GAMES, information_set

SMALL = ("goofspiel(cards=2,order=2)", "hex(size=2)",
         "kuhn_poker", "leduc_poker", "liars_dice(sides=3)", "rock_paper_scissors(rounds=1)", "tic_tac_toe")


def explore(game):
    """Information sets, and player 0's payoff at random."""
    perfect = game.get_type().information == pyspiel.GameType.Information.PERFECT_INFORMATION
    sets, known = set(), {}

    def visit(state):
        if state.is_terminal():
            return state.returns()[0]
        key = str(state) if perfect else None
        if key in known:
            return known[key]
        if state.is_chance_node():
            return sum(p * visit(state.child(a)) for a, p in state.chance_outcomes())
        if not perfect:
            sets.add(information_set(state))
        actions = state.legal_actions()
        value = sum(visit(state.child(a)) for a in actions) / len(actions)
        if perfect:
            known[key] = value
        return value

    value = visit(game.new_initial_state())
    return "-" if perfect else len(sets), value


def main():
    for variants in GAMES.values():
        for spec, theirs, scale, *_ in variants:
            if spec not in SMALL:
                continue
            game = pyspiel.load_game_as_turn_based(theirs)
            sets, value = explore(game)
            conv = pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game), True)
            print(spec, sets, "%.9f" % (value * scale), "%.9f" % (conv * scale))
            sys.stdout.flush()


main()
