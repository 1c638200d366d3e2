/* Server-sent events.
 *
 * GET /api/live tells of the run as it goes on. Events that happen once (step, eval, match) are
 * numbered and kept in a ring, so that a client that comes back with Last-Event-ID misses none of
 * the newest; `status` comes every second and has no number. A number is of this start of the
 * server only.
 *
 * GET /api/live/match shows the newest finished match turn by turn, then the next newest: thousands
 * are finished in a second, nobody could follow them as they are played. */
#include "arena/api-int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

#define RING 256
#define LISTENERS_MOST 64
#define WATCHERS_MOST 16
#define WAITING_MOST (256u << 10) /* bytes that a slow client may leave lying */
#define EVENT_MOST (64u << 10)
#define SAMPLED 3 /* matches a second */

struct listener {
    struct listener *next;
    struct live *live;
    struct httpd_request *q;
};

struct kept { /* an event in the ring */
    uint64_t number;
    struct buf text;
};

struct live {
    struct api *api;
    struct listener *listeners;
    int listening, watching;
    struct kept ring[RING];
    uint64_t number; /* of the newest event */
    int64_t boot;    /* tells this start's numbers from another's */
    int64_t sampled; /* newest match that has been shown */
    bool sampling;
    struct watcher *watchers;
};

/* ---- listeners ---- */

static const struct httpd_answer stream = {.status = 200,
                                           .type = "text/event-stream; charset=utf-8",
                                           .fields = "Cache-Control: no-store\r\n"
                                                     "X-Accel-Buffering: no\r\n",
                                           .length = -1};

static void
drop(struct listener *l) {
    struct listener **at = &l->live->listeners;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    l->live->listening--;
    l->q->on_gone = NULL;
    httpd_end(l->q);
    free(l);
}

static void
on_gone(struct httpd_request *q) {
    drop(q->user);
}

static void
tell(struct listener *l, const struct buf *text) {
    if (httpd_write(l->q, text->at, text->len, WAITING_MOST) < 0)
        drop(l);
}

static void
tell_all(struct live *v, const struct buf *text) {
    for (struct listener *l = v->listeners, *next; l; l = next) {
        next = l->next;
        tell(l, text);
    }
}

/* Numbers an event, keeps it and sends it. `data` is one line of JSON. */
static void
publish(struct live *v, const char *name, const struct buf *data) {
    struct kept *k = &v->ring[++v->number % RING];
    if (data->len > EVENT_MOST)
        return;
    k->number = v->number;
    buf_clear(&k->text);
    buf_fmt(&k->text, "id: %" PRId64 "-%" PRIu64 "\nevent: %s\ndata: ", v->boot, v->number, name);
    buf_add(&k->text, data->at, data->len);
    buf_put(&k->text, "\n\n");
    tell_all(v, &k->text);
}

/* Sends what the ring has of events after the client's newest. */
static void
catch_up(struct live *v, struct listener *l) {
    struct http_text last = l->q->head.field[HTTP_LAST_EVENT_ID];
    char text[64];
    struct buf all = {0};
    int64_t boot;
    uint64_t number;
    buf_fmt(&all, "retry: 2000\n: at %" PRIu64 "\n\n", v->number);
    if (last.n && last.n < sizeof text) {
        memcpy(text, last.at, last.n);
        text[last.n] = '\0';
        if (sscanf(text, "%" SCNd64 "-%" SCNu64, &boot, &number) == 2 && boot == v->boot &&
            number <= v->number)
            for (uint64_t n = number + 1; n <= v->number; n++)
                if (v->ring[n % RING].number == n)
                    buf_add(&all, v->ring[n % RING].text.at, v->ring[n % RING].text.len);
    }
    tell(l, &all);
    buf_free(&all);
}

void
get_live(struct call *c) {
    struct live *v = c->api->live;
    if (v->listening >= LISTENERS_MOST) {
        api_refuse(c->q, 503, "full", "there are %d listeners already", LISTENERS_MOST);
        return;
    }
    httpd_start(c->q, &stream);
    if (c->q->head.method == HTTP_HEAD) {
        httpd_end(c->q);
        return;
    }
    struct listener *l = mem_zero(1, sizeof *l);
    *l = (struct listener){v->listeners, v, c->q};
    v->listeners = l;
    v->listening++;
    c->q->user = l;
    c->q->on_gone = on_gone;
    catch_up(v, l);
}

/* ---- what happens ---- */

static void
publish_json(struct live *v, const char *name, json_t *value) {
    struct buf data = {0};
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(value);
    if (text)
        buf_put(&data, text);
    free(text);
    publish(v, name, &data);
    buf_free(&data);
}

