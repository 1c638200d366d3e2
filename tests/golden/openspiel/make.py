"""Random games of OpenSpiel (pip install open_spiel): how tests/golden/openspiel/*.txt were made.

    python3 make.py FOLDER [GAMES]      writes FOLDER/<game>.txt, GAMES games of each variant (40)

A file is read by tests/unit/games/test_openspiel.c; AGON_OPENSPIEL=FOLDER lets it read another
folder, so that many more games than the stored ones can be compared:

    python3 make.py /tmp/x 1000 && AGON_OPENSPIEL=/tmp/x build/tests/unit/games/test_openspiel

"game SPEC" names the variant as Agon does. Every other line is one game: the actions of all nodes,
chance included; "="; what player 0 gets; the FNV-1a hash of what every node said, as 32-bit
little-endian numbers: who moves (0, 1, or 2 for chance), how many actions there are, and which.
After "sets SPEC" instead of "game SPEC" the number of the information set is said as well: 0 for
the first that was met since that line, 1 for the second and so on. Simultaneous moves are taken in
turn."""
import random
import struct
import sys

import pyspiel

BATTLESHIP = ("battleship(board_height=%d,board_width=%d,ship_sizes=[%s],ship_values=[%s],"
              "num_shots=%d,allow_repeated_shots=false)")
GOOFSPIEL = "goofspiel(num_cards=%d,points_order=%s,imp_info=%s,returns_type=%s)"

PILE_MAX = 60  # of games/nim.c


def nim_action(piles):
    return lambda a: a % piles * PILE_MAX + a // piles


# Agon's name of the variant, OpenSpiel's, by what OpenSpiel's payoffs are multiplied, and where action
# numbers differ what becomes of OpenSpiel's.
# Information sets are compared in the games of SETS and where bids are hidden (with imp_info=False
# goofspiel's forget the order of the bids). dark_hex's tell how many moves were made, even though
# obstype is reveal-nothing: that line, the only one that is a number alone, is left out.
SETS = ("battleship", "blotto", "dark_hex", "kuhn_poker", "leduc_poker", "phantom_ttt")
GAMES = {
    "battleship": [
        ("battleship", BATTLESHIP % (4, 4, "2;3", "1;1", 10), 1),
        ("battleship(rows=2,columns=3,ships=1-2,shots=4)", BATTLESHIP % (2, 3, "1;2", "1;1", 4), 1),
        ("battleship(rows=5,columns=4,ships=4-4-3,shots=20)",
         BATTLESHIP % (5, 4, "4;4;3", "1;1;1", 20), 1),
        ("battleship(rows=3,columns=3,ships=3-2-2,shots=6)",
         BATTLESHIP % (3, 3, "3;2;2", "1;1;1", 6), 1),
    ],
    "blotto": [
        ("blotto", "blotto(coins=10,fields=3)", 1),
        ("blotto(coins=5,fields=5)", "blotto(coins=5,fields=5)", 1),
        ("blotto(coins=12,fields=2)", "blotto(coins=12,fields=2)", 1),
    ],
    "breakthrough": [
        ("breakthrough", "breakthrough(rows=8,columns=8)", 1),
        ("breakthrough(rows=6,columns=3)", "breakthrough(rows=6,columns=3)", 1),
        ("breakthrough(rows=5,columns=6,home=1)", "breakthrough(rows=5,columns=6)", 1),
        ("breakthrough(rows=4,columns=2,home=1)", "breakthrough(rows=4,columns=2)", 1),
    ],
    "connect_four": [("connect_four", "connect_four", 1)],
    "dark_hex": [
        ("dark_hex", "dark_hex(gameversion=cdh)", 1),
        ("dark_hex(abrupt=true)", "dark_hex(gameversion=adh)", 1),
        ("dark_hex(size=5)", "dark_hex(gameversion=cdh,board_size=5)", 1),
        ("dark_hex(size=4,abrupt=true)", "dark_hex(gameversion=adh,board_size=4)", 1),
    ],
    "goofspiel": [
        ("goofspiel", GOOFSPIEL % (4, "random", "False", "win_loss"), 1),
        ("goofspiel(cards=5,order=1,hidden=true)",
         GOOFSPIEL % (5, "ascending", "True", "win_loss"), 1),
        ("goofspiel(cards=6,order=2,difference=true)",
         GOOFSPIEL % (6, "descending", "False", "point_difference"), 2),
        ("goofspiel(cards=13)", GOOFSPIEL % (13, "random", "False", "win_loss"), 1),
        ("goofspiel(cards=2,order=2)", GOOFSPIEL % (2, "descending", "False", "win_loss"), 1),
    ],
    "hex": [
        ("hex", "hex(board_size=3)", 1),
        ("hex(size=2)", "hex(board_size=2)", 1),
        ("hex(size=7)", "hex(board_size=7)", 1),
        ("hex(size=11)", "hex(board_size=11)", 1),
    ],
    "kuhn_poker": [("kuhn_poker", "kuhn_poker", 1)],
    "leduc_poker": [("leduc_poker", "leduc_poker", 1)],
    "liars_dice": [
        ("liars_dice", "liars_dice", 1),
        ("liars_dice(sides=3)", "liars_dice(dice_sides=3)", 1),
        ("liars_dice(sides=9)", "liars_dice(dice_sides=9)", 1),
    ],
    "nim": [
        ("nim", "nim(pile_sizes=3;4;5,is_misere=false)", 1, nim_action(3)),
        ("nim(piles=1-3-5-7,misere=true)", "nim(pile_sizes=1;3;5;7,is_misere=true)", 1, nim_action(4)),
    ],
    "othello": [("othello", "othello", 1)],
    "phantom_ttt": [
        ("phantom_ttt", "phantom_ttt(gameversion=classical)", 1),
        ("phantom_ttt(abrupt=true)", "phantom_ttt(gameversion=abrupt)", 1),
    ],
    # The limit of moves, which ends a match in another way there, is out of reach.
    "pig": [
        ("pig(goal=50,moves=2000)", "pig(winscore=50,horizon=4000)", 1),
        ("pig(goal=20,moves=2000)", "pig(winscore=20,horizon=4000)", 1),
    ],
    "rock_paper_scissors": [("rock_paper_scissors(rounds=1)", "matrix_rps", 1)],
    "tic_tac_toe": [("tic_tac_toe", "tic_tac_toe", 1)],
}


