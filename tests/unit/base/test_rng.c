/* Random streams: the published vectors of Philox4x32-10 (Random123's kat_vectors), and the shape
 * of what is made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/rng.h"

static void
test_philox(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t out[4];
        rng_philox(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

/* Stored matches are replayed from their seeds: these numbers may never change. */
static void
test_stream_is_stable(void **state) {
    (void)state;
    struct rng r;
    rng_init(&r, 1, 2, RNG_DEAL);
    uint64_t sum = 0;
    for (int i = 0; i < 1000; i++)
        sum = sum * 31 + rng_u32(&r);
    assert_true(sum == UINT64_C(0xb4c6dc521a069c2a));
    rng_init(&r, 1, 2, RNG_SEAT);
    sum = 0;
    for (int i = 0; i < 1000; i++)
        sum = sum * 31 + rng_below(&r, 3 + (uint32_t)i * 4294u);
    assert_true(sum == UINT64_C(0x97c124f65e6af247));
    rng_init(&r, 1, 2, RNG_TEST);
    assert_true(rng_unit(&r) == 0x1.dd9c50810b859p-1);
}

static void
test_streams_differ(void **state) {
    (void)state;
    struct rng r[5];
    rng_init(&r[0], 1, 1, RNG_DEAL);
    rng_init(&r[1], 2, 1, RNG_DEAL);
    rng_init(&r[2], 1, 2, RNG_DEAL);
    rng_init(&r[3], 1, 1, RNG_SEAT);
    rng_init(&r[4], 1, 1, RNG_SEAT + 1);
    uint64_t first[5];
    for (int i = 0; i < 5; i++)
        first[i] = rng_u64(&r[i]);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            assert_true(first[i] != first[j]);
}

static void
test_copy_continues(void **state) {
    (void)state;
    struct rng a, b;
    rng_init(&a, 7, 7, RNG_TEST);
    for (int i = 0; i < 5; i++)
        rng_u32(&a);
    b = a;
    for (int i = 0; i < 20; i++)
        assert_int_equal(rng_u32(&a), rng_u32(&b));
}

static void
test_below(void **state) {
    (void)state;
    struct rng r;
    rng_init(&r, 3, 3, RNG_TEST);
    unsigned seen[6] = {0};
    for (int i = 0; i < 60000; i++)
        seen[rng_below(&r, 6)]++;
    /* Chi-squared with 5 degrees of freedom: 25.7 is passed by one seed in 10,000. */
    double chi = 0;
    for (int i = 0; i < 6; i++)
        chi += (seen[i] - 10000.0) * (seen[i] - 10000.0) / 10000.0;
    assert_true(chi < 25.7);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(rng_below(&r, 1), 0);
        assert_true(rng_below(&r, 0xffffffff) < 0xffffffff);
    }
}

static void
test_unit_and_normal(void **state) {
    (void)state;
    struct rng r;
    rng_init(&r, 4, 4, RNG_TEST);
    double sum = 0, first = 0, second = 0, fourth = 0;
    int n = 100000;
    for (int i = 0; i < n; i++) {
        double u = rng_unit(&r), g = rng_normal(&r);
        assert_true(u >= 0 && u < 1 && isfinite(g));
        sum += u;
        first += g;
        second += g * g;
        fourth += g * g * g * g;
    }
    assert_true(fabs(sum / n - 0.5) < 0.005);
    assert_true(fabs(first / n) < 0.02);
    assert_true(fabs(second / n - 1) < 0.03);
    assert_true(fabs(fourth / n - 3) < 0.25);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox),         cmocka_unit_test(test_stream_is_stable),
        cmocka_unit_test(test_streams_differ), cmocka_unit_test(test_copy_continues),
        cmocka_unit_test(test_below),          cmocka_unit_test(test_unit_and_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
