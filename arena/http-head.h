/* HTTP/1.1 requests as pure functions over bytes: heads, query strings, chunk headers. Stricter
 * than the standard wherever leniency has let two programs read one message in two ways: no bare CR
 * or LF, no folded fields, no repeated fields of the ones that matter, one length or the coding
 * `chunked` and never both, no chunk extensions, no trailers, no HTTP/0.9. Nothing is copied but
 * the decoded query. */
#ifndef ARENA_HTTP_HEAD_H
#define ARENA_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_MOST (32u << 10)  /* bytes of a head, its empty line included */
#define HTTP_TARGET_MOST (4u << 10) /* bytes of path and query */
#define HTTP_FIELDS_MOST 64
#define HTTP_QUERY_MOST 16 /* parameters of a query */

struct http_text { /* borrowed bytes; at is NULL where there are none */
    const char *at;
    size_t n;
};
bool http_is(struct http_text t, const char *s);   /* the same bytes */
bool http_like(struct http_text t, const char *s); /* letter case aside */
/* Is `word` an element of a comma-separated list (parameters such as ;q=1 aside, but q=0 is no)? */
bool http_lists(struct http_text t, const char *word);

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_DELETE, HTTP_OTHER };

enum http_name { /* the fields that anybody here reads */
                 HTTP_ACCEPT_ENCODING,
                 HTTP_AUTHORIZATION,
                 HTTP_CACHE_CONTROL,
                 HTTP_CONNECTION,
                 HTTP_CONTENT_LENGTH,
                 HTTP_CONTENT_TYPE,
                 HTTP_EXPECT,
                 HTTP_HOST,
                 HTTP_IF_NONE_MATCH,
                 HTTP_LAST_EVENT_ID,
                 HTTP_ORIGIN,
                 HTTP_SEC_FETCH_MODE,
                 HTTP_SEC_FETCH_SITE,
                 HTTP_TRANSFER_ENCODING,
                 HTTP_NAMES
};

struct http_head {
    enum http_method method;
    struct http_text path, query; /* query: behind the '?', NULL where there is none */
    int minor;                    /* HTTP/1.minor: 0 or 1 */
    struct http_text field[HTTP_NAMES];
    size_t fields; /* all of them, unknown ones too */
    bool keep_alive, chunked, expects;
    uint64_t length; /* of a body that is not chunked; 0: none */
    int status;      /* of a refusal; with `wrong`, a clause that says why */
    const char *wrong;
};

/* Finds the end of a head that is still arriving: its length, 0 when more bytes are needed, -1 when
 * h->status and h->wrong refuse what is there already. *seen (0 at first) remembers how far earlier
 * calls have looked. */
long http_head_end(const char *p, size_t n, size_t *seen, struct http_head *h);
/* Reads a whole head of n bytes, as http_head_end() found it: 0, or -1 with status and wrong. */
int http_head_read(const char *p, size_t n, struct http_head *h);

struct http_query {
    size_t n;
    struct {
        const char *name, *value;
    } pair[HTTP_QUERY_MOST];
    char room[HTTP_TARGET_MOST + 2];
};
/* Decodes name=value&...; 0, or -1 and *wrong: a bad percent code, a NUL, a control character,
 * bytes that are no UTF-8, a name twice, too many. The names and values stand in q itself. */
int http_query_read(struct http_text t, struct http_query *q, const char **wrong);
const char *http_query_find(const struct http_query *q, const char *name); /* NULL: not there */

/* The size line of a chunk at p: its length in bytes and *size; 0 more bytes are needed; -1 bad. */
long http_chunk_size(const char *p, size_t n, uint64_t *size);

struct http_chunks { /* a chunked body on its way */
    int state;       /* 0 at first */
    uint64_t left;   /* of the present chunk */
    size_t total;
};
/* Takes what it can from p: appends data to out (a caller's callback), *used bytes are done with.
 * 1: the body is complete; 0: more is needed; -1: bad; -2: more than `most` bytes in all. */
int http_chunks_read(struct http_chunks *c, const char *p, size_t n, size_t most, size_t *used,
                     void (*add)(void *arg, const void *p, size_t n), void *arg);

#endif
