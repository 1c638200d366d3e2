#!/bin/sh
# timeout: 240
# agon backup, doctor, systemd: a copy of a run that goes on, what is wrong with a run, a service.
. tests/int/lib.sh
run=$work/run

says() { # pattern, command...: exit status 0 and such a line
    pattern=$1
    shift
    "$@" >"$work/says" 2>&1 && grep -q -e "$pattern" "$work/says" || { cat "$work/says"; return 1; }
}
refuses() { # pattern, command...: exit status 1 or 2 and such a line
    pattern=$1
    shift
    "$@" >"$work/says" 2>&1
    status=$?
    { [ $status -eq 1 ] || [ $status -eq 2 ]; } && grep -q -e "$pattern" "$work/says" || { cat "$work/says"; return 1; }
}
last() { sql "$1/run.db" 'select max(step) from step'; }

# ---- backup of a run that goes on ----
"$AGON" train tests/int/tiny.yaml --run "$run" --set eval.every=1h --set snapshots.keep=32 >"$work/train.log" 2>&1 &
train=$!
started="$train"
for i in $(seq 200); do
    [ "$(last "$run" 2>/dev/null || echo 0)" -ge 35 ] 2>/dev/null && break
    sleep 0.2
done
check "doctor: a run that goes on is well" says "ok *server *it runs and answers" "$AGON" doctor --run "$run" --quick
for i in 1 2 3; do
    check "backup $i of a run that goes on" says "checked" "$AGON" backup "$work/copy.db" --run "$run"
done
check "the copy is one plain file" test "$(ls "$work" | grep -c copy.db)" -eq 1
check "the copy is whole" test "$(sql "$work/copy.db" 'pragma integrity_check')" = ok
check "it has matches that tell of themselves" test "$(sql "$work/copy.db" \
    "select count(*) from match")" = "$(sql "$work/copy.db" "select sum(matches) from tally")"
check "with snapshots: a run" says "checked" "$AGON" backup --with-snapshots "$work/whole" --run "$run"
before=$(last "$work/whole")
check "again, over the older one" says "checked" "$AGON" backup --with-snapshots "$work/whole" --run "$run"
kill "$train"
wait "$train"
started=
check "the later copy has more steps" test "$(last "$work/whole")" -ge "$before"
check "the copy is verified" says "all right" "$AGON" verify --run "$work/whole"
check "doctor: the copy is well" says "All is well\|worth a look" "$AGON" doctor --run "$work/whole"
goal=$(($(last "$work/whole") + 5))
check "the copy goes on" says "at step $goal" "$AGON" train --run "$work/whole" --steps $goal
"$AGON" train --run "$run" --steps $goal >/dev/null 2>&1
reached() { sql "$1/run.db" "select snapshot from step where step = $goal"; }
check "and comes to the same weights as the run itself" test "$(reached "$work/whole")" = "$(reached "$run")"

# ---- what a backup does not do ----
check "the run's own database is not overwritten" refuses "own database" "$AGON" backup "$run/run.db" --run "$run"
check "nor the run" refuses "the run itself" "$AGON" backup --with-snapshots "$run" --run "$run"
echo precious >"$work/letter"
check "nor another file" refuses "is not replaced" "$AGON" backup "$work/letter" --run "$run"
check "which is as it was" test "$(cat "$work/letter")" = precious
mkdir "$work/full"
touch "$work/full/x"
check "nor a folder with other things" refuses "neither empty nor" "$AGON" backup --with-snapshots "$work/full" --run "$run"
check "a folder is no file" refuses "say --with-snapshots" "$AGON" backup "$work/full" --run "$run"
small() { (ulimit -f 100; trap '' XFSZ; exec "$AGON" backup "$work/small.db" --run "$run"); }
check "a full disk is told" refuses "full\|cannot write\|I/O" small
check "and leaves nothing" test -z "$(ls "$work" | grep small)"

