/* Replies read by another parser: nothing differs where it finds the same, every kind of difference
 * is told, and hostile records are passed over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arena/match.h"
#include "arena/reparse.h"
#include "base/mem.h"

struct seen {
    struct reparse *reparse;
    int outcomes[REPARSE_OUTCOMES], changes, results;
    enum turn_verdict verdict; /* of the last change */
    char word[64];
    bool spoil, retry; /* the match is changed before it is read */
    const char *reply;
};

static void
on_change(void *arg, const struct reparse_change *c) {
    struct seen *s = arg;
    s->changes++;
    s->verdict = c->verdict;
    snprintf(s->word, sizeof s->word, "%s", c->word ? c->word : "(none)");
}

static void
load(struct setup *s, struct conf **c, const char *const *options) {
    struct err e = {.text = ""};
    *c = conf_new();
    for (; *options; options++)
        if (conf_set(*c, *options, &e) < 0)
            fail_msg("%s", e.text);
    if (setup_load(s, *c, &e) < 0)
        fail_msg("%s", e.text);
}

/* As the runner records it, or with a first reply that the run's parser did not understand. */
static void
done(void *arg, const struct store_match *played) {
    struct seen *s = arg;
    struct store_match m = *played;
    struct store_turn turn[64];
    assert_true(m.nturns <= 64);
    memcpy(turn, m.turn, m.nturns * sizeof *turn);
    m.turn = turn;
    if (s->spoil) {
        turn[0].reply = s->reply;
        turn[0].nreply = strlen(s->reply);
        turn[0].word = NULL;
        turn[0].verdict = VERDICT_NO_WORD;
        turn[0].action = -1;
        m.nturns = 1;
        m.nmoves = (size_t)turn[0].ply;
        m.reason = END_NO_ANSWER;
        m.loser = turn[0].seat;
        m.result = turn[0].seat ? 1 : -1;
    }
    struct reparse_match r = reparse_match(s->reparse, &m);
    s->outcomes[r.outcome]++;
    s->results += r.result > m.result || r.result < m.result;
    assert_true((r.turn >= 0) == (r.outcome != REPARSE_SAME && r.outcome != REPARSE_DAMAGED));
}

static void
play(const char *const *options, const char *parser, struct seen *seen) {
    struct setup s;
    struct conf *c;
    struct err e;
    load(&s, &c, options);
    seen->reparse = reparse_new(&s, answer_find(parser, &e), on_change, seen);
    struct runner *r = runner_new(&s);
    assert_int_equal(runner_add_scripted(r, 1, "random", &e), 0);
    for (int i = 0; i < 40; i++)
        runner_start(r,
                     &(struct match_job){
                         .id = 1 + i, .game = 1, .deal = i / 2, .policy = {1, 1}, .attempts = 1});
    while (runner_active(r))
        runner_step(r, done, seen);
    runner_free(r);
    reparse_free(seen->reparse);
    setup_free(&s);
    conf_free(c);
}

static const char *const kuhn[] = {"game=kuhn_poker", "prompt.answer=bracket", NULL};

static void
test_same(void **state) {
    (void)state;
    struct seen s = {0};
    play(kuhn, "bracket", &s);
    assert_int_equal(s.outcomes[REPARSE_SAME], 40);
    assert_int_equal(s.changes, 0);
}

static void
test_forfeit(void **state) {
    (void)state;
    struct seen s = {0};
    play(kuhn, "whole", &s); /* "[bet]" is no word of the game */
    assert_int_equal(s.outcomes[REPARSE_FORFEIT], 40);
    assert_true(s.changes >= 80 && s.results > 0);
    assert_int_equal(s.verdict, VERDICT_ILLEGAL);
    assert_int_equal(s.word[0], '[');
    s = (struct seen){0};
    play(kuhn, "boxed", &s);
    assert_int_equal(s.outcomes[REPARSE_FORFEIT], 40);
    assert_int_equal(s.verdict, VERDICT_NO_WORD);
    assert_string_equal(s.word, "(none)");
}

static void
test_asked_again(void **state) {
    (void)state;
    static const char *const options[] = {"game=kuhn_poker", "prompt.answer=bracket",
                                          "match.retries=1", NULL};
    struct seen s = {0};
    play(options, "whole", &s);
    assert_int_equal(s.outcomes[REPARSE_ASK_AGAIN], 40);
    assert_int_equal(s.results, 0);
}

static void
test_goes_on(void **state) {
    (void)state;
    struct seen s = {.spoil = true, .reply = "check"};
    play(kuhn, "whole", &s);
    assert_int_equal(s.outcomes[REPARSE_GO_ON], 40);
    assert_int_equal(s.verdict, VERDICT_OK);
    s = (struct seen){.spoil = true, .reply = "\x1b[2J\xff"}; /* means nothing either way */
    play(kuhn, "whole", &s);
    assert_int_equal(s.outcomes[REPARSE_SAME], 40);
    assert_int_equal(s.changes, 40);
    assert_int_equal(s.verdict, VERDICT_ILLEGAL);
}

static void
test_other_move(void **state) {
    (void)state;
    struct setup s;
    struct conf *c;
    struct err e;
    struct seen seen = {0};
    load(&s, &c, kuhn);
    struct reparse *r = reparse_new(&s, answer_find("line", &e), on_change, &seen);
    const int32_t moves[] = {0, 1, 0, 0}; /* two cards, two checks */
    const struct store_turn turn[] = {
        {.ply = 2, .reply = "[check]\nbet", .nreply = 11, .word = "check", .action = 0},
        {.ply = 3, .seat = 1, .reply = "check", .nreply = 5, .word = "check", .action = 0},
    };
    struct store_match m = {.id = 7,
                            .loser = -1,
                            .result = 0.5,
                            .moves = moves,
                            .nmoves = 4,
                            .turn = turn,
                            .nturns = 2};
    struct reparse_match got = reparse_match(r, &m);
    assert_int_equal(got.outcome, REPARSE_OTHER_MOVE);
    assert_int_equal(got.turn, 0);
    assert_string_equal(seen.word, "bet");
    m.nmoves = 2; /* a move is missing */
    assert_int_equal(reparse_match(r, &m).outcome, REPARSE_DAMAGED);
    m.moves = (const int32_t[]){1000, -5, 0};
    m.nmoves = 3;
    assert_int_equal(reparse_match(r, &m).outcome, REPARSE_DAMAGED);
    m = (struct store_match){.id = 8};
    assert_int_equal(reparse_match(r, &m).outcome, REPARSE_SAME);
    reparse_free(r);
    setup_free(&s);
    conf_free(c);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),        cmocka_unit_test(test_forfeit),
        cmocka_unit_test(test_asked_again), cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_other_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
