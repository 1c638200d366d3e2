/* Who may ask: checks of a request's head as pure functions. A page of another site that a browser
 * shows can send requests here; it is kept out by its Host (a name of its own that it points at
 * this machine) and by its Origin. Whoever runs programs on this machine is kept out by the
 * token. */
#ifndef ARENA_GUARD_H
#define ARENA_GUARD_H

#include "arena/http-head.h"

#define GUARD_HOSTS 32

struct guard {
    char token[33];
    char room[4096];
    const char *host[GUARD_HOSTS]; /* names that this server goes by; they stand in room */
    size_t hosts;
};

/* The loopback's names, `host` (serve.host) and the words of `more` (serve.hosts). -1: too many. */
int guard_set_hosts(struct guard *g, const char *host, const char *more);
/* Is this Host field one of them, or `address`, the one that the client connected to? Any port. */
bool guard_host(const struct guard *g, struct http_text host, const char *address);
/* Does the request come from a page of this very server, or from no page at all? `same`: only then;
 * else (reading) pages may link here. */
bool guard_origin(const struct http_head *h, bool same);
/* "Bearer TOKEN" with the right token; takes as long for a wrong one. */
bool guard_token(const struct guard *g, struct http_text authorization);

#endif
