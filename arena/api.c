/* The HTTP API (docs/api.md): start and stop, the table of routes, and who may call what. Reading
 * is open on the loopback interface, and needs the run's token (serve.json, readable by its owner
 * only) where other machines can reach the port; changing always needs it. Whether a request is
 * heard at all is decided from its head, before its body is read. */
#include "arena/api-int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena/kept.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

#define BODY_LEARNER (256u << 20)
#define BODY_IMPORT (64u << 20)
#define BODY_SMALL (256u << 10)
#define SPARE_DESCRIPTORS 128 /* that are not for connections */
#define TICK_US 1000000

/* What the program is allowed to do in a browser, and what others may do with it. */
static const char security[] =
    "X-Content-Type-Options: nosniff\r\n"
    "Content-Security-Policy: default-src 'self'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; object-src 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n";

/* The text of a file becomes part of the program. */
__asm__(".section .rodata\napi_openapi:\n.incbin \"arena/openapi.json\"\n.byte 0\n.previous\n");
extern const char api_openapi[] __attribute__((visibility("hidden")));

static void
get_openapi(struct call *c) {
    struct buf text = {0};
    buf_put(&text, api_openapi);
    api_answer_text(c->q, "application/json; charset=utf-8", &text);
}

/* ---- routes ---- */

static const struct api_route routes[] = {
    {HTTP_GET, "/", "", API_OPEN, 0, get_page},
    {HTTP_GET, "/api/events", "level before limit", API_READ, 0, get_events},
    {HTTP_GET, "/api/evals", "game policy before limit", API_READ, 0, get_evals},
    {HTTP_POST, "/api/evals", "", API_CHANGE, BODY_LEARNER, post_evals},
    {HTTP_GET, "/api/forfeits", "game limit", API_READ, 0, get_forfeits},
    {HTTP_GET, "/api/games", "", API_READ, 0, get_games},
    {HTTP_GET, "/api/health", "", API_READ, 0, get_health},
    {HTTP_POST, "/api/imports", "", API_CHANGE, BODY_IMPORT, post_imports},
    {HTTP_DELETE, "/api/imports/{hash}", "", API_CHANGE, 0, delete_imports},
    {HTTP_POST, "/api/learner", "", API_CHANGE, BODY_SMALL, post_learner},
    {HTTP_POST, "/api/leases", "", API_CHANGE, BODY_SMALL, post_leases},
    {HTTP_GET, "/api/live", "", API_READ, 0, get_live},
    {HTTP_GET, "/api/live/match", "game pace", API_READ, 0, get_live_match},
    {HTTP_GET, "/api/matches", "game policy kind reason before limit", API_READ, 0, get_matches},
    {HTTP_GET, "/api/matches/{id}", "", API_READ, 0, get_match},
    {HTTP_GET, "/api/openapi.json", "", API_READ, 0, get_openapi},
    {HTTP_GET, "/api/overview", "", API_READ, 0, get_overview},
    {HTTP_GET, "/api/payoff", "game policy kind limit", API_READ, 0, get_payoff},
    {HTTP_POST, "/api/play", "", API_CHANGE, BODY_SMALL, post_play},
    {HTTP_GET, "/api/play/{session}", "", API_CHANGE, 0, get_play},
    {HTTP_POST, "/api/play/{session}", "", API_CHANGE, BODY_SMALL, post_play_reply},
    {HTTP_DELETE, "/api/play/{session}", "", API_CHANGE, 0, delete_play},
    {HTTP_GET, "/api/policies", "type before limit", API_READ, 0, get_policies},
    {HTTP_GET, "/api/policies/{id}", "", API_READ, 0, get_policy},
    {HTTP_GET, "/api/policies/{id}/snapshot", "", API_READ, 0, get_snapshot},
    {HTTP_GET, "/api/ratings", "game kind forfeits", API_READ, 0, get_ratings},
    {HTTP_GET, "/api/run", "", API_READ, 0, get_run},
    {HTTP_GET, "/api/series", "from to points", API_READ, 0, get_series},
    {HTTP_POST, "/api/shutdown", "", API_CHANGE, BODY_SMALL, post_shutdown},
    {HTTP_POST, "/api/sql", "", API_READ, BODY_SMALL, post_sql},
    {HTTP_GET, "/api/steps", "before limit", API_READ, 0, get_steps},
    {HTTP_POST, "/api/steps", "", API_CHANGE, BODY_LEARNER, post_steps},
    {HTTP_GET, "/metrics", "", API_READ, 0, get_metrics},
    {HTTP_GET, "/page/{file}", "", API_OPEN, 0, get_page},
    {HTTP_GET, "/page/vendor/{file}", "", API_OPEN, 0, get_page},
    {HTTP_GET, "/page/views/{file}", "", API_OPEN, 0, get_page},
};
#define ROUTES (sizeof routes / sizeof *routes)

