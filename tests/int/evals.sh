#!/bin/sh
# timeout: 120
# Evaluations reach the database although it is locked when they are sent.
. tests/int/lib.sh
run=$work/run

evals() { sql "$run/run.db" "select count(*) from eval"; }
wait_for() { # seconds, command...: until it succeeds
    tries=$(($1 * 5))
    shift
    until "$@" 2>/dev/null; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.2
    done
}
has_evals() { [ "$(evals)" -ge "$1" ]; }
says() { grep -q -- "$1" "$work/log"; }

"$AGON" train tests/int/tiny.yaml --run "$run" --set eval.every=1s --steps 100000 >"$work/log" 2>&1 &
train=$!
started=$train
check "evaluations arrive" wait_for 40 has_evals 1
# Whoever holds the lock lets go when its input ends.
lock() {
    rm -f "$work/hold"
    mkfifo "$work/hold"
    python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
db.execute("begin immediate")
print("locked", flush=True)
sys.stdin.read()
db.execute("rollback")' "$run/run.db" <"$work/hold" >"$work/locked" &
    holder=$!
    started="$train $holder"
    exec 9>"$work/hold"
    wait_for 30 grep -q locked "$work/locked"
}
unlock() {
    exec 9>&-
    wait "$holder"
    started=$train
}
check "the database is locked" lock
check "one that is not taken is said to wait" wait_for 40 says "it is kept and sent again"
before=$(evals)
unlock
check "it arrives when the lock is gone" wait_for 30 has_evals $((before + 1))
check "nothing was put aside" test ! -e "$run/logs/evals.jsonl"
sleep 1
check "the database is locked again" lock
check "another one waits" wait_for 40 sh -c "[ \"\$(grep -c 'kept and sent again' '$work/log')\" -ge 2 ]"
kill -INT "$train"
check "what waits when the run ends is put aside" wait_for 40 grep -q '"step":' "$run/logs/evals.jsonl"
unlock
check "the run ends well" wait "$train"
started=
check "and that is said" says "The evaluation of step [0-9]* is not in the database: .*logs/evals.jsonl"
