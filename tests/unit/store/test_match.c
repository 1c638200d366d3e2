/* Matches: what is read is what was written, for every field and for any bytes. */
#include "tests/unit/store/fixture.h"

#include <math.h>

#include "base/rng.h"

/* ---- comparing ---- */

static void
same_bytes(const void *a, size_t na, const void *b, size_t nb) {
    assert_int_equal(na, nb);
    if (na)
        assert_memory_equal(a, b, na);
}

static void
same_text(const char *a, const char *b) {
    assert_int_equal(!a, !b);
    if (a)
        assert_string_equal(a, b);
}

static void
same_turn(const struct store_turn *a, const struct store_turn *b) {
    assert_int_equal(a->ply, b->ply);
    assert_int_equal(a->seat, b->seat);
    same_bytes(a->prompt, a->nprompt * 4, b->prompt, b->nprompt * 4);
    same_bytes(a->reply, a->nreply, b->reply, b->nreply);
    same_text(a->word, b->word);
    assert_int_equal(a->action, b->action);
    assert_int_equal(a->verdict, b->verdict);
    assert_int_equal(a->ntokens, b->ntokens);
    same_bytes(a->tokens, a->ntokens * 4, b->tokens, b->ntokens * 4);
    assert_int_equal(!a->logp, !b->logp);
    if (a->logp)
        same_bytes(a->logp, a->ntokens * 4, b->logp, b->ntokens * 4);
    assert_int_equal(a->policy, b->policy);
}

static void
same_match(const struct store_match *a, const struct store_match *b) {
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->iteration, b->iteration);
    assert_int_equal(a->game, b->game);
    assert_int_equal(a->deal, b->deal);
    assert_int_equal(a->reason, b->reason);
    assert_int_equal(a->loser, b->loser);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(a->policy[i], b->policy[i]);
        assert_true(a->payoff[i] == b->payoff[i]);
    }
    assert_true(a->result == b->result);
    same_bytes(a->moves, a->nmoves * 4, b->moves, b->nmoves * 4);
    assert_int_equal(a->started_ms, b->started_ms);
    assert_int_equal(a->ended_ms, b->ended_ms);
    assert_int_equal(a->attempts, b->attempts);
    same_text(a->detail, b->detail);
    assert_int_equal(a->nturns, b->nturns);
    for (size_t i = 0; i < a->nturns; i++)
        same_turn(&a->turn[i], &b->turn[i]);
}

struct expected {
    const struct store_match *match;
    int seen;
};

static int
compare(void *arg, const struct store_match *m) {
    struct expected *x = arg;
    same_match(m, &x->match[x->seen++]);
    return 0;
}

/* The database holds these matches, ascending, as the writer sees it and as a reader does. */
static void
holds(struct fixture *f, const struct store_match *m, int n) {
    struct err e;
    commit(f->store);
    struct store *reader = open_store(f->path, STORE_READ);
    struct store *both[] = {f->store, reader};
    for (int i = 0; i < 2; i++) {
        struct expected x = {m, 0};
        ok(store_match_each(both[i], 1, INT64_MAX, compare, &x, &e), &e);
        assert_int_equal(x.seen, n);
    }
    store_close(reader);
}

/* ---- tests ---- */

