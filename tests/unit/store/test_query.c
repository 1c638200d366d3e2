/* Questions: the named ones, the views, and every example of docs/database.md. */
#include "tests/unit/store/fixture.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/rng.h"

/* Match `id` of a small run: 1 and 2 are played by the first weights, 3 is forfeited, 4 given up, 5
 * an evaluation. */
static struct store_match
make_match(int64_t id, struct store_turn turn[2]) {
    struct store_match m = plain_match(id, turn);
    m.started_ms += id * 1000;
    m.ended_ms += id * 1000;
    if (id == 2) {
        m.policy[0] = turn[0].policy = 1;
        m.policy[1] = turn[1].policy = 2;
        m.result = -1;
    } else if (id == 3) {
        m.reason = END_INVALID;
        m.loser = 0;
        m.result = -1;
        m.nturns = 1;
        turn[0].verdict = VERDICT_ILLEGAL;
        turn[0].action = -1;
        turn[0].reply = "I \x1b[31mraise!";
        turn[0].nreply = 13;
    } else if (id == 4) {
        m.reason = END_ABORTED;
        m.result = 0;
        m.nturns = 0;
        m.attempts = 2;
        m.detail = "worker 3 died (signal 9)";
    } else if (id == 5) {
        m.kind = MATCH_EVAL;
        m.result = 0;
    }
    return m;
}

/* Step 1 learned from the matches 1 and 2. */
static void
add_steps(struct store *s) {
    struct err e;
    int64_t policy;
    struct store_lease l = {.first = 1, .last = 2};
    ok(store_lease_add(s, &l, &e), &e);
    struct store_step zero = {.snapshot = "aaaa0000", .state = "s0"};
    ok(store_step_ack(s, &zero, &policy, &e), &e);
    struct store_sample sample[] = {{1, 0, 0.5, 0, 0.5}, {2, 1, 1, 0.1, 0.9}};
    struct store_baseline b = {1, 0, 0.05, 1};
    struct store_metric loss = {"loss", 0.25};
    struct store_step one = {.step = 1,
                             .policy_before = 2,
                             .snapshot = "bbbb1111",
                             .state = "s1",
                             .at_ms = 1750000009000,
                             .lease = &l,
                             .nlease = 1,
                             .sample = sample,
                             .nsample = 2,
                             .baseline = &b,
                             .nbaseline = 1,
                             .metric = &loss,
                             .nmetric = 1};
    ok(store_step_ack(s, &one, &policy, &e), &e);
}

static int
set_up_run(void **state) {
    if (set_up(state) < 0)
        return -1;
    struct fixture *f = *state;
    struct err e;
    for (int64_t id = 1; id <= 5; id++) {
        struct store_turn turn[2];
        struct store_match m = make_match(id, turn);
        ok(store_match_add(f->store, &m, &e), &e);
    }
    add_steps(f->store);
    struct store_eval v = {3, 1, 1, "exact", "{\"nash_conv\":0.4}", 1750000009500};
    ok(store_eval_add(f->store, &v, &e), &e);
    v.policy = 0;
    v.kind = "matches";
    ok(store_eval_add(f->store, &v, &e), &e);
    ok(store_event_add(f->store, "warn", "crew", "worker 3 \xff died", &e), &e);
    return 0;
}

/* ---- views ---- */

static void
test_who_won(void **state) {
    struct fixture *f = *state;
    ask(f->path,
        "SELECT id, outcome, winner, reason, forfeited_by, seconds, learned_in_step FROM v_matches",
        "1|player 0 won|step 0 (aaaa0000)|play|NULL|0.25|1\n"
        "2|player 1 won|step 0 (aaaa0000)|play|NULL|0.25|1\n"
        "3|player 1 won|random|invalid|step 0 (aaaa0000)|0.25|NULL\n"
        "4|no result|NULL|aborted|NULL|0.25|NULL\n"
        "5|draw|NULL|play|NULL|0.25|NULL\n");
    ask(f->path,
        "SELECT kind, game, player0, player1, moves, turns, started, detail FROM v_matches WHERE "
        "id = 4",
        "train|kuhn_poker(hands=1,side=0)|step 0 (aaaa0000)|random|4 1 0|0|2025-06-15 15:06:44.000|"
        "worker 3 died (signal 9)\n");
}

