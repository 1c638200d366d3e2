#!/bin/sh
# timeout: 300
# Games from outside: registered from scratch, played, trained with, verified; changed files; and programs that
# misbehave in every way, next to which a healthy game plays on.
. tests/int/lib.sh
root=$PWD
python=$(python3 -c 'import sys; print(sys.executable)') # a wrapper of it would start slowly
export AGON_HOME="$work/home"
mkdir "$work/games" "$work/trigger" "$work/python"

says() { # pattern, command...: it succeeds, and its output holds the pattern
    pattern=$1
    shift
    "$@" >"$work/says" 2>&1 && grep -q -e "$pattern" "$work/says" || { cat "$work/says"; return 1; }
}
refuses() { # pattern, command...: it fails with exit status 1 or 2 and such a sentence, not by a signal
    pattern=$1
    shift
    "$@" >"$work/says" 2>&1
    status=$?
    { [ $status -eq 1 ] || [ $status -eq 2 ]; } && grep -q -e "$pattern" "$work/says" || { cat "$work/says"; return 1; }
}
eval_game() { # game, matches
    "$AGON" eval --game "$1" --policy random --against first --matches "$2" --json
}
count() { # field of the first opponent, command...
    field=$1
    shift
    "$@" 2>/dev/null | python3 -c "import json,sys; print(json.load(sys.stdin)['against'][0].get('$field', 0))"
}
cd "$work/games" || exit 1

# ---- a game in C, from nothing ----
check "a template is written" says "agon games add ./my_game.so" "$AGON" games new my_game.c
check "but not over a file" refuses "my_game.c: File exists" "$AGON" games new my_game.c
check "a name must be one" refuses "small letters" "$AGON" games new My.c
build() { ${CC:-cc} -std=c11 -O2 -Wall -Wextra -Werror -shared -fPIC -I"$root" -o "$2" "$1"; }
check "it compiles without a warning" build my_game.c my_game.so
check "it is registered" says "registered my_game, version 1: 200 random matches kept the laws" \
    "$AGON" games add ./my_game.so
check "100 matches of it" test "$(count matches eval_game my_game 100)" -eq 100
check "it keeps the laws" says "^ok  *my_game(heap=21,most=3)" "$AGON" games check my_game
check "it is listed" says "my_game is version 1 of $work/games/my_game.so" "$AGON" games
check "it is solved" says "CFR+" "$AGON" games solve "my_game(heap=9)" --rounds 20

# ---- a game in Python ----
cp "$root/games/bridges/agon_game.py" "$root/games/bridges/subtraction.py" "$work/python"
check "a program is registered" says "registered subtraction, version 1: 200 random matches" \
    "$AGON" games add --exec "$python '$work/python/subtraction.py'"
check "100 matches of it" test "$(count matches eval_game subtraction 100)" -eq 100
check "it keeps the laws" says "^ok  *subtraction(heap=21,most=3)" "$AGON" games check subtraction
check "both are the same game" test "$(count mean eval_game subtraction 100)" = \
    "$(count mean eval_game my_game 100)"
check "its parameters are checked" refuses "heap is '0'; it must be a whole number from 1 to 100" \
    "$AGON" games show "subtraction(heap=0)"
check "the list is JSON too" says '"name":"subtraction".*"kind":"program"' "$AGON" games --json
check "no other name is taken" refuses "no game is called 'subtractoin'.*, my_game, subtraction" \
    "$AGON" games show subtractoin

# ---- training with them ----
train() { # game, run, steps
    timeout 60 "$AGON" train "$root/tests/int/tiny.yaml" --run "$work/$2" --set game="$1" \
        --set learner.steps="${3:-3}" --set learner.warmup=1 --set eval.every=1h --set workers.count=1 \
        --set model.context=768 --set learner.batch=16 --set learner.chunk=16
}
check "training with a program" train "subtraction(heap=5,most=2)" program
check "training with a shared object" train "my_game(heap=5,most=2)" shared
fits() { # option...: would a run with these begin?
    "$AGON" serve "$root/tests/int/tiny.yaml" --run "$work/none" --check "$@"
}
check "prompts that never fit are refused" refuses \
    "model.context: 64 tokens are too few for othello: .*try --set model.context=" fits --set game=othello
context=$(sed -n 's/.*--set model.context=//p' "$work/says")
check "and do with what is proposed" says "tiny.yaml is right" fits --set game=othello \
    --set model.context="$context"
check "replies that never fit are refused" refuses \
    "prompt.max_reply: 3 tokens are too few for subtraction: .*took up to 7" \
    fits --set game=subtraction --set prompt.max_reply=3
check "what grows too long is told" says "^Note: model.context (64) is too short for [0-9]* of [0-9]* turns" \
    fits --set game=goofspiel
hash_of() { "$AGON" games --json | sed -n "/\"name\":\"$1\"/s/.*\"hash\":\"\([0-9a-f]*\)\".*/\1/p"; }
check "the database names the content" test \
    "$(sql "$work/program/run.db" "select hash from game")" = "$(hash_of subtraction)"
check "a program's matches are verified" "$AGON" verify --run "$work/program"
check "a shared object's too" "$AGON" verify --run "$work/shared"

# ---- changes ----
echo "# another" >>"$work/python/subtraction.py"
check "a changed file is refused" refuses "files of its command have changed since it was registered" \
    "$AGON" games show subtraction
check "old matches say why they are not replayed" refuses "changed since it was registered" \
    "$AGON" replay 1 --run "$work/program"
check "it is registered anew" says "registered subtraction, version 2" \
    "$AGON" games add --exec "$python '$work/python/subtraction.py'"
check "old matches are told apart" refuses "recorded by version 1 of its rules (SHA-256" \
    "$AGON" replay 1 --run "$work/program"
