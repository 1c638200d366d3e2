/* Listening, limits and deadlines. When there are too many connections, the one that has gone
 * longest without a whole request makes room: holding connections open keeps nobody out. */
#include "arena/httpd-int.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define TICK_US 100000
#define BACKLOG 511

/* ---- addresses ---- */

/* 16 bytes that are the same for connections of one origin: an IPv4 address, or the network half of
 * an IPv6 one, since whoever has one address of it has them all. */
static void
peer_key(const struct sockaddr *a, unsigned char key[16]) {
    memset(key, 0, 16);
    if (a->sa_family == AF_INET) {
        memcpy(key, &((const struct sockaddr_in *)(const void *)a)->sin_addr, 4);
        return;
    }
    if (a->sa_family != AF_INET6)
        return;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(six))
        memcpy(key, six->s6_addr + 12, 4);
    else
        memcpy(key, six->s6_addr, 8);
}

static bool
is_loopback(const struct sockaddr *a) {
    if (a->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)a;
        return ntohl(four->sin_addr.s_addr) >> 24 == 127;
    }
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static void
own_address(int fd, char out[48]) {
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    out[0] = '\0';
    if (getsockname(fd, (struct sockaddr *)&a, &n) == 0 &&
        getnameinfo((struct sockaddr *)&a, n, out, 48, NULL, 0, NI_NUMERICHOST))
        out[0] = '\0';
}

/* ---- too many ---- */

/* Does the server wait for this client, rather than the other way round? */
static bool
keeps_waiting(const struct httpd_conn *c) {
    bool working = c->state == CONN_BUSY || c->state == CONN_STREAM;
    return !c->trusted && (!working || c->half || c->writing);
}

/* The connection that is closed for a new one from `key`; NULL: all of them are at work. */
static struct httpd_conn *
find_idlest(struct httpd *h, const unsigned char *key) {
    struct httpd_conn *found = NULL;
    for (struct httpd_conn *c = h->conns; c; c = c->next)
        if (keeps_waiting(c) && (!key || !memcmp(c->peer, key, 16)) &&
            (!found || c->since_us < found->since_us))
            found = c;
    return found;
}

/* A client that hung up while it was being answered: the loop may come to its end only later. */
static struct httpd_conn *
find_gone(struct httpd *h, const unsigned char *key) {
    struct pollfd *asked = mem_zero((size_t)h->counts.open, sizeof *asked);
    struct httpd_conn *found = NULL;
    nfds_t n = 0, i = 0;
    for (struct httpd_conn *c = h->conns; c; c = c->next)
        asked[n++] = (struct pollfd){.fd = c->fd, .events = POLLRDHUP};
    if (poll(asked, n, 0) > 0)
        for (struct httpd_conn *c = h->conns; c && !found; c = c->next, i++)
            if (asked[i].revents && !c->trusted && (!key || !memcmp(c->peer, key, 16)))
                found = c;
    free(asked);
    return found;
}

static int
count_from(const struct httpd *h, const unsigned char *key) {
    int n = 0;
    for (const struct httpd_conn *c = h->conns; c; c = c->next)
        n += !memcmp(c->peer, key, 16);
    return n;
}

static bool
make_room(struct httpd *h, const unsigned char *key) {
    bool address_full = count_from(h, key) >= h->setup.per_address;
    if (!address_full && h->counts.open < h->setup.connections)
        return true;
    const unsigned char *among = address_full ? key : NULL;
    struct httpd_conn *c = find_idlest(h, among);
    if (!c)
        c = find_gone(h, among);
    if (!c)
        return false;
    h->counts.evicted++;
    conn_kill(c);
    return true;
}

