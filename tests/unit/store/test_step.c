/* Leases and steps: each match is learned from at most once, whatever is sent twice, late or out of
 * order. */
#include "tests/unit/store/fixture.h"

#include <math.h>

struct learner { /* a step in the making */
    struct store_step step;
    struct store_lease lease[4];
    struct store_sample sample[64];
    struct store_baseline baseline[2];
    struct store_metric metric[8];
    char hash[HASH_HEX];
    int64_t policy; /* answer */
};

/* A step that learns from both seats of the matches first..last, under the lease `id`. */
static struct store_step *
make_step(struct learner *l, int64_t step, int64_t id, int64_t first, int64_t last) {
    snprintf(l->hash, sizeof l->hash, "hash%lld", (long long)step);
    l->lease[0] = (struct store_lease){id, first, last};
    size_t n = 0;
    for (int64_t m = first; m <= last; m++)
        for (int seat = 0; seat < 2; seat++)
            l->sample[n++] =
                (struct store_sample){m, seat, seat ? -0.5 : 0.5, 0.25, seat ? -0.75 : 0.25};
    l->step = (struct store_step){.step = step,
                                  .policy_before = 2,
                                  .snapshot = l->hash,
                                  .state = l->hash,
                                  .at_ms = 5000 + step,
                                  .lease = l->lease,
                                  .nlease = 1,
                                  .sample = l->sample,
                                  .nsample = n,
                                  .baseline = l->baseline,
                                  .metric = l->metric};
    return &l->step;
}

static void
first_weights(struct store *s) {
    struct err e;
    int64_t policy;
    struct store_step st = {.snapshot = "aaaa0000", .state = "state0"};
    assert_int_equal(store_step_ack(s, &st, &policy, &e), 0);
    assert_int_equal(policy, 2); /* the row was there */
}

/* 20 matches, the first weights, and a lease of the first ten. */
static int
set_up_run(void **state) {
    if (set_up(state) < 0)
        return -1;
    struct fixture *f = *state;
    struct err e;
    add_matches(f->store, 1, 20);
    commit(f->store);
    first_weights(f->store);
    struct store_lease l = {.first = 1, .last = 10};
    ok(store_lease_add(f->store, &l, &e), &e);
    assert_int_equal(l.id, 1);
    return 0;
}

static void
counts(struct fixture *f, const char *answer) {
    ask(f->path,
        "SELECT (SELECT count(*) FROM step), (SELECT count(*) FROM sample),"
        " (SELECT count(*) FROM lease WHERE step IS NULL), (SELECT count(*) FROM policy)",
        answer);
}

static int
collect(void *arg, const struct store_baseline *b) {
    struct store_baseline **at = arg;
    *(*at)++ = *b;
    return 0;
}

