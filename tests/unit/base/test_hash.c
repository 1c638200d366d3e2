/* Hashes: the vectors of FIPS 180-4 for SHA-256 and of the FNV draft for FNV-1a. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/hash.h"

static void
test_sha256(void **state) {
    (void)state;
    char hex[HASH_HEX];
    hash_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    hash_hex(two_blocks, strlen(two_blocks), hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void
test_in_parts(void **state) {
    (void)state;
    char hex[HASH_HEX], whole[HASH_HEX], text[300];
    memset(text, 'x', sizeof text);
    hash_hex(text, sizeof text, whole);
    struct hash *h = hash_new();
    for (size_t i = 0; i < sizeof text; i += 30)
        hash_add(h, text + i, 30);
    hash_end(h, hex);
    assert_string_equal(hex, whole);
}

static void
test_fnv(void **state) {
    (void)state;
    assert_true(hash_fnv("", 0) == 0xcbf29ce484222325);
    assert_true(hash_fnv("a", 1) == 0xaf63dc4c8601ec8c);
    assert_true(hash_fnv("foobar", 6) == 0x85944171f73967e8);
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_in_parts),
        cmocka_unit_test(test_fnv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
