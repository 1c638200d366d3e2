/* Thinning: what was learned from gets smaller, and nothing else does. */
#include "tests/unit/store/fixture.h"

enum { ALL = 6000 };

/* 6000 matches, each tenth a forfeit; 1..5000 consumed, 5001..5500 leased, the rest waiting. */
static int
set_up_run(void **state) {
    if (set_up(state) < 0)
        return -1;
    struct fixture *f = *state;
    struct err e;
    for (int64_t id = 1; id <= ALL; id++) {
        struct store_turn turn[2];
        struct store_match m = plain_match(id, turn);
        m.kind = id == 77 ? MATCH_EVAL : MATCH_TRAIN;
        m.reason = id % 10 == 5 ? END_INVALID : END_PLAY;
        ok(store_match_add(f->store, &m, &e), &e);
    }
    commit(f->store);
    raw(f->path,
        "INSERT INTO step (step, policy_after_id, snapshot, state, refused, at_ms, samples)"
        " VALUES (0, 2, '', '', 0, 0, 0), (1, 2, '', '', 0, 0, 0);"
        "INSERT INTO lease (first_match, last_match, taken_ms, step)"
        " VALUES (1, 5000, 0, 1), (5001, 5500, 0, NULL);"
        "INSERT INTO sample SELECT id, 0, 1, 0, 0, 0, 0 FROM match"
        " WHERE id <= 5000 AND id NOT IN (77, 89)");
    return 0;
}

static int
thin_all(struct store *s, int64_t upto, int keep) {
    struct err e;
    int passed = 0, n;
    while ((n = store_thin(s, upto, keep, &e)) > 0)
        passed += n;
    ok(n, &e);
    return passed;
}

static const char thinned[] =
    "SELECT count(*), min(match_id), max(match_id) FROM v_turns WHERE thinned";

static int
check(void *arg, const struct store_match *m) {
    int *bare = arg;
    const struct store_turn *t = &m->turn[0];
    assert_int_equal(m->nturns, 2);
    assert_int_equal(t->nreply, 3);
    assert_int_equal(t->nprompt, 4);
    assert_int_equal(t->ntokens == 0, t->tokens == NULL);
    assert_int_equal(t->ntokens == 0, t->logp == NULL);
    assert_false(m->altered || t->altered || m->turn[1].altered);
    *bare += t->ntokens == 0;
    return 0;
}

static int
count_altered(void *arg, const struct store_match *m) {
    int *altered = arg;
    *altered += m->altered + m->turn[0].altered + m->turn[1].altered;
    return 0;
}

/* Checksums hold where the payload was taken away, and still tell of the rest. */
static void
test_sums(void **state) {
    struct fixture *f = *state;
    struct err e;
    int altered = 0;
    thin_all(f->store, ALL, 4);
    ok(store_commit(f->store, &e), &e);
    raw(f->path, "UPDATE turn SET ply = ply + 1 WHERE match_id = 1 AND turn_no = 0;" /* thinned */
                 "UPDATE match SET started_ms = started_ms + 1 WHERE id = 2;"
                 "UPDATE turn SET logp = zeroblob(length(logp)) WHERE match_id = 5999"
                 " AND turn_no = 0");
    ok(store_match_each(f->store, 1, ALL, count_altered, &altered, &e), &e);
    assert_int_equal(altered, 3);
}

static void
test_what_is_kept(void **state) {
    struct fixture *f = *state;
    struct err e;
    int bare = 0;
    assert_int_equal(thin_all(f->store, ALL, 4), 4000); /* the newest thousand consumed stay */
    /* 3000 are no multiple of 4; of these 400 are forfeits, 77 is an evaluation, 89 not learned
     * from. */
    ask(f->path, thinned, "2598|1|3999\n");
    ok(store_match_each(f->store, 1, ALL, check, &bare, &e), &e);
    assert_int_equal(bare, 2598);
    ask(f->path,
        "SELECT count(*) FROM v_turns WHERE thinned AND (match_id % 4 = 0 OR match_id IN (77, 89))",
        "0\n");
    ask(f->path, "SELECT DISTINCT ntokens FROM v_turns WHERE seat = 0", "4\n");
    ask(f->path, "PRAGMA integrity_check", "ok\n");
}

static void
test_slices(void **state) {
    struct fixture *f = *state;
    struct err e;
    assert_int_equal(store_thin(f->store, 100, 2, &e), 100);
    ask(f->path, thinned, "38|1|99\n"); /* 50 are odd; 10 forfeits, 77 and 89 stay */
    assert_int_equal(store_thin(f->store, 100, 2, &e), 0);
    store_close(f->store);
    f->store = open_store(f->path, STORE_WRITE);
    assert_int_equal(store_thin(f->store, 300, 2, &e), 200); /* goes on after a restart */
    assert_int_equal(store_thin(f->store, ALL, 2, &e), 2048);
    ask(f->path, "SELECT value FROM run WHERE key = 'thinned'", "2348\n");
    refused(store_thin(f->store, ALL, 0, &e), &e, "one match in 0");
    assert_int_equal(store_thin(f->store, ALL, 1, &e), 1652); /* one in one: all are kept */
    ask(f->path, "SELECT count(*) FROM v_turns WHERE thinned AND match_id > 2348", "0\n");
}

static void
test_matches_in_the_batch_stay(void **state) {
    struct fixture *f = *state;
    struct err e;
    add_matches(f->store, ALL + 1, ALL + 2);
    assert_int_equal(store_thin(f->store, 10, 2, &e), 10);
    ask(f->path, "SELECT count(*) FROM match", "6002\n");
}

static void
test_nothing_consumed(void **state) {
    struct fixture *f = *state;
    struct err e;
    assert_int_equal(store_thin(f->store, 100, 2, &e), 0);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_kept, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_sums, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_slices, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_matches_in_the_batch_stay, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_consumed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
