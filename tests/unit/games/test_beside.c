/* A game from outside plays on beside one that is in quarantine, hardly slower: matches of it are
 * played alone and beside the other in turns, in many short slices of equal time. Of each kind the
 * fast slices count, which other work of the machine has not interrupted. Playing alone is measured
 * twice: where even these differ, nothing is judged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/rng.h"
#include "games/extern/extern.h"
#include "games/extern/process.h"
#include "games/extern/program.h"

enum { SLICE_US = 8000, ROUNDS = 200 };
#define LOSS_MOST 0.10  /* of the healthy game's matches */
#define NOISE_MOST 0.05 /* between the same play and itself */

struct table {
    const struct game *g;
    struct game_args args;
    struct rng rng;
};

static const struct game *
open_game(const char *name, const char *script) {
    char folder[4096], hash[HASH_HEX];
    struct err e;
    assert_non_null(getcwd(folder, sizeof folder));
    struct registry_row r = {.command = {"/usr/bin/env", "python3", script},
                             .program = "/usr/bin/env",
                             .folder = folder,
                             .limits = {.memory_mb = 4096, .cpu_seconds = 600, .file_mb = 1}};
    struct hello h;
    const struct game *g = NULL;
    struct process *p = program_greet(&r, &h, &e);
    if (!p || registry_hash_command(r.command, folder, hash, &e) < 0)
        fail_msg("%s", e.text);
    process_stop(p);
    json_t *row =
        json_pack("{s:s,s:[s,s,s],s:s,s:s,s:i,s:f,s:s,s:s,s:i,s:i,s:s,s:s,s:O}", "kind", "program",
                  "command", "/usr/bin/env", "python3", script, "program", "/usr/bin/env", "folder",
                  folder, "memory_mb", 4096, "deadline", 10.0, "name", name, "title", "A game",
                  "version", 1, "speaks", 1, "added", "now", "hash", hash, "hello", h.json);
    hello_free(&h);
    if (registry_row_read(row, &r, &e) < 0 || extern_try(&r, &g, &e) < 0)
        fail_msg("%s", e.text);
    return g;
}

static void
try_bad(const struct game *g) {
    _Alignas(16) unsigned char state[GAME_MAX_STATE];
    struct game_args args = {0};
    g->init(state, &args);
    g->apply(state, 0);
    assert_int_equal(g->mover(state), GAME_OVER);
    assert_true(game_fault(g, state, NULL));
}

/* Moves a second of the healthy game; `bad` is tried before each of its matches. */
static double
play(struct table *t, const struct game *bad) {
    _Alignas(16) unsigned char state[GAME_MAX_STATE];
    long moves = 0;
    int64_t start = clock_mono_us(), now = start;
    while (now - start < SLICE_US) {
        if (bad)
            try_bad(bad);
        t->g->init(state, &t->args);
        for (; t->g->mover(state) != GAME_OVER; moves++) {
            int legal[GAME_MAX_ACTIONS];
            int n = t->g->legal(state, legal);
            t->g->apply(state, legal[rng_below(&t->rng, (uint32_t)n)]);
        }
        assert_false(game_fault(t->g, state, NULL));
        now = clock_mono_us();
    }
    return (double)moves * 1e6 / (double)(now - start);
}

static int
by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a tenth of the slices reach. */
static double
fast(double *v) {
    qsort(v, ROUNDS, sizeof v[0], by_size);
    return v[ROUNDS - ROUNDS / 10];
}

static void
a_quarantined_game_costs_others_little(void **state) {
    (void)state;
    struct err e;
    struct table t = {.g = open_game("wide", "tests/bench/wide_game.py")};
    const struct game *bad = open_game("crash", "tests/bench/crash_game.py");
    assert_int_equal(game_args_default(t.g, &t.args, &e), 0);
    rng_init(&t.rng, 1, 1, RNG_TEST);
    for (int i = 0; i < PROGRAM_FAILURES; i++)
        try_bad(bad);
    double alone[2][ROUNDS], beside[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        alone[0][i] = play(&t, NULL);
        beside[i] = play(&t, bad);
        alone[1][i] = play(&t, NULL);
    }
    double first = fast(alone[0]), second = fast(alone[1]);
    double noise = second / first, rest = 2 * fast(beside) / (first + second);
    extern_rest();
    if (noise < 1 - NOISE_MOST || noise > 1 + NOISE_MOST) {
        printf("skip - a quarantined game costs others little: the machine is too busy to say; the "
               "same play was %.2f times as fast a moment later\n",
               noise);
        skip();
    }
    if (rest < 1 - LOSS_MOST)
        fail_msg("beside a quarantined game another one made %.2f of its moves", rest);
    printf("# beside a quarantined game another one made %.2f of its moves (noise %.2f)\n", rest,
           noise);
}

int
main(void) {
    char home[] = "/tmp/agon-test-XXXXXX"; /* the user's own list of games is not touched */
    if (!mkdtemp(home))
        return 1;
    setenv("AGON_HOME", home, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_quarantined_game_costs_others_little)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char lock[sizeof home + 32];
    snprintf(lock, sizeof lock, "%s/games.json.lock", home);
    unlink(lock);
    rmdir(home);
    return failed;
}
