/* Near names and UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/near.h"
#include "base/utf8.h"

static const char *
nearest(const char *word) {
    static struct near n;
    static const char *const names[] = {"train", "play",    "replay", "serve",
                                        "eval",  "matches", "nim"};
    near_init(&n, word);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        near_offer(&n, names[i]);
    return n.best;
}

static void
test_nearest(void **state) {
    (void)state;
    assert_string_equal(nearest("trian"), "train");
    assert_string_equal(nearest("rtain"), "train");
    assert_string_equal(nearest("tran"), "train");
    assert_string_equal(nearest("pl"), "");
    assert_string_equal(nearest("plya"), "play");
    assert_string_equal(nearest("reply"), "replay");
    assert_string_equal(nearest("match"), "matches");
    assert_string_equal(nearest("serve"), "serve");
    assert_string_equal(nearest("nmi"), "nim");
    assert_string_equal(nearest("inm"), "nim");
    assert_string_equal(nearest("min"), "");
    assert_string_equal(nearest("zzzzz"), "");
    assert_string_equal(nearest(""), "");
}

static void
test_long_names(void **state) {
    (void)state;
    char word[200];
    struct near n;
    memset(word, 'a', sizeof word);
    for (size_t len = 70; len < 100; len++) {
        word[len] = '\0';
        near_init(&n, word);
        near_offer(&n, word);
        assert_string_equal(n.best, len <= NEAR_MAX ? word : "");
        word[len] = 'a';
    }
}

static void
test_utf8(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t n, valid;
    } known[] = {
        {"", 0, 0},
        {"abc", 3, 3},
        {"a\0b", 3, 3},
        {"\xc2\x80", 2, 2},
        {"\xe0\xa0\x80", 3, 3},
        {"\xed\x9f\xbf", 3, 3},
        {"\xee\x80\x80", 3, 3},
        {"\xf0\x90\x80\x80", 4, 4},
        {"\xf4\x8f\xbf\xbf", 4, 4},
        {"a\x80", 2, 1},             /* a continuation alone */
        {"a\xc0\x80", 3, 1},         /* overlong */
        {"a\xc1\xbf", 3, 1},         /* overlong */
        {"a\xe0\x9f\xbf", 4, 1},     /* overlong */
        {"a\xf0\x8f\xbf\xbf", 5, 1}, /* overlong */
        {"a\xed\xa0\x80", 4, 1},     /* a surrogate */
        {"a\xed\xbf\xbf", 4, 1},     /* a surrogate */
        {"a\xf4\x90\x80\x80", 5, 1}, /* above U+10FFFF */
        {"a\xf8\x88\x80\x80\x80", 6, 1},
        {"a\xfe", 2, 1},
        {"a\xff", 2, 1},
        {"a\xe2\x82", 3, 1}, /* cut */
        {"a\xe2\x82z", 4, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (utf8_valid(known[i].text, known[i].n) != known[i].valid)
            fail_msg("row %zu", i);
    uint32_t c;
    assert_int_equal(utf8_char("\xf0\x9f\x98\x80", 4, &c), 4);
    assert_int_equal(c, 0x1f600);
}

static void
test_show(void **state) {
    (void)state;
    char out[16];
    assert_string_equal(utf8_show("plain", out, sizeof out), "plain");
    assert_string_equal(utf8_show("", out, sizeof out), "");
    assert_string_equal(utf8_show("a\n\xc2\x9b\xff", out, sizeof out), "a\\x0a\\x9b\\xff");
    assert_string_equal(utf8_show("123456789012345", out, sizeof out), "123456789012345");
    assert_string_equal(utf8_show("1234567890123456", out, sizeof out), "123456789012...");
    assert_string_equal(
        utf8_show("1234567890\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", out, sizeof out),
        "1234567890...");
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
