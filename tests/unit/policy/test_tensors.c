/* safetensors: round trips, the three dtypes, and one file for each way of being malformed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "policy/tensors.h"

static const float six[] = {1, -2, 3.5f, 0x1p-149f, -0.0f, 6};

/* A file of a header given as text and `size` bytes of data (zeros when data is NULL). */
static struct buf
file_of(const char *header, const void *data, size_t size) {
    struct buf b = {0};
    buf_u64(&b, strlen(header));
    buf_put(&b, header);
    void *zeros = mem_zero(size + 1, 1);
    buf_add(&b, data ? data : zeros, size);
    free(zeros);
    return b;
}

static void
test_round_trip(void **state) {
    (void)state;
    const struct tensor_view views[] = {
        {"a", {2, 3}, 2, six},
        {"scalar", {0}, 0, six + 2},
        {"none", {0, 7}, 2, six},
        {"quote\" back\\slash\n", {3}, 1, six + 3},
    };
    const struct tensor_meta meta[] = {{"format", "pt"}, {"k\"", "v\\\t"}};
    struct buf b = {0}, again = {0};
    tensors_encode(views, 4, meta, 2, &b);
    tensors_encode(views, 4, meta, 2, &again);
    assert_int_equal(b.len, again.len);
    assert_memory_equal(b.at, again.at, b.len);
    assert_int_equal(0, b.at[0] % 8); /* the header's length */
    struct err e = {.text = ""};
    struct tensors *t = tensors_decode(&b, "f", &e);
    assert_string_equal("", e.text);
    assert_null(b.at);
    assert_int_equal(4, tensors_count(t));
    assert_string_equal("a", tensors_name(t, 0));
    assert_string_equal("pt", tensors_meta(t, "format"));
    assert_string_equal("v\\\t", tensors_meta(t, "k\""));
    assert_null(tensors_meta(t, "absent"));
    for (size_t i = 0; i < 4; i++) {
        float out[6];
        assert_int_equal(0, tensors_read(t, views[i].name, views[i].shape, views[i].dims, out, &e));
        size_t n = i == 0 ? 6 : i == 1 ? 1 : i == 2 ? 0 : 3;
        assert_memory_equal(views[i].data, out, n * sizeof(float));
    }
    tensors_free(t);
    buf_free(&again);
}

static void
test_exact_bytes(void **state) {
    (void)state;
    struct buf b = {0};
    tensors_encode(&(struct tensor_view){"a", {2}, 1, six}, 1, NULL, 0, &b);
    const char *header = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}  ";
    struct buf want = file_of(header, six, 8);
    assert_int_equal(want.len, b.len);
    assert_memory_equal(want.at, b.at, b.len);
    buf_free(&want);
    buf_free(&b);
}

static void
test_empty_file(void **state) {
    (void)state;
    struct buf b = {0};
    struct err e;
    tensors_encode(NULL, 0, NULL, 0, &b);
    struct tensors *t = tensors_decode(&b, "f", &e);
    assert_non_null(t);
    assert_int_equal(0, tensors_count(t));
    assert_null(tensors_meta(t, "format"));
    tensors_free(t);
    tensors_free(NULL);
}

static void
check_widened(const char *dtype, const uint16_t *in, const float *want, int64_t n) {
    char header[128];
    snprintf(header, sizeof header,
             "{\"a\":{\"dtype\":\"%s\",\"shape\":[%d],\"data_offsets\":[0,%d]}}", dtype, (int)n,
             (int)n * 2);
    struct buf b = file_of(header, in, (size_t)n * 2);
    struct err e = {.text = ""};
    struct tensors *t = tensors_decode(&b, "f", &e);
    assert_string_equal("", e.text);
    float out[16];
    assert_int_equal(0, tensors_read(t, "a", &n, 1, out, &e));
    assert_memory_equal(want, out, (size_t)n * sizeof *out);
    tensors_free(t);
}

static void
test_half_precision(void **state) {
    (void)state;
    const uint16_t half[] = {0x0000, 0x8000, 0x3c00, 0xc000, 0x7bff,
                             0x0400, 0x0001, 0x83ff, 0x3555};
    const float half_is[] = {0, -0.0f, 1, -2, 65504, 0x1p-14f, 0x1p-24f, -0x3ffp-24f, 0x1.554p-2f};
    check_widened("F16", half, half_is, 9);
    const uint16_t brain[] = {0x0000, 0x8000, 0x3f80, 0xc000, 0x7f7f, 0x0001};
    const float brain_is[] = {0, -0.0f, 1, -2, 0x1.fep127f, 0x1p-133f};
    check_widened("BF16", brain, brain_is, 6);
}

#define ENTRY(name, shape, offsets) \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

struct bad {
    const char *header;
    size_t size;
    const char *want; /* part of the sentence */
};