const struct api_route *
api_route_at(int i) {
    return i >= 0 && (size_t)i < ROUTES ? &routes[i] : NULL;
}

/* Does the path fit "/a/{id}/b"? The part in place of the braces goes to *word. */
static bool
path_fits(const char *route, struct http_text path, struct http_text *word) {
    const char *p = path.at, *end = path.at + path.n;
    for (; *route; route++) {
        if (*route == '{') {
            const char *slash = memchr(p, '/', (size_t)(end - p));
            *word = (struct http_text){p, (size_t)((slash ? slash : end) - p)};
            if (!word->n)
                return false;
            p += word->n;
            route = strchr(route, '}');
        } else if (p == end || *p++ != *route) {
            return false;
        }
    }
    return p == end;
}

/* NULL: refused, with the methods there are when the path is known. */
static const struct api_route *
find_route(struct httpd_request *q, struct http_text *word) {
    static const char *const names[] = {"GET, HEAD", "HEAD", "POST", "DELETE"};
    enum http_method method = q->head.method == HTTP_HEAD ? HTTP_GET : q->head.method;
    char allowed[64] = "";
    for (size_t i = 0; i < ROUTES; i++) {
        if (!path_fits(routes[i].path, q->head.path, word))
            continue;
        if (routes[i].method == method)
            return &routes[i];
        size_t n = strlen(allowed);
        snprintf(allowed + n, sizeof allowed - n, "%s%s", n ? ", " : "", names[routes[i].method]);
    }
    if (!*allowed) {
        api_refuse(q, 404, "path", "there is no such path; /api/openapi.json lists them");
        return NULL;
    }
    struct buf body = {0};
    char fields[128];
    snprintf(fields, sizeof fields, "Cache-Control: no-store\r\nAllow: %s\r\n", allowed);
    api_write_error(&body, "method", "this path does not take that method");
    httpd_answer(q, &(struct httpd_answer){.status = 405,
                                           .type = "application/json; charset=utf-8",
                                           .fields = fields,
                                           .body = &body});
    return NULL;
}

static bool
may_call(struct api *a, struct httpd_request *q, const struct api_route *r) {
    bool known = guard_token(&a->guard, q->head.field[HTTP_AUTHORIZATION]);
    if (known)
        httpd_trust(q);
    if (known || r->access == API_OPEN || (r->access == API_READ && a->open))
        return true;
    api_refuse(q, 401, "token",
               "send \"Authorization: Bearer TOKEN\" with the token of the run's serve.json");
    return false;
}

static int
on_head(void *arg, struct httpd_request *q, size_t *most) {
    struct api *a = arg;
    struct http_text word;
    if (!guard_host(&a->guard, q->head.field[HTTP_HOST], q->address)) {
        api_refuse(q, 403, "host",
                   "this server does not go by that name; serve.hosts can give it more names");
        return -1;
    }
    bool reads = q->head.method == HTTP_GET || q->head.method == HTTP_HEAD;
    if (!guard_origin(&q->head, !reads)) {
        api_refuse(q, 403, "origin", "pages of other sites may not call this server");
        return -1;
    }
    const struct api_route *r = find_route(q, &word);
    if (!r || !may_call(a, q, r))
        return -1;
    *most = r->body_most;
    q->user = (void *)(size_t)r;
    return 0;
}

/* ---- parameters ---- */

static const struct param {
    const char *name,
        *words; /* "a|b": one of them; NULL: a number in [min, max], or text if max is 0 */
    int64_t min, max;
} params[] = {
    {"before", NULL, 0, INT64_MAX},
    {"forfeits", "yes|no", 0, 0},
    {"from", NULL, 0, 1000000000},
    {"game", NULL, 0, 0},
    {"kind", "train|warmup|eval|play", 0, 0},
    {"level", "debug|info|warn|error", 0, 0},
    {"limit", NULL, 1, API_ROWS_MOST},
    {"pace", NULL, 50, 10000},
    {"points", NULL, 1, 2000},
    {"policy", NULL, 0, 0},
    {"reason", "play|invalid|no answer|time|crash|turn limit|aborted", 0, 0},
    {"to", NULL, 0, 1000000000},
    {"type", "snapshot|scripted", 0, 0},
};

static bool
has_word(const char *list, char separator, const char *word) {
    size_t n = strlen(word);
    for (const char *at = list; n && *at;) {
        const char *end = strchr(at, separator);
        size_t len = end ? (size_t)(end - at) : strlen(at);
        if (len == n && !memcmp(at, word, n))
            return true;
        at += len + (end != NULL);
    }
    return false;
}

