/* The learner's state on disk: what is written is read back, what is damaged is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "learner/state.h"
#include "tests/unit/learner/fixture.h"

static struct state *
some_state(const struct plan *p) {
    struct state *s = state_new(p);
    state_init(s, p);
    struct rng r;
    rng_init(&r, 3, 3, RNG_TEST);
    for (size_t i = 0; i < s->model->count; i++) {
        s->magnet->params[i] = (float)rng_normal(&r);
        for (int k = 0; k < p->optim->moments; k++)
            s->moment[k][i] = (float)rng_normal(&r);
    }
    s->step = 41;
    s->updates = 17;
    return s;
}

static void
round_trip(const char *optimizer) {
    struct plan p = fixture_plan((const char *[]){optimizer, NULL});
    char run[64];
    fixture_folder(run);
    struct err e = {.text = ""};
    struct state *a = some_state(&p), *b = state_new(&p);
    assert_int_equal(state_save(a, &p, run, &e), 0);
    assert_int_equal(strlen(a->hash), HASH_HEX - 1);
    assert_int_equal(state_load(b, &p, run, a->hash, &e), 0);
    assert_int_equal(b->step, 41);
    assert_int_equal(b->updates, 17);
    assert_string_equal(a->snapshot, b->snapshot);
    size_t bytes = a->model->count * sizeof(float);
    assert_memory_equal(a->model->params, b->model->params, bytes);
    assert_memory_equal(a->magnet->params, b->magnet->params, bytes);
    for (int i = 0; i < p.optim->moments; i++)
        assert_memory_equal(a->moment[i], b->moment[i], bytes);
    char first[HASH_HEX];
    memcpy(first, a->hash, HASH_HEX);
    assert_int_equal(state_save(b, &p, run, &e), 0);
    assert_string_equal(b->hash, first);
    b->updates++;
    assert_int_equal(state_save(b, &p, run, &e), 0);
    assert_string_not_equal(b->hash, first);
    state_free(a);
    state_free(b);
    fixture_remove(run);
}

static void
round_trips(void **state) {
    (void)state;
    round_trip("learner.optimizer=adamw");
    round_trip("learner.optimizer=sgd");
}

/* Changes one byte at `at` (from the end when negative), or cuts the file there. */
static void
spoil(const char *path, long at, bool cut) {
    struct buf b = {0};
    struct err e;
    assert_int_equal(file_read(path, 1 << 24, &b, &e), 0);
    size_t i = at < 0 ? b.len - (size_t)-at : (size_t)at;
    if (cut)
        b.len = i;
    else
        b.at[i] ^= 1;
    assert_int_equal(file_write(path, b.at, b.len, false, &e), 0);
    buf_free(&b);
}

static void
damage_is_refused(void **state) {
    (void)state;
    struct plan p = fixture_plan(NULL);
    const struct {
        bool snapshot, cut;
        long at;
    } damage[] = {{false, false, 3}, {false, false, 40}, {false, false, -1}, {false, true, -5},
                  {false, true, 0},  {true, false, 30},  {true, false, -7},  {true, true, -4}};
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        char run[64], path[256];
        fixture_folder(run);
        struct err e = {.text = ""};
        struct state *a = some_state(&p), *b = state_new(&p);
        assert_int_equal(state_save(a, &p, run, &e), 0);
        snprintf(path, sizeof path, "%s/%s/%s.safetensors", run,
                 damage[i].snapshot ? "snapshots" : "state",
                 damage[i].snapshot ? a->snapshot : a->hash);
        spoil(path, damage[i].at, damage[i].cut);
        assert_int_equal(state_load(b, &p, run, a->hash, &e), -1);
        assert_non_null(strstr(e.text, damage[i].snapshot ? a->snapshot : a->hash));
        assert_string_equal(b->hash, "");
        unlink(path);
        assert_int_equal(state_load(b, &p, run, a->hash, &e), -1);
        state_free(a);
        state_free(b);
        fixture_remove(run);
    }
}

/* A state of another optimizer or another model is not taken for ours, though its bytes are
 * sound. */
static void
strangers_are_refused(void **state) {
    (void)state;
    struct plan p = fixture_plan(NULL);
    const char *const other[] = {"learner.optimizer=sgd", "model.dim=32", "model.hidden=24",
                                 "model.context=32"};
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        struct plan q = fixture_plan((const char *[]){other[i], NULL});
        char run[64];
        fixture_folder(run);
        struct err e = {.text = ""};
        struct state *a = some_state(&q), *b = state_new(&p);
        assert_int_equal(state_save(a, &q, run, &e), 0);
        assert_int_equal(state_load(b, &p, run, a->hash, &e), -1);
        assert_true(strlen(e.text) > 20);
        state_free(a);
        state_free(b);
        fixture_remove(run);
    }
}

static void
old_files_go(void **state) {
    (void)state;
    struct plan p = fixture_plan(NULL);
    char run[64], folder[128], old[HASH_HEX] = "";
    fixture_folder(run);
    snprintf(folder, sizeof folder, "%s/state", run);
    struct err e = {.text = ""};
    struct state *s = some_state(&p);
    for (int i = 0; i < 6; i++) {
        s->step++;
        assert_int_equal(state_save(s, &p, run, &e), 0);
        state_thin(s, run);
        state_thin(s, run);
        if (i == 3)
            memcpy(old, s->hash, HASH_HEX);
    }
    assert_int_equal(fixture_each(folder, NULL), STATE_KEEP);
    /* A learner that starts again at an older state keeps it, and removes what a killed one
     * left. */
    struct state *t = state_new(&p);
    assert_int_equal(state_load(t, &p, run, old, &e), 0);
    for (int i = 0; i < 5; i++) {
        t->step += 10;
        assert_int_equal(state_save(t, &p, run, &e), 0);
        usleep(10000);
    }
    char left[256];
    snprintf(left, sizeof left, "%s/%s.safetensors.tmp123", folder, old);
    assert_int_equal(file_write(left, "x", 1, false, &e), 0);
    assert_int_equal(state_load(s, &p, run, old, &e), 0);
    state_sweep(s, run);
    assert_int_equal(fixture_each(folder, NULL), STATE_KEEP);
    assert_int_equal(state_load(s, &p, run, t->hash, &e), 0);
    assert_int_equal(state_load(s, &p, run, old, &e), 0);
    /* The newest were of steps that nobody acknowledged; they are made again. */
    for (int i = 0; i < 5; i++) {
        s->step += 10;
        assert_int_equal(state_save(s, &p, run, &e), 0);
        state_thin(s, run);
        assert_int_equal(fixture_each(folder, NULL), STATE_KEEP);
        memcpy(old, s->hash, HASH_HEX);
        assert_int_equal(state_load(s, &p, run, old, &e), 0);
    }
    assert_string_equal(s->hash, t->hash);
    state_free(s);
    state_free(t);
    fixture_remove(run);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(strangers_are_refused),
        cmocka_unit_test(old_files_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
