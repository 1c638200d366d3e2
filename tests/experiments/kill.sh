#!/bin/sh
# Thirty kills of server, workers and learner while Kuhn poker is trained; then the run goes on and still
# reaches its target. Six minutes.
. tests/experiments/lib.sh
KEEP="$RUNS/kill" CONFIG=configs/kuhn.yaml ROUNDS=30 AGON=$AGON tests/int/kill.sh || exit 1
"$AGON" train configs/kuhn.yaml --run "$RUNS/kill" --time "${TIME:-5m}" || exit 1
"$AGON" verify --run "$RUNS/kill"