static void
test_why_forfeited(void **state) {
    struct fixture *f = *state;
    ask(f->path, "SELECT reason, game, player, kind, matches FROM v_forfeits",
        "invalid|kuhn_poker(hands=1,side=0)|step 0 (aaaa0000)|train|1\n");
    ask(f->path, "SELECT verdict, reply, prompt, ntokens, thinned FROM v_turns WHERE match_id = 3",
        "illegal|I \\x1b[31mraise!|Hi!|4|0\n");
    ask(f->path, "SELECT seat, forfeited, result FROM v_seats WHERE match_id = 3",
        "0|1|-1.0\n1|0|1.0\n");
}

static void
test_who_beats_whom(void **state) {
    struct fixture *f = *state;
    ask(f->path,
        "SELECT player, opponent, kind, matches, wins, draws, losses, mean FROM v_payoff"
        " ORDER BY kind, player",
        "random|step 0 (aaaa0000)|eval|1|0|1|0|0.0\n"
        "step 0 (aaaa0000)|random|eval|1|0|1|0|0.0\n"
        "random|step 0 (aaaa0000)|train|3|1|0|2|-0.166666666666667\n"
        "step 0 (aaaa0000)|random|train|3|2|0|1|0.166666666666667\n");
}

static void
test_self_play_counts_once(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_turn turn[2];
    struct store_match m = plain_match(6, turn);
    m.policy[1] = 2;
    ok(store_match_add(f->store, &m, &e), &e);
    commit(f->store);
    ask(f->path, "SELECT matches, wins, losses FROM v_payoff WHERE player = opponent", "1|1|0\n");
}

static void
test_what_made_a_step(void **state) {
    struct fixture *f = *state;
    ask(f->path, "SELECT * FROM v_samples WHERE step = 1",
        "1|1|0|0.5|0.0|0.5|0\n1|2|1|1.0|0.1|0.9|0\n");
    ask(f->path,
        "SELECT step, at, policy_before, policy_after, samples, first_match, last_match, loss FROM "
        "v_steps",
        "0|1970-01-01 00:00:00|NULL|step 0 (aaaa0000)|0|NULL|NULL|NULL\n"
        "1|2025-06-15 15:06:49|step 0 (aaaa0000)|step 1 (bbbb1111)|2|1|2|0.25\n");
    ask(f->path, "SELECT minute, kind, matches FROM v_speed ORDER BY kind",
        "2025-06-15 15:06|eval|1\n2025-06-15 15:06|train|4\n");
}

/* ---- named questions ---- */

struct answer {
    char text[1 << 14];
    size_t at;
    const char *columns; /* wanted ones, each between spaces */
    int stop_after, rows;
};

static int
add_row(void *arg, const struct store_cell *cell, int cells) {
    static const char types[] = {
        [STORE_NULL] = 'n', [STORE_INT] = 'i', [STORE_REAL] = 'r', [STORE_TEXT] = 't'};
    struct answer *a = arg;
    for (int i = 0; i < cells; i++) {
        char word[64];
        snprintf(word, sizeof word, " %s ", cell[i].name);
        if (!a->columns || !strstr(a->columns, word))
            continue;
        assert_int_equal(cell[i].type == STORE_NULL, cell[i].text == NULL);
        a->at += (size_t)snprintf(a->text + a->at, sizeof a->text - a->at, "%c:%s ",
                                  types[cell[i].type], cell[i].text ? cell[i].text : "");
    }
    a->at += (size_t)snprintf(a->text + a->at, sizeof a->text - a->at, "; ");
    return ++a->rows == a->stop_after;
}

