/* The whole contract of a game: one `const struct game` of pure functions over a plain-byte state.
 *
 * A state is `state_bytes` bytes without pointers, so memcpy clones it; callers align it to 16
 * bytes, as malloc does. Chance is explicit: where mover() says GAME_CHANCE, chance() lists the
 * outcomes with their probabilities and apply() takes the one drawn. A match is therefore exactly
 * (game, version, arguments, list of actions), and it can be replayed, started from a given deal,
 * enumerated by a solver, or played again with seats swapped. Payoffs are zero-sum by construction:
 * result() is player 0's, player 1's is its negation.
 *
 * In games with free talk (say is there) a match is also the words of each turn.
 *
 * Query functions (all but init, say and apply) never write to the state. Nothing here allocates,
 * reads a clock or does input or output. Texts go to a `struct text` of the caller.
 *
 * Laws that tests hold every registered game to are listed in games/laws.h. */
#ifndef GAMES_GAME_H
#define GAMES_GAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

#define GAME_ABI 2           /* changes when anything in this file does */
#define GAME_MAX_STATE 4096  /* bytes of a state */
#define GAME_MAX_ACTIONS 512 /* legal actions, or chance outcomes, at one point */
#define GAME_MAX_PARAMS 8
#define GAME_MAX_LIST 8 /* numbers in a list parameter */
#define GAME_TEXT 4096  /* a caller's text buffer; rules and views fit in it */
#define GAME_WORD 128   /* one spelled action fits in it */
#define GAME_TALK 400   /* bytes of a player's words that the other side is told */

enum { GAME_SEAT_0 = 0, GAME_SEAT_1 = 1, GAME_CHANCE = 2, GAME_OVER = 3 };

enum game_param_type { PARAM_INT, PARAM_LIST, PARAM_BOOL };

struct game_param {
    const char *name;
    enum game_param_type type;
    int min, max;     /* of the number, or of each number of the list */
    const char *def;  /* as a user would write it: "3", "3-4-5", "true" */
    const char *help; /* one sentence */
};

/* Values of a game's parameters, in the order of its table. A list has count[i] numbers; an int or
 * a bool has one. */
struct game_args {
    int count[GAME_MAX_PARAMS];
    int value[GAME_MAX_PARAMS][GAME_MAX_LIST];
};

struct game_outcome {
    int action;
    double probability; /* the list's sum is 1 */
};

enum game_flag {
    GAME_PERFECT_INFO = 1, /* nothing hidden: both seats may know the whole state */
    GAME_NO_CHANCE = 2,    /* mover() never says GAME_CHANCE */
    GAME_HISTORY = 4,      /* the state is the way that led to it: one position has many states */
};

struct game {
    const char *name;  /* OpenSpiel's name where it has the game: kuhn_poker */
    const char *title; /* for people: Kuhn poker */
    int version;       /* raised when rules or texts change: old matches stay told apart */
    unsigned flags;
    size_t state_bytes;              /* at most GAME_MAX_STATE */
    const struct game_param *params; /* ends with a row whose name is NULL; NULL: no parameters */

    /* Optional: refuses combinations that the ranges allow (returns -1 and fills e). */
    int (*check)(const struct game_args *args, struct err *e);
    int (*max_plies)(const struct game_args *args); /* actions of one match, chance included */
    double (*unit)(const struct game_args *args); /* natural units (chips, points) of payoff 1.0 */

    void (*init)(void *state, const struct game_args *args);
    int (*mover)(const void *state); /* a seat, GAME_CHANCE or GAME_OVER */
    /* At GAME_CHANCE: fills `out` (room for GAME_MAX_ACTIONS), ascending by action; returns how
     * many. */
    int (*chance)(const void *state, struct game_outcome *out);
    /* At a seat: fills `out` (room for GAME_MAX_ACTIONS), ascending and unique; returns how many
     * (>= 1). */
    int (*legal)(const void *state, int *out);
    void (*apply)(void *state, int action); /* action is legal, or a listed outcome */
    double (*result)(const void *state);    /* at GAME_OVER: player 0's payoff, in [-1, 1] */