static bool
is_number(const char *s, int64_t *v) {
    size_t n = strspn(s, "0123456789");
    *v = n && n <= 18 ? strtoll(s, NULL, 10) : -1;
    return *v >= 0 && !s[n];
}

static bool
check_param(struct httpd_request *q, const struct param *p, const char *value) {
    int64_t v;
    if (p->words && !has_word(p->words, '|', value)) {
        api_refuse(q, 400, "parameter", "%s: one of %s is needed", p->name, p->words);
        return false;
    }
    if (!p->words && p->max && (!is_number(value, &v) || v < p->min || v > p->max)) {
        if (p->max == INT64_MAX)
            api_refuse(q, 400, "parameter", "%s: an id is needed", p->name);
        else
            api_refuse(q, 400, "parameter", "%s: a number from %lld to %lld is needed", p->name,
                       (long long)p->min, (long long)p->max);
        return false;
    }
    if (!p->words && !p->max && (!*value || strlen(value) > 255)) {
        api_refuse(q, 400, "parameter", "%s: a text of 1 to 255 bytes is needed", p->name);
        return false;
    }
    return true;
}

static bool
check_query(struct call *c, const struct api_route *r) {
    const char *wrong;
    if (http_query_read(c->q->head.query, &c->query, &wrong) < 0) {
        api_refuse(c->q, 400, "query", "%s", wrong);
        return false;
    }
    for (size_t i = 0; i < c->query.n; i++) {
        const char *name = c->query.pair[i].name;
        if (!has_word(r->params, ' ', name)) {
            api_refuse(c->q, 400, "parameter", "there is no such parameter here; there is: %s",
                       *r->params ? r->params : "none");
            return false;
        }
        for (size_t k = 0; k < sizeof params / sizeof *params; k++)
            if (!strcmp(params[k].name, name) &&
                !check_param(c->q, &params[k], c->query.pair[i].value))
                return false;
    }
    return true;
}

/* ---- requests ---- */

static bool
read_path(struct call *c, const struct api_route *r) {
    struct http_text word = {"", 0};
    path_fits(r->path, c->q->head.path, &word);
    if (word.n >= sizeof c->word) {
        api_refuse(c->q, 400, "id", "the path's last part is too long");
        return false;
    }
    memcpy(c->word, word.at, word.n);
    c->word[word.n] = '\0';
    if (strstr(r->path, "{id}") && !is_number(c->word, &c->id)) {
        api_refuse(c->q, 400, "id", "the id in the path must be a number");
        return false;
    }
    return true;
}

static bool
read_body(struct call *c) {
    json_error_t why = {0};
    if (c->q->head.method != HTTP_POST)
        return true;
    c->body = c->q->nbody ? json_loadb(c->q->body, c->q->nbody, JSON_REJECT_DUPLICATES, &why)
                          : json_object();
    if (json_is_object(c->body))
        return true;
    api_refuse(c->q, 400, "json", "%s", c->body ? "the body must be a JSON object" : why.text);
    json_decref(c->body);
    return false;
}

static void
on_request(void *arg, struct httpd_request *q) {
    struct api *a = arg;
    const struct api_route *r = q->user;
    struct call c = {.api = a, .s = a->s, .q = q};
    q->user = NULL;
    if (a->stopping) { /* one answer that goes out brings a connection's next request */
        api_refuse(q, 503, "stopping", "the server is stopping");
        return;
    }
    if (!check_query(&c, r) || !read_path(&c, r) || !read_body(&c))
        return;
    r->run(&c);
    json_decref(c.body);
}

static void
on_refusal(void *arg, int status, const char *why, struct buf *body) {
    (void)arg;
    api_write_error(body, status == 408 ? "time" : status == 503 ? "full" : "http", why);
}

/* ---- start and stop ---- */

void
api_tick(struct serve *s) {
    struct api *a = s->api;
    int64_t now = clock_mono_us();
    learner_tick(a);
    if (now - a->ticked_us < TICK_US)
        return;
    a->ticked_us = now;
    status_tick(a);
    live_tick(a);
    play_tick(a);
}

static int
write_card(struct serve *s, struct err *e) {
    struct api *a = s->api;
    char text[512];
    int n = snprintf(text, sizeof text,
                     "{\"pid\":%ld,\"host\":\"%s\",\"port\":%d,\"token\":\"%s\"}\n", (long)getpid(),
                     conf_text(s->conf, "serve.host"), httpd_port(a->httpd), a->guard.token);
    mode_t before = umask(0077);
    int status = file_write(a->path, text, (size_t)n, false, e);
    umask(before);
    return status;
}

