/* Speed of the rules alone and with all their texts, random play on one thread.
 *
 * "rules" draws a random legal action and applies it. "text" does at every action what a match with
 * a language model needs: the rules and the view for the mover, the chosen word, reading that word
 * back, and the narrations for both seats. Chance actions count as actions too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "games/game.h"

/* TextArena 0.7.3, TicTacToe, random play with text in one process. */
#define TEXTARENA_TIC_TAC_TOE 43000.0

struct bench {
    const struct game *g;
    struct game_args args;
    struct rng rng;
    uint64_t bytes; /* of text; also keeps the work from being optimised away */
};

static int
choose(struct bench *b, const void *s, int mover) {
    if (mover == GAME_CHANCE)
        return game_draw(b->g, s, rng_unit(&b->rng));
    int legal[GAME_MAX_ACTIONS];
    int n = b->g->legal(s, legal);
    return legal[rng_below(&b->rng, (uint32_t)n)];
}

static long
play(struct bench *b) {
    _Alignas(16) unsigned char s[GAME_MAX_STATE];
    long plies = 0;
    b->g->init(s, &b->args);
    for (int mover; (mover = b->g->mover(s)) != GAME_OVER; plies++)
        b->g->apply(s, choose(b, s, mover));
    b->bytes += b->g->result(s) > 0;
    return plies;
}

static int
speak(struct bench *b, const void *s, int mover, int action) {
    char at[GAME_TEXT], word[GAME_WORD];
    struct text t;
    if (mover != GAME_CHANCE) {
        text_init(&t, at, sizeof at);
        b->g->rules(s, mover, &t);
        b->bytes += t.len;
        text_init(&t, at, sizeof at);
        b->g->observe(s, mover, &t);
        b->bytes += t.len;
        text_init(&t, word, sizeof word);
        b->g->spell(s, action, &t);
        b->bytes += t.len;
        action = game_parse(b->g, s, word, t.len);
    }
    for (int seat = 0; seat < 2; seat++) {
        text_init(&t, at, sizeof at);
        b->g->narrate(s, action, seat, &t);
        b->bytes += t.len;
    }
    return action;
}

static long
play_with_text(struct bench *b) {
    _Alignas(16) unsigned char s[GAME_MAX_STATE];
    long plies = 0;
    b->g->init(s, &b->args);
    for (int mover; (mover = b->g->mover(s)) != GAME_OVER; plies++)
        b->g->apply(s, speak(b, s, mover, choose(b, s, mover)));
    return plies;
}

/* Actions per second: the best of three runs, which other load disturbs least. */
static double
measure(struct bench *b, long (*one)(struct bench *), double seconds) {
    double best = 0;
    for (int run = 0; run < 3; run++) {
        long plies = 0;
        double start = (double)clock_mono_us() / 1e6, now;
        do {
            for (int i = 0; i < 200; i++)
                plies += one(b);
            now = (double)clock_mono_us() / 1e6;
        } while (now - start < seconds);
        double speed = (double)plies / (now - start);
        best = speed > best ? speed : best;
    }
    return best;
}

int
main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 0.3;
    struct bench b = {0};
    struct err e;
    double tic_tac_toe = 0;
    for (int i = 0; game_at(i); i++) {
        if (game_spec_parse(game_at(i)->name, &b.g, &b.args, &e)) {
            fprintf(stderr, "%s\n", e.text);
            return 1;
        }
        rng_init(&b.rng, 1, 1, RNG_TEST);
        double rules = measure(&b, play, seconds), text = measure(&b, play_with_text, seconds);
        printf("%-14s rules only %12.0f actions/s\n", b.g->name, rules);
        printf("%-14s with text  %12.0f actions/s\n", b.g->name, text);
        if (strcmp(b.g->name, "tic_tac_toe") == 0)
            tic_tac_toe = text;
    }
    printf("tic_tac_toe    with text  %12.0f times TextArena's %.0f actions/s\n",
           tic_tac_toe / TEXTARENA_TIC_TAC_TOE, TEXTARENA_TIC_TAC_TOE);
    return b.bytes == 0;
}