    /* What seat `who` is told before play. Depends on the arguments and the seat only. */
    void (*rules)(const void *state, int who, struct text *out);
    /* All that `who` may know now (perfect recall where the game is solved: equal views = one
     * information set). Ends without a newline. */
    void (*observe)(const void *state, int who, struct text *out);
    /* What `viewer` is told of `action`, about to be applied in `state` (by the mover or by
     * chance). Writes nothing where the viewer learns nothing. */
    void (*narrate)(const void *state, int action, int viewer, struct text *out);
    /* The word that a player writes for `action`; unique among the legal ones. For chance outcomes:
     * a name for the log. */
    void (*spell)(const void *state, int action, struct text *out);
    /* Optional: text to action, -1 where it is none. NULL: the legal action whose spelling it is,
     * letter case and surrounding blanks aside. Use game_parse(). */
    int (*parse)(const void *state, const char *word, size_t n);
    /* Optional: a drawing for spectators, who see everything. */
    void (*draw)(const void *state, struct text *out);
    /* Optional, in games with free talk: the words that go with the action about to be applied,
     * called right before narrate() and apply(). They are the whole reply, thinking removed, as
     * game_clean_words() leaves it (at most GAME_TALK bytes); parse() of such a game reads the same
     * whole reply, and finds the action anywhere in it. Words are shown to the other side as that
     * player's, quoted; they never change who moves, what is legal or what is paid. So a solver, or
     * whoever has nothing to say, need not call it. */
    void (*say)(void *state, const char *words, size_t n);
    /* Optional, where more is legal than a list can hold (offers): may `action`, any number, be
     * taken here by the seat to move? legal() then lists a choice of what may. */
    bool (*allows)(const void *state, int action);
};

/* ---- what can be done with any game (games/game.c) ---- */

/* Action meant by `word` in `state` (a seat to move), or -1 when it is not a legal one. */
int game_parse(const struct game *g, const void *state, const char *word, size_t n);
/* Is `action` legal (or, at a chance node, a listed outcome) here? */
bool game_is_legal(const struct game *g, const void *state, int action);
/* The outcome that the uniform number `u` in [0, 1) draws at a chance node. */
int game_draw(const struct game *g, const void *state, double u);
/* The legal actions' spellings, separated by ", ". */
void game_spell_legal(const struct game *g, const void *state, struct text *out);
/* A player's words made harmless: line ends and tabs become blanks; other control characters,
 * invisible ones and bytes that are not UTF-8 become '?'. Cut at a character's end so that they and
 * a NUL fit in `cap` bytes (GAME_TALK + 1). Returns their length. */
size_t game_clean_words(const char *in, size_t n, char *out, size_t cap);
/* Cleaned words as one quotation: "...", in which a double quote becomes a single one. */
void game_quote_words(const char *words, size_t n, struct text *out);

/* ---- the table of games (games/register.c) ---- */

const struct game *game_at(int i); /* i-th built-in, NULL past the last; ascending by name */
/* Built in, or registered from outside (games/extern/extern.h); NULL: no such game. */
const struct game *game_find(const char *name);
/* Reads "name" or "name(a=1,b=3-4-5)"; parameters not named take their defaults. On failure the
 * sentence lists what there is (games, parameters, ranges). */
int game_spec_parse(const char *spec, const struct game **g, struct game_args *args, struct err *e);
/* The arguments when none are named. -1 and e: the game's own defaults are at odds with its
 * ranges. */
int game_args_default(const struct game *g, struct game_args *args, struct err *e);
/* The canonical spelling: every parameter named, in table order: "kuhn_poker(hands=1,side=0)";
 * a game without parameters is its bare name. */
void game_spec_text(const struct game *g, const struct game_args *args, struct text *out);

#endif
