#!/bin/sh
# timeout: 200
# One run, three games: matches by weight, averages of each game and role, each match read by its own
# game's rules, the same rows whatever the number of workers.
. tests/int/lib.sh
config=tests/int/mixed.yaml

train() { # folder, options
    folder=$1
    shift
    "$AGON" train $config --run "$work/$folder" --steps 60 "$@" >"$work/$folder.log" 2>&1 ||
        sed 's/^/# /' "$work/$folder.log"
    dump_run "$work/$folder" >"$work/$folder.txt"
}

one() { # query on the first run's database
    sql "$work/one/run.db" "$1"
}

has() { # file, words
    grep -q -- "$2" "$1"
}

in_line() { # folder, game, words: in its row of the table
    grep "^ .* $2 " "$work/$1.log" | grep -q -- "$3"
}

train one --set workers.count=1
train two --set workers.count=2
check "all matches are there" test "$(one 'select count(*) from match')" -eq 3840
check "of three games" test "$(one 'select count(distinct game_id) from match')" -eq 3
check "by weight: half of them Kuhn poker" test "$(one "select count(*) between 1730 and 2110
    from match m join game g on g.id = m.game_id where g.name = 'kuhn_poker'")" -eq 1
check "the matches of a pair are of one game" test "$(one 'select count(*) from (select deal
    from match group by deal having count(distinct game_id) > 1 or count(*) <> 2)')" -eq 0
check "an average for each game and role" test "$(one 'select count(*) from baseline
    where role in (0, 1) and count > 0')" -eq 6
check "steps tell each game's rewards" test "$(one "select count(*) from step where step > 0
    and json_extract(extra, '\$.\"reward_0.kuhn_poker\"') is not null
    and json_extract(extra, '\$.\"invalid.tic_tac_toe\"') is not null")" -eq 60
check "and each role's average in each game" test "$(one "select count(*) from step s, baseline b
    join game g on g.id = b.game_id where s.step = 60 and b.value =
    json_extract(s.extra, '\$.\"baseline_' || b.role || '.' || g.name || '\"')")" -eq 6
check "minimax sits in no match of a game with chance" test "$(one "select count(*) from match m
    join game g on g.id = m.game_id join policy p on p.id in (m.policy0_id, m.policy1_id)
    where p.name = 'minimax' and g.name = 'kuhn_poker'")" -eq 0
check "it does in the others" test "$(one "select count(distinct m.game_id) from match m
    join policy p on p.id in (m.policy0_id, m.policy1_id) where p.name = 'minimax'")" -eq 2
check "which the server says" has "$work/one/logs/serve.log" "minimax takes no part in kuhn_poker"
check "prompts name the game" test "$(one "select count(*) from prompt
    where text like 'nim %'")" -gt 0
check "one worker and two give the same rows" cmp "$work/one.txt" "$work/two.txt"
check "the database is verified" "$AGON" verify --run "$work/one"
check "a match is replayed by its own game" "$AGON" replay --run "$work/one" --verify \
    "$(one "select max(m.id) from match m join game g on g.id = m.game_id where g.name = 'nim'")"
"$AGON" matches --run "$work/one" --limit 200 >"$work/matches"
check "matches are listed with their game" has "$work/matches" "nim(piles=2-3"
check "a table row for Kuhn poker, solved" in_line one kuhn_poker "[0-9]\.[0-9]\{4\}"
check "a table row for nim, solved and played" in_line one nim "minimax"
check "a table row for tic-tac-toe, played" in_line one tic_tac_toe "minimax"
check "evaluations of three games are kept" \
    test "$(one 'select count(distinct game_id) from eval')" -eq 3
"$AGON" serve --run "$work/one" >"$work/serve.log" 2>&1 &
server=$!
started=$server
for _ in $(seq 100); do test -f "$work/one/serve.json" && break; sleep 0.1; done
check "the API has each game's series" python3 - "$work/one" <<'PY'
import json, sys, urllib.request
card = json.load(open(sys.argv[1] + "/serve.json"))
with urllib.request.urlopen("http://%s:%d/api/series?points=5" % (card["host"], card["port"]), timeout=5) as r:
    got = json.load(r)
assert sorted(got["games"]) == ["kuhn_poker", "nim", "tic_tac_toe"], got["games"]
for game in got["games"].values():
    assert sorted(game) == ["baseline_0", "baseline_1", "invalid", "reward_0", "reward_1"], game
    for column in game.values():
        assert len(column) == len(got["steps"]["step"]) == 5 and type(column[4]) is float, column
PY
kill $server
wait $server
"$AGON" eval --run "$work/one" --json >"$work/eval.json"
check "eval measures each game" test "$(wc -l <"$work/eval.json")" -eq 3
"$AGON" eval --run "$work/one" --json --game nim >"$work/eval.json"
check "or one of them, with the run's parameters" has "$work/eval.json" '"game":"nim(piles=2-3'
"$AGON" eval --run "$work/one" --json --exact >"$work/eval.json"
check "or only what can be solved" test "$(wc -l <"$work/eval.json")" -eq 2
check "the run goes on" "$AGON" train --run "$work/one" --steps 62
check "with the games it has" sh -c "! '$AGON' train $config --run '$work/one' --steps 63 \
    --set games=nim,tic_tac_toe"
