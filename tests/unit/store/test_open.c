/* Opening: what is refused, what is migrated, and who may read what. */
#include "tests/unit/store/fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/file.h"
#include "store/store-int.h"

static void
cannot_open(const char *path, enum store_mode mode, const char *words) {
    struct err e;
    struct store *s = store_open(path, mode, false, &e);
    assert_null(s);
    refused(-1, &e, words);
}

static void
write_file(const char *path, const char *bytes, size_t n) {
    struct err e;
    ok(file_write(path, bytes, n, false, &e), &e);
}

static void
test_not_ours(void **state) {
    struct fixture *f = *state;
    cannot_open("", STORE_WRITE, "path is empty");
    cannot_open(f->path, STORE_READ, "No such file");
    cannot_open(f->folder, STORE_WRITE, "is a folder");
    cannot_open(f->folder, STORE_READ, "is a folder");
    cannot_open("/dev/null/run.db", STORE_WRITE, "/dev/null/run.db");
    cannot_open("/dev/null", STORE_WRITE, "no ordinary file");
    char junk[5000];
    memset(junk, 'x', sizeof junk);
    write_file(f->path, junk, sizeof junk);
    cannot_open(f->path, STORE_WRITE, "not a database");
    cannot_open(f->path, STORE_READ, "not a database");
    assert_int_equal(file_bytes(f->path), sizeof junk);
    char path[300];
    memset(path, 'a', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    cannot_open(path, STORE_WRITE, "File name too long");
    snprintf(path, sizeof path, "%s/pipe", f->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    cannot_open(path, STORE_READ, "no ordinary file"); /* and does not wait for a writer */
}

/* A stranger's database is refused before anything is written to it. */
static void
test_another_program(void **state) {
    struct fixture *f = *state;
    raw(f->path, "CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('Yesterday')");
    int64_t bytes = file_bytes(f->path);
    cannot_open(f->path, STORE_WRITE, "another program");
    cannot_open(f->path, STORE_READ, "another program");
    ask(f->path, "PRAGMA journal_mode", "delete\n");
    assert_int_equal(file_bytes(f->path), bytes);
    raw(f->path, "PRAGMA application_id = 7; DROP TABLE songs");
    cannot_open(f->path, STORE_WRITE, "another program");
}

static void
test_versions(void **state) {
    struct fixture *f = *state;
    store_close(open_store(f->path, STORE_WRITE));
    ask(f->path,
        "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version",
        "1097297774|3\n");
    raw(f->path, "PRAGMA user_version = 1000");
    cannot_open(f->path, STORE_WRITE, "newer Agon");
    cannot_open(f->path, STORE_READ, "newer Agon");
    raw(f->path, "PRAGMA user_version = 0");
    cannot_open(f->path, STORE_WRITE, "damaged");
    raw(f->path, "PRAGMA user_version = -4");
    cannot_open(f->path, STORE_READ, "damaged");
}

static void
test_empty_file(void **state) {
    struct fixture *f = *state;
    write_file(f->path, "", 0);
    cannot_open(f->path, STORE_READ, "no run has started");
    struct store *s = open_store(f->path, STORE_WRITE);
    add_players(s);
    store_close(s);
}

/* Names that mean something special to SQLite, or to a URI, are names of files. */
static void
test_odd_names(void **state) {
    struct fixture *f = *state;
    static const char *const names[] = {":memory:", "file:x?mode=memory", "a b%20#c?d", "run.db"};
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(f->folder), 0);
    for (int i = 0; i < 4; i++) {
        struct store *s = open_store(names[i], STORE_WRITE);
        add_players(s);
        store_close(s);
        assert_true(file_bytes(names[i]) > 4096);
        store_close(open_store(names[i], STORE_READ));
    }
    assert_int_equal(chdir(here), 0);
}

static void
test_readers_cannot_write(void **state) {
    struct fixture *f = *state;
    struct err e;
    store_close(open_store(f->path, STORE_WRITE));
    struct store *s = open_store(f->path, STORE_READ);
    struct store_game g = {.spec = "x", .name = "x"};
    refused(store_game_add(s, &g, &e), &e, "reading only");
    refused(store_run_put(s, "a", "b", &e), &e, "reading only");
    refused(store_lease_drop(s, &e), &e, "reading only");
    assert_false(store_retry(s));
    ok(store_commit(s, &e), &e);
    store_close(s);
}

/* ---- migration ---- */

static void
load_golden(const char *path) {
    struct buf sql = {0};
    struct err e;
    ok(file_read("tests/golden/db/v1.sql", 1 << 20, &sql, &e), &e);
    raw(path, buf_text(&sql));
    buf_free(&sql);
}

static int
count_match(void *arg, const struct store_match *m) {
    *(size_t *)arg += m->nturns;
    return 0;
}

/* A file of version 1 as it was written then: it opens, holds what it held, and has today's schema.
 */
static void
test_golden_version_1(void **state) {
    static const char schema[] = "SELECT type, name, sql FROM sqlite_schema ORDER BY name";
    struct fixture *f = *state;
    struct err e;
    load_golden(f->path);
    struct store *s = open_store(f->path, STORE_WRITE);
    size_t turns = 0;
    ok(store_match_each(s, 1, INT64_MAX, count_match, &turns, &e), &e);
    assert_int_equal(turns, 5);
    int64_t step;
    char hash[HASH_HEX];
    ok(store_step_last(s, &step, hash, &e), &e);
    assert_int_equal(step, 1);
    assert_string_equal(hash, "5555");
    assert_int_equal(store_lease_next(s, &e), 3);
    add_matches(s, 4, 5);
    store_close(s);
    ask(f->path, "SELECT count(*) FROM match", "5\n");
    ask(f->path, "SELECT outcome, reason, forfeited_by FROM v_matches WHERE id = 2",
        "player 1 won|invalid|step 0 (aaaa0000)\n");
    char *sums = mem_text(raw_ask(f->path, "SELECT kind, reason, loser, sum(matches), sum(turns) "
                                           "FROM tally GROUP BY 1, 2, 3"));
    ask(f->path, "SELECT kind, reason, loser, matches, turns FROM total", sums);
    free(sums);
    ask(f->path, "SELECT policy_id, seat, reason, fault, wins, losses FROM seat_tally",
        "1|0|crash|0|0|0\n1|1|invalid|0|1|0\n1|1|play|0|0|3\n2|0|invalid|1|0|1\n"
        "2|0|play|0|3|0\n3|1|crash|0|0|0\n");
    char *migrated = mem_text(raw_ask(f->path, schema));
    char fresh[160];
    snprintf(fresh, sizeof fresh, "%s/fresh.db", f->folder);
    store_close(open_store(fresh, STORE_WRITE));
    assert_string_equal(migrated, raw_ask(fresh, schema));
    free(migrated);
}

/* The steps of a migration happen together or not at all; views are made anew. */
static void
test_migration_steps(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store *s = open_store(f->path, STORE_WRITE);
    add_players(s);
    const char *bad[] = {"", "", "", "CREATE TABLE extra (x INTEGER)",
                         "INSERT INTO nonsense VALUES (1)"};
    refused(schema_apply(s, bad, 5, &e), &e, "version 5");
    ask(f->path, "PRAGMA user_version", "3\n");
    ask(f->path, "SELECT count(*) FROM sqlite_schema WHERE name = 'extra'", "0\n");
    raw(f->path, "CREATE VIEW v_mine AS SELECT 1");
    const char *good[] = {"", "", "", "CREATE TABLE extra (x INTEGER)",
                          "INSERT INTO extra VALUES (5)"};
    ok(schema_apply(s, good, 5, &e), &e);
    ask(f->path, "SELECT user_version, x FROM pragma_user_version, extra", "5|5\n");
    ask(f->path, "SELECT count(*) FROM sqlite_schema WHERE name IN ('v_mine', 'v_matches')", "1\n");
    ok(schema_apply(s, good, 5, &e), &e); /* nothing left to do */
    ask(f->path, "SELECT count(*) FROM extra", "1\n");
    store_close(s);
    cannot_open(f->path, STORE_WRITE, "newer Agon");
}

/* ---- who may read ---- */

/* Runs `body` as somebody who may not write to the folder; its exit status. */
static int
as_stranger(struct fixture *f, const char *path, int (*body)(const char *path)) {
    assert_int_equal(chmod(f->folder, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        if (getuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
            _exit(77);
        _exit(body(path));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(f->folder, 0755), 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int
read_three(const char *path) {
    struct err e;
    size_t turns = 0;
    struct store *s = store_open(path, STORE_READ, false, &e);
    if (!s || store_match_each(s, 1, 10, count_match, &turns, &e) < 0) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    store_close(s);
    return turns == 6 ? 0 : 2;
}

static int
told_why(const char *path) {
    struct err e;
    struct store *s = store_open(path, STORE_READ, false, &e);
    return !s && strstr(e.text, "not closed properly") ? 0 : 1;
}

static int
kept_out(const char *path) {
    struct err e;
    struct store *s = store_open(path, STORE_READ, false, &e);
    return !s && strstr(e.text, "unable to open") ? 0 : 1;
}

static void
copy(const char *from, const char *to) {
    struct buf b = {0};
    struct err e;
    ok(file_read(from, 1 << 26, &b, &e), &e);
    ok(file_write(to, b.at, b.len, false, &e), &e);
    buf_free(&b);
}

/* A stopped run, a run at work, and a run that was killed, in a folder of somebody else. */
static void
test_foreign_folder(void **state) {
    struct fixture *f = *state;
    struct store *s = open_store(f->path, STORE_WRITE);
    add_players(s);
    add_matches(s, 1, 3);
    commit(s);
    char killed[160], wal[160], killed_wal[192];
    snprintf(killed, sizeof killed, "%s/killed.db", f->folder);
    snprintf(wal, sizeof wal, "%s-wal", f->path);
    snprintf(killed_wal, sizeof killed_wal, "%s-wal", killed);
    copy(f->path, killed);
    copy(wal, killed_wal);
    assert_int_equal(as_stranger(f, f->path, read_three), 0);
    store_close(s);
    assert_int_equal(as_stranger(f, f->path, read_three), 0);
    char odd[160];
    snprintf(odd, sizeof odd, "%s/a%%20#b?c.db", f->folder);
    copy(f->path, odd);
    assert_int_equal(as_stranger(f, odd, read_three), 0);
    assert_int_equal(as_stranger(f, killed, told_why), 0);
    assert_int_equal(read_three(killed), 0); /* its owner can read it */
    assert_int_equal(chmod(f->path, 0), 0);
    assert_int_equal(as_stranger(f, f->path, kept_out), 0);
}

/* ---- facts, games, policies ---- */

static void
test_run(void **state) {
    struct fixture *f = *state;
    struct err e;
    char value[64];
    struct store *s = open_store(f->path, STORE_WRITE);
    assert_int_equal(store_run_get(s, "seed", value, sizeof value, &e), 0);
    ok(store_run_set(s, "seed", "42", &e), &e);
    ok(store_run_set(s, "seed", "42", &e), &e);
    refused(store_run_set(s, "seed", "43", &e), &e, "seed was 42");
    ok(store_run_put(s, "kernel", "Haswell", &e), &e);
    ok(store_run_put(s, "kernel", "SkylakeX", &e), &e);
    store_close(s);
    s = open_store(f->path, STORE_WRITE);
    assert_int_equal(store_run_get(s, "seed", value, sizeof value, &e), 1);
    assert_string_equal(value, "42");
    assert_int_equal(store_run_get(s, "kernel", value, sizeof value, &e), 1);
    assert_string_equal(value, "SkylakeX");
    refused(store_run_get(s, "kernel", value, 4, &e), &e, "too long");
    store_close(s);
}

static int
count_rows(void *arg, const struct store_game *g) {
    (void)g;
    ++*(int *)arg;
    return 0;
}

static void
test_games(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store *s = open_store(f->path, STORE_WRITE);
    struct store_game a = {.spec = "nim(piles=3-4-5)", .name = "nim", .version = 1}, b = a, c = a,
                      d = a, got;
    b.version = 2;
    snprintf(c.hash, sizeof c.hash, "%064d", 7);
    ok(store_game_add(s, &a, &e), &e);
    ok(store_game_add(s, &b, &e), &e);
    ok(store_game_add(s, &c, &e), &e);
    ok(store_game_add(s, &d, &e), &e);
    assert_int_equal(a.id, 1);
    assert_int_equal(b.id, 2);
    assert_int_equal(c.id, 3);
    assert_int_equal(d.id, 1);
    ok(store_game_get(s, 3, &got, &e), &e);
    assert_string_equal(got.spec, c.spec);
    assert_string_equal(got.hash, c.hash);
    assert_int_equal(got.version, 1);
    refused(store_game_get(s, 4, &got, &e), &e, "no id 4");
    int n = 0;
    ok(store_game_list(s, count_rows, &n, &e), &e);
    assert_int_equal(n, 3);
    store_close(s);
}

static int
sum_ids(void *arg, const struct store_policy *p) {
    *(int64_t *)arg += p->id;
    return 0;
}

static void
test_policies(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store *s = open_store(f->path, STORE_WRITE);
    struct store_policy p[] = {
        {.kind = "scripted", .name = "abcd", .step = -1, .at_ms = 5},
        {.kind = "snapshot", .name = "12340000", .step = 0, .at_ms = 6, .kept = true},
        {.kind = "snapshot", .name = "12341111", .step = 1, .parent = 2, .kept = true},
        {.kind = "snapshot", .name = "ffff2222", .step = 2, .parent = 3, .kept = true},
        {.kind = "snapshot", .name = "abcd9999", .step = 0},
    };
    struct store_policy got = {0};
    assert_int_equal(store_policy_latest(s, &got, &e), 0);
    for (int i = 0; i < 5; i++) {
        ok(store_policy_add(s, &p[i], &e), &e);
        assert_int_equal(p[i].id, i + 1);
    }
    struct store_policy again = {.kind = "snapshot", .name = "12341111", .step = 1};
    ok(store_policy_add(s, &again, &e), &e);
    assert_int_equal(again.id, 3);
    ok(store_policy_get(s, 3, &got, &e), &e);
    assert_string_equal(got.name, "12341111");
    assert_int_equal(got.parent, 2);
    assert_true(got.kept);
    assert_int_equal(store_policy_latest(s, &got, &e), 1);
    assert_int_equal(got.id, 4);
    assert_int_equal(store_policy_find(s, "abcd", &got, &e), 1); /* the name before the prefix */
    assert_int_equal(got.id, 1);
    assert_int_equal(store_policy_find(s, "abcd9", &got, &e), 1);
    assert_int_equal(got.id, 5);
    assert_int_equal(store_policy_find(s, "12340", &got, &e), 1);
    assert_int_equal(got.id, 2);
    assert_int_equal(store_policy_find(s, "fff", &got, &e), 0); /* too short */
    assert_int_equal(store_policy_find(s, "%%%%", &got, &e), 0);
    assert_int_equal(store_policy_find(s, "ffff2222", &got, &e), 1);
    refused(store_policy_find(s, "1234", &got, &e), &e, "more digits");
    ok(store_policy_set_kept(s, 2, false, &e), &e);
    ok(store_policy_get(s, 2, &got, &e), &e);
    assert_false(got.kept);
    refused(store_policy_set_kept(s, 9, false, &e), &e, "no id 9");
    struct store_policy bad = {.kind = "human", .name = "x"},
                        orphan = {.kind = "snapshot", .parent = 99};
    refused(store_policy_add(s, &bad, &e), &e, "kind");
    refused(store_policy_add(s, &orphan, &e), &e, "parent 99");
    int64_t sum = 0;
    ok(store_policy_list(s, sum_ids, &sum, &e), &e);
    assert_int_equal(sum, 15);
    store_close(s);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_not_ours, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_another_program, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_versions, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_empty_file, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_odd_names, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_readers_cannot_write, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_golden_version_1, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_migration_steps, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_foreign_folder, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_run, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_games, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_policies, make_folder, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
