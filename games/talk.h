/* Help for games with free talk. What a seat said with its last action is part of the state: the
 * words come to say() clean; here they are kept, shown in quotes, and forgotten when the seat acts
 * again without saying anything. */
#ifndef GAMES_TALK_H
#define GAMES_TALK_H

#include "games/game.h"

struct talk {
    uint16_t n;     /* bytes of words; 0: nothing was said */
    uint16_t fresh; /* they go with the action about to be applied */
    char at[GAME_TALK];
};

void talk_hear(struct talk *t, const char *words, size_t n); /* in say() */
void talk_pass(struct talk *t);                              /* in apply(), of the seat that acts */
/* Do words go with the action about to be applied? */
bool talk_is_fresh(const struct talk *t);
/* The words said last: `lead`"..." and a full stop, or nothing. */
void talk_put(const struct talk *t, const char *lead, struct text *out);

/* For parse(): where `token` (in small letters) stands in a reply, whatever its letter case; NULL:
 * nowhere. */
const char *talk_find(const char *reply, size_t n, const char *token);
bool talk_is(const char *reply, size_t n, const char *token); /* nothing but the token */

#endif
