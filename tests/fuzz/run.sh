#!/bin/sh
# Searches for inputs that crash: tests/fuzz/run.sh BUILD SECONDS, two programs at a time. What it finds of
# interest is kept below BUILD/corpus; a crash is written to BUILD and printed.
set -eu
build=$1 seconds=$2
cd "$(dirname "$0")/../.."

fuzz_one() {
    name=${1##*/fuzz_}
    mkdir -p "$build/corpus/$name"
    set -- "$1" "$build/corpus/$name"
    [ ! -d "tests/fuzz/corpus/$name" ] || set -- "$@" "tests/fuzz/corpus/$name"
    [ ! -f "tests/fuzz/$name.dict" ] || set -- "$@" "-dict=tests/fuzz/$name.dict"
    if "$@" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/$name-" >"$build/$name.log" 2>&1; then
        echo "ok - fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log") runs"
    else
        tail -n 40 "$build/$name.log"
        echo "not ok - fuzz $name"
        return 1
    fi
}

case ${3:-} in
'') find "$build/tests/fuzz" -name 'fuzz_*' -type f ! -name '*.*' |
        xargs -n 1 -P 2 tests/fuzz/run.sh "$build" "$seconds" ;;
*) fuzz_one "$3" ;;
esac
