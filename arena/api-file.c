/* GET /api/policies/ID/snapshot: the weights, piece by piece. Reading is a thread's job, since the
 * disk may be slow; the next piece is read when the one before has gone out. */
#include "arena/api-int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define PIECE (256 << 10)

struct download {
    struct read_job job;
    struct api *api;
    struct httpd_request *q;
    char run[SERVE_PATH];
    int64_t id;
    int fd;
    int64_t size, at;
    bool started, reading, writing, drained, gone;
    char name[HASH_HEX];
    char why[256]; /* of the first piece's failure, with its status */
    int status;
    size_t n; /* of the piece */
    unsigned char piece[PIECE];
};

static void
refuse(struct download *d, int status, const char *why) {
    d->status = status;
    snprintf(d->why, sizeof d->why, "%.250s", why);
}

/* In a thread: the file of the policy. */
static void
open_file(struct download *d, struct store *db) {
    struct store_policy p;
    struct stat st;
    char path[SERVE_PATH + 128];
    if (store_policy_get(db, d->id, &p, NULL) < 0) {
        refuse(d, 404, "there is no such policy");
        return;
    }
    if (strcmp(p.kind, "snapshot") || strspn(p.name, "0123456789abcdef") != 64) {
        refuse(d, 404, "this policy is a scripted player, it has no weights");
        return;
    }
    memcpy(d->name, p.name, sizeof d->name);
    snprintf(path, sizeof path, "%s/snapshots/%s.safetensors", d->run, p.name);
    d->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (d->fd < 0 || fstat(d->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        refuse(d, 410, "this snapshot's file is not kept any more (snapshots.keep)");
        return;
    }
    d->size = (int64_t)st.st_size;
}

static void
on_work(struct read_job *job, struct store *db, const struct err *why) {
    struct download *d = (struct download *)(void *)job;
    if (!d->started) {
        if (!db)
            refuse(d, 503, why->text);
        else
            open_file(d, db);
    }
    if (d->status)
        return;
    size_t want = d->size - d->at < PIECE ? (size_t)(d->size - d->at) : PIECE;
    ssize_t n = pread(d->fd, d->piece, want, (off_t)d->at);
    d->n = n > 0 ? (size_t)n : 0;
    if (d->n < want) /* it shrank, or cannot be read */
        refuse(d, 500, "the snapshot's file cannot be read");
}

static void
finish(struct download *d) {
    if (d->fd >= 0)
        close(d->fd);
    free(d);
}

static void
next_piece(struct download *d) {
    d->reading = true;
    if (readers_add(d->api->readers, &d->job) == 0)
        return;
    if (d->started)
        httpd_end(d->q); /* cut short: the connection is closed, so that the client can tell */
    else
        api_refuse(d->q, 503, "busy", "too many questions wait for the database: ask again");
    finish(d);
}

static void
on_gone(struct httpd_request *q) {
    struct download *d = q->user;
    d->gone = true;
    if (d->reading)
        return; /* on_done() ends it */
    httpd_end(q);
    finish(d);
}

static void
on_drain(struct httpd_request *q) {
    struct download *d = q->user;
    if (d->writing)
        d->drained = true;
    else if (!d->reading)
        next_piece(d);
}

static void
start(struct download *d) {
    char fields[256];
    snprintf(fields, sizeof fields,
             "Cache-Control: no-cache\r\nETag: \"%s\"\r\nContent-Disposition: attachment; "
             "filename=\"%.12s.safetensors\"\r\n",
             d->name, d->name);
    d->started = true;
    httpd_start(d->q, &(struct httpd_answer){.status = 200,
                                             .type = "application/octet-stream",
                                             .fields = fields,
                                             .length = d->size});
}

/* The client has this very file. */
static bool
is_known(const struct download *d) {
    struct http_text tag = d->q->head.field[HTTP_IF_NONE_MATCH];
    return tag.at && memmem(tag.at, tag.n, d->name, 64);
}

/* The first piece is not sent: there is a reason, or no need. */
static void
answer_otherwise(struct download *d) {
    d->q->on_gone = NULL;
    if (d->status)
        api_refuse(d->q, d->status, "snapshot", "%s", d->why);
    else
        httpd_answer(
            d->q, &(struct httpd_answer){.status = 304, .fields = "Cache-Control: no-cache\r\n"});
    finish(d);
}

static void
on_done(struct read_job *job) {
    struct download *d = (struct download *)(void *)job;
    bool fresh = !d->started;
    d->reading = false;
    if (!d->gone && fresh && !d->status && d->fd < 0)
        refuse(d, 503, "the server is stopping");
    if (!d->gone && fresh && (d->status || is_known(d))) {
        answer_otherwise(d);
        return;
    }
    if (!d->gone && fresh)
        start(d);
    bool last =
        d->gone || d->status || d->at + (int64_t)d->n >= d->size || d->q->head.method == HTTP_HEAD;
    d->at += (int64_t)d->n;
    if (last)
        d->q->on_drain = NULL;
    d->drained = false;
    d->writing = true;
    if (!d->gone && !d->status && httpd_write(d->q, d->piece, d->n, 2 * PIECE) < 0)
        last = true;
    d->writing = false;
    if (last) {
        d->q->on_gone = NULL;
        httpd_end(d->q);
        finish(d);
    } else if (d->drained) {
        next_piece(d);
    }
}

void
get_snapshot(struct call *c) {
    struct download *d = mem_zero(1, sizeof *d);
    d->job = (struct read_job){.work = on_work, .done = on_done};
    d->api = c->api;
    d->q = c->q;
    d->id = c->id;
    d->fd = -1;
    snprintf(d->run, sizeof d->run, "%s", c->s->run);
    c->q->user = d;
    c->q->on_gone = on_gone;
    c->q->on_drain = on_drain;
    next_piece(d);
}
