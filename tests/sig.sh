#!/bin/sh
# One hash over everything that a fixed schedule produces: matches, replies, sampled tokens and their
# log-probabilities, baselines, weights. It may not depend on the number of workers, the compiler or a
# sanitizer. Usage: tests/sig.sh [WORKERS]; AGON names the program.
cd "$(dirname "$0")/.." || exit 1
. tests/int/lib.sh
run=$work/sig
"$AGON" train tests/int/tiny.yaml --run "$run" --steps 40 --set workers.count="${1:-2}" \
    --set eval.every=1h >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
dump_run "$run" | sha256sum | cut -c1-16
