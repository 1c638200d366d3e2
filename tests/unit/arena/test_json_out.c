/* JSON that any reader takes, whatever bytes come in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "arena/json-out.h"

static void
test_document(void **state) {
    (void)state;
    struct buf b = {0};
    struct json_out j = {.out = &b};
    json_out_open(&j, NULL, '{');
    json_out_text(&j, "a\"b", "x\\y\"\n\t\x01\x7f\xc3\xa9");
    json_out_bytes(&j, "bytes", "\0\xff\xc3", 3);
    json_out_text(&j, "none", NULL);
    json_out_int(&j, "int", INT64_MIN);
    json_out_id(&j, "id", INT64_MAX);
    json_out_open(&j, "list", '[');
    json_out_real(&j, NULL, 0.1);
    json_out_real(&j, NULL, NAN);
    json_out_real(&j, NULL, INFINITY);
    json_out_open(&j, NULL, '[');
    json_out_close(&j, ']');
    json_out_bool(&j, NULL, true);
    json_out_close(&j, ']');
    json_out_raw(&j, "raw", "{\"x\":1}", 7);
    json_out_close(&j, '}');
    assert_string_equal(buf_text(&b), "{\"a\\\"b\":\"x\\\\y\\\"\\n\\u0009\\u0001\\u007f\xc3\xa9\","
                                      "\"bytes\":\"\\u0000\\\\xff\\\\xc3\",\"none\":null,"
                                      "\"int\":-9223372036854775808,\"id\":\"9223372036854775807\","
                                      "\"list\":[0.1,null,null,[],true],\"raw\":{\"x\":1}}");
    json_t *v = json_loadb((char *)b.at, b.len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(v);
    json_decref(v);
    buf_free(&b);
}

/* Every byte, and every pair of bytes, makes a valid string. */
static void
test_all_bytes(void **state) {
    (void)state;
    for (int i = 0; i < 65536; i++) {
        struct buf b = {0};
        struct json_out j = {.out = &b};
        char text[2] = {(char)(i >> 8), (char)i};
        json_out_bytes(&j, NULL, text, 2);
        json_t *v = json_loadb((char *)b.at, b.len, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
        if (!json_is_string(v))
            fail_msg("bytes %04x give %s", i, buf_text(&b));
        json_decref(v);
        buf_free(&b);
    }
}

int
main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_document),
                                       cmocka_unit_test(test_all_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