static void
test_every_field(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_turn turn[3][3];
    const int32_t odd_moves[] = {-1, 0, INT32_MAX, INT32_MIN + 1, 10};
    struct store_match m[3] = {plain_match(5, turn[0]), plain_match(9, turn[1]),
                               plain_match(1000000007, turn[2])};
    m[1] = (struct store_match){.id = 9,
                                .kind = MATCH_PLAY,
                                .iteration = 41,
                                .game = 1,
                                .deal = -3,
                                .policy = {1, 2},
                                .reason = END_INVALID,
                                .loser = 1,
                                .payoff = {0.5, -1.5},
                                .result = 1,
                                .moves = odd_moves,
                                .nmoves = 5,
                                .started_ms = -5,
                                .ended_ms = INT64_MAX,
                                .attempts = 2,
                                .detail = "the seat's program: \"no\"",
                                .turn = turn[1],
                                .nturns = 2};
    turn[1][0].verdict = VERDICT_ILLEGAL;
    turn[1][0].action = -1;
    turn[1][0].seat = 1;
    turn[1][1].word = NULL;
    turn[1][1].verdict = VERDICT_CUT;
    turn[1][1].action = -1;
    turn[1][1].nreply = 0;
    turn[1][1].reply = NULL;
    turn[2][2] = turn[2][0];
    turn[2][2].ply = 3;
    turn[2][2].logp = NULL;
    m[2].nturns = 3;
    m[2].reason = END_ABORTED;
    m[2].kind = MATCH_EVAL;
    int order[] = {1, 2, 0};
    for (int i = 0; i < 3; i++)
        ok(store_match_add(f->store, &m[order[i]], &e), &e);
    holds(f, m, 3);
    assert_int_equal(store_match_last(f->store, &e), 1000000007);
    assert_true(store_match_exists(f->store, 9));
    assert_false(store_match_exists(f->store, 10));
}

static void
test_nothing(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct expected x = {0};
    assert_int_equal(store_match_last(f->store, &e), 0);
    ok(store_match_each(f->store, 1, 100, compare, &x, &e), &e);
    assert_int_equal(x.seen, 0);
    struct store_match bare = {.id = 1, .game = 1, .policy = {1, 1}, .loser = -1};
    ok(store_match_add(f->store, &bare, &e), &e);
    holds(f, &bare, 1);
}

static void
test_all_enums(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_turn turn[32][2];
    struct store_match m[32];
    int n = 0;
    for (int kind = MATCH_TRAIN; kind <= MATCH_PLAY; kind++)
        for (int reason = 0; reason < END_REASONS; reason++, n++) {
            m[n] = plain_match(n + 1, turn[n]);
            m[n].kind = (enum match_kind)kind;
            m[n].reason = (enum match_reason)reason;
            turn[n][1].verdict = (enum turn_verdict)(n % VERDICTS);
            ok(store_match_add(f->store, &m[n], &e), &e);
        }
    holds(f, m, n);
    assert_string_equal(match_kind_name(MATCH_WARMUP), "warmup");
    assert_string_equal(match_reason_name(END_NO_ANSWER), "no answer");
    assert_string_equal(turn_verdict_name(VERDICT_NO_WORD), "no word");
    assert_string_equal(match_reason_name((enum match_reason)99), "unknown");
}

/* Replies that are no text come back byte for byte, and every tool can read their rows. */
static void
test_any_bytes(void **state) {
    static const struct {
        const char *bytes;
        size_t n;
        const char *stored;
    } cases[] = {
        {"", 0, ""},
        {"C:\\x41 \\\\", 9, "C:\\x41 \\\\"},
        {"tab\tline\ncarriage\r", 18, "tab\tline\ncarriage\r"},
        {"d\xc3\xa9j\xc3\xa0 \xe2\x82\xac \xf0\x9f\x8e\xb2", 15,
         "d\xc3\xa9j\xc3\xa0 \xe2\x82\xac \xf0\x9f\x8e\xb2"},
        {"a\0b", 3, "a\\x00b"},
        {"\\\xff", 2, "\\\\\\xff"},
        {"\xc3", 1, "\\xc3"},
        {"\xc0\xaf", 2, "\\xc0\\xaf"},
        {"\xed\xa0\x80", 3, "\\xed\\xa0\\x80"},
        {"\xe0\x9f\xbf", 3, "\\xe0\\x9f\\xbf"},
        {"\xf0\x8f\xbf\xbf", 4, "\\xf0\\x8f\\xbf\\xbf"},
        {"\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"},
        {"\xf5\x80\x80\x80", 4, "\\xf5\\x80\\x80\\x80"},
        {"\xe2\x82", 2, "\\xe2\\x82"},
        {"\x1b[2J\x7f", 5, "\\x1b[2J\\x7f"},
        {"\xc2\x9b"
         "1m",
         4, "\\xc2\\x9b1m"},
        {"\xc2\xa0", 2, "\xc2\xa0"},
    };
    enum { N = sizeof cases / sizeof *cases };
    struct fixture *f = *state;
    struct err e;
    struct store_turn turn[N][2];
    struct store_match m[N];
    for (int i = 0; i < N; i++) {
        m[i] = plain_match(i + 1, turn[i]);
        turn[i][0].reply = cases[i].bytes;
        turn[i][0].nreply = cases[i].n;
        turn[i][1].word = cases[i].bytes; /* up to its NUL */
        ok(store_match_add(f->store, &m[i], &e), &e);
    }
    holds(f, m, N);
    for (int i = 0; i < N; i++) {
        char sql[128], answer[128];
        snprintf(sql, sizeof sql, "SELECT reply FROM turn WHERE match_id = %d AND turn_no = 0",
                 i + 1);
        snprintf(answer, sizeof answer, "%s\n", cases[i].stored);
        ask(f->path, sql, answer);
    }
}

