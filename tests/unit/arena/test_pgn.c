/* PGN as rating tools, arenas and enemies write it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "arena/pgn.h"
#include "base/buf.h"

#define HEAD "[White \"a\"]\n[Black \"b\"]\n"

static struct pgn_sums
sum(const char *text) {
    struct pgn_sums s;
    struct err e;
    if (pgn_sum("x.pgn", text, strlen(text), "me", &s, &e) < 0)
        fail_msg("%s", e.text);
    return s;
}

static void
bad_bytes(const char *text, size_t n, const char *words) {
    struct pgn_sums s;
    struct err e = {.text = ""};
    assert_int_equal(pgn_sum("x.pgn", text, n, "me", &s, &e), -1);
    assert_null(s.pair);
    if (!strstr(e.text, words))
        fail_msg("\"%s\" does not say \"%s\"", e.text, words);
}

static void
bad(const char *text, const char *words) {
    bad_bytes(text, strlen(text), words);
}

static void
is_pair(const struct pgn_pair *p, const char *white, const char *black, int wins, int draws,
        int losses) {
    assert_string_equal(p->white, white);
    assert_string_equal(p->black, black);
    assert_int_equal(p->wins, wins);
    assert_int_equal(p->draws, draws);
    assert_int_equal(p->losses, losses);
}

static void
test_sums(void **state) {
    (void)state;
    struct pgn_sums s =
        sum("\xef\xbb\xbf% a note\n" HEAD
            "[Result \"1-0\"]\n\n1. e4 {a } e5 $1 (1... c5 (1... d5) 2. d4) 1-0\n"
            "[Event \"x\"]\r\n" HEAD "[Result \"1/2-1/2\"]\r\n1/2-1/2\r\n" HEAD
            "[Result \"0-1\"] ; a comment [ { (\n\n" /* no result behind it */
            "[White \"b\"][Black \"a\"][Result \"0-1\"]0-1" HEAD "[Result \"*\"] *\n" HEAD
            "[Result \"1-0\"][AgonRun \"me\"] 1-0 " HEAD "[Result \"1-0\"][AgonRun \"you\"] 1-0");
    assert_int_equal(s.games, 7);
    assert_int_equal(s.open, 1);
    assert_int_equal(s.own, 1);
    assert_int_equal(s.pairs, 2);
    is_pair(&s.pair[0], "a", "b", 2, 1, 1);
    is_pair(&s.pair[1], "b", "a", 0, 0, 1);
    pgn_sums_free(&s);
    s = sum("  \n% nothing\n");
    assert_int_equal(s.games, 0);
    pgn_sums_free(&s);
}

static void
test_names(void **state) {
    (void)state;
    struct pgn_sums s =
        sum("[White \"a \\\"b\\\" \\\\ c\"][Black \"z\xc3\xbcrich\"][Result \"1-0\"]");
    is_pair(&s.pair[0], "a \"b\" \\ c", "z\xc3\xbcrich", 1, 0, 0);
    pgn_sums_free(&s);
    char name[PGN_NAME + 2], text[400];
    memset(name, 'x', sizeof name);
    snprintf(text, sizeof text, "[White \"%.*s\"][Black \"b\"][Result \"1-0\"]", PGN_NAME, name);
    s = sum(text);
    assert_int_equal(strlen(s.pair[0].white), PGN_NAME);
    pgn_sums_free(&s);
    snprintf(text, sizeof text, "[White \"%.*s\"]", PGN_NAME + 1, name);
    bad(text, "x.pgn:1:8: White: a name has at most 128 bytes");
    bad("[White \"\"]", "x.pgn:1:8: White: the name is empty");
    bad("[White \"a\tb\"]", "control character");
    bad("[White \"\xc2\x9b\"]", "control character");
    bad("[White \"caf\xe9\"]", "not UTF-8");
}

/* Lines and columns are those that an editor shows. */
static void
test_places(void **state) {
    (void)state;
    bad(HEAD "[Result \"2-0\"]", "x.pgn:3:9: Result: one of");
    bad("[Event \"z\xc3\xbcrich\"] [White a]", "x.pgn:1:25: a tag's value");
    bad("\n\n  e4", "x.pgn:3:3: a game begins with its tags");
    bad(HEAD "[Result \"1-0\"]\n\n1. e4 0-1", "x.pgn:5:7: the game ends with 0-1, but");
    bad("[Black \"b\"]\n[Result \"1-0\"]\n1-0", "x.pgn:1:1: this game has no tag White");
    bad("[White \"b\"][Result \"1-0\"]", "no tag Black");
    bad(HEAD, "x.pgn:1:1: this game has no tag Result");
    bad(HEAD "[Result \"1-0\"] { abc", "x.pgn:3:16: this { is never closed");
    bad(HEAD "[Result \"1-0\"] (1. e4 (", "x.pgn:3:23: this ( is never closed");
    bad(HEAD "[Result \"1-0\"] (1. e4\n[White \"x\"]", "x.pgn:3:16: this ( is never closed");
    bad(HEAD "[Result \"1-0\"] )", "x.pgn:3:16: nothing is open here that )");
    bad(HEAD "[Result \"1-0\"] }", "x.pgn:3:16: nothing is open here that }");
    bad("[White \"a\"", "x.pgn:1:11: the ] of the tag White is missing");
    bad("[White \"a\n\"]", "x.pgn:1:8: this quote is not closed");
    bad("[White", "x.pgn:1:7: a tag's value");
    bad("[", "x.pgn:1:2: a tag's name is missing");
    bad("[\"a\"]", "x.pgn:1:2: a tag's name is missing");
    bad_bytes(HEAD "[Result \"1-0\"] \0", sizeof(HEAD "[Result \"1-0\"] \0") - 1,
              "x.pgn:3:16: a NUL byte");
}

static void
test_limits(void **state) {
    (void)state;
    struct buf b = {0};
    buf_put(&b, HEAD "[Result \"1-0\"] ");
    for (int i = 0; i < 65; i++)
        buf_put(&b, "(");
    bad_bytes((const char *)b.at, b.len, "more than 64 variations");
    buf_clear(&b);
    buf_put(&b, "[White \"");
    for (int i = 0; i < 5000; i++)
        buf_put(&b, "x");
    bad_bytes((const char *)b.at, b.len, "at most 4095 bytes");
    buf_clear(&b);
    for (int i = 0; i <= PGN_PAIRS_MOST; i++)
        buf_fmt(&b, "[White \"%d\"][Black \"b\"][Result \"1-0\"]1-0\n", i);
    bad_bytes((const char *)b.at, b.len, "different pairs of players");
    buf_free(&b);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