static void
test_every_field(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct learner l;
    struct store_step *st = make_step(&l, 1, 1, 1, 10);
    l.baseline[0] = (struct store_baseline){1, 0, 0.125, 10};
    l.baseline[1] = (struct store_baseline){1, -1, -0.5, 3};
    st->nbaseline = 2;
    l.metric[0] = (struct store_metric){"loss", 0.75};
    l.metric[1] = (struct store_metric){"entropy", NAN};
    l.metric[2] = (struct store_metric){"grad_norm", INFINITY};
    l.metric[3] = (struct store_metric){"a \"new\" one", 1.5};
    l.metric[4] = (struct store_metric){"other", NAN};
    l.metric[5] = (struct store_metric){"high", -INFINITY};
    l.metric[6] = (struct store_metric){"learn_s", 0.1};
    st->nmetric = 7;
    assert_int_equal(store_step_ack(f->store, st, &l.policy, &e), 0);
    assert_int_equal(l.policy, 3);
    struct store_policy p;
    ok(store_policy_get(f->store, 3, &p, &e), &e);
    assert_string_equal(p.kind, "snapshot");
    assert_string_equal(p.name, "hash1");
    assert_int_equal(p.step, 1);
    assert_int_equal(p.parent, 2);
    assert_int_equal(p.at_ms, 5001);
    assert_true(p.kept);
    assert_int_equal(store_policy_latest(f->store, &p, &e), 1);
    assert_int_equal(p.id, 3);
    ask(f->path,
        "SELECT step, policy_before_id, policy_after_id, snapshot, state, refused, at_ms, samples, "
        "loss,"
        " entropy, grad_norm, kl_magnet, learn_s, extra FROM step WHERE step = 1",
        "1|2|3|hash1|hash1|0|5001|20|0.75|NULL|Inf|NULL|0.1|"
        "{\"a \\\"new\\\" one\": 1.5, \"other\": null, \"high\": -1e999}\n");
    ask(f->path, "SELECT json_valid(extra), extra ->> 'high' FROM step WHERE step = 1", "1|-Inf\n");
    ask(f->path, "SELECT * FROM sample WHERE match_id = 10", /* seat 1 is a scripted player */
        "10|0|1|0.5|0.25|0.25|0\n10|1|1|-0.5|0.25|-0.75|NULL\n");
    ask(f->path, "SELECT id, first_match, last_match, step FROM lease", "1|1|10|1\n");
    struct store_baseline got[4], *at = got;
    ok(store_baseline_list(f->store, collect, &at, &e), &e);
    assert_int_equal(at - got, 2);
    assert_int_equal(got[0].role, -1);
    assert_true(got[0].value == -0.5);
    assert_int_equal(got[0].count, 3);
    assert_int_equal(got[1].role, 0);
    assert_true(got[1].value == 0.125);
    int64_t step;
    char hash[HASH_HEX];
    ok(store_step_last(f->store, &step, hash, &e), &e);
    assert_int_equal(step, 1);
    assert_string_equal(hash, "hash1");
    assert_int_equal(store_lease_next(f->store, &e), 11);
}

/* A baseline is replaced by the next step; others stay. */
static void
test_baselines_move(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct learner l;
    struct store_step *st = make_step(&l, 1, 1, 1, 10);
    l.baseline[0] = (struct store_baseline){1, 0, 0.125, 10};
    l.baseline[1] = (struct store_baseline){1, 1, -0.5, 3};
    st->nbaseline = 2;
    ok(store_step_ack(f->store, st, &l.policy, &e), &e);
    st = make_step(&l, 2, 0, 1, 0);
    st->nlease = 0;
    l.baseline[0] = (struct store_baseline){1, 0, 0.25, 20};
    st->nbaseline = 1;
    ok(store_step_ack(f->store, st, &l.policy, &e), &e);
    ask(f->path, "SELECT role, value, count, step FROM baseline", "0|0.25|20|2\n1|-0.5|3|1\n");
}

static void
test_no_step_yet(void **state) {
    struct fixture *f = *state;
    struct err e;
    int64_t step;
    char hash[HASH_HEX];
    ok(store_step_last(f->store, &step, hash, &e), &e);
    assert_int_equal(step, -1);
    assert_string_equal(hash, "");
    assert_int_equal(store_lease_next(f->store, &e), 1);
    assert_int_equal(store_lease_drop(f->store, &e), 0);
}

/* The answer was lost and the learner sends the step again: it is told what it was told before. */
static void
test_sent_again(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct learner l;
    ok(store_step_ack(f->store, make_step(&l, 1, 1, 1, 10), &l.policy, &e), &e);
    counts(f, "2|20|0|3\n");
    l.policy = 0;
    assert_int_equal(store_step_ack(f->store, &l.step, &l.policy, &e), 1);
    assert_int_equal(l.policy, 3);
    counts(f, "2|20|0|3\n");
    store_close(f->store); /* also after a restart */
    f->store = open_store(f->path, STORE_WRITE);
    assert_int_equal(store_step_ack(f->store, &l.step, &l.policy, &e), 1);
    l.step.snapshot = "another";
    refused(store_step_ack(f->store, &l.step, &l.policy, &e), &e, "out of order");
    counts(f, "2|20|0|3\n");
    struct store_step zero = {.snapshot = "aaaa0000", .state = "state0"};
    refused(store_step_ack(f->store, &zero, &l.policy, &e), &e, "out of order");
}

