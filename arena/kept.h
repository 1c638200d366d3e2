/* Answers that are kept for a moment, so that many who look at the same page cost as much as one.
 * An answer is good for a hundred times as long as it took to make, at least for KEPT_LEAST_US and
 * at most for KEPT_MOST_US. For some time more, five times as long within the limits of
 * KEPT_LATE_LEAST_US and KEPT_LATE_MOST_US, it is given to those who ask while it is made anew, so
 * that few wait for what many look at. All making together may take a fortieth of a thread: where
 * so much is looked at that it would take more, answers grow older, up to KEPT_OLD_US beyond what
 * is good. */
#ifndef ARENA_KEPT_H
#define ARENA_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define KEPT_LEAST_US 1000000
#define KEPT_MOST_US 10000000
#define KEPT_LATE_LEAST_US 1000000
#define KEPT_LATE_MOST_US 60000000
#define KEPT_OLD_US 10000000
#define KEPT_ANSWERS 128
#define KEPT_BYTES (32 << 20)    /* of all */
#define KEPT_ONE_BYTES (1 << 20) /* of one; longer ones are not kept */
#define KEPT_TAG 40

struct kept_answer {
    char *key; /* NULL: a free place */
    struct buf body;
    char tag[KEPT_TAG];
    bool zipped;
    int64_t made_us, good_us, late_us; /* good_us, late_us: until then */
};

struct kept; /* opaque */

struct kept *kept_new(void);
void kept_free(struct kept *k); /* NULL is fine */
/* The answer that serves now; NULL: there is none, it has to be made. Valid until another one is
 * added. *anew: it should be made anew for those who ask later. */
const struct kept_answer *kept_find(struct kept *k, const char *key, int64_t now_us, bool *anew);
/* Keeps a copy, in place of an older one. */
void kept_add(struct kept *k, const char *key, int64_t began_us, int64_t now_us,
              const struct buf *body, const char *tag, bool zipped);
void kept_forget(struct kept *k); /* all of them: something was changed */

#endif
