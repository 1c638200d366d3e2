/* What httpd.c (the server: listening, limits, deadlines) and httpd-conn.c (one connection)
 * share. */
#ifndef ARENA_HTTPD_INT_H
#define ARENA_HTTPD_INT_H

#include <event2/listener.h>

#include "arena/httpd.h"

#define HTTPD_READ (64 << 10)             /* bytes of one read, and the most that is read ahead */
#define HTTPD_WAITING_MOST (256ull << 20) /* bytes of answers that have not gone out, in all */

enum conn_state {
    CONN_HEAD, /* between requests, or in the midst of a head */
    CONN_BODY,
    CONN_BUSY,   /* the request is being answered */
    CONN_STREAM, /* an answer comes piece by piece */
    CONN_FLUSH,  /* the whole answer is there and goes out */
    CONN_LINGER, /* closed on this side: what still comes is thrown away */
};

struct httpd_conn {
    struct httpd *server;
    struct httpd_conn *next, *prev; /* of the living, or (next) of the dead */
    int fd;
    struct event *read, *write;
    enum conn_state state;
    bool dead, advancing, writing, paused;
    bool trusted;
    bool in_write; /* httpd_write() itself tells its caller that the client has gone */
    bool closing;  /* no further request */
    bool unread;   /* a body is announced that has not been read */
    bool half;     /* the client has closed its side */
    bool headless; /* the answer's body is left out: HEAD */
    unsigned char peer[16];
    char address[48];
    struct buf in;
    size_t in_at, seen;
    struct buf body;
    struct http_chunks chunks;
    size_t body_most;
    struct httpd_request *q;
    struct buf out, big; /* go out in this order */
    size_t out_at, big_at;
    int64_t promised;    /* bytes of a stream that are still to come; -1: not known */
    int64_t since_us;    /* of the present request, or since the one before has ended */
    int64_t deadline_us; /* of the present wait; 0: none */
    int64_t until_us;    /* of the whole answer; 0: none */
    size_t lingered;
};

struct httpd {
    struct httpd_setup setup;
    struct evconnlistener *listener;
    struct event *tick;
    bool listening, loopback;
    int port;
    struct httpd_conn *conns, *dead;
    struct httpd_counts counts;
    int64_t date_s;
    char date[48];
    unsigned char scratch[HTTPD_READ];
};

/* ---- httpd-conn.c ---- */
struct httpd_conn *conn_open(struct httpd *h, int fd);
void conn_kill(struct httpd_conn *c); /* closes it now; its memory goes at the next tick */
void conn_free(struct httpd_conn *c);
void conn_late(struct httpd_conn *c); /* its deadline has passed */
const char *httpd_date(struct httpd *h);

#endif
