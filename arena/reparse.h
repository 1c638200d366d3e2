/* What another answer parser would have made of recorded replies: each reply is read again, in the
 * position in which it was given, and the first reply of a match that means something else tells
 * what would have become of the match. Nothing is played: what other moves would have led to is
 * not known. */
#ifndef ARENA_REPARSE_H
#define ARENA_REPARSE_H

#include "arena/setup.h"
#include "store/store.h"

enum reparse_outcome {
    REPARSE_SAME,       /* every reply means what it meant */
    REPARSE_FORFEIT,    /* a reply means nothing now: its seat loses there */
    REPARSE_ASK_AGAIN,  /* the same, but match.retries forgives it */
    REPARSE_GO_ON,      /* the reply that lost the match means something now */
    REPARSE_OTHER_MOVE, /* a reply means another action (or says other words) */
    REPARSE_DAMAGED,    /* the record cannot be replayed */
    REPARSE_OUTCOMES
};
const char *reparse_outcome_name(enum reparse_outcome o); /* "same", "forfeit", "ask again", ... */

struct reparse_change { /* a reply whose verdict, action or word differs; valid during the call */
    int64_t match;
    int turn;
    const struct store_turn *before;
    enum turn_verdict verdict;
    int action;
    const char *word; /* NULL: none */
};

struct reparse_match {
    enum reparse_outcome outcome; /* of the first reply that changes the course of the match */
    int turn;                     /* which one that is; -1 */
    double result;                /* seat 0's, as it would be; as recorded where nobody knows */
};

struct reparse; /* opaque */

/* Both are borrowed. tell() is called for every reply that differs. */
struct reparse *reparse_new(const struct setup *s, const struct answer *answer,
                            void (*tell)(void *arg, const struct reparse_change *), void *arg);
void reparse_free(struct reparse *r);
/* m is a match of the setup's game. */
struct reparse_match reparse_match(struct reparse *r, const struct store_match *m);

#endif
