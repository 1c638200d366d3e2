#!/bin/sh
# timeout: 240
# One seed, one result: the same snapshots and the same rows whatever the number of workers, and whether
# the run was interrupted or not.
. tests/int/lib.sh
config=tests/int/tiny.yaml

train() { # folder, steps, options
    folder=$1 steps=$2
    shift 2
    "$AGON" train $config --run "$work/$folder" --steps "$steps" --set eval.every=1h "$@" \
        >"$work/log" 2>&1 || sed 's/^/# /' "$work/log"
}

for mode in sync periodic; do
    for workers in 1 2; do
        train $mode-$workers 45 --set learner.mode=$mode --set workers.count=$workers
        dump_run "$work/$mode-$workers" >"$work/$mode-$workers.txt"
    done
    check "$mode: rows exist" \
        test "$(sql "$work/$mode-1/run.db" 'select count(*) from match')" -eq 2880
    check "$mode: one worker and two give the same rows" \
        cmp "$work/$mode-1.txt" "$work/$mode-2.txt"
done
train parts 17 --set learner.mode=sync
train parts 45 --set learner.mode=sync
dump_run "$work/parts" >"$work/parts.txt"
check "a run in two parts gives the same rows" cmp "$work/sync-1.txt" "$work/parts.txt"
check "the database is verified" "$AGON" verify --run "$work/parts"
