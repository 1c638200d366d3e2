/* Content hashes: SHA-256 (libcrypto) names files and games; FNV-1a is for tables in memory. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_HEX 65 /* 64 hexadecimal digits and the NUL */

struct hash; /* SHA-256 in progress */
struct hash *hash_new(void);
void hash_add(struct hash *h, const void *p, size_t n);
void hash_end(struct hash *h, char hex[HASH_HEX]); /* also frees h */

void hash_hex(const void *p, size_t n, char hex[HASH_HEX]);
uint64_t hash_fnv(const void *p, size_t n);

#endif
