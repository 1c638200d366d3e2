/* A game for the learner's tests: both seats say a word at once, "a" beats "b", any other word
 * loses at once. Matches are played by a model through gen.h, or by a random player. */
#ifndef TESTS_LEARNER_BANDIT_H
#define TESTS_LEARNER_BANDIT_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "policy/gen.h"
#include "policy/token.h"
#include "store/store.h"

#define BANDIT_REPLY 4
#define BANDIT_PROMPT 4

struct bandit_match {
    struct store_match m;
    struct store_turn turn[2];
    int32_t prompt[2][BANDIT_PROMPT], tokens[2][BANDIT_REPLY];
    float logp[2][BANDIT_REPLY];
    int32_t move[2];
    char reply[2][BANDIT_REPLY + 1], word[2][2];
};
struct bandit {
    struct bandit_match *at; /* owned */
    size_t n;
};

static inline void
bandit_free(struct bandit *b) {
    free(b->at);
}

/* 1 for "a", 0 for "b", -1 for what is no word of the game. */
static inline int
bandit_value(const struct store_turn *t) {
    if (t->ntokens != 2 || t->tokens[1] != TOKEN_END)
        return -1;
    return t->tokens[0] == 'a' ? 1 : t->tokens[0] == 'b' ? 0 : -1;
}

static inline void
bandit_turn(struct bandit_match *b, int seat, const int32_t *tokens, const float *logp, size_t n,
            int64_t policy) {
    struct store_turn *t = &b->turn[seat];
    memcpy(b->prompt[seat], (const int32_t[]){TOKEN_BOS, TOKEN_VIEW, '0' + seat, TOKEN_REPLY},
           sizeof b->prompt[seat]);
    memcpy(b->tokens[seat], tokens, n * sizeof *tokens);
    if (logp)
        memcpy(b->logp[seat], logp, n * sizeof *logp);
    size_t nreply = tokens_spell(tokens, n, b->reply[seat]);
    *t = (struct store_turn){.ply = seat,
                             .seat = seat,
                             .prompt = b->prompt[seat],
                             .nprompt = BANDIT_PROMPT,
                             .reply = b->reply[seat],
                             .nreply = nreply,
                             .action = -1,
                             .verdict = VERDICT_ILLEGAL,
                             .tokens = b->tokens[seat],
                             .logp = logp ? b->logp[seat] : NULL,
                             .ntokens = n,
                             .policy = policy};
    int value = bandit_value(t);
    if (value < 0)
        return;
    t->verdict = VERDICT_OK;
    t->action = value;
    t->word = b->word[seat];
    b->word[seat][0] = value ? 'a' : 'b';
}

static inline void
bandit_end(struct bandit_match *b, int64_t id, enum match_kind kind, int64_t game, int64_t policy) {
    struct store_match *m = &b->m;
    *m = (struct store_match){.id = id,
                              .kind = kind,
                              .game = game,
                              .deal = id,
                              .policy = {policy, policy},
                              .reason = END_PLAY,
                              .loser = -1,
                              .started_ms = 1,
                              .ended_ms = 2,
                              .attempts = 1,
                              .turn = b->turn,
                              .nturns = 2};
    int v0 = bandit_value(&b->turn[0]), v1 = bandit_value(&b->turn[1]);
    m->result = v0 > v1 ? 1 : v0 < v1 ? -1 : 0;
    if (v0 < 0 || v1 < 0) {
        m->reason = END_INVALID;
        m->loser = v0 < 0 ? 0 : 1;
        m->result = v0 < 0 ? -1 : 1;
        m->nturns = v0 < 0 ? 1 : 2;
    }
    for (size_t i = 0; i < m->nturns && b->turn[i].action >= 0; i++)
        b->move[m->nmoves++] = b->turn[i].action;
    m->moves = b->move;
    m->payoff[0] = m->result;
    m->payoff[1] = -m->result;
}

/* n warm-up matches of a player that says "a" or "b" with equal probability. */
static inline struct bandit
bandit_random(int64_t first, size_t n, int64_t game, int64_t policy) {
    struct bandit b = {.at = mem_zero(n, sizeof *b.at), .n = n};
    for (size_t i = 0; i < n; i++) {
        struct rng r;
        rng_init(&r, 1, (uint64_t)first + i, RNG_TEST);
        for (int seat = 0; seat < 2; seat++) {
            int32_t reply[2] = {rng_below(&r, 2) ? 'a' : 'b', TOKEN_END};
            bandit_turn(&b.at[i], seat, reply, NULL, 2, policy);
        }
        bandit_end(&b.at[i], first + (int64_t)i, MATCH_WARMUP, game, policy);
    }
    return b;
}

/* n training matches of a model against itself. */
static inline struct bandit
bandit_play(const struct model *m, struct gen_head head, int64_t first, size_t n, int64_t game,
            int64_t policy) {
    struct bandit b = {.at = mem_zero(n, sizeof *b.at), .n = n};
    struct gen *g = gen_new(m, head, 0);
    int *slot = mem_zero(2 * n, sizeof *slot);
    for (size_t i = 0; i < 2 * n; i++) {
        int32_t prompt[] = {TOKEN_BOS, TOKEN_VIEW, '0' + (int32_t)(i % 2), TOKEN_REPLY};
        struct rng r;
        rng_init(&r, 1, (uint64_t)first + i / 2, RNG_SEAT + (unsigned)(i % 2));
        slot[i] = gen_open(g);
        gen_feed(g, slot[i], prompt, BANDIT_PROMPT);
        gen_ask(g, slot[i], &r, BANDIT_REPLY);
    }
    while (gen_run(g))
        continue;
    for (size_t i = 0; i < 2 * n; i++) {
        struct gen_reply reply;
        if (!gen_ready(g, slot[i], &reply))
            abort();
        bandit_turn(&b.at[i / 2], (int)(i % 2), reply.tokens, reply.logp, reply.n, policy);
        gen_close(g, slot[i]);
    }
    for (size_t i = 0; i < n; i++)
        bandit_end(&b.at[i], first + (int64_t)i, MATCH_TRAIN, game, policy);
    free(slot);
    gen_free(g);
    return b;
}

#endif
