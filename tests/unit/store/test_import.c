/* Results that were played elsewhere. */
#include "tests/unit/store/fixture.h"

static const char hash[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

static void
test_once(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_import_result row[] = {{"somebody", "random", 3, 2, 1}, {"random", "x", 0, 0, 4}};
    struct store_import in = {hash, "ladder.pgn", 1, 1000, row, 2};
    assert_int_equal(store_import_add(f->store, &in, &e), 0);
    assert_int_equal(store_import_add(f->store, &in, &e), 1);
    ask(f->path, "SELECT file, game, white, black, wins, draws, losses FROM v_imports",
        "ladder.pgn|kuhn_poker(hands=1,side=0)|random|x|0|0|4\n"
        "ladder.pgn|kuhn_poker(hands=1,side=0)|somebody|random|3|2|1\n");
    ask(f->path, "SELECT count(*) FROM match", "0\n");
    ask(f->path, "SELECT count(*) FROM tally", "0\n");
    assert_int_equal(store_import_remove(f->store, hash, &e), 1);
    assert_int_equal(store_import_remove(f->store, hash, &e), 0);
    ask(f->path, "SELECT count(*) FROM import, import_result", "0\n");
    in.game = 0;
    assert_int_equal(store_import_add(f->store, &in, &e), 0);
    ask(f->path, "SELECT game_id IS NULL FROM import", "1\n");
}

/* What cannot be is refused, and leaves nothing behind. */
static void
test_refused(void **state) {
    struct fixture *f = *state;
    struct err e;
    struct store_import_result good = {"a", "b", 1, 0, 0},
                               bad[] = {
                                   {"", "b", 1, 0, 0},
                                   {"a", NULL, 1, 0, 0},
                                   {"a", "\x1b[2J", 1, 0, 0},
                                   {"a", "\xff", 1, 0, 0},
                                   {"a", "b", -1, 0, 0},
                                   {"a", "b", 0, STORE_IMPORT_MOST + 1ll, 0},
                               };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct store_import in = {hash, "x", 0, 1, &bad[i], 1};
        refused(store_import_add(f->store, &in, &e), &e, "import: ");
    }
    struct store_import_result twice[] = {good, good};
    struct store_import in = {hash, "x", 0, 1, twice, 2};
    refused(store_import_add(f->store, &in, &e), &e, "table import_result");
    in = (struct store_import){"abc", "x", 0, 1, &good, 1};
    refused(store_import_add(f->store, &in, &e), &e, "64 hexadecimal digits");
    in = (struct store_import){hash, "x", 2, 1, &good, 1};
    refused(store_import_add(f->store, &in, &e), &e, "game 2");
    in = (struct store_import){hash, "a\nb\x01", 0, 1, &good, 1};
    refused(store_import_add(f->store, &in, &e), &e, "file's name");
    ask(f->path, "SELECT count(*) FROM import", "0\n");
    ask(f->path, "SELECT count(*) FROM import_result", "0\n");
}

static void
test_identity(void **state) {
    struct fixture *f = *state;
    struct err e;
    char a[HASH_HEX], b[HASH_HEX];
    ok(store_run_identity(f->store, a, &e), &e);
    ok(store_run_set(f->store, "seed", "5", &e), &e);
    ok(store_run_identity(f->store, b, &e), &e);
    assert_string_not_equal(a, b);
    ok(store_run_put(f->store, "kernel", "x", &e), &e);
    ok(store_run_identity(f->store, a, &e), &e);
    assert_string_equal(a, b);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_identity, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
