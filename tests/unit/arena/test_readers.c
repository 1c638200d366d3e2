/* The reading threads: order, the slow lane, limits, stopping. Run under ThreadSanitizer too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena/readers.h"
#include "base/mem.h"

struct fixture {
    char folder[64], path[128];
    struct event_base *base;
    struct readers *readers;
    atomic_int at_work, most_at_work, slow_at_work, behind_at_work;
    atomic_bool hold; /* slow jobs wait for this to end */
    int done, worked, want;
};

struct job {
    struct read_job job;
    struct fixture *f;
    bool worked;
    int steps;
};

static int
set_up(void **state) {
    struct fixture *f = mem_zero(1, sizeof *f);
    struct err e;
    snprintf(f->folder, sizeof f->folder, "/tmp/agon-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/run.db", f->folder);
    struct store *s = store_open(f->path, STORE_WRITE, false, &e);
    assert_non_null(s);
    store_close(s);
    f->base = event_base_new();
    f->readers = readers_new(f->base, f->path, &e);
    assert_non_null(f->readers);
    *state = f;
    return 0;
}

static int
tear_down(void **state) {
    struct fixture *f = *state;
    char command[128];
    readers_free(f->readers);
    event_base_free(f->base);
    snprintf(command, sizeof command, "rm -rf %s", f->folder);
    free(f);
    return system(command);
}

static int
count_step(void *arg, const struct store_cell *cell, int cells) {
    (void)cell;
    (void)cells;
    ++*(int *)arg;
    return 0;
}

static void
work(struct read_job *job, struct store *db, const struct err *why) {
    struct job *j = (struct job *)(void *)job;
    struct fixture *f = j->f;
    int n = ++f->at_work;
    if (n > f->most_at_work)
        f->most_at_work = n;
    if (!db)
        fail_msg("%s", why->text);
    assert_true(store_query(db, "games", NULL, 0, count_step, &j->steps, NULL) == 0);
    if (job->slow) {
        assert_int_equal(++f->slow_at_work, 1);
        while (f->hold)
            usleep(1000);
        f->slow_at_work--;
    }
    j->worked = true;
    f->at_work--;
}

/* In the thread that yields to all others, one by one. */
static void
work_behind(struct read_job *job, struct store *db, const struct err *why) {
    struct job *j = (struct job *)(void *)job;
    struct fixture *f = j->f;
    if (!db)
        fail_msg("%s", why->text);
    assert_true(getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid)) >= 10);
    assert_int_equal(++f->behind_at_work, 1);
    while (f->hold)
        usleep(1000);
    f->behind_at_work--;
    j->worked = true;
}

static void
done(struct read_job *job) {
    struct job *j = (struct job *)(void *)job;
    struct fixture *f = j->f;
    f->worked += j->worked;
    free(j);
    if (++f->done == f->want)
        event_base_loopbreak(f->base);
}

static struct job *
new_job(struct fixture *f, bool slow) {
    struct job *j = mem_zero(1, sizeof *j);
    j->job = (struct read_job){.slow = slow, .work = work, .done = done};
    j->f = f;
    return j;
}

static int
add_background(struct fixture *f) {
    struct job *j = new_job(f, false);
    j->job.background = true;
    j->job.work = work_behind;
    if (readers_add(f->readers, &j->job) == 0)
        return 0;
    free(j);
    return -1;
}

static int
add(struct fixture *f, bool slow) {
    struct job *j = new_job(f, slow);
    if (readers_add(f->readers, &j->job) == 0)
        return 0;
    free(j);
    return -1;
}

static void
run_until(struct fixture *f, int want) {
    struct timeval most = {.tv_sec = 20};
    f->want = want;
    if (f->done >= want)
        return;
    event_base_loopexit(f->base, &most);
    event_base_dispatch(f->base);
    assert_int_equal(f->done, want);
}

static void
test_all_are_done(void **state) {
    struct fixture *f = *state;
    int added = 0;
    for (int i = 0; i < 200; i++)
        added += add(f, false) == 0;
    run_until(f, added);
    assert_int_equal(f->worked, added);
    assert_true(f->most_at_work <= READERS_THREADS);
}

/* While a slow one runs, quick ones are done, further slow ones wait, and only so many may. */
static void
test_slow_ones_wait(void **state) {
    struct fixture *f = *state;
    int slow = 0;
    f->hold = true;
    for (int i = 0; i < 3 * READERS_SLOW_MOST; i++)
        slow += add(f, true) == 0;
    assert_true(slow >= READERS_SLOW_MOST && slow <= READERS_SLOW_MOST + 1);
    for (int i = 0; i < 20; i++)
        assert_int_equal(add(f, false), 0);
    run_until(f, 20);
    f->hold = false;
    run_until(f, 20 + slow);
    assert_int_equal(f->worked, 20 + slow);
}

/* What nobody waits for keeps nobody waiting, slow or quick. */
static void
test_background(void **state) {
    struct fixture *f = *state;
    f->hold = true;
    for (int i = 0; i < 5; i++)
        assert_int_equal(add_background(f), 0);
    usleep(20000);
    for (int i = 0; i < 20; i++)
        assert_int_equal(add(f, false), 0);
    run_until(f, 20);
    assert_int_equal(f->worked, 20);
    f->hold = false;
    assert_int_equal(add(f, true), 0);
    run_until(f, 26);
    assert_int_equal(f->worked, 26);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), 0); /* this thread is as it was */
}

static void
test_too_many_are_refused(void **state) {
    struct fixture *f = *state;
    int added = 0;
    f->hold = true;
    added += add(f, true) == 0;
    for (int i = 0; i < 20 * READERS_MOST; i++)
        added += add(f, false) == 0;
    f->hold = false;
    assert_true(added >= READERS_MOST);
    run_until(f, added);
}

/* What has not been begun can be taken back, from any place in the queue; the rest is done. */
static void
test_dropping(void **state) {
    struct fixture *f = *state;
    struct job *job[5];
    f->hold = true;
    assert_int_equal(add(f, true), 0);
    while (!f->slow_at_work)
        usleep(1000);
    for (int i = 0; i < 5; i++) {
        job[i] = new_job(f, true);
        assert_int_equal(readers_add(f->readers, &job[i]->job), 0);
    }
    static const int dropped[] = {0, 4, 2};
    for (int i = 0; i < 3; i++) {
        assert_true(readers_drop(f->readers, &job[dropped[i]]->job));
        assert_false(readers_drop(f->readers, &job[dropped[i]]->job));
        free(job[dropped[i]]);
    }
    assert_int_equal(add(f, true), 0); /* the end of the queue is where it was */
    f->hold = false;
    run_until(f, 4);
    assert_int_equal(f->worked, 4);
}

/* done() is called for all when the readers stop, also for those nobody has worked on. */
static void
test_stopping(void **state) {
    struct fixture *f = *state;
    int added = 0;
    f->want = -1;
    f->hold = true;
    for (int i = 0; i < READERS_SLOW_MOST; i++)
        added += add(f, true) == 0;
    f->hold = false;
    readers_free(f->readers);
    f->readers = NULL;
    assert_int_equal(f->done, added);
}

static void
test_no_database(void **state) {
    struct fixture *f = *state;
    struct err e;
    readers_free(NULL);
    struct readers *r = readers_new(f->base, "/nonexistent/run.db", &e);
    assert_non_null(r);
    readers_free(r);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_are_done, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_slow_ones_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_background, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_many_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dropping, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stopping, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_database, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
