/* The HTTP API (docs/api.md): a table of routes over evhttp. Reading is open to whoever reaches the
 * port, changing needs the run's token (serve.json, readable by its owner only). Answers are JSON;
 * errors are {"error":{"code","message"}}. One learner at a time may lease: a new session ends the
 * one before. A lease request waits here, without blocking anything, until its matches are
 * committed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <jansson.h>

#include "arena/serve-int.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

#define BODY_MOST (256 << 20)
#define HEAD_MOST (32 << 10)
#define IDLE_S 120
#define LEASE_WAIT_US 5000000
#define ROWS_MOST 1000

struct api {
    struct evhttp *http;
    char token[33], path[SERVE_PATH + 32];
    struct { /* a lease request that waits */
        struct evhttp_request *request;
        int64_t count, until_us;
    } waiting;
};

struct call { /* one request being answered */
    struct serve *s;
    struct evhttp_request *request;
    json_t *body; /* of a POST; else NULL */
    struct evkeyvalq query;
    const char *rest; /* of the path, behind the route's prefix */
};

/* ---- answers ---- */

static void
answer(struct evhttp_request *q, int code, json_t *value) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(value);
    struct evkeyvalq *h = evhttp_request_get_output_headers(q);
    evhttp_add_header(h, "Content-Type", "application/json; charset=utf-8");
    evhttp_add_header(h, "Cache-Control", "no-store");
    evhttp_add_header(h, "X-Content-Type-Options", "nosniff");
    if (text)
        evbuffer_add(evhttp_request_get_output_buffer(q), text, strlen(text));
    free(text);
    evhttp_send_reply(q, code, NULL, NULL);
}

static void
refuse(struct evhttp_request *q, int code, const char *name, const char *message) {
    json_t *text = json_string(message);
    answer(q, code,
           json_pack("{s:{s:s,s:o}}", "error", "code", name, "message",
                     text ? text : json_string("(unprintable)")));
}

/* ---- reading ---- */

static json_t *
cell_value(const struct store_cell *c) {
    json_t *text;
    switch (c->type) {
    case STORE_NULL:
        break;
    case STORE_INT:
        return json_integer(strtoll(c->text, NULL, 10));
    case STORE_REAL:
        return json_real(strtod(c->text, NULL));
    case STORE_TEXT:
        text = json_string(c->text);
        return text ? text : json_string("(not UTF-8)");
    }
    return json_null();
}

static int
add_row(void *arg, const struct store_cell *cell, int cells) {
    json_t *row = json_object();
    for (int i = 0; i < cells; i++)
        json_object_set_new(row, cell[i].name, cell_value(&cell[i]));
    json_array_append_new(arg, row);
    return 0;
}

/* Rows of a named query, or NULL after an error has been answered. */
static json_t *
rows(struct call *c, const char *query, const struct store_bind *bind, size_t n) {
    struct err e;
    json_t *list = json_array();
    if (store_query(c->s->store, query, bind, n, add_row, list, &e) < 0) {
        json_decref(list);
        refuse(c->request, 500, "database", e.text);
        return NULL;
    }
    return list;
}

static int64_t
query_number(struct call *c, const char *name, int64_t otherwise) {
    const char *text = evhttp_find_header(&c->query, name);
    char *end;
    if (!text || !*text)
        return otherwise;
    long long v = strtoll(text, &end, 10);
    return *end ? otherwise : v;
}

static void
get_health(struct call *c) {
    struct crew_status crew = crew_status(c->s);
    answer(c->request, 200,
           json_pack("{s:b,s:i,s:i,s:b}", "ok", crew.ready > 0, "workers", crew.count,
                     "workers_ready", crew.ready, "paused", c->s->paused_until_us != 0));
}

static void
get_run(struct call *c) {
    struct serve *s = c->s;
    struct crew_status crew = crew_status(s);
    double seconds = (double)(clock_mono_us() - s->started_us) / 1e6;
    json_t *pids = json_array();
    for (int i = 0; i < crew.count; i++)
        if (crew_pid(s, i))
            json_array_append_new(pids, json_integer(crew_pid(s, i)));
    answer(
        c->request, 200,
        json_pack("{s:o,s:I,s:s,s:s,s:I,s:I,s:I,s:s,s:I,s:I,s:I,s:I,s:I,s:f,s:i,s:i,s:i,s:s,s:b}",
                  "worker_pids", pids, "played", (json_int_t)(s->first - 1 + s->ready), "run",
                  s->run, "game", s->setup.spec, "step", (json_int_t)s->step, "last_step",
                  (json_int_t)s->last_step, "policy", (json_int_t)s->newest.id, "snapshot",
                  s->newest.name, "first", (json_int_t)s->first, "batch", (json_int_t)s->batch,
                  "matches", (json_int_t)s->matches, "tokens", (json_int_t)s->tokens, "invalid",
                  (json_int_t)s->invalid, "seconds", seconds, "workers", crew.count,
                  "workers_ready", crew.ready, "worker_restarts", crew.restarts, "kernel",
                  crew.kernel, "learner", s->session[0] != '\0'));
}