printf x >>my_game.so
check "a changed shared object is refused" refuses "my_game.so has changed" "$AGON" games show my_game
check "it is removed" says "no longer registered" "$AGON" games remove my_game
check "and gone" refuses "no game is called 'my_game'" "$AGON" games show my_game

# ---- what cannot be registered ----
check "no built-in name" sh -c "sed 's/\"my_game\"/\"nim\"/' my_game.c >nim.c"
build nim.c nim.so
check "a built-in name is taken" refuses "nim is the name of a built-in game" "$AGON" games add ./nim.so
sed 's/GAME_ABI;/GAME_ABI + 1;/' my_game.c >abi.c
build abi.c abi.so
check "another interface" refuses "was built for version" "$AGON" games add ./abi.so
echo 'int x;' >no.c
build no.c no.so
check "no game in it" refuses "exports no agon_game" "$AGON" games add ./no.so
echo hello >text.so
check "no shared object" refuses "cannot be loaded" "$AGON" games add ./text.so
check "no file" refuses "No such file" "$AGON" games add ./missing.so
sed 's/out\[n++\] = take;/out[n++] = take \/ 2;/' my_game.c >law.c
build law.c law.so
check "a broken law" refuses "not registered: law 'legal' is broken" "$AGON" games add ./law.so
sed 's/s->heap -= action;/s->heap -= action; *(volatile int *)0 = 1;/' my_game.c >crash.c
build crash.c crash.so
check "a crash" refuses "it was ended by signal 11" "$AGON" games add ./crash.so
check "a command that is none" refuses 'no program "no-such-thing"' "$AGON" games add --exec "no-such-thing"
check "a program that says nothing" refuses "closed its output" "$AGON" games add --exec "true"
check "a program that is no game" refuses "is no JSON" "$AGON" games add --exec "sh -c 'read x; echo y'"
check "a program that never stops" refuses "two answers\|out of turn" "$AGON" games add --exec "yes"
check "nothing of this was registered" test "$("$AGON" games --json | grep -c '"kind"')" -eq 1

# ---- programs that misbehave ----
hostile() { # mode, pattern of its sentence
    rm -f "$work/trigger/now"
    "$AGON" games add --deadline 0.5 --memory 400 --matches 5 \
        --exec "$python '$root/tests/int/lib_hostile_game.py' '$work/trigger' $1" >"$work/added" 2>&1 ||
        { cat "$work/added"; return 1; }
    touch "$work/trigger/now"
    refuses "every match failed: game hostile_$1: .*$2" eval_game "hostile_$1" 40 &&
        refuses "hostile_$1 is in quarantine: 5 failures in a row, the last: .*$2" \
            "$AGON" games show "hostile_$1"
}
# A healthy game plays all the while.
(cd "$work/python" && "$AGON" games add --exec "$python subtraction.py" >/dev/null
    while [ ! -e "$work/enough" ]; do count matches eval_game subtraction 20; done >"$work/healthy") &
started=$!
check "crash" hostile crash "ended by signal 6.*its last words: Traceback: what a pity"
check "exit" hostile exit "exit status 3"
check "hang" hostile hang "no answer within 0.5 s"
check "flood" hostile flood "without an end"
check "flood of errors" hostile errors "no answer within 0.5 s"
check "garbage" hostile garbage "no JSON"
check "another version" hostile version "speaks version 2 of the protocol"
check "two answers" hostile twice "two answers\|out of turn\|another question"
check "out of turn" hostile outofturn "two answers\|out of turn\|another question"
check "output closed" hostile close "closed its output"
check "deaf to SIGTERM" hostile ignoreterm "no answer within 0.5 s"
check "greed for memory" hostile bigmemory "exit status 1\|no answer"
check "equal actions" hostile number "action 1 is in \"legal\" twice"
check "impossible result" hostile result "\"result\" must be a number from -1 to 1"
touch "$work/enough"
wait "$started"
started=
check "the healthy game lost no match" test "$(sort -u "$work/healthy")" = 20
check "no process is left" sh -c "! ps -eo args | grep -v grep | grep -q '$work/trigger'"
rm -f "$work/trigger/now"
check "it comes out of quarantine when it is registered again" says "registered hostile_crash, version 1" \
    "$AGON" games add --exec "$python '$root/tests/int/lib_hostile_game.py' '$work/trigger' crash"
check "and plays" test "$(count matches eval_game hostile_crash 20)" -eq 20

# A game that is lost while a run goes on: its matches are nobody's fault. A run of it does not begin.
train hostile_crash lost 100000 >"$work/lost.log" 2>&1 &
started=$!
tries=0
until [ -s "$work/lost/metrics.jsonl" ] || [ $tries -eq 300 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
touch "$work/trigger/now"
below() { # the processes below one
    for child in $(pgrep -P "$1"); do
        echo "$child"
        below "$child"
    done
}
for one in $(below "$started"); do # the worker knows every position by now; a new one must ask
    ! tr '\0' ' ' <"/proc/$one/cmdline" 2>/dev/null | grep -q "^[^ ]*agon worker" || kill -KILL "$one"
done
tries=0
until [ "$(sql "$work/lost/run.db" "select count(*) from match where reason = 'crash'" 2>&1)" -gt 0 ] 2>/dev/null ||
    [ $tries -eq 300 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
pkill -INT -P "$started" # of timeout: the train below it
wait "$started"
started=
check "a run of a lost game does not begin" refuses "hostile_crash.*what a pity" train hostile_crash refused
check "crashed matches have nobody to blame" test "$(sql "$work/lost/run.db" \
    "select count(*) > 0 and max(ifnull(loser, -1)) < 0 and max(abs(result)) = 0 from match
      where reason = 'crash' and detail like '%signal 6%'")" -eq 1