static void
test_long_reply(void **state) {
    struct fixture *f = *state;
    struct err e;
    enum { LONG = 1 << 20 };
    struct store_turn turn[2][2];
    struct store_match m[2] = {plain_match(1, turn[0]), plain_match(2, turn[1])};
    char *text = mem_alloc(LONG), *bytes = mem_alloc(LONG);
    int32_t *tokens = mem_alloc(LONG * sizeof *tokens);
    float *logp = mem_alloc(LONG * sizeof *logp);
    for (int i = 0; i < LONG; i++) {
        text[i] = (char)('a' + i % 26);
        bytes[i] = (char)(i * 7);
        tokens[i] = i;
        logp[i] = (float)-i;
    }
    turn[0][0].reply = text;
    turn[1][0].reply = bytes;
    turn[0][0].nreply = turn[1][0].nreply = LONG;
    turn[1][1].tokens = tokens;
    turn[1][1].logp = logp;
    turn[1][1].ntokens = LONG;
    turn[1][1].prompt = tokens;
    turn[1][1].nprompt = LONG;
    for (int i = 0; i < 2; i++)
        ok(store_match_add(f->store, &m[i], &e), &e);
    holds(f, m, 2);
    free(text);
    free(bytes);
    free(tokens);
    free(logp);
}

static void
test_log_probabilities_are_exact(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_turn turn[2];
    struct store_match m = plain_match(1, turn);
    const float odd[4] = {-0.0f, -INFINITY, NAN, -1e-40f};
    turn[0].logp = odd;
    ok(store_match_add(f->store, &m, &e), &e);
    holds(f, &m, 1);
}

/* Each distinct prompt has one row, also after its id was forgotten and in a later session. */
static void
test_prompts_are_shared(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_turn turn[2];
    int32_t prompt[2] = {0, 0};
    for (int session = 0; session < 2; session++) {
        for (int i = 0; i < 300; i++) {
            struct store_match m = plain_match(session * 1000 + i + 1, turn);
            prompt[0] = i % 100;
            turn[0].prompt = prompt;
            turn[0].nprompt = 1 + (size_t)(i % 2);
            turn[1].prompt = prompt;
            turn[1].nprompt = 0;
            ok(store_match_add(f->store, &m, &e), &e);
        }
        store_close(f->store);
        f->store = open_store(f->path, STORE_WRITE);
    }
    ask(f->path, "SELECT count(*), count(DISTINCT tokens), count(DISTINCT hash) FROM prompt",
        "100|100|100\n");
    ask(f->path, "SELECT count(*) FROM turn WHERE prompt_id IS NULL", "600\n");
}