/* A list of rows: newest first, ?limit= and ?before= (an id) page through it. */
static void
list(struct call *c, const char *name) {
    int64_t limit = query_number(c, "limit", 100);
    struct store_bind bind[] = {
        {":limit", NULL,
         limit < 1           ? 1
         : limit > ROWS_MOST ? ROWS_MOST
                             : limit},
        {":before", NULL, query_number(c, "before", INT64_MAX)},
        {":game", evhttp_find_header(&c->query, "game"), 0},
        {":policy", evhttp_find_header(&c->query, "policy"), 0},
        {":reason", evhttp_find_header(&c->query, "reason"), 0},
        {":kind", evhttp_find_header(&c->query, "kind"), 0},
    };
    bool matches = !strcmp(name, "matches");
    for (size_t i = 2; i < sizeof bind / sizeof *bind; i++)
        if (!bind[i].text)
            bind[i].text = "";
    json_t *found = rows(c, name, bind, matches ? sizeof bind / sizeof *bind : 2);
    if (found)
        answer(c->request, 200, json_pack("{s:o}", name, found));
}

static void
get_matches(struct call *c) {
    list(c, "matches");
}

static void
get_policies(struct call *c) {
    list(c, "policies");
}

static void
get_steps(struct call *c) {
    list(c, "steps");
}

static void
get_events(struct call *c) {
    list(c, "events");
}

static void
get_evals(struct call *c) {
    list(c, "evals");
}

static void
get_match(struct call *c) {
    char *end;
    long long id = strtoll(c->rest, &end, 10);
    if (!*c->rest || *end) {
        refuse(c->request, 400, "id", "the path is /api/matches/ID, ID a number");
        return;
    }
    struct store_bind bind = {":id", NULL, id};
    json_t *match = rows(c, "match", &bind, 1);
    if (!match)
        return;
    if (!json_array_size(match)) {
        json_decref(match);
        refuse(c->request, 404, "match", "there is no such match");
        return;
    }
    json_t *turns = rows(c, "turns", &bind, 1);
    if (turns) {
        json_t *one = json_incref(json_array_get(match, 0));
        json_object_set_new(one, "turns", turns);
        answer(c->request, 200, one);
    }
    json_decref(match);
}

/* ---- the learner ---- */

static bool
has_session(struct call *c) {
    const char *session = json_string_value(json_object_get(c->body, "session"));
    if (session && c->s->session[0] && !strcmp(session, c->s->session))
        return true;
    refuse(c->request, 409, "session",
           "another learner has begun since, or the server was started again: begin with POST "
           "/api/learner");
    return false;
}

