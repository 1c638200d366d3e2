/* Growth of the arrays, and the hash of children (open addressing, linear probing). */
#include "policy/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { FREE_ID = -1, NO_PARENT = -2 };

void
tree_free(struct tree *t) {
    free(t->token);
    free(t->parent);
    free(t->depth);
    free(t->chain);
    free(t->slot);
    *t = (struct tree){.blocks = t->blocks};
}

void
tree_clear(struct tree *t) {
    t->n = t->used = 0;
    if (t->slot)
        memset(t->slot, 0xff, t->slots * sizeof *t->slot);
}

static size_t
hash(int32_t parent, int32_t token) {
    uint64_t z = ((uint64_t)(uint32_t)parent << 32 | (uint32_t)token) * 0x9E3779B97F4A7C15u;
    return (size_t)(z ^ z >> 29);
}

/* Is `child` a node, next to its parent, with this token? */
static bool
is_neighbour(const struct tree *t, int32_t child, int32_t parent, int32_t token) {
    return (size_t)child < t->n && t->token[child] == token && t->parent[child] == parent;
}

int32_t
tree_find(const struct tree *t, int32_t parent, int32_t token) {
    if (is_neighbour(t, parent + 1, parent, token))
        return parent + 1;
    if (!t->used)
        return -1;
    for (size_t i = hash(parent, token) & (t->slots - 1);; i = (i + 1) & (t->slots - 1)) {
        int32_t id = t->slot[i];
        if (id < 0 || (t->parent[id] == parent && t->token[id] == token))
            return id;
    }
}

static void
hash_put(struct tree *t, int32_t id) {
    size_t i = hash(t->parent[id], t->token[id]) & (t->slots - 1);
    while (t->slot[i] >= 0)
        i = (i + 1) & (t->slots - 1);
    t->slot[i] = id;
    t->used++;
}

static void
hash_grow(struct tree *t) {
    int32_t *old = t->slot;
    size_t n = t->slots;
    t->slots = n ? n * 2 : 256;
    t->slot = mem_alloc(t->slots * sizeof *t->slot);
    memset(t->slot, 0xff, t->slots * sizeof *t->slot);
    t->used = 0;
    for (size_t i = 0; i < n; i++)
        if (old[i] >= 0)
            hash_put(t, old[i]);
    free(old);
}

static void
room(struct tree *t, size_t n) {
    if (n <= t->cap)
        return;
    ensure(n < INT32_MAX / 2);
    size_t cap = t->cap ? t->cap : 256;
    while (cap < n)
        cap *= 2;
    t->token = mem_grow(t->token, cap, sizeof *t->token);
    t->parent = mem_grow(t->parent, cap, sizeof *t->parent);
    t->depth = mem_grow(t->depth, cap, sizeof *t->depth);
    t->chain = mem_grow(t->chain, cap, sizeof *t->chain);
    t->cap = cap;
}

/* Sets one new id, or a block of them, aside. Returns the first. */
static int32_t
set_aside(struct tree *t) {
    size_t first = t->n, more = t->blocks ? TREE_BLOCK : 1;
    room(t, first + more);
    for (size_t i = first; i < first + more; i++) {
        t->token[i] = FREE_ID;
        t->parent[i] = NO_PARENT;
        t->depth[i] = t->chain[i] = 0;
    }
    t->n += more;
    return (int32_t)first;
}

/* An id for a new child of `parent`: its neighbour when that is free, else a new one (which is the
 * neighbour, too, when the parent was the last). */
static int32_t
new_id(struct tree *t, int32_t parent) {
    size_t next = (size_t)(parent + 1);
    if (next && next < t->n && t->token[next] == FREE_ID && next % TREE_BLOCK)
        return (int32_t)next;
    return set_aside(t);
}

int32_t
tree_child(struct tree *t, int32_t parent, int32_t token) {
    int32_t id = tree_find(t, parent, token);
    if (id >= 0)
        return id;
    id = new_id(t, parent);
    bool next = id == parent + 1;
    t->token[id] = token;
    t->parent[id] = parent;
    t->depth[id] = parent < 0 ? 0 : t->depth[parent] + 1;
    t->chain[id] = next && parent >= 0 ? t->chain[parent] : id;
    if (!next) {
        if ((t->used + 1) * 2 > t->slots)
            hash_grow(t);
        hash_put(t, id);
    }
    return id;
}
