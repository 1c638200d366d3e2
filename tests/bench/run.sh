#!/bin/sh
# Runs the benchmarks one after another: tests/bench/run.sh PROGRAM... Each prints one line a number.
cd "$(dirname "$0")/../.." || exit 1
echo "# $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors"
for program in "$@"; do
    case $program in /*) ;; *) program=./$program ;; esac
    echo "# ${program##*/}"
    "$program" </dev/null || exit 1
done
