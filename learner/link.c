/* Three kinds of trouble: no answer (serve died or hangs: LOST), an answer that serve cannot
 * serve right now (5xx: the same request again, a while), and a refusal (4xx: FAIL). A refusal
 * of the session or of the token is LOST when serve.json has changed in the meantime: then it
 * was the next serve's. */
#include "learner/link.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/http.h"
#include "base/log.h"
#include "base/mem.h"

#define RETRY_MS 200
#define SERVE_JSON_MAX 65536
#define ANSWER_SECONDS 30.0
#define SESSION_MAX 256

struct link {
    char *path;      /* of serve.json */
    struct buf seen; /* its bytes when the connection was made */
    struct http *http;
    char session[SESSION_MAX];
    struct buf body;
    struct link_patience patience;
    bool (*stop)(void *arg);
    void *stop_arg;
};

struct link *
link_new(const char *run, struct link_patience patience, bool (*stop)(void *arg), void *arg) {
    struct link *l = mem_zero(1, sizeof *l);
    struct buf path = {0};
    buf_fmt(&path, "%s/serve.json", run);
    l->path = mem_text(buf_text(&path));
    buf_free(&path);
    l->patience = patience;
    l->stop = stop;
    l->stop_arg = arg;
    return l;
}

void
link_free(struct link *l) {
    if (!l)
        return;
    http_free(l->http);
    buf_free(&l->seen);
    buf_free(&l->body);
    free(l->path);
    free(l);
}

static double
seconds_since(int64_t start_us) {
    return (double)(clock_mono_us() - start_us) / 1e6;
}

static bool
is_stopped(const struct link *l) {
    return l->stop && l->stop(l->stop_arg);
}

/* Sleeps in short pieces; false when the caller wants to stop. */
static bool
pause_ms(const struct link *l, int ms) {
    for (int done = 0; done < ms; done += 50) {
        if (is_stopped(l))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000000L}, NULL);
    }
    return !is_stopped(l);
}

/* ---- where serve is ---- */

static struct http *
connect_to(const struct buf *bytes, const char *path, struct err *e) {
    json_error_t why;
    json_t *v = json_loadb((const char *)bytes->at, bytes->len, 0, &why);
    json_int_t port = json_integer_value(json_object_get(v, "port"));
    const char *token = json_string_value(json_object_get(v, "token"));
    const char *host = json_string_value(json_object_get(v, "host"));
    struct http *h = NULL;
    if (!host || !strcmp(host, "0.0.0.0")) /* every address is also this one */
        host = "127.0.0.1";
    else if (!strcmp(host, "::"))
        host = "::1";
    if (port < 1 || port > 65535 || !token || strpbrk(token, "\r\n")) {
        err_set(e, "%s: names no port and token of a running serve", path);
    } else {
        char base[320];
        snprintf(base, sizeof base, strchr(host, ':') ? "http://[%.255s]:%d" : "http://%.255s:%d",
                 host, (int)port);
        h = http_new(base, token);
    }
    json_decref(v);
    return h;
}

/* Reads serve.json; a connection that fits what it says is kept. */
static int
find_serve(struct link *l, struct err *e) {
    struct buf now = {0};
    if (file_read(l->path, SERVE_JSON_MAX, &now, e) < 0) {
        buf_free(&now);
        return -1;
    }
    bool same = l->http && now.len == l->seen.len && !memcmp(now.at, l->seen.at, now.len);
    if (!same) {
        http_free(l->http);
        l->http = connect_to(&now, l->path, e);
        buf_clear(&l->seen);
        buf_add(&l->seen, now.at, now.len);
        if (l->http)
            http_set_stop(l->http, l->stop, l->stop_arg);
    }
    buf_free(&now);
    return l->http ? 0 : -1;
}

static bool
serve_changed(const struct link *l) {
    struct buf now = {0};
    bool changed = file_read(l->path, SERVE_JSON_MAX, &now, NULL) < 0 || now.len != l->seen.len ||
                   memcmp(now.at, l->seen.at, now.len);
    buf_free(&now);
    return changed;
}

/* ---- requests ---- */

static enum link_result
refused(const struct link *l, int status, struct err *e) {
    http_refusal(l->http, e);
    return (status == 401 || status == 409) && serve_changed(l) ? LINK_LOST : LINK_FAIL;
}

