/* Answers. Those that come from the database are written, hashed and compressed in the thread that
 * read it, so that the loop only sends bytes. */
#include "arena/api-int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "arena/kept.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

#define JSON_TYPE "application/json; charset=utf-8"
#define ZIP_LEAST 1024 /* bytes that are worth it */
#define KEY_MOST 4096  /* bytes of a body */

enum ask {
    ASK_KEPT,
    ASK_FRESH, /* cheap, and seldom asked by two */
    ASK_SLOW,  /* kept, too; `more` is what was asked */
};

static void on_gone(struct httpd_request *q);

/* ---- plain answers ---- */

static void
write_tag(const struct buf *body, char out[40]) {
    snprintf(out, 40, "W/\"%016llx\"", (unsigned long long)hash_fnv(body->at, body->len));
}

bool
api_has_tag(const struct httpd_request *q, const char *tag) {
    struct http_text known = q->head.field[HTTP_IF_NONE_MATCH];
    if (!known.at)
        return false;
    const char *quoted = tag + 2; /* weak or not, it is the same */
    return http_is(known, "*") || memmem(known.at, known.n, quoted, strlen(quoted));
}

static bool
is_reading(const struct httpd_request *q) {
    return q->head.method == HTTP_GET || q->head.method == HTTP_HEAD;
}

/* What is read bears its tag, and is not sent to those who have it. age_s: how long ago it was
 * made, -1: just now. */
static void
send_answer(struct httpd_request *q, const char *type, const char *tag, bool zipped, int age_s,
            struct buf *body) {
    char fields[256], kind[96], age[32] = "";
    bool reading = is_reading(q), known = reading && api_has_tag(q, tag);
    if (age_s >= 0)
        snprintf(age, sizeof age, "Age: %d\r\n", age_s);
    if (reading)
        snprintf(kind, sizeof kind, "no-cache\r\nETag: %s\r\nVary: Accept-Encoding", tag);
    else
        snprintf(kind, sizeof kind, "no-store");
    snprintf(fields, sizeof fields, "Cache-Control: %s\r\n%s%s", kind,
             zipped ? "Content-Encoding: gzip\r\n" : "", age);
    if (known)
        buf_free(body);
    httpd_answer(q, &(struct httpd_answer){.status = known ? 304 : 200,
                                           .type = known ? NULL : type,
                                           .fields = fields,
                                           .body = known ? NULL : body});
}

void
api_answer_text(struct httpd_request *q, const char *type, struct buf *text) {
    char tag[40];
    write_tag(text, tag);
    send_answer(q, type, tag, false, -1, text);
}

void
api_answer(struct httpd_request *q, int status, struct buf *json) {
    if (status == 200 && is_reading(q)) {
        api_answer_text(q, JSON_TYPE, json);
        return;
    }
    httpd_answer(q, &(struct httpd_answer){.status = status,
                                           .type = JSON_TYPE,
                                           .fields = "Cache-Control: no-store\r\n",
                                           .body = json});
}

void
api_answer_json(struct httpd_request *q, int status, json_t *value) {
    struct buf body = {0};
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(value);
    if (text)
        buf_put(&body, text);
    free(text);
    api_answer(q, status, &body);
}

void
api_write_error(struct buf *out, const char *code, const char *message) {
    struct json_out j = {.out = out};
    json_out_open(&j, NULL, '{');
    json_out_open(&j, "error", '{');
    json_out_text(&j, "code", code);
    json_out_text(&j, "message", message);
    json_out_close(&j, '}');
    json_out_close(&j, '}');
}

void
api_refuse(struct httpd_request *q, int status, const char *code, const char *fmt, ...) {
    char text[1200];
    struct buf body = {0};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    api_write_error(&body, code, text);
    const char *fields = status == 401   ? "Cache-Control: no-store\r\nWWW-Authenticate: Bearer\r\n"
                         : status == 503 ? "Cache-Control: no-store\r\nRetry-After: 1\r\n"
                                         : "Cache-Control: no-store\r\n";
    httpd_answer(q, &(struct httpd_answer){
                        .status = status, .type = JSON_TYPE, .fields = fields, .body = &body});
}

