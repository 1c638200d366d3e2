/* Offers as numbers and as words: what one side of a trade gives. Used by games/negotiation.c. */
#ifndef GAMES_OFFER_H
#define GAMES_OFFER_H

#include "games/game.h"

enum {
    OFFER_KINDS = 5,
    OFFER_MOST = 50, /* of each kind */
    /* Nothing; one kind; two of the five. */
    OFFER_BUNDLES = 1 + OFFER_KINDS * OFFER_MOST + 10 * OFFER_MOST * OFFER_MOST,
};

struct bundle {
    int quantity[OFFER_KINDS];
};

/* Number of a bundle of one or two kinds, from 1 up; 0: there is none. */
int bundle_number(const struct bundle *b);
struct bundle bundle_of(int number);
void bundle_put(int number, const char *const *names, struct text *out); /* 2 Wood, 1 Ore */

/* Reads "2 Wood, 1 Ore -> 3 Wheat" (other words aside) into give x OFFER_BUNDLES + ask; -1 where it
 * is no such offer of the `kinds` goods that are named. */
int offer_read(const char *at, size_t n, const char *const *names, int kinds);
/* Finds "[offer: ...]" in a reply, or "offer: ..." where that is all of it. Returns what
 * offer_read() says of the first one, 0 where there is none. */
int offer_find(const char *reply, size_t n, const char *const *names, int kinds);

#endif
