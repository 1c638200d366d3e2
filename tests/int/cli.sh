#!/bin/sh
# timeout: 60
# The command line: help for everything, one sentence and the right exit status for every mistake.
. tests/int/lib.sh

# Exit status, where the words are expected (out, err), the words; then the arguments of agon.
expect() {
    want=$1 where=$2 words=$3
    shift 3
    "$AGON" "$@" >"$work/out" 2>"$work/err" </dev/null
    got=$?
    other=out
    [ "$where" = out ] && other=err
    # stderr holds one line, and nothing on a success
    if [ $got -eq "$want" ] && grep -qF -- "$words" "$work/$where" && [ ! -s "$work/$other" ] &&
        { [ "$where" = out ] || [ "$(wc -l <"$work/err")" -eq 1 ]; }; then
        echo "ok - agon $*"
    else
        echo "# status $got, wanted $want with \"$words\" on std$where"
        sed 's/^/# /' "$work/out" "$work/err" | head -n 20
        echo "not ok - agon $*"
    fi
}

expect 0 out "usage: agon COMMAND" help
expect 0 out "usage: agon COMMAND" --help
expect 0 out "usage: agon options [SECTION] [flags]" help options
expect 0 out "--yaml" options --help
expect 0 out "usage: agon options" options --nonsense -h
expect 0 out "agon 0." --version
expect 0 out "* learner.batch" options learner.b
expect 2 err 'agon: there is no command "optoins"; did you mean "options"?' optoins
expect 2 err 'agon: there is no command "\x1b[2J" (`agon help` lists them all)' "$(printf '\033')[2J"
expect 2 err 'there is no flag --yml; did you mean --yaml?' options --yml
expect 2 err '--yaml takes no value' options --yaml=1
expect 2 err 'flags have two dashes' options -y
expect 2 err '"b" is one argument too many: agon options [SECTION]' options a b
expect 2 err 'agon options: no option'"'"'s key starts with "--yaml"' options -- --yaml
expect 2 err 'agon help: there is no command "trian"; did you mean "train"?' help trian
expect 2 err 'agon why: a step or a match is needed' why
expect 2 err 'agon why: a step or a match is needed' why 3 --match 3
expect 2 err '--run: an empty name is no folder' matches --run ''
expect 2 err '--run: an empty name is no folder' train --run ''

# The place stands in front of a sentence once.
once() { # place, command...
    place=$1
    shift
    "$AGON" "$@" >"$work/out" 2>&1
    [ $? -eq 1 ] && grep -q -e "^agon serve: $place" "$work/out" && [ "$(grep -o -e "$place" "$work/out" | wc -l)" -eq 1 ] ||
        { cat "$work/out"; return 1; }
}
try() { # place, settings...
    at=$1
    shift
    for setting; do
        set -- "$@" "--set=$setting"
        shift
    done
    once "$at" serve tests/int/tiny.yaml --run "$work/try" --check "$@"
}
check "what is wrong with the model is told once" try "model: " model.heads=3
check "with the template" try "prompt.template: " prompt.template='{nowhere}'
check "with a later template" try "prompt.follow_up: " prompt.mode=conversation prompt.follow_up='{'
check "with a section" try '--set: "learner" is a section' learner=3

# What was typed comes back readable, and does not push out what is wrong with it.
expect 2 err '--seed \x1b[2J\xff\x0a1: a whole number' games show nim --seed "$(printf '\033[2J\377\n1')"
expect 2 err ' ... ' games show nim --seed "$(head -c 100000 /dev/zero | tr '\0' 9)"
expect 2 err 'a whole number from 0' games show nim --seed "$(head -c 100000 /dev/zero | tr '\0' 9)"

"$AGON" >"$work/out" 2>"$work/err"
check "no command: help and status 2" test $? -eq 2 -a ! -s "$work/out" -a -s "$work/err"
"$AGON" options >/dev/full 2>"$work/err"
check "a full disk is told" test $? -eq 1 -a "$(grep -c 'cannot write the output' "$work/err")" -eq 1
"$AGON" options >&- 2>"$work/err"
check "closed output is told" test $? -eq 1 -a "$(grep -c 'cannot write the output' "$work/err")" -eq 1
{ "$AGON" options 2>"$work/err"; echo $? >"$work/status"; } | :
check "a closed pipe is not" test ! -s "$work/err"

# What the overview lists, in whatever order, is what exists; every command explains itself.
listed() { "$AGON" help | sed -n 's/^  \([a-z-][a-z-]*\) .*/\1/p'; }
rows() { sed -n 's/^CMD(\(.*\))$/\1/p' cli/cmd.def; }
check "the overview lists every command" test "$(listed)" = "$(rows)"
for command in $(listed); do
    "$AGON" "$command" --help >"$work/out" 2>"$work/err"
    check "$command --help" test $? -eq 0 -a ! -s "$work/err" -a \
        "$(head -n 1 "$work/out" | cut -d ' ' -f 1-3)" = "usage: agon $command"
    expect 2 err "agon $command: there is no flag --no-such-flag" "$command" --no-such-flag
done

"$AGON" options --yaml >"$work/full.yaml"
check "configs/full.yaml is up to date" cmp "$work/full.yaml" configs/full.yaml

# Every command and flag is in the manual, every option too; the completion is a script that completes.
"$AGON" help --man | tr -d '\\' >"$work/agon.1"
"$AGON" help --man-options | tr -d '\\' >"$work/agon.yaml.5"
in_manual() {
    for word in $(listed; for c in $(listed); do "$AGON" "$c" --help; done | grep -o '^  --[a-z-]*'); do
        grep -qF -- "$word" "$work/agon.1" || { echo "$word is missing"; return 1; }
    done
    for key in $("$AGON" options | sed -n 's/^[* ] \([a-z][a-z0-9._]*\) .*/\1/p'); do
        grep -qF -- "$key" "$work/agon.yaml.5" || { echo "$key is missing"; return 1; }
    done
}
check "the man pages name everything" in_manual
completes() {
    bash -c '. "$1"; COMP_WORDS=(agon opt) COMP_CWORD=1; _agon; [ "${COMPREPLY[*]}" = options ] &&
        COMP_WORDS=(agon options --y) COMP_CWORD=2; _agon; [ "${COMPREPLY[*]}" = --yaml ]' - "$1"
}
"$AGON" help --completion >"$work/completion"
check "the completion completes" completes "$work/completion"
