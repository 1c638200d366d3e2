/* Death, crowding and a full disk: only what was committed is there, and all of it. */
#include "tests/unit/store/fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "store/store-int.h"

/* Runs body(f) in a child and kills that without warning once it has said that it is done. */
static void
die_after(struct fixture *f, void (*body)(struct fixture *f)) {
    int ready[2];
    char c;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        body(f);
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void
write_and_hang(struct fixture *f) {
    struct store *s = open_store(f->path, STORE_WRITE);
    add_players(s);
    add_matches(s, 1, 10);
    commit(s);
    add_matches(s, 11, 5000); /* enough to spill out of the cache in part */
}

static void
test_killed_in_a_batch(void **state) {
    struct fixture *f = *state;
    struct err e;
    die_after(f, write_and_hang);
    ask(f->path, "SELECT count(*), max(match_id) FROM turn", "20|10\n");
    f->store = open_store(f->path, STORE_WRITE);
    assert_int_equal(store_match_last(f->store, &e), 10);
    add_matches(f->store, 11, 12);
    commit(f->store);
    ask(f->path, "SELECT sum(matches) FROM tally", "12\n");
    ask(f->path, "PRAGMA integrity_check", "ok\n");
    ask(f->path, "PRAGMA foreign_key_check", "");
}

static void
commit_one_by_one(struct fixture *f) {
    struct store *s = open_store(f->path, STORE_WRITE);
    add_players(s);
    for (int64_t id = 1; id <= 200; id++) {
        add_matches(s, id, id);
        commit(s);
    }
}

static void
test_killed_after_commits(void **state) {
    struct fixture *f = *state;
    die_after(f, commit_one_by_one);
    ask(f->path,
        "SELECT count(*), sum(m.matches) FROM match, (SELECT sum(matches) AS matches FROM tally) m",
        "200|40000\n");
}

/* ---- readers beside the writer ---- */

struct state { /* what a reader found */
    int64_t matches, last;
    bool whole;
};

static int
check_whole(void *arg, const struct store_match *m) {
    struct state *s = arg;
    s->matches++;
    s->whole = s->whole && m->nturns == 2 && m->id == s->last + 1 && m->turn[0].nprompt == 4;
    s->last = m->id;
    return 0;
}

/* Reads over and over while matches are added; each time it must see whole batches of ten. */
static int
read_over_and_over(const char *path) {
    struct err e;
    struct store *s = store_open(path, STORE_READ, false, &e);
    struct state found = {0};
    while (s && found.last < 3000) {
        found = (struct state){.whole = true};
        if (store_match_each(s, 1, INT64_MAX, check_whole, &found, &e) < 0) {
            fprintf(stderr, "%s\n", e.text);
            return 1;
        }
        if (!found.whole || found.matches % 10)
            return 2;
    }
    store_close(s);
    return s ? 0 : 3;
}

static void
test_reader_beside_writer(void **state) {
    struct fixture *f = *state;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(read_over_and_over(f->path));
    }
    struct store *s = f->store;
    for (int64_t id = 1; id <= 3000; id += 10) {
        add_matches(s, id, id + 9);
        commit(s);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* A reader in the middle of its reading sees the state that it began with; the writer does not
 * wait. */
static int
add_one_more(void *arg, const struct store_match *m) {
    struct fixture *f = arg;
    add_matches(f->store, m->id + 100, m->id + 100);
    commit(f->store);
    return m->id > 100 ? 1 : 0;
}

static void
test_reader_sees_one_state(void **state) {
    struct fixture *f = *state;
    struct err e;
    add_matches(f->store, 1, 5);
    commit(f->store);
    struct store *reader = open_store(f->path, STORE_READ);
    assert_int_equal(store_match_each(reader, 1, INT64_MAX, add_one_more, f, &e), 0);
    assert_int_equal(store_match_last(reader, &e), 105);
    ok(store_checkpoint(f->store, &e), &e);
    store_close(reader);
}

/* The log goes into the database by itself and begins anew; while somebody reads an old state it
 * grows, and no longer than that. */
static void
test_log_begins_anew(void **state) {
    enum { PAGE = 4096, MOST = 1000 * PAGE };
    struct fixture *f = *state;
    char log[160];
    snprintf(log, sizeof log, "%s-wal", f->path);
    int64_t id = 1;
    for (int i = 0; i < 400; i++, id += 50) {
        add_matches(f->store, id, id + 49);
        commit(f->store);
        assert_true(file_bytes(log) < 2 * MOST);
    }
    assert_true(file_bytes(f->path) > MOST / 2);
    sqlite3 *reader = raw_open(f->path);
    sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM match", NULL, NULL, NULL);
    for (int i = 0; i < 400; i++, id += 50) {
        add_matches(f->store, id, id + 49);
        commit(f->store);
    }
    int64_t grown = file_bytes(log);
    assert_true(grown > 2 * MOST);
    sqlite3_close(reader);
    for (int i = 0; i < 800; i++, id += 50) {
        add_matches(f->store, id, id + 49);
        commit(f->store);
    }
    assert_true(file_bytes(log) <= grown + 2 * MOST);
}

/* ---- busy ---- */

static void
test_busy(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_turn turn[2];
    struct store_match m = plain_match(1, turn);
    struct store_step first = {.snapshot = "aaaa0000", .state = "s"};
    int64_t policy;
    sqlite3 *other = raw_open(f->path);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    refused(store_match_add(f->store, &m, &e), &e, "another program writes");
    assert_true(store_retry(f->store));
    refused(store_step_ack(f->store, &first, &policy, &e), &e, "another program writes");
    assert_true(store_retry(f->store));
    refused(store_event_add(f->store, "info", "test", "hello", &e), &e, "another program writes");
    sqlite3_exec(other, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(other);
    ok(store_match_add(f->store, &m, &e), &e); /* the same call succeeds later */
    ok(store_step_ack(f->store, &first, &policy, &e), &e);
    ok(store_event_add(f->store, "info", "test", "hello", &e), &e);
    ask(f->path,
        "SELECT (SELECT count(*) FROM match), (SELECT count(*) FROM step), count(*) FROM event",
        "1|1|1\n");
}

/* ---- a full disk ---- */

/* Adds matches from `id` on until one is refused or `n` are in, then commits; the number that is
 * committed. */
static int64_t
fill(struct store *s, int64_t id, int64_t n, struct err *e) {
    for (int64_t i = 0; i < n; i++) {
        struct store_turn turn[2];
        struct store_match m = plain_match(id + i, turn);
        if (store_match_add(s, &m, e) < 0)
            return 0;
    }
    return store_commit(s, e) < 0 ? 0 : n;
}

static void
is_full(struct fixture *f, const struct err *e) {
    refused(-1, e, "full");
    assert_true(store_retry(f->store));
}

/* The batch is gone; until the caller says that it knows, nothing is added or committed. */
static void
test_full_database(void **state) {
    struct fixture *f = *state;
    struct err e;
    int64_t id = 1, n;
    add_matches(f->store, id, 100);
    commit(f->store);
    id = 101;
    sqlite3_exec(f->store->db, "PRAGMA max_page_count = 100", NULL, NULL, NULL);
    while ((n = fill(f->store, id, 50, &e)) > 0)
        id += n;
    is_full(f, &e);
    struct store_turn turn[2];
    struct store_match m = plain_match(id, turn);
    refused(store_match_add(f->store, &m, &e), &e, "add it again");
    assert_true(store_retry(f->store));
    refused(store_commit(f->store, &e), &e, "add it again");
    assert_true(store_retry(f->store));
    refused(store_event_add(f->store, "info", "test", "hello", &e), &e, "add it again");
    store_rollback(f->store);
    assert_int_equal(fill(f->store, id, 50, &e), 0); /* still full */
    is_full(f, &e);
    store_rollback(f->store);
    assert_int_equal(store_match_last(f->store, &e), id - 1);
    sqlite3_exec(f->store->db, "PRAGMA max_page_count = 100000", NULL, NULL, NULL);
    assert_int_equal(fill(f->store, id, 50, &e), 50);
    char answer[64];
    snprintf(answer, sizeof answer, "%lld|%lld\n", (long long)id + 49, (long long)id + 49);
    ask(f->path, "SELECT count(*), (SELECT sum(matches) FROM tally) FROM match", answer);
    ask(f->path, "PRAGMA integrity_check", "ok\n");
}

/* The same when the file system says no: files may not grow beyond a limit. */
static void
test_full_disk(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct rlimit old, tight;
    int64_t id = 1, n;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = old;
    tight.rlim_cur = 1 << 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    while ((n = fill(f->store, id, 100, &e)) > 0 && id < 100000)
        id += n;
    assert_int_equal(n, 0);
    is_full(f, &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    store_rollback(f->store);
    assert_int_equal(store_match_last(f->store, &e), id - 1);
    assert_int_equal(fill(f->store, id, 100, &e), 100);
    ask(f->path, "PRAGMA integrity_check", "ok\n");
}

static void
test_full_step(void **state) {
    struct fixture *f = *state;
    struct err e;
    int64_t policy, id = 1, n;
    sqlite3_exec(f->store->db, "PRAGMA max_page_count = 60", NULL, NULL, NULL);
    struct store_step st = {.snapshot = "aaaa0000", .state = "s"};
    ok(store_step_ack(f->store, &st, &policy, &e), &e);
    while ((n = fill(f->store, id, 10, &e)) > 0)
        id += n;
    store_rollback(f->store);
    char *name = mem_zero(1, 1 << 16);
    memset(name, 'n', (1 << 16) - 1);
    struct store_metric metric = {name, 1};
    st = (struct store_step){.step = 1,
                             .policy_before = 2,
                             .snapshot = "bb",
                             .state = "s",
                             .metric = &metric,
                             .nmetric = 1};
    refused(store_step_ack(f->store, &st, &policy, &e), &e, "full");
    assert_true(store_retry(f->store));
    ask(f->path, "SELECT (SELECT max(step) FROM step), (SELECT count(*) FROM policy)", "0|2\n");
    sqlite3_exec(f->store->db, "PRAGMA max_page_count = 100000", NULL, NULL, NULL);
    assert_int_equal(store_step_ack(f->store, &st, &policy, &e),
                     0); /* no batch was lost: just again */
    assert_int_equal(policy, 3);
    free(name);
}

static void
test_close_commits(void **state) {
    struct fixture *f = *state;
    add_matches(f->store, 1, 3);
    store_close(f->store);
    f->store = NULL;
    ask(f->path, "SELECT count(*) FROM match", "3\n");
    store_close(NULL);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_killed_in_a_batch, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_after_commits, make_folder, tear_down),
        cmocka_unit_test_setup_teardown(test_reader_beside_writer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reader_sees_one_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_log_begins_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_busy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_database, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_close_commits, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
