/* The whole loop against a server that does what `agon serve` does for a learner (sessions,
 * leases, acknowledgements, a real database), and that can be told to be slow, to lose answers,
 * to die and to come back elsewhere. Whatever happens on the way, the last snapshot must be the
 * same one. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/http.h"
#include "base/log.h"
#include "learner/learn.h"
#include "learner/link.h"
#include "learner/state.h"
#include "policy/snap.h"
#include "tests/unit/learner/bandit.h"
#include "tests/unit/learner/fixture.h"
#include "tests/unit/tiny_server.h"

enum trouble {
    SLOW = 1,        /* answers 204 before it grants a lease */
    BUSY = 2,        /* answers 503 once per step */
    LOSE_ANSWER = 4, /* commits a step, then hangs up */
    LOSE_STEP = 8,   /* dies before it commits a step, and comes back on another port */
    DIE_IN_LEASE = 16,
    LOSE_LEASE = 64, /* grants a lease, then hangs up */
    TERM = 32,       /* sends SIGTERM to the learner in the middle */
};

struct fake {
    struct tiny_server server;
    char run[64];
    struct plan plan;
    struct store *store;
    int64_t game, random; /* ids */
    int64_t step, policy; /* newest */
    char snapshot[HASH_HEX], state[HASH_HEX];
    int64_t next; /* match to be leased next */
    int sessions, refusals, deaths;
    unsigned trouble;
    int64_t last_trouble;
    bool asked_before;
};

static void
die(const struct err *e) {
    fprintf(stderr, "fake serve: %s\n", e->text);
    abort();
}

static void
write_place(struct fake *f) {
    char path[128], text[128];
    struct err e;
    snprintf(path, sizeof path, "%s/serve.json", f->run);
    int n = snprintf(text, sizeof text, "{\"pid\":%d,\"port\":%d,\"token\":\"t%d\"}", (int)getpid(),
                     f->server.port, f->deaths);
    if (file_write(path, text, (size_t)n, false, &e) < 0)
        die(&e);
}

/* Called in the server's own thread: stops listening here and listens there. */
static int
reborn(struct fake *f) {
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t n = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, n) || listen(fd, 8) ||
        getsockname(fd, (struct sockaddr *)&at, &n))
        abort();
    close(f->server.fd);
    f->server.fd = fd;
    f->server.port = ntohs(at.sin_port);
    f->deaths++;
    f->sessions++;
    write_place(f);
    return 0;
}

/* ---- the API ---- */

static int
begin(struct fake *f, struct buf *out) {
    struct err e;
    if (store_lease_drop(f->store, &e) < 0 || (f->next = store_lease_next(f->store, &e)) < 0)
        die(&e);
    f->sessions++;
    buf_fmt(
        out,
        "{\"session\":\"s%d\",\"step\":%ld,\"state\":\"%s\",\"policy\":%ld,\"snapshot\":\"%s\"}",
        f->sessions, (long)f->step, f->state, (long)f->policy, f->snapshot);
    return 200;
}

/* Plays matches that are not recorded yet. */
static void
play(struct fake *f, int64_t first, int64_t last) {
    struct err e;
    if (store_match_exists(f->store, last))
        return;
    size_t n = (size_t)(last - first + 1);
    struct bandit b;
    if (f->step < f->plan.warmup) {
        b = bandit_random(first, n, f->game, f->random);
    } else {
        char folder[128];
        snprintf(folder, sizeof folder, "%s/snapshots", f->run);
        struct model *m = snap_load(folder, f->snapshot, &e);
        if (!m)
            die(&e);
        b = bandit_play(m, f->plan.head, first, n, f->game, f->policy);
        model_free(m);
    }
    for (size_t i = 0; i < n; i++) {
        b.at[i].m.iteration = f->step;
        if (store_match_add(f->store, &b.at[i].m, &e) < 0)
            die(&e);
    }
    bandit_free(&b);
    if (store_commit(f->store, &e) < 0)
        die(&e);
}

static bool
is_time_for(struct fake *f, unsigned trouble) {
    if (!(f->trouble & trouble) || f->step == f->last_trouble || f->step % 3 != 1)
        return false;
    f->last_trouble = f->step;
    return true;
}