/* Sends l->body; 5xx answers are asked again for a while. */
static enum link_result
post(struct link *l, const char *path, int *status, struct err *e) {
    int64_t start = clock_mono_us();
    for (;;) {
        *status = http_call(l->http, "POST", path, l->body.at, l->body.len, ANSWER_SECONDS, e);
        if (*status < 0)
            return is_stopped(l) ? LINK_STOP : LINK_LOST;
        if (*status < 300)
            return LINK_OK;
        if (*status < 500)
            return refused(l, *status, e);
        http_refusal(l->http, e);
        if (seconds_since(start) > l->patience.lost)
            return LINK_FAIL;
        log_warn("learner", "%s; trying again", e->text);
        if (!pause_ms(l, RETRY_MS))
            return LINK_STOP;
    }
}

static int
get_number(const json_t *v, const char *key, int64_t *out, struct err *e) {
    const json_t *n = json_object_get(v, key);
    if (!json_is_integer(n))
        return err_set(e, "serve's answer lacks the number \"%s\"", key);
    *out = (int64_t)json_integer_value(n);
    return 0;
}

static int
get_text(const json_t *v, const char *key, char *out, size_t cap, struct err *e) {
    const char *s = json_string_value(json_object_get(v, key));
    if (!s || strlen(s) >= cap)
        return err_set(e, "serve's answer lacks the text \"%s\"", key);
    memcpy(out, s, strlen(s) + 1);
    return 0;
}

/* ---- session ---- */

static enum link_result
begin_session(struct link *l, struct link_session *out, struct err *e) {
    if (find_serve(l, e) < 0)
        return LINK_LOST;
    int status = http_call(l->http, "POST", "/api/learner", "{}", 2, ANSWER_SECONDS, e);
    if (status < 0)
        return LINK_LOST;
    if (status != 200) {
        http_refusal(l->http, e);
        return LINK_LOST;
    }
    json_t *v = http_json(l->http, e);
    bool good = v && get_number(v, "step", &out->step, e) == 0 &&
                get_number(v, "policy", &out->policy, e) == 0 &&
                get_text(v, "state", out->state, sizeof out->state, e) == 0 &&
                get_text(v, "snapshot", out->snapshot, sizeof out->snapshot, e) == 0 &&
                get_text(v, "session", l->session, sizeof l->session, e) == 0;
    json_decref(v);
    return good ? LINK_OK : LINK_FAIL;
}

enum link_result
link_open(struct link *l, struct link_session *out, struct err *e) {
    int64_t start = clock_mono_us();
    bool first = !l->http;
    for (;;) {
        enum link_result r = begin_session(l, out, e);
        if (is_stopped(l))
            return LINK_STOP;
        if (r != LINK_LOST)
            return r;
        double patience = first && !l->http ? l->patience.start : l->patience.lost;
        if (seconds_since(start) >= patience) {
            err_prefix(e,
                       "no agon serve answers for this run, after %.0f s (start it with agon "
                       "serve or agon train)",
                       patience);
            return LINK_FAIL;
        }
        if (!pause_ms(l, RETRY_MS))
            return LINK_STOP;
    }
}

/* ---- leases and steps ---- */

/* Opens the request's object with the session in it. */
static void
begin_body(struct link *l) {
    json_t *s = json_string(l->session);
    ensure(s);
    char *quoted = json_dumps(s, JSON_ENCODE_ANY);
    ensure(quoted);
    buf_clear(&l->body);
    buf_fmt(&l->body, "{\"session\":%s,", quoted);
    free(quoted);
    json_decref(s);
}

enum link_result
link_lease(struct link *l, int64_t count, struct link_lease *out, struct err *e) {
    begin_body(l);
    buf_fmt(&l->body, "\"count\":%" PRId64 "}", count);
    int status;
    enum link_result r = post(l, "/api/leases", &status, e);
    if (r != LINK_OK)
        return r;
    if (status == 204)
        return LINK_WAIT;
    json_t *v = http_json(l->http, e);
    bool good = v && get_number(v, "lease", &out->id, e) == 0 &&
                get_number(v, "first", &out->first, e) == 0 &&
                get_number(v, "last", &out->last, e) == 0;
    json_decref(v);
    return good ? LINK_OK : LINK_FAIL;
}

enum link_result
link_step(struct link *l, const struct buf *body, int64_t *policy, struct err *e) {
    begin_body(l);
    buf_add(&l->body, body->at, body->len);
    int status;
    enum link_result r = post(l, "/api/steps", &status, e);
    if (r != LINK_OK)
        return r;
    json_t *v = http_json(l->http, e);
    bool good = v && get_number(v, "policy", policy, e) == 0;
    json_decref(v);
    return good ? LINK_OK : LINK_FAIL;
}
