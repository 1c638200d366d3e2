/* Ratings: known values, known intervals, invariances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "arena/ratings.h"
#include "base/rng.h"

#define NEAR(a, b, eps) assert_true(fabs((a) - (b)) < (eps))

static double
chance(double difference) {
    return 1 / (1 + pow(10, -difference / 400));
}

static void
test_two_players(void **state) {
    (void)state;
    struct rating r[2];
    struct rating_pair p = {0, 1, 75000, 0, 25000};
    ratings_fit(&p, 1, 2, 1, r);
    NEAR(r[0].elo, 400 * log10(3), 0.01);
    assert_true(r[1].elo == 0 && r[1].low == 0 && r[1].high == 0);
    /* The variance of a log odds: 1 / (n p (1 - p)). */
    double margin = 1.959964 * 400 / log(10) / sqrt(100000 * 0.75 * 0.25);
    NEAR(r[0].high - r[0].elo, margin, 0.01);
    NEAR(r[0].elo - r[0].low, margin, 0.01);
    NEAR(r[0].score, 0.75, 1e-12);
    assert_true(r[0].matches == 100000 && r[0].group == r[1].group);
    struct rating_pair draws = {0, 1, 10, 80, 10};
    ratings_fit(&draws, 1, 2, -1, r);
    NEAR(r[0].elo, 0, 1e-6);
}

/* From exact expected results the ratings come back, whatever the schedule. */
static void
test_true_ratings(void **state) {
    (void)state;
    enum { N = 30 };
    double elo[N];
    struct rating_pair pair[N * N];
    struct rating r[N];
    size_t n = 0;
    for (int i = 0; i < N; i++)
        elo[i] = 40.0 * (i - N / 2);
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N && j < i + 4; j++) {
            double matches = 1e6 * (1 + (i * 7 + j) % 5), p = chance(elo[i] - elo[j]);
            struct rating_pair x = {i, j, matches * p * 0.9, matches * 0.0,
                                    matches * (1 - p) * 0.9};
            double drawn = matches * 0.1; /* half of a draw for each, weighted like the rest */
            x.wins += drawn * p - drawn * (p < 0.5 ? p : 1 - p);
            x.losses += drawn * (1 - p) - drawn * (p < 0.5 ? p : 1 - p);
            x.draws = 2 * drawn * (p < 0.5 ? p : 1 - p);
            pair[n++] = x;
        }
    ratings_fit(pair, n, N, 3, r);
    for (int i = 0; i < N; i++) {
        NEAR(r[i].elo, elo[i] - elo[3], 0.5);
        assert_true(r[i].group == 0);
    }
}

static void
test_all_won_is_finite(void **state) {
    (void)state;
    struct rating r[3];
    struct rating_pair p[] = {{0, 1, 1000, 0, 0}, {1, 2, 1000, 0, 0}};
    ratings_fit(p, 2, 3, -1, r);
    assert_true(isfinite(r[0].elo) && isfinite(r[0].low) && r[0].high > r[0].elo);
    assert_true(r[0].elo > r[1].elo + 200 && r[1].elo > r[2].elo + 200);
    NEAR(r[0].elo + r[1].elo + r[2].elo, 0, 1e-6);
}

static void
test_groups(void **state) {
    (void)state;
    struct rating r[6];
    struct rating_pair p[] = {
        {0, 4, 1, 0, 1}, {4, 2, 1, 0, 1}, {1, 5, 2, 0, 1},
        {3, 3, 9, 9, 9}, {7, 0, 1, 1, 1}, {-1, 0, 1, 1, 1}, /* none of these counts */
    };
    ratings_fit(p, 6, 6, -1, r);
    assert_true(r[0].group == 0 && r[2].group == 0 && r[4].group == 0);
    assert_true(r[1].group == 1 && r[5].group == 1 && r[3].group == 3);
    assert_true(r[3].matches == 0 && r[3].score == 0 && r[0].matches == 2);
    ratings_fit(p, 6, 0, -1, r);
}

/* Nine of ten intervals or more must hold the truth; too wide ones would hold all. */
static void
test_intervals_cover(void **state) {
    (void)state;
    enum { TRIALS = 400, MATCHES = 200 };
    struct rng g;
    int held = 0;
    rng_init(&g, 5, 1, 0);
    for (int t = 0; t < TRIALS; t++) {
        struct rating_pair p = {0, 1, 0, 0, 0};
        struct rating r[2];
        for (int m = 0; m < MATCHES; m++) {
            bool won = rng_unit(&g) < chance(120);
            p.wins += won;
            p.losses += !won;
        }
        ratings_fit(&p, 1, 2, 1, r);
        held += r[0].low < 120 && 120 < r[0].high;
    }
    assert_true(held > TRIALS * 0.92 && held < TRIALS * 0.98);
}

static void
test_largest(void **state) {
    (void)state;
    enum { N = RATINGS_MOST };
    struct rating_pair *p = malloc(sizeof *p * N * 3);
    struct rating *r = malloc(sizeof *r * N);
    size_t n = 0;
    for (int i = 0; i < N; i++)
        for (int d = 1; d <= 3; d++)
            p[n++] = (struct rating_pair){i, (i * 5 + d * 17) % N, 1 + i % 3, 1, 1 + d % 2};
    ratings_fit(p, n, N, -1, r);
    for (int i = 0; i < N; i++)
        assert_true(isfinite(r[i].elo) && r[i].low < r[i].elo && r[i].elo < r[i].high);
    free(p);
    free(r);
}

static void
test_wilson(void **state) {
    (void)state;
    double low, high;
    ratings_interval(50, 100, &low, &high);
    NEAR(low, 0.4038, 1e-4);
    NEAR(high, 0.5962, 1e-4);
    ratings_interval(0, 10, &low, &high);
    assert_true(low == 0);
    NEAR(high, 0.2775, 1e-4);
    ratings_interval(0, 0, &low, &high);
    assert_true(low == 0 && high == 1);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_players),
        cmocka_unit_test(test_true_ratings),
        cmocka_unit_test(test_all_won_is_finite),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_intervals_cover),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_wilson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