static void
test_refusals(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct learner l;
    struct store_step *st;
    int n = 0;
#define BAD(change, words)                                               \
    do {                                                                 \
        st = make_step(&l, 1, 1, 1, 10);                                 \
        change;                                                          \
        refused(store_step_ack(f->store, st, &l.policy, &e), &e, words); \
        assert_false(store_retry(f->store));                             \
        counts(f, "1|0|1|2\n");                                          \
        n++;                                                             \
    } while (0)
    BAD(st->step = 2, "out of order");
    BAD(st->step = 0, "first weights");
    BAD(st->step = -1, "out of order");
    BAD(st->snapshot = NULL, "hash");
    BAD(st->state = NULL, "hash");
    BAD(st->policy_before = 0, "policy before");
    BAD(st->policy_before = 9, "policy before");
    BAD(l.lease[0].id = 2, "lease 2 is not open");
    BAD(st->nlease = 0, "match 1 is not in its leases");
    BAD(l.sample[19].match = 11, "match 11 is not in its leases");
    BAD(l.sample[19].match = 9, "match 9, seat 1 was consumed");
    BAD(l.sample[19].seat = 2, "no seat 2");
    BAD(l.sample[3].advantage = NAN, "sample");
    BAD((st->nlease = 2, l.lease[1] = l.lease[0]), "lease 1 is not open");
    BAD((st->nbaseline = 1, l.baseline[0] = (struct store_baseline){2, 0, 0, 1}), "baseline");
    BAD((st->nbaseline = 1, l.baseline[0] = (struct store_baseline){1, 2, 0, 1}), "baseline");
    BAD((st->nbaseline = 1, l.baseline[0] = (struct store_baseline){1, 0, NAN, 1}), "baseline");
#undef BAD
    assert_int_equal(n, 17);
    ok(store_step_ack(f->store, make_step(&l, 1, 1, 1, 10), &l.policy, &e), &e);
    counts(f, "2|20|0|3\n");
}

/* A refused step leaves alone what was added to the batch before it. */
static void
test_batch_survives_refusal(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct learner l;
    add_matches(f->store, 21, 22);
    refused(store_step_ack(f->store, make_step(&l, 1, 5, 1, 10), &l.policy, &e), &e, "lease 5");
    add_matches(f->store, 23, 23);
    commit(f->store);
    ask(f->path, "SELECT count(*) FROM match", "23\n");
}

static void
test_consumed_once(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct learner l;
    ok(store_step_ack(f->store, make_step(&l, 1, 1, 1, 10), &l.policy, &e), &e);
    struct store_step *st = make_step(&l, 2, 1, 1, 10);
    refused(store_step_ack(f->store, st, &l.policy, &e), &e, "lease 1 is not open");
    struct store_lease again = {.first = 10, .last = 12}, next = {.first = 11, .last = 12};
    refused(store_lease_add(f->store, &again, &e), &e, "consumed already");
    ok(store_lease_add(f->store, &next, &e), &e);
    raw(f->path, "INSERT INTO sample VALUES (11, 0, 1, 0, 0, 0, 0)"); /* by whatever accident */
    st = make_step(&l, 2, next.id, 11, 12);
    refused(store_step_ack(f->store, st, &l.policy, &e), &e,
            "match 11, seat 0 was consumed before");
    counts(f, "2|21|1|3\n");
}

static void
test_not_to_learn_from(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct learner l;
    raw(f->path, "UPDATE match SET reason = 'aborted' WHERE id = 3");
    refused(store_step_ack(f->store, make_step(&l, 1, 1, 1, 10), &l.policy, &e), &e,
            "match 3 is not one to learn from");
    raw(f->path, "UPDATE match SET reason = 'play', kind = 'eval' WHERE id = 3");
    refused(store_step_ack(f->store, make_step(&l, 1, 1, 1, 10), &l.policy, &e), &e,
            "match 3 is not one to learn from");
    counts(f, "1|0|1|2\n");
}

