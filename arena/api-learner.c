/* The learner's calls, and what else changes a run. One learner at a time may lease: a new session
 * ends the one before. A lease request waits here, without blocking anything, until its matches are
 * committed. */
#include "arena/api-int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

#define LEASE_WAIT_US 5000000

static bool
has_session(struct call *c) {
    const char *session = json_string_value(json_object_get(c->body, "session"));
    if (session && c->s->session[0] && !strcmp(session, c->s->session))
        return true;
    api_refuse(c->q, 409, "session",
               "another learner has begun since, or the server was started again: begin with POST "
               "/api/learner");
    return false;
}

void
random_hex(char out[33]) {
    unsigned char bytes[16];
    ensure(getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes);
    for (int i = 0; i < 16; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void
drop_waiting(struct api *a) {
    struct httpd_request *q = a->waiting.q;
    a->waiting.q = NULL;
    if (!q)
        return;
    q->on_gone = NULL;
    httpd_answer(q, &(struct httpd_answer){.status = 204, .fields = "Cache-Control: no-store\r\n"});
}

void
post_learner(struct call *c) {
    struct serve *s = c->s;
    struct err e;
    char state[HASH_HEX] = "";
    int64_t step;
    drop_waiting(s->api);
    if (serve_reset_leases(s, &e) < 0 || store_step_last(s->store, &step, state, &e) < 0) {
        api_refuse(c->q, store_retry(s->store) ? 503 : 500, "database", "%s", e.text);
        return;
    }
    random_hex(s->session);
    log_info("api", "a learner begins at step %lld", (long long)step);
    api_answer_json(c->q, 200,
                    json_pack("{s:s,s:I,s:s,s:I,s:s}", "session", s->session, "step",
                              (json_int_t)step, "state", state, "policy", (json_int_t)s->newest.id,
                              "snapshot", s->newest.name));
}

/* Grants the waiting request when its matches are all committed. */
void
api_offer(struct serve *s) {
    struct api *a = s->api;
    if (!a || !a->waiting.q || s->step < 0)
        return;
    struct store_lease l = {.first = s->lease_next, .last = s->lease_next + a->waiting.count - 1};
    int64_t end = s->first + s->batch;
    if (l.first >= end)
        return;
    if (l.last >= end)
        l.last = end - 1;
    if (l.last >= s->first + s->ready)
        return;
    struct httpd_request *q = a->waiting.q;
    struct err e;
    if (store_lease_add(s->store, &l, &e) < 0 || store_commit(s->store, &e) < 0) {
        if (store_retry(s->store)) {
            serve_waits(s, &e); /* asked again at the next tick */
            return;
        }
        a->waiting.q = NULL;
        q->on_gone = NULL;
        api_refuse(q, 500, "database", "%s", e.text);
        return;
    }
    serve_goes_on(s);
    a->waiting.q = NULL;
    q->on_gone = NULL;
    s->lease_next = l.last + 1;
    api_answer_json(q, 200,
                    json_pack("{s:I,s:I,s:I}", "lease", (json_int_t)l.id, "first",
                              (json_int_t)l.first, "last", (json_int_t)l.last));
}

void
learner_tick(struct api *a) {
    api_offer(a->s);
    if (a->waiting.q && clock_mono_us() > a->waiting.until_us)
        drop_waiting(a);
}

static void
on_gone(struct httpd_request *q) {
    struct api *a = q->user;
    a->waiting.q = NULL;
    httpd_end(q);
}

void
learner_stop(struct api *a) {
    drop_waiting(a);
}

void
post_leases(struct call *c) {
    struct api *a = c->s->api;
    int64_t want = json_integer_value(json_object_get(c->body, "count"));
    if (!has_session(c))
        return;
    if (want < 1 || want > 1000000) {
        api_refuse(c->q, 400, "count", "count: a number of matches from 1 to 1000000 is needed");
        return;
    }
    drop_waiting(a);
    a->waiting.q = c->q;
    a->waiting.count = want;
    a->waiting.until_us = clock_mono_us() + LEASE_WAIT_US;
    c->q->user = a;
    c->q->on_gone = on_gone;
    api_offer(c->s);
}

/* The arrays of an acknowledgement, in C; free with ack_free(). */
struct ack {
    struct store_step step;
    struct store_lease *lease;
    struct store_sample *sample;
    struct store_baseline *baseline;
    struct store_metric *metric;
};

static void
ack_free(struct ack *a) {
    free(a->lease);
    free(a->sample);
    free(a->baseline);
    free(a->metric);
}

static double
number_at(json_t *row, size_t i) {
    json_t *v = json_array_get(row, i);
    return json_is_number(v) ? json_number_value(v) : __builtin_nan("");
}

static bool
read_samples(struct ack *a, json_t *list) {
    size_t n = json_array_size(list);
    a->sample = mem_zero(n + 1, sizeof *a->sample);
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_array_get(list, i);
        if (json_array_size(row) != 5)
            return false;
        a->sample[i] =
            (struct store_sample){.match = json_integer_value(json_array_get(row, 0)),
                                  .seat = (int)json_integer_value(json_array_get(row, 1)),
                                  .ret = number_at(row, 2),
                                  .baseline = number_at(row, 3),
                                  .advantage = number_at(row, 4)};
    }
    a->step.sample = a->sample;
    a->step.nsample = n;
    return true;
}

static bool
read_baselines(struct ack *a, json_t *list) {
    size_t n = json_array_size(list);
    a->baseline = mem_zero(n + 1, sizeof *a->baseline);
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_array_get(list, i);
        if (json_array_size(row) != 4)
            return false;
        a->baseline[i] =
            (struct store_baseline){.game = json_integer_value(json_array_get(row, 0)),
                                    .role = (int)json_integer_value(json_array_get(row, 1)),
                                    .value = number_at(row, 2),
                                    .count = json_integer_value(json_array_get(row, 3))};
    }
    a->step.baseline = a->baseline;
    a->step.nbaseline = n;
    return true;
}

