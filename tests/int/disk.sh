#!/bin/sh
# timeout: 280
# The database in trouble: a full disk, a locked file, a lost or foreign write-ahead log, a folder that may
# not be written to. Busy and full are states: matches wait, nothing is acknowledged before it is
# committed, and the run goes on when it can. LOCK_SECONDS: for how long the lock is held.
. tests/int/lib.sh
LOCK_SECONDS=${LOCK_SECONDS:-4}
run=$work/run

last() { sql "$1/run.db" 'select ifnull(max(step), -1) from step' 2>/dev/null || echo -1; }
wait_step() { # run, step: within a minute
    for i in $(seq 300); do
        [ "$(last "$1")" -ge "$2" ] && return 0
        sleep 0.2
    done
    return 1
}
wait_words() { # words, file...
    words=$1
    shift
    for i in $(seq 300); do
        grep -q "$words" "$@" 2>/dev/null && return 0
        sleep 0.2
    done
    cat "$@"
    return 1
}
begin() { # run, options...: trains in the background
    dir=$1
    shift
    "$AGON" train tests/int/tiny.yaml --run "$dir" --set eval.every=1h "$@" >>"$dir.out" 2>&1 &
    train=$!
    started="$started $train"
}
end() { # stops it; everything in the database must agree
    kill "$train" 2>/dev/null
    wait "$train"
    status=$?
    started=$(echo "$started" | sed "s/ $train//")
    return $status
}
whole() { # run
    "$AGON" verify --run "$1" || return 1
    [ -z "$(sql "$1/run.db" "
        select 'integrity' where (select integrity_check from pragma_integrity_check limit 1) <> 'ok';
        select 'a step is missing' where (select count(*) from step) <> (select max(step) + 1 from step);
        select 'a sample twice' from sample group by match_id, seat having count(*) > 1 limit 1;
        select 'a tally', * from (select kind, reason, count(*) from match group by 1, 2
            except select kind, reason, sum(matches) from tally group by 1, 2);")" ]
}

# ---- a file system of 4 MiB ----
small=$work/small
mkdir "$small"
serve_pid() { sed 's/.*"pid":\([0-9]*\).*/\1/' "$1/serve.json"; }
full_disk() {
    mkdir "$small/run" "$work/logs" # logs have their room: what they say is looked at
    ln -s "$work/logs" "$small/run/logs"
    begin "$small/run" --set snapshots.keep=2
    wait_step "$small/run" 3
    pid=$(serve_pid "$small/run")
    dd if=/dev/zero of="$small/ballast" bs=4096 2>/dev/null # all that is left
    # Whichever meets it first.
    check "a full disk: the server or the learner says so" wait_words "disk is full\|No space left" \
        "$small/run/logs/serve.log" "$small/run/logs/learn.log"
    at=$(last "$small/run")
    sleep 2
    check "it waits, and so does the run" kill -0 "$pid" "$train"
    check "nothing is acknowledged meanwhile" test "$(last "$small/run")" -eq "$at"
    check "doctor says what to do" sh -c '"$0" doctor --quick --run "$1" | grep -A 1 "^bad *disk" |
        grep -q "make room"' "$AGON" "$small/run"
    rm "$small/ballast"
    mount -o remount,size=64m "$small"
    check "there is room again, and it goes on" wait_step "$small/run" $((at + 5))
    check "with the same server" kill -0 "$pid"
    end
    check "all that was acknowledged is there" whole "$small/run"
}
if [ "$(id -u)" -ne 0 ]; then
    echo "skip - a full disk: only root may mount a small file system"
elif ! mount -t tmpfs -o size=4m agon-test "$small" 2>/dev/null; then
    echo "skip - a full disk: this system lets nobody mount"
else
    trap 'finish; umount "$small"; rm -rf "$work"' EXIT
    full_disk
    umount "$small"
    trap finish EXIT
fi

# ---- a limit on the size of files ----
limited=$work/limited
"$AGON" train tests/int/tiny.yaml --run "$limited" --steps 2 --set eval.every=1h >/dev/null 2>&1
(
    ulimit -f $(($(wc -c <"$limited/run.db") / 512 + 200))
    exec "$AGON" serve tests/int/tiny.yaml --run "$limited" 2>"$limited/limited.log"
) &
server=$!
started="$started $server"
"$AGON" learn --run "$limited" 2>/dev/null &
learner=$!
started="$started $learner"
check "a limit on files is a full disk" wait_words "the disk is full" "$limited/limited.log"
check "and the server lives" kill -0 "$server"
kill "$learner" "$server"
wait "$learner" "$server" 2>/dev/null
check "all that was acknowledged is there, too" whole "$limited"

