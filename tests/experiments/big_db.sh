#!/bin/sh
# How fast the API answers on a run of a million turns (TURNS) while matches are being written: each view's
# processor time and latency with 32 clients (CLIENTS), and what the readers cost the writer. Four
# minutes on two cores; BIG_DB names the generator (make build/tests/bench/big_db).
. tests/experiments/lib.sh
run=$RUNS/big_db
rm -rf "$run"
"${BIG_DB:-$(dirname "$AGON")/tests/bench/big_db}" "$run" "${TURNS:-1000000}" || exit 1
for words in "" "--reason invalid" "--policy first" "--kind warmup" "--result draw --length 9" \
    "--since 1h --until 30m" "--sort oldest" "--sort slowest" "--sort longest"; do
    # shellcheck disable=SC2086 # a list of words
    python3 - "$AGON" matches --run "$run" --csv $words <<'PY'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("agon %s: %.0f ms of processor time" % (" ".join(sys.argv[2:3] + sys.argv[6:]),
                                              1e3 * (used.ru_utime + used.ru_stime)))
PY
done
AGON=$AGON python3 tests/experiments/views.py "$run"