int64_t
api_number(const struct http_query *q, const char *name, int64_t otherwise) {
    const char *text = http_query_find(q, name);
    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

/* ---- questions to the database ---- */

int
task_fail(struct task *t, int status, const char *code, const char *fmt, ...) {
    char text[1200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_clear(&t->body);
    api_write_error(&t->body, code, text);
    t->status = status;
    return -1;
}

int
task_fail_store(struct task *t, struct store *db, const struct err *e) {
    bool late = strstr(e->text, "too long") != NULL;
    bool wait = late || (db && store_retry(db));
    return task_fail(t, wait ? 503 : 500, "database", "%s", e->text);
}

static void
zip(struct task *t) {
    z_stream z = {0};
    struct buf out = {0};
    if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    size_t room = deflateBound(&z, (uLong)t->body.len);
    buf_room(&out, room);
    z.next_in = t->body.at;
    z.avail_in = (uInt)t->body.len;
    z.next_out = out.at;
    z.avail_out = (uInt)room;
    bool good = deflate(&z, Z_FINISH) == Z_STREAM_END;
    out.len = z.total_out;
    deflateEnd(&z);
    if (!good) {
        buf_free(&out);
        return;
    }
    buf_free(&t->body);
    t->body = out;
    t->zipped = true;
}

static void
make_answer(struct task *t, struct store *db, const struct err *why) {
    struct json_out j = {.out = &t->body};
    if (!db) {
        task_fail(t, 503, "database", "%s", why->text);
        return;
    }
    if (t->read(t, db, &j) < 0)
        return;
    if (t->body.len > API_ANSWER_MOST) {
        task_fail(t, 413, "large", "the answer would be longer than %u bytes: ask for less",
                  API_ANSWER_MOST);
        return;
    }
    write_tag(&t->body, t->tag);
    if (t->zip && t->body.len >= ZIP_LEAST)
        zip(t);
}

static void
on_work(struct read_job *job, struct store *db, const struct err *why) {
    struct task *t = (struct task *)(void *)job;
    t->began_us = clock_mono_us();
    t->status = 200;
    make_answer(t, db, why);
    t->made_us = clock_mono_us();
}

/* ---- who waits for which answer ---- */

struct waiter {
    struct waiter *next;
    struct httpd_request *q;
};

static void
add_waiter(struct task *t, struct httpd_request *q) {
    struct waiter *w = mem_zero(1, sizeof *w);
    *w = (struct waiter){t->waiters, q};
    t->waiters = w;
    q->user = t;
    q->on_gone = on_gone;
    q->soon = true;
}

static struct task *
find_task(const struct api *a, const char *key) {
    struct task *t = a->tasks;
    while (t && !(t->key && !strcmp(t->key, key)))
        t = t->next;
    return t;
}

/* Nobody can join it any more. */
static void
unlink_task(struct task *t) {
    struct task **at = &t->api->tasks;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
}

static void
free_task(struct task *t) {
    buf_free(&t->body);
    free(t->key);
    free(t->more);
    free(t);
}

static void
answer_waiter(const struct task *t, struct httpd_request *q, struct buf *body) {
    q->on_gone = NULL;
    if (t->status == 0) { /* the server stops, nobody has worked on it */
        buf_free(body);
        api_refuse(q, 503, "stopping", "the server is stopping");
    } else if (t->status != 200) {
        const char *fields = t->status == 503 ? "Cache-Control: no-store\r\nRetry-After: 1\r\n"
                                              : "Cache-Control: no-store\r\n";
        httpd_answer(q,
                     &(struct httpd_answer){
                         .status = t->status, .type = JSON_TYPE, .fields = fields, .body = body});
    } else {
        send_answer(q, t->type, t->tag, t->zipped, -1, body);
    }
}

static void
on_done(struct read_job *job) {
    struct task *t = (struct task *)(void *)job;
    unlink_task(t); /* an answer that goes out may bring the connection's next request */
    if (t->status == 200 && t->key)
        kept_add(t->api->kept, t->key, t->began_us, t->made_us, &t->body, t->tag, t->zipped);
    for (struct waiter *w = t->waiters, *next; w; w = next) {
        struct buf body = {0};
        next = w->next;
        if (next) {
            buf_add(&body, t->body.at, t->body.len);
        } else { /* the last one, most often the only one, takes it as it is */
            body = t->body;
            t->body = (struct buf){0};
        }
        answer_waiter(t, w->q, &body);
        free(w);
    }
    free_task(t);
}

/* A client has gone. What nobody waits for any more, and nobody has begun, is not computed. */
static void
on_gone(struct httpd_request *q) {
    struct task *t = q->user;
    struct waiter **at = &t->waiters;
    while ((*at)->q != q)
        at = &(*at)->next;
    struct waiter *w = *at;
    *at = w->next;
    free(w);
    httpd_answer(q, &(struct httpd_answer){.status = 503});
    if (!t->waiters && readers_drop(t->api->readers, &t->job)) {
        unlink_task(t);
        free_task(t);
    }
}

/* ---- asking ---- */

/* What an answer depends on, besides the moment; NULL: it is too long to be remembered by. */
static char *
write_key(const struct httpd_request *q, bool zip, const char *body) {
    struct buf key = {0};
    if (body && strlen(body) > KEY_MOST)
        return NULL;
    buf_u8(&key, zip ? 'z' : 'p');
    buf_add(&key, q->head.path.at, q->head.path.n);
    buf_u8(&key, '?');
    if (q->head.query.at)
        buf_add(&key, q->head.query.at, q->head.query.n);
    buf_u8(&key, '\n');
    buf_put(&key, body ? body : "");
    buf_text(&key); /* ends it with a NUL */
    return (char *)key.at;
}

static struct task *
make_task(struct call *c, const char *type, bool slow, task_read *read, void *more, char *key) {
    struct task *t = mem_zero(1, sizeof *t);
    const char *wrong;
    t->job = (struct read_job){.slow = slow, .work = on_work, .done = on_done};
    t->api = c->api;
    t->id = c->id;
    t->more = more;
    t->read = read;
    t->type = type;
    t->key = key;
    http_query_read(c->q->head.query, &t->query, &wrong); /* it has been read once, so it can be */
    t->next = c->api->tasks;
    c->api->tasks = t;
    return t;
}

static void
send_kept(struct httpd_request *q, const char *type, const struct kept_answer *a) {
    struct buf body = {0};
    int age_s = (int)((clock_mono_us() - a->made_us) / 1000000);
    buf_add(&body, a->body.at, a->body.len);
    send_answer(q, type, a->tag, a->zipped, age_s, &body);
}

/* Answers with what is kept, or with what somebody else waits for already, or has the answer made;
 * an old one serves while it is made anew. `more` is taken. */
static void
ask(struct call *c, const char *type, enum ask how, task_read *read, void *more) {
    struct api *api = c->api;
    struct httpd_request *q = c->q;
    bool zip = http_lists(q->head.field[HTTP_ACCEPT_ENCODING], "gzip"), anew = true;
    char *key = how == ASK_FRESH ? NULL : write_key(q, zip, how == ASK_SLOW ? more : NULL);
    const struct kept_answer *a = NULL;
    struct task *t = NULL;
    if (key && !http_lists(q->head.field[HTTP_CACHE_CONTROL], "no-cache")) {
        a = kept_find(api->kept, key, clock_mono_us(), &anew);
        t = find_task(api, key);
    }
    if (t || !anew) {
        free(key);
        free(more);
    } else {
        t = make_task(c, type, how == ASK_SLOW && !a, read, more, key);
        t->job.background = a != NULL;
        t->zip = zip;
        if (readers_add(api->readers, &t->job) < 0) {
            unlink_task(t);
            free_task(t);
            t = NULL;
        }
    }
    if (a) /* after this the request may be gone */
        send_kept(q, type, a);
    else if (t)
        add_waiter(t, q);
    else
        api_refuse(q, 503, "busy", "too many questions wait for the database: ask again");
}

void
api_ask(struct call *c, task_read *read, void *more) {
    ask(c, JSON_TYPE, ASK_KEPT, read, more);
}

void
api_ask_text(struct call *c, const char *type, task_read *read, void *more) {
    ask(c, type, ASK_KEPT, read, more);
}

void
api_ask_fresh(struct call *c, task_read *read, void *more) {
    ask(c, JSON_TYPE, ASK_FRESH, read, more);
}

void
api_ask_slow(struct call *c, task_read *read, char *more) {
    ask(c, JSON_TYPE, ASK_SLOW, read, more);
}

void
api_forget(struct api *a) {
    kept_forget(a->kept);
    for (struct task *t = a->tasks; t; t = t->next) { /* it may have begun before the change */
        free(t->key);
        t->key = NULL;
    }
}
