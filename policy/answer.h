/* From a raw reply to the action's word: named parsers, one table. `<think>...</think>` is removed
 * first (an unclosed <think> swallows all that follows). */
#ifndef POLICY_ANSWER_H
#define POLICY_ANSWER_H

#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

struct answer {
    const char *name; /* bracket | boxed | line | whole */
    const char *help;
    /* Finds the word in reply[0..n): returns its start and sets *len; NULL: there is none. */
    const char *(*find)(const char *reply, size_t n, size_t *len);
    const char *before, *after; /* how a player that wants to say `word` writes it */
};

const struct answer *answer_at(int i);                             /* NULL past the last */
const struct answer *answer_find(const char *name, struct err *e); /* NULL: e lists the names */
/* Extracts the word of a raw reply into `word` (thinking removed, blanks trimmed, one pair of
 * brackets stripped by `line` and `whole` neither). Returns 0, or -1 when there is no word. */
int answer_extract(const struct answer *a, const char *reply, size_t n, struct text *word);
void answer_write(const struct answer *a, const char *word, struct text *reply);

#endif
