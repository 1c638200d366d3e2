#include "arena/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TIMES 100
#define LATE_TIMES 500
#define SHARE 40          /* the part of a thread that making may take */
#define SAVINGS_US 200000 /* most, of time not taken */

struct kept {
    size_t bytes;
    int64_t left_us, seen_us; /* what making may take still; when that was reckoned */
    struct kept_answer answer[KEPT_ANSWERS];
};

static void
clear(struct kept *k, struct kept_answer *a) {
    k->bytes -= a->body.len;
    free(a->key);
    buf_free(&a->body);
    *a = (struct kept_answer){0};
}

static struct kept_answer *
find(const struct kept *k, const char *key) {
    for (int i = 0; i < KEPT_ANSWERS; i++)
        if (k->answer[i].key && !strcmp(k->answer[i].key, key))
            return (struct kept_answer *)&k->answer[i];
    return NULL;
}

/* A free place; the oldest answers make room. */
static struct kept_answer *
place(struct kept *k, size_t bytes) {
    for (;;) {
        struct kept_answer *oldest = NULL, *free_one = NULL;
        for (int i = 0; i < KEPT_ANSWERS; i++) {
            struct kept_answer *a = &k->answer[i];
            if (!a->key)
                free_one = a;
            else if (!oldest || a->made_us < oldest->made_us)
                oldest = a;
        }
        if (free_one && k->bytes + bytes <= KEPT_BYTES)
            return free_one;
        clear(k, oldest);
    }
}

struct kept *
kept_new(void) {
    return mem_zero(1, sizeof(struct kept));
}

void
kept_free(struct kept *k) {
    if (k)
        kept_forget(k);
    free(k);
}

static int64_t
clamp(int64_t v, int64_t least, int64_t most) {
    return v < least ? least : v > most ? most : v;
}

static bool
may_make(struct kept *k, int64_t now_us) {
    k->left_us = clamp(k->left_us + (now_us - k->seen_us) / SHARE, -SAVINGS_US, SAVINGS_US);
    k->seen_us = now_us;
    return k->left_us > 0;
}

const struct kept_answer *
kept_find(struct kept *k, const char *key, int64_t now_us, bool *anew) {
    const struct kept_answer *a = find(k, key);
    bool may = may_make(k, now_us);
    int64_t until = a ? a->late_us : 0;
    if (a && !may && until < a->good_us + KEPT_OLD_US)
        until = a->good_us + KEPT_OLD_US;
    if (now_us >= until)
        a = NULL;
    *anew = !a || (may && now_us >= a->good_us);
    return a;
}

void
kept_add(struct kept *k, const char *key, int64_t began_us, int64_t now_us, const struct buf *body,
         const char *tag, bool zipped) {
    int64_t took = now_us - began_us;
    struct kept_answer *a = find(k, key);
    k->left_us -= took;
    if (a)
        clear(k, a);
    if (body->len > KEPT_ONE_BYTES)
        return;
    a = place(k, body->len);
    a->key = mem_text(key);
    buf_add(&a->body, body->at, body->len);
    k->bytes += body->len;
    snprintf(a->tag, sizeof a->tag, "%s", tag);
    a->zipped = zipped;
    a->made_us = now_us;
    a->good_us = now_us + clamp(TIMES * took, KEPT_LEAST_US, KEPT_MOST_US);
    a->late_us = a->good_us + clamp(LATE_TIMES * took, KEPT_LATE_LEAST_US, KEPT_LATE_MOST_US);
}

void
kept_forget(struct kept *k) {
    for (int i = 0; i < KEPT_ANSWERS; i++)
        if (k->answer[i].key)
            clear(k, &k->answer[i]);
}
