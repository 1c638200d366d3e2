#include "games/extern/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct cache_entry *
cache_find(const struct cache *c, uint64_t key) {
    uint64_t i;
    for (size_t at = SIZE_MAX; index_next(&c->index, key, &at, &i);)
        return &c->at[i];
    return NULL;
}

struct cache_entry *
cache_add(struct cache *c, uint64_t key, struct scene *s) {
    if (c->count == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 64;
        c->at = mem_grow(c->at, c->cap, sizeof c->at[0]);
    }
    index_add(&c->index, key, c->count);
    struct cache_entry *x = &c->at[c->count++];
    *x = (struct cache_entry){.key = key, .scene = s};
    c->bytes += s->bytes + sizeof *x + 2 * sizeof(struct index_slot);
    return x;
}

void
cache_replace(struct cache *c, struct cache_entry *x, struct scene *s) {
    c->bytes += s->bytes - x->scene->bytes;
    free(x->scene);
    free(x->why);
    *x = (struct cache_entry){.key = x->key, .scene = s, .branched = x->branched};
}

void
cache_free(struct cache *c) {
    for (size_t i = 0; i < c->count; i++) {
        free(c->at[i].scene);
        free(c->at[i].why);
    }
    free(c->at);
    index_free(&c->index);
    *c = (struct cache){0};
}

void
cache_trim(struct cache *c, size_t most_bytes) {
    if (c->bytes > most_bytes)
        cache_free(c);
}

/* ---- free texts ---- */

const char *
texts_find(const struct texts *t, uint64_t key, size_t *n) {
    uint64_t i;
    for (size_t at = SIZE_MAX; index_next(&t->index, key, &at, &i);) {
        *n = t->at[i].n;
        return t->at[i].text;
    }
    return NULL;
}

bool
texts_add(struct texts *t, uint64_t key, const char *text, size_t n) {
    size_t had;
    const char *old = texts_find(t, key, &had);
    if (old)
        return had == n && memcmp(old, text, n) == 0;
    if (t->bytes > TEXTS_MOST)
        texts_free(t);
    if (t->count == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->at = mem_grow(t->at, t->cap, sizeof t->at[0]);
    }
    char *copy = mem_alloc(n + 1);
    memcpy(copy, text, n);
    copy[n] = '\0';
    index_add(&t->index, key, t->count);
    t->at[t->count++] = (struct texts_entry){copy, n};
    t->bytes += n + 64;
    return true;
}

void
texts_free(struct texts *t) {
    for (size_t i = 0; i < t->count; i++)
        free(t->at[i].text);
    free(t->at);
    index_free(&t->index);
    *t = (struct texts){0};
}
