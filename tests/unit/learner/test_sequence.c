/* From recorded turns to paths of the prefix tree, in both context modes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "learner/sequence.h"
#include "policy/token.h"
#include "tests/unit/learner/fixture.h"

static const int32_t prompt_0[] = {TOKEN_BOS, 'x', TOKEN_REPLY}, prompt_1[] = {'y', TOKEN_REPLY};
static const int32_t reply_0[] = {'a', TOKEN_END}, reply_1[] = {'b', TOKEN_END};
static const float logp_0[] = {-1, -2}, logp_1[] = {-3, -4};

/* Seat 0 speaks twice, seat 1 once in between. */
struct three {
    struct store_match m;
    struct store_turn turn[3];
};

static void
make(struct three *t) {
    *t = (struct three){.m = {.id = 9, .nturns = 3, .turn = t->turn}};
    struct store_turn first = {.seat = 0,
                               .prompt = prompt_0,
                               .nprompt = 3,
                               .tokens = reply_0,
                               .logp = logp_0,
                               .ntokens = 2,
                               .verdict = VERDICT_OK};
    t->turn[0] = t->turn[1] = t->turn[2] = first;
    t->turn[1].seat = 1;
    t->turn[2].prompt = prompt_1;
    t->turn[2].nprompt = 2;
    t->turn[2].tokens = reply_1;
    t->turn[2].logp = logp_1;
}

static int
add(const struct sequence_rule *rule, const struct three *t, struct score *s, struct visits *v) {
    struct err e = {.text = ""};
    score_clear(s);
    visits_clear(v);
    return sequence_add(s, rule, &t->m, 0, 0.5, v, &e);
}

static void
check_visit(const struct visits *v, size_t i, int parent, int node, double behaviour) {
    assert_int_equal(v->at[i].parent, parent);
    assert_int_equal(v->at[i].node, node);
    assert_true((double)v->at[i].behaviour == behaviour);
    assert_true(v->at[i].advantage == 0.5);
}

static void
paths(void **state) {
    (void)state;
    struct plan p = fixture_plan(NULL);
    struct score *s = score_new(&p.model, p.head, 1);
    struct visits v = {0};
    struct sequence_rule rule = {.config = &p.model, .conversation = true};
    struct three t;
    make(&t);
    /* One path: BOS x REPLY a END y REPLY b END. */
    assert_int_equal(add(&rule, &t, s, &v), 2);
    assert_int_equal(score_nodes(s), 9);
    assert_int_equal(v.n, 4);
    check_visit(&v, 0, 2, 3, -1);
    check_visit(&v, 1, 3, 4, -2);
    check_visit(&v, 2, 6, 7, -3);
    check_visit(&v, 3, 7, 8, -4);
    /* What another player said for the seat is context, not learned from. */
    t.turn[0].logp = NULL;
    assert_int_equal(add(&rule, &t, s, &v), 1);
    assert_int_equal(score_nodes(s), 9);
    assert_int_equal(v.n, 2);
    check_visit(&v, 0, 6, 7, -3);
    /* Apart: BOS x REPLY a END, and y REPLY b END. */
    make(&t);
    rule.conversation = false;
    assert_int_equal(add(&rule, &t, s, &v), 2);
    assert_int_equal(score_nodes(s), 9);
    check_visit(&v, 2, 6, 7, -3);
    t.turn[2].prompt = prompt_0;
    t.turn[2].nprompt = 3;
    assert_int_equal(add(&rule, &t, s, &v), 2);
    assert_int_equal(score_nodes(s), 7); /* a shared prompt is there once */
    check_visit(&v, 2, 2, 5, -3);
    t.turn[0].logp = NULL;
    assert_int_equal(add(&rule, &t, s, &v), 1);
    assert_int_equal(score_nodes(s), 5);
    visits_free(&v);
    score_free(s);
}

static void
imitation(void **state) {
    (void)state;
    struct plan p = fixture_plan(NULL);
    struct score *s = score_new(&p.model, p.head, 1);
    struct visits v = {0};
    struct sequence_rule rule = {.config = &p.model, .conversation = true, .imitate = true};
    struct three t;
    make(&t);
    t.turn[0].logp = t.turn[2].logp = NULL;
    assert_int_equal(add(&rule, &t, s, &v), 2);
    check_visit(&v, 3, 7, 8, 0);
    t.turn[2].verdict = VERDICT_ILLEGAL;
    assert_int_equal(add(&rule, &t, s, &v), 1);
    assert_int_equal(v.n, 2);
    /* A match that outgrows the context is used as far as it fits. */
    make(&t);
    int32_t big[16] = {TOKEN_BOS};
    t.turn[2].prompt = big;
    t.turn[2].nprompt = 16;
    assert_int_equal(add(&rule, &t, s, &v), 1);
    assert_int_equal(score_nodes(s), 5);
    rule.imitate = false;
    assert_int_equal(add(&rule, &t, s, &v), -1);
    visits_free(&v);
    score_free(s);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        cmocka_unit_test(imitation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
