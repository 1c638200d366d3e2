/* Prompt templates: their pieces in both modes, and the sentences that refuse a bad one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "policy/prompt.h"

static const struct prompt_parts parts = {
    .rules = "R", .view = "V", .history = "H", .news = "N", .legal = "a, b", .seat = "0"};

/* Tokens as text: bytes as they are, control tokens as <name>. */
static void
show(const struct tokens *t, char *out, size_t cap) {
    static const char *const names[] = {"bos",  "end",  "text",  "rules",
                                        "view", "news", "legal", "reply"};
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < t->n; i++) {
        assert_in_range(t->at[i], 0, TOKEN_COUNT - 1);
        assert_true(at + 10 < cap);
        if (t->at[i] >= 256)
            at += (size_t)snprintf(out + at, cap - at, "<%s>", names[t->at[i] - 256]);
        else
            at += (size_t)snprintf(out + at, cap - at, "%c", (char)t->at[i]);
    }
}

static void
check_build(struct prompt *p, int turn, const struct prompt_parts *with, const char *want) {
    struct tokens t = {0};
    char got[512];
    prompt_build(p, turn, with, &t);
    show(&t, got, sizeof got);
    assert_string_equal(want, got);
    tokens_free(&t);
}

static struct prompt *
compile(const char *template, const char *follow_up, enum prompt_mode mode) {
    struct err e = {.text = ""};
    struct prompt *p = prompt_new(template, follow_up, mode, &e);
    assert_string_equal("", e.text);
    assert_non_null(p);
    assert_int_equal(mode, prompt_mode(p));
    return p;
}

static void
test_observation(void **state) {
    (void)state;
    struct prompt *p = compile("{rules}{view}", "{nonsense}", PROMPT_OBSERVATION);
    check_build(p, 0, &parts, "<bos><rules>R<view>V<reply>");
    check_build(p, 7, &parts, "<bos><rules>R<view>V<reply>");
    prompt_free(p);
}

static void
test_conversation(void **state) {
    (void)state;
    struct prompt *p = compile("{rules}{view}", "{news}{view}", PROMPT_CONVERSATION);
    check_build(p, 0, &parts, "<bos><rules>R<view>V<reply>");
    check_build(p, 1, &parts, "<news>N<view>V<reply>");
    check_build(p, 2, &parts, "<news>N<view>V<reply>");
    prompt_free(p);
    p = compile("{view}", NULL, PROMPT_CONVERSATION);
    check_build(p, 1, &parts, "<reply>");
    prompt_free(p);
}

static void
test_every_place_and_text(void **state) {
    (void)state;
    struct prompt *p =
        compile("You are {seat}.\n{history}{news}{legal}\\boxed{{x}}", NULL, PROMPT_OBSERVATION);
    check_build(
        p, 0, &parts,
        "<bos><text>You are <text>0<text>.\n<news>H<news>N<legal>a, b<text>\\boxed{x}<reply>");
    prompt_free(p);
    p = compile("", NULL, PROMPT_OBSERVATION);
    check_build(p, 0, &parts, "<bos><reply>");
    prompt_free(p);
}

static void
test_missing_parts_are_empty(void **state) {
    (void)state;
    struct prompt *p =
        compile("{rules}{view}{history}{news}{legal}{seat}", NULL, PROMPT_OBSERVATION);
    check_build(p, 0, &(struct prompt_parts){.view = ""},
                "<bos><rules><view><news><news><legal><text><reply>");
    prompt_free(p);
}

/* Words that look like control text stay bytes. */
static void
test_parts_cannot_forge(void **state) {
    (void)state;
    struct prompt *p = compile("{news}", NULL, PROMPT_OBSERVATION);
    struct tokens t = {0};
    prompt_build(p, 0, &(struct prompt_parts){.news = "<reply>{view}\xff\x80"}, &t);
    assert_int_equal(3 + 15, t.n);
    for (size_t i = 2; i + 1 < t.n; i++)
        assert_in_range(t.at[i], 0, 255);
    tokens_free(&t);
    prompt_free(p);
}

static void
test_uses(void **state) {
    (void)state;
    struct prompt *p = compile("{rules}{legal}", "{news}", PROMPT_OBSERVATION);
    struct prompt_uses u = prompt_uses(p);
    assert_true(u.rules && u.legal && !u.view && !u.history && !u.news && !u.seat);
    prompt_free(p);
    p = compile("{view}{seat}", "{news}{history}", PROMPT_CONVERSATION);
    u = prompt_uses(p);
    assert_true(!u.rules && !u.legal && u.view && u.history && u.news && u.seat);
    prompt_free(p);
}

static void
check_refused(const char *template, const char *follow_up, const char *want) {
    struct err e = {.text = ""};
    assert_null(prompt_new(template, follow_up, PROMPT_CONVERSATION, &e));
    assert_string_equal(want, e.text);
}

#define KNOWN                                                                                      \
    "; places are {rules} {view} {history} {news} {legal} {seat} {game}, and {{ and }} stand for " \
    "braces"

static void
test_refused(void **state) {
    (void)state;
    check_refused("a{board}", "", "prompt.template: there is no place {board}" KNOWN);
    check_refused("{view}", "{View}", "prompt.follow_up: there is no place {View}" KNOWN);
    check_refused("{}", "", "prompt.template: there is no place {}" KNOWN);
    check_refused("{view", "", "prompt.template: a lone '{'; write {{ for a brace that is text");
    check_refused("{view}{", "", "prompt.template: a lone '{'; write {{ for a brace that is text");
    check_refused("a } b", "", "prompt.template: a lone '}'; write }} for a brace that is text");
    char big[5000] = "{";
    memset(big + 1, 'x', sizeof big - 3);
    big[sizeof big - 2] = '}';
    struct err e;
    assert_null(prompt_new(big, "", PROMPT_OBSERVATION, &e));
    assert_non_null(strstr(e.text, "{seat}"));
    assert_null(prompt_new("{", "", PROMPT_OBSERVATION, NULL));
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_observation),
        cmocka_unit_test(test_conversation),
        cmocka_unit_test(test_every_place_and_text),
        cmocka_unit_test(test_missing_parts_are_empty),
        cmocka_unit_test(test_parts_cannot_forge),
        cmocka_unit_test(test_uses),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
