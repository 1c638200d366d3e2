/* One connection: bytes in, one request at a time, bytes out. A connection is killed at once but
 * freed at the server's next tick, so that every function here may go on to look at `dead` after a
 * call that might have killed it. */
#include "arena/httpd-int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define TRUSTED_IDLE_S 3600 /* a learner may compute for long between two calls */
#define LINGER_US 2000000
#define LINGER_MOST (1u << 20)
#define ANSWER_US 60000000 /* for a whole answer, and a second more for each SLOWEST bytes */
#define SLOWEST 16384

static void advance(struct httpd_conn *c);

static int64_t
after(double seconds) {
    return clock_mono_us() + (int64_t)(seconds * 1e6);
}

static size_t
waiting(const struct httpd_conn *c) {
    return c->out.len - c->out_at + c->big.len - c->big_at;
}

/* ---- life and death ---- */

void
conn_kill(struct httpd_conn *c) {
    struct httpd *h = c->server;
    struct httpd_request *q = c->q;
    if (c->dead)
        return;
    c->dead = true;
    event_del(c->read);
    event_del(c->write);
    close(c->fd);
    *(c->prev ? &c->prev->next : &h->conns) = c->next;
    if (c->next)
        c->next->prev = c->prev;
    c->next = h->dead;
    h->dead = c;
    h->counts.open--;
    h->counts.bytes_waiting -= waiting(c);
    buf_free(&c->in);
    buf_free(&c->out);
    buf_free(&c->big);
    c->in_at = c->out_at = c->big_at = 0;
    c->q = NULL;
    if (!q)
        return;
    q->conn = NULL;
    if (c->state == CONN_BODY) /* nobody has it yet */
        free(q);
    else if (q->on_gone && !c->in_write)
        q->on_gone(q);
}

void
conn_free(struct httpd_conn *c) {
    event_free(c->read);
    event_free(c->write);
    buf_free(&c->body);
    free(c);
}

/* The answer is out and nothing more will be read: let the client see the end of it. Closing with
 * unread bytes would make the kernel take back what was sent. */
static void
linger(struct httpd_conn *c) {
    if (c->half || (!c->unread && c->in.len == c->in_at)) {
        conn_kill(c);
        return;
    }
    shutdown(c->fd, SHUT_WR);
    c->state = CONN_LINGER;
    c->since_us = clock_mono_us();
    c->deadline_us = c->since_us + LINGER_US;
    c->until_us = 0;
    buf_free(&c->in);
    c->in_at = 0;
    if (c->paused)
        event_add(c->read, NULL);
    c->paused = false;
}

/* ---- bytes out ---- */

static void
finished(struct httpd_conn *c) {
    c->until_us = c->deadline_us = 0;
    if (c->closing) {
        linger(c);
        return;
    }
    c->state = CONN_HEAD;
    c->seen = 0;
    c->since_us = clock_mono_us();
    c->deadline_us = after(c->trusted ? TRUSTED_IDLE_S : c->server->setup.idle_s);
    if (c->paused)
        event_add(c->read, NULL);
    c->paused = false;
    advance(c);
}

static void
sent(struct httpd_conn *c, size_t n) {
    size_t head = c->out.len - c->out_at;
    c->server->counts.bytes_out += n;
    c->server->counts.bytes_waiting -= n;
    if (n < head) {
        c->out_at += n;
    } else {
        c->big_at += n - head;
        buf_clear(&c->out);
        c->out_at = 0;
    }
}

static void
flush(struct httpd_conn *c) {
    while (waiting(c)) {
        struct iovec v[2] = {{c->out.at + c->out_at, c->out.len - c->out_at},
                             {c->big.at + c->big_at, c->big.len - c->big_at}};
        struct msghdr m = {.msg_iov = v[0].iov_len ? v : v + 1,
                           .msg_iovlen = (size_t)(v[0].iov_len > 0) + (v[1].iov_len > 0)};
        ssize_t n = sendmsg(c->fd, &m, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (!c->writing)
                event_add(c->write, NULL);
            if (!c->writing || !c->deadline_us)
                c->deadline_us = after(c->server->setup.send_s);
            c->writing = true;
            return;
        }
        if (n <= 0) {
            conn_kill(c);
            return;
        }
        sent(c, (size_t)n);
        if (c->writing)
            c->deadline_us = after(c->server->setup.send_s);
    }
    if (c->writing) {
        event_del(c->write);
        c->deadline_us = 0;
    }
    c->writing = false;
    buf_free(&c->big);
    c->big_at = 0;
    if (c->out.cap > HTTPD_READ)
        buf_free(&c->out);
    if (c->state == CONN_FLUSH)
        finished(c);
    else if (c->state == CONN_STREAM && c->q && c->q->on_drain)
        c->q->on_drain(c->q);
}