/* What the question answers in these columns. */
static const char *
answer(struct fixture *f, const char *query, const struct store_bind *bind, size_t n,
       const char *columns) {
    static struct answer a;
    struct err e;
    a = (struct answer){.columns = columns};
    int rows = store_query(f->store, query, bind, n, add_row, &a, &e);
    ok(rows, &e);
    assert_int_equal(rows, a.rows);
    return a.text;
}

static void
test_status(void **state) {
    struct fixture *f = *state;
    assert_string_equal(
        answer(f, "status", NULL, 0,
               " step policy matches train_matches eval_matches forfeits aborted turns"
               " last_match matches_per_second snapshots open_leases last_leased "),
        "i:1 t:step 1 (bbbb1111) i:5 i:4 i:1 i:1 i:1 i:7 i:5 r:1.0 i:2 i:0 i:2 ; ");
}

static void
test_matches(void **state) {
    static const struct {
        struct store_bind bind[3];
        size_t n;
        const char *ids;
    } cases[] = {
        {{{0}}, 0, "i:5 ; i:4 ; i:3 ; i:2 ; i:1 ; "},
        {{{":limit", NULL, 2}}, 1, "i:5 ; i:4 ; "},
        {{{":limit", NULL, 2}, {":before", NULL, 4}}, 2, "i:3 ; i:2 ; "},
        {{{":limit", NULL, -1}}, 1, ""},
        {{{":limit", NULL, INT64_MAX}}, 1, "i:5 ; i:4 ; i:3 ; i:2 ; i:1 ; "},
        {{{":kind", "eval", 0}}, 1, "i:5 ; "},
        {{{":kind", "", 0}, {":game", "", 0}, {":reason", "", 0}},
         3,
         "i:5 ; i:4 ; i:3 ; i:2 ; i:1 ; "},
        {{{":reason", "play", 0}}, 1, "i:5 ; i:2 ; i:1 ; "},
        {{{":reason", "invalid", 0}}, 1, "i:3 ; "},
        {{{":reason", "aborted", 0}, {":limit", NULL, 1}}, 2, "i:4 ; "},
        {{{":reason", "x' OR 1", 0}}, 1, ""},
        {{{":game", "kuhn_poker", 0}, {":limit", NULL, 1}}, 2, "i:5 ; "},
        {{{":game", "kuhn_poker(hands=1,side=0)", 0}, {":limit", NULL, 1}}, 2, "i:5 ; "},
        {{{":game", "nim", 0}}, 1, ""},
        {{{":policy", "random", 0}, {":limit", NULL, 1}}, 2, "i:5 ; "},
        {{{":policy", "1", 0}, {":limit", NULL, 1}}, 2, "i:5 ; "},
        {{{":policy", NULL, 1}, {":limit", NULL, 1}}, 2, "i:5 ; "},
        {{{":policy", "aaaa", 0}, {":before", NULL, 3}}, 2, "i:2 ; i:1 ; "},
        {{{":policy", "bbbb1111", 0}}, 1, ""},
        {{{":policy", "aaa", 0}}, 1, ""},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = answer(f, "matches", cases[i].bind, cases[i].n, " id ");
        if (strcmp(got, cases[i].ids))
            fail_msg("case %zu answers %s", i, got);
    }
}

