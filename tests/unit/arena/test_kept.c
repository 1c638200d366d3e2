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
    bool anew = false;
    const struct kept_answer *a = kept_find(k, key, now_us, &anew);
    if (!a)
        return false;
    assert_int_equal(anew, now_us >= a->good_us);
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
        int64_t took, good, late;
    } cases[] = {{0, KEPT_LEAST_US, KEPT_LATE_LEAST_US},
                 {1999, KEPT_LEAST_US, KEPT_LATE_LEAST_US},
                 {10000, 1000000, 5000000},
                 {30000, 3000000, 15000000},
                 {99999, 9999900, 49999500},
                 {100000, KEPT_MOST_US, 50000000},
                 {90000000, KEPT_MOST_US, KEPT_LATE_MOST_US}};
    struct kept *k = kept_new();
    assert_false(finds(k, "a", 0, ""));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t began = 1 + (int64_t)i * 2000000000, made = began + cases[i].took;
        int64_t good = made + cases[i].good;
        add(k, "a", began, made, "one");
        assert_true(finds(k, "a", made, "one"));
        bool anew = true;
        const struct kept_answer *a = kept_find(k, "a", made, &anew);
        assert_false(anew);
        assert_int_equal(a->made_us, made);
        assert_int_equal(a->good_us, good);
        assert_true(finds(k, "a", good + cases[i].late - 1, "one"));
        assert_false(finds(k, "a", good + cases[i].late, ""));
        assert_false(finds(k, "b", made, ""));
    }
    add(k, "a", 20000000000, 20000000001, "two");
    assert_true(finds(k, "a", 20000000002, "two"));
    kept_forget(k);
    assert_false(finds(k, "a", 20000000002, ""));
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

/* When making has taken more than a fortieth of the time, old answers serve; nothing is made. */
static void
test_no_time_left(void **state) {
    (void)state;
    struct kept *k = kept_new();
    bool anew = true;
    add(k, "a", 0, 1000, "one"); /* good for a second, and for one more */
    add(k, "dear", 1000, 901000, "more than may be taken in a second");
    int64_t late = 1000 + KEPT_LEAST_US + KEPT_LATE_LEAST_US;
    assert_non_null(kept_find(k, "a", late + 1, &anew));
    assert_false(anew);
    assert_null(kept_find(k, "b", late + 1, &anew)); /* what nobody has is made */
    assert_true(anew);
    /* A fortieth of the time is given back. */
    assert_non_null(kept_find(k, "a", late + 1000000, &anew));
    assert_false(anew);
    assert_null(kept_find(k, "a", late + 8500000, &anew));
    /* And no answer is very old, whatever else is asked. */
    int64_t made = 100001000, old = made + KEPT_LEAST_US + KEPT_OLD_US;
    add(k, "a", made - 1000, made, "two");
    for (int64_t now = made + 1000; now < old; now += 1000000) {
        add(k, "dear", now - 1000000, now, "again");
        assert_non_null(kept_find(k, "a", now, &anew));
        assert_false(anew);
    }
    add(k, "dear", old - 2000000, old, "again");
    assert_null(kept_find(k, "a", old, &anew));
    assert_true(anew);
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
    bool anew;
    int fit = KEPT_BYTES / KEPT_ONE_BYTES;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < fit; i++) {
            snprintf(key, sizeof key, "%d", i);
            add_bytes(k, key, i, KEPT_ONE_BYTES);
        }
    for (int i = 0; i < fit; i++) {
        snprintf(key, sizeof key, "%d", i);
        assert_non_null(kept_find(k, key, 1000, &anew));
    }
    add_bytes(k, "new", 1000, 1);
    assert_null(kept_find(k, "0", 1000, &anew));
    assert_non_null(kept_find(k, "1", 1000, &anew));
    add_bytes(k, "1", 1000, KEPT_ONE_BYTES + 1); /* too large, and the old one is out of date */
    assert_null(kept_find(k, "1", 1000, &anew));
    kept_free(k);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_age),
        cmocka_unit_test(test_no_time_left),
        cmocka_unit_test(test_room_for_answers),
        cmocka_unit_test(test_room_for_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
