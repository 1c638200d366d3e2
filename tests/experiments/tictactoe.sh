#!/bin/sh
# Tic-tac-toe from random weights, twenty minutes: loses < 2 % to the perfect player in either seat, wins
# > 85 % against random play over both seats and loses < 2 %.
. tests/experiments/lib.sh
train tictactoe configs/tictactoe.yaml "${TIME:-20m}" || exit 1
"$AGON" eval --run "$RUNS/tictactoe" --against minimax --against random --matches 4000