/* Descriptors for so many connections, or as many connections as there are descriptors. */
static int
connections(const struct serve *s) {
    int want = (int)conf_int(s->conf, "serve.connections");
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return want;
    rlim_t need = (rlim_t)want + SPARE_DESCRIPTORS;
    if (r.rlim_cur < need) {
        r.rlim_cur = r.rlim_max < need ? r.rlim_max : need;
        setrlimit(RLIMIT_NOFILE, &r);
    }
    if (r.rlim_cur >= need)
        return want;
    log_warn("api", "only %lld descriptors may be open, so there will be fewer connections",
             (long long)r.rlim_cur);
    return r.rlim_cur > 2 * SPARE_DESCRIPTORS ? (int)r.rlim_cur - SPARE_DESCRIPTORS
                                              : SPARE_DESCRIPTORS / 2;
}

/* A server that was killed has left its card. Its port and token serve on, so that pages and other
 * clients find the new one. Returns the port, 0: any. */
static int
take_over(struct api *a) {
    struct buf text = {0};
    int port = 0;
    if (file_read(a->path, 4096, &text, NULL) == 0) {
        json_t *card = json_loadb((const char *)text.at, text.len, 0, NULL);
        const char *token = json_string_value(json_object_get(card, "token"));
        json_int_t was = json_integer_value(json_object_get(card, "port"));
        if (token && strlen(token) == sizeof a->guard.token - 1 &&
            strspn(token, "0123456789abcdef") == sizeof a->guard.token - 1)
            memcpy(a->guard.token, token, sizeof a->guard.token);
        if (was > 0 && was < 65536)
            port = (int)was;
        json_decref(card);
    }
    buf_free(&text);
    return port;
}

static int
start_httpd(struct serve *s, struct err *e) {
    struct api *a = s->api;
    const char *host = conf_text(s->conf, "serve.host");
    int port = (int)conf_int(s->conf, "serve.port"), was = take_over(a);
    struct httpd_setup setup = {
        .base = s->base,
        .host = host,
        .port = port ? port : was,
        .connections = connections(s),
        .per_address = (int)conf_int(s->conf, "serve.per_address"),
        .head_s = 10,
        .body_s = 60,
        .idle_s = 120,
        .send_s = 20,
        .fields = security,
        .arg = a,
        .on_head = on_head,
        .on_request = on_request,
        .on_refusal = on_refusal,
    };
    if (guard_set_hosts(&a->guard, host, conf_text(s->conf, "serve.hosts")) < 0)
        return err_set(e, "serve.hosts: at most %d names are possible", GUARD_HOSTS - 4);
    a->httpd = httpd_new(&setup, e);
    if (!a->httpd && !port && was) { /* somebody else has it by now */
        setup.port = 0;
        a->httpd = httpd_new(&setup, e);
    }
    if (!a->httpd)
        return -1;
    a->open = httpd_is_loopback(a->httpd) && !strcmp(conf_text(s->conf, "serve.token"), "auto");
    log_info("api",
             strchr(host, ':') ? "listening on http://[%s]:%d%s" : "listening on http://%s:%d%s",
             host, httpd_port(a->httpd), a->open ? "" : "; reading needs the token of serve.json");
    return 0;
}

/* For whoever sits there; what goes to a log must not tell the token. */
static void
say_where(const struct serve *s) {
    const char *host = conf_text(s->conf, "serve.host");
    if (!isatty(STDOUT_FILENO))
        return;
    printf(strchr(host, ':') ? "Page: http://[%s]:%d/#token=%s\n"
                             : "Page: http://%s:%d/#token=%s\n",
           host, httpd_port(s->api->httpd), s->api->guard.token);
    fflush(stdout);
}

int
api_start(struct serve *s, struct err *e) {
    struct api *a = s->api = mem_zero(1, sizeof *a);
    char database[SERVE_PATH + 32];
    a->s = s;
    random_hex(a->guard.token);
    snprintf(a->path, sizeof a->path, "%s/serve.json", s->run);
    snprintf(database, sizeof database, "%s/run.db", s->run);
    a->kept = kept_new();
    a->readers = readers_new(s->base, database, e);
    if (!a->readers || start_httpd(s, e) < 0)
        return -1;
    live_start(a);
    play_start(a);
    status_tick(a);
    if (write_card(s, e) < 0)
        return -1;
    say_where(s);
    return 0;
}

void
api_stop(struct serve *s) {
    struct api *a = s->api;
    if (!a)
        return;
    if (a->path[0])
        unlink(a->path);
    a->stopping = true;
    learner_stop(a);
    readers_free(a->readers);
    kept_free(a->kept);
    play_stop(a);
    live_stop(a);
    httpd_free(a->httpd);
    buf_free(&a->fields);
    free(a);
    s->api = NULL;
}
