/* The parser of heads, queries and chunks: what it takes, what it refuses, in pieces of any
 * size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "arena/http-head.h"
#include "base/buf.h"

#define OK "Host: a\r\n\r\n"

/* 0 and the head, or the status of the refusal, after checking that every split of the bytes
 * agrees. */
static int
parse(const char *p, size_t n, struct http_head *h) {
    size_t seen = 0;
    int whole = 0;
    long end = http_head_end(p, n, &seen, h);
    if (end < 0)
        whole = h->status;
    else if (end == 0)
        whole = -1;
    else if (http_head_read(p, (size_t)end, h) < 0)
        whole = h->status;
    struct http_head other;
    seen = 0;
    long got = 0;
    for (size_t k = 1; k <= n && !got; k++)
        got = http_head_end(p, k, &seen, &other);
    assert_int_equal(got, end);
    if (whole > 0)
        assert_true(h->wrong && *h->wrong);
    return whole;
}

static int
parse_text(const char *s, struct http_head *h) {
    return parse(s, strlen(s), h);
}

static void
test_takes(void **state) {
    (void)state;
    struct http_head h;
    assert_int_equal(
        parse_text("GET /a/b?c=d&e HTTP/1.1\r\nhOsT: x:1 \t\r\nA:\r\nB: \t \r\n\r\n", &h), 0);
    assert_true(h.method == HTTP_GET && http_is(h.path, "/a/b") && http_is(h.query, "c=d&e"));
    assert_true(http_is(h.field[HTTP_HOST], "x:1") && h.minor == 1 && h.keep_alive);
    assert_int_equal(h.fields, 3);
    assert_int_equal(parse_text("POST / HTTP/1.0\r\nContent-Length: 12\r\n" OK, &h), 0);
    assert_true(h.length == 12 && !h.chunked && h.minor == 0 && !h.keep_alive);
    assert_int_equal(parse_text("POST / HTTP/1.0\r\nConnection: x, Keep-Alive\r\n" OK, &h), 0);
    assert_true(h.keep_alive);
    assert_int_equal(parse_text("DELETE /x HTTP/1.1\r\nConnection: x ,CLOSE\r\n" OK, &h), 0);
    assert_true(!h.keep_alive && h.method == HTTP_DELETE);
    assert_int_equal(
        parse_text("POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\nExpect: 100-Continue\r\n" OK,
                   &h),
        0);
    assert_true(h.chunked && h.expects);
    assert_int_equal(parse_text("BREW / HTTP/1.1\r\n" OK, &h), 0);
    assert_int_equal(h.method, HTTP_OTHER);
    assert_int_equal(parse_text("GET / HTTP/1.1\r\nX: caf\xc3\xa9\r\n" OK "GET /next", &h), 0);
    assert_int_equal(parse_text("GET / HTTP/1.1\r\nHost: a\r\n", &h), -1);
    assert_int_equal(parse_text("G", &h), -1);
}

