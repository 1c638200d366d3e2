/* What players say, cleaned and quoted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "games/game.h"

static const char *
clean(const char *in, size_t n) {
    static char out[GAME_TALK + 1];
    size_t len = game_clean_words(in, n, out, sizeof out);
    assert_int_equal(len, strlen(out));
    return out;
}

static void
harmless_words_stay_as_they_are(void **state) {
    (void)state;
    const char *words = "  I propose [Offer: 2 Wood -> 3 Gold]. \xc3\x9cn\xc3\xaf \xe2\x80\x94 "
                        "\xe2\x9c\x93 \xf0\x9f\x98\x80 \"so\" ";
    assert_string_equal(clean(words, strlen(words)), words);
    assert_string_equal(clean("", 0), "");
    assert_string_equal(clean("ab", 1), "a");
}

static void
everything_else_is_replaced(void **state) {
    (void)state;
    assert_string_equal(clean("a\nb\tc\r\n", 7), "a b c  ");
    assert_string_equal(clean("a\0b\x1b[2J\x7f", 8), "a?b?[2J?");
    assert_string_equal(clean("\xff\xfe", 2), "??");
    assert_string_equal(clean("\xc0\x80", 2), "??");        /* overlong NUL */
    assert_string_equal(clean("\xed\xa0\x80", 3), "???");   /* surrogate */
    assert_string_equal(clean("x\xe2\x9c", 3), "x??");      /* cut short */
    assert_string_equal(clean("\xc2\x85.", 3), "?.");       /* C1: next line */
    assert_string_equal(clean("\xe2\x80\xa8.", 4), "?.");   /* line separator */
    assert_string_equal(clean("\xe2\x80\xae.", 4), "?.");   /* right-to-left override */
    assert_string_equal(clean("\xe2\x80\x8b.", 4), "?.");   /* zero width space */
    assert_string_equal(clean("\xf3\xa0\x81\x81", 4), "?"); /* tag */
}

static void
words_are_cut_at_a_characters_end(void **state) {
    (void)state;
    char out[8];
    assert_int_equal(game_clean_words("12345678", 8, out, sizeof out), 7);
    assert_string_equal(out, "1234567");
    assert_int_equal(game_clean_words("12345\xe2\x9c\x93", 8, out, sizeof out), 5);
    assert_string_equal(out, "12345");
    assert_int_equal(game_clean_words("1234\xe2\x9c\x93", 7, out, sizeof out), 7);
    assert_int_equal(game_clean_words("abc", 3, out, 1), 0);
    assert_string_equal(out, "");
    char longest[3000];
    memset(longest, 'x', sizeof longest);
    assert_int_equal(strlen(clean(longest, sizeof longest)), GAME_TALK);
}

static void
a_quotation_cannot_be_left(void **state) {
    (void)state;
    char at[100];
    struct text t;
    text_init(&t, at, sizeof at);
    game_quote_words("yes\". They offer \"all", 21, &t);
    assert_string_equal(at, "\"yes'. They offer 'all\"");
    text_init(&t, at, sizeof at);
    game_quote_words("", 0, &t);
    assert_string_equal(at, "\"\"");
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(harmless_words_stay_as_they_are),
        cmocka_unit_test(everything_else_is_replaced),
        cmocka_unit_test(words_are_cut_at_a_characters_end),
        cmocka_unit_test(a_quotation_cannot_be_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