/* Ids given in a batch that was rolled back are not used again for other prompts. */
static void
test_prompts_after_rollback(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_turn turn[2];
    struct store_match m = plain_match(1, turn);
    ok(store_match_add(f->store, &m, &e), &e);
    store_rollback(f->store);
    const int32_t other[] = {1, 2};
    turn[0].prompt = other;
    turn[0].nprompt = 2;
    ok(store_match_add(f->store, &m, &e), &e);
    struct store_turn again[2];
    struct store_match both[2] = {m, plain_match(2, again)};
    ok(store_match_add(f->store, &both[1], &e), &e);
    holds(f, both, 2);
    ask(f->path, "SELECT sum(matches) FROM tally", "2\n");
}

static void
test_twice(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_turn turn[3][2];
    struct store_match m[3] = {plain_match(1, turn[0]), plain_match(2, turn[1]),
                               plain_match(1, turn[2])};
    turn[2][0].reply = "other";
    turn[2][0].nreply = 5;
    ok(store_match_add(f->store, &m[0], &e), &e);
    refused(store_match_add(f->store, &m[2], &e), &e, "match, id 1");
    assert_false(store_retry(f->store));
    ok(store_match_add(f->store, &m[1], &e), &e); /* the batch goes on */
    holds(f, m, 2);
    refused(store_match_add(f->store, &m[2], &e), &e, "match, id 1");
    holds(f, m, 2);
    ask(f->path, "SELECT sum(matches), sum(turns), sum(tokens) FROM tally", "2|4|8\n");
}

/* The sums are those of the table, over many commits and more kinds of match than one batch can
 * hold. */
static void
test_sums(void **state) {
    static const char group[] = "SELECT game_id, kind, policy0_id, policy1_id, reason, "
                                "ifnull(loser, -1) AS loser, count(*),"
                                " sum(result > 0), sum(result = 0), sum(result < 0), sum(result),"
                                " sum((SELECT count(*) FROM turn WHERE match_id = id)),"
                                " sum((SELECT sum(ntokens) FROM turn WHERE match_id = id)) FROM "
                                "match GROUP BY 1, 2, 3, 4, 5, 6";
    static const char sums[] =
        "SELECT game_id, kind, policy0_id, policy1_id, reason, loser, matches, wins0, draws, wins1,"
        " result_sum, turns, tokens FROM tally ORDER BY 1, 2, 3, 4, 5, 6";
    struct fixture *f = *state;
    struct err e;
    struct rng r;
    rng_init(&r, 1, 1, RNG_TEST);
    for (int64_t id = 1; id <= 1500; id++) {
        struct store_turn turn[2];
        struct store_match m = plain_match(id, turn);
        m.kind = (enum match_kind)rng_below(&r, 4);
        m.reason = (enum match_reason)rng_below(&r, END_REASONS);
        m.loser = (int)rng_below(&r, 3) - 1;
        m.policy[0] = 1 + rng_below(&r, 2);
        m.policy[1] = 1 + rng_below(&r, 2);
        m.result = (double)rng_below(&r, 3) - 1;
        m.nturns = 1 + rng_below(&r, 2);
        ok(store_match_add(f->store, &m, &e), &e);
        if (id % 400 == 0)
            commit(f->store);
    }
    commit(f->store);
    char *expected = mem_text(raw_ask(f->path, group));
    ask(f->path, sums, expected);
    ask(f->path, "SELECT count(*) > 200 FROM tally", "1\n");
    free(expected);
    expected = mem_text(raw_ask(f->path,
                                "SELECT game_id, kind, reason, loser, sum(matches), sum(wins0),"
                                " sum(draws), sum(wins1), sum(result_sum), sum(turns), sum(tokens)"
                                " FROM tally GROUP BY 1, 2, 3, 4"));
    ask(f->path, "SELECT * FROM total ORDER BY 1, 2, 3, 4", expected);
    free(expected);
    expected = mem_text(
        raw_ask(f->path, "SELECT CASE seat WHEN 0 THEN policy0_id ELSE policy1_id END, seat, "
                         "game_id, kind, reason, loser IS seat AS fault, policy0_id = policy1_id, "
                         "count(*), sum(r > 0), sum(r = 0), sum(r < 0) FROM (SELECT m.*, seat, "
                         "CASE seat WHEN 0 THEN result ELSE -result END AS r FROM match m, "
                         "(SELECT 0 AS seat UNION ALL SELECT 1)) GROUP BY 1, 2, 3, 4, 5, 6, 7"));
    ask(f->path, "SELECT * FROM seat_tally ORDER BY 1, 2, 3, 4, 5, 6, 7", expected);
    free(expected);
}