static int
lease(struct fake *f, const json_t *body, struct buf *out) {
    int64_t count = json_integer_value(json_object_get(body, "count"));
    f->asked_before = !f->asked_before;
    if ((f->trouble & SLOW) && f->asked_before)
        return 204;
    if (is_time_for(f, DIE_IN_LEASE))
        return reborn(f);
    if (is_time_for(f, TERM))
        kill(getpid(), SIGTERM);
    struct store_lease l = {.first = f->next, .last = f->next + count - 1};
    struct err e;
    play(f, l.first, l.last);
    if (store_lease_add(f->store, &l, &e) < 0 || store_commit(f->store, &e) < 0)
        die(&e);
    f->next = l.last + 1;
    if (is_time_for(f, LOSE_LEASE))
        return 0;
    buf_fmt(out, "{\"lease\":%ld,\"first\":%ld,\"last\":%ld}", (long)l.id, (long)l.first,
            (long)l.last);
    return 200;
}

static double
number_at(const json_t *row, size_t i) {
    return json_number_value(json_array_get(row, i));
}

static void
read_step(const json_t *body, struct store_step *st) {
    const json_t *leases = json_object_get(body, "leases"), *row,
                 *samples = json_object_get(body, "samples"),
                 *baselines = json_object_get(body, "baselines");
    st->nlease = json_array_size(leases);
    st->nsample = json_array_size(samples);
    st->nbaseline = json_array_size(baselines);
    struct store_lease *l = mem_zero(st->nlease + 1, sizeof *l);
    struct store_sample *s = mem_zero(st->nsample + 1, sizeof *s);
    struct store_baseline *b = mem_zero(st->nbaseline + 1, sizeof *b);
    for (size_t i = 0; i < st->nlease; i++)
        l[i].id = json_integer_value(json_array_get(leases, i));
    for (size_t i = 0; i < st->nsample; i++) {
        row = json_array_get(samples, i);
        s[i] = (struct store_sample){(int64_t)number_at(row, 0), (int)number_at(row, 1),
                                     number_at(row, 2), number_at(row, 3), number_at(row, 4)};
    }
    for (size_t i = 0; i < st->nbaseline; i++) {
        row = json_array_get(baselines, i);
        b[i] = (struct store_baseline){(int64_t)number_at(row, 0), (int)number_at(row, 1),
                                       number_at(row, 2), (int64_t)number_at(row, 3)};
    }
    st->step = json_integer_value(json_object_get(body, "step"));
    st->snapshot = json_string_value(json_object_get(body, "snapshot"));
    st->state = json_string_value(json_object_get(body, "state"));
    st->refused = json_is_true(json_object_get(body, "refused"));
    st->lease = l;
    st->sample = s;
    st->baseline = b;
}

static int
step(struct fake *f, const json_t *body, struct buf *out) {
    if (is_time_for(f, BUSY)) {
        buf_put(out, "{\"error\":{\"code\":\"database\",\"message\":\"busy\"}}");
        return 503;
    }
    if (is_time_for(f, LOSE_STEP))
        return reborn(f);
    struct store_step st = {.policy_before = f->policy, .at_ms = 1};
    struct err e;
    read_step(body, &st);
    bool lose = is_time_for(f, LOSE_ANSWER);
    if (store_step_ack(f->store, &st, &f->policy, &e) < 0)
        die(&e);
    f->step = st.step;
    f->refusals += st.refused && !st.nsample && !st.nbaseline;
    snprintf(f->snapshot, sizeof f->snapshot, "%s", st.snapshot);
    snprintf(f->state, sizeof f->state, "%s", st.state);
    free((void *)(size_t)st.lease);
    free((void *)(size_t)st.sample);
    free((void *)(size_t)st.baseline);
    buf_fmt(out, "{\"step\":%ld,\"policy\":%ld}", (long)f->step, (long)f->policy);
    return lose ? 0 : 200;
}

