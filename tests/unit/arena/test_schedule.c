/* Who meets whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "arena/schedule.h"

static const int64_t scripted[] = {2, 3}, older[] = {10, 11, 12};
static const struct schedule_game one = {.id = 1, .weight = 1},
                                  with_scripted = {
                                      .id = 1, .weight = 1, .opponent = scripted, .nopponents = 2};

static void
test_warmup(void **state) {
    (void)state;
    struct schedule s = {
        .seed = 1, .pairs = true, .warmup = 5, .random = 2, .game = &one, .ngames = 1};
    struct match_job j;
    schedule_match(&s, 7, 4, 20, older, 3, &j);
    assert_int_equal(j.kind, MATCH_WARMUP);
    assert_int_equal(j.policy[0], 2);
    assert_int_equal(j.policy[1], 2);
    schedule_match(&s, 8, 5, 20, older, 3, &j);
    assert_int_equal(j.kind, MATCH_TRAIN);
    assert_int_equal(j.policy[0], 20);
}

/* A pair has one deal and one opponent, who changes seats. */
static void
test_pairs(void **state) {
    (void)state;
    struct schedule s = {.seed = 3,
                         .pairs = true,
                         .older = 0.5,
                         .scripted = 0.5,
                         .game = &with_scripted,
                         .ngames = 1};
    for (int64_t id = 1; id < 400; id += 2) {
        struct match_job a, b;
        schedule_match(&s, id, 1, 20, older, 3, &a);
        schedule_match(&s, id + 1, 1, 20, older, 3, &b);
        assert_int_equal(a.deal, b.deal);
        assert_int_equal(a.policy[0], b.policy[1]);
        assert_int_equal(a.policy[1], b.policy[0]);
        assert_true(a.policy[0] == 20 || a.policy[1] == 20);
    }
}

static void
test_shares(void **state) {
    (void)state;
    struct schedule s = {
        .seed = 3, .older = 0.25, .scripted = 0.25, .game = &with_scripted, .ngames = 1};
    int self = 0, past = 0, bots = 0, seat0 = 0;
    for (int64_t id = 1; id <= 20000; id++) {
        struct match_job j;
        schedule_match(&s, id, 1, 20, older, 3, &j);
        int64_t other = j.policy[0] == 20 ? j.policy[1] : j.policy[0];
        self += other == 20;
        past += other >= 10 && other <= 12;
        bots += other == 2 || other == 3;
        seat0 += other != 20 && j.policy[0] == 20;
    }
    /* 5 standard errors of a share of 20,000 */
    assert_in_range(self, 9646, 10354);
    assert_in_range(past, 4693, 5307);
    assert_in_range(bots, 4693, 5307);
    assert_in_range(seat0, 4650, 5350);
}

static void
test_no_opponents_yet(void **state) {
    (void)state;
    struct schedule s = {.seed = 3, .older = 1, .game = &one, .ngames = 1};
    struct match_job j;
    schedule_match(&s, 1, 1, 20, NULL, 0, &j);
    assert_int_equal(j.policy[0], 20);
    assert_int_equal(j.policy[1], 20);
}

/* Both matches of a pair are of one game, warm-up or not, and games get what they weigh; who cannot
 * play a game is never met in it. */
static void
test_games(void **state) {
    (void)state;
    const struct schedule_game games[] = {
        {.id = 7, .weight = 2},
        {.id = 4, .weight = 0.5, .opponent = scripted, .nopponents = 2},
        {.id = 9, .weight = 1.5}};
    struct schedule s = {.seed = 3,
                         .pairs = true,
                         .scripted = 1,
                         .warmup = 5,
                         .random = 1,
                         .game = games,
                         .ngames = 3};
    int seen[10] = {0};
    for (int64_t id = 1; id < 40000; id += 2) {
        struct match_job a, b, w;
        schedule_match(&s, id, 5, 20, older, 3, &a);
        schedule_match(&s, id + 1, 5, 20, older, 3, &b);
        schedule_match(&s, id, 0, 20, older, 3, &w);
        assert_int_equal(a.game, b.game);
        assert_int_equal(a.game, w.game);
        assert_int_equal(a.deal, b.deal);
        assert_true(a.game == 7 || a.game == 4 || a.game == 9);
        seen[a.game]++;
        bool self = a.policy[0] == 20 && a.policy[1] == 20;
        assert_int_equal(self, a.game != 4);
    }
    /* 5 standard errors of a share of 20,000 */
    assert_in_range(seen[7], 9646, 10354);
    assert_in_range(seen[4], 2266, 2734);
    assert_in_range(seen[9], 7157, 7843);
}

/* What one game gives must stay what it was: runs that exist continue. */
static void
test_single_game_is_as_before(void **state) {
    (void)state;
    struct schedule s = {.seed = 11,
                         .pairs = true,
                         .older = 0.4,
                         .scripted = 0.3,
                         .game = &with_scripted,
                         .ngames = 1};
    uint64_t sum = 0;
    for (int64_t id = 1; id <= 1000; id++) {
        struct match_job j;
        schedule_match(&s, id, 1, 20, older, 3, &j);
        sum = sum * 31 + (uint64_t)(j.policy[0] * 64 + j.policy[1]);
    }
    assert_true(sum == 12173524228142009862u);
}

static void
test_keeps(void **state) {
    (void)state;
    for (int64_t newest = 0; newest < 5000; newest += 7) {
        int kept = 0;
        for (int64_t step = 0; step <= newest; step++)
            kept += schedule_keeps(step, newest, 64);
        assert_in_range(kept, newest < 32 ? newest + 1 : 32, 64 + SCHEDULE_RECENT);
        assert_true(schedule_keeps(newest, newest, 64));
    }
    /* What was dropped once is never wanted again. */
    for (int64_t step = 0; step < 300; step++) {
        bool gone = false;
        for (int64_t newest = step; newest < 2000; newest++) {
            bool keeps = schedule_keeps(step, newest, 16);
            assert_false(gone && keeps);
            gone = !keeps;
        }
    }
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warmup), cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_shares), cmocka_unit_test(test_no_opponents_yet),
        cmocka_unit_test(test_games),  cmocka_unit_test(test_single_game_is_as_before),
        cmocka_unit_test(test_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
