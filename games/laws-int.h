/* Inside of the law checker. Private to games/laws*.c. */
#ifndef GAMES_LAWS_INT_H
#define GAMES_LAWS_INT_H

#include "base/buf.h"
#include "base/rng.h"
#include "games/index.h"
#include "games/laws.h"

#define LAWS_GUARD 64 /* bytes behind the state that must stay as they were */

/* Everything that one call of laws_check() works with. */
struct laws {
    const struct game *g;
    const struct game_args *args;
    struct err *e;
    struct rng rng;
    int match, ply; /* where we are, for the error's sentence */
    int max_plies;
    uint64_t rules[2]; /* hashes of the rules' texts at the start of the first match */
    bool rules_known;
    struct laws_worlds *worlds;
};

/* Says which law is broken and where; returns -1. */
int laws_broken(struct laws *l, const char *law, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- one state (games/laws-state.c) ---- */

/* Checks every query function on `state`; *digest becomes a hash of all that they said. */
int laws_check_state(struct laws *l, const void *state, uint64_t *digest);

/* ---- words (games/laws-talk.c) ---- */

/* Says something in `state`, where the game has talk and a seat is to move. */
int laws_check_talk(struct laws *l, const void *state);

/* ---- what a seat was told, against what it sees (games/laws-worlds.c) ---- */

/* What one seat was told during a match: tokens separated by NUL. */
struct laws_story {
    struct buf told;
    uint64_t hash; /* of all tokens */
};

struct laws_worlds *laws_worlds_new(void);
void laws_worlds_free(struct laws_worlds *w);
void laws_story_free(struct laws_story *s);
/* The token of `action` for `seat`; empty when the seat learns nothing. */
void laws_token(const struct laws *l, const void *state, int action, int seat, struct text *out);
void laws_story_add(struct laws_story *s, const struct text *token);
/* Compares what `seat` sees in `state` with what it saw before after the same story, and the other
 * way round. */
int laws_worlds_check(struct laws *l, const void *state, int seat, const struct laws_story *s);

#endif
