#include "arena/guard.h"

#include <string.h>
#include <strings.h>

static int
add_host(struct guard *g, const char *name, size_t n, size_t *used) {
    if (g->hosts == GUARD_HOSTS || *used + n + 1 > sizeof g->room)
        return -1;
    /* [::1] and ::1 are one. */
    if (n > 2 && name[0] == '[' && name[n - 1] == ']')
        name++, n -= 2;
    char *at = g->room + *used;
    memcpy(at, name, n);
    at[n] = '\0';
    g->host[g->hosts++] = at;
    *used += n + 1;
    return 0;
}

int
guard_set_hosts(struct guard *g, const char *host, const char *more) {
    static const char *const own[] = {"127.0.0.1", "localhost", "::1"};
    size_t used = 0;
    int status = 0;
    g->hosts = 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        status |= add_host(g, own[i], strlen(own[i]), &used);
    status |= add_host(g, host, strlen(host), &used);
    while (*more) {
        size_t n = strcspn(more, " ");
        if (n)
            status |= add_host(g, more, n, &used);
        more += n + (more[n] == ' ');
    }
    return status;
}

static bool
is_port(const char *p, size_t n) {
    return n >= 1 && n <= 5 && strspn(p, "0123456789") >= n;
}

/* The name in NAME, NAME:PORT or [ADDRESS]:PORT; n is 0 where it is none of them. */
static struct http_text
host_name(struct http_text t) {
    const struct http_text none = {0};
    const char *end;
    struct http_text name;
    if (!t.at || !t.n)
        return none;
    if (*t.at == '[') {
        end = memchr(t.at, ']', t.n);
        if (!end)
            return none;
        name = (struct http_text){t.at + 1, (size_t)(end - t.at) - 1};
        end++;
    } else {
        end = memchr(t.at, ':', t.n);
        if (!end)
            end = t.at + t.n;
        name = (struct http_text){t.at, (size_t)(end - t.at)};
    }
    size_t rest = t.n - (size_t)(end - t.at);
    if (rest && (*end != ':' || !is_port(end + 1, rest - 1)))
        return none;
    return name;
}

bool
guard_host(const struct guard *g, struct http_text host, const char *address) {
    struct http_text name = host_name(host);
    if (!name.n)
        return false;
    for (size_t i = 0; i < g->hosts; i++)
        if (http_like(name, g->host[i]))
            return true;
    /* A page can make its own name lead here, but not an address. */
    return *address && http_like(name, address);
}

static bool
is_same_origin(struct http_text origin, struct http_text host) {
    size_t scheme = origin.n > 8 && !strncasecmp(origin.at, "https://", 8)  ? 8
                    : origin.n > 7 && !strncasecmp(origin.at, "http://", 7) ? 7
                                                                            : 0;
    return scheme && host.at && origin.n - scheme == host.n &&
           !strncasecmp(origin.at + scheme, host.at, host.n);
}

bool
guard_origin(const struct http_head *h, bool same) {
    struct http_text origin = h->field[HTTP_ORIGIN], site = h->field[HTTP_SEC_FETCH_SITE];
    if (origin.at && !is_same_origin(origin, h->field[HTTP_HOST]))
        return false;
    if (!site.at || http_is(site, "same-origin") || http_is(site, "none"))
        return true;
    return !same && http_is(h->field[HTTP_SEC_FETCH_MODE], "navigate");
}

bool
guard_token(const struct guard *g, struct http_text t) {
    size_t n = strlen(g->token);
    if (!n || t.n != n + 7 || strncasecmp(t.at, "Bearer ", 7))
        return false;
    unsigned char differs = 0;
    for (size_t i = 0; i < n; i++)
        differs |= (unsigned char)(t.at[7 + i] ^ g->token[i]);
    return !differs;
}
