/* Speed of the rules alone and with all their texts, random play on one thread:
 * bench_rules [SECONDS [GAME...]], a game with its parameters as usual; all with their defaults.
 *
 * "rules" draws a random legal action and applies it; chance actions count as actions too. "text"
 * plays whole matches as with a language model: the rules and the view for the mover, its reply
 * read as raw text, what it says told, and the narrations for both seats. The replies, legal ones
 * drawn at random, with a sentence before them in games with talk, are written beforehand: a match
 * does not make them. Only replies count there. Times are the processor's, of this thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/rng.h"
#include "games/game.h"
#include "policy/answer.h"

/* TextArena 0.7.3, TicTacToe, random play with text in one process. */
#define TEXTARENA_TIC_TAC_TOE 43000.0
/* What everybody says in games with talk; bench_rules_others.py says it too. */
#define SENTENCE "I have thought about this for a while and here is what I want to do now. "

enum { MATCHES = 64 };

/* One action of a match that was written down. */
struct ply {
    int action;
    size_t at, n; /* the reply in bench.said; of chance: none */
};

struct bench {
    const struct game *g;
    struct game_args args;
    struct rng rng;
    const struct answer *answer;
    struct buf plies; /* struct ply each, of MATCHES matches */
    struct buf said;
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

/* ---- with texts ---- */

static void
write_reply(struct bench *b, const void *s, struct ply *p) {
    char word[GAME_WORD];
    struct text t;
    text_init(&t, word, sizeof word);
    b->g->spell(s, p->action, &t);
    p->at = b->said.len;
    buf_fmt(&b->said, "%s[%s]", b->g->say ? SENTENCE : "", word);
    p->n = b->said.len - p->at;
}

static void
write_matches(struct bench *b) {
    for (int i = 0; i < MATCHES; i++) {
        _Alignas(16) unsigned char s[GAME_MAX_STATE];
        b->g->init(s, &b->args);
        for (int mover; (mover = b->g->mover(s)) != GAME_OVER;) {
            struct ply p = {.action = choose(b, s, mover)};
            if (mover != GAME_CHANCE)
                write_reply(b, s, &p);
            buf_add(&b->plies, &p, sizeof p);
            b->g->apply(s, p.action);
        }
    }
}

static void
show(struct bench *b, const void *s, int mover) {
    char at[GAME_TEXT];
    struct text t;
    text_init(&t, at, sizeof at);
    b->g->rules(s, mover, &t);
    b->bytes += t.len;
    text_init(&t, at, sizeof at);
    b->g->observe(s, mover, &t);
    b->bytes += t.len;
}

/* The action of a reply, whose words are told; as arena/reply.h does it. */
static int
hear(struct bench *b, void *s, const struct ply *p) {
    char word[GAME_TEXT], clean[GAME_TALK + 1];
    struct text t;
    text_init(&t, word, sizeof word);
    if (answer_extract(b->answer, (const char *)b->said.at + p->at, p->n, &t) < 0)
        return -1;
    int action = game_parse(b->g, s, word, t.len);
    if (b->g->say)
        b->g->say(s, clean, game_clean_words(word, t.len, clean, sizeof clean));
    return action;
}

static void
tell(struct bench *b, const void *s, int action) {
    for (int seat = 0; seat < 2; seat++) {
        char at[GAME_TEXT];
        struct text t;
        text_init(&t, at, sizeof at);
        b->g->narrate(s, action, seat, &t);
        b->bytes += t.len;
    }
}

/* All matches that were written down. */
static long
play_with_text(struct bench *b) {
    _Alignas(16) unsigned char s[GAME_MAX_STATE];
    const struct ply *p = (const void *)b->plies.at;
    long replies = 0;
    for (int i = 0; i < MATCHES; i++) {
        b->g->init(s, &b->args);
        for (int mover; (mover = b->g->mover(s)) != GAME_OVER; p++) {
            if (mover == GAME_CHANCE) { /* drawn, as in a match; what was written down happens */
                b->bytes += (uint64_t)game_draw(b->g, s, rng_unit(&b->rng));
            } else {
                show(b, s, mover);
                if (hear(b, s, p) != p->action)
                    panic("%s: a reply is not read as what it was written for", b->g->name);
                replies++;
            }
            tell(b, s, p->action);
            b->g->apply(s, p->action);
        }
    }
    return replies;
}

/* ---- measuring ---- */

static double
processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Actions per second: the best of three runs, which other load disturbs least. */
static double
measure(struct bench *b, long (*one)(struct bench *), int times, double seconds) {
    double best = 0;
    for (int run = 0; run < 3; run++) {
        long plies = 0;
        double start = processor_seconds(), now;
        do {
            for (int i = 0; i < times; i++)
                plies += one(b);
            now = processor_seconds();
        } while (now - start < seconds);
        double speed = (double)plies / (now - start);
        best = speed > best ? speed : best;
    }
    return best;
}

/* Returns the speed with text. */
static double
bench_game(const char *spec, double seconds) {
    struct bench b = {0};
    struct err e;
    if (game_spec_parse(spec, &b.g, &b.args, &e) ||
        !(b.answer = answer_find(b.g->say ? "whole" : "bracket", &e)))
        panic("%s", e.text);
    rng_init(&b.rng, 1, 1, RNG_TEST);
    write_matches(&b);
    double rules = measure(&b, play, 200, seconds);
    double text = measure(&b, play_with_text, 1, seconds);
    printf("%-19s rules only %12.0f actions/s\n", spec, rules);
    printf("%-19s with text  %12.0f replies/s\n", spec, text);
    buf_free(&b.plies);
    buf_free(&b.said);
    return b.bytes ? text : 0;
}

int
main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 0.3;
    for (int i = 2; i < argc; i++)
        bench_game(argv[i], seconds);
    for (int i = 0; argc < 3 && game_at(i); i++) {
        double text = bench_game(game_at(i)->name, seconds);
        if (strcmp(game_at(i)->name, "tic_tac_toe") == 0)
            printf("tic_tac_toe         with text  %12.0f times TextArena's %.0f steps/s\n",
                   text / TEXTARENA_TIC_TAC_TOE, TEXTARENA_TIC_TAC_TOE);
    }
    return 0;
}
