#include "base/hash.h"

#include <openssl/evp.h>
#include <string.h>

#include "base/err.h"

struct hash *
hash_new(void) {
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    ensure(c && EVP_DigestInit_ex(c, EVP_sha256(), NULL) == 1);
    return (struct hash *)c;
}

void
hash_add(struct hash *h, const void *p, size_t n) {
    ensure(EVP_DigestUpdate((EVP_MD_CTX *)h, p, n) == 1);
}

void
hash_end(struct hash *h, char hex[HASH_HEX]) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    ensure(EVP_DigestFinal_ex((EVP_MD_CTX *)h, digest, &len) == 1 && len == 32);
    EVP_MD_CTX_free((EVP_MD_CTX *)h);
    for (unsigned i = 0; i < 32; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[64] = '\0';
}

void
hash_hex(const void *p, size_t n, char hex[HASH_HEX]) {
    struct hash *h = hash_new();
    hash_add(h, p, n);
    hash_end(h, hex);
}

uint64_t
hash_fnv_more(uint64_t h, const void *p, size_t n) {
    const unsigned char *at = p;
    for (size_t i = 0; i < n; i++)
        h = (h ^ at[i]) * 0x100000001b3u;
    return h;
}

uint64_t
hash_fnv(const void *p, size_t n) {
    return hash_fnv_more(HASH_FNV, p, n);
}

/* The words are mixed alone, so that their multiplications overlap, and joined by one more. */
static uint64_t
join_word(uint64_t h, uint64_t word) {
    word *= 0x9E3779B97F4A7C15u;
    word ^= word >> 32;
    word *= 0xD6E8FEB86659FD93u;
    return (h ^ word ^ word >> 29) * 0xC6A4A7935BD1E995u;
}

uint64_t
hash_quick(const void *p, size_t n, uint64_t seed) {
    const unsigned char *at = p;
    uint64_t h = seed ^ n * 0xBF58476D1CE4E5B9u, word;
    for (; n >= sizeof word; at += sizeof word, n -= sizeof word) {
        memcpy(&word, at, sizeof word);
        h = join_word(h, word);
    }
    word = 0;
    if (n)
        memcpy(&word, at, n);
    h = join_word(h, word);
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93u;
    return h ^ h >> 29;
}