# ---- doctor ----
check "doctor: a run that stopped is well" says "ok *database *every page and row is whole" "$AGON" doctor --run "$run"
check "each line is JSON" sh -c '"$0" doctor --json --run "$1" | python3 -c "
import json, sys
rows = [json.loads(l) for l in sys.stdin]
topics = {r[\"topic\"] for r in rows}
assert topics >= {\"sqlite\", \"arithmetic\", \"clock\", \"descriptors\", \"memory\", \"disk\", \"permissions\",
                  \"server\", \"database\", \"snapshots\", \"learner\", \"games\"}, topics
assert all(r[\"state\"] in (\"ok\", \"care\", \"bad\") and r[\"text\"] for r in rows)"' "$AGON" "$run"
cd "$work" || exit 1
check "doctor: where there is no run" says "there is no run" "$AGON" doctor
cd - >/dev/null || exit 1
check "a folder that is no run is refused" refuses "no run.db" "$AGON" doctor --run "$work/full"
ill() { # name, pattern, command on $bad: doctor finds it, and exits with 1
    bad=$work/bad
    rm -rf "$bad"
    cp -r "$run" "$bad"
    eval "$3"
    check "doctor finds $1" refuses "^bad  *$2" "$AGON" doctor --run "$bad"
    chmod -R u+w "$bad"
}
newest=$(sql "$run/run.db" "select snapshot from step order by step desc limit 1")
state=$(sql "$run/run.db" "select state from step order by step desc limit 1")
spoil() { printf xyz | dd of="$1" bs=1 seek=900 conv=notrunc 2>/dev/null; }
ill "a newest snapshot that is missing" "snapshots.*newest, is missing" 'rm "$bad/snapshots/$newest.safetensors"'
ill "a damaged one" "snapshots.*is damaged" 'spoil "$bad/snapshots/$newest.safetensors"'
ill "a missing state" "learner.*missing" 'rm "$bad/state/$state.safetensors"'
ill "a damaged state" "learner.*damaged" 'spoil "$bad/state/$state.safetensors"'
ill "a damaged database" "database.*damaged\|database.*malformed" \
    'dd if=/dev/urandom of="$bad/run.db" bs=4096 seek=9 count=30 conv=notrunc 2>/dev/null'
ill "no database" "database.*not a database" 'echo no >"$bad/run.db"'
ill "bad options" "options.*config.yaml:1" 'echo "seed: x" >"$bad/config.yaml"'
ill "a game that is gone" "games.*no_such" 'sed -i "s/^game:.*/game: no_such/" "$bad/config.yaml"'
ill "a port in use" "network.*in use" 'python3 -c "
import socket, time
s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen(1)
open(\"$work/port\", \"w\").write(str(s.getsockname()[1])); time.sleep(60)" & started=$!
    for i in $(seq 50); do [ -s "$work/port" ] && break; sleep 0.1; done
    sed -i "s/^\( *\)port:.*/\1port: $(cat "$work/port")/" "$bad/config.yaml"'
kill "$started" 2>/dev/null
started=

# ---- a pipe in the place of a file: nobody waits for a writer ----
rm -rf "$bad"
cp -r "$run" "$bad"
rm "$bad/config.yaml"
mkfifo "$bad/config.yaml"
for verb in train serve verify backup; do
    set -- "$verb" --run "$bad"
    [ $verb = backup ] && set -- "$@" --with-snapshots "$work/never"
    check "$verb: a pipe is no config.yaml" refuses "config.yaml: is a pipe" timeout 20 "$AGON" "$@"
done
check "nor where a configuration is named" refuses "config.yaml: is a pipe" \
    timeout 20 "$AGON" train tests/int/tiny.yaml --run "$bad"
check "doctor finds it" refuses "^bad *options.*is a pipe" timeout 60 "$AGON" doctor --quick --run "$bad"
cp "$run/config.yaml" "$work/config"
rm -rf "$bad/config.yaml" "$bad/snapshots/$newest.safetensors" "$bad/state/$state.safetensors" "$bad/cache"
cp "$work/config" "$bad/config.yaml"
mkfifo "$bad/snapshots/$newest.safetensors" "$bad/state/$state.safetensors"
check "nor a snapshot" refuses "safetensors: is a pipe" timeout 60 "$AGON" eval --run "$bad"
check "which is not copied" refuses "is a pipe" timeout 60 \
    "$AGON" backup --with-snapshots "$work/never" --run "$bad"
check "a pipe that is named is read" says "is right" sh -c \
    'cat tests/int/tiny.yaml | "$0" serve /dev/stdin --check --run "$1"' "$AGON" "$work/piped"

# ---- a run that lost its database ----
lost() { # name, what happens to the database of a copy in $bad: nothing begins anew there
    rm -rf "$bad"
    cp -r "$run" "$bad"
    rm -f "$bad/run.db-wal" "$bad/run.db-shm"
    $2 "$bad/run.db"
    kept=$(cd "$bad" && find . -type f -exec md5sum {} + | sort)
    for verb in train serve; do
        check "$verb: $1 is refused" refuses "lost its database.*put a backup.*--run" "$AGON" $verb --run "$bad"
        check "$verb: also where a configuration is named" refuses "lost its database" \
            "$AGON" $verb tests/int/tiny.yaml --run "$bad"
    done
    check "and $1 changes no file" test "$(cd "$bad" && find . -type f -exec md5sum {} + | sort)" = "$kept"
}
lost "an empty database" "truncate -s 0"
lost "a missing database" rm
rm "$bad/metrics.jsonl"
check "snapshots alone tell of a lost run" refuses "lost its database" "$AGON" train --run "$bad"
rm "$bad"/snapshots/*
check "a folder where nothing was learned begins" says "at step 3" timeout 60 "$AGON" train --run "$bad" --steps 3 \
    --set eval.every=1h

coretype() { OPENBLAS_CORETYPE=Prescott "$AGON" doctor --run "$run" --quick; }
check "doctor knows the kernel that was asked for" says "^\(ok\|care\|bad\) *arithmetic" coretype
few() { (ulimit -Sn 64; ulimit -Hn 64; exec "$AGON" doctor --run "$run" --quick); }
check "doctor finds too few descriptors" refuses "^bad *descriptors.*too few" few
if [ "$(id -u)" -eq 0 ]; then
    echo "skip - doctor finds missing rights: root may write everywhere"
else
    ill "missing rights" "permissions" 'chmod a-w "$bad"'
fi

# ---- systemd ----
odd="$work/a b%n\$HOME \"q\" \\x"
mkdir -p "$odd"
cp tests/int/tiny.yaml "$odd/x.yaml"
cd "$odd" || exit 1
for verb in train serve; do
    check "a unit for $verb" says "^ExecStart=.* $verb " "$AGON" systemd $verb x.yaml --run "$odd" --user nobody
    cp "$work/says" "$work/agon-$verb.service"
    if command -v systemd-analyze >/dev/null; then
        check "systemd takes it" systemd-analyze verify "$work/agon-$verb.service"
    else
        echo "skip - systemd takes it: systemd-analyze is not installed"
    fi
done
check "specifiers and variables are escaped" sh -c 'grep -qF "a b%%n\$\$HOME \\\"q\\\" \\\\x/x.yaml\"" "$0"' \
    "$work/agon-train.service"
cd - >/dev/null || exit 1
check "paths are absolute" sh -c '! grep -E "^(ExecStart|WorkingDirectory|ReadWritePaths)=\"?[^/\"]" "$0"' \
    "$work/agon-train.service"
check "another verb is refused" refuses "train or serve" "$AGON" systemd learn --run "$run"
check "a run must be named" refuses "say which run" "$AGON" systemd
check "a file is no run" refuses "a run is a folder, this is a file" "$AGON" systemd --run "$odd/x.yaml"
check "also beside a configuration" refuses "a run is a folder" "$AGON" systemd train "$odd/x.yaml" --run "$run/run.db"
check "a folder that is not there yet is only told of" says "not there yet" "$AGON" systemd --run "$work/later"
check "a strange user is refused" refuses "cannot be a user" "$AGON" systemd --run "$run" --user "a b"
check "a line break is refused" refuses "control characters" "$AGON" systemd --run "$work/a
b"
