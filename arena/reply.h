/* What a raw reply means: the one reading that matches, evaluation and verification share. In games
 * with talk the word is the whole reply without its thinking, and its words go along with the
 * action. */
#ifndef ARENA_REPLY_H
#define ARENA_REPLY_H

#include "arena/setup.h"
#include "base/buf.h"
#include "store/store.h"

struct reply {
    enum turn_verdict verdict;
    int action;       /* -1 unless the verdict is OK */
    const char *word; /* in `room`, valid until its next change; NULL: none */
    size_t nword;     /* without the NUL behind it */
};

/* Reads text[0..n), the reply of the seat to move in `state`, appending the word to `room`. */
struct reply reply_read(const struct setup *s, const void *state, const char *text, size_t n,
                        bool cut, struct buf *room);
/* Tells a game with talk the words of a reply that was read as OK: right before its action is
 * narrated and applied. */
void reply_say(const struct setup *s, void *state, const char *word, size_t n);

#endif