static void
test_leases(void **state) {
    struct fixture *f = *state;
    struct err e;
    assert_int_equal(store_lease_next(f->store, &e), 11);
    struct store_lease bad[] = {{0, 0, 3}, {0, 5, 4}, {0, 5, 6}, {0, 11, 21}, {0, 30, 31}};
    const char *why[] = {"not a range", "not a range", "leased or consumed", "1 of its matches",
                         "2 of its matches"};
    for (int i = 0; i < 5; i++)
        refused(store_lease_add(f->store, &bad[i], &e), &e, why[i]);
    struct store_lease l = {.first = 11, .last = 15};
    ok(store_lease_add(f->store, &l, &e), &e);
    assert_int_equal(l.id, 2);
    assert_int_equal(store_lease_next(f->store, &e), 16);
    raw_ask(f->path, "SELECT 1"); /* leases were committed: another connection sees them */
    ask(f->path, "SELECT count(*) FROM lease", "2\n");
}

/* A learner dies; the next one takes its matches again, and the dead one's acknowledgement comes
 * late. */
static void
test_dropped_and_retaken(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct learner late, next;
    make_step(&late, 1, 1, 1, 10);
    assert_int_equal(store_lease_drop(f->store, &e), 1);
    assert_int_equal(store_lease_next(f->store, &e), 1);
    struct store_lease l = {.first = 1, .last = 10};
    ok(store_lease_add(f->store, &l, &e), &e);
    assert_int_equal(l.id, 2); /* ids are never used again */
    refused(store_step_ack(f->store, &late.step, &late.policy, &e), &e, "lease 1 is not open");
    ok(store_step_ack(f->store, make_step(&next, 1, 2, 1, 10), &next.policy, &e), &e);
    assert_int_equal(store_lease_drop(f->store, &e), 0); /* acknowledged ones stay */
    assert_int_equal(store_lease_next(f->store, &e), 11);
}

/* Several leases in one step, and staleness counted from the weights that played. */
static void
test_several_leases(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct learner l;
    ok(store_step_ack(f->store, make_step(&l, 1, 1, 1, 10), &l.policy, &e), &e);
    struct store_lease a = {.first = 11, .last = 12}, b = {.first = 13, .last = 20};
    ok(store_lease_add(f->store, &a, &e), &e);
    ok(store_lease_add(f->store, &b, &e), &e);
    struct store_step *st = make_step(&l, 2, a.id, 11, 20);
    l.lease[1].id = b.id;
    st->nlease = 2;
    st->policy_before = 3;
    ok(store_step_ack(f->store, st, &l.policy, &e), &e);
    ask(f->path, "SELECT count(*), min(match_id), max(match_id) FROM v_samples WHERE step = 2",
        "20|11|20\n");
    ask(f->path, "SELECT DISTINCT staleness FROM sample WHERE step = 2 AND seat = 0", "1\n");
    ask(f->path, "SELECT first_match, last_match FROM v_steps WHERE step = 2", "11|20\n");
}

/* A step that was not finite consumes its matches and keeps the weights. */
static void
test_refused_step(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct learner l;
    struct store_step *st = make_step(&l, 1, 1, 1, 10);
    st->refused = true;
    st->snapshot = "aaaa0000";
    ok(store_step_ack(f->store, st, &l.policy, &e), &e);
    assert_int_equal(l.policy, 2);
    counts(f, "2|20|0|2\n");
    ask(f->path, "SELECT refused, policy_after_id FROM step WHERE step = 1", "1|2\n");
    struct store_policy p;
    assert_int_equal(store_policy_latest(f->store, &p, &e), 1);
    assert_int_equal(p.id, 2);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_field, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_baselines_move, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_no_step_yet, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sent_again, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_batch_survives_refusal, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_consumed_once, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_not_to_learn_from, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_leases, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_dropped_and_retaken, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_several_leases, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_step, set_up_run, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
