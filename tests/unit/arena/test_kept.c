/* Answers are kept for ten times what they took, and not a moment longer than is said.
 * ThreadSanitizer too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "arena/kept.h"

static bool
finds(struct kept *k, const char *key, int64_t now_us, const char *want) {
    struct buf b = {0};
    char tag[KEPT_TAG] = "";
    bool zipped = false;
    bool got = kept_find(k, key, now_us, &b, tag, &zipped);
    if (got) {
        assert_string_equal(buf_text(&b), want);
        assert_string_equal(tag, "tag");
        assert_true(zipped);
    } else {
        assert_int_equal(b.len, 0);
    }
    buf_free(&b);
    return got;
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
    struct kept *k = kept_new();
    assert_false(finds(k, "a", 0, ""));
    add(k, "a", 1000, 1100, "one");
    assert_true(finds(k, "a", 1100, "one"));
    assert_true(finds(k, "a", 2099, "one"));
    assert_false(finds(k, "b", 1100, ""));
    assert_false(finds(k, "a", 2100, "")); /* this caller makes it anew */
    assert_true(finds(k, "a", 2101, "one"));
    assert_true(finds(k, "a", 2100 + 999999, "one"));
    assert_false(finds(k, "a", 2100 + 1000000, ""));
    add(k, "a", 2100, 2150, "two");
    assert_true(finds(k, "a", 2160, "two"));
    kept_free(k);
}

static void
test_failure_and_forgetting(void **state) {
    (void)state;
    struct kept *k = kept_new();
    add(k, "a", 0, 100, "one");
    kept_fail(k, "a");
    kept_fail(k, "never there");
    assert_false(finds(k, "a", 100, ""));
    add(k, "a", 100, 200, "one");
    kept_forget(k, 300);
    assert_false(finds(k, "a", 301, ""));
    add(k, "a", 299, 310, "begun before"); /* it may not know what was changed */
    assert_false(finds(k, "a", 311, ""));
    add(k, "a", 300, 310, "begun after");
    assert_true(finds(k, "a", 311, "begun after"));
    kept_free(k);
}

static void
test_room(void **state) {
    (void)state;
    struct kept *k = kept_new();
    char key[16];
    for (int i = 0; i <= KEPT_MOST; i++) {
        snprintf(key, sizeof key, "%d", i);
        add(k, key, i, i + 1000, key);
    }
    assert_false(finds(k, "0", 1000, "")); /* the oldest made room */
    assert_true(finds(k, "1", 1000, "1"));
    snprintf(key, sizeof key, "%d", KEPT_MOST);
    assert_true(finds(k, key, 1000, key));
    struct buf large = {0};
    buf_room(&large, KEPT_BYTES_MOST + 1);
    memset(large.at, 'x', KEPT_BYTES_MOST + 1);
    large.len = KEPT_BYTES_MOST + 1;
    kept_add(k, "1", 1000, 2000, &large, "tag", true);
    assert_false(finds(k, "1", 2000, "")); /* what is too large replaces nothing by itself */
    buf_free(&large);
    kept_free(k);
}

static void *
use(void *arg) {
    struct kept *k = arg;
    for (int i = 0; i < 20000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i % (KEPT_MOST + 9));
        if (!finds(k, key, i, key))
            add(k, key, i, i + 1, key);
        if (i % 1000 == 0)
            kept_forget(k, i);
    }
    return NULL;
}

static void
test_threads(void **state) {
    (void)state;
    struct kept *k = kept_new();
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, use, k), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    kept_free(k);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_age),
        cmocka_unit_test(test_failure_and_forgetting),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
