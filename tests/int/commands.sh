#!/bin/sh
# timeout: 300
# The commands that read a run: on a small run, on damaged copies of it, and where there is none.
. tests/int/lib.sh
run=$work/run

says() { # pattern, command...: the output holds it
    pattern=$1
    shift
    "$@" 2>&1 | tee "$work/says" | grep -q -e "$pattern" || { cat "$work/says"; return 1; }
}
refuses() { # pattern, command...: fails with exit status 1 or 2 and such a sentence
    pattern=$1
    shift
    "$@" >"$work/says" 2>&1
    status=$?
    { [ $status -eq 1 ] || [ $status -eq 2 ]; } && grep -q -e "$pattern" "$work/says" || { cat "$work/says"; return 1; }
}
json() { # expression over o, command...: true of the one line of JSON that it prints
    expression=$1
    shift
    "$@" >"$work/json" || return 1
    python3 - "$work/json" "$expression" <<'PY'
import json, sys
lines = open(sys.argv[1]).read().splitlines()
o = json.loads(lines[0])
ok = len(lines) == 1 and eval("(" + sys.argv[2] + ")")
print(lines[0])
sys.exit(0 if ok else 1)
PY
}

# ---- games, and policies without a run ----
golden=tests/golden/rules/Nim-v0.jsonl
check "recorded matches are replayed" says "^ok .*20 matches, 131 steps, 0 differences" \
    "$AGON" games conform "$golden"
sed 's/"end":"win"/"end":"draw"/' "$golden" >"$work/differs.jsonl"
check "a difference is told" refuses "it ended as draw, but pays" \
    "$AGON" games conform "$work/differs.jsonl"
cd "$work" || exit 1
check "games are listed" says "^kuhn_poker .*hidden .*hands=1" "$AGON" games
check "a game is shown with its rules" says "higher card takes the pot" "$AGON" games show kuhn_poker
check "a game with parameters is shown" says "12 information sets" "$AGON" games solve "kuhn_poker(side=2)"
check "an unknown game is refused" refuses "no_such" "$AGON" games show no_such
check "all games keep the laws" test "$("$AGON" games check --all --matches 3 | grep -c '^ok ')" -ge 20
check "solving stops in time" says "NashConv" "$AGON" games solve leduc_poker --rounds 1000000 --seconds 1
check "the list tells lengths" says "^tic_tac_toe .* 9  built in" "$AGON" games
check "a game keeps the laws" says "^ok .*kuhn_poker" "$AGON" games check kuhn_poker --matches 200
check "Kuhn poker is solved" json 'abs(o["equilibrium"]["value"] + 1 / 18) < 1e-3
    and o["equilibrium"]["nash_conv"] < 1e-3 and abs(o["uniform"]["nash_conv"] - 11 / 12) < 1e-9' \
    "$AGON" games solve kuhn_poker --json
check "scripted players are listed" says "^equilibrium" "$AGON" policies --scripted
check "random play of Kuhn poker is measured exactly" json \
    'abs(o["nash_conv"] - 11 / 12) < 1e-9 and o["kind"] == "exact" and o["sets"] == 12' \
    "$AGON" eval random --json
check "the equilibrium is one" json 'o["nash_conv"] < 1e-4 and abs(o["value"][0] + 1 / 18) < 1e-4' \
    "$AGON" eval equilibrium --json
check "a player with a plan is measured exactly" json 'o["value"][0] == 0.0 and o["forfeit"] == [0, 0]' \
    "$AGON" eval --policy fixed:bet,call --json
check "perfect play is measured, and against players" json \
    'o["nash_conv"] == 0 and o["against"][0]["loss"] == 0 and o["against"][0]["matches"] == 40
     and abs(o["against"][0]["value"][0] - 0.9678) < 1e-3' \
    "$AGON" eval minimax --game tic_tac_toe --matches 40 --json
check "a large game is measured by matches" json \
    'o["kind"] == "matches" and o["why_not_exact"] and o["against"][0]["matches"] == 20' \
    "$AGON" eval random --game connect_four --matches 20 --json
check "the same seed gives the same matches" sh -c '"$0" eval random --against random --json --seed 4 |
    sed "s/.seconds.*against/against/" >a; "$0" eval random --against random --json --seed 4 |
    sed "s/.seconds.*against/against/" >b; cmp a b' "$AGON"
