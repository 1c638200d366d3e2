/* Buffers: what is written is read back; a message that is short, long or lies about its lengths
 * reads as bad and zeros. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

static void
fill(struct buf *b) {
    buf_u8(b, 0xab);
    buf_u32(b, 0x01020304);
    buf_u64(b, 0x0102030405060708);
    buf_f64(b, -0.5);
    buf_blob(b, "hello", 5);
    buf_blob(b, "", 0);
}

static void
test_round_trip(void **state) {
    (void)state;
    struct buf b = {0};
    fill(&b);
    assert_memory_equal(b.at, "\xab\x04\x03\x02\x01\x08\x07\x06\x05\x04\x03\x02\x01", 13);
    struct rd r = {.at = b.at, .left = b.len};
    size_t n;
    assert_int_equal(rd_u8(&r), 0xab);
    assert_int_equal(rd_u32(&r), 0x01020304);
    assert_true(rd_u64(&r) == 0x0102030405060708);
    assert_true(rd_f64(&r) == -0.5);
    assert_memory_equal(rd_blob(&r, 5, &n), "hello", 5);
    assert_int_equal(n, 5);
    assert_non_null(rd_blob(&r, 5, &n));
    assert_int_equal(n, 0);
    assert_true(rd_done(&r));
    buf_free(&b);
}

/* Every shorter message is bad; the copy is of its exact size, so that a sanitizer sees a wild
 * read. */
static void
test_every_cut(void **state) {
    (void)state;
    struct buf b = {0};
    fill(&b);
    for (size_t len = 0; len < b.len; len++) {
        unsigned char *cut = mem_copy(b.at, len);
        struct rd r = {.at = cut, .left = len};
        size_t n;
        rd_u8(&r);
        rd_u32(&r);
        rd_u64(&r);
        rd_f64(&r);
        rd_blob(&r, 5, &n);
        rd_blob(&r, 5, &n);
        assert_true(r.bad);
        assert_false(rd_done(&r));
        assert_int_equal(rd_u8(&r), 0);
        assert_int_equal(n, 0);
        free(cut);
    }
    buf_free(&b);
}

static void
test_lies(void **state) {
    (void)state;
    struct rd r = {.at = (const unsigned char *)"\xff\xff\xff\xff", .left = 4};
    size_t n = 9;
    assert_null(rd_blob(&r, SIZE_MAX, &n));
    assert_int_equal(n, 0);
    assert_true(r.bad);
    r = (struct rd){.at = (const unsigned char *)"\x03\0\0\0abcd", .left = 8};
    assert_null(rd_blob(&r, 2, &n));
    assert_true(r.bad);
    r = (struct rd){.at = (const unsigned char *)"ab", .left = 2};
    assert_int_equal(rd_u8(&r), 'a');
    assert_false(rd_done(&r));
    assert_int_equal(rd_u32(&r), 0);
    assert_int_equal(rd_u8(&r), 0); /* bad stays bad, though a byte is left */
}

static void
test_grow(void **state) {
    (void)state;
    struct buf b = {0};
    assert_string_equal(buf_text(&b), "");
    for (int i = 0; i < 10000; i++)
        buf_fmt(&b, "%04d,", i);
    buf_put(&b, "end");
    buf_add(&b, NULL, 0);
    assert_int_equal(b.len, 50003);
    assert_memory_equal(buf_text(&b) + 5 * 1234, "1234,", 5);
    assert_string_equal(buf_text(&b) + 50000, "end");
    buf_clear(&b);
    assert_string_equal(buf_text(&b), "");
    assert_true(b.cap > 50000);
    buf_free(&b);
    assert_null(b.at);
    buf_put(&b, "again");
    assert_string_equal(buf_text(&b), "again");
    buf_free(&b);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
