# Shared by the integration tests: a scratch folder, processes that are ended with the test, and lines
# that the runner counts. Use: . tests/int/lib.sh
set -u
AGON=${AGON:-$PWD/build/agon}
case $AGON in /*) ;; *) AGON=$PWD/$AGON ;; esac
export MALLOC_PERTURB_="${MALLOC_PERTURB_:-165}" # memory that was freed is no longer what it was
work=$(mktemp -d)
started=
# What a test started is ended by its process id; nothing else is touched.
finish() {
    for pid in $started; do kill "$pid" 2>/dev/null; done
    for pid in $started; do wait "$pid" 2>/dev/null; done
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

check() { # name, command...: the command's status decides
    name=$1
    shift
    if "$@" >"$work/check.out" 2>&1; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        sed 's/^/# /' "$work/check.out" | tail -n 20
    fi
}

sql() { # database, query
    sqlite3 "file:$1?mode=ro" "$2"
}

# A field of the running server's answer: api RUN PATH FIELD
api() {
    python3 - "$@" <<'PY'
import json, sys, urllib.request
run, path, field = sys.argv[1:4]
card = json.load(open(run + "/serve.json"))
with urllib.request.urlopen("http://%s:%d%s" % (card["host"], card["port"], path), timeout=5) as r:
    print(json.load(r)[field])
PY
}

# Everything that is stored of a run, times and process numbers aside.
dump_run() {
    sql "$1/run.db" "
        select m.id, m.kind, m.iteration, m.deal, m.policy0_id, m.policy1_id, m.reason, m.loser,
               m.payoff0, m.payoff1, m.result, m.moves from match m order by m.id;
        select t.match_id, t.turn_no, t.ply, t.seat, quote(p.tokens), t.reply, t.word, t.action,
               t.verdict, quote(t.tokens), quote(t.logp), t.policy_id
          from turn t left join prompt p on p.id = t.prompt_id order by t.match_id, t.turn_no;
        select step, snapshot, state from step order by step;
        select game_id, role, value, count from baseline order by 1, 2;
        select match_id, seat, step, ret, baseline, advantage from sample order by 1, 2;"
}