check "an unfit player is refused" refuses "minimax.*chance" "$AGON" eval minimax
for c in eval matches verify policies "replay 1"; do
    check "without a run: $c says how to start one" refuses "agon train" "$AGON" $c
done
check "a folder that is no run is refused" refuses "no run.db" "$AGON" matches --run "$work"
cd - >/dev/null || exit 1

# ---- play ----
check "a person plays, and slips are asked for again" sh -c 'printf "foo\ncheck\nfold\n" |
    "$0" play kuhn_poker --seed 2 --against fixed:bet | grep -q "no legal move" && printf "check\nfold\n" |
    "$0" play kuhn_poker --seed 2 --against fixed:bet | grep -q "You lose (-1)"' "$AGON"
check "end of input ends the match" says "You left" "$AGON" play tic_tac_toe --against minimax
check "the second seat can be had" says "You go second" "$AGON" play kuhn_poker --seat 1
check "a game nobody knows is refused" refuses "chess" "$AGON" play chess

# ---- a run ----
"$AGON" train tests/int/tiny.yaml --run "$run" --steps 60 --set eval.every=1h --set sampling.top_p=0.95 \
    >"$work/train.log" 2>&1 || cat "$work/train.log"
check "the newest snapshot is measured exactly" json \
    'o["kind"] == "exact" and o["step"] == 60 and 0 < o["nash_conv"] < 4 and o["rest"] <= 1e-4
     and len(o["policy"]) == 64 and o["policy_id"] > 0' "$AGON" eval --run "$run" --json
check "a second time gives the same" sh -c '"$0" eval --run "$1" --json | sed "s/.seconds.*//" >"$1/a"
    rm -r "$1/cache"; "$0" eval --run "$1" --json | sed "s/.seconds.*//" >"$1/b"; cmp "$1/a" "$1/b"' \
    "$AGON" "$run"
check "a damaged cache is not believed" sh -c '"$0" eval --run "$1" --json >/dev/null
    for f in "$1"/cache/*; do printf x | dd of="$f" bs=1 seek=40 conv=notrunc 2>/dev/null; done
    "$0" eval --run "$1" --json | sed "s/.seconds.*//" >"$1/b"; cmp "$1/a" "$1/b"' "$AGON" "$run"
check "the mixture is measured" json 'o["policy"] == "mixture" and o["snapshots"] > 8
    and o["policy_id"] == 0 and o["nash_conv"] > 0' "$AGON" eval mixture --run "$run" --json
check "matches agree with exact values" json '
    all(abs(s["mean"] - v) < 4 * 2 / s["matches"] ** 0.5
        for s, v in zip(o["against"][0]["seats"], o["against"][0]["value"]))' \
    "$AGON" eval --run "$run" --against random --matches 20000 --json
check "the mixture's matches agree with its exact values" json '
    all(abs(s["mean"] - v) < 4 * 2 / s["matches"] ** 0.5
        for s, v in zip(o["against"][0]["seats"], o["against"][0]["value"]))' \
    "$AGON" eval mixture --run "$run" --against first --matches 10000 --json
