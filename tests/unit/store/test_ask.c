/* A stranger's SQL: reading works, everything else is refused, nothing runs for ever. */
#include "tests/unit/store/fixture.h"

#include "base/buf.h"
#include "base/clock.h"

struct seen {
    int heads, rows;
    struct buf text;
};

static void
see_heads(void *arg, const struct store_cell *cell, int cells) {
    struct seen *seen = arg;
    (void)cell;
    seen->heads = cells;
}

static void
see_row(void *arg, const struct store_cell *cell, int cells) {
    struct seen *seen = arg;
    seen->rows++;
    for (int i = 0; i < cells; i++)
        buf_fmt(&seen->text, "%s=%s ", cell[i].name, cell[i].text ? cell[i].text : "NULL");
}

static int
question(struct store *s, const char *sql, struct seen *seen, bool *cut, struct err *e) {
    struct store_sql q = {.rows = 10,
                          .bytes = 100000,
                          .most_us = 300000,
                          .arg = seen,
                          .heads = see_heads,
                          .each = see_row};
    buf_free(&seen->text);
    *seen = (struct seen){0};
    int rows = store_sql(s, sql, strlen(sql), &q, e);
    *cut = q.cut;
    return rows;
}

static void
test_reads(void **state) {
    struct fixture *f = *state;
    struct store *s = open_store(f->path, STORE_READ);
    struct seen seen = {0};
    struct err e;
    bool cut;
    assert_int_equal(question(s, "SELECT id, name FROM policy ORDER BY id;\n ", &seen, &cut, &e),
                     2);
    assert_string_equal(buf_text(&seen.text), "id=1 name=random id=2 name=aaaa0000 ");
    assert_int_equal(seen.heads, 2);
    assert_false(cut);
    assert_int_equal(question(s, "SELECT 1 AS a WHERE 0", &seen, &cut, &e), 0);
    assert_int_equal(seen.heads, 1);
    assert_int_equal(question(s, "VALUES (NULL, x'00ff')", &seen, &cut, &e), 1);
    assert_int_equal(question(s,
                              "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c)"
                              " SELECT i FROM c",
                              &seen, &cut, &e),
                     10);
    assert_true(cut);
    assert_int_equal(question(s, "SELECT label FROM v_policies", &seen, &cut, &e), 2);
    assert_int_equal(
        question(s, "SELECT count(*), max(name), upper('x') FROM game", &seen, &cut, &e), 1);
    buf_free(&seen.text);
    store_close(s);
}

static void
test_refuses_all_else(void **state) {
    struct fixture *f = *state;
    struct store *s = open_store(f->path, STORE_READ);
    struct seen seen = {0};
    struct err e;
    bool cut;
    static const char *const bad[][2] = {
        {"DELETE FROM match", "writing"},
        {"INSERT INTO game VALUES (9, '', '', 1, '')", "writing"},
        {"UPDATE policy SET kept = 0 RETURNING id", "writing"},
        {"WITH x AS (SELECT 1) DELETE FROM match", "writing"},
        {"EXPLAIN DELETE FROM match", "writing"},
        {"CREATE TEMP TABLE t (a)", "refused"},
        {"CREATE VIEW v AS SELECT 1", "refused"},
        {"DROP TABLE match", "refused"},
        {"PRAGMA query_only = OFF", "PRAGMA"},
        {"PRAGMA journal_mode", "PRAGMA"},
        {"SELECT * FROM pragma_table_info('match')", "refused"},
        {"SELECT * FROM pragma_database_list", "refused"},
        {"ATTACH '/etc/passwd' AS x", "ATTACH"},
        {"VACUUM INTO '/tmp/copy.db'", "refused"},
        {"BEGIN", "transaction"},
        {"SAVEPOINT a", "transaction"},
        {"ANALYZE", "refused"},
        {"REINDEX", "refused"},
        {"SELECT load_extension('x')", ""},
        {"SELECT printf('%.*c', 2000000000, 'x')", "refused"},
        {"SELECT Format('%.2000000000c', 'x')", "refused"},
        {"SELECT readfile('/etc/passwd')", "no such function"},
        {"SELECT writefile('/tmp/x', 'y')", "no such function"},
        {"SELECT 1; SELECT 2", "one statement"},
        {"SELECT 1; DELETE FROM match", "one statement"},
        {"", "no question"},
        {" ; -- nothing", "no question"},
        {"SELECT", ""},
        {"SELECT * FROM nowhere", "no such table"},
        {"SELECT id,\n  naught\nFROM match", "line 2, column 3: no such column"},
        {"SELECT 1;\n SELECT 2", "line 2, column 2: one statement"},
        {"SELECT\n\n1 +* 2", "line 3, column 4"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(question(s, bad[i][0], &seen, &cut, &e), &e, bad[i][1]);
    struct store_sql q = {.rows = 1, .most_us = 1, .heads = see_heads, .each = see_row};
    q.arg = &seen;
    refused(store_sql(s, "SELECT 1\0;DROP TABLE match", 26, &q, &e), &e, "NUL");
    refused(store_sql(f->store, "SELECT 1", 8, &q, &e), &e, "can write");
    /* The connection is as before. */
    struct store_bind none = {":limit", NULL, 5};
    assert_true(store_query(s, "matches", &none, 1, NULL, NULL, &e) == 0);
    buf_free(&seen.text);
    store_close(s);
}

static void
test_is_bounded(void **state) {
    struct fixture *f = *state;
    struct store *s = open_store(f->path, STORE_READ);
    struct seen seen = {0};
    struct err e;
    bool cut;
#define FOREVER "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) "
    static const char *const bad[][2] = {
        {FOREVER "SELECT count(*) FROM c", "longer than 0.3 seconds"},
        {FOREVER "SELECT i FROM c WHERE i < 0", "longer than"},
        {"WITH RECURSIVE c(b) AS (SELECT zeroblob(4000000) UNION ALL SELECT zeroblob(4000000)"
         " FROM c) SELECT b FROM c ORDER BY random()",
         ""},
        {"SELECT zeroblob(100000000)", "too big"},
        {"SELECT replace(hex(zeroblob(1000000)), '0', 'xxxx')", "too big"},
        {"SELECT 'a' LIKE '" /* 80 wildcards */
         "%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a'",
         "LIKE or GLOB"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t start = clock_mono_us();
        refused(question(s, bad[i][0], &seen, &cut, &e), &e, bad[i][1]);
        assert_true(clock_mono_us() - start < 3000000);
    }
    assert_true(question(s,
                         "SELECT hex(zeroblob(45000)) UNION ALL SELECT hex(zeroblob(45000)) || 'y'",
                         &seen, &cut, &e) == 1);
    assert_true(cut);
    buf_free(&seen.text);
    store_close(s);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refuses_all_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_is_bounded, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