/* Every combination of filters finds what a plain search finds, whichever way it takes. */
static void
test_every_way_finds_the_same(void **state) {
    static const char *const kinds[] = {"", "train", "warmup", "eval"};
    static const char *const reasons[] = {"", "play", "invalid", "aborted"};
    static const char *const policies[] = {"", "random", "2", "bbbb1111", "aaaa"};
    static const char *const games[] = {"", "kuhn_poker", "nim", "nim(piles=1)", "nobody"};
    struct fixture *f = *state;
    struct err e;
    struct store_game games_more[] = {{.spec = "nim(piles=1)", .name = "nim", .version = 1},
                                      {.spec = "nim(piles=2)", .name = "nim", .version = 1}};
    for (int i = 0; i < 2; i++)
        ok(store_game_add(f->store, &games_more[i], &e), &e);
    /* The same weights at two steps: one name, two ids. */
    struct store_policy again = {.kind = "snapshot", .name = "aaaa0000", .step = 7};
    ok(store_policy_add(f->store, &again, &e), &e);
    struct rng r;
    rng_init(&r, 1, 1, RNG_TEST);
    for (int64_t id = 6; id <= 1200; id++) {
        struct store_turn turn[2];
        struct store_match m = plain_match(id, turn);
        m.game = rng_below(&r, 20) ? 1 : 1 + rng_below(&r, 3);
        m.kind = rng_below(&r, 9) ? MATCH_TRAIN : (enum match_kind)rng_below(&r, 4);
        m.reason = rng_below(&r, 9) ? END_PLAY : (enum match_reason)rng_below(&r, END_REASONS);
        m.policy[0] = turn[0].policy = 1 + rng_below(&r, (uint32_t)again.id);
        m.policy[1] = turn[1].policy = 1 + rng_below(&r, (uint32_t)again.id);
        ok(store_match_add(f->store, &m, &e), &e);
    }
    commit(f->store);
    size_t found = 0;
    for (int i = 0; i < 4 * 4 * 5 * 5; i++) {
        const char *kind = kinds[i % 4], *reason = reasons[i / 4 % 4];
        const char *who = policies[i / 16 % 5], *game = games[i / 80 % 5];
        int64_t limit = i % 3 == 0 ? 3 : 2000, before = i % 3 == 1 ? 500 : INT64_MAX;
        struct store_bind bind[] = {{":kind", kind, 0},      {":reason", reason, 0},
                                    {":policy", who, 0},     {":game", game, 0},
                                    {":limit", NULL, limit}, {":before", NULL, before}};
        char sql[1024];
        snprintf(sql, sizeof sql,
                 "SELECT group_concat('i:' || id || ' ; ', '') FROM (SELECT m.id FROM match m JOIN "
                 "game g ON g.id = game_id WHERE ('%s' = '' OR m.kind = '%s') AND ('%s' = '' OR "
                 "reason = '%s') AND ('%s' IN ('', g.name, g.spec)) AND ('%s' = '' OR EXISTS "
                 "(SELECT 1 FROM policy p WHERE p.id IN (policy0_id, policy1_id) AND (p.id = '%s' "
                 "OR substr(p.name, 1, max(4, length('%s'))) = '%s'))) AND m.id < %lld"
                 " ORDER BY m.id DESC LIMIT %lld)",
                 kind, kind, reason, reason, game, who, who, who, who, (long long)before,
                 (long long)limit);
        char *want = mem_text(raw_ask(f->path, sql));
        want[strlen(want) - 1] = '\0'; /* raw_ask() ends lines */
        if (!strcmp(want, "NULL"))
            *want = '\0';
        const char *got = answer(f, "matches", bind, 6, " id ");
        if (strcmp(got, want))
            fail_msg("kind '%s' reason '%s' policy '%s' game '%s' limit %lld: %s, not %s", kind,
                     reason, who, game, (long long)limit, got, want);
        found += strlen(got) > 0;
        free(want);
    }
    assert_true(found > 100);
}

