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

static void
send_tagged(struct httpd_request *q, const char *type, const char *tag, bool zipped,
            struct buf *body) {
    char fields[256];
    snprintf(fields, sizeof fields,
             "Cache-Control: no-cache\r\nETag: %s\r\nVary: Accept-Encoding\r\n%s", tag,
             zipped ? "Content-Encoding: gzip\r\n" : "");
    bool known = api_has_tag(q, tag);
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
    send_tagged(q, type, tag, false, text);
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

static int
make_answer(struct task *t, struct store *db, const struct err *why) {
    struct json_out j = {.out = &t->body};
    if (!db)
        return task_fail(t, 503, "database", "%s", why->text);
    if (t->read(t, db, &j) < 0)
        return -1;
    if (t->body.len > API_ANSWER_MOST)
        return task_fail(t, 413, "large", "the answer would be longer than %u bytes: ask for less",
                         API_ANSWER_MOST);
    write_tag(&t->body, t->tag);
    if (t->zip && t->body.len >= ZIP_LEAST)
        zip(t);
    return 0;
}

static void
on_work(struct read_job *job, struct store *db, const struct err *why) {
    struct task *t = (struct task *)(void *)job;
    int64_t began = clock_mono_us();
    t->status = 200;
    if (t->key && kept_find(t->api->kept, t->key, began, &t->body, t->tag, &t->zipped))
        return;
    int bad = make_answer(t, db, why);
    if (t->key && bad)
        kept_fail(t->api->kept, t->key);
    else if (t->key)
        kept_add(t->api->kept, t->key, began, clock_mono_us(), &t->body, t->tag, t->zipped);
}

static void
free_task(struct task *t) {
    free(t->key);
    free(t->more);
    free(t);
}

static void
on_done(struct read_job *job) {
    struct task *t = (struct task *)(void *)job;
    if (t->status == 0) { /* the server stops, nobody has worked on it */
        buf_free(&t->body);
        api_refuse(t->q, 503, "stopping", "the server is stopping");
    } else if (t->status != 200) {
        const char *fields = t->status == 503 ? "Cache-Control: no-store\r\nRetry-After: 1\r\n"
                                              : "Cache-Control: no-store\r\n";
        httpd_answer(
            t->q, &(struct httpd_answer){
                      .status = t->status, .type = JSON_TYPE, .fields = fields, .body = &t->body});
    } else if (t->post) {
        httpd_answer(
            t->q, &(struct httpd_answer){
                      .status = 200,
                      .type = t->type,
                      .fields = t->zipped ? "Cache-Control: no-store\r\nContent-Encoding: gzip\r\n"
                                          : "Cache-Control: no-store\r\n",
                      .body = &t->body});
    } else {
        send_tagged(t->q, t->type, t->tag, t->zipped, &t->body);
    }
    free_task(t);
}

/* Nobody waits for the answer any more: what has not been begun is not computed. */
static void
on_gone(struct httpd_request *q) {
    struct task *t = q->user;
    if (!readers_drop(t->api->readers, &t->job))
        return; /* on_done() ends it */
    httpd_answer(q, &(struct httpd_answer){.status = 503});
    free_task(t);
}

/* What an answer depends on, besides the moment. */
static char *
write_key(const struct httpd_request *q, bool zip) {
    struct buf key = {0};
    buf_u8(&key, zip ? 'z' : 'p');
    buf_add(&key, q->head.path.at, q->head.path.n);
    buf_u8(&key, '?');
    if (q->head.query.at)
        buf_add(&key, q->head.query.at, q->head.query.n);
    buf_text(&key); /* ends it with a NUL */
    return (char *)key.at;
}

enum { ASK_SLOW = 1, ASK_KEPT = 2 };

static void
ask(struct call *c, const char *type, unsigned how,
    int (*read)(struct task *t, struct store *db, struct json_out *j), void *more) {
    struct task *t = mem_zero(1, sizeof *t);
    const char *wrong;
    t->job = (struct read_job){.slow = how & ASK_SLOW, .work = on_work, .done = on_done};
    t->api = c->api;
    t->q = c->q;
    t->id = c->id;
    t->more = more;
    t->read = read;
    t->type = type;
    t->post = !is_reading(c->q);
    t->zip = http_lists(c->q->head.field[HTTP_ACCEPT_ENCODING], "gzip");
    t->key = how & ASK_KEPT ? write_key(c->q, t->zip) : NULL;
    http_query_read(c->q->head.query, &t->query, &wrong); /* it has been read once, so it can be */
    c->q->user = t;
    c->q->on_gone = on_gone;
    c->q->soon = true;
    if (readers_add(c->api->readers, &t->job) == 0)
        return;
    c->q->on_gone = NULL;
    free_task(t);
    api_refuse(c->q, 503, "busy", "too many questions wait for the database: ask again");
}

void
api_ask(struct call *c, int (*read)(struct task *t, struct store *db, struct json_out *j),
        void *more) {
    ask(c, JSON_TYPE, 0, read, more);
}

void
api_ask_slow(struct call *c, int (*read)(struct task *t, struct store *db, struct json_out *j),
             void *more) {
    ask(c, JSON_TYPE, ASK_SLOW, read, more);
}

void
api_ask_kept(struct call *c, const char *type,
             int (*read)(struct task *t, struct store *db, struct json_out *j), void *more) {
    ask(c, type ? type : JSON_TYPE, ASK_KEPT, read, more);
}