/* LONG: a table of heads */
static void
test_refuses(void **state) {
    (void)state;
    static const struct {
        int status;
        const char *head;
    } bad[] = {
        {400, "GET /\r\n\r\n"}, /* HTTP/0.9 */
        {400, "GET\r\n\r\n"},
        {400, "GET  / HTTP/1.1\r\n" OK},
        {400, "GET / HTTP/1.1 \r\n" OK},
        {400, "GET /a b HTTP/1.1\r\n" OK},
        {400, "GET / HTTP/1.1\n" OK},
        {400, "GET / HTTP/1.1\r\nHost: a\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\r\n\n"},
        {400, "\r\nGET / HTTP/1.1\r\n" OK},
        {400, " GET / HTTP/1.1\r\n" OK},
        {400, "get / HTTP/1.1\r\n" OK},
        {400, "G\tT / HTTP/1.1\r\n" OK},
        {400, "GET http://a/ HTTP/1.1\r\n" OK},
        {400, "OPTIONS * HTTP/1.1\r\n" OK},
        {400, "CONNECT a:80 HTTP/1.1\r\n" OK},
        {400, "GET /#a HTTP/1.1\r\n" OK},
        {400, "GET /\xc3\xa9 HTTP/1.1\r\n" OK},
        {400, "GET / http/1.1\r\n" OK},
        {400, "GET / HTTP/1.10\r\n" OK},
        {505, "GET / HTTP/1.2\r\n" OK},
        {505, "GET / HTTP/2.0\r\n" OK},
        {400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
        {400, "\x16\x03\x01\x02\x00\x01"},
        {400, "GET / HTTP/1.1\r\n\r\n"}, /* no Host */
        {400, "GET / HTTP/1.1\r\nHost: b\r\n" OK},
        {400, "GET / HTTP/1.1\r\nHost : a\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost: a\r\n\tb: c\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\n Host: a\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\n: b\r\n" OK},
        {400, "GET / HTTP/1.1\r\nA b: c\r\n" OK},
        {400, "GET / HTTP/1.1\r\nA(b): c\r\n" OK},
        {400, "GET / HTTP/1.1\r\nnothing\r\n" OK},
        {400, "GET / HTTP/1.1\r\nA: \x01\r\n" OK},
        {400, "GET / HTTP/1.1\r\nA: \x7f\r\n" OK},
        {400, "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n" OK},
        {400, "POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n" OK},
        {400, "POST / HTTP/1.1\r\nContent-Length: +1\r\n" OK},
        {400, "POST / HTTP/1.1\r\nContent-Length: -1\r\n" OK},
        {400, "POST / HTTP/1.1\r\nContent-Length: 0x1\r\n" OK},
        {400, "POST / HTTP/1.1\r\nContent-Length: 1 1\r\n" OK},
        {400, "POST / HTTP/1.1\r\nContent-Length: 01\r\n" OK},
        {400, "POST / HTTP/1.1\r\nContent-Length:\r\n" OK},
        {400, "POST / HTTP/1.1\r\nContent-Length: 1e3\r\n" OK},
        {400, "POST / HTTP/1.1\r\nContent-Length: 9999999999999999999\r\n" OK},
        {400, "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n" OK},
        {400, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n" OK},
        {400, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" OK},
        {400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n" OK},
        {501, "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n" OK},
        {501, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n" OK},
        {501, "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n" OK},
        {501, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked;a=b\r\n" OK},
        {501, "POST / HTTP/1.1\r\nTransfer-Encoding: \"chunked\"\r\n" OK},
        {501, "POST / HTTP/1.1\r\nTransfer-Encoding:\r\n" OK},
        {400, "GET / HTTP/1.1\r\nContent-Length: 5\r\n" OK},
        {400, "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" OK},
        {400, "GET / HTTP/1.1\r\nAuthorization: a\r\nAuthorization: b\r\n" OK},
        {417, "POST / HTTP/1.1\r\nExpect: tea\r\n" OK},
    };
    struct http_head h;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int got = parse_text(bad[i].head, &h);
        if (got != bad[i].status)
            fail_msg("%d instead of %d for %s", got, bad[i].status, bad[i].head);
    }
    static const char nul[] = "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n";
    assert_int_equal(parse(nul, sizeof nul - 1, &h), 400);
}

static void
test_limits(void **state) {
    (void)state;
    struct buf b = {0};
    struct http_head h;
    buf_put(&b, "GET / HTTP/1.1\r\n");
    for (int i = 0; i < HTTP_FIELDS_MOST - 1; i++)
        buf_put(&b, "A: b\r\n");
    size_t fields = b.len;
    buf_put(&b, OK);
    assert_int_equal(parse((char *)b.at, b.len, &h), 0);
    b.len = fields;
    buf_put(&b, "A: b\r\n" OK);
    assert_int_equal(parse((char *)b.at, b.len, &h), 431);
    buf_clear(&b);
    buf_put(&b, "GET /");
    while (b.len < 4 + HTTP_TARGET_MOST)
        buf_put(&b, "a");
    size_t line = b.len;
    buf_put(&b, " HTTP/1.1\r\n" OK);
    assert_int_equal(parse((char *)b.at, b.len, &h), 0);
    b.len = line;
    buf_put(&b, "a HTTP/1.1\r\n" OK);
    assert_int_equal(parse((char *)b.at, b.len, &h), 414);
    buf_clear(&b);
    buf_put(&b, "GET / HTTP/1.1\r\nA: ");
    while (b.len < HTTP_HEAD_MOST - strlen("\r\n" OK))
        buf_put(&b, "a");
    size_t field = b.len;
    buf_put(&b, "\r\n" OK);
    assert_int_equal(parse((char *)b.at, b.len, &h), 0);
    b.len = field;
    buf_put(&b, "a\r\n" OK);
    assert_int_equal(parse((char *)b.at, b.len, &h), 431);
    buf_free(&b);
}

static void
test_lists(void **state) {
    (void)state;
#define LISTS(s, w) http_lists((struct http_text){s, sizeof s - 1}, w)
    assert_true(LISTS("gzip", "gzip") && LISTS("br, GZIP;q=0.5 , x", "gzip"));
    assert_true(LISTS("gzip;q=1", "gzip") && LISTS("gzip;q=0.001", "gzip"));
    assert_false(LISTS("gzip;q=0", "gzip") || LISTS("gzip; q=0.000", "gzip"));
    assert_false(LISTS("xgzip", "gzip") || LISTS("gzipx", "gzip") || LISTS("", "gzip"));
    assert_false(http_lists((struct http_text){0}, "gzip"));
}

static const char *
query(const char *s, struct http_query *q) {
    const char *wrong = "";
    return http_query_read((struct http_text){s, strlen(s)}, q, &wrong) < 0 ? wrong : NULL;
}

static void
test_queries(void **state) {
    (void)state;
    static struct http_query q;
    assert_null(query("", &q));
    assert_int_equal(q.n, 0);
    assert_null(query("a=1&b=x%20y+z&%63=%C3%A9&d=&e=f%3dg=", &q));
    assert_int_equal(q.n, 5);
    assert_string_equal(http_query_find(&q, "b"), "x y z");
    assert_string_equal(http_query_find(&q, "c"), "\xc3\xa9");
    assert_string_equal(http_query_find(&q, "d"), "");
    assert_string_equal(http_query_find(&q, "e"), "f=g=");
    assert_null(http_query_find(&q, "f"));
    static const char *const bad[] = {"a=%",    "a=%2",   "a=%zz", "a=%00", "a=%0a", "a=1&a=2",
                                      "a=%ff",  "a",      "=b",    "a=1&&", "a=1&b", "%ff=1",
                                      "a=%2&b", "a=%c3%", "&",     "a=%1f"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!query(bad[i], &q))
            fail_msg("%s is taken", bad[i]);
    char many[200] = "";
    for (int i = 0; i < 16; i++)
        snprintf(many + strlen(many), 8, "%sa%d=1", i ? "&" : "", i);
    assert_null(query(many, &q));
    strcat(many, "&b=1");
    assert_non_null(query(many, &q));
    char longest[HTTP_TARGET_MOST + 2];
    memset(longest, 'a', sizeof longest);
    longest[1] = '=';
    longest[HTTP_TARGET_MOST] = '\0';
    assert_null(query(longest, &q));
    longest[HTTP_TARGET_MOST] = 'a';
    longest[HTTP_TARGET_MOST + 1] = '\0';
    assert_non_null(query(longest, &q));
}

static void
add(void *arg, const void *p, size_t n) {
    buf_add(arg, p, n);
}

/* Decodes in pieces of `step` bytes; the last answer, and what was decoded. */
static int
decode(const char *s, size_t step, size_t most, struct buf *out) {
    struct http_chunks c = {0};
    size_t n = strlen(s), from = 0, have = 0, used;
    int got = 0;
    buf_clear(out);
    while (!got && have < n) {
        have = have + step < n ? have + step : n;
        got = http_chunks_read(&c, s + from, have - from, most, &used, add, out);
        from += used;
        assert_true(from <= have && out->len <= most);
    }
    return got;
}

static void
test_chunks(void **state) {
    (void)state;
    struct buf out = {0};
    static const struct {
        int got;
        const char *in, *out;
    } cases[] = {
        {1, "5\r\nhello\r\n0\r\n\r\n", "hello"},
        {1, "5\r\nhello\r\n00a\r\n0123456789\r\n000\r\n\r\n", "hello0123456789"},
        {1, "0\r\n\r\n", ""},
        {0, "5\r\nhello\r\n0\r\n", "hello"},
        {0, "5\r\nhel", "hel"},
        {-1, "5\nhello\r\n0\r\n\r\n", ""},
        {-1, "5;a=b\r\nhello\r\n0\r\n\r\n", ""},
        {-1, "5 \r\nhello\r\n", ""},
        {-1, "-5\r\nhello\r\n", ""},
        {-1, "0x5\r\nhello\r\n", ""},
        {-1, "\r\nhello\r\n", ""},
        {-1, "000000005\r\nhello\r\n", ""},
        {-1, "5\r\nhelloo\r\n0\r\n\r\n", "hello"},
        {-1, "5\r\nhello\n0\r\n\r\n", "hello"},
        {-1, "0\r\nTrailer: x\r\n\r\n", ""},
        {-2, "ffffffff\r\n", ""},
        {-2, "20\r\n0123456789abcdef0123456789abcdef\r\n1\r\n", "0123456789abcdef0123456789abcdef"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t step = 1; step < 80; step++) {
            int got = decode(cases[i].in, step, 32, &out);
            if (got != cases[i].got || strcmp(buf_text(&out), cases[i].out))
                fail_msg("%d and %s for %s in steps of %zu", got, buf_text(&out), cases[i].in,
                         step);
        }
    buf_free(&out);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes), cmocka_unit_test(test_refuses), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_lists), cmocka_unit_test(test_queries), cmocka_unit_test(test_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
