/* Hashes: the vectors of FIPS 180-4 for SHA-256 and of the FNV draft for FNV-1a;
 * the quick one keeps texts apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static int
by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

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

/* No two of many texts of few letters, as boards are, have one hash; each byte, the length, and
 * what came before count, and the place in memory does not. */
static void
test_quick(void **state) {
    (void)state;
    enum { LENGTH = 17, TEXTS = 19683 }; /* three letters at nine places */
    static uint64_t seen[TEXTS];
    char at[LENGTH + 1];
    for (int i = 0; i < TEXTS; i++) {
        memset(at, '.', sizeof at);
        for (int k = 0, rest = i; k < LENGTH; k += 2, rest /= 3)
            at[1 + (k * 5 + 3) % LENGTH] = ".ox"[rest % 3];
        seen[i] = hash_quick(at + 1, LENGTH, 0);
        char moved[LENGTH];
        memcpy(moved, at + 1, LENGTH);
        assert_true(hash_quick(moved, LENGTH, 0) == seen[i]);
        assert_true(hash_quick(moved, LENGTH, 1) != seen[i]);
        assert_true(hash_quick(moved, LENGTH - 1, 0) != seen[i]);
    }
    qsort(seen, TEXTS, sizeof seen[0], by_value);
    for (int i = 1; i < TEXTS; i++)
        assert_true(seen[i - 1] != seen[i]);
    assert_true(hash_quick(NULL, 0, 0) != hash_quick("", 1, 0));
}

int
main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_in_parts),
        cmocka_unit_test(test_fnv),
        cmocka_unit_test(test_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
