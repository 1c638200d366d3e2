#!/usr/bin/env python3
"""The rules beside OpenSpiel's and TextArena's, where these are installed (PYTHON=venv/bin/python chooses
who looks; pip install open_spiel textarena); of all games, or of those on the command line. All times are the processor's. For each game both sides are
measured one right after the other, ROUNDS times; the median of the ratios is printed with the lowest one.

OpenSpiel: whole random matches a second. Its loop is its own C++ one (evaluate_bots with its uniform random
bots), called from Python once a match; ours is bench_rules' loop, whose actions a second are divided by
the mean length of OpenSpiel's matches.
TextArena: replies a second with all texts, in whole matches to their ends. On both sides the matches are
random legal ones, drawn beforehand; the parameters are the same where both have them, and in games with talk
everybody says the same sentence before the move. What is timed is the play from the seed on: reset(),
get_observation() and step() there, with the wrappers that make() puts on; bench_rules' "with text" here."""
import os
import random
import re
import statistics
import subprocess
import sys
import time

AGON = os.environ.get("AGON", "build/agon")
PYTHON = os.environ.get("PYTHON", "")
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SLICE = 0.2    # seconds of theirs
OURS = "0.02"  # three times that of ours, for the rules and with text
MATCHES = 12   # of TextArena, played again and again
SENTENCE = "I have thought about this for a while and here is what I want to do now. "

OPENSPIEL = {  # Agon's game with default parameters, and theirs
    "blotto": "blotto(coins=10,fields=3)", "breakthrough": "breakthrough", "connect_four": "connect_four",
    "dark_hex": "dark_hex(gameversion=cdh)", "goofspiel":
    "goofspiel(num_cards=4,points_order=random,imp_info=False,returns_type=win_loss)",
    "hex": "hex(board_size=3)", "kuhn_poker": "kuhn_poker", "leduc_poker": "leduc_poker",
    "liars_dice": "liars_dice", "nim": "nim(pile_sizes=3;4;5,is_misere=false)", "othello": "othello",
    "phantom_ttt": "phantom_ttt(gameversion=classical)", "tic_tac_toe": "tic_tac_toe",
    "battleship": "battleship(board_height=4,board_width=4,ship_sizes=[2;3],ship_values=[1;1],num_shots=10,"
                  "allow_repeated_shots=false)"}


# ---- TextArena: the legal replies of a position ----

def squares(env, board, free):
    return ["[%d]" % (r * len(board[0]) + c) for r, row in enumerate(board) for c, at in enumerate(row) if at == free]


def breakthrough(env, state, who):
    size, names = env.board_size, "abcdefgh"
    forward = 1 if who == 0 else -1
    return ["[%s%d%s%d]" % (names[c], r + 1, names[c + side], r + forward + 1)
            for r in range(size) for c in range(size) for side in (-1, 0, 1)
            if 0 <= r + forward < size and 0 <= c + side < size and
            env._is_valid_move(who, r, c, r + forward, c + side)]


def liars_dice(env, state, who):
    bid, most = state["current_bid"], sum(state["remaining_dice"].values())
    bids = ["[bid: %d, %d]" % (n, face) for n in range(max(1, bid["quantity"]), most + 1)
            for face in range(max(1, bid["face_value"]), 7) if (n, face) != (bid["quantity"], bid["face_value"])]
    return bids + (["[call]"] if bid["quantity"] else [])


def negotiation(env, state, who):
    """What our legal() lists: one kind for another, a few of each."""
    have, offer = state["player_resources"][who], state["current_offer"]
    moves = ["[pass]"] + ["[offer: %d %s -> %d %s]" % (x, give, y, ask) for give in have for x in (1, 3) if x <= have[give]
                          for ask in have if ask != give for y in (1, 3)]
    if offer and all(have[kind] >= n for kind, n in offer["requested_resources"].items()):
        moves.append("[accept]")
    return moves


def nim(env, state, who):
    return ["[%d %d]" % (i, n) for i, pile in enumerate(state["piles"]) for n in range(1, pile + 1)]


def othello(env, state, who):
    return ["[%d, %d]" % tuple(at) for at in env._valid_moves("B" if who == 0 else "W")] or ["[skip]"]


def snake(env, state, who):
    return ["[up]", "[down]", "[left]", "[right]"]


