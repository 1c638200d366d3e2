#!/bin/sh
# timeout: 280
# The database in other people's programs: sqlite3, Datasette with its descriptions, DuckDB; while a server
# has it open. What cannot be installed is skipped.
. tests/int/lib.sh
run=$work/run

"$AGON" train tests/int/tiny.yaml --run "$run" --steps 42 --set eval.every=1h >"$work/train.log" 2>&1 ||
    cat "$work/train.log"
"$AGON" serve tests/int/tiny.yaml --run "$run" >/dev/null 2>&1 &
started=$!
for i in $(seq 100); do
    [ -s "$run/serve.json" ] && break
    sleep 0.1
done

# ---- sqlite3: the four questions of docs/database.md ----
says() { # pattern, SQL
    sql "$run/run.db" "$2" | tee "$work/says" | grep -q -e "$1" || { cat "$work/says"; return 1; }
}
lost=$(sql "$run/run.db" "select max(id) from v_matches where reason = 'invalid'")
check "who won" says "^player [01] won|step " "select outcome, winner from v_matches where id = $lost"
check "why was it forfeited" says "^invalid|step .*|\(no word\|illegal\)|" "
    select m.reason, m.forfeited_by, t.verdict, t.reply from v_matches m join v_turns t on t.match_id = m.id
    where m.id = $lost order by t.turn_no desc limit 1"
check "how fast did it go" says "^train|[1-9]" "select kind, matches from v_speed where kind = 'train'"
check "which matches made step 40" test "$(sql "$run/run.db" "
    select count(distinct match_id) from v_samples where step = 40")" -eq 64
check "and that is what the step says" test "$(sql "$run/run.db" "
    select last_match - first_match + 1 = matches and matches = 64 from v_steps where step = 40")" = 1

# ---- the descriptions fit the database ----
fits() {
    python3 - docs/datasette.yaml "$run/run.db" <<'PY'
import re, sqlite3, sys
said, table = {}, None
for line in open(sys.argv[1]):
    m = re.match(r'      "?([a-z_]+)"?:$', line)
    if m:
        table = said.setdefault(m.group(1), [])
    m = re.match(r'          ([a-z0-9_]+): "(.{3,})"$', line)
    if m:
        table.append(m.group(1))
db = sqlite3.connect("file:%s?mode=ro" % sys.argv[2], uri=True)
names = [r[0] for r in db.execute("select name from sqlite_schema where type in ('table', 'view') "
                                  "and name not like 'sqlite%'")]
there = {n: [r[1] for r in db.execute('pragma table_info("%s")' % n)] for n in names}
for n in sorted(set(said) | set(there)):
    if said.get(n) != there.get(n):
        sys.exit("%s: described %s, there %s" % (n, said.get(n), there.get(n)))
PY
}
check "docs/datasette.yaml describes every table, view and column" fits

# ---- Datasette and DuckDB, where they can be had ----
venv=$work/venv
install() { timeout 120 "$venv/bin/pip" install -q --disable-pip-version-check "$@" >"$work/pip" 2>&1; }
why() { tail -n 1 "$work/pip" | cut -c 1-120; }
python3 -m venv "$venv" >"$work/pip" 2>&1

datasette() { "$venv/bin/datasette" "$run/run.db" --metadata docs/datasette.yaml --get "$1"; }
if install datasette; then
    page() { datasette "$1" >"$work/page" && grep -q -e "$2" "$work/page" || { head -c 2000 "$work/page"; return 1; }; }
    check "Datasette: a query" page "/run.json?sql=select+count(*)+as+n+from+v_matches&_shape=array" \
        "\"n\": $(sql "$run/run.db" 'select count(*) from match')"
    check "Datasette: a view, with its description" page /run/v_matches "start here"
    check "Datasette: a column's description" page /run/match "random stream of its chance nodes"
else
    echo "skip - Datasette: $(why)"
fi

duck() { # SQL over the database `r`, expected answer
    "$venv/bin/python" - "$run/run.db" "$1" "$2" <<'PY'
import sys
import duckdb
try:
    from duckdb_extensions import import_extension
    import_extension("sqlite_scanner")
except ImportError:
    pass
c = duckdb.connect()
try:
    c.execute("LOAD sqlite_scanner")
except duckdb.Error:
    c.execute("INSTALL sqlite_scanner; LOAD sqlite_scanner")
c.execute("ATTACH '%s' AS r (TYPE sqlite, READ_ONLY)" % sys.argv[1])
got = c.execute(sys.argv[2]).fetchall()
sys.exit(0 if str(got[0][0]) == sys.argv[3] else "%s, not %s" % (got, sys.argv[3]))
PY
}
if install duckdb-extensions duckdb-extension-sqlite-scanner || install duckdb; then
    if duck "select 1" 1 >"$work/pip" 2>&1; then
        check "DuckDB: a table" duck "select count(*) from r.\"match\"" "$(sql "$run/run.db" 'select count(*) from match')"
        check "DuckDB: a view" duck "select sum(matches) from r.v_forfeits" \
            "$(sql "$run/run.db" 'select sum(matches) from v_forfeits')"
    else
        echo "skip - DuckDB: its SQLite extension: $(why)"
    fi
    "$AGON" export --run "$run" "$work/all.jsonl" >/dev/null
    lines() {
        "$venv/bin/python" -c "
import duckdb, sys
n = duckdb.sql(\"select count(*), sum(len(turns)) from read_json('$work/all.jsonl')\").fetchall()[0]
sys.exit(0 if '%d|%d' % n == '$1' else str(n))"
    }
    check "DuckDB: exported lines" lines "$(sql "$run/run.db" 'select (select count(*) from match), (select count(*) from turn)')"
else
    echo "skip - DuckDB: $(why)"
fi