static void
on_writable(evutil_socket_t fd, short what, void *arg) {
    (void)fd;
    (void)what;
    flush(arg);
}

/* ---- answers ---- */

static const char *
status_text(int status) {
    static const struct {
        int status;
        const char *text;
    } texts[] = {
        {200, "OK"},
        {201, "Created"},
        {204, "No Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {417, "Expectation Failed"},
        {421, "Misdirected Request"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].status == status)
            return texts[i].text;
    return "Answer";
}

static void
put_head(struct httpd_conn *c, const struct httpd_answer *a, int64_t length) {
    struct buf *out = &c->out;
    char line[128];
    int n =
        snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\nDate: ", a->status, status_text(a->status));
    buf_add(out, line, (size_t)n);
    buf_put(out, httpd_date(c->server));
    buf_put(out, "\r\n");
    if (a->type) {
        buf_put(out, "Content-Type: ");
        buf_put(out, a->type);
        buf_put(out, "\r\n");
    }
    if (length >= 0 && a->status != 204 && a->status != 304) {
        n = snprintf(line, sizeof line, "Content-Length: %lld\r\n", (long long)length);
        buf_add(out, line, (size_t)n);
    }
    if (c->closing)
        buf_put(out, "Connection: close\r\n");
    else if (c->q && c->q->head.minor == 0)
        buf_put(out, "Connection: keep-alive\r\n");
    buf_put(out, c->server->setup.fields);
    if (a->fields)
        buf_put(out, a->fields);
    buf_put(out, "\r\n");
}

static void
begin_answer(struct httpd_conn *c, const struct httpd_answer *a, int64_t length) {
    size_t before = c->out.len;
    if (c->unread || !c->q || !c->q->head.keep_alive || length < 0)
        c->closing = true;
    c->headless = c->q && c->q->head.method == HTTP_HEAD;
    put_head(c, a, length);
    c->server->counts.bytes_waiting += c->out.len - before;
    c->server->counts.answers[a->status / 100 - 1]++;
    c->deadline_us = 0;
}

static void
end_request(struct httpd_conn *c) {
    free(c->q);
    c->q = NULL;
    c->state = CONN_FLUSH;
}

void
httpd_answer(struct httpd_request *q, const struct httpd_answer *a) {
    struct httpd_conn *c = q->conn;
    static const struct httpd_answer full = {.status = 503, .fields = "Retry-After: 1\r\n"};
    if (c && a->body && c->server->counts.bytes_waiting + a->body->len > HTTPD_WAITING_MOST) {
        buf_free(a->body);
        a = &full;
    }
    if (!c) {
        if (a->body)
            buf_free(a->body);
        free(q);
        return;
    }
    size_t n = a->body ? a->body->len : 0;
    begin_answer(c, a, (int64_t)n);
    if (n && !c->headless) {
        c->big = *a->body;
        *a->body = (struct buf){0};
        c->server->counts.bytes_waiting += n;
    } else if (a->body) {
        buf_free(a->body);
    }
    c->until_us = clock_mono_us() + ANSWER_US + (int64_t)(n / SLOWEST) * 1000000;
    end_request(c);
    flush(c);
}

void
httpd_start(struct httpd_request *q, const struct httpd_answer *a) {
    struct httpd_conn *c = q->conn;
    if (!c)
        return;
    begin_answer(c, a, a->length);
    c->promised = c->headless ? 0 : a->length;
    c->until_us = a->length < 0 ? 0 : clock_mono_us() + ANSWER_US + a->length / SLOWEST * 1000000;
    c->state = CONN_STREAM;
}

int
httpd_write(struct httpd_request *q, const void *p, size_t n, size_t most) {
    struct httpd_conn *c = q->conn;
    if (!c)
        return -1;
    if (c->headless)
        return 0;
    if (waiting(c) + n > most)
        return -1;
    if (c->out_at >= HTTPD_READ) { /* what has gone out gives its room back */
        memmove(c->out.at, c->out.at + c->out_at, c->out.len - c->out_at);
        c->out.len -= c->out_at;
        c->out_at = 0;
    }
    buf_add(&c->out, p, n);
    c->server->counts.bytes_waiting += n;
    if (c->promised > 0)
        c->promised -= (int64_t)n;
    c->in_write = true;
    if (!c->writing)
        flush(c);
    c->in_write = false;
    return c->dead ? -1 : 0;
}

void
httpd_end(struct httpd_request *q) {
    struct httpd_conn *c = q->conn;
    if (!c) {
        free(q);
        return;
    }
    bool cut = c->promised > 0;
    end_request(c);
    if (cut)
        conn_kill(c);
    else if (!c->writing)
        flush(c);
}

void
httpd_trust(struct httpd_request *q) {
    if (q->conn)
        q->conn->trusted = true;
}

/* An answer without a request that anybody could have understood. */
static void
refuse(struct httpd_conn *c, int status, const char *why) {
    struct buf body = {0};
    struct httpd *h = c->server;
    free(c->q);
    c->q = NULL;
    h->setup.on_refusal(h->setup.arg, status, why, &body);
    struct httpd_answer a = {.status = status, .type = "application/json; charset=utf-8"};
    c->unread = true;
    begin_answer(c, &a, (int64_t)body.len);
    c->server->counts.bytes_waiting += body.len;
    c->big = body;
    c->until_us = clock_mono_us() + ANSWER_US;
    c->state = CONN_FLUSH;
    flush(c);
}

/* ---- bytes in ---- */

static void
hand_over(struct httpd_conn *c) {
    struct httpd *h = c->server;
    c->state = CONN_BUSY;
    c->deadline_us = 0;
    c->unread = false;
    c->q->body = buf_text(&c->body);
    c->q->nbody = c->body.len;
    h->setup.on_request(h->setup.arg, c->q);
    if (c->body.cap > HTTP_HEAD_MOST || c->dead)
        buf_free(&c->body);
}

static void
begin_body(struct httpd_conn *c) {
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    c->state = CONN_BODY;
    c->chunks = (struct http_chunks){0};
    c->deadline_us = after(c->server->setup.body_s);
    if (c->q->head.expects && c->in.len == c->in_at) {
        buf_put(&c->out, go_on);
        c->server->counts.bytes_waiting += sizeof go_on - 1;
        flush(c);
    }
}

static struct httpd_request *
take_request(struct httpd_conn *c, size_t n) {
    struct httpd_request *q = mem_alloc(sizeof *q + n);
    char *bytes = (char *)(q + 1);
    memset(q, 0, sizeof *q);
    memcpy(bytes, c->in.at + c->in_at, n);
    c->in_at += n;
    q->conn = c;
    q->address = c->address;
    q->body = "";
    if (http_head_read(bytes, n, &q->head) == 0) {
        c->server->counts.requests++;
        return q;
    }
    int status = q->head.status;
    const char *why = q->head.wrong;
    free(q);
    c->server->counts.bad++;
    refuse(c, status, why);
    return NULL;
}

/* True: something has happened, look again. */
static bool
read_head(struct httpd_conn *c) {
    struct httpd *h = c->server;
    struct http_head wrong;
    size_t n = c->in.len - c->in_at, most = 0;
    if (!n)
        return false;
    if (!c->seen) {
        c->since_us = clock_mono_us();
        c->deadline_us = after(h->setup.head_s);
    }
    long end = http_head_end((const char *)c->in.at + c->in_at, n, &c->seen, &wrong);
    if (end == 0)
        return false;
    if (end < 0) {
        h->counts.bad++;
        refuse(c, wrong.status, wrong.wrong);
        return true;
    }
    c->q = take_request(c, (size_t)end);
    if (!c->q)
        return true;
    struct http_head *head = &c->q->head;
    c->state = CONN_BUSY;
    c->deadline_us = 0;
    c->unread = head->chunked || head->length;
    buf_clear(&c->body);
    if (h->setup.on_head(h->setup.arg, c->q, &most) < 0)
        return true;
    c->body_most = most;
    if (head->length > most)
        refuse(c, 413, "the body is longer than this call takes");
    else if (c->unread)
        begin_body(c);
    else
        hand_over(c);
    return true;
}

static void
add_body(void *arg, const void *p, size_t n) {
    buf_add(arg, p, n);
}

static bool
read_body(struct httpd_conn *c) {
    const char *p = (const char *)c->in.at + c->in_at;
    size_t n = c->in.len - c->in_at, used;
    int got;
    if (!n)
        return false;
    if (c->q->head.chunked) {
        got = http_chunks_read(&c->chunks, p, n, c->body_most, &used, add_body, &c->body);
    } else {
        uint64_t left = c->q->head.length - c->body.len;
        used = left < n ? (size_t)left : n;
        buf_add(&c->body, p, used);
        got = c->body.len == c->q->head.length;
    }
    c->in_at += used;
    if (got == 1) {
        hand_over(c);
    } else if (got < 0) {
        c->server->counts.bad += got == -1;
        refuse(c, got == -1 ? 400 : 413,
               got == -1 ? "a chunk cannot be read" : "the body is longer than this call takes");
    }
    return got != 0;
}

/* Reads and answers requests as far as the bytes that are there go. */
static void
advance(struct httpd_conn *c) {
    if (c->advancing)
        return;
    c->advancing = true;
    bool more = true;
    while (more && !c->dead) {
        more = c->state == CONN_HEAD ? read_head(c) : c->state == CONN_BODY ? read_body(c) : false;
        if (c->in_at == c->in.len) {
            buf_clear(&c->in);
            c->in_at = 0;
        }
    }
    if (!c->dead && c->in_at) {
        memmove(c->in.at, c->in.at + c->in_at, c->in.len - c->in_at);
        c->in.len -= c->in_at;
        c->in_at = 0;
    }
    if (!c->in.len && c->in.cap > HTTP_HEAD_MOST)
        buf_free(&c->in);
    c->advancing = false;
    if (c->half && c->state == CONN_HEAD)
        conn_kill(c);
}

static void
on_end(struct httpd_conn *c) {
    bool answering = c->state == CONN_BUSY || c->state == CONN_FLUSH;
    if (!answering || (c->q && c->q->on_gone && !c->q->soon)) {
        conn_kill(c);
        return;
    }
    c->half = true; /* it still listens for its answer */
    event_del(c->read);
}

static void
on_readable(evutil_socket_t fd, short what, void *arg) {
    (void)what;
    struct httpd_conn *c = arg;
    struct httpd *h = c->server;
    bool working = c->state != CONN_HEAD && c->state != CONN_BODY && c->state != CONN_LINGER;
    if (working && c->in.len - c->in_at >= HTTPD_READ) {
        event_del(c->read);
        c->paused = true;
        return;
    }
    ssize_t n = recv(fd, h->scratch, sizeof h->scratch, 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (n < 0) {
        conn_kill(c);
        return;
    }
    if (n == 0) {
        on_end(c);
        return;
    }
    h->counts.bytes_in += (uint64_t)n;
    if (c->state == CONN_LINGER) {
        c->lingered += (size_t)n;
        if (c->lingered > LINGER_MOST)
            conn_kill(c);
        return;
    }
    buf_add(&c->in, h->scratch, (size_t)n);
    advance(c);
}

void
conn_late(struct httpd_conn *c) {
    bool started = c->state == CONN_BODY || (c->state == CONN_HEAD && c->in.len > c->in_at);
    if (c->state != CONN_HEAD || started)
        c->server->counts.late += c->state != CONN_LINGER;
    if (started && !c->writing)
        refuse(c, 408, "the request did not arrive in time");
    else
        conn_kill(c);
}

struct httpd_conn *
conn_open(struct httpd *h, int fd) {
    struct httpd_conn *c = mem_zero(1, sizeof *c);
    c->server = h;
    c->fd = fd;
    c->read = event_new(h->setup.base, fd, EV_READ | EV_PERSIST, on_readable, c);
    c->write = event_new(h->setup.base, fd, EV_WRITE | EV_PERSIST, on_writable, c);
    ensure(c->read && c->write);
    event_add(c->read, NULL);
    c->next = h->conns;
    if (c->next)
        c->next->prev = c;
    h->conns = c;
    h->counts.open++;
    c->since_us = clock_mono_us();
    c->deadline_us = after(h->setup.head_s);
    return c;
}