/* Stretches of equal length; of long ones some steps are averaged, the newest among them. */
static void
test_series(void **state) {
    static const char steps[] =
        "DELETE FROM step; WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n"
        " WHERE i < %d) INSERT INTO step (step, policy_after_id, snapshot, state, refused, at_ms,"
        " samples, loss, extra) SELECT i, 2, 'x', 'y', i %% 2, i, 0, i / 1000.0,"
        " '{\"nodes\":1,\"reward_0.nim(piles=1.5)\":' || i || ',\"invalid.nim(piles=1.5)\":'"
        " || iif(i < 15, i, 'null') || iif(i < 1000, '', ',\"reward_0.chess\":0.5') || '}' FROM n";
    struct fixture *f = *state;
    char sql[1024];
    struct store_bind points = {":points", NULL, 3},
                      two[] = {{":points", NULL, 2}, {":from", NULL, 10}, {":to", NULL, 19}};
    snprintf(sql, sizeof sql, steps, 29);
    raw(f->path, sql);
    assert_string_equal(
        answer(f, "series", &points, 1, " step steps refused loss "),
        "i:9 i:10 i:5 r:0.0045 ; i:19 i:10 i:5 r:0.0145 ; i:29 i:10 i:5 r:0.0245 ; ");
    assert_string_equal(answer(f, "series", two, 3, " step steps "), "i:14 i:5 ; i:19 i:5 ; ");
    assert_string_equal(answer(f, "series_games", two, 3, " game column step value "),
                        "t:nim(piles=1.5) t:invalid i:14 r:12.0 ; "
                        "t:nim(piles=1.5) t:invalid i:19 n: ; "
                        "t:nim(piles=1.5) t:reward_0 i:14 r:12.0 ; "
                        "t:nim(piles=1.5) t:reward_0 i:19 r:17.0 ; ");
    assert_string_equal(
        answer(f, "series_games", &points, 1, " step value "),
        "i:9 r:4.5 ; i:19 r:12.0 ; i:29 n: ; i:9 r:4.5 ; i:19 r:14.5 ; i:29 r:24.5 ; ");
    /* More points than steps: one step each. */
    two[0].number = 2000;
    assert_int_equal(strlen(answer(f, "series", two, 3, " steps ")), 10 * strlen("i:1 ; "));
    snprintf(sql, sizeof sql, steps, 9999);
    raw(f->path, sql);
    assert_string_equal(answer(f, "series", &points, 1, " step steps "),
                        "i:3193 i:20 ; i:6513 i:20 ; i:9999 i:21 ; ");
    assert_non_null(strstr(answer(f, "series_games", &points, 1, " game step value "),
                           "t:chess i:9999 r:0.5 ; "));
}

static void
test_others(void **state) {
    struct fixture *f = *state;
    struct store_bind id = {":id", NULL, 3}, step = {":step", NULL, 1},
                      random = {":policy", "random", 0};
    assert_string_equal(answer(f, "match", &id, 1, " id reason loser "), "i:3 t:invalid i:0 ; ");
    assert_string_equal(answer(f, "turns", &id, 1, " verdict word action reply "),
                        "t:illegal t:b n: t:I \\x1b[31mraise! ; ");
    assert_string_equal(answer(f, "seats", &id, 1, " seat forfeited "), "i:0 i:1 ; i:1 i:0 ; ");
    assert_string_equal(
        answer(f, "policies", NULL, 0, " id label seats_played "),
        "i:3 t:step 1 (bbbb1111) i:0 ; i:2 t:step 0 (aaaa0000) i:5 ; i:1 t:random i:5 ; ");
    assert_string_equal(answer(f, "steps", NULL, 0, " step loss "), "i:1 r:0.25 ; i:0 n: ; ");
    assert_string_equal(answer(f, "samples", &step, 1, " match_id seat "), "i:1 i:0 ; i:2 i:1 ; ");
    assert_string_equal(answer(f, "evals", NULL, 0, " policy kind report "),
                        "n: t:matches t:{\"nash_conv\":0.4} ; t:step 1 (bbbb1111) t:exact "
                        "t:{\"nash_conv\":0.4} ; ");
    assert_string_equal(answer(f, "events", NULL, 0, " level text "),
                        "t:warn t:worker 3 \\xff died ; ");
    assert_string_equal(answer(f, "games", NULL, 0, " name matches "), "t:kuhn_poker i:5 ; ");
    assert_string_equal(answer(f, "forfeits", NULL, 0, " reason matches "), "t:invalid i:1 ; ");
    assert_string_equal(answer(f, "payoff", &random, 1, " wins losses "), "i:0 i:0 ; i:1 i:2 ; ");
    assert_string_equal(answer(f, "baselines", NULL, 0, " role value "), "i:0 r:0.05 ; ");
    assert_string_equal(answer(f, "leases", NULL, 0, " first_match last_match step "),
                        "i:1 i:2 i:1 ; ");
    assert_string_equal(answer(f, "run", NULL, 0, " key "), "");
}