static void
read_leases(struct ack *a, json_t *list) {
    size_t n = json_array_size(list);
    a->lease = mem_zero(n + 1, sizeof *a->lease);
    for (size_t i = 0; i < n; i++)
        a->lease[i].id = json_integer_value(json_array_get(list, i));
    a->step.lease = a->lease;
    a->step.nlease = n;
}

static void
read_metrics(struct ack *a, json_t *object) {
    const char *key;
    json_t *value;
    a->metric = mem_zero(json_object_size(object) + 1, sizeof *a->metric);
    json_object_foreach(object, key, value) {
        a->metric[a->step.nmetric++] = (struct store_metric){
            .name = key,
            .value = json_is_number(value) ? json_number_value(value) : __builtin_nan("")};
    }
    a->step.metric = a->metric;
}

static bool
is_hash(const char *s) {
    return s && strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
}

/* NULL, or what is wrong with the body. */
static const char *
read_ack(struct ack *a, json_t *body, int64_t before) {
    a->step = (struct store_step){
        .step = json_integer_value(json_object_get(body, "step")),
        .policy_before = before,
        .snapshot = json_string_value(json_object_get(body, "snapshot")),
        .state = json_string_value(json_object_get(body, "state")),
        .refused = json_is_true(json_object_get(body, "refused")),
        .at_ms = clock_wall_ms(),
    };
    if (!json_is_integer(json_object_get(body, "step")))
        return "step: a number is needed";
    if (!is_hash(a->step.snapshot))
        return "snapshot: 64 hexadecimal digits are needed";
    if (!is_hash(a->step.state))
        return "state: 64 hexadecimal digits are needed";
    if (!read_samples(a, json_object_get(body, "samples")))
        return "samples: rows of [match, seat, return, baseline, advantage] are needed";
    if (!read_baselines(a, json_object_get(body, "baselines")))
        return "baselines: rows of [game, role, value, count] are needed";
    read_leases(a, json_object_get(body, "leases"));
    read_metrics(a, json_object_get(body, "metrics"));
    return NULL;
}

static void
acknowledge(struct call *c, struct ack *a) {
    struct serve *s = c->s;
    struct err e;
    char path[SERVE_PATH + 128];
    snprintf(path, sizeof path, "%s/snapshots/%s.safetensors", s->run, a->step.snapshot);
    if (!file_exists(path)) {
        api_refuse(c->q, 400, "snapshot", "snapshot: the run folder has no such file");
        return;
    }
    int64_t policy;
    int status = store_step_ack(s->store, &a->step, &policy, &e);
    if (status < 0) {
        bool wait = store_retry(s->store);
        if (wait)
            serve_waits(s, &e);
        api_refuse(c->q, wait ? 503 : 409, "step", "%s", e.text);
        return;
    }
    serve_goes_on(s);
    api_answer_json(
        c->q, 200,
        json_pack("{s:I,s:I}", "step", (json_int_t)a->step.step, "policy", (json_int_t)policy));
    if (status)
        return;
    live_step(c->api, a->step.step, c->body);
    serve_advance(s, a->step.step, policy, a->step.snapshot);
}

void
post_steps(struct call *c) {
    struct ack a = {0};
    if (!has_session(c))
        return;
    serve_commit(c->s);
    const char *wrong = read_ack(&a, c->body, c->s->newest.id);
    if (wrong)
        api_refuse(c->q, 400, "body", "%s", wrong);
    else
        acknowledge(c, &a);
    ack_free(&a);
}

int64_t
api_game_id(const struct serve *s, const char *spec) {
    for (size_t i = 0; spec && i < s->setup.ngames; i++)
        if (!strcmp(s->setup.games[i].spec, spec))
            return s->game[i].id;
    return 0;
}

void
post_evals(struct call *c) {
    struct err e;
    json_t *result = json_object_get(c->body, "result");
    if (!json_is_object(result)) {
        api_refuse(c->q, 400, "result", "result: the object that `agon eval --json` prints");
        return;
    }
    int64_t game = api_game_id(c->s, json_string_value(json_object_get(result, "game")));
    if (!game) {
        api_refuse(c->q, 400, "game", "result.game: the run has no such game");
        return;
    }
    char *text = json_dumps(result, JSON_COMPACT);
    const char *kind = json_string_value(json_object_get(result, "kind"));
    struct store_eval v = {.policy = json_integer_value(json_object_get(c->body, "policy")),
                           .step = json_integer_value(json_object_get(c->body, "step")),
                           .game = game,
                           .kind = kind ? kind : "matches",
                           .json = text,
                           .at_ms = clock_wall_ms()};
    if (store_eval_add(c->s->store, &v, &e) < 0) {
        api_refuse(c->q, store_retry(c->s->store) ? 503 : 400, "database", "%s", e.text);
    } else {
        c->s->uncommitted++;
        api_answer_json(c->q, 200, json_pack("{s:b}", "ok", 1));
        live_eval(c->api, v.step, v.policy, result);
    }
    free(text);
}

void
post_shutdown(struct call *c) {
    api_answer_json(c->q, 200, json_pack("{s:b}", "ok", 1));
    log_info("api", "asked to stop");
    serve_stop(c->s);
}
