#!/bin/sh
# How fast the API answers on a run of a million turns (TURNS) while matches are being written: each view's
# processor time and latency with 32 clients (CLIENTS), and what the readers cost the writer. Four
# minutes on two cores; BIG_DB names the generator (make build/tests/bench/big_db).
. tests/experiments/lib.sh
run=$RUNS/big_db
rm -rf "$run"
"${BIG_DB:-$(dirname "$AGON")/tests/bench/big_db}" "$run" "${TURNS:-1000000}" || exit 1
python3 - "$AGON" "$run" <<'PY'
import subprocess, sys, time
agon, run = sys.argv[1:3]
for words in ["", "--reason invalid", "--policy first", "--kind warmup", "--result draw --length 9", "--since 1h --until 30m",
              "--sort oldest", "--sort slowest", "--sort longest"]:
    took = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([agon, "matches", "--run", run] + words.split(), stdout=subprocess.DEVNULL, check=True)
        took.append(1e3 * (time.perf_counter() - start))
    print("agon matches %s: %.0f ms" % (words, sorted(took)[2]), flush=True)
PY
AGON=$AGON python3 tests/experiments/views.py "$run"