# ---- another program writes ----
begin "$run"
check "a run begins" wait_step "$run" 20
python3 - "$run/run.db" "$LOCK_SECONDS" >"$work/lock" <<'PY' &
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
db.execute("PRAGMA wal_autocheckpoint = 0")
db.execute("BEGIN IMMEDIATE")
before = db.execute("SELECT max(step), (SELECT count(*) FROM match) FROM step").fetchone()
time.sleep(float(sys.argv[2]))
other = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
after = other.execute("SELECT max(step), (SELECT count(*) FROM match) FROM step").fetchone()
print("same" if before == after else "%s %s" % (before, after), flush=True)
db.execute("ROLLBACK")
PY
lock=$!
check "a locked database: the server says so" wait_words "another program writes" "$run/logs/serve.log"
at=$(last "$run")
wait "$lock"
check "nothing was written meanwhile" test "$(cat "$work/lock")" = same
check "the run goes on when it is free" wait_step "$run" $((at + 10))
check "and says so" wait_words "can be written again" "$run/logs/serve.log"
check "with the same server" test "$(grep -c ' listening on ' "$run/logs/serve.log")" -eq 1

# ---- the write-ahead log is lost, or another's ----
server=$(serve_pid "$run")
kill -STOP "$train"
kill -9 "$server"
sleep 0.5
kill -9 "$train"
wait "$train" 2>/dev/null
sleep 1
check "a killed server leaves a log" test -s "$run/run.db-wal"
cp -r "$run" "$work/killed"
copy() { rm -rf "$work/copy"; cp -r "$work/killed" "$work/copy"; }
kept() { md5sum <"$work/copy/run.db"; }
fails() { # words, command...: exit status 1 and such a sentence
    words=$1
    shift
    "$@" >"$work/says" 2>&1
    [ $? -eq 1 ] && grep -q "$words" "$work/says" || { tail -n 5 "$work/says"; return 1; }
}

# Without it the file is an older state of the run: nobody makes up what is missing.
copy
rm "$work/copy/run.db-wal" "$work/copy/run.db-shm"
check "a lost log: what is left is whole, if it is there at all" sh -c '
    "$0" verify --run "$1" >"$1/says" 2>&1 || grep -q "no run has started" "$1/says"' "$AGON" "$work/copy"

# A stopped run with the log of another one.
"$AGON" train tests/int/tiny.yaml --run "$work/other" --steps 5 --set seed=99 --set eval.every=1h >/dev/null 2>&1
rm -rf "$work/copy"
cp -r "$work/other" "$work/copy"
cp "$work/killed/run.db-wal" "$work/copy"
before=$(kept)
check "a foreign log is refused" fails "the log of another database" "$AGON" serve --run "$work/copy"
check "and the file is as it was" test "$(kept)" = "$before"
rm -f "$work/copy/run.db-wal" "$work/copy/run.db-shm"
check "without it the run goes on" "$AGON" train --run "$work/copy" --steps 8 --set eval.every=1h
check "and is whole" whole "$work/copy"

# The run's own log is taken in.
goal=$(($(last "$work/killed") + 3))
check "a killed run goes on with its own log" "$AGON" train --run "$work/killed" --steps $goal --set eval.every=1h
check "and is whole, too" whole "$work/killed"

# ---- a folder that may not be written to ----
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    as="setpriv --reuid=65534 --regid=65534 --clear-groups"
elif [ "$(id -u)" -ne 0 ]; then
    as=
else
    as=no
fi
if [ "$as" = no ]; then
    echo "skip - a read-only folder: root may write everywhere, and setpriv is not installed"
else
    chmod -R a+rX "$work"
    chmod -R a-w "$work/other"
    cp "$AGON" "$work/agon" && chmod a+rx "$work/agon"
    ro() { $as "$work/agon" "$@"; }
    check "a read-only folder: it can be read" ro matches --run "$work/other" --limit 1
    check "and verified" ro verify --run "$work/other"
    check "the server says what is wrong" fails "Permission denied\|may not\|cannot create" \
        ro serve --run "$work/other"
    check "and so does doctor" fails "^bad *permissions" ro doctor --quick --run "$work/other"
    chmod 700 "$work/other"
    for command in matches eval train; do
        check "a folder that may not be entered is not called empty ($command)" \
            fails "cannot look into this folder: Permission denied" ro $command --run "$work/other"
    done
    chmod -R u+w "$work/other"
fi
