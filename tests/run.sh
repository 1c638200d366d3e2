#!/bin/sh
# Runs test programs and counts: tests/run.sh [-s FILE] [-jN] PROGRAM... [-jM] PROGRAM...
# A program is a cmocka binary, or a script or binary that prints lines `ok - name`, `not ok - name` and
# `skip - name: reason`. One that fails without naming a test, runs no test or takes too long counts as
# one failure. -jN: so many at a time from here on. -s: the last line goes to FILE too. A script's own
# time limit stands in a comment, `# timeout: 600`; TIMEOUT (300 seconds) is that of all others.
# The last line is `N passed, N failed`, with `, N skipped` when some were.
set -u
cd "$(dirname "$0")/.." || exit 1

# Sanitizers need their shadow memory's place free, which some kernels' address randomisation takes.
fixed_addresses() {
    if setarch -R true 2>/dev/null; then echo "setarch -R"; fi
}

count() { # of one program's output: "passed failed skipped"
    awk '
        /\[ RUN      \]/ { running = 1 }
        running && /\[       OK \]/ { passed++; running = 0 }
        running && /\[  FAILED  \]/ { failed++; running = 0 }
        running && /\[  SKIPPED \]/ { skipped++; running = 0 }
        /^ok - / { passed++ }
        /^not ok - / { failed++ }
        /^skip - / { skipped++ }
        END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

run_one() { # result folder, program
    out=$(mktemp "$1/out.XXXXXX")
    limit=${TIMEOUT:-300} prefix=
    case $2 in
    *.sh | *.py) own=$(sed -n 's/^# timeout: \([0-9][0-9]*\)$/\1/p' "$2" | head -n 1)
        limit=${own:-$limit} ;;
    *-asan/* | *-tsan/*) prefix=$(fixed_addresses) ;;
    esac
    case $2 in /*) program=$2 ;; *) program=./$2 ;; esac
    start=$(date +%s)
    $prefix timeout -k 10 "$limit" "$program" >"$out" 2>&1 </dev/null
    status=$?
    took=$(($(date +%s) - start))
    set -- "$1" "$2" $(count "$out")
    failed=$4 why=
    if [ $status -eq 124 ] || [ $status -eq 137 ]; then
        why="no end after $limit s"
    elif [ $status -ne 0 ] && [ "$4" -eq 0 ]; then
        why="exit status $status"
    elif [ $(($3 + $4 + $5)) -eq 0 ]; then
        why="ran no test"
    fi
    if [ -n "$why" ]; then failed=$((failed + 1)); fi
    echo "$3 $failed $5" >>"$1/counts"
    if [ "$failed" -eq 0 ]; then
        printf 'ok    %s (%s tests, %s s)\n' "$2" "$3" "$took"
        grep '^skip - ' "$out"
    else
        { printf 'FAIL  %s %s\n' "$2" "$why"; sed 's/^/    | /' "$out"; } >"$out.shown"
        cat "$out.shown"
    fi
    return 0
}

if [ "${1:-}" = --one ]; then
    run_one "$2" "$3"
    exit 0
fi

unset CMOCKA_MESSAGE_OUTPUT CMOCKA_XML_FILE MAKEFLAGS MFLAGS MAKELEVEL
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
: >"$results/counts"
summary=/dev/null jobs=1
while [ $# -gt 0 ]; do
    case $1 in
    -s) summary=$2; shift ;;
    -j*) jobs=${1#-j} ;;
    *)  : >"$results/list"
        while [ $# -gt 0 ] && [ "${1#-j}" = "$1" ]; do
            echo "$1" >>"$results/list"
            shift
        done
        xargs -n 1 -P "$jobs" tests/run.sh --one "$results" <"$results/list" ||
            echo 0 1 0 >>"$results/counts"
        continue ;;
    esac
    shift
done
awk '{ passed += $1; failed += $2; skipped += $3 }
    END {
        if (passed + failed == 0) { print "no test ran"; failed = 1 }
        printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
        exit failed > 0
    }' "$results/counts" >"$results/last"
status=$?
tee "$summary" <"$results/last"
exit $status