check "conversation mode is measured by matches, and says why" json \
    'o["kind"] == "matches" and "observation" in o["why_not_exact"]' sh -c '
    mkdir "$1-talk"; cp -r "$1"/* "$1-talk"; sed "s/mode: observation/mode: conversation/" \
    "$1/config.yaml" >"$1-talk/config.yaml"; "$0" eval --run "$1-talk" --json --matches 100' "$AGON" "$run"
check "snapshots are listed" says "^ *[0-9]* *[0-9a-f]\{12\} *60 " "$AGON" policies --run "$run"
check "a snapshot is named by its first digits" json 'o["step"] == 60' "$AGON" eval --json --run "$run" \
    "$(sql "$run/run.db" 'select substr(name, 1, 9) from policy where step = 60')"
check "a snapshot nobody knows is refused" refuses "agon policies" "$AGON" eval --run "$run" abcdef
check "a snapshot is exported" sh -c '"$0" policies export --hf "$1/hf" --run "$1" &&
    test -s "$1/hf/config.json" && test -s "$1/hf/model.safetensors"' "$AGON" "$run"
check "a person plays against the newest snapshot" says "step 60" "$AGON" play kuhn_poker --run "$run"

last=$(sql "$run/run.db" 'select max(id) from match')
check "matches are listed" says "^ *$last  train" "$AGON" matches --run "$run"
check "matches are selected by reason" json 'o["reason"] == "invalid"' \
    "$AGON" matches --run "$run" --reason invalid --limit 1 --json
check "matches are selected by kind and policy" json 'o["kind"] == "warmup" and o["player0"] == "random"' \
    "$AGON" matches --run "$run" --kind warmup --policy random --limit 1 --json
check "matches are paged" json 'o["id"] == 9' "$AGON" matches --run "$run" --before 10 --limit 1 --json
check "CSV has a head and rows" test "$("$AGON" matches --run "$run" --csv --limit 3 | wc -l)" -eq 4
check "an unknown reason is refused" refuses "no answer" "$AGON" matches --run "$run" --reason bad
check "an empty answer says so" says "no match is like that" "$AGON" matches --run "$run" --length 999
check "a game that it never played is an error" refuses "has no match of it" "$AGON" matches --run "$run" --game nim
check "a match is replayed" says "^end: " "$AGON" replay "$last" --run "$run"
check "so is the latest" says "^match $last:" "$AGON" replay latest --run "$run"
check "a match that is not there is refused" refuses "newest is $last" "$AGON" replay 99999999 --run "$run"
check "the whole database is verified" says "all right" "$AGON" verify --run "$run"

# ---- damage is found, and hostile text is harmless ----
damage() { # name, column, SQL: the verifier names the match and the column
    cp "$run/run.db" "$work/copy.db"
    mkdir -p "$work/bad"
    cp "$run/config.yaml" "$work/bad"
    mv "$work/copy.db" "$work/bad/run.db"
    sqlite3 "$work/bad/run.db" "$3" || echo "not ok - $1: SQL"
    check "damage is found: $1" refuses "^match $id.* $2: " "$AGON" verify --run "$work/bad"
    check "and by replay: $1" refuses "^problem: .*$2: " "$AGON" replay $id --verify --run "$work/bad"
}
sqlite3 "$run/run.db" 'pragma wal_checkpoint(truncate)' >/dev/null
id=$(sql "$run/run.db" "select max(id) from match where reason = 'play' and
    length(moves) >= 7")
of="where match_id = $id and turn_no = 0"
damage "a payoff" payoff1 "update match set payoff1 = 0.25 where id = $id"
damage "a result" result "update match set result = -result where id = $id"
damage "a reason" reason "update match set reason = 'turn limit' where id = $id"
damage "a card" moves "update match set moves = (substr(moves, 1, 1) + 1) % 3 || substr(moves, 2)
    where id = $id"
damage "a reply" reply "update turn set reply = reply || '!' $of"
damage "a word" word "update turn set word = 'raise' $of"
damage "an action" action "update turn set action = 1 - action $of"
damage "a verdict" verdict "update turn set verdict = 'illegal', action = null $of"
damage "a prompt" prompt "update turn set prompt_id = (select max(prompt_id) from turn
    where prompt_id <> turn.prompt_id) $of"
damage "a lost turn" moves "delete from turn where match_id = $id and turn_no =
    (select max(turn_no) from turn where match_id = $id)"
damage "a hostile reply" reply "update turn set escaped = 1, reply = '\x1b[31m\x0apwned\xc2\x9b' $of"
check "hostile text does not reach the terminal" sh -c '"$0" replay $2 --run "$1" >"$1/out" &&
    grep -q pwned "$1/out" && ! LC_ALL=C grep -q "$(printf "[\033\233]")" "$1/out"' "$AGON" "$work/bad" "$id"
sqlite3 "$work/bad/run.db" "update turn set tokens = x'0102' $of"
sqlite3 "$work/bad/run.db" "update match set payoff0 = 3 where id = $((id + 1))"
check "an undecodable row is named" refuses "^match $id: row: .*column tokens" \
    "$AGON" verify --run "$work/bad"
check "and what stands behind it is still checked" grep -q "^match $((id + 1)): payoff0" "$work/says"
printf garbage >"$work/bad/run.db"
check "a database that is none is refused" refuses "run.db" "$AGON" verify --run "$work/bad"
