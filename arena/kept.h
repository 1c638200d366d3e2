/* Answers that are kept for a moment, so that many who look at the same page cost as much as one.
 * An answer is good for ten times as long as it took to make: what is cheap is always fresh, and
 * what is dear takes a tenth of a thread at the most. While somebody makes it anew, others get the
 * old one for a second more. Any thread may call all of these. */
#ifndef ARENA_KEPT_H
#define ARENA_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define KEPT_MOST 64              /* answers */
#define KEPT_BYTES_MOST (1 << 20) /* of one; longer ones are not kept */
#define KEPT_TAG 40

struct kept; /* opaque */

struct kept *kept_new(void);
void kept_free(struct kept *k); /* NULL is fine */
/* Appends the answer of `key` to body and fills tag and zipped: true. False: there is none, the
 * caller makes it, and calls kept_add() or kept_fail(). */
bool kept_find(struct kept *k, const char *key, int64_t now_us, struct buf *body,
               char tag[KEPT_TAG], bool *zipped);
void kept_add(struct kept *k, const char *key, int64_t began_us, int64_t now_us,
              const struct buf *body, const char *tag, bool zipped);
void kept_fail(struct kept *k, const char *key); /* it could not be made */
/* All of them, and those that are being made: something was changed. */
void kept_forget(struct kept *k, int64_t now_us);

#endif
