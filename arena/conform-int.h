/* Inside of the conformance checker. Private to arena/conform*.c. */
#ifndef ARENA_CONFORM_INT_H
#define ARENA_CONFORM_INT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "games/game.h"

#define CONFORM_WORD 64 /* a word that reading makes of a reply fits in it */

/* "[shown]" in a reply stands for our `word`. */
struct conform_token {
    const char *shown, *word;
};

/* A match that is left out, and why. */
struct conform_fault {
    const char *style; /* of the match */
    const char *reason;
};

struct conform_env {
    const char *name, *spec; /* the environment, and our game with the same rules */
    const char *params;      /* JSON: what it must have been recorded with */

    /* A reply without brackets is put into brackets first. */
    bool bare;
    /* Reads a reply as the original does: what it says, as a word for game_parse(), goes to `out`.
     * False: nothing. NULL: the reply itself is the word, or talk where it has no brackets. */
    bool (*read)(const struct conform_env *c, const char *reply, struct text *out);
    /* For read_tokens(): the table, which ends with a row of NULL. The first token of the reply
     * counts, or with `ranked` the first of the table. */
    const struct conform_token *tokens;
    bool ranked;
    /* For read_numbers(): how many stand in a bracket, with an optional word before them; whether
     * [ 3 ] is read; whether the last bracket counts, not the first. */
    int numbers;
    const char *before;
    bool inner_blanks, last;

    /* The outcome of ours that a recorded draw means, -1: none. NULL: nothing is drawn. */
    int (*outcome)(const struct game *g, const void *state, long long draw);
    /* Puts the deal of `match` into out[], as outcomes of ours; returns how many there are, -1
     * where our game cannot have it. NULL: the draws of "chance", by outcome(). */
    int (*deal)(const json_t *match, int *out, int room);

    /* Where the original is odd. */
    bool idle;   /* it asks for one reply more, which changes nothing any more */
    bool dies;   /* an illegal reply counts as legal, and loses at once */
    bool passes; /* in the last turn an illegal reply counts as passing */
    bool cheap;  /* the other seat gets 0 for an illegal reply, not 1 */
    const struct conform_fault *faults; /* ends with a row of NULL; NULL: none */
};

extern const struct conform_env conform_envs[]; /* ends with a row without a name */

#endif
