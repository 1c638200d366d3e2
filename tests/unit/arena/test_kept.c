/* Answers are kept for a hundred times what they took, within limits, and not a moment longer than
 * is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "arena/kept.h"

static bool
finds(struct kept *k, const char *key, int64_t now_us, const char *want) {
    const struct kept_answer *a = kept_find(k, key, now_us);
    if (!a)
        return false;
    assert_string_equal(a->key, key);
    assert_int_equal(a->body.len, strlen(want));
    assert_memory_equal(a->body.at, want, a->body.len);
    assert_string_equal(a->tag, "tag");
    assert_true(a->zipped);
    return true;
}

static void
add(struct kept *k, const char *key, int64_t began_us, int64_t now_us, const char *text) {
    struct buf b = {0};
    buf_put(&b, text);
    kept_add(k, key, began_us, now_us, &b, "tag", true);
    buf_free(&b);
}

static void
test_age(void **state) {
    (void)state;
    static const struct {
        int64_t took, good;
    } cases[] = {{0, KEPT_LEAST_US},      {9999, KEPT_LEAST_US}, {10000, 1000000},
                 {30000, 3000000},        {99999, 9999900},      {100000, KEPT_MOST_US},
                 {90000000, KEPT_MOST_US}};
    struct kept *k = kept_new();
    assert_false(finds(k, "a", 0, ""));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t made = 1000 + cases[i].took, good = made + cases[i].good;
        add(k, "a", 1000, made, "one");
        assert_true(finds(k, "a", made, "one"));
        assert_int_equal(kept_find(k, "a", made)->made_us, made);
        assert_int_equal(kept_find(k, "a", made)->good_us, good);
        assert_true(finds(k, "a", good + KEPT_LATE_US - 1, "one"));
        assert_false(finds(k, "a", good + KEPT_LATE_US, ""));
        assert_false(finds(k, "b", made, ""));
    }
    add(k, "a", 2000, 2001, "two");
    assert_true(finds(k, "a", 2002, "two"));
    kept_forget(k);
    assert_false(finds(k, "a", 2002, ""));
    kept_free(k);
}

static void
test_room_for_answers(void **state) {
    (void)state;
    struct kept *k = kept_new();
    char key[16];
    for (int i = 0; i <= KEPT_ANSWERS; i++) {
        snprintf(key, sizeof key, "%d", i);
        add(k, key, i, i, key);
    }
    assert_false(finds(k, "0", 1000, "")); /* the oldest made room */
    for (int i = 1; i <= KEPT_ANSWERS; i++) {
        snprintf(key, sizeof key, "%d", i);
        assert_true(finds(k, key, 1000, key));
    }
    kept_free(k);
}

static void
add_bytes(struct kept *k, const char *key, int64_t now_us, size_t bytes) {
    struct buf large = {0};
    buf_room(&large, bytes);
    memset(large.at, 'x', bytes);
    large.len = bytes;
    kept_add(k, key, now_us, now_us, &large, "tag", true);
    buf_free(&large);
}

static void
test_room_for_bytes(void **state) {
    (void)state;
    struct kept *k = kept_new();
    char key[16];
    int fit = KEPT_BYTES / KEPT_ONE_BYTES;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < fit; i++) {
            snprintf(key, sizeof key, "%d", i);
            add_bytes(k, key, i, KEPT_ONE_BYTES);
        }
    for (int i = 0; i < fit; i++) {
        snprintf(key, sizeof key, "%d", i);
        assert_non_null(kept_find(k, key, 1000));
    }
    add_bytes(k, "new", 1000, 1);
    assert_null(kept_find(k, "0", 1000));
    assert_non_null(kept_find(k, "1", 1000));
    add_bytes(k, "1", 1000, KEPT_ONE_BYTES + 1); /* too large, and the old one is out of date */
    assert_null(kept_find(k, "1", 1000));
    kept_free(k);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_age),
        cmocka_unit_test(test_room_for_answers),
        cmocka_unit_test(test_room_for_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