static void
test_bad_matches(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_turn turn[2];
    const struct store_match good = plain_match(1, turn);
    struct store_match m;
    int n = 0;
#define BAD(change, words)                                     \
    do {                                                       \
        m = plain_match(1, turn);                              \
        change;                                                \
        refused(store_match_add(f->store, &m, &e), &e, words); \
        n++;                                                   \
    } while (0)
    BAD(m.id = 0, "match 0: id");
    BAD(m.game = 2, "game");
    BAD(m.game = 0, "game");
    BAD(m.policy[0] = 0, "policy");
    BAD(m.policy[1] = 3, "policy");
    BAD(m.kind = (enum match_kind)4, "kind");
    BAD(m.reason = END_REASONS, "reason");
    BAD(m.loser = 2, "loser");
    BAD(m.loser = -2, "loser");
    BAD(m.payoff[0] = NAN, "payoffs");
    BAD(m.payoff[1] = INFINITY, "payoffs");
    BAD(m.result = 1.01, "payoffs");
    BAD(m.result = NAN, "payoffs");
    BAD(m.moves = NULL, "length");
    BAD(m.turn = NULL, "length");
    BAD(m.nmoves = (size_t)1 << 40, "too many");
    BAD(m.nturns = (size_t)1 << 40, "too many");
    BAD(turn[1].seat = 2, "match 1, turn 1: seat");
    BAD(turn[0].ply = -1, "ply");
    BAD(turn[0].ply = 4, "ply");
    BAD(turn[0].policy = 3, "policy");
    BAD(turn[0].verdict = VERDICTS, "verdict");
    BAD(turn[0].nreply = (size_t)1 << 40, "too long");
    BAD(turn[0].ntokens = (size_t)1 << 40, "too many");
    BAD(turn[0].nprompt = (size_t)1 << 40, "too many");
    BAD(turn[1].ntokens = 1, "length");
    BAD(turn[1].nprompt = 1, "length");
    BAD(turn[1].reply = NULL, "length");
#undef BAD
    assert_int_equal(n, 28);
    m = plain_match(1, turn);
    ok(store_match_add(f->store, &m, &e), &e);
    holds(f, &good, 1);
}

static int
stop_at_two(void *arg, const struct store_match *m) {
    ++*(int *)arg;
    return m->id == 2 ? 77 : 0;
}

static int
read_within(void *arg, const struct store_match *m) {
    struct err e;
    (void)m;
    refused(store_match_each(arg, 1, 2, stop_at_two, NULL, &e), &e, "already");
    return 0;
}

static void
test_ranges(void **state) {
    struct fixture *f = *state;
    struct err e;
    int seen = 0;
    add_matches(f->store, 1, 10);
    assert_int_equal(store_match_each(f->store, 1, 10, stop_at_two, &seen, &e), 77);
    assert_int_equal(seen, 2);
    seen = 0;
    ok(store_match_each(f->store, 3, 7, stop_at_two, &seen, &e), &e);
    assert_int_equal(seen, 5);
    ok(store_match_each(f->store, 7, 3, stop_at_two, &seen, &e), &e);
    assert_int_equal(seen, 5);
    ok(store_match_each(f->store, 1, 1, read_within, f->store, &e), &e);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_field, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_all_enums, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_any_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_reply, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_log_probabilities_are_exact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_prompts_are_shared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_prompts_after_rollback, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sums, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_matches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ranges, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