void
live_step(struct api *a, int64_t step, json_t *body) {
    json_t *metrics = json_object_get(body, "metrics");
    publish_json(a->live, "step",
                 json_pack("{s:I,s:I,s:b,s:O?,s:O?}", "step", (json_int_t)step, "at_ms",
                           (json_int_t)clock_wall_ms(), "refused",
                           json_is_true(json_object_get(body, "refused")), "snapshot",
                           json_object_get(body, "snapshot"), "metrics", metrics));
}

void
live_eval(struct api *a, int64_t step, int64_t policy, json_t *result) {
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, policy);
    publish_json(a->live, "eval",
                 json_pack("{s:I,s:I,s:s,s:O}", "step", (json_int_t)step, "at_ms",
                           (json_int_t)clock_wall_ms(), "policy_id", id, "report", result));
}

/* ---- finished matches, a few a second ---- */

struct sample {
    struct read_job job;
    struct live *live;
    int64_t after;
    int n;
    struct buf row[SAMPLED];
    int64_t id[SAMPLED];
};

static int
add_row(void *arg, const struct store_cell *cell, int cells) {
    struct sample *s = arg;
    const char *id = row_cell(cell, cells, "id");
    struct json_out j = {.out = &s->row[s->n]};
    s->id[s->n] = id ? strtoll(id, NULL, 10) : 0;
    if (s->id[s->n] <= s->after)
        return 1;
    json_out_open(&j, NULL, '{');
    row_members(&j, cell, cells);
    json_out_close(&j, '}');
    return ++s->n == SAMPLED;
}

static void
sample_work(struct read_job *job, struct store *db, const struct err *why) {
    struct sample *s = (struct sample *)(void *)job;
    struct store_bind limit = {":limit", NULL, SAMPLED};
    (void)why;
    if (db)
        store_query(db, "matches", &limit, 1, add_row, s, NULL);
}

static void
sample_done(struct read_job *job) {
    struct sample *s = (struct sample *)(void *)job;
    struct live *v = s->live;
    v->sampling = false;
    for (int i = SAMPLED; i-- > 0;) { /* oldest first */
        if (i < s->n) {
            v->sampled = s->id[i];
            publish(v, "match", &s->row[i]);
        }
        buf_free(&s->row[i]);
    }
    free(s);
}

void
live_tick(struct api *a) {
    struct live *v = a->live;
    struct buf text = {0};
    if (!v->listeners)
        return;
    struct json_out j = {.out = &text};
    buf_put(&text, "event: status\ndata: ");
    json_out_open(&j, NULL, '{');
    status_write(a, &j);
    json_out_close(&j, '}');
    buf_put(&text, "\n\n");
    tell_all(v, &text);
    buf_free(&text);
    if (v->sampling || !v->listeners)
        return;
    struct sample *s = mem_zero(1, sizeof *s);
    s->job = (struct read_job){.work = sample_work, .done = sample_done};
    s->live = v;
    s->after = v->sampled;
    v->sampling = readers_add(a->readers, &s->job) == 0;
    if (!v->sampling)
        free(s);
}

int
live_listeners(const struct api *a) {
    return a->live->listening + a->live->watching;
}

/* ---- one match after another, turn by turn ---- */

struct watcher {
    struct task task; /* first: its job is read by a thread */
    struct watcher *next;
    struct live *live;
    struct httpd_request *q;
    struct event *timer;
    struct timeval pace;
    char game[256]; /* "": any */
    int64_t shown;  /* newest match that has been shown; 0: none */
    bool reading, gone;
    struct buf events; /* to be sent, each ends with an empty line */
    size_t at;
};

static void
free_watcher(struct watcher *w) {
    struct watcher **at = &w->live->watchers;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    w->live->watching--;
    w->q->on_gone = NULL;
    httpd_end(w->q);
    event_free(w->timer);
    buf_free(&w->events);
    buf_free(&w->task.body);
    free(w);
}

static void
watcher_gone(struct httpd_request *q) {
    struct watcher *w = q->user;
    w->gone = true;
    event_del(w->timer);
    if (!w->reading)
        free_watcher(w);
}

static int
take_id(void *arg, const struct store_cell *cell, int cells) {
    const char *id = row_cell(cell, cells, "id");
    *(int64_t *)arg = id ? strtoll(id, NULL, 10) : 0;
    return 1;
}

static void
put_event(struct buf *out, const char *name, json_t *data) {
    char *text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(9));
    buf_fmt(out, "event: %s\ndata: ", name);
    buf_put(out, text ? text : "{}");
    buf_put(out, "\n\n");
    free(text);
}

