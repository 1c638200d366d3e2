/* What the matches of a run have in common, resolved once from the configuration: the games, the
 * prompt, the answer parser and the settings of design and play.
 *
 * Nearly all code is about one match, and so about one game: it takes a setup and looks at its
 * `game`. setup_view() makes such a setup for each of the run's games. */
#ifndef ARENA_SETUP_H
#define ARENA_SETUP_H

#include "base/conf.h"
#include "base/err.h"
#include "games/game.h"
#include "policy/answer.h"
#include "policy/gen.h"
#include "policy/prompt.h"

struct setup_game {
    const struct game *game;
    struct game_args args;
    char spec[256]; /* canonical game specification */
    double weight;
};

struct setup {
    const struct game *game; /* the game in view: of a loaded setup the first */
    struct game_args args;
    char spec[256];           /* canonical game specification */
    struct setup_game *games; /* [ngames] all of the run; owned */
    size_t ngames;
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
/* The same setup with game `g` in view, which need not be one of the run's. It borrows what s owns:
 * do not free it, and do not use it after s. */
struct setup setup_view(const struct setup *s, const struct setup_game *g);
/* A game of the database. -1 and e when there is no such game. */
int setup_game_parse(struct setup_game *g, const char *spec, struct err *e);

#endif
