/* Rows that Agon did not write: each is an error that names its place, none is a crash. */
#include "tests/unit/store/fixture.h"

#include "base/file.h"
#include "base/rng.h"
#include "store/store-int.h"

static int
see(void *arg, const struct store_match *m) {
    (void)arg;
    (void)m;
    return 0;
}

static int
set_up_rows(void **state) {
    if (set_up(state) < 0)
        return -1;
    struct fixture *f = *state;
    add_matches(f->store, 1, 3);
    commit(f->store);
    return 0;
}

/* One change of match 2 each, and what the error must name. */
static const struct {
    const char *sql, *words;
} changes[] = {
    {"UPDATE match SET kind = 'tournament'", "table match, id 2, column kind"},
    {"UPDATE match SET kind = ''", "column kind"},
    {"UPDATE match SET kind = 'train' || char(0)", "column kind"},
    {"UPDATE match SET reason = 'PLAY'", "column reason"},
    {"UPDATE match SET game_id = 0", "column game_id"},
    {"UPDATE match SET policy0_id = -1", "column policy0_id"},
    {"UPDATE match SET policy1_id = 0", "column policy1_id"},
    {"UPDATE match SET loser = 2", "column loser"},
    {"UPDATE match SET loser = 4294967296", "column loser"},
    {"UPDATE match SET payoff0 = 9e999", "column payoff0"},
    {"UPDATE match SET payoff1 = -9e999", "column payoff1"},
    {"UPDATE match SET result = 1.5", "column result"},
    {"UPDATE match SET attempts = 1 << 40", "column attempts"},
    {"UPDATE match SET moves = '1  2'", "column moves"},
    {"UPDATE match SET moves = ' 1'", "column moves"},
    {"UPDATE match SET moves = '1 '", "column moves"},
    {"UPDATE match SET moves = '1,2'", "column moves"},
    {"UPDATE match SET moves = '-'", "column moves"},
    {"UPDATE match SET moves = '1 two'", "column moves"},
    {"UPDATE match SET moves = '2147483648'", "column moves"},
    {"UPDATE match SET moves = '99999999999999999999999999999999'", "column moves"},
    {"UPDATE match SET moves = '1' || char(0) || '2'", "column moves"},
    {"UPDATE turn SET ply = -1", "table turn, match 2, turn 0, column ply"},
    {"UPDATE turn SET ply = 1 << 33", "column ply"},
    {"UPDATE turn SET seat = 2", "column seat"},
    {"UPDATE turn SET policy_id = 0", "column policy_id"},
    {"UPDATE turn SET verdict = 'fine'", "column verdict"},
    {"UPDATE turn SET action = -1", "column action"},
    {"UPDATE turn SET action = 1 << 31", "column action"},
    {"UPDATE turn SET escaped = 2", "column escaped"},
    {"UPDATE turn SET escaped = 1, reply = 'a\\'", "column reply"},
    {"UPDATE turn SET escaped = 1, reply = 'a\\n'", "column reply"},
    {"UPDATE turn SET escaped = 1, reply = '\\x4'", "column reply"},
    {"UPDATE turn SET escaped = 1, reply = '\\xAG'", "column reply"},
    {"UPDATE turn SET escaped = 1, word = '\\'", "column word"},
    {"UPDATE turn SET ntokens = -1", "column ntokens"},
    {"UPDATE turn SET ntokens = 1 << 40", "column ntokens"},
    {"UPDATE turn SET ntokens = 3 WHERE turn_no = 0", "column tokens"},
    {"UPDATE turn SET tokens = x'0102' WHERE turn_no = 0", "column tokens"},
    {"UPDATE turn SET tokens = zeroblob(50000000) WHERE turn_no = 0", "column tokens"},
    {"UPDATE turn SET logp = x'00000000' WHERE turn_no = 0", "column logp"},
    {"UPDATE turn SET logp = zeroblob(15) WHERE turn_no = 0", "column logp"},
    {"UPDATE turn SET logp = zeroblob(4) WHERE turn_no = 1", "column logp"},
    {"UPDATE turn SET turn_no = turn_no + 1 WHERE turn_no = 1", "column turn_no"},
    {"UPDATE turn SET turn_no = -1 WHERE turn_no = 0", "column turn_no"},
    {"UPDATE turn SET prompt_id = 77", "column prompt_id: is not in table prompt"},
    {"UPDATE prompt SET tokens = zeroblob(5)", "table prompt, id 1, column tokens"},
};

static void
test_rows(void **state) {
    struct fixture *f = *state;
    struct err e;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        sqlite3 *db = f->store->db;
        const char *sql = changes[i].sql;
        bool prompt = strstr(sql, "UPDATE prompt") != NULL;
        char change[512]; /* of match 2 only, tried, and taken back */
        snprintf(change, sizeof change, "BEGIN; %s%s", sql,
                 prompt                              ? ""
                 : !strncmp(sql, "UPDATE match", 12) ? " WHERE id = 2"
                 : strstr(sql, "WHERE")              ? " AND match_id = 2"
                                                     : " WHERE match_id = 2");
        assert_int_equal(sqlite3_exec(db, change, NULL, NULL, NULL), SQLITE_OK);
        if (store_match_each(f->store, 2, 2, see, NULL, &e) >= 0)
            fail_msg("%s: nothing was wrong", change);
        refused(-1, &e, changes[i].words);
        if (!prompt)
            ok(store_match_each(f->store, 3, 3, see, NULL, &e), &e); /* the connection goes on */
        assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    }
    ok(store_match_each(f->store, 1, 3, see, NULL, &e), &e);
}

