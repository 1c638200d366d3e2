/* What a program has said of the positions met so far, found again by a 64-bit key of the way
 * that led there. Bounded: cache_trim() forgets everything when it has grown too big, and since
 * a position's state is its whole history, whatever is needed again is asked for again. */
#ifndef GAMES_EXTERN_CACHE_H
#define GAMES_EXTERN_CACHE_H

#include "games/extern/message.h"
#include "games/index.h"

struct cache_entry {
    uint64_t key;
    struct scene *scene; /* owned */
    bool branched;       /* a position behind it was asked for before */
    /* Of a scene that stands for a failure: */
    int fault;      /* enum game_fault_kind */
    char *why;      /* owned; NULL: the scene is the program's own */
    uint64_t epoch; /* when it failed */
};

struct cache {
    struct cache_entry *at; /* owned */
    size_t count, cap, bytes;
    struct index index;
};

/* Entries stay where they are until the next cache_add() or cache_trim(). */
struct cache_entry *cache_find(const struct cache *c, uint64_t key);
struct cache_entry *cache_add(struct cache *c, uint64_t key,
                              struct scene *s); /* takes s; key is new */
void cache_replace(struct cache *c, struct cache_entry *x, struct scene *s);
void cache_trim(struct cache *c, size_t most_bytes);
void cache_free(struct cache *c);

/* Free texts that were played, by the key of the position behind each: a position's state holds
 * a number for each of them. They are kept longer than scenes, since no program can tell them
 * again. */
#define TEXTS_MOST (64u << 20)

struct texts_entry {
    char *text; /* owned */
    size_t n;
};

struct texts {
    struct texts_entry *at; /* owned */
    size_t count, cap, bytes;
    struct index index;
};

const char *texts_find(const struct texts *t, uint64_t key, size_t *n); /* NULL: not known */
/* False when another text has this key already. */
bool texts_add(struct texts *t, uint64_t key, const char *text, size_t n);
void texts_free(struct texts *t);

#endif
