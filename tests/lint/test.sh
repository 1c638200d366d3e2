#!/bin/sh
# Plants one violation of every rule into a small tree and demands that lint finds it, and nothing else.
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
status=0

fresh() {
    rm -rf "${tree:?}"/*
    for d in base games policy/players store learner arena cli tests/unit; do mkdir -p "$tree/$d"; done
    cp "$here/../../.clang-format" "$tree/"
    printf 'int\nf(void) {\n    return 1;\n}\n' >"$tree/base/good.c"
    printf 'OPT("a.b", REAL, "1", 0, 1, NULL, true, "X.")\n' >"$tree/base/options.def"
    printf 'double\nf(void) {\n    return conf_real(c, "a.b");\n}\n' >"$tree/arena/good.c"
    printf '/* Rows are sorted. */\nCMD(a)\nCMD(b)\n\nCMD(a)\n' >"$tree/cli/good.def"
}

report() {
    if [ "$1" -eq 0 ]; then
        echo "ok - planted: $2"
    else
        echo "$3"
        echo "not ok - planted: $2"
        status=1
    fi
}

# Name, file, place and words of the complaint, text of the file.
expect() {
    fresh
    # shellcheck disable=SC2059 # the text is a format on purpose
    printf "$4" >"$tree/$2"
    found=$("$here/lint.sh" "$tree")
    [ $? -ne 0 ] && case $found in *"$2:$3"*) true ;; *) false ;; esac
    report $? "$1" "$found"
}

allow() {
    fresh
    # shellcheck disable=SC2059
    printf "$3" >"$tree/$2"
    found=$("$here/lint.sh" "$tree")
    report $? "$1" "$found"
}

fresh
found=$("$here/lint.sh" "$tree")
report $? "nothing in a good tree" "$found"

expect "base includes games" base/x.c "1: base/ may not" '#include "games/game.h"\n'
expect "games includes arena" games/x.c "1: games/ may not" '#include "arena/match.h"\n'
expect "rules include the inside of games/extern" games/x.c "1: games/ may not" \
    '#include "games/extern/program.h"\n'
allow "rules may ask who failed" games/x.c '#include "games/extern/extern.h"\n'
expect "policy includes games" policy/gen.c "1: policy/ may not" '#include "games/game.h"\n'
allow "a player may" policy/players/x.c '#include "games/game.h"\n'
expect "store includes policy" store/x.c "1: store/ may not" '#include "policy/snap.h"\n'
expect "learner includes arena" learner/x.c "1: learner/ may not" '#include "arena/wire.h"\n'
expect "learner includes other games headers" learner/x.c "1: learner/" '#include "games/solve.h"\n'
expect "arena includes learner" arena/x.h "1: arena/ may not" '#include "learner/loss.h"\n'
expect "somebody includes cli" arena/x.c "1: arena/ may not" '#include "cli/cmd.h"\n'
expect "yaml.h elsewhere" arena/x.c "1: <yaml.h>" '#include <yaml.h>\n'
expect "cblas.h elsewhere" policy/x.c "1: <cblas.h>" '#include <cblas.h>\n'
expect "sqlite3.h elsewhere" cli/x.c "1: <sqlite3.h>" '#include <sqlite3.h>\n'
expect "event loop in learner" learner/x.c "1: <event2/event.h>" '#include <event2/event.h>\n'
expect "event loop in the schedule" arena/schedule.c "1: this file" '#include <event2/event.h>\n'
expect "stdio in rules" games/x.c "1: <stdio.h>" \
    '#include <stdio.h>\n\nconst struct game game_x = {0};\n'
expect "malloc in rules" games/x.c "3: " \
    'void\nf(void) {\n    malloc(1);\n}\n\nstatic const struct game game_x = {0};\n'
expect "long function" base/x.c "2: f has 64 lines" "int\nf(void) {\n$(
    i=0
    while [ $i -lt 61 ]; do
        echo '    g();'
        i=$((i + 1))
    done
)\n    return 1;\n}\n"
allow "with a reason" base/x.c "/* LONG: a list. */\nint\nf(void) {\n$(
    i=0
    while [ $i -lt 61 ]; do
        echo '    g();'
        i=$((i + 1))
    done
)\n    return 1;\n}\n"
expect "option without a reader" base/options.def '2: nothing reads "c"' \
    'OPT("a.b", REAL, "1", 0, 1, NULL, true, "X.")\nOPT("c", BOOL, "true", 0, 0, NULL, true, "X.")\n'
expect "unknown option" store/x.c '3: there is no option "a.c"' \
    'int\nf(void) {\n    return conf_int(c, "a.c");\n}\n'
expect "option of another type" store/x.c '3: "a.b" is of type REAL' \
    'int\nf(void) {\n    return conf_int(c, "a.b");\n}\n'
expect "unsorted table" cli/x.def "3: CMD(a)" '/* Rows are sorted. */\nCMD(b)\nCMD(a)\n'
expect "tab" base/x.c "3: a tab" 'int\nf(void) {\n\treturn 1;\n}\n'
expect "blank at the end" base/x.c "1: blanks" 'int x; \n'
expect "open end" base/x.c "1: an open end" '/* TO''DO: later */\n'
expect "path of a machine" base/x.c "1: a path" '/* /wor''k/x */\n'
expect "long line" base/x.c "1: more than 100" "/* $(printf '%0100d' 0) */\n"
expect "state at file scope" store/x.c "1: state at file" 'static int count = 0;\n'
expect "table without const" store/x.c "1: state at file" 'static char *names[4];\n'
allow "constant table" store/x.c 'static const int count[] = {0};\n'
if [ -n "$("$here/clang-format.sh")" ]; then
    expect "format" base/x.c "1: not formatted" 'int f(void) { return 1; }\n'
else
    echo "skip - planted: format: there is no clang-format 14 on this machine"
fi
exit $status