static int
answer(void *arg, const struct tiny_request *r, struct buf *out) {
    struct fake *f = arg;
    char token[32], session[32];
    snprintf(token, sizeof token, "Bearer t%d", f->deaths);
    if (strcmp(r->auth, token))
        return 401;
    if (!strcmp(r->path, "/api/learner"))
        return begin(f, out);
    json_t *body = json_loadb(r->body, r->n, 0, NULL);
    int status = 400;
    const char *has = json_string_value(json_object_get(body, "session"));
    snprintf(session, sizeof session, "s%d", f->sessions);
    if (has && strcmp(has, session)) {
        buf_put(out,
                "{\"error\":{\"code\":\"session\",\"message\":\"another learner has begun\"}}");
        status = 409;
    } else if (has && !strcmp(r->path, "/api/leases")) {
        status = lease(f, body, out);
    } else if (has && !strcmp(r->path, "/api/steps")) {
        status = step(f, body, out);
    }
    json_decref(body);
    return status;
}

/* ---- one run ---- */

static void
start(struct fake *f, const char *const *options, unsigned trouble) {
    *f = (struct fake){.step = -1, .trouble = trouble, .last_trouble = -1, .next = 1};
    fixture_folder(f->run);
    f->plan = fixture_plan(options);
    struct conf *c = fixture_conf(options);
    struct buf yaml = {0};
    struct err e;
    char path[128];
    conf_write(c, &yaml);
    conf_free(c);
    snprintf(path, sizeof path, "%s/config.yaml", f->run);
    if (file_write(path, yaml.at, yaml.len, false, &e) < 0)
        die(&e);
    buf_free(&yaml);
    snprintf(path, sizeof path, "%s/run.db", f->run);
    f->store = store_open(path, STORE_WRITE, false, &e);
    struct store_game game = {.spec = "bandit", .name = "bandit", .version = 1};
    struct store_policy random = {.kind = "scripted", .name = "random", .step = -1, .at_ms = 1};
    if (!f->store || store_game_add(f->store, &game, &e) < 0 ||
        store_policy_add(f->store, &random, &e) < 0 || store_commit(f->store, &e) < 0)
        die(&e);
    f->game = game.id;
    f->random = random.id;
    f->server.answer = answer;
    f->server.arg = f;
    tiny_start(&f->server);
    write_place(f);
}

static void
finish(struct fake *f) {
    tiny_stop(&f->server);
    store_close(f->store);
    fixture_remove(f->run);
}

static int
count_lines(const struct fake *f) {
    char path[128];
    struct buf b = {0};
    struct err e;
    snprintf(path, sizeof path, "%s/metrics.jsonl", f->run);
    if (file_read(path, 1 << 20, &b, &e) < 0)
        return -1;
    int n = 0;
    for (size_t i = 0; i < b.len; i++)
        n += b.at[i] == '\n';
    buf_free(&b);
    return n;
}

static const char *const short_run[] = {"learner.steps=14", "learner.warmup=4", "learner.chunk=24",
                                        "learner.magnet.kl=0.05", NULL};

static void
learn(struct fake *f) {
    struct err e = {.text = ""};
    if (learn_run(f->run, &e) < 0)
        fail_msg("%s", e.text);
}

static int
take_baseline(void *arg, const struct store_baseline *b) {
    struct store_baseline *out = arg;
    out[b->role] = *b;
    return 0;
}

static void
a_quiet_run(char snapshot[HASH_HEX]) {
    struct fake f;
    start(&f, short_run, 0);
    learn(&f);
    assert_int_equal(f.step, 14);
    assert_int_equal(f.sessions, 1);
    assert_int_equal(f.refusals, 0);
    assert_int_equal(f.server.accepted, 1);
    assert_int_equal(count_lines(&f), 14);
    memcpy(snapshot, f.snapshot, HASH_HEX);
    struct store_baseline b[2] = {{0}};
    struct err e;
    assert_int_equal(store_baseline_list(f.store, take_baseline, b, &e), 0);
    assert_int_equal(b[0].count, 10 * 64);
    assert_true(b[0].value != 0 && fabs(b[0].value + b[1].value) < 1e-12);
    char folder[128];
    snprintf(folder, sizeof folder, "%s/state", f.run);
    assert_int_equal(fixture_each(folder, NULL), STATE_KEEP);
    /* All is done: a second learner has nothing to do. */
    learn(&f);
    assert_string_equal(f.snapshot, snapshot);
    finish(&f);
}