static void
random_hex(char out[33]) {
    unsigned char bytes[16];
    ensure(getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes);
    for (int i = 0; i < 16; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void
drop_waiting(struct api *a) {
    if (a->waiting.request)
        evhttp_send_reply(a->waiting.request, 204, NULL, NULL);
    a->waiting.request = NULL;
}

static void
post_learner(struct call *c) {
    struct serve *s = c->s;
    struct err e;
    char state[HASH_HEX] = "";
    int64_t step;
    drop_waiting(s->api);
    if (serve_reset_leases(s, &e) < 0 || store_step_last(s->store, &step, state, &e) < 0) {
        refuse(c->request, store_retry(s->store) ? 503 : 500, "database", e.text);
        return;
    }
    random_hex(s->session);
    log_info("api", "a learner begins at step %lld", (long long)step);
    answer(c->request, 200,
           json_pack("{s:s,s:I,s:s,s:I,s:s}", "session", s->session, "step", (json_int_t)step,
                     "state", state, "policy", (json_int_t)s->newest.id, "snapshot",
                     s->newest.name));
}

/* Grants the waiting request when its matches are all committed. */
void
api_offer(struct serve *s) {
    struct api *a = s->api;
    if (!a || !a->waiting.request || s->step < 0)
        return;
    struct store_lease l = {.first = s->lease_next, .last = s->lease_next + a->waiting.count - 1};
    int64_t end = s->first + s->batch;
    if (l.first >= end)
        return;
    if (l.last >= end)
        l.last = end - 1;
    if (l.last >= s->first + s->ready)
        return;
    struct evhttp_request *q = a->waiting.request;
    struct err e;
    if (store_lease_add(s->store, &l, &e) < 0 || store_commit(s->store, &e) < 0) {
        if (store_retry(s->store))
            return; /* asked again at the next tick */
        a->waiting.request = NULL;
        refuse(q, 500, "database", e.text);
        return;
    }
    a->waiting.request = NULL;
    s->lease_next = l.last + 1;
    answer(q, 200,
           json_pack("{s:I,s:I,s:I}", "lease", (json_int_t)l.id, "first", (json_int_t)l.first,
                     "last", (json_int_t)l.last));
}

void
api_tick(struct serve *s) {
    struct api *a = s->api;
    api_offer(s);
    if (a->waiting.request && clock_mono_us() > a->waiting.until_us)
        drop_waiting(a);
}

static void
on_gone(struct evhttp_connection *connection, void *arg) {
    struct api *a = arg;
    if (a->waiting.request && evhttp_request_get_connection(a->waiting.request) == connection)
        a->waiting.request = NULL; /* the library frees it */
}

static void
post_leases(struct call *c) {
    struct api *a = c->s->api;
    int64_t want = json_integer_value(json_object_get(c->body, "count"));
    if (!has_session(c))
        return;
    if (want < 1 || want > 1000000) {
        refuse(c->request, 400, "count", "count: a number of matches from 1 to 1000000 is needed");
        return;
    }
    drop_waiting(a);
    a->waiting.request = c->request;
    a->waiting.count = want;
    a->waiting.until_us = clock_mono_us() + LEASE_WAIT_US;
    evhttp_connection_set_closecb(evhttp_request_get_connection(c->request), on_gone, a);
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
        refuse(c->request, 400, "snapshot", "snapshot: the run folder has no such file");
        return;
    }
    int64_t policy;
    int status = store_step_ack(s->store, &a->step, &policy, &e);
    if (status < 0) {
        refuse(c->request, store_retry(s->store) ? 503 : 409, "step", e.text);
        return;
    }
    answer(c->request, 200,
           json_pack("{s:I,s:I}", "step", (json_int_t)a->step.step, "policy", (json_int_t)policy));
    if (status == 0)
        serve_advance(s, a->step.step, policy, a->step.snapshot);
}

static void
post_steps(struct call *c) {
    struct ack a = {0};
    if (!has_session(c))
        return;
    serve_commit(c->s);
    const char *wrong = read_ack(&a, c->body, c->s->newest.id);
    if (wrong)
        refuse(c->request, 400, "body", wrong);
    else
        acknowledge(c, &a);
    ack_free(&a);
}

static void
post_evals(struct call *c) {
    struct err e;
    json_t *result = json_object_get(c->body, "result");
    if (!json_is_object(result)) {
        refuse(c->request, 400, "result", "result: the object that `agon eval --json` prints");
        return;
    }
    char *text = json_dumps(result, JSON_COMPACT);
    const char *kind = json_string_value(json_object_get(result, "kind"));
    struct store_eval v = {.policy = json_integer_value(json_object_get(c->body, "policy")),
                           .step = json_integer_value(json_object_get(c->body, "step")),
                           .game = c->s->schedule.game,
                           .kind = kind ? kind : "matches",
                           .json = text,
                           .at_ms = clock_wall_ms()};
    if (store_eval_add(c->s->store, &v, &e) < 0)
        refuse(c->request, store_retry(c->s->store) ? 503 : 400, "database", e.text);
    else
        answer(c->request, 200, json_pack("{s:b}", "ok", 1));
    c->s->uncommitted++;
    free(text);
}

static void
post_shutdown(struct call *c) {
    answer(c->request, 200, json_pack("{s:b}", "ok", 1));
    log_info("api", "asked to stop");
    serve_stop(c->s);
}

/* ---- routing ---- */

static const struct route {
    enum evhttp_cmd_type method;
    const char *path; /* ends with '/': a prefix */
    void (*run)(struct call *c);
} routes[] = {
    {EVHTTP_REQ_GET, "/api/health", get_health},
    {EVHTTP_REQ_GET, "/api/run", get_run},
    {EVHTTP_REQ_GET, "/api/matches", get_matches},
    {EVHTTP_REQ_GET, "/api/matches/", get_match},
    {EVHTTP_REQ_GET, "/api/policies", get_policies},
    {EVHTTP_REQ_GET, "/api/steps", get_steps},
    {EVHTTP_REQ_GET, "/api/evals", get_evals},
    {EVHTTP_REQ_GET, "/api/events", get_events},
    {EVHTTP_REQ_POST, "/api/learner", post_learner},
    {EVHTTP_REQ_POST, "/api/leases", post_leases},
    {EVHTTP_REQ_POST, "/api/steps", post_steps},
    {EVHTTP_REQ_POST, "/api/evals", post_evals},
    {EVHTTP_REQ_POST, "/api/shutdown", post_shutdown},
};

/* Takes as long for a wrong token as for the right one. */
static bool
has_token(const struct api *a, struct evhttp_request *q) {
    const char *h = evhttp_find_header(evhttp_request_get_input_headers(q), "Authorization");
    if (!h || strncmp(h, "Bearer ", 7) || strlen(h + 7) != strlen(a->token))
        return false;
    unsigned char differs = 0;
    for (size_t i = 0; a->token[i]; i++)
        differs |= (unsigned char)(h[7 + i] ^ a->token[i]);
    return !differs;
}

static bool
path_fits(const struct route *r, const char *path) {
    size_t n = strlen(r->path);
    return r->path[n - 1] == '/' ? !strncmp(path, r->path, n) : !strcmp(path, r->path);
}

static void
run_route(struct call *c, const struct route *r) {
    if (r->method == EVHTTP_REQ_POST) {
        struct evbuffer *in = evhttp_request_get_input_buffer(c->request);
        size_t n = evbuffer_get_length(in);
        json_error_t why;
        if (!has_token(c->s->api, c->request)) {
            refuse(c->request, 401, "token",
                   "send \"Authorization: Bearer TOKEN\" with the token of the run's serve.json");
            return;
        }
        c->body =
            n ? json_loadb((const char *)evbuffer_pullup(in, -1), n, JSON_REJECT_DUPLICATES, &why)
              : json_object();
        if (!json_is_object(c->body)) {
            json_decref(c->body);
            refuse(c->request, 400, "json", c->body ? "the body must be a JSON object" : why.text);
            return;
        }
    }
    r->run(c);
    json_decref(c->body);
}

static void
on_request(struct evhttp_request *q, void *arg) {
    struct call c = {.s = arg, .request = q};
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(q);
    const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
    bool known = false;
    if (!path)
        path = "";
    const char *query = uri ? evhttp_uri_get_query(uri) : NULL;
    if (evhttp_parse_query_str(query ? query : "", &c.query) < 0) {
        refuse(q, 400, "query", "the query string cannot be read");
        return;
    }
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (!path_fits(&routes[i], path))
            continue;
        known = true;
        if (routes[i].method != evhttp_request_get_command(q))
            continue;
        c.rest = path + strlen(routes[i].path);
        run_route(&c, &routes[i]);
        evhttp_clear_headers(&c.query);
        return;
    }
    evhttp_clear_headers(&c.query);
    if (known)
        refuse(q, 405, "method", "this path does not take that method");
    else
        refuse(q, 404, "path", "there is no such path; docs/api.md lists them");
}

