/* Open addressing with linear probing, at most half full. */
#include "games/index.h"

#include <stdlib.h>

#include "base/mem.h"

void
index_free(struct index *x) {
    free(x->slot);
    *x = (struct index){0};
}

static size_t
home(const struct index *x, uint64_t hash) {
    return (size_t)(hash ^ hash >> 32) & x->mask;
}

static void
place(struct index *x, struct index_slot s) {
    size_t at = home(x, s.hash);
    while (x->slot[at].value)
        at = (at + 1) & x->mask;
    x->slot[at] = s;
}

static void
grow(struct index *x) {
    struct index old = *x;
    size_t size = old.slot ? 2 * (old.mask + 1) : 256;
    x->slot = mem_zero(size, sizeof x->slot[0]);
    x->mask = size - 1;
    for (size_t i = 0; old.slot && i <= old.mask; i++)
        if (old.slot[i].value)
            place(x, old.slot[i]);
    free(old.slot);
}

void
index_add(struct index *x, uint64_t hash, uint64_t value) {
    if (!x->slot || 2 * (x->used + 1) > x->mask + 1)
        grow(x);
    place(x, (struct index_slot){hash, value + 1});
    x->used++;
}

bool
index_next(const struct index *x, uint64_t hash, size_t *at, uint64_t *value) {
    if (!x->slot)
        return false;
    size_t i = *at == SIZE_MAX ? home(x, hash) : (*at + 1) & x->mask;
    while (x->slot[i].value && x->slot[i].hash != hash)
        i = (i + 1) & x->mask;
    if (!x->slot[i].value)
        return false;
    *at = i;
    *value = x->slot[i].value - 1;
    return true;
}