/* The question goes another way than the view, to the same rows. */
static void
test_payoff_is_the_view(void **state) {
    struct fixture *f = *state;
    for (int limit = 1; limit <= 6; limit++) {
        struct store_bind most = {":limit", NULL, limit};
        char sql[400];
        snprintf(sql, sizeof sql,
                 "SELECT group_concat('i:' || matches || ' i:' || policy_id || ' i:' || opponent_id"
                 " || ' ; ', '') FROM (SELECT * FROM v_payoff ORDER BY policy_id DESC,"
                 " opponent_id DESC, game_id, kind LIMIT %d)",
                 limit);
        char *view = mem_text(raw_ask(f->path, sql));
        view[strcspn(view, "\n")] = '\0';
        assert_string_equal(answer(f, "payoff", &most, 1, " matches policy_id opponent_id "), view);
        free(view);
    }
}

static void
test_all_run_without_parameters(void **state) {
    struct fixture *f = *state;
    struct err e;
    int n = 0;
    for (; store_query_at(n); n++) {
        const struct store_named *q = store_query_at(n);
        assert_true(*q->help);
        answer(f, q->name, NULL, 0, NULL);
        /* The parameters it names are those it has. */
        char params[128];
        snprintf(params, sizeof params, "%s", q->params);
        for (char *p = strtok(params, " "); p; p = strtok(NULL, " ")) {
            struct store_bind any = {p, "", 0}, other = {":nothing", "", 0};
            answer(f, q->name, &any, 1, NULL);
            refused(store_query(f->store, q->name, &other, 1, add_row, NULL, &e), &e, q->params);
        }
        for (const char *p = q->sql; (p = strchr(p, ':')); p++) {
            char name[32];
            snprintf(name, sizeof name, "%.*s",
                     1 + (int)strspn(p + 1, "abcdefghijklmnopqrstuvwxyz"), p);
            if (!strstr(q->params, name) && strcmp(name, ":way")) /* its own */
                fail_msg("%s does not tell of its parameter %s", q->name, name);
        }
    }
    assert_true(n >= 16);
    assert_null(store_query_at(-1));
    refused(store_query(f->store, "nonsense", NULL, 0, add_row, NULL, &e), &e, "nonsense");
}

static void
test_stops_when_asked(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct answer a = {.stop_after = 2};
    assert_int_equal(store_query(f->store, "matches", NULL, 0, add_row, &a, &e), 2);
}

static void
test_strange_texts(void **state) {
    struct fixture *f = *state;
    raw(f->path, "UPDATE event SET text = CAST(x'61ff62' AS TEXT), level = ''");
    assert_string_equal(answer(f, "events", NULL, 0, " level text "), "t: t:a\\xffb ; ");
    raw(f->path, "UPDATE step SET loss = 9e999 WHERE step = 1");
    assert_string_equal(answer(f, "steps", NULL, 0, " step loss "), "i:1 t:Inf ; i:0 n: ; ");
}

/* A question without end (of a view that a stranger made) is given up, and nothing else is. */
static void
test_takes_too_long(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_bind id = {":id", NULL, -1};
    raw(f->path, "DROP VIEW v_matches; CREATE VIEW v_matches AS WITH RECURSIVE c(id) AS"
                 " (SELECT 1 UNION ALL SELECT id + 1 FROM c) SELECT id FROM c");
    add_matches(f->store, 6, 6);
    refused(store_query(f->store, "match", &id, 1, add_row, NULL, &e), &e, "too long");
    assert_false(store_retry(f->store));
    commit(f->store);
    assert_int_equal(store_match_last(f->store, &e), 6);
}