TEXTARENA = {  # Agon's game, TextArena's, its legal replies
    "breakthrough(diagonal=false)": ("Breakthrough-v0", breakthrough),
    "connect_four": ("ConnectFour-v0", lambda env, s, who: [
        "[col %d]" % c for c, at in enumerate(s["board"][0]) if at == "."]),
    "kuhn_poker(hands=3)": ("KuhnPoker-v0", lambda env, s, who: ["[%s]" % a for a in s["current_legal_action_tree"]]),
    "liars_dice(dice=5,wild=false,strict=true)": ("LiarsDice-v0", liars_dice),
    "negotiation(resources=5,turns=10)": ("SimpleNegotiation-v0", negotiation),
    "nim(piles=3-4-5)": ("Nim-v0", nim),
    "othello": ("Othello-v0", othello),
    "pig(goal=100,moves=100,must_hold=false)": ("PigDice-v0", lambda env, s, who: ["[roll]", "[hold]"]),
    "prisoners_dilemma(rounds=10,talk=1)": ("IteratedPrisonersDilemma-v0", lambda env, s, who: (
        ["..."] if s["phase"] == "conversation" else ["[cooperate]", "[defect]"])),
    "rock_paper_scissors(rounds=9)": ("IteratedRockPaperScissors-v0", lambda env, s, who: [
        "[rock]", "[paper]", "[scissors]"]),
    "snake(width=5,height=5,apples=2,turns=20)": ("Snake-v0", snake),
    "tic_tac_toe": ("TicTacToe-v0", lambda env, s, who: squares(env, s["board"], "")),
    "truth_and_deception(talk=5)": ("TruthAndDeception-v0", lambda env, s, who: (
        ["[Fact 1]", "[Fact 2]"] if env.state.turn == env.max_turns - 1 else ["..."])),
}
TALK = ("negotiation", "prisoners_dilemma", "truth_and_deception")


def ours(spec):
    """Actions a second of the rules alone, replies a second with texts."""
    program = os.path.join(os.path.dirname(AGON), "tests/bench/bench_rules")
    out = subprocess.run([program, OURS, spec], capture_output=True, text=True, check=True).stdout
    return [float(number) for number in re.findall(r" (\d+) (?:actions|replies)/s", out)]


def chosen(table):
    """Its rows, or those of the games on the command line."""
    return [row for row in table.items() if not sys.argv[1:] or row[0].split("(")[0] in sys.argv[1:]]


def compare(label, what, one):
    """Prints what ROUNDS of one() say: our speed, and theirs."""
    rounds = [one() for _ in range(ROUNDS)]
    ratios = [mine / other for mine, other in rounds]
    mine, other = (statistics.median(side) for side in zip(*rounds))
    print("%-42s %9.0f %s, %s %8.0f: %5.1f times, the lowest %5.1f" % (
        label, mine, what[0], what[1], other, statistics.median(ratios), min(ratios)), flush=True)


# ---- OpenSpiel ----

def against_openspiel():
    try:
        import pyspiel
    except ImportError as why:
        print("skip - OpenSpiel: %s" % why)
        return
    for name, theirs in chosen(OPENSPIEL):
        game = pyspiel.load_game_as_turn_based(theirs)
        state, bots = game.new_initial_state(), [pyspiel.make_uniform_random_bot(i, i) for i in range(2)]
        rng, plies, lengths = random.Random(1), 0, 200
        for _ in range(lengths):
            s = state.clone()
            while not s.is_terminal():
                s.apply_action(rng.choice(s.legal_actions()))
                plies += 1

        def one():
            mine, matches, start = ours(name)[0] * lengths / plies, 0, time.process_time()
            while time.process_time() - start < SLICE:
                for _ in range(20):
                    matches += 1
                    pyspiel.evaluate_bots(state.clone(), bots, matches)  # it plays the state to its end
            return mine, matches / (time.process_time() - start)

        compare(name, ("matches/s", "OpenSpiel's C++"), one)


# ---- TextArena ----

def draw_match(ta, env_id, legal, talk, seed):
    """(seed, replies) of a random legal match that was played to its end."""
    env, rng, replies, done = ta.make(env_id), random.Random(seed), [], False
    env.reset(num_players=2, seed=seed)
    inner = env
    while isinstance(inner, ta.Wrapper):
        inner = inner.env
    while not done:
        env.get_observation()
        who = inner.state.current_player_id
        replies.append((SENTENCE if talk else "") + rng.choice(legal(inner, inner.state.game_state, who)))
        done, _ = env.step(action=replies[-1])
    if any(info.get("invalid_move") for info in inner.state.game_info.values()):
        raise RuntimeError("it calls a legal reply invalid")
    return seed, replies


def replies_a_second(ta, env_id, matches):
    count, spent = 0, 0.0
    while spent < SLICE:
        for seed, replies in matches:
            env = ta.make(env_id)
            start = time.process_time()
            env.reset(num_players=2, seed=seed)
            for reply in replies:
                env.get_observation()
                done, _ = env.step(action=reply)
            spent += time.process_time() - start
            count += len(replies)
            if not done:
                raise RuntimeError("a match is not the same again")
    return count / spent


def against_textarena():
    try:
        import textarena as ta
    except ImportError as why:
        print("skip - TextArena: %s" % why)
        return
    for spec, (env_id, legal) in chosen(TEXTARENA):
        try:
            matches = [draw_match(ta, env_id, legal, spec.startswith(TALK), seed) for seed in range(MATCHES)]
        except Exception as why:  # an environment that this version does not have, or has otherwise
            print("skip - TextArena's %s: %s: %s" % (env_id, type(why).__name__, str(why).split("\n")[0][:100]))
            continue
        compare(spec, ("replies/s with text", "TextArena's %s" % env_id),
                lambda: (ours(spec)[1], replies_a_second(ta, env_id, matches)))


def main():
    if PYTHON and os.path.abspath(PYTHON) != os.path.abspath(sys.executable):
        os.execv(PYTHON, [PYTHON] + sys.argv)
    against_openspiel()
    against_textarena()


main()