static void
test_orphans(void **state) {
    struct fixture *f = *state;
    struct err e;
    raw(f->path, "DELETE FROM match WHERE id = 2");
    refused(store_match_each(f->store, 1, 3, see, NULL, &e), &e, "table turn, match 2, turn 0");
    raw(f->path, "DELETE FROM match WHERE id = 3");
    refused(store_match_each(f->store, 3, 3, see, NULL, &e), &e, "table turn, match 3, turn 0");
    /* The rows of a match that died half written, which cannot be: the batch is given up, not half
     * kept. */
    struct store_turn turn[2];
    struct store_match m = plain_match(2, turn);
    add_matches(f->store, 9, 9);
    refused(store_match_add(f->store, &m, &e), &e, "table turn, match 2, turn 0");
    assert_false(store_retry(f->store));
    store_rollback(f->store);
    ask(f->path, "SELECT count(*) FROM match", "1\n");
}

static int
no_game(void *arg, const struct store_game *g) {
    (void)arg;
    (void)g;
    return 0;
}

static int
no_policy(void *arg, const struct store_policy *p) {
    (void)arg;
    (void)p;
    return 0;
}

static void
test_small_tables(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_game g;
    struct store_policy p;
    char text[HASH_HEX];
    int64_t step;
    raw(f->path, "UPDATE game SET spec = printf('%.300c', 'x')");
    refused(store_game_get(f->store, 1, &g, &e), &e, "table game, id 1, column spec");
    refused(store_game_list(f->store, no_game, NULL, &e), &e, "table game, id 1, column spec");
    raw(f->path, "UPDATE game SET spec = '', hash = 'a' || char(0)");
    refused(store_game_get(f->store, 1, &g, &e), &e, "column hash");
    raw(f->path, "UPDATE policy SET name = printf('%.65c', 'x') WHERE id = 2");
    refused(store_policy_get(f->store, 2, &p, &e), &e, "table policy, id 2, column name");
    refused(store_policy_list(f->store, no_policy, NULL, &e), &e,
            "table policy, id 2, column name");
    refused(store_policy_latest(f->store, &p, &e), &e, "table policy, id 2, column name");
    raw(f->path, "UPDATE policy SET kind = printf('%.20c', 'x') WHERE id = 1");
    refused(store_policy_get(f->store, 1, &p, &e), &e, "table policy, id 1, column kind");
    raw(f->path, "INSERT INTO run VALUES ('seed', 'a' || char(0), 0)");
    refused(store_run_get(f->store, "seed", text, sizeof text, &e), &e, "table run, key seed");
    raw(f->path,
        "INSERT INTO step (step, policy_after_id, snapshot, state, refused, at_ms, samples)"
        " VALUES (3, 2, '', printf('%.65c', 'x'), 0, 0, 0)");
    refused(store_step_last(f->store, &step, text, &e), &e, "table step, step 3, column state");
}

/* Triggers and views that a stranger planted are not run by the writer. */
static void
test_planted_code(void **state) {
    struct fixture *f = *state;
    raw(f->path, "CREATE TRIGGER evil AFTER INSERT ON match BEGIN DELETE FROM turn; END");
    store_close(f->store);
    f->store = open_store(f->path, STORE_WRITE);
    add_matches(f->store, 4, 5);
    commit(f->store);
    ask(f->path, "SELECT count(*) FROM turn", "10\n");
}

/* A file with damaged bytes anywhere: reading ends with rows or with an error. */
static void
test_damaged_file(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct rng r;
    struct buf file = {0};
    char path[160];
    int failed = 0;
    rng_init(&r, 1, 1, RNG_TEST);
    add_matches(f->store, 4, 400);
    store_close(f->store);
    f->store = NULL;
    ok(file_read(f->path, 1 << 24, &file, &e), &e);
    for (int i = 0; i < 200; i++) {
        unsigned char *bytes = mem_copy(file.at, file.len);
        size_t len = i % 4 ? file.len : rng_below(&r, (uint32_t)file.len);
        for (int k = 0; k < 20; k++)
            bytes[100 + rng_below(&r, (uint32_t)file.len - 100)] =
                (unsigned char)rng_below(&r, 256);
        snprintf(path, sizeof path, "%s/damaged%d.db", f->folder, i);
        ok(file_write(path, bytes, len, false, &e), &e);
        free(bytes);
        struct store *s = store_open(path, STORE_READ, false, &e);
        if (!s || store_match_each(s, 1, 1000, see, NULL, &e) < 0)
            failed++;
        store_close(s);
        unlink(path);
    }
    buf_free(&file);
    assert_true(failed > 20);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows, set_up_rows, tear_down),
        cmocka_unit_test_setup_teardown(test_orphans, set_up_rows, tear_down),
        cmocka_unit_test_setup_teardown(test_small_tables, set_up_rows, tear_down),
        cmocka_unit_test_setup_teardown(test_planted_code, set_up_rows, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_file, set_up_rows, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
