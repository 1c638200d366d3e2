/* A small, strict HTTP/1.1 server on libevent: connections, deadlines, limits. It knows nothing of
 * what it serves. One request at a time is read from a connection, the next one when its answer has
 * gone out; bodies and answers are bounded; whoever is slow is dropped. Everything happens in the
 * event loop's thread.
 *
 * A request that has been handed over is ended exactly once: by httpd_answer(), or by
 * httpd_start() ... httpd_end(). That holds when its client has gone meanwhile, too. */
#ifndef ARENA_HTTPD_H
#define ARENA_HTTPD_H

#include <event2/event.h>

#include "arena/http-head.h"
#include "base/buf.h"
#include "base/err.h"

struct httpd;
struct httpd_conn;

struct httpd_request {
    struct http_head head;
    const char *body; /* [nbody], valid while on_request() runs */
    size_t nbody;
    const char *address; /* of this end of the connection: "127.0.0.1" */
    /* Owned by whoever answers: called once when the client goes before the answer has ended. */
    void (*on_gone)(struct httpd_request *q);
    bool soon; /* with on_gone: a client that closes its sending side only still gets its answer */
    void (*on_drain)(struct httpd_request *q); /* of a stream: all has gone out */
    void *user;
    struct httpd_conn *conn; /* of httpd.c; NULL: the client has gone */
};

struct httpd_setup {
    struct event_base *base;
    const char *host;
    int port;           /* 0: any */
    int connections;    /* most, in all */
    int per_address;    /* most, from one address */
    double head_s;      /* a head must be there so soon after its first byte */
    double body_s;      /* and its body so soon after the head */
    double idle_s;      /* between two requests */
    double send_s;      /* without a byte taken by the client */
    const char *fields; /* lines that every answer's head has */
    void *arg;
    /* The head is there: 0 and *most, the bytes of body that may follow; or -1 when the request has
     * been answered already. */
    int (*on_head)(void *arg, struct httpd_request *q, size_t *most);
    void (*on_request)(void *arg, struct httpd_request *q); /* the body, too */
    /* Writes the body of a refusal, JSON, and counts it. */
    void (*on_refusal)(void *arg, int status, const char *why, struct buf *body);
};

struct httpd *httpd_new(const struct httpd_setup *s, struct err *e);
void httpd_free(struct httpd *h);
int httpd_port(const struct httpd *h);
bool httpd_is_loopback(const struct httpd *h); /* can it be reached from this machine only? */

struct httpd_answer {
    int status;
    const char *type;   /* of the body; NULL: none */
    const char *fields; /* more lines of the head, each with its CRLF; NULL: none */
    struct buf *body;   /* taken: empty afterwards; NULL: none */
    int64_t length;     /* of what httpd_write() will bring; -1: until httpd_end() */
};
void httpd_answer(struct httpd_request *q, const struct httpd_answer *a);
void httpd_start(struct httpd_request *q, const struct httpd_answer *a); /* then httpd_write() */
/* -1: the client has gone, or is so slow that more than `most` bytes would wait: end it now.
 * (on_gone is not called from here.) */
int httpd_write(struct httpd_request *q, const void *p, size_t n, size_t most);
void httpd_end(struct httpd_request *q);
/* This client has shown that it is known here: its connection makes room for nobody. */
void httpd_trust(struct httpd_request *q);

struct httpd_counts {
    int open;
    uint64_t accepted, requests, refused_full, evicted, bad, late;
    uint64_t answers[5]; /* by class of status: 1xx, 2xx, ... */
    uint64_t bytes_in, bytes_out, bytes_waiting;
};
struct httpd_counts httpd_counts(const struct httpd *h);

#endif
