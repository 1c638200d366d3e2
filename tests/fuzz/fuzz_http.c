/* HTTP heads, query strings and chunked bodies: the first byte chooses. Whatever the bytes, nothing
 * is read past their end, every refusal has a status and a reason, what is accepted has one reading
 * only, and the pieces in which bytes arrive make no difference. */
#include <stdlib.h>
#include <string.h>

#include "arena/guard.h"
#include "arena/http-head.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
is_within(struct http_text t, const char *p, size_t n) {
    return !t.at || (t.at >= p && t.at + t.n <= p + n);
}

static void
check_head(const char *p, size_t n, const struct http_head *h) {
    ensure(is_within(h->path, p, n) && h->path.n && *h->path.at == '/');
    ensure(is_within(h->query, p, n));
    for (int i = 0; i < HTTP_NAMES; i++)
        ensure(is_within(h->field[i], p, n));
    ensure(h->field[HTTP_HOST].at && h->fields <= HTTP_FIELDS_MOST);
    ensure(!h->chunked || !h->field[HTTP_CONTENT_LENGTH].at);
    ensure(!memchr(p, 0, n));
    ensure(n >= 4 && !memcmp(p + n - 4, "\r\n\r\n", 4));
    for (size_t i = 0; i < n; i++) {
        ensure(p[i] != '\n' || (i && p[i - 1] == '\r'));
        ensure(p[i] != '\r' || (i + 1 < n && p[i + 1] == '\n'));
    }
    static struct guard g = {.token = "0123456789abcdef0123456789abcdef"};
    if (!g.hosts)
        guard_set_hosts(&g, "arena.example", "a b");
    bool same = guard_origin(h, true);
    ensure(!same || guard_origin(h, false));
    guard_host(&g, h->field[HTTP_HOST], "10.0.0.1");
    guard_token(&g, h->field[HTTP_AUTHORIZATION]);
}

static void
fuzz_head(const char *p, size_t n) {
    struct http_head h = {0}, other = {0};
    size_t seen = 0, step = n / 7 + 1;
    long whole = http_head_end(p, n, &seen, &h), got = 0;
    seen = 0;
    for (size_t k = step; !got && k < n + step; k += step)
        got = http_head_end(p, k < n ? k : n, &seen, &other);
    ensure(got == whole || (whole < 0 && got < 0));
    ensure(whole <= (long)n && whole <= HTTP_HEAD_MOST);
    if (whole < 0)
        ensure(h.status >= 400 && h.wrong);
    if (whole <= 0)
        return;
    if (http_head_read(p, (size_t)whole, &h) < 0)
        ensure(h.status >= 400 && h.status < 600 && h.wrong);
    else
        check_head(p, (size_t)whole, &h);
}

static void
fuzz_query(const char *p, size_t n) {
    static struct http_query q;
    const char *wrong = NULL;
    if (http_query_read((struct http_text){p, n}, &q, &wrong) < 0) {
        ensure(wrong);
        return;
    }
    ensure(q.n <= HTTP_QUERY_MOST);
    for (size_t i = 0; i < q.n; i++)
        ensure(*q.pair[i].name && http_query_find(&q, q.pair[i].name) == q.pair[i].value);
}

static void
add(void *arg, const void *p, size_t n) {
    buf_add(arg, p, n);
}

static int
decode(const char *p, size_t n, size_t step, struct buf *out) {
    struct http_chunks c = {0};
    size_t from = 0, have = 0, used;
    int got = 0;
    while (!got && have < n) {
        have = have + step < n ? have + step : n;
        got = http_chunks_read(&c, p + from, have - from, 4096, &used, add, out);
        ensure(used <= have - from && out->len <= 4096);
        from += used;
    }
    return got;
}

static void
fuzz_chunks(const char *p, size_t n) {
    struct buf whole = {0}, pieces = {0};
    int a = decode(p, n, n + 1, &whole), b = decode(p, n, 1, &pieces);
    ensure(a == b && whole.len == pieces.len);
    ensure(!whole.len || !memcmp(whole.at, pieces.at, whole.len));
    buf_free(&whole);
    buf_free(&pieces);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size)
        return 0;
    char *copy = mem_alloc(size); /* a byte more than is used: 0 bytes have no address */
    memcpy(copy, data + 1, size - 1);
    if (data[0] % 4 < 2)
        fuzz_head(copy, size - 1);
    else if (data[0] % 4 == 2)
        fuzz_query(copy, size - 1);
    else
        fuzz_chunks(copy, size - 1);
    free(copy);
    return 0;
}
