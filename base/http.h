/* A small blocking HTTP client for JSON over the loopback interface, on libcurl. One object is
 * one kept-alive connection to one server. Proxies, redirects and compression are off; answers
 * are bounded. Not for the open internet, and not for use from several threads at once. */
#ifndef BASE_HTTP_H
#define BASE_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

#define HTTP_MAX_ANSWER (256u << 20) /* bytes of a body */

struct http; /* opaque */

/* `base` is "http://127.0.0.1:8080"; `token` goes out as "Authorization: Bearer TOKEN" (NULL:
 * none). */
struct http *http_new(const char *base, const char *token);
void http_free(struct http *h); /* NULL is fine */
/* Asked about once a second while a call waits: true gives the call up. */
void http_set_stop(struct http *h, bool (*stop)(void *arg), void *arg);

/* Sends one request, waits at most `seconds` for the whole answer. Returns its status (100 to
 * 599), or -1 with e filled when no whole answer came: nobody listens, the connection broke, it
 * took too long. `body` of n bytes is JSON; NULL: none. */
int http_call(struct http *h, const char *method, const char *path, const void *body, size_t n,
              double seconds, struct err *e);
/* The last answer's body; valid until the next call. */
const struct buf *http_body(const struct http *h);
/* The last answer's body as JSON, owned by the caller (json_decref); NULL with e when it is
 * none. */
json_t *http_json(const struct http *h, struct err *e);
/* Fills e with the last answer's own words: {"error": {"code", "message"}}, or else its status.
 * Always returns -1. */
int http_refusal(const struct http *h, struct err *e);

#endif
