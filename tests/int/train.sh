#!/bin/sh
# timeout: 200
# `agon train` as a user meets it: stopping, going on, being refused, wrong configurations.
. tests/int/lib.sh
config=tests/int/tiny.yaml
run=$work/run

says() { # words, command...: it fails and says them
    words=$1
    shift
    if "$@" >"$work/says.out" 2>&1; then
        echo "it succeeded"
        return 1
    fi
    cat "$work/says.out"
    grep -q -- "$words" "$work/says.out"
}

"$AGON" train $config --run "$run" >"$work/log" 2>&1 &
train=$!
started=$train
sleep 4
check "a second train on a run in use is refused" says "another .agon train." \
    "$AGON" train $config --run "$run"
kill -INT "$train"
check "Ctrl-C ends it well" wait "$train"
started=
check "a report is printed" grep -q "Stopped after" "$work/log"
step=$(sql "$run/run.db" "select max(step) from step")
check "it had learned something" test "$step" -gt 0
check "no process is left" test -z "$(pgrep -f "^agon .*--run $run")"
check "the same command goes on" "$AGON" train $config --run "$run" --steps $((step + 5))
check "to the very step" test "$(sql "$run/run.db" "select max(step) from step")" -eq $((step + 5))
check "a finished run ends at once" timeout 30 "$AGON" train $config --run "$run" --steps $((step + 5))
check "an option that is fixed cannot change" says "game: the run in" \
    "$AGON" train $config --run "$run" --set game=leduc_poker --set model.context=128
check "one that is not fixed can" "$AGON" train $config --run "$run" --steps $((step + 8)) \
    --set learner.lr=1e-4
# shellcheck disable=SC2016
check "no duration in metrics.jsonl is longer than the test" awk '{
    while (match($0, /"[a-z_]+_s":[0-9.e-]+/)) {
        split(substr($0, RSTART, RLENGTH), pair, ":")
        if (pair[1] !~ /(tokens|matches)_s/ && pair[2] + 0 > 120) { print; bad = 1 }
        $0 = substr($0, RSTART + RLENGTH)
    }
} END { exit bad }' "$run/metrics.jsonl"
for part in config.yaml run.db metrics.jsonl snapshots state logs; do
    check "the run folder has $part" test -e "$run/$part"
done

printf 'gaem: kuhn_poker\n' >"$work/bad.yaml"
check "an unknown key names its place" says "bad.yaml:1:1" "$AGON" train "$work/bad.yaml"
printf 'game: kuhn_poker\nlearner:\n  batch: many\n' >"$work/bad.yaml"
check "an ill-typed value names its place" says "bad.yaml:3:10" "$AGON" serve --check "$work/bad.yaml"
printf 'game: kuhn_poker(hands=99)\n' >"$work/bad.yaml"
check "a wrong parameter names its range" says "hands" "$AGON" serve --check "$work/bad.yaml"
check "a right configuration is right" "$AGON" serve --check $config
check "a missing file is named" says "nowhere.yaml" "$AGON" train nowhere.yaml
check "a wrong time is named" says "--time" "$AGON" train $config --time soon

# A game without hidden information is solved, and played against others: both stand in the table.
"$AGON" train $config --run "$work/nim" --steps 3 --set "game=nim(piles=2-3)" --set eval.matches=20 \
    --set "eval.opponents=random minimax" >"$work/nim.log" 2>&1
check "the table's head names its columns" grep -q "NashConv *mixture *% won/lost against" "$work/nim.log"
check "the table shows every opponent" grep -q "random [0-9.]*/[0-9.]*, minimax [0-9.]*/[0-9.]*$" "$work/nim.log"

# Its last evaluation would take minutes: whoever asks once more goes without.
"$AGON" train $config --run "$work/long" --set game=tic_tac_toe --set model.context=512 \
    --set eval.matches=1000000 >"$work/log" 2>&1 &
train=$!
started=$train
for i in $(seq 100); do
    [ "$(sql "$work/long/run.db" "select ifnull(max(step), 0) from step" 2>/dev/null || echo 0)" -ge 2 ] && break
    sleep 0.2
done
kill -HUP "$train"
for i in $(seq 150); do
    [ -n "$(pgrep -P "$train" -f "^agon eval ")" ] && break
    sleep 0.2
done
kill -INT "$train"
check "Ctrl-C again ends the last evaluation" wait "$train"
started=
check "and that is said" grep -q "The last evaluation was left out" "$work/log"
check "no process is left of it" test -z "$(pgrep -f "^agon .*--run $work/long")"

mv "$run/config.yaml" "$work/kept.yaml"
check "a run without its options says so" says "has lost its config.yaml" "$AGON" train --run "$run"
mv "$work/kept.yaml" "$run/config.yaml"
check "so does a file" says "a run is a folder" "$AGON" train --run $config
check "a folder without a run says so" says "no run in this folder" "$AGON" train --run "$work"

# Workers that never play anything: the server gives up after some seconds, each time. The program is
# told to compute with a kernel that its own check refuses; where none is refused there is nothing to see.
OPENBLAS_CORETYPE=Haswell timeout 10 "$AGON" train $config --run "$work/vain" --steps 1 >"$work/log" 2>&1
if grep -q "changes with the other rows" "$work/vain/logs/serve.log"; then
    check "a server that dies in vain is not started for ever" says "keeps ending.*matrix kernel" \
        env OPENBLAS_CORETYPE=Haswell timeout 170 "$AGON" train --run "$work/vain" --steps 1
else
    echo "skip - a server that dies in vain: this machine's kernels all pass"
fi

snapshot=$(sql "$run/run.db" "select snapshot from step order by step desc limit 1")
printf 'x' | dd of="$run/snapshots/$snapshot.safetensors" bs=1 seek=3000 conv=notrunc 2>/dev/null
check "a damaged snapshot is refused, not replaced" says "$snapshot" timeout 120 \
    "$AGON" train $config --run "$run" --steps $((step + 20))
