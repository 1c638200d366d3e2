#!/usr/bin/env python3
"""The rules beside OpenSpiel's and TextArena's, where these are installed (PYTHON=venv/bin/python chooses
who looks; pip install open_spiel textarena).

OpenSpiel: whole random matches a second. Its loop is its own C++ one (evaluate_bots with its uniform random
bots), called from Python once a match; ours is bench_rules' loop, whose actions a second are divided by
the mean length of OpenSpiel's matches.
TextArena: replies a second with all texts. Only get_observation() and step() are timed there, with
replies of the right form and no regard to legality; ours is bench_rules' "with text".
The best of three slices counts on both sides."""
import os
import random
import subprocess
import sys
import time

AGON = os.environ.get("AGON", "build/agon")
PYTHON = os.environ.get("PYTHON", "")
SLICE = 0.2

OPENSPIEL = {  # Agon's game with default parameters, and theirs
    "blotto": "blotto(coins=10,fields=3)", "breakthrough": "breakthrough", "connect_four": "connect_four",
    "dark_hex": "dark_hex(gameversion=cdh)", "goofspiel":
    "goofspiel(num_cards=4,points_order=random,imp_info=False,returns_type=win_loss)",
    "hex": "hex(board_size=3)", "kuhn_poker": "kuhn_poker", "leduc_poker": "leduc_poker",
    "liars_dice": "liars_dice", "nim": "nim(pile_sizes=3;4;5,is_misere=false)", "othello": "othello",
    "phantom_ttt": "phantom_ttt(gameversion=classical)", "tic_tac_toe": "tic_tac_toe",
    "battleship": "battleship(board_height=4,board_width=4,ship_sizes=[2;3],ship_values=[1;1],num_shots=10,"
                  "allow_repeated_shots=false)"}


def pick(*words):
    return lambda r: "[%s]" % r.choice(words)


def square(r):
    return r.choice("abcdefgh") + str(r.randint(1, 8))


TEXTARENA = {  # Agon's game, theirs, and a reply
    "breakthrough": ("Breakthrough-v0", lambda r: "[%s%s]" % (square(r), square(r))),
    "connect_four": ("ConnectFour-v0", lambda r: "[col %d]" % r.randrange(7)),
    "kuhn_poker": ("KuhnPoker-v0", pick("check", "bet", "call", "fold")),
    "liars_dice": ("LiarsDice-v0", lambda r: r.choice(["[call]", "[bid: %d, %d]" % (
        r.randint(1, 9), r.randint(1, 6))])),
    "negotiation": ("SimpleNegotiation-v0", lambda r: r.choice(["let us talk", "[accept]", "[deny]"])),
    "nim": ("Nim-v0", lambda r: "[%d %d]" % (r.randrange(3), r.randint(1, 3))),
    "pig": ("PigDice-v0", pick("roll", "hold")),
    "prisoners_dilemma": ("IteratedPrisonersDilemma-v0", pick("cooperate", "defect")),
    "rock_paper_scissors": ("IteratedRockPaperScissors-v0", pick("rock", "paper", "scissors")),
    "snake": ("Snake-v0", pick("up", "down", "left", "right")),
    "tic_tac_toe": ("TicTacToe-v0", lambda r: "[%d]" % r.randrange(9)),
    "truth_and_deception": ("TruthAndDeception-v0", pick("Fact 1", "Fact 2")),
}


def ours():
    """{game: (actions a second of the rules alone, with texts)}"""
    program = os.path.join(os.path.dirname(AGON), "tests/bench/bench_rules")
    found = {}
    for line in subprocess.run([program, "0.1"], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if words[-1] == "actions/s" and words[1] in ("rules", "with") and len(words) == 5:
            found.setdefault(words[0], [0.0, 0.0])[words[1] == "with"] = float(words[3])
    return found


def best(slices):
    return max(slices() for _ in range(3))


def against_openspiel(known):
    try:
        import pyspiel
    except ImportError as why:
        print("skip - OpenSpiel: %s" % why)
        return
    for name, theirs in OPENSPIEL.items():
        game = pyspiel.load_game_as_turn_based(theirs)
        state, bots = game.new_initial_state(), [pyspiel.make_uniform_random_bot(i, i) for i in range(2)]
        rng, plies, lengths = random.Random(1), 0, 200
        for _ in range(lengths):
            s = state.clone()
            while not s.is_terminal():
                s.apply_action(rng.choice(s.legal_actions()))
                plies += 1

        def one():
            matches, start = 0, time.perf_counter()
            while time.perf_counter() - start < SLICE:
                for _ in range(20):
                    matches += 1
                    pyspiel.evaluate_bots(state.clone(), bots, matches)  # it plays the state to its end
            return matches / (time.perf_counter() - start)

        mine, other = known[name][0] * lengths / plies, best(one)
        print("%-20s %9.0f matches/s, OpenSpiel's C++ %9.0f: %5.1f times" % (name, mine, other, mine / other))


def replies_a_second(ta, env_id, reply):
    rng, count, spent = random.Random(1), 0, 0.0
    while spent < SLICE:
        env = ta.make(env_id)
        env.reset(num_players=2, seed=rng.randrange(1 << 30))
        done = False
        for _ in range(200):
            text = reply(rng)
            start = time.perf_counter()
            env.get_observation()
            done, _ = env.step(action=text)
            spent += time.perf_counter() - start
            count += 1
            if done:
                break
    return count / spent


def against_textarena(known):
    try:
        import textarena as ta
    except ImportError as why:
        print("skip - TextArena: %s" % why)
        return
    for name, (env_id, reply) in TEXTARENA.items():
        try:
            other = best(lambda: replies_a_second(ta, env_id, reply))
        except Exception as why:  # an environment that this version does not have, or that wants a key
            print("skip - TextArena's %s: %s" % (env_id, str(why).split("\n")[0][:100]))
            continue
        mine = known[name][1]
        print("%-20s %9.0f replies/s with text, TextArena's %s %7.0f: %5.0f times" % (
            name, mine, env_id, other, mine / other))


def main():
    if PYTHON and os.path.abspath(PYTHON) != os.path.abspath(sys.executable):
        os.execv(PYTHON, [PYTHON] + sys.argv)
    known = ours()
    against_openspiel(known)
    against_textarena(known)


main()