/* ---- start and stop ---- */

static int
write_card(struct serve *s, int port, struct err *e) {
    struct api *a = s->api;
    char text[512];
    snprintf(a->path, sizeof a->path, "%s/serve.json", s->run);
    int n =
        snprintf(text, sizeof text, "{\"pid\":%ld,\"host\":\"%s\",\"port\":%d,\"token\":\"%s\"}\n",
                 (long)getpid(), conf_text(s->conf, "serve.host"), port, a->token);
    mode_t before = umask(0077);
    int status = file_write(a->path, text, (size_t)n, false, e);
    umask(before);
    return status;
}

int
api_start(struct serve *s, struct err *e) {
    struct api *a = s->api = mem_zero(1, sizeof *a);
    const char *host = conf_text(s->conf, "serve.host");
    int port = (int)conf_int(s->conf, "serve.port");
    random_hex(a->token);
    a->http = evhttp_new(s->base);
    ensure(a->http);
    evhttp_set_max_body_size(a->http, BODY_MOST);
    evhttp_set_max_headers_size(a->http, HEAD_MOST);
    evhttp_set_timeout(a->http, IDLE_S);
    evhttp_set_allowed_methods(a->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST);
    evhttp_set_gencb(a->http, on_request, s);
    struct evhttp_bound_socket *bound =
        evhttp_bind_socket_with_handle(a->http, host, (unsigned short)port);
    if (!bound)
        return err_set(e, "serve.host, serve.port: cannot listen on %s:%d: %s", host, port,
                       strerror(errno));
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    if (getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&address, &len) < 0)
        return err_set(e, "cannot find the port that was bound: %s", strerror(errno));
    port = ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
    log_info("api", "listening on http://%s:%d", host, port);
    return write_card(s, port, e);
}

void
api_stop(struct serve *s) {
    struct api *a = s->api;
    if (!a)
        return;
    drop_waiting(a);
    if (a->http)
        evhttp_free(a->http);
    if (a->path[0])
        unlink(a->path);
    free(a);
    s->api = NULL;
}
