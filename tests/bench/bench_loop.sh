#!/bin/sh
# End to end: finished matches a second while learning, Kuhn poker, from the run's own record. The first
# steps (imitation of a scripted player) do not count. TIME seconds (default 60).
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
"$AGON" train configs/kuhn.yaml --run "$run/kuhn" --time "${TIME:-60}s" --set eval.every=1h \
    >"$run/log" || { cat "$run/log"; exit 1; }
awk -F'[:,]' '{
    for (i = 1; i < NF; i++) {
        if ($i ~ /"step"/) step = $(i + 1)
        if ($i ~ /"at_ms"/) at = $(i + 1)
        if ($i ~ /"matches"/) matches = $(i + 1)
        if ($i ~ /"tokens"/) tokens = $(i + 1)
    }
    if (step > 150) { if (!first) first = at; else { n += matches; t += tokens }; last = at; steps++ }
} END {
    s = (last - first) / 1000
    if (s <= 0) { print "no step after the warm-up: give it more TIME"; exit 1 }
    printf "loop kuhn: %.0f matches/s, %.0f sampled tokens/s, %.1f steps/s while learning (%.1f x the goal of 1,000 matches/s)\n",
           n / s, t / s, steps / s, n / s / 1000
}' "$run/kuhn/metrics.jsonl"
grep Memory "$run/log"
