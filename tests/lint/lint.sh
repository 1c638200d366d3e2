#!/bin/sh
# Checks the sources without building them: tests/lint/lint.sh [ROOT]. One `ok` or `not ok` line a rule.
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:-$here/../..}" || exit 1
LC_ALL=C
export LC_ALL
status=0

sources() { find base games policy store arena learner cli tests -name '*.[ch]' 2>/dev/null | sort; }
options() { find base -name options.def; sources | grep '\.c$'; }
tables() { find base games policy store arena learner cli -name '*.def' 2>/dev/null | sort; }
texts() {
    find base games policy store arena learner cli page tests tools configs docs .ci Makefile README.md \
        \( -name corpus -o -name data -o -path page/vendor \) -prune -o -type f \( -name '*.[ch]' -o -name '*.def' -o \
        -name '*.sh' -o -name '*.py' -o -name '*.awk' -o -name '*.yaml' -o -name '*.md' -o -name '*.sql' \
        -o -name '*.html' -o -name '*.js' -o -name '*.mjs' -o -name '*.css' -o -name Makefile -o -path '.ci/*' \) \
        -print 2>/dev/null | sort
}

check() { # name, list of files, command on them
    name=$1 list=$2
    shift 2
    files=$($list)
    # shellcheck disable=SC2086 # a list of words
    if [ -z "$files" ] || found=$("$@" $files 2>&1); then
        echo "ok - lint: $name"
    else
        printf '%s\n' "$found"
        echo "not ok - lint: $name"
        status=1
    fi
}

unformatted() { # formatter, files: the first line of each file that is not as it would have it
    formatter=$1
    shift
    "$formatter" --dry-run -Werror --style=file "$@" 2>&1 | awk -F : '
        /error: code should be/ && !seen[$1]++ { print $1 ":" $2 ": not formatted: run `make format`" }
        END { exit NR > 0 }'
}

check "include rules" sources awk -f "$here/includes.awk"
check "function length" sources awk -f "$here/functions.awk"
check "sorted tables" tables awk -f "$here/sorted.awk"
check "options" options awk -f "$here/options.awk"
check "text" texts awk -f "$here/text.awk"
formatter=$("$here/clang-format.sh")
if [ -n "$formatter" ]; then
    check "format" sources unformatted "$formatter"
else
    echo "skip - lint: format: there is no clang-format 14 on this machine"
fi
exit $status
