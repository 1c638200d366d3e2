#!/bin/sh
# timeout: 400
# kill -9 of server, workers and learner at random moments while training: nothing is consumed twice,
# nothing finished is lost, and the run goes on. ROUNDS (default 12) kills; CONFIG and KEEP name another
# configuration and a folder for the run to stay in.
. tests/int/lib.sh
rounds=${ROUNDS:-12}
run=${KEEP:-$work/run}
rm -rf "$run"
"$AGON" train "${CONFIG:-tests/int/tiny.yaml}" --run "$run" --set workers.count=2 --set eval.every=1h \
    >"$work/train.log" 2>&1 &
train=$!
started=$train

child() { pgrep -P "$train" -f "^agon $1 " | head -n 1; }
worker() {
    serve=$(child serve)
    [ -z "$serve" ] || pgrep -P "$serve" -f "^agon worker" | shuf -n 1
}

sleep 3
round=0 seen=0 lost=0
while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    sleep "0.$(shuf -i 10-95 -n 1)"
    case $((round % 3)) in
    0) pid=$(child serve) ;;
    1) pid=$(worker) ;;
    2) pid=$(child learn) ;;
    esac
    before=$(sql "$run/run.db" "select count(*) from match" 2>/dev/null)
    [ -n "$pid" ] && kill -9 "$pid" 2>/dev/null && seen=$((seen + 1))
    after=$(sql "$run/run.db" "select count(*) from match" 2>/dev/null)
    [ "${after:-0}" -ge "${before:-0}" ] || lost=$((lost + 1))
done
sleep 2
step=$(sql "$run/run.db" "select max(step) from step")
sleep 3
check "processes were killed ($seen of $rounds)" test "$seen" -ge $((rounds * 3 / 4))
check "training went on after the last kill" \
    test "$(sql "$run/run.db" "select max(step) from step")" -gt "$step"
check "no finished match was lost" test "$lost" -eq 0
kill -INT "$train"
wait "$train"
started=
check "steps have no gap" test \
    "$(sql "$run/run.db" "select max(step) - min(step) + 1 = count(*) from step")" -eq 1
check "no trajectory was consumed twice" test "$(sql "$run/run.db" \
    "select count(*) from (select match_id, seat from sample group by 1, 2 having count(*) > 1)")" -eq 0
option() { sed -n "s/^ *$1: *\([0-9]*\).*/\1/p" "$run/config.yaml" | head -n 1; }
warmup=$(option warmup) batch=$(option batch)
check "every consumed step has its whole batch" test "$(sql "$run/run.db" \
    "select count(*) from step s where s.step > $warmup and (select count(*) from sample x
      where x.step = s.step) + 2 * (select count(*) from match m
      where m.iteration = s.step - 1 and m.reason = 'aborted') <> 2 * $batch")" -eq 0
check "baselines count every match that was learned from" test "$(sql "$run/run.db" \
    "select (select sum(count) from baseline) = (select count(*) from sample where step > $warmup)")" -eq 1
check "the database is verified" "$AGON" verify --run "$run"
check "match ids have no gap" test "$(sql "$run/run.db" \
    "select max(id) - count(*) from match where id <= (select max(last_match) from lease)")" -le "$batch"

# Whatever dies, `agon train` itself included, nothing goes on without it.
"$AGON" train tests/int/tiny.yaml --run "$work/orphans" --set eval.every=1s >"$work/orphans.log" 2>&1 &
train=$!
started=$train
sleep 4
kill -9 "$train"
wait "$train" 2>/dev/null
started=
left() { pgrep -f "^agon .*--run $work/orphans"; }
for i in $(seq 100); do
    left >/dev/null || break
    sleep 0.1
done
check "a killed train leaves no process behind" test -z "$(left)"
