/* Messages between serve and a worker, over a socket pair: u32 length of what follows, u8 type,
 * fields (little-endian, every bound checked). The first message of either side carries
 * WIRE_VERSION. Both ends are the same program; the checks are for what a crash or a stray write
 * leaves behind. */
#ifndef ARENA_WIRE_H
#define ARENA_WIRE_H

#include "arena/match.h"
#include "base/buf.h"

#define WIRE_VERSION 3
#define WIRE_MAX (64u << 20) /* bytes of one message */
#define WIRE_FD 3            /* a worker finds its socket here */

enum wire_type {
    WIRE_HELLO = 1, /* to the worker: version, run folder, games */
    WIRE_CAST,      /* to the worker: policy id, scripted?, hash or name */
    WIRE_JOBS,      /* to the worker: newest policy id, number, jobs */
    WIRE_READY,     /* to serve: version, kernel */
    WIRE_DONE,      /* to serve: one finished match */
    WIRE_PULSE,     /* to serve: still computing */
    WIRE_FAIL,      /* to serve: a sentence; the worker ends */
};

struct wire_cast {
    int64_t id;
    bool scripted;
    char name[256];
};

struct wire_hello {
    uint32_t version; /* where it is another than WIRE_VERSION, the rest is not read */
    char run[3072];
    struct {
        int64_t id;     /* of the database */
        char spec[256]; /* canonical */
    } game[CONF_MAX_GAMES];
    size_t games;
};

void wire_hello(struct buf *out, const struct wire_hello *h); /* writes WIRE_VERSION */
void wire_ready(struct buf *out, const char *kernel);
void wire_cast(struct buf *out, const struct wire_cast *c);
void wire_jobs(struct buf *out, int64_t newest, const struct match_job *j, size_t n);
void wire_done(struct buf *out, const struct store_match *m);
void wire_pulse(struct buf *out);
void wire_fail(struct buf *out, const char *why);

/* Takes one whole message off the front: 1 and *type, *body (borrowed from p); 0 when more bytes
 * are needed; -1 when the stream is broken. *used = bytes to drop. */
int wire_next(const unsigned char *p, size_t n, enum wire_type *type, struct rd *body,
              size_t *used);

/* Decoders; -1 when the body is not what its type says. Texts are copied, at most cap - 1 bytes. */
int wire_read_hello(struct rd *r, struct wire_hello *h);
int wire_read_text(struct rd *r, uint32_t *version, char *text, size_t cap); /* READY */
int wire_read_cast(struct rd *r, struct wire_cast *c);
/* free(*jobs) */
int wire_read_jobs(struct rd *r, int64_t *newest, struct match_job **jobs, size_t *n);
int wire_read_fail(struct rd *r, char *text, size_t cap);

/* A decoded match; its pointers stand in `store`, valid until the next use of it. */
struct wire_match {
    struct store_match match;
    struct store_turn *turn;
    size_t cap;
    struct buf bytes;
};
int wire_read_done(struct rd *r, struct wire_match *m);
void wire_match_free(struct wire_match *m);

#endif