static void
trouble_changes_nothing(void **state) {
    (void)state;
    char want[HASH_HEX];
    a_quiet_run(want);
    const unsigned kinds[] = {SLOW,
                              BUSY,
                              LOSE_ANSWER,
                              LOSE_STEP,
                              DIE_IN_LEASE,
                              LOSE_LEASE,
                              SLOW | LOSE_ANSWER | LOSE_STEP};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct fake f;
        start(&f, short_run, kinds[i]);
        learn(&f);
        assert_int_equal(f.step, 14);
        assert_string_equal(f.snapshot, want);
        assert_int_equal(count_lines(&f), 14);
        if (kinds[i] & (LOSE_STEP | DIE_IN_LEASE))
            assert_true(f.deaths > 2);
        finish(&f);
    }
}

static void
stopped_and_continued(void **state) {
    (void)state;
    char want[HASH_HEX];
    a_quiet_run(want);
    struct fake f;
    start(&f, short_run, TERM);
    int times = 0;
    while (f.step < 14 && times++ < 20)
        learn(&f);
    assert_true(times > 3);
    assert_string_equal(f.snapshot, want);
    assert_int_equal(count_lines(&f), 14);
    finish(&f);
}

static void
refused_steps(void **state) {
    (void)state;
    struct fake f;
    start(&f,
          (const char *[]){"learner.steps=3", "learner.normalizer=1e-300", "learner.clip=0", NULL},
          0);
    log_level(getenv("AGON_LOG") ? LOG_DEBUG : LOG_ERROR);
    learn(&f);
    assert_int_equal(f.step, 3);
    assert_int_equal(f.refusals, 3);
    char folder[128];
    snprintf(folder, sizeof folder, "%s/snapshots", f.run);
    assert_int_equal(fixture_each(folder, NULL), 1);
    finish(&f);
}

static void
damaged_state(void **state) {
    (void)state;
    struct fake f;
    start(&f, (const char *[]){"learner.steps=2", "learner.warmup=2", NULL}, 0);
    learn(&f);
    char path[256];
    snprintf(path, sizeof path, "%s/state/%s.safetensors", f.run, f.state);
    struct err e = {.text = ""};
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(learn_run(f.run, &e), -1);
    assert_non_null(strstr(e.text, "is damaged"));
    assert_int_equal(f.step, 2);
    finish(&f);
}

static void
sessions_and_patience(void **state) {
    (void)state;
    struct fake f;
    start(&f, short_run, 0);
    struct link_patience brief = {.start = 0.3, .lost = 0.3};
    struct link *a = link_new(f.run, brief, NULL, NULL);
    struct link_session s;
    struct link_lease l;
    struct err e = {.text = ""};
    assert_int_equal(link_open(a, &s, &e), LINK_OK);
    assert_int_equal(s.step, -1);
    f.sessions++; /* another learner begins */
    assert_int_equal(link_lease(a, 4, &l, &e), LINK_FAIL);
    assert_non_null(strstr(e.text, "another learner has begun"));
    assert_int_equal(link_open(a, &s, &e), LINK_OK);
    assert_int_equal(link_lease(a, 4, &l, &e), LINK_OK);
    assert_int_equal(l.last, 4);
    tiny_stop(&f.server);
    assert_int_equal(link_lease(a, 4, &l, &e), LINK_LOST);
    int64_t begin_us = clock_mono_us();
    assert_int_equal(link_open(a, &s, &e), LINK_FAIL);
    assert_true(clock_mono_us() - begin_us < 2000000);
    assert_non_null(strstr(e.text, "no agon serve answers"));
    link_free(a);
    char path[128];
    snprintf(path, sizeof path, "%s/serve.json", f.run);
    const char *const bad[] = {"", "{", "[]", "{\"port\":70000,\"token\":\"x\"}", "{\"port\":1}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(file_write(path, bad[i], strlen(bad[i]), false, &e), 0);
        a = link_new(f.run, (struct link_patience){0}, NULL, NULL);
        assert_int_equal(link_open(a, &s, &e), LINK_FAIL);
        assert_non_null(strstr(e.text, "serve.json"));
        link_free(a);
    }
    tiny_start(&f.server);
    finish(&f);
}

int
main(void) {
    log_level(getenv("AGON_LOG") ? LOG_DEBUG : LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trouble_changes_nothing), cmocka_unit_test(stopped_and_continued),
        cmocka_unit_test(refused_steps),           cmocka_unit_test(damaged_state),
        cmocka_unit_test(sessions_and_patience),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
