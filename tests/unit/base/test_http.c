/* The HTTP client against a server in a thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/http.h"
#include "tests/unit/tiny_server.h"

static int
echo(void *arg, const struct tiny_request *r, struct buf *out) {
    (void)arg;
    if (!strcmp(r->path, "/refuse")) {
        buf_put(out, "{\"error\":{\"code\":\"stale\",\"message\":\"another learner came\"}}");
        return 409;
    }
    if (!strcmp(r->path, "/nothing"))
        return 204;
    if (!strcmp(r->path, "/hang"))
        return usleep(1500000), 0;
    if (!strcmp(r->path, "/vanish"))
        return 0;
    if (!strcmp(r->path, "/text")) {
        buf_put(out, "hello");
        return 200;
    }
    buf_fmt(out, "{\"method\":\"%s\",\"path\":\"%s\",\"auth\":\"%s\",\"n\":%zu,\"body\":%s}",
            r->method, r->path, r->auth, r->n, r->n && r->n < 1000 ? r->body : "null");
    return 200;
}

static struct http *
client(const struct tiny_server *s, const char *token) {
    char base[64];
    snprintf(base, sizeof base, "http://127.0.0.1:%d", s->port);
    return http_new(base, token);
}

static void
check_text(const json_t *v, const char *key, const char *want) {
    assert_string_equal(json_string_value(json_object_get(v, key)), want);
}

static void
calls(void **state) {
    (void)state;
    struct tiny_server s = {.answer = echo};
    tiny_start(&s);
    struct err e = {.text = ""};
    struct http *h = client(&s, "secret");
    assert_int_equal(http_call(h, "POST", "/api/x", "{\"a\":1}", 7, 5, &e), 200);
    json_t *v = http_json(h, &e);
    assert_non_null(v);
    check_text(v, "method", "POST");
    check_text(v, "path", "/api/x");
    check_text(v, "auth", "Bearer secret");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(v, "body"), "a")), 1);
    json_decref(v);
    assert_int_equal(http_call(h, "GET", "/y", NULL, 0, 5, &e), 200);
    v = http_json(h, &e);
    check_text(v, "method", "GET");
    assert_int_equal(json_integer_value(json_object_get(v, "n")), 0);
    json_decref(v);
    assert_int_equal(http_call(h, "DELETE", "/z", NULL, 0, 5, &e), 200);
    assert_non_null(strstr((const char *)http_body(h)->at, "DELETE"));
    assert_int_equal(http_call(h, "POST", "/nothing", "{}", 2, 5, &e), 204);
    assert_int_equal(http_body(h)->len, 0);
    /* A body longer than any buffer on the way. */
    char *big = mem_zero(3000000, 1);
    memset(big, ' ', 3000000);
    assert_int_equal(http_call(h, "POST", "/big", big, 3000000, 5, &e), 200);
    v = http_json(h, &e);
    assert_int_equal(json_integer_value(json_object_get(v, "n")), 3000000);
    json_decref(v);
    free(big);
    assert_int_equal(s.accepted, 1);
    http_free(h);
    tiny_stop(&s);
}

static void
refusals(void **state) {
    (void)state;
    struct tiny_server s = {.answer = echo};
    tiny_start(&s);
    struct err e = {.text = ""};
    struct http *h = client(&s, NULL);
    assert_int_equal(http_call(h, "POST", "/refuse", "{}", 2, 5, &e), 409);
    assert_int_equal(http_refusal(h, &e), -1);
    assert_non_null(strstr(e.text, "409 stale: another learner came"));
    assert_int_equal(http_call(h, "GET", "/text", NULL, 0, 5, &e), 200);
    assert_null(http_json(h, &e));
    assert_non_null(strstr(e.text, "no JSON"));
    http_free(h);
    tiny_stop(&s);
}

static bool
stop_at_once(void *arg) {
    (void)arg;
    return true;
}

static void
lost_connections(void **state) {
    (void)state;
    struct tiny_server s = {.answer = echo};
    tiny_start(&s);
    struct err e = {.text = ""};
    struct http *h = client(&s, NULL);
    int64_t start = clock_mono_us();
    assert_int_equal(http_call(h, "GET", "/hang", NULL, 0, 0.2, &e), -1);
    assert_true(clock_mono_us() - start < 1400000);
    assert_int_equal(http_call(h, "GET", "/ok", NULL, 0, 5, &e), 200);
    http_set_stop(h, stop_at_once, NULL);
    assert_int_equal(http_call(h, "GET", "/hang", NULL, 0, 5, &e), -1);
    assert_non_null(strstr(e.text, "given up"));
    http_set_stop(h, NULL, NULL);
    tiny_stop(&s);
    assert_int_equal(http_call(h, "GET", "/ok", NULL, 0, 5, &e), -1);
    assert_true(strlen(e.text) > 10);
    http_free(h);
}

/* A request that may have been obeyed is never sent twice. */
static void
sent_once(void **state) {
    (void)state;
    struct tiny_server s = {.answer = echo};
    tiny_start(&s);
    struct err e = {.text = ""};
    struct http *h = client(&s, NULL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(http_call(h, "POST", "/ok", "{}", 2, 5, &e), 200);
        int before = s.requests;
        assert_int_equal(http_call(h, "POST", "/vanish", "{\"a\":1}", 7, 5, &e), -1);
        assert_int_equal(s.requests, before + 1);
    }
    http_free(h);
    tiny_stop(&s);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls),
        cmocka_unit_test(refusals),
        cmocka_unit_test(lost_connections),
        cmocka_unit_test(sent_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
