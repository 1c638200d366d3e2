/* A match that a test plays by hand. */
#ifndef TESTS_GAMES_PLAY_H
#define TESTS_GAMES_PLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "games/game.h"

struct play {
    const struct game *g;
    struct game_args args;
    _Alignas(16) unsigned char s[GAME_MAX_STATE];
};

static inline void
play_start(struct play *p, const char *spec) {
    struct err e;
    if (game_spec_parse(spec, &p->g, &p->args, &e))
        fail_msg("%s", e.text);
    p->g->init(p->s, &p->args);
}

/* The action of a reply, -1: illegal. */
static inline int
play_read(const struct play *p, const char *reply) {
    return game_parse(p->g, p->s, reply, strlen(reply));
}

/* A reply of the seat to move, or at a chance node nothing but an outcome's name. */
static inline void
play_reply(struct play *p, const char *reply) {
    int action = play_read(p, reply);
    if (action < 0)
        fail_msg("'%s' is illegal", reply);
    p->g->apply(p->s, action);
}

/* The same with words that the other side is told. */
static inline void
play_say(struct play *p, const char *reply) {
    char words[GAME_TALK + 1];
    size_t n = game_clean_words(reply, strlen(reply), words, sizeof words);
    p->g->say(p->s, words, n);
    play_reply(p, reply);
}

static inline void
play_outcome(struct play *p, int outcome) {
    assert_int_equal(p->g->mover(p->s), GAME_CHANCE);
    assert_true(game_is_legal(p->g, p->s, outcome));
    p->g->apply(p->s, outcome);
}

/* Several replies, separated by '|'. */
static inline void
play_replies(struct play *p, const char *replies) {
    char one[200];
    for (const char *at = replies; *at;) {
        size_t n = strcspn(at, "|");
        assert_true(n < sizeof one);
        memcpy(one, at, n);
        one[n] = '\0';
        play_reply(p, one);
        at += n + (at[n] == '|');
    }
}

/* What a seat sees. The text is good until the next call. */
static inline const char *
play_view(const struct play *p, int seat) {
    static char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    p->g->observe(p->s, seat, &t);
    return at;
}

/* What a seat is told of a reply that is about to be applied. */
static inline const char *
play_told(const struct play *p, const char *reply, int seat) {
    static char at[GAME_TEXT];
    struct text t;
    int action = play_read(p, reply);
    assert_true(action >= 0);
    text_init(&t, at, sizeof at);
    p->g->narrate(p->s, action, seat, &t);
    return at;
}

static inline const char *
play_legal(const struct play *p) {
    static char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    game_spell_legal(p->g, p->s, &t);
    return at;
}

static inline void
play_pays(const struct play *p, double payoff) {
    assert_int_equal(p->g->mover(p->s), GAME_OVER);
    double got = p->g->result(p->s);
    if (got < payoff || got > payoff)
        fail_msg("player 0 gets %g, not %g", got, payoff);
}

#endif
