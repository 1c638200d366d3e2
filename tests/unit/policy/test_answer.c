/* The parsers of replies: what they find, and that hostile replies neither break nor slow them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "policy/answer.h"

static const struct answer *
parser(const char *name) {
    struct err e;
    const struct answer *a = answer_find(name, &e);
    assert_non_null(a);
    return a;
}

struct sample {
    const char *parser, *reply, *word; /* word NULL: there is none */
};

static const struct sample samples[] = {
    {"bracket", "[bet]", "bet"},
    {"bracket", "I will [check] or rather [ bet ].", "bet"},
    {"bracket", "[bet] and then [", "bet"},
    {"bracket", "[bet] ]", "bet"},
    {"bracket", "]bet[", NULL},
    {"bracket", "[bet", NULL},
    {"bracket", "bet]", NULL},
    {"bracket", "[a [b] c]", "b"},
    {"bracket", "[bet] []", NULL},
    {"bracket", "[bet] [ \t\n]", NULL},
    {"bracket", "[two\nlines]", "two\nlines"},
    {"bracket", "", NULL},
    {"boxed", "\\boxed{bet}", "bet"},
    {"boxed", "\\boxed{a} then \\boxed{ b }", "b"},
    {"boxed", "\\boxed{a{b}{c{d}}}", "a{b}{c{d}}"},
    {"boxed", "\\boxed{a} then \\boxed{b", "a"},
    {"boxed", "\\boxed{a} then \\boxed{b{}", "a"},
    {"boxed", "\\boxed{a \\boxed{b}}", "b"},
    {"boxed", "\\boxed{a} {b} } }", "a"},
    {"boxed", "{ { \\boxed{a}", "a"},
    {"boxed", "boxed{a}", NULL},
    {"boxed", "\\boxed {a}", NULL},
    {"boxed", "{a}", NULL},
    {"boxed", "\\boxed{}", NULL},
    {"boxed", "\\boxed{", NULL},
    {"boxed", "", NULL},
    {"line", "bet", "bet"},
    {"line", "first\nsecond", "second"},
    {"line", "first\r\n second \r\n\r\n \n", "second"},
    {"line", "\n\nbet", "bet"},
    {"line", "first\rsecond", "second"},
    {"line", "[bet]", "[bet]"},
    {"line", " \n\t\n", NULL},
    {"line", "", NULL},
    {"whole", " bet\n", "bet"},
    {"whole", "a\nb", "a\nb"},
    {"whole", "[bet]", "[bet]"},
    {"whole", " \n ", NULL},
    /* thinking */
    {"whole", "<think>fold</think>bet", "bet"},
    {"whole", "<think></think>\nbet", "bet"},
    {"whole", "bet<think>never ends", "bet"},
    {"whole", "<think>never ends bet", NULL},
    {"whole", "<think>a</think>b<think>c</think> d<think>", "b d"},
    {"whole", "<think>a<think>b</think>c", "c"},
    {"whole", "bet</think>", "bet</think>"},
    {"whole", "<think", "<think"},
    {"whole", "<think></think", NULL},
    {"bracket", "[bet]<think>[fold]</think>", "bet"},
    {"bracket", "<think>[fold]</think>", NULL},
    {"boxed", "<think>\\boxed{a}</think>\\boxed{b}<think>\\boxed{c}", "b"},
    {"line", "bet\n<think>\nfold\n</think>\n", "bet"},
};

static void
test_samples(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *s = &samples[i];
        char at[64];
        struct text word;
        text_init(&word, at, sizeof at);
        size_t n = strlen(s->reply);
        char *reply = mem_copy(s->reply, n); /* no NUL behind it: sanitizers see a read too far */
        int rc = answer_extract(parser(s->parser), reply, n, &word);
        free(reply);
        if (rc != (s->word ? 0 : -1) || strcmp(at, s->word ? s->word : "") != 0)
            fail_msg("%s of '%s': rc %d, word '%s', wanted '%s'", s->parser, s->reply, rc, at,
                     s->word ? s->word : "(none)");
    }
}

static void
test_nul(void **state) {
    (void)state;
    char at[64];
    struct text word;
    text_init(&word, at, sizeof at);
    assert_int_equal(-1, answer_extract(parser("whole"), "bet\0fold", 8, &word));
    assert_int_equal(-1, answer_extract(parser("bracket"), "[bet\0]", 6, &word));
    assert_int_equal(0, word.len);
    assert_int_equal(0, answer_extract(parser("bracket"), "\0[bet]\0", 7, &word));
    assert_string_equal("bet", at);
    assert_int_equal(-1, answer_extract(parser("whole"), NULL, 0, &word));
}

static void
test_long_word_is_cut(void **state) {
    (void)state;
    char at[4];
    struct text word;
    text_init(&word, at, sizeof at);
    assert_int_equal(0, answer_extract(parser("whole"), "raise", 5, &word));
    assert_string_equal("rai", at);
    assert_true(word.cut);
}

/* 1 MB of each pattern: anything worse than linear would take minutes. */
static void
test_linear_time(void **state) {
    (void)state;
    static const char *const patterns[] = {
        "[",  "]", "[]",        "][",      "\\boxed{", "\\boxed{}",
        "}",  "{", "}\\boxed{", "<think>", "</think>", "<think></think>",
        "\n", " ", "<thin",     "\\boxed",
    };
    const size_t size = 1 << 20;
    char *reply = mem_alloc(size), *word_at = mem_alloc(size + 1);
    int64_t start = clock_mono_us();
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        size_t len = strlen(patterns[p]);
        for (size_t i = 0; i < size; i++)
            reply[i] = patterns[p][i % len];
        for (int k = 0; answer_at(k); k++) {
            struct text word;
            text_init(&word, word_at, size + 1);
            answer_extract(answer_at(k), reply, size, &word);
        }
    }
    assert_true(clock_mono_us() - start < 20 * 1000 * 1000);
    free(reply);
    free(word_at);
}

static void
test_write_then_extract(void **state) {
    (void)state;
    for (int k = 0; answer_at(k); k++) {
        char reply_at[64], word_at[64];
        struct text reply, word;
        text_init(&reply, reply_at, sizeof reply_at);
        text_init(&word, word_at, sizeof word_at);
        answer_write(answer_at(k), "raise 3", &reply);
        assert_int_equal(0, answer_extract(answer_at(k), reply.at, reply.len, &word));
        assert_string_equal("raise 3", word_at);
    }
}

static void
test_unknown_name(void **state) {
    (void)state;
    struct err e;
    assert_null(answer_find("brackets", &e));
    assert_string_equal(
        "no parser of replies is named 'brackets'; there are: bracket, boxed, line, whole", e.text);
    assert_null(answer_find("", NULL));
    assert_null(answer_at(-1));
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_nul),
        cmocka_unit_test(test_long_word_is_cut),
        cmocka_unit_test(test_linear_time),
        cmocka_unit_test(test_write_then_extract),
        cmocka_unit_test(test_unknown_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
