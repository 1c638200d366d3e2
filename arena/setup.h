/* What every match of a run has in common, resolved once from the configuration: the game, the
 * prompt, the answer parser and the settings of design and play. */
#ifndef ARENA_SETUP_H
#define ARENA_SETUP_H

#include "base/conf.h"
#include "base/err.h"
#include "games/game.h"
#include "policy/answer.h"
#include "policy/gen.h"
#include "policy/prompt.h"

struct setup {
    const struct game *game;
    struct game_args args;
    char spec[256]; /* canonical game specification */
    uint64_t seed;
    struct prompt *prompt; /* owned */
    const struct answer *answer;
    struct gen_head head;
    struct model_config model;
    int max_reply; /* tokens */
    int retries;   /* invalid replies forgiven in a row */
    int max_turns; /* 0: the game's own limit */
    bool spiral;   /* an invalid reply pays -1.5/+0.5 instead of -1/+1 */
};

/* -1 and e (naming the option) when the options do not fit together. */
int setup_load(struct setup *s, const struct conf *c, struct err *e);
void setup_free(struct setup *s);

#endif