def fnv(numbers):
    h = 0xcbf29ce484222325
    for byte in struct.pack("<%di" % len(numbers), *numbers):
        h = ((h ^ byte) * 0x100000001b3) & 0xffffffffffffffff
    return h


def information_set(state):
    player = state.current_player()
    lines = state.information_state_string(player).split("\n")
    return player, "\n".join(line for line in lines if len(lines) == 1 or not line.isdigit())


def play(game, rng, sets, ours):
    state, actions, said = game.new_initial_state(), [], []
    while not state.is_terminal():
        mover = state.current_player()
        if state.is_chance_node():
            mover, legal = 2, [a for a, _ in state.chance_outcomes()]
        else:
            legal = state.legal_actions()
        said += [mover, len(legal)] + sorted(map(ours, legal))
        if sets is not None and mover < 2:
            said.append(sets.setdefault(information_set(state), len(sets)))
        action = rng.choice(legal)
        actions.append(ours(action))
        state.apply_action(action)
    return actions, state.returns()[0], fnv(said)


def main():
    folder, games = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
    for name, variants in GAMES.items():
        with open("%s/%s.txt" % (folder, name), "w", encoding="ascii") as out:
            for spec, theirs, scale, *mapped in variants:
                rng = random.Random(spec)
                game = pyspiel.load_game_as_turn_based(theirs)
                sets = {} if name in SETS or "hidden=true" in spec else None
                out.write("%s %s\n" % ("game" if sets is None else "sets", spec))
                for _ in range(games):
                    actions, payoff, said = play(game, rng, sets, mapped[0] if mapped else int)
                    words = " ".join(map(str, actions))
                    out.write("%s = %g %016x\n" % (words, payoff * scale, said))


if __name__ == "__main__":
    main()