/* A whole match as events: match (without its turns and its end), turn, ..., end. */
static void
split_match(struct watcher *w) {
    static const char *const last[] = {"outcome", "winner", "reason",          "forfeited_by",
                                       "loser",   "result", "learned_in_step", "drawing"};
    json_t *m = json_loadb((const char *)w->task.body.at, w->task.body.len, 0, NULL);
    json_t *turns = json_incref(json_object_get(m, "turns")), *end = json_object(), *turn;
    size_t i;
    json_object_set(end, "id", json_object_get(m, "id"));
    for (size_t k = 0; k < sizeof last / sizeof *last; k++) {
        json_object_set(end, last[k], json_object_get(m, last[k]));
        json_object_del(m, last[k]);
    }
    json_object_set(end, "seats", json_object_get(m, "seats"));
    json_object_del(m, "seats");
    json_object_set_new(m, "turns", json_integer((json_int_t)json_array_size(turns)));
    json_object_del(m, "moves");
    buf_clear(&w->events);
    w->at = 0;
    if (m)
        put_event(&w->events, "match", m);
    json_array_foreach(turns, i, turn) {
        put_event(&w->events, "turn", turn);
    }
    put_event(&w->events, "end", end);
    buf_text(&w->events); /* ends it with a NUL */
    json_decref(turns);
    json_decref(end);
    json_decref(m);
}

static void
watch_work(struct read_job *job, struct store *db, const struct err *why) {
    struct watcher *w = (struct watcher *)(void *)job;
    struct store_bind bind[] = {{":limit", NULL, 1}, {":game", w->game, 0}};
    struct json_out j = {.out = &w->task.body};
    int64_t newest = 0;
    (void)why;
    buf_clear(&w->task.body);
    if (!db || store_query(db, "matches", bind, 2, take_id, &newest, NULL) < 0 ||
        newest <= w->shown)
        return;
    w->shown = newest;
    if (match_write(&w->task, db, &j, newest) == 0 && w->task.body.len <= API_ANSWER_MOST)
        split_match(w);
}

static void
watch_done(struct read_job *job) {
    struct watcher *w = (struct watcher *)(void *)job;
    static const struct timeval at_once, second = {.tv_sec = 1};
    w->reading = false;
    if (w->gone)
        free_watcher(w);
    else
        event_add(w->timer, w->events.len ? &at_once : &second);
}

/* The next event, or the next match. */
static void
on_timer(evutil_socket_t fd, short what, void *arg) {
    static const char nothing[] = ": nothing new\n\n";
    struct watcher *w = arg;
    (void)fd;
    (void)what;
    const char *text = nothing;
    size_t n = sizeof nothing - 1;
    if (w->at < w->events.len) {
        text = (const char *)w->events.at + w->at;
        n = (size_t)(strstr(text, "\n\n") + 2 - text);
        w->at += n;
    }
    if (httpd_write(w->q, text, n, WAITING_MOST + n) < 0) {
        free_watcher(w);
        return;
    }
    if (w->at < w->events.len) {
        event_add(w->timer, &w->pace);
        return;
    }
    bool ended = w->events.len > 0;
    buf_clear(&w->events);
    w->at = 0;
    if (ended) { /* the end stands for a moment */
        event_add(w->timer, &w->pace);
        return;
    }
    w->reading = readers_add(w->live->api->readers, &w->task.job) == 0;
    if (!w->reading)
        event_add(w->timer, &w->pace);
}

void
get_live_match(struct call *c) {
    struct live *v = c->api->live;
    const char *game = http_query_find(&c->query, "game");
    int64_t pace = api_number(&c->query, "pace", 700);
    if (v->watching >= WATCHERS_MOST) {
        api_refuse(c->q, 503, "full", "%d clients watch matches already", WATCHERS_MOST);
        return;
    }
    httpd_start(c->q, &stream);
    if (c->q->head.method == HTTP_HEAD) {
        httpd_end(c->q);
        return;
    }
    struct watcher *w = mem_zero(1, sizeof *w);
    w->task.job = (struct read_job){.work = watch_work, .done = watch_done};
    w->next = v->watchers;
    w->live = v;
    w->q = c->q;
    w->pace = (struct timeval){.tv_sec = pace / 1000, .tv_usec = pace % 1000 * 1000};
    w->timer = event_new(c->s->base, -1, 0, on_timer, w);
    ensure(w->timer);
    snprintf(w->game, sizeof w->game, "%s", game ? game : "");
    v->watchers = w;
    v->watching++;
    c->q->user = w;
    c->q->on_gone = watcher_gone;
    event_active(w->timer, EV_TIMEOUT, 0);
}

/* ---- start and stop ---- */

void
live_start(struct api *a) {
    struct live *v = a->live = mem_zero(1, sizeof *v);
    v->api = a;
    v->boot = clock_wall_ms();
}

void
live_stop(struct api *a) {
    struct live *v = a->live;
    if (!v)
        return;
    while (v->listeners)
        drop(v->listeners);
    while (v->watchers)
        free_watcher(v->watchers);
    for (int i = 0; i < RING; i++)
        buf_free(&v->ring[i].text);
    free(v);
    a->live = NULL;
}
