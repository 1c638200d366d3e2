#include "base/hash.h"

#include <openssl/evp.h>

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
hash_fnv(const void *p, size_t n) {
    const unsigned char *at = p;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ at[i]) * 0x100000001b3u;
    return h;
}
