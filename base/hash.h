/* Content hashes: SHA-256 (libcrypto) names files and games; FNV-1a is for what is
 * kept or sent, the quick one for tables in memory: its values may change from build to build. */
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
/* The same piece by piece, from HASH_FNV on. */
#define HASH_FNV 0xcbf29ce484222325u
uint64_t hash_fnv_more(uint64_t h, const void *p, size_t n);
/* Eight bytes at a time. `seed` is 0, or the hash of what came before: then all of it counts. */
uint64_t hash_quick(const void *p, size_t n, uint64_t seed);

#endif
