/* A hash table from 64-bit hashes to numbers, several per hash: the caller keeps the things and
 * compares them. Grows with use; never shrinks or forgets. */
#ifndef GAMES_INDEX_H
#define GAMES_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_slot {
    uint64_t hash;
    uint64_t value; /* + 1; 0 = empty */
};

struct index {
    struct index_slot *slot; /* owned; NULL while empty */
    size_t mask, used;
};

void index_free(struct index *x);
void index_add(struct index *x, uint64_t hash, uint64_t value);
/* Walks the values that were added under `hash`: start with *at = SIZE_MAX. */
bool index_next(const struct index *x, uint64_t hash, size_t *at, uint64_t *value);

#endif
