#include "arena/kept.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TIMES 10
#define LATE_US 1000000

struct answer {
    char *key; /* NULL: a free place */
    struct buf body;
    char tag[KEPT_TAG];
    bool zipped, making;
    int64_t made_us, good_us; /* good_us: until then */
};

struct kept {
    pthread_mutex_t lock;
    int64_t forgot_us; /* what was begun before is not kept */
    struct answer answer[KEPT_MOST];
};

static void
clear(struct answer *a) {
    free(a->key);
    buf_free(&a->body);
    *a = (struct answer){0};
}

static struct answer *
find(struct kept *k, const char *key) {
    for (int i = 0; i < KEPT_MOST; i++)
        if (k->answer[i].key && !strcmp(k->answer[i].key, key))
            return &k->answer[i];
    return NULL;
}

/* A free place, or that of the oldest answer. */
static struct answer *
place(struct kept *k) {
    struct answer *oldest = &k->answer[0];
    for (int i = 0; i < KEPT_MOST && oldest->key; i++)
        if (!k->answer[i].key || k->answer[i].made_us < oldest->made_us)
            oldest = &k->answer[i];
    clear(oldest);
    return oldest;
}

struct kept *
kept_new(void) {
    struct kept *k = mem_zero(1, sizeof *k);
    pthread_mutex_init(&k->lock, NULL);
    return k;
}

void
kept_free(struct kept *k) {
    if (!k)
        return;
    for (int i = 0; i < KEPT_MOST; i++)
        clear(&k->answer[i]);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

bool
kept_find(struct kept *k, const char *key, int64_t now_us, struct buf *body, char tag[KEPT_TAG],
          bool *zipped) {
    pthread_mutex_lock(&k->lock);
    struct answer *a = find(k, key);
    bool good = a && now_us < a->good_us + (a->making ? LATE_US : 0);
    if (good) {
        buf_add(body, a->body.at, a->body.len);
        snprintf(tag, KEPT_TAG, "%s", a->tag);
        *zipped = a->zipped;
    } else if (a) {
        a->making = true;
    }
    pthread_mutex_unlock(&k->lock);
    return good;
}

void
kept_add(struct kept *k, const char *key, int64_t began_us, int64_t now_us, const struct buf *body,
         const char *tag, bool zipped) {
    pthread_mutex_lock(&k->lock);
    struct answer *a = find(k, key);
    if (a)
        clear(a);
    if (body->len <= KEPT_BYTES_MOST && began_us >= k->forgot_us) {
        a = place(k);
        a->key = mem_text(key);
        buf_add(&a->body, body->at, body->len);
        snprintf(a->tag, sizeof a->tag, "%s", tag);
        a->zipped = zipped;
        a->made_us = now_us;
        a->good_us = now_us + TIMES * (now_us - began_us);
    }
    pthread_mutex_unlock(&k->lock);
}

void
kept_fail(struct kept *k, const char *key) {
    pthread_mutex_lock(&k->lock);
    struct answer *a = find(k, key);
    if (a)
        clear(a);
    pthread_mutex_unlock(&k->lock);
}

void
kept_forget(struct kept *k, int64_t now_us) {
    pthread_mutex_lock(&k->lock);
    k->forgot_us = now_us;
    for (int i = 0; i < KEPT_MOST; i++)
        clear(&k->answer[i]);
    pthread_mutex_unlock(&k->lock);
}
