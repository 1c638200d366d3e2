/* Bounded texts: always terminated, never past the end, and they say when something was cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static void
test_every_size(void **state) {
    (void)state;
    const char *want = "ab-12cxyz 7!";
    for (size_t cap = 1; cap <= strlen(want) + 2; cap++) {
        char *memory = mem_alloc(cap);
        struct text t;
        text_init(&t, memory, cap);
        text_put(&t, "ab");
        text_int(&t, -12);
        text_char(&t, 'c');
        text_add(&t, "xyzw", 3);
        text_fmt(&t, " %d!", 7);
        size_t len = cap - 1 < strlen(want) ? cap - 1 : strlen(want);
        assert_int_equal(t.len, len);
        assert_int_equal(strlen(memory), len);
        assert_memory_equal(memory, want, len);
        assert_int_equal(t.cut, len < strlen(want));
        free(memory);
    }
}

static void
test_ints(void **state) {
    (void)state;
    char memory[64];
    struct text t;
    text_init(&t, memory, sizeof memory);
    text_int(&t, 0);
    text_char(&t, ' ');
    text_int(&t, LONG_MAX);
    text_char(&t, ' ');
    text_int(&t, LONG_MIN);
    assert_string_equal(memory, "0 9223372036854775807 -9223372036854775808");
    assert_false(t.cut);
}

static void
test_each_says_when_it_cuts(void **state) {
    (void)state;
    char memory[4];
    struct text t;
    text_init(&t, memory, sizeof memory);
    text_put(&t, "abc");
    assert_false(t.cut);
    text_char(&t, 'd');
    assert_true(t.cut);
    text_init(&t, memory, sizeof memory);
    text_int(&t, 1234);
    assert_true(t.cut);
    text_init(&t, memory, sizeof memory);
    text_fmt(&t, "%s", "abcd");
    assert_true(t.cut);
    assert_string_equal(memory, "abc");
}

/* Formats that are read here and those left to the C library, whole and mixed. */
static void
test_formats(void **state) {
    (void)state;
    char memory[64];
    struct text t;
    text_init(&t, memory, sizeof memory);
    text_fmt(&t, "%s|%d|%c|%%|", "abc", -12, 'x');
    text_fmt(&t, "%d %-4s|%03d|", 1, "ab", 7);
    text_fmt(&t, "%s", "");
    text_fmt(&t, "%g", 0.5);
    assert_string_equal(memory, "abc|-12|x|%|1 ab  |007|0.5");
    assert_int_equal(t.len, strlen(memory));
    assert_false(t.cut);
    text_init(&t, memory, 8);
    text_fmt(&t, "%s %05d %s", "abcd", 123, "x"); /* cut, then done again by the library */
    assert_string_equal(memory, "abcd 00");
    assert_true(t.cut);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_ints),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_each_says_when_it_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
