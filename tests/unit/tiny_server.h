/* An HTTP server for tests: one thread, one connection at a time, kept alive. */
#ifndef TESTS_TINY_SERVER_H
#define TESTS_TINY_SERVER_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

struct tiny_request {
    const char *method, *path,
        *auth; /* auth: the Authorization header's value, "" when there is none */
    const char *body;
    size_t n;
};
struct tiny_server {
    int fd, port;
    _Atomic int connection; /* the open one, -1 */
    atomic_int accepted, requests;
    atomic_bool ended;
    pthread_t thread;
    /* Fills `out`, returns the status; 0: hang up without an answer. */
    int (*answer)(void *arg, const struct tiny_request *r, struct buf *out);
    void *arg;
};

/* Value of a header, in place; "" when it is missing. */
static inline void
tiny_header(const char *head, const char *name, char *out, size_t cap) {
    out[0] = '\0';
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        size_t n = strlen(name);
        if (strncasecmp(line + 2, name, n) || line[2 + n] != ':')
            continue;
        const char *value = line + 3 + n + strspn(line + 3 + n, " ");
        snprintf(out, cap, "%.*s", (int)strcspn(value, "\r"), value);
        return;
    }
}

/* Reads one request; the bytes of `in` are cut into it. */
static inline bool
tiny_read(int fd, struct buf *in, struct tiny_request *r, char *auth, size_t cap) {
    size_t body = 0, need = 0;
    buf_clear(in);
    for (;;) {
        buf_room(in, 65537);
        ssize_t n = read(fd, in->at + in->len, 65536);
        if (n <= 0)
            return false;
        in->len += (size_t)n;
        char *head = (char *)(size_t)buf_text(in), *end = strstr(head, "\r\n\r\n");
        if (!body && end) {
            char length[32];
            end[2] = '\0';
            tiny_header(head, "Content-Length", length, sizeof length);
            tiny_header(head, "Authorization", auth, cap);
            body = (size_t)(end + 4 - head);
            need = body + (size_t)atol(length);
        }
        if (body && in->len >= need)
            break;
    }
    char *head = (char *)(size_t)buf_text(in), *space = strchr(head, ' ');
    *space = '\0';
    *strchr(space + 1, ' ') = '\0';
    *r = (struct tiny_request){head, space + 1, auth, head + body, in->len - body};
    return true;
}

static inline bool
tiny_answer(struct tiny_server *s, int fd, const struct tiny_request *r) {
    struct buf out = {0}, all = {0};
    int status = s->answer(s->arg, r, &out);
    if (status) {
        buf_fmt(&all, "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n", status);
        if (status != 204)
            buf_fmt(&all, "Content-Length: %zu\r\n", out.len);
        buf_put(&all, "\r\n");
        buf_add(&all, out.at, out.len);
    }
    bool good = status && send(fd, all.at, all.len, MSG_NOSIGNAL) == (ssize_t)all.len;
    buf_free(&out);
    buf_free(&all);
    return good;
}

static inline void *
tiny_serve(void *arg) {
    struct tiny_server *s = arg;
    struct buf in = {0};
    while (!s->ended) {
        int fd = accept(s->fd, NULL, NULL);
        if (fd < 0)
            break;
        s->connection = fd;
        s->accepted++;
        struct tiny_request r;
        char auth[256];
        while (!s->ended && tiny_read(fd, &in, &r, auth, sizeof auth)) {
            s->requests++;
            if (!tiny_answer(s, fd, &r))
                break;
        }
        s->connection = -1;
        close(fd);
    }
    buf_free(&in);
    return NULL;
}

static inline void
tiny_start(struct tiny_server *s) {
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t n = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&at, n) || listen(s->fd, 8) ||
        getsockname(s->fd, (struct sockaddr *)&at, &n))
        abort();
    s->port = ntohs(at.sin_port);
    s->connection = -1;
    s->ended = false;
    if (pthread_create(&s->thread, NULL, tiny_serve, s))
        abort();
}

/* The server dies: its connection breaks, nobody listens any more. */
static inline void
tiny_stop(struct tiny_server *s) {
    s->ended = true;
    shutdown(s->fd, SHUT_RDWR);
    int fd = s->connection;
    if (fd >= 0)
        shutdown(fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
}

#endif
