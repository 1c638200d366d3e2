/* A person plays a match. cmd-play.c knows how a match goes, a face is how it reaches the person:
 * the terminal (cmd-play.c itself), or lines of JSON for the server's page (play-json.c). */
#ifndef CLI_PLAY_H
#define CLI_PLAY_H

#include "arena/setup.h"
#include "cli/run.h"
#include "policy/player.h"

enum play_step { PLAY_ON, PLAY_LEFT, PLAY_FORFEIT };

struct play;

struct play_face {
    void (*greet)(const struct play *p, long long seed); /* and the rules */
    void (*tell)(const char *text, size_t n);            /* what the person's seat is told */
    enum play_step (*move)(struct play *p);    /* the person's turn: ends in play_apply() */
    void (*slip)(const char *reply, size_t n); /* the opponent's reply is no legal move */
    void (*result)(const struct play *p, double result, bool forfeit); /* seat 0's payoff */
};

extern const struct play_face play_json;
/* For the JSON face: whatever ends the program before the match has ended. */
void play_json_error(const struct err *e);

struct play {
    const struct play_face *face;
    struct run run;
    struct setup setup;
    bool ready; /* setup is loaded */
    int me;     /* the person's seat */
    struct store_policy opponent;
    struct model *model; /* of the opponent; NULL: scripted */
    struct gen *gen;
    int slot; /* -1: none open */
    struct player *player;
    struct rng deal;
    int turns;          /* the opponent's so far */
    int forgiven;       /* its invalid replies in a row */
    struct buf history; /* what it has been told; the unread part starts at `news` */
    size_t news;
    _Alignas(16) unsigned char state[GAME_MAX_STATE];
};

/* Tells the person and the opponent of an action and the words that go with it, and applies it. */
void play_apply(struct play *p, int action, const char *words);

#endif