static void
test_readers_may_ask(void **state) {
    struct fixture *f = *state;
    struct store *writer = f->store;
    f->store = open_store(f->path, STORE_READ);
    assert_string_equal(answer(f, "status", NULL, 0, " matches "), "i:5 ; ");
    store_close(f->store);
    f->store = writer;
}

/* ---- the page that explains it ---- */

static char *
read_page(void) {
    struct buf b = {0};
    struct err e;
    ok(file_read("docs/database.md", 1 << 20, &b, &e), &e);
    char *page = mem_text(buf_text(&b));
    buf_free(&b);
    return page;
}

static void
test_examples_run(void **state) {
    struct fixture *f = *state;
    char *page = read_page(), *at = page;
    sqlite3 *db = raw_open(f->path);
    int blocks = 0, statements = 0, rows = 0;
    while ((at = strstr(at, "```sql\n"))) {
        char *end = strstr(at + 7, "```");
        assert_non_null(end);
        *end = '\0';
        const char *sql = at + 7;
        while (sql[strspn(sql, " \n")]) {
            sqlite3_stmt *st;
            if (sqlite3_prepare_v2(db, sql, -1, &st, &sql))
                fail_msg("%s: %s", at + 7, sqlite3_errmsg(db));
            int rc, n = 0;
            while ((rc = sqlite3_step(st)) == SQLITE_ROW)
                n++;
            assert_int_equal(rc, SQLITE_DONE);
            if (strstr(sqlite3_sql(st), "EXCEPT") ? n > 0 : n == 0)
                fail_msg("%s: %d rows", sqlite3_sql(st), n);
            sqlite3_finalize(st);
            statements++;
            rows += n;
        }
        at = end + 3;
        blocks++;
    }
    assert_true(blocks >= 9 && statements > blocks && rows > statements);
    sqlite3_close(db);
    free(page);
}

/* Every table and column, and every view, is explained. */
static void
test_page_is_complete(void **state) {
    struct fixture *f = *state;
    char *page = read_page();
    char *columns = mem_text(
        raw_ask(f->path, "SELECT '### ' || t.name || char(10), c.name FROM sqlite_schema t, "
                         "pragma_table_info(t.name) c"
                         " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY t.name"));
    int n = 0;
    for (char *line = columns; *line; n++) {
        char *bar = strstr(line, "\n|"), *end = strchr(bar + 1, '\n');
        bar[1] = *end = '\0';
        char *section = strstr(page, line);
        if (!section)
            fail_msg("docs/database.md has no section %s", line);
        char *next = strstr(section + 1, "\n##"), *found;
        size_t len = strlen(bar + 2);
        for (found = section; (found = strstr(found, bar + 2)); found++)
            if (strchr(" ,|\n", found[-1]) && strchr(" ,|\n", found[len]))
                break;
        if (!found || found > next)
            fail_msg("docs/database.md, %s: column %s is not explained", line, bar + 2);
        line = end + 1;
    }
    assert_true(n > 100);
    char *views = mem_text(raw_ask(f->path, "SELECT name FROM sqlite_schema WHERE type = 'view'"));
    for (char *line = strtok(views, "\n"); line; line = strtok(NULL, "\n")) {
        char row[64];
        snprintf(row, sizeof row, "\n| %s |", line);
        if (!strstr(page, row))
            fail_msg("docs/database.md does not explain %s", line);
    }
    free(views);
    free(columns);
    free(page);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_who_won, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_why_forfeited, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_who_beats_whom, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_self_play_counts_once, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_what_made_a_step, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_status, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_matches, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_every_way_finds_the_same, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_series, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_others, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_payoff_is_the_view, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_all_run_without_parameters, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_stops_when_asked, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_strange_texts, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_takes_too_long, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_readers_may_ask, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_examples_run, set_up_run, tear_down),
        cmocka_unit_test_setup_teardown(test_page_is_complete, set_up_run, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