static void
turn_away(struct httpd *h, int fd) {
    struct buf body = {0}, all = {0};
    h->counts.refused_full++;
    h->setup.on_refusal(h->setup.arg, 503, "there are too many connections", &body);
    buf_fmt(&all,
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
            "Content-Length: %zu\r\nConnection: close\r\nRetry-After: 1\r\n%s\r\n",
            body.len, h->setup.fields);
    buf_add(&all, body.at, body.len);
    /* One try: who is turned away has no claim to more. */
    ssize_t sent = send(fd, all.at, all.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent;
    close(fd);
    buf_free(&body);
    buf_free(&all);
}

static void
on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *a, int n, void *arg) {
    (void)l;
    (void)n;
    struct httpd *h = arg;
    unsigned char key[16];
    int one = 1;
    peer_key(a, key);
    h->counts.accepted++;
    if (!make_room(h, key)) {
        turn_away(h, fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    struct httpd_conn *c = conn_open(h, fd);
    memcpy(c->peer, key, 16);
    own_address(fd, c->address);
}

/* Mostly: no descriptor is free. Asking at once would ask for ever. */
static void
on_accept_error(struct evconnlistener *l, void *arg) {
    struct httpd *h = arg;
    evconnlistener_disable(l);
    h->listening = false;
}

/* ---- time ---- */

static void
bury(struct httpd *h) {
    while (h->dead) {
        struct httpd_conn *c = h->dead;
        h->dead = c->next;
        conn_free(c);
    }
}

static void
on_tick(evutil_socket_t fd, short what, void *arg) {
    (void)fd;
    (void)what;
    struct httpd *h = arg;
    int64_t now = clock_mono_us();
    for (struct httpd_conn *c = h->conns, *next; c; c = next) {
        next = c->next;
        if ((c->deadline_us && now > c->deadline_us) || (c->until_us && now > c->until_us))
            conn_late(c);
    }
    bury(h);
    if (!h->listening) {
        h->listening = true;
        evconnlistener_enable(h->listener);
    }
}

const char *
httpd_date(struct httpd *h) {
    int64_t now = clock_wall_ms() / 1000;
    if (now != h->date_s) {
        time_t t = (time_t)now;
        struct tm tm;
        gmtime_r(&t, &tm);
        strftime(h->date, sizeof h->date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
        h->date_s = now;
    }
    return h->date;
}

/* ---- start and stop ---- */

static int
listen_on(struct httpd *h, struct err *e) {
    const struct httpd_setup *s = &h->setup;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    char service[16];
    snprintf(service, sizeof service, "%d", s->port);
    int bad = getaddrinfo(s->host, service, &hints, &found);
    if (bad)
        return err_set(e, "serve.host: %s: %s", s->host, gai_strerror(bad));
    /* "localhost" has two addresses: programs here ask for the shorter one. */
    const struct addrinfo *a4 = found;
    while (a4 && a4->ai_family != AF_INET)
        a4 = a4->ai_next;
    const struct addrinfo *at = a4 ? a4 : found;
    h->loopback = is_loopback(at->ai_addr);
    errno = 0;
    h->listener = evconnlistener_new_bind(
        s->base, on_accept, h, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE,
        BACKLOG, at->ai_addr, (int)at->ai_addrlen);
    int why = errno;
    freeaddrinfo(found);
    if (!h->listener)
        return err_set(e, "serve.host, serve.port: cannot listen on %s:%d: %s", s->host, s->port,
                       strerror(why));
    evconnlistener_set_error_cb(h->listener, on_accept_error);
    h->listening = true;
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    if (getsockname(evconnlistener_get_fd(h->listener), (struct sockaddr *)&a, &n) < 0)
        return err_set(e, "cannot find the port that was bound: %s", strerror(errno));
    h->port = ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
                                            : ((struct sockaddr_in *)&a)->sin_port);
    return 0;
}

struct httpd *
httpd_new(const struct httpd_setup *s, struct err *e) {
    struct httpd *h = mem_zero(1, sizeof *h);
    struct timeval every = {.tv_usec = TICK_US};
    h->setup = *s;
    h->tick = event_new(s->base, -1, EV_PERSIST, on_tick, h);
    ensure(h->tick);
    if (event_add(h->tick, &every) < 0 || listen_on(h, e) < 0) {
        httpd_free(h);
        return NULL;
    }
    return h;
}

void
httpd_free(struct httpd *h) {
    if (!h)
        return;
    if (h->listener)
        evconnlistener_free(h->listener);
    while (h->conns)
        conn_kill(h->conns);
    bury(h);
    event_free(h->tick);
    free(h);
}

int
httpd_port(const struct httpd *h) {
    return h->port;
}

bool
httpd_is_loopback(const struct httpd *h) {
    return h->loopback;
}

struct httpd_counts
httpd_counts(const struct httpd *h) {
    return h->counts;
}