static const struct bad bads[] = {
    {"", 0, "does not begin with '{'"},
    {" {}", 0, "does not begin with '{'"},
    {"[]", 0, "does not begin with '{'"},
    {"{", 0, "not valid JSON"},
    {"{} x", 0, "not valid JSON"},
    {"{\"a\":1,}", 0, "not valid JSON"},
    {"{\"\xff\":1}", 0, "not valid JSON"},
    {"{" ENTRY("a", "[1]", "[0,4]") "," ENTRY("a", "[1]", "[4,8]") "}", 8, "duplicate object key"},
    {"{" ENTRY("a\\u0000b", "[1]", "[0,4]") "}", 4, "NUL byte in object key"},
    {"{\"__metadata__\":{\"k\":\"a\\u0000b\"}}", 0, "not valid JSON"},
    {"{\"__metadata__\":[]}", 0, "__metadata__ is not an object"},
    {"{\"__metadata__\":{\"k\":1}}", 0, "the value of 'k' is not a string"},
    {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "duplicate object key"},
    {"{\"a\":1}", 0, "tensor 'a': the entry is not an object"},
    {"{\"a\":{}}", 0, "tensor 'a': the entry is not an object"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4],\"x\":1}}", 4,
     "is not an object"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"offsets\":[0,4]}}", 4, "data_offsets is not a list"},
    {"{\"a\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]}}", 8, "dtype is I64"},
    {"{\"a\":{\"dtype\":\"f32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, "dtype is f32"},
    {"{\"a\":{\"dtype\":32,\"shape\":[],\"data_offsets\":[0,4]}}", 4, "dtype is not given"},
    {"{" ENTRY("a", "1", "[0,4]") "}", 4, "shape is not a list"},
    {"{" ENTRY("a", "[1,1,1,1,1,1,1,1,1]", "[0,4]") "}", 4, "at most 8 numbers"},
    {"{" ENTRY("a", "[1.0]", "[0,4]") "}", 4, "not a whole number"},
    {"{" ENTRY("a", "[-1]", "[0,4]") "}", 4, "not a whole number"},
    {"{" ENTRY("a", "[null]", "[0,4]") "}", 4, "not a whole number"},
    {"{" ENTRY("a", "[4294967296,4294967296]", "[0,4]") "}", 4, "too many elements"},
    {"{" ENTRY("a", "[9223372036854775807,2,2]", "[0,4]") "}", 4, "too many elements"},
    {"{" ENTRY("a", "[4611686018427387905]", "[0,4]") "}", 4, "span 4 bytes, which its shape"},
    {"{" ENTRY("a", "[99999999999999999999]", "[0,4]") "}", 4, "not valid JSON"},
    {"{" ENTRY("a", "[2]", "[0,4]") "}", 4, "span 4 bytes, which its shape"},
    {"{" ENTRY("a", "[1]", "[0,4,8]") "}", 8, "not a list of two"},
    {"{" ENTRY("a", "[1]", "[0]") "}", 4, "not a list of two"},
    {"{" ENTRY("a", "[1]", "[0,\"4\"]") "}", 4, "not a list of two"},
    {"{" ENTRY("a", "[1]", "[0,8]") "}", 4, "do not lie in the 4 bytes"},
    {"{" ENTRY("a", "[1]", "[-4,0]") "}", 4, "do not lie in the 4 bytes"},
    {"{" ENTRY("a", "[1]", "[4,0]") "}", 4, "do not lie in the 4 bytes"},
    {"{" ENTRY("a", "[2]", "[0,8]") "," ENTRY("b", "[2]", "[4,12]") "}", 12, "'b' overlaps 'a'"},
    {"{" ENTRY("a", "[2]", "[0,8]") "," ENTRY("b", "[2]", "[0,8]") "}", 8, "'b' overlaps 'a'"},
    {"{" ENTRY("b", "[1]", "[4,8]") "," ENTRY("a", "[2]", "[0,8]") "}", 8, "'b' overlaps 'a'"},
    {"{" ENTRY("a", "[1]", "[4,8]") "}", 8, "4 bytes before tensor 'a' belong to no tensor"},
    {"{" ENTRY("a", "[1]", "[0,4]") "," ENTRY("b", "[1]", "[8,12]") "}", 12, "before tensor 'b'"},
    {"{" ENTRY("a", "[1]", "[0,4]") "}", 5, "1 bytes at the end belong to no tensor"},
    {"{}", 1, "1 bytes at the end belong to no tensor"},
};

static void
check_refused(struct buf *b, const char *want) {
    struct err e = {.text = ""};
    struct tensors *t = tensors_decode(b, "here", &e);
    assert_null(b->at);
    if (t || strncmp(e.text, "here: ", 6) != 0 || !strstr(e.text, want))
        fail_msg("wanted a sentence with '%s', got '%s'", want, e.text);
}

static void
test_malformed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
        struct buf b = file_of(bads[i].header, NULL, bads[i].size);
        check_refused(&b, bads[i].want);
    }
}

