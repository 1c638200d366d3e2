/* Hosts, origins and tokens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "arena/guard.h"

static struct http_text
text(const char *s) {
    return s ? (struct http_text){s, strlen(s)} : (struct http_text){0};
}

static void
test_hosts(void **state) {
    (void)state;
    static struct guard g;
    static const char *const good[] = {"127.0.0.1", "127.0.0.1:8080", "localhost:1", "LocalHost",
                                       "[::1]",     "[::1]:99",       "box",         "Box:80",
                                       "a.example", "b.example",      "[fe80::2]:80"};
    static const char *const bad[] = {"evil.example",
                                      "localhost.evil.example",
                                      "localhost:",
                                      "localhost:x",
                                      "localhost:123456",
                                      "::1",
                                      "[::1",
                                      "[::1]x",
                                      "",
                                      " localhost",
                                      "localhost.",
                                      "localhost:80:80",
                                      "127.0.0.2",
                                      "127.1",
                                      "[127.0.0.1"};
    assert_int_equal(guard_set_hosts(&g, "box", "  a.example b.example [fe80::2]"), 0);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!guard_host(&g, text(good[i]), "127.0.0.1"))
            fail_msg("%s is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (guard_host(&g, text(bad[i]), "127.0.0.1"))
            fail_msg("%s is let in", bad[i]);
    assert_false(guard_host(&g, text(NULL), "127.0.0.1"));
    assert_true(guard_host(&g, text("10.1.2.3:80"), "10.1.2.3"));
    assert_true(guard_host(&g, text("[2001:db8::5]"), "2001:db8::5"));
    assert_false(guard_host(&g, text("10.1.2.4:80"), "10.1.2.3"));
    assert_false(guard_host(&g, text(""), ""));
    char many[200] = "";
    for (int i = 0; i < 40; i++)
        strcat(many, "a ");
    assert_int_equal(guard_set_hosts(&g, "box", many), -1);
}

static bool
from(const char *origin, const char *site, const char *mode, bool same) {
    struct http_head h = {0};
    h.field[HTTP_HOST] = text("localhost:8080");
    h.field[HTTP_ORIGIN] = text(origin);
    h.field[HTTP_SEC_FETCH_SITE] = text(site);
    h.field[HTTP_SEC_FETCH_MODE] = text(mode);
    return guard_origin(&h, same);
}

static void
test_origins(void **state) {
    (void)state;
    assert_true(from(NULL, NULL, NULL, true));
    assert_true(from("http://localhost:8080", "same-origin", "cors", true));
    assert_true(from("https://LOCALHOST:8080", NULL, NULL, true));
    assert_true(from(NULL, "none", "navigate", true));
    assert_false(from("null", NULL, NULL, true));
    assert_false(from("http://localhost:8081", NULL, NULL, true));
    assert_false(from("http://localhost", NULL, NULL, true));
    assert_false(from("http://evil.example", NULL, NULL, false));
    assert_false(from("file://localhost:8080", NULL, NULL, true));
    assert_false(from("http://", NULL, NULL, true));
    assert_false(from("", NULL, NULL, true));
    assert_false(from(NULL, "cross-site", "no-cors", true));
    assert_false(from(NULL, "cross-site", "no-cors", false));
    assert_false(from(NULL, "cross-site", "navigate", true));
    assert_true(from(NULL, "cross-site", "navigate", false));
}

static void
test_tokens(void **state) {
    (void)state;
    static struct guard g = {.token = "0123456789abcdef"};
    static struct guard none;
    assert_true(guard_token(&g, text("Bearer 0123456789abcdef")));
    assert_true(guard_token(&g, text("bearer 0123456789abcdef")));
    assert_false(guard_token(&g, text("Bearer 0123456789abcdee")));
    assert_false(guard_token(&g, text("Bearer 0123456789abcde")));
    assert_false(guard_token(&g, text("Bearer 0123456789abcdef0")));
    assert_false(guard_token(&g, text("Basic 00123456789abcdef")));
    assert_false(guard_token(&g, text("")));
    assert_false(guard_token(&g, text(NULL)));
    assert_false(guard_token(&none, text("Bearer ")));
}

int
main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hosts), cmocka_unit_test(test_origins),
                                       cmocka_unit_test(test_tokens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
