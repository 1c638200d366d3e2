/* Messages between serve and worker: what is written is read back; whatever is cut or bent is
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "arena/wire.h"
#include "base/mem.h"
#include "base/rng.h"

static const int32_t prompt[] = {256, 65, 263}, tokens[] = {98, 257};
static const float logp[] = {-0.5f, -0.25f};
static const int32_t moves[] = {2, 0, 1};

static struct store_turn turns[] = {
    {.ply = 2,
     .seat = 0,
     .prompt = prompt,
     .nprompt = 3,
     .reply = "b\0c",
     .nreply = 3,
     .word = "b",
     .action = 1,
     .verdict = VERDICT_OK,
     .tokens = tokens,
     .logp = logp,
     .ntokens = 2,
     .policy = 7},
    {.ply = 3,
     .seat = 1,
     .prompt = NULL,
     .nprompt = 0,
     .reply = "",
     .nreply = 0,
     .word = NULL,
     .action = -1,
     .verdict = VERDICT_NO_WORD,
     .tokens = NULL,
     .logp = NULL,
     .ntokens = 0,
     .policy = 8},
};

static const struct store_match sample = {
    .id = 1ll << 40,
    .kind = MATCH_TRAIN,
    .iteration = 3,
    .game = 1,
    .deal = 9,
    .policy = {7, 8},
    .reason = END_INVALID,
    .loser = 1,
    .payoff = {0.5, -1.5},
    .result = 1,
    .moves = moves,
    .nmoves = 3,
    .started_ms = 11,
    .ended_ms = 12,
    .attempts = 2,
    .detail = "the game failed",
    .turn = turns,
    .nturns = 2,
};

static void
same_match(const struct store_match *a, const struct store_match *b) {
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->reason, b->reason);
    assert_int_equal(a->loser, b->loser);
    assert_true(a->payoff[0] == b->payoff[0] && a->payoff[1] == b->payoff[1]);
    assert_int_equal(a->attempts, b->attempts);
    assert_string_equal(a->detail, b->detail);
    assert_int_equal(a->nmoves, b->nmoves);
    assert_memory_equal(a->moves, b->moves, a->nmoves * sizeof *a->moves);
    assert_int_equal(a->nturns, b->nturns);
    for (size_t i = 0; i < a->nturns; i++) {
        const struct store_turn *x = &a->turn[i], *y = &b->turn[i];
        assert_int_equal(x->seat, y->seat);
        assert_int_equal(x->action, y->action);
        assert_int_equal(x->nprompt, y->nprompt);
        assert_int_equal(x->ntokens, y->ntokens);
        assert_int_equal(x->nreply, y->nreply);
        if (x->nreply)
            assert_memory_equal(x->reply, y->reply, x->nreply);
        assert_true((x->word == NULL) == (y->word == NULL));
        assert_true((x->logp == NULL) == (y->logp == NULL));
        if (x->logp)
            assert_memory_equal(x->logp, y->logp, x->ntokens * sizeof *x->logp);
    }
}

static void
test_match_round_trip(void **state) {
    (void)state;
    struct buf out = {0};
    wire_done(&out, &sample);
    enum wire_type type;
    struct rd body;
    size_t used;
    assert_int_equal(wire_next(out.at, out.len, &type, &body, &used), 1);
    assert_int_equal(type, WIRE_DONE);
    assert_int_equal(used, out.len);
    struct wire_match in = {0};
    assert_int_equal(wire_read_done(&body, &in), 0);
    same_match(&sample, &in.match);
    wire_match_free(&in);
    buf_free(&out);
}

/* Every cut of the body, and every flipped byte, is refused or read as some other valid match; it
 * never reads past its end (the sanitizers watch). */
static void
test_bent_matches(void **state) {
    (void)state;
    struct buf out = {0};
    wire_done(&out, &sample);
    struct wire_match in = {0};
    for (size_t n = 5; n < out.len; n++) {
        unsigned char *cut = mem_copy(out.at + 5, n - 5);
        struct rd body = {.at = cut, .left = n - 5};
        assert_int_equal(wire_read_done(&body, &in), -1);
        free(cut);
    }
    for (size_t i = 5; i < out.len; i++) {
        unsigned char *bent = mem_copy(out.at + 5, out.len - 5);
        bent[i - 5] ^= 0x80;
        struct rd body = {.at = bent, .left = out.len - 5};
        (void)wire_read_done(&body, &in);
        free(bent);
    }
    wire_match_free(&in);
    buf_free(&out);
}

static void
test_stream(void **state) {
    (void)state;
    struct buf out = {0};
    wire_hello(&out, &(struct wire_hello){
                         .run = "runs/x", .game = {{4, "nim"}, {9, "pig(goal=20)"}}, .games = 2});
    wire_cast(&out, &(struct wire_cast){.id = 5, .scripted = true, .name = "random"});
    struct match_job job = {.id = 3, .kind = MATCH_WARMUP, .policy = {5, 5}, .attempts = 1};
    wire_jobs(&out, 5, &job, 1);
    enum wire_type type;
    struct rd body;
    size_t used;
    for (size_t n = 0; n < 5; n++)
        assert_int_equal(wire_next(out.at, n, &type, &body, &used), 0);
    struct wire_hello hello;
    assert_int_equal(wire_next(out.at, out.len, &type, &body, &used), 1);
    assert_int_equal(wire_read_hello(&body, &hello), 0);
    assert_string_equal(hello.run, "runs/x");
    assert_int_equal(hello.version, WIRE_VERSION);
    assert_int_equal(hello.games, 2);
    assert_int_equal(hello.game[1].id, 9);
    assert_string_equal(hello.game[1].spec, "pig(goal=20)");
    size_t at = used;
    struct wire_cast cast;
    assert_int_equal(wire_next(out.at + at, out.len - at, &type, &body, &used), 1);
    assert_int_equal(wire_read_cast(&body, &cast), 0);
    assert_string_equal(cast.name, "random");
    at += used;
    int64_t newest;
    struct match_job *jobs;
    size_t n;
    assert_int_equal(wire_next(out.at + at, out.len - at, &type, &body, &used), 1);
    assert_int_equal(wire_read_jobs(&body, &newest, &jobs, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(jobs[0].id, 3);
    assert_int_equal(jobs[0].policy[1], 5);
    free(jobs);
    buf_free(&out);
}

static void
test_broken_stream(void **state) {
    (void)state;
    enum wire_type type;
    struct rd body;
    size_t used;
    const unsigned char zero[8] = {0}, huge[8] = {0xff, 0xff, 0xff, 0xff, 4};
    assert_int_equal(wire_next(zero, sizeof zero, &type, &body, &used), -1);
    assert_int_equal(wire_next(huge, sizeof huge, &type, &body, &used), -1);
    struct rng r;
    rng_init(&r, 1, 1, RNG_TEST);
    for (int i = 0; i < 2000; i++) {
        unsigned char noise[200];
        for (size_t k = 0; k < sizeof noise; k++)
            noise[k] = (unsigned char)rng_u32(&r);
        struct wire_match in = {0};
        struct rd one = {.at = noise, .left = sizeof noise}, two = one;
        assert_int_equal(wire_read_done(&one, &in), -1);
        struct match_job *jobs;
        int64_t newest;
        size_t n;
        assert_int_equal(wire_read_jobs(&two, &newest, &jobs, &n), -1);
        wire_match_free(&in);
    }
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match_round_trip),
        cmocka_unit_test(test_bent_matches),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_broken_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