static void
test_bad_length(void **state) {
    (void)state;
    struct buf b = {0};
    check_refused(&b, "too few for a header length");
    buf_add(&b, "\2\0\0\0\0\0\0", 7);
    check_refused(&b, "too few for a header length");
    buf_u64(&b, 3);
    buf_put(&b, "{}");
    check_refused(&b, "said to have 3 bytes, but only 2 follow");
    buf_u64(&b, 100000001);
    buf_put(&b, "{}");
    check_refused(&b, "more than the");
    buf_u64(&b, UINT64_MAX);
    buf_put(&b, "{}");
    check_refused(&b, "more than the");
    buf_u64(&b, (uint64_t)INT64_MAX + 1);
    check_refused(&b, "more than the");
}

static void
test_deep_nesting(void **state) {
    (void)state;
    struct buf header = {0};
    buf_put(&header, "{\"a\":");
    for (int i = 0; i < 1000000; i++)
        buf_put(&header, "[");
    struct buf b = file_of(buf_text(&header), NULL, 0);
    check_refused(&b, "not valid JSON");
    buf_free(&header);
}

/* Padding, other spacing and another order of entries are all within the format. */
static void
test_foreign_but_good(void **state) {
    (void)state;
    const char *header = "{ \"b\": {\"data_offsets\":[4, 8], \"dtype\":\"F32\", \"shape\":[1]},\n"
                         "  " ENTRY("a", "[1,1]", "[0,4]") "}  \n  ";
    struct buf b = file_of(header, six, 8);
    struct err e = {.text = ""};
    struct tensors *t = tensors_decode(&b, "f", &e);
    assert_string_equal("", e.text);
    assert_string_equal("a", tensors_name(t, 0));
    float out;
    assert_int_equal(0, tensors_read(t, "b", (int64_t[]){1}, 1, &out, &e));
    assert_true(out == -2);
    tensors_free(t);
}

static void
check_unreadable(const struct tensors *t, const char *name, int64_t d0, int64_t d1, int dims,
                 const char *want) {
    struct err e = {.text = ""};
    float out[6];
    assert_int_equal(-1, tensors_read(t, name, (int64_t[]){d0, d1}, dims, out, &e));
    assert_string_equal(want, e.text);
}

static void
test_read_refuses(void **state) {
    (void)state;
    const float odd[] = {1, NAN, INFINITY, -INFINITY};
    const struct tensor_view views[] = {
        {"a", {2, 3}, 2, six},
        {"nan", {2}, 1, odd},
        {"inf", {1}, 1, odd + 2},
        {"neg", {1}, 1, odd + 3},
    };
    struct buf b = {0};
    struct err e;
    tensors_encode(views, 4, NULL, 0, &b);
    struct tensors *t = tensors_decode(&b, "f", &e);
    check_unreadable(t, "A", 2, 3, 2, "f: there is no tensor 'A'");
    check_unreadable(t, "a", 3, 2, 2, "f: tensor 'a' has the shape [2,3], [3,2] is needed");
    check_unreadable(t, "a", 6, 0, 1, "f: tensor 'a' has the shape [2,3], [6] is needed");
    check_unreadable(t, "a", 0, 0, 0, "f: tensor 'a' has the shape [2,3], [] is needed");
    check_unreadable(t, "nan", 2, 0, 1, "f: tensor 'nan' holds a value that is not finite");
    check_unreadable(t, "inf", 1, 0, 1, "f: tensor 'inf' holds a value that is not finite");
    check_unreadable(t, "neg", 1, 0, 1, "f: tensor 'neg' holds a value that is not finite");
    tensors_free(t);
}

/* Infinities and not-a-numbers of the short formats stay what they are when widened. */
static void
test_half_not_finite(void **state) {
    (void)state;
    const uint16_t odd[] = {0x7c00, 0xfc00, 0x7e01, 0x7f80, 0xff80, 0x7fc0};
    for (int i = 0; i < 6; i++) {
        char header[128];
        snprintf(header, sizeof header,
                 "{\"a\":{\"dtype\":\"%s\",\"shape\":[],\"data_offsets\":[0,2]}}",
                 i < 3 ? "F16" : "BF16");
        struct buf b = file_of(header, odd + i, 2);
        struct err e = {.text = ""};
        struct tensors *t = tensors_decode(&b, "f", &e);
        assert_non_null(t);
        float out;
        assert_int_equal(-1, tensors_read(t, "a", NULL, 0, &out, &e));
        assert_non_null(strstr(e.text, "not finite"));
        tensors_free(t);
    }
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_exact_bytes),
        cmocka_unit_test(test_empty_file),   cmocka_unit_test(test_half_precision),
        cmocka_unit_test(test_malformed),    cmocka_unit_test(test_bad_length),
        cmocka_unit_test(test_deep_nesting), cmocka_unit_test(test_foreign_but_good),
        cmocka_unit_test(test_read_refuses), cmocka_unit_test(test_half_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
